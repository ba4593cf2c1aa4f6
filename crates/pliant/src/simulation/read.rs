//! Forces in the user's terms.

use super::Simulation;
use pliant_dense::{Vec3, rotation, vec3};
use pliant_model::{ComponentId, JointHandle, NodeId, Pose, Treatment};

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

impl Simulation {
    /// The force of a component on the coordinates of its node: the multipliers of the last step for constraints and compliances,
    /// the law at the present state for stiffnesses, without damping in proportion to the model's stiffnesses (N, N m; on bodies, force in world axes and torque in body axes). Empty for
    /// masses.
    pub fn force(&self, component: ComponentId) -> Vec<f64> {
        if let ComponentId::ForceField(i) = component
            && self.model.treatment(i) != Treatment::Compliance
        {
            let node = self.model.node(self.model.force_fields()[i].node);
            let mut force = vec![0.0; node.velocity_range().len()];
            self.model.add_field_force(&self.state, i, 0.0, &mut force);
            return force;
        }
        self.reaction(component).to_vec()
    }

    /// What a joint does to one of its sides: the force, and the torque about the origin of its frame on that side, of all its parts:
    /// what it holds, springs, dampers, motors, friction, limits. Average over the last step for rows, at the directions of
    /// the present state.
    pub fn joint_wrench(&self, joint: &JointHandle, on: On, axes: Axes) -> Wrench {
        let parts: Vec<ComponentId> = joint.rows.iter().chain(&joint.attached).copied().collect();
        self.wrench_of(joint, &parts, on, axes)
    }

    /// The same of some of its parts.
    pub fn wrench_of(&self, joint: &JointHandle, parts: &[ComponentId], on: On, axes: Axes) -> Wrench {
        let mut force = vec![0.0; self.model.velocity_count()];
        for part in parts {
            let node = match *part {
                ComponentId::ForceField(i) => self.model.force_fields()[i].node,
                ComponentId::Constraint(i) => self.model.constraints()[i].node,
                ComponentId::Mass(_) => continue,
            };
            let target = &mut force[self.model.node(node).velocity_range()];
            for (t, f) in target.iter_mut().zip(self.force(*part)) {
                *t += f;
            }
        }
        self.evaluation.pull_back(&self.model, &mut force);

        let [a, b] = joint.frames;
        let poses = [self.frame_pose(a), self.frame_pose(b)];
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
        let pose = self.body_pose(node, element);
        let f = &force[self.model.node(node).velocity_range()][6 * element..6 * element + 6];
        let linear = sign * vec3(f, 0);
        let about_centre = sign * rotation::rotate(pose.rotation, vec3(f, 3));
        let torque = about_centre + (Vec3::from(pose.position) - origin).cross(&linear);
        let turn = match axes {
            Axes::World => rotation::IDENTITY,
            Axes::FrameA => poses[0].rotation,
            Axes::FrameB => poses[1].rotation,
            Axes::BodyA => {
                a.0.map_or(rotation::IDENTITY, |(n, e)| self.body_pose(n, e).rotation)
            }
            Axes::BodyB => {
                b.0.map_or(rotation::IDENTITY, |(n, e)| self.body_pose(n, e).rotation)
            }
        };
        let into = |v: Vec3| rotation::rotate(rotation::conjugate(turn), v).into();
        Wrench {
            force: into(linear),
            torque: into(torque),
        }
    }

    fn body_pose(&self, node: NodeId, element: usize) -> Pose {
        self.pose(node, element).unwrap_or_default()
    }

    fn frame_pose(&self, (body, pose): (Option<(NodeId, usize)>, Pose)) -> Pose {
        let Some((node, element)) = body else { return pose };
        let on = self.body_pose(node, element);
        let origin = Vec3::from(on.position) + rotation::rotate(on.rotation, Vec3::from(pose.position));
        Pose {
            position: origin.into(),
            rotation: rotation::multiply(on.rotation, pose.rotation),
        }
    }
}
