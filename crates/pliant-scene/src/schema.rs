//! The words of scene files. Unknown keys are errors everywhere.
//!
//! Lengths are in metres, masses in kilograms, times in seconds, forces in newtons, compliances in
//! metres per newton (of angles: radians per newton metre). Every [`Number`] may be an expression
//! in quotes.

#[macro_use]
mod shared;

mod actuators;
mod adaptive;
mod axial_laws;
mod components;
mod contacts;
mod controllers;
mod events;
mod formulas;
mod functions;
mod include;
mod joints;
mod laws;
mod local;
mod mappings;
mod nodes;
mod parts;
mod picture;
mod record;
mod rods;
mod run;
mod selections;
mod sensors;
mod sheets;
mod shells;
mod solid_materials;
mod solid_muscles;
mod solids;
mod statics;
mod units;

pub use actuators::ActuatorSpec;
pub use adaptive::{AdaptiveSpec, EventsSpec};
pub use axial_laws::{
    BlemkerAxialSpec, ConstantMuscleSpec, CosineMuscleSpec, ForceLengthCurve, ForceLengthSpec,
    KeptCosineMuscleSpec, LigamentCurve, LigamentSpec, LinearMuscleSpec, SimpleMuscleSpec,
};
pub use components::{
    Axis, BaumgarteSpec, BoundsSpec, ConstraintSpec, FixedSpec, ForceFieldSpec, LevelSpec, MassSpec,
    RayleighSpec, RestitutionSpec, VelocityLevelSpec,
};
pub use contacts::{
    AxesSpec, BodiesColliderSpec, BodyColliderSpec, CableColliderSpec, ClothColliderSpec, ColliderSpec,
    ContactLawSpec, CorrectSpec, DistanceFieldSpec, EllipseSpec, FixedColliderSpec, FrictionModelSpec,
    HeightFieldSpec, MaterialPairSpec, MaterialSpec, OutlineSpec, OverlapSpec, PartShapeSpec,
    PointsColliderSpec, PyramidSpec, RowsSpec, SheetSpec, SleepingSpec, SurfaceContactSpec,
};
pub use controllers::{ControlLawSpec, ControllerSpec, PidSpec};
pub use events::{ActionSpec, BreakingSpec, EventSpec, RemoveSpec};
pub use formulas::{FormulaMappingSpec, PotentialSpec};
pub use functions::{ColumnsSpec, FunctionSpec, SplineShape, SplineSpec, TableSpec};
pub use include::IncludeSpec;
pub use joints::{
    BushingSpec, DamperSpec, EllipsoidSpec, FrictionSpec, GearSpec, JointKindSpec, JointSpec, LengthSpec,
    LimitsSpec, MotorSpec, PositionMotorSpec, ScrewSpec, SideFrameSpec, SideSpec, SkewedUniversalSpec,
    SpringSpec, TwistSpec, VelocityMotorSpec,
};
pub use laws::{
    ActivationDynamicsSpec, BodyForceSpec, CurveSpec, DampingSpec, DragSpec, GasSpec, Law, MatrixSpec,
    MuscleCurves, MuscleSpec, MuscleTendonSpec, SaturatingSpec, SpringLawSpec, StiffeningSpec,
};
pub use local::Local;
pub use mappings::{
    AffineEntrySpec, AffineSpec, AreaSpec, AxisSpec, BarycentricSpec, BeamSegmentSpec, BeamStrainSpec,
    CentreOfMassSpec, ChainsSpec, Chart, CurveMappingSpec, DihedralSpec, DistanceSpec, DrumSpec, Fit,
    FittedFrameSpec, FittedFramesSpec, FrameSpec, GearMappingSpec, GearPairSpec, HeadingSpec, HingesSpec,
    JointCoordinatesSpec, Letter, Mapped, Mapping, MaskSpec, ObstacleSpec, PairingSpec, PairsSpec,
    ProjectionSpec, QuadraticSpec, RelativePoseSpec, RelativeRotationSpec, RestPose, RigidFramesSpec,
    RigidPointsSpec, RopeSpec, RopesSpec, SafeDistanceSpec, SegmentAngleSpec, SkinningSpec, SubsetSpec,
    VolumeSpec, WinchDrumSpec, WinchSpec, WrapCylinderSpec, WrapSideSpec, WrapSurfaceSpec, WrappedRopeSpec,
    WrappedRopesSpec,
};
pub use nodes::{
    AxisAngle, Bodies, Body, CapsuleSpec, ConeSpec, CylinderSpec, Formula, HullSpec, Line, Particles,
    Rotation, Scalars, ShapeSpec, SurfaceSpec,
};
pub use parts::{Cable, CableEnd, MeshPart, Net, Rod};
pub use picture::{CameraSpec, PictureSpec, ViewSpec};
pub use record::{
    ContactProbeSpec, DistanceProbeSpec, EnergySpec, ExpressionSpec, GaugeSpec, OfSpec, PlaceSpec, ProbeSpec,
};
pub use rods::{ElasticRod, SectionSpec};
pub use run::{
    AccuracySpec, CertifiedSpec, GeneralisedAlphaSpec, GeometrySpec, IntegratorSpec, NewmarkSpec, Run,
    StabilisationSpec,
};
pub use selections::{BallSelection, Elements, GroupSpec, PlaneSelection, RangeSelection, Selection};
pub use sensors::SensorSpec;
pub use sheets::{
    BendingSpec, ElasticSheet, SheetElements, SheetMaterial, SheetRectangle, SheetShape, WovenSpec,
};
pub use shells::ElasticShell;
pub use solid_materials::{
    ArrudaBoyceSpec, CostaSpec, FibreFamilySpec, FibreReinforcedSpec, FungSpec, MooneyRivlinSpec, OgdenSpec,
    OgdenTermSpec, OrthotropicSpec, SolidMaterial, SolidRegionSpec, VerondaWestmannSpec, YeohSpec, YoungSpec,
};
pub use solid_muscles::{BlemkerMuscleSpec, GenericMuscleSpec, MuscleLawSpec, SolidMuscleSpec};
pub use solids::{
    CellsSpec, EmbeddedSurface, PlasticSpec, PronyTermSpec, ReducedSpec, Solid, SolidBall, SolidBox,
    SolidCylinder, SolidElements, SolidFile, SolidShape, SolidTube, SymmetrySpec,
};
pub use statics::StaticsSpec;
pub use units::UnitsSpec;

use super::course::Course;
use super::number::{EndSpec, Number, OneOrMany};
use super::quantity::{Acceleration, Pure, Quantity, Units};
use super::texts;
use pliant::collision::FrictionRule;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Three numbers.
pub type Triple<D> = [Quantity<D>; 3];

/// Elements with the weights that they have in a mean.
pub type Weights = Vec<(EndSpec, Quantity<Pure>)>;

/// A scene.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Shown above pictures and tables.
    #[serde(default, deserialize_with = "texts::plain")]
    pub title: String,
    /// A description.
    #[serde(default, deserialize_with = "texts::plain")]
    pub about: String,
    /// Units of the numbers of this file that have none of their own; those of SI by default.
    #[serde(default)]
    pub units: Option<UnitsSpec>,
    /// Numbers that expressions use as `$name`; `--set name=value` overrides them.
    #[serde(default)]
    pub parameters: BTreeMap<String, Number>,
    /// Functions out of files that expressions use as `name($t)`.
    #[serde(default)]
    pub functions: BTreeMap<String, FunctionSpec>,
    /// Files whose entries are part of the scene.
    #[serde(default)]
    pub include: Vec<IncludeSpec>,
    /// Gravity in m/s^2; none by default.
    #[serde(default)]
    pub gravity: Option<Triple<Acceleration>>,
    /// Damping in proportion to all masses and stiffnesses; none by default.
    #[serde(default)]
    pub rayleigh: Option<RayleighSpec>,
    /// A file with a state, of `pliant run --save`, from which it starts instead of where its nodes
    /// and joints say.
    #[serde(default)]
    pub start_from: Option<String>,
    /// The options of the steps.
    pub run: Run,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Joints between bodies, or bodies and the world.
    #[serde(default)]
    pub joints: Vec<JointSpec>,
    /// Gears between free coordinates of joints.
    #[serde(default)]
    pub gears: Vec<GearSpec>,
    /// Masses of mapped nodes, and further masses.
    #[serde(default)]
    pub masses: Vec<MassSpec>,
    /// Springs, dampers, forces.
    #[serde(default)]
    pub force_fields: Vec<ForceFieldSpec>,
    /// Forces of energies that are expressions.
    #[serde(default)]
    pub potentials: Vec<PotentialSpec>,
    /// Names of elements of nodes.
    #[serde(default)]
    pub groups: BTreeMap<String, GroupSpec>,
    /// Hard constraints.
    #[serde(default)]
    pub constraints: Vec<ConstraintSpec>,
    /// Coordinates that are held, always or for a time.
    #[serde(default)]
    pub fixed: Vec<FixedSpec>,
    /// Surfaces of colliders.
    #[serde(default)]
    pub materials: Vec<MaterialSpec>,
    /// Laws of pairs of materials, where not those that the rules give.
    #[serde(default)]
    pub material_pairs: Vec<MaterialPairSpec>,
    /// The rule by which coefficients of friction combine.
    #[serde(default)]
    pub friction_rule: FrictionRule,
    /// Colliders; none by default.
    #[serde(default)]
    pub colliders: Vec<ColliderSpec>,
    /// Pairs of colliders that do not meet, by name.
    #[serde(default)]
    pub ignore: Vec<(String, String)>,
    /// Quantities that are recorded over the run.
    #[serde(default)]
    pub record: Vec<ProbeSpec>,
    /// Conditions, and what is done where they begin to hold.
    #[serde(default)]
    pub events: Vec<EventSpec>,
    /// Elements that break: solids, sheets and nets tear where they are strained too much.
    #[serde(default)]
    pub breaking: Vec<BreakingSpec>,
    /// Quantities as instruments read them.
    #[serde(default)]
    pub sensors: Vec<SensorSpec>,
    /// Parameters that follow quantities.
    #[serde(default)]
    pub controllers: Vec<ControllerSpec>,
    /// Drives that follow commands.
    #[serde(default)]
    pub actuators: Vec<ActuatorSpec>,
    /// Cameras and colours of pictures.
    #[serde(default)]
    pub picture: Option<PictureSpec>,
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
    /// A rod with stretch, shear, twist and bending.
    ElasticRod(Box<ElasticRod>),
    /// Particles on the edges of a mesh.
    Net(Net),
    /// Particles at the vertices of a mesh.
    Mesh(MeshPart),
    /// A solid of finite elements.
    Solid(Box<Solid>),
    /// A surface that rides in a solid.
    EmbeddedSurface(Box<EmbeddedSurface>),
    /// A sheet with stretch, shear and bending.
    ElasticSheet(Box<ElasticSheet>),
    /// A shell of quadrangles whose nodes are bodies.
    ElasticShell(Box<ElasticShell>),
}

fn one<D: Units>() -> Quantity<D> {
    1.0.into()
}

fn zero<D: Units>() -> Quantity<D> {
    0.0.into()
}
