//! Muscles in solids.

use super::{Elements, Quantity, Triple, one, zero};
use crate::quantity::{Length, Pressure, Pure};
use crate::texts;
use serde::Deserialize;

/// Fibres of a muscle in some elements of a solid, beside the material; an element may have several.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "muscles", deny_unknown_fields)]
pub struct SolidMuscleSpec {
    /// Its name, behind that of the solid.
    #[serde(deserialize_with = "texts::plain")]
    pub name: String,
    /// The elements, as the shape has them, by number or by their centres in its axes; all by
    /// default.
    #[serde(default)]
    pub elements: Option<Elements>,
    /// The law of the fibres.
    pub law: MuscleLawSpec,
    /// Direction of the fibres in the axes of the shape, of any length but zero; this or `line`.
    #[serde(default)]
    pub direction: Option<Triple<Pure>>,
    /// Points of a line in the axes of the shape in m, along whose nearest piece the fibres are.
    #[serde(default)]
    pub line: Option<Vec<Triple<Length>>>,
    /// Largest distance of the centre of an element from the line in m; any by default.
    #[serde(default)]
    pub within: Option<Quantity<Length>>,
    /// Between 0 (the default) and 1; may depend on `$t`.
    #[serde(default = "zero")]
    pub activation: Quantity<Pure>,
    /// Share of the elements in the activation, between 0 and 1, the default; may depend on the
    /// place.
    #[serde(default = "one")]
    pub share: Quantity<Pure>,
}

/// The law of fibres over their stretch.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law")]
pub enum MuscleLawSpec {
    /// Weiss, Maker and Govindjee's passive fibres, with an active stress.
    Generic(GenericMuscleSpec),
    /// Blemker, Pinsky and Delp's fibres.
    Blemker(BlemkerMuscleSpec),
}

/// Passive fibres with an active stress of any stretch.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Generic", deny_unknown_fields)]
pub struct GenericMuscleSpec {
    /// Active stress of full activation in Pa, force over the area at rest.
    pub stress: Quantity<Pressure>,
    /// Coefficient of the passive exponential in Pa; zero by default.
    #[serde(default = "zero")]
    pub passive: Quantity<Pressure>,
    /// Exponent of the passive exponential; 6.6 by default.
    #[serde(default = "exponent")]
    pub exponent: Quantity<Pure>,
    /// Stretch from which on it is linear, 1 or more; 1.4 by default.
    #[serde(default = "straight")]
    pub straight: Quantity<Pure>,
}

/// Fibres with a force-length curve, and their resistance to shear.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Blemker", deny_unknown_fields)]
pub struct BlemkerMuscleSpec {
    /// Active stress of full activation at the optimal stretch in Pa.
    pub stress: Quantity<Pressure>,
    /// Stretch of the largest active stress; 1 by default.
    #[serde(default = "one")]
    pub optimal: Quantity<Pure>,
    /// Coefficient of the passive exponential, a share of `stress`; 0.05 by default.
    #[serde(default = "passive")]
    pub passive: Quantity<Pure>,
    /// Exponent of the passive exponential; 6.6 by default.
    #[serde(default = "exponent")]
    pub exponent: Quantity<Pure>,
    /// Stretch from which on it is linear, `optimal` or more; 1.4 of it by default.
    #[serde(default)]
    pub straight: Option<Quantity<Pure>>,
    /// Half the shear modulus along the fibres in Pa; zero by default.
    #[serde(default = "zero")]
    pub along: Quantity<Pressure>,
    /// Half the shear modulus across the fibres in Pa; zero by default.
    #[serde(default = "zero")]
    pub across: Quantity<Pressure>,
}

fn exponent() -> Quantity<Pure> {
    6.6.into()
}

fn straight() -> Quantity<Pure> {
    1.4.into()
}

fn passive() -> Quantity<Pure> {
    0.05.into()
}
