//! Accelerations of a state: the forces as they are there, hard rows in their second derivative.

use super::Simulation;
use super::implicit::gather;
use crate::Error;
use pliant_model::{ComponentId, RowGroup, Space};
use pliant_solvers::{SolveReport, Status};

impl Simulation {
    /// Whether a row is hard: a constraint, or a compliance of zero. The others have a force by their law.
    pub(super) fn row_is_hard(&self, group: &RowGroup, k: usize) -> bool {
        match group.component {
            ComponentId::ForceField(_) => self.evaluation.is_hard(group, k),
            _ => true,
        }
    }

    /// Writes the forces of the present, evaluated state on the independent coordinates to the scratch of forces of all nodes: those of
    /// compliances by their law, gyroscopic and inertial ones with them.
    pub(super) fn gather_forces(&mut self, gyroscopic: bool) {
        self.find_law_forces(|m| m.end);
        let all = self.model.velocity_count();
        let mut force = std::mem::take(&mut self.implicit.node_force);
        force.resize(all, 0.0);
        force.copy_from_slice(self.evaluation.force());
        for (f, i) in force.iter_mut().zip(self.evaluation.inertial_force()) {
            *f += i;
        }
        for attachment in self.model.masses() {
            let node = self.model.node(attachment.node);
            if gyroscopic && node.first_dof().is_some() && node.space == Space::Rigid3 {
                let range = node.velocity_range();
                let v = &self.state.velocities[range.clone()];
                attachment.component.add_gyroscopic(v, &mut force[range]);
            }
        }
        for group in self.model.row_groups() {
            let first = self.model.node(group.node).first_velocity;
            for k in (0..group.size * group.count).filter(|k| !self.row_is_hard(group, *k)) {
                force[first + k] += self.law_force[group.first_row + k];
            }
        }
        self.evaluation.pull_back(&self.model, &mut force);
        self.implicit.node_force = force;
    }

    /// Solves `M a - J^T lambda = f`, `J a + (dJ/dt) v = g''` at the present, evaluated state; accelerations and the multipliers of hard rows are in
    /// `self.solution`, zero for the others. Fixed coordinates go to their held velocity within `h`, and driven rows change their rate
    /// as they do over `h`.
    ///
    /// # Errors
    /// Those of the linear solver; [`Error::NotConverged`] is left to the step.
    pub(super) fn find_accelerations(&mut self, h: f64) -> Result<SolveReport, Error> {
        self.gather_forces(true);
        self.assembler
            .fill_kinematics(&self.model, &mut self.evaluation, &self.scheme, &self.state);
        let n = self.model.dof_count();
        self.implicit.primal.resize(n, 0.0);
        gather(&self.model, &self.implicit.node_force, &mut self.implicit.primal);
        for index in 0..self.model.row_groups().len() {
            let group = self.model.row_groups()[index];
            let first = self.model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if self.row_is_hard(&group, k) {
                    let change = self.motion.get(row).map_or(0.0, |m| m.end.1 - m.start.1);
                    self.assembler.row_right_hand_side_mut()[row] =
                        self.evaluation.bias()[first + k] - change / h;
                } else {
                    self.assembler.deactivate_row(row);
                }
            }
        }
        // Fixed coordinates: a = a_fixed + the rest, whose terms go to the right-hand sides.
        let implicit = &mut self.implicit;
        implicit.rate.clear();
        implicit.rate.extend(self.fixed_change.iter().map(|d| d / h));
        self.assembler
            .shift_right_hand_sides(&implicit.rate, &implicit.primal);
        let in_words = |e| Error::from_solver(e, &self.model, self.time);
        self.corrector
            .prepare(self.assembler.system())
            .map_err(in_words)?;
        let solved = self
            .corrector
            .solve(self.assembler.system(), &mut self.solution)
            .map_err(in_words)?;
        for (a, fixed) in self.solution.x.iter_mut().zip(&self.implicit.rate) {
            *a += fixed;
        }
        match solved.status {
            Status::Converged => Ok(solved),
            Status::Incompatible { row, violation } => Err(Error::Incompatible {
                constraint: self.model.describe_row(row),
                time: self.time,
                violation: violation * h,
            }),
            _ => Err(Error::CorrectionNotConverged {
                time: self.time,
                residual: solved.residual.relative,
            }),
        }
    }
}
