//! Actuators: commands with what stands between them and a force.

use super::{BoundsSpec, zero};
use crate::Quantity;
use crate::quantity::{Any, Observed, Time};
use serde::Deserialize;

/// A drive that turns a command into a force, or into a number that something else follows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "actuators", deny_unknown_fields)]
pub struct ActuatorSpec {
    /// Its name; that of its force field, too.
    pub name: String,
    /// The command; 0 by default, for those that are commanded from outside.
    #[serde(default = "zero")]
    pub command: Quantity<Observed>,
    /// The node on whose coordinates it acts; none by default, for those whose output is followed.
    #[serde(default)]
    pub on: Option<String>,
    /// Forces on the coordinates of an element of the node at an output of 1, or of all elements one
    /// after the other; 1 by default, where there is one coordinate.
    #[serde(default)]
    pub gear: Option<Vec<Quantity<Any>>>,
    /// The time constant of its answer (s); none by default.
    #[serde(default)]
    pub lag: Option<Quantity<Time>>,
    /// The largest rate of its output (1/s times its unit); none by default.
    #[serde(default)]
    pub rate: Option<Quantity<Observed>>,
    /// Bounds of its output; none by default.
    #[serde(default)]
    pub limits: Option<BoundsSpec>,
    /// Its output at the start; 0 by default.
    #[serde(default = "zero")]
    pub start: Quantity<Observed>,
}
