//! Places of included files: what they say of places and directions is in axes of their own.
//!
//! The file that says something is known by the name that it gives, which begins with the prefix of
//! its instance; of what has no name it is kept beside it, in a [`Local`](crate::schema::Local).

use super::values::owner;
use super::{Builder, Result, nodes};
use crate::schema::{IncludeSpec, Mapping, Node, Triple};
use crate::source::Where;
use crate::{Number, Quantity, SceneError, Units};
use pliant::dense::Vec3;
use pliant::dense::rotation;
use pliant::model::{NodeId, Pose, Space};
use std::collections::BTreeMap;
use std::ops::Range;

/// Files that include each other.
const DEEPEST: usize = 20;

/// The poses of the files with a place of their own, by the prefix of their names.
pub(super) type Frames = BTreeMap<String, Pose>;

impl Builder<'_> {
    /// Takes the places of included files, the outer ones first.
    pub(super) fn take_frames(&mut self, places: &[(String, IncludeSpec, Range<usize>)]) -> Result<()> {
        for (prefix, spec, range) in places {
            let name = spec.name.as_deref().unwrap_or_default();
            let own = nodes::frame_pose(self, name, spec.position.as_ref(), spec.rotation.as_ref());
            let own = own.map_err(|error| self.in_entry(error, range))?;
            // The file that includes it is placed, too.
            let outer = prefix.strip_suffix('.').and_then(|p| p.rsplit_once('.'));
            let pose = match outer.and_then(|(outer, _)| self.frame(&format!("{outer}."))) {
                Some(frame) => put_pose(&frame, own),
                None => own,
            };
            self.frames.insert(prefix.clone(), pose);
        }
        if !places.is_empty() {
            let mapped = self.scene.nodes.iter().filter_map(|node| match node {
                Node::Mapped(mapped) => Some((mapped.name.as_str(), mapped)),
                _ => None,
            });
            self.mapped = mapped.collect();
        }
        Ok(())
    }

    /// An error in an entry of `include`, which is found at its place alone.
    fn in_entry(&self, error: SceneError, range: &Range<usize>) -> SceneError {
        match error {
            SceneError::Value(found) if found.place.is_none() => {
                let diagnostic = *found;
                SceneError::Value(Box::new(self.source.at(
                    range.clone(),
                    diagnostic.message,
                    diagnostic.help,
                )))
            }
            other => other,
        }
    }

    /// The pose of the file that gives a name, if it has a place of its own.
    pub(super) fn frame(&self, name: &str) -> Option<Pose> {
        if self.frames.is_empty() {
            return None;
        }
        let ends = name.match_indices('.').take(DEEPEST);
        let found = ends.filter_map(|(end, _)| self.frames.get(&name[..=end]));
        found.last().copied()
    }

    /// A place in space, of the file that gives the name of its owner.
    pub(super) fn place(&self, numbers: &Triple<impl Units>, at: Where<'_>) -> Result<[f64; 3]> {
        self.place_for(numbers, at, None)
    }

    /// A place in space that may depend on `$i`.
    pub(super) fn place_for(
        &self,
        numbers: &Triple<impl Units>,
        at: Where<'_>,
        index: Option<usize>,
    ) -> Result<[f64; 3]> {
        let place = self.triple_for(numbers, at, index)?;
        Ok(match self.frame(named(at)) {
            Some(frame) => put(&frame, place),
            None => place,
        })
    }

    /// A direction, velocity or other vector of the file that gives the name of its owner.
    pub(super) fn vector(&self, numbers: &Triple<impl Units>, at: Where<'_>) -> Result<[f64; 3]> {
        self.vector_for(numbers, at, None)
    }

    /// As [`vector`](Self::vector), zero if there is none.
    pub(super) fn vector_or_zero(
        &self,
        numbers: Option<&Triple<impl Units>>,
        at: Where<'_>,
    ) -> Result<[f64; 3]> {
        numbers.map_or(Ok([0.0; 3]), |numbers| self.vector(numbers, at))
    }

    /// A vector that may depend on `$i`.
    pub(super) fn vector_for(
        &self,
        numbers: &Triple<impl Units>,
        at: Where<'_>,
        index: Option<usize>,
    ) -> Result<[f64; 3]> {
        let vector = self.triple_for(numbers, at, index)?;
        Ok(match self.frame(named(at)) {
            Some(frame) => turn(&frame, vector),
            None => vector,
        })
    }

    /// A pose in the world, of the file that gives a name.
    pub(super) fn put_pose(&self, name: &str, pose: Pose) -> Pose {
        match self.frame(name) {
            Some(frame) => put_pose(&frame, pose),
            None => pose,
        }
    }

    /// Numbers of a vector that may depend on time, of the file that gives the name of its owner.
    pub(super) fn turned<D: Units>(
        &self,
        numbers: &[Quantity<D>],
        at: Where<'_>,
    ) -> Option<Vec<Quantity<D>>> {
        let frame = self.frame(named(at))?;
        if numbers.len() != 3 || frame.rotation == rotation::IDENTITY {
            return None;
        }
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| turn(&frame, axis));
        let text = |number: &Quantity<D>| match &number.number {
            Number::Value(value) => format!("({value:e})"),
            Number::Expression(text) => format!("({text})"),
        };
        let row = |k: usize| {
            let terms = columns.iter().zip(numbers);
            let terms = terms.map(|(column, number)| format!("({:e}) * {}", column[k], text(number)));
            numbers[k].with(Number::Expression(terms.collect::<Vec<_>>().join(" + ")))
        };
        Some((0..3).map(row).collect())
    }

    /// Refuses what is about coordinates along the axes of the world, in a file with a place of its
    /// own.
    pub(super) fn refuse_axes(&self, what: &str, at: Where<'_>) -> Result<()> {
        if self.frame(named(at)).is_none() {
            return Ok(());
        }
        let message = format!("{what} is about the axes of the world, and its file is at a place of its own");
        let help = "differences to fixed points, and joints to the world, move with the file".to_owned();
        self.wrong(&[at, owner(at)], message, Some(help))
    }

    /// Whether the elements of a node are places in the world: no differences of such places.
    pub(super) fn is_absolute(&self, node: NodeId) -> bool {
        let entry = self.model.node(node);
        if !matches!(entry.space, Space::Real(2 | 3) | Space::Rigid3) {
            return false;
        }
        let mapped = self.mapped.get(entry.name.as_str());
        !mapped.is_some_and(|mapped| {
            matches!(
                mapped.mapping,
                Mapping::Difference(_)
                    | Mapping::Normalization(_)
                    | Mapping::CurvatureBinormal(_)
                    | Mapping::RelativeRotation(_)
                    | Mapping::RelativePose(_)
                    | Mapping::QuadraticBending(_)
                    | Mapping::BeamStrain(_)
            )
        })
    }

    /// Whether the elements of a node are rotations of bodies against each other, in their axes.
    pub(super) fn is_relative_to_bodies(&self, node: NodeId) -> bool {
        let mapped = self.mapped.get(self.model.node(node).name.as_str());
        mapped.is_some_and(|mapped| matches!(mapped.mapping, Mapping::RelativeRotation(_)))
    }
}

/// The name that a value belongs to.
fn named(at: Where<'_>) -> &str {
    match at {
        Where::Key(name)
        | Where::Name(name)
        | Where::Field(name, _)
        | Where::Item(name, ..)
        | Where::Used(name, _)
        | Where::Literal(name, _) => name,
        Where::Listed(..) | Where::Within(..) => "",
    }
}

/// A place in a frame, in the world.
pub(super) fn put(frame: &Pose, place: [f64; 3]) -> [f64; 3] {
    let arm = turn(frame, place);
    [0, 1, 2].map(|k| frame.position[k] + arm[k])
}

/// A vector in a frame, in the world.
pub(super) fn turn(frame: &Pose, vector: [f64; 3]) -> [f64; 3] {
    rotation::rotate(frame.rotation, Vec3::from(vector)).into()
}

/// A place in the world, in a frame.
pub(super) fn local(frame: &Pose, place: [f64; 3]) -> [f64; 3] {
    let arm = [0, 1, 2].map(|k| place[k] - frame.position[k]);
    rotation::rotate(rotation::conjugate(frame.rotation), Vec3::from(arm)).into()
}

fn put_pose(frame: &Pose, pose: Pose) -> Pose {
    Pose {
        position: put(frame, pose.position),
        rotation: rotation::multiply(frame.rotation, pose.rotation),
    }
}
