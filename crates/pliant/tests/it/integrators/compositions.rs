//! RATTLE of order 4 and 6: several steps, some backwards, in one.

use super::models::*;
use crate::tools::order;
use pliant::prelude::*;

const METHODS: [(Integrator, f64); 2] = [(Integrator::Rattle4, 4.0), (Integrator::Rattle6, 6.0)];

/// A pendulum on a hard rod, a free body that tumbles (elliptic functions) and a spring pendulum
/// (an integration of its own): positions or spin after a second. The steps are where the next
/// order still shows by a tenth or two.
#[test]
fn orders() {
    let exact = elastic_pendulum_at(1.0, 0.0);
    for (method, expected) in METHODS {
        let on_a_rod = |h: f64| {
            let s = taken(pendulum(), with(method.clone()), h, 1.0);
            distance(&s.state().positions[..2], &PENDULUM_AT_1)
        };
        let tumbling = |h: f64| {
            let s = taken(top(), with(method.clone()), h, 1.0);
            distance(&s.state().velocities[3..6], &SPIN_AT_1)
        };
        let on_a_spring = |h: f64| {
            let s = taken(
                elastic_pendulum(Treatment::Stiffness, 0.0),
                with(method.clone()),
                h,
                1.0,
            );
            distance(&s.state().positions[..3], &exact[..3])
        };
        for errors in [
            [on_a_rod(0.05), on_a_rod(0.025)],
            [tumbling(0.1), tumbling(0.05)],
            [on_a_spring(0.02), on_a_spring(0.01)],
        ] {
            println!("{} {errors:?} {}", method.name(), order(errors));
            assert!(
                (order(errors) - expected).abs() < 0.35,
                "{}: {errors:?}",
                method.name()
            );
        }
    }
}

/// Slight damping keeps the order: forwards it takes, backwards it gives.
#[test]
fn damping_keeps_the_order() {
    let exact = elastic_pendulum_at(1.0, 2.0);
    let error = |h: f64| {
        let s = taken(
            elastic_pendulum(Treatment::Stiffness, 2.0),
            with(Integrator::Rattle4),
            h,
            1.0,
        );
        distance(&s.state().positions[..3], &exact[..3])
    };
    let errors = [error(0.02), error(0.01)];
    assert!((order(errors) - 4.0).abs() < 0.3, "{errors:?}");
}

/// Damping that a step backwards cannot undo: 0.66 h b/m is above 2.
#[test]
fn strong_damping_is_an_error() {
    let mut model = Model::new();
    let x = model
        .add_independent("x", Space::Real(1), &[0.0], &[1.0])
        .unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    model
        .add_force_field("oil", x, Damping::new(350.0), Treatment::Stiffness)
        .unwrap();
    let mut s = Simulation::with_options(model, with(Integrator::Rattle4)).unwrap();
    s.options.tuning.newton.halvings = 0;
    s.step(0.005).unwrap();
    let before = s.checkpoint();
    assert!(matches!(s.step(0.01), Err(Error::NotPositiveDefinite { .. })));
    assert_eq!(s.checkpoint(), before);
}

/// A step of several parts reports all of them: damping and iterations are sums; a spring has its
/// force at the end, whatever is between; an input that was changed brings its energy in once.
#[test]
fn reports_are_those_of_all_parts() {
    for (method, parts) in [(Integrator::Rattle4, 5), (Integrator::Rattle6, 9)] {
        let name = method.name();
        // Damped slightly enough for the order: what is missing of the energy is what was
        // dissipated.
        let spring = elastic_pendulum(Treatment::Stiffness, 2.0);
        let mut s = Simulation::with_options(spring, with(method.clone())).unwrap();
        let start = s.problem().energies(s.state()).total();
        let mut last = 0.0;
        for _ in 0..100 {
            let report = s.step(0.005).unwrap();
            last = report.dissipated;
            assert!(report.ledger.inputs == 0.0);
        }
        let lost = start - s.problem().energies(s.state()).total();
        println!("{name}: lost {lost}, dissipated {last}");
        // The trapezoidal rule of the power in each part: of second order in 5 ms.
        assert!(
            lost > 0.1 && (last / lost - 1.0).abs() < 1e-3,
            "{name}: {lost} {last}"
        );

        let mut s = Simulation::with_options(pendulum(), with(method.clone())).unwrap();
        let report = s.step(0.01).unwrap();
        assert!(
            report.solve.newton.iterations >= parts,
            "{name}: {:?}",
            report.solve.newton
        );

        let soft = elastic_pendulum(Treatment::Compliance, 0.0);
        let mut s = Simulation::with_options(soft, with(method.clone())).unwrap();
        let length = s.model().node_named("length").unwrap();
        for _ in 0..50 {
            s.step(0.005).unwrap();
            let expected = -200.0 * s.positions(length)[0];
            // As far as rows are solved.
            assert!(
                (s.multipliers()[0] - expected).abs() < 1e-6,
                "{name}: {:?} {expected}",
                s.multipliers()
            );
        }

        let mut model = elastic_pendulum(Treatment::Stiffness, 0.0);
        let bob = model.node_named("bob").unwrap();
        let force = model
            .add_force_field(
                "F",
                bob,
                ConstantForce::new(&[1.0, 0.0, 0.0]),
                Treatment::Stiffness,
            )
            .unwrap();
        let mut s = Simulation::with_options(model, with(method.clone())).unwrap();
        s.step(0.005).unwrap();
        let x = s.positions(bob)[0];
        s.set_input(force, 0, 3.0).unwrap();
        // The energy -F x changed by -2 x.
        let inputs = s.step(0.005).unwrap().ledger.inputs;
        assert!((inputs + 2.0 * x).abs() < 1e-13, "{name}: {inputs} {x}");
        assert_eq!(s.step(0.005).unwrap().ledger.inputs, 0.0, "{name}");
    }
}

/// Ten links that swing down from the horizontal, the tip at half a second (DOP853 in minimal
/// coordinates, to nine digits): below 1 mm at 10 ms.
#[test]
fn the_chain_of_ten_links() {
    for (method, expected) in METHODS {
        let error = |h: f64| {
            let s = taken(chain(10), with(method.clone()), h, 0.5);
            distance(&[tip(&s)[0], tip(&s)[2]], &[-0.264550457, -0.861349287])
        };
        let errors = [error(0.01), error(0.005), error(0.0025)];
        println!("{} {errors:?}", method.name());
        assert!(errors[0] < 1e-3, "{}: {errors:?}", method.name());
        // The links whip: at 5 ms the next orders still count.
        assert!(
            order([errors[1], errors[2]]) > expected - 0.7,
            "{}: {errors:?}",
            method.name()
        );
    }
}

/// A hundred periods of the pendulum: no trend, and a sixteenth or a sixty-fourth of the error at
/// half of the step.
#[test]
fn the_energy_has_no_trend() {
    for (method, expected, h) in [(Integrator::Rattle4, 4.0, 0.04), (Integrator::Rattle6, 6.0, 0.08)] {
        let largest = |h: f64| {
            let mut s = Simulation::with_options(pendulum(), with(method.clone())).unwrap();
            let start = s.problem().energies(s.state()).total();
            let steps = (236.78 / h) as usize;
            let mut out = [0.0f64; 2];
            for k in 0..steps {
                let error = (s.step(h).unwrap().energies.total() - start).abs();
                let quarter = 4 * k / steps;
                if quarter == 0 || quarter == 3 {
                    out[quarter / 3] = out[quarter / 3].max(error);
                }
            }
            // The largest of a quarter of the run is met at another phase of the step in each.
            assert!((out[1] / out[0] - 1.0).abs() < 0.05, "{out:?}");
            out[1]
        };
        let errors = [largest(h), largest(0.5 * h)];
        println!("{} {errors:?}", method.name());
        assert!((order(errors) - expected).abs() < 0.35, "{errors:?}");
    }
}

/// Back with the velocities turned round.
#[test]
fn they_are_reversible() {
    for (method, _) in METHODS {
        let mut s = taken(chain(3), with(method), 0.01, 0.4);
        let mut turned = s.state().clone();
        turned.velocities.iter_mut().for_each(|v| *v = -*v);
        s.set_state(&turned).unwrap();
        for _ in 0..40 {
            s.step(0.01).unwrap();
        }
        let start = chain(3).initial_state().unwrap();
        // Forty steps of up to nine times a tolerance of 1e-11, which a chain of three links
        // amplifies a hundred times.
        let error = distance(&s.state().positions[..21], &start.positions[..21]);
        assert!(error < 1e-6, "{error}");
    }
}

/// Multipliers are averages over the step: those of twenty short steps of RATTLE. The average of a
/// smooth force by the parts' weights is off by `h^2` of its bend.
#[test]
fn forces_are_averages_over_the_step() {
    for (method, _) in METHODS {
        let mut s = taken(pendulum(), with(Integrator::Rattle), 0.001, 0.5);
        s.options = with(method);
        let mut fine = taken(pendulum(), with(Integrator::Rattle), 0.001, 0.5);
        s.step(0.02).unwrap();
        let mut sum = 0.0;
        for _ in 0..20 {
            fine.step(0.001).unwrap();
            sum += fine.multipliers()[0] / 20.0;
        }
        let error = (s.multipliers()[0] - sum).abs();
        println!("{error} of {sum}");
        assert!(error < 2e-3 * sum.abs(), "{error} of {sum}");
    }
}

/// The support of a fixed body at rest carries its weight, in every part of the step.
#[test]
fn supports_carry_the_weight() {
    for (method, _) in METHODS {
        let mut model = Model::new();
        model.set_gravity([0.0, -G, 0.0]).unwrap();
        let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
        model.fix(bob, 0, &[true; 3]).unwrap();
        let mut s = Simulation::with_options(model, with(method)).unwrap();
        s.step(0.01).unwrap();
        let support = s.support_force(bob, 0);
        assert!((support[1] - G).abs() < 1e-11, "{support:?}");
    }
}

/// A part that has no solution ends the step, and nothing has happened: forces from outside, inputs
/// and the ledger included.
#[test]
fn a_part_that_fails_undoes_the_step() {
    let mut s = Simulation::with_options(pendulum(), with(Integrator::Rattle4)).unwrap();
    s.options.tuning.newton.halvings = 0;
    let mut state = s.state().clone();
    state.velocities[1] = 30.0;
    s.set_state(&state).unwrap();
    s.step(1e-3).unwrap();
    let before = s.checkpoint();
    // The third part, backwards by 0.66 of 65 ms, is the first that is too long; of 100 ms the
    // first is.
    for h in [0.065, 0.1] {
        let found = s.step(h);
        assert!(matches!(found, Err(Error::NotConverged { .. })), "{h} {found:?}");
        assert_eq!(s.checkpoint(), before);
    }
    s.options.tuning.newton.halvings = 3;
    let report = s.step(0.1).unwrap();
    assert!(report.solve.newton.step_halvings > 0 && report.violation < 1e-10 && s.time() == 0.101);
}
