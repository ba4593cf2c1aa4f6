//! The solve of a linear step with contacts: impacts, then all rows at once.

use super::observed::Quality;
use super::rows::{LawOfStep, OfStage};
use super::{
    Base, Bounce, ContactMemory, Contacts, Impacts, Restitution, check_work, set_options, take_largest_share,
};
use crate::{Error, WorkPart};
use pliant_solvers::complementarity::Outcome;
use pliant_solvers::{Solution, SolveError, SolveReport};

/// Unknowns of a step, and the change of velocity that fixed coordinates make.
pub(super) struct Unknowns<'a> {
    /// The solution of the model's rows, without the change of fixed coordinates.
    pub(super) solution: &'a mut Solution,
    /// The change of velocity and the impulses of all rows.
    pub(super) change: &'a mut Solution,
    pub(super) fixed_change: &'a [f64],
}

impl Contacts {
    /// Makes the rows of the contacts behind the filled system, factors it, and takes the impacts
    /// that go before the step.
    pub(super) fn prepare(
        &mut self,
        base: &Base<'_>,
        memory: &ContactMemory,
        fixed_change: &[f64],
    ) -> Result<(), Error> {
        let contacts = &base.options.contacts;
        let poisson = contacts.restitution == Restitution::Poisson;
        self.impact.forget();
        self.rows.find_drags(base, &self.detection.list, memory)?;
        self.rows.gather(base, &base.motion.state, &self.detection)?;
        let list = &self.detection.list;
        let hits = poisson && self.impact.find_expansions(base, list, &mut self.rows)?;
        self.observed.report_mut().restitution = 1.0;
        self.rows.bounced = poisson;
        self.fill_laws(base, if poisson { 0.0 } else { 1.0 });
        let (rows, list) = (&mut self.rows, &self.detection.list);
        rows.given.clear();
        rows.given.resize(rows.tail.rows(), 0.0);
        rows.fill(base, fixed_change)?;
        rows.start_from_last(base, list, memory);
        set_options(&mut rows.solver, base);
        let Some(system) = rows.extended.system() else {
            return Ok(());
        };
        let prepared = rows.solver.prepare(base.contact_system(system, &rows.cones));
        prepared.map_err(|e| base.error(e))?;
        if hits {
            self.impact
                .take_by_poisson(base, list, rows, self.observed.report_mut())?;
            let outcome = self
                .impact
                .unconverged()
                .map_or(Outcome::Converged, |i| i.outcome);
            self.check_work(base, outcome)?;
            self.fill_laws(base, 0.0);
            self.rows.fill(base, fixed_change)?;
        } else if !poisson && contacts.impacts == Impacts::InSequence && self.bounces() {
            self.take_in_sequence(base)?;
            self.rows.fill(base, fixed_change)?;
        }
        Ok(())
    }

    /// Whether a solve of the rows ended within the work that the step allows.
    pub(super) fn check_work(&self, base: &Base<'_>, outcome: Outcome) -> Result<(), Error> {
        let contacts = self.detection.list.contacts().iter();
        let (part, solver) = (WorkPart::Contacts, &self.rows.solver);
        check_work(part, outcome, solver, base, &self.detection, contacts)
    }

    /// Takes the impacts one after the other; the step is without restitution then.
    fn take_in_sequence(&mut self, base: &Base<'_>) -> Result<(), Error> {
        let report = self.observed.report_mut();
        let settled = self
            .rows
            .take_impacts_in_sequence(base, &self.detection.list, report)?;
        let impacts = report.solve.impacts;
        self.rows.bounced = true;
        self.fill_laws(base, 0.0);
        if settled {
            Ok(())
        } else {
            Err(Error::Impacts {
                time: base.motion.time,
                impacts,
            })
        }
    }

    /// Whether a contact has restitution.
    pub(super) fn bounces(&self) -> bool {
        let mut contacts = self.detection.list.contacts().iter();
        contacts.any(|c| c.law.restitution > 0.0)
    }

    /// The laws of all rows with a share of the restitution.
    fn fill_laws(&mut self, base: &Base<'_>, share: f64) {
        let law = LawOfStep {
            h: base.scheme.h,
            beta: base.scheme.beta,
            overlap: base.options.contacts.overlap,
            share,
            closing: f64::INFINITY,
        };
        let (list, stage) = (&self.detection.list, OfStage::default());
        self.rows.fill_laws(list, self.impact.expansions(), law, stage);
    }

    /// Solves the prepared system with its contacts, from the solution of the last solve of the
    /// step. Where the coefficients of restitution at once would make energy, or the contacts have
    /// no solution with them in a step that is not halved any further, with the largest common
    /// share of them for which that is not so, to 1/64.
    pub(super) fn solve(
        &mut self,
        base: &Base<'_>,
        unknowns: &mut Unknowns<'_>,
        or_halves: bool,
    ) -> Result<SolveReport, Error> {
        let mut solved = self.solve_once(base, unknowns)?;
        let whole = match self.bounce(base, unknowns.change) {
            Bounce::Jams if or_halves => Bounce::Good,
            whole => whole,
        };
        take_largest_share(whole, |share| {
            solved = self.solve_with_share(base, unknowns, share)?;
            Ok::<_, Error>(self.bounce(base, unknowns.change))
        })?;
        Ok(solved)
    }

    /// How contacts came out of the last solve with their restitution.
    fn bounce(&self, base: &Base<'_>, change: &Solution) -> Bounce {
        if self.rows.bounced || !self.bounces() {
            Bounce::Good
        } else if self.observed.has_failed() {
            Bounce::Jams
        } else if self.gains(base, change) {
            Bounce::MakesEnergy
        } else {
            Bounce::Good
        }
    }

    /// Whether the impulses make energy, beyond rounding and the residual.
    fn gains(&self, base: &Base<'_>, change: &Solution) -> bool {
        let impulses = &change.mu[base.system().m()..];
        let allowed = self.reached(base.options).max(1e-12) * self.rows.exchanged(impulses);
        self.rows.gain(impulses) > allowed
    }

    fn solve_with_share(
        &mut self,
        base: &Base<'_>,
        unknowns: &mut Unknowns<'_>,
        share: f64,
    ) -> Result<SolveReport, Error> {
        self.fill_laws(base, share);
        self.observed.report_mut().restitution = share;
        self.solve_once(base, unknowns)
    }

    /// One solve of the system that was prepared.
    fn solve_once(&mut self, base: &Base<'_>, unknowns: &mut Unknowns<'_>) -> Result<SolveReport, Error> {
        let rows = &mut self.rows;
        rows.fill_right_hand_sides(base, unknowns.fixed_change);
        let m = base.system().m();
        let Some(system) = rows.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let solved = rows.solver.solve(system, &mut rows.solution);
        let found = solved.map_err(|e| base.error(e))?;
        self.check_work(base, found.outcome)?;
        let rows = &mut self.rows;
        let (solution, change) = (&mut *unknowns.solution, &mut *unknowns.change);
        solution.x.clone_from(&rows.solution.x);
        solution.mu.clear();
        solution.mu.extend_from_slice(&rows.solution.mu[..m]);
        change.clone_from(&rows.solution);
        for (x, d) in change.x.iter_mut().zip(unknowns.fixed_change) {
            *x += d;
        }
        rows.tail.product_into(&change.x, &mut rows.after);
        for (after, u) in rows.after.iter_mut().zip(rows.tail.velocity()) {
            *after += u;
        }
        let mut quality = Quality::of(&found);
        let converged = found.outcome == Outcome::Converged;
        quality.worsen(self.impact.unconverged().filter(|_| converged));
        self.observed.take(&found, quality);
        let rows = &self.rows;
        let free = rows.solver.free_velocities();
        let free = &free[free.len() - rows.tail.rows()..];
        let largest = free.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        self.observed.set_noise(self.reached(base.options), largest);
        Ok(found.linear)
    }
}
