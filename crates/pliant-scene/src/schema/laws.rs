//! Laws of forces.

use super::{ForceLengthSpec, LigamentSpec, OneOrMany, Quantity, Triple, one, zero};
use crate::quantity::{
    Angle, AngularDamping, Any, Damping, Force, Length, Pressure, Pure, Rate, SquareAngularDamping, Time,
    Torque, Volume,
};
use serde::Deserialize;

/// The law of a force.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law")]
pub enum Law {
    /// A spring to zero of this compliance in every coordinate.
    Compliance(Quantity<Any>),
    /// A spring to zero of this stiffness in every coordinate.
    Stiffness(Quantity<Any>),
    /// A spring of its own compliance in each coordinate, of one element or of all.
    Diagonal(Vec<Quantity<Any>>),
    /// Viscous damping.
    Damping(DampingSpec),
    /// The same force on every element; may depend on `$t`.
    Force(Vec<Quantity<Any>>),
    /// The same torque on every body, in world axes; may depend on `$t`.
    Torque(Vec<Quantity<Torque>>),
    /// A force and a torque fixed in the axes of every body; may depend on `$t`.
    BodyForce(Box<BodyForceSpec>),
    /// Drag of a fluid.
    Drag(DragSpec),
    /// A spring whose coordinates are coupled.
    Matrix(MatrixSpec),
    /// A gas behind every volume.
    Gas(GasSpec),
    /// A muscle on every length.
    AxialMuscle(MuscleSpec),
    /// A muscle with its tendon on every length.
    MuscleTendon(Box<MuscleTendonSpec>),
    /// A muscle on every length, whose force follows from length and activation alone.
    ForceLengthMuscle(Box<ForceLengthSpec>),
    /// A ligament on every length.
    Ligament(LigamentSpec),
    /// A spring whose force is a curve over the extension.
    Spring(SpringLawSpec),
}

/// A force and a torque fixed in body axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "BodyForce", deny_unknown_fields)]
pub struct BodyForceSpec {
    /// The point at which the force acts, in body axes; the centre of mass by default.
    #[serde(default)]
    pub point: Option<Triple<Length>>,
    /// The force in N; none by default.
    #[serde(default)]
    pub force: Option<Triple<Force>>,
    /// The torque in N m; none by default.
    #[serde(default)]
    pub torque: Option<Triple<Torque>>,
}

/// Drag of a fluid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Drag", deny_unknown_fields)]
pub struct DragSpec {
    /// Force per speed, in N s/m.
    #[serde(default = "zero")]
    pub linear: Quantity<Any>,
    /// Force per square of the speed, in N s^2/m^2.
    #[serde(default = "zero")]
    pub quadratic: Quantity<Any>,
    /// Torque of bodies per angular speed, in N m s/rad.
    #[serde(default = "zero")]
    pub angular: Quantity<AngularDamping>,
    /// Torque of bodies per square of the angular speed, in N m s^2/rad^2.
    #[serde(default = "zero")]
    pub angular_quadratic: Quantity<SquareAngularDamping>,
}

/// A spring whose coordinates are coupled by a matrix, given rows first; either its compliance or
/// its stiffness.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Matrix", deny_unknown_fields)]
pub struct MatrixSpec {
    /// Compliances.
    #[serde(default)]
    pub compliance: Option<Vec<Quantity<Any>>>,
    /// Stiffnesses.
    #[serde(default)]
    pub stiffness: Option<Vec<Quantity<Any>>>,
    /// A damping matrix of its own.
    #[serde(default)]
    pub damping: Option<Vec<Quantity<Any>>>,
    /// Whether it couples all elements of the node, instead of the coordinates of each element.
    #[serde(default)]
    pub whole_node: bool,
}

/// A gas in a closed volume.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Gas", deny_unknown_fields)]
pub struct GasSpec {
    /// Its pressure in Pa ...
    pub pressure: Quantity<Pressure>,
    /// ... at this volume in m^3.
    pub volume: Quantity<Volume>,
    /// 1, the default, at constant temperature; 1.4 for air without exchange of heat.
    #[serde(default = "one")]
    pub exponent: Quantity<Pure>,
    /// Pressure outside in Pa, 0 by default; may depend on `$t`.
    #[serde(default = "zero")]
    pub ambient: Quantity<Pressure>,
}

/// A muscle without tendon.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "AxialMuscle", deny_unknown_fields)]
pub struct MuscleSpec {
    /// Largest isometric force in N.
    pub force: Quantity<Force>,
    /// Length in m at which it is largest.
    pub optimal_length: Quantity<Length>,
    /// Largest speed of shortening in optimal lengths per second; 10 by default.
    #[serde(default = "ten")]
    pub speed: Quantity<Rate>,
    /// Viscous damping in N s/m; 0 by default.
    #[serde(default = "zero")]
    pub damping: Quantity<Damping>,
    /// Between 0 (the default) and 1, one for all or one for each; may depend on `$t`.
    #[serde(default = "no_activation")]
    pub activation: OneOrMany<Pure>,
}

/// A muscle with its tendon.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "MuscleTendon", deny_unknown_fields)]
pub struct MuscleTendonSpec {
    /// Whose curves; those of Thelen by default.
    #[serde(default)]
    pub curves: MuscleCurves,
    /// Largest isometric force in N.
    pub force: Quantity<Force>,
    /// Length of the fibre in m at which it is largest.
    pub optimal_length: Quantity<Length>,
    /// Slack length of the tendon in m.
    pub tendon_length: Quantity<Length>,
    /// Angle between fibre and tendon in rad at the optimal length; 0 by default.
    #[serde(default = "zero")]
    pub pennation: Quantity<Angle>,
    /// Largest speed of shortening in optimal lengths per second; 10 by default.
    #[serde(default = "ten")]
    pub speed: Quantity<Rate>,
    /// Force of damping at that speed, as a share of the largest force; 0 by default, 0.1 with the
    /// curves of Millard.
    #[serde(default)]
    pub damping: Option<Quantity<Pure>>,
    /// Strain of the tendon at the largest isometric force; 0.033 by default, 0.049 with the curves
    /// of Millard.
    #[serde(default)]
    pub tendon_strain: Option<Quantity<Pure>>,
    /// Whether the tendon keeps its length; false by default.
    #[serde(default)]
    pub rigid_tendon: bool,
    /// How the activation follows the excitation; without it, it is the excitation.
    #[serde(default)]
    pub dynamics: Option<ActivationDynamicsSpec>,
    /// Between 0 (the default) and 1, one for all or one for each; may depend on `$t`.
    #[serde(default = "no_activation")]
    pub excitation: OneOrMany<Pure>,
}

/// Whose curves of force over length and speed a muscle has.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename = "curves")]
pub enum MuscleCurves {
    /// The curves of Thelen (2003).
    #[default]
    Thelen2003,
    /// The curves of Millard et al. (2013).
    Millard2013,
}

/// Activation dynamics of first order.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "dynamics", deny_unknown_fields)]
pub struct ActivationDynamicsSpec {
    /// Time constant of activation in s.
    pub activation: Quantity<Time>,
    /// Time constant of deactivation in s.
    pub deactivation: Quantity<Time>,
}

fn ten() -> Quantity<Rate> {
    10.0.into()
}

pub(super) fn no_activation() -> OneOrMany<Pure> {
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
    pub rest: Option<Quantity<Any>>,
    /// A dashpot beside it, in N s/m; none by default.
    #[serde(default = "zero")]
    pub damping: Quantity<Any>,
}

/// Tension over extension.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "curve")]
pub enum CurveSpec {
    /// A spring of this stiffness.
    Linear(Quantity<Any>),
    /// Pulls when extended, slack otherwise.
    TensionOnly(Quantity<Any>),
    /// Pushes when compressed, loose otherwise.
    CompressionOnly(Quantity<Any>),
    /// Approaches a largest force.
    Saturating(SaturatingSpec),
    /// A spring with a third power.
    Stiffening(StiffeningSpec),
    /// Through points (extension, tension).
    Table(Vec<(Quantity<Any>, Quantity<Any>)>),
}

/// A spring that approaches a largest force.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Saturating", deny_unknown_fields)]
pub struct SaturatingSpec {
    /// Stiffness at zero extension, in N/m.
    pub stiffness: Quantity<Any>,
    /// Largest force in N.
    pub limit: Quantity<Any>,
}

/// A spring with a third power.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Stiffening", deny_unknown_fields)]
pub struct StiffeningSpec {
    /// Stiffness at zero extension, in N/m.
    pub stiffness: Quantity<Any>,
    /// Coefficient of the third power, in N/m^3.
    pub cubic: Quantity<Any>,
}

/// Viscous damping.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Damping", deny_unknown_fields)]
pub struct DampingSpec {
    /// Coefficient of points, scalars and the centre of mass of bodies, in N s/m.
    pub linear: Quantity<Any>,
    /// Coefficient of the rotation of bodies, in N m s/rad.
    #[serde(default = "zero")]
    pub angular: Quantity<AngularDamping>,
}
