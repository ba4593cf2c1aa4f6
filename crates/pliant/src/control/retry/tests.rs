//! Attempts that are left, and reports of parts together.

use super::*;
use crate::contact::OverlapReport;
use crate::{NewtonReport, Timings};
use pliant_model::{At, ForceField, Mass, Model, Treatment};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A force that is another one at each evaluation, so that no step has a solution; it counts
/// them.
#[derive(Clone, Debug, Default)]
struct Erratic(Arc<AtomicUsize>);

impl ForceField for Erratic {
    fn add_force(&self, _: At<'_>, f: &mut [f64]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        f[0] += if count.is_multiple_of(2) { 1e6 } else { -1e6 };
    }
}

/// Evaluations of a step without a solution that has so many attempts left, of which none is
/// in the end.
fn evaluations(attempts: usize) -> usize {
    let mut model = Model::new();
    let particle = model.add_particles("particle", &[[0.0; 3]]).unwrap();
    model.add_mass("mass", particle, Mass::Uniform(1.0)).unwrap();
    let erratic = Erratic::default();
    let count = Arc::clone(&erratic.0);
    model
        .add_force_field("erratic", particle, erratic, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let (start, mut left) = (count.load(Ordering::Relaxed), attempts);
    assert!(step_as_part(&mut simulation, 0.01, &mut left).is_err());
    assert_eq!(left, attempts.saturating_sub(17), "{attempts}");
    count.load(Ordering::Relaxed) - start
}

/// A step that has no solution is halved to its end, sixteen times, unless fewer attempts are
/// left: then it ends with them, and with a like share of the work.
#[test]
fn attempts_that_are_left_bound_a_step() {
    let (few, many) = (evaluations(4), evaluations(MOST_ATTEMPTS));
    assert!(3 * few < many, "{few} {many}");
}

/// A report whose every number is `k` times one that no other has.
fn report(k: usize) -> StepReport {
    let mut model = Model::new();
    let particle = model.add_particles("particle", &[[0.0; 3]]).unwrap();
    model.add_mass("mass", particle, Mass::Uniform(1.0)).unwrap();
    let mut report = Simulation::new(model).unwrap().step(0.125 * k as f64).unwrap();
    let x = k as f64;
    report.residual.relative = 3.0 * x;
    report.residual.primal = 5.0 * x;
    report.ledger.friction = 19.0 * x;
    let s = &mut report.solve;
    (s.refinements, s.geometry_passes) = (2 * k, 3 * k);
    s.newton = NewtonReport {
        iterations: 5 * k,
        halvings: 7 * k,
        step_halvings: 11 * k,
    };
    s.corrections = (13 * k, 17 * k);
    s.projected_tangents = 19 * k;
    let c = &mut report.contacts;
    (c.residual, c.velocity_residual, c.de_saxce) = (7.0 * x, 11.0 * x, 13.0 * x);
    (c.missed, c.work, c.restitution) = (23 * k, 23.0 * x, -x);
    let s = &mut c.solve;
    (s.halvings, s.impacts, s.iterations) = (19 * k, 29 * k, 31 * k);
    s.operations = 43 * k as u64;
    c.corrections = OverlapReport {
        count: 37 * k,
        lifted: 17.0 * x,
        paid: 19.0 * x,
        held_back: 31.0 * x,
        lifted_by: Some([k as u32, 0]),
        unsolved: 41 * k,
        unsolved_by: Some([k as u32, 1]),
    };
    c.sleep.stilled = 29.0 * x;
    let ms = |n: u64| Duration::from_millis(n * k as u64);
    report.timings = Timings {
        fill: ms(2),
        factor: ms(3),
        solve: ms(5),
        stabilise: ms(7),
        contacts: ms(11),
        update: ms(13),
        rejected: ms(17),
    };
    report
}

/// Sums of what was done, the worse of what was missed: whichever half it was in.
#[test]
fn two_reports_make_one() {
    let (small, large) = (report(1), report(2));
    for (first, second) in [(&small, &large), (&large, &small)] {
        let both = together(first, second);
        let both_of = report(3);
        assert_eq!((both.h, both.time), (0.375, second.time));
        assert_eq!(both.residual, large.residual);
        assert_eq!(both.ledger.friction, both_of.ledger.friction);
        assert_eq!(both.timings, both_of.timings);
        let (s, sums, worse) = (&both.solve, &both_of.solve, &large.solve);
        assert_eq!(s.projected_tangents, worse.projected_tangents);
        assert_eq!(
            (s.refinements, s.geometry_passes, s.newton, s.corrections),
            (
                sums.refinements,
                sums.geometry_passes,
                sums.newton,
                sums.corrections
            )
        );
        let (c, sums, worse) = (&both.contacts, &both_of.contacts, &large.contacts);
        assert_eq!(
            (c.residual, c.velocity_residual, c.de_saxce, c.restitution),
            (
                worse.residual,
                worse.velocity_residual,
                worse.de_saxce,
                worse.restitution
            )
        );
        assert_eq!(
            (c.missed, c.work, c.sleep.stilled),
            (sums.missed, sums.work, sums.sleep.stilled)
        );
        assert_eq!(
            (c.solve.halvings, c.solve.impacts, c.solve.iterations),
            (sums.solve.halvings, sums.solve.impacts, sums.solve.iterations)
        );
        let expected = OverlapReport {
            held_back: worse.corrections.held_back,
            lifted_by: worse.corrections.lifted_by,
            unsolved_by: second.contacts.corrections.unsolved_by,
            ..sums.corrections
        };
        assert_eq!(c.corrections, expected);
    }
}
