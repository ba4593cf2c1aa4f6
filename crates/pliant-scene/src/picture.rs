//! The parts of a model that are drawn and recorded.

use pliant::dense::rotation;
use pliant::model::{Model, NodeId, Pose, Space, State};
use pliant_output::recording::{BodyTrack, Frame, PointGroup, Recording, Sample, Shape};
use std::collections::BTreeMap;

/// A point of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointRef {
    /// An element of a node of points.
    Node(NodeId, usize),
    /// One of [`Picture::anchors`].
    Anchor(usize),
}

/// A shape that is drawn because it collides.
#[derive(Clone, Debug)]
pub struct DrawnCollider {
    /// The user's name.
    pub name: String,
    /// The body that carries it, by node and element; the world otherwise.
    pub carrier: Option<(NodeId, usize)>,
    /// Its place in the axes of the body.
    pub pose: Pose,
    /// Its shape.
    pub shape: Shape,
}

/// The parts of a model that are drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Nodes of points, in the order of the model.
    pub nodes: Vec<NodeId>,
    /// Points that never move.
    pub anchors: Vec<[f64; 3]>,
    /// Places in `anchors` by the bits of a point.
    known: BTreeMap<[u64; 3], usize>,
    /// Lines.
    pub segments: Vec<[PointRef; 2]>,
    /// Triangles.
    pub triangles: Vec<[PointRef; 3]>,
    /// Bodies: node, element, shape.
    pub bodies: Vec<(NodeId, usize, Shape)>,
    /// Shapes that collide and are not those of bodies.
    pub colliders: Vec<DrawnCollider>,
    /// Whether anything collides, so that there are contact forces.
    pub(crate) collides: bool,
    /// Numbers of stresses and strains in a frame.
    pub(crate) field_numbers: usize,
}

impl Picture {
    /// Draws this node of points.
    pub(crate) fn show(&mut self, node: NodeId) {
        if !self.nodes.contains(&node) {
            self.nodes.push(node);
        }
    }

    /// Draws a line.
    pub(crate) fn line(&mut self, a: PointRef, b: PointRef) {
        for end in [a, b] {
            if let PointRef::Node(node, _) = end {
                self.show(node);
            }
        }
        self.segments.push([a, b]);
    }

    /// Draws a triangle.
    pub(crate) fn triangle(&mut self, corners: [PointRef; 3]) {
        for corner in corners {
            if let PointRef::Node(node, _) = corner {
                self.show(node);
            }
        }
        self.triangles.push(corners);
    }

    /// The number of a point that never moves; equal points are one.
    pub(crate) fn anchor(&mut self, point: [f64; 3]) -> PointRef {
        let new = self.anchors.len();
        let place = *self.known.entry(point.map(f64::to_bits)).or_insert(new);
        if place == new {
            self.anchors.push(point);
        }
        PointRef::Anchor(place)
    }

    /// The number of the first point of a node in a frame, if the node is drawn.
    pub fn first_point(&self, model: &Model, node: NodeId) -> Option<usize> {
        let at = self.nodes.iter().position(|n| *n == node)?;
        Some(self.nodes[..at].iter().map(|n| model.node(*n).count).sum())
    }

    /// Numbers that one frame holds, about.
    pub fn frame_numbers(&self, model: &Model) -> usize {
        let points: usize = self.nodes.iter().map(|n| model.node(*n).count).sum();
        let points = points.saturating_add(self.anchors.len());
        let bodies = self.bodies.len().saturating_add(self.colliders.len());
        // Places and velocities, or poses; contact forces.
        let forces = if self.collides { 3 } else { 0 };
        let moved = points
            .saturating_mul(6 + forces)
            .saturating_add(bodies.saturating_mul(7 + forces));
        moved.saturating_add(self.field_numbers)
    }

    /// A recording without frames.
    pub fn recording(&self, model: &Model, title: &str) -> Recording {
        let mut recording = Recording {
            title: title.to_owned(),
            ..Recording::default()
        };
        let mut starts = BTreeMap::new();
        let mut start = 0;
        for node in &self.nodes {
            let entry = model.node(*node);
            starts.insert(*node, start);
            recording.groups.push(PointGroup {
                name: entry.name.clone(),
                start,
                count: entry.count,
            });
            start += entry.count;
        }
        if !self.anchors.is_empty() {
            let count = self.anchors.len();
            recording.groups.push(PointGroup {
                name: "fixed points".into(),
                start,
                count,
            });
        }
        let index = |point: &PointRef| match point {
            PointRef::Node(node, element) => (starts.get(node).copied().unwrap_or(0) + element) as u32,
            PointRef::Anchor(i) => (start + i) as u32,
        };
        recording.segments = self.segments.iter().map(|s| s.each_ref().map(index)).collect();
        recording.triangles = self.triangles.iter().map(|s| s.each_ref().map(index)).collect();
        for (node, element, shape) in &self.bodies {
            let entry = model.node(*node);
            let name = if entry.count == 1 {
                entry.name.clone()
            } else {
                format!("{} {element}", entry.name)
            };
            recording.bodies.push(BodyTrack {
                name,
                shape: shape.clone(),
            });
        }
        recording.bodies.extend(self.colliders.iter().map(|c| BodyTrack {
            name: c.name.clone(),
            shape: c.shape.clone(),
        }));
        recording
    }

    /// The picture of a state.
    pub fn frame(&self, model: &Model, state: &State, sample: Sample) -> Frame {
        let (mut points, mut velocities) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            debug_assert_eq!(model.node(*node).space, Space::Real(3));
            points.extend_from_slice(model.positions(state, *node).as_chunks::<3>().0);
            velocities.extend_from_slice(model.velocities(state, *node).as_chunks::<3>().0);
        }
        points.extend_from_slice(&self.anchors);
        velocities.resize(points.len(), [0.0; 3]);
        let pose = |(node, element, _): &(NodeId, usize, Shape)| {
            model.positions(state, *node).as_chunks::<7>().0[*element]
        };
        let mut poses: Vec<[f64; 7]> = self.bodies.iter().map(pose).collect();
        poses.extend(self.colliders.iter().map(|c| {
            let carrier = c.carrier.map(|(node, element)| {
                let x = model.positions(state, node).as_chunks::<7>().0[element];
                ([x[0], x[1], x[2]], [x[3], x[4], x[5], x[6]])
            });
            let (at, turn) = carrier.unwrap_or(([0.0; 3], rotation::IDENTITY));
            let arm = rotation::rotate(turn, c.pose.position.into());
            let [w, x, y, z] = rotation::multiply(turn, c.pose.rotation);
            [at[0] + arm[0], at[1] + arm[1], at[2] + arm[2], w, x, y, z]
        }));
        Frame {
            time: sample.time,
            points,
            velocities,
            pressures: Vec::new(),
            contact_forces: Vec::new(),
            body_velocities: Vec::new(),
            body_contact_forces: Vec::new(),
            regions: Vec::new(),
            poses,
            sample,
        }
    }
}
