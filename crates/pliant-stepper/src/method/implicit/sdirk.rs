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
mod stages;

pub(crate) use memory::take_part;

use super::NewtonWorkspace;
use super::deformations::Deformations;
use super::projection::{Projection, Way};
use crate::Error;
use crate::contact::{Turning, step as contact_step};
use crate::method::theta::{Theta, recover};
use crate::method::{Capabilities, Method};
use crate::motion::Motion;
use crate::observe::{Driving, StageImpacts, Trace};
use crate::sleep;
use crate::system::one_sided::{StepEnd, StoppingStep};
use crate::system::{System, one_sided};
use impacts::Impact;
use pliant_model::State;
use pliant_solvers::{SolveReport, Status};
use stages::{RowPositions, Stage};
use std::f64::consts::FRAC_1_SQRT_2;
use std::time::Instant;

/// The weight `g` of a stage.
const GAIN: f64 = 1.0 - FRAC_1_SQRT_2;

/// The impulse of a velocity that jumps at the start of a step by `dv`, `M dv`, over the length of the
/// step and the decrease of its force from the first stage, `M dv/(g h)`, to the second,
/// `M (1 - (1 - g)/g) dv/(g h)`: `g^2/(1 - g)`.
const IMPULSE: f64 = GAIN * GAIN / (1.0 - GAIN);

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
    /// The impact for which the last attempt at this step went over to one stage.
    by_one: Option<Impact>,
    /// The impacts of the last stage that had any.
    struck: StageImpacts,
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
    /// Accelerations that were expected before one stage took the step anew, and those of all nodes
    /// by them.
    before: Vec<f64>,
    of_nodes: Vec<f64>,
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
        let (by_end, bounces) = (true, false);
        one_sided::find(system, start, StepEnd { h, by_end, bounces });
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
            turning: Turning::All,
        };
        // Two stages have no velocity for what is to come back by one (`Overlap::Rows`); and a step
        // that is taken again, with more contacts than before, has the impact that it had.
        let known = match system.rows.lowered.recover_by_velocity() {
            true => Some(Impact::Real),
            false => self
                .by_one
                .take()
                .filter(|_| contact_step::is_taken_again(system)),
        };
        let mut impact = known.unwrap_or(Impact::Real);
        let by_two = match known {
            Some(_) => None,
            None => {
                let attempt = self.two_stages(system, start, end, two, trace);
                if let Ok(attempt) = &attempt {
                    impact = attempt.impact;
                    let is_struck = trace.stages.or_parts && impact != Impact::None;
                    if is_struck && self.is_apart(system, start) {
                        trace.stages.impacts.clone_from(&self.struck);
                        trace.stages.taken = 2;
                        trace.solved.status = Status::MaxIterations;
                        return Ok(());
                    }
                }
                settle(attempt, trace.stages.or_halves)?
            }
        };
        if let Some(status) = by_two {
            trace.stages.taken = 2;
            return self.finish(system, start, two.second(), end, status, trace);
        }
        self.by_one = Some(impact);
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
            turning: match impact {
                Impact::OfCurves => Turning::Bearing,
                _ => Turning::BearingBodies,
            },
            ..two
        };
        trace.stages.taken = 1;
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

impl Sdirk2 {
    /// Both stages, as far as they are solved and there is no impact, or other islands are to be
    /// told from those that have one.
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
        let goes_on = match impact {
            Impact::None => true,
            _ => trace.stages.or_parts && self.is_apart(system, start),
        };
        if solved.status == Status::Converged && goes_on {
            let (earlier, struck) = (impact, std::mem::take(&mut self.struck));
            self.advance(system, start, first, end)?;
            solved = self.stage(system, start, end, first.second(), trace)?;
            self.average(end);
            impact = match self.impact(system, start, end, first.h) {
                Impact::None if self.rebounds(system, start, end, first.h) => Impact::Real,
                impact => impact,
            };
            self.struck.extend(struck);
            if impact == Impact::None {
                impact = earlier;
            }
        }
        let status = solved.status;
        Ok(Attempt { status, impact })
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
        let Expectations {
            accelerations,
            before,
            ..
        } = &mut self.expected;
        std::mem::swap(accelerations, before);
        self.go_back(system, start, end, stage)?;
        let (h, by_end, bounces) = (stage.h, true, true);
        one_sided::find(system, start, StepEnd { h, by_end, bounces });
        let Expectations { before, of_nodes, .. } = &mut self.expected;
        one_sided::carry_accelerations(system, before, of_nodes);
        let mut solved = self.first_stage(system, start, end, stage, trace)?;
        // Each time at least one row more rebounds.
        while solved.status == Status::Converged {
            let step = StoppingStep {
                start,
                h,
                accelerations: &self.expected.of_nodes,
                multipliers: &end.multipliers,
            };
            if !one_sided::add_struck(system, step) {
                break;
            }
            self.go_back(system, start, end, stage)?;
            solved = self.first_stage(system, start, end, stage, trace)?;
        }
        trace.solved = solved;
        trace.missed = self.work.sizes.worst;
        Ok(solved)
    }

    /// Back to the start of the step, to take it by one stage.
    fn go_back(
        &mut self,
        system: &mut System,
        start: &Motion,
        end: &mut Motion,
        stage: Stage<'_>,
    ) -> Result<(), Error> {
        end.state.clone_from(&start.state);
        system.propagate(&mut end.state)?;
        self.expected.accelerations.clear();
        self.expected.multipliers.clone_from(&start.multipliers);
        self.begin(system, start)?;
        system.set_row_motion(start.time, start.time + stage.h);
        Ok(())
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
                linear: false,
                exact: system.options.tuning.newton.exact_stages,
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
        trace.account.advance_memory(system, &mut end.state, h);
        trace.scheme = weights.with_weights(0.5, 0.5);
        let driving = match stage.is_whole() {
            true => Driving::Laws,
            false => Driving::Stages { impulse: -IMPULSE },
        };
        trace.tally(system, start, end, h, driving);
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
