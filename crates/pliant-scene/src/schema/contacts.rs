//! Contacts: colliders, their shapes and their surfaces.

use super::{
    CapsuleSpec, ConeSpec, CylinderSpec, Elements, HullSpec, Quantity, Rotation, SurfaceSpec, Triple, one,
    zero,
};
use crate::quantity::{
    Compliance, Damping, InverseVelocity, Length, LengthPerPressure, Pure, Rate, Time, Turning, Units,
    Velocity,
};
use crate::texts;
use serde::Deserialize;

shared! {
    /// The law of contact of one material, or of a pair of them.
    pub struct ContactLawSpec as law {
        /// Coefficient of friction; 0.5 by default.
        #[serde(default = "half")]
        pub friction: Quantity<Pure>,
        /// The set of friction forces: the dependence of friction on the direction.
        #[serde(default)]
        pub friction_model: FrictionModelSpec,
        /// Coefficient of restitution, 0 to 1.
        #[serde(default = "zero")]
        pub restitution: Quantity<Pure>,
        /// Compliance along the normal; zero, the default, is hard.
        #[serde(default = "zero")]
        pub compliance: Quantity<Compliance>,
        /// Depth per pressure of the points of meshes of triangles, in m/Pa; none if zero.
        #[serde(default = "zero")]
        pub foundation: Quantity<LengthPerPressure>,
        /// Relaxation time of a compliant contact.
        #[serde(default = "zero")]
        pub relaxation_time: Quantity<Time>,
        /// Hunt and Crossley's dissipation of a compliant contact.
        #[serde(default = "zero")]
        pub dissipation: Quantity<InverseVelocity>,
        /// Drag along the surfaces per slip, while they touch, of each point of contact, in N s/m.
        #[serde(default = "zero")]
        pub viscous_friction: Quantity<Damping>,
        /// Torque about the normal per normal force, in m.
        #[serde(default = "zero")]
        pub torsional_friction: Quantity<Length>,
        /// Torque against rolling per normal force, in m.
        #[serde(default = "zero")]
        pub rolling_friction: Quantity<Length>,
    }

    /// The material of colliders.
    #[serde(rename = "materials")]
    pub struct MaterialSpec {
        /// Its name; the material `default` is that of colliders that name none.
        pub name: String,
    }

    /// The law between two materials, instead of that which the rules give.
    #[serde(rename = "material_pairs")]
    pub struct MaterialPairSpec {
        /// The two materials; may be the same. Directions in body axes are in those of the first.
        pub between: (String, String),
    }
}

/// The set of friction forces: the dependence of friction on the direction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "friction_model")]
pub enum FrictionModelSpec {
    /// A circle: friction is the same in all directions.
    #[default]
    Cone,
    /// Bounded by a regular polygon.
    Pyramid(PyramidSpec),
    /// Bounded by an ellipse.
    Ellipse(EllipseSpec),
}

/// Friction bounded by a regular polygon.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Pyramid", deny_unknown_fields)]
pub struct PyramidSpec {
    /// Number of corners.
    pub directions: Quantity<Pure>,
    /// Whether it is around the circle and not within.
    #[serde(default)]
    pub outer: bool,
    /// Direction of the first corner, of an outer one of the middle of the first side; any by
    /// default.
    #[serde(default)]
    pub direction: Option<Triple<Pure>>,
    /// Axes of the direction.
    #[serde(default)]
    pub axes: AxesSpec,
}

/// Friction bounded by an ellipse.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Ellipse", deny_unknown_fields)]
pub struct EllipseSpec {
    /// Coefficient of friction across the direction; that along it is `friction`.
    pub across: Quantity<Pure>,
    /// The direction.
    pub direction: Triple<Pure>,
    /// Axes of the direction.
    #[serde(default)]
    pub axes: AxesSpec,
}

/// Axes of a direction of friction.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "axes")]
pub enum AxesSpec {
    /// The axes of the body that carries the surface.
    #[default]
    Body,
    /// The axes of the world.
    World,
}

/// Something that collides.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "colliders")]
pub enum ColliderSpec {
    /// All bodies of a node, or some, with the shapes that they have.
    Bodies(BodiesColliderSpec),
    /// A shape on one body.
    Body(BodyColliderSpec),
    /// A shape that stands in the world.
    Fixed(FixedColliderSpec),
    /// Balls about points.
    Points(PointsColliderSpec),
    /// Lines between points, with a radius.
    Cable(CableColliderSpec),
    /// Triangles between points, with a thickness.
    Cloth(ClothColliderSpec),
}

shared! {
    /// The surface of a collider: its material, and which others it meets.
    pub struct SurfaceContactSpec as surface {
        /// The material; `default` if none is named.
        #[serde(default)]
        pub material: Option<String>,
        /// Distance at which it takes notice.
        #[serde(default = "margin")]
        pub margin: Quantity<Length>,
        /// The groups that it is in.
        #[serde(default, deserialize_with = "texts::plain_list")]
        pub groups: Vec<String>,
        /// The groups that it collides with; all by default.
        #[serde(default, deserialize_with = "texts::maybe_plain_list")]
        pub collides_with: Option<Vec<String>>,
    }

    /// All bodies of a node, or some, with the shapes that they have.
    #[serde(rename = "Bodies")]
    pub struct BodiesColliderSpec {
        /// The node.
        pub node: String,
        /// Its name, if not that of the node; with more than one body, each is `name 0`, `name 1`,
        /// ...
        #[serde(default)]
        pub name: Option<String>,
        /// Which bodies; all by default.
        #[serde(default)]
        pub elements: Option<Elements>,
        /// The shape of each, instead of that which it has.
        #[serde(default)]
        pub shape: Option<OutlineSpec>,
    }

    /// A shape on one body.
    #[serde(rename = "Body")]
    pub struct BodyColliderSpec {
        /// Its name.
        pub name: String,
        /// The body: node and element.
        pub body: (String, Quantity<Pure>),
        /// Its shape.
        pub shape: OutlineSpec,
        /// Position of the origin of the shape, in body axes from the centre of mass.
        #[serde(default)]
        pub position: Option<Triple<Length>>,
        /// Axes of the shape against those of the body.
        #[serde(default)]
        pub rotation: Option<Rotation>,
    }

    /// A shape that stands in the world.
    #[serde(rename = "Fixed")]
    pub struct FixedColliderSpec {
        /// Its name.
        pub name: String,
        /// Its shape.
        pub shape: OutlineSpec,
        /// Position of the origin of the shape.
        #[serde(default)]
        pub position: Option<Triple<Length>>,
        /// Axes of the shape against those of the world.
        #[serde(default)]
        pub rotation: Option<Rotation>,
    }

    /// Balls about points.
    #[serde(rename = "Points")]
    pub struct PointsColliderSpec {
        /// The node of points.
        pub node: String,
        /// Its name, if not that of the node.
        #[serde(default)]
        pub name: Option<String>,
        /// Radius of the balls.
        pub radius: Quantity<Length>,
        /// Which points; all by default.
        #[serde(default)]
        pub elements: Option<Elements>,
        /// Whether they collide with each other.
        #[serde(default)]
        pub self_contact: bool,
    }

    /// Lines between points, with a radius.
    #[serde(rename = "Cable")]
    pub struct CableColliderSpec {
        /// The node of points.
        pub node: String,
        /// Its name, if not that of the node.
        #[serde(default)]
        pub name: Option<String>,
        /// Radius of the cable.
        pub radius: Quantity<Length>,
        /// Pairs of points; by default the edges of a net, of other nodes each point and the next.
        #[serde(default)]
        pub segments: Option<Vec<[Quantity<Pure>; 2]>>,
        /// Collision with itself where points are more than this many segments apart; without, it
        /// does not.
        #[serde(default)]
        pub self_contact: Option<Quantity<Length>>,
    }

    /// Triangles between points, with a thickness.
    #[serde(rename = "Cloth")]
    pub struct ClothColliderSpec {
        /// The node of points.
        pub node: String,
        /// Its name, if not that of the node.
        #[serde(default)]
        pub name: Option<String>,
        /// Half the thickness.
        pub radius: Quantity<Length>,
        /// Triples of points; by default the triangles of the mesh of the node.
        #[serde(default)]
        pub triangles: Option<Vec<Triple<Pure>>>,
        /// Collision with itself where points are more than this many edges apart; without, it
        /// does not.
        #[serde(default)]
        pub self_contact: Option<Quantity<Length>>,
    }
}

/// The shape of a collider in axes of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "shape")]
pub enum OutlineSpec {
    /// Everything below the plane through the origin with this outward normal.
    Plane(Triple<Pure>),
    /// A box of these edge lengths.
    Box(Triple<Length>),
    /// A ball of this radius.
    Sphere(Quantity<Length>),
    /// A cylinder along z.
    Cylinder(CylinderSpec),
    /// A cylinder along z with half balls at both ends.
    Capsule(CapsuleSpec),
    /// A cone along z with 32 flat sides, its origin a quarter of the height above the base.
    Cone(ConeSpec),
    /// The convex hull of points.
    Hull(HullSpec),
    /// A closed surface of triangles, with matter inside.
    Surface(SurfaceSpec),
    /// Triangles without thickness: what touches one stays on its side.
    Sheet(SheetSpec),
    /// Ground of given heights.
    HeightField(HeightFieldSpec),
    /// Everything where a signed distance on a grid is negative.
    DistanceField(Box<DistanceFieldSpec>),
    /// Several shapes as one.
    Compound(Vec<PartShapeSpec>),
}

/// Triangles without thickness.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Sheet", deny_unknown_fields)]
pub struct SheetSpec {
    /// The mesh file, relative to the scene file.
    #[serde(deserialize_with = "texts::file")]
    pub file: String,
    /// Factor on its coordinates; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
}

/// Ground of given heights over the x y plane, the first at the origin.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "HeightField", deny_unknown_fields)]
pub struct HeightFieldSpec {
    /// Rows along x, one after the other along y.
    pub heights: Vec<Vec<Quantity<Length>>>,
    /// Distances along x and y.
    pub spacing: [Quantity<Length>; 2],
}

/// The signed distance from the surface of a mesh, or by a formula, on a grid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "DistanceField", deny_unknown_fields)]
pub struct DistanceFieldSpec {
    /// The file of a closed mesh, relative to the scene file; this or a formula.
    #[serde(default, deserialize_with = "texts::maybe_file")]
    pub file: Option<String>,
    /// Factor on the coordinates of the mesh; 1 by default.
    #[serde(default = "one")]
    pub scale: Quantity<Length>,
    /// The distance at the place `$x`, `$y`, `$z`, negative inside.
    #[serde(default)]
    pub formula: Option<Quantity<Length>>,
    /// Lowest corner of the grid of a formula.
    #[serde(default)]
    pub from: Option<Triple<Length>>,
    /// Highest corner of the grid of a formula.
    #[serde(default)]
    pub to: Option<Triple<Length>>,
    /// Distance of the points of the grid.
    pub spacing: Quantity<Length>,
}

/// A part of a compound.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Compound", deny_unknown_fields)]
pub struct PartShapeSpec {
    /// Its shape.
    pub shape: OutlineSpec,
    /// Position of its origin.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Its axes.
    #[serde(default)]
    pub rotation: Option<Rotation>,
}

/// Treatment of overlap.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "overlap")]
pub enum OverlapSpec {
    /// Overlap stays.
    Keep,
    /// Positions are corrected after the step, velocities are not.
    Correct(CorrectSpec),
    /// The rows of the step push it out.
    Rows(RowsSpec),
}

/// Correction of positions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Correct", deny_unknown_fields)]
pub struct CorrectSpec {
    /// Overlap that may stay; 1e-6 by default.
    #[serde(default)]
    pub allowed: Option<Quantity<Length>>,
    /// Largest speed of recovery; 1 by default.
    #[serde(default)]
    pub speed: Option<Quantity<Velocity>>,
}

/// Recovery within the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Rows", deny_unknown_fields)]
pub struct RowsSpec {
    /// Rate of decay in 1/s.
    pub rate: Quantity<Rate>,
    /// Largest speed of recovery; 1 by default.
    #[serde(default)]
    pub speed: Option<Quantity<Velocity>>,
}

/// When islands at rest fall asleep.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "sleeping", deny_unknown_fields)]
pub struct SleepingSpec {
    /// Largest speed; 1e-3 by default.
    #[serde(default)]
    pub speed: Option<Quantity<Velocity>>,
    /// Largest angular speed; 1e-2 by default.
    #[serde(default)]
    pub spin: Option<Quantity<Turning>>,
    /// For how long; 0.5 by default.
    #[serde(default)]
    pub time: Option<Quantity<Time>>,
}

fn half<D: Units>() -> Quantity<D> {
    0.5.into()
}

fn margin() -> Quantity<Length> {
    1e-4.into()
}
