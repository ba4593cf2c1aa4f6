//! Nodes with positions of their own.

use super::{OneOrMany, Quantity, Triple, one};
use crate::quantity::{Any, Degrees, Density, Inertia, Length, Mass, Masses, Pure, Turning, Velocity};
use crate::texts;
use serde::Deserialize;

/// Mass points: exactly one of `positions`, `line` and `formula` says where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Particles {
    /// Name of the node.
    pub name: String,
    /// One by one.
    #[serde(default)]
    pub positions: Option<Vec<Triple<Length>>>,
    /// Evenly from one point to another, both included.
    #[serde(default)]
    pub line: Option<Line>,
    /// Positions by expressions in `$i`, which counts from zero.
    #[serde(default)]
    pub formula: Option<Formula>,
    /// One for all or one for each; at rest by default.
    #[serde(default)]
    pub velocities: Option<Vec<Triple<Velocity>>>,
    /// One for all or one for each.
    pub mass: OneOrMany<Mass>,
}

/// Points evenly from one to another, both included.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "line", deny_unknown_fields)]
pub struct Line {
    /// The first.
    pub from: Triple<Length>,
    /// The last.
    pub to: Triple<Length>,
    /// Their number.
    pub count: Quantity<Pure>,
}

/// Points by expressions in `$i`, which counts from zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "formula", deny_unknown_fields)]
pub struct Formula {
    /// Their number.
    pub count: Quantity<Pure>,
    /// Position of point `$i`.
    pub position: Triple<Length>,
    /// Its velocity; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple<Velocity>>,
}

/// Numbers without a place in space; gravity does not act on them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scalars {
    /// Name of the node.
    pub name: String,
    /// Initial values.
    pub values: Vec<Quantity<Any>>,
    /// Initial velocities; at rest by default.
    #[serde(default)]
    pub velocities: Option<Vec<Quantity<Any>>>,
    /// One for all or one for each.
    pub mass: OneOrMany<Masses>,
}

/// Rigid bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bodies {
    /// Name of the node.
    pub name: String,
    /// One by one.
    pub bodies: Vec<Body>,
}

/// A rigid body.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "bodies", deny_unknown_fields)]
pub struct Body {
    /// Its centre of mass; the origin by default.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Body axes against world axes; the same by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Gives the inertia and the picture.
    #[serde(default)]
    pub shape: Option<ShapeSpec>,
    /// Its mass; this or a density.
    #[serde(default)]
    pub mass: Option<Quantity<Mass>>,
    /// Its density, which makes its mass of the volume of its shape.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
    /// Moments of inertia about the body axes, instead of those of the shape.
    #[serde(default)]
    pub inertia: Option<Triple<Inertia>>,
    /// Entries xy, xz, yz of the tensor of inertia in body axes; zero by default, which makes these
    /// the principal axes.
    #[serde(default)]
    pub products: Option<Triple<Inertia>>,
    /// Velocity of the centre of mass; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple<Velocity>>,
    /// Angular velocity in world axes, in rad/s.
    #[serde(default)]
    pub angular_velocity: Option<Triple<Turning>>,
    /// So many bodies, whose numbers may depend on `$i` = 0, 1, ...; one by default, without `$i`.
    #[serde(default)]
    pub repeat: Option<Quantity<Pure>>,
}

/// A rotation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "rotation")]
pub enum Rotation {
    /// About an axis of any length but zero.
    Axis(AxisAngle),
    /// A quaternion (w, x, y, z) of any length but zero.
    Quaternion([Quantity<Pure>; 4]),
}

/// A turn about an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Axis", deny_unknown_fields)]
pub struct AxisAngle {
    /// The axis.
    pub around: Triple<Pure>,
    /// The angle.
    pub degrees: Quantity<Degrees>,
}

/// The shape of a body about its centre of mass.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "shape")]
pub enum ShapeSpec {
    /// A box of these edge lengths.
    Box(Triple<Length>),
    /// A ball of this radius.
    Sphere(Quantity<Length>),
    /// A solid cylinder along z.
    Cylinder(CylinderSpec),
    /// A cylinder along z with half balls at both ends.
    Capsule(CapsuleSpec),
    /// An ellipsoid of these half axes.
    Ellipsoid(Triple<Length>),
    /// A solid cone along z, its point up; its centre of mass is at a quarter of the height.
    Cone(ConeSpec),
    /// The solid inside a closed surface of triangles.
    Surface(SurfaceSpec),
    /// The convex hull of points.
    Hull(HullSpec),
}

/// A solid cylinder.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Cylinder", deny_unknown_fields)]
pub struct CylinderSpec {
    /// Its radius.
    pub radius: Quantity<Length>,
    /// Its length along z.
    pub length: Quantity<Length>,
}

/// A cylinder with half balls at both ends.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Capsule", deny_unknown_fields)]
pub struct CapsuleSpec {
    /// Its radius.
    pub radius: Quantity<Length>,
    /// Length along z between the centres of the half balls.
    pub length: Quantity<Length>,
}

/// A solid cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Cone", deny_unknown_fields)]
pub struct ConeSpec {
    /// Radius of the base.
    pub radius: Quantity<Length>,
    /// Height along z.
    pub height: Quantity<Length>,
}

/// The solid inside a closed surface.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Surface", deny_unknown_fields)]
pub struct SurfaceSpec {
    /// The mesh file, relative to the scene file.
    #[serde(deserialize_with = "texts::file")]
    pub file: String,
    /// Factor on its coordinates; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
    /// Density, if the body has no `mass`.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
}

/// The convex hull of points, or of the vertices of a mesh.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Hull", deny_unknown_fields)]
pub struct HullSpec {
    /// The points; these or a file.
    #[serde(default)]
    pub points: Option<Vec<Triple<Length>>>,
    /// The mesh file, relative to the scene file.
    #[serde(default, deserialize_with = "texts::maybe_file")]
    pub file: Option<String>,
    /// Factor on the coordinates; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
    /// Density of a body that has no `mass`.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
    /// Of a body: whether `position` is that of its centre of mass (the default) or of the origin
    /// of the points.
    #[serde(default = "centred")]
    pub centred: bool,
}

fn centred() -> bool {
    true
}
