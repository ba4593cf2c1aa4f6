//! Joints and gears.

use super::{Course, LevelSpec, OneOrMany, Quantity, Rotation, Triple, zero};
use crate::quantity::{
    Angle, Any, Compliances, Coordinate, CoordinateDamping, CoordinateForce, CoordinateSpeed, Length, Pure,
    Time,
};
use crate::texts;
use serde::Deserialize;

/// A joint: what it holds, and what acts on the coordinates that it leaves free. Its nodes are
/// `name.angle` and the like and `name.held`, its forces `name.force`, `name.spring 0`,
/// `name.motor 1`, ..., numbered together in the order springs, dampers, motors, friction, limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "joints", deny_unknown_fields)]
pub struct JointSpec {
    /// Its name.
    pub name: String,
    /// The motions that it holds.
    pub kind: JointKindSpec,
    /// The first side; the world by default.
    #[serde(default)]
    pub a: SideSpec,
    /// The second side; the world by default.
    #[serde(default)]
    pub b: SideSpec,
    /// Its position at the start; the origin by default.
    #[serde(default)]
    pub at: Option<Triple<Length>>,
    /// Its z axis at the start, of any length but zero; z by default.
    #[serde(default)]
    pub axis: Option<Triple<Pure>>,
    /// Its x axis at the start, made perpendicular to the axis; by default what the shortest turn
    /// from z to `axis` makes of x.
    #[serde(default)]
    pub x_axis: Option<Triple<Pure>>,
    /// Its free coordinates at the start, one each: bodies are written where they are zero, and
    /// those of the second side start so much further, with all that joints hang on them. Of a ball
    /// joint, a rotation vector.
    #[serde(default)]
    pub start: Option<Vec<Quantity<Coordinate>>>,
    /// Velocities of its free coordinates at the start, on top of those of the bodies. Of a ball
    /// joint, an angular velocity in the axes of its first side.
    #[serde(default)]
    pub speed: Option<Vec<Quantity<CoordinateSpeed>>>,
    /// The level at which its constraints are kept; `Position` by default.
    #[serde(default)]
    pub level: LevelSpec,
    /// Compliance of what it holds, one for all or one each; hard by default.
    #[serde(default)]
    pub compliance: Option<OneOrMany<Compliances>>,
    /// Damping of compliances by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Damping of compliances by a ratio of critical damping, each by the mass that it moves at the
    /// start; instead of a relaxation time.
    #[serde(default)]
    pub damping_ratio: Option<Quantity<Pure>>,
    /// Whether the colliders of its two bodies meet, or those of a body that is `Fixed` in the
    /// world and what does not move; they do not by default.
    #[serde(default)]
    pub collide: bool,
    /// Whether a ball joint has its coordinates `rx`, `ry`, `rz` even if nothing acts on them;
    /// other joints have theirs in any case.
    #[serde(default)]
    pub coordinates: bool,
    /// Springs on free coordinates.
    #[serde(default)]
    pub springs: Vec<SpringSpec>,
    /// Dampers on free coordinates.
    #[serde(default)]
    pub dampers: Vec<DamperSpec>,
    /// Motors on free coordinates.
    #[serde(default)]
    pub motors: Vec<MotorSpec>,
    /// Dry friction on free coordinates.
    #[serde(default)]
    pub friction: Vec<FrictionSpec>,
    /// Limits of free coordinates.
    #[serde(default)]
    pub limits: Vec<LimitsSpec>,
    /// Of a ball joint: the largest angle between the z axes of both sides.
    #[serde(default)]
    pub cone: Option<Quantity<Angle>>,
    /// Of a ball joint: limits of the turn about z.
    #[serde(default)]
    pub twist: Option<TwistSpec>,
}

/// Limits of the twist of a ball joint.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "twist", deny_unknown_fields)]
pub struct TwistSpec {
    /// Smallest value; none by default.
    #[serde(default)]
    pub lower: Option<Quantity<Angle>>,
    /// Largest value; none by default.
    #[serde(default)]
    pub upper: Option<Quantity<Angle>>,
}

/// The kind of a joint, about or along its z axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "kind")]
pub enum JointKindSpec {
    /// Turns: `angle`.
    Hinge,
    /// Slides: `travel`.
    Slider,
    /// Slides and turns: `travel`, `angle`.
    Cylindrical,
    /// Turns about x of the first side and y of the second: `first_angle`, `second_angle`.
    Universal,
    /// Turns about x of the first side and an axis of the second that leans from y: `first_angle`,
    /// `second_angle`.
    SkewedUniversal(SkewedUniversalSpec),
    /// Moves on an ellipsoid of the first side, with z of the second along its normal: `longitude`,
    /// `latitude`, `turn`.
    Ellipsoid(EllipsoidSpec),
    /// Turns about x of the first side, then y, then z of the second: `first_angle`,
    /// `second_angle`, `third_angle`.
    GimbalXyz,
    /// Turns about x of the first side, then z, then y of the second: the same angles.
    GimbalXzy,
    /// Turns about everything: `rx`, `ry`, `rz`, the rotation vector of the second side against the
    /// first.
    Ball,
    /// Holds everything.
    Fixed,
    /// Slides along x and y and turns about z: `x`, `y`, `angle`.
    Planar,
    /// Slides along x and y: `x`, `y`.
    PlanarTranslation,
    /// Slides along x of the first side and turns about z: `travel`, `angle`.
    SlottedHinge,
    /// Turns as `Universal` and moves everywhere: `x`, `y`, `z`, `first_angle`, `second_angle`.
    FixedAxis,
    /// Holds nothing: `x`, `y`, `z`, `rx`, `ry`, `rz`.
    Free,
    /// Turns and moves along by a pitch per turn: `travel`, `angle`.
    Screw(ScrewSpec),
    /// Keeps the distance of two points.
    Distance(LengthSpec),
    /// The point of the second side stays on the z axis of the first: `travel`.
    PointOnLine,
    /// The point of the second side stays in the x y plane of the first: `x`, `y`.
    PointOnPlane,
    /// Six springs.
    Bushing(Box<BushingSpec>),
}

/// A universal joint whose axes are not square.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "SkewedUniversal", deny_unknown_fields)]
pub struct SkewedUniversalSpec {
    /// The angle in rad by which the second axis leans from y of the second side towards its x.
    pub skew: Quantity<Angle>,
}

/// An ellipsoid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Ellipsoid", deny_unknown_fields)]
pub struct EllipsoidSpec {
    /// Its semi-axes in m, along x, y and z of the first side.
    pub semi_axes: Triple<Length>,
}

/// A screw.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Screw", deny_unknown_fields)]
pub struct ScrewSpec {
    /// Travel per turn.
    pub pitch: Quantity<Length>,
}

/// A distance that is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Distance", deny_unknown_fields)]
pub struct LengthSpec {
    /// The distance; that at the start by default.
    #[serde(default)]
    pub length: Option<Quantity<Length>>,
}

/// Six springs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Bushing", deny_unknown_fields)]
pub struct BushingSpec {
    /// Compliances along x, y, z of the first side in m/N, then about them in rad/(N m).
    pub compliances: [Quantity<Compliances>; 6],
}

/// A side of a joint.
#[expect(clippy::large_enum_variant, reason = "it is read once, and there are few")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "sides of joints")]
pub enum SideSpec {
    /// The world.
    #[default]
    World,
    /// A body: its node and element.
    Body(String, Quantity<Pure>),
    /// A frame given in the axes of a body, instead of by `at` and `axis`.
    Frame(SideFrameSpec),
}

/// A frame of a body, or of the world.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Frame", deny_unknown_fields)]
pub struct SideFrameSpec {
    /// The body: its node and element; the world by default.
    #[serde(default)]
    pub body: Option<(String, Quantity<Pure>)>,
    /// Its origin, in body axes about the centre of mass.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Its axes against those of the body; the same by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// A spring on a free coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "springs", deny_unknown_fields)]
pub struct SpringSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// Compliance in m/N or rad/(N m).
    pub compliance: Quantity<Compliances>,
    /// Damping by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Damping by a ratio of critical damping, by the mass that it moves at the start; instead of a
    /// relaxation time.
    #[serde(default)]
    pub damping_ratio: Option<Quantity<Pure>>,
    /// Coordinate at rest; 0 by default.
    #[serde(default = "zero")]
    pub rest: Quantity<Coordinate>,
}

/// A damper on a free coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "dampers", deny_unknown_fields)]
pub struct DamperSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// Damping coefficient in N s/m or N m s/rad.
    pub damping: Quantity<CoordinateDamping>,
}

/// A motor on a free coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "motors")]
pub enum MotorSpec {
    /// To a position.
    Position(PositionMotorSpec),
    /// Motor of a speed.
    Velocity(VelocityMotorSpec),
}

/// A motor that drives to a position.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Position", deny_unknown_fields)]
pub struct PositionMotorSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// The position, over time; of all three coordinates of a ball joint, a list of three.
    pub target: Course<Coordinate>,
    /// Compliance; 0, the default, is exact.
    #[serde(default = "zero")]
    pub compliance: Quantity<Compliances>,
    /// Damping by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Largest force in N or N m; no bound by default.
    #[serde(default)]
    pub force: Option<Quantity<CoordinateForce>>,
}

/// A motor that drives at a speed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Velocity", deny_unknown_fields)]
pub struct VelocityMotorSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// The speed in m/s or rad/s, over time; of all three coordinates of a ball joint, a list of
    /// three.
    pub speed: Course<CoordinateSpeed>,
    /// Largest force in N or N m; no bound by default.
    #[serde(default)]
    pub force: Option<Quantity<CoordinateForce>>,
}

/// Dry friction on a free coordinate, of at most a given force, or of all that slides in a joint, in
/// proportion to the force that it carries.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "friction", deny_unknown_fields)]
pub struct FrictionSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then. Not
    /// with a `coefficient`.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// Largest force in N or N m.
    #[serde(default)]
    pub force: Option<Quantity<CoordinateForce>>,
    /// Instead of a force, friction as a share of the force that the joint carries across its axis.
    #[serde(default)]
    pub coefficient: Option<Quantity<Pure>>,
    /// With a `coefficient`, the radius of the pin or ball on which the joint turns.
    #[serde(default)]
    pub radius: Option<Quantity<Length>>,
}

/// Limits of a free coordinate, at which it stops, or bounces by a restitution.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "limits", deny_unknown_fields)]
pub struct LimitsSpec {
    /// The coordinate; needed if there are several, but for a ball joint: all three of it then.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub on: Option<String>,
    /// Smallest value; none by default.
    #[serde(default)]
    pub lower: Option<Quantity<Coordinate>>,
    /// Largest value; none by default.
    #[serde(default)]
    pub upper: Option<Quantity<Coordinate>>,
    /// Share of the velocity that hard ones turn round, between 0 and 1; 0 by default.
    #[serde(default = "zero")]
    pub restitution: Quantity<Pure>,
    /// Compliance in m/N or rad/(N m); hard by default.
    #[serde(default = "zero")]
    pub compliance: Quantity<Compliances>,
}

/// A hard gear between two free coordinates of joints: `first + ratio second` keeps the value that
/// it has at the start.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "gears", deny_unknown_fields)]
pub struct GearSpec {
    /// Its name, and that of its node; its force is `name.force`.
    pub name: String,
    /// A coordinate: `joint.angle`.
    pub first: String,
    /// Another one.
    pub second: String,
    /// Factor of the second coordinate: positive where wheels turn against each other.
    pub ratio: Quantity<Any>,
}
