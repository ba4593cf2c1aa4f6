//! Failure of Newton's method.

use super::models::*;
use pliant::integrator::NewtonOptions;
use pliant::prelude::*;

/// A pendulum fast enough to pass more than the rod's length in a step: along the direction at the
/// start of the step there is no way back to the circle.
fn fast() -> Simulation {
    let mut s = Simulation::with_options(pendulum(), with(Integrator::Rattle)).unwrap();
    let mut state = s.state().clone();
    state.velocities[1] = 30.0;
    s.set_state(&state).unwrap();
    s
}

#[test]
fn a_step_without_solution_is_an_error_and_changes_nothing() {
    let mut s = fast();
    s.options.tuning.newton.halvings = 0;
    let before = s.checkpoint();
    let Err(Error::NotConverged {
        what,
        report,
        tolerance,
        turning,
        ..
    }) = s.step(0.1)
    else {
        panic!("there is no solution");
    };
    // From the rod along x to one that leads to (1, 3).
    let (row, angle) = turning.unwrap();
    assert_eq!(row, "`rod`, element 0");
    assert!((angle - 3.0f64.atan()).abs() < 1e-9, "{angle}");
    assert!(what.starts_with("`rod`") || what.starts_with("`bob`"), "{what}");
    assert!(report.residual.relative > tolerance && report.solve.newton.iterations > 1);
    assert_ne!(report.status, Status::Converged);
    assert_eq!(s.state(), &before.state);
    assert_eq!(s.time(), 0.0);
}

/// The error of a step without a solution names a change with which it has one: another method,
/// else shorter steps. Both were tried, and the simulation goes on as one that did not fail.
#[test]
fn a_change_that_helps_is_named() {
    let mut s = fast();
    s.options.tuning.newton.halvings = 0;
    let Err(error @ Error::NotConverged { .. }) = s.step(0.1) else {
        panic!("there is no solution");
    };
    let words = error.to_string();
    assert!(
        words.ends_with("; `integrator: Sdirk2` has a solution (tried)"),
        "{words}"
    );
    let mut other = fast();
    other.options.integrator = Integrator::Sdirk2;
    other.step(0.1).unwrap();

    let mut s = fast();
    s.options.integrator = Integrator::Sdirk2;
    s.options.tuning.newton = NewtonOptions {
        iterations: 3,
        halvings: 0,
        stage_halvings: 0,
        ..NewtonOptions::default()
    };
    let mut same = Simulation::with_options(pendulum(), s.options.clone()).unwrap();
    same.restore(&s.checkpoint()).unwrap();
    let Err(Error::NotConverged {
        remedy: Some(remedy), ..
    }) = s.step(0.1)
    else {
        panic!("three iterations are too few");
    };
    assert_eq!(remedy, "steps of 0.01 s have a solution (tried)");
    for _ in 0..10 {
        s.step(0.01).unwrap();
        same.step(0.01).unwrap();
    }
    assert_eq!(s.state(), same.state());
}

/// A change is named only if it was tried and helps: where the default method has no solution
/// either, shorter steps are, and nothing where no step converges within one iteration.
#[test]
fn a_change_that_does_not_help_is_not_named() {
    for (iterations, expected) in [(3, Some("steps of 0.001 s have a solution (tried)")), (1, None)] {
        let mut s = fast();
        s.options.tuning.newton = NewtonOptions {
            iterations,
            halvings: 0,
            stage_halvings: 0,
            ..NewtonOptions::default()
        };
        let before = s.checkpoint();
        let Err(Error::NotConverged { remedy, .. }) = s.step(0.1) else {
            panic!("there is no solution");
        };
        assert_eq!(remedy.as_deref(), expected, "{iterations} iterations");
        assert_eq!(s.checkpoint(), before);
    }
}

#[test]
fn halves_of_the_step_have_a_solution() {
    let mut s = fast();
    let report = s.step(0.05).unwrap();
    assert!(report.solve.newton.step_halvings > 0);
    assert!(report.violation < 1e-10 && report.h == 0.05 && s.time() == 0.05);
}

#[test]
fn the_best_iterate_may_be_accepted_and_is_not_called_converged() {
    let mut s = Simulation::with_options(pendulum(), with(Integrator::Nonlinear)).unwrap();
    s.options.tuning.newton = NewtonOptions {
        iterations: 1,
        halvings: 0,
        ..NewtonOptions::default()
    };
    assert!(matches!(s.step(0.05), Err(Error::NotConverged { .. })));
    s.options.accept_failed_steps = true;
    let report = s.step(0.05).unwrap();
    assert_eq!(report.status, Status::MaxIterations);
    assert!(report.residual.relative > 1e-11 && report.violation > 1e-11);
}

/// A stiff spring that starts far from rest, with a step a hundred times its period: the line
/// search gets there.
#[test]
fn a_step_far_beyond_the_period() {
    let mut s = Simulation::with_options(
        elastic_pendulum(Treatment::Compliance, 0.0),
        Options {
            integrator: Integrator::Nonlinear,
            ..Options::default()
        },
    )
    .unwrap();
    let report = s.step(40.0).unwrap();
    assert_eq!(report.status, Status::Converged);
    // Implicit Euler with such a step ends next to where it would rest: below the hook, the spring
    // longer by m g/k.
    let y = s.state().positions[1];
    assert!((y + 1.0 + G / 200.0).abs() < 1e-2, "{y}");
}

/// Two weights on a hard rope over two fixed points. The lighter one flies up to its point, where
/// the rope has no direction, past it and back: parts of a step have solutions there that the whole
/// has not, down to less than a sixteenth of it.
#[test]
fn a_weight_flies_past_the_point_that_it_hangs_from() {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -G]).unwrap();
    let at = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.5]];
    let p = m.add_particles("weights", &at).unwrap();
    m.add_mass("m", p, Mass::PerElement(vec![1.077, 0.0946])).unwrap();
    let over = [[0.0, 0.2, 4.0], [0.0, 0.8, 4.0]];
    let length = distance(&at[0], &over[0]) + 0.6 + distance(&over[1], &at[1]);
    let [first, last] = over.map(End::Point);
    let path = RopePath::through(&[End::element(0, 0), first, last, End::element(0, 1)], length);
    let rope = m.add_mapped("length", &[p], Rope::new(&[path])).unwrap();
    let rope = m.add_constraint("rope", rope, Level::Position).unwrap();
    m.set_bounds(rope, f64::NEG_INFINITY, 0.0).unwrap();
    let mut s = Simulation::new(m).unwrap();
    let (mut nearest, mut most, mut halvings) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    let start = s.problem().energies(s.state()).total();
    for _ in 0..400 {
        let report = s.step(0.018).unwrap();
        halvings += report.solve.newton.step_halvings;
        assert!(report.violation < 1e-9, "{report:?}");
        // Impacts of the rope take energy; the rest is what the second order of the steps makes of
        // the 10 J that turn over.
        most = most.max(report.energies.total());
        nearest = nearest.min(distance(&s.positions(p)[3..], &over[1]));
    }
    assert!(most < start + 0.05, "{start} {most}");
    assert!(nearest < 0.1 && halvings > 0, "{nearest} {halvings}");
}

/// Steps of two stages are halved by their own option, and taken by one stage then, where steps
/// without a solution are not halved any further.
#[test]
fn stages_are_halved_where_steps_without_a_solution_are_not() {
    let mut s = Simulation::new(pendulum()).unwrap();
    let mut state = s.state().clone();
    state.velocities[1] = 10.0;
    s.set_state(&state).unwrap();
    s.options.tuning.newton.halvings = 0;
    s.options.tuning.newton.iterations = 3;
    let report = s.step(0.1).unwrap();
    assert!(report.solve.newton.step_halvings > 0, "{report:?}");
}

/// A weight on a potential `-k x^2/2` falls away from its top, `x'' = (k/m) x`. Where `h^2 k > m`
/// the linear step has no inertia left, and is taken in halves: two steps of
/// `(m - h^2 k) v+ = m v + h k x`, `x+ = x + h v+`.
#[test]
fn a_linear_step_beyond_its_inertia_is_halved() {
    let (m, k, h) = (2.0, 300.0, 0.1);
    let mut model = Model::new();
    let weight = model.add_scalars("weight", &[0.3]).unwrap();
    model.add_mass("mass", weight, Mass::Uniform(m)).unwrap();
    let law = Potential::new(move |x: &[pliant::model::dual::Dual]| x[0] * x[0] * (-0.5 * k));
    model
        .add_force_field("top", weight, law, Treatment::Stiffness)
        .unwrap();
    let mut s = Simulation::with_options(model, Options::theta()).unwrap();
    s.options.contacts.halvings = 0;
    let error = s.step(h).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { .. }), "{error}");
    s.options.contacts.halvings = 3;
    let report = s.step(h).unwrap();
    assert_eq!(report.solve.newton.step_halvings, 1);
    let (mut x, mut v, half) = (0.3, 0.0, 0.5 * h);
    for _ in 0..2 {
        v = (m * v + half * k * x) / (m - half * half * k);
        x += half * v;
    }
    let found = (s.positions(weight)[0], s.velocities(weight)[0]);
    assert!(
        (found.0 - x).abs() < 1e-12 && (found.1 - v).abs() < 1e-10,
        "{found:?} {x} {v}"
    );
}
