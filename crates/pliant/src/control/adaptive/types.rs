//! Steps that choose their length.

use crate::{Error, StepReport};
use pliant_stepper::contact::Sleeping;
use pliant_stepper::guards::EventKind;

/// How accurate steps that choose their length are to be, and at what they stop
/// ([`Simulation::step_adaptively`](crate::Simulation::step_adaptively)).
///
/// **Equation.** Every step is taken twice: at once, and in two halves, which are kept. Their
/// difference `e`, of every point and every body (its turn as a rotation vector), is the estimate
/// of the error: of a method of order `p` it is about `2^p - 1` times the error of what is kept. A
/// step of length `h` stands if
///
/// ```math
/// |e_x| <= position max(h, position_kink) + relative |dx|,    |e_v| <= velocity max(h, velocity_kink) + relative |dv|
/// ```
///
/// with the change `dx`, `dv` of the step. The tolerances are per time, so that over a time `T` the
/// estimated errors of positions add up to `position T` and the share `relative` of the way, and
/// the error at the end falls in proportion to the tolerances with a method of any order. The
/// origin of the coordinates has no part in it. The next step follows from this share of what is
/// allowed and the one before (a PI controller, Gustafsson 1991).
///
/// Where contacts, limits, ropes or rows of bounded force act, the differences of their impulses
/// `Q` (N s, N m s), `n = Q - Q_1 - Q_2` of the step and its halves or `n = Q_1 - Q_2` of the
/// halves, are no error of smooth motion. They change velocities by `|dv| <= sqrt(n^T M^-1 n/m)` of
/// an element of mass `m` that the model connects with where they act, and by no more than a half
/// of the step has changed it, `|dv| <= max(|v_1 - v_0|, |v_2 - v_1|)`. Where velocities jump, an
/// *impact*, twice the first bound is no error of the velocity; but the time of the impact is only
/// known to a half of the step, and what that displaces is to be within the tolerance of a step of
/// the length `jump_kink`, if it was not located:
///
/// ```math
/// h/2 |dv| <= position (max(h, position_kink) + jump_kink) + relative |dx|
/// ```
///
/// Where only forces jump (friction that turns or sticks, a force that reaches its bound), the
/// error of the velocity and the change by what acts on the element itself, `M_ii^-1 n_i`, may be
/// `velocity jump_kink` more than in smooth motion. A step is therefore never shorter than these
/// ask for, and all that is left out is reported ([`AdaptiveReport::jump`]).
///
/// **Use.** Where forces of force fields jump, and where hard rows keep velocities only to first
/// order, the error falls no faster than the length of the step, which an error per time asks too
/// much of: steps shorter than a *kink* may have the error of one that long. By default that is
/// every step in its velocities (`velocity` is then what one step may miss), and in its positions a
/// very short one. For smooth motion and a proven accuracy set both to zero. Errors of impacts add
/// up with their number, not with the time: each may displace by `position jump_kink`, and leaves
/// the velocity off by what acts in a step of that length.
///
/// Hard rows are to hold at the start: what they miss becomes velocity, the more the shorter the
/// step. The theta method keeps them only to the square of its length, and wants
/// [`Options::post_stabilisation`](crate::Options::post_stabilisation) for them
/// ([`Error::NeedsStabilisation`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Error of positions per time (m/s, rad/s; of scalars, in their unit), positive.
    pub position: f64,
    /// Error of velocities per time (m/s^2, rad/s^2), positive.
    pub velocity: f64,
    /// Error as a share of the change in the step (none), not negative.
    pub relative: f64,
    /// Steps shorter than this may have the error of positions of one of this length (s), not
    /// negative.
    pub position_kink: f64,
    /// Steps shorter than this may have the error of velocities of one of this length (s), not
    /// negative.
    pub velocity_kink: f64,
    /// Elements that a jump of a velocity or a force reached may have the error of a step of this
    /// length (s) on top, not negative. With zero a run ends at the first impact that is not
    /// located.
    pub jump_kink: f64,
    /// The first step to be tried, and the first one after an event (s).
    pub first: f64,
    /// The smallest step (s): one that misses the tolerance is an error. Steps that end at an event
    /// or at a given time may be shorter.
    pub smallest: f64,
    /// The largest step (s).
    pub largest: f64,
    /// The next step is this share (none) of the one that would just do, in `(0, 1)`.
    pub safety: f64,
    /// Factor by which a step may grow over the last (none), above 1. BDF2 is stable up to 2.4.
    pub growth: f64,
    /// Factor by which a step may shrink at once (none), in `(0, 1)`.
    pub shrink: f64,
    /// Whether steps end where something closes.
    pub events: Option<Events>,
    /// When everything counts as at rest, if that is to be told: all has been slow for a time.
    pub rest: Option<Sleeping>,
}

impl Default for Adaptive {
    /// 1 mm per second, 1 cm/s in a step and a thousandth of the change, 0.1 mm for an impact;
    /// steps from 10 ns to 0.1 s, no events.
    fn default() -> Self {
        Self {
            position: 1e-3,
            velocity: 1e-2,
            relative: 1e-3,
            position_kink: 1e-4,
            velocity_kink: 1.0,
            jump_kink: 0.1,
            first: 1e-4,
            smallest: 1e-8,
            largest: 0.1,
            safety: 0.9,
            growth: 2.0,
            shrink: 0.2,
            events: None,
            rest: None,
        }
    }
}

/// Which steps end at an event: the closing of a contact's gap, or of a row whose force has one
/// sign (a limit reached, a rope gone taut).
///
/// The motion up to there is taken without what closes, and the length of the step is found by a
/// bracketing secant method on the gap. The step after it takes the impact, with the weights
/// [`Options::alpha`](crate::Options::alpha) and `beta` at 1 (between both ends, positions would
/// move with the mean of the velocities before and after it), and multistep methods start anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Events {
    /// How far before the event the step may end (s), positive.
    pub tolerance: f64,
    /// Events in a second of simulated time at most. Those beyond, where a ball bounces without
    /// end, are not located but passed in steps, and counted ([`AdaptiveReport::passed`]).
    pub most: usize,
}

impl Default for Events {
    /// To a picosecond, a thousand in a second.
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            most: 1000,
        }
    }
}

impl Events {
    /// The tolerance, or what can be told apart near a time (s).
    pub(crate) fn resolution(&self, time: f64, h: f64) -> f64 {
        self.tolerance.max(4.0 * f64::EPSILON * (time.abs() + h))
    }
}

impl Adaptive {
    /// Whether the numbers make sense.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for one that does not.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let not_negative = |v: f64| v >= 0.0 && v.is_finite();
        let inside = |v: f64| v > 0.0 && v < 1.0;
        let Events { tolerance, most } = self.events.unwrap_or_default();
        let rest = self.rest.unwrap_or_default();
        let above_zero = "positive and finite";
        let at_least_zero = "finite and not negative";
        for (what, value, fine, bound) in [
            (
                "the tolerance of positions",
                self.position,
                positive(self.position),
                above_zero,
            ),
            (
                "the tolerance of velocities",
                self.velocity,
                positive(self.velocity),
                above_zero,
            ),
            (
                "the relative tolerance of a step",
                self.relative,
                not_negative(self.relative),
                at_least_zero,
            ),
            (
                "the kink of positions",
                self.position_kink,
                not_negative(self.position_kink),
                at_least_zero,
            ),
            (
                "the kink of velocities",
                self.velocity_kink,
                not_negative(self.velocity_kink),
                at_least_zero,
            ),
            (
                "the kink of jumps",
                self.jump_kink,
                not_negative(self.jump_kink),
                at_least_zero,
            ),
            (
                "the smallest step",
                self.smallest,
                positive(self.smallest),
                above_zero,
            ),
            (
                "the largest step",
                self.largest,
                positive(self.largest) && self.largest >= self.smallest,
                "finite and at least the smallest",
            ),
            (
                "the first step",
                self.first,
                self.first >= self.smallest && self.first <= self.largest,
                "between the smallest and the largest",
            ),
            (
                "the safety of the next step",
                self.safety,
                inside(self.safety),
                "between 0 and 1",
            ),
            (
                "the growth of steps",
                self.growth,
                self.growth > 1.0 && self.growth.is_finite(),
                "finite and above 1",
            ),
            (
                "the shrinking of steps",
                self.shrink,
                inside(self.shrink),
                "between 0 and 1",
            ),
            (
                "the tolerance of events",
                tolerance,
                positive(tolerance),
                above_zero,
            ),
            (
                "the number of events in a second",
                most as f64,
                most > 0,
                "at least 1",
            ),
            (
                "the speed of rest",
                rest.speed,
                not_negative(rest.speed),
                at_least_zero,
            ),
            (
                "the spin of rest",
                rest.spin,
                not_negative(rest.spin),
                at_least_zero,
            ),
            (
                "the time of rest",
                rest.time,
                not_negative(rest.time),
                at_least_zero,
            ),
        ] {
            if !fine {
                return Err(Error::OutOfRange { what, value, bound });
            }
        }
        Ok(())
    }
}

/// Something at which a step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When (s): the end of the step, at most [`Events::tolerance`] before the event by the present
    /// velocities.
    pub time: f64,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Errors beyond those of smooth motion that jumps of velocities or of forces in a step account
/// for: no part of the estimated errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JumpReport {
    /// The largest of a position (m, rad), what an impact at an unknown time displaces included: at
    /// most [`Adaptive::position`] times [`Adaptive::jump_kink`] beyond the tolerance of smooth
    /// motion, twice that where overlap was corrected.
    pub position: f64,
    /// The largest difference of a velocity (m/s, rad/s): across an impact any.
    pub velocity: f64,
}

impl JumpReport {
    /// The larger of each.
    pub fn larger(self, other: Self) -> Self {
        Self {
            position: self.position.max(other.position),
            velocity: self.velocity.max(other.velocity),
        }
    }
}

/// The report of one step that chose its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveReport {
    /// The step: both halves together. What is read after it, multipliers and contacts, is of the
    /// second half.
    pub step: StepReport,
    /// The largest estimated error, as a share of what is allowed: at most 1.
    pub error: f64,
    /// Largest estimated error of a position (m, rad), but for those in `jump`.
    pub position_error: f64,
    /// Largest estimated error of a velocity (m/s, rad/s), but for those in `jump`.
    pub velocity_error: f64,
    /// Errors that smooth motion may not have, if the step has any.
    pub jump: Option<JumpReport>,
    /// Trials that missed the tolerance.
    pub rejected: usize,
    /// Trials whose equations could not be solved.
    pub failed: usize,
    /// The event at which it ended.
    pub event: Option<Event>,
    /// Whether it passed over an event, because there are too many ([`Events::most`]).
    pub passed: bool,
    /// Whether everything has been slow for as long as [`Adaptive::rest`] says.
    pub at_rest: bool,
}

/// Summary of many steps that choose their length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AdaptiveSummary {
    /// Steps that stand.
    pub steps: usize,
    /// Trials that missed the tolerance.
    pub rejected: usize,
    /// Trials whose equations could not be solved.
    pub failed: usize,
    /// The smallest step (s), zero before the first.
    pub smallest: f64,
    /// The largest step (s).
    pub largest: f64,
    /// Events at which steps ended.
    pub events: usize,
    /// Steps that passed over an event.
    pub passed: usize,
    /// Steps with errors that smooth motion may not have, and jumps in them account for.
    pub jumps: usize,
    /// The largest of these.
    pub largest_jump: JumpReport,
    /// Whether the last step ended with everything at rest.
    pub at_rest: bool,
}

impl AdaptiveSummary {
    /// Takes one more step in.
    pub fn add(&mut self, report: &AdaptiveReport) {
        let h = report.step.h;
        self.smallest = if self.steps == 0 { h } else { self.smallest.min(h) };
        self.largest = self.largest.max(h);
        self.steps += 1;
        self.rejected += report.rejected;
        self.failed += report.failed;
        self.events += usize::from(report.event.is_some());
        self.passed += usize::from(report.passed);
        self.jumps += usize::from(report.jump.is_some());
        self.largest_jump = self.largest_jump.larger(report.jump.unwrap_or_default());
        self.at_rest = report.at_rest;
    }
}
