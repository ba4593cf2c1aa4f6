//! One step of the pseudo-static flow with all cones.

use super::RestContacts;
use crate::statics::workspace::Residual;
use crate::{Error, LinearSolver, Options};
use pliant_kkt::Extended;
use pliant_model::State;
use pliant_solvers::complementarity::{Cone, Outcome, ProblemError};
use pliant_solvers::{Solution, SolveError};
use pliant_stepper::contact::{ConeSolver, ContactSystem, auto_options};
use pliant_stepper::system::System;
use pliant_stepper::system::rigid_nodes::Configuration;

/// Measure that the solver of a step is asked for, relative to the displacements that there are
/// without contacts.
const ASKED: f64 = 1e-12;

/// The system of a step with all cones, and its solver.
#[derive(Debug, Default)]
pub(crate) struct ConeStep {
    cones: Vec<Option<Cone>>,
    system: Extended,
    solver: ConeSolver,
    solution: Solution,
    /// Forces that it found (N).
    forces: Vec<f64>,
    /// Iterations of the solver so far.
    iterations: usize,
}

impl ConeStep {
    /// Forces of the contacts in the last step, for when it is taken.
    pub(crate) fn forces(&self) -> &[f64] {
        &self.forces
    }

    /// Iterations since they were last taken.
    pub(crate) fn take_iterations(&mut self) -> usize {
        std::mem::take(&mut self.iterations)
    }
}

impl RestContacts {
    /// One linear step from a state with all cones, of a system whose `W` resists everything, and
    /// what the equations miss at present, all contacts included. The whole forces of the contacts are kept
    /// for [`accept`](Self::accept), the changes of the model's go into `out`. Returns the largest
    /// displacement of a row without contacts; `None` if the solver found no answer.
    pub(crate) fn solve_step(
        &mut self,
        system: &mut System,
        state: &State,
        residual: &Residual,
        options: &Options,
        out: &mut Solution,
    ) -> Result<Option<f64>, Error> {
        let System { model, assembler, .. } = system;
        let m = assembler.system().m();
        self.tail.b.fill(0.0);
        self.tail.r.fill(0.0);
        let firsts: Vec<usize> = self.firsts().collect();
        for (i, first) in firsts.iter().enumerate() {
            let contact = &self.kept.list.contacts()[i];
            let mut w = [0.0; 6];
            self.way(i, *first, &mut w);
            self.tail.b[*first..][..self.rows[i].count].copy_from_slice(&w[..self.rows[i].count]);
            self.tail.b[*first] = contact.gap;
            self.tail.r[*first] = contact.law.compliance;
        }
        assembler.set_right_hand_sides(&residual.force, &residual.deficit[..m]);
        let blocks = assembler.system().row_blocks().len() - 1;
        let step = &mut self.flow;
        step.cones.clear();
        step.cones.resize(blocks, None);
        step.cones.extend(self.rows.iter().map(|r| Some(r.cone)));
        step.system.fill(assembler.system(), &[], &self.tail)?;
        step.system.add_impulses(&self.tail, &self.kept.force, -1.0);
        let Some(whole) = step.system.system() else {
            return Ok(None);
        };
        let mut cones = auto_options(&options.contacts);
        let accuracy = std::mem::replace(&mut cones.limits.tolerance, ASKED);
        let threads = assembler.threads();
        // Iterations may not see that a system is no minimum.
        let by_factor = Options {
            linear: LinearSolver::Direct,
            ..options.clone()
        };
        step.solver
            .configure(&by_factor, options.tuning.solver, cones, threads);
        step.solver.set_accuracy(accuracy);
        let prepared = step.solver.prepare(ContactSystem {
            base: assembler.system(),
            whole,
            cones: &step.cones,
            at: Configuration { model, state },
        });
        let solved = prepared.and_then(|()| {
            step.solution.mu.clear();
            step.solution.mu.resize(m, 0.0);
            step.solution.mu.extend_from_slice(&self.kept.force);
            step.solver.solve(whole, &mut step.solution)
        });
        let found = match solved {
            Ok(found) => found,
            // A system that is not definite yet: more resistance makes it so.
            Err(ProblemError::Bilateral(SolveError::NotPositiveDefinite { .. })) => return Ok(None),
            Err(e) => return Err(Error::Contacts(e)),
        };
        step.iterations += found.iterations;
        if found.outcome != Outcome::Converged {
            return Ok(None);
        }
        out.x.clone_from(&step.solution.x);
        out.mu.clear();
        out.mu.extend_from_slice(&step.solution.mu[..m]);
        step.forces.clear();
        step.forces.extend_from_slice(&step.solution.mu[m..]);
        let free = step.solver.free_velocities();
        Ok(Some(free[m..].iter().fold(0.0, |a: f64, v| a.max(v.abs()))))
    }
}
