//! Ligaments, and muscles whose force follows from their length.

use super::{OneOrMany, Quantity, laws::no_activation, zero};
use crate::quantity::{Damping, Force, Length, Pure, Stiffness, Time};
use serde::Deserialize;

/// A bundle of a ligament.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Ligament", deny_unknown_fields)]
pub struct LigamentSpec {
    /// Whose law; that of Blankevoort by default.
    #[serde(default)]
    pub curve: LigamentCurve,
    /// Force by strain of the straight part, in N.
    pub stiffness: Quantity<Force>,
    /// Length in m at which it becomes taut.
    pub slack_length: Quantity<Length>,
    /// Strain at which the toe ends; 0.06 by default, 0.03 of `Wisconsin`.
    #[serde(default)]
    pub transition_strain: Option<Quantity<Pure>>,
    /// Damping by the rate of strain, in units of the stiffness: a time in s; 0.003 by default.
    #[serde(default)]
    pub damping: Option<Quantity<Time>>,
}

/// Whose law a ligament has.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename = "curve")]
pub enum LigamentCurve {
    /// That of Blankevoort et al. (1991): damping against lengthening.
    #[default]
    Blankevoort1991,
    /// That of the knee model of Wisconsin: damping both ways while it is taut.
    Wisconsin,
}

/// A muscle whose force follows from its length and activation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "ForceLengthMuscle", deny_unknown_fields)]
pub struct ForceLengthSpec {
    /// Largest active force in N.
    pub force: Quantity<Force>,
    /// Force over length.
    pub curve: ForceLengthCurve,
    /// Viscous damping in N s/m; 0 by default.
    #[serde(default = "zero")]
    pub damping: Quantity<Damping>,
    /// Between 0 (the default) and 1, one for all or one for each; may depend on `$t`.
    #[serde(default = "no_activation")]
    pub activation: OneOrMany<Pure>,
}

/// Force of a muscle over its length.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "curve")]
pub enum ForceLengthCurve {
    /// Pulls with the active force at any length, beside a spring.
    Simple(SimpleMuscleSpec),
    /// Pulls with the active and a passive force at any length.
    Constant(ConstantMuscleSpec),
    /// Rises on a line from the optimal to the largest length.
    Linear(LinearMuscleSpec),
    /// A raised cosine about the optimal length.
    Peck(CosineMuscleSpec),
    /// A raised cosine up to the optimal length, all of it beyond.
    Pai(KeptCosineMuscleSpec),
    /// Parabolas about the optimal length, beside an exponential.
    Blemker(BlemkerAxialSpec),
}

/// A muscle that is a spring with a force.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Simple", deny_unknown_fields)]
pub struct SimpleMuscleSpec {
    /// Stiffness in N/m; 0 by default.
    #[serde(default = "zero")]
    pub stiffness: Quantity<Stiffness>,
    /// Length in m at which the spring is at rest; 0 by default.
    #[serde(default = "zero")]
    pub rest_length: Quantity<Length>,
    /// Extension in m over which the stiffness rises; 0 by default.
    #[serde(default = "zero")]
    pub toe: Quantity<Length>,
    /// Whether the spring is slack below its rest length; false by default.
    #[serde(default)]
    pub tension_only: bool,
}

/// A muscle of the same force at any length.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Constant", deny_unknown_fields)]
pub struct ConstantMuscleSpec {
    /// Passive force, a share of the active; 0 by default.
    #[serde(default = "zero")]
    pub passive: Quantity<Pure>,
}

/// A muscle whose force rises on a line.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Linear", deny_unknown_fields)]
pub struct LinearMuscleSpec {
    /// Length in m from which on there is a force.
    pub optimal_length: Quantity<Length>,
    /// Length in m from which on there is all of it.
    pub largest_length: Quantity<Length>,
    /// Largest passive force, a share of the active; 0 by default.
    #[serde(default = "zero")]
    pub passive: Quantity<Pure>,
}

/// A muscle with a raised cosine.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Peck", deny_unknown_fields)]
pub struct CosineMuscleSpec {
    /// Length in m of muscle and tendon at which the active force is largest.
    pub optimal_length: Quantity<Length>,
    /// Length in m at which the passive force is largest.
    pub largest_length: Quantity<Length>,
    /// Share of the tendon of the optimal length; 0 by default.
    #[serde(default = "zero")]
    pub tendon: Quantity<Pure>,
    /// Largest passive force, a share of the active; 0 by default.
    #[serde(default = "zero")]
    pub passive: Quantity<Pure>,
}

/// A muscle with a raised cosine that keeps its force beyond.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Pai", deny_unknown_fields)]
pub struct KeptCosineMuscleSpec {
    /// Length in m of muscle and tendon from which on there is all of the active force.
    pub optimal_length: Quantity<Length>,
    /// Length in m at which the passive force is largest.
    pub largest_length: Quantity<Length>,
    /// Share of the tendon of the optimal length; 0 by default.
    #[serde(default = "zero")]
    pub tendon: Quantity<Pure>,
    /// Largest passive force, a share of the active; 0 by default.
    #[serde(default = "zero")]
    pub passive: Quantity<Pure>,
}

/// A muscle with Blemker's curves.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Blemker", deny_unknown_fields)]
pub struct BlemkerAxialSpec {
    /// Length in m at which the active force is largest.
    pub optimal_length: Quantity<Length>,
    /// Length in m from which on the passive force is straight; 1.4 optimal lengths by default.
    #[serde(default)]
    pub largest_length: Option<Quantity<Length>>,
    /// Coefficient of the passive exponential, a share of the active force; 0.05 by default.
    #[serde(default)]
    pub passive: Option<Quantity<Pure>>,
    /// Exponent of the passive exponential; 6.6 by default.
    #[serde(default)]
    pub exponent: Option<Quantity<Pure>>,
}
