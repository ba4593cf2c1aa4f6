//! Rows of the contacts behind those of the model, and their solution.

use super::Contacts;
use crate::contact::FrictionCoupling;
use crate::contact::{Impacts, Restitution};
use crate::simulation::Simulation;
use crate::{Error, Options};
use pliant_dense::Vec3;
use pliant_kkt::Assembler;
use pliant_model::{Problem, State};
use pliant_solvers::complementarity::{AutoOptions, Limits, Outcome, ProblemError};
use pliant_solvers::{KktSystem, Solution, SolveError, SolveReport};

/// A contact does not slip below this share of its velocity at the start of the step, and of the largest velocity that there is without impulses
/// (for which there are this many tolerances at least).
pub(crate) const AT_REST: f64 = 1e-6;
pub(crate) const TOLERANCES_AT_REST: f64 = 10.0;

/// A complementarity error in the model's words.
pub(crate) fn in_words(error: ProblemError, model: &Problem, time: f64) -> Error {
    match error {
        ProblemError::Bilateral(e) => Error::from_solver(e, model, time),
        other => Error::Contacts(other),
    }
}

/// The forces of the last step in the rows of the contacts, times `per_force`.
pub(crate) fn last_impulses(c: &Contacts, per_force: f64) -> impl Iterator<Item = f64> {
    let contacts = c.list.contacts().iter().zip(&c.rows);
    contacts.flat_map(move |(contact, rows)| {
        let at = c.forces.binary_search_by_key(&contact.key, |f| f.0);
        let [x, y, z, tx, ty, tz] = at.map_or([0.0; 6], |at| c.forces[at].1);
        let (force, torque) = (Vec3::new(x, y, z), Vec3::new(tx, ty, tz));
        rows.along(per_force * force, per_force * torque)
    })
}

/// Options of the solver of contacts.
pub(crate) fn auto_options(options: &Options) -> AutoOptions {
    AutoOptions {
        limits: Limits {
            tolerance: options.contacts.tolerance,
            max_iterations: options.contacts.max_iterations,
            ..Limits::default()
        },
        ..AutoOptions::default()
    }
}

/// The rows of the contacts and their cones, with the Jacobians that the assembler was last filled with.
pub(crate) fn gather_rows(
    c: &mut Contacts,
    assembler: &Assembler,
    (model, state): (&Problem, &State),
    coupling: FrictionCoupling,
) -> Result<(), Error> {
    c.tail.clear();
    let base = assembler.system();
    let blocks = base.row_blocks().len() - 1;
    c.cones.clear();
    c.cones.resize(blocks, None);
    c.expansions.clear();
    c.missed = None;
    for (i, rows) in c.rows.iter().enumerate() {
        let supports = c.list.supports(i);
        c.tail.push_both(rows.velocities(), rows.spins(), supports);
        c.cones.push(Some(rows.cone));
    }
    assembler.project(model, state, &mut c.tail)?;
    c.couple(coupling, blocks)
}

impl Simulation {
    /// The solution of the step with the impulses of contacts, as the formulation has it.
    pub(crate) fn contact_solution(&self) -> Option<&Solution> {
        let c = self.system.contacts.as_ref().filter(|c| !c.list.is_empty());
        c.map(|c| &c.solution)
    }

    /// The system of the step, with the rows of contacts if there are any.
    pub(crate) fn whole_system(&self) -> &KktSystem {
        let extended = self.system.contacts.as_ref().filter(|c| !c.list.is_empty());
        let extended = extended.and_then(|c| c.extended.system());
        extended.unwrap_or_else(|| self.system.assembler.system())
    }

    /// Rows of the contacts behind the filled system, factored.
    pub(crate) fn prepare_contacts(&mut self) -> Result<(), Error> {
        let Some(mut c) = self.system.contacts.take() else {
            return Ok(());
        };
        let prepared = self.fill_contacts(&mut c);
        self.system.contacts = Some(c);
        prepared
    }

    fn fill_contacts(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        gather_rows(
            c,
            &self.system.assembler,
            (&self.system.model, &self.motion.state),
            self.options.contacts.friction_coupling,
        )?;
        let base = self.system.assembler.system();
        let poisson = self.options.contacts.restitution == Restitution::Poisson;
        let hits = poisson && c.hits(h);
        if hits {
            let list = c.list.clone();
            let free = |d: &usize| !base.fixed[*d];
            c.push_expansions(h, base, |i| {
                let supports = list.supports(i).iter();
                let mut dofs = supports.flat_map(|s| self.system.assembler.support_dofs(s.node, s.element));
                dofs.find(free)
            });
            self.system
                .assembler
                .project(&self.system.model, &self.motion.state, &mut c.tail)?;
        }
        c.report.restitution = 1.0;
        c.bounced = poisson;
        let share = if poisson { 0.0 } else { 1.0 };
        c.fill_laws(h, beta, self.options.contacts.overlap, share);
        c.given.clear();
        c.given.resize(c.tail.rows(), 0.0);
        self.fill_extended(c)?;
        // The start: forces of the last step.
        let per_force = self.scheme.h;
        c.solution.mu.clear();
        c.solution
            .mu
            .extend(self.start.multipliers.iter().map(|l| l * per_force));
        let mut mu = std::mem::take(&mut c.solution.mu);
        mu.extend(last_impulses(c, per_force));
        c.solution.mu = mu;
        c.solution
            .mu
            .resize(self.system.assembler.system().m() + c.tail.rows(), 0.0);
        c.solver.options = auto_options(&self.options);
        c.solver.only = self.options.contacts.solver;
        c.solver.bounds = self.options.bounds;
        c.solver.bounds.direct = self.options.solver;
        let Some(system) = c.extended.system() else {
            return Ok(());
        };
        c.solver
            .prepare(system, &c.cones)
            .map_err(|e| in_words(e, &self.system.model, self.motion.time))?;
        if hits {
            self.impacts_by_poisson(c)?;
            c.fill_laws(h, beta, self.options.contacts.overlap, 0.0);
        } else if !poisson && self.options.contacts.impacts == Impacts::InSequence && c.bounces() {
            c.check_alone()?;
            let settled = c.impacts_in_sequence(self.system.assembler.system().m(), h);
            c.bounced = true;
            c.fill_laws(h, beta, self.options.contacts.overlap, 0.0);
            if !settled {
                return Err(Error::Impacts {
                    time: self.motion.time,
                    impacts: c.report.impacts,
                });
            }
        }
        Ok(())
    }

    fn fill_extended(&self, c: &mut Contacts) -> Result<(), Error> {
        c.extended.fill(
            self.system.assembler.system(),
            &self.system.scratch.fixed_change,
            &c.tail,
        )?;
        c.extended.add_impulses(&c.tail, &c.given, 1.0);
        Ok(())
    }

    /// Solves the prepared system with its contacts, from what the last solve of the step found.
    pub(crate) fn solve_contacts(&mut self) -> Result<SolveReport, Error> {
        let Some(mut c) = self.system.contacts.take() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let solved = self.solve_with_restitution(&mut c);
        self.system.contacts = Some(c);
        solved
    }

    fn solve_with_restitution(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        let mut solved = self.solve_once(c)?;
        let bounces = !c.bounced && c.bounces();
        // Rounding and what the residual leaves.
        let allowed = |c: &Contacts, s: &Simulation| {
            s.options.contacts.tolerance.max(1e-12) * c.exchanged(s.contact_impulses(&s.system.change))
        };
        let gains =
            |c: &Contacts, s: &Simulation| c.gain(s.contact_impulses(&s.system.change)) > allowed(c, s);
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
    pub(crate) fn contact_impulses<'a>(&self, solution: &'a Solution) -> &'a [f64] {
        &solution.mu[self.system.assembler.system().m()..]
    }

    /// One solve; leaves the change of velocity and the impulses of all rows in `self.system.change`, those of the model's rows, as the formulation
    /// has them, in `self.system.solution`.
    fn solve_once(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        self.fill_extended(c)?;
        let m = self.system.assembler.system().m();
        let Some(system) = c.extended.system() else {
            return Err(Error::Solve(SolveError::NotPrepared));
        };
        let found = c
            .solver
            .solve(system, &mut c.solution)
            .map_err(|e| in_words(e, &self.system.model, self.motion.time))?;
        self.system.solution.x.clone_from(&c.solution.x);
        self.system.solution.mu.clear();
        self.system.solution.mu.extend_from_slice(&c.solution.mu[..m]);
        self.system.change.clone_from(&c.solution);
        for (x, d) in self
            .system
            .change
            .x
            .iter_mut()
            .zip(&self.system.scratch.fixed_change)
        {
            *x += d;
        }
        c.tail.product_into(&self.system.change.x, &mut c.after);
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
