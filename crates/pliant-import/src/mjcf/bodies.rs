//! Bodies and joints.

use super::Reader;
use super::keys::Coordinate;
use super::pairs::place_geom;
use super::settings::{PLACE, bounds};
use super::sites::read_site;
use super::{flexcomp, particles};
use crate::error::ImportError;
use crate::geometry::{Frame, Inertia, symmetric};
use crate::numbers::{number, tidy};
use crate::robot::{Attachment, Effects, Joint, Lift, Link, Motion};
use crate::xml::{Spot, Tree};
use pliant_dense::{Mat3, Vec3};
use std::collections::HashSet;

type Result<T> = std::result::Result<T, ImportError>;

pub(super) const PARTS: [&str; 11] = [
    "inertial",
    "joint",
    "freejoint",
    "geom",
    "body",
    "flexcomp",
    "frame",
    "site",
    "camera",
    "light",
    "include",
];

/// Names that the file gives.
#[derive(Default)]
pub(super) struct Named {
    bodies: HashSet<String>,
    joints: HashSet<String>,
    /// Names of geoms that were read.
    geoms: HashSet<String>,
}

impl Named {
    /// Names of bodies and joints, before any of them is read.
    pub(super) fn of_file(tree: &Tree, root: usize) -> Self {
        let mut named = Self::default();
        let mut open = tree.all(root, "worldbody");
        while let Some(of) = open.pop() {
            let element = &tree.elements[of];
            let names = match element.tag.as_str() {
                "body" => Some(&mut named.bodies),
                "joint" | "freejoint" => Some(&mut named.joints),
                _ => None,
            };
            if let Some(names) = names {
                names.extend(tree.value(of, "name").map(str::to_owned));
            }
            open.extend(&element.children);
        }
        named
    }
}

/// A name for what the file has none for: its number among all, and behind that the first other one
/// if the file calls something else so.
fn unused(named: &HashSet<String>, what: &str, number: usize) -> String {
    let name = format!("{what} {number}");
    match named.contains(&name) {
        true => (1..)
            .map(|copy| format!("{name}.{copy}"))
            .find(|name| !named.contains(name))
            .unwrap_or(name),
        false => name,
    }
}

/// The content of a body, whatever frames it stands in.
#[derive(Default)]
struct Content {
    joints: Vec<Joint>,
    free: bool,
    /// The element of the inertia, and the frame it is in.
    inertial: Option<(usize, Frame)>,
    /// Inertia of the geoms.
    inertia: Option<Inertia>,
    colliders: Vec<crate::robot::Collider>,
    /// Elements of sites, and the frames they are in.
    sites: Vec<(usize, Frame)>,
    /// Elements of bodies and deformables, and the frames they are in.
    bodies: Vec<(usize, Frame)>,
}

impl Reader<'_> {
    pub(super) fn read_world(&mut self, root: usize) -> Result<()> {
        for world in self.tree.all(root, "worldbody") {
            self.tree.expect(world, &[], &PARTS);
            let mut content = Content::default();
            self.has_inertial = false;
            self.read_parts(world, &Frame::IDENTITY, "world", &mut content)?;
            if content.free || !content.joints.is_empty() {
                return self
                    .tree
                    .wrong(self.spot(world), "the world has no joints".to_owned(), None);
            }
            if let Some((of, _)) = content.inertial {
                self.tree.remark(self.spot(of), "the world has no inertia");
            }
            for (site, outer) in &content.sites {
                read_site(self, *site, outer, None)?;
            }
            if !content.colliders.is_empty() {
                self.links.push(Link {
                    name: "world".to_owned(),
                    parent: None,
                    frame: Frame::IDENTITY,
                    attachment: Attachment::Rigid,
                    inertia: None,
                    colliders: content.colliders,
                    drift: [Vec3::zeros(); 2],
                    spot: self.spot(world),
                });
            }
            // Depth first, in the order of the file, which is that of coordinates; without
            // recursion.
            let mut open: Vec<(usize, Frame, Option<usize>)> = content
                .bodies
                .into_iter()
                .rev()
                .map(|(of, frame)| (of, frame, None))
                .collect();
            while let Some((of, outer, parent)) = open.pop() {
                if self.tree.elements[of].tag == "flexcomp" {
                    flexcomp::read_flexcomp(self, of, &outer, parent)?;
                    continue;
                }
                if particles::read_particle(self, of, &outer, parent)? {
                    continue;
                }
                let (number, bodies) = self.read_body(of, &outer, parent)?;
                open.extend(
                    bodies
                        .into_iter()
                        .rev()
                        .map(|(of, frame)| (of, frame, Some(number))),
                );
            }
        }
        self.set_total_mass();
        Ok(())
    }

    fn set_total_mass(&mut self) {
        let Some(total) = self.settings.total_mass else {
            return;
        };
        let links: f64 = self.links.iter().filter_map(|l| l.inertia).map(|i| i.mass).sum();
        let sum = links + self.particles.list.iter().map(|p| p.mass).sum::<f64>();
        if sum > 0.0 {
            for particle in &mut self.particles.list {
                particle.mass *= total / sum;
            }
            for inertia in self.links.iter_mut().filter_map(|l| l.inertia.as_mut()) {
                inertia.mass *= total / sum;
                inertia.tensor *= total / sum;
            }
        }
    }

    fn read_body(
        &mut self,
        of: usize,
        outer: &Frame,
        parent: Option<usize>,
    ) -> Result<(usize, Vec<(usize, Frame)>)> {
        self.tree.expect(
            of,
            &[&["name", "class", "childclass", "gravcomp"][..], &PLACE].concat(),
            &PARTS,
        );
        let number = self.links.len();
        let name = match self.tree.value(of, "name") {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => unused(&self.named.bodies, "body", self.bodies.len() + 1),
        };
        if self.bodies.insert(name.clone(), number).is_some() {
            let spot = self.tree.attribute(of, "name").map_or(self.spot(of), |a| a.spot);
            return self
                .tree
                .wrong(spot, format!("the body `{name}` is there twice"), None);
        }
        if let Some(share) = self.tree.number(of, "gravcomp")?.filter(|share| *share != 0.0) {
            self.lifts.push(Lift { link: number, share });
        }
        let own = self.settings.frame(self.tree, of)?;
        let frame = outer.then(&own);
        let mut content = Content::default();
        self.has_inertial = self.tree.child(of, "inertial").is_some();
        self.read_parts(of, &Frame::IDENTITY, &name, &mut content)?;
        let inertia = match (self.settings.from_geoms, content.inertial) {
            (Some(true), _) if content.inertia.is_some() => content.inertia,
            (_, Some((inertial, inside))) => Some(self.inertial(inertial)?.seen_from(&inside)),
            (Some(false), None) => None,
            (_, None) => content.inertia,
        };
        let inertia = self.bounded(inertia, own.position);
        for (site, outer) in &content.sites {
            read_site(self, *site, outer, Some(number))?;
        }
        if content.free && (parent.is_some() || !content.joints.is_empty()) {
            let message = format!("`{name}` has a free joint beside others, or inside of another body");
            return self.tree.wrong(self.spot(of), message, None);
        }
        let attachment = match (content.free, content.joints.is_empty()) {
            (true, _) => Attachment::Free,
            (false, true) => Attachment::Rigid,
            (false, false) => Attachment::Joints(content.joints),
        };
        self.links.push(Link {
            name,
            parent,
            frame,
            attachment,
            inertia,
            colliders: content.colliders,
            drift: [Vec3::zeros(); 2],
            spot: self.spot(of),
        });
        Ok((number, content.bodies))
    }

    /// An inertia with the least mass and moments that the file allows. MuJoCo gives them also to
    /// bodies without mass, with a centre at `pos` in the frame of the body itself.
    fn bounded(&self, inertia: Option<Inertia>, pos: Vec3) -> Option<Inertia> {
        let (mass, least) = (self.settings.least_mass, self.settings.least_inertia);
        let mut inertia = inertia.unwrap_or(Inertia {
            mass: 0.0,
            centre: pos,
            tensor: Mat3::zeros(),
        });
        inertia.mass = inertia.mass.max(mass);
        let eigen = inertia.tensor.symmetric_eigen();
        if eigen.eigenvalues.min() < least {
            let moments = eigen.eigenvalues.map(|m| m.max(least));
            let turned = eigen.eigenvectors;
            inertia.tensor = symmetric(turned * Mat3::from_diagonal(&moments) * turned.transpose());
        }
        (inertia.mass > 0.0).then_some(inertia)
    }

    /// Geoms, joints and bodies of an element, also those in frames inside it, in the order of the
    /// file.
    fn read_parts(&mut self, of: usize, outer: &Frame, body: &str, content: &mut Content) -> Result<()> {
        let inside = |reader: &Self, of: usize, outer: Frame| {
            let children = reader.tree.elements[of].children.iter().rev();
            children.map(|child| (*child, outer)).collect::<Vec<_>>()
        };
        let mut open = inside(self, of, *outer);
        while let Some((child, outer)) = open.pop() {
            let spot = self.spot(child);
            match self.tree.elements[child].tag.as_str() {
                "geom" => {
                    self.name_geom(child)?;
                    let geom = self.geom(child, &outer, body)?;
                    let place = (self.links.len(), content.colliders.len());
                    place_geom(self, child, geom.collider.is_some().then_some(place));
                    content.colliders.extend(geom.collider);
                    content.inertia = match (content.inertia, geom.inertia) {
                        (Some(sum), Some(part)) => Some(sum.with(&part)),
                        (sum, part) => sum.or(part),
                    };
                }
                "joint" | "freejoint" => self.read_joint(child, &outer, body, content)?,
                "body" | "flexcomp" => content.bodies.push((child, outer)),
                "frame" => {
                    self.tree.expect(
                        child,
                        &[&["name", "class", "childclass"][..], &PLACE].concat(),
                        &PARTS,
                    );
                    let outer = outer.then(&self.settings.frame(self.tree, child)?);
                    open.extend(inside(self, child, outer));
                }
                "inertial" if content.inertial.is_none() => content.inertial = Some((child, outer)),
                "inertial" => self.tree.remark(spot, "a second `inertial` is not taken"),
                "site" => content.sites.push((child, outer)),
                "camera" | "light" => self.tree.remark(spot, "cameras and lights are not taken"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses a name that an earlier geom has.
    fn name_geom(&mut self, of: usize) -> Result<()> {
        match self.tree.attribute(of, "name") {
            Some(name) if !name.value.is_empty() && !self.named.geoms.insert(name.value.clone()) => {
                let message = format!("the geom `{}` is there twice", name.value);
                self.tree.wrong(name.spot, message, None)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn inertial(&mut self, of: usize) -> Result<Inertia> {
        let known = [&["mass", "diaginertia", "fullinertia"][..], &PLACE].concat();
        self.tree.expect(of, &known, &[]);
        let frame = self.settings.frame(self.tree, of)?;
        self.tree.needed(of, "mass")?;
        let mass = self.tree.not_negative(of, "mass")?.unwrap_or_default();
        let tensor = match (
            self.tree.numbers::<6>(of, "fullinertia")?,
            self.tree.numbers::<3>(of, "diaginertia")?,
        ) {
            (Some([xx, yy, zz, xy, xz, yz]), _) => Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
            (None, Some(diagonal)) => Mat3::from_diagonal(&diagonal.into()),
            (None, None) => Mat3::zeros(),
        };
        // `boundinertia` is a bound of moments that are given along their axes as well.
        let key = if self.tree.attribute(of, "fullinertia").is_some() {
            "fullinertia"
        } else {
            "diaginertia"
        };
        let moments = tensor.symmetric_eigen().eigenvalues;
        let (least, most) = (moments.min(), moments.amax());
        let bounded = key == "diaginertia" && self.settings.least_inertia > 0.0;
        if least < -1e-12 * most && !bounded {
            let message = format!(
                "`{key}` has a moment of {} kg m^2, which is below zero",
                number(tidy([least])[0])
            );
            return self.tree.wrong(self.tree.needed(of, key)?.spot, message, None);
        }
        let own = Inertia {
            mass,
            centre: Vec3::zeros(),
            tensor,
        };
        Ok(own.seen_from(&frame))
    }

    fn read_joint(&mut self, of: usize, outer: &Frame, body: &str, content: &mut Content) -> Result<()> {
        let link = self.links.len();
        let spot = self.spot(of);
        let free = self.tree.elements[of].tag == "freejoint" || self.tree.value(of, "type") == Some("free");
        let name = match self.tree.value(of, "name") {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => unused(&self.named.joints, "joint", self.order.len() + 1),
        };
        if free {
            let known = ["name", "class", "type", "group", "limited", "armature", "damping"];
            self.tree.expect(of, &known, &[]);
            for key in ["armature", "damping"] {
                if self
                    .tree
                    .list(of, key)?
                    .is_some_and(|l| l.iter().any(|x| *x != 0.0))
                {
                    self.tree
                        .remark(spot, format!("{key} of a free joint is not taken"));
                }
            }
            content.free = true;
            if self.tree.value(of, "name").is_some_and(|n| !n.is_empty())
                && self.joints.insert(name.clone(), (link, 0)).is_some()
            {
                return self.joint_twice(spot, &name, body);
            }
            self.order.push(Coordinate::Free(link));
            return Ok(());
        }
        let known = [
            "name",
            "class",
            "type",
            "pos",
            "axis",
            "range",
            "limited",
            "ref",
            "springref",
            "stiffness",
            "damping",
            "armature",
            "frictionloss",
            "group",
        ];
        self.tree.expect(of, &known, &[]);
        let motion = match self.tree.value(of, "type") {
            None | Some("hinge") => Motion::Hinge,
            Some("slide") => Motion::Slider,
            Some("ball") => Motion::Ball,
            Some(other) => {
                let help = pliant_scene::hint(other, "types", ["hinge", "slide", "ball", "free"]);
                let message = format!("joints have no type `{other}`");
                let spot = self.tree.needed(of, "type")?.spot;
                return self.tree.wrong(spot, message, help);
            }
        };
        let axis: Vec3 = self
            .tree
            .numbers::<3>(of, "axis")?
            .unwrap_or([0.0, 0.0, 1.0])
            .into();
        let size = axis.amax();
        if size == 0.0 {
            return self.tree.wrong(spot, "the axis has length zero".to_owned(), None);
        }
        let anchor: Vec3 = self.tree.numbers::<3>(of, "pos")?.unwrap_or_default().into();
        let unit = if motion == Motion::Hinge {
            self.settings.angle
        } else {
            1.0
        };
        let reference = if motion == Motion::Ball {
            0.0
        } else {
            self.tree.number(of, "ref")?.unwrap_or_default() * unit
        };
        if reference != 0.0 {
            self.tree.remark(
                spot,
                "coordinates of the scene are zero where those of the file are `ref`",
            );
        }
        self.order.push(match motion {
            Motion::Ball => Coordinate::Ball,
            _ => Coordinate::Single(name.clone()),
        });
        let place = (link, content.joints.len());
        if self.joints.insert(name.clone(), place).is_some() {
            return self.joint_twice(spot, &name, body);
        }
        let effects = self.effects(of, motion, unit, reference)?;
        let rest = if motion == Motion::Ball {
            0.0
        } else {
            self.tree.number(of, "springref")?.unwrap_or_default() * unit
        };
        content.joints.push(Joint {
            name,
            motion,
            anchor: outer.point(anchor),
            axis: outer.vector((axis / size).normalize()),
            start: 0.0,
            speed: 0.0,
            scale: 1.0,
            reference,
            rest,
            follows: false,
            effects,
            spot,
        });
        Ok(())
    }

    fn joint_twice<T>(&self, spot: Spot, name: &str, body: &str) -> Result<T> {
        let message = format!("the joint `{name}` of `{body}` is there twice");
        self.tree.wrong(spot, message, None)
    }

    /// A coefficient whose polynomial has no other terms; a remark if it has.
    fn coefficient(&mut self, of: usize, key: &str) -> Result<f64> {
        let list = self.tree.list(of, key)?.unwrap_or_default();
        let first = list.first().copied().unwrap_or_default();
        if first < 0.0 {
            let spot = self.tree.needed(of, key)?.spot;
            return self
                .tree
                .wrong(spot, format!("`{key}` is {first}, which is below zero"), None);
        }
        if list.iter().skip(1).any(|x| *x != 0.0) {
            self.tree.remark(
                self.tree.elements[of].spot,
                format!("only the linear part of `{key}` is taken"),
            );
        }
        Ok(first)
    }

    /// Effects on the coordinate of a joint or a tendon; `unit` is that of its limits.
    pub(super) fn effects(
        &mut self,
        of: usize,
        motion: Motion,
        unit: f64,
        reference: f64,
    ) -> Result<Effects> {
        let mut effects = Effects {
            damping: self.coefficient(of, "damping")?,
            friction: self.tree.not_negative(of, "frictionloss")?.unwrap_or_default(),
            armature: self.tree.not_negative(of, "armature")?.unwrap_or_default(),
            ..Effects::default()
        };
        let range = bounds(self.tree, of, "range", "limited", self.settings.auto_limits)?;
        if let Some([lower, upper]) = range {
            if lower > upper {
                let spot = self.tree.needed(of, "range")?.spot;
                let message = format!("`range` is {lower} to {upper}: nothing is between them");
                return self.tree.wrong(spot, message, None);
            }
            let limit = |x: f64| x.is_finite().then_some(x * unit - reference);
            (effects.lower, effects.upper) = (limit(lower), limit(upper));
        }
        let stiffness = self.coefficient(of, "stiffness")?;
        if stiffness > 0.0 {
            let rest = match motion {
                Motion::Ball => 0.0,
                _ => self.tree.number(of, "springref")?.unwrap_or_default() * unit - reference,
            };
            effects.spring = Some((stiffness, rest));
        }
        Ok(effects)
    }
}
