//! Steps that choose their length: the loop over trials ([`trial`]: one of them; [`error`]: what it
//! misses; [`guards`]: what may close; [`locate`]: when).

mod error;
mod locate;
mod trial;
mod types;

pub use types::{Adaptive, AdaptiveReport, AdaptiveSummary, Event, Events, JumpReport};

use super::StepStart;
use super::parts::Parts;
use crate::{Checkpoint, Error, Integrator, Options, Simulation};
use error::Measured;
use pliant_model::State;
use pliant_stepper::contact::step;
use pliant_stepper::guards::{Closing, EventKind};
use pliant_stepper::motion::AdaptiveMemory;
use pliant_stepper::observe::{BoundedImpulses, Jumps};
use pliant_stepper::sleep;
use pliant_stepper::system::System;
use trial::Trial;

/// Buffers of adaptive steps.
#[derive(Debug, Default)]
pub(crate) struct AdaptiveWorkspace {
    pub(super) start: StepStart,
    /// The moment before the step, with the memory of the solvers, which trials leave changed.
    pub(crate) before: Checkpoint,
    /// The parts of the last step.
    pub(crate) parts: Parts,
    /// The end of the step taken at once.
    coarse: State,
    /// The middle of the step taken in halves.
    middle: State,
    /// Impulses of the step at once, and of its halves.
    impulses: [BoundedImpulses; 3],
    jumps: Jumps,
    differences: error::Differences,
}

/// Sets what depends on the time before a step: called with the time at which its forces act.
pub type Drive<'a> = &'a mut dyn FnMut(&mut Simulation, f64) -> Result<(), Error>;

/// A step is shrunk by this factor where its equations cannot be solved.
const AFTER_FAILURE: f64 = 0.25;

/// Errors below this share of what is allowed say nothing of the next step.
const SMALL_ERROR: f64 = 1e-4;

/// A trial that missed the tolerance is followed by one of at most this share of its length.
const LEAST_CUT: f64 = 0.9;

/// One step of a length that follows from the tolerances; the motion is as before if it fails.
pub(crate) fn step(
    simulation: &mut Simulation,
    how: &Adaptive,
    end: f64,
    drive: Drive<'_>,
) -> Result<AdaptiveReport, Error> {
    check(simulation, how)?;
    if end.is_nan() || end <= simulation.motion.time {
        return Err(Error::OutOfRange {
            what: "the end of an adaptive step",
            value: end,
            bound: "after the present time",
        });
    }
    if let Some(contacts) = &mut simulation.system.contacts {
        contacts.observed.failed = None;
    }
    let mut before = std::mem::take(&mut simulation.adaptive.before);
    simulation.record_checkpoint(&mut before);
    let mut trials = Trials {
        how,
        drive,
        impact: false,
        locating: false,
        simulation,
    };
    let result = trials.run(end);
    let Trials { simulation, .. } = trials;
    simulation.system.open_guards();
    let back = match result {
        Ok(_) => Ok(()),
        Err(_) => simulation.go_to(&before),
    };
    simulation.adaptive.before = before;
    back.and(result)
}

/// Refuses what no step of these has an answer to.
pub(crate) fn check(simulation: &Simulation, how: &Adaptive) -> Result<(), Error> {
    how.check()?;
    check_rows(&simulation.system, &simulation.options)
}

/// Refuses hard rows that no stabilisation holds.
fn check_rows(system: &System, options: &Options) -> Result<(), Error> {
    let stabilised = options.pre_stabilisation.is_some() || options.post_stabilisation.is_some();
    if stabilised || options.integrator != Integrator::Theta {
        return Ok(());
    }
    let groups = system.model.row_groups().iter();
    for group in groups.filter(|g| system.model.bounds(g).is_none()) {
        for k in 0..group.size * group.count {
            if system.evaluation.holds_position(&system.model, group, k) {
                let what = system.model.describe_row(group.first_row + k);
                return Err(Error::NeedsStabilisation { what });
            }
        }
    }
    Ok(())
}

/// The trial that stands, and what led to it.
struct Taken {
    trial: Trial,
    h: f64,
    rejected: usize,
    failed: usize,
    /// The event that it ends at.
    event: Option<EventKind>,
}

/// The trials of one step, all from the same start.
struct Trials<'a> {
    simulation: &'a mut Simulation,
    how: &'a Adaptive,
    drive: Drive<'a>,
    /// The step holds an impact: between both ends positions would move with the mean of the
    /// velocities before and after it.
    impact: bool,
    /// Whether the trial ends where an event is due.
    locating: bool,
}

impl Trials<'_> {
    fn run(&mut self, end: f64) -> Result<AdaptiveReport, Error> {
        let (how, motion) = (self.how, &mut self.simulation.motion);
        let proposed = motion.adaptive.next.unwrap_or(how.first);
        let proposed = proposed.clamp(how.smallest, how.largest);
        let left = end - motion.time;
        let h = if left <= proposed {
            left
        } else if left < 2.0 * proposed {
            // Two like steps instead of a long and a short one.
            0.5 * left
        } else {
            proposed
        };
        self.locating = may_locate(&mut motion.adaptive, motion.time, how);
        self.begin(h)?;
        let taken = self.take(h);
        if taken.is_err() {
            self.back()?;
        }
        let Taken {
            trial,
            h,
            rejected,
            failed,
            event,
        } = taken?;
        let motion = &mut self.simulation.motion;
        if h == left {
            // To the bit, whatever the sum of the steps.
            motion.time = end;
        }
        let event = event.map(|kind| Event {
            time: motion.time,
            kind,
        });
        let mut step = trial.halves;
        (step.time, step.h) = (motion.time, h);
        let mut report = AdaptiveReport {
            step,
            error: trial.measured.share,
            position_error: trial.measured.position,
            velocity_error: trial.measured.velocity,
            jump: trial.measured.left_out,
            rejected,
            failed,
            event,
            passed: how.events.is_some() && !self.locating,
            at_rest: false,
        };
        let cut = h < proposed && rejected + failed == 0 && event.is_none();
        self.remember(&mut report, if cut { proposed } else { 0.0 });
        Ok(report)
    }

    /// Chooses treatments for steps of about length `h`, finds what may close, and keeps where the
    /// step starts.
    fn begin(&mut self, h: f64) -> Result<(), Error> {
        self.simulation.choose_treatments(h)?;
        let due = self.watch(self.locating, h)?;
        self.impact = self.simulation.motion.adaptive.impact || due;
        self.take_start();
        Ok(())
    }

    /// Begins again with a shorter trial, which may call for other treatments.
    fn begin_again(&mut self, h: f64) -> Result<(), Error> {
        let plans = self.simulation.system.counters().plans;
        self.simulation.choose_treatments(h)?;
        if self.simulation.system.counters().plans != plans {
            self.watch(self.simulation.system.guards.are_shut(), h)?;
            self.take_start();
        }
        Ok(())
    }

    /// Keeps the present motion as the start of all trials.
    fn take_start(&mut self) {
        let Simulation {
            adaptive,
            system,
            motion,
            ..
        } = &mut *self.simulation;
        adaptive.start.take(system, motion);
    }

    /// Goes back to the start of the step.
    fn back(&mut self) -> Result<(), Error> {
        let Simulation {
            adaptive,
            system,
            motion,
            ..
        } = &mut *self.simulation;
        adaptive.start.give_back(system, motion)
    }

    /// Time at the start of the step (s).
    fn start_time(&self) -> f64 {
        self.simulation.adaptive.start.motion().time
    }

    /// Shuts what is open before a step of length `h`, if events are located, and opens it else.
    /// Says whether something is about to close at once.
    fn watch(&mut self, locating: bool, h: f64) -> Result<bool, Error> {
        let simulation = &mut *self.simulation;
        simulation.system.open_guards();
        let Some(events) = self.how.events.filter(|_| locating) else {
            return Ok(false);
        };
        let limits = simulation.options.contacts.sleeping;
        sleep::look(&mut simulation.system, &mut simulation.motion, limits);
        step::find_present(&mut simulation.system, &mut simulation.motion, h)?;
        let closing = Closing {
            soon: 2.0 * events.resolution(simulation.motion.time, h),
            h,
            allowed: self.how.position * h.max(self.how.position_kink),
            bouncing: false,
        };
        let System {
            model,
            guards,
            contacts,
            ..
        } = &mut simulation.system;
        Ok(guards.shut(model, contacts.as_deref_mut(), &simulation.motion, closing))
    }

    /// Takes trials, from `h` on, until one stands.
    fn take(&mut self, mut h: f64) -> Result<Taken, Error> {
        let (mut rejected, mut failed, mut ends_at) = (0, 0, None);
        loop {
            let (shorter, event) = match self.try_step(h) {
                Ok(trial) if trial.measured.share <= 1.0 => match trial.nearest {
                    Some(nearest) if nearest.gap < 0.0 => {
                        match self.locate(h, nearest) {
                            // Taken once more, for the estimate of its error.
                            Ok(Some((before, kind))) => (before, Some(kind)),
                            // It is due at once, and part of the step.
                            Ok(None) => {
                                self.back()?;
                                self.simulation.system.open_guards();
                                self.impact = true;
                                continue;
                            }
                            Err(error) => {
                                failed += 1;
                                (self.after_failure(h, error, failed)?, None)
                            }
                        }
                    }
                    _ => {
                        return Ok(Taken {
                            trial,
                            h,
                            rejected,
                            failed,
                            event: ends_at,
                        });
                    }
                },
                Ok(trial) => {
                    rejected += 1;
                    (self.after_rejection(h, &trial.measured)?, None)
                }
                Err(error) => {
                    failed += 1;
                    (self.after_failure(h, error, failed)?, None)
                }
            };
            (h, ends_at) = (shorter, event);
            self.back()?;
            self.begin_again(h)?;
        }
    }

    /// The length of the next trial where the equations of one cannot be solved, unless that is of
    /// no use. Trials that took too much work are as many as halvings of a step at most.
    fn after_failure(&self, h: f64, error: Error, failed: usize) -> Result<f64, Error> {
        let options = &self.simulation.options;
        let halvings = options.contacts.halvings.max(options.tuning.newton.halvings);
        let hopeless = match error {
            Error::Unsupported { .. }
            | Error::Memory { .. }
            | Error::Plan(_)
            | Error::FrictionCoupling { .. } => true,
            Error::TooMuchWork { .. } => failed > halvings,
            _ => false,
        };
        let smallest = smallest(self.how, self.start_time());
        if hopeless || h <= smallest {
            return Err(error);
        }
        Ok((h * AFTER_FAILURE).max(smallest))
    }

    /// The length of the next trial where one has missed the tolerance.
    fn after_rejection(&self, h: f64, missed: &Measured) -> Result<f64, Error> {
        let time = self.start_time();
        let smallest = smallest(self.how, time);
        if h <= smallest {
            return Err(Error::StepTooSmall {
                what: self.simulation.system.model.describe_dof(missed.dof),
                time,
                step: h,
                error: missed.worst,
                allowed: missed.worst / missed.share,
            });
        }
        // What a jump displaces is in proportion to the step.
        let order = if missed.by_jump { 1 } else { self.order() };
        let exponent = -(order as f64).recip();
        let factor = self.how.safety * missed.share.powf(exponent);
        let least = self.how.shrink.min(LEAST_CUT);
        Ok((h * factor.clamp(least, LEAST_CUT)).max(smallest))
    }

    fn order(&self) -> usize {
        self.simulation.options.order_with(self.weights())
    }

    /// How much a step may grow over the last so that the whole, which its halves are compared with,
    /// has the order of the method.
    fn largest_growth(&self) -> f64 {
        match &self.simulation.options.integrator {
            Integrator::Implicit(method) => (0.5 * method.largest_growth()).max(1.0),
            _ => f64::INFINITY,
        }
    }

    /// Stores the memory that the next step uses. Where the step was cut short for its end
    /// alone, the next one may be as long as `proposed` (s).
    fn remember(&mut self, report: &mut AdaptiveReport, proposed: f64) {
        let how = self.how;
        let h = report.step.h;
        // The estimate of a step with a jump says nothing of smooth motion.
        let has_jump = report.jump.is_some();
        let order = if has_jump { 1 } else { self.order() } as f64;
        let now = report.error.max(SMALL_ERROR);
        let growth = how.growth.min(self.largest_growth());
        let motion = &mut self.simulation.motion;
        let memory = &mut motion.adaptive;
        let factor = match memory.error.filter(|_| !has_jump) {
            Some(last) => now.powf(-0.7 / order) * last.powf(0.4 / order),
            None => now.powf(-order.recip()),
        };
        let most = if report.rejected + report.failed > 0 {
            1.0
        } else {
            growth
        };
        memory.impact = report.event.is_some();
        if report.event.is_some() {
            memory.located += 1;
            (memory.next, memory.error) = (Some(how.first), None);
        } else {
            let next = h * (how.safety * factor).clamp(how.shrink, most);
            memory.next = Some(next.max(proposed).clamp(how.smallest, how.largest));
            memory.error = Some(now).filter(|_| !has_jump);
        }
        if let Some(rest) = how.rest {
            let slow = error::is_slow(&self.simulation.system.model, &motion.state, rest);
            memory.slow = if slow { memory.slow + h } else { 0.0 };
            report.at_rest = slow && memory.slow >= rest.time;
        }
        let impact = self.impact || memory.impact;
        self.start_anew(impact);
    }
}

/// Whether events are to be located in a step from a time (s); counts them by the second.
fn may_locate(memory: &mut AdaptiveMemory, time: f64, how: &Adaptive) -> bool {
    let Some(events) = how.events else { return false };
    if time >= memory.window + 1.0 || time < memory.window {
        (memory.window, memory.located) = (time, 0);
    }
    memory.located < events.most
}

/// The smallest step at a time (s), which is to go on.
fn smallest(how: &Adaptive, time: f64) -> f64 {
    how.smallest.max(8.0 * f64::EPSILON * time.abs())
}
