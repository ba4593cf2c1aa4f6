//! Rows of the contacts behind those of the model, and their solution.

use super::Contacts;
use crate::Error;
use crate::contact::{Impacts, Restitution};
use crate::simulation::Simulation;
use pliant_dense::Vec3;
use pliant_solvers::complementarity::{AutoOptions, Limits, Outcome, ProblemError};
use pliant_solvers::{KktSystem, Solution, SolveError, SolveReport};

/// A contact does not slip below this share of its velocity at the start of the step, and of the largest velocity that there is without impulses
/// (for which there are this many tolerances at least).
pub(super) const AT_REST: f64 = 1e-6;
pub(super) const TOLERANCES_AT_REST: f64 = 10.0;

/// A complementarity error in the model's words.
pub(in crate::simulation) fn in_words(error: ProblemError, simulation: &Simulation) -> Error {
    match error {
        ProblemError::Bilateral(e) => Error::from_solver(e, &simulation.model, simulation.time),
        other => Error::Contacts(other),
    }
}

/// The impulses of a step of length `h` in the rows of the contacts, with the forces of the last step.
pub(in crate::simulation) fn last_impulses(c: &Contacts, h: f64) -> impl Iterator<Item = f64> {
    let contacts = c.list.contacts().iter().zip(&c.rows);
    contacts.flat_map(move |(contact, rows)| {
        let at = c.forces.binary_search_by_key(&contact.key, |f| f.0);
        let [x, y, z, tx, ty, tz] = at.map_or([0.0; 6], |at| c.forces[at].1);
        let (force, torque) = (Vec3::new(x, y, z), Vec3::new(tx, ty, tz));
        rows.along(h * force, h * torque)
    })
}

impl Simulation {
    /// The solution of the step with the impulses of contacts.
    pub(in crate::simulation) fn contact_solution(&self) -> Option<&Solution> {
        let c = self.contacts.as_ref().filter(|c| !c.list.is_empty());
        c.map(|c| &c.solution)
    }

    /// The system of the step, with the rows of contacts if there are any.
    pub(in crate::simulation) fn whole_system(&self) -> &KktSystem {
        let extended = self.contacts.as_ref().filter(|c| !c.list.is_empty());
        let extended = extended.and_then(|c| c.extended.system());
        extended.unwrap_or_else(|| self.assembler.system())
    }

    pub(in crate::simulation) fn auto_options(&self) -> AutoOptions {
        let options = &self.options.contacts;
        AutoOptions {
            limits: Limits {
                tolerance: options.tolerance,
                max_iterations: options.max_iterations,
                ..Limits::default()
            },
            ..AutoOptions::default()
        }
    }

    /// Rows of the contacts behind the filled system, factored.
    pub(in crate::simulation) fn prepare_contacts(&mut self) -> Result<(), Error> {
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        let prepared = self.fill_contacts(&mut c);
        self.contacts = Some(c);
        prepared
    }

    /// The rows of the contacts and their cones, with the Jacobians that the assembler was last filled with.
    pub(in crate::simulation) fn gather_rows(&self, c: &mut Contacts) -> Result<(), Error> {
        c.tail.clear();
        let base = self.assembler.system();
        c.cones.clear();
        c.cones.resize(base.row_blocks().len() - 1, None);
        c.expansions.clear();
        c.missed = None;
        for (i, rows) in c.rows.iter().enumerate() {
            let supports = c.list.supports(i);
            c.tail.push_both(rows.velocities(), rows.spins(), supports);
            c.cones.push(Some(rows.cone));
        }
        self.assembler.project(&self.model, &self.state, &mut c.tail)?;
        let blocks = base.row_blocks().len() - 1;
        c.couple(self.options.contacts.friction_coupling, blocks)
    }

    fn fill_contacts(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        self.gather_rows(c)?;
        let base = self.assembler.system();
        let poisson = self.options.contacts.restitution == Restitution::Poisson;
        let hits = poisson && c.hits(h);
        if hits {
            let list = c.list.clone();
            let free = |d: &usize| !base.fixed[*d];
            c.push_expansions(h, base, |i| {
                let supports = list.supports(i).iter();
                let mut dofs = supports.flat_map(|s| self.assembler.support_dofs(s.node, s.element));
                dofs.find(free)
            });
            self.assembler.project(&self.model, &self.state, &mut c.tail)?;
        }
        c.report.restitution = 1.0;
        c.bounced = poisson;
        let share = if poisson { 0.0 } else { 1.0 };
        c.fill_laws(h, beta, self.options.contacts.overlap, share);
        c.given.clear();
        c.given.resize(c.tail.rows(), 0.0);
        self.fill_extended(c)?;
        // The start: forces of the last step.
        c.solution.mu.clear();
        c.solution.mu.extend(self.multipliers.iter().map(|l| l * h));
        let mut mu = std::mem::take(&mut c.solution.mu);
        mu.extend(last_impulses(c, h));
        c.solution.mu = mu;
        c.solution
            .mu
            .resize(self.assembler.system().m() + c.tail.rows(), 0.0);
        c.solver.options = self.auto_options();
        c.solver.only = self.options.contacts.solver;
        c.solver.bounds = self.options.bounds;
        c.solver.bounds.direct = self.options.solver;
        let Some(system) = c.extended.system() else {
            return Ok(());
        };
        c.solver
            .prepare(system, &c.cones)
            .map_err(|e| in_words(e, self))?;
        if hits {
            self.impacts_by_poisson(c)?;
            c.fill_laws(h, beta, self.options.contacts.overlap, 0.0);
        } else if !poisson && self.options.contacts.impacts == Impacts::InSequence && c.bounces() {
            c.check_alone()?;
            let settled = c.impacts_in_sequence(self.assembler.system().m(), h);
            c.bounced = true;
            c.fill_laws(h, beta, self.options.contacts.overlap, 0.0);
            if !settled {
                return Err(Error::Impacts {
                    time: self.time,
                    impacts: c.report.impacts,
                });
            }
        }
        Ok(())
    }

    fn fill_extended(&self, c: &mut Contacts) -> Result<(), Error> {
        c.extended
            .fill(self.assembler.system(), &self.fixed_change, &c.tail)?;
        c.extended.add_impulses(&c.tail, &c.given, 1.0);
        Ok(())
    }

    /// Solves the prepared system with its contacts, from what the last solve of the step found.
    pub(in crate::simulation) fn solve_contacts(&mut self) -> Result<SolveReport, Error> {
        let Some(mut c) = self.contacts.take() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let solved = self.solve_with_restitution(&mut c);
        self.contacts = Some(c);
        solved
    }

    fn solve_with_restitution(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        let mut solved = self.solve_once(c)?;
        let bounces = !c.bounced && c.bounces();
        // Rounding and what the residual leaves.
        let allowed = |c: &Contacts, s: &Simulation| {
            s.options.contacts.tolerance.max(1e-12) * c.exchanged(s.contact_impulses(&s.change))
        };
        let gains = |c: &Contacts, s: &Simulation| c.gain(s.contact_impulses(&s.change)) > allowed(c, s);
        if bounces && gains(c, self) {
            // Different coefficients at once: the largest common share of them that makes no energy, to 1/64.
            let (mut least, mut most) = (0.0, 1.0);
            for _ in 0..6 {
                let share = 0.5 * (least + most);
                solved = self.solve_with_share(c, share)?;
                if gains(c, self) {
                    most = share;
                } else {
                    least = share;
                }
            }
            if c.report.restitution != least {
                solved = self.solve_with_share(c, least)?;
            }
        }
        Ok(solved)
    }

    fn solve_with_share(&mut self, c: &mut Contacts, share: f64) -> Result<SolveReport, Error> {
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        c.fill_laws(h, beta, self.options.contacts.overlap, share);
        c.report.restitution = share;
        self.solve_once(c)
    }

    /// Impulses of the contacts in a solution of all rows.
    pub(super) fn contact_impulses<'a>(&self, solution: &'a Solution) -> &'a [f64] {
        &solution.mu[self.assembler.system().m()..]
    }

    /// One solve; leaves the change of velocity and the impulses of all rows in `self.change`, those of the model's rows in `self.solution`.
    fn solve_once(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        self.fill_extended(c)?;
        let m = self.assembler.system().m();
        let Some(system) = c.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let found = c
            .solver
            .solve(system, &mut c.solution)
            .map_err(|e| in_words(e, self))?;
        self.solution.x.clone_from(&c.solution.x);
        self.solution.mu.clear();
        self.solution.mu.extend_from_slice(&c.solution.mu[..m]);
        self.change.clone_from(&c.solution);
        for (x, d) in self.change.x.iter_mut().zip(&self.fixed_change) {
            *x += d;
        }
        c.tail.product_into(&self.change.x, &mut c.after);
        for (after, u) in c.after.iter_mut().zip(c.tail.velocity()) {
            *after += u;
        }
        c.outcome = found.outcome;
        let missed = c.missed.filter(|_| found.outcome == Outcome::Converged);
        let missed = missed.map_or((0.0, 0.0), |m| {
            c.outcome = m.outcome;
            (m.measure, m.natural)
        });
        c.report.residual = found.residual.measure().max(missed.0);
        c.report.de_saxce = found.exact.max(missed.0);
        c.report.velocity_residual = found.residual.natural.max(missed.1);
        c.report.iterations += found.iterations;
        c.report.method = found.method;
        c.report.islands = found.islands;
        c.report.settled = found.settled;
        c.worst = found.worst;
        let free = c.solver.free_velocities();
        let free = &free[free.len() - c.tail.rows()..];
        let largest = free.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let share = AT_REST.max(TOLERANCES_AT_REST * self.options.contacts.tolerance);
        c.noise = share * largest;
        Ok(found.linear)
    }
}
