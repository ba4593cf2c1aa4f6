//! Events: conditions over quantities, and what is done where they begin to hold; and elements that
//! break.

use super::Elements;
use crate::Quantity;
use crate::quantity::Observed;
use crate::texts;
use pliant::continuum::BreakingMeasure;
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
    /// Elements of a solid, a sheet, a net or a cable are out of the model from then on.
    Remove(RemoveSpec),
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

/// Elements that an event takes out of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Remove", deny_unknown_fields)]
pub struct RemoveSpec {
    /// The solid, sheet, net or cable.
    pub of: String,
    /// Its elements: cells in the order of its shape (of sheets triangles first, then quadrangles),
    /// or lengths along the edges; by their numbers, counted from zero, or by their centres at the
    /// start.
    pub elements: Elements,
}

/// Elements that are out of the model once a measure of them is above a limit at the end of a step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "breaking", deny_unknown_fields)]
pub struct BreakingSpec {
    /// Its name.
    pub name: String,
    /// The solid, sheet, net or cable whose elements break.
    pub of: String,
    /// The number that is compared, of the mean over an element; its largest stretch by default.
    #[serde(default = "stretch")]
    pub measure: BreakingMeasure,
    /// The limit, in SI units: of stretches and plastic strains none, of stresses in Pa.
    pub above: Quantity<Observed>,
}

fn stretch() -> BreakingMeasure {
    BreakingMeasure::Stretch
}
