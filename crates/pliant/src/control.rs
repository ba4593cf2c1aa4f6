//! Control of steps: it calls a step and keeps or drops its result ([`retry`]: again, or in halves;
//! [`adaptive`]: of a length that follows from tolerances and events; [`sleep`]: without islands
//! that lie still; [`settle`]: down to rest).

pub(crate) mod adaptive;
pub(crate) mod retry;
pub(crate) mod settle;
pub(crate) mod sleep;
mod start;

pub use adaptive::{
    Adaptive, AdaptiveMemory, AdaptiveReport, AdaptiveSummary, Drive, Event, EventKind, Events,
};
pub(crate) use adaptive::{AdaptiveWorkspace, Guards};
pub use settle::{Settle, SettleReport};
pub(crate) use start::StepStart;

use crate::options::Weights;

/// Conditions of a step beside its length and the options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Conditions {
    /// Weights in place of those of the options.
    pub(crate) weights: Option<Weights>,
    /// Treatments are not looked at again.
    pub(crate) keep_treatments: bool,
}
