//! Scenes of many contacts, to be run by this library and by others, and one judge of the states
//! that they reach.

#[cfg(feature = "peers")]
pub mod peer;

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::dense::{Vec3, rotation};
use pliant::prelude::*;

/// Gravity (m/s^2), along -z.
pub const GRAVITY: f64 = 9.81;

/// The shape of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Half lengths (m).
    Cuboid([f64; 3]),
    /// Radius (m).
    Ball(f64),
}

/// A body, or something that stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its shape.
    pub form: Form,
    /// Mass (kg).
    pub mass: f64,
    /// Centre (m).
    pub at: [f64; 3],
    /// Angle about y (rad).
    pub turn: f64,
}

impl Piece {
    fn shape(&self) -> Result<Shape, Error> {
        Ok(match self.form {
            Form::Cuboid(half) => Shape::cuboid(half)?,
            Form::Ball(radius) => Shape::ball(radius)?,
        })
    }

    fn pose(&self) -> Pose {
        Pose::turned(self.at, [0.0, 1.0, 0.0], self.turn)
    }

    fn inertia(&self) -> RigidMass {
        match self.form {
            Form::Cuboid(half) => RigidMass::cuboid(self.mass, half.map(|x| 2.0 * x)),
            Form::Ball(radius) => RigidMass::sphere(self.mass, radius),
        }
    }
}

/// Bodies over the ground `z < 0`, and fixed pieces.
#[derive(Clone, Debug)]
pub struct Heap {
    /// Bodies that move.
    pub bodies: Vec<Piece>,
    /// Bodies that do not move; their mass has no effect.
    pub fixed: Vec<Piece>,
    /// Coefficient of friction of everything.
    pub friction: f64,
}

/// Position, rotation (scalar first), velocity and angular velocity in body axes of a body.
pub type Motion = ([f64; 3], [f64; 4], [f64; 3], [f64; 3]);

/// Motions of all bodies at one time.
pub type Moment = Vec<Motion>;

impl Heap {
    /// A pyramid in one plane: `base` cubes of 0.2 m and 1 kg in the lowest row, 0.02 m apart, one
    /// less in each above.
    pub fn pyramid(base: usize) -> Self {
        Self::pyramid_with_gaps(base, 0.02)
    }

    /// [`pyramid`](Self::pyramid) with other gaps (m) between the cubes of a row.
    pub fn pyramid_with_gaps(base: usize, gap: f64) -> Self {
        let side = 0.2;
        let mut bodies = Vec::new();
        for row in 0..base {
            for k in 0..base - row {
                let x = (side + gap) * (k as f64 - 0.5 * (base - row - 1) as f64);
                bodies.push(Piece {
                    form: Form::Cuboid([0.5 * side; 3]),
                    mass: 1.0,
                    at: [x, 0.0, side * (row as f64 + 0.5)],
                    turn: 0.0,
                });
            }
        }
        Self {
            bodies,
            fixed: Vec::new(),
            friction: 0.5,
        }
    }

    /// Cubes of 0.2 m and 1 kg on each other, the highest of so many times their mass.
    pub fn tower(count: usize, ratio: f64) -> Self {
        let side = 0.2;
        let cube = |k: usize| Piece {
            form: Form::Cuboid([0.5 * side; 3]),
            mass: if k + 1 == count { ratio } else { 1.0 },
            at: [0.0, 0.0, side * (k as f64 + 0.5)],
            turn: 0.0,
        };
        Self {
            bodies: (0..count).map(cube).collect(),
            fixed: Vec::new(),
            friction: 0.5,
        }
    }

    /// Balls of 0.1 m and 1 kg, that fall from a loose grid into a box of ten by ten of them.
    pub fn balls(count: usize) -> Self {
        let radius = 0.05;
        let width = 0.55;
        let mut bodies = Vec::new();
        for k in 0..count {
            let (i, j, layer) = (k % 9, k / 9 % 9, k / 81);
            // Off the grid by up to 5 mm, so that they do not stand on top of each other.
            let off = |a: f64| 0.005 * (a * k as f64).sin();
            bodies.push(Piece {
                form: Form::Ball(radius),
                mass: 1.0,
                at: [
                    0.115 * (i as f64 - 4.0) + off(1.3),
                    0.115 * (j as f64 - 4.0) + off(2.1),
                    0.06 + 0.115 * layer as f64,
                ],
                turn: 0.0,
            });
        }
        let height = 2.0;
        let wall = |x: f64, y: f64| Piece {
            form: Form::Cuboid([
                if x == 0.0 { 1.0 } else { 0.1 },
                if y == 0.0 { 1.0 } else { 0.1 },
                height,
            ]),
            mass: 1.0,
            at: [x * (width + 0.1), y * (width + 0.1), height],
            turn: 0.0,
        };
        Self {
            bodies,
            fixed: vec![wall(1.0, 0.0), wall(-1.0, 0.0), wall(0.0, 1.0), wall(0.0, -1.0)],
            friction: 0.5,
        }
    }

    /// A house of cards of 10 x 6 x 0.2 cm and 20 g in `levels` storeys: pairs that lean against
    /// each other at 20 degrees to the vertical, with a lying card on each two pairs.
    pub fn cards(levels: usize) -> Self {
        let (thick, long, angle) = (0.001, 0.05, 20f64.to_radians());
        let (sin, cos) = angle.sin_cos();
        let pitch = 2.0 * long + 0.5 * thick;
        let storey = 2.0 * (long * cos + thick * sin) + 2.0 * thick;
        let mut bodies = Vec::new();
        let mut push = |at: [f64; 3], turn: f64| {
            bodies.push(Piece {
                form: Form::Cuboid([thick, 0.03, long]),
                mass: 0.02,
                at,
                turn,
            });
        };
        for level in 0..levels {
            let (pairs, floor) = (levels - level, storey * level as f64);
            let apex = |k: usize| pitch * (k as f64 - 0.5 * (pairs - 1) as f64);
            for k in 0..pairs {
                for side in [-1.0, 1.0] {
                    let x = apex(k) + side * (long * sin + thick * cos);
                    push([x, 0.0, floor + long * cos + thick * sin], -side * angle);
                }
            }
            for k in 1..pairs {
                let x = 0.5 * (apex(k - 1) + apex(k));
                push([x, 0.0, floor + storey - thick], 0.5 * std::f64::consts::PI);
            }
        }
        Self {
            bodies,
            fixed: Vec::new(),
            friction: 0.5,
        }
    }

    /// The model and its collision geometry.
    ///
    /// # Errors
    /// None for the scenes here.
    pub fn world(&self) -> Result<(Model, World, NodeId), Error> {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -GRAVITY])?;
        let poses: Vec<Pose> = self.bodies.iter().map(Piece::pose).collect();
        let node = model.add_rigid_bodies("bodies", &poses)?;
        let masses = self.bodies.iter().map(Piece::inertia).collect();
        model.add_mass("mass", node, Mass::Rigid(masses))?;
        let mut world = World::new();
        let material = world.add_material(Material {
            friction: self.friction,
            ..Material::default()
        })?;
        let ground = Shape::half_space([0.0, 0.0, 1.0])?;
        let ground = Collider::new("ground", ground, Placement::Fixed(Pose::default()));
        world.add(ground.with_material(material))?;
        for (k, piece) in self.fixed.iter().enumerate() {
            let place = Placement::Fixed(piece.pose());
            let wall = Collider::new(&format!("wall {k}"), piece.shape()?, place);
            world.add(wall.with_material(material))?;
        }
        for (element, piece) in self.bodies.iter().enumerate() {
            let place = Placement::Body {
                node,
                element,
                pose: Pose::default(),
            };
            let body = Collider::new(&format!("body {element}"), piece.shape()?, place);
            world.add(body.with_material(material))?;
        }
        Ok((model, world, node))
    }

    /// A simulation of it.
    ///
    /// # Errors
    /// None for the scenes here.
    pub fn simulation(&self, options: Options) -> Result<(Simulation, NodeId), Error> {
        let (model, world, node) = self.world()?;
        let mut s = Simulation::with_options(model, options)?;
        s.set_contacts(world)?;
        Ok((s, node))
    }

    /// Kinetic and potential energy (J).
    pub fn energy(&self, moment: &Moment) -> f64 {
        let one = |(piece, (x, _, v, w)): (&Piece, &Motion)| {
            let inertia = piece.inertia().inertia;
            let square = |v: &[f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
            let turning: f64 = (0..3).map(|k| inertia[k][k] * w[k] * w[k]).sum();
            0.5 * (piece.mass * square(v) + turning) + piece.mass * GRAVITY * x[2]
        };
        self.bodies.iter().zip(moment).map(one).sum()
    }

    /// Largest way of a centre from where it began (m).
    pub fn moved(&self, moment: &Moment) -> f64 {
        let way = |(p, m): (&Piece, &Motion)| (Vec3::from(p.at) - Vec3::from(m.0)).norm();
        self.bodies.iter().zip(moment).map(way).fold(0.0, f64::max)
    }
}

/// Largest speed of a centre (m/s).
pub fn speed(moment: &Moment) -> f64 {
    moment.iter().map(|m| Vec3::from(m.2).norm()).fold(0.0, f64::max)
}

/// Where bodies of a simulation are.
pub fn moment(s: &Simulation, node: NodeId) -> Moment {
    let (x, v) = (s.positions(node), s.velocities(node));
    let bodies = x.as_chunks::<7>().0.iter().zip(v.as_chunks::<6>().0);
    bodies
        .map(|(x, v)| {
            (
                [x[0], x[1], x[2]],
                [x[3], x[4], x[5], x[6]],
                [v[0], v[1], v[2]],
                [v[3], v[4], v[5]],
            )
        })
        .collect()
}

/// Angular velocity in body axes.
pub fn in_body(turn: [f64; 4], omega: [f64; 3]) -> [f64; 3] {
    let back = [turn[0], -turn[1], -turn[2], -turn[3]];
    rotation::rotate(back, omega.into()).into()
}

/// Measures overlap in states of a heap, whoever made them.
#[derive(Debug)]
pub struct Judge {
    model: Model,
    world: World,
    state: State,
}

impl Judge {
    /// For a heap.
    ///
    /// # Errors
    /// None for the scenes here.
    pub fn new(heap: &Heap) -> Result<Self, Error> {
        let (model, world, _) = heap.world()?;
        let state = model.initial_state()?;
        Ok(Self { model, world, state })
    }

    /// Largest overlap (m).
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn overlap(&mut self, moment: &Moment) -> Result<f64, Error> {
        for (x, (at, turn, ..)) in self.state.positions.as_chunks_mut::<7>().0.iter_mut().zip(moment) {
            x[..3].copy_from_slice(at);
            x[3..].copy_from_slice(turn);
        }
        self.state.velocities.fill(0.0);
        let state = &self.state;
        let contacts = self
            .world
            .update(&self.model, &state.positions, &state.velocities, 1e-6)?;
        Ok(contacts.iter().fold(0.0, |a, c| a.max(-c.gap)))
    }
}
