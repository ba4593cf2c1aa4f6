//! Equilibria instead of motion.

use crate::Quantity;
use crate::quantity::Pure;
use pliant::{Control, StaticMethod};
use serde::Deserialize;

/// Equilibria instead of motion: one under the present loads, or a path over a load factor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "statics", deny_unknown_fields)]
pub struct StaticsSpec {
    /// Force fields whose force, and driven components whose motion the load factor scales; none by
    /// default.
    #[serde(default)]
    pub loads: Vec<String>,
    /// Whether it scales gravity.
    #[serde(default)]
    pub gravity: bool,
    /// First load factor; 0 by default.
    #[serde(default)]
    pub start: Option<Quantity<Pure>>,
    /// Load factor at which the path ends; 1 by default.
    #[serde(default)]
    pub end: Option<Quantity<Pure>>,
    /// Change of the load factor in the first step; 0.05 by default.
    #[serde(default)]
    pub step: Option<Quantity<Pure>>,
    /// Change of the load factor in a step at most; 0.1 by default.
    #[serde(default)]
    pub largest_step: Option<Quantity<Pure>>,
    /// The parameter of the path; the arc length by default.
    #[serde(default)]
    pub control: Option<Control>,
    /// Points at most; 1000 by default.
    #[serde(default)]
    pub points: Option<Quantity<Pure>>,
    /// Largest force that may be missing, over the size of its terms; 1e-10 by default.
    #[serde(default)]
    pub tolerance: Option<Quantity<Pure>>,
    /// The method for a single equilibrium.
    #[serde(default)]
    pub method: Option<StaticMethod>,
}
