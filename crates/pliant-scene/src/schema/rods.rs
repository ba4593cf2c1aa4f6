//! Elastic rods.

use super::{Course, Elements, Formula, Line, PronyTermSpec, Quantity, Triple, zero};
use crate::quantity::{Angle, Density, Length, Pressure, Pure, Time};
use pliant::model::Treatment;
use serde::Deserialize;

/// A rod with stretch, shear, twist and bending: bodies at points of a curve, axis 0 along it.
/// Nodes `name`, `name.strains`, `name.points` (the centres of the bodies); its mass is
/// `name.mass`, its stiffness `name.elasticity`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElasticRod {
    /// Name of the part and of its bodies.
    pub name: String,
    /// Its points one by one; exactly one of `points`, `line` and `formula`.
    #[serde(default)]
    pub points: Option<Vec<Triple<Length>>>,
    /// Points evenly from one to another, both included.
    #[serde(default)]
    pub line: Option<Line>,
    /// Points by expressions in `$i`, which counts from zero.
    #[serde(default)]
    pub formula: Option<Formula>,
    /// The cross-section.
    pub section: SectionSpec,
    /// Young's modulus in Pa.
    pub young: Quantity<Pressure>,
    /// Poisson's ratio, above -1 and up to 1/2.
    pub poisson: Quantity<Pure>,
    /// Density in kg/m^3.
    pub density: Quantity<Density>,
    /// Direction of axis 1 of the section at the first point.
    #[serde(default)]
    pub normal: Option<Triple<Pure>>,
    /// Angle in rad by which the section turns about the rod from its first point to its last.
    #[serde(default = "zero")]
    pub twist: Quantity<Angle>,
    /// Its last point is joined to its first; it is open by default.
    #[serde(default)]
    pub closed: bool,
    /// Whether it is straight and untwisted without load; as it is placed by default.
    #[serde(default)]
    pub straight_at_rest: bool,
    /// Share by which its segments are longer without load, a function of time; zero by default.
    #[serde(default)]
    pub growth: Option<Course<Pure>>,
    /// Whether it neither stretches nor shears.
    #[serde(default)]
    pub inextensible: bool,
    /// The treatment of its strains; a compliance by default.
    #[serde(default)]
    pub treatment: Option<Treatment>,
    /// Damping by a relaxation time in s.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Relaxation of its moduli, which are those of fast strains then: the terms of a Prony series;
    /// none by default.
    #[serde(default)]
    pub viscoelastic: Vec<PronyTermSpec>,
    /// Bodies that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
}

/// The cross-section of an elastic rod.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "section")]
pub enum SectionSpec {
    /// A full circle of this radius.
    Circle(Quantity<Length>),
    /// A tube between these radii.
    Tube(Quantity<Length>, Quantity<Length>),
    /// A full rectangle of these sides along axes 1 and 2.
    Rectangle(Quantity<Length>, Quantity<Length>),
}
