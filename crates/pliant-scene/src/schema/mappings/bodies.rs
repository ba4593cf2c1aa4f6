//! Mappings of bodies, joints and ropes.

use super::super::{Elements, EndSpec, OneOrMany, Quantity, Rotation, Triple, Weights, zero};
use super::RestPose;
use crate::quantity::{Any, Length, Pure};
use serde::Deserialize;

/// A frame in a body or in the world.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "frame", deny_unknown_fields)]
pub struct FrameSpec {
    /// The body; the world by default.
    #[serde(default)]
    pub body: Option<EndSpec>,
    /// Its origin in body axes about the centre of mass; the centre by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Its axes against those of the body; the same by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// Bodies that ride on bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RigidFrames", deny_unknown_fields)]
pub struct RigidFramesSpec {
    /// Positions, one by one.
    pub frames: Vec<FrameSpec>,
}

/// Bodies that follow points.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "FittedFrames", deny_unknown_fields)]
pub struct FittedFramesSpec {
    /// One by one.
    pub frames: Vec<FittedFrameSpec>,
}

/// A frame that follows points.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "frames", deny_unknown_fields)]
pub struct FittedFrameSpec {
    /// The points; all of the first parent by default.
    #[serde(default)]
    pub points: Option<Elements<EndSpec>>,
    /// How much each counts; 1 by default.
    #[serde(default)]
    pub weights: Option<OneOrMany<Pure>>,
    /// The motion that is fitted.
    #[serde(default)]
    pub fit: Fit,
    /// Its origin at the start; the mean of the points by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Its axes at the start; those of the scene by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// The motion that is fitted to points.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "fit")]
pub enum Fit {
    /// The nearest rigid motion.
    #[default]
    Rigid,
    /// The nearest affine motion, and the rotation of its gradient.
    Affine,
}

/// Poses of one frame against another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RelativePose", deny_unknown_fields)]
pub struct RelativePoseSpec {
    /// Pairs of frames.
    pub pairs: Vec<(FrameSpec, FrameSpec)>,
    /// Which six coordinates.
    #[serde(default)]
    pub chart: Chart,
    /// The pose at which they are zero.
    #[serde(default)]
    pub rest: RestPose,
}

/// Six coordinates of a pose.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "chart")]
pub enum Chart {
    /// Translation in the axes of the first frame, and rotation vector.
    #[default]
    Split,
    /// Logarithm of the rigid motion.
    Twist,
}

/// Coordinates of one frame against another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "JointCoordinates", deny_unknown_fields)]
pub struct JointCoordinatesSpec {
    /// Pairs of frames.
    pub pairs: Vec<(FrameSpec, FrameSpec)>,
    /// The coordinates of each pair.
    pub axes: Vec<AxisSpec>,
}

/// One coordinate of a frame B against a frame A.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "axes")]
pub enum AxisSpec {
    /// Distance of the origin of B along an axis of A.
    Translation(Letter),
    /// Coordinate of the rotation vector.
    Rotation(Letter),
    /// Cosine of the angle between an axis of A and one of B.
    Misalignment(Letter, Letter),
    /// Angle of the turn about an axis.
    Twist(Letter),
    /// Angle about an axis of A.
    HeadingInA(HeadingSpec),
    /// Angle about an axis of B.
    HeadingInB(HeadingSpec),
    /// Angle between an axis of B and the plane square to one of A.
    Elevation(ElevationSpec),
}

/// An angle about one axis seen by another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "axes", deny_unknown_fields)]
pub struct HeadingSpec {
    /// The axis turned about.
    pub about: Letter,
    /// The axis that is seen to turn.
    pub of: Letter,
}

/// An angle of an axis above a plane.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "axes", deny_unknown_fields)]
pub struct ElevationSpec {
    /// The axis of B that rises.
    pub of: Letter,
    /// The axis of A whose plane it rises from.
    pub against: Letter,
}

/// An axis of a frame.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "axes", rename_all = "lowercase")]
pub enum Letter {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Letter {
    /// Its number.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Strains of beam segments.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "BeamStrain", deny_unknown_fields)]
pub struct BeamStrainSpec {
    /// Segments; by default between the centres of each body and the next.
    #[serde(default)]
    pub segments: Option<Vec<BeamSegmentSpec>>,
}

/// A piece of beam between two frames.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "segments", deny_unknown_fields)]
pub struct BeamSegmentSpec {
    /// The frame at its beginning.
    pub a: FrameSpec,
    /// The frame at its end.
    pub b: FrameSpec,
    /// Length at rest of a segment that is straight along the x axes of its frames; by default it
    /// is at rest as at the start.
    #[serde(default)]
    pub length: Option<Quantity<Length>>,
}

/// Points carried by several bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Skinning", deny_unknown_fields)]
pub struct SkinningSpec {
    /// Positions of the points at the start, with bodies and weights.
    pub points: Vec<(Triple<Length>, Weights)>,
}

/// Ropes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Rope", deny_unknown_fields)]
pub struct RopesSpec {
    /// One by one.
    pub ropes: Vec<RopeSpec>,
}

/// A rope that runs freely through points.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "ropes", deny_unknown_fields)]
pub struct RopeSpec {
    /// The points in order, at least two.
    pub points: Vec<EndSpec>,
    /// The drums that it is wound on.
    #[serde(default)]
    pub drums: Vec<DrumSpec>,
    /// Length at rest; by default that at the start.
    #[serde(default)]
    pub rest: Option<Quantity<Length>>,
}

/// A drum of a rope.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "drums", deny_unknown_fields)]
pub struct DrumSpec {
    /// The element whose coordinate is the angle.
    pub angle: EndSpec,
    /// Which coordinate; 0 by default.
    #[serde(default = "zero")]
    pub coordinate: Quantity<Pure>,
    /// Its radius; negative lets out when the angle grows.
    pub radius: Quantity<Length>,
}

/// Ropes that wrap around obstacles.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "WrappedRope", deny_unknown_fields)]
pub struct WrappedRopesSpec {
    /// One by one.
    pub ropes: Vec<WrappedRopeSpec>,
}

/// A rope that runs freely through points and around obstacles.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "ropes", deny_unknown_fields)]
pub struct WrappedRopeSpec {
    /// The points in order, at least two.
    pub points: Vec<EndSpec>,
    /// The obstacles; those between the same two points in order.
    #[serde(default)]
    pub obstacles: Vec<ObstacleSpec>,
    /// Length at rest; by default that at the start.
    #[serde(default)]
    pub rest: Option<Quantity<Length>>,
}

/// An obstacle between two points of a rope.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "obstacles", deny_unknown_fields)]
pub struct ObstacleSpec {
    /// Number of the point that the rope passes last before it; 0, the first one, by default.
    #[serde(default = "zero")]
    pub after: Quantity<Pure>,
    /// The surface itself.
    pub surface: WrapSurfaceSpec,
    /// Origin and axes of the surface; those of the world by default.
    #[serde(default)]
    pub frame: Option<FrameSpec>,
}

/// A surface that a rope wraps around.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "surface")]
pub enum WrapSurfaceSpec {
    /// A sphere of this radius about the origin of its frame.
    Sphere(Quantity<Length>),
    /// A cylinder without ends about the z axis of its frame.
    Cylinder(WrapCylinderSpec),
    /// An ellipsoid of these semi-axes along the axes of its frame, about their origin.
    Ellipsoid(Triple<Length>),
}

/// A cylinder that a rope wraps around.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "surface", deny_unknown_fields)]
pub struct WrapCylinderSpec {
    /// Its radius.
    pub radius: Quantity<Length>,
    /// The side on which the rope passes.
    #[serde(default)]
    pub side: WrapSideSpec,
}

/// The side on which a rope passes a cylinder; directions are in the axes of its frame.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "side")]
pub enum WrapSideSpec {
    /// The shorter way round.
    #[default]
    Shortest,
    /// Over a direction.
    Over(Triple<Pure>),
    /// Over a direction, by the right hand about the z axis.
    RightHanded(Triple<Pure>),
    /// Over a direction, by the left hand about the z axis.
    LeftHanded(Triple<Pure>),
}

/// Coordinates in a ratio.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Gear", deny_unknown_fields)]
pub struct GearMappingSpec {
    /// One by one.
    pub pairs: Vec<GearPairSpec>,
    /// Value at rest of all; 0 by default.
    #[serde(default = "zero")]
    pub offset: Quantity<Any>,
}

/// Two coordinates in a ratio.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "pairs", deny_unknown_fields)]
pub struct GearPairSpec {
    /// The element of the first coordinate.
    pub first: EndSpec,
    /// The element of the second coordinate.
    pub second: EndSpec,
    /// Factor of the second coordinate.
    pub ratio: Quantity<Any>,
    /// Which coordinates of the elements; the first by default.
    #[serde(default = "firsts")]
    pub coordinates: (Quantity<Pure>, Quantity<Pure>),
}

fn firsts() -> (Quantity<Pure>, Quantity<Pure>) {
    (zero(), zero())
}

/// Lengths wound on drums.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Winch", deny_unknown_fields)]
pub struct WinchSpec {
    /// One by one.
    pub drums: Vec<WinchDrumSpec>,
    /// Value at rest of all; 0 by default.
    #[serde(default = "zero")]
    pub offset: Quantity<Any>,
}

/// A length and the drum that it is wound on.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "drums", deny_unknown_fields)]
pub struct WinchDrumSpec {
    /// The element of the angle.
    pub angle: EndSpec,
    /// The element of the length.
    pub length: EndSpec,
    /// Radius of the drum.
    pub radius: Quantity<Length>,
    /// Which coordinates of the elements; the first by default.
    #[serde(default = "firsts")]
    pub coordinates: (Quantity<Pure>, Quantity<Pure>),
}
