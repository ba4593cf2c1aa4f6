//! Pairs, choices and matrices.

use super::super::{Elements, EndSpec, OneOrMany, Quantity, Triple, one, zero};
use crate::quantity::{Any, Length, Pure};
use serde::Deserialize;

/// Lengths less rest lengths.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "mapping", deny_unknown_fields)]
pub struct DistanceSpec {
    /// Pairs of ends, elements or points (x, y, z); by default each element with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
    /// Rest lengths, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany<Any>>,
}

/// Pairs of positions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "mapping", deny_unknown_fields)]
pub struct PairsSpec {
    /// Pairs of ends, elements or points (x, y, z); by default each element with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
}

/// Points that ride on bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RigidPoints", deny_unknown_fields)]
pub struct RigidPointsSpec {
    /// The body and the point in body axes.
    pub points: Vec<(EndSpec, Triple<Length>)>,
}

/// Rotation vectors of one body against another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RelativeRotation", deny_unknown_fields)]
pub struct RelativeRotationSpec {
    /// Pairs of bodies; by default each body with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
    /// The pose of zero rotation.
    #[serde(default)]
    pub rest: RestPose,
}

/// The pose at which a relative rotation or pose is zero.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "rest")]
pub enum RestPose {
    /// The pose at the start.
    #[default]
    Initial,
    /// The pose in which the axes of both bodies agree.
    Aligned,
}

/// Chosen elements.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Subset", deny_unknown_fields)]
pub struct SubsetSpec {
    /// The elements, in any order.
    pub elements: Elements<EndSpec>,
}

/// A matrix and an offset.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Affine", deny_unknown_fields)]
pub struct AffineSpec {
    /// Coordinates per element of the result: 1, 2 or 3.
    pub dimension: Quantity<Pure>,
    /// The offset, all coordinates of all elements.
    pub offset: Vec<Quantity<Any>>,
    /// The coefficients that are not zero.
    pub entries: Vec<AffineEntrySpec>,
}

/// One coefficient.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "entries", deny_unknown_fields)]
pub struct AffineEntrySpec {
    /// Element and coordinate of the result.
    pub to: (Quantity<Pure>, Quantity<Pure>),
    /// Element of a parent.
    pub from: EndSpec,
    /// Its coordinate; 0 by default.
    #[serde(default = "zero")]
    pub coordinate: Quantity<Pure>,
    /// The coefficient.
    pub value: Quantity<Any>,
}

/// Chosen coordinates.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Mask", deny_unknown_fields)]
pub struct MaskSpec {
    /// The element and which of its coordinates.
    pub coordinates: Vec<(EndSpec, Quantity<Pure>)>,
}

/// Coordinates along directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Projection", deny_unknown_fields)]
pub struct ProjectionSpec {
    /// The element and the direction, of any length but zero.
    pub points: Vec<(EndSpec, Triple<Pure>)>,
    /// The offset, one for all or one each; 0 by default.
    #[serde(default = "no_offset")]
    pub offset: OneOrMany<Any>,
}

fn no_offset() -> OneOrMany<Any> {
    OneOrMany::One(zero())
}

/// Half squares.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Quadratic", deny_unknown_fields)]
pub struct QuadraticSpec {
    /// The elements; all of the first parent by default.
    #[serde(default)]
    pub elements: Option<Elements<EndSpec>>,
    /// Factors, one for all or one each; 1 by default.
    #[serde(default = "no_factor")]
    pub factors: OneOrMany<Any>,
}

fn no_factor() -> OneOrMany<Any> {
    OneOrMany::One(one())
}
