//! Mapped nodes.

mod bodies;
mod points;

use super::ends::ParentList;
use super::values::MOST_ELEMENTS;
use super::{Builder, Result};
use crate::scene::schema::{
    AffineSpec, DistanceSpec, Mapped, Mapping as Spec, MaskSpec, ProjectionSpec, QuadraticSpec,
    RelativeRotationSpec, RestPose, RigidPointsSpec,
};
use crate::scene::source::Where;
use pliant::dense::rotation::{Quaternion, conjugate, multiply};
use pliant::model::{
    Affine, AffineEntry, Dependency, Difference, Distance, End, Identity, Mapping, Mask, Model, NodeId,
    Projection, Quadratic, RelativeRotation, RigidPoints, Space, Subset,
};

impl Builder<'_> {
    pub(super) fn mapped(&mut self, spec: &Mapped) -> Result<()> {
        self.joints_of(&spec.parents)?;
        let parents = self.parents(&spec.name, &spec.parents)?;
        let first = self.model.node(parents.nodes[0]);
        let (space, count) = (first.space, first.count);
        match &spec.mapping {
            Spec::Distance(distance) => self.distance(&parents, distance),
            Spec::Difference(difference) => {
                let pairs = self.pairs(&parents, difference.pairs.as_ref())?;
                let dimension = self.dimension(&parents);
                self.add_mapped(
                    &parents,
                    pairs.len(),
                    Difference::new(&pairs).in_dimension(dimension),
                )
                .map(drop)
            }
            Spec::RigidPoints(points) => self.rigid_points(&parents, points),
            Spec::RelativeRotation(rotation) => self.relative_rotation(&parents, rotation),
            Spec::Subset(subset) => {
                let elements = subset.elements.iter().map(|e| self.element(&parents, e));
                let elements = elements.collect::<Result<Vec<_>>>()?;
                self.add_mapped(&parents, elements.len(), Subset::of_parents(space, &elements))
                    .map(drop)
            }
            Spec::Identity => self
                .add_mapped(&parents, count, Identity::new(space, count))
                .map(drop),
            Spec::Affine(affine) => self.affine(&parents, affine),
            Spec::Mask(mask) => self.chosen_coordinates(&parents, mask),
            Spec::Projection(projection) => self.projection(&parents, projection),
            Spec::Quadratic(quadratic) => self.quadratic(&parents, quadratic),
            Spec::BeamStrain(_)
            | Spec::Gear(_)
            | Spec::JointCoordinates(_)
            | Spec::RelativePose(_)
            | Spec::RigidFrames(_)
            | Spec::Rope(_)
            | Spec::Skinning(_)
            | Spec::Winch(_) => self.mapped_bodies(&parents, &spec.mapping),
            _ => self.mapped_points(&parents, &spec.mapping),
        }
    }

    /// The values of a mapping at the start.
    fn initial_values(
        &mut self,
        parents: &ParentList<'_>,
        elements: usize,
        mapping: impl Mapping + 'static,
    ) -> Result<Vec<f64>> {
        self.check_size(parents.user, elements)?;
        let mut model = Model::new();
        let mut nodes = Vec::with_capacity(parents.nodes.len());
        for (k, parent) in parents.nodes.iter().enumerate() {
            let (space, count) = (self.model.node(*parent).space, self.model.node(*parent).count);
            let positions = self.initial_positions(*parent)?.to_vec();
            let rest = vec![0.0; count * space.velocity_size()];
            let node = model.add_independent(&format!("{} {k}", parents.user), space, &positions, &rest);
            nodes.push(node.map_err(|e| self.model_error(e))?);
        }
        let node = model.add_mapped(parents.user, &nodes, mapping);
        let node = node.map_err(|e| self.model_error(e))?;
        let state = model.initial_state().map_err(|e| self.model_error(e))?;
        Ok(model.positions(&state, node).to_vec())
    }

    fn chosen_coordinates(&mut self, parents: &ParentList<'_>, spec: &MaskSpec) -> Result<()> {
        let at = Where::Field(parents.user, "coordinates");
        let mut list = Vec::with_capacity(spec.coordinates.len());
        for (element, coordinate) in &spec.coordinates {
            list.push((
                self.element(parents, element)?,
                self.whole(coordinate, 0, 64, at)?,
            ));
        }
        self.add_mapped(parents, list.len(), Mask::of_parents(&list))
            .map(drop)
    }

    fn projection(&mut self, parents: &ParentList<'_>, spec: &ProjectionSpec) -> Result<()> {
        let mut list = Vec::with_capacity(spec.points.len());
        for (element, direction) in &spec.points {
            let direction = self.triple(direction, Where::Field(parents.user, "points"))?;
            list.push((self.element(parents, element)?, direction));
        }
        let offsets = self.each(&spec.offset, list.len(), Where::Field(parents.user, "offset"))?;
        let mapping = Projection::of_parents(&list).with_offsets(&offsets);
        self.add_mapped(parents, list.len(), mapping).map(drop)
    }

    fn quadratic(&mut self, parents: &ParentList<'_>, spec: &QuadraticSpec) -> Result<()> {
        let first = self.model.node(parents.nodes[0]);
        let (dimension, count) = (first.space.velocity_size(), first.count);
        let elements = match &spec.elements {
            Some(list) => list
                .iter()
                .map(|e| self.element(parents, e))
                .collect::<Result<Vec<_>>>()?,
            None => (0..count).map(|e| Dependency::new(0, e)).collect(),
        };
        let factors = self.each(
            &spec.factors,
            elements.len(),
            Where::Field(parents.user, "factors"),
        )?;
        let mapping = Quadratic::of_parents(dimension, &elements).with_factors(&factors);
        self.add_mapped(parents, elements.len(), mapping).map(drop)
    }

    pub(super) fn add_mapped(
        &mut self,
        parents: &ParentList<'_>,
        elements: usize,
        mapping: impl Mapping + 'static,
    ) -> Result<NodeId> {
        self.grow(parents.user, elements)?;
        self.model
            .add_mapped(parents.user, &parents.nodes, mapping)
            .map_err(|e| self.model_error(e))
    }

    fn distance(&mut self, parents: &ParentList<'_>, spec: &DistanceSpec) -> Result<()> {
        let pairs = self.pairs(parents, spec.pairs.as_ref())?;
        let dimension = self.dimension(parents);
        let rests = match &spec.rest {
            Some(rest) => self.each(rest, pairs.len(), Where::Field(parents.user, "rest"))?,
            None => self.initial_lengths(parents, &pairs, dimension)?,
        };
        let mapping = Distance::new(&pairs)
            .in_dimension(dimension)
            .with_rest_lengths(&rests);
        self.add_mapped(parents, pairs.len(), mapping)?;
        self.draw_pairs(parents, &pairs);
        Ok(())
    }

    /// Distances at the start.
    pub(super) fn initial_lengths(
        &mut self,
        parents: &ParentList<'_>,
        pairs: &[(End, End)],
        dimension: usize,
    ) -> Result<Vec<f64>> {
        let mut lengths = Vec::with_capacity(pairs.len());
        for (a, b) in pairs {
            let (a, b) = (self.place(parents, *a)?, self.place(parents, *b)?);
            let squares = a.iter().zip(&b).take(dimension).map(|(a, b)| (a - b) * (a - b));
            lengths.push(squares.sum::<f64>().sqrt());
        }
        Ok(lengths)
    }

    pub(super) fn draw_pairs(&mut self, parents: &ParentList<'_>, pairs: &[(End, End)]) {
        for (a, b) in pairs {
            if let (Some(a), Some(b)) = (self.drawn(parents, *a), self.drawn(parents, *b)) {
                self.picture.line(a, b);
            }
        }
    }

    fn rigid_points(&mut self, parents: &ParentList<'_>, spec: &RigidPointsSpec) -> Result<()> {
        let mut points = Vec::with_capacity(spec.points.len());
        for (body, point) in &spec.points {
            let point = self.triple(point, Where::Field(parents.user, "points"))?;
            points.push((self.element(parents, body)?, point));
        }
        let node = self.add_mapped(parents, points.len(), RigidPoints::of_parents(&points))?;
        self.picture.show(node);
        Ok(())
    }

    fn relative_rotation(&mut self, parents: &ParentList<'_>, spec: &RelativeRotationSpec) -> Result<()> {
        let mut pairs = Vec::new();
        for (a, b) in self.pairs(parents, spec.pairs.as_ref())? {
            if let (End::Element(a), End::Element(b)) = (a, b) {
                pairs.push((a, b));
            } else {
                let message = format!("`{}` needs pairs of bodies, not fixed points", parents.user);
                return self.wrong(
                    &[Where::Field(parents.user, "pairs"), Where::Name(parents.user)],
                    message,
                    None,
                );
            }
        }
        let mut mapping = RelativeRotation::of_parents(&pairs);
        if matches!(spec.rest, RestPose::Initial) {
            mapping = mapping.with_rest_rotations(&self.initial_rotations(parents, &pairs)?);
        }
        self.add_mapped(parents, pairs.len(), mapping)?;
        Ok(())
    }

    /// Rotations of each second body against the first at the start.
    pub(super) fn initial_rotations(
        &mut self,
        parents: &ParentList<'_>,
        pairs: &[(Dependency, Dependency)],
    ) -> Result<Vec<Quaternion>> {
        let mut rests = Vec::with_capacity(pairs.len());
        for (a, b) in pairs {
            for at in [a, b] {
                let node = self.model.node(parents.nodes[at.parent]);
                if node.space != Space::Rigid3 {
                    let message = format!(
                        "`{}` needs bodies, but `{}` has {}",
                        parents.user, node.name, node.space
                    );
                    return self.wrong(
                        &[Where::Field(parents.user, "parents"), Where::Name(parents.user)],
                        message,
                        None,
                    );
                }
            }
            let (a, b) = (
                self.place(parents, End::Element(*a))?,
                self.place(parents, End::Element(*b))?,
            );
            rests.push(multiply(conjugate(quaternion(&a)), quaternion(&b)));
        }
        Ok(rests)
    }

    fn affine(&mut self, parents: &ParentList<'_>, spec: &AffineSpec) -> Result<()> {
        let name = parents.user;
        let dimension = self.whole(&spec.dimension, 1, 3, Where::Field(name, "dimension"))?;
        let offset = self.numbers(&spec.offset, Where::Field(name, "offset"))?;
        let at = Where::Field(name, "entries");
        let mut entries = Vec::with_capacity(spec.entries.len());
        for entry in &spec.entries {
            entries.push(AffineEntry {
                element: self.whole(&entry.to.0, 0, MOST_ELEMENTS, at)?,
                coordinate: self.whole(&entry.to.1, 0, 2, at)?,
                from: self.element(parents, &entry.from)?,
                from_coordinate: self.whole(&entry.coordinate, 0, 2, at)?,
                value: self.number(&entry.value, at)?,
            });
        }
        self.add_mapped(
            parents,
            offset.len() / dimension,
            Affine::new(dimension, &offset, &entries),
        )
        .map(drop)
    }
}

/// The rotation in the seven numbers of a body; none for an element that does not exist.
pub(super) fn quaternion(numbers: &[f64]) -> Quaternion {
    match numbers {
        [_, _, _, w, x, y, z] if [w, x, y, z].iter().any(|c| **c != 0.0) => [*w, *x, *y, *z],
        _ => [1.0, 0.0, 0.0, 0.0],
    }
}
