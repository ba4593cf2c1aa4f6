//! Nodes computed from others.

mod basic;
mod bodies;
mod points;

pub use basic::{
    AffineEntrySpec, AffineSpec, DistanceSpec, MaskSpec, PairsSpec, ProjectionSpec, QuadraticSpec,
    RelativeRotationSpec, RestPose, RigidPointsSpec, SubsetSpec,
};
pub use bodies::{
    AxisSpec, BeamSegmentSpec, BeamStrainSpec, Chart, DrumSpec, Fit, FittedFrameSpec, FittedFramesSpec,
    FrameSpec, GearMappingSpec, GearPairSpec, HeadingSpec, JointCoordinatesSpec, Letter, ObstacleSpec,
    RelativePoseSpec, RigidFramesSpec, RopeSpec, RopesSpec, SkinningSpec, WinchDrumSpec, WinchSpec,
    WrapCylinderSpec, WrapSideSpec, WrapSurfaceSpec, WrappedRopeSpec, WrappedRopesSpec,
};
pub use points::{
    AreaSpec, BarycentricSpec, CentreOfMassSpec, ChainsSpec, DihedralSpec, HingesSpec, PairingSpec,
    SafeDistanceSpec, SegmentAngleSpec, VolumeSpec,
};

use super::{Elements, EndSpec, FormulaMappingSpec, Quantity};
use crate::quantity::Any;
use serde::Deserialize;

/// A function of other nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapped {
    /// Name of the node.
    pub name: String,
    /// Its arguments.
    pub parents: Vec<String>,
    /// The function.
    pub mapping: Mapping,
}

/// A mapping. An element of a parent is written `3` (of the first parent) or `("node", 3)`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "mapping")]
pub enum Mapping {
    /// Lengths less rest lengths.
    Distance(DistanceSpec),
    /// Differences of positions.
    Difference(PairsSpec),
    /// Points that ride on bodies.
    RigidPoints(RigidPointsSpec),
    /// Rotation vectors of one body against another.
    RelativeRotation(RelativeRotationSpec),
    /// Chosen elements.
    Subset(SubsetSpec),
    /// A copy.
    Identity,
    /// A matrix and an offset.
    Affine(AffineSpec),
    /// Sums of positions.
    Addition(PairsSpec),
    /// Areas of triangles less rest areas.
    Area(AreaSpec),
    /// Points embedded in cells.
    Barycentric(BarycentricSpec),
    /// Strains of beam segments between bodies.
    BeamStrain(BeamStrainSpec),
    /// Weighted means of positions.
    CentreOfMass(CentreOfMassSpec),
    /// Vectors along the axis of bending of chains.
    CurvatureBinormal(ChainsSpec),
    /// Scalars along a smooth curve over others.
    Curve(CurveMappingSpec),
    /// Angles between triangles less rest angles.
    DihedralAngle(DihedralSpec),
    /// Scalar products.
    DotProduct(PairsSpec),
    /// Bodies that follow points.
    FittedFrames(FittedFramesSpec),
    /// Expressions over coordinates.
    Formula(FormulaMappingSpec),
    /// Coordinates in a ratio.
    Gear(GearMappingSpec),
    /// Coordinates of one frame against another.
    JointCoordinates(JointCoordinatesSpec),
    /// Chosen coordinates.
    Mask(MaskSpec),
    /// Directions.
    Normalization(PairsSpec),
    /// The sum of scalar products.
    Pairing(PairingSpec),
    /// Coordinates along directions.
    Projection(ProjectionSpec),
    /// Half squares.
    Quadratic(QuadraticSpec),
    /// Bending of cloth that is flat at rest.
    QuadraticBending(HingesSpec),
    /// Poses of one frame against another.
    RelativePose(RelativePoseSpec),
    /// Bodies that ride on bodies.
    RigidFrames(RigidFramesSpec),
    /// Lengths of ropes less rest lengths.
    Rope(RopesSpec),
    /// Lengths less rest lengths, smooth at length zero.
    SafeDistance(SafeDistanceSpec),
    /// Angles between segments less rest angles.
    SegmentAngle(SegmentAngleSpec),
    /// Points carried by several bodies.
    Skinning(SkinningSpec),
    /// Squares of lengths less those of rest lengths.
    SquareDistance(DistanceSpec),
    /// Volumes less rest volumes.
    Volume(VolumeSpec),
    /// Lengths wound on drums.
    Winch(WinchSpec),
    /// Lengths of ropes around obstacles less rest lengths.
    WrappedRope(WrappedRopesSpec),
}

/// Scalars along a smooth curve over others: exactly one of `points` and `polynomial`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Curve", deny_unknown_fields)]
pub struct CurveMappingSpec {
    /// The elements; all of the first parent by default.
    #[serde(default)]
    pub elements: Option<Elements<EndSpec>>,
    /// Points of a cubic spline, rising in the first number.
    #[serde(default)]
    pub points: Option<Vec<(Quantity<Any>, Quantity<Any>)>>,
    /// Slopes at the points; those of a natural spline by default.
    #[serde(default)]
    pub slopes: Option<Vec<Quantity<Any>>>,
    /// Coefficients of a polynomial, the constant first.
    #[serde(default)]
    pub polynomial: Option<Vec<Quantity<Any>>>,
}
