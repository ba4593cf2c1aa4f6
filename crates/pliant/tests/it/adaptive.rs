//! Steps that choose their length, against closed forms.

mod accuracy;
mod events;
mod jumps;
mod memory;
mod rules;

use pliant::prelude::*;

const G: f64 = 9.81;

/// A mass of 2 kg on a spring of 30 N/m, from 0.3 m and -0.4 m/s (case A01).
fn oscillator() -> Model {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.3], &[-0.4])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
    let spring = UniformCompliance::new(1.0 / 30.0);
    model
        .add_force_field("k", x, spring, Treatment::Stiffness)
        .unwrap();
    model
}

fn oscillator_at(t: f64) -> [f64; 2] {
    let w = 15.0f64.sqrt();
    let (s, c) = (w * t).sin_cos();
    [0.3 * c - 0.4 / w * s, -0.3 * w * s - 0.4 * c]
}

/// A ball of 0.1 m, its lowest point 1 m over the plane `z = 0`.
fn ball(restitution: f64) -> Simulation {
    use pliant::collision::*;
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let p = model
        .add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, 1.1])])
        .unwrap();
    let mass = RigidMass::principal(1.0, [0.004; 3]);
    model.add_mass("m", p, Mass::Rigid(vec![mass])).unwrap();
    let mut world = World::new();
    let material = world
        .add_material(Material {
            restitution,
            ..Material::default()
        })
        .unwrap();
    let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material)).unwrap();
    let round = Collider::new("ball", Shape::ball(0.1).unwrap(), body(p));
    world.add(round.with_material(material)).unwrap();
    let mut simulation = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    simulation.set_contacts(world).unwrap();
    simulation
}

fn body(node: NodeId) -> pliant::collision::Placement {
    pliant::collision::Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    }
}
