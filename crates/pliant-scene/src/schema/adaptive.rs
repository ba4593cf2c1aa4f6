//! Steps that choose their length.

use super::SleepingSpec;
use crate::Quantity;
use crate::quantity::{Acceleration, Pure, Time, Velocity};
use serde::Deserialize;

/// Steps that choose their length.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "adaptive_step", deny_unknown_fields)]
pub struct AdaptiveSpec {
    /// Error of positions per time.
    #[serde(default)]
    pub position: Option<Quantity<Velocity>>,
    /// Error of velocities per time.
    #[serde(default)]
    pub velocity: Option<Quantity<Acceleration>>,
    /// Error as a share of the change.
    #[serde(default)]
    pub relative: Option<Quantity<Pure>>,
    /// Steps shorter than this may have the error of positions of one that long.
    #[serde(default)]
    pub position_kink: Option<Quantity<Time>>,
    /// Steps shorter than this may have the error of velocities of one that long.
    #[serde(default)]
    pub velocity_kink: Option<Quantity<Time>>,
    /// Length of a step whose error any step may have in what a jump reached.
    #[serde(default)]
    pub jump_kink: Option<Quantity<Time>>,
    /// The first step, and the first after an event.
    #[serde(default)]
    pub first: Option<Quantity<Time>>,
    /// The smallest step.
    #[serde(default)]
    pub smallest: Option<Quantity<Time>>,
    /// The largest step.
    #[serde(default)]
    pub largest: Option<Quantity<Time>>,
    /// Share of the step that would just do.
    #[serde(default)]
    pub safety: Option<Quantity<Pure>>,
    /// Growth over the last step at most.
    #[serde(default)]
    pub growth: Option<Quantity<Pure>>,
    /// Least share of a step that is left where it must shrink.
    #[serde(default)]
    pub shrink: Option<Quantity<Pure>>,
    /// Whether steps end where something closes.
    #[serde(default)]
    pub events: Option<EventsSpec>,
    /// Whether the run ends where everything is at rest.
    #[serde(default)]
    pub rest: Option<SleepingSpec>,
}

/// Events at which a contact or a limit closes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "events", deny_unknown_fields)]
pub struct EventsSpec {
    /// To what time.
    #[serde(default)]
    pub tolerance: Option<Quantity<Time>>,
    /// Most events in a second.
    #[serde(default)]
    pub most: Option<Quantity<Pure>>,
}
