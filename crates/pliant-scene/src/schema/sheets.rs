//! Elastic sheets.

use super::{
    CellsSpec, Elements, PronyTermSpec, Quantity, Rotation, SolidFile, SymmetrySpec, Triple, one, zero,
};
use crate::quantity::{Density, InversePressure, Length, Pure, Time, Torque, Velocity};
use crate::texts;
use pliant::model::Treatment;
use serde::Deserialize;

/// A sheet of triangles or quadrangles with stretch, shear and bending: particles at the nodes of a
/// mesh, as the node `name`; its mass is `name.mass`, its stretch `name.membrane` on
/// `name.strains`, its bending `name.bending` on `name.bends` or, of shells, on `name.curvatures`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElasticSheet {
    /// Name of the part and of its nodes.
    pub name: String,
    /// A node of points that are the nodes of the mesh, which is at rest as the shape is; mapped
    /// ones, too. They have masses of their own. By default it makes particles.
    #[serde(default)]
    pub on: Option<String>,
    /// The mesh: made, given, or read from a file.
    pub shape: SheetShape,
    /// Its elements; triangles by default.
    #[serde(default)]
    pub elements: SheetElements,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Rotation about its origin; none by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Velocity of all its nodes; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple<Velocity>>,
    /// The material.
    pub material: SheetMaterial,
    /// Thickness in m.
    pub thickness: Quantity<Length>,
    /// Density in kg/m^3; required without `on`.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
    /// Its resistance to bending; none by default.
    #[serde(default)]
    pub bending: BendingSpec,
    /// Direction of the warp in the axes of the shape; along the first edge of each triangle by
    /// default.
    #[serde(default)]
    pub warp: Option<Triple<Pure>>,
    /// Its stretch at the start.
    #[serde(default = "one")]
    pub stretch: Quantity<Pure>,
    /// The treatment of its strains; a stiffness by default, where none is hard.
    #[serde(default)]
    pub treatment: Option<Treatment>,
    /// Damping by a relaxation time in s.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Relaxation of its moduli and its bending, which are those of fast strains then: the terms of
    /// a Prony series; none by default.
    #[serde(default)]
    pub viscoelastic: Vec<PronyTermSpec>,
    /// Boxes in the axes of the shape, from the least corner to the largest: nodes inside do not
    /// move, nor does the sheet turn along edges of its boundary between them.
    #[serde(default)]
    pub clamp_boxes: Vec<(Triple<Length>, Triple<Length>)>,
    /// Planes at which its mirror image begins, in the axes of the shape.
    #[serde(default)]
    pub symmetry: Vec<SymmetrySpec>,
    /// Nodes that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
    /// Boxes in the axes of the shape: nodes inside do not move.
    #[serde(default)]
    pub fix_boxes: Vec<(Triple<Length>, Triple<Length>)>,
    /// Groups of the mesh file whose nodes do not move.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub fix_groups: Vec<String>,
}

/// The mesh of a sheet.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "shape")]
pub enum SheetShape {
    /// A rectangle from the origin along x and y.
    Rectangle(SheetRectangle),
    /// The triangles and quadrangles of a mesh file.
    File(SolidFile),
    /// Points, and cells between them: triangles and quadrangles, by the count of their corners.
    Cells(CellsSpec),
}

/// The elements of a sheet.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "elements")]
pub enum SheetElements {
    /// Triangles; quadrangles of a file are cut.
    #[default]
    Triangles,
    /// Quadrangles, of a file where it has them: for membranes.
    Quadrangles,
}

/// A rectangle.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Rectangle", deny_unknown_fields)]
pub struct SheetRectangle {
    /// Its edges.
    pub size: (Quantity<Length>, Quantity<Length>),
    /// Cells along each.
    pub cells: (Quantity<Pure>, Quantity<Pure>),
    /// All cells are cut along the same diagonal; alternating by default.
    #[serde(default)]
    pub one_way: bool,
}

/// The material of a sheet.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "material")]
pub enum SheetMaterial {
    /// One stiffness in all directions.
    Isotropic(super::YoungSpec),
    /// Different warp and weft.
    Woven(WovenSpec),
}

/// A woven material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Woven", deny_unknown_fields)]
pub struct WovenSpec {
    /// Compliance along the warp in 1/Pa; zero cannot stretch.
    pub warp: Quantity<InversePressure>,
    /// Compliance along the weft in 1/Pa.
    pub weft: Quantity<InversePressure>,
    /// Compliance of shear in 1/Pa.
    pub shear: Quantity<InversePressure>,
    /// Shrinkage of the weft per stretch of the warp; zero by default.
    #[serde(default = "zero")]
    pub poisson: Quantity<Pure>,
}

/// The resistance of a sheet to bending.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "bending")]
pub enum BendingSpec {
    /// None.
    #[default]
    None,
    /// Hinges at its edges, of this bending stiffness in N m.
    Hinges(Quantity<Torque>),
    /// Quadratic isometric bending of this bending stiffness in N m: flat at rest.
    Quadratic(Quantity<Torque>),
    /// The plate of its material and thickness.
    Shell,
}
