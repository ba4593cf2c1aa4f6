//! The same heaps in Rapier, another program.

use super::{Form, GRAVITY, Heap, Moment, Piece, in_body};
use rapier3d_f64::prelude::*;

/// How Rapier is to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Name in the table.
    pub name: &'static str,
    /// Steps per [`advance`](Peer::advance).
    pub steps: usize,
    /// Solver iterations (substeps) per step; its default is 4.
    pub iterations: usize,
    /// Contacts are that many times as stiff (frequency) as by default, with Coulomb's law at every
    /// point.
    pub stiffer: Option<f64>,
}

/// A heap in Rapier; nothing sleeps.
pub struct Peer {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    steps: usize,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rapier with {} bodies", self.handles.len())
    }
}

fn collider(piece: &Piece, friction: f64) -> ColliderBuilder {
    let builder = match piece.form {
        Form::Cuboid([x, y, z]) => ColliderBuilder::cuboid(x, y, z),
        Form::Ball(radius) => ColliderBuilder::ball(radius),
    };
    builder.friction(friction).restitution(0.0).mass(piece.mass)
}

impl Peer {
    /// The heap with a setting, to be advanced by `duration` (s) at a time.
    pub fn new(heap: &Heap, setting: Setting, duration: f64) -> Self {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, 0.0, -GRAVITY);
        let p = &mut world.integration_parameters;
        p.dt = duration / setting.steps as f64;
        p.num_solver_iterations = setting.iterations;
        if let Some(times) = setting.stiffer {
            p.contact_softness.natural_frequency *= times;
            p.static_contact_softness.natural_frequency *= times;
            p.friction_model = FrictionModel::Coulomb;
        }
        let place = |piece: &Piece| Vector::new(piece.at[0], piece.at[1], piece.at[2]);
        let turn = |piece: &Piece| Vector::new(0.0, piece.turn, 0.0);
        // A thick plate for the ground: its half space has no finite bounds.
        let ground = ColliderBuilder::cuboid(50.0, 50.0, 1.0).translation(Vector::new(0.0, 0.0, -1.0));
        world.insert_collider(ground.friction(heap.friction), None);
        for piece in &heap.fixed {
            let wall = collider(piece, heap.friction).translation(place(piece));
            world.insert_collider(wall.rotation(turn(piece)), None);
        }
        let handles = (heap.bodies.iter())
            .map(|piece| {
                let body = RigidBodyBuilder::dynamic().translation(place(piece));
                let body = body.rotation(turn(piece)).can_sleep(false);
                world.insert(body, collider(piece, heap.friction)).0
            })
            .collect();
        Self {
            world,
            handles,
            steps: setting.steps,
        }
    }

    /// Goes on by the duration.
    pub fn advance(&mut self) {
        for _ in 0..self.steps {
            self.world.step();
        }
    }

    /// Where its bodies are.
    pub fn moment(&self) -> Moment {
        moment(&self.world, &self.handles)
    }
}

/// Where bodies of a world are.
pub fn moment(world: &PhysicsWorld, handles: &[RigidBodyHandle]) -> Moment {
    let one = |handle: &RigidBodyHandle| {
        let body = &world.bodies[*handle];
        let (x, q) = (body.translation(), body.rotation());
        let (v, w) = (body.linvel(), body.angvel());
        let turn = [q.w, q.x, q.y, q.z];
        (
            [x.x, x.y, x.z],
            turn,
            [v.x, v.y, v.z],
            in_body(turn, [w.x, w.y, w.z]),
        )
    };
    handles.iter().map(one).collect()
}
