//! Contacts in Newton's method: sequential complementarity.
//!
//! Contacts act where and along the directions that they have at the start of the step, by the law that the linear step gives them there: with the velocities
//! `u` at its start, `w = J (v+ - v) + R r + b` and `r` in the law of their cones. All else in the step is nonlinear. Every iteration
//! solves the linearised equations of motion with all cones, for the change of velocity and the whole impulses, so that after a whole Newton step the
//! contacts miss their laws by no more than the solver says. In the merit they are their natural maps, beyond that tolerance.

use super::Simulation;
use crate::Error;
use crate::contact::{Impacts, Restitution};
use crate::simulation::contact::{Contacts, in_words, last_impulses};
use pliant_solvers::SolveReport;

impl Simulation {
    /// Makes the rows of the contacts of the start of the step with the Jacobians of that state, which must be evaluated.
    pub(super) fn start_contacts(&mut self, h: f64) -> Result<(), Error> {
        self.add_stored_at_start();
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        let started = self.make_rows(&mut c, h);
        self.contacts = Some(c);
        started
    }

    fn make_rows(&mut self, c: &mut Contacts, h: f64) -> Result<(), Error> {
        self.implicit.contacts.clear();
        if c.is_empty() {
            return Ok(());
        }
        self.assembler
            .fill_kinematics(&self.model, &mut self.evaluation, &self.scheme, &self.state);
        self.gather_rows(c)?;
        c.take_laws(h, self.scheme.beta, self.options.contacts.overlap, 1.0);
        self.implicit.contacts.extend(last_impulses(c, h));
        c.set_options(&self.options, self.auto_options());
        Ok(())
    }

    /// Where the nonlinear step has no answer to what contacts are asked for.
    pub(in crate::simulation) fn refuse_impacts(&self) -> Result<(), Error> {
        let options = &self.options.contacts;
        if options.restitution == Restitution::Poisson {
            return Err(self.refused("Poisson's law of impacts".to_owned()));
        }
        if options.impacts == Impacts::InSequence {
            return Err(self.refused("impacts in sequence".to_owned()));
        }
        Ok(())
    }

    /// Takes the impulses of the contacts out of what the equations of motion lack.
    pub(super) fn add_contact_impulses(&mut self) {
        if let (true, Some(c)) = (self.in_contact(), &self.contacts) {
            let s = &mut self.implicit;
            c.add_impulses(&s.contacts, -1.0, &mut s.primal);
        }
    }

    /// The system at the iterate with the rows of the contacts, factored.
    pub(super) fn prepare_newton_contacts(&mut self) -> Result<(), Error> {
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        let prepared = self.fill_newton_contacts(&mut c).and_then(|()| c.prepare(self));
        self.contacts = Some(c);
        prepared
    }

    fn fill_newton_contacts(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let s = &mut self.implicit;
        s.change.clear();
        s.change
            .extend(s.end.iter().zip(&s.start).map(|(end, start)| end - start));
        c.fill_iterate(self.assembler.system(), &s.change, &s.contacts)
    }

    /// Scales of the rows of contacts, for the merit.
    pub(super) fn weigh_contacts(&mut self) -> Result<(), Error> {
        if !self.in_contact() {
            return Ok(());
        }
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        let filled = self.fill_newton_contacts(&mut c);
        c.weigh(self.assembler.system().m(), &mut self.implicit.contact_scales);
        self.contacts = Some(c);
        filled
    }

    /// Sum of the squares of what the contacts miss their laws by, as velocities beyond the tolerance of their solver.
    pub(super) fn contact_merit(&mut self) -> f64 {
        let Some(c) = self.contacts.as_mut().filter(|c| !c.is_empty()) else {
            return 0.0;
        };
        let s = &mut self.implicit;
        s.change.clear();
        s.change
            .extend(s.end.iter().zip(&s.start).map(|(end, start)| end - start));
        c.merit(
            &s.change,
            &s.contacts,
            &s.contact_scales,
            self.options.contacts.tolerance,
        )
    }

    /// Solves the prepared system; the impulses of the contacts go behind those of the model.
    pub(super) fn solve_newton(&mut self) -> Result<SolveReport, Error> {
        if !self.in_contact() {
            let solved = self.solver.solve(self.assembler.system(), &mut self.solution);
            return solved.map_err(|e| Error::from_solver(e, &self.model, self.time));
        }
        let Some(mut c) = self.contacts.take() else {
            return Err(Error::Solve(pliant_solvers::SolveError::NotPrepared));
        };
        let s = &mut self.implicit;
        let found = c.solve_iterate(&s.mu, &s.contacts, &mut self.solution, &mut s.new_contacts);
        let found = found.map_err(|e| in_words(e, self));
        self.contacts = Some(c);
        found
    }

    /// Whether contacts with different coefficients of restitution make energy in the step.
    pub(super) fn restitution_makes_energy(&mut self) -> bool {
        let contacts = self.contacts.as_mut().filter(|c| !c.is_empty());
        let (s, tolerance) = (&self.implicit, self.options.contacts.tolerance);
        contacts.is_some_and(|c| c.makes_energy(&s.end, &s.contacts, tolerance))
    }

    /// The laws of the contacts with a share of their restitution.
    pub(super) fn share_restitution(&mut self, share: f64) {
        if let Some(c) = &mut self.contacts {
            c.take_laws(
                self.scheme.h,
                self.scheme.beta,
                self.options.contacts.overlap,
                share,
            );
            c.report.restitution = share;
        }
    }

    /// After the last iteration: what the contacts did.
    pub(super) fn read_newton_contacts(&mut self, h: f64) {
        let Some(c) = &mut self.contacts else { return };
        c.read_iterate(&self.implicit.end, &self.implicit.contacts, h, self.scheme.beta);
    }
}
