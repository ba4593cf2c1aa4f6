//! Masses, force fields, constraints and what is held.

use super::{Course, Elements, Law, Local, OneOrMany, PronyTermSpec, Quantity, zero};
use crate::quantity::{Any, Masses, Pure, Rate, Time, Units};
use pliant::model::Treatment;
use serde::Deserialize;

/// A further mass, for instance on a mapped node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "masses", deny_unknown_fields)]
pub struct MassSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// One for all or one for each.
    pub mass: OneOrMany<Masses>,
}

/// A force on a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "force_fields", deny_unknown_fields)]
pub struct ForceFieldSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// Its law.
    pub law: Law,
    /// Relaxation time of springs: damping is stiffness times this.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Damping ratio of springs with a compliance, 1 for critical: each coordinate by the mass that
    /// it moves at the start; instead of a relaxation time.
    #[serde(default)]
    pub damping_ratio: Option<Quantity<Pure>>,
    /// Relaxation of springs, whose stiffness is that of fast motion then: the terms of a Prony
    /// series; none by default.
    #[serde(default)]
    pub viscoelastic: Vec<PronyTermSpec>,
    /// Its treatment in the system: springs as compliances, other forces as stiffnesses by default.
    #[serde(default)]
    pub treatment: Option<Treatment>,
    /// An alpha of its own.
    #[serde(default)]
    pub alpha: Option<Quantity<Pure>>,
    /// Coordinates of a compliance at rest, over time; zero by default.
    #[serde(default)]
    pub motion: Option<Course<Any>>,
    /// Bounds of the force of a compliance; none by default.
    #[serde(default)]
    pub bounds: Option<BoundsSpec>,
}

/// Bounds of the force of each coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "bounds", deny_unknown_fields)]
pub struct BoundsSpec {
    /// Smallest force; no bound by default.
    #[serde(default)]
    pub lower: Option<Quantity<Any>>,
    /// Largest force; no bound by default.
    #[serde(default)]
    pub upper: Option<Quantity<Any>>,
}

/// Damping in proportion to all masses and stiffnesses.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "rayleigh", deny_unknown_fields)]
pub struct RayleighSpec {
    /// Rate in 1/s that the masses are multiplied by.
    #[serde(default = "zero")]
    pub mass: Quantity<Rate>,
    /// Time in s that the stiffnesses are multiplied by.
    #[serde(default = "zero")]
    pub stiffness: Quantity<Time>,
}

/// A node that is held at zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "constraints", deny_unknown_fields)]
pub struct ConstraintSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// The level at which it is kept; `Position` by default.
    #[serde(default)]
    pub level: LevelSpec,
    /// The values at which the coordinates are held, over time; zero by default.
    #[serde(default)]
    pub motion: Option<Course<Any>>,
    /// Bounds of the force; none by default.
    #[serde(default)]
    pub bounds: Option<BoundsSpec>,
}

/// The level at which a constraint is kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "level")]
pub enum LevelSpec {
    /// The linearised constraint holds at the end of the step.
    #[default]
    Position,
    /// The row of `Position` with the curvature of the constraint: third-order drift in smooth
    /// motion.
    CurvedPosition,
    /// Only velocities are constrained; drift is left to stabilisation.
    Velocity(VelocityLevelSpec),
    /// The violation decays.
    Baumgarte(BaumgarteSpec),
    /// The velocity is turned round.
    Restitution(RestitutionSpec),
}

/// An impact.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Restitution", deny_unknown_fields)]
pub struct RestitutionSpec {
    /// Share of the velocity that is left, between 0 and 1.
    pub coefficient: Quantity<Pure>,
}

/// A constraint on velocities.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Velocity", deny_unknown_fields)]
pub struct VelocityLevelSpec {
    /// Share of the curvature term; 0.5 by default.
    #[serde(default = "half")]
    pub curvature: Quantity<Pure>,
}

fn half<D: Units>() -> Quantity<D> {
    0.5.into()
}

/// Decay of the violation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Baumgarte", deny_unknown_fields)]
pub struct BaumgarteSpec {
    /// Rate of decay in 1/s.
    pub rate: Quantity<Rate>,
}

/// Coordinates that are held, always or for a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "fixed", deny_unknown_fields)]
pub struct FixedSpec {
    /// The node.
    pub node: Local<String>,
    /// Its elements; all by default.
    #[serde(default)]
    pub elements: Option<Elements>,
    /// The coordinates; all by default.
    #[serde(default)]
    pub axes: Option<Vec<Axis>>,
    /// Velocity of each coordinate of an element; zero by default. Of bodies, three numbers or six,
    /// angular in body axes. It is reached at the end of the first step; what the node gives a
    /// velocity of its own and is fixed from the start begins with this one.
    #[serde(default)]
    pub velocity: Option<Vec<Quantity<Any>>>,
    /// When it starts; 0 by default.
    #[serde(default)]
    pub from: Option<Quantity<Time>>,
    /// When it ends; never by default.
    #[serde(default)]
    pub until: Option<Quantity<Time>>,
}

/// A velocity coordinate of an element; rotations are about body axes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename = "axes", rename_all = "lowercase")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
    /// Rotation about x.
    Rx,
    /// Rotation about y.
    Ry,
    /// Rotation about z.
    Rz,
}

impl Axis {
    /// Its place among the coordinates.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The word for it in a scene.
    pub fn name(self) -> &'static str {
        ["x", "y", "z", "rx", "ry", "rz"][self.index()]
    }
}
