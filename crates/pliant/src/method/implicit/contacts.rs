//! Contacts in Newton's method: sequential complementarity.
//!
//! Contacts act where and along the directions that they have at the start of the step, by the law that the linear step gives them there: with the velocities
//! `u` at its start, `w = J (v+ - v) + R r + b` and `r` in the law of their cones. All else in the step is nonlinear. Every iteration
//! solves the linearised equations of motion with all cones, for the change of velocity and the whole impulses, so that after a whole Newton step the
//! contacts miss their laws by no more than the solver says. In the merit they are their natural maps, beyond that tolerance.

use super::Iteration;
use crate::Error;
use crate::simulation::contact::{auto_options, gather_rows, in_words, last_impulses};
use crate::system::System;
use pliant_solvers::SolveReport;

impl Iteration<'_> {
    /// Makes the rows of the contacts of the start of the step with the Jacobians of that state, which must be evaluated.
    pub(crate) fn start_contacts(&mut self, h: f64) -> Result<(), Error> {
        self.work.iterate.contacts.clear();
        let System {
            model,
            evaluation,
            assembler,
            contacts,
            options,
            ..
        } = &mut *self.system;
        let Some(c) = contacts.as_mut().filter(|c| !c.is_empty()) else {
            return Ok(());
        };
        assembler.fill_kinematics(model, evaluation, self.scheme, &self.end.state);
        gather_rows(
            c,
            assembler,
            (model, &self.end.state),
            options.contacts.friction_coupling,
        )?;
        c.take_laws(h, self.scheme.beta, options.contacts.overlap, 1.0);
        self.work.iterate.contacts.extend(last_impulses(c, h));
        c.set_options(options, auto_options(options));
        Ok(())
    }

    /// Takes the impulses of the contacts out of the impulses that are missing.
    pub(crate) fn add_contact_impulses(&mut self) {
        if let Some(c) = self.system.contacts.as_ref().filter(|c| !c.is_empty()) {
            let s = &mut *self.work;
            c.add_impulses(&s.iterate.contacts, -1.0, &mut s.residual.primal);
        }
    }

    /// The change of velocity since the start.
    fn find_change(&mut self) {
        let s = &mut *self.work;
        s.contacts.change.clear();
        let ends = s.iterate.velocity.iter().zip(&s.start);
        s.contacts.change.extend(ends.map(|(end, start)| end - start));
    }

    /// Fills the system at the iterate with the rows of the contacts.
    fn fill_contacts(&mut self) -> Result<(), Error> {
        self.find_change();
        let System {
            assembler, contacts, ..
        } = &mut *self.system;
        let Some(c) = contacts else { return Ok(()) };
        c.fill_iterate(
            assembler.system(),
            &self.work.contacts.change,
            &self.work.iterate.contacts,
        )
    }

    /// The system at the iterate with the rows of the contacts, factored.
    pub(crate) fn prepare_contacts(&mut self) -> Result<(), Error> {
        self.fill_contacts()?;
        let System { model, contacts, .. } = &mut *self.system;
        match contacts {
            Some(c) => c.prepare(model, self.start.time),
            None => Ok(()),
        }
    }

    /// Scales of the rows of contacts, for the merit.
    pub(crate) fn weigh_contacts(&mut self) -> Result<(), Error> {
        if !self.system.in_contact() {
            return Ok(());
        }
        self.fill_contacts()?;
        let rows = self.system.assembler.system().m();
        if let Some(c) = &self.system.contacts {
            c.weigh(rows, &mut self.work.contacts.scales);
        }
        Ok(())
    }

    /// Sum of the squares by which the contacts miss their laws, as velocities beyond the tolerance of their solver.
    pub(crate) fn contact_merit(&mut self) -> f64 {
        if !self.system.in_contact() {
            return 0.0;
        }
        self.find_change();
        let tolerance = self.system.options.contacts.tolerance;
        let s = &*self.work;
        let change = &s.contacts.change;
        let contacts = self.system.contacts.as_mut();
        contacts.map_or(0.0, |c| {
            c.merit(change, &s.iterate.contacts, &s.contacts.scales, tolerance)
        })
    }

    /// Solves the prepared system; the impulses of the contacts go behind those of the model.
    pub(crate) fn solve_newton(&mut self) -> Result<SolveReport, Error> {
        let System {
            model,
            assembler,
            contacts,
            solver,
            solution,
            ..
        } = &mut *self.system;
        let time = self.start.time;
        match contacts.as_mut().filter(|c| !c.is_empty()) {
            None => {
                let solved = solver.solve(assembler.system(), solution);
                solved.map_err(|e| Error::from_solver(e, model, time))
            }
            Some(c) => {
                let (iterate, solved) = (&self.work.iterate, &mut self.work.contacts.solved);
                let found = c.solve_iterate(&iterate.mu, &iterate.contacts, solution, solved);
                found.map_err(|e| in_words(e, model, time))
            }
        }
    }

    /// Whether contacts with different coefficients of restitution make energy in the step.
    pub(crate) fn restitution_makes_energy(&mut self) -> bool {
        let tolerance = self.system.options.contacts.tolerance;
        let iterate = &self.work.iterate;
        let contacts = self.system.contacts.as_mut().filter(|c| !c.is_empty());
        contacts.is_some_and(|c| c.makes_energy(&iterate.velocity, &iterate.contacts, tolerance))
    }

    /// The laws of the contacts with a share of their restitution.
    pub(crate) fn share_restitution(&mut self, share: f64) {
        let overlap = self.system.options.contacts.overlap;
        if let Some(c) = &mut self.system.contacts {
            c.take_laws(self.scheme.h, self.scheme.beta, overlap, share);
            c.report.restitution = share;
        }
    }
}
