//! A step made of steps of RATTLE: one, or for orders 4 and 6 several, some of them backwards.

use super::Rattle;
use crate::motion::Motion;
use crate::observe::{Driving, Trace};
use crate::system::System;
use crate::{Error, Ledger};
use pliant_solvers::{SolveReport, Status};
use std::time::Instant;

/// Sums over the parts of a step.
#[derive(Debug, Default)]
pub(super) struct Composition {
    /// Where the present part starts.
    part: Motion,
    /// Averages over the step: multipliers of hard rows (of soft ones the last), and forces of
    /// supports.
    multipliers: Vec<f64>,
    supports: Vec<f64>,
}

impl Rattle {
    /// Takes the parts of a step one after the other, up to the first that does not converge
    /// (without any, a whole step).
    pub(super) fn take_parts(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let sums = &mut self.composition;
        sums.multipliers.clear();
        sums.multipliers.resize(end.multipliers.len(), 0.0);
        sums.supports.clear();
        sums.supports.resize(end.supports.len(), 0.0);
        let weights = trace.scheme.with_weights(0.5, 0.5);
        let mut ledger = Ledger::default();
        let mut worst: Option<SolveReport> = None;
        let parts = if self.parts.is_empty() { &[1.0] } else { self.parts };
        // Taken out of the composition while a part borrows it.
        let mut part = std::mem::take(&mut self.composition.part);
        let mut taken = Ok(());
        for (index, share) in parts.iter().enumerate() {
            let failed = worst.is_some_and(|w| w.status != Status::Converged);
            if failed && !system.options.accept_failed_steps {
                break;
            }
            let from = if index == 0 {
                start
            } else {
                part.clone_from(end);
                &part
            };
            let solved = match self.rattle(system, from, share * h, end, &mut trace.timings) {
                Ok((solved, newton)) => {
                    trace.newton.iterations += newton.iterations;
                    solved
                }
                Err(error) => {
                    taken = Err(error);
                    break;
                }
            };
            let clock = Instant::now();
            trace.scheme = weights.with_step(share * h);
            trace.tally(system, from, end, share * h, Driving::Late);
            ledger += trace.account.ledger;
            // The first part has entered what was set since the last step.
            end.ledger.inputs = 0.0;
            end.time += share * h;
            self.gather_part(system, *share, end);
            trace.timings.update += clock.elapsed();
            worst = Some(match worst {
                Some(w) if w.status != Status::Converged => w,
                Some(w)
                    if solved.status == Status::Converged
                        && solved.residual.relative <= w.residual.relative =>
                {
                    w
                }
                _ => solved,
            });
        }
        self.composition.part = part;
        taken?;
        if let Some(worst) = worst {
            trace.solved = worst;
            trace.missed = self.sizes.worst;
        }
        // The parts moved the time and the account of inputs, which are the caller's.
        (end.time, end.ledger) = (start.time, start.ledger);
        end.multipliers.copy_from_slice(&self.composition.multipliers);
        end.supports.copy_from_slice(&self.composition.supports);
        trace.account.ledger = ledger;
        end.integrator.forget();
        Ok(())
    }

    /// Takes the forces of a part into the averages over the step.
    fn gather_part(&mut self, system: &System, share: f64, end: &Motion) {
        let sums = &mut self.composition;
        for (sum, support) in sums.supports.iter_mut().zip(&end.supports) {
            *sum += share * support;
        }
        for group in system.model.row_groups() {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let part = end.multipliers[row];
                let average = &mut sums.multipliers[row];
                *average = if system.row_is_hard(group, k) {
                    *average + share * part
                } else {
                    part
                };
            }
        }
    }
}
