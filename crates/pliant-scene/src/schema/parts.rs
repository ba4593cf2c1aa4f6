//! Parts that expand to several nodes.

use super::{Elements, Triple, one, zero};
use crate::quantity::{AngularCompliance, Compliance, Length, Mass, MeshDensity, Pure, Time, Velocity};
use crate::texts;
use crate::{OneOrMany, Quantity};
use pliant::continuum::MassMatrix;
use serde::Deserialize;

/// A chain of particles: nodes `name`, `name.lengths`; its tension is `name.tension`, its mass
/// `name.mass`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// Name of the part and of its particles.
    pub name: String,
    /// Its first end; not needed if it starts attached.
    #[serde(default)]
    pub from: Option<Triple<Length>>,
    /// Its last end; not needed if it ends attached.
    #[serde(default)]
    pub to: Option<Triple<Pure>>,
    /// Number of links, one less than particles.
    pub links: Quantity<Pure>,
    /// Length of all links at rest, if more than between its ends: it starts as it hangs in gravity
    /// between them. Without, it is straight.
    #[serde(default)]
    pub length: Option<Quantity<Length>>,
    /// Mass of each particle.
    pub link_mass: Quantity<Mass>,
    /// Mass of the last particle, if another.
    #[serde(default)]
    pub last_mass: Option<Quantity<Mass>>,
    /// Compliance of each link; zero, the default, is inextensible.
    #[serde(default = "zero")]
    pub compliance: Quantity<Compliance>,
    /// Damping of compliant links by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// The first particle (`Fixed` by default).
    #[serde(default = "fixed_end")]
    pub start: CableEnd,
    /// The last particle (`Free` by default).
    #[serde(default = "free_end")]
    pub end: CableEnd,
    /// Velocity of the particle in the middle of the span and linearly less towards both ends: a
    /// pluck.
    #[serde(default)]
    pub pluck: Option<Triple<Velocity>>,
}

fn fixed_end() -> CableEnd {
    CableEnd::Fixed
}

fn free_end() -> CableEnd {
    CableEnd::Free
}

/// The end of a cable.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "ends of Cable")]
pub enum CableEnd {
    /// Free.
    Free,
    /// Does not move.
    Fixed,
    /// Stays at a point: element of a node of points.
    Attached(String, Quantity<Pure>),
}

/// A chain of rigid bodies along their x axes: nodes `name`, `name.ends`, `name.gaps`,
/// `name.bends`, `name.tip` (the end of the last body); the joints are `name.joints`, the springs
/// `name.bending`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rod {
    /// Name of the part and of its bodies.
    pub name: String,
    /// Its first end.
    pub from: Triple<Length>,
    /// Its last end.
    pub to: Triple<Pure>,
    /// Number of bodies.
    pub segments: Quantity<Pure>,
    /// Mass of the whole.
    pub mass: Quantity<Mass>,
    /// Edge of its square cross-section at the start.
    pub width: Quantity<Length>,
    /// Edge at the end, if another.
    #[serde(default)]
    pub tip_width: Option<Quantity<Length>>,
    /// Compliance of each joint in rad/(N m): one for all, or one each from the start.
    pub bending_compliance: OneOrMany<AngularCompliance>,
    /// Damping of the joints by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// The body to which the start is clamped by a joint like the others: its node and element.
    #[serde(default)]
    pub base: Option<(String, Quantity<Pure>)>,
}

/// Particles at the vertices of a mesh, lengths along its edges: nodes `name`, `name.lengths`; the
/// tension is `name.tension`, the mass `name.mass`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    /// Name of the part and of its particles.
    pub name: String,
    /// The mesh file, relative to the scene file.
    #[serde(deserialize_with = "texts::file")]
    pub mesh: String,
    /// Factor on its coordinates; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Mass of each vertex; this or `density`.
    #[serde(default)]
    pub mass: Option<OneOrMany<Mass>>,
    /// Density of the triangles of the mesh in kg/m^2, or of its edges in kg/m if it has none.
    #[serde(default)]
    pub density: Option<Quantity<MeshDensity>>,
    /// The mass matrix that a density gives.
    #[serde(default)]
    pub mass_matrix: MassMatrix,
    /// Compliance of each edge; zero, the default, is inextensible.
    #[serde(default = "zero")]
    pub compliance: Quantity<Compliance>,
    /// Damping of compliant edges by a relaxation time.
    #[serde(default = "zero")]
    pub relaxation_time: Quantity<Time>,
    /// Vertices that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
    /// Groups of the mesh whose vertices do not move.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub fix_groups: Vec<String>,
}

/// Particles at the vertices of a mesh and nothing between them: the node `name`; its mass is
/// `name.mass`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Mesh", deny_unknown_fields)]
pub struct MeshPart {
    /// Name of the part and of its particles.
    pub name: String,
    /// The mesh file, relative to the scene file.
    #[serde(deserialize_with = "texts::file")]
    pub mesh: String,
    /// Factor on its coordinates; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
    /// Position of its origin; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Mass of each vertex; this or `density`.
    #[serde(default)]
    pub mass: Option<OneOrMany<Mass>>,
    /// Density of its tetrahedra in kg/m^3, of its triangles in kg/m^2 if it has none, or else of
    /// its edges in kg/m.
    #[serde(default)]
    pub density: Option<Quantity<MeshDensity>>,
    /// The mass matrix that a density gives.
    #[serde(default)]
    pub mass_matrix: MassMatrix,
    /// Vertices that do not move, counted from zero.
    #[serde(default)]
    pub fix: Elements,
    /// Groups of the mesh whose vertices do not move.
    #[serde(default, deserialize_with = "texts::plain_list")]
    pub fix_groups: Vec<String>,
}
