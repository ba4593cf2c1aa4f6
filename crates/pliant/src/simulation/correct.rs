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
            let input = StepInput {
                state: &self.state,
                multipliers: &self.lagged,
                impulse: &self.impulse,
                fixed_change: &self.fixed_change,
            };
            self.assembler.fill_correction(
                &self.model,
                &mut self.evaluation,
                &self.scheme,
                input,
                how.metric,
            );
            let mut prepared = self.solver.prepare(self.assembler.system());
            if matches!(prepared, Err(SolveError::NotPositiveDefinite { .. }))
                && how.metric == Metric::Response
                && self.options.clamp_geometry
            {
                // As in a step: the response matrix with the absolute value of the geometric stiffness is definite.
                self.scheme.geometry = self.scheme.geometry.clamped();
                self.assembler.fill_correction(
                    &self.model,
                    &mut self.evaluation,
                    &self.scheme,
                    input,
                    how.metric,
                );
                self.scheme.geometry = self.options.geometry;
                prepared = self.solver.prepare(self.assembler.system());
            }
            let in_words = |e| Error::from_solver(e, &self.model, self.time);
            prepared.map_err(in_words)?;
            let report = self
                .solver
                .solve(self.assembler.system(), &mut self.correction)
                .map_err(in_words)?;
            if let Status::Incompatible { row, violation } = report.status
                && !self.options.accept_failed_steps
            {
                let constraint = self.model.describe_row(row);
                return Err(Error::Incompatible {
                    constraint,
                    time: self.time,
                    violation,
                });
            }
            for node in self.model.nodes() {
                let Some(first) = node.first_dof() else { continue };
                let step = &self.correction.x[first..first + node.velocity_range().len()];
                node.space
                    .retract(&mut self.state.positions[node.position_range()], step);
            }
            self.evaluation.propagate(&self.model, &mut self.state)?;
        }
        Ok(how.iterations)
    }
}
