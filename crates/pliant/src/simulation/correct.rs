//! Stabilisation: positions back onto the hard constraints.

use super::Simulation;
use crate::{Error, Stabilisation};
use pliant_kkt::{Metric, StepInput};
use pliant_solvers::{SolveError, Status};

impl Simulation {
    /// Gauss-Newton on the hard constraints; velocities keep their coordinates. Returns the number of corrections.
    pub(super) fn correct_positions(&mut self, how: Stabilisation) -> Result<usize, Error> {
        for iteration in 0..how.iterations {
            if self.violation() <= how.tolerance {
                return Ok(iteration);
            }
            self.evaluation.evaluate(&self.model, &self.state)?;
            let mut clamped = false;
            let prepared = loop {
                self.fill_correction(how.metric);
                let prepared = self.corrector.prepare(self.assembler.system());
                let indefinite = matches!(prepared, Err(SolveError::NotPositiveDefinite { .. }));
                if !indefinite || clamped || how.metric == Metric::Mass || !self.options.clamp_geometry {
                    break prepared;
                }
                // As in a step: the response matrix with the absolute value of the geometric stiffness is definite.
                clamped = true;
                self.scheme.geometry = self.scheme.geometry.clamped();
            };
            self.scheme.geometry = self.options.geometry;
            let in_words = |e| Error::from_solver(e, &self.model, self.time);
            prepared.map_err(in_words)?;
            let report = self
                .corrector
                .solve(self.assembler.system(), &mut self.correction)
                .map_err(in_words)?;
            match report.status {
                Status::Converged => {}
                _ if self.options.accept_failed_steps => {}
                Status::Incompatible { row, violation } => {
                    let constraint = self.model.describe_row(row);
                    return Err(Error::Incompatible {
                        constraint,
                        time: self.time,
                        violation,
                    });
                }
                _ => {
                    let (time, residual) = (self.time, report.residual.relative);
                    return Err(Error::CorrectionNotConverged { time, residual });
                }
            }
            let before = self.energies(true).potential;
            for node in self.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let step = &self.correction.x[first..first + node.velocity_range().len()];
                node.space
                    .retract(&mut self.state.positions[node.position_range()], step);
            }
            self.hold_sleepers();
            self.evaluation.propagate(&self.model, &mut self.state)?;
            self.corrected += self.energies(true).potential - before;
        }
        Ok(how.iterations)
    }

    /// Fills the system of a correction at the present state, which must be evaluated.
    pub(super) fn fill_correction(&mut self, metric: Metric) {
        let input = StepInput {
            state: &self.state,
            multipliers: &self.lagged,
            impulse: &self.impulse,
            fixed_change: &self.fixed_change,
            motion: &self.motion,
        };
        self.assembler
            .fill_correction(&self.model, &mut self.evaluation, &self.scheme, input, metric);
        self.quieten_rows();
    }
}
