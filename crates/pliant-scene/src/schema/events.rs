//! Events: conditions over quantities, and what is done where they begin to hold.

use crate::Quantity;
use crate::quantity::Observed;
use crate::texts;
use serde::Deserialize;

/// A condition, and what is done where it begins to hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "events", deny_unknown_fields)]
pub struct EventSpec {
    /// Its name.
    pub name: String,
    /// The condition over quantities, parameters and the time `$t`.
    #[serde(deserialize_with = "texts::expression")]
    pub when: String,
    /// Whether it may happen again, once the condition held no more; it happens once by default.
    #[serde(default)]
    pub again: bool,
    /// The actions, in this order.
    #[serde(rename = "do")]
    pub actions: Vec<ActionSpec>,
}

/// An action of an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "do")]
pub enum ActionSpec {
    /// A constraint, force field, gear or joint acts no more.
    Release(String),
    /// A parameter has another value from then on.
    Set(
        #[serde(deserialize_with = "texts::parameter")] String,
        Quantity<Observed>,
    ),
    /// The run ends.
    Stop,
    /// A sentence in the results.
    Say(#[serde(deserialize_with = "texts::plain")] String),
}
