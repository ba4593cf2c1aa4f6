//! Control of steps: it calls a step and keeps or drops its result ([`retry`]: again, or in halves;
//! [`apart`]: with islands that take it by themselves; [`certify`]: whether its energy lets it
//! stand; [`adaptive`]: of a length that follows from tolerances and events; [`located`]: in parts
//! that end at impacts; [`sleep`]: without islands that lie still; [`settle`]: down to rest), and
//! prepares the first one ([`project`]).

pub(crate) mod adaptive;
mod apart;
mod bracket;
pub(crate) mod certify;
pub(crate) mod located;
pub(crate) mod parts;
pub(crate) mod project;
pub(crate) mod retry;
pub(crate) mod settle;
mod start;

pub(crate) use adaptive::AdaptiveWorkspace;
pub use adaptive::{Adaptive, AdaptiveReport, AdaptiveSummary, Drive, Event, Events, JumpReport};
pub use settle::{Settle, SettleReport};
pub(crate) use start::StepStart;

use pliant_stepper::options::Weights;

/// Conditions of a step beside its length and the options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Conditions {
    /// Weights in place of those of the options.
    pub(crate) weights: Option<Weights>,
    /// Treatments are not looked at again.
    pub(crate) keep_treatments: bool,
    /// The step is taken in halves if it fails.
    pub(crate) or_halves: bool,
    /// Islands without impacts are taken by themselves if others have any.
    pub(crate) or_parts: bool,
}
