//! SDIRK2: two stages of one diagonal weight, of order 2, for stiff and hard rows too.
//!
//! With `g = 1 - 1/sqrt 2` the method is L-stable and ends at its second stage (Alexander 1977).
//! A stage from the predictor `(x^, v^)` solves
//!
//! ```math
//! M (v - v^)/(g h) = f(x, v) + J(x)^T lambda,   x = x^ (+) g h v
//! ```
//!
//! with the forces of the deformations `e = e^ + g h J(x) v`
//! ([`deformations`](super::deformations)). The second predictor is `x^ = x0 (+) (1 - g) h v1`,
//! `v^ = v0 + (1 - g) h a1` with `a1 = (v1 - v0)/(g h)`, and `e^ = e0 + (1 - g) h J v1`. The step
//! ends with a [`projection`](super::projection).

mod impacts;
mod memory;

use super::deformations::Deformations;
use super::lift::{LIFTS, has_rows, lift};
use super::projection::{Projection, Way};
use super::{Expected, Factor, ForcesAlong, Goal, Iteration, NewtonWorkspace, Origin};
use crate::Error;
use crate::contact::{Turning, step as contact_step};
use crate::method::theta::{Theta, recover};
use crate::method::{Capabilities, Method};
use crate::motion::Motion;
use crate::observe::{DampingLaw, Step, Trace};
use crate::report::NewtonReport;
use crate::sleep;
use crate::system::{System, one_sided};
use pliant_kkt::Scheme;
use pliant_model::State;
use pliant_solvers::{SolveReport, Status};
use std::f64::consts::FRAC_1_SQRT_2;
use std::time::Instant;

/// The weight `g` of a stage.
const GAIN: f64 = 1.0 - FRAC_1_SQRT_2;

/// The name of its memory.
const NAME: &str = "SDIRK2";

/// SDIRK2, with its scratch.
#[derive(Debug, Default)]
pub(crate) struct Sdirk2 {
    work: NewtonWorkspace,
    deformations: Deformations,
    projection: Projection,
    /// The predictor of the present stage: its positions, and velocities of the independent
    /// coordinates.
    from: State,
    velocity: Vec<f64>,
    /// Velocities of fixed coordinates at the end of the stage.
    held: Vec<f64>,
    /// Velocities of the independent coordinates at the start of the step.
    start: Vec<f64>,
    expected: Expectations,
    /// Change of the accelerations, then of the multipliers, from the first stage to the second in
    /// the last step (m/s^2, rad/s^2; N, N m).
    change: Vec<f64>,
    /// Forces of the first stage.
    first: Forces,
    /// The contacts that turn in a step of one stage.
    whole_turns: Turning,
    /// The linear step, for impacts that go before a step.
    linear: Theta,
}

/// Expectations of a stage.
#[derive(Debug, Default)]
struct Expectations {
    /// Accelerations of the independent coordinates (m/s^2, rad/s^2); empty if nothing is known.
    accelerations: Vec<f64>,
    /// Multipliers of the rows of the model (N, N m).
    multipliers: Vec<f64>,
}

/// Forces of a stage.
#[derive(Debug, Default)]
struct Forces {
    /// Of the rows of the model (N, N m).
    multipliers: Vec<f64>,
    /// Of supports (N, N m).
    supports: Vec<f64>,
    /// Impulses of contacts (N s).
    contacts: Vec<f64>,
}

/// A stage of a step.
#[derive(Clone, Copy, Debug)]
struct Stage<'a> {
    /// The scheme of the step.
    weights: &'a Scheme,
    /// Length of the step (s).
    h: f64,
    /// Displacement per velocity (s).
    reach: f64,
    /// Time of its end since the start of the step (s).
    elapsed: f64,
    rows: RowPositions,
}

/// Where the deformations of rows and springs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPositions {
    /// Integrated beside the positions.
    Integrated,
    /// From the positions.
    Placed,
}

impl Stage<'_> {
    /// The stage that ends a step of two.
    fn second(self) -> Self {
        Self {
            elapsed: self.h,
            ..self
        }
    }

    /// Whether it is the only one of its step.
    fn is_whole(&self) -> bool {
        self.reach == self.h
    }

    /// Whether it begins its step.
    fn is_first(&self) -> bool {
        self.elapsed == self.reach
    }
}

impl Method for Sdirk2 {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::SDIRK2
    }

    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let weights = trace.scheme.clone();
        let clock = Instant::now();
        self.expect(system.model.dof_count(), start);
        self.begin(system, start)?;
        // Stages begin with these where they are held; what is far beyond comes back behind the
        // step.
        system.set_row_motion(start.time, start.time + h);
        one_sided::find(system, start, h, true);
        trace.timings.fill += clock.elapsed();
        let clock = Instant::now();
        contact_step::find(system, end, h)?;
        trace.timings.contacts += clock.elapsed();
        trace.account.add_stored_contacts(system, end);
        let two = Stage {
            weights: &weights,
            h,
            reach: GAIN * h,
            elapsed: GAIN * h,
            rows: RowPositions::Integrated,
        };
        // Two stages have no velocity for what is to come back by one (`Overlap::Rows`).
        let mut impact = Impact::Real;
        let by_two = match system.rows.lowered.recover_by_velocity() {
            true => None,
            false => {
                let attempt = self.two_stages(system, start, end, two, trace);
                if let Ok(attempt) = &attempt {
                    impact = attempt.impact;
                }
                settle(attempt, trace.stages.or_halves)?
            }
        };
        if let Some(status) = by_two {
            trace.stages.taken = 2;
            return self.finish(system, start, two.second(), end, status, trace);
        }
        if contact_step::takes_impacts_before_steps(system) {
            return self.by_linear_step(system, start, h, end, trace);
        }
        // One stage takes the whole step: an impulse is no force, which the second predictor would
        // take it for, and velocities that jump have order 1 whatever the method. Positions hold
        // its rows: that is the nonlinear step.
        let whole = Stage {
            reach: h,
            elapsed: h,
            rows: RowPositions::Placed,
            ..two
        };
        trace.stages.taken = 1;
        self.whole_turns = match impact {
            Impact::OfCurves => Turning::Bearing,
            _ => Turning::BearingBodies,
        };
        let solved = self.again(system, start, end, whole, trace)?;
        self.finish(system, start, whole, end, solved.status, trace)
    }
}

/// An attempt to take a step in two stages.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    /// That of the last stage that was tried.
    status: Status,
    impact: Impact,
}

/// Whether there was an impact in an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Impact {
    None,
    /// Contacts that bore come to the directions of their curves.
    OfCurves,
    /// Others meet, or one-sided rows.
    Real,
}

/// The status of an attempt that ends the step: one that found a solution, or that found none where
/// the step is taken in halves then. None if one stage is to take the step.
///
/// # Errors
/// The error of an attempt that one stage would not mend, or halves may.
fn settle(attempt: Result<Attempt, Error>, or_halves: bool) -> Result<Option<Status>, Error> {
    match attempt {
        Err(Error::Incompatible { .. }) => Ok(None),
        Ok(Attempt { impact, .. }) if impact != Impact::None => Ok(None),
        Ok(Attempt { status, .. }) => Ok((or_halves || status == Status::Converged).then_some(status)),
        Err(Error::NotPositiveDefinite { .. }) if !or_halves => Ok(None),
        Err(e) => Err(e),
    }
}

/// Whether the iteration of a stage found no velocities that meet its equations.
fn has_no_solution<T>(found: &Result<(SolveReport, NewtonReport, T), Error>) -> bool {
    match found {
        Ok((solved, _, _)) => solved.status != Status::Converged,
        Err(e) => matches!(e, Error::NotPositiveDefinite { .. } | Error::Incompatible { .. }),
    }
}

impl Sdirk2 {
    /// Both stages, as far as they are solved and there is no impact.
    fn two_stages(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        first: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<Attempt, Error> {
        let mut solved = self.first_stage(system, start, end, first, trace)?;
        let mut impact = self.impact(system, start, end, first.elapsed);
        if solved.status == Status::Converged && impact == Impact::None {
            self.advance(system, start, first, end)?;
            solved = self.stage(system, start, end, first.second(), trace)?;
            self.average(end);
            impact = self.impact(system, start, end, first.h);
        }
        let status = solved.status;
        Ok(Attempt { status, impact })
    }

    /// The step once more from its start, by the linear step, whose impacts go before it: one after
    /// the other, or by Poisson's law.
    fn by_linear_step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        end.clone_from(start);
        contact_step::turn_back(system);
        system.propagate(&mut end.state)?;
        let (scheme, or_halves, timings) = (trace.scheme.clone(), trace.stages.or_halves, trace.timings);
        trace.clear();
        (trace.stages.taken, trace.stages.or_halves, trace.timings) = (1, or_halves, timings);
        trace.account.open(system, start, &scheme, trace.projected);
        self.linear.step(system, start, h, end, trace)
    }

    /// The step once more from its start, by one stage.
    fn again(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        end.state.clone_from(&start.state);
        system.propagate(&mut end.state)?;
        self.expected.accelerations.clear();
        self.expected.multipliers.clone_from(&start.multipliers);
        self.begin(system, start)?;
        system.set_row_motion(start.time, start.time + stage.h);
        one_sided::find(system, start, stage.h, true);
        let solved = self.first_stage(system, start, end, stage, trace)?;
        trace.solved = solved;
        trace.missed = self.work.sizes.worst;
        Ok(solved)
    }

    /// Prepares the first stage: deformations and velocities. The system has the Jacobians of the
    /// start.
    fn begin(&mut self, system: &mut System, start: &Motion) -> Result<(), Error> {
        contact_step::forget_stages(system);
        contact_step::turn_back(system);
        system.set_row_motion(start.time, start.time);
        system.evaluate(start, 0.0)?;
        system.velocities(&start.state, &mut self.start);
        self.deformations.begin(system, &start.state, GAIN);
        self.work.loads.begin(system);
        self.velocity.clone_from(&self.start);
        self.work.equations.law_velocity.clone_from(&self.start);
        self.from.clone_from(&start.state);
        Ok(())
    }

    /// Solves the first stage, with contacts where they are at the start.
    fn first_stage(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        let impulses = &mut self.work.iterate.contacts;
        contact_step::start_newton(system, start, &scheme, stage.reach, impulses)?;
        self.turn_contacts(system, start, stage)?;
        self.stage(system, start, end, stage, trace)
    }

    /// Takes contacts and their laws where they are expected at the end of a stage from its
    /// predictor. In a step of one stage only what bears turns.
    fn turn_contacts(&mut self, system: &mut System, start: &Motion, stage: Stage<'_>) -> Result<(), Error> {
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        let displacement = &mut self.work.displacement;
        displacement.clear();
        displacement.extend(self.velocity.iter().map(|v| stage.reach * v));
        for (d, a) in displacement.iter_mut().zip(&self.expected.accelerations) {
            *d += stage.reach * stage.reach * a;
        }
        let expected = contact_step::Expected {
            from: &self.from,
            velocity: &self.start,
            displacement,
        };
        let turn = contact_step::Turn {
            h: stage.h,
            turning: match stage.is_whole() {
                true => self.whole_turns,
                false => Turning::All,
            },
        };
        let turned = contact_step::turn(system, start, &scheme, expected, turn)?;
        match stage.is_whole() {
            false => contact_step::take_stage(system, start, &scheme, stage.reach, &[], 0.0),
            true if turned => contact_step::share_restitution(system, start, &scheme, 1.0),
            true => {}
        }
        Ok(())
    }

    /// Solves the equations of a stage; its forces are in `end`.
    fn stage(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
        trace: &mut Trace,
    ) -> Result<SolveReport, Error> {
        let Stage { reach, elapsed, .. } = stage;
        system.set_row_motion(start.time, start.time + elapsed);
        let integrated = stage.rows == RowPositions::Integrated;
        if integrated {
            self.deformations.put_targets(system, reach);
        }
        self.find_held(system, start, elapsed / stage.h);
        let scheme = Scheme {
            velocity_rows: false,
            ..stage.weights.with_weights(1.0, 1.0).with_step(reach)
        };
        let model = &system.model;
        let complementary =
            system.in_contact() || model.row_groups().iter().any(|g| model.bounds(g).is_some());
        let factor = match complementary {
            true => Factor::EveryIteration,
            false => Factor::Kept,
        };
        let work = &mut self.work;
        work.take_stage(&self.velocity, reach);
        let newton = &system.options.tuning.newton;
        let expected = !self.expected.accelerations.is_empty();
        let (least, share) = match expected || stage.is_whole() {
            true => (newton.tolerance, newton.stage_share),
            false => (newton.stage_tolerance, newton.stage_tolerance),
        };
        let goal = Goal::ThirdOrder {
            least,
            share,
            most: newton.stage_share.max(share),
        };
        let tolerance = system.options.newton_tolerance();
        let origin = Origin {
            state: &self.from,
            held: &self.held,
            expected: Expected {
                accelerations: &self.expected.accelerations,
                multipliers: &self.expected.multipliers,
            },
            deformations: integrated.then_some(&self.deformations),
            forces: ForcesAlong::Ends,
            tolerance,
            goal,
            factor,
        };
        let mut iteration = Iteration {
            system,
            start,
            end,
            scheme: &scheme,
            work,
            origin,
            or_halves: trace.stages.or_halves,
        };
        iteration.record_start(elapsed, 1.0);
        let mut found = match stage.is_whole() {
            true => iteration.iterate_with_restitution(&mut trace.timings),
            false => iteration.iterate(&mut trace.timings),
        };
        let mut lifts = 0;
        while lifts < LIFTS
            && integrated
            && has_no_solution(&found)
            && has_rows(iteration.system)
            && lift(&mut iteration, lifts)?
        {
            lifts += 1;
            if let Ok((_, newton, _)) = &found {
                trace.newton += *newton;
            }
            iteration.record_start(elapsed, 1.0);
            found = iteration.iterate(&mut trace.timings);
        }
        let (solved, newton, clamped) = found?;
        // The report has the worse of two stages.
        if trace.newton.iterations == 0 || solved.residual.relative >= trace.solved.residual.relative {
            trace.solved = solved;
            trace.missed = work.sizes.worst;
        }
        let (from, to) = (&work.equations.velocity, &work.iterate.velocity);
        let left = work.mixing.contraction.left(from, to).unwrap_or(0.0);
        trace.stages.left = trace.stages.left.max(left);
        trace.newton += newton;
        trace.geometry_clamped |= clamped;
        work.read_forces(system, end);
        let weight = match (stage.is_whole(), stage.is_first()) {
            (true, _) => 1.0,
            (false, true) => 1.0 - GAIN,
            (false, false) => GAIN,
        };
        let at = Step {
            system,
            start: end,
            end,
            scheme: &scheme,
        };
        let account = &mut trace.account;
        account.tally_stage(at, weight * stage.h, stage.is_first(), stage.is_whole());
        if !stage.is_whole() {
            contact_step::tally_stage(system, work.contact_iterate(), weight * stage.h, reach);
        }
        Ok(solved)
    }

    /// Velocities of the fixed coordinates a share of the step after its start, and their change
    /// from the predictor.
    fn find_held(&mut self, system: &mut System, start: &Motion, share: f64) {
        self.held.clear();
        let ends = self.start.iter().zip(&start.controls.held);
        self.held
            .extend(ends.map(|(from, to)| from + share * (to - from)));
        let fixed = &system.assembler.system().fixed;
        for (i, change) in system.scratch.fixed_change.iter_mut().enumerate() {
            *change = if fixed[i] {
                self.held[i] - self.velocity[i]
            } else {
                0.0
            };
        }
    }

    /// Moves on from the first stage: the predictor of the second.
    fn advance(
        &mut self,
        system: &mut System,
        start: &Motion,
        stage: Stage<'_>,
        end: &mut Motion,
    ) -> Result<(), Error> {
        let ahead = stage.h - stage.reach;
        self.first.multipliers.clone_from(&end.multipliers);
        self.first.supports.clone_from(&end.supports);
        self.first.contacts.clone_from(&self.work.iterate.contacts);
        self.deformations.advance(system, &end.state, ahead);
        let velocity = &self.work.iterate.velocity;
        let Expectations {
            accelerations,
            multipliers,
        } = &mut self.expected;
        accelerations.clear();
        let ends = velocity.iter().zip(&self.start);
        accelerations.extend(ends.map(|(v, from)| (v - from) / stage.reach));
        let starts = self.velocity.iter_mut().zip(&self.start);
        for ((v, from), a) in starts.zip(&*accelerations) {
            *v = from + ahead * a;
        }
        let (of_motion, of_forces) = self.change.split_at(accelerations.len());
        for (a, change) in accelerations.iter_mut().zip(of_motion) {
            *a += change;
        }
        multipliers.clear();
        let firsts = end.multipliers.iter().zip(of_forces);
        multipliers.extend(firsts.map(|(first, change)| first + change));
        let displacement = &mut self.work.displacement;
        displacement.clear();
        displacement.extend(velocity.iter().map(|v| ahead * v));
        let scheme = stage.weights.with_weights(1.0, 1.0).with_step(stage.reach);
        contact_step::take_stage(system, start, &scheme, stage.reach, velocity, ahead);
        // Stages begin at its independent coordinates.
        system.place_independent(&start.state, velocity, displacement, None, &mut self.from);
        self.turn_contacts(system, start, stage)
    }

    /// Makes the forces of both stages the average ones of the step.
    fn average(&mut self, end: &mut Motion) {
        let mean = |now: &mut [f64], first: &[f64]| {
            for (now, first) in now.iter_mut().zip(first) {
                *now = GAIN * *now + (1.0 - GAIN) * first;
            }
        };
        mean(&mut end.multipliers, &self.first.multipliers);
        mean(&mut end.supports, &self.first.supports);
        // Impulses over `g h` become impulses over `h`.
        let impulses = self.work.iterate.contacts.iter_mut();
        for (now, first) in impulses.zip(&self.first.contacts) {
            *now += (1.0 - GAIN) / GAIN * first;
        }
    }

    /// Ends the step: projection, contacts, energy account, memory.
    fn finish(
        &mut self,
        system: &mut System,
        start: &Motion,
        stage: Stage<'_>,
        end: &mut Motion,
        status: Status,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let Stage {
            h, reach, weights, ..
        } = stage;
        let clock = Instant::now();
        trace.projected_tangents = system.evaluation.projected_elements(&system.model, &end.state);
        let scheme = weights.with_weights(1.0, 1.0).with_step(h);
        contact_step::read_newton(system, end, &scheme, self.work.contact_iterate(), h);
        system.set_row_motion(start.time, start.time + h);
        if status == Status::Converged {
            // Rows at the level of positions come back behind the step, by contacts' correction.
            let speed = match stage.rows {
                RowPositions::Placed => 0.0,
                _ => system.options.contacts.overlap.speed(),
            };
            let way = Way {
                h,
                reach,
                recovery: speed * h,
            };
            let (deformations, mu) = (&self.deformations, &self.work.iterate.mu);
            let projected = self
                .projection
                .project(system, deformations, way, mu, start, end)?;
            trace.corrections.1 = projected.solves;
            if projected.status != Status::Converged {
                trace.solved.status = projected.status;
            }
        } else {
            system.propagate(&mut end.state)?;
        }
        sleep::hold_placed(system, &start.state, end)?;
        trace.timings.stabilise += clock.elapsed();
        // What is halved because it is not solved needs no more than its report.
        let stands = status == Status::Converged || !trace.stages.or_halves;
        let clock = Instant::now();
        if stands {
            contact_step::look_for_missed(system, start, end, h)?;
        }
        trace.timings.contacts += clock.elapsed();
        let clock = Instant::now();
        system.take_rows_by_law();
        trace.account.forgotten += system.advance_memory(&mut end.state, h);
        trace.scheme = weights.with_weights(0.5, 0.5);
        trace.tally(system, start, end, h, DampingLaw::Mean);
        trace.timings.update += clock.elapsed();
        let clock = Instant::now();
        if stands {
            recover(system, start, end, trace, h)?;
        }
        trace.timings.contacts += clock.elapsed();
        if !stage.is_whole() {
            trace.stages.error = self.local_error(system, start, stage);
        }
        self.remember(stage, &mut end.integrator);
        Ok(())
    }
}

impl NewtonWorkspace {
    /// Takes the relation of a stage from a predictor of the velocity: `a = (v - v^)/w`,
    /// `x = x^ (+) w v`.
    fn take_stage(&mut self, velocity: &[f64], reach: f64) {
        self.equations.velocity.clear();
        self.equations.velocity.extend_from_slice(velocity);
        let relation = &mut self.relation;
        relation.acceleration_gain = reach.recip();
        relation.displacement_gain = reach;
        relation.acceleration.clear();
        relation.acceleration.extend(velocity.iter().map(|v| -v / reach));
        relation.displacement.clear();
        relation.displacement.resize(velocity.len(), 0.0);
    }
}
