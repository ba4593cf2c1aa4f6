//! Masses on nodes that are mapped nonlinearly: their inertia changes as they move.

use super::{check_step, options};
use pliant::gradient::GradientError;
use pliant::prelude::*;

/// A body on a ball joint, spinning, whose inertia is that of points on it, and of a body with a
/// point of its own that is welded to it.
fn body_of_points(damping: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    model
        .set_rayleigh(Rayleigh {
            mass: damping,
            stiffness: 0.0,
        })
        .unwrap();
    let body = model
        .add_rigid_bodies("body", &[Pose::at([0.1, 0.0, 0.0])])
        .unwrap();
    model
        .set_body_velocity(body, 0, [0.2, 0.3, -0.1], [3.0, -2.0, 4.0])
        .unwrap();
    let places = [
        [0.1, 0.0, 0.02],
        [-0.05, 0.08, 0.0],
        [-0.03, -0.06, 0.05],
        [0.0, 0.01, -0.09],
    ];
    let places: Vec<_> = places.iter().map(|x| (0, *x)).collect();
    let points = model
        .add_mapped("points", &[body], RigidPoints::new(&places))
        .unwrap();
    let each = Mass::PerElement(vec![0.2, 0.3, 0.25, 0.1]);
    model.add_mass("of points", points, each).unwrap();
    let frames = RigidFrames::new(&[(0, Pose::at([0.05, 0.1, -0.02]))]);
    let frame = model.add_mapped("frame", &[body], frames).unwrap();
    let mass = RigidMass::principal(0.3, [1e-3, 3e-3, 2e-3]);
    model
        .add_mass("of the frame", frame, Mass::Rigid(vec![mass]))
        .unwrap();
    let eye = RigidPoints::new(&[(0, [0.0, 0.07, 0.03])]);
    let eye = model.add_mapped("eye", &[frame], eye).unwrap();
    model.add_mass("of the eye", eye, Mass::Uniform(0.15)).unwrap();
    let joint = Joint::ball(Side::World, Side::Body(body, 0)).at(Pose::default());
    model.add_joint("joint", &joint).unwrap();
    model
}

/// Two particles with a rotor between them that turns with their distance, a spring beside it.
fn rotor() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let points = model
        .add_particles("points", &[[0.0; 3], [0.3, 0.1, 0.0]])
        .unwrap();
    model.add_mass("mass", points, Mass::Uniform(0.2)).unwrap();
    model
        .set_velocity(points, 0, &[true; 3], &[0.5, 1.0, 0.2])
        .unwrap();
    model
        .set_velocity(points, 1, &[true; 3], &[-0.4, 0.3, 0.9])
        .unwrap();
    let pair = Distance::new(&[(End::element(0, 0), End::element(0, 1))]);
    let length = model.add_mapped("length", &[points], pair).unwrap();
    model.add_mass("rotor", length, Mass::Uniform(0.4)).unwrap();
    let spring = Spring::linear(30.0).with_rest(0.25).with_damping(0.1);
    model
        .add_force_field("spring", length, spring, Treatment::Stiffness)
        .unwrap();
    model
}

/// Tangent and adjoint of steps, against each other and differences, with the turning of the
/// inertia in it: at these speeds it is of the size of the weights.
#[test]
fn masses_on_points_of_bodies() {
    for damping in [0.0, 0.7] {
        let what = format!("points, damped by {damping}");
        let mut s = Simulation::with_options(body_of_points(damping), options()).unwrap();
        for _ in 0..3 {
            s.step(0.01).unwrap();
        }
        check_step(&what, &mut s, 0.01, 1e-7);
    }
    let mut s = Simulation::with_options(rotor(), options()).unwrap();
    for _ in 0..3 {
        s.step(0.01).unwrap();
    }
    check_step("rotor", &mut s, 0.01, 1e-7);
}

/// What has another equation is refused by the name of the mass.
#[test]
fn masses_that_turn_are_refused_where_they_are_not_built() {
    let place = |options: Options| {
        let mut s = Simulation::with_options(rotor(), options).unwrap();
        s.step(0.01).unwrap();
        let step = s.last_step(&[]).unwrap();
        s.step_derivative()?.place(s.problem(), &step)
    };
    let half = Options {
        alpha: 0.5,
        beta: 0.5,
        ..options()
    };
    for options in [half, Options::default()] {
        match place(options) {
            Err(GradientError::NotBuilt { what, .. }) => assert!(what.contains("rotor"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
}
