//! Elastic shells on frames.

use super::{Elements, Quantity, Rotation, SheetShape, SymmetrySpec, Triple};
use crate::quantity::{Angle, Density, Length, Pressure, Pure, Time, Velocity};
use crate::texts;
use pliant::model::Treatment;
use serde::Deserialize;

/// A shell of quadrangles whose nodes are bodies, with stretch, bending and shear: it shares its
/// turns with joints, rods and other bodies. Nodes `name`, `name.strains`, `name.points` (the
/// centres of the bodies); its mass is `name.mass`, its stiffness `name.elasticity`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElasticShell {
    /// Name of the part and of its bodies.
    pub name: String,
    /// The mesh, of quadrangles: made, given, or read from a file.
    pub shape: SheetShape,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Rotation about its origin; none by default. The axes of its bodies are those of the scene in
    /// any case.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Velocity of all its bodies; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple<Velocity>>,
    /// Young's modulus in Pa.
    pub young: Quantity<Pressure>,
    /// Poisson's ratio, above -1 and below 1.
    pub poisson: Quantity<Pure>,
    /// Thickness in m.
    pub thickness: Quantity<Length>,
    /// Density in kg/m^3.
    pub density: Quantity<Density>,
    /// Direction of the warp, in which stresses are given, in the axes of the shape; along the lines
    /// of each quadrangle by default.
    #[serde(default)]
    pub warp: Option<Triple<Pure>>,
    /// Angle in rad between normals of neighbours from which on their edge is a fold; pi/3 by
    /// default.
    #[serde(default)]
    pub fold: Option<Quantity<Angle>>,
    /// Share of the shear modulus that holds the turns of its bodies about the normal to those of
    /// the surface; 0.001 by default.
    #[serde(default)]
    pub drill_factor: Option<Quantity<Pure>>,
    /// The treatment of its strains; a stiffness by default.
    #[serde(default)]
    pub treatment: Option<Treatment>,
    /// Damping by a relaxation time in s.
    #[serde(default = "super::zero")]
    pub relaxation_time: Quantity<Time>,
    /// Planes at which its mirror image begins, in the axes of the shape.
    #[serde(default)]
    pub symmetry: Vec<SymmetrySpec>,
    /// Bodies that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
    /// Boxes in the axes of the shape, from the least corner to the largest: bodies inside do not
    /// move.
    #[serde(default)]
    pub fix_boxes: Vec<(Triple<Length>, Triple<Length>)>,
    /// Groups of the mesh file whose bodies do not move.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub fix_groups: Vec<String>,
}
