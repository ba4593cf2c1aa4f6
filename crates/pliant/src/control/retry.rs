//! Steps that are taken again: with contacts that were missed, and in halves where contacts or
//! Newton's method do not converge.

use super::Conditions;
use crate::{Error, Integrator, Simulation, StepReport, Timings};
use pliant_stepper::contact::step;

/// A step under the options, in halves where it does not converge and they allow it.
pub(crate) fn step(simulation: &mut Simulation, h: f64) -> Result<StepReport, Error> {
    let options = &simulation.options;
    let halvings = match options.integrator {
        Integrator::Theta => options.contacts.halvings,
        _ => options.tuning.newton.halvings,
    };
    if let Some(contacts) = &mut simulation.system.contacts {
        contacts.observed.failed = None;
    }
    step_or_halves(simulation, h, halvings)
}

/// A step; where its contacts or Newton's method do not converge, two halves instead, down to
/// `2^-halvings` of it. If one of them fails, nothing has happened.
fn step_or_halves(simulation: &mut Simulation, h: f64, halvings: usize) -> Result<StepReport, Error> {
    let end = simulation.motion.time + h;
    match simulation.step_at_once(h, Conditions::default()) {
        Err(Error::ContactsNotConverged { .. } | Error::ContactsMissed { .. }) if halvings > 0 => {}
        Err(Error::NotConverged { .. } | Error::NotPositiveDefinite { .. })
            if halvings > 0 && simulation.options.integrator != Integrator::Theta => {}
        result => return result,
    }
    let before = simulation.checkpoint();
    let first = step_or_halves(simulation, 0.5 * h, halvings - 1);
    let result = first.and_then(|first| {
        let second = step_or_halves(simulation, 0.5 * h, halvings - 1)?;
        Ok(both(&first, &second))
    });
    match result {
        Ok(mut report) => {
            // Times do not depend on how often a step was halved.
            simulation.motion.time = end;
            report.time = end;
            Ok(report)
        }
        Err(error) => {
            // What failed is to be looked at, and going back forgets it.
            if let Some(contacts) = &mut simulation.system.contacts {
                contacts.keep_failed();
            }
            simulation.restore(&before)?;
            Err(error)
        }
    }
}

/// Tries a step from the motion at its start, and again as long as it went through contacts that
/// the search had missed.
pub(crate) fn with_missed_contacts(simulation: &mut Simulation, h: f64) -> Result<StepReport, Error> {
    step::begin(&mut simulation.system);
    loop {
        let result = simulation.try_at_once(h);
        let missed = matches!(result, Err(Error::ContactsMissed { .. }));
        if !(missed && step::take_missed(&mut simulation.system)) {
            return result;
        }
        put_back(simulation)?;
    }
}

/// Drops the end of a step.
pub(crate) fn put_back(simulation: &mut Simulation) -> Result<(), Error> {
    let (start, end) = (&mut simulation.start, &mut simulation.motion);
    end.clone_from(start);
    simulation.system.propagate(&mut end.state)?;
    simulation.system.set_row_motion(end.time, end.time);
    Ok(())
}

/// Report of the two halves of a step that did not converge.
fn both(first: &StepReport, second: &StepReport) -> StepReport {
    let mut out = together(first, second);
    out.newton.step_halvings += 1;
    out.contacts.halvings += usize::from(out.newton.iterations == 0);
    out
}

/// Report of two steps together.
pub(crate) fn together(first: &StepReport, second: &StepReport) -> StepReport {
    let mut out = *second;
    out.h = first.h + second.h;
    if first.residual.relative > second.residual.relative {
        (out.residual, out.status) = (first.residual, first.status);
    }
    let mut ledger = first.ledger;
    ledger += second.ledger;
    out.ledger = ledger;
    out.refinements += first.refinements;
    out.geometry_passes += first.geometry_passes;
    out.geometry_clamped |= first.geometry_clamped;
    out.projected_tangents = out.projected_tangents.max(first.projected_tangents);
    out.newton.iterations += first.newton.iterations;
    out.newton.halvings += first.newton.halvings;
    out.newton.step_halvings += first.newton.step_halvings;
    out.corrections.0 += first.corrections.0;
    out.corrections.1 += first.corrections.1;
    out.timings = sum(&first.timings, &second.timings);
    let (a, b) = (&first.contacts, &mut out.contacts);
    if a.residual > b.residual {
        (b.residual, b.velocity_residual) = (a.residual, a.velocity_residual);
    }
    b.de_saxce = b.de_saxce.max(a.de_saxce);
    b.halvings += a.halvings;
    b.missed += a.missed;
    b.impacts += a.impacts;
    b.iterations += a.iterations;
    b.corrections += a.corrections;
    if a.lifted > b.lifted {
        b.lifted_by = a.lifted_by;
    }
    b.lifted += a.lifted;
    b.paid += a.paid;
    b.held_back = b.held_back.max(a.held_back);
    b.work += a.work;
    b.stilled += a.stilled;
    b.restitution = b.restitution.min(a.restitution);
    out
}

fn sum(a: &Timings, b: &Timings) -> Timings {
    Timings {
        fill: a.fill + b.fill,
        factor: a.factor + b.factor,
        solve: a.solve + b.solve,
        stabilise: a.stabilise + b.stabilise,
        contacts: a.contacts + b.contacts,
        update: a.update + b.update,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewtonReport;
    use pliant_model::{Mass, Model};
    use std::time::Duration;

    /// A report whose every number is `k` times one that no other has.
    fn report(k: usize) -> StepReport {
        let mut model = Model::new();
        let particle = model.add_particles("particle", &[[0.0; 3]]).unwrap();
        model.add_mass("mass", particle, Mass::Uniform(1.0)).unwrap();
        let mut report = Simulation::new(model).unwrap().step(0.125 * k as f64).unwrap();
        let x = k as f64;
        report.residual.relative = 3.0 * x;
        report.residual.primal = 5.0 * x;
        report.refinements = 2 * k;
        report.geometry_passes = 3 * k;
        report.newton = NewtonReport {
            iterations: 5 * k,
            halvings: 7 * k,
            step_halvings: 11 * k,
        };
        report.corrections = (13 * k, 17 * k);
        report.projected_tangents = 19 * k;
        report.ledger.friction = 19.0 * x;
        let c = &mut report.contacts;
        (c.residual, c.velocity_residual, c.de_saxce) = (7.0 * x, 11.0 * x, 13.0 * x);
        (c.halvings, c.missed, c.impacts) = (19 * k, 23 * k, 29 * k);
        (c.iterations, c.corrections) = (31 * k, 37 * k);
        (c.lifted, c.paid, c.work, c.stilled) = (17.0 * x, 19.0 * x, 23.0 * x, 29.0 * x);
        c.held_back = 31.0 * x;
        c.lifted_by = Some([k as u32, 0]);
        c.restitution = -x;
        let ms = |n: u64| Duration::from_millis(n * k as u64);
        report.timings = Timings {
            fill: ms(2),
            factor: ms(3),
            solve: ms(5),
            stabilise: ms(7),
            contacts: ms(11),
            update: ms(13),
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
            assert_eq!(both.projected_tangents, large.projected_tangents);
            assert_eq!(
                (
                    both.refinements,
                    both.geometry_passes,
                    both.newton,
                    both.corrections
                ),
                (
                    both_of.refinements,
                    both_of.geometry_passes,
                    both_of.newton,
                    both_of.corrections
                )
            );
            assert_eq!(both.ledger.friction, both_of.ledger.friction);
            assert_eq!(both.timings, both_of.timings);
            let (c, sums, worse) = (&both.contacts, &both_of.contacts, &large.contacts);
            assert_eq!(
                (c.residual, c.velocity_residual, c.de_saxce),
                (worse.residual, worse.velocity_residual, worse.de_saxce)
            );
            assert_eq!((c.lifted_by, c.restitution), (worse.lifted_by, worse.restitution));
            assert_eq!(c.held_back, worse.held_back);
            assert_eq!(
                (
                    c.halvings,
                    c.missed,
                    c.impacts,
                    c.iterations,
                    c.corrections,
                    c.stilled
                ),
                (
                    sums.halvings,
                    sums.missed,
                    sums.impacts,
                    sums.iterations,
                    sums.corrections,
                    sums.stilled
                )
            );
            assert_eq!((c.lifted, c.paid, c.work), (sums.lifted, sums.paid, sums.work));
        }
    }
}
