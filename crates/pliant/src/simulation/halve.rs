//! Steps that are taken in halves because their contacts do not converge.

use super::Simulation;
use crate::{Error, Integrator, StepReport, Timings};

impl Simulation {
    /// A step; where its contacts or Newton's method do not converge, two halves instead, down to `2^-halvings` of it. If one of them fails, nothing has happened.
    pub(super) fn step_or_halves(&mut self, h: f64, halvings: usize) -> Result<StepReport, Error> {
        let end = self.time + h;
        match self.step_at_once(h) {
            Err(Error::ContactsNotConverged { .. } | Error::ContactsNotForeseen { .. }) if halvings > 0 => {}
            Err(Error::NotConverged { .. } | Error::NotPositiveDefinite { .. })
                if halvings > 0 && self.options.integrator != Integrator::Linear => {}
            result => return result,
        }
        let before = self.checkpoint();
        let result = self.step_or_halves(0.5 * h, halvings - 1).and_then(|first| {
            let second = self.step_or_halves(0.5 * h, halvings - 1)?;
            Ok(both(&first, &second))
        });
        match result {
            Ok(mut report) => {
                // Times do not depend on how often a step was halved.
                self.time = end;
                report.time = end;
                Ok(report)
            }
            Err(error) => {
                // What failed is to be looked at, and going back forgets it.
                if let Some(contacts) = &mut self.contacts {
                    contacts.keep_failed();
                }
                self.restore(&before)?;
                Err(error)
            }
        }
    }
}

/// What the two halves of a step that did not converge did together.
fn both(first: &StepReport, second: &StepReport) -> StepReport {
    let mut out = together(first, second);
    out.newton.step_halvings += 1;
    out.contacts.halvings += usize::from(out.newton.iterations == 0);
    out
}

/// What two steps did together.
pub(super) fn together(first: &StepReport, second: &StepReport) -> StepReport {
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
    b.unforeseen += a.unforeseen;
    b.impacts += a.impacts;
    b.iterations += a.iterations;
    b.corrections += a.corrections;
    if a.lifted > b.lifted {
        b.lifted_by = a.lifted_by;
    }
    b.lifted += a.lifted;
    b.paid += a.paid;
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
