//! The iteration of Newton's method.

use super::line_search::Watch;
use super::{Factor, Goal, Iteration};
use crate::contact::step::Way;
use crate::contact::{Bounce, ContactIterate, step, take_largest_share};
use crate::observe::{Clash, Residuals};
use crate::report::{NewtonReport, Timings};
use crate::system::rigid_nodes::Configuration;
use crate::system::{System, friction};
use crate::{Error, WorkPart};
use pliant_kkt::{GeometricStiffness, GeometricTerms, NewtonResiduals, StepInput};
use pliant_solvers::{KktResidual, SolveReport, Status};
use std::time::Instant;

/// Share of the last residual above which matrices are made anew, where they are kept while the
/// iteration converges.
const SLOW: f64 = 0.25;

/// Steps by the same matrices before they are made anew: mixing finds the directions that they
/// leave out one by one, and begins with new ones from nothing.
const LEAST_AGE: usize = 2;

/// Steps at most on from where the equations are solved, to where rounding ends it.
const POLISHES: usize = 12;

/// The largest share of its terms that an equation may miss where the velocities are close.
const LARGEST_RESIDUAL: f64 = 1e-5;

/// The share of what the equations miss that contacts may miss beside them, of their largest
/// velocity without impulses, and the most of it.
const LOOSE: f64 = 0.1;
const LOOSEST: f64 = 1e-3;

/// Shares of the sums of its rows that are added to the diagonal of an indefinite matrix, one after
/// the other. With the last one it is definite.
const SHIFTS: [f64; 5] = [1e-3, 1e-2, 0.1, 0.5, 2.0];

/// The matrix of a step of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tangent {
    Exact,
    /// With the absolute value of the geometric stiffness.
    Clamped,
    /// With that, if it may be, and a shift of the diagonal. It is not that of the
    /// equations, and is not kept.
    Shifted,
}

/// State of the iteration between its iterates.
#[derive(Debug, Default)]
struct Course {
    newton: NewtonReport,
    /// The report of the last solve; none before the first.
    last: Option<SolveReport>,
    /// Whether a matrix was not that of the equations.
    clamped: bool,
    watch: Watch,
    /// The share of its terms that an equation may miss, once the first iterate is measured.
    goal: Option<f64>,
    /// Whether the matrices are those of an earlier iterate, and of how many steps before.
    stale: bool,
    age: usize,
    /// The residual of the iterate before, as a share of its terms.
    before: f64,
    /// Whether the last direction was mixed with those before it.
    was_mixed: bool,
    /// The way on which missed contacts are still to be looked for.
    way: Option<Way>,
}

/// An iterate as measured.
#[derive(Clone, Copy, Debug)]
struct Iterate {
    residual: KktResidual,
    /// Whether the residual fell by too little since the iterate before.
    is_slow: bool,
    goal: f64,
    /// Whether its contacts were solved to what is asked for in the end.
    is_accurate: bool,
    /// Whether it solves the equations.
    done: bool,
}

impl Iteration<'_> {
    /// Newton's method; where contacts that bounce make energy by different coefficients, or have
    /// no solution in a step that is not halved any further, once more with the largest common
    /// share of these for which that is not so, to 1/64, as in the linear step.
    pub(crate) fn iterate_with_restitution(
        &mut self,
        timings: &mut Timings,
    ) -> Result<(SolveReport, NewtonReport, bool), Error> {
        let mut out = self.iterate(timings)?;
        let whole = match step::bounce(self.system, self.work.contact_iterate()) {
            // Halves may have a solution with all of it.
            Bounce::Jams if self.or_halves => Bounce::Good,
            whole => whole,
        };
        take_largest_share(whole, |share| {
            step::share_restitution(self.system, self.start, self.scheme, share);
            out = self.iterate(timings)?;
            Ok::<_, Error>(step::bounce(self.system, self.work.contact_iterate()))
        })?;
        Ok(out)
    }

    /// Newton's method. On return the state is the best iterate.
    pub(super) fn iterate(
        &mut self,
        timings: &mut Timings,
    ) -> Result<(SolveReport, NewtonReport, bool), Error> {
        let found = self.run_course(timings)?;
        self.system.propagate_idle(self.end)?;
        Ok(found)
    }

    /// Newton's method, in which nodes on which nothing acts stay behind.
    fn run_course(&mut self, timings: &mut Timings) -> Result<(SolveReport, NewtonReport, bool), Error> {
        let mut course = self.begin_course()?;
        loop {
            let at = self.reach_iterate(&mut course, timings)?;
            if let Some(report) = self.conclude(&mut course, at)? {
                return Ok((report, course.newton, course.clamped));
            }
            let mut tangent = self.make_matrices(&mut course, timings)?;
            let mut solved = self.find_direction(&mut course, &mut tangent, timings)?;
            let clock = Instant::now();
            let found = self.take_direction(&mut course, at, tangent)?;
            if let Some(way) = course.way.take() {
                step::look_for_missed_early(self.system, self.start, self.end, way)?;
            }
            if course.newton.iterations == 1 && self.shows_impact() {
                solved.status = Status::Stagnated;
                return Ok((solved, course.newton, course.clamped));
            }
            // A direction of old matrices that leads nowhere is tried with new ones.
            let lost = course.stale && !found;
            let serves = tangent != Tangent::Shifted && !lost;
            course.stale = self.origin.factor != Factor::EveryIteration && serves;
            timings.update += clock.elapsed();
            // Until the residual says otherwise.
            solved.status = match found || lost {
                true => Status::Converged,
                false => Status::Stagnated,
            };
            solved.residual = KktResidual::default();
            course.last = Some(solved);
        }
    }

    /// Goes to the first iterate.
    fn begin_course(&mut self) -> Result<Course, Error> {
        let mut course = Course {
            before: f64::INFINITY,
            way: self.origin.way,
            ..Course::default()
        };
        self.work.mixing.leaves_laws = false;
        if self.predict() {
            course.newton.iterations += 1;
        } else {
            self.guess()?;
        }
        self.find_residual()?;
        self.work.mixing.mixer.restart();
        Ok(course)
    }

    /// Fills the matrices at an iterate unless the last ones still serve, and measures what it
    /// misses.
    fn reach_iterate(&mut self, course: &mut Course, timings: &mut Timings) -> Result<Iterate, Error> {
        let fill = |iteration: &mut Self, timings: &mut Timings| {
            let clock = Instant::now();
            iteration.fill_newton(false);
            timings.fill += clock.elapsed();
        };
        if !course.stale {
            fill(self, timings);
        }
        if course.last.is_none() {
            self.weigh_course(course)?;
        }
        let mut residual = self.measure();
        if course.stale && residual.relative > SLOW * course.before && course.age >= LEAST_AGE {
            course.stale = false;
            fill(self, timings);
            residual = self.measure();
        }
        let is_slow = residual.relative > SLOW * course.before;
        course.before = residual.relative;
        let goal = *course
            .goal
            .get_or_insert_with(|| self.origin.goal(residual.relative));
        let close = residual.relative <= LARGEST_RESIDUAL && self.is_close();
        let ends = self.is_settled() && (residual.relative <= goal || close);
        let is_accurate = step::is_accurate(self.system);
        let allowed = match ends {
            true => 0.0,
            false => LOOSEST.min(LOOSE * residual.relative),
        };
        step::set_accuracy(self.system, allowed);
        Ok(Iterate {
            residual,
            is_slow,
            goal,
            is_accurate,
            done: ends && is_accurate,
        })
    }

    /// Takes the weights of the merit and of the contacts from the filled system, and the first
    /// iterate for the best one.
    fn weigh_course(&mut self, course: &mut Course) -> Result<(), Error> {
        self.weigh();
        let System { model, assembler, .. } = &*self.system;
        self.work.mixing.contraction.begin(model, assembler.system());
        let at = self.work.contact_iterate();
        step::weigh_newton(self.system, self.start, self.scheme, at)?;
        let merit = self.merit();
        self.keep_best(&mut course.watch, merit);
        Ok(())
    }

    /// Whether the contacts of the iterate are those of a whole step of the iteration.
    fn is_settled(&self) -> bool {
        !self.system.in_contact() || self.work.iterate.whole
    }

    /// The report of the iteration if it ends at an iterate: because that solves the equations, or
    /// because no step leads on, at the best iterate then.
    fn conclude(&mut self, course: &mut Course, at: Iterate) -> Result<Option<SolveReport>, Error> {
        let Some(mut report) = course.last else {
            return Ok(None);
        };
        report.residual = at.residual;
        if at.done {
            report.status = Status::Converged;
        } else if course.newton.iterations >= self.system.options.tuning.newton.iterations {
            report.status = Status::MaxIterations;
        } else if report.status == Status::Converged {
            return Ok(None);
        }
        if !at.done {
            self.return_to_best()?;
            report.residual = self.measure();
            let relative = report.residual.relative;
            let good = at.goal < self.origin.tolerance && relative <= self.origin.tolerance;
            let stands = relative <= LARGEST_RESIDUAL && self.ends_at_rounding();
            if self.is_settled() && at.is_accurate && (good || stands) {
                report.status = Status::Converged;
            } else if self.ends_the_step() {
                self.check_compatibility()?;
            }
        }
        if report.status == Status::Converged && self.origin.polishes {
            report.residual = self.polish(course.stale, &mut course.newton)?;
        }
        Ok(Some(report))
    }

    /// Factors the matrices of the iterate, unless the last ones still serve, and fills the
    /// right-hand sides.
    fn make_matrices(&mut self, course: &mut Course, timings: &mut Timings) -> Result<Tangent, Error> {
        let clock = Instant::now();
        let tangent = if course.stale {
            course.age += 1;
            self.fill_right_hand_sides(true);
            Tangent::Exact
        } else {
            course.age = 0;
            self.prepare_newton()?
        };
        course.clamped |= tangent != Tangent::Exact;
        timings.factor += clock.elapsed();
        Ok(tangent)
    }

    /// Solves for the change of the iterate, and counts it. Iterations for the linear equations find
    /// out late that a matrix is indefinite: it is changed then, as after a factor that found out.
    fn find_direction(
        &mut self,
        course: &mut Course,
        tangent: &mut Tangent,
        timings: &mut Timings,
    ) -> Result<SolveReport, Error> {
        let clock = Instant::now();
        let solved = match self.solve_newton() {
            Err(Error::NotPositiveDefinite { .. }) => {
                self.fill_newton(false);
                *tangent = self.prepare_newton()?;
                course.clamped |= *tangent != Tangent::Exact;
                course.age = 0;
                self.solve_newton()?
            }
            solved => solved?,
        };
        timings.solve += clock.elapsed();
        course.newton.iterations += 1;
        let part = match solved.bounds.changes {
            0 => WorkPart::Newton,
            _ => WorkPart::ActiveSet,
        };
        self.system.check_factorisations(part, self.start.time)?;
        Ok(solved)
    }

    /// Goes to the next iterate, as far along the direction that was found as pays; false where it
    /// does not. An iterate that solves the equations is left as it is.
    fn take_direction(&mut self, course: &mut Course, at: Iterate, tangent: Tangent) -> Result<bool, Error> {
        self.work.mixing.contraction.take(&self.system.solution.x);
        if let Some(deformations) = self.origin.deformations {
            let s = &mut *self.work;
            let reach = s.relation.displacement_gain;
            s.loads
                .extrapolate(deformations, self.system, &self.end.state, reach);
        }
        self.mix(course, at, tangent);
        let found = at.done
            || match tangent {
                Tangent::Shifted => self.leave(&mut course.watch)?,
                _ => self.search(&mut course.watch, &mut course.newton)?,
            };
        if !(found && self.work.iterate.whole) {
            self.work.mixing.contraction.forget();
        }
        if self.origin.deformations.is_some() {
            self.work.loads.go();
        }
        Ok(found)
    }

    /// Mixes the direction with those before it, where its matrix is not that of the equations and
    /// leaves out as much in every step.
    fn mix(&mut self, course: &mut Course, at: Iterate, tangent: Tangent) {
        let is_mixed = match tangent {
            _ if self.origin.factor == Factor::Kept => true,
            Tangent::Clamped => at.is_slow && at.residual.relative > at.goal,
            _ => false,
        };
        self.work.mixing.leaves_laws = is_mixed && self.system.in_contact();
        if is_mixed {
            let (s, solution) = (&mut *self.work, &mut self.system.solution);
            let beside = [&mut s.contact_impulses[..], s.loads.next_mut()];
            let anew = match self.origin.factor {
                Factor::Kept => !course.stale,
                Factor::EveryIteration => !course.was_mixed,
            };
            s.mixing.mix(anew, &s.iterate.velocity, solution, beside);
        }
        course.was_mixed = is_mixed;
    }

    /// Whether the iterate shows an impact, for which the step is taken in another way.
    pub(super) fn shows_impact(&self) -> bool {
        self.origin.ends_at_impact && step::has_certain_impact(self.system, &self.work.iterate.contacts)
    }

    /// Goes on from an iterate that solves the equations, while each step at least halves what they
    /// miss, to where rounding ends it: by the last matrices, which `factored` says are in the
    /// solver, and once by new ones where these do not serve.
    fn polish(&mut self, factored: bool, newton: &mut NewtonReport) -> Result<KktResidual, Error> {
        let missed = |r: &KktResidual| r.primal.max(r.row);
        let mut least = self.measure();
        let fastest = self
            .work
            .iterate
            .velocity
            .iter()
            .fold(0.0f64, |a, v| a.max(v.abs()));
        let rounding = f64::EPSILON * fastest;
        let (mut kept, mut anew) = (factored, !factored);
        for _ in 0..POLISHES {
            if missed(&least) <= rounding {
                break;
            }
            if anew {
                self.fill_newton(false);
                self.prepare_newton()?;
            }
            self.fill_right_hand_sides(true);
            self.solve_newton()?;
            newton.iterations += 1;
            let s = &mut *self.work;
            s.accepted.velocity.clone_from(&s.iterate.velocity);
            s.accepted.mu.clone_from(&s.iterate.mu);
            let solution = &mut self.system.solution;
            let beside = [&mut [][..], s.loads.next_mut()];
            s.mixing.mix(anew, &s.iterate.velocity, solution, beside);
            self.go(1.0)?;
            let now = self.measure();
            let goes_on = missed(&now) <= 0.5 * missed(&least);
            if missed(&now) < missed(&least) {
                least = now;
            } else {
                let s = &mut *self.work;
                s.iterate.velocity.clone_from(&s.accepted.velocity);
                s.iterate.mu.clone_from(&s.accepted.mu);
                self.place()?;
                self.find_residual()?;
            }
            anew = !goes_on && kept;
            kept &= goes_on;
            if !(goes_on || anew) {
                break;
            }
        }
        Ok(least)
    }

    /// Whether the step ends with an error if the iteration fails: there are no halves, no one
    /// stage to take it instead of two, and failed steps are not accepted.
    fn ends_the_step(&self) -> bool {
        let last = !self.or_halves && self.origin.deformations.is_none();
        last && !self.system.options.accept_failed_steps
    }

    /// Whether an iteration that failed has failed for rows that contradict each other: those of
    /// the linear equations at its best iterate, which no change of velocity meets.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if so.
    fn check_compatibility(&mut self) -> Result<(), Error> {
        self.fill_newton(false);
        // What linearising leaves between redundant rows is no contradiction while the iteration
        // goes on. Here it is.
        self.fill_right_hand_sides(false);
        let solved = self.prepare_filled().and_then(|()| self.solve_measured());
        let Ok(SolveReport {
            status: Status::Incompatible { row, violation },
            ..
        }) = solved
        else {
            return Ok(());
        };
        let (kkt, solution) = step::whole_system(self.system);
        let clash = Clash {
            kkt,
            solution,
            row,
            violation,
        };
        let residuals = Residuals::Velocities(self.scheme);
        Err(clash.error(&self.system.model, self.start.time, residuals))
    }

    /// Whether the velocities are as close as the error of the step makes worth while.
    fn is_close(&self) -> bool {
        let Goal::ThirdOrder { share, .. } = self.origin.goal else {
            return false;
        };
        let (from, to) = (&self.work.equations.velocity, &self.work.iterate.velocity);
        self.work.mixing.contraction.is_close(share, from, to)
    }

    /// Whether the last step, which could not lessen what the equations miss, would change the
    /// velocities by no more than iterations may leave in them: what is missed is rounding of terms
    /// that are larger than those of its equation.
    fn ends_at_rounding(&mut self) -> bool {
        let Goal::ThirdOrder { most, .. } = self.origin.goal else {
            return false;
        };
        let s = &mut *self.work;
        let (from, to) = (&s.equations.velocity, &s.iterate.velocity);
        s.mixing.contraction.ends_within(most, from, to)
    }

    /// Solves the prepared system; the impulses of the contacts are apart from those of the model.
    /// Where matrices are kept, a step is no more exact than they are, and the residual of the next
    /// iterate is measured: one substitution is enough.
    fn solve_newton(&mut self) -> Result<SolveReport, Error> {
        let mut solved = self.solve_newton_once()?;
        for pass in 0.. {
            // Whether the friction of an iterate agrees with the force that it follows is measured
            // with its other equations.
            if !friction::asks_again(self.system, &mut solved, pass) {
                break;
            }
            if self.system.in_contact() {
                self.prepare_filled()?;
            }
            let changes = solved.bounds.changes;
            solved = self.solve_newton_once()?;
            solved.bounds.changes += changes;
        }
        Ok(solved)
    }

    /// One solve with the bounds of friction as they are.
    fn solve_newton_once(&mut self) -> Result<SolveReport, Error> {
        let system = &mut *self.system;
        if self.origin.factor == Factor::Kept && !system.in_contact() {
            let solved = system
                .solver
                .solve_unmeasured(system.assembler.system(), &mut system.solution);
            return solved.map_err(|e| Error::from_solver(e, &system.model, self.start.time));
        }
        let solved = self.solve_measured()?;
        let (s, system) = (&mut *self.work, &mut *self.system);
        let System { sleep, solution, .. } = system;
        let per_force = s.relation.acceleration_gain.recip();
        sleep.keep_multipliers(&self.start.multipliers, per_force, &mut solution.mu);
        Ok(solved)
    }

    /// Solves the prepared system with its contacts, and measures the residual.
    fn solve_measured(&mut self) -> Result<SolveReport, Error> {
        let s = &mut *self.work;
        let at = ContactIterate {
            start: &s.equations.law_velocity,
            end: &s.iterate.velocity,
            mu: &s.iterate.mu,
            impulses: &s.iterate.contacts,
        };
        step::solve_newton(self.system, self.start, self.scheme, at, &mut s.contact_impulses)
    }

    /// Fills the matrices at the iterate.
    pub(crate) fn fill_newton(&mut self, clamped: bool) {
        let full = GeometricTerms {
            forces: GeometricStiffness::Full,
            multipliers: GeometricStiffness::Full,
        };
        let scheme = self
            .scheme
            .with_geometry(if clamped { full.clamped() } else { full });
        let deformations = self.origin.deformations;
        // The evaluation of forces leaves out what only rows have a use for.
        if self.system.model.row_count() > 0 {
            self.system
                .evaluation
                .find_bias(&self.system.model, &self.end.state);
        }
        let loads = deformations.is_some_and(|d| self.work.loads.put(d, self.system));
        let gain = self.work.relation.acceleration_gain;
        let multipliers = &mut self.work.multipliers;
        multipliers.clear();
        multipliers.extend(self.work.iterate.mu.iter().map(|mu| gain * mu));
        let input = StepInput {
            state: &self.end.state,
            multipliers,
            impulse: &[],
            fixed_change: &[],
            motion: &self.system.row_motion,
        };
        self.system
            .assembler
            .fill(&self.system.model, &mut self.system.evaluation, &scheme, input);
        if loads {
            self.work.loads.take_back(&mut self.system.evaluation);
        }
        self.system.guards.deactivate_rows(&mut self.system.assembler);
        let mu = &self.work.iterate.mu;
        friction::begin(self.system, |row| mu[row]);
    }

    /// Fills the right-hand sides; `allow` lets redundant rows disagree by what linearising leaves
    /// between them.
    fn fill_right_hand_sides(&mut self, allow: bool) {
        let s = &*self.work;
        let residuals = NewtonResiduals {
            primal: &s.residual.primal,
            deficit: &s.residual.deficit,
            mu: &s.iterate.mu,
            allow,
        };
        let System {
            model,
            evaluation,
            assembler,
            ..
        } = &mut *self.system;
        assembler.set_residuals(model, evaluation, self.scheme, residuals);
    }

    /// Factors the filled system; where it is indefinite, with the absolute value of the geometric
    /// stiffness, and where it still is, with a shift of its diagonal. Either makes another step of
    /// the iteration, not another solution.
    pub(crate) fn prepare_newton(&mut self) -> Result<Tangent, Error> {
        let clamps = self.system.options.tuning.clamp_geometry;
        let mut tangent = Tangent::Exact;
        let mut shifts = SHIFTS.iter();
        loop {
            self.fill_right_hand_sides(true);
            match self.prepare_filled() {
                Ok(()) => return Ok(tangent),
                Err(Error::NotPositiveDefinite { .. }) if tangent == Tangent::Exact && clamps => {
                    tangent = Tangent::Clamped;
                    self.fill_newton(true);
                }
                Err(e @ Error::NotPositiveDefinite { .. }) => {
                    let Some(share) = shifts.next() else {
                        return Err(e);
                    };
                    self.fill_newton(clamps);
                    tangent = Tangent::Shifted;
                    let System {
                        assembler, scratch, ..
                    } = &mut *self.system;
                    assembler.shift_diagonal(*share, &mut scratch.primal);
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Factors the filled system, with the rows of contacts if there are any.
    fn prepare_filled(&mut self) -> Result<(), Error> {
        if self.system.in_contact() {
            let at = self.work.contact_iterate();
            step::prepare_newton(self.system, self.start, self.scheme, at)
        } else {
            let at = Configuration {
                model: &self.system.model,
                state: &self.end.state,
            };
            let prepared = self.system.solver.prepare(self.system.assembler.system(), at);
            prepared.map_err(|e| Error::from_solver(e, &self.system.model, self.start.time))
        }
    }

    /// Where materials have a past, takes the answer of the equations linearised at the *start* of
    /// the step for the first iterate. From the velocities of the start, as for others, held
    /// coordinates that move would strain what is beside them alone, far beyond yield, and what
    /// yields would be bent back from there. False where it is not asked for or not found.
    pub(crate) fn predict(&mut self) -> bool {
        if self.system.model.internal_count() == 0 || self.system.in_contact() {
            return false;
        }
        self.solve_at_start().is_ok()
    }

    fn solve_at_start(&mut self) -> Result<(), Error> {
        let (gain, reach) = (
            self.work.relation.acceleration_gain,
            self.work.relation.displacement_gain,
        );
        // The velocities that lead nowhere.
        let s = &mut *self.work;
        s.iterate.velocity.clear();
        s.iterate
            .velocity
            .extend(s.relation.displacement.iter().map(|d| -d / reach));
        s.iterate.mu.clear();
        s.iterate
            .mu
            .extend(self.origin.expected.multipliers.iter().map(|l| l / gain));
        s.iterate.whole = false;
        self.place()?;
        self.find_residual()?;
        self.fill_newton(false);
        self.prepare_newton()?;
        let s = &mut *self.work;
        s.rate.clear();
        let fixed = &self.system.assembler.system().fixed;
        for (i, end) in s.iterate.velocity.iter().enumerate() {
            let goal = s.equations.velocity[i] + self.system.scratch.fixed_change[i];
            s.rate.push(if fixed[i] { goal - end } else { 0.0 });
        }
        self.system.scratch.right_hand_side.clear();
        self.system
            .scratch
            .right_hand_side
            .extend_from_slice(&self.system.assembler.system().c);
        self.system
            .assembler
            .shift_right_hand_sides(&s.rate, &self.system.scratch.right_hand_side);
        self.solve_newton()?;
        let s = &mut *self.work;
        for ((end, change), held) in s
            .iterate
            .velocity
            .iter_mut()
            .zip(&self.system.solution.x)
            .zip(&s.rate)
        {
            *end += change + held;
        }
        s.iterate.mu.copy_from_slice(&self.system.solution.mu);
        self.place()
    }
}
