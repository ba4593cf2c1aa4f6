//! Orders of convergence against answers from elsewhere.

use super::models::*;
use crate::tools::order;
use pliant::prelude::*;

fn second_order() -> Vec<Integrator> {
    vec![
        Integrator::Nonlinear,
        Integrator::generalised_alpha(0.8),
        Integrator::generalised_alpha(0.0),
        Integrator::newmark(0.25, 0.5),
        Integrator::bdf2(),
        Integrator::Sdirk2,
        Integrator::Rattle,
    ]
}

/// A pendulum on a hard rod: 0.15 is a tenth of the third-order terms that are left at these steps.
#[test]
fn the_pendulum_has_order_two() {
    for integrator in second_order() {
        let error = |h: f64| {
            let s = taken(pendulum(), with(integrator.clone()), h, 1.0);
            distance(&s.state().positions[..2], &PENDULUM_AT_1)
        };
        let errors = [error(0.01), error(0.005)];
        assert!(
            (order(errors) - 2.0).abs() < 0.15,
            "{}: {errors:?}",
            integrator.name()
        );
        assert!(errors[0] < 5e-3, "{}: {errors:?}", integrator.name());
    }
}

/// The multiplier of generalised-alpha is that of the end of the step: three times the weight along
/// the rod of a pendulum from the horizontal, 3 m g |y|.
#[test]
fn the_multiplier_of_generalised_alpha_has_order_two() {
    let error = |h: f64| {
        let s = taken(pendulum(), with(Integrator::generalised_alpha(0.6)), h, 1.0);
        (s.multipliers()[0] - 3.0 * G * PENDULUM_AT_1[1]).abs()
    };
    let errors = [error(0.01), error(0.005)];
    assert!(
        (order(errors) - 2.0).abs() < 0.25 && errors[0] < 0.1,
        "{errors:?}"
    );
}

/// Newton on the equations of implicit Euler, with the Jacobian of the end: errors of an
/// independent implementation of the same scheme (reference case B01), whose third digit is its
/// last.
#[test]
fn newton_on_implicit_euler_is_the_known_scheme() {
    for (h, expected) in [(0.01, 0.148), (0.005, 0.0781), (0.0025, 0.0402)] {
        let options = Options {
            integrator: Integrator::Nonlinear,
            ..Options::default()
        };
        let s = taken(pendulum(), options, h, 1.0);
        let error = distance(&s.state().positions[..2], &PENDULUM_AT_1);
        assert!((error / expected - 1.0).abs() < 5e-3, "h = {h}: {error}");
    }
}

/// A spring pendulum, with and without damping, as stiffness and as compliance (case F09).
#[test]
fn the_elastic_pendulum_has_order_two() {
    for damping in [0.0, 2.0] {
        let exact = elastic_pendulum_at(1.0, damping);
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            for integrator in second_order() {
                // Has no damping of compliances.
                if integrator == Integrator::Rattle && damping > 0.0 && treatment == Treatment::Compliance {
                    continue;
                }
                let error = |h: f64| {
                    let s = taken(
                        elastic_pendulum(treatment, damping),
                        with(integrator.clone()),
                        h,
                        1.0,
                    );
                    distance(&s.state().positions[..3], &exact[..3])
                        + 0.1 * distance(&s.state().velocities[..3], &exact[3..])
                };
                let errors = [error(0.005), error(0.0025)];
                let name = integrator.name();
                assert!(
                    (order(errors) - 2.0).abs() < 0.2 && errors[0] < 0.03,
                    "{name}, {treatment:?}, damping {damping}: {errors:?}"
                );
            }
        }
    }
}

/// Explicit methods: the elastic pendulum and the free top.
#[test]
fn explicit_orders() {
    let exact = elastic_pendulum_at(1.0, 0.0);
    for (integrator, expected) in [
        (Integrator::SymplecticEuler, 1.0),
        (Integrator::ForwardEuler, 1.0),
        (Integrator::RungeKutta2, 2.0),
        (Integrator::RungeKutta4, 4.0),
    ] {
        let springs = |h: f64| {
            let model = elastic_pendulum(Treatment::Compliance, 0.0);
            let s = taken(model, with(integrator.clone()), h, 1.0);
            distance(&s.state().positions[..3], &exact[..3])
        };
        let spin = |h: f64| {
            let s = taken(top(), with(integrator.clone()), h, 1.0);
            distance(&s.state().velocities[3..6], &SPIN_AT_1)
        };
        for errors in [[springs(0.01), springs(0.005)], [spin(0.02), spin(0.01)]] {
            assert!(
                (order(errors) - expected).abs() < 0.2,
                "{}: {errors:?}",
                integrator.name()
            );
        }
    }
}

/// The free top: order 2 of its spin.
#[test]
fn the_top_has_order_two() {
    for integrator in second_order() {
        let error = |h: f64| {
            let s = taken(top(), with(integrator.clone()), h, 1.0);
            distance(&s.state().velocities[3..6], &SPIN_AT_1)
        };
        let errors = [error(0.02), error(0.01)];
        assert!(
            (order(errors) - 2.0).abs() < 0.1,
            "{}: {errors:?}",
            integrator.name()
        );
    }
}

/// Ten links that swing down from the horizontal: the tip at half a second (DOP853 in minimal
/// coordinates, to nine digits).
#[test]
fn the_chain_of_ten_links() {
    for (integrator, bound) in [
        (Integrator::Nonlinear, 7e-3),
        (Integrator::generalised_alpha(0.8), 6.5e-3),
        (Integrator::Rattle, 6e-3),
    ] {
        let error = |h: f64| {
            let s = taken(chain(10), with(integrator.clone()), h, 0.5);
            distance(&[tip(&s)[0], tip(&s)[2]], &[-0.264550457, -0.861349287])
        };
        let errors = [error(0.01), error(0.005), error(0.0025)];
        let name = integrator.name();
        assert!(errors[0] < bound, "{name}: {errors:?}");
        assert!(
            (order([errors[1], errors[2]]) - 2.0).abs() < 0.15,
            "{name}: {errors:?}"
        );
    }
}

/// Ten links with SDIRK2: two thousandths at the step of 0.01 s (1.9e-3 of an independent
/// program of the same equations), a quarter at half of it, of steps as they are. The whip of the
/// last link makes errors of the third order visible at these steps. With steps that are halved
/// where they gain or lose energy, which the whip does at 0.01 s, it is no worse, and no step gains
/// more than a thousandth of the energy of the motion.
#[test]
fn the_chain_of_ten_links_by_stages() {
    let off = |s: &Simulation| distance(&[tip(s)[0], tip(s)[2]], &[-0.264550457, -0.861349287]);
    let error = |h: f64| {
        let mut options = with(Integrator::Sdirk2);
        options.tuning.newton.stage_halvings = 0;
        options.accuracy = Some(Accuracy::Measured);
        off(&taken(chain(10), options, h, 0.5))
    };
    let errors = [error(0.01), error(0.005), error(0.0025)];
    let mut halved = Simulation::with_options(chain(10), with(Integrator::Sdirk2)).unwrap();
    let (mut halvings, mut gain) = (0, 0.0f64);
    for step in 1..=200 {
        let report = halved.step(0.01).unwrap();
        halvings += report.solve.newton.step_halvings;
        let turned_over = 2.0
            * report
                .energies
                .kinetic
                .max(report.energies.kinetic - report.ledger.kinetic);
        gain = gain.max(report.ledger.numerical / turned_over);
        assert_eq!(report.solve.stages, 2);
        // The limits of what iterations may leave.
        assert!(report.residual.relative <= 1e-5, "{:?}", report.residual);
        assert!(report.solve.velocity_error <= 1e-6, "{:?}", report.solve);
        assert!(report.solve.velocity_error > 0.0, "{:?}", report.solve);
        if step == 50 {
            assert!(off(&halved) < 2e-3, "{}", off(&halved));
        }
    }
    assert!(halvings > 5 && gain < 1e-3, "{halvings} {gain:e}");
    assert!(errors[0] < 2e-3, "{errors:?}");
    assert!((order([errors[0], errors[1]]) - 2.0).abs() < 0.15, "{errors:?}");
    assert!(errors[2] < 1.6e-4, "{errors:?}");
}

/// BDF2 with steps that alternate by a factor of two keeps its order.
#[test]
fn steps_of_bdf2_may_vary() {
    let error = |h: f64| {
        let mut s = Simulation::with_options(pendulum(), with(Integrator::bdf2())).unwrap();
        for _ in 0..(1.0 / (3.0 * h)).round() as usize {
            s.step(h).unwrap();
            s.step(2.0 * h).unwrap();
        }
        distance(&s.state().positions[..2], &PENDULUM_AT_1)
    };
    let errors = [error(1.0 / 300.0), error(1.0 / 600.0)];
    assert!((order(errors) - 2.0).abs() < 0.2, "{errors:?}");
}

/// BDF3 has order 3 from its first step: the pendulum on a hard rod, the elastic pendulum with and
/// without damping in both treatments, and the spin and the place of a free top, which tells
/// whether rotations are taken one after the other and turn at the rate of their coordinates. The
/// next order is a tenth of the third at these steps.
#[test]
fn bdf3_has_order_three() {
    let options = || with(Integrator::bdf3());
    let pendulum_error = |h: f64| {
        let s = taken(pendulum(), options(), h, 1.0);
        distance(&s.state().positions[..2], &PENDULUM_AT_1)
    };
    let mut all = vec![(
        "pendulum".to_owned(),
        [pendulum_error(0.005), pendulum_error(0.0025)],
    )];
    for damping in [0.0, 2.0] {
        let exact = elastic_pendulum_at(1.0, damping);
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let error = |h: f64| {
                let s = taken(elastic_pendulum(treatment, damping), options(), h, 1.0);
                distance(&s.state().positions[..3], &exact[..3])
                    + 0.1 * distance(&s.state().velocities[..3], &exact[3..])
            };
            all.push((format!("{treatment:?} {damping}"), [error(0.002), error(0.001)]));
        }
    }
    let spin = |h: f64| {
        let s = taken(top(), options(), h, 1.0);
        distance(&s.state().velocities[3..6], &SPIN_AT_1)
    };
    all.push(("spin".to_owned(), [spin(0.01), spin(0.005)]));
    // Orientations against steps of order 4, 20 times as short.
    let fine = taken(top(), with(Integrator::RungeKutta4), 0.0005, 1.0);
    let turn = |h: f64| {
        let s = taken(top(), options(), h, 1.0);
        distance(&s.state().positions[3..7], &fine.state().positions[3..7])
    };
    all.push(("turn".to_owned(), [turn(0.01), turn(0.005)]));
    for (name, errors) in all {
        println!("{name}: {errors:?}, order {}", order(errors));
        assert!((order(errors) - 3.0).abs() < 0.25, "{name}: {errors:?}");
    }
}

/// Steps of BDF3 that double and halve keep order 3; steps beyond its bound are of order 2.
#[test]
fn steps_of_bdf3_may_vary() {
    let error = |h: f64, ratios: [f64; 4]| {
        let mut s = Simulation::with_options(pendulum(), with(Integrator::bdf3())).unwrap();
        let total: f64 = ratios.iter().sum();
        for _ in 0..(1.0 / (total * h)).round() as usize {
            for ratio in ratios {
                s.step(ratio * h).unwrap();
            }
        }
        distance(&s.state().positions[..2], &PENDULUM_AT_1)
    };
    for (ratios, expected) in [([1.0, 2.0, 1.0, 1.0], 3.0), ([0.5, 0.5, 2.5, 1.5], 2.0)] {
        let errors = [error(1.0 / 1000.0, ratios), error(1.0 / 2000.0, ratios)];
        assert!((order(errors) - expected).abs() < 0.25, "{ratios:?}: {errors:?}");
    }
}

/// An oscillator by the recurrence itself, `v_n` and `x_n` with a step of its own each: equal to
/// rounding, with steps beyond the bound, which are of order 2.
#[test]
fn bdf3_is_its_recurrence() {
    let (m, k) = (2.0, 30.0);
    let mut model = Model::new();
    let node = model
        .add_independent("mass", Space::Real(1), &[0.3], &[-0.4])
        .unwrap();
    model.add_mass("m", node, Mass::Uniform(m)).unwrap();
    model
        .add_force_field(
            "spring",
            node,
            UniformCompliance::new(1.0 / k),
            Treatment::Stiffness,
        )
        .unwrap();
    let mut s = Simulation::with_options(model, with(Integrator::bdf3())).unwrap();
    let lengths = [0.01, 0.012, 0.01, 0.02, 0.014, 0.04, 0.02, 0.025, 0.06, 0.01];
    let (mut x, mut v, mut t) = (vec![0.3], vec![-0.4], vec![0.0]);
    for (n, &h) in lengths.iter().enumerate() {
        s.step(h).unwrap();
        let end = t[n] + h;
        let used = match n {
            0 => 1,
            1 => 2,
            _ if h > 2.25 * lengths[n - 1].min(lengths[n - 2]) => 2,
            _ => 3,
        };
        let past: Vec<usize> = (0..used).map(|j| n - j).collect();
        // The derivative at the end of the polynomial through the known states: e z+ + sum w_j z_j.
        let e: f64 = past.iter().map(|&j| 1.0 / (end - t[j])).sum();
        let sum = |z: &[f64]| -> f64 {
            past.iter()
                .map(|&j| {
                    let others = past.iter().filter(|&&i| i != j);
                    let product: f64 = others.map(|&i| (end - t[i]) / (t[j] - t[i])).product();
                    -product / (end - t[j]) * z[j]
                })
                .sum()
        };
        let (new_x, new_v) = if n == 0 {
            // The trapezoidal rule.
            let a = -k / m * x[0];
            let b = v[0] + 0.5 * h * (a - k / m * (x[0] + 0.5 * h * v[0]));
            let new_v = b / (1.0 + 0.25 * h * h * k / m);
            (x[0] + 0.5 * h * (v[0] + new_v), new_v)
        } else {
            // e v+ + sum_v = -k/m x+, e x+ + sum_x = v+.
            let (of_x, of_v) = (sum(&x), sum(&v));
            let new_x = -(of_v + e * of_x) / (e * e + k / m);
            (new_x, e * new_x + of_x)
        };
        x.push(new_x);
        v.push(new_v);
        t.push(end);
        let state = s.state();
        let missed = (state.positions[0] - new_x).abs() + (state.velocities[0] - new_v).abs();
        assert!(missed < 1e-12, "step {n}: {missed:e}");
    }
}

/// Energy of an oscillator grows by `1 + (h omega)^2` per step of forward Euler and by
/// `1 + (h omega)^4/4` per step of Heun's method, exactly.
#[test]
fn explicit_methods_make_the_energy_that_they_are_known_for() {
    for (integrator, power, share) in [
        (Integrator::ForwardEuler, 2, 1.0),
        (Integrator::RungeKutta2, 4, 0.25),
    ] {
        let mut model = Model::new();
        let node = model
            .add_independent("mass", Space::Real(1), &[0.3], &[-0.4])
            .unwrap();
        model.add_mass("m", node, Mass::Uniform(2.0)).unwrap();
        model
            .add_force_field(
                "spring",
                node,
                UniformCompliance::new(1.0 / 30.0),
                Treatment::Stiffness,
            )
            .unwrap();
        let mut options = with(integrator);
        options.accuracy = Some(Accuracy::Measured);
        let mut s = Simulation::with_options(model, options).unwrap();
        let before = s.problem().energies(s.state()).total();
        let turn = 0.01 * (30.0f64 / 2.0).sqrt();
        for _ in 0..100 {
            s.step(0.01).unwrap();
        }
        let growth = s.problem().energies(s.state()).total() / before;
        let expected = (1.0 + share * turn.powi(power)).powi(100);
        assert!((growth / expected - 1.0).abs() < 1e-12, "{growth} {expected}");
    }
}

/// Free spin about a principal axis is a constant rate of the coordinate: BDF3 is exact, also where a
/// body turns by more than half a turn in a step or two.
#[test]
fn bdf3_counts_whole_turns() {
    for turn in [1.0, 1.7, 2.4, 3.6] {
        let mut model = Model::new();
        let body = model.add_rigid_bodies("rotor", &[Pose::default()]).unwrap();
        let mass = RigidMass::principal(2.0, [0.1, 0.2, 0.3]);
        model.add_mass("m", body, Mass::Rigid(vec![mass])).unwrap();
        let h = 0.01;
        model
            .set_body_velocity(body, 0, [0.0; 3], [0.0, 0.0, turn / h])
            .unwrap();
        let mut s = Simulation::with_options(model, with(Integrator::bdf3())).unwrap();
        for k in 1..=12 {
            s.step(h).unwrap();
            let half = 0.5 * turn * f64::from(k);
            let q = &s.positions(body)[3..];
            // A quaternion and its negative are one rotation.
            let cosine = (q[0] * half.cos() + q[3] * half.sin()).abs();
            assert!((cosine - 1.0).abs() < 1e-12, "{turn}, step {k}: {q:?}");
        }
    }
}
