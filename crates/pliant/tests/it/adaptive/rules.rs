//! How steps follow each other, what a run sums up, and what counts as rest.

use super::*;
use crate::integrators::models::{SPIN_AT_1, distance, top, with};
use pliant::contact::Sleeping;

/// Tolerances that smooth motion never misses.
fn loose() -> Adaptive {
    Adaptive {
        position: 1e3,
        velocity: 1e3,
        first: 0.1,
        ..Adaptive::default()
    }
}

fn lengths(s: &mut Simulation, how: &Adaptive, end: f64) -> (Vec<AdaptiveReport>, AdaptiveSummary) {
    let mut summary = AdaptiveSummary::default();
    let mut reports = Vec::new();
    while s.time() < end {
        let report = s.step_adaptively(how, end).unwrap();
        summary.add(&report);
        reports.push(report);
    }
    (reports, summary)
}

/// The rest of the time before the end is taken in two like steps instead of a long and a short
/// one; the end is met to the bit, and one that cut a step short does not shorten what follows.
#[test]
fn steps_end_where_they_should() {
    let mut s = Simulation::with_options(oscillator(), Options::trapezoidal()).unwrap();
    let (reports, summary) = lengths(&mut s, &loose(), 0.35);
    for (report, wanted) in reports.iter().zip([0.1, 0.1, 0.075, 0.075]) {
        assert!((report.step.h - wanted).abs() < 1e-14, "{}", report.step.h);
    }
    assert_eq!((reports.len(), summary.steps, summary.rejected), (4, 4, 0));
    assert!((summary.smallest - 0.075).abs() < 1e-14 && (summary.largest - 0.1).abs() < 1e-14);
    s.advance_to(&loose(), s.time() + 1e-4).unwrap();
    let report = s.step_adaptively(&loose(), f64::INFINITY).unwrap();
    assert_eq!(report.step.h, 0.1);
    for k in 1..60 {
        let end = s.time() + 0.0137 * f64::from(k);
        let (reports, _) = lengths(&mut s, &loose(), end);
        assert_eq!(s.time(), end);
        // At most as many as go into it, halves at the end for one: none that is left by rounding.
        assert!(reports.len() as f64 <= (0.137 * f64::from(k)).ceil() + 1.0);
        assert!(reports.iter().all(|r| r.step.h > 1e-3), "{k}");
    }
}

/// A first step far too long is cut several times; the step behind one that was cut is no longer
/// than it. Trials that were given up leave no trace in what is counted and in the account of the
/// damping.
#[test]
fn a_rejected_step_is_not_followed_by_a_longer_one() {
    let mut model = oscillator();
    let x = model.node_named("x").unwrap();
    model
        .add_force_field("air", x, Damping::new(3.0), Treatment::Stiffness)
        .unwrap();
    let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
    let energy = |s: &Simulation| s.problem().energies(s.state()).total();
    let start = energy(&s);
    let mut after_rejection = 0;
    for tolerance in [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6] {
        let how = Adaptive {
            position: tolerance,
            velocity: 10.0 * tolerance,
            relative: 0.0,
            position_kink: 0.0,
            velocity_kink: 0.0,
            first: 0.1,
            ..Adaptive::default()
        };
        let first = s.step_adaptively(&how, f64::INFINITY).unwrap();
        let second = s.step_adaptively(&how, f64::INFINITY).unwrap();
        if first.rejected > 0 {
            after_rejection += 1;
            assert!(
                second.step.h <= first.step.h,
                "{} {}",
                first.step.h,
                second.step.h
            );
        }
        // The trapezoid loses exactly what damping takes.
        let balance = energy(&s) + second.step.dissipated - start;
        assert!(balance.abs() < 1e-12 * start, "{balance:e}");
    }
    assert!(after_rejection >= 5, "{after_rejection}");
    // Fourteen steps, each in two halves.
    assert_eq!(s.counters().steps, 28);
}

/// The errors of a turn are measured against the change of the turn, however fast the body flies
/// meanwhile.
#[test]
fn a_fast_flight_does_not_loosen_the_turn() {
    let run = |speed: f64| {
        let mut model = top();
        let body = model.node_named("top").unwrap();
        model
            .set_body_velocity(body, 0, [speed, 0.0, 0.0], [1.2, 0.0, 1.0])
            .unwrap();
        let mut s = Simulation::with_options(model, with(Integrator::Nonlinear)).unwrap();
        let how = Adaptive {
            position: 1e-5,
            velocity: 1e-4,
            relative: 1e-4,
            velocity_kink: 0.0,
            position_kink: 0.0,
            ..Adaptive::default()
        };
        let summary = s.advance_to(&how, 1.0).unwrap();
        (summary.steps, distance(&s.state().velocities[3..6], &SPIN_AT_1))
    };
    let (still, fast) = (run(0.0), run(1000.0));
    println!("steps and errors of the spin, at rest and in flight: {still:?}, {fast:?}");
    // Rounding of what the flight adds may shift a step or two.
    assert!(still.0.abs_diff(fast.0) <= 2, "{still:?} {fast:?}");
    assert!((fast.1 / still.1 - 1.0).abs() < 0.05, "{still:?} {fast:?}");
}

/// Speeds have one limit and spins another; what is slow for moments only, at the turning points of
/// an oscillator, never rests.
#[test]
fn rest_is_slow_in_all_parts_for_a_time() {
    let rests = |model: Model, rest: Sleeping, end: f64| {
        let how = Adaptive {
            rest: Some(rest),
            largest: 0.01,
            first: 0.01,
            ..loose()
        };
        let mut s = Simulation::with_options(model, Options::trapezoidal()).unwrap();
        s.advance_to(&how, end).unwrap().at_rest
    };
    let body = |velocity: [f64; 3], spin: [f64; 3]| {
        let mut model = top();
        let body = model.node_named("top").unwrap();
        model.set_body_velocity(body, 0, velocity, spin).unwrap();
        model
    };
    let limits = |speed, spin| Sleeping {
        speed,
        spin,
        time: 0.05,
    };
    let turning = [0.0, 0.0, 0.5];
    assert!(rests(body([0.0; 3], turning), limits(1e-3, 1.0), 0.2));
    assert!(!rests(body([0.0; 3], turning), limits(1.0, 1e-3), 0.2));
    assert!(rests(body(turning, [0.0; 3]), limits(1.0, 1e-3), 0.2));
    assert!(!rests(body(turning, [0.0; 3]), limits(1e-3, 1.0), 0.2));
    // Below 0.1 m/s for 0.04 s at each of eight turning points.
    let brief = Sleeping {
        speed: 0.1,
        spin: 0.1,
        time: 0.1,
    };
    assert!(!rests(oscillator(), brief, 7.0));
}
