//! Masses on nodes that are mapped nonlinearly: their inertia changes as they move.

use super::{check_step, options};
use pliant::gradient::*;
use pliant::prelude::*;

/// A body on a ball joint, spinning, whose inertia is that of points on it, and of a body with a
/// point of its own that is welded to it.
pub(super) fn body_of_points(damping: f64) -> Model {
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
        .set_body_velocity(body, 0, [0.0, 0.4, 0.2], [3.0, -2.0, 4.0])
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
    rotor_of_size(1.0)
}

/// The same in another size.
fn rotor_of_size(size: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let points = model
        .add_particles("points", &[[0.0; 3], [0.3 * size, 0.1 * size, 0.0]])
        .unwrap();
    model.add_mass("mass", points, Mass::Uniform(0.2)).unwrap();
    model
        .set_velocity(points, 0, &[true; 3], &[0.5, 1.0, 0.2].map(|v| size * v))
        .unwrap();
    model
        .set_velocity(points, 1, &[true; 3], &[-0.4, 0.3, 0.9].map(|v| size * v))
        .unwrap();
    let pair = Distance::new(&[(End::element(0, 0), End::element(0, 1))]);
    let length = model.add_mapped("length", &[points], pair).unwrap();
    model.add_mass("rotor", length, Mass::Uniform(0.4)).unwrap();
    let spring = Spring::linear(30.0).with_rest(0.25 * size).with_damping(0.1);
    model
        .add_force_field("spring", length, spring, Treatment::Stiffness)
        .unwrap();
    model
}

/// A rotor that turns with the distance of points on two bodies, which swing: the points accelerate
/// along curves, which the rotor sees.
fn rotor_between_bodies() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let poses = [[0.0; 3], [0.5, 0.1, 0.0]].map(Pose::at);
    let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
    let mass = RigidMass::principal(0.4, [2e-3, 3e-3, 4e-3]);
    model.add_mass("mass", bodies, Mass::Rigid(vec![mass])).unwrap();
    model
        .set_body_velocity(bodies, 0, [0.3, -0.5, 0.2], [4.0, 3.0, -5.0])
        .unwrap();
    model
        .set_body_velocity(bodies, 1, [-0.2, 0.1, 0.6], [-2.0, 6.0, 3.0])
        .unwrap();
    let eyes = RigidPoints::new(&[(0, [0.1, 0.05, 0.02]), (1, [-0.08, 0.03, -0.06])]);
    let eyes = model.add_mapped("eyes", &[bodies], eyes).unwrap();
    let pair = Distance::new(&[(End::element(0, 0), End::element(0, 1))]);
    let length = model.add_mapped("length", &[eyes], pair).unwrap();
    model.add_mass("rotor", length, Mass::Uniform(0.3)).unwrap();
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
    // Differences of motions of millimetres are good to fewer digits.
    for (what, model, share) in [
        ("rotor", rotor(), 1e-7),
        ("of millimetres", rotor_of_size(3e-3), 3e-6),
        ("between bodies", rotor_between_bodies(), 1e-7),
    ] {
        let mut s = Simulation::with_options(model, options()).unwrap();
        for _ in 0..3 {
            s.step(0.01).unwrap();
        }
        check_step(what, &mut s, 0.01, share);
    }
}

/// A body on an axis along y, with a mass `m` at `(l, 0, 0)` and one below the axis.
fn balance(m: f64, l: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let turns = [true, true, true, true, false, true];
    model.fix(body, 0, &turns).unwrap();
    let places = RigidPoints::new(&[(0, [l, 0.0, 0.0]), (0, [0.0, 0.0, -0.4])]);
    let points = model.add_mapped("points", &[body], places).unwrap();
    let masses = Mass::PerElement(vec![m, 0.5]);
    model.add_mass("masses", points, masses).unwrap();
    model
}

/// A balance hangs at `tan a = m l/(0.5 * 0.4)`, and swings with
/// `omega^2 = g sqrt((m l)^2 + 0.2^2)/(m l^2 + 0.5 * 0.4^2)`.
#[test]
fn a_balance_at_rest_turns_with_its_masses() {
    let p = [0.3, 0.25];
    let make = |p: &[f64]| Ok(Problem::new(balance(p[0], p[1])));
    let mut family = Family::new(&make, &p, &p).unwrap();
    let mut s = Simulation::new(balance(p[0], p[1])).unwrap();
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    let mut rest = RestDerivative::new(s.problem()).unwrap();
    rest.place(s.problem(), &s.rest_state()).unwrap();
    rest.adjoint([&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], &[]]).unwrap();
    let share = p[0] * p[1] / 0.2;
    for (i, by) in [p[1], p[0]].into_iter().enumerate() {
        let expected = by / 0.2 / (1.0 + share * share);
        let found = rest.by_parameter(&mut family, i).unwrap();
        // Equilibria to 1e-10 of their forces.
        assert!((found / expected - 1.0).abs() < 1e-9, "{i}: {found} {expected}");
    }
    let how = ModeOptions {
        count: 1,
        tolerance: 1e-12,
        ..ModeOptions::default()
    };
    let modes = s.modes(&how).unwrap();
    let ([m, l], inertia) = (p, p[0] * p[1] * p[1] + 0.08);
    let moment = (m * m * l * l + 0.04f64).sqrt();
    let square = 9.81 * moment / inertia;
    assert!((modes.modes[0].eigenvalue / square - 1.0).abs() < 1e-9);
    let by = [
        9.81 * (m * l * l / moment / inertia - moment * l * l / inertia / inertia),
        9.81 * (m * m * l / moment / inertia - 2.0 * moment * m * l / inertia / inertia),
    ];
    for (i, expected) in by.into_iter().enumerate() {
        let mode = modes.modes[0].as_vibration_mode();
        let found = rest.eigenvalue_by(&mut family, i, &mode).unwrap();
        assert!(
            (found - expected).abs() < 1e-7 * square,
            "{i}: {found} {expected}"
        );
    }
}

/// The gradient of the place of a body, after a fifth of a second, by a mass on it: also where its
/// velocities at the start contradict its joint, of the model or set, so that the first step projects
/// them, by masses. Against differences of motions.
#[test]
fn the_motion_of_a_spinning_body_by_a_mass_on_it() {
    let (steps, h, m) = (20, 0.005, 0.2);
    let make = |m: f64, contradicts: bool| {
        let mut model = body_of_points(0.0);
        let points = model.node_named("eye").unwrap();
        model.add_mass("more", points, Mass::Uniform(m)).unwrap();
        if contradicts {
            let body = model.node_named("body").unwrap();
            let (v, w) = ([0.2, 0.3, -0.1], [3.0, -2.0, 4.0]);
            model.set_body_velocity(body, 0, v, w).unwrap();
        }
        model
    };
    let mut place = |step: usize, s: &Simulation, by: &mut NodeGradient| {
        if step < steps {
            return 0.0;
        }
        by.x[0] = 1.0;
        s.state().positions[0]
    };
    for (integrator, contradicts, set) in [
        (Integrator::Nonlinear, false, false),
        (Integrator::bdf2(), false, false),
        (Integrator::Nonlinear, true, false),
        (Integrator::Nonlinear, false, true),
    ] {
        let start = |m: f64| {
            let options = Options {
                integrator: integrator.clone(),
                ..options()
            };
            let mut s = Simulation::with_options(make(m, contradicts), options).unwrap();
            if set {
                let mut state = s.state().clone();
                state.velocities[..3].copy_from_slice(&[0.2, 0.3, -0.1]);
                s.set_state(&state).unwrap();
            }
            s
        };
        let end = |m: f64| {
            let mut s = start(m);
            (0..steps).for_each(|_| s.step(h).map(drop).unwrap());
            s.state().positions[0]
        };
        let problem = |p: &[f64]| Ok(Problem::new(make(p[0], contradicts)));
        let mut family = Family::new(&problem, &[m], &[m]).unwrap();
        let mut gradient = |mut s: Simulation| {
            let mut trajectory = Trajectory::new(steps, h);
            trajectory.family = Some(&mut family);
            let found = trajectory.gradient(&mut s, &mut place).unwrap();
            found.parameters[0]
        };
        let found = gradient(start(m));
        let d = 1e-3;
        let [far, near] = [2.0, 1.0].map(|k| end(m + k * d) - end(m - k * d));
        let expected = (8.0 * near - far) / (12.0 * d);
        // Differences of fourth order of a motion of millimetres.
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{contradicts} {set}: {found} {expected}"
        );
        // The family keeps nothing of it.
        let rest = || Simulation::with_options(make(m, false), start(m).options).unwrap();
        let again = gradient(rest());
        let problem = |p: &[f64]| Ok(Problem::new(make(p[0], false)));
        let mut other = Family::new(&problem, &[m], &[m]).unwrap();
        let mut trajectory = Trajectory::new(steps, h);
        trajectory.family = Some(&mut other);
        let anew = trajectory.gradient(&mut rest(), &mut place).unwrap();
        assert_eq!(again, anew.parameters[0], "{contradicts} {set}");
    }
}

/// A body that flies, with and without spin, all of whose inertia is that of points on it: forces are a
/// billionth of it, so that its equations have to be measured by its inertia.
#[test]
fn a_body_of_points_flies_freely() {
    for spin in [[0.0; 3], [30.0, -20.0, 40.0]] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -1e-7]).unwrap();
        let body = model.add_rigid_bodies("body", &[Pose::default()]).unwrap();
        model.set_body_velocity(body, 0, [50.1, 3.7, 20.3], spin).unwrap();
        let places = RigidPoints::new(&[
            (0, [0.1, 0.0, 0.02]),
            (0, [-0.05, 0.08, 0.0]),
            (0, [-0.03, -0.06, 0.05]),
            (0, [0.0, 0.01, -0.09]),
        ]);
        let points = model.add_mapped("points", &[body], places).unwrap();
        model.add_mass("mass", points, Mass::Uniform(0.2)).unwrap();
        let mut s = Simulation::with_options(model, options()).unwrap();
        for _ in 0..3 {
            s.step(1e-3).unwrap();
        }
        check_step("free", &mut s, 1e-3, 1e-7);
    }
}

/// Steps with other equations are refused by the name of the mass.
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
