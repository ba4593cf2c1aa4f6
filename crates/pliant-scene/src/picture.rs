//! The parts of a model that are drawn and recorded.

use pliant::dense::{Vec3, rotation};
use pliant::model::{ComponentId, ElementIndex, Model, NodeId, Pose, Problem, Space, State};
use pliant_output::recording::{BodyTrack, Frame, LineTrack, Look, PointGroup, Recording, Sample, Shape};
use std::collections::{BTreeMap, BTreeSet};

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

/// A line that is drawn for an element of a node, such as the length of a spring or a muscle.
#[derive(Clone, Debug)]
pub struct DrawnLine {
    /// The node.
    pub node: NodeId,
    /// Its element.
    pub element: usize,
    /// Index of the first of its segments.
    pub first: usize,
    /// Number of its segments.
    pub count: usize,
}

/// A triangle that is drawn of an element that may go, or between two of them: it is there while one
/// of them is.
#[derive(Clone, Copy, Debug)]
pub struct DrawnFace {
    /// Its place in [`Picture::triangles`].
    pub triangle: usize,
    /// The element.
    pub of: ElementIndex,
    /// The element at its other side.
    pub beyond: Option<ElementIndex>,
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
    /// Segments that belong to elements of nodes, in order.
    pub lines: Vec<DrawnLine>,
    /// Muscles: the node of their lengths, and the force field.
    pub muscles: Vec<(NodeId, ComponentId)>,
    /// Triangles.
    pub triangles: Vec<[PointRef; 3]>,
    /// Triangles of elements that may go, in order.
    pub faces: Vec<DrawnFace>,
    /// Bodies: node, element, shape.
    pub bodies: Vec<(NodeId, usize, Shape)>,
    /// Shapes that collide and are not those of bodies.
    pub colliders: Vec<DrawnCollider>,
    /// Cameras and colours.
    pub look: Look,
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

    /// The segments since the first of these numbers are those of an element of a node.
    pub(crate) fn name_segments(&mut self, first: usize, node: NodeId, element: usize) {
        let count = self.segments.len().saturating_sub(first);
        if count > 0 {
            self.lines.push(DrawnLine {
                node,
                element,
                first,
                count,
            });
        }
    }

    /// The force field of the muscle that a line is.
    fn muscle(&self, line: &DrawnLine) -> Option<ComponentId> {
        let muscle = self.muscles.iter().find(|(node, _)| *node == line.node);
        muscle.map(|(_, component)| *component)
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

    /// Draws the triangles with a corner like this no more.
    pub(crate) fn drop_triangles(&mut self, is_hidden: impl Fn(&PointRef) -> bool) {
        let mut places = Vec::with_capacity(self.triangles.len());
        let mut next = 0;
        for corners in &self.triangles {
            let stays = !corners.iter().any(&is_hidden);
            places.push(stays.then_some(next));
            next += usize::from(stays);
        }
        self.triangles.retain(|corners| !corners.iter().any(&is_hidden));
        let renumbered = self.faces.iter().filter_map(|face| {
            let triangle = places.get(face.triangle).copied().flatten()?;
            Some(DrawnFace { triangle, ..*face })
        });
        self.faces = renumbered.collect();
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
        // Places or poses, and velocities; contact forces.
        let forces = if self.collides { 3 } else { 0 };
        let moved = points
            .saturating_mul(6 + forces)
            .saturating_add(bodies.saturating_mul(10 + forces));
        moved.saturating_add(self.field_numbers)
    }

    /// A recording without frames.
    pub fn recording(&self, model: &Model, title: &str) -> Recording {
        let mut recording = Recording {
            title: title.to_owned(),
            look: self.look.clone(),
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
        let name = |node: NodeId, element: usize| {
            let entry = model.node(node);
            if entry.count == 1 {
                entry.name.clone()
            } else {
                format!("{} {element}", entry.name)
            }
        };
        recording.lines.extend(self.lines.iter().map(|line| LineTrack {
            name: name(line.node, line.element),
            first: line.first,
            count: line.count,
            is_muscle: self.muscle(line).is_some(),
        }));
        for (node, element, shape) in &self.bodies {
            recording.bodies.push(BodyTrack {
                name: name(*node, *element),
                shape: shape.clone(),
            });
        }
        recording.bodies.extend(self.colliders.iter().map(|c| BodyTrack {
            name: c.name.clone(),
            shape: c.shape.clone(),
        }));
        recording
    }

    /// The picture of a state, without contact pressures.
    pub fn frame(&self, problem: &Problem, state: &State, sample: Sample) -> Frame {
        let model: &Model = problem;
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
        let muscles = self.lines.iter().filter_map(|line| {
            let inputs = match self.muscle(line)? {
                ComponentId::ForceField(i) => problem.inputs(i),
                _ => &[],
            };
            // One activation serves all elements.
            inputs.get(line.element).or(inputs.first()).copied()
        });
        Frame {
            time: sample.time,
            activations: muscles.collect(),
            released: self.released(problem),
            hidden: self.hidden(problem),
            body_velocities: self.body_velocities(model, state),
            points,
            velocities,
            poses,
            sample,
            ..Frame::default()
        }
    }

    /// The lines along which something acted, and nothing does any more.
    fn released(&self, problem: &Problem) -> Vec<u32> {
        let forces = problem.force_fields().iter().enumerate();
        let forces = forces.map(|(i, field)| (field.node, ComponentId::ForceField(i)));
        let rows = problem.constraints().iter().enumerate();
        let rows = rows.map(|(i, row)| (row.node, ComponentId::Constraint(i)));
        let (mut over, mut acting) = (BTreeSet::new(), BTreeSet::new());
        for (node, component) in forces.chain(rows) {
            let nodes = match problem.is_released(component) {
                true => &mut over,
                false => &mut acting,
            };
            nodes.insert(node);
        }
        let lines = (0..).zip(&self.lines);
        let is_gone = |line: &DrawnLine| {
            let node = line.node.index();
            let element = line.element;
            problem.is_gone(ElementIndex { node, element })
        };
        let is_over =
            |line: &DrawnLine| is_gone(line) || over.contains(&line.node) && !acting.contains(&line.node);
        lines.filter(|(_, line)| is_over(line)).map(|(i, _)| i).collect()
    }

    /// The triangles that are not there.
    fn hidden(&self, problem: &Problem) -> Vec<u32> {
        let is_there = |face: &&DrawnFace| {
            let [of, beyond] =
                [Some(face.of), face.beyond].map(|at| at.is_some_and(|at| !problem.is_gone(at)));
            of != beyond
        };
        let hidden = self.faces.iter().filter(|face| !is_there(face));
        let number = |face: &DrawnFace| u32::try_from(face.triangle).unwrap_or(u32::MAX);
        hidden.map(number).collect()
    }

    /// Velocities of the bodies and of the colliders that they carry.
    fn body_velocities(&self, model: &Model, state: &State) -> Vec<[f64; 3]> {
        // Linear in world axes, angular in those of the body.
        let both = |node: NodeId, element: usize| {
            let v = model.velocities(state, node).as_chunks::<6>().0[element];
            ([v[0], v[1], v[2]], Vec3::new(v[3], v[4], v[5]))
        };
        let bodies = self
            .bodies
            .iter()
            .map(|(node, element, _)| both(*node, *element).0);
        let colliders = self.colliders.iter().map(|collider| {
            let Some((node, element)) = collider.carrier else {
                return [0.0; 3];
            };
            let (linear, angular) = both(node, element);
            let x = model.positions(state, node).as_chunks::<7>().0[element];
            let across = angular.cross(&Vec3::from(collider.pose.position));
            let turned = rotation::rotate([x[3], x[4], x[5], x[6]], across);
            [0, 1, 2].map(|k| linear[k] + turned[k])
        });
        bodies.chain(colliders).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faces of triangles that stay are those of the same triangles by their new numbers, and the
    /// others are gone.
    #[test]
    fn faces_follow_their_triangles() {
        let corner = PointRef::Anchor;
        let mut picture = Picture::default();
        for first in [0, 10, 20] {
            let triangle = picture.triangles.len();
            picture.triangle([corner(first), corner(1), corner(2)]);
            picture.faces.push(DrawnFace {
                triangle,
                of: ElementIndex {
                    node: 0,
                    element: first,
                },
                beyond: None,
            });
        }
        picture.drop_triangles(|point| *point == corner(10));
        assert_eq!(picture.triangles.len(), 2);
        for face in &picture.faces {
            assert_eq!(picture.triangles[face.triangle][0], corner(face.of.element));
        }
        assert_eq!(picture.faces.len(), 2);
    }
}
