//! Deformables: particles, elastic material between them, springs and rows on edges.

mod bending;
mod edges;
mod surface;
mod ties;

use super::Writer;
use super::extras::listed;
use crate::geometry::Frame;
use crate::numbers::{number, position, text, tuple, vector};
use crate::robot::{Elasticity, Flex, Particle, Vertex};
use bending::{write_bending, write_bending_of_lines};
use edges::write_edges;
use pliant_dense::Vec3;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use surface::{outside, same_way_round};

/// A deformable as it is written.
pub(super) struct Written {
    /// The node of its vertices.
    pub(super) node: String,
    /// Vertices of its surface, where the scene does not know them by its mesh: lines, triangles.
    pub(super) surface: Option<Vec<Vec<usize>>>,
    /// Bodies, by their links, that carry vertices.
    pub(super) bodies: Vec<usize>,
}

/// Starts that differ by less than this (m) from rest are at rest.
const SAME: f64 = 1e-12;

pub(super) fn write_flexes(writer: &mut Writer<'_>) {
    let robot = writer.robot;
    for flex in &robot.extras.flexes {
        let written = write_flex(writer, flex);
        writer.flexes.push(written);
    }
    ties::write_ties(writer);
}

fn write_flex(writer: &mut Writer<'_>, flex: &Flex) -> Written {
    let start: Vec<Vec3> = flex.vertices.iter().map(|v| place(writer, v)).collect();
    let (node, bodies) = write_vertices(writer, flex, &start);
    let moved = start.iter().zip(&flex.rest).any(|(a, b)| (a - b).norm() > SAME);
    let part = Part {
        flex,
        node: &node,
        moved,
    };
    if let Some((link, axis)) = flex.flat {
        hold_in_plane(writer, &part, link, axis);
    }
    let is_mesh = match flex.dimension() {
        2 => {
            let is_sheet = write_sheet(writer, &part);
            write_bending(writer, &part);
            is_sheet
        }
        3 => write_solid(writer, &part),
        _ => {
            write_bending_of_lines(writer, &part);
            false
        }
    };
    write_edges(writer, &part);
    let surface = match flex.dimension() {
        _ if is_mesh => None,
        3 => Some(outside(&flex.cells)),
        _ => Some(flex.cells.clone()),
    };
    Written {
        node,
        surface,
        bodies,
    }
}

/// A deformable, its node, and whether it does not start at rest.
struct Part<'a> {
    flex: &'a Flex,
    node: &'a str,
    moved: bool,
}

impl Part<'_> {
    /// Rest places as a list, with `key` ahead.
    fn rest(&self) -> String {
        listed(self.flex.rest.iter().map(|x| tuple(&position(*x))))
    }

    /// Cells as lists of numbers.
    fn cells(&self, cells: &[Vec<usize>]) -> String {
        listed(cells.iter().map(|cell| format!("[{}]", joined(cell))))
    }

    /// Material of a part.
    fn moduli(&self, kind: &str) -> String {
        let Elasticity { young, poisson, .. } = self.flex.elasticity;
        format!("{kind}(young: {}, poisson: {})", number(young), number(poisson))
    }

    fn relaxation(&self) -> String {
        match self.flex.elasticity.damping {
            0.0 => String::new(),
            time => format!(", relaxation_time: {}", number(time)),
        }
    }
}

fn joined(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(", ")
}

/// The place of a vertex at the start.
fn place(writer: &Writer<'_>, vertex: &Vertex) -> Vec3 {
    let (link, place) = match *vertex {
        Vertex::Particle(number) => {
            let Particle { parent, place, .. } = writer.robot.extras.particles[number];
            (parent, place)
        }
        Vertex::On(link, place) => (link, place),
    };
    link.map_or(place, |l| writer.layout.start[l].point(place))
}

/// The velocity of a particle at the start: that of the link around it.
fn velocity(writer: &Writer<'_>, particle: &Particle) -> Vec3 {
    let Some(link) = particle.parent else {
        return Vec3::zeros();
    };
    let [linear, angular] = writer.layout.velocity[link];
    linear + angular.cross(&writer.layout.start[link].vector(particle.place))
}

/// Writes the node of the vertices; gives its name, and the bodies that carry some of them.
fn write_vertices(writer: &mut Writer<'_>, flex: &Flex, start: &[Vec3]) -> (String, Vec<usize>) {
    let owner = |vertex: &Vertex| match vertex {
        Vertex::Particle(_) => None,
        Vertex::On(link, _) => link.and_then(|l| writer.layout.owner[l]),
    };
    let mut carried: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, vertex) in flex.vertices.iter().enumerate() {
        if let Some(owner) = owner(vertex) {
            carried.entry(owner).or_default().push(index);
        }
    }
    let name = writer.name(&flex.name);
    if name != flex.name {
        let message = format!("the name `{}` is used twice: the second is `{name}`", flex.name);
        writer.tree.remark(flex.spot, message);
    }
    let own: Vec<usize> = (0..flex.vertices.len())
        .filter(|v| owner(&flex.vertices[*v]).is_none())
        .collect();
    let own_node = match (carried.is_empty(), own.is_empty()) {
        (true, _) => Some(name.clone()),
        (false, false) => Some(writer.name(&format!("{name}.free"))),
        (false, true) => None,
    };
    if let Some(node) = &own_node {
        write_particles(writer, flex, node, &own, start);
    }
    let bodies: Vec<usize> = carried.keys().copied().collect();
    if carried.is_empty() {
        return (name, bodies);
    }
    let mut elements: Vec<String> = vec![String::new(); flex.vertices.len()];
    let mut parents: Vec<String> = own_node.into_iter().collect();
    let mut place_all = |node: &str, list: &[usize]| {
        for (element, vertex) in list.iter().enumerate() {
            elements[*vertex] = format!("({}, {element})", text(node));
        }
    };
    if let [node] = parents.as_slice() {
        place_all(node, &own);
    }
    for (owner, list) in carried {
        let node = writer.name(&format!("{name}.on {}", writer.links[owner]));
        let points = list.iter().map(|vertex| {
            let Vertex::On(link, place) = flex.vertices[*vertex] else {
                return String::new();
            };
            let (_, frame) = writer.in_body(link, &Frame::at(place));
            format!("(0, {})", tuple(&position(frame.position)))
        });
        let points = listed(points);
        let owner = text(&writer.links[owner]);
        writer.tendons.push(format!(
            "Mapped(name: {}, parents: [{owner}], mapping: RigidPoints(points: {points})),",
            text(&node)
        ));
        place_all(&node, &list);
        parents.push(node);
    }
    let parents: Vec<String> = parents.iter().map(|node| text(node)).collect();
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Subset(elements: {})),",
        text(&name),
        parents.join(", "),
        listed(elements.into_iter())
    ));
    (name, bodies)
}

/// Writes vertices that no body carries; those that stand in the world are held.
fn write_particles(writer: &mut Writer<'_>, flex: &Flex, node: &str, own: &[usize], start: &[Vec3]) {
    writer.names.insert(format!("{node}.mass"));
    let particles = &writer.robot.extras.particles;
    let of = |vertex: &usize| match flex.vertices[*vertex] {
        Vertex::Particle(number) => Some(&particles[number]),
        Vertex::On(..) => None,
    };
    // What is held has any mass.
    let some = own.iter().find_map(of).map_or(1.0, |particle| particle.mass);
    let masses: Vec<f64> = own.iter().map(|v| of(v).map_or(some, |p| p.mass)).collect();
    let mass = match masses.iter().all(|mass| *mass == some) {
        true => number(some),
        false => listed(masses.iter().map(|mass| number(*mass))),
    };
    let velocities: Vec<Vec3> = own
        .iter()
        .map(|v| of(v).map_or_else(Vec3::zeros, |p| velocity(writer, p)))
        .collect();
    let velocities = match velocities.iter().all(|v| *v == Vec3::zeros()) {
        true => String::new(),
        false => format!(", velocities: {}", listed(velocities.iter().map(|v| vector(*v)))),
    };
    let positions = listed(own.iter().map(|v| tuple(&position(start[*v]))));
    writer.tendons.push(format!(
        "Particles(name: {}, positions: {positions}{velocities}, mass: {mass}),",
        text(node)
    ));
    let held: Vec<usize> = (0..own.len()).filter(|i| of(&own[*i]).is_none()).collect();
    if !held.is_empty() {
        let entry = format!("(node: {}, elements: [{}]),", text(node), joined(&held));
        writer.fixed.push(entry);
    }
}

/// Rows that hold particles in planes.
fn hold_in_plane(writer: &mut Writer<'_>, part: &Part<'_>, link: Option<usize>, axis: Vec3) {
    if link.is_some_and(|l| writer.layout.owner[l].is_some()) {
        let message = "vertices that slide in a plane of a body that moves are free in all directions";
        writer.tree.remark(part.flex.spot, message);
        return;
    }
    let axis = link.map_or(axis, |l| writer.layout.start[l].vector(axis));
    let particles = part.flex.vertices.iter().enumerate();
    let particles = particles.filter(|(_, vertex)| matches!(vertex, Vertex::Particle(_)));
    let entries = particles.map(|(index, vertex)| (index, axis.dot(&place(writer, vertex))));
    let (mut points, mut offsets) = (Vec::new(), Vec::new());
    for (index, height) in entries {
        points.push(format!("({index}, {})", vector(axis)));
        offsets.push(number(-height));
    }
    let heights = writer.name(&format!("{}.heights", part.node));
    writer.tendons.push(format!(
        "Mapped(name: {}, parents: [{}], mapping: Projection(points: {}, offset: {})),",
        text(&heights),
        text(part.node),
        listed(points.into_iter()),
        listed(offsets.into_iter())
    ));
    let row = writer.name(&format!("{}.plane", part.node));
    writer
        .rows
        .push(format!("(name: {}, on: {}),", text(&row), text(&heights)));
}

/// Writes the stretch of a sheet; whether there is any.
fn write_sheet(writer: &mut Writer<'_>, part: &Part<'_>) -> bool {
    let elasticity = part.flex.elasticity;
    if elasticity.young == 0.0 || !elasticity.stretch {
        return false;
    }
    let Some(cells) = same_way_round(&part.flex.cells) else {
        let message =
            "a sheet of which three triangles meet at an edge, or with one side, does not resist stretch";
        writer.tree.remark(part.flex.spot, message);
        return false;
    };
    let name = part_name(writer, part, "sheet", &["strains", "membrane"]);
    writer.tendons.push(format!(
        "ElasticSheet(name: {}, on: {}, shape: Cells(points: {}, cells: {}), material: {}, thickness: {}{}),",
        text(&name),
        text(part.node),
        part.rest(),
        part.cells(&cells),
        part.moduli("Isotropic"),
        number(elasticity.thickness),
        part.relaxation()
    ));
    true
}

/// Writes a solid; whether there is any.
fn write_solid(writer: &mut Writer<'_>, part: &Part<'_>) -> bool {
    /// Flatter tetrahedra, as a share of the cube of their longest edge, have no volume.
    const FLAT: f64 = 1e-12;
    let Flex {
        elasticity,
        cells,
        rest,
        ..
    } = part.flex;
    if elasticity.young == 0.0 {
        return false;
    }
    let mut solid = Vec::with_capacity(cells.len());
    for cell in cells {
        let mut cell = cell.clone();
        let [a, b, c] = [1, 2, 3].map(|k| rest[cell[k]] - rest[cell[0]]);
        let volume = a.cross(&b).dot(&c);
        let longest = a.norm().max(b.norm()).max(c.norm());
        if volume < 0.0 {
            cell.swap(2, 3);
        }
        if volume.abs() > FLAT * longest.powi(3) {
            solid.push(cell);
        }
    }
    let used: std::collections::BTreeSet<usize> = solid.iter().flatten().copied().collect();
    if solid.len() < cells.len() {
        let message = "tetrahedra without volume have no stiffness";
        writer.tree.remark(part.flex.spot, message);
    }
    if used.len() < part.flex.vertices.len() {
        let message = "a solid with vertices that are in no tetrahedron with a volume has no stiffness";
        writer.tree.remark(part.flex.spot, message);
        return false;
    }
    let name = part_name(writer, part, "solid", &["gradients", "strains", "material"]);
    writer.tendons.push(format!(
        "Solid(name: {}, on: {}, shape: Cells(points: {}, cells: {}), material: {}{}),",
        text(&name),
        text(part.node),
        part.rest(),
        part.cells(&solid),
        part.moduli("StVenantKirchhoff"),
        part.relaxation()
    ));
    true
}

/// A name of a part, and of what it makes.
fn part_name(writer: &mut Writer<'_>, part: &Part<'_>, what: &str, makes: &[&str]) -> String {
    let name = writer.name(&format!("{}.{what}", part.node));
    for made in makes {
        writer.names.insert(format!("{name}.{made}"));
    }
    name
}

/// Keys of the collider of a deformable.
pub(super) fn collider(written: &Written, flex: &Flex, radius: f64, itself: bool) -> String {
    /// Points that are this many edges apart do not touch each other.
    const NEAR: usize = 2;
    let lines = flex.dimension() == 1;
    let (kind, key) = if lines {
        ("Cable", "segments")
    } else {
        ("Cloth", "triangles")
    };
    let mut out = format!("{kind}(node: {}, radius: {}", text(&written.node), number(radius));
    if let Some(surface) = &written.surface {
        let list = listed(surface.iter().map(|side| format!("({})", joined(side))));
        let _ = write!(out, ", {key}: {list}");
    }
    if itself {
        let _ = write!(out, ", self_contact: {NEAR}");
    }
    out
}
