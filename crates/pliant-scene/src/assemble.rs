//! Schema to model.

#![deny(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are those that a user writes, and may be any number"
)]

mod actuators;
mod adaptive;
mod blame;
mod components;
mod contacts;
mod courses;
mod deformables;
mod distance_fields;
mod elastic_rod;
mod elastic_shell;
mod embedded;
mod ends;
mod entries;
mod formulas;
mod frames;
mod hanging;
mod joint_limits;
mod joints;
mod laws;
mod look;
mod mapped;
mod material_laws;
mod mesh_files;
mod meshes;
mod muscles;
mod nodes;
mod observables;
mod outlines;
mod parameters;
mod parts;
mod place_numbers;
mod reduced;
mod rod;
mod run;
mod selections;
mod shapes;
mod share;
mod sheets;
mod solid_materials;
mod solid_muscles;
mod solids;
mod start_from;
mod starts;
mod statics;
mod swing;
mod tables;
mod units;
mod values;

pub use courses::{InputCourse, Varying};
pub use run::INTEGRATORS;
pub use statics::StaticsPlan;

use super::controller::Controller;
use super::deformable::{Deformable, DeformableParts};
use super::event::Events;
use super::observable::Observables;
use super::picture::Picture;
use super::schema::{Node, Scene};
use super::signal::{Actuator, Sensor};
use super::source::{Source, SourceText, Where};
use super::{Number, SceneError, SceneFile, Warning};
use crate::inputs::InputFile;
use blame::{contact_error, continuum_error, model_error};
use mesh_files::MeshFiles;
use outlines::Outline;
use parameters::Parameters;
use pliant::Options;
use pliant::collision::{ContactError, World};
use pliant::continuum::{ContinuumError, Element};
use pliant::model::{JointHandle, JointKind, Model, ModelError, NodeId, State};
use pliant_expression::PointCurve;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The most that a scene may ask for: it is counted before the work, and more is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elements of all nodes, mapped ones included: points, bodies, quadrature points, rows. The
    /// meshes that a scene reads have at most five times as many vertices and cells, counted at
    /// each use, with the values of the grids of distance fields; each of these grids has at most
    /// as many values as there may be elements.
    pub elements: usize,
    /// Bytes of each file of a mesh.
    pub mesh_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            elements: 1_000_000,
            mesh_bytes: pliant_mesh_io::LARGEST_FILE,
        }
    }
}

/// Values given beside the file.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Parameters that replace those of the file, as numbers or expressions.
    pub parameters: Vec<(String, Number)>,
    /// Length of a step, instead of the file's.
    pub step: Option<f64>,
    /// Simulated time, instead of the file's.
    pub duration: Option<f64>,
    /// Name of the integrator, one of [`INTEGRATORS`], instead of the file's.
    pub integrator: Option<String>,
    /// The most that the scene may ask for.
    pub limits: Limits,
    /// Directories that the scene may read meshes in, beside its own. A mesh elsewhere is an error,
    /// whether its path or a symbolic link leads there.
    pub mesh_directories: Vec<PathBuf>,
    /// Parameters that may change while the scene runs, beside those that its events and
    /// controllers set: who runs it sets them. Names of others are passed over.
    pub varied: Vec<String>,
    /// Threads that steps are shared by. No result depends on their number.
    pub threads: ThreadChoice,
}

/// The number of threads that the steps of a scene are shared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadChoice {
    /// The number that the scene has under `run`, and this one if it has none.
    SceneOr(usize),
    /// This number, whatever the scene has.
    Exactly(usize),
}

impl Default for ThreadChoice {
    fn default() -> Self {
        Self::SceneOr(1)
    }
}

/// The length of a run, and the pictures of it that are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPlan {
    /// Length of a step in seconds.
    pub step: f64,
    /// Simulated time in seconds.
    pub duration: f64,
    /// Number of steps; the last is shorter if the duration is no multiple of the step.
    pub steps: usize,
    /// Steps per recorded frame.
    pub record_every: usize,
    /// Steps that choose their length; frames are those of steps of the given length all the same.
    pub adaptive: Option<pliant::Adaptive>,
}

/// Coordinates that are held for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The node.
    pub node: NodeId,
    /// Its elements.
    pub elements: Vec<usize>,
    /// Which coordinates of each.
    pub coordinates: Vec<bool>,
    /// Their velocities.
    pub velocity: Vec<f64>,
    /// When it starts, in seconds.
    pub from: f64,
    /// When it ends, in seconds; infinite for always.
    pub until: f64,
}

/// A scene that is ready to run.
#[derive(Debug)]
pub struct BuiltScene {
    /// The file as the user named it.
    pub file: String,
    /// Title of the scene; the file's stem if it has none.
    pub title: String,
    /// All parameters with their values.
    pub parameters: BTreeMap<String, f64>,
    /// The model.
    pub model: Model,
    /// The options of the steps.
    pub options: Options,
    /// The length of a run, and the pictures of it that are recorded.
    pub plan: RunPlan,
    /// Equilibria instead of motion.
    pub statics: Option<StaticsPlan>,
    /// The state that it starts from, if that is not the one of its model.
    pub start: Option<State>,
    /// Coordinates that are held for a time.
    pub holds: Vec<Hold>,
    /// The joints: name, kind, and what the model made of them.
    pub joints: Vec<(String, JointKind, JointHandle)>,
    /// The picture.
    pub picture: Picture,
    /// The colliders, if there are any.
    pub world: Option<World>,
    /// Inputs of forces that change with time.
    pub inputs: Vec<InputCourse>,
    /// Motions of rows that depend on parameters which change.
    pub varying: Vec<Varying>,
    /// Quantities that are measured.
    pub observables: Observables,
    /// Solids, sheets and rods, whose stresses can be read.
    pub deformables: Vec<Deformable>,
    /// Conditions, and what is done where they begin to hold.
    pub events: Events,
    /// Parameters that follow quantities.
    pub controllers: Vec<Controller>,
    /// Quantities as instruments read them.
    pub sensors: Vec<Sensor>,
    /// Drives that follow commands.
    pub actuators: Vec<Actuator>,
    /// Numbers in units that are hardly meant.
    pub suspicions: Vec<Warning>,
    /// The text, to show where something is said.
    pub places: Places,
    /// CRC-32 of the meshes that it reads.
    pub meshes: u32,
    /// The meshes that it reads.
    pub mesh_files: Vec<InputFile>,
    /// The files that it includes.
    pub included: Vec<InputFile>,
    /// Settings of the run that were given beside the file.
    pub given: Given,
}

/// Settings of a run that were given beside the scene's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Length of a step in seconds.
    pub step: Option<f64>,
    /// Simulated time in seconds.
    pub duration: Option<f64>,
    /// Name of the integrator.
    pub integrator: Option<String>,
}

/// The text of a scene, to show where something was said.
#[derive(Clone, Debug)]
pub struct Places(SourceText);

impl BuiltScene {
    /// The text of the scene file.
    pub fn text(&self) -> &str {
        self.places.0.own_text()
    }

    /// Returns the text of the scene file and of all that it includes, one after the other.
    pub fn whole_text(&self) -> &str {
        &self.places.0.text
    }

    /// Returns a checksum of the files that the scene includes and of the meshes that it reads.
    pub fn file_checksum(&self) -> u32 {
        let mut sum = self.meshes;
        for file in &self.included {
            sum = crc32fast::hash(&[sum.to_le_bytes(), file.crc32.to_le_bytes()].concat());
        }
        sum
    }

    /// Against gravity; up the y axis without gravity.
    pub fn up(&self) -> [f64; 3] {
        let g = self.model.initial_parameters().gravity();
        if g == [0.0; 3] {
            [0.0, 1.0, 0.0]
        } else {
            g.map(|c| 0.0 - c)
        }
    }
}

impl Places {
    /// A complaint of the simulation before its first step, with its place in the file.
    pub fn error(&self, error: pliant::Error) -> SceneError {
        match error {
            pliant::Error::Model(error) => model_error(Source::from(&self.0), error),
            error => {
                let message = error.to_string();
                let mut help = None;
                let named = match error {
                    pliant::Error::Unsupported { option, .. } => {
                        let key = match option {
                            Some("geometry") => Some("geometric_stiffness"),
                            other => other,
                        };
                        help = key.map(|key| match key {
                            "pre_stabilisation" | "post_stabilisation" => format!("leave `{key}` out"),
                            _ => format!("leave `{key}` out, or take `integrator: Theta`"),
                        });
                        let keys = key.into_iter().chain(["integrator"]);
                        keys.map(Where::Key).collect()
                    }
                    pliant::Error::Memory { .. }
                    | pliant::Error::Yielding { .. }
                    | pliant::Error::Unstable { .. } => {
                        vec![Where::Key("integrator")]
                    }
                    pliant::Error::FrictionCoupling { .. } => vec![Where::Key("friction_coupling")],
                    pliant::Error::LinearSolver { .. } => vec![Where::Key("linear")],
                    pliant::Error::NeedsStabilisation { .. } => vec![Where::Key("adaptive_step")],
                    pliant::Error::Baumgarte { .. } => places_of(&message, &["rate"]),
                    pliant::Error::NoValue { .. } => places_of(&message, &["when"]),
                    _ => places_of(&message, &[]),
                };
                let places = [named, vec![Where::Key("run")]].concat();
                let diagnostic = Box::new(self.0.about(&places, message.clone(), help));
                SceneError::Simulation {
                    diagnostic,
                    source: Box::new(error),
                }
            }
        }
    }

    /// A warning at the first of these keys of what its message names first, or at that name.
    pub fn warning(&self, message: String, keys: &[&'static str], help: Option<String>) -> Warning {
        let places = places_of(&message, keys);
        Warning(self.0.about(&places, message.clone(), help))
    }

    /// A complaint at the first of these keys of what its message names first, or at that name.
    pub fn refusal(&self, message: String, keys: &[&'static str], help: Option<String>) -> SceneError {
        SceneError::Value(Box::new(self.warning(message, keys, help).0))
    }

    /// A warning where one of these names is used, or stands.
    pub fn warning_at(&self, names: &[&str], message: String, help: &str) -> Warning {
        let used = names.iter().map(|n| Where::Used(n, "node"));
        let places: Vec<_> = used.chain(names.iter().map(|n| Where::Name(n))).collect();
        Warning(self.0.about(&places, message, Some(help.to_owned())))
    }
}

/// Places of the component or node that a message names first, which parts call
/// `part.something`: these keys of it, then its name.
fn places_of<'a>(message: &'a str, keys: &[&'static str]) -> Vec<Where<'a>> {
    let name = message.split('`').nth(1).unwrap_or_default();
    let part = name.split_once('.').map_or(name, |(part, _)| part);
    let fields = keys
        .iter()
        .flat_map(|key| [Where::Field(name, key), Where::Field(part, key)]);
    fields.chain([Where::Name(name), Where::Name(part)]).collect()
}

type Result<T> = std::result::Result<T, SceneError>;

/// A scene in the making.
struct Builder<'a> {
    scene: &'a Scene,
    /// Simulated time.
    duration: f64,
    /// Joints made so far: place in the scene, name, kind, what the model made of them.
    joints: Vec<(usize, String, JointKind, JointHandle)>,
    /// The joints of the scene by their names.
    joint_names: BTreeMap<&'a str, usize>,
    /// Joints that are made, by their places in the scene.
    made_joints: BTreeSet<usize>,
    inputs: Vec<InputCourse>,
    /// Parameters that change while the scene runs, with their values at the start.
    varied: Vec<(String, f64)>,
    /// How many of them are parameters; behind these are signals of sensors and actuators.
    varied_parameters: usize,
    /// Motions that depend on them.
    varying: Vec<Varying>,
    source: Source<'a>,
    limits: Limits,
    files: MeshFiles<'a>,
    parameters: Parameters,
    /// Bodies that start elsewhere than they are written, by node and element.
    starts: BTreeMap<(String, usize), starts::Start>,
    /// Functions of the scene that are out of files.
    functions: BTreeMap<String, PointCurve>,
    /// Parameters that were given beside the file.
    given: &'a [(String, Number)],
    model: Model,
    options: Options,
    holds: Vec<Hold>,
    picture: Picture,
    /// Elements of all nodes so far.
    elements: usize,
    /// `$i` of the body that is being repeated.
    index: Option<usize>,
    /// Shapes of bodies for collisions.
    outlines: BTreeMap<(NodeId, usize), Outline>,
    /// Bodies that a joint holds together: node and element.
    joined: Vec<[(NodeId, usize); 2]>,
    /// Elements of two nodes that a constraint holds in one place.
    tied: Vec<[(NodeId, usize); 2]>,
    /// Pairs of elements that each node of differences is of.
    differences: BTreeMap<NodeId, Vec<[(NodeId, usize); 2]>>,
    /// Nodes that are the vertices of a mesh.
    skins: BTreeMap<NodeId, Skin>,
    /// Poses of included files.
    frames: frames::Frames,
    /// Mapped nodes by their names, where included files have a place.
    mapped: BTreeMap<&'a str, &'a crate::schema::Mapped>,
    /// Names of elements.
    groups: selections::Groups,
    /// Elements of the solids.
    solids: BTreeMap<NodeId, Vec<Element>>,
    /// Lengths of nets and cables, by the names of these.
    nets: BTreeMap<String, Edges>,
    /// Solids, sheets and rods, in the order of the scene.
    deformables: Vec<Deformable>,
    /// The colliders of each name, sorted by their places in the world.
    colliders: BTreeMap<String, Vec<u32>>,
    /// The initial state of the nodes so far, if it was asked for since the last node.
    initial: Option<State>,
    units: units::Units,
}

/// The edges of a net or a cable.
struct Edges {
    /// The node of their lengths.
    lengths: NodeId,
    /// The points that they join.
    ends: Vec<[usize; 2]>,
    /// Lengths at rest (m).
    rests: Vec<f64>,
}

/// The edges and triangles of a mesh that can touch.
struct Skin {
    edges: Vec<[usize; 2]>,
    triangles: Vec<[usize; 3]>,
}

/// A builder that has nothing yet.
fn builder<'a>(file: &'a SceneFile, settings: &'a Settings) -> Builder<'a> {
    let scene = &file.schema;
    Builder {
        scene,
        duration: 0.0,
        joints: Vec::new(),
        joint_names: BTreeMap::new(),
        made_joints: BTreeSet::new(),
        inputs: Vec::new(),
        varied: Vec::new(),
        varied_parameters: 0,
        varying: Vec::new(),
        source: Source::from(&file.source),
        limits: settings.limits,
        files: MeshFiles::of(file, settings),
        parameters: Parameters::default(),
        starts: BTreeMap::new(),
        functions: BTreeMap::new(),
        given: &settings.parameters,
        model: Model::new(),
        options: Options {
            numerical_parts: true,
            ..Options::default()
        },
        holds: Vec::new(),
        picture: Picture::default(),
        elements: 0,
        index: None,
        outlines: BTreeMap::new(),
        joined: Vec::new(),
        tied: Vec::new(),
        differences: BTreeMap::new(),
        skins: BTreeMap::new(),
        frames: frames::Frames::new(),
        mapped: BTreeMap::new(),
        groups: selections::Groups::default(),
        solids: BTreeMap::new(),
        nets: BTreeMap::new(),
        deformables: Vec::new(),
        colliders: BTreeMap::new(),
        initial: None,
        units: units::Units::default(),
    }
}

/// The values of the parameters of a scene.
pub(super) fn parameters(file: &SceneFile, settings: &Settings) -> Result<BTreeMap<String, f64>> {
    let mut builder = builder(file, settings);
    tables::functions(&mut builder)?;
    builder.parameters(&file.schema, settings)?;
    Ok(builder.parameters.values)
}

pub(super) fn assemble(file: &SceneFile, settings: &Settings) -> Result<BuiltScene> {
    let scene = &file.schema;
    let mut builder = builder(file, settings);
    tables::functions(&mut builder)?;
    builder.parameters(scene, settings)?;
    builder.take_frames(&file.places)?;
    observables::variables(&mut builder, scene, &settings.varied)?;
    observables::signals(&mut builder, scene)?;
    builder.follow()?;
    builder.duration = run::duration(&builder, settings.duration, &scene.run)?;
    starts::find(&mut builder)?;
    joints::index_joints(&mut builder)?;
    nodes(&mut builder, scene)?;
    builder.picture.collides = !scene.colliders.is_empty();
    joints::add_joints(&mut builder, scene)?;
    selections::name_groups(&mut builder)?;
    selections::check_groups(&builder)?;
    components::add_components(&mut builder, scene)?;
    formulas::add_potentials(&mut builder, scene)?;
    actuators::add_actuators(&mut builder, scene)?;
    let of_fixed = components::fixed(&mut builder, scene)?;
    run::laws_of_contact(&mut builder, &scene.run)?;
    let world = contacts::world(&mut builder, scene)?;
    if let Some(spec) = &scene.picture {
        builder.picture.look = look::look(&builder, spec)?;
    }
    damping_ratios(&mut builder)?;
    let plan = run::plan(&mut builder, &scene.run, settings)?;
    let statics = statics::plan(&builder, &scene.run)?;
    let (start, of_start) = start_from::state(&builder, scene)?;
    let mut suspicions = units::suspicions(&mut builder)?;
    suspicions.extend(of_fixed);
    suspicions.extend(of_start);
    // In the order of the scene.
    builder.joints.sort_by_key(|(index, ..)| *index);
    let (observables, events, controls) = observables::record(&builder, &plan)?;
    let joints = builder
        .joints
        .into_iter()
        .map(|(_, name, kind, handle)| (name, kind, handle));
    let stem = || {
        file.path
            .file_stem()
            .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
    };
    Ok(BuiltScene {
        file: file.source.file.clone(),
        title: if scene.title.is_empty() {
            stem()
        } else {
            scene.title.clone()
        },
        parameters: builder.parameters.values,
        model: builder.model,
        options: builder.options,
        plan,
        statics,
        start,
        holds: builder.holds,
        joints: joints.collect(),
        inputs: builder.inputs,
        observables,
        deformables: builder.deformables,
        varying: builder.varying,
        events,
        sensors: controls.sensors,
        controllers: controls.controllers,
        actuators: controls.actuators,
        picture: builder.picture,
        world,
        suspicions,
        places: Places(file.source.clone()),
        meshes: builder.files.checksum(),
        mesh_files: builder.files.read(),
        included: file.included.clone(),
        given: Given {
            step: settings.step,
            duration: settings.duration,
            integrator: settings.integrator.clone(),
        },
    })
}

/// Gives compliances with a damping ratio their relaxation times, now that all masses are there.
fn damping_ratios(builder: &mut Builder<'_>) -> Result<()> {
    let Some(first) = builder.model.damping_ratios().next() else {
        return Ok(());
    };
    let name = builder.model.component_name(first.0).to_owned();
    let model = std::mem::replace(&mut builder.model, Model::new());
    match pliant::resolve_damping_ratios(model) {
        Ok(model) => {
            builder.model = model;
            Ok(())
        }
        Err(pliant::Error::Model(error)) => Err(builder.model_error(error)),
        Err(error) => {
            let message = format!("the mass that `{name}` moves is not found: {error}");
            builder.wrong(
                &[Where::Field(&name, "damping_ratio"), Where::Name(&name)],
                message,
                None,
            )
        }
    }
}

/// The diagonal of the box about all points and bodies of a state (m).
pub fn extent(model: &Model, state: &State) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for node in model.nodes() {
        if !node.is_placed() {
            continue;
        }
        let stride = node.space.position_size();
        for x in state.positions[node.position_range()].chunks_exact(stride) {
            for k in 0..3 {
                (low[k], high[k]) = (low[k].min(x[k]), high[k].max(x[k]));
            }
        }
    }
    let edges = [0, 1, 2].map(|k| (high[k] - low[k]).max(0.0));
    edges.iter().fold(0.0, |a: f64, e| a.hypot(*e))
}

fn nodes<'a>(builder: &mut Builder<'a>, scene: &'a Scene) -> Result<()> {
    if let Some(gravity) = &scene.gravity {
        let gravity = builder.triple(gravity, Where::Key("gravity"))?;
        builder
            .model
            .set_gravity(gravity)
            .map_err(|e| builder.model_error(e))?;
    }
    entries::each(builder, "nodes", &scene.nodes, |builder, node| {
        match node {
            Node::Particles(node) => nodes::add_particles(builder, node),
            Node::Scalars(node) => nodes::add_scalars(builder, node),
            Node::Bodies(node) => nodes::add_bodies(builder, node),
            Node::Mapped(node) => mapped::add(builder, node),
            Node::Cable(node) => parts::add_cable(builder, node),
            Node::Rod(node) => rod::add(builder, node),
            Node::ElasticRod(node) => elastic_rod::add(builder, node),
            Node::Net(node) => meshes::add_net(builder, node),
            Node::Mesh(node) => meshes::add_mesh(builder, node),
            Node::Solid(node) => solids::add(builder, node),
            Node::EmbeddedSurface(node) => embedded::add(builder, node),
            Node::ElasticSheet(node) => sheets::add(builder, node),
            Node::ElasticShell(node) => elastic_shell::add(builder, node),
        }?;
        selections::name_groups(builder)
    })
}

impl Builder<'_> {
    /// Takes a solid, a sheet or a rod.
    fn deform(&mut self, name: &str, parts: DeformableParts) {
        let name = name.to_owned();
        let new = Deformable {
            name,
            parts,
            cells: Vec::new(),
        };
        // Numbers of four bytes; points of its own where they are hidden.
        let region = new.region(&self.model, &self.picture);
        let numbers = region
            .numbers()
            .div_ceil(2)
            .saturating_add(region.point_count.saturating_mul(3));
        self.picture.field_numbers = self.picture.field_numbers.saturating_add(numbers);
        self.deformables.push(new);
    }

    fn model_error(&self, error: ModelError) -> SceneError {
        model_error(self.source, error)
    }

    fn continuum_error(&self, name: &str, key: &str, error: ContinuumError) -> SceneError {
        continuum_error(self.source, name, key, error)
    }

    fn contact_error(&self, name: &str, key: &str, error: &ContactError) -> SceneError {
        contact_error(self.source, name, key, error)
    }

    /// A complaint about a place.
    fn wrong<T>(&self, places: &[Where<'_>], message: String, help: Option<String>) -> Result<T> {
        Err(SceneError::Value(Box::new(
            self.source.about(places, message, help),
        )))
    }
}
