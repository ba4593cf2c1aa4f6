//! The tools that methods are made of: accelerations, with the forces as they are at a state and
//! hard rows in their second derivative, and motions put where velocities lead.

use super::{RowForces, System};
use crate::Error;
use crate::motion::Motion;
use crate::observe::{Clash, Driving, Residuals, Trace, correction_error};
use pliant_kkt::Scheme;
use pliant_model::{Evaluation, Model, Problem, Space, State};
use pliant_solvers::{SolveReport, Status};

/// Writes the forces of an evaluated state on the independent coordinates, carried down from all
/// nodes: those of compliances by their law, as last found, and inertial ones with them; with
/// `gyroscopic` also the torques of spinning bodies (N, N m).
pub(crate) fn gather_forces(
    model: &Problem,
    evaluation: &Evaluation,
    rows: &RowForces,
    state: &State,
    gyroscopic: bool,
    out: &mut Vec<f64>,
) {
    out.resize(model.velocity_count(), 0.0);
    out.copy_from_slice(evaluation.force());
    for (f, i) in out.iter_mut().zip(evaluation.inertial_force()) {
        *f += i;
    }
    for attachment in model.masses() {
        let node = model.node(attachment.node);
        if gyroscopic && node.first_dof().is_some() && node.space == Space::Rigid3 {
            let range = node.velocity_range();
            let v = &state.velocities[range.clone()];
            attachment.component.add_gyroscopic(v, &mut out[range]);
        }
    }
    for group in model.row_groups() {
        let first = model.node(group.node).first_velocity;
        for k in (0..group.size * group.count).filter(|k| !evaluation.is_hard(group, *k)) {
            out[first + k] += rows.law_force[group.first_row + k];
        }
    }
    evaluation.pull_back(model, out);
}

/// Copies the velocities of the independent nodes in the order of their coordinates.
pub fn gather(model: &Model, velocities: &[f64], out: &mut [f64]) {
    for node in model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            out[first..first + range.len()].copy_from_slice(&velocities[range]);
        }
    }
}

impl System {
    /// The model with the present values of its parameters.
    pub fn problem(&self) -> &Problem {
        &self.model
    }

    /// Number of independent coordinates: the length of every vector of velocities, displacements
    /// and accelerations here.
    pub fn dof_count(&self) -> usize {
        self.model.dof_count()
    }

    /// Writes the velocities of the independent coordinates of a state (m/s, rad/s; bodies: linear
    /// in world axes, angular in body axes).
    pub fn velocities(&self, state: &State, out: &mut Vec<f64>) {
        out.resize(self.model.dof_count(), 0.0);
        gather(&self.model, &state.velocities, out);
    }

    /// Finds the accelerations of a motion at a time `at` (s): `M a - J^T lambda = f`,
    /// `J a + (dJ/dt) v = g''`, with the forces as they are there, gyroscopic and inertial ones
    /// included, the second derivative of hard rows, and the laws of all others. Fixed coordinates
    /// go from the velocities of `start` to their held velocities within `h` (s). Cost: an
    /// evaluation, and a factor and a solve of the masses with the rows.
    ///
    /// # Errors
    /// [`Error::Model`] where the forces are not defined, [`Error::Incompatible`] for contradictory
    /// rows, [`Error::CorrectionNotConverged`], and those of the linear solver.
    pub fn accelerations(
        &mut self,
        start: &Motion,
        motion: &Motion,
        at: f64,
        h: f64,
        out: &mut Vec<f64>,
    ) -> Result<SolveReport, Error> {
        self.set_row_motion(at, at);
        self.find_fixed_change(start);
        self.evaluate(motion, 0.0)?;
        let scheme = pliant_kkt::Scheme::implicit_euler(h);
        let solved = self.find_accelerations(&scheme, motion, h)?;
        out.clear();
        out.extend_from_slice(&self.solution.x);
        Ok(solved)
    }

    /// Puts a state at the positions `from (+) displacement`, with these velocities of the
    /// independent coordinates; mapped ones follow. Where `held` is given, fixed coordinates have
    /// the velocities there instead, to the bit.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined.
    pub fn place(
        &mut self,
        from: &State,
        velocity: &[f64],
        displacement: &[f64],
        held: Option<&[f64]>,
        to: &mut State,
    ) -> Result<(), Error> {
        self.place_independent(from, velocity, displacement, held, to);
        self.propagate(to)
    }

    /// As [`place`](Self::place), where mapped coordinates have no use.
    pub(crate) fn place_independent(
        &self,
        from: &State,
        velocity: &[f64],
        displacement: &[f64],
        held: Option<&[f64]>,
        to: &mut State,
    ) {
        let fixed = &self.assembler.system().fixed;
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let own = first..first + range.len();
            let velocities = &mut to.velocities[range];
            velocities.copy_from_slice(&velocity[own.clone()]);
            if let Some(held) = held {
                for (v, i) in velocities.iter_mut().zip(own.clone()) {
                    if fixed[i] {
                        *v = held[i];
                    }
                }
            }
            let positions = &mut to.positions[node.position_range()];
            positions.copy_from_slice(&from.positions[node.position_range()]);
            node.space.retract(positions, &displacement[own]);
        }
    }

    /// Ends a step whose rows all have the force of their law: their multipliers, and the account
    /// of the energy that everything brought in over the step of length `h` (s).
    pub fn finish_by_laws(&mut self, start: &Motion, h: f64, end: &mut Motion, trace: &mut Trace) {
        self.set_row_motion(start.time, start.time + h);
        self.find_law_forces(&end.state, |m| m.end);
        for group in self.model.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            end.multipliers[rows.clone()].copy_from_slice(&self.rows.law_force[rows]);
        }
        self.take_rows_by_law();
        trace.scheme = trace.scheme.with_weights(0.5, 0.5);
        trace.tally(self, start, end, h, Driving::Late);
        end.integrator.forget();
    }

    /// Solves `M a - J^T lambda = f`, `J a + (dJ/dt) v = g''` at the present, evaluated state;
    /// accelerations and the multipliers of hard rows are in `self.solution`, zero for the others.
    /// Fixed coordinates go to their held velocity within `h`, and driven rows change their rate as
    /// they do over `h`.
    ///
    /// # Errors
    /// Those of the linear solver; [`Error::NotConverged`] is left to the step.
    pub(crate) fn find_accelerations(
        &mut self,
        scheme: &Scheme,
        motion: &Motion,
        h: f64,
    ) -> Result<SolveReport, Error> {
        self.find_accelerations_without(&[], scheme, motion, h)
    }

    /// As [`find_accelerations`](Self::find_accelerations) without some rows, which exert nothing:
    /// those for which `left_out` is true (none if it is empty).
    pub(super) fn find_accelerations_without(
        &mut self,
        left_out: &[bool],
        scheme: &Scheme,
        motion: &Motion,
        h: f64,
    ) -> Result<SolveReport, Error> {
        let is_left_out = |row: usize| left_out.get(row).is_some_and(|left_out| *left_out);
        self.find_law_forces(&motion.state, |m| m.end);
        for (force, _) in self
            .rows
            .law_force
            .iter_mut()
            .zip(left_out)
            .filter(|(_, out)| **out)
        {
            *force = 0.0;
        }
        gather_forces(
            &self.model,
            &self.evaluation,
            &self.rows,
            &motion.state,
            true,
            &mut self.scratch.node_force,
        );
        self.assembler
            .fill_kinematics(&self.model, &mut self.evaluation, scheme, &motion.state);
        let n = self.model.dof_count();
        self.scratch.primal.resize(n, 0.0);
        gather(&self.model, &self.scratch.node_force, &mut self.scratch.primal);
        for index in 0..self.model.row_groups().len() {
            let group = self.model.row_groups()[index];
            let first = self.model.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                if self.row_is_hard(&group, k) && !is_left_out(row) {
                    let change = self.row_motion.get(row).map_or(0.0, |m| m.end.1 - m.start.1);
                    self.assembler.row_right_hand_side_mut()[row] =
                        self.evaluation.bias()[first + k] - change / h;
                } else {
                    self.assembler.deactivate_row(row);
                }
            }
        }
        // Fixed coordinates: a = a_fixed + the rest, whose terms go to the right-hand sides.
        let scratch = &mut self.scratch;
        scratch.rate.clear();
        scratch.rate.extend(scratch.fixed_change.iter().map(|d| d / h));
        self.assembler
            .shift_right_hand_sides(&scratch.rate, &scratch.primal);
        let in_words = |e| Error::from_solver(e, &self.model, motion.time);
        self.corrections
            .direct
            .prepare(self.assembler.system())
            .map_err(in_words)?;
        let solved = self
            .corrections
            .direct
            .solve(self.assembler.system(), &mut self.solution)
            .map_err(in_words)?;
        for (a, fixed) in self.solution.x.iter_mut().zip(&self.scratch.rate) {
            *a += fixed;
        }
        match solved.status {
            Status::Converged => Ok(solved),
            Status::Incompatible { row, violation } => {
                let clash = Clash {
                    kkt: self.assembler.system(),
                    solution: &self.solution,
                    row,
                    violation,
                };
                Err(clash.error(&self.model, motion.time, Residuals::Accelerations(h)))
            }
            _ => Err(correction_error(
                self,
                &motion.state,
                motion.time,
                solved.residual.relative,
            )),
        }
    }
}
