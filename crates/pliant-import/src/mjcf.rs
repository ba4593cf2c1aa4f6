//! MJCF: nested bodies with joints and geoms, and what acts on them.

mod actuators;
mod bodies;
mod constraints;
mod defaults;
mod drives;
mod flex;
mod flexcomp;
mod geoms;
mod grids;
mod keys;
mod pairs;
mod particles;
mod replicate;
mod rows;
mod settings;
mod sites;
mod tendons;

use crate::error::ImportError;
use crate::meshes::Meshes;
use crate::robot::{Extras, Flex, Lift, Link, Robot};
use crate::xml::{Spot, Tree};
use settings::Settings;
use std::collections::{HashMap, HashSet};
use std::path::Path;

type Result<T> = std::result::Result<T, ImportError>;

/// A mesh of the assets.
#[derive(Clone)]
struct Asset {
    file: Option<(String, Spot)>,
    scale: [f64; 3],
    exact: bool,
}

/// A file while it is read.
struct Reader<'a> {
    tree: &'a mut Tree,
    meshes: &'a mut Meshes,
    settings: Settings,
    assets: HashMap<String, Asset>,
    links: Vec<Link>,
    materials: geoms::Materials,
    /// Bodies by name.
    bodies: HashMap<String, usize>,
    /// Joints by name: their link, and their number in it; that of free ones is zero.
    joints: HashMap<String, (usize, usize)>,
    /// Sites by name.
    sites: sites::Sites,
    /// Forces against the weight of bodies.
    lifts: Vec<Lift>,
    /// Geoms that pairs name.
    geoms: pairs::Geoms,
    /// Tendons by name: their number, or none if they are not taken.
    tendons: HashMap<String, Option<usize>>,
    /// Joints that follow another one.
    followers: HashSet<String>,
    /// Particles, the vertices of deformables.
    particles: particles::Particles,
    flexes: Vec<Flex>,
    /// Joints in the order of the file, which is that of coordinates.
    order: Vec<keys::Coordinate>,
    /// Whether the body that is read has an `inertial`.
    has_inertial: bool,
    /// Names that the file gives.
    named: bodies::Named,
}

/// Reads the model whose element this is.
pub(crate) fn robot(
    tree: &mut Tree,
    root: usize,
    directory: Option<&Path>,
    meshes: &mut Meshes,
) -> Result<Robot> {
    defaults::include(tree, root, directory)?;
    defaults::forget_empty(tree, root);
    let settings = Settings::read(tree, root)?;
    replicate::expand(tree, root, &settings)?;
    defaults::apply(tree, root)?;
    let sections = [
        "compiler",
        "option",
        "default",
        "asset",
        "worldbody",
        "deformable",
        "contact",
        "equality",
        "tendon",
        "actuator",
        "keyframe",
    ];
    tree.expect(root, &["model"], &sections);
    let title = tree.value(root, "model").unwrap_or("model").to_owned();
    let geoms = pairs::Geoms::of_pairs(tree, root);
    let particles = particles::Particles::of_flexes(tree, root);
    let materials = geoms::Materials::of_file(tree, root);
    let named = bodies::Named::of_file(tree, root);
    let mut reader = Reader {
        tree,
        meshes,
        settings,
        assets: HashMap::new(),
        links: Vec::new(),
        materials,
        bodies: HashMap::new(),
        joints: HashMap::new(),
        sites: sites::Sites::default(),
        lifts: Vec::new(),
        geoms,
        tendons: HashMap::new(),
        followers: HashSet::new(),
        particles,
        flexes: Vec::new(),
        order: Vec::new(),
        has_inertial: false,
        named,
    };
    reader.read_assets(root)?;
    reader.read_world(root)?;
    flex::read_flexes(&mut reader, root)?;
    let mut robot = Robot {
        title,
        gravity: reader.settings.gravity(),
        step: reader.settings.step,
        links: std::mem::take(&mut reader.links),
        materials: std::mem::take(&mut reader.materials.list),
        gears: Vec::new(),
        closures: Vec::new(),
        tendons: Vec::new(),
        tendon_rows: Vec::new(),
        pairs: Vec::new(),
        material_pairs: Vec::new(),
        apart: Vec::new(),
        base_is_robot: false,
        friction_rule: Some("Maximum"),
        extras: Extras {
            sites: reader.sites.take(),
            lifts: std::mem::take(&mut reader.lifts),
            particles: reader.particles.take(),
            flexes: std::mem::take(&mut reader.flexes),
            ..Extras::default()
        },
    };
    reader.read_contact(root, &mut robot)?;
    pairs::read_pairs(&mut reader, root, &mut robot)?;
    reader.read_equality(root, &mut robot)?;
    tendons::read_tendons(&mut reader, root, &mut robot)?;
    rows::read_tendon_rows(&mut reader, root, &mut robot)?;
    let actuators = actuators::read_actuators(&mut reader, root, &mut robot)?;
    keys::read_keys(&mut reader, root, &mut robot, &actuators)?;
    Ok(robot)
}

impl Reader<'_> {
    fn read_assets(&mut self, root: usize) -> Result<()> {
        for section in self.tree.all(root, "asset") {
            self.tree.expect(section, &[], &["mesh", "texture", "material"]);
            for of in self.tree.all(section, "mesh") {
                let known = ["name", "class", "file", "scale", "inertia"];
                self.tree.expect(of, &known, &[]);
                let exact = match self.tree.value(of, "inertia") {
                    None | Some("legacy") => false,
                    Some("exact") => true,
                    Some(_) => {
                        let message =
                            "a mesh weighs as what it encloses, neither as its hull nor as its surface";
                        self.tree.remark(self.spot(of), message);
                        true
                    }
                };
                let file = self.tree.attribute(of, "file").cloned();
                let stem = file.as_ref().and_then(|f| Path::new(&f.value).file_stem());
                let stem = stem.map(|s| s.to_string_lossy().into_owned());
                let Some(name) = self.tree.value(of, "name").map(str::to_owned).or(stem) else {
                    return self.tree.wrong(
                        self.spot(of),
                        "a mesh has neither name nor file".to_owned(),
                        None,
                    );
                };
                let scale = self.tree.numbers::<3>(of, "scale")?.unwrap_or([1.0; 3]);
                let file = file.map(|f| (self.mesh_path(&f.value), f.spot));
                self.assets.insert(name, Asset { file, scale, exact });
            }
            for tag in ["texture", "material"] {
                for of in self.tree.all(section, tag) {
                    self.tree.remark(
                        self.tree.elements[of].spot,
                        "textures and materials are pictures only",
                    );
                }
            }
        }
        Ok(())
    }

    fn mesh_path(&self, file: &str) -> String {
        let file = match self.settings.strip_path {
            true => file.rsplit(['/', '\\']).next().unwrap_or(file),
            false => file,
        };
        match self.settings.mesh_directory.as_str() {
            "" => file.to_owned(),
            directory => Path::new(directory).join(file).display().to_string(),
        }
    }
}
