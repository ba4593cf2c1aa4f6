//! Mistakes that engines of this kind have made, a test each.

use crate::tools::{order, weighted, worst};
use pliant::prelude::*;
use std::f64::consts::PI;

/// Positions move by the mean velocity: at `beta = 1/2` a free particle is not slowed to half.
#[test]
fn a_free_particle_travels_the_full_distance() {
    for beta in [0.5, 0.7, 1.0] {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &[0.1, 0.2, 0.3], &[1.0, -2.0, 3.0])
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let options = Options {
            ..weighted(0.5, beta)
        };
        let mut s = Simulation::with_options(model, options).unwrap();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        assert!(worst(&[1.1, -1.8, 3.3], s.positions(p)) < 1e-14);
    }
}

#[test]
fn an_oscillator_has_the_order_of_its_weights() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        for (alpha, beta, expected) in [(0.5, 0.5, 2.0), (1.0, 1.0, 1.0), (0.5, 1.0, 1.0), (1.0, 0.5, 1.0)] {
            let error = |h: f64| {
                let mut model = Model::new();
                let x = model
                    .add_independent("x", Space::Real(1), &[1.0], &[-0.5])
                    .unwrap();
                model.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
                let law = UniformCompliance::from_stiffness(32.0);
                model.add_force_field("k", x, law, treatment).unwrap();
                let mut s = Simulation::with_options(model, weighted(alpha, beta)).unwrap();
                for _ in 0..(2.0 / h).round() as usize {
                    s.step(h).unwrap();
                }
                let t = s.time();
                let exact = (4.0 * t).cos() - 0.125 * (4.0 * t).sin();
                (s.positions(x)[0] - exact).abs()
            };
            let found = order([error(0.002), error(0.001)]);
            assert!((found - expected).abs() < 0.1, "({alpha}, {beta}): {found}");
        }
    }
}

/// An angular spring wound up by `amplitude` and let go is a harmonic oscillator, whatever half
/// turns lie on its way.
fn wound(amplitude: f64, hinge: bool, h: f64) -> (f64, f64) {
    let (inertia, stiffness) = (0.5f64, 8.0f64);
    let omega: f64 = (stiffness / inertia).sqrt();
    let mut model = Model::new();
    let b = model
        .add_rigid_bodies(
            "b",
            &[Pose::turned([0.0; 3], [1.0, 2.0, -1.0], 0.4), Pose::default()],
        )
        .unwrap();
    let mass = RigidMass::principal(1.0, [0.4, 0.45, inertia]);
    model.add_mass("m", b, Mass::Rigid(vec![mass])).unwrap();
    model.fix(b, 0, &[true; 6]).unwrap();
    // The spring is at rest where the first body points.
    let axis = [0.0, 0.0, 1.0];
    let mut at_rest = model;
    let law = UniformCompliance::from_stiffness(stiffness);
    let coordinate = if hinge {
        let joint = Joint::hinge(Side::World, Side::Body(b, 1)).with_spring(0, 1.0 / stiffness, 0.0, 0.0);
        let joint = at_rest.add_joint("hinge", &joint).unwrap();
        joint.coordinates[0]
    } else {
        let rest = pliant::dense::rotation::conjugate(Pose::turned([0.0; 3], [1.0, 2.0, -1.0], 0.4).rotation);
        let r = RelativeRotation::new(&[(0, 1)]).with_rest_rotations(&[rest]);
        let r = at_rest.add_mapped("r", &[b], r).unwrap();
        at_rest
            .add_force_field("spring", r, law, Treatment::Compliance)
            .unwrap();
        r
    };
    let spin = omega * amplitude;
    at_rest
        .set_body_velocity(b, 1, [0.0; 3], axis.map(|x| x * spin))
        .unwrap();
    let mut s = Simulation::with_options(at_rest, Options::trapezoidal()).unwrap();
    let (mut error, mut energy) = (0.0f64, 0.0f64);
    let start = 0.5 * inertia * spin * spin;
    let mut last = 0.0;
    for _ in 0..(2.0 * PI / omega / h).round() as usize {
        let report = s.step(h).unwrap();
        let x = s.positions(coordinate);
        let angle = if hinge { x[0] } else { x[2] };
        // No jump: it moves by no more than the spin allows.
        assert!((angle - last).abs() < 1.01 * spin * h, "{last} to {angle}");
        last = angle;
        error = error.max((angle - amplitude * (omega * s.time()).sin()).abs());
        energy = energy.max((report.energies.total() / start - 1.0).abs());
    }
    (error, energy)
}

#[test]
fn an_angular_spring_goes_through_half_a_turn_and_back() {
    for (amplitude, hinge) in [
        (0.9 * PI, false),
        (1.6 * PI, false),
        (0.9 * PI, true),
        (3.5 * PI, true),
    ] {
        let found = [wound(amplitude, hinge, 0.002), wound(amplitude, hinge, 0.001)];
        let (error, energy) = found[1];
        assert!(
            (order([found[0].0, error]) - 2.0).abs() < 0.2,
            "{amplitude} {hinge}: {found:?}"
        );
        // The trapezoid keeps the energy of a linear oscillator to rounding.
        assert!(
            energy < 1e-9 && error < 1e-4 * amplitude,
            "{amplitude} {hinge}: {found:?}"
        );
    }
}

/// One implicit Euler step of a damped mass divides the velocity by `1 + h b/m`: the damping counts
/// once.
#[test]
fn damping_counts_once() {
    let (m, b, h) = (1.5, 4.0, 0.05f64);
    for case in 0..5 {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &[0.1, 0.2, 0.3], &[1.0, -2.0, 3.0])
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(m)).unwrap();
        match case {
            0 => drop(model.add_force_field("b", p, Damping::new(b), Treatment::Stiffness)),
            1 => drop(model.add_force_field("b", p, Damping::new(b), Treatment::Compliance)),
            2 => model
                .set_rayleigh(Rayleigh {
                    mass: b / m,
                    stiffness: 0.0,
                })
                .unwrap(),
            3 => drop(
                model.add_force_field(
                    "b",
                    p,
                    // A spring too weak to be felt, with a dashpot beside it.
                    FullCompliance::from_stiffness(&[1e-18, 0.0, 0.0, 0.0, 1e-18, 0.0, 0.0, 0.0, 1e-18])
                        .with_damping(&[b, 0.0, 0.0, 0.0, b, 0.0, 0.0, 0.0, b]),
                    Treatment::Compliance,
                ),
            ),
            _ => drop(model.add_force_field(
                "b",
                p,
                Spring::linear(1e-18).with_damping(b),
                Treatment::Compliance,
            )),
        }
        let options = Options::theta();
        let mut s = Simulation::with_options(model, options).unwrap();
        for k in 1..10 {
            s.step(h).unwrap();
            let expected = (1.0 + h * b / m).powi(-k);
            for (v, v0) in s.velocities(p).iter().zip([1.0, -2.0, 3.0]) {
                assert!((v - v0 * expected).abs() < 1e-13, " case {case}");
            }
        }
    }
}

/// Multipliers are forces at every weight, for hard, compliant and viscous rows.
#[test]
fn multipliers_are_forces() {
    for h in [1e-4, 0.01] {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let p = model
            .add_particles("p", &[[0.0, -1.0, 0.0], [0.0, -1.1, 0.0]])
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
        let lengths = |e| Distance::to_points(&[(e, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let hard = model.add_mapped("hard", &[p], lengths(0)).unwrap();
        let hard = model.add_constraint("hard", hard, Level::Position).unwrap();
        let soft = model.add_mapped("soft", &[p], lengths(1)).unwrap();
        let law = UniformCompliance::new(0.1 / (2.0 * 9.81));
        let soft = model
            .add_force_field("soft", soft, law, Treatment::Compliance)
            .unwrap();
        let options = Options::theta();
        let mut s = Simulation::with_options(model, options).unwrap();
        for _ in 0..3 {
            s.step(h).unwrap();
            for id in [hard, soft] {
                let found = s.reaction(id)[0];
                // At rest in equilibrium; roundings of the coordinates over h^2 on the hard row.
                assert!((found + 2.0 * 9.81).abs() < 1e-7, " h = {h}: {found}");
            }
        }
    }
}

/// A half square under a constant force is a linear spring in three dimensions: the step in closed
/// form, all of it from `G`.
#[test]
fn a_quadratic_mapping_is_a_spring_in_space() {
    let (m, k, h) = (1.3, 40.0, 0.05);
    let mut model = Model::new();
    let (x, v) = ([0.3, -0.4, 0.7, -0.2, 0.5, 0.1], [1.0, -2.0, 0.5, 0.1, 0.3, -0.4]);
    let p = model.add_independent("p", Space::Real(3), &x, &v).unwrap();
    model.add_mass("m", p, Mass::Uniform(m)).unwrap();
    let half = Quadratic::new(3, &[0, 1]).with_factors(&[k, 2.0 * k]);
    let half = model.add_mapped("energy", &[p], half).unwrap();
    model
        .add_force_field("force", half, ConstantForce::new(&[-1.0]), Treatment::Stiffness)
        .unwrap();
    for (alpha, beta) in crate::tools::WEIGHTS {
        let mut model_state = Vec::new();
        for c in 0..6 {
            let k = if c < 3 { k } else { 2.0 * k };
            let w = m + h * h * alpha * beta * k;
            let dv = (-h * k * x[c] - h * h * alpha * k * v[c]) / w;
            model_state.push(v[c] + dv);
        }
        let mut again = Model::new();
        let p = again.add_independent("p", Space::Real(3), &x, &v).unwrap();
        again.add_mass("m", p, Mass::Uniform(m)).unwrap();
        let half = Quadratic::new(3, &[0, 1]).with_factors(&[k, 2.0 * k]);
        let half = again.add_mapped("energy", &[p], half).unwrap();
        again
            .add_force_field("force", half, ConstantForce::new(&[-1.0]), Treatment::Stiffness)
            .unwrap();
        let mut s = Simulation::with_options(again, weighted(alpha, beta)).unwrap();
        s.step(h).unwrap();
        assert!(worst(&model_state, s.velocities(p)) < 1e-14, "({alpha}, {beta})");
    }
    let problem = Problem::new(model);
    let energy = problem.energies(&problem.initial_state().unwrap());
    assert!(energy.kinetic > 0.0);
}

/// The geometric stiffness of a mapping of several parents has blocks between them: a spring
/// between points of two nodes, against `k u u^T + (f/l) (1 - u u^T)` with opposite sign across.
#[test]
fn geometric_stiffness_couples_parents() {
    let (k, rest, h) = (300.0, 0.5, 0.05);
    let (a, b) = ([0.1, 0.2, -0.3], [0.7, -0.1, 0.4]);
    let mut model = Model::new();
    let one = model.add_particles("one", &[a]).unwrap();
    let two = model.add_particles("two", &[b]).unwrap();
    model.add_mass("m", one, Mass::Uniform(1.0)).unwrap();
    model.add_mass("n", two, Mass::Uniform(2.0)).unwrap();
    let ends = [(End::element(1, 0), End::element(0, 0))];
    let length = Distance::new(&ends).with_rest_lengths(&[rest]);
    let length = model.add_mapped("length", &[one, two], length).unwrap();
    model
        .add_force_field(
            "spring",
            length,
            UniformCompliance::from_stiffness(k),
            Treatment::Stiffness,
        )
        .unwrap();
    let mut s = crate::tools::theta(model).unwrap();
    s.step(h).unwrap();
    let d: Vec<f64> = (0..3).map(|i| b[i] - a[i]).collect();
    let l = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    let tension = k * (l - rest);
    for i in 0..3 {
        for j in 0..3 {
            let uu = d[i] * d[j] / (l * l);
            let one = f64::from(u8::from(i == j));
            let stiffness = k * uu + tension / l * (one - uu);
            let w = &s.system().w;
            // The lower triangle is stored.
            let lower = |r: usize, c: usize| w.get(r.max(c), r.min(c));
            let expected = [
                one + h * h * stiffness,
                -h * h * stiffness,
                2.0 * one + h * h * stiffness,
            ];
            let found = [lower(i, j), lower(3 + i, j), lower(3 + i, 3 + j)];
            assert!(worst(&expected, &found) < 1e-14, "{i} {j}");
        }
    }
}
