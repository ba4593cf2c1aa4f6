//! Bodies with three slides that are no more than the vertices of deformables.

use super::Reader;
use super::keys::Coordinate;
use super::settings::PLACE;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::Particle;
use crate::xml::Tree;
use pliant_dense::{Mat3, Vec3};
use std::collections::{HashMap, HashSet};

type Result<T> = std::result::Result<T, ImportError>;

/// Axes that differ from square by less than this are square.
const SAME: f64 = 1e-9;

/// The particles of a model.
#[derive(Default)]
pub(super) struct Particles {
    pub(super) list: Vec<Particle>,
    /// Their numbers, by the names of the bodies that they are in the file.
    pub(super) names: HashMap<String, usize>,
    /// Numbers of the vertices of deformables.
    pub(super) used: HashSet<usize>,
    /// Names of bodies that deformables name.
    wanted: HashSet<String>,
}

impl Particles {
    /// Takes the names of the bodies of deformables, before bodies are read.
    pub(super) fn of_flexes(tree: &Tree, root: usize) -> Self {
        let sections = tree.all(root, "deformable");
        let flexes = sections.iter().flat_map(|section| tree.all(*section, "flex"));
        let lists = flexes.filter_map(|of| tree.value(of, "body"));
        Self {
            wanted: lists.flat_map(str::split_whitespace).map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// All of them; their numbers stay known by name.
    pub(super) fn take(&mut self) -> Vec<Particle> {
        std::mem::take(&mut self.list)
    }
}

/// Adds a particle of an element that slides along `axes` of the frame of its parent; gives its
/// number. Its `moment` (kg m^2) about each axis turns with the parent.
pub(super) fn add_particle(
    reader: &mut Reader<'_>,
    of: usize,
    name: String,
    particle: Particle,
    axes: &[Vec3],
    moment: f64,
) -> Result<usize> {
    let number = reader.particles.list.len();
    if reader.bodies.contains_key(&name) || reader.particles.names.insert(name.clone(), number).is_some() {
        let message = format!("a deformable makes the body `{name}`, which is there already");
        return reader.tree.wrong(reader.spot(of), message, None);
    }
    let mass = particle.mass.max(reader.settings.least_mass);
    let moment = moment.max(reader.settings.least_inertia);
    let parent = particle.parent.and_then(|link| reader.links.get_mut(link));
    if let Some(inertia) = parent.and_then(|link| link.inertia.as_mut()) {
        inertia.tensor += Mat3::identity() * moment;
    }
    let order = axes.iter().map(|axis| Coordinate::Particle(number, *axis));
    reader.order.extend(order);
    reader.particles.list.push(Particle { mass, ..particle });
    Ok(number)
}

/// Reads a body of a deformable as a particle, if it is nothing else: three slides square to each
/// other through its centre of mass, on which nothing acts.
pub(super) fn read_particle(
    reader: &mut Reader<'_>,
    of: usize,
    outer: &Frame,
    parent: Option<usize>,
) -> Result<bool> {
    let tree = &*reader.tree;
    let Some(name) = tree
        .value(of, "name")
        .filter(|n| reader.particles.wanted.contains(*n))
    else {
        return Ok(false);
    };
    let children = &tree.elements[of].children;
    let (joints, inertial) = (tree.all(of, "joint"), tree.all(of, "inertial"));
    let ([a, b, c], [inertial]) = (joints.as_slice(), inertial.as_slice()) else {
        return Ok(false);
    };
    let attributes = [&["name", "class", "childclass"][..], &PLACE].concat();
    let own = tree.own_attributes(of).iter();
    let plain = children.len() == 4 && own.clone().all(|x| attributes.contains(&x.name.as_str()));
    let centred = tree.numbers::<3>(*inertial, "pos")?.unwrap_or_default() == [0.0; 3];
    if !plain || !centred || reader.settings.from_geoms == Some(true) {
        return Ok(false);
    }
    let mut axes = Vec::new();
    for joint in [*a, *b, *c] {
        let allowed = ["type", "axis", "pos", "class", "group"];
        let plain = tree
            .own_attributes(joint)
            .iter()
            .all(|x| allowed.contains(&x.name.as_str()));
        let acts = ["stiffness", "damping", "armature", "frictionloss", "range", "ref"];
        let acts = acts.iter().any(|key| tree.attribute(joint, key).is_some());
        let axis: Vec3 = tree
            .numbers::<3>(joint, "axis")?
            .unwrap_or([0.0, 0.0, 1.0])
            .into();
        if !plain || acts || tree.value(joint, "type") != Some("slide") || axis.norm() == 0.0 {
            return Ok(false);
        }
        axes.push(axis.normalize());
    }
    let square = |a: usize, b: usize| axes[a].dot(&axes[b]).abs() < SAME;
    if !(square(0, 1) && square(0, 2) && square(1, 2)) {
        return Ok(false);
    }
    let name = name.to_owned();
    let frame = outer.then(&reader.settings.frame(reader.tree, of)?);
    let axes: Vec<Vec3> = axes.iter().map(|axis| frame.vector(*axis)).collect();
    let inertia = reader.inertial(*inertial)?;
    let particle = Particle {
        parent,
        place: frame.position,
        mass: inertia.mass,
    };
    add_particle(reader, of, name, particle, &axes, inertia.tensor.trace() / 3.0)?;
    Ok(true)
}
