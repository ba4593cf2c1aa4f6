//! A step made of steps of RATTLE: one, or for orders 4 and 6 several, some of them backwards.

use crate::Simulation;
use crate::observe::DampingLaw;
use crate::report::{NewtonReport, StepReport, Timings};
use crate::{Error, Ledger};
use pliant_model::State;
use pliant_solvers::{SolveReport, Status};
use std::time::Instant;

/// What is gathered over the parts of a step.
#[derive(Debug, Default)]
pub(crate) struct Composed {
    /// The state at the start.
    start: State,
    /// Averages over the step: multipliers of hard rows (of soft ones the last), and forces of supports.
    multipliers: Vec<f64>,
    support: Vec<f64>,
    ledger: Ledger,
    damping_work: f64,
    timings: Timings,
    newton: NewtonReport,
}

impl Simulation {
    /// A step of RATTLE or of a composition of it, but for undoing the state.
    pub(crate) fn advance_by_rattle(&mut self, h: f64) -> Result<StepReport, Error> {
        let parts = self.options.integrator.rattle_parts().unwrap_or_default();
        let (time, books) = (self.motion.time, self.motion.ledger);
        self.methods.composed.start.clone_from(&self.motion.state);
        let found = self.take_parts(h, parts);
        // The parts moved the time and closed the accounts of inputs.
        (self.motion.time, self.motion.ledger) = (time, books);
        let report = found.and_then(|solved| {
            let clock = Instant::now();
            let c = &self.methods.composed;
            self.motion.multipliers.copy_from_slice(&c.multipliers);
            self.motion.supports.copy_from_slice(&c.support);
            self.trace.account.ledger = c.ledger;
            self.trace.account.damped = c.damping_work;
            self.trace.solved = solved;
            self.trace.newton = c.newton;
            let mut report = self.report(h)?;
            self.motion.integrator.forget();
            self.commit(&report);
            report.timings = self.methods.composed.timings;
            report.timings.update += clock.elapsed();
            report.counters = self.system.counters();
            Ok(report)
        });
        if report.is_err() {
            self.start.state.clone_from(&self.methods.composed.start);
        }
        report
    }

    /// Takes the parts one after the other, up to the first that does not converge (without any, a whole step). Returns how the worst of them was solved.
    fn take_parts(&mut self, h: f64, parts: &[f64]) -> Result<SolveReport, Error> {
        let c = &mut self.methods.composed;
        c.multipliers.clear();
        c.multipliers.resize(self.motion.multipliers.len(), 0.0);
        c.support.clear();
        c.support.resize(self.motion.supports.len(), 0.0);
        (c.ledger, c.damping_work) = (Ledger::default(), 0.0);
        (c.timings, c.newton) = (Timings::default(), NewtonReport::default());
        let (first, rest) = parts.split_first().unwrap_or((&1.0, &[]));
        let mut worst = self.take_part(first * h, *first)?;
        for share in rest {
            if worst.status != Status::Converged && !self.options.accept_failed_steps {
                break;
            }
            let solved = self.take_part(share * h, *share)?;
            let failed = solved.status != Status::Converged;
            let worse = failed || solved.residual.relative > worst.residual.relative;
            if worst.status == Status::Converged && worse {
                worst = solved;
            }
        }
        Ok(worst)
    }

    fn take_part(&mut self, h: f64, share: f64) -> Result<SolveReport, Error> {
        self.start.state.clone_from(&self.motion.state);
        let mut timings = self.methods.composed.timings;
        let (solved, newton) = self.rattle(h, &mut timings)?;
        let clock = Instant::now();
        self.trace.account.damped = 0.0;
        self.tally(h, DampingLaw::Mean);
        let damped = self.trace.account.damped;
        self.motion.ledger.inputs = 0.0;
        self.motion.time += h;
        self.gather_part(share);
        let c = &mut self.methods.composed;
        c.ledger += self.trace.account.ledger;
        c.damping_work += damped;
        c.newton.iterations += newton.iterations;
        timings.update += clock.elapsed();
        c.timings = timings;
        Ok(solved)
    }

    /// Takes the forces of a part into the averages over the step.
    fn gather_part(&mut self, share: f64) {
        let c = &mut self.methods.composed;
        for (sum, support) in c.support.iter_mut().zip(&self.motion.supports) {
            *sum += share * support;
        }
        for group in self.system.model.row_groups() {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                let part = self.motion.multipliers[row];
                let hard = self.system.row_is_hard(group, k);
                let average = &mut self.methods.composed.multipliers[row];
                *average = if hard { *average + share * part } else { part };
            }
        }
    }
}
