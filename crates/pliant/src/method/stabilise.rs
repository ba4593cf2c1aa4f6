//! Stabilisation: positions back onto the hard constraints.

use crate::Simulation;
use crate::observe::violation;
use crate::{Error, Stabilisation};
use pliant_kkt::{Metric, StepInput};
use pliant_solvers::{SolveError, Status};

impl Simulation {
    /// Gauss-Newton on the hard constraints; velocities keep their coordinates. Returns the number of corrections.
    pub(crate) fn correct_positions(&mut self, how: Stabilisation) -> Result<usize, Error> {
        for iteration in 0..how.iterations {
            if violation(&self.system, &self.motion.state) <= how.tolerance {
                return Ok(iteration);
            }
            self.system
                .evaluation
                .evaluate(&self.system.model, &self.motion.state)?;
            let mut clamped = false;
            let prepared = loop {
                self.fill_correction(how.metric);
                let prepared = self.system.corrector.prepare(self.system.assembler.system());
                let indefinite = matches!(prepared, Err(SolveError::NotPositiveDefinite { .. }));
                if !indefinite || clamped || how.metric == Metric::Mass || !self.options.clamp_geometry {
                    break prepared;
                }
                // As in a step: the response matrix with the absolute value of the geometric stiffness is definite.
                clamped = true;
                self.scheme.geometry = self.scheme.geometry.clamped();
            };
            self.scheme.geometry = self.options.geometry;
            let in_words = |e| Error::from_solver(e, &self.system.model, self.motion.time);
            prepared.map_err(in_words)?;
            let report = self
                .system
                .corrector
                .solve(self.system.assembler.system(), &mut self.system.correction)
                .map_err(in_words)?;
            match report.status {
                Status::Converged => {}
                _ if self.options.accept_failed_steps => {}
                Status::Incompatible { row, violation } => {
                    let constraint = self.system.model.describe_row(row);
                    return Err(Error::Incompatible {
                        constraint,
                        time: self.motion.time,
                        violation,
                    });
                }
                _ => {
                    let (time, residual) = (self.motion.time, report.residual.relative);
                    return Err(Error::CorrectionNotConverged { time, residual });
                }
            }
            let before = self.energies(true).potential;
            for node in self.system.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let step = &self.system.correction.x[first..first + node.velocity_range().len()];
                node.space
                    .retract(&mut self.motion.state.positions[node.position_range()], step);
            }
            self.hold_sleepers();
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            self.trace.account.corrected += self.energies(true).potential - before;
        }
        Ok(how.iterations)
    }

    /// Fills the system of a correction at the present state, which must be evaluated.
    pub(crate) fn fill_correction(&mut self, metric: Metric) {
        let input = StepInput {
            state: &self.motion.state,
            multipliers: &self.motion.lagged,
            impulse: &self.system.scratch.impulse,
            fixed_change: &self.system.scratch.fixed_change,
            motion: &self.system.row_motion,
        };
        self.system.assembler.fill_correction(
            &self.system.model,
            &mut self.system.evaluation,
            &self.scheme,
            input,
            metric,
        );
        self.quieten_rows();
    }
}
