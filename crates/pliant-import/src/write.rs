//! Robots as scene files that people can read.

mod colliders;
mod effects;
mod extras;
mod flexes;
mod joints;
mod lines;
mod tendons;
mod wraps;

use crate::geometry::Frame;
use crate::layout::Layout;
use crate::numbers::{number, position, text, tidy, tuple, vector};
use crate::robot::{Attachment, Robot};
use crate::xml::Tree;
use pliant_dense::Vec3;
use pliant_dense::rotation::Quaternion;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

/// Whether links of one robot collide, and whether there is ground.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    pub(crate) self_collision: bool,
    /// The direction away from the ground, if there is one.
    pub(crate) ground: Option<[f64; 3]>,
}

/// The parts of a scene on their way to text.
pub(crate) struct Writer<'a> {
    robot: &'a Robot,
    layout: &'a Layout,
    tree: &'a mut Tree,
    /// Names that are taken, of nodes and forces.
    names: HashSet<String>,
    /// How often a name was wanted that was taken.
    counts: HashMap<String, usize>,
    /// By link: the name of its node.
    links: Vec<String>,
    /// By joint of the file, by its name: the node of its coordinate in the scene.
    coordinates: HashMap<String, String>,
    /// Links of which colliders meet those of the body that a joint joins theirs to, which is
    /// behind.
    meeting: BTreeMap<usize, usize>,
    parameters: BTreeMap<String, String>,
    joints: Vec<String>,
    gears: Vec<String>,
    tendons: Vec<String>,
    masses: Vec<String>,
    forces: Vec<String>,
    rows: Vec<String>,
    /// Vertices of deformables that stand in the world.
    fixed: Vec<String>,
    ignored: Vec<String>,
    /// By deformable: its node, and triangles that it collides with if these are not those of a
    /// mesh that the scene knows.
    flexes: Vec<flexes::Written>,
}

/// The scene.
pub(crate) fn scene(robot: &Robot, layout: &Layout, tree: &mut Tree, around: Surroundings) -> String {
    let mut writer = Writer {
        robot,
        layout,
        tree,
        names: HashSet::new(),
        counts: HashMap::new(),
        links: Vec::new(),
        coordinates: HashMap::new(),
        meeting: BTreeMap::new(),
        parameters: BTreeMap::new(),
        joints: Vec::new(),
        gears: Vec::new(),
        tendons: Vec::new(),
        masses: Vec::new(),
        forces: Vec::new(),
        rows: Vec::new(),
        fixed: Vec::new(),
        ignored: Vec::new(),
        flexes: Vec::new(),
    };
    writer.name_links();
    let scalars = extras::write_scalars(&mut writer);
    writer.find_meeting();
    writer.write_joints();
    writer.write_closures();
    writer.write_gears();
    extras::write_curves(&mut writer);
    tendons::write_tendons(&mut writer);
    extras::write_points(&mut writer);
    lines::write_lines(&mut writer);
    extras::write_pulls(&mut writer);
    extras::write_lifts(&mut writer);
    let sites = extras::write_sites(&mut writer);
    flexes::write_flexes(&mut writer);
    let (materials, colliders) = writer.colliders(around);
    let mut nodes = writer.bodies();
    nodes.extend(writer.frames());
    nodes.extend(scalars);
    nodes.append(&mut writer.tendons);
    nodes.extend(sites);

    let mut out = String::from("(\n");
    let _ = writeln!(out, "    title: {},", text(&robot.title));
    if !writer.parameters.is_empty() {
        let _ = writeln!(out, "\n    parameters: {{");
        for (name, value) in &writer.parameters {
            let _ = writeln!(out, "        {}: {value},", text(name));
        }
        let _ = writeln!(out, "    }},");
    }
    let _ = writeln!(out, "\n    gravity: {},", tuple(&robot.gravity));
    let _ = writeln!(out, "\n    run: (duration: 2, step: {}),", number(robot.step));
    list(&mut out, "nodes", &nodes);
    list(&mut out, "joints", &writer.joints);
    list(&mut out, "gears", &writer.gears);
    list(&mut out, "masses", &writer.masses);
    list(&mut out, "force_fields", &writer.forces);
    list(&mut out, "constraints", &writer.rows);
    let held = [writer.held(), std::mem::take(&mut writer.fixed)].concat();
    list(&mut out, "fixed", &held);
    list(&mut out, "materials", &materials);
    list(&mut out, "material_pairs", &writer.material_pairs());
    if let Some(rule) = robot.friction_rule
        && !materials.is_empty()
    {
        let _ = writeln!(out, "\n    friction_rule: {rule},");
    }
    list(&mut out, "colliders", &colliders);
    list(&mut out, "ignore", &writer.ignored);
    out.push_str(")\n");
    out
}

/// A list of a scene, if it has entries.
pub(crate) fn list(out: &mut String, key: &str, entries: &[String]) {
    if entries.is_empty() && key != "nodes" {
        return;
    }
    let _ = writeln!(out, "\n    {key}: [");
    for entry in entries {
        for line in entry.lines() {
            let _ = writeln!(out, "        {line}");
        }
    }
    let _ = writeln!(out, "    ],");
}

/// A name that nothing has yet: that which is wanted, or with a number behind it.
pub(crate) fn unused(
    taken: &mut HashSet<String>,
    counts: &mut HashMap<String, usize>,
    wanted: &str,
) -> String {
    let mut name = wanted.to_owned();
    while !taken.insert(name.clone()) {
        let count = counts.entry(wanted.to_owned()).or_insert(1);
        *count += 1;
        name = format!("{wanted} {count}");
    }
    name
}

/// A rotation as a key, with a comma ahead; empty if it is none.
pub(crate) fn rotation(q: Quaternion) -> String {
    let q = tidy(if q[0] < 0.0 { q.map(|c| -c) } else { q });
    if q[1..] == [0.0; 3] {
        return String::new();
    }
    format!(", rotation: Quaternion{}", tuple(&q))
}

/// A position as a key, with a comma ahead; empty at the origin.
pub(crate) fn place(key: &str, at: Vec3) -> String {
    match position(at) {
        [0.0, 0.0, 0.0] => String::new(),
        at => format!(", {key}: {}", tuple(&at)),
    }
}

impl Writer<'_> {
    /// A name of a node or a force that nothing has yet.
    fn name(&mut self, wanted: &str) -> String {
        unused(&mut self.names, &mut self.counts, wanted)
    }

    fn name_links(&mut self) {
        let robot = self.robot;
        for link in &robot.links {
            let name = self.name(&link.name);
            self.names.insert(format!("{name}.mass"));
            if name != link.name {
                let message = format!("the name `{}` is used twice: the second is `{name}`", link.name);
                self.tree.remark(link.spot, message);
            }
            self.links.push(name);
        }
    }

    /// The pose of the body of a link at the start: centre of mass, axes of the link.
    fn body_pose(&self, owner: usize) -> Frame {
        let start = self.layout.start[owner];
        let centre = self.layout.inertia[owner].map_or_else(Vec3::zeros, |i| i.centre);
        Frame {
            position: start.point(centre),
            rotation: start.rotation,
        }
    }

    /// The velocities of a body at the start as keys; none at rest.
    fn velocity(&self, owner: usize, centre: Vec3) -> Option<String> {
        let [linear, angular] = self.layout.velocity[owner];
        if linear == Vec3::zeros() && angular == Vec3::zeros() {
            return None;
        }
        let linear = linear + angular.cross(&(centre - self.layout.start[owner].position));
        Some(format!(
            ", velocity: {}, angular_velocity: {}",
            vector(linear),
            vector(angular)
        ))
    }

    /// A frame of a link in the axes of its body, from its centre of mass; of the world if it is
    /// part of it.
    fn in_body(&self, link: Option<usize>, frame: &Frame) -> (Option<usize>, Frame) {
        let Some(link) = link else {
            return (None, *frame);
        };
        let mut frame = self.layout.offset[link].then(frame);
        let owner = self.layout.owner[link];
        if let Some(inertia) = owner.and_then(|o| self.layout.inertia[o]) {
            frame.position -= inertia.centre;
        }
        (owner, frame)
    }

    fn bodies(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        for index in 0..self.robot.links.len() {
            if self.layout.owner[index] != Some(index) {
                continue;
            }
            let Some(inertia) = self.layout.inertia[index] else {
                continue;
            };
            let pose = self.body_pose(index);
            let tensor = inertia.tensor;
            let products = [tensor[(0, 1)], tensor[(0, 2)], tensor[(1, 2)]];
            let all = tidy([
                tensor[(0, 0)],
                tensor[(1, 1)],
                tensor[(2, 2)],
                products[0],
                products[1],
                products[2],
            ]);
            let mut inside = format!("{}{}", place("position", pose.position), rotation(pose.rotation));
            let _ = write!(inside, ", mass: {}", number(inertia.mass));
            let _ = write!(inside, ", inertia: {}", tuple(&all[..3]));
            if let Some(velocity) = self.velocity(index, pose.position) {
                inside += &velocity;
            }
            if all[3..] != [0.0; 3] {
                let _ = write!(inside, ", products: {}", tuple(&all[3..]));
            }
            out.push(format!(
                "Bodies(name: {}, bodies: [({})]),",
                text(&self.links[index]),
                inside.trim_start_matches(", ")
            ));
        }
        if !out.is_empty() {
            out.insert(
                0,
                "// Bodies have the axes of their links; `position` is the centre of mass.".to_owned(),
            );
        }
        out
    }

    /// Bodies that are held.
    fn held(&self) -> Vec<String> {
        let links = self.robot.links.iter().enumerate();
        links
            .filter(|(_, link)| matches!(link.attachment, Attachment::Held))
            .map(|(index, _)| format!("(node: {}),", text(&self.links[index])))
            .collect()
    }

    /// Links that are part of the body of another one, as frames that ride on it.
    fn frames(&self) -> Vec<String> {
        let links = &self.robot.links;
        let mut out = Vec::new();
        for (index, link) in links.iter().enumerate() {
            if !matches!(link.attachment, Attachment::Rigid) {
                continue;
            }
            let (Some(owner), frame) = self.in_body(Some(index), &Frame::IDENTITY) else {
                continue;
            };
            out.push(extras::rigid_frame(
                &self.links[index],
                &self.links[owner],
                &frame,
            ));
        }
        if !out.is_empty() {
            out.insert(
                0,
                "// Links that ride on others; their mass is in that of the body.".to_owned(),
            );
        }
        out
    }
}
