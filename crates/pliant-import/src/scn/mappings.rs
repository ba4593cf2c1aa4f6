//! Mappings of SOFA: what a mapped state has of its parents.

use super::graph::{kind, spot};
use super::states::{Coordinate, End, Kind, Placed, Row, Space, repeated, space};
use super::topology::Topology;
use super::{Input, Result};
use crate::geometry::Frame;
use pliant_dense::Vec3;

/// Input of mapped states.
pub(super) struct Mappings<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Mappings<'_, '_> {
    /// The state of an element, which a mapping of its node makes.
    pub(super) fn mapped(&mut self, mapping: usize, element: usize) -> Result<Kind> {
        let name = kind(self.0.tree, mapping);
        let parents = self.0.inputs(
            mapping,
            if self.0.tree.value(mapping, "object1").is_some() {
                "object1"
            } else {
                "input"
            },
        )?;
        let known: Vec<usize> = parents.iter().filter_map(|p| *p).collect();
        if known.len() != parents.len() || known.is_empty() {
            self.lost(mapping, &name, "it maps something that is not taken");
            return Ok(Kind::Missing);
        }
        if known
            .iter()
            .any(|p| matches!(self.0.states[*p].kind, Kind::Missing))
        {
            // What it maps has been told.
            return Ok(Kind::Missing);
        }
        if self.is_of_solid(mapping, element) {
            return Ok(Kind::Missing);
        }
        let made = self.make_mapped(&name, mapping, element, &known)?;
        if made.is_none() {
            self.lost(mapping, &name, "there is no such mapping of these states");
        }
        Ok(made.unwrap_or(Kind::Missing))
    }

    fn lost(&mut self, mapping: usize, name: &str, why: &str) {
        let message = format!("`{name}` is not taken, nor what is on its state: {why}");
        self.0.tree.remark(spot(self.0.tree, mapping), message);
    }

    /// Whether a mapping is one from points to the strains of finite elements.
    fn is_of_solid(&self, mapping: usize, element: usize) -> bool {
        let strains = |name| space(self.0.tree.value(element, name)) == Space::Other;
        strains("template") && space(self.0.tree.value(mapping, "template")) == Space::Other
    }

    fn make_mapped(
        &mut self,
        name: &str,
        mapping: usize,
        element: usize,
        parents: &[usize],
    ) -> Result<Option<Kind>> {
        let parent = parents[0];
        // Bodies on a state of points are their centres.
        let points = space(self.0.tree.value(element, "template")) == Space::Points;
        let centres = |kind: Kind| match kind {
            Kind::Frames(list) if points => Kind::Carried(list),
            kind => kind,
        };
        Ok(match name {
            "IdentityMapping" | "IdentityMultiMapping" => self.identity(parents).map(centres),
            "LinearMapping" | "BarycentricMapping" => self.in_cells(mapping, element, parent)?,
            "SubsetMapping" => self.subset(mapping, parent)?.map(centres),
            "SubsetMultiMapping" => self.subset_of_several(mapping, parents)?.map(centres),
            "RigidMapping" => self.carried(mapping, element, parent)?,
            "AssembledRigidRigidMapping" => self.rigid_frames(mapping, parent)?,
            "RigidRigidMapping" => self.old_rigid_frames(mapping, element, parent)?,
            "DistanceMapping" => self.distances(mapping, parents)?,
            "DistanceMultiMapping" => self.distances(mapping, parents)?,
            "SafeDistanceMapping" => self.safe_distances(mapping, parent)?,
            "DistanceFromTargetMapping" | "SafeDistanceFromTargetMapping" => {
                self.target_distances(mapping, parent)?
            }
            "DifferenceMapping" | "DifferenceMultiMapping" => self.differences(mapping, parents)?,
            "DifferenceFromTargetMapping" | "OffsetMapping" => self.less_targets(mapping, parent)?,
            "MaskMapping" => self.mask(mapping, parent)?,
            "ProjectionMapping" => self.projection(mapping, parent)?,
            "RigidJointMapping" | "RigidJointMultiMapping" => self.joint(mapping, parents)?,
            "RigidJointFromTargetMapping" | "RigidJointFromWorldFrameMapping" => {
                self.joint_to_world(mapping, parent)?
            }
            _ => None,
        })
    }

    fn identity(&self, parents: &[usize]) -> Option<Kind> {
        let [parent] = parents else {
            return None;
        };
        match &self.0.states[*parent].kind {
            Kind::Bodies { .. } | Kind::Frames(_) => self.0.placed(*parent).map(Kind::Frames),
            Kind::Joint { pairs, .. } => Some(Kind::Coordinates {
                joint: *parent,
                rows: all_coordinates(pairs.len()),
            }),
            Kind::Lengths { .. } | Kind::Projections(_) | Kind::Coordinates { .. } => {
                Some(self.0.states[*parent].kind.clone())
            }
            _ if self.0.is_points(*parent) => Some(Kind::Subset(
                (0..self.0.count(*parent)).map(|i| (*parent, i)).collect(),
            )),
            _ => None,
        }
    }

    /// Points within the cells of others; those of the parent itself are a copy of it.
    fn in_cells(&mut self, mapping: usize, element: usize, parent: usize) -> Result<Option<Kind>> {
        if !self.0.is_points(parent) {
            return Ok(None);
        }
        let node = self.0.graph.node_of(mapping);
        let own = match self.0.points(element, "position")? {
            Some(points) => Some(points),
            None => match self.0.topology_component(node) {
                Some(component) => self.0.topology(component)?.map(|t| t.points.clone()),
                None => None,
            },
        };
        let moved = super::topology::placement(self.0.tree, element)?;
        let points: Vec<Vec3> = own.unwrap_or_default().iter().map(|p| moved.point(*p)).collect();
        if points == self.0.start_points(parent) {
            return Ok(self.identity(&[parent]));
        }
        let above = self.0.states[parent].node;
        let Some((_, mesh)) = self.0.topology_above(above)? else {
            return Ok(None);
        };
        let cells = volumes_or_less(&mesh);
        if points.is_empty() || cells.is_empty() {
            return Ok(None);
        }
        self.0
            .below(mapping, "input", &cells.concat(), self.0.count(parent))?;
        Ok(Some(Kind::InCells {
            state: parent,
            cells,
            points,
        }))
    }

    fn subset(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let indices = self.0.indices(mapping, "indices", self.0.count(parent))?;
        let Some(indices) = indices else {
            return Ok(None);
        };
        Ok(self.pick(&indices.iter().map(|i| (parent, *i)).collect::<Vec<_>>()))
    }

    fn subset_of_several(&mut self, mapping: usize, parents: &[usize]) -> Result<Option<Kind>> {
        let pairs = self.0.cells::<2>(mapping, "indexPairs")?.unwrap_or_default();
        let picked = self.of_parents(mapping, "indexPairs", &pairs, parents)?;
        Ok(self.pick(&picked))
    }

    /// Pairs of a parent and an element of it.
    fn of_parents(
        &self,
        mapping: usize,
        key: &str,
        pairs: &[[usize; 2]],
        parents: &[usize],
    ) -> Result<Vec<(usize, usize)>> {
        let mut out = Vec::new();
        for [parent, element] in pairs {
            self.0.below(mapping, key, &[*parent], parents.len())?;
            let state = parents[*parent];
            self.0.below(mapping, key, &[*element], self.0.count(state))?;
            out.push((state, *element));
        }
        Ok(out)
    }

    /// Elements of states of points, or of bodies.
    fn pick(&self, picked: &[(usize, usize)]) -> Option<Kind> {
        if picked.iter().all(|(state, _)| self.0.is_points(*state)) {
            return Some(Kind::Subset(picked.to_vec()));
        }
        let frame = |(state, element): &(usize, usize)| self.0.placed(*state).map(|list| list[*element]);
        picked
            .iter()
            .map(frame)
            .collect::<Option<Vec<_>>>()
            .map(Kind::Frames)
    }

    fn carried(&mut self, mapping: usize, element: usize, parent: usize) -> Result<Option<Kind>> {
        let Some(frames) = self.0.placed(parent) else {
            return Ok(None);
        };
        let node = self.0.graph.node_of(mapping);
        let given = match self.0.points(mapping, "initialPoints")? {
            Some(points) => Some(points),
            None => self.0.points(element, "position")?,
        };
        let topology = self.0.topology_component(node);
        let given = given.filter(|p| p.len() > 1 || topology.is_none());
        let points = match (given, topology) {
            (Some(points), _) => points,
            (None, Some(component)) => match self.0.topology(component)? {
                Some(mesh) => mesh.points.clone(),
                None => return Ok(Some(Kind::Carried(Vec::new()))),
            },
            (None, None) => vec![Vec3::zeros()],
        };
        let moved = super::topology::placement(self.0.tree, element)?;
        let one = self
            .0
            .indices(mapping, "index", frames.len())?
            .unwrap_or_else(|| vec![0]);
        let each = self.0.indices(mapping, "rigidIndexPerPoint", frames.len())?;
        let bodies = repeated(&each.unwrap_or(one), points.len(), 0);
        let global = self.0.truth(mapping, "globalToLocalCoords", false);
        let mut out = Vec::new();
        for (point, body) in points.iter().zip(bodies) {
            let frame = frames[body];
            let point = moved.point(*point);
            let local = match global {
                true => self.0.start_frame(&frame).inverse().point(point),
                false => point,
            };
            out.push(Placed {
                body: frame.body,
                frame: frame.frame.then(&Frame::at(local)),
            });
        }
        Ok(Some(Kind::Carried(out)))
    }

    /// Frames at offsets: an index and a frame each.
    fn rigid_frames(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let Some(frames) = self.0.placed(parent) else {
            return Ok(None);
        };
        let list = self.0.numbers(mapping, "source")?.unwrap_or_default();
        self.0.check_groups(mapping, "source", list.len(), 8)?;
        let mut out = Vec::new();
        for eight in list.chunks_exact(8) {
            let index = self.0.whole(mapping, "source", &eight[..1])?;
            self.0.below(mapping, "source", &index, frames.len())?;
            let inner = self.0.frame(mapping, "source", &eight[1..])?;
            let outer = frames[index[0]];
            out.push(Placed {
                body: outer.body,
                frame: outer.frame.then(&inner),
            });
        }
        Ok(Some(Kind::Frames(out)))
    }

    fn old_rigid_frames(&mut self, mapping: usize, element: usize, parent: usize) -> Result<Option<Kind>> {
        let Some(frames) = self.0.placed(parent) else {
            return Ok(None);
        };
        let inner = match self.0.frames(mapping, "initialPoints")? {
            Some(inner) => inner,
            None => self
                .0
                .frames(element, "position")?
                .unwrap_or_else(|| vec![Frame::IDENTITY]),
        };
        let index = self
            .0
            .indices(mapping, "index", frames.len())?
            .unwrap_or_else(|| vec![0]);
        let outer = repeated(&index, inner.len(), 0);
        let global = self.0.truth(mapping, "globalToLocalCoords", false);
        let place = |(inner, outer): (&Frame, usize)| {
            let outer = frames[outer];
            let local = match global {
                true => self.0.start_frame(&outer).inverse().then(inner),
                false => *inner,
            };
            Placed {
                body: outer.body,
                frame: outer.frame.then(&local),
            }
        };
        Ok(Some(Kind::Frames(inner.iter().zip(outer).map(place).collect())))
    }

    /// Lengths of the edges of the node.
    fn distances(&mut self, mapping: usize, parents: &[usize]) -> Result<Option<Kind>> {
        let node = self.0.graph.node_of(mapping);
        let Some((component, mesh)) = self.0.topology_above(node)? else {
            return Ok(None);
        };
        let edges = mesh.all_edges();
        let ends: Vec<(usize, usize)> = match self.0.cells::<2>(mapping, "indexPairs")? {
            Some(pairs) => self.of_parents(mapping, "indexPairs", &pairs, parents)?,
            None => (0..self.0.count(parents[0])).map(|i| (parents[0], i)).collect(),
        };
        self.0.below(component, "edges", &edges.concat(), ends.len())?;
        if !ends.iter().all(|(state, _)| self.has_places(*state)) {
            return Ok(None);
        }
        let end = |i: usize| End::Element(ends[i].0, ends[i].1);
        let pairs: Vec<(End, End)> = edges.iter().map(|[a, b]| (end(*a), end(*b))).collect();
        let given = self
            .0
            .numbers(mapping, "restLengths")?
            .filter(|r| r.len() == pairs.len());
        let zero = self.0.truth(mapping, "computeDistance", false);
        Ok(Some(self.lengths(
            pairs,
            given.or_else(|| zero.then(|| vec![0.0; edges.len()])),
        )))
    }

    /// Whether the elements of a state have places that an end may be.
    fn has_places(&self, state: usize) -> bool {
        self.0.is_points(state) || matches!(self.0.states[state].kind, Kind::Differences(_))
    }

    /// Lengths with their rest lengths, by default those at the start.
    fn lengths(&self, pairs: Vec<(End, End)>, rest: Option<Vec<f64>>) -> Kind {
        let length = |(a, b): &(End, End)| (self.0.start_end(*b) - self.0.start_end(*a)).norm();
        Kind::Lengths {
            rest: rest.unwrap_or_else(|| pairs.iter().map(length).collect()),
            pairs,
            negative: false,
        }
    }

    fn safe_distances(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let Some(pairs) = self
            .0
            .cells::<2>(mapping, "pairs")?
            .filter(|_| self.has_places(parent))
        else {
            return Ok(None);
        };
        self.0
            .below(mapping, "pairs", &pairs.concat(), self.0.count(parent))?;
        let ends = pairs
            .iter()
            .map(|[a, b]| (End::Element(parent, *a), End::Element(parent, *b)));
        let given = self.0.numbers(mapping, "restLengths")?;
        let rest = given.map(|r| repeated(&r, pairs.len(), 0.0));
        Ok(Some(self.lengths(ends.collect(), rest)))
    }

    /// Distances from fixed points.
    fn target_distances(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        if !self.has_places(parent) {
            return Ok(None);
        }
        let mut targets = Vec::new();
        for key in ["targetPositions", "targets"] {
            targets.extend(self.0.points(mapping, key)?.unwrap_or_default());
        }
        let indices = self.0.indices(mapping, "indices", self.0.count(parent))?;
        let indices = indices.unwrap_or_else(|| (0..self.0.count(parent)).collect());
        if targets.is_empty() {
            return Ok(None);
        }
        let targets = repeated(&targets, indices.len(), Vec3::zeros());
        let ends = targets
            .iter()
            .zip(&indices)
            .map(|(t, i)| (End::Fixed(*t), End::Element(parent, *i)));
        let given = self.0.numbers(mapping, "restLengths")?;
        let rest = given.map(|r| repeated(&r, indices.len(), 0.0));
        Ok(Some(self.lengths(ends.collect(), rest)))
    }

    /// Second ends less first ends.
    fn differences(&mut self, mapping: usize, parents: &[usize]) -> Result<Option<Kind>> {
        let first = parents[0];
        let second = parents.get(1).copied().unwrap_or(first);
        let Some(pairs) = self.0.cells::<2>(mapping, "pairs")? else {
            return Ok(None);
        };
        if ![first, second].iter().all(|s| self.has_places(*s)) {
            return Ok(None);
        }
        for [a, b] in &pairs {
            self.0.below(mapping, "pairs", &[*a], self.0.count(first))?;
            self.0.below(mapping, "pairs", &[*b], self.0.count(second))?;
        }
        let ends = pairs
            .iter()
            .map(|[a, b]| (End::Element(second, *b), End::Element(first, *a)));
        Ok(Some(Kind::Differences(ends.collect())))
    }

    /// A state less targets, or targets less the state.
    fn less_targets(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let inverted = self.0.truth(mapping, "inverted", false);
        let count = self.0.count(parent);
        let indices = self.0.indices(mapping, "indices", count)?;
        let indices = indices.unwrap_or_else(|| (0..count).collect());
        let key = if self.0.tree.attribute(mapping, "targets").is_some() {
            "targets"
        } else {
            "offsets"
        };
        if self.has_places(parent) {
            let targets = self.0.points(mapping, key)?.filter(|t| !t.is_empty());
            let targets =
                targets.unwrap_or_else(|| indices.iter().map(|i| self.0.start_point(parent, *i)).collect());
            let targets = repeated(&targets, indices.len(), Vec3::zeros());
            let pair = |(i, t): (&usize, &Vec3)| match (End::Element(parent, *i), End::Fixed(*t)) {
                (element, target) if inverted => (target, element),
                ends => ends,
            };
            return Ok(Some(Kind::Differences(
                indices.iter().zip(&targets).map(pair).collect(),
            )));
        }
        let given = self.0.numbers(mapping, key)?.filter(|t| !t.is_empty());
        let starts = self.0.start_values(parent);
        let targets = match given {
            Some(targets) => repeated(&targets, indices.len(), 0.0),
            None => indices.iter().filter_map(|i| starts.get(*i).copied()).collect(),
        };
        if let Kind::Joint { pairs, .. } = &self.0.states[parent].kind {
            let mut rows = all_coordinates(pairs.len());
            let targets = repeated(&targets, rows.len(), 0.0);
            rows.iter_mut()
                .zip(targets)
                .for_each(|(row, t)| shift(row, t, inverted));
            return Ok(Some(Kind::Coordinates { joint: parent, rows }));
        }
        Ok(shifted(&self.0.states[parent].kind, &indices, &targets, inverted))
    }

    fn mask(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let list = self.0.numbers(mapping, "dofs")?.unwrap_or_default();
        if let Kind::Joint { pairs, .. } = &self.0.states[parent].kind {
            let pairs = pairs.len();
            self.0.check_groups(mapping, "dofs", list.len(), 6)?;
            let masks: Vec<&[f64]> = list.chunks_exact(6).collect();
            let masks = repeated(&masks, pairs, &[]);
            let rows = masks.iter().enumerate().flat_map(|(pair, mask)| {
                let kept = mask.iter().enumerate().filter(|(_, m)| **m != 0.0);
                kept.map(move |(axis, _)| coordinate(pair, axis))
            });
            return Ok(Some(Kind::Coordinates {
                joint: parent,
                rows: rows.collect(),
            }));
        }
        if !self.has_places(parent) {
            return Ok(None);
        }
        self.0.check_groups(mapping, "dofs", list.len(), 3)?;
        let masks: Vec<&[f64]> = list.chunks_exact(3).collect();
        let masks = repeated(&masks, self.0.count(parent), &[]);
        let mut rows = Vec::new();
        for (element, mask) in masks.iter().enumerate() {
            for axis in (0..mask.len()).filter(|a| mask[*a] != 0.0) {
                rows.push(Row {
                    state: parent,
                    element,
                    direction: unit(axis),
                    offset: 0.0,
                });
            }
        }
        Ok(Some(Kind::Projections(rows)))
    }

    /// Scalar products with directions, less offsets.
    fn projection(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let list = self.0.numbers(mapping, "set")?.unwrap_or_default();
        let offsets = self.0.numbers(mapping, "offset")?.unwrap_or_default();
        let joint = matches!(self.0.states[parent].kind, Kind::Joint { .. });
        let each = if joint { 7 } else { 4 };
        if !joint && !self.has_places(parent) {
            return Ok(None);
        }
        self.0.check_groups(mapping, "set", list.len(), each)?;
        let offsets = repeated(&offsets, list.len() / each, 0.0);
        let (mut rows, mut coordinates) = (Vec::new(), Vec::new());
        for (part, offset) in list.chunks_exact(each).zip(offsets) {
            let index = self.0.whole(mapping, "set", &part[..1])?;
            self.0.below(mapping, "set", &index, self.0.count(parent))?;
            let direction = &part[1..];
            if joint {
                // A row along one coordinate is one of the joint's.
                let kept: Vec<usize> = (0..6).filter(|a| direction[*a] != 0.0).collect();
                let [axis] = kept[..] else {
                    return Ok(None);
                };
                if direction[axis].abs() != 1.0 {
                    return Ok(None);
                }
                coordinates.push(Coordinate {
                    sign: direction[axis],
                    offset,
                    ..coordinate(index[0], axis)
                });
            } else {
                rows.push(Row {
                    state: parent,
                    element: index[0],
                    direction: Vec3::from_column_slice(direction),
                    offset: -offset,
                });
            }
        }
        Ok(Some(match joint {
            true => Kind::Coordinates {
                joint: parent,
                rows: coordinates,
            },
            false => Kind::Projections(rows),
        }))
    }

    /// Joints between bodies: the second of a pair against the first.
    fn joint(&mut self, mapping: usize, parents: &[usize]) -> Result<Option<Kind>> {
        let first = self.0.placed(parents[0]);
        let second = self.0.placed(parents.get(1).copied().unwrap_or(parents[0]));
        let (Some(first), Some(second)) = (first, second) else {
            return Ok(None);
        };
        let list = self.0.cells::<2>(mapping, "pairs")?.unwrap_or_default();
        let mut pairs = Vec::new();
        for [a, b] in list {
            self.0.below(mapping, "pairs", &[a], first.len())?;
            self.0.below(mapping, "pairs", &[b], second.len())?;
            pairs.push((first[a], second[b]));
        }
        let axes = self.joint_axes(mapping);
        Ok(Some(Kind::Joint { pairs, axes }))
    }

    /// Joints between the world and bodies.
    fn joint_to_world(&mut self, mapping: usize, parent: usize) -> Result<Option<Kind>> {
        let Some(bodies) = self.0.placed(parent) else {
            return Ok(None);
        };
        let targets = self.0.frames(mapping, "targets")?.unwrap_or_default();
        let targets = repeated(&targets, bodies.len(), Frame::IDENTITY);
        let world = |frame| Placed { body: None, frame };
        let pairs = targets.into_iter().map(world).zip(bodies).collect();
        let axes = self.joint_axes(mapping);
        Ok(Some(Kind::Joint { pairs, axes }))
    }

    fn joint_axes(&self, mapping: usize) -> [bool; 6] {
        let translation = self.0.truth(mapping, "translation", true);
        let rotation = self.0.truth(mapping, "rotation", true);
        std::array::from_fn(|axis| if axis < 3 { translation } else { rotation })
    }
}

/// A unit vector along an axis.
pub(super) fn unit(axis: usize) -> Vec3 {
    Vec3::from_fn(|i, _| f64::from(u8::from(i == axis)))
}

fn coordinate(pair: usize, axis: usize) -> Coordinate {
    Coordinate {
        pair,
        axis,
        sign: 1.0,
        offset: 0.0,
    }
}

/// All six coordinates of so many pairs.
pub(super) fn all_coordinates(pairs: usize) -> Vec<Coordinate> {
    (0..pairs)
        .flat_map(|pair| (0..6).map(move |axis| coordinate(pair, axis)))
        .collect()
}

/// A coordinate less a target, or the target less the coordinate.
fn shift(row: &mut Coordinate, target: f64, inverted: bool) {
    row.offset += target;
    if inverted {
        row.sign = -row.sign;
        row.offset = -row.offset;
    }
}

/// Elements of a state of scalars less targets, or the other way round.
fn shifted(kind: &Kind, indices: &[usize], targets: &[f64], inverted: bool) -> Option<Kind> {
    let picked = indices.iter().zip(targets);
    match kind {
        Kind::Lengths {
            pairs,
            rest,
            negative,
        } => {
            let sign = if *negative { -1.0 } else { 1.0 };
            Some(Kind::Lengths {
                pairs: indices.iter().map(|i| pairs[*i]).collect(),
                rest: picked.map(|(i, t)| rest[*i] + sign * t).collect(),
                negative: *negative != inverted,
            })
        }
        Kind::Projections(rows) => {
            let shift = |(i, t): (&usize, &f64)| {
                let row = rows[*i];
                let sign = if inverted { -1.0 } else { 1.0 };
                Row {
                    direction: row.direction * sign,
                    offset: (row.offset - t) * sign,
                    ..row
                }
            };
            Some(Kind::Projections(picked.map(shift).collect()))
        }
        Kind::Coordinates { joint, rows } => {
            let moved = picked.map(|(i, t)| {
                let mut row = rows[*i];
                shift(&mut row, *t, inverted);
                row
            });
            Some(Kind::Coordinates {
                joint: *joint,
                rows: moved.collect(),
            })
        }
        _ => None,
    }
}

/// The cells of most dimensions that a mesh has.
fn volumes_or_less(mesh: &Topology) -> Vec<Vec<usize>> {
    let all: [Vec<Vec<usize>>; 4] = [
        mesh.hexahedra.iter().map(|c| c.to_vec()).collect(),
        mesh.tetrahedra.iter().map(|c| c.to_vec()).collect(),
        mesh.all_triangles().iter().map(|c| c.to_vec()).collect(),
        mesh.edges.iter().map(|c| c.to_vec()).collect(),
    ];
    all.into_iter()
        .find(|cells| !cells.is_empty())
        .unwrap_or_default()
}
