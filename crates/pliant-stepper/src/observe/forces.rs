//! Forces in the user's terms.

use crate::motion::Motion;
use crate::system::System;
use pliant_dense::{Vec3, rotation, vec3};
use pliant_model::{ComponentId, JointHandle, Model, NodeId, NodeKind, Pose, Space, State, Treatment};

/// Which side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The first.
    A,
    /// The second.
    B,
}

/// Axes in which a wrench is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Of the world.
    World,
    /// Of the body of the first side (the world's, if it has none).
    BodyA,
    /// Of the body of the second side.
    BodyB,
    /// Of the joint's frame on the first side.
    FrameA,
    /// Of the joint's frame on the second side.
    FrameB,
}

/// A force and a torque about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force (N).
    pub force: [f64; 3],
    /// Torque (N m).
    pub torque: [f64; 3],
}

/// The force of a component on the coordinates of its node: the multipliers of the last step for
/// constraints and compliances, the law at the present state for stiffnesses, without damping in
/// proportion to the model's stiffnesses (N, N m; on bodies, force in world axes and torque in body
/// axes). Empty for masses.
pub fn force_of(system: &System, motion: &Motion, component: ComponentId) -> Vec<f64> {
    if let ComponentId::ForceField(i) = component
        && system.model.treatment(i) != Treatment::Compliance
    {
        let node = system.model.node(system.model.force_fields()[i].node);
        let mut force = vec![0.0; node.velocity_range().len()];
        system.model.add_field_force(&motion.state, i, 0.0, &mut force);
        return force;
    }
    reaction(system, motion, component).to_vec()
}

/// Reads the force on the coordinates of one mapped node ([`force_through`]), and allocates nothing
/// once warm.
#[derive(Clone, Debug)]
pub struct ForcesThrough {
    node: NodeId,
    /// The node, and those that are mapped from it.
    above: Vec<bool>,
    /// Forces on all nodes.
    force: Vec<f64>,
}

impl ForcesThrough {
    /// Prepares to read those on a node of a model.
    pub fn new(model: &Model, node: NodeId) -> Self {
        let nodes = model.nodes();
        let mut above = vec![false; nodes.len()];
        above[node.index()] = true;
        for (index, entry) in nodes.iter().enumerate() {
            if let NodeKind::Mapped { parents, .. } = &entry.kind {
                above[index] |= parents.iter().any(|parent| above[parent.index()]);
            }
        }
        Self {
            node,
            above,
            force: Vec::new(),
        }
    }

    /// The forces at a motion of the same model.
    pub fn read(&mut self, system: &System, motion: &Motion) -> &[f64] {
        let (model, force) = (&system.model, &mut self.force);
        force.clear();
        force.resize(model.velocity_count(), 0.0);
        for (i, field) in model.force_fields().iter().enumerate() {
            if self.above[field.node.index()] {
                let target = &mut force[model.node(field.node).velocity_range()];
                if model.treatment(i) == Treatment::Compliance {
                    add(target, reaction(system, motion, ComponentId::ForceField(i)));
                } else {
                    model.add_field_force(&motion.state, i, 0.0, target);
                }
            }
        }
        for (i, constraint) in model.constraints().iter().enumerate() {
            if self.above[constraint.node.index()] {
                let target = &mut force[model.node(constraint.node).velocity_range()];
                add(target, reaction(system, motion, ComponentId::Constraint(i)));
            }
        }
        let (above, node) = (&self.above, self.node);
        let from = |index: usize| above[index] && index != node.index();
        system.evaluation.pull_back_some(model, from, force);
        &self.force[model.node(node).velocity_range()]
    }
}

fn add(target: &mut [f64], forces: &[f64]) {
    target.iter_mut().zip(forces).for_each(|(t, f)| *t += f);
}

/// The force on the coordinates of a mapped node of all components that act on it, or on what is
/// mapped from it, each as [`force_of`] has it: what the materials of a solid do to its deformation
/// gradients. Of components that also act on other nodes, the part that acts through this one.
pub fn force_through(system: &System, motion: &Motion, node: NodeId) -> Vec<f64> {
    ForcesThrough::new(&system.model, node)
        .read(system, motion)
        .to_vec()
}

/// Wrench of parts of a joint on one side: force (N), torque (N m) about the origin of its frame
/// there. Average over the last step for rows, at the directions of the present state.
pub fn wrench_of(
    system: &System,
    motion: &Motion,
    joint: &JointHandle,
    parts: &[ComponentId],
    on: On,
    axes: Axes,
) -> Wrench {
    let mut force = vec![0.0; system.model.velocity_count()];
    let mut on_nodes = Vec::with_capacity(parts.len());
    for part in parts {
        let node = match *part {
            ComponentId::ForceField(i) => system.model.force_fields()[i].node,
            ComponentId::Constraint(i) => system.model.constraints()[i].node,
            ComponentId::Mass(_) => continue,
        };
        on_nodes.push(node);
        let target = &mut force[system.model.node(node).velocity_range()];
        for (t, f) in target.iter_mut().zip(force_of(system, motion, *part)) {
            *t += f;
        }
    }
    system
        .evaluation
        .pull_back_from(&system.model, on_nodes.into_iter(), &mut force);

    let [a, b] = joint.frames;
    let poses = [frame_pose(system, motion, a), frame_pose(system, motion, b)];
    let (side, other) = match on {
        On::A => (0, 1),
        On::B => (1, 0),
    };
    let origin = Vec3::from(poses[side].position);
    // The world feels the opposite of what the body on the other side feels.
    let (body, sign) = match joint.frames[side].0 {
        Some(body) => (Some(body), 1.0),
        None => (joint.frames[other].0, -1.0),
    };
    let Some((node, element)) = body else {
        return Wrench::default();
    };
    let pose = body_pose(system, motion, node, element);
    let f = &force[system.model.node(node).velocity_range()][6 * element..6 * element + 6];
    let linear = sign * vec3(f, 0);
    let about_centre = sign * rotation::rotate(pose.rotation, vec3(f, 3));
    let torque = about_centre + (Vec3::from(pose.position) - origin).cross(&linear);
    let turn = match axes {
        Axes::World => rotation::IDENTITY,
        Axes::FrameA => poses[0].rotation,
        Axes::FrameB => poses[1].rotation,
        Axes::BodyA => a.0.map_or(rotation::IDENTITY, |(n, e)| {
            body_pose(system, motion, n, e).rotation
        }),
        Axes::BodyB => b.0.map_or(rotation::IDENTITY, |(n, e)| {
            body_pose(system, motion, n, e).rotation
        }),
    };
    let into = |v: Vec3| rotation::rotate(rotation::conjugate(turn), v).into();
    Wrench {
        force: into(linear),
        torque: into(torque),
    }
}

fn body_pose(system: &System, motion: &Motion, node: NodeId, element: usize) -> Pose {
    pose(&system.model, &motion.state, node, element).unwrap_or_default()
}

fn frame_pose(system: &System, motion: &Motion, (body, pose): (Option<(NodeId, usize)>, Pose)) -> Pose {
    let Some((node, element)) = body else { return pose };
    let on = body_pose(system, motion, node, element);
    let origin = Vec3::from(on.position) + rotation::rotate(on.rotation, Vec3::from(pose.position));
    Pose {
        position: origin.into(),
        rotation: rotation::multiply(on.rotation, pose.rotation),
    }
}

/// Multipliers of one compliant force field or hard constraint; empty for other components.
pub fn reaction<'a>(system: &System, motion: &'a Motion, component: ComponentId) -> &'a [f64] {
    let group = system
        .model
        .row_groups()
        .iter()
        .find(|g| g.component == component);
    group.map_or(&[], |g| &motion.multipliers[g.first_row..][..g.size * g.count])
}

/// Pose of one body; `None` if the node does not hold bodies or has no such element.
pub fn pose(model: &Model, state: &State, node: NodeId, element: usize) -> Option<Pose> {
    let bodies = model.node(node).space == Space::Rigid3;
    let all = model.positions(state, node).as_chunks::<7>().0;
    let x = all.get(element).filter(|_| bodies)?;
    Some(Pose {
        position: [x[0], x[1], x[2]],
        rotation: [x[3], x[4], x[5], x[6]],
    })
}
