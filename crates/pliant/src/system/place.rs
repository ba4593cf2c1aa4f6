//! The tools that methods are made of: accelerations, and motions put where velocities lead.

use super::{System, gather};
use crate::Error;
use crate::motion::Motion;
use crate::observe::{DampingLaw, Trace};
use pliant_model::{Problem, State};
use pliant_solvers::SolveReport;

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
        self.propagate(to)
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
        trace.tally(self, start, end, h, DampingLaw::Mean);
        end.integrator.forget();
    }
}
