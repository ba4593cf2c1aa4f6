//! Mappings of several points.

use super::super::{EndSpec, OneOrMany, Quantity, Triple, Weights};
use crate::quantity::{Angle, Any, Area, Length, Pure, Volume};
use pliant::model::Outside;
use serde::Deserialize;

/// Areas of triangles.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Area", deny_unknown_fields)]
pub struct AreaSpec {
    /// Corners.
    pub triangles: Vec<[EndSpec; 3]>,
    /// Rest areas, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany<Area>>,
}

/// Points embedded in cells: `cells` with `points`, or `groups`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Barycentric", deny_unknown_fields)]
pub struct BarycentricSpec {
    /// Elements of the first parent: 2 of a segment, 3 of a triangle, 4 of a tetrahedron, 8 of a
    /// hexahedron.
    #[serde(default)]
    pub cells: Option<Vec<Vec<Quantity<Pure>>>>,
    /// Positions of the points at the start.
    #[serde(default)]
    pub points: Option<Vec<Triple<Length>>>,
    /// Treatment of points outside of all cells.
    #[serde(default)]
    pub outside: Outside,
    /// Elements and weights of each point, which add up to one.
    #[serde(default)]
    pub groups: Option<Vec<Weights>>,
}

/// Weighted means.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "CentreOfMass", deny_unknown_fields)]
pub struct CentreOfMassSpec {
    /// Elements and weights of each centre.
    pub groups: Vec<Weights>,
}

/// Chains of three points.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "mapping", deny_unknown_fields)]
pub struct ChainsSpec {
    /// Points; by default each element with the next two.
    #[serde(default)]
    pub chains: Option<Vec<[EndSpec; 3]>>,
}

/// Angles between segments.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "SegmentAngle", deny_unknown_fields)]
pub struct SegmentAngleSpec {
    /// Points; by default each element with the next two.
    #[serde(default)]
    pub chains: Option<Vec<[EndSpec; 3]>>,
    /// Rest angles in rad, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany<Angle>>,
}

/// Angles between triangles.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "DihedralAngle", deny_unknown_fields)]
pub struct DihedralSpec {
    /// Both ends of the edge, then the opposite corners.
    pub hinges: Vec<[EndSpec; 4]>,
    /// Rest angles in rad, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany<Angle>>,
}

/// Edges between triangles.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "QuadraticBending", deny_unknown_fields)]
pub struct HingesSpec {
    /// Both ends of the edge, then the opposite corners, elements of the only parent.
    pub hinges: Vec<[Quantity<Pure>; 4]>,
    /// Places of all elements at rest; those at the start by default.
    #[serde(default)]
    pub rest: Option<Vec<Triple<Length>>>,
}

/// The sum of scalar products.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Pairing", deny_unknown_fields)]
pub struct PairingSpec {
    /// Pairs of elements; by default each of the first parent with that of the second.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
}

/// Lengths that are smooth at length zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "SafeDistance", deny_unknown_fields)]
pub struct SafeDistanceSpec {
    /// Pairs of ends; by default each element with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
    /// The smoothing length.
    pub smoothing: Quantity<Any>,
    /// Rest lengths, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany<Any>>,
}

/// Volumes of tetrahedra, or under a surface.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Volume", deny_unknown_fields)]
pub struct VolumeSpec {
    /// Corners.
    #[serde(default)]
    pub tetrahedra: Option<Vec<[EndSpec; 4]>>,
    /// Triangles of elements of the first parent, each with the origin as fourth corner.
    #[serde(default)]
    pub surface: Option<Vec<[Quantity<Pure>; 3]>>,
    /// Rest volumes, one for all or one each; by default those of tetrahedra at the start, and zero
    /// of a surface.
    #[serde(default)]
    pub rest: Option<OneOrMany<Volume>>,
}
