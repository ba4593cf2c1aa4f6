//! Sensors: quantities as instruments read them.

use super::{BoundsSpec, zero};
use crate::Quantity;
use crate::quantity::{Observed, Pure, Time};
use serde::Deserialize;

/// A quantity as an instrument reads it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "sensors", deny_unknown_fields)]
pub struct SensorSpec {
    /// Its name, under which expressions have its reading.
    pub name: String,
    /// The quantity that it measures.
    pub of: Quantity<Observed>,
    /// Steps per sample; 1 by default.
    #[serde(default)]
    pub every: Option<Quantity<Pure>>,
    /// The time constant of a low-pass filter of first order (s); none by default.
    #[serde(default)]
    pub lag: Option<Quantity<Time>>,
    /// The standard deviation of its noise; none by default.
    #[serde(default = "zero")]
    pub noise: Quantity<Observed>,
    /// The beginning of its noise, a count; 0 by default.
    #[serde(default)]
    pub seed: Option<Quantity<Pure>>,
    /// Readings are multiples of this number; any by default.
    #[serde(default)]
    pub resolution: Option<Quantity<Observed>>,
    /// The smallest and the largest reading; none by default.
    #[serde(default)]
    pub limits: Option<BoundsSpec>,
    /// Samples by which readings are late; 0 by default.
    #[serde(default)]
    pub delay: Option<Quantity<Pure>>,
}
