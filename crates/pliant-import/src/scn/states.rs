//! States of a SOFA scene: what has coordinates, of its own or mapped.

use super::graph::{Target, kind, spot};
use super::mappings::Mappings;
use super::topology::{Placement, Topology, placement};
use super::{DEEPEST_LINKS, Input, Result};
use crate::geometry::Frame;
use crate::xml::Spot;
use pliant_dense::Vec3;
use pliant_dense::rotation::{conjugate, log, multiply, normalize, rotate};
use std::collections::HashMap;
use std::rc::Rc;

/// The most nodes of a path in the name of a state.
const LONGEST_LABEL: usize = 8;

/// The space of the coordinates of a state, by its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Points,
    Rigid,
    Scalars,
    Six,
    Other,
}

/// A frame on a body, or in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// State and element of the body, which has coordinates of its own.
    pub(super) body: Option<(usize, usize)>,
    pub(super) frame: Frame,
}

/// An end of a difference or a distance.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Element(usize, usize),
    Fixed(Vec3),
}

/// A coordinate along a direction: `direction . position + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) state: usize,
    pub(super) element: usize,
    pub(super) direction: Vec3,
    pub(super) offset: f64,
}

/// A coordinate of a joint: `sign q - offset`, `q` one of three translations and three rotations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate {
    pub(super) pair: usize,
    pub(super) axis: usize,
    pub(super) sign: f64,
    pub(super) offset: f64,
}

/// How the coordinates of a state come about.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Particles of their own.
    Points {
        positions: Vec<Vec3>,
        velocities: Vec<Vec3>,
        topology: Option<Rc<Topology>>,
        /// How the points of the topology are placed.
        placement: Option<Placement>,
    },
    /// Bodies of their own; velocities are linear and angular, in world axes.
    Bodies {
        frames: Vec<Frame>,
        velocities: Vec<[f64; 6]>,
    },
    /// Numbers of their own.
    Scalars {
        values: Vec<f64>,
        velocities: Vec<f64>,
    },
    /// Frames that ride on bodies.
    Frames(Vec<Placed>),
    /// Points that ride on bodies: the origins of frames.
    Carried(Vec<Placed>),
    /// Points of other states.
    Subset(Vec<(usize, usize)>),
    /// Points within the cells of a state.
    InCells {
        state: usize,
        cells: Vec<Vec<usize>>,
        points: Vec<Vec3>,
    },
    /// First ends less second ends.
    Differences(Vec<(End, End)>),
    /// Lengths less rest lengths, or the other way round.
    Lengths {
        pairs: Vec<(End, End)>,
        rest: Vec<f64>,
        negative: bool,
    },
    Projections(Vec<Row>),
    /// Poses of second frames against first ones: which of the six coordinates count.
    Joint {
        pairs: Vec<(Placed, Placed)>,
        axes: [bool; 6],
    },
    /// Coordinates of a state that is a `Joint`.
    Coordinates {
        joint: usize,
        rows: Vec<Coordinate>,
    },
    /// Not taken.
    Missing,
}

/// A state.
#[derive(Debug)]
pub(super) struct State {
    /// Its name in the scene.
    pub(super) name: String,
    pub(super) node: usize,
    pub(super) kind: Kind,
    pub(super) spot: Spot,
    /// Whether it is written, if it is mapped.
    pub(super) written: bool,
}

/// The space of a template such as `Vec3d` or `Rigid`; of several the last one.
pub(super) fn space(template: Option<&str>) -> Space {
    let Some(template) = template else {
        return Space::Points;
    };
    let last = template.rsplit(',').next().unwrap_or_default().trim();
    match last {
        "Vec3" | "Vec3d" | "Vec3f" | "ExtVec3" | "ExtVec3d" | "ExtVec3f" => Space::Points,
        "Rigid" | "Rigid3" | "Rigid3d" | "Rigid3f" => Space::Rigid,
        "Vec1" | "Vec1d" | "Vec1f" => Space::Scalars,
        "Vec6" | "Vec6d" | "Vec6f" => Space::Six,
        _ => Space::Other,
    }
}

/// Whether a component maps a state onto another one.
pub(super) fn is_mapping(kind: &str) -> bool {
    kind.ends_with("Mapping") && !kind.ends_with("TopologicalMapping")
}

impl Input<'_> {
    /// Gives every `MechanicalObject` a name in the scene: that of its node, with as much of the
    /// path before it as makes it the only one.
    pub(super) fn name_states(&mut self) {
        let mut paths: Vec<(usize, Vec<String>)> = Vec::new();
        for node in 0..self.graph.nodes.len() {
            let Some(element) = self.state_element(node) else {
                continue;
            };
            let own = self.tree.value(element, "name").unwrap_or_default().to_owned();
            let mut path: Vec<String> = self
                .graph
                .upwards(node)
                .filter(|n| *n != 0)
                .map(|n| self.graph.nodes[n].name.clone())
                .filter(|n| !n.is_empty())
                .collect();
            let unnamed = self.graph.nodes[node].name.is_empty() || node == 0;
            if unnamed {
                path.insert(0, if own.is_empty() { "state".to_owned() } else { own });
            }
            paths.push((element, path));
        }
        let label = |path: &[String], parts: usize| {
            let mut all: Vec<&str> = path.iter().take(parts).map(String::as_str).collect();
            all.reverse();
            all.join("/")
        };
        let mut counts: HashMap<String, usize> = HashMap::new();
        let longest = paths
            .iter()
            .map(|(_, p)| p.len())
            .max()
            .unwrap_or(0)
            .min(LONGEST_LABEL);
        for parts in 1..=longest {
            for (_, path) in paths.iter().filter(|(_, p)| p.len() >= parts) {
                *counts.entry(label(path, parts)).or_default() += 1;
            }
        }
        for (element, path) in paths {
            let parts =
                (1..path.len().min(LONGEST_LABEL)).find(|n| counts.get(&label(&path, *n)) == Some(&1));
            let wanted = label(&path, parts.unwrap_or(path.len().min(LONGEST_LABEL)));
            let name = self.unused(&wanted);
            self.labels.insert(element, name);
        }
    }

    /// The state of a `MechanicalObject`; none while it is being read.
    pub(super) fn state_of_element(&mut self, element: usize) -> Result<Option<usize>> {
        if let Some(known) = self.by_element.get(&element) {
            return Ok(*known);
        }
        if kind(self.tree, element) != "MechanicalObject" || self.depth > DEEPEST_LINKS {
            return Ok(None);
        }
        self.by_element.insert(element, None);
        let node = self.graph.node_of(element);
        self.depth += 1;
        let kind = match self.mapping_of(node) {
            Some(mapping) => Mappings(self).mapped(mapping, element)?,
            None => self.independent(element, node)?,
        };
        self.depth -= 1;
        let index = self.states.len();
        let name = self.labels.get(&element).cloned().unwrap_or_default();
        self.states.push(State {
            name,
            node,
            kind,
            spot: spot(self.tree, element),
            written: false,
        });
        self.by_element.insert(element, Some(index));
        Ok(Some(index))
    }

    /// The mapping of the state of a node.
    pub(super) fn mapping_of(&self, node: usize) -> Option<usize> {
        let all = self.graph.nodes[node].components.iter();
        all.copied().find(|c| is_mapping(&kind(self.tree, *c)))
    }

    /// The nearest state at a node or above.
    pub(super) fn state_above(&mut self, node: usize) -> Result<Option<usize>> {
        let up: Vec<usize> = self.graph.upwards(node).collect();
        match up.into_iter().find_map(|n| self.state_element(n)) {
            Some(element) => self.state_of_element(element),
            None => Ok(None),
        }
    }

    /// The states that a component names by a key; the nearest above its node without one.
    pub(super) fn inputs(&mut self, component: usize, key: &str) -> Result<Vec<Option<usize>>> {
        let Some(links) = self.tree.value(component, key).map(str::to_owned) else {
            let above = self.graph.nodes[self.graph.node_of(component)].parent;
            return Ok(match above {
                Some(node) => vec![self.state_above(node)?],
                None => vec![None],
            });
        };
        let mut out = Vec::new();
        for link in links.split_whitespace() {
            out.push(self.linked_state(component, link)?);
        }
        Ok(out)
    }

    /// The state that a link leads to.
    pub(super) fn linked_state(&mut self, from: usize, link: &str) -> Result<Option<usize>> {
        let element = match self.graph.target(self.tree, from, link) {
            Some(Target::Component(target)) => Some(target),
            Some(Target::Node(node)) => self.state_element(node),
            None => None,
        };
        if element.is_none() {
            let message = format!("the link `{link}` leads to no state");
            self.tree.remark(spot(self.tree, from), message);
        }
        match element {
            Some(element) => self.state_of_element(element),
            None => Ok(None),
        }
    }

    /// A state with coordinates of its own.
    fn independent(&mut self, element: usize, node: usize) -> Result<Kind> {
        match space(self.tree.value(element, "template")) {
            Space::Points => self.particles(element, node),
            Space::Rigid => self.bodies(element, node),
            Space::Scalars => {
                let values = self.numbers(element, "position")?.unwrap_or_else(|| vec![0.0]);
                let velocities = self.numbers(element, "velocity")?.unwrap_or_default();
                let velocities = repeated(&velocities, values.len(), 0.0);
                Ok(Kind::Scalars { values, velocities })
            }
            Space::Six | Space::Other => {
                let template = self.tree.value(element, "template").unwrap_or_default();
                let message = format!("states of the template `{template}` without a mapping are not taken");
                self.tree.remark(spot(self.tree, element), message);
                Ok(Kind::Missing)
            }
        }
    }

    /// The component with the mesh that gives a state its points: its `src`, or one of its node.
    fn source_of(&self, element: usize, node: usize) -> Option<usize> {
        let link = self.tree.value(element, "src");
        match link.and_then(|link| self.graph.target(self.tree, element, link)) {
            Some(Target::Component(loader)) => Some(loader),
            _ => self.topology_component(node),
        }
    }

    fn particles(&mut self, element: usize, node: usize) -> Result<Kind> {
        let topology = self.source_of(element, node);
        let given = match self.points(element, "position")? {
            Some(points) if points.len() > 1 || topology.is_none() => Some(points),
            Some(_) => None,
            None => self.points(element, "rest_position")?,
        };
        let said = topology.is_some()
            || self.tree.value(element, "position").is_some()
            || self.tree.value(element, "filename").is_some()
            || self.has_other_points(node);
        let topology = match topology {
            Some(component) => self.topology(component)?,
            None => None,
        };
        let without = topology.as_ref().is_none_or(|t| t.points.is_empty());
        if said && given.is_none() && without {
            let message = "a state is not taken, nor what is on it: its points are not known";
            self.tree.remark(spot(self.tree, element), message);
            return Ok(Kind::Missing);
        }
        let moved = placement(self.tree, element)?;
        let of_topology = topology.as_ref().filter(|t| !t.points.is_empty());
        let (points, same) = match (given, of_topology) {
            (Some(points), Some(t)) => {
                let same = points == t.points;
                (points, same)
            }
            (Some(points), None) => (points, false),
            (None, Some(t)) => (t.points.clone(), true),
            (None, None) => (vec![Vec3::zeros()], false),
        };
        let placement = match topology.as_ref().filter(|_| same) {
            Some(t) => moved.after(&t.placement),
            None => None,
        };
        let positions: Vec<Vec3> = points.iter().map(|p| moved.point(*p)).collect();
        let velocities = self.points(element, "velocity")?.unwrap_or_default();
        let velocities = repeated(&velocities, positions.len(), Vec3::zeros());
        Ok(Kind::Points {
            positions,
            velocities,
            topology,
            placement,
        })
    }

    /// Whether a component of a node has points in a way that is not taken, such as a sparse grid.
    fn has_other_points(&self, node: usize) -> bool {
        let all = self.graph.nodes[node].components.iter();
        all.map(|c| kind(self.tree, *c)).any(|name| {
            let known = super::topology::is_topology(&name) || super::topology::is_loader(&name);
            let ends = ["Topology", "Grid", "Container", "Ramification", "Driver"];
            !known && (name.contains("Grid") || ends.iter().any(|end| name.ends_with(end)))
        })
    }

    fn bodies(&mut self, element: usize, node: usize) -> Result<Kind> {
        let frames = match self.frames(element, "position")? {
            Some(frames) => frames,
            None => match self.source_of(element, node) {
                // Bodies at the points of a mesh have the axes of the world.
                Some(component) => match self.topology(component)? {
                    Some(mesh) => mesh.points.iter().map(|p| Frame::at(*p)).collect(),
                    None => Vec::new(),
                },
                None => vec![Frame::IDENTITY],
            },
        };
        if frames.is_empty() {
            let message = "a state is not taken, nor what is on it: its bodies are not known";
            self.tree.remark(spot(self.tree, element), message);
            return Ok(Kind::Missing);
        }
        let moved = placement(self.tree, element)?;
        let frames: Vec<Frame> = frames
            .iter()
            .map(|f| Frame {
                position: f.position.component_mul(&moved.scale),
                rotation: f.rotation,
            })
            .map(|f| moved.frame.then(&f))
            .collect();
        let list = self.numbers(element, "velocity")?.unwrap_or_default();
        self.check_groups(element, "velocity", list.len(), 6)?;
        let six = list.chunks_exact(6).filter_map(|c| <[f64; 6]>::try_from(c).ok());
        let velocities = repeated(&six.collect::<Vec<_>>(), frames.len(), [0.0; 6]);
        Ok(Kind::Bodies { frames, velocities })
    }

    /// Frames of an attribute: a position and a quaternion with its real part last, each.
    pub(super) fn frames(&mut self, of: usize, name: &str) -> Result<Option<Vec<Frame>>> {
        let Some(list) = self.numbers(of, name)? else {
            return Ok(None);
        };
        self.check_groups(of, name, list.len(), 7)?;
        let mut out = Vec::new();
        for seven in list.chunks_exact(7) {
            out.push(self.frame(of, name, seven)?);
        }
        Ok(Some(out))
    }

    /// A frame of seven numbers.
    pub(super) fn frame(&self, of: usize, name: &str, seven: &[f64]) -> Result<Frame> {
        let [x, y, z, w] = [seven[3], seven[4], seven[5], seven[6]];
        match normalize([w, x, y, z]) {
            Some(rotation) => Ok(Frame {
                position: Vec3::from_column_slice(&seven[..3]),
                rotation,
            }),
            None => {
                let at = self
                    .tree
                    .attribute(of, name)
                    .map_or(spot(self.tree, of), |a| a.spot);
                let message = format!("`{name}` has a rotation of length zero");
                let help = "a frame is x y z, then qx qy qz qw".to_owned();
                self.tree.wrong(at, message, Some(help))
            }
        }
    }

    /// How many elements a state has.
    pub(super) fn count(&self, state: usize) -> usize {
        match &self.states[state].kind {
            Kind::Points { positions, .. } => positions.len(),
            Kind::Bodies { frames, .. } => frames.len(),
            Kind::Scalars { values, .. } => values.len(),
            Kind::Frames(list) | Kind::Carried(list) => list.len(),
            Kind::Subset(list) => list.len(),
            Kind::InCells { points, .. } => points.len(),
            Kind::Differences(pairs) | Kind::Lengths { pairs, .. } => pairs.len(),
            Kind::Projections(rows) => rows.len(),
            Kind::Joint { pairs, .. } => pairs.len(),
            Kind::Coordinates { rows, .. } => rows.len(),
            Kind::Missing => 0,
        }
    }

    /// Whether a state is one of points of space.
    pub(super) fn is_points(&self, state: usize) -> bool {
        matches!(
            self.states[state].kind,
            Kind::Points { .. } | Kind::Carried(_) | Kind::Subset(_) | Kind::InCells { .. }
        )
    }

    /// Whether a state has coordinates of its own.
    pub(super) fn is_independent(&self, state: usize) -> bool {
        matches!(
            self.states[state].kind,
            Kind::Points { .. } | Kind::Bodies { .. } | Kind::Scalars { .. }
        )
    }

    /// The pose of a frame at the start.
    pub(super) fn start_frame(&self, placed: &Placed) -> Frame {
        match placed.body {
            None => placed.frame,
            Some((state, element)) => match &self.states[state].kind {
                Kind::Bodies { frames, .. } => frames[element].then(&placed.frame),
                _ => placed.frame,
            },
        }
    }

    /// The frames of a state of bodies, or of frames on them.
    pub(super) fn placed(&self, state: usize) -> Option<Vec<Placed>> {
        match &self.states[state].kind {
            Kind::Bodies { frames, .. } => {
                let own = |element| Placed {
                    body: Some((state, element)),
                    frame: Frame::IDENTITY,
                };
                Some((0..frames.len()).map(own).collect())
            }
            Kind::Frames(list) => Some(list.clone()),
            _ => None,
        }
    }

    /// The place of an element of a state at the start.
    pub(super) fn start_point(&self, state: usize, element: usize) -> Vec3 {
        match &self.states[state].kind {
            Kind::Points { positions, .. } => positions[element],
            Kind::Bodies { frames, .. } => frames[element].position,
            Kind::Frames(list) | Kind::Carried(list) => self.start_frame(&list[element]).position,
            Kind::Subset(list) => self.start_point(list[element].0, list[element].1),
            Kind::InCells { points, .. } => points[element],
            Kind::Differences(pairs) => self.start_end(pairs[element].0) - self.start_end(pairs[element].1),
            _ => Vec3::zeros(),
        }
    }

    pub(super) fn start_end(&self, end: End) -> Vec3 {
        match end {
            End::Element(state, element) => self.start_point(state, element),
            End::Fixed(point) => point,
        }
    }

    pub(super) fn start_points(&self, state: usize) -> Vec<Vec3> {
        (0..self.count(state))
            .map(|i| self.start_point(state, i))
            .collect()
    }

    /// The numbers of a state of scalars at the start.
    pub(super) fn start_values(&self, state: usize) -> Vec<f64> {
        match &self.states[state].kind {
            Kind::Scalars { values, .. } => values.clone(),
            Kind::Lengths {
                pairs,
                rest,
                negative,
            } => {
                let length = |(a, b): &(End, End)| (self.start_end(*b) - self.start_end(*a)).norm();
                let sign = if *negative { -1.0 } else { 1.0 };
                pairs
                    .iter()
                    .zip(rest)
                    .map(|(p, r)| sign * (length(p) - r))
                    .collect()
            }
            Kind::Projections(rows) => rows
                .iter()
                .map(|r| r.direction.dot(&self.start_point(r.state, r.element)) + r.offset)
                .collect(),
            Kind::Coordinates { joint, rows } => {
                let of = |r: &Coordinate| r.sign * self.start_pose(*joint, r.pair)[r.axis] - r.offset;
                rows.iter().map(of).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Translation and rotation vector of the second frame of a joint against its first.
    pub(super) fn start_pose(&self, joint: usize, pair: usize) -> [f64; 6] {
        let Kind::Joint { pairs, .. } = &self.states[joint].kind else {
            return [0.0; 6];
        };
        let [a, b] = [pairs[pair].0, pairs[pair].1].map(|p| self.start_frame(&p));
        let back = conjugate(a.rotation);
        let t = rotate(back, b.position - a.position);
        let r = log(multiply(back, b.rotation));
        [t.x, t.y, t.z, r.x, r.y, r.z]
    }
}

/// A list of a length: what is missing is the last one again, or a default.
pub(super) fn repeated<T: Copy>(list: &[T], count: usize, default: T) -> Vec<T> {
    let last = list.last().copied().unwrap_or(default);
    (0..count).map(|i| list.get(i).copied().unwrap_or(last)).collect()
}
