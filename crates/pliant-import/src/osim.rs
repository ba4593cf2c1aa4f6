//! OpenSim models: bodies in a tree of joints, whose axes are functions of coordinates.

mod bodies;
mod chain;
mod constraints;
mod contacts;
mod forces;
mod frames;
mod functions;
mod joints;
mod muscles;
mod paths;
mod properties;
mod wraps;

pub(crate) use properties::well_formed;

use crate::error::ImportError;
use crate::robot::{Extras, Robot};
use crate::xml::{Spot, Tree};
use bodies::Body;
use chain::Handle;
use frames::Offsets;
use joints::JointDef;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// Gravity where a model does not say it.
const GRAVITY: [f64; 3] = [0.0, -9.80665, 0.0];
/// Length of a step (s).
const STEP: f64 = 0.005;
/// The oldest version of documents that is read, that of OpenSim 2.0.
const OLDEST: f64 = 20000.0;

/// A file while it is read.
struct ModelReader<'a> {
    tree: &'a mut Tree,
    bodies: Vec<Body>,
    /// Bodies by name.
    numbers: HashMap<String, usize>,
    offsets: Offsets,
    joints: Vec<JointDef>,
    /// By body: its link.
    links_of: Vec<Option<usize>>,
    /// Coordinates by name.
    handles: HashMap<String, Handle>,
    /// Surfaces that paths may wrap around.
    wraps: Vec<wraps::WrapObject>,
    /// The link of what collides with the ground.
    ground: Option<usize>,
    /// Numbers of materials, by the bits of their friction.
    surfaces: HashMap<u64, usize>,
    robot: Robot,
}

/// Reads the model of the document whose element this is.
pub(crate) fn robot(tree: &mut Tree, root: usize) -> Result<Robot> {
    properties::fold(tree, root);
    let spot = tree.elements[root].spot;
    tree.expect(root, &["Version"], &["Model"]);
    if tree
        .number(root, "Version")?
        .is_none_or(|version| version < OLDEST)
    {
        let message = "documents before version 20000, of OpenSim 2.0, are not read".to_owned();
        let help = "open and save the model with a newer version of OpenSim".to_owned();
        return tree.wrong(spot, message, Some(help));
    }
    let Some(model) = tree.child(root, "Model") else {
        return tree.wrong(spot, "the document has no `Model`".to_owned(), None);
    };
    properties::apply_defaults(tree, model);
    let mut reader = ModelReader {
        bodies: Vec::new(),
        numbers: HashMap::new(),
        offsets: HashMap::new(),
        joints: Vec::new(),
        links_of: Vec::new(),
        handles: HashMap::new(),
        wraps: Vec::new(),
        ground: None,
        surfaces: HashMap::new(),
        robot: Robot {
            title: tree.value(model, "name").unwrap_or("model").to_owned(),
            gravity: tree.numbers::<3>(model, "gravity")?.unwrap_or(GRAVITY),
            step: STEP,
            links: Vec::new(),
            materials: Vec::new(),
            gears: Vec::new(),
            closures: Vec::new(),
            tendons: Vec::new(),
            tendon_rows: Vec::new(),
            pairs: Vec::new(),
            material_pairs: Vec::new(),
            apart: Vec::new(),
            base_is_robot: false,
            friction_rule: None,
            extras: Extras::default(),
        },
        tree,
    };
    reader.read_model(model)?;
    Ok(reader.robot)
}

impl ModelReader<'_> {
    fn read_model(&mut self, model: usize) -> Result<()> {
        let properties = [
            "name",
            "gravity",
            "length_units",
            "force_units",
            "credits",
            "publications",
            "assembly_accuracy",
            "ignore_activation_dynamics",
            "ignore_tendon_compliance",
        ];
        let sections = [
            "defaults",
            "Ground",
            "BodySet",
            "JointSet",
            "ConstraintSet",
            "ForceSet",
            "ContactGeometrySet",
            "MarkerSet",
            "ComponentSet",
            "components",
            "ModelVisualPreferences",
            "GeometrySet",
        ];
        self.tree.expect(model, &properties, &sections);
        bodies::read_bodies(self, model)?;
        if self.bodies.is_empty() {
            let spot = self.spot(model);
            return self.tree.wrong(spot, "the model has no bodies".to_owned(), None);
        }
        self.links_of = vec![None; self.bodies.len()];
        self.read_frames(model)?;
        joints::read_joints(self, model)?;
        self.lock_followers(model)?;
        self.assemble()?;
        self.read_constraints(model)?;
        forces::read_forces(self, model)?;
        paths::read_markers(self, model)
    }

    fn spot(&self, of: usize) -> Spot {
        self.tree.elements[of].spot
    }
}
