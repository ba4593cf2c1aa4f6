//! The net in Rapier, another program, to compare with.

use super::{GRAVITY, MASS, Net, STIFFNESS};
use crate::soft_peer::points;
use rapier3d_f64::prelude::*;

/// Elements of Rapier that take the place of the springs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Springs {
    /// Spring joints between bodies that do not turn.
    Joints,
    /// Edges of a soft body, as constraints that are swept over: its default.
    Constraints,
    /// Edges of a soft body, one implicit solve of the body per substep.
    Fem,
}

enum Knots {
    Bodies(Vec<RigidBodyHandle>),
    Soft(SoftBodyHandle),
}

/// A net in Rapier without contact and without sleep.
pub struct Peer {
    world: PhysicsWorld,
    knots: Knots,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rapier with a net of {} bodies", self.world.bodies.len())
    }
}

impl Peer {
    /// A net at rest with steps (s). The edges of a soft body have the frequency of a spring
    /// between two knots that are free, `sqrt(k / (m / 2)) / (2 pi)`, and no damping.
    pub fn new(net: &Net, springs: Springs, step: f64) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        world.integration_parameters.dt = step;
        let place = |x: &[f64; 3]| Vector::new(x[0], x[1], x[2]);
        let held = net.held();
        let solver = match springs {
            Springs::Joints => {
                let bodies: Vec<_> = (net.knots.iter().enumerate())
                    .map(|(k, x)| {
                        let body = match held.contains(&k) {
                            true => RigidBodyBuilder::fixed(),
                            false => RigidBodyBuilder::dynamic()
                                .lock_rotations()
                                .additional_mass(MASS)
                                .can_sleep(false),
                        };
                        world.insert_body(body.translation(place(x)))
                    })
                    .collect();
                for ((a, b), length) in net.springs.iter().zip(&net.lengths) {
                    let joint = SpringJointBuilder::new(*length, STIFFNESS, 0.0);
                    world.insert_impulse_joint(bodies[*a], bodies[*b], joint);
                }
                return Self {
                    world,
                    knots: Knots::Bodies(bodies),
                };
            }
            Springs::Constraints => SoftBodySolver::Constraints,
            Springs::Fem => SoftBodySolver::Fem,
        };
        let frequency = (2.0 * STIFFNESS / MASS).sqrt() / std::f64::consts::TAU;
        let edges = net.springs.iter().map(|(a, b)| [*a as u32, *b as u32]);
        let body = SoftBodyBuilder::new(net.knots.iter().map(place).collect())
            .masses(vec![MASS; net.knots.len()])
            .edges(edges.collect())
            .pinned_particles(held.map(|k| k as u32))
            .softness(SpringCoefficients::new(frequency, 0.0))
            .solver(solver)
            .no_surface_collider()
            .can_sleep(false);
        Self {
            knots: Knots::Soft(world.insert_soft_body(body)),
            world,
        }
    }

    /// Takes a step.
    pub fn step(&mut self) {
        self.world.step();
    }

    /// Positions (m) and velocities (m/s) of the knots.
    pub fn points(&self) -> Vec<([f64; 3], [f64; 3])> {
        match &self.knots {
            Knots::Soft(handle) => points(&self.world.soft_bodies[*handle]),
            Knots::Bodies(handles) => (crate::heaps::peer::moment(&self.world, handles).into_iter())
                .map(|(x, _, v, _)| (x, v))
                .collect(),
        }
    }
}
