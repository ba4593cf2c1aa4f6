//! Controllers: parameters that follow measured quantities while a scene runs.

use super::{BoundsSpec, zero};
use crate::Quantity;
use crate::quantity::{Observed, Pure};
use crate::texts;
use serde::Deserialize;

/// A parameter that is set anew while the scene runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "controllers", deny_unknown_fields)]
pub struct ControllerSpec {
    /// Its name.
    pub name: String,
    /// The parameter that it sets.
    #[serde(deserialize_with = "texts::parameter")]
    pub sets: String,
    /// Its law.
    pub law: ControlLawSpec,
    /// Steps per sample; 1 by default.
    #[serde(default)]
    pub every: Option<Quantity<Pure>>,
    /// Bounds of the parameter; none by default.
    #[serde(default)]
    pub limits: Option<BoundsSpec>,
}

/// The law of a controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law")]
pub enum ControlLawSpec {
    /// In proportion to an error, its integral and its rate.
    Pid(Box<PidSpec>),
    /// An expression over quantities, parameters and the time.
    Feedback(Quantity<Observed>),
}

/// A PID controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Pid", deny_unknown_fields)]
pub struct PidSpec {
    /// The error: what is wanted less what is measured.
    pub error: Quantity<Observed>,
    /// Its rate (1/s times the unit of the error); by default its difference to the last sample
    /// over the time since.
    #[serde(default)]
    pub rate: Option<Quantity<Observed>>,
    /// The gain of the error.
    #[serde(default = "zero")]
    pub p: Quantity<Observed>,
    /// The gain of its integral (1/s).
    #[serde(default = "zero")]
    pub i: Quantity<Observed>,
    /// The gain of its rate (s).
    #[serde(default = "zero")]
    pub d: Quantity<Observed>,
}
