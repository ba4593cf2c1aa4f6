//! Colliders, their materials and the pairs of them that do not meet.

use super::{Surroundings, Writer, place, rotation, unused};
use crate::numbers::{number, text, tuple, vector};
use crate::robot::{Apart, Collider, Shape};
use pliant_dense::Vec3;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// The most groups of colliders of a scene, beside its own `default`.
const MOST_GROUPS: usize = 31;
/// The most pairs of colliders that do not meet.
const MOST_PAIRS: usize = 1_000_000;

impl Writer<'_> {
    /// Materials and colliders; pairs that do not meet go to their own list.
    pub(super) fn colliders(&mut self, around: Surroundings) -> (Vec<String>, Vec<String>) {
        let robot = self.robot;
        let mut names: Vec<Vec<String>> = Vec::new();
        let mut taken = HashSet::from(["ground".to_owned()]);
        let mut counts = HashMap::new();
        for link in &robot.links {
            names.push(
                link.colliders
                    .iter()
                    .map(|c| unused(&mut taken, &mut counts, &c.name))
                    .collect(),
            );
        }
        let kinds = self.kinds();
        let mut out = Vec::new();
        if let Some(up) = around.ground {
            out.push(format!("Fixed(name: \"ground\", shape: Plane{}),", tuple(&up)));
        }
        for (index, link) in robot.links.iter().enumerate() {
            for (collider, name) in link.colliders.iter().zip(&names[index]) {
                let (owner, frame) = self.in_body(Some(index), &collider.frame);
                let mut entry = match owner {
                    Some(owner) => {
                        format!(
                            "Body(name: {}, body: ({}, 0)",
                            text(name),
                            text(&self.links[owner])
                        )
                    }
                    None => format!("Fixed(name: {}", text(name)),
                };
                let normal = match collider.shape {
                    Shape::Plane => vector(frame.vector(Vec3::z())),
                    _ => String::new(),
                };
                let _ = write!(
                    entry,
                    ", shape: {}{normal}{}",
                    shape(&collider.shape),
                    place("position", frame.position)
                );
                if normal.is_empty() {
                    entry += &rotation(frame.rotation);
                }
                if let Some(material) = collider.material {
                    let _ = write!(entry, ", material: \"surface {}\"", material + 1);
                }
                entry += &self.group(&kinds, collider, around);
                entry.push_str("),");
                out.push(entry);
            }
        }
        // Links of a robot that do not meet each other need no list.
        if around.self_collision {
            self.ignore(&names);
        }
        let materials = robot.materials.iter().enumerate().map(|(index, material)| {
            let mut entry = format!(
                "(name: \"surface {}\", friction: {}",
                index + 1,
                number(material.friction)
            );
            for (key, x) in [
                ("torsional_friction", material.torsional),
                ("rolling_friction", material.rolling),
            ] {
                if x > 0.0 {
                    let _ = write!(entry, ", {key}: {}", number(x));
                }
            }
            entry + "),"
        });
        (materials.collect(), out)
    }

    /// The different pairs of bits, if they keep any two colliders apart.
    fn kinds(&mut self) -> Vec<(u32, u32)> {
        let all = self.robot.links.iter().flat_map(|l| &l.colliders);
        let kinds: BTreeSet<(u32, u32)> = all.map(|c| c.bits).collect();
        let kinds: Vec<(u32, u32)> = kinds.into_iter().collect();
        // Before kinds are compared in pairs, of which there could be many.
        if kinds.len() > MOST_GROUPS {
            let message =
                format!("more than {MOST_GROUPS} kinds of contype and conaffinity: all of them collide");
            self.tree.remark_all(message);
            return Vec::new();
        }
        if kinds.iter().all(|a| kinds.iter().all(|b| meet(*a, *b))) {
            return Vec::new();
        }
        kinds
    }

    /// Groups of a collider, with a comma ahead.
    fn group(&self, kinds: &[(u32, u32)], collider: &Collider, around: Surroundings) -> String {
        if !around.self_collision {
            return ", groups: [\"robot\"], collides_with: [\"default\"]".to_owned();
        }
        let Some(own) = kinds.iter().position(|k| *k == collider.bits) else {
            return String::new();
        };
        let mut with: Vec<String> = (0..kinds.len())
            .filter(|other| meet(kinds[own], kinds[*other]))
            .map(|other| text(&format!("kind {}", other + 1)))
            .collect();
        if around.ground.is_some() {
            with.push(text("default"));
        }
        format!(
            ", groups: [\"kind {}\"], collides_with: [{}]",
            own + 1,
            with.join(", ")
        )
    }

    /// Pairs of colliders on links that do not meet, and on different bodies.
    fn ignore(&mut self, names: &[Vec<String>]) {
        let robot = self.robot;
        let mut bodies: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (link, owner) in self.layout.owner.iter().enumerate() {
            bodies.entry(*owner).or_default().push(link);
        }
        let mut seen = HashSet::new();
        for apart in &robot.apart {
            let (firsts, seconds) = (
                self.parts(&bodies, apart, apart.links.0),
                self.parts(&bodies, apart, apart.links.1),
            );
            for (first, second) in firsts.iter().flat_map(|a| seconds.iter().map(move |b| (*a, *b))) {
                if self.layout.owner[first] == self.layout.owner[second] {
                    continue;
                }
                for (first, second) in names[first]
                    .iter()
                    .flat_map(|a| names[second].iter().map(move |b| (a, b)))
                {
                    if seen.len() >= MOST_PAIRS {
                        let message = format!(
                            "only the first {MOST_PAIRS} pairs of colliders that do not meet are taken"
                        );
                        self.tree.remark_all(message);
                        return;
                    }
                    if seen.insert((first, second)) {
                        self.ignored.push(format!("({}, {}),", text(first), text(second)));
                    }
                }
            }
        }
    }

    /// The links of a side of a pair that does not collide.
    fn parts(&self, bodies: &HashMap<Option<usize>, Vec<usize>>, apart: &Apart, link: usize) -> Vec<usize> {
        if !apart.whole_bodies {
            return vec![link];
        }
        let owner = self.layout.owner[link];
        if owner.is_none() && !self.robot.base_is_robot {
            return Vec::new();
        }
        bodies.get(&owner).cloned().unwrap_or_default()
    }
}

/// Whether MJCF lets colliders of these types and affinities meet.
fn meet(a: (u32, u32), b: (u32, u32)) -> bool {
    a.0 & b.1 != 0 || b.0 & a.1 != 0
}

fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Plane => "Plane".to_owned(),
        Shape::Box(edges) => format!("Box{}", tuple(edges)),
        Shape::Sphere(radius) => format!("Sphere({})", number(*radius)),
        Shape::Cylinder { radius, length } => {
            format!(
                "Cylinder(radius: {}, length: {})",
                number(*radius),
                number(*length)
            )
        }
        Shape::Capsule { radius, length } => {
            format!(
                "Capsule(radius: {}, length: {})",
                number(*radius),
                number(*length)
            )
        }
        Shape::Hull { file, scale } if *scale == 1.0 => format!("Hull(file: {})", text(file)),
        Shape::Hull { file, scale } => format!("Hull(file: {}, scale: {})", text(file), number(*scale)),
    }
}
