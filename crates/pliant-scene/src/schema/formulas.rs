//! Formulas over coordinates.

use super::Triple;
use crate::quantity::{Any, Energy, Quantity};
use serde::Deserialize;

/// Numbers that are expressions over coordinates of the parents: exactly one of `values` and
/// `points`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Formula", deny_unknown_fields)]
pub struct FormulaMappingSpec {
    /// Expressions, each a scalar.
    #[serde(default)]
    pub values: Option<Vec<Quantity<Any>>>,
    /// Expressions for the coordinates x, y, z of points of space (m).
    #[serde(default)]
    pub points: Option<Vec<Triple<Any>>>,
}

/// A force of an energy that is an expression over coordinates of nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "potentials", deny_unknown_fields)]
pub struct PotentialSpec {
    /// Its name.
    pub name: String,
    /// The energy in J.
    pub energy: Quantity<Energy>,
}
