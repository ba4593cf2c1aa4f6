//! One step of the pseudo-static flow with all cones.

use super::RestContacts;
use crate::{Error, Options};
use pliant_kkt::Assembler;
use pliant_solvers::Solution;
use pliant_solvers::complementarity::{AutoOptions, Outcome, ProblemError};

/// Measure that the solver of a step is asked for, relative to the displacements that there are without contacts.
const ASKED: f64 = 1e-12;

impl RestContacts {
    /// One linear step with all cones, of a system whose `W` resists everything: `force` and `deficit` are what the equations miss at present, all contacts included. The whole
    /// forces of the contacts are kept for [`accept`](Self::accept), the changes of the model's go into `out`. `None` if the solver found no answer to it.
    pub(crate) fn solve_step(
        &mut self,
        assembler: &mut Assembler,
        (force, deficit): (&[f64], &[f64]),
        (options, auto): (&Options, AutoOptions),
        out: &mut Solution,
    ) -> Result<Option<f64>, Error> {
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
        assembler.set_right_hand_sides(force, &deficit[..m]);
        let blocks = assembler.system().row_blocks().len() - 1;
        self.cones.clear();
        self.cones.resize(blocks, None);
        self.cones.extend(self.rows.iter().map(|r| Some(r.cone)));
        self.step.fill(assembler.system(), &[], &self.tail)?;
        self.step.add_impulses(&self.tail, &self.kept.force, -1.0);
        let Some(system) = self.step.system() else {
            return Ok(None);
        };
        self.solver.options = auto;
        self.solver.options.limits.tolerance = ASKED;
        self.solver.only = options.contacts.solver;
        self.solver.bounds = options.bounds;
        self.solver.bounds.direct = options.solver;
        let solved = self.solver.prepare(system, &self.cones).and_then(|()| {
            self.solution.mu.clear();
            self.solution.mu.resize(m, 0.0);
            self.solution.mu.extend_from_slice(&self.kept.force);
            self.solver.solve(system, &mut self.solution)
        });
        let found = match solved {
            Ok(found) => found,
            // A system that is not definite yet: more resistance makes it so.
            Err(ProblemError::Bilateral(_)) => return Ok(None),
            Err(e) => return Err(Error::Contacts(e)),
        };
        self.iterations += found.iterations;
        let measure = found.residual.measure();
        let good = measure <= options.contacts.tolerance;
        if found.outcome != Outcome::Converged && !good {
            return Ok(None);
        }
        out.x.clone_from(&self.solution.x);
        out.mu.clear();
        out.mu.extend_from_slice(&self.solution.mu[..m]);
        self.solved.clear();
        self.solved.extend_from_slice(&self.solution.mu[m..]);
        let free = self.solver.free_velocities();
        Ok(Some(free[m..].iter().fold(0.0, |a: f64, v| a.max(v.abs()))))
    }
}
