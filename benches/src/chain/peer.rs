//! Chains of bodies in Rapier, another program, to compare with.

use super::{GRAVITY, LENGTH};
use rapier3d_f64::prelude::*;

/// A swinging chain in Rapier; nothing collides, nothing sleeps.
pub struct Peer {
    world: PhysicsWorld,
    last: RigidBodyHandle,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rapier with {} bodies", self.world.bodies.len())
    }
}

impl Peer {
    /// The chain, straight along x, its last link of a mass (kg), with steps (s) that are taken in
    /// parts.
    pub fn new(links: usize, last_mass: f64, step: f64, parts: usize) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        world.integration_parameters.dt = step;
        world.integration_parameters.num_solver_iterations = parts;
        world.integration_parameters.warmstart_joints = true;
        let half = Vector::new(0.5 * LENGTH, 0.0, 0.0);
        let mut last = world.insert_body(RigidBodyBuilder::fixed());
        for i in 0..links {
            let mass = if i + 1 == links { last_mass } else { 1.0 };
            let moment = |a: f64, b: f64| mass / 12.0 * (a * a + b * b);
            let moments = Vector::new(moment(0.02, 0.02), moment(LENGTH, 0.02), moment(LENGTH, 0.02));
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::new(LENGTH * (i as f64 + 0.5), 0.0, 0.0))
                .additional_mass_properties(MassProperties::new(Vector::ZERO, mass, moments))
                .can_sleep(false);
            let body = world.insert_body(body);
            let end = if i == 0 { Vector::ZERO } else { half };
            let joint = SphericalJointBuilder::new()
                .local_anchor1(end)
                .local_anchor2(-half);
            world.insert_impulse_joint(last, body, joint);
            last = body;
        }
        Self { world, last }
    }

    /// Takes a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// The free end of the last link.
    pub fn tip(&self) -> [f64; 3] {
        let body = &self.world.bodies[self.last];
        let tip = body.position() * Vector::new(0.5 * LENGTH, 0.0, 0.0);
        [tip.x, tip.y, tip.z]
    }
}
