//! Laws of forces.

use super::{Number, OneOrMany, Triple, one, zero};
use serde::Deserialize;

/// The law of a force.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law")]
pub enum Law {
    /// A spring to zero of this compliance in every coordinate.
    Compliance(Number),
    /// A spring to zero of this stiffness in every coordinate.
    Stiffness(Number),
    /// A spring of its own compliance in each coordinate, of one element or of all.
    Diagonal(Vec<Number>),
    /// Viscous damping.
    Damping(DampingSpec),
    /// The same force on every element; may depend on `$t`.
    Force(Vec<Number>),
    /// The same torque on every body, in world axes; may depend on `$t`.
    Torque(Vec<Number>),
    /// A force and a torque fixed in the axes of every body; may depend on `$t`.
    BodyForce(BodyForceSpec),
    /// Drag of a fluid.
    Drag(DragSpec),
    /// A spring whose coordinates are coupled.
    Matrix(MatrixSpec),
    /// A gas behind every volume.
    Gas(GasSpec),
    /// A muscle on every length.
    AxialMuscle(MuscleSpec),
    /// A spring whose force is a curve over the extension.
    Spring(SpringLawSpec),
}

/// A force and a torque fixed in body axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "BodyForce", deny_unknown_fields)]
pub struct BodyForceSpec {
    /// The point at which the force acts, in body axes; the centre of mass by default.
    #[serde(default)]
    pub point: Option<Triple>,
    /// The force in N; none by default.
    #[serde(default)]
    pub force: Option<Triple>,
    /// The torque in N m; none by default.
    #[serde(default)]
    pub torque: Option<Triple>,
}

/// Drag of a fluid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Drag", deny_unknown_fields)]
pub struct DragSpec {
    /// Force per speed, in N s/m.
    #[serde(default = "zero")]
    pub linear: Number,
    /// Force per square of the speed, in N s^2/m^2.
    #[serde(default = "zero")]
    pub quadratic: Number,
    /// Torque of bodies per angular speed, in N m s/rad.
    #[serde(default = "zero")]
    pub angular: Number,
    /// Torque of bodies per square of the angular speed, in N m s^2/rad^2.
    #[serde(default = "zero")]
    pub angular_quadratic: Number,
}

/// A spring whose coordinates are coupled by a matrix, given rows first; either its compliance or
/// its stiffness.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Matrix", deny_unknown_fields)]
pub struct MatrixSpec {
    /// Compliances.
    #[serde(default)]
    pub compliance: Option<Vec<Number>>,
    /// Stiffnesses.
    #[serde(default)]
    pub stiffness: Option<Vec<Number>>,
    /// A damping matrix of its own.
    #[serde(default)]
    pub damping: Option<Vec<Number>>,
    /// Whether it couples all elements of the node, instead of the coordinates of each element.
    #[serde(default)]
    pub whole_node: bool,
}

/// A gas in a closed volume.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Gas", deny_unknown_fields)]
pub struct GasSpec {
    /// Its pressure in Pa ...
    pub pressure: Number,
    /// ... at this volume in m^3.
    pub volume: Number,
    /// 1, the default, at constant temperature; 1.4 for air without exchange of heat.
    #[serde(default = "one")]
    pub exponent: Number,
    /// Pressure outside in Pa, 0 by default; may depend on `$t`.
    #[serde(default = "zero")]
    pub ambient: Number,
}

/// A muscle without tendon.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "AxialMuscle", deny_unknown_fields)]
pub struct MuscleSpec {
    /// Largest isometric force in N.
    pub force: Number,
    /// Length in m at which it is largest.
    pub optimal_length: Number,
    /// Largest speed of shortening in optimal lengths per second; 10 by default.
    #[serde(default = "ten")]
    pub speed: Number,
    /// Viscous damping in N s/m; 0 by default.
    #[serde(default = "zero")]
    pub damping: Number,
    /// Between 0 (the default) and 1, one for all or one for each; may depend on `$t`.
    #[serde(default = "no_activation")]
    pub activation: OneOrMany,
}

fn ten() -> Number {
    10.0.into()
}

fn no_activation() -> OneOrMany {
    OneOrMany::One(zero())
}

/// A spring whose force is a curve over the extension.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Spring", deny_unknown_fields)]
pub struct SpringLawSpec {
    /// The curve.
    pub curve: CurveSpec,
    /// Coordinate without force, in the unit of its coordinates; zero by default. May depend on
    /// time.
    #[serde(default)]
    pub rest: Option<Number>,
    /// A dashpot beside it, in N s/m; none by default.
    #[serde(default = "zero")]
    pub damping: Number,
}

/// Tension over extension.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "curve")]
pub enum CurveSpec {
    /// A spring of this stiffness.
    Linear(Number),
    /// Pulls when extended, slack otherwise.
    TensionOnly(Number),
    /// Pushes when compressed, loose otherwise.
    CompressionOnly(Number),
    /// Approaches a largest force.
    Saturating(SaturatingSpec),
    /// A spring with a third power.
    Stiffening(StiffeningSpec),
    /// Through points (extension, tension).
    Table(Vec<(Number, Number)>),
}

/// A spring that approaches a largest force.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Saturating", deny_unknown_fields)]
pub struct SaturatingSpec {
    /// Stiffness at zero extension, in N/m.
    pub stiffness: Number,
    /// Largest force in N.
    pub limit: Number,
}

/// A spring with a third power.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Stiffening", deny_unknown_fields)]
pub struct StiffeningSpec {
    /// Stiffness at zero extension, in N/m.
    pub stiffness: Number,
    /// Coefficient of the third power, in N/m^3.
    pub cubic: Number,
}

/// Viscous damping.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Damping", deny_unknown_fields)]
pub struct DampingSpec {
    /// Coefficient of points, scalars and the centre of mass of bodies, in N s/m.
    pub linear: Number,
    /// Coefficient of the rotation of bodies, in N m s/rad.
    #[serde(default = "zero")]
    pub angular: Number,
}
