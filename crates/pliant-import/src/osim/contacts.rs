//! Contact geometry that contact forces name, as colliders.

use super::ModelReader;
use super::properties::{name, objects};
use crate::error::ImportError;
use crate::geometry::{Frame, from_z};
use crate::robot::{Attachment, Collider, Link, Material, Shape};
use crate::xml::Attribute;
use pliant_dense::Vec3;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// Words of contact forces about a geometry: the bits of the forces, and the material of the first.
#[derive(Clone, Copy)]
struct Touch {
    bits: u32,
    material: usize,
}

pub(super) fn read_contacts(reader: &mut ModelReader<'_>, model: usize, forces: &[usize]) -> Result<()> {
    let mut geometries: HashMap<String, usize> = HashMap::new();
    let list = objects(reader.tree, model, "ContactGeometrySet");
    for of in &list {
        if let Some(name) = name(reader.tree, *of) {
            geometries.entry(name).or_insert(*of);
        }
    }
    let mut touches: HashMap<usize, Touch> = HashMap::new();
    for (number, force) in forces.iter().enumerate() {
        read_contact(reader, *force, number, &geometries, &mut touches)?;
    }
    let still = still(&reader.robot.links);
    for of in list {
        match touches.get(&of) {
            Some(touch) => read_geometry(reader, of, *touch, &still)?,
            None => {
                let message = "contact geometry that no contact force names does not collide";
                reader.tree.remark(reader.spot(of), message);
            }
        }
    }
    Ok(())
}

/// The geometries that a contact force lets touch.
fn read_contact(
    reader: &mut ModelReader<'_>,
    force: usize,
    number: usize,
    geometries: &HashMap<String, usize>,
    touches: &mut HashMap<usize, Touch>,
) -> Result<()> {
    let spot = reader.spot(force);
    reader.tree.remark(
        spot,
        "contacts are hard: stiffness, dissipation and viscous friction of contact forces are not taken",
    );
    let mut parts = Vec::new();
    for set in reader.tree.elements[force].children.clone() {
        if reader.tree.elements[set].tag.ends_with("ContactParametersSet") {
            for lists in reader.tree.elements[set].children.clone() {
                parts.extend(reader.tree.elements[lists].children.clone());
            }
        }
    }
    let mut names: Vec<(Attribute, usize)> = Vec::new();
    for part in parts {
        if let Some(list) = reader.tree.attribute(part, "geometry") {
            names.push((list.clone(), part));
        }
    }
    for which in ["sphere", "half_space"] {
        names.extend(reader.socket(force, which).map(|socket| (socket, force)));
    }
    let bits = 1u32
        .checked_shl(u32::try_from(number).unwrap_or(u32::MAX))
        .unwrap_or(0);
    if bits == 0 {
        reader
            .tree
            .remark(spot, "a contact force beyond the 32nd is not taken");
        return Ok(());
    }
    for (list, part) in names {
        let material = read_surface(reader, part)?;
        for name in list.value.split_whitespace() {
            let own = super::frames::last(name);
            let Some(geometry) = geometries.get(own) else {
                let known = geometries.keys().map(String::as_str);
                let mut known: Vec<&str> = known.collect();
                known.sort_unstable();
                let help = pliant_scene::hint(own, "geometries", known);
                return reader
                    .tree
                    .wrong(list.spot, format!("there is no contact geometry `{own}`"), help);
            };
            let touch = touches.entry(*geometry).or_insert(Touch { bits: 0, material });
            touch.bits |= bits;
        }
    }
    Ok(())
}

/// The material of contact parameters.
fn read_surface(reader: &mut ModelReader<'_>, of: usize) -> Result<usize> {
    let still = reader
        .tree
        .not_negative(of, "static_friction")?
        .unwrap_or_default();
    let friction = reader
        .tree
        .not_negative(of, "dynamic_friction")?
        .unwrap_or_default();
    if still != friction {
        let message = "friction at rest and in motion is the same, that of `dynamic_friction`";
        reader.tree.remark(reader.spot(of), message);
    }
    let next = reader.robot.materials.len();
    let number = *reader.surfaces.entry(friction.to_bits()).or_insert(next);
    if number == next {
        reader.robot.materials.push(Material {
            friction,
            torsional: 0.0,
            rolling: 0.0,
            directions: 3.0,
        });
    }
    Ok(number)
}

fn read_geometry(reader: &mut ModelReader<'_>, of: usize, touch: Touch, still: &[bool]) -> Result<()> {
    let spot = reader.spot(of);
    let kind = reader.tree.elements[of].tag.clone();
    let known = [
        "name",
        "body_name",
        "socket_frame",
        "location",
        "orientation",
        "radius",
        "display_preference",
        "color",
    ];
    reader
        .tree
        .expect(of, &known, &["Appearance", "connectors", "VisibleObject"]);
    let name = name(reader.tree, of).unwrap_or_else(|| "contact".to_owned());
    let inside = reader.place(of, "location", "orientation")?;
    let (body, frame) = match reader.tree.attribute(of, "body_name") {
        Some(body) => reader.in_body(body, Frame::IDENTITY)?,
        None => match reader.socket(of, "frame") {
            Some(socket) => reader.resolve(&format!("/contactgeometryset/{name}"), &socket)?,
            None => return reader.tree.wrong(spot, format!("`{kind}` has no body"), None),
        },
    };
    let (link, mut frame) = reader.in_link(&(body, frame.then(&inside)));
    let shape = match kind.as_str() {
        "ContactSphere" => {
            let radius = reader.tree.not_negative(of, "radius")?.unwrap_or_default();
            if radius == 0.0 {
                reader
                    .tree
                    .remark(spot, "a sphere of radius zero does not collide");
                return Ok(());
            }
            Shape::Sphere(radius)
        }
        "ContactHalfSpace" if link.is_none_or(|link| still[link]) => {
            // Matter is along its x axis.
            frame = frame.then(&Frame::turned(from_z(-Vec3::x())));
            Shape::Plane
        }
        "ContactHalfSpace" => {
            reader
                .tree
                .remark(spot, "a half space on a body that moves is not taken");
            return Ok(());
        }
        _ => {
            reader
                .tree
                .remark(spot, format!("a `{kind}` is not taken: it does not collide"));
            return Ok(());
        }
    };
    let collider = Collider {
        name,
        shape,
        frame,
        material: Some(touch.material),
        bits: (touch.bits, touch.bits),
    };
    match link.or(reader.ground) {
        Some(link) => reader.robot.links[link].colliders.push(collider),
        None => {
            reader.ground = Some(reader.robot.links.len());
            reader.robot.links.push(Link {
                name: "ground".to_owned(),
                parent: None,
                frame: Frame::IDENTITY,
                attachment: Attachment::Rigid,
                inertia: None,
                colliders: vec![collider],
                drift: [Vec3::zeros(); 2],
                spot,
            });
        }
    }
    Ok(())
}

/// By link: whether it is a part of the world.
fn still(links: &[Link]) -> Vec<bool> {
    let mut out: Vec<bool> = Vec::with_capacity(links.len());
    for link in links {
        let rigid = matches!(link.attachment, Attachment::Rigid);
        out.push(rigid && link.parent.is_none_or(|parent| out[parent]));
    }
    out
}
