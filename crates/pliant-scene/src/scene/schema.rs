//! What a scene file says, word by word. Unknown keys are errors everywhere.
//!
//! Lengths are in metres, masses in kilograms, times in seconds, forces in newtons, compliances in metres per newton (of
//! angles: radians per newton metre). Every [`Number`] may be an expression in quotes.

mod parts;
mod run;

pub use parts::{Cable, CableEnd, Net, Rod};
pub use run::{FormulationSpec, GeometrySpec, GyroscopicSpec, MetricSpec, PartSpec, Run, StabilisationSpec};

use super::number::{EndSpec, Number, OneOrMany};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Three numbers.
pub type Triple = [Number; 3];

/// A scene.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Shown above pictures and tables.
    #[serde(default)]
    pub title: String,
    /// What there is to see.
    #[serde(default)]
    pub about: String,
    /// Numbers that expressions use as `$name`; `--set name=value` overrides them.
    #[serde(default)]
    pub parameters: BTreeMap<String, Number>,
    /// Gravity in m/s^2; none by default.
    #[serde(default)]
    pub gravity: Option<Triple>,
    /// How steps are taken.
    pub run: Run,
    /// What there is.
    pub nodes: Vec<Node>,
    /// Masses of mapped nodes, and further masses.
    #[serde(default)]
    pub masses: Vec<MassSpec>,
    /// Springs, dampers, forces.
    #[serde(default)]
    pub force_fields: Vec<ForceFieldSpec>,
    /// What is hard.
    #[serde(default)]
    pub constraints: Vec<ConstraintSpec>,
    /// Coordinates that are held, always or for a time.
    #[serde(default)]
    pub fixed: Vec<FixedSpec>,
}

/// A node, or a part that expands to several nodes and what belongs to them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "nodes")]
pub enum Node {
    /// Mass points.
    Particles(Particles),
    /// Numbers without a place in space.
    Scalars(Scalars),
    /// Rigid bodies.
    Bodies(Bodies),
    /// A function of other nodes.
    Mapped(Mapped),
    /// A chain of particles.
    Cable(Cable),
    /// A chain of rigid bodies with bending springs.
    Rod(Rod),
    /// Particles on the edges of a mesh.
    Net(Net),
}

/// Mass points: exactly one of `positions`, `line` and `formula` says where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Particles {
    /// Name of the node.
    pub name: String,
    /// One by one.
    #[serde(default)]
    pub positions: Option<Vec<Triple>>,
    /// Evenly from one point to another, both included.
    #[serde(default)]
    pub line: Option<Line>,
    /// By expressions in `$i`, which counts from zero.
    #[serde(default)]
    pub formula: Option<Formula>,
    /// One for all or one for each; at rest by default.
    #[serde(default)]
    pub velocities: Option<Vec<Triple>>,
    /// One for all or one for each.
    pub mass: OneOrMany,
}

/// Points evenly from one to another, both included.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "line", deny_unknown_fields)]
pub struct Line {
    /// The first.
    pub from: Triple,
    /// The last.
    pub to: Triple,
    /// How many.
    pub count: Number,
}

/// Points by expressions in `$i`, which counts from zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "formula", deny_unknown_fields)]
pub struct Formula {
    /// How many.
    pub count: Number,
    /// Where point `$i` is.
    pub position: Triple,
    /// Its velocity; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple>,
}

/// Numbers without a place in space; gravity does not act on them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scalars {
    /// Name of the node.
    pub name: String,
    /// Initial values.
    pub values: Vec<Number>,
    /// Initial velocities; at rest by default.
    #[serde(default)]
    pub velocities: Option<Vec<Number>>,
    /// One for all or one for each.
    pub mass: OneOrMany,
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
    pub position: Option<Triple>,
    /// Body axes against world axes; the same by default.
    #[serde(default)]
    pub rotation: Option<Rotation>,
    /// Gives the inertia and the picture.
    #[serde(default)]
    pub shape: Option<ShapeSpec>,
    /// Its mass.
    pub mass: Number,
    /// Principal moments of inertia about the body axes, instead of those of the shape.
    #[serde(default)]
    pub inertia: Option<Triple>,
    /// Velocity of the centre of mass; at rest by default.
    #[serde(default)]
    pub velocity: Option<Triple>,
    /// Angular velocity in world axes, in rad/s.
    #[serde(default)]
    pub angular_velocity: Option<Triple>,
}

/// A rotation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "rotation")]
pub enum Rotation {
    /// About an axis of any length but zero.
    Axis(AxisAngle),
    /// A quaternion (w, x, y, z) of any length but zero.
    Quaternion([Number; 4]),
}

/// A turn about an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Axis", deny_unknown_fields)]
pub struct AxisAngle {
    /// The axis.
    pub around: Triple,
    /// The angle.
    pub degrees: Number,
}

/// The shape of a body about its centre of mass.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "shape")]
pub enum ShapeSpec {
    /// A box of these edge lengths.
    Box(Triple),
    /// A ball of this radius.
    Sphere(Number),
}

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
    Difference(DifferenceSpec),
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
}

/// Lengths less rest lengths.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Distance", deny_unknown_fields)]
pub struct DistanceSpec {
    /// Pairs of ends, elements or points (x, y, z); by default each element with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
    /// Rest lengths, one for all or one each; by default those at the start.
    #[serde(default)]
    pub rest: Option<OneOrMany>,
}

/// Differences of positions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Difference", deny_unknown_fields)]
pub struct DifferenceSpec {
    /// Pairs of ends, elements or points (x, y, z); by default each element with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
}

/// Points that ride on bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RigidPoints", deny_unknown_fields)]
pub struct RigidPointsSpec {
    /// The body and the point in body axes.
    pub points: Vec<(EndSpec, Triple)>,
}

/// Rotation vectors of one body against another.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "RelativeRotation", deny_unknown_fields)]
pub struct RelativeRotationSpec {
    /// Pairs of bodies; by default each body with the next.
    #[serde(default)]
    pub pairs: Option<Vec<(EndSpec, EndSpec)>>,
    /// Where the rotation is zero.
    #[serde(default)]
    pub rest: RestRotation,
}

/// Where a relative rotation is zero.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "rest")]
pub enum RestRotation {
    /// As at the start.
    #[default]
    Initial,
    /// Where the axes of both bodies agree.
    Aligned,
}

/// Chosen elements.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Subset", deny_unknown_fields)]
pub struct SubsetSpec {
    /// The elements, in any order.
    pub elements: Vec<EndSpec>,
}

/// A matrix and an offset.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Affine", deny_unknown_fields)]
pub struct AffineSpec {
    /// Coordinates per element of the result: 1, 2 or 3.
    pub dimension: Number,
    /// The offset, all coordinates of all elements.
    pub offset: Vec<Number>,
    /// The coefficients that are not zero.
    pub entries: Vec<AffineEntrySpec>,
}

/// One coefficient.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "entries", deny_unknown_fields)]
pub struct AffineEntrySpec {
    /// Element and coordinate of the result.
    pub to: (Number, Number),
    /// Element of a parent.
    pub from: EndSpec,
    /// Its coordinate; 0 by default.
    #[serde(default = "zero")]
    pub coordinate: Number,
    /// The coefficient.
    pub value: Number,
}

/// A further mass, for instance on a mapped node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "masses", deny_unknown_fields)]
pub struct MassSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// One for all or one for each.
    pub mass: OneOrMany,
}

/// A force on a node.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "force_fields", deny_unknown_fields)]
pub struct ForceFieldSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// What it does.
    pub law: Law,
    /// Relaxation time of springs: damping is stiffness times this.
    #[serde(default = "zero")]
    pub relaxation_time: Number,
    /// How it enters the system: springs as compliances, other forces as stiffnesses by default.
    #[serde(default)]
    pub treatment: Option<TreatmentSpec>,
    /// An alpha of its own.
    #[serde(default)]
    pub alpha: Option<Number>,
}

/// What a force does.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law")]
pub enum Law {
    /// A spring to zero of this compliance in every coordinate.
    Compliance(Number),
    /// A spring to zero of this stiffness in every coordinate.
    Stiffness(Number),
    /// A spring of its own compliance in each coordinate, of one element or of all.
    Diagonal(Vec<Number>),
    /// Viscous damping.
    Damping(DampingSpec),
    /// The same force on every element.
    Force(Vec<Number>),
}

/// Viscous damping.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Damping", deny_unknown_fields)]
pub struct DampingSpec {
    /// Of points, scalars and the centre of mass of bodies, in N s/m.
    pub linear: Number,
    /// Of the rotation of bodies, in N m s/rad.
    #[serde(default = "zero")]
    pub angular: Number,
}

/// How a force enters the system.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "treatment")]
pub enum TreatmentSpec {
    /// As a compliance.
    Compliance,
    /// As a stiffness.
    Stiffness,
}

/// A node that is held at zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "constraints", deny_unknown_fields)]
pub struct ConstraintSpec {
    /// Its name.
    pub name: String,
    /// The node.
    pub on: String,
    /// How it is kept; `Position` by default.
    #[serde(default)]
    pub level: LevelSpec,
}

/// How a constraint is kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "level")]
pub enum LevelSpec {
    /// The linearised constraint holds at the end of the step.
    #[default]
    Position,
    /// The same with the curvature of the constraint: third-order drift in smooth motion.
    CurvedPosition,
    /// Only velocities are constrained; drift is left to stabilisation.
    Velocity(VelocityLevelSpec),
    /// The violation decays.
    Baumgarte(BaumgarteSpec),
}

/// A constraint on velocities.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Velocity", deny_unknown_fields)]
pub struct VelocityLevelSpec {
    /// Share of the curvature term; 0.5 by default.
    #[serde(default = "half")]
    pub curvature: Number,
}

fn half() -> Number {
    0.5.into()
}

/// Decay of the violation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Baumgarte", deny_unknown_fields)]
pub struct BaumgarteSpec {
    /// Rate of decay in 1/s.
    pub rate: Number,
}

/// Coordinates that are held, always or for a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "fixed", deny_unknown_fields)]
pub struct FixedSpec {
    /// The node.
    pub node: String,
    /// Its elements; all by default.
    #[serde(default)]
    pub elements: Option<Vec<Number>>,
    /// The coordinates; all by default.
    #[serde(default)]
    pub axes: Option<Vec<Axis>>,
    /// Velocity of each coordinate of an element; zero by default. Of bodies, three numbers or six, angular in body axes.
    #[serde(default)]
    pub velocity: Option<Vec<Number>>,
    /// When it starts; 0 by default.
    #[serde(default)]
    pub from: Option<Number>,
    /// When it ends; never by default.
    #[serde(default)]
    pub until: Option<Number>,
}

/// A velocity coordinate of an element; rotations are about body axes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename = "axes", rename_all = "lowercase")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
    /// Rotation about x.
    Rx,
    /// Rotation about y.
    Ry,
    /// Rotation about z.
    Rz,
}

impl Axis {
    /// Its place among the coordinates.
    pub fn index(self) -> usize {
        self as usize
    }

    /// As written in a scene.
    pub fn name(self) -> &'static str {
        ["x", "y", "z", "rx", "ry", "rz"][self.index()]
    }
}

fn one() -> Number {
    1.0.into()
}

fn zero() -> Number {
    0.0.into()
}
