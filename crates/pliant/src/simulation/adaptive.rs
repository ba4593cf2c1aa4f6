//! Steps that choose their length: the loop over trials ([`rewind`]: back to the start of the step; [`error`]: what a trial misses; [`gates`]: what may close;
//! [`locate`]: when).

mod error;
mod gates;
mod locate;
mod rewind;

pub(crate) use gates::Gates;

use super::Simulation;
use super::halve::together;
use crate::adaptive::{Adaptive, AdaptiveMemory, AdaptiveReport, AdaptiveSummary, Event};
use crate::{Error, Integrator, StepReport};
use error::Measured;
use gates::Nearest;
use pliant_model::State;
use rewind::Start;

/// What an adaptive step works with.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) memory: AdaptiveMemory,
    /// The present step holds an impact.
    impact: bool,
    start: Start,
    /// The end of the step taken at once.
    coarse: State,
    /// Differences of the coordinates of one node, twice.
    difference: Vec<f64>,
    change: Vec<f64>,
}

/// Sets what depends on the time before a step: called with the time at which its forces act.
pub type Drive<'a> = &'a mut dyn FnMut(&mut Simulation, f64) -> Result<(), Error>;

/// A step is shrunk by this factor where its equations cannot be solved.
const AFTER_FAILURE: f64 = 0.25;

/// Errors below this share of what is allowed say nothing of the next step.
const SMALL_ERROR: f64 = 1e-4;

/// A trial that missed the tolerance is followed by one of at most this share of its length.
const LEAST_CUT: f64 = 0.9;

/// What a trial came to.
struct Trial {
    halves: StepReport,
    measured: Measured,
    nearest: Option<Nearest>,
}

impl Simulation {
    /// Takes one step of a length that follows from the tolerances, at most to the time `end` (s; infinite for none), which it hits exactly. The end of a step is where an event
    /// is due, if these are asked for. Once warm it allocates nothing, unless a treatment is chosen anew for steps of very different length. Forces of inputs and from outside are the same
    /// over the step; motions of rows are functions of time.
    ///
    /// # Errors
    /// [`Error::StepTooSmall`] where the smallest step misses the tolerance; if its equations cannot be solved, why, as [`step`](Self::step) says; [`Error::OutOfRange`], [`Error::NeedsStabilisation`]. The state is then as
    /// before.
    pub fn step_adaptively(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveReport, Error> {
        self.step_adaptively_with(how, end, &mut |_, _| Ok(()))
    }

    /// The same with inputs that depend on the time ([`set_input`](Self::set_input)): `drive` is called before each part of each trial with the time at which its forces act.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively), and those of `drive`.
    pub fn step_adaptively_with(
        &mut self,
        how: &Adaptive,
        end: f64,
        drive: Drive<'_>,
    ) -> Result<AdaptiveReport, Error> {
        how.check()?;
        if end.is_nan() || end <= self.motion.time {
            return Err(Error::OutOfRange {
                what: "the end of an adaptive step",
                value: end,
                bound: "after the present time",
            });
        }
        if let Some(contacts) = &mut self.system.contacts {
            contacts.observed.failed = None;
        }
        self.check_rows()?;
        let mut work = std::mem::take(&mut self.adaptive);
        work.start.forget();
        let weights = (self.options.alpha, self.options.beta);
        let mut result = self.try_steps(&mut work, how, end, drive);
        (self.options.alpha, self.options.beta) = weights;
        if result.is_err()
            && let Err(error) = self.back(&mut work)
        {
            result = Err(error);
        }
        self.adaptive = work;
        self.keep_treatments = false;
        self.open_gates();
        result
    }

    /// Takes such steps to the time `end` (s), or until everything is at rest, if [`Adaptive::rest`] is set.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively); the state is then that of the last step that stands.
    pub fn advance_to(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveSummary, Error> {
        let mut summary = AdaptiveSummary::default();
        while self.motion.time < end && !summary.at_rest {
            summary.add(&self.step_adaptively(how, end)?);
        }
        Ok(summary)
    }

    /// What steps that choose their length remember.
    pub fn adaptive_memory(&self) -> AdaptiveMemory {
        self.adaptive.memory
    }

    fn check_rows(&self) -> Result<(), Error> {
        let options = &self.options;
        let stabilised = options.pre_stabilisation.is_some() || options.post_stabilisation.is_some();
        if stabilised || options.integrator != Integrator::Linear {
            return Ok(());
        }
        for group in self
            .system
            .model
            .row_groups()
            .iter()
            .filter(|g| self.system.model.bounds(g).is_none())
        {
            for k in 0..group.size * group.count {
                if self
                    .system
                    .evaluation
                    .holds_position(&self.system.model, group, k)
                {
                    let what = self.system.model.describe_row(group.first_row + k);
                    return Err(Error::NeedsStabilisation { what });
                }
            }
        }
        Ok(())
    }

    fn try_steps(
        &mut self,
        work: &mut Work,
        how: &Adaptive,
        end: f64,
        drive: Drive<'_>,
    ) -> Result<AdaptiveReport, Error> {
        let proposed = work.memory.next.unwrap_or(how.first);
        let proposed = proposed.clamp(how.smallest, how.largest);
        let left = end - self.motion.time;
        let mut h = if left <= proposed {
            left
        } else if left < 2.0 * proposed {
            // Two like steps instead of a long and a short one.
            0.5 * left
        } else {
            proposed
        };
        let locating = self.may_locate(work, how);
        self.start_from_here(work, how, h, locating)?;
        let (mut rejected, mut failed, mut ends_at) = (0, 0, None);
        let trial = loop {
            let (shorter, event) = match self.try_step(work, how, h, drive) {
                Ok(trial) if trial.measured.share <= 1.0 => match trial.nearest {
                    Some(nearest) if nearest.gap < 0.0 => {
                        match self.locate(work, how, (h, nearest), drive) {
                            // Taken once more, for the estimate of its error.
                            Ok(Some((before, kind))) => (before, Some(kind)),
                            // It is due at once, and part of the step.
                            Ok(None) => {
                                self.back(work)?;
                                self.open_gates();
                                self.take_impact(work);
                                continue;
                            }
                            Err(error) => {
                                failed += 1;
                                (after_failure(how, work.start.time(), h, error)?, None)
                            }
                        }
                    }
                    _ => break trial,
                },
                Ok(trial) => {
                    rejected += 1;
                    (self.after_rejection(work, how, h, &trial.measured)?, None)
                }
                Err(error) => {
                    failed += 1;
                    (after_failure(how, work.start.time(), h, error)?, None)
                }
            };
            (h, ends_at) = (shorter, event);
            self.back(work)?;
            self.choose_again(work, how, h)?;
        };
        if h == left {
            // To the bit, whatever the sum of the steps.
            self.motion.time = end;
        }
        let event = ends_at.map(|kind| Event {
            time: self.motion.time,
            kind,
        });
        let mut step = trial.halves;
        (step.time, step.h) = (self.motion.time, h);
        let mut report = AdaptiveReport {
            step,
            error: trial.measured.share,
            position_error: trial.measured.position,
            velocity_error: trial.measured.velocity,
            rejected,
            failed,
            event,
            passed: how.events.is_some() && !locating,
            at_rest: false,
        };
        let cut = h < proposed && rejected + failed == 0 && event.is_none();
        self.remember(work, how, &mut report, if cut { proposed } else { 0.0 });
        Ok(report)
    }

    /// Chooses treatments for steps of about length `h`, finds what may close, and keeps where the step starts.
    fn start_from_here(
        &mut self,
        work: &mut Work,
        how: &Adaptive,
        h: f64,
        locating: bool,
    ) -> Result<(), Error> {
        self.choose_treatments(h)?;
        let due = self.watch_gates(how.events.filter(|_| locating), how, h)?;
        work.impact = false;
        if work.memory.impact || due {
            self.take_impact(work);
        }
        work.start.take(self);
        // All trials of a step are of the same system.
        self.keep_treatments = true;
        Ok(())
    }

    /// The step holds an impact: between both ends positions would move with the mean of the velocities before and after it.
    fn take_impact(&mut self, work: &mut Work) {
        work.impact = true;
        (self.options.alpha, self.options.beta) = (1.0, 1.0);
    }

    /// The same for a shorter trial, which may call for other treatments.
    fn choose_again(&mut self, work: &mut Work, how: &Adaptive, h: f64) -> Result<(), Error> {
        self.keep_treatments = false;
        let plans = self.system.counters.plans;
        self.choose_treatments(h)?;
        self.keep_treatments = true;
        if self.system.counters.plans != plans {
            let locating = self.gates.are_shut();
            self.watch_gates(how.events.filter(|_| locating), how, h)?;
            work.start.take(self);
        }
        Ok(())
    }

    /// The step at once, then from the same start in two halves, which stay.
    fn try_step(
        &mut self,
        work: &mut Work,
        how: &Adaptive,
        h: f64,
        drive: Drive<'_>,
    ) -> Result<Trial, Error> {
        self.part(h, drive)?;
        work.coarse.clone_from(&self.motion.state);
        self.back(work)?;
        let (halves, nearest) = self.halves(h, work.impact, drive)?;
        let measured = self.measure_trial(work, how, h);
        Ok(Trial {
            halves,
            measured,
            nearest,
        })
    }

    /// Two halves of a step, the first of which may hold an impact, and what came nearest to closing in them.
    fn halves(
        &mut self,
        h: f64,
        impact: bool,
        drive: Drive<'_>,
    ) -> Result<(StepReport, Option<Nearest>), Error> {
        let half = 0.5 * h;
        let first = self.part(half, drive)?;
        let after_first = self.nearest(half);
        self.start_anew(impact);
        let second = self.part(half, drive)?;
        let nearest = Nearest::of(after_first, self.nearest(half));
        Ok((together(&first, &second), nearest))
    }

    /// After an impact the past of a multistep method is none.
    fn start_anew(&mut self, impact: bool) {
        if impact && matches!(self.options.integrator, Integrator::Implicit(_)) {
            self.motion.integrator.forget();
        }
    }

    fn part(&mut self, h: f64, drive: Drive<'_>) -> Result<StepReport, Error> {
        drive(self, self.motion.time + self.options.when_inputs_act() * h)?;
        self.empty_aside();
        self.step_at_once(h)
    }

    /// The length of the next trial where one has missed the tolerance.
    fn after_rejection(&self, work: &Work, how: &Adaptive, h: f64, missed: &Measured) -> Result<f64, Error> {
        let smallest = smallest(how, work.start.time());
        if h <= smallest {
            return Err(Error::StepTooSmall {
                what: self.system.model.describe_dof(missed.dof),
                time: work.start.time(),
                step: h,
                error: missed.worst,
                allowed: missed.worst / missed.share,
            });
        }
        let exponent = -(self.options.order() as f64).recip();
        let factor = how.safety * missed.share.powf(exponent);
        Ok((h * factor.clamp(how.shrink.min(LEAST_CUT), LEAST_CUT)).max(smallest))
    }

    /// What the step leaves for the next one. Where it was cut short for its end alone, the next one may be as long as `proposed` (s).
    fn remember(&mut self, work: &mut Work, how: &Adaptive, report: &mut AdaptiveReport, proposed: f64) {
        let h = report.step.h;
        let order = self.options.order() as f64;
        let now = report.error.max(SMALL_ERROR);
        let factor = match work.memory.error {
            Some(last) => now.powf(-0.7 / order) * last.powf(0.4 / order),
            None => now.powf(-order.recip()),
        };
        let most = if report.rejected + report.failed > 0 {
            1.0
        } else {
            how.growth
        };
        let memory = &mut work.memory;
        memory.impact = report.event.is_some();
        if report.event.is_some() {
            memory.located += 1;
            (memory.next, memory.error) = (Some(how.first), None);
        } else {
            let next = h * (how.safety * factor).clamp(how.shrink, most);
            memory.next = Some(next.max(proposed).clamp(how.smallest, how.largest));
            memory.error = Some(now);
        }
        let impact = work.impact || memory.impact;
        self.start_anew(impact);
        if let Some(rest) = how.rest {
            let slow = self.is_slow(rest);
            let memory = &mut work.memory;
            memory.slow = if slow { memory.slow + h } else { 0.0 };
            report.at_rest = slow && memory.slow >= rest.time;
        }
    }
}

/// The length of the next trial where the equations of one cannot be solved, unless that is of no use.
fn after_failure(how: &Adaptive, time: f64, h: f64, error: Error) -> Result<f64, Error> {
    let hopeless = matches!(
        error,
        Error::Unsupported { .. } | Error::Memory { .. } | Error::Plan(_) | Error::FrictionCoupling { .. }
    );
    let smallest = smallest(how, time);
    if hopeless || h <= smallest {
        return Err(error);
    }
    Ok((h * AFTER_FAILURE).max(smallest))
}

/// The smallest step at a time (s), which is to go on.
fn smallest(how: &Adaptive, time: f64) -> f64 {
    how.smallest.max(8.0 * f64::EPSILON * time.abs())
}
