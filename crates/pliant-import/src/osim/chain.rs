//! Bodies in their order from the ground, and their joints as joints that follow each other.

use super::ModelReader;
use super::frames::Place;
use super::functions::Function;
use super::joints::{Axis, Coordinate, JointDef};
use crate::error::ImportError;
use crate::geometry::{Frame, turn};
use crate::robot::{Attachment, Closure, CurveRow, Effects, Gear, Joint, Link, Motion, Scalar};
use pliant_dense::Vec3;
use pliant_dense::rotation::{conjugate, multiply, rotate};
use std::collections::VecDeque;

type Result<T> = std::result::Result<T, ImportError>;

/// A coordinate of the file in the scene.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handle {
    /// A joint, by its link and its number there. The coordinate of the scene is `scale` times that
    /// of the file.
    Joint { place: (usize, usize), scale: f64 },
    /// A scalar of its own, by its number, which joints follow.
    Scalar(usize),
    /// Held at its value.
    Held,
    /// One of several of a body that moves freely, or of a ball joint.
    Gone,
}

/// How a body is attached to its parent: its frame there at zero coordinates, and how it moves.
struct Attached {
    frame: Frame,
    attachment: Attachment,
    /// Velocities beside those of the joints, as of a link.
    drift: [Vec3; 2],
}

impl Attached {
    fn new(frame: Frame, attachment: Attachment) -> Self {
        Self {
            frame,
            attachment,
            drift: [Vec3::zeros(); 2],
        }
    }
}

/// Directions this near to each other are not independent.
const PARALLEL: f64 = 1e-6;

impl ModelReader<'_> {
    /// Links, parents first.
    pub(super) fn assemble(&mut self) -> Result<()> {
        let joints = std::mem::take(&mut self.joints);
        let mut own: Vec<Option<&JointDef>> = vec![None; self.bodies.len()];
        let mut behind: Vec<Vec<usize>> = vec![Vec::new(); self.bodies.len()];
        let mut open = VecDeque::new();
        let mut loops = Vec::new();
        for joint in &joints {
            let Some(child) = joint.child.0 else {
                let message = format!(
                    "the child of the joint `{}` is the ground, which has no joint",
                    joint.name
                );
                return self.tree.wrong(joint.spot, message, None);
            };
            if own[child].is_some() {
                loops.push(joint);
                continue;
            }
            own[child] = Some(joint);
            match joint.parent.0 {
                Some(parent) => behind[parent].push(child),
                None => open.push_back(child),
            }
        }
        let floating = (0..self.bodies.len()).filter(|body| own[*body].is_none());
        open.extend(floating);
        while let Some(body) = open.pop_front() {
            self.add_link(body, own[body])?;
            open.extend(&behind[body]);
        }
        if let Some(lost) = self.links_of.iter().position(Option::is_none) {
            let message = format!(
                "`{}` hangs in a loop of joints, apart from the ground",
                self.bodies[lost].name
            );
            return self.tree.wrong(self.bodies[lost].spot, message, None);
        }
        for joint in loops {
            self.close(joint);
        }
        Ok(())
    }

    fn add_link(&mut self, body: usize, joint: Option<&JointDef>) -> Result<()> {
        let number = self.robot.links.len();
        let (
            parent,
            Attached {
                frame,
                attachment,
                drift,
            },
        ) = match joint {
            None => {
                let spot = self.bodies[body].spot;
                self.tree.remark(
                    spot,
                    format!("`{}` has no joint: it moves freely", self.bodies[body].name),
                );
                (None, Attached::new(Frame::IDENTITY, Attachment::Free))
            }
            Some(joint) => {
                let attached = self.attach(joint, number)?;
                (joint.parent.0.and_then(|p| self.links_of[p]), attached)
            }
        };
        let Some(of) = self.bodies.get(body) else {
            return Ok(());
        };
        self.robot.links.push(Link {
            name: of.name.clone(),
            parent,
            frame,
            attachment,
            inertia: of.inertia,
            colliders: Vec::new(),
            drift,
            spot: of.spot,
        });
        self.links_of[body] = Some(number);
        Ok(())
    }

    /// A place as a link and a frame in it.
    pub(super) fn in_link(&self, place: &Place) -> (Option<usize>, Frame) {
        (place.0.and_then(|body| self.links_of[body]), place.1)
    }

    /// A joint of a body that has another one already.
    fn close(&mut self, joint: &JointDef) {
        let kind = match joint.kind.as_str() {
            "WeldJoint" => "Fixed",
            "BallJoint" => "Ball",
            "PinJoint" => "Hinge",
            kind => {
                let message = format!("the `{kind}` `{}` closes a loop, which is not taken", joint.name);
                self.tree.remark(joint.spot, message);
                return;
            }
        };
        let closure = Closure {
            name: joint.name.clone(),
            kind,
            a: self.in_link(&joint.parent),
            b: self.in_link(&joint.child),
        };
        self.robot.closures.push(closure);
        for coordinate in &joint.coordinates {
            self.handles
                .entry(coordinate.name.clone())
                .or_insert(Handle::Gone);
        }
    }

    fn attach(&mut self, def: &JointDef, link: usize) -> Result<Attached> {
        for coordinate in &def.coordinates {
            if self.handles.contains_key(&coordinate.name) {
                let message = format!("the coordinate `{}` is there twice", coordinate.name);
                return self.tree.wrong(coordinate.spot, message, None);
            }
            let handle = match coordinate.locked {
                true => Handle::Held,
                false => Handle::Gone,
            };
            self.handles.insert(coordinate.name.clone(), handle);
            let moves = def.axes.iter().any(|a| {
                a.coordinate
                    .is_some_and(|c| def.coordinates[c].name == coordinate.name)
            });
            if coordinate.locked {
                let message = format!(
                    "`{}` is locked: it is held at {}",
                    coordinate.name, coordinate.value
                );
                self.tree.remark(coordinate.spot, message);
            } else if !moves {
                let message = format!("`{}` is the coordinate of no axis, and left out", coordinate.name);
                self.tree.remark(coordinate.spot, message);
            }
        }
        let axes: Vec<Axis> = def
            .axes
            .iter()
            .map(|axis| without_held(axis, &def.coordinates))
            .collect();
        let outer = |inner: &Frame| def.parent.1.then(inner).then(&def.child.1.inverse());
        let free = axes.iter().filter(|a| a.coordinate.is_some()).count();
        if is_free(&axes) || (def.kind == "BallJoint" && free == 3) {
            return Ok(self.without_coordinates(def, &axes, outer));
        }
        if free == 0 {
            let at = pose(&axes, |axis| axis.function.value(0.0));
            return Ok(Attached::new(outer(&at), Attachment::Rigid));
        }
        let mains: Vec<Option<usize>> = (0..def.coordinates.len()).map(|c| main_axis(&axes, c)).collect();
        let is_main = |index: usize| axes[index].coordinate.is_some_and(|c| mains[c] == Some(index));
        let zero = |index: usize| match &axes[index].function {
            Function::Constant(value) => *value,
            Function::Line(_, at_zero) if is_main(index) => *at_zero,
            _ => 0.0,
        };
        let zeros: Vec<f64> = (0..axes.len()).map(zero).collect();
        let directions = directions(&axes, &zeros);
        let mut joints = Vec::with_capacity(free);
        for (index, axis) in axes.iter().enumerate() {
            let Some(c) = axis.coordinate else {
                continue;
            };
            let coordinate = &def.coordinates[c];
            let place = (link, joints.len());
            let name = match is_main(index) {
                true => coordinate.name.clone(),
                false => format!("{} {}", def.name, axis.label),
            };
            let mut joint = Joint {
                name,
                motion: if axis.turns { Motion::Hinge } else { Motion::Slider },
                anchor: def.child.1.position,
                axis: def.child.1.vector(directions[index]),
                start: 0.0,
                speed: 0.0,
                scale: 1.0,
                reference: 0.0,
                rest: 0.0,
                follows: !is_main(index),
                effects: Effects::default(),
                spot: coordinate.spot,
            };
            if is_main(index) {
                self.lead(&mut joint, axis, coordinate, place);
            } else {
                let scale = mains[c].map_or(1.0, |main| slope(&axes[main]).abs());
                self.follow(&mut joint, axis, &coordinate.name, scale);
            }
            joints.push(joint);
        }
        self.add_scalars(def, &axes, &mains);
        let zero_pose = pose(
            &axes
                .iter()
                .zip(&zeros)
                .map(|(a, z)| fixed(a, *z))
                .collect::<Vec<_>>(),
            |axis| axis.function.value(0.0),
        );
        Ok(Attached::new(outer(&zero_pose), Attachment::Joints(joints)))
    }

    /// A body that moves freely, or a ball joint: it starts where its coordinates say.
    fn without_coordinates(
        &mut self,
        def: &JointDef,
        axes: &[Axis],
        outer: impl Fn(&Frame) -> Frame,
    ) -> Attached {
        let at = pose(axes, |axis| {
            let coordinate = axis.coordinate.and_then(|c| def.coordinates.get(c));
            axis.function.value(coordinate.map_or(0.0, |c| c.value))
        });
        let ball = axes.len() == 3;
        for coordinate in def.coordinates.iter().filter(|c| c.clamped && c.range.is_some()) {
            let message = match ball {
                true => "ranges of coordinates of a ball joint are not taken",
                false => "ranges of coordinates of a body that moves freely are not taken",
            };
            self.tree.remark(coordinate.spot, message);
        }
        if !ball {
            let drift = self.drift(def, axes, &at);
            return Attached {
                frame: outer(&at),
                attachment: Attachment::Free,
                drift,
            };
        }
        let joint = Joint {
            name: def.name.clone(),
            motion: Motion::Ball,
            anchor: def.child.1.position,
            axis: Vec3::z(),
            start: 0.0,
            speed: 0.0,
            scale: 1.0,
            reference: 0.0,
            rest: 0.0,
            follows: false,
            effects: Effects::default(),
            spot: def.spot,
        };
        let drift = self.drift(def, axes, &at);
        Attached {
            frame: outer(&at),
            attachment: Attachment::Joints(vec![joint]),
            drift,
        }
    }

    /// The velocities of the child against the parent, in the axes of the parent, where no joint
    /// has the coordinates.
    fn drift(&self, def: &JointDef, axes: &[Axis], at: &Frame) -> [Vec3; 2] {
        let speed = |axis: &Axis| {
            let coordinate = axis.coordinate.and_then(|c| def.coordinates.get(c));
            slope(axis) * coordinate.map_or(0.0, |c| c.speed)
        };
        // Speeds of these two kinds are of the angular velocity itself, along the axes of the
        // parent's frame; of others they are the rates of the angles.
        let plain = matches!(def.kind.as_str(), "FreeJoint" | "BallJoint");
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        let mut turned = Frame::IDENTITY;
        for axis in axes {
            if !axis.turns {
                linear += axis.direction * speed(axis);
                continue;
            }
            angular += turned.vector(axis.direction) * speed(axis);
            if !plain {
                let angle = axis
                    .coordinate
                    .and_then(|c| def.coordinates.get(c))
                    .map_or(0.0, |c| c.value);
                turned = turned.then(&Frame::turned(turn(axis.direction, axis.function.value(angle))));
            }
        }
        // From the origin of the frame of the joint to that of the child.
        let arm = at.vector(def.child.1.inverse().position);
        [linear + angular.cross(&arm), angular].map(|v| def.parent.1.vector(v))
    }

    /// A joint along the axis that a coordinate of the file moves in proportion.
    fn lead(&mut self, joint: &mut Joint, axis: &Axis, coordinate: &Coordinate, place: (usize, usize)) {
        let slope = slope(axis);
        let scale = slope.abs();
        joint.axis *= slope.signum();
        joint.scale = scale;
        joint.start = coordinate.value * scale;
        joint.speed = coordinate.speed * scale;
        if scale != 1.0 {
            let message = format!(
                "the coordinate `{}` of the scene is {scale} times that of the file",
                coordinate.name
            );
            self.tree.remark(coordinate.spot, message);
        }
        if let Some([lower, upper]) = coordinate.range {
            let (lower, upper) = (lower * scale, upper * scale);
            match coordinate.clamped {
                true => (joint.effects.lower, joint.effects.upper) = (Some(lower), Some(upper)),
                false => joint.effects.range = Some([lower, upper]),
            }
        }
        self.handles
            .insert(coordinate.name.clone(), Handle::Joint { place, scale });
    }

    /// A row for a joint along an axis that follows a coordinate; `scale` is of that in the scene.
    fn follow(&mut self, joint: &mut Joint, axis: &Axis, leader: &str, scale: f64) {
        let name = format!("{} row", joint.name);
        match &axis.function {
            Function::Constant(_) => {}
            Function::Line(slope, at_zero) => {
                joint.start = *at_zero;
                self.robot.gears.push(Gear {
                    name,
                    first: joint.name.clone(),
                    second: leader.to_owned(),
                    ratio: -slope / scale,
                    spot: joint.spot,
                });
            }
            Function::Curve(shape) => self.robot.extras.curves.push(CurveRow {
                name,
                first: joint.name.clone(),
                second: leader.to_owned(),
                shape: shape.scaled(scale, 1.0),
                spot: joint.spot,
            }),
        }
    }

    /// Coordinates that no axis follows in proportion.
    fn add_scalars(&mut self, def: &JointDef, axes: &[Axis], mains: &[Option<usize>]) {
        for (c, coordinate) in def.coordinates.iter().enumerate() {
            let used = axes.iter().any(|axis| axis.coordinate == Some(c));
            if !used || mains[c].is_some() {
                continue;
            }
            if coordinate.clamped && coordinate.range.is_some() {
                let message = "the range of a coordinate that no axis follows in proportion is not taken";
                self.tree.remark(coordinate.spot, message);
            }
            let number = self.robot.extras.scalars.len();
            self.robot.extras.scalars.push(Scalar {
                name: coordinate.name.clone(),
                start: coordinate.value,
                speed: coordinate.speed,
            });
            self.handles
                .insert(coordinate.name.clone(), Handle::Scalar(number));
        }
    }
}

/// An axis whose coordinate is locked stands still.
fn without_held(axis: &Axis, coordinates: &[Coordinate]) -> Axis {
    match axis.coordinate.and_then(|c| coordinates.get(c)) {
        Some(coordinate) if coordinate.locked => fixed(axis, axis.function.value(coordinate.value)),
        _ => axis.clone(),
    }
}

/// The axis, held.
fn fixed(axis: &Axis, value: f64) -> Axis {
    Axis {
        coordinate: None,
        function: Function::Constant(value),
        ..axis.clone()
    }
}

fn slope(axis: &Axis) -> f64 {
    match axis.function {
        Function::Line(slope, _) => slope,
        _ => 1.0,
    }
}

/// The axis that shows a coordinate: one that is in proportion, best by a factor of one, and turns.
fn main_axis(axes: &[Axis], coordinate: usize) -> Option<usize> {
    let own = axes
        .iter()
        .enumerate()
        .filter(|(_, axis)| axis.coordinate == Some(coordinate));
    let lines = own.filter(|(_, axis)| matches!(axis.function, Function::Line(..)));
    let rank = |axis: &Axis| (slope(axis).abs() != 1.0, !axis.turns);
    lines
        .min_by_key(|(index, axis)| (rank(axis), *index))
        .map(|(index, _)| index)
}

/// Whether axes let a body move in all directions, each by a coordinate of its own.
fn is_free(axes: &[Axis]) -> bool {
    let [x, y, z, a, b, c] = axes else {
        return false;
    };
    let mut coordinates: Vec<usize> = axes.iter().filter_map(|axis| axis.coordinate).collect();
    coordinates.sort_unstable();
    coordinates.dedup();
    let lines = axes
        .iter()
        .all(|axis| matches!(axis.function, Function::Line(..)));
    let volume = x.direction.cross(&y.direction).dot(&z.direction).abs();
    let apart = |a: &Axis, b: &Axis| a.direction.cross(&b.direction).norm() > PARALLEL;
    coordinates.len() == 6 && lines && volume > PARALLEL && apart(a, b) && apart(b, c)
}

/// The frame of the child in that of the parent, with each axis at a value: slides, then turns
/// about the turned axes.
fn pose(axes: &[Axis], value: impl Fn(&Axis) -> f64) -> Frame {
    let mut frame = Frame::IDENTITY;
    for axis in axes {
        match axis.turns {
            true => frame.rotation = multiply(frame.rotation, turn(axis.direction, value(axis))),
            false => frame.position += axis.direction * value(axis),
        }
    }
    frame
}

/// Directions of the axes in the frame of the child, with each at a value.
fn directions(axes: &[Axis], values: &[f64]) -> Vec<Vec3> {
    let mut out = vec![Vec3::zeros(); axes.len()];
    // What follows behind an axis turns it in the frame of the child.
    let mut behind = Frame::IDENTITY.rotation;
    for (index, axis) in axes.iter().enumerate().rev() {
        out[index] = rotate(conjugate(behind), axis.direction);
        if axis.turns {
            behind = multiply(turn(axis.direction, values[index]), behind);
        }
    }
    out
}
