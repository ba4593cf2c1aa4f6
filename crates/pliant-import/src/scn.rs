//! SOFA's scenes (`.scn`), above all those of its Compliant plugin.
//!
//! The graph of nodes is read once ([`graph`]); meshes ([`topology`]) and states ([`states`],
//! [`mappings`]) are made when something asks for them, for links lead in all directions. Then what
//! acts on the states is written, part by part. A component that no part has taken is a remark.

mod data;
mod forces;
mod forms;
mod graph;
mod joints;
mod laws;
mod mappings;
mod masses;
mod nodes;
mod parts;
mod solids;
mod springs;
mod states;
mod surfaces;
mod topology;

use crate::error::ImportError;
use crate::meshes::Meshes;
use crate::numbers::{number, text, tuple};
use crate::options::Options;
use crate::write::unused;
use crate::xml::Tree;
use forces::Forces;
use graph::{Graph, kind, spot};
use joints::Joints;
use laws::Laws;
use masses::OwnCoordinates;
use parts::Parts;
use pliant_dense::Vec3;
use states::State;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;
use surfaces::Surfaces;
use topology::Topology;

type Result<T> = std::result::Result<T, ImportError>;

/// The deepest nesting of states and meshes that ask for others.
const DEEPEST_LINKS: usize = 48;

/// A SOFA scene that is being read.
struct Input<'a> {
    tree: &'a mut Tree,
    meshes: &'a mut Meshes,
    graph: Graph,
    /// By component: its mesh. What is being made has none.
    topologies: HashMap<usize, Option<Rc<Topology>>>,
    states: Vec<State>,
    /// By `MechanicalObject`: its state.
    by_element: HashMap<usize, Option<usize>>,
    /// By `MechanicalObject`: its name in the scene.
    labels: HashMap<usize, String>,
    /// Names that are taken in the scene.
    names: HashSet<String>,
    counts: HashMap<String, usize>,
    /// How deep the present asking for states and meshes is.
    depth: usize,
    /// Components that some part has taken.
    taken: HashSet<usize>,
    /// Length of a step (s).
    step: f64,
    /// By joint and pair: what acts on it.
    acting: BTreeMap<(usize, usize), joints::Acting>,
    /// Bodies that are held.
    still: HashSet<(usize, usize)>,
    /// Lists of the scene that is written.
    parts: Parts,
}

/// The scene of a SOFA file, without the comment at its head.
pub(crate) fn scene(tree: &mut Tree, root: usize, meshes: &mut Meshes, options: &Options) -> Result<String> {
    tell_of_options(tree, options);
    let gravity = gravity(tree, root)?;
    let step = step(tree, root)?;
    let graph = Graph::read(tree, root);
    let mut reader = Input {
        tree,
        meshes,
        graph,
        topologies: HashMap::new(),
        states: Vec::new(),
        by_element: HashMap::new(),
        labels: HashMap::new(),
        names: HashSet::new(),
        counts: HashMap::new(),
        depth: 0,
        taken: HashSet::new(),
        step,
        acting: BTreeMap::new(),
        still: HashSet::new(),
        parts: Parts::default(),
    };
    reader.read()?;
    let mut out = String::from("(");
    let title = reader.graph.nodes[0].name.as_str();
    if !matches!(title.to_ascii_lowercase().as_str(), "" | "root" | "scene") {
        let _ = write!(out, "\n    title: {},\n", text(title));
    }
    let _ = writeln!(out, "\n    gravity: {},", tuple(gravity.as_slice()));
    // Steps of a second and more are those of scenes that come to rest.
    let duration = if step > 0.2 { 10.0 * step } else { 2.0 };
    let rayleigh = OwnCoordinates(&mut reader).rayleigh()?;
    let _ = write!(out, "{rayleigh}");
    let run = format!("duration: {}, step: {}", number(duration), number(step));
    let _ = writeln!(out, "\n    run: ({run}),");
    reader.parts.write(&mut out);
    out.push_str(")\n");
    Ok(out)
}

/// Remarks on wishes that are for robots.
fn tell_of_options(tree: &mut Tree, options: &Options) {
    let wishes = [
        (options.floating, "--floating"),
        (options.position != [0.0; 3], "--at"),
        (options.self_collision, "--self-collision"),
        (options.ground, "--ground"),
        (!options.start.is_empty(), "--start"),
    ];
    for (_, wish) in wishes.iter().filter(|(wished, _)| *wished) {
        tree.remark_all(format!("{wish} is for robots: a SOFA scene says it itself"));
    }
}

/// Gravity of the root, by default that of SOFA.
fn gravity(tree: &Tree, root: usize) -> Result<Vec3> {
    let given = topology::triple(tree, root, "gravity")?;
    Ok(given.unwrap_or(Vec3::new(0.0, -9.81, 0.0)))
}

fn step(tree: &Tree, root: usize) -> Result<f64> {
    match tree.number(root, "dt")? {
        None => Ok(0.01),
        Some(step) if step > 0.0 => Ok(step),
        Some(step) => {
            let at = tree.attribute(root, "dt").map_or(spot(tree, root), |a| a.spot);
            tree.wrong(at, format!("`dt` is {step}, but must be above zero"), None)
        }
    }
}

impl Input<'_> {
    fn read(&mut self) -> Result<()> {
        self.nodes_themselves()?;
        self.forget_linked_placements();
        self.name_states();
        let nodes = self.graph.nodes.len();
        for node in 0..nodes {
            if let Some(element) = self.state_element(node) {
                self.taken.insert(element);
                self.state_of_element(element)?;
                self.known(element, STATE);
                if self.tree.number(element, "restScale")?.is_some_and(|s| s != 1.0) {
                    let at = spot(self.tree, element);
                    self.tree.remark(
                        at,
                        "`restScale` is not taken: things are at rest as they are placed",
                    );
                }
            }
            if let Some(mapping) = self.mapping_of(node) {
                self.take(mapping, MAPPING);
                for key in ["mapForces", "mapMasses", "mapConstraints"] {
                    if !self.truth(mapping, key, true) {
                        let message = format!("`{key}=\"0\"` is not taken: mappings carry everything");
                        self.tree.remark(spot(self.tree, mapping), message);
                    }
                }
            }
        }
        OwnCoordinates(self).own_coordinates()?;
        for node in 0..nodes {
            Laws(self).laws(node)?;
        }
        for node in 0..nodes {
            Forces(self).forces(node)?;
        }
        Joints(self).write_joints()?;
        Surfaces(self).surfaces()?;
        self.rest();
        Ok(())
    }

    /// Attributes of nodes themselves.
    fn nodes_themselves(&mut self) -> Result<()> {
        let root = gravity(self.tree, self.graph.nodes[0].element)?;
        for index in 0..self.graph.nodes.len() {
            let element = self.graph.nodes[index].element;
            self.known(
                element,
                &["gravity", "dt", "activated", "time", "animate", "bbox", "depend"],
            );
            if index > 0
                && let Some(own) = topology::triple(self.tree, element, "gravity")?
                && own != root
            {
                let at = spot(self.tree, element);
                self.tree
                    .remark(at, "a scene has one gravity: that of a node within is not taken");
            }
            if index > 0 && self.tree.number(element, "dt")?.is_some_and(|dt| dt != self.step) {
                let at = spot(self.tree, element);
                self.tree
                    .remark(at, "a scene has one step: `dt` of a node within is not taken");
            }
        }
        Ok(())
    }

    /// Remarks on places that are links, which are left out.
    fn forget_linked_placements(&mut self) {
        const KEYS: [&str; 6] = [
            "translation",
            "rotation",
            "scale",
            "scale3d",
            "translation2",
            "rotation2",
        ];
        for node in 0..self.graph.nodes.len() {
            for component in self.graph.nodes[node].components.clone() {
                for key in KEYS {
                    let linked = self
                        .tree
                        .attribute(component, key)
                        .filter(|a| a.value.starts_with('@'));
                    if let Some(at) = linked.map(|a| a.spot) {
                        self.tree
                            .remark(at, format!("`{key}` that is a link is not taken"));
                        self.tree.forget(component, key);
                    }
                }
            }
        }
    }

    /// A name that nothing has yet.
    fn unused(&mut self, wanted: &str) -> String {
        unused(&mut self.names, &mut self.counts, wanted)
    }

    /// Takes a component, with remarks on attributes that are not known.
    fn take(&mut self, component: usize, attributes: &[&str]) {
        self.taken.insert(component);
        self.known(component, attributes);
    }

    /// Remarks on attributes of a component that are not known; those for display are passed over.
    fn known(&mut self, component: usize, attributes: &[&str]) {
        let unknown: Vec<_> = self
            .tree
            .own_attributes(component)
            .iter()
            .filter(|a| !attributes.contains(&a.name.as_str()) && !is_for_display(&a.name))
            .map(|a| (a.name.clone(), a.spot))
            .collect();
        let name = kind(self.tree, component);
        for (attribute, at) in unknown {
            self.tree
                .remark(at, format!("`{attribute}` of `{name}` is not taken"));
        }
    }

    /// The components of a node of some kinds.
    fn components(&self, node: usize, kinds: &[&str]) -> Vec<usize> {
        let all = self.graph.nodes[node].components.iter().copied();
        all.filter(|c| kinds.contains(&kind(self.tree, *c).as_str()))
            .collect()
    }

    /// Remarks on what no part has taken, one for each sort.
    fn rest(&mut self) {
        for node in 0..self.graph.nodes.len() {
            for component in self.graph.nodes[node].components.clone() {
                if self.taken.contains(&component) {
                    continue;
                }
                let name = kind(self.tree, component);
                let of_missing = self
                    .state_element(node)
                    .and_then(|e| self.by_element.get(&e).copied().flatten())
                    .is_some_and(|s| matches!(self.states[s].kind, states::Kind::Missing));
                let message = match sort(&name) {
                    // That its state is missing has been told.
                    Sort::Other if of_missing => continue,
                    Sort::Silent => continue,
                    Sort::Display => "what is for display is not taken".to_owned(),
                    Sort::Solver => {
                        "solvers and their options are not taken: one system holds everything".to_owned()
                    }
                    Sort::Loop => "plugins, loops and the search for contacts are not taken".to_owned(),
                    Sort::Mouse => "interaction by mouse is not taken".to_owned(),
                    Sort::Python => "scripts are not taken".to_owned(),
                    Sort::Other => format!("`{name}` is not taken"),
                };
                self.tree.remark(spot(self.tree, component), message);
            }
        }
    }
}

/// Attributes of mappings that are taken, or change nothing but how SOFA solves.
const MAPPING: &[&str] = &[
    "input",
    "output",
    "object1",
    "object2",
    "indices",
    "indexPairs",
    "pairs",
    "restLengths",
    "computeDistance",
    "targets",
    "offsets",
    "targetPositions",
    "inverted",
    "dofs",
    "set",
    "offset",
    "source",
    "initialPoints",
    "index",
    "rigidIndexPerPoint",
    "globalToLocalCoords",
    "rotation",
    "translation",
    "geometricStiffness",
    "mapForces",
    "mapMasses",
    "mapConstraints",
    "exact_dlog",
    "assemble",
    "method",
];

/// Attributes of states that are taken, or say nothing about motion.
const STATE: &[&str] = &[
    "restScale",
    "position",
    "velocity",
    "rest_position",
    "src",
    "translation",
    "rotation",
    "scale",
    "scale3d",
    "dx",
    "dy",
    "dz",
    "rx",
    "ry",
    "rz",
    "sx",
    "sy",
    "sz",
    "size",
    "force",
    "externalForce",
    "derivX",
    "free_position",
    "free_velocity",
    "constraint",
    "mappingJacobian",
    "reset_position",
    "reserve",
];

/// Whether an attribute changes nothing but how things look or are logged.
fn is_for_display(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "name",
        "template",
        "printLog",
        "tags",
        "listening",
        "color",
        "arrowSize",
        "isToPrint",
        "verbose",
    ];
    NAMES.contains(&name) || name.starts_with("show") || name.starts_with("draw")
}

/// Sorts of components that are not taken.
enum Sort {
    /// Part of something that is taken.
    Silent,
    Display,
    Solver,
    Loop,
    Mouse,
    Python,
    Other,
}

/// Whether a component integrates the motion of what is below its node.
fn is_integrator(kind: &str) -> bool {
    const NAMES: [&str; 16] = [
        "CompliantImplicitSolver",
        "CompliantNLImplicitSolver",
        "CompliantPseudoStaticSolver",
        "CompliantStaticSolver",
        "ConstantCompliantImplicitSolver",
        "ConstantCompliantPseudoStaticSolver",
        "AssembledSolver",
        "NewtonSolver",
        "EulerImplicitSolver",
        "EulerImplicit",
        "EulerSolver",
        "EulerExplicitSolver",
        "NewmarkImplicitSolver",
        "StaticSolver",
        "RungeKutta4Solver",
        "CentralDifferenceSolver",
    ];
    NAMES.contains(&kind) || kind == "RungeKutta2Solver" || kind == "VariationalSymplecticSolver"
}

fn sort(kind: &str) -> Sort {
    const DISPLAY: [&str; 11] = [
        "VisualStyle",
        "VisualModel",
        "LightManager",
        "SpotLight",
        "DirectionalLight",
        "PositionalLight",
        "BackgroundSetting",
        "NormalsFromPoints",
        "DataDisplay",
        "InteractiveCamera",
        "DefaultVisualManagerLoop",
    ];
    const LOOPS: [&str; 8] = [
        "RequiredPlugin",
        "DefaultPipeline",
        "CollisionPipeline",
        "BruteForceDetection",
        "FreeMotionAnimationLoop",
        "SimpleAnimationLoop",
        "IncrementalSweepAndPrune",
        "DirectSAP",
    ];
    const SILENT: [&str; 6] = [
        "BarycentricShapeFunction",
        "TopologyGaussPointSampler",
        "BoxROI",
        "ConstraintValue",
        "Stabilization",
        "DampingValue",
    ];
    if DISPLAY.contains(&kind) || kind.starts_with("Ogl") || kind.ends_with("Camera") {
        return Sort::Display;
    }
    if is_integrator(kind)
        || kind.ends_with("Solver")
        || kind.ends_with("Response")
        || kind.ends_with("Preconditioner")
        || kind == "ConstraintCorrection"
    {
        return Sort::Solver;
    }
    if LOOPS.contains(&kind)
        || kind.ends_with("AnimationLoop")
        || kind.ends_with("Intersection")
        || kind.ends_with("ManagerLoop")
        || kind.ends_with("GroupManager")
        || kind.ends_with("Detection")
        || kind.ends_with("ContactManager")
    {
        return Sort::Loop;
    }
    if kind.contains("AttachButton") || kind.ends_with("ButtonSetting") {
        return Sort::Mouse;
    }
    if kind.starts_with("Python") || kind.ends_with("Controller") {
        return Sort::Python;
    }
    let helper = kind.ends_with("TopologyModifier")
        || kind.ends_with("TopologyAlgorithms")
        || kind.ends_with("GeometryAlgorithms")
        || kind.ends_with("TopologicalMapping");
    if SILENT.contains(&kind) || helper || topology::is_topology(kind) || topology::is_loader(kind) {
        return Sort::Silent;
    }
    Sort::Other
}
