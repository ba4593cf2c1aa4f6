//! Chains of bodies in Rapier, another program, to compare with.

use super::{GRAVITY, LENGTH, Pose};
use crate::heaps::{Moment, peer::moment};
use rapier3d_f64::prelude::*;

/// How Rapier is to keep the joints of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Solver iterations (substeps) per step; its default is 4.
    pub parts: usize,
    /// Whether the last impulses of joints are where the next begin; by default they are not.
    pub warm: bool,
    /// Whether joints are coordinates of one multibody instead of impulses.
    pub multibody: bool,
}

impl Setting {
    /// Its default.
    pub const DEFAULT: Self = Self {
        parts: 4,
        warm: false,
        multibody: false,
    };
}

/// A chain in Rapier; nothing collides, nothing sleeps.
pub struct Peer {
    world: PhysicsWorld,
    links: Vec<RigidBodyHandle>,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rapier with {} bodies", self.world.bodies.len())
    }
}

impl Peer {
    /// The chain at rest in a pose, its last link of a mass (kg), with steps (s) by a setting.
    pub fn new(links: usize, last_mass: f64, pose: Pose, step: f64, setting: Setting) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        world.integration_parameters.dt = step;
        world.integration_parameters.num_solver_iterations = setting.parts;
        world.integration_parameters.warmstart_joints = setting.warm;
        let half = Vector::new(0.5 * LENGTH, 0.0, 0.0);
        let mut last = world.insert_body(RigidBodyBuilder::fixed());
        let mut handles = Vec::new();
        for i in 0..links {
            let mass = if i + 1 == links { last_mass } else { 1.0 };
            let moment = |a: f64, b: f64| mass / 12.0 * (a * a + b * b);
            let moments = Vector::new(moment(0.02, 0.02), moment(LENGTH, 0.02), moment(LENGTH, 0.02));
            let along = LENGTH * (i as f64 + 0.5);
            let (at, turn) = match pose {
                Pose::Swing => (Vector::new(along, 0.0, 0.0), 0.0),
                Pose::Hang => (Vector::new(0.0, 0.0, -along), std::f64::consts::FRAC_PI_2),
            };
            let body = RigidBodyBuilder::dynamic()
                .translation(at)
                .rotation(Vector::new(0.0, turn, 0.0))
                .additional_mass_properties(MassProperties::new(Vector::ZERO, mass, moments))
                .can_sleep(false);
            let body = world.insert_body(body);
            let end = if i == 0 { Vector::ZERO } else { half };
            let joint = SphericalJointBuilder::new()
                .local_anchor1(end)
                .local_anchor2(-half);
            if setting.multibody {
                world.insert_multibody_joint(last, body, joint);
            } else {
                world.insert_impulse_joint(last, body, joint);
            }
            last = body;
            handles.push(body);
        }
        Self {
            world,
            links: handles,
        }
    }

    /// Takes a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// Where its links are.
    pub fn moment(&self) -> Moment {
        moment(&self.world, &self.links)
    }
}
