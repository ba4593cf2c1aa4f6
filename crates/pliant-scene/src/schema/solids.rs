//! Solids of finite elements.

use super::{
    Elements, Letter, Quantity, Rotation, SolidMaterial, SolidMuscleSpec, SolidRegionSpec, Triple, zero,
};
use crate::quantity::{Density, Length, Pressure, Pure, Time, Turning, Velocity};
use crate::texts;
use pliant::continuum::{Enhancement, Incompressibility, MassMatrix, Tangent};
use pliant::model::{Outside, Treatment};
use serde::Deserialize;

/// A solid: particles at the nodes of a mesh of finite elements, as the node `name`; its mass is
/// `name.mass`, its material `name.material` on `name.strains` or `name.gradients`, and its volume
/// rows, if any, are `name.volume`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Solid {
    /// Name of the part and of its nodes.
    pub name: String,
    /// A node of points that are the nodes of the mesh, which is at rest as the shape is; mapped
    /// ones, too. They have masses of their own. By default it makes particles.
    #[serde(default)]
    pub on: Option<String>,
    /// The mesh: made, given, or read from a file.
    pub shape: SolidShape,
    /// The elements; as the shape has them by default.
    #[serde(default)]
    pub elements: SolidElements,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Rotation about its origin; none by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Velocity of all its nodes; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple<Velocity>>,
    /// So many solids of one kind, side by side in the node, whose place and velocity may depend on
    /// `$i` = 0, 1, ...; one by default, without `$i`.
    #[serde(default)]
    pub repeat: Option<Quantity<Pure>>,
    /// The material; this or `materials`.
    #[serde(default)]
    pub material: Option<SolidMaterial>,
    /// The materials of some elements each.
    #[serde(default)]
    pub materials: Vec<SolidRegionSpec>,
    /// Fibres of muscles in it, beside the material; none by default.
    #[serde(default)]
    pub muscles: Vec<SolidMuscleSpec>,
    /// Treatment of the tangent of a hyperelastic material where it is indefinite; none by
    /// default.
    #[serde(default)]
    pub tangent: Tangent,
    /// Density in kg/m^3; required without `on`, if not every one of the `materials` has its own.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
    /// The mass matrix that a density gives.
    #[serde(default)]
    pub mass_matrix: MassMatrix,
    /// The treatment of a law of strains; a stiffness by default.
    #[serde(default)]
    pub treatment: Option<Treatment>,
    /// Compliant rows for the volume instead of a part of the material; none by default.
    #[serde(default)]
    pub incompressibility: Incompressibility,
    /// Modes of hexahedra of eight nodes, with which they bend as beams do; none by default.
    #[serde(default)]
    pub enhanced_strains: Option<Enhancement>,
    /// Damping of a law of strains by a relaxation time in s.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Relaxation of moduli, which are those of fast strains then: the terms of a Prony series;
    /// none by default.
    #[serde(default)]
    pub viscoelastic: Vec<PronyTermSpec>,
    /// When a law of strains yields, at small strains, or `Hencky`, at finite ones; never by default.
    #[serde(default)]
    pub plastic: Option<PlasticSpec>,
    /// A few modes in a floating frame, by Craig and Bampton, in the place of free nodes; all nodes
    /// are free by default.
    #[serde(default)]
    pub reduced: Option<ReducedSpec>,
    /// Put elements right that are inside out, and leave out nodes of no element; an error
    /// otherwise.
    #[serde(default)]
    pub repair: bool,
    /// Planes at which its mirror image begins, in the axes of the shape.
    #[serde(default)]
    pub symmetry: Vec<SymmetrySpec>,
    /// Nodes that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
    /// Boxes in the axes of the shape, from the least corner to the largest: nodes inside do not
    /// move.
    #[serde(default)]
    pub fix_boxes: Vec<(Triple<Length>, Triple<Length>)>,
    /// Groups of the mesh file whose nodes do not move.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub fix_groups: Vec<String>,
}

/// A reduced body: its frame is the body `name.frame`, its amplitudes are `name.modes`, and its
/// interfaces the bodies `name.interfaces`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "reduced", deny_unknown_fields)]
pub struct ReducedSpec {
    /// The nodes of each interface, which moves as if it were rigid, in the axes of the shape.
    pub interfaces: Vec<Elements>,
    /// Modes of vibration with the interfaces held, beside the static ones; 10 by default.
    #[serde(default = "ten")]
    pub modes: Quantity<Pure>,
    /// Damping of each mode as a share of the critical one; none by default.
    #[serde(default = "zero")]
    pub damping: Quantity<Pure>,
    /// Angular velocity at the start in rad/s; none by default.
    #[serde(default)]
    pub angular_velocity: Option<Triple<Turning>>,
}

fn ten() -> Quantity<Pure> {
    10.0.into()
}

/// A plane of symmetry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymmetrySpec {
    /// The axis that it is across.
    pub axis: Letter,
    /// Position on the axis, in m; at the origin by default.
    #[serde(default = "zero")]
    pub at: Quantity<Length>,
}

/// The mesh of a solid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "shape")]
pub enum SolidShape {
    /// A box with a corner at the origin, in hexahedra.
    Box(SolidBox),
    /// A ball about the origin, in hexahedra.
    Ball(SolidBall),
    /// A cylinder along z from the origin, in hexahedra.
    Cylinder(SolidCylinder),
    /// A tube along z from the origin, in hexahedra.
    Tube(SolidTube),
    /// The volumes of a mesh file.
    File(SolidFile),
    /// Points, and cells between them: tetrahedra, pyramids, prisms and hexahedra, linear ones and
    /// quadratic ones, by the count of their points.
    Cells(CellsSpec),
}

/// A mesh that stands in the scene.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Cells", deny_unknown_fields)]
pub struct CellsSpec {
    /// Its nodes.
    pub points: Vec<Triple<Length>>,
    /// The points of each cell, counted from zero: its corners, then of quadratic cells the
    /// middles of its edges.
    pub cells: Vec<Vec<Quantity<Pure>>>,
}

/// A box.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Box", deny_unknown_fields)]
pub struct SolidBox {
    /// Its edges.
    pub size: Triple<Length>,
    /// Cells along each.
    pub cells: Triple<Pure>,
}

/// A ball.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Ball", deny_unknown_fields)]
pub struct SolidBall {
    /// Its radius.
    pub radius: Quantity<Length>,
    /// Cells along an edge of the cube in its middle.
    pub cells: Quantity<Pure>,
    /// Layers of cells around that cube.
    pub layers: Quantity<Pure>,
}

/// A cylinder.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Cylinder", deny_unknown_fields)]
pub struct SolidCylinder {
    /// Its radius.
    pub radius: Quantity<Length>,
    /// Its length.
    pub length: Quantity<Length>,
    /// Cells along a side of the square in its middle.
    pub cells: Quantity<Pure>,
    /// Layers of cells around that square.
    pub layers: Quantity<Pure>,
    /// Cells along its axis.
    pub slices: Quantity<Pure>,
}

/// A tube.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Tube", deny_unknown_fields)]
pub struct SolidTube {
    /// Its inner radius.
    pub inner_radius: Quantity<Length>,
    /// Its outer radius.
    pub outer_radius: Quantity<Length>,
    /// Its length.
    pub length: Quantity<Length>,
    /// Cells around, three or more.
    pub around: Quantity<Pure>,
    /// Cells through its wall.
    pub layers: Quantity<Pure>,
    /// Cells along its axis.
    pub slices: Quantity<Pure>,
}

/// A mesh file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "File", deny_unknown_fields)]
pub struct SolidFile {
    /// The file, relative to the scene file.
    #[serde(deserialize_with = "texts::file")]
    pub file: String,
    /// Factor on its coordinates; 1 by default.
    #[serde(default = "super::one")]
    pub scale: Quantity<Length>,
    /// Groups of the file whose cells are taken; all cells by default.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub groups: Vec<String>,
}

/// A surface of triangles that rides in a solid: points at its vertices, each in the tetrahedron or
/// hexahedron that it lies in at the start. It is drawn in the place of the solid, and collides as
/// the node `name`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddedSurface {
    /// Name of the part and of its node.
    pub name: String,
    /// The solid, which comes before.
    pub solid: String,
    /// The triangles of a mesh file.
    pub shape: SolidFile,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Rotation about its origin; none by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Treatment of points outside of the solid; an error by default.
    #[serde(default)]
    pub outside: Outside,
}

/// The elements of a solid.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename = "elements")]
pub enum SolidElements {
    /// The elements of the shape or the file.
    #[default]
    AsMade,
    /// Linear elements cut into tetrahedra of four nodes.
    Tetrahedra,
    /// Tetrahedra of ten nodes, hexahedra of twenty in the place of linear ones.
    Quadratic,
    /// Linear elements cut into tetrahedra of ten nodes.
    QuadraticTetrahedra,
}

/// A term of a Prony series: a spring and a dashpot in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "viscoelastic", deny_unknown_fields)]
pub struct PronyTermSpec {
    /// Relaxation time in s.
    pub time: Quantity<Time>,
    /// Share of all moduli that relaxes with it, instead of the two others.
    #[serde(default)]
    pub share: Option<Quantity<Pure>>,
    /// Share of the shear modulus that relaxes with it; zero by default.
    #[serde(default)]
    pub shear: Option<Quantity<Pure>>,
    /// Share of the bulk modulus that relaxes with it; zero by default.
    #[serde(default)]
    pub bulk: Option<Quantity<Pure>>,
}

/// Plasticity of von Mises.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "plastic", deny_unknown_fields)]
pub struct PlasticSpec {
    /// Yield stress in tension in Pa.
    pub yield_stress: Quantity<Pressure>,
    /// Modulus of isotropic hardening in Pa; zero by default.
    #[serde(default = "zero")]
    pub isotropic: Quantity<Pressure>,
    /// Modulus of kinematic hardening in Pa; zero by default.
    #[serde(default = "zero")]
    pub kinematic: Quantity<Pressure>,
    /// Rise of the yield stress in Pa, which saturates; zero by default.
    #[serde(default = "zero")]
    pub rise: Quantity<Pressure>,
    /// Rate of that over the plastic strain; zero by default.
    #[serde(default = "zero")]
    pub rate: Quantity<Pure>,
}
