//! Approaches of contacts and one-sided rows, and whether the impulses that stop them are those of
//! impacts or of forces over the step.

/// Share of the largest change of velocity that impulses make in a stage, below which an approach
/// is of the size that solves leave, as where all rests.
const NOISE: f64 = 1e-6;

/// Share of a change of velocity above which an approach is an impact.
const IMPACT: f64 = 0.1;

/// Share of an approach above which the velocity with which it leaves is that of a rebound.
const REBOUND: f64 = 0.1;

/// Share of the change of velocity by its own impulse below which an approach is no impact,
/// whatever other impulses leave of that change: what bears comes in with the third order of the
/// step.
const LEAST: f64 = 1e-3;

/// A velocity towards the closed side of a contact or a one-sided row at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach {
    /// That velocity (m/s, rad/s).
    pub(crate) velocity: f64,
    /// Change of the velocity by the impulse there in a stage (m/s, rad/s), or more: that of its
    /// bodies as if no joint held them.
    pub(crate) change: f64,
    /// Whether the law there is without compliance.
    pub(crate) is_hard: bool,
}

/// The contacts among which an impact is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    Any,
    /// Contacts that did not bear before on surfaces that turn.
    Anew,
}

impl Approach {
    /// Its bound for what bore nothing before the step: its impulse changes the velocity by what is
    /// `stopped` in the stage and by what the accelerations of before, which are without it, make
    /// in that time, `falls`; both by their sizes (m/s, rad/s). That sees the joints as well.
    pub(crate) fn with_motion(self, stopped: f64, falls: f64) -> Self {
        Self {
            change: self.change.min(stopped.max(0.0) + falls),
            ..self
        }
    }

    /// The bound of [`with_motion`](Self::with_motion) for a contact, whose change is no less than
    /// a share of the one that its own impulse makes. Where many contacts share a load in several
    /// ways, one that bore nothing before may take a large impulse without an approach, and what is
    /// stopped there is noise.
    pub(crate) fn with_motion_of_contact(self, stopped: f64, falls: f64) -> Self {
        let least = LEAST / IMPACT * self.change;
        self.with_motion(stopped, falls.max(least))
    }

    /// Whether its change is that of an impact: the velocity is a tenth of it or more. The change
    /// by a force over the step is not, and grows with the step. A compliant law takes several
    /// steps for its impact if it is soft; if it stops half of the approach at once, it is as good
    /// as hard.
    fn is_impact(&self) -> bool {
        let Self {
            velocity,
            change,
            is_hard,
        } = *self;
        change > 0.0 && velocity > IMPACT * change && (is_hard || change > 0.5 * velocity)
    }

    /// Whether twice the change would be that of an impact, and half of it would stop a part of the
    /// approach that is no noise.
    fn is_certain(&self) -> bool {
        self.velocity > 0.2 * self.change && self.change > self.velocity
    }
}

/// Approaches that end in an impact, with their places among all.
fn impacts(all: impl Iterator<Item = Approach> + Clone) -> impl Iterator<Item = (usize, Approach)> {
    let largest = all.clone().fold(0.0f64, |a, one| a.max(one.change));
    let struck = move |one: &Approach| one.velocity > NOISE * largest && one.is_impact();
    all.enumerate().filter(move |(_, one)| struck(one))
}

/// The places of those that a hard law without restitution, which an impulse of the first stage
/// held, throws back in the second: each comes with the velocity (m/s, rad/s) with which it leaves.
/// The second predictor took an impulse for a force then, however small it was beside what the
/// impulses of others made of it.
pub(crate) fn rebounds(all: impl Iterator<Item = (Approach, f64)> + Clone) -> impl Iterator<Item = usize> {
    let largest = all.clone().fold(0.0f64, |a, (one, _)| a.max(one.change));
    let is_thrown = move |one: Approach, leaves: f64| {
        let is_noise = one.velocity <= NOISE * largest || one.velocity <= LEAST * one.change;
        one.is_hard && one.change > 0.0 && !is_noise && leaves > REBOUND * one.velocity
    };
    let all = all.enumerate();
    all.filter_map(move |(i, (one, leaves))| is_thrown(one, leaves).then_some(i))
}

/// The places of those that end in an impact.
pub(crate) fn places_of_impacts(all: impl Iterator<Item = Approach> + Clone) -> impl Iterator<Item = usize> {
    impacts(all).map(|(i, _)| i)
}

/// Whether one of these approaches ends in an impact also if impulses that are not solved for yet
/// come out as half or twice of what they are.
pub(crate) fn any_certain_impact(all: impl Iterator<Item = Approach> + Clone) -> bool {
    impacts(all).any(|(_, one)| one.is_certain())
}
