//! Joints, closures of loops and gears.

use super::{Writer, place, rotation};
use crate::geometry::Frame;
use crate::groups::Group;
use crate::layout::groups_of;
use crate::numbers::{number, text, vector};
use crate::robot::{Closure, Gear, Joint};
use pliant_dense::Vec3;
use pliant_dense::rotation::rotate;
use std::fmt::Write as _;

/// The names of joints that are one of the scene; those that follow others have none of their own.
fn joined_names(joints: &[Joint]) -> String {
    let join = |followers: bool| {
        let own = joints.iter().filter(|j| followers || !j.follows);
        own.map(|j| j.name.as_str()).collect::<Vec<_>>().join("+")
    };
    match join(false) {
        name if name.is_empty() => join(true),
        name => name,
    }
}

impl Writer<'_> {
    pub(super) fn write_joints(&mut self) {
        let robot = self.robot;
        for (index, link) in robot.links.iter().enumerate() {
            for (group, joints) in groups_of(link) {
                self.write_joint(index, &group, joints);
            }
        }
    }

    fn write_joint(&mut self, link: usize, group: &Group, joints: &[Joint]) {
        let wanted = joined_names(joints);
        let name = self.joint_name(&wanted);
        if name != wanted {
            let message = format!("the name `{wanted}` is used twice: the joint is `{name}`");
            self.tree.remark(joints[0].spot, message);
        }
        for (coordinate, which) in &group.coordinates {
            self.coordinates
                .insert(joints[*which].name.clone(), format!("{name}.{coordinate}"));
        }
        let starts: Vec<String> = joints.iter().map(|j| number(j.start)).collect();
        let moved = joints.iter().any(|j| j.start != 0.0);
        let note = if moved {
            format!("\n    // Starts at {}.", starts.join(", "))
        } else {
            String::new()
        };
        let mut entry = format!("({note}\n    name: {}, kind: {}", text(&name), group.kind);
        entry += &self.sides(link, group, joints);
        if self.meeting.contains_key(&link) {
            entry.push_str(", collide: true");
        }
        entry.push_str(",\n");
        self.write_effects(&mut entry, &name, group, joints);
        entry.push_str("),");
        self.joints.push(entry);
    }

    /// A name for a joint, with the names of what it makes.
    fn joint_name(&mut self, wanted: &str) -> String {
        const PARTS: [&str; 4] = ["held", "force", "angle", "travel"];
        let mut name = wanted.to_owned();
        while PARTS
            .iter()
            .any(|part| self.names.contains(&format!("{name}.{part}")))
        {
            let count = self.counts.entry(format!("{wanted}.")).or_insert(1);
            *count += 1;
            name = format!("{wanted} {count}");
        }
        for part in PARTS {
            self.names.insert(format!("{name}.{part}"));
        }
        name
    }

    /// The sides of a joint and where it is: in the world if its coordinates start at zero, else by
    /// a frame in each body, which tell where they start.
    fn sides(&self, link: usize, group: &Group, joints: &[Joint]) -> String {
        let parent = self.robot.links[link].parent;
        let joint_frame = Frame {
            position: group.anchor,
            rotation: group.rotation,
        };
        let at_zero = joints.iter().all(|j| j.start == 0.0);
        if at_zero {
            let world = self.layout.start[link].then(&joint_frame);
            let mut out = String::new();
            for (key, owner) in [
                ("a", parent.and_then(|p| self.layout.owner[p])),
                ("b", Some(link)),
            ] {
                if let Some(owner) = owner {
                    let _ = write!(out, ", {key}: Body({}, 0)", text(&self.links[owner]));
                }
            }
            out += &place("at", world.position);
            let axis = |a: Vec3| vector(rotate(world.rotation, a));
            if matches!(group.kind, "Universal" | "Planar" | "GimbalXyz" | "GimbalXzy") {
                let _ = write!(out, ", axis: {}, x_axis: {}", axis(Vec3::z()), axis(Vec3::x()));
            } else if group.kind != "Ball" {
                let _ = write!(out, ", axis: {}", axis(Vec3::z()));
            }
            return out;
        }
        let frame = self.robot.links[link].frame;
        let mut out = String::new();
        for (key, of, inner) in [
            ("a", parent, frame.then(&joint_frame)),
            ("b", Some(link), joint_frame),
        ] {
            let (owner, inner) = self.in_body(of, &inner);
            let body = owner.map_or_else(String::new, |o| format!(", body: ({}, 0)", text(&self.links[o])));
            let inside = format!(
                "{body}{}{}",
                place("position", inner.position),
                rotation(inner.rotation)
            );
            let _ = write!(out, ",\n    {key}: Frame({})", inside.trim_start_matches(", "));
        }
        out
    }

    pub(super) fn write_closures(&mut self) {
        let robot = self.robot;
        for Closure { name, kind, a, b } in &robot.closures {
            let name = self.joint_name(name);
            let mut entry = format!("(name: {}, kind: {kind}, collide: true", text(&name));
            for (key, (link, frame)) in [("a", a), ("b", b)] {
                let (owner, inner) = self.in_body(*link, frame);
                let body =
                    owner.map_or_else(String::new, |o| format!(", body: ({}, 0)", text(&self.links[o])));
                let inside = format!(
                    "{body}{}{}",
                    place("position", inner.position),
                    rotation(inner.rotation)
                );
                let _ = write!(entry, ", {key}: Frame({})", inside.trim_start_matches(", "));
            }
            entry.push_str("),");
            self.joints.push(entry);
        }
    }

    pub(super) fn write_gears(&mut self) {
        let robot = self.robot;
        for Gear {
            name,
            first,
            second,
            ratio,
            spot,
        } in &robot.gears
        {
            let nodes = (
                self.coordinates.get(first).cloned(),
                self.coordinates.get(second).cloned(),
            );
            let (Some(first), Some(second)) = nodes else {
                let message = "a row between coordinates, one of which is left out, is left out as well";
                self.tree.remark(*spot, message);
                continue;
            };
            let name = self.name(name);
            self.gears.push(format!(
                "(name: {}, first: {}, second: {}, ratio: {}),",
                text(&name),
                text(&first),
                text(&second),
                number(*ratio)
            ));
        }
    }
}
