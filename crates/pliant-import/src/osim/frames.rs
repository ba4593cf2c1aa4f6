//! Frames by their paths: bodies, the ground, and frames that are fixed in others.

use super::ModelReader;
use super::properties::objects;
use super::wraps::read_objects;
use crate::error::ImportError;
use crate::geometry::{Frame, turn};
use crate::xml::Attribute;
use pliant_dense::Vec3;
use pliant_dense::rotation::{Quaternion, multiply};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// A frame: the body that it is fixed in, the ground if none, and its place there.
pub(super) type Place = (Option<usize>, Frame);

/// The most frames that are each fixed in the next one.
const LONGEST: usize = 100;

/// A frame that is fixed in another one.
pub(super) struct Offset {
    /// The path of what it belongs to.
    owner: String,
    parent: Attribute,
    frame: Frame,
}

/// The rotation of three angles (rad) about the turned axes x, y and z.
pub(super) fn body_fixed([x, y, z]: [f64; 3]) -> Quaternion {
    multiply(
        multiply(turn(Vec3::x(), x), turn(Vec3::y(), y)),
        turn(Vec3::z(), z),
    )
}

impl ModelReader<'_> {
    /// A position and three angles, by the names of their properties.
    pub(super) fn place(&self, of: usize, position: &str, angles: &str) -> Result<Frame> {
        let numbers = |name: &str| self.tree.numbers::<3>(of, name).map(Option::unwrap_or_default);
        Ok(Frame {
            position: numbers(position)?.into(),
            rotation: body_fixed(numbers(angles)?),
        })
    }

    /// The path that a socket of an object holds.
    pub(super) fn socket(&self, of: usize, name: &str) -> Option<Attribute> {
        if let Some(attribute) = self.tree.attribute(of, &format!("socket_{name}")) {
            return Some(attribute.clone());
        }
        // Documents before 4.0.
        let connectors = self.tree.child(of, "connectors")?;
        let mut children = self.tree.elements[connectors].children.iter().copied();
        let child = children.find(|c| self.tree.value(*c, "name") == Some(name))?;
        self.tree.attribute(child, "connectee_name").cloned()
    }

    /// Finds all frames that are fixed in others.
    pub(super) fn read_frames(&mut self, model: usize) -> Result<()> {
        let mut owners: Vec<(String, usize)> = Vec::new();
        for ground in self.tree.all(model, "Ground") {
            owners.push(("/ground".to_owned(), ground));
        }
        for (set, path) in [
            ("BodySet", "bodyset"),
            ("JointSet", "jointset"),
            ("ComponentSet", "componentset"),
        ] {
            for of in objects(self.tree, model, set) {
                let name = self.tree.value(of, "name").unwrap_or_default();
                owners.push((format!("/{path}/{name}"), of));
            }
        }
        owners.push((String::new(), model));
        let mut parts_of_frames = Vec::new();
        while let Some((owner, of)) = owners.pop() {
            let mut parts = Vec::new();
            if self.tree.elements[of].tag == "PhysicalOffsetFrame" && owner.starts_with("/componentset/") {
                parts.push((owner.clone(), of));
            }
            for list in ["frames", "components"] {
                for part in objects(self.tree, of, list) {
                    let name = self.tree.value(part, "name").unwrap_or_default();
                    parts.push((format!("{owner}/{name}"), part));
                }
            }
            for (path, part) in parts {
                if self.tree.elements[part].tag != "PhysicalOffsetFrame" {
                    continue;
                }
                let Some(parent) = self.socket(part, "parent") else {
                    let spot = self.tree.elements[part].spot;
                    return self.tree.wrong(spot, "the frame has no parent".to_owned(), None);
                };
                let frame = self.place(part, "translation", "orientation")?;
                let offset = Offset {
                    owner: path.clone(),
                    parent,
                    frame,
                };
                let new = self.offsets.insert(path.clone(), offset).is_none();
                parts_of_frames.push((path.clone(), part));
                if new && path != owner {
                    owners.push((path, part));
                }
            }
        }
        for (path, part) in parts_of_frames {
            if self.tree.child(part, "WrapObjectSet").is_none() {
                continue;
            }
            let Some(Offset { owner, parent, frame }) = self.offsets.get(&path) else {
                continue;
            };
            let (body, outer) = self.resolve(owner, parent)?;
            let place = (body, outer.then(frame));
            read_objects(self, part, &place)?;
        }
        Ok(())
    }

    /// The frame that a socket names.
    pub(super) fn resolve(&self, owner: &str, socket: &Attribute) -> Result<Place> {
        let mut frame = Frame::IDENTITY;
        let (mut owner, mut socket) = (owner, socket);
        for _ in 0..LONGEST {
            let paths = paths(owner, &socket.value);
            let Some(found) = paths.iter().find(|path| self.is_frame(path)) else {
                let names = self.bodies.iter().map(|b| b.name.as_str()).chain(["ground"]);
                let help = pliant_scene::hint(last(&socket.value), "bodies", names);
                let message = format!("there is no frame `{}`", socket.value);
                return self.tree.wrong(socket.spot, message, help);
            };
            let Some(offset) = self.offsets.get(found) else {
                let body = found
                    .strip_prefix("/bodyset/")
                    .and_then(|name| self.numbers.get(name));
                return Ok((body.copied(), frame));
            };
            frame = offset.frame.then(&frame);
            (owner, socket) = (&offset.owner, &offset.parent);
        }
        let message = "frames are fixed in each other, in a circle".to_owned();
        self.tree.wrong(socket.spot, message, None)
    }

    fn is_frame(&self, path: &str) -> bool {
        let body = path
            .strip_prefix("/bodyset/")
            .is_some_and(|name| self.numbers.contains_key(name));
        body || path == "/ground" || self.offsets.contains_key(path)
    }

    /// The body of that name, and a frame in it.
    pub(super) fn in_body(&self, name: &Attribute, frame: Frame) -> Result<Place> {
        if name.value == "ground" {
            return Ok((None, frame));
        }
        match self.numbers.get(name.value.as_str()) {
            Some(body) => Ok((Some(*body), frame)),
            None => {
                let names = self.bodies.iter().map(|b| b.name.as_str()).chain(["ground"]);
                let help = pliant_scene::hint(&name.value, "bodies", names);
                self.tree
                    .wrong(name.spot, format!("there is no body `{}`", name.value), help)
            }
        }
    }
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.trim().rsplit('/').next().unwrap_or(path)
}

/// Paths that one may stand for which an object of the path `owner` has, the most likely first.
fn paths(owner: &str, value: &str) -> Vec<String> {
    let value = value.trim();
    if let Some(inside) = value.strip_prefix('/') {
        // Documents of 4.0 begin with the name of the model.
        let behind = inside.split_once('/').map(|(_, behind)| format!("/{behind}"));
        return std::iter::once(value.to_owned()).chain(behind).collect();
    }
    let above = owner.rsplit_once('/').map_or("", |(above, _)| above);
    let bases = [owner, above, "", "/bodyset", "/jointset"];
    bases
        .iter()
        .map(|base| normal(&format!("{base}/{value}")))
        .collect()
}

/// A path without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|p| !p.is_empty() && *p != ".") {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// All frames that are fixed in others, by their paths.
pub(super) type Offsets = HashMap<String, Offset>;
