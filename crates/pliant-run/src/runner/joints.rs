//! Coordinates and forces of joints.

use pliant::model::{JointAxis, JointHandle, JointKind};
use pliant::{Axes, On, Simulation, Wrench};
use pliant_output::recording::JointMark;
use pliant_scene::Picture;
use serde::Serialize;
use std::collections::BTreeMap;

/// A free coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JointCoordinate {
    /// m or rad.
    pub position: f64,
    /// m/s or rad/s.
    pub velocity: f64,
}

/// A joint at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointState {
    /// The coordinates that it leaves free, by name.
    pub coordinates: BTreeMap<&'static str, JointCoordinate>,
    /// Force on its second side in world axes over the last step, of all that belongs to the joint.
    pub force: [f64; 3],
    /// Torque on its second side in world axes, about the joint's origin there.
    pub torque: [f64; 3],
}

/// All joints of a scene.
#[derive(Debug)]
pub(super) struct Joints(Vec<(String, JointKind, JointHandle)>);

impl Joints {
    pub(super) fn new(list: Vec<(String, JointKind, JointHandle)>) -> Self {
        Self(list)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names of the numbers of a line after the time.
    pub(super) fn columns(&self) -> Vec<String> {
        let mut columns = Vec::new();
        for (name, kind, handle) in &self.0 {
            for (axis, part) in kind.free_axes().iter().take(handle.coordinates.len()) {
                let unit = if matches!(axis, JointAxis::Translation(_)) {
                    "m"
                } else {
                    "rad"
                };
                columns.push(format!("{name}.{part}_{unit}"));
                columns.push(format!("{name}.{part}_rate_{unit}/s"));
            }
            columns.extend(["x", "y", "z"].map(|k| format!("{name}.force_{k}_N")));
            columns.extend(["x", "y", "z"].map(|k| format!("{name}.torque_{k}_Nm")));
        }
        columns
    }

    /// Whether there is a joint of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|joint| joint.0 == name)
    }

    /// Marks of all joints at their frames on the second side, with the columns of their forces.
    pub(super) fn marks(&self, picture: &Picture) -> Vec<JointMark> {
        let mut marks = Vec::with_capacity(self.0.len());
        let mut column = 0;
        for (name, kind, handle) in &self.0 {
            let [_, (body, pose)] = handle.frames;
            let drawn = |(node, element)| {
                let mut bodies = picture.bodies.iter();
                bodies.position(|(of, e, _)| (*of, *e) == (node, element))
            };
            column += 2 * handle.coordinates.len();
            // A body that is not drawn shows no joint.
            if body.is_none_or(|body| drawn(body).is_some()) {
                marks.push(JointMark {
                    name: name.clone(),
                    kind: kind.name(),
                    body: body.and_then(drawn),
                    position: pose.position,
                    rotation: pose.rotation,
                    force: column,
                });
            }
            column += 6;
        }
        marks
    }

    /// Time, then the numbers of all joints.
    pub(super) fn line(&self, simulation: &Simulation) -> Vec<f64> {
        let mut line = vec![simulation.time()];
        for (_, kind, joint) in &self.0 {
            let state = state(simulation, *kind, joint);
            for (_, part) in kind.free_axes().iter().take(joint.coordinates.len()) {
                let coordinate = state.coordinates.get(part);
                line.extend(coordinate.map_or([0.0; 2], |c| [c.position, c.velocity]));
            }
            line.extend(state.force.iter().chain(&state.torque));
        }
        line
    }

    /// Force (N) and torque (N m) of a joint on its second side, as in a line.
    pub(super) fn wrench(&self, simulation: &Simulation, joint: usize) -> [f64; 6] {
        let (_, _, handle) = &self.0[joint];
        let Wrench { force, torque } = simulation.joint_wrench(handle, On::B, Axes::World);
        std::array::from_fn(|k| if k < 3 { force[k] } else { torque[k - 3] })
    }

    pub(super) fn states(&self, simulation: &Simulation) -> BTreeMap<String, JointState> {
        let one = |(name, kind, joint): &(String, JointKind, JointHandle)| {
            (name.clone(), state(simulation, *kind, joint))
        };
        self.0.iter().map(one).collect()
    }
}

fn state(simulation: &Simulation, kind: JointKind, joint: &JointHandle) -> JointState {
    let wrench = simulation.joint_wrench(joint, On::B, Axes::World);
    let nodes = kind.free_axes().iter().zip(&joint.coordinates);
    let coordinates = nodes.map(|((_, part), node)| {
        let coordinate = JointCoordinate {
            position: simulation.positions(*node)[0],
            velocity: simulation.velocities(*node)[0],
        };
        (*part, coordinate)
    });
    JointState {
        coordinates: coordinates.collect(),
        force: wrench.force,
        torque: wrench.torque,
    }
}
