//! Equivalences: of treatments, of step orders.

use crate::scenes::truss;
use pliant::prelude::*;

fn run(model: Model, options: Options, h: f64, steps: usize) -> (Vec<f64>, Vec<f64>) {
    let mut s = Simulation::with_options(model, options).unwrap();
    for _ in 0..steps {
        s.step(h).unwrap();
    }
    let all = s
        .state()
        .positions
        .iter()
        .chain(&s.state().velocities)
        .copied()
        .collect();
    (all, s.multipliers().to_vec())
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(1.0f64, |s, x| s.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

const WEIGHTS: [(f64, f64); 5] = [(1.0, 1.0), (0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (0.7, 0.6)];

/// A spring as stiffness and as compliance is the same step by algebra, geometric stiffness and
/// damping included.
#[test]
fn stiffness_is_compliance_for_moderate_springs() {
    for (alpha, beta) in WEIGHTS {
        for geometry in [GeometricTerms::NONE, GeometricTerms::default()] {
            for relaxation in [0.0, 0.02] {
                let options = || Options {
                    alpha,
                    beta,
                    geometry,
                    ..Options::theta()
                };
                let (x, _) = run(
                    truss(400.0, relaxation, Treatment::Stiffness),
                    options(),
                    0.01,
                    100,
                );
                let (y, _) = run(
                    truss(400.0, relaxation, Treatment::Compliance),
                    options(),
                    0.01,
                    100,
                );
                let found = worst(&x, &y);
                assert!(
                    found < 1e-10,
                    "({alpha}, {beta}), {geometry:?}, d = {relaxation}: {found:e}"
                );
            }
        }
    }
}

/// Order of the whole scheme on the nonlinear truss, against a fine step of the second-order
/// scheme: 1 and 2. (With material damping the dropped derivative of `J v` leaves a small
/// first-order term; theory/step.md of the book says so.)
#[test]
fn orders_of_convergence() {
    let end = |weight: f64, h: f64| {
        let options = Options {
            alpha: weight,
            beta: weight,
            ..Options::theta()
        };
        run(
            truss(400.0, 0.0, Treatment::Compliance),
            options,
            h,
            (0.2f64 / h).round() as usize,
        )
        .0
    };
    let fine = end(0.5, 2e-5);
    for (weight, order) in [(1.0, 1.0), (0.5, 2.0)] {
        let errors = [0.0008, 0.0004].map(|h| worst(&fine, &end(weight, h)));
        let found = (errors[0] / errors[1]).log2();
        assert!(
            (found - order).abs() < 0.15,
            "alpha = beta = {weight}: order {found}, errors {errors:?}"
        );
    }
}

/// The stiff limit of the compliance form is the hard constraint.
#[test]
fn small_compliance_tends_to_the_hard_constraint() {
    let pendulum = |compliance: Option<f64>| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let rod = model.add_mapped("rod", &[bob], length).unwrap();
        match compliance {
            None => model.add_constraint("rod", rod, Level::Position).unwrap(),
            Some(c) => model
                .add_force_field("rod", rod, UniformCompliance::new(c), Treatment::Compliance)
                .unwrap(),
        };
        // One pass: compliant rows know their first force, hard ones do not.
        let options = Options {
            geometry: GeometricTerms::NONE,
            ..Options::theta()
        };
        run(model, options, 0.01, 100).0
    };
    let hard = pendulum(None);
    assert_eq!(hard, pendulum(Some(0.0)));
    let errors = [1e-6, 1e-8, 1e-15].map(|c| worst(&hard, &pendulum(Some(c))));
    // First order in the compliance until rounding.
    assert!(
        errors[0] < 1e-3 && errors[1] < 1.1e-2 * errors[0] && errors[2] < 1e-11,
        "{errors:?}"
    );
}

/// A step of h is not two of h/2, but variable steps are as good as their sizes: order 1 with
/// alternating steps.
#[test]
fn steps_may_vary() {
    let end = |h: f64, vary: f64| {
        let mut s = crate::tools::theta(truss(400.0, 0.01, Treatment::Compliance)).unwrap();
        for k in 0..(0.2f64 / h).round() as usize {
            s.step(if k % 2 == 0 {
                h * (1.0 + vary)
            } else {
                h * (1.0 - vary)
            })
            .unwrap();
        }
        assert!((s.time() - 0.2).abs() < 1e-12);
        s.state().positions.clone()
    };
    let fine = end(1e-5, 0.0);
    let errors = [0.002, 0.001].map(|h| worst(&fine, &end(h, 0.5)));
    assert!((errors[0] / errors[1]).log2() > 0.85, "{errors:?}");
}

/// A component's own alpha: the very stiff row that would ring at alpha = 1/2 is quiet with its own
/// alpha = 1.
#[test]
fn a_stiff_row_with_its_own_alpha_does_not_ring() {
    let build = |own: bool| {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.1]).unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        let row = model
            .add_force_field("row", x, UniformCompliance::new(1e-14), Treatment::Compliance)
            .unwrap();
        let mut options = Options {
            alpha: 0.5,
            ..Options::theta()
        };
        if own {
            options.own_alpha.push((row, 1.0));
        }
        let mut s = Simulation::with_options(model, options).unwrap();
        s.step(0.1).unwrap();
        s.step(0.1).unwrap();
        s.state().positions[0]
    };
    // Rule (37) with C = 0 alternates for ever at alpha = 1/2; R is 1e-12 of the Delassus diagonal.
    assert!((build(false) - 0.1).abs() < 1e-10 && build(true).abs() < 1e-10);
}

/// A pendulum of points of the plane is the one of points of space.
#[test]
fn the_plane_is_part_of_space() {
    let end = |dimension: usize| {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0]).unwrap();
        let space = Space::real(dimension).unwrap();
        let (x, v) = ([1.0, 0.0, 0.0], [0.0, 0.5, 0.0]);
        let bob = model
            .add_independent("bob", space, &x[..dimension], &v[..dimension])
            .unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])])
            .with_rest_lengths(&[1.0])
            .in_dimension(dimension);
        let rod = model.add_mapped("rod", &[bob], length).unwrap();
        model.add_constraint("rod", rod, Level::CurvedPosition).unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        s.positions(bob)[..2].to_vec()
    };
    assert!(worst(&end(2), &end(3)) < 1e-13);
}

/// Each coordinate relaxes in its own time: as rows, as a stiffness, and in closed form,
/// `v+ = (v - h k x/m)/(1 + h (h k + b)/m)`.
#[test]
fn every_coordinate_has_its_own_relaxation_time() {
    let (c, d, h, m) = ([0.01, 0.02, 0.5], [0.3, 0.0, 1.5], 0.05, 2.0);
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let mut model = Model::new();
        let p = model
            .add_independent("p", Space::Real(3), &[0.1, -0.2, 0.3], &[1.0, 2.0, -1.0])
            .unwrap();
        model.add_mass("m", p, Mass::Uniform(m)).unwrap();
        let law = DiagonalCompliance::new(&c).with_relaxation_times(&d);
        model.add_force_field("springs", p, law, treatment).unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        s.step(h).unwrap();
        for (i, (x, v)) in [(0.1, 1.0), (-0.2, 2.0), (0.3, -1.0)].into_iter().enumerate() {
            let (k, b) = (1.0 / c[i], d[i] / c[i]);
            let exact = (v - h * k * x / m) / (1.0 + h * (h * k + b) / m);
            assert!((s.velocities(p)[i] - exact).abs() < 1e-14, "{treatment:?} {i}");
        }
    }
}

/// Compliances on one node are what they are on nodes of their own, whatever takes the step: each
/// has its own deformation and force.
#[test]
fn compliances_share_a_node() {
    let build = |apart: bool, damped: f64| {
        let mut m = Model::new();
        let x = m
            .add_independent("x", Space::Real(2), &[0.3, -0.4], &[1.0, 2.0])
            .unwrap();
        m.add_mass("m", x, Mass::Uniform(2.0)).unwrap();
        let laws: [(&str, Box<dyn ForceField>); 3] = [
            (
                "soft",
                Box::new(Spring::saturating(30.0, 5.0).with_damping(0.2 * damped)),
            ),
            ("linear", Box::new(UniformCompliance::new(0.02))),
            (
                "own",
                Box::new(Spring::stiffening(7.0, 3.0).with_damping(0.7 * damped)),
            ),
        ];
        for (name, law) in laws {
            let node = if apart {
                let own = Subset::of_elements(Space::Real(2), &[0]);
                m.add_mapped(&format!("node of {name}"), &[x], own).unwrap()
            } else {
                x
            };
            m.add_boxed_force_field(name, node, law, Treatment::Compliance)
                .unwrap();
        }
        m
    };
    for (integrator, weight, damped) in [
        (Integrator::Theta, 1.0, 1.0),
        (Integrator::Theta, 0.5, 1.0),
        (Integrator::Nonlinear, 1.0, 1.0),
        (Integrator::Nonlinear, 0.5, 1.0),
        (Integrator::generalised_alpha(0.7), 1.0, 1.0),
        (Integrator::bdf2(), 1.0, 1.0),
        (Integrator::EnergyMomentum, 1.0, 1.0),
        (Integrator::Rattle, 1.0, 0.0),
        (Integrator::SymplecticEuler, 1.0, 0.0),
        (Integrator::RungeKutta4, 1.0, 0.0),
    ] {
        let end = |apart| {
            let options = Options {
                integrator: integrator.clone(),
                alpha: weight,
                beta: weight,
                ..Options::theta()
            };
            let mut s = Simulation::with_options(build(apart, damped), options).unwrap();
            for _ in 0..50 {
                s.step(0.01).unwrap();
            }
            let mut out = s.state().positions[..2].to_vec();
            out.extend(s.multipliers());
            out
        };
        for (one, other) in end(false).iter().zip(end(true)) {
            // Newton's method ends at 1e-9 of the velocities.
            assert!(
                (one - other).abs() < 1e-7 * other.abs().max(1.0),
                "{}: {one} {other}",
                integrator.name()
            );
        }
    }
    // At rest, pulled by 4 N: the springs carry it, each by its law.
    for apart in [false, true] {
        let mut s = crate::tools::theta(build(apart, 1.0)).unwrap();
        let x = s.model().node_named("x").unwrap();
        s.set_force(x, 0, &[4.0, 0.0]).unwrap();
        s.find_equilibrium(&Equilibrium::default()).unwrap();
        let l = s.multipliers();
        let x = s.state().positions[0];
        let forces = [0, 2, 4].map(|row| l[row]);
        assert!((forces.iter().sum::<f64>() + 4.0).abs() < 1e-6, "{forces:?}");
        assert!(
            (forces[1] + 50.0 * x).abs() < 1e-6 && (forces[2] + 7.0 * x + 3.0 * x.powi(3)).abs() < 1e-6,
            "{forces:?} {x}"
        );
    }
}
