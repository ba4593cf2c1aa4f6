//! Joints of one link, one after the other, as joints of the scene language.
//!
//! Three hinges that cross at right angles are a gimbal, two of them a universal joint, a slide and
//! a hinge along one axis a cylindrical one, two slides and a hinge square to each other a planar
//! one: each of them leaves exactly the motions of its parts, without a body between them.

use crate::geometry::{from_axes, from_z};
use crate::robot::{Joint, Motion};
use pliant_dense::Vec3;
use pliant_dense::rotation::Quaternion;

/// A joint of the scene language that one or more joints of the file make.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) kind: &'static str,
    /// Its point in the frame of the link.
    pub(crate) anchor: Vec3,
    /// Its axes in the frame of the link.
    pub(crate) rotation: Quaternion,
    /// The coordinates that it leaves free: name, and which of the joints it is (the first of them
    /// is number zero).
    pub(crate) coordinates: Vec<(&'static str, usize)>,
    /// How many joints it takes.
    pub(crate) length: usize,
}

/// Directions that differ by less than this are the same: what a file of six digits leaves of a
/// right angle would be another joint.
const SAME: f64 = 1e-9;

/// The joints of a link in groups, the first next to the parent.
pub(crate) fn groups(joints: &[Joint]) -> Vec<Group> {
    let mut found = Vec::new();
    let mut rest = joints;
    while let Some(first) = rest.first() {
        let group = planar(rest)
            .or_else(|| cylindrical(rest))
            .or_else(|| gimbal(rest))
            .or_else(|| universal(rest))
            .unwrap_or_else(|| single(first));
        rest = &rest[group.length..];
        found.push(group);
    }
    found
}

fn single(joint: &Joint) -> Group {
    let (kind, coordinates) = match joint.motion {
        Motion::Hinge => ("Hinge", vec![("angle", 0)]),
        Motion::Slider => ("Slider", vec![("travel", 0)]),
        Motion::Ball => ("Ball", vec![]),
        Motion::Planar => ("Planar", vec![]),
    };
    Group {
        kind,
        anchor: joint.anchor,
        rotation: from_z(joint.axis),
        coordinates,
        length: 1,
    }
}

fn square(a: &Joint, b: &Joint) -> bool {
    a.axis.dot(&b.axis).abs() < SAME
}

/// Two slides and a hinge, each square to the others.
fn planar(joints: &[Joint]) -> Option<Group> {
    let [a, b, hinge, ..] = joints else {
        return None;
    };
    let motions = [a, b, hinge].map(|j| j.motion);
    if motions != [Motion::Slider, Motion::Slider, Motion::Hinge]
        || !(square(a, b) && square(a, hinge) && square(b, hinge))
    {
        return None;
    }
    // z and the first slide span a frame whose y is the second slide, or the other way round.
    let z = hinge.axis;
    let (x, y, order) = if z.cross(&a.axis).dot(&b.axis) > 0.0 {
        (a.axis, b.axis, [0, 1])
    } else {
        (b.axis, a.axis, [1, 0])
    };
    Some(Group {
        kind: "Planar",
        anchor: hinge.anchor,
        rotation: from_axes(x, y, z),
        coordinates: vec![("x", order[0]), ("y", order[1]), ("angle", 2)],
        length: 3,
    })
}

/// A slide and a hinge along the same axis.
fn cylindrical(joints: &[Joint]) -> Option<Group> {
    let [a, b, ..] = joints else {
        return None;
    };
    let (slide, hinge) = match (a.motion, b.motion) {
        (Motion::Slider, Motion::Hinge) => (0, 1),
        (Motion::Hinge, Motion::Slider) => (1, 0),
        _ => return None,
    };
    // Opposite axes would turn the sign of a coordinate.
    (a.axis.cross(&b.axis).norm() < SAME && a.axis.dot(&b.axis) > 0.0).then(|| Group {
        kind: "Cylindrical",
        anchor: joints[hinge].anchor,
        rotation: from_z(joints[hinge].axis),
        coordinates: vec![("travel", slide), ("angle", hinge)],
        length: 2,
    })
}

/// The point where the axes of two hinges cross, if they do, at right angles.
fn crossing(a: &Joint, b: &Joint) -> Option<Vec3> {
    if [a.motion, b.motion] != [Motion::Hinge; 2] || !square(a, b) {
        return None;
    }
    let between = b.anchor - a.anchor;
    // Along their common normal nothing may be between them.
    let apart = between.dot(&a.axis.cross(&b.axis)).abs();
    (apart <= SAME * (1.0 + between.norm())).then(|| a.anchor + a.axis * between.dot(&a.axis))
}

/// Three hinges whose axes cross in a point, each at right angles to the others. The middle one
/// has limits within the quarter turn at which there is no gimbal.
fn gimbal(joints: &[Joint]) -> Option<Group> {
    /// The largest angle (rad) of the middle hinge, at the start and within its limits.
    const MOST: f64 = 1.5;
    let [a, b, c, ..] = joints else {
        return None;
    };
    let (anchor, other) = (crossing(a, b)?, crossing(b, c)?);
    let limits = [b.effects.lower, b.effects.upper];
    let stays = b.start.abs() <= MOST
        && limits
            .iter()
            .all(|limit| limit.is_some_and(|angle| angle.abs() <= MOST));
    if !stays || !square(a, c) || (anchor - other).norm() > SAME * (1.0 + anchor.norm()) {
        return None;
    }
    // The last axis is z in a frame with the first two as x and y, or y in one with them as x and
    // z.
    let z = a.axis.cross(&b.axis);
    let (kind, rotation) = match z.dot(&c.axis) > 0.0 {
        true => ("GimbalXyz", from_axes(a.axis, b.axis, z)),
        false => ("GimbalXzy", from_axes(a.axis, c.axis, b.axis)),
    };
    Some(Group {
        kind,
        anchor,
        rotation,
        coordinates: vec![("first_angle", 0), ("second_angle", 1), ("third_angle", 2)],
        length: 3,
    })
}

/// Two hinges whose axes cross at right angles.
fn universal(joints: &[Joint]) -> Option<Group> {
    let [a, b, ..] = joints else {
        return None;
    };
    let anchor = crossing(a, b)?;
    Some(Group {
        kind: "Universal",
        anchor,
        rotation: from_axes(a.axis, b.axis, a.axis.cross(&b.axis)),
        coordinates: vec![("first_angle", 0), ("second_angle", 1)],
        length: 2,
    })
}
