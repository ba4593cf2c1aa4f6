//! Mapped nodes.

mod bodies;
mod curve;
mod fitted;
mod points;
mod wrapped;

use super::ends::ParentList;
use super::{Builder, Result, ends, formulas, joints};
use crate::schema::{
    AffineSpec, DistanceSpec, Mapped, Mapping as Spec, MaskSpec, ProjectionSpec, QuadraticSpec,
    RelativeRotationSpec, RestPose, RigidPointsSpec,
};
use crate::source::Where;
use pliant::dense::rotation::{Quaternion, conjugate, multiply};
use pliant::model::{
    Affine, AffineEntry, Dependency, Difference, Distance, End, Identity, Mapping, Mask, Model, NodeId,
    Projection, Quadratic, RelativeRotation, RigidPoints, Space, Subset,
};

pub(super) fn add(builder: &mut Builder<'_>, spec: &Mapped) -> Result<()> {
    joints::joints_of(builder, &spec.parents)?;
    let parents = ends::parents(builder, &spec.name, &spec.parents)?;
    let first = builder.model.node(parents.nodes[0]);
    let (space, count) = (first.space, first.count);
    match &spec.mapping {
        Spec::Distance(distance) => add_distance(builder, &parents, distance),
        Spec::Difference(difference) => {
            let pairs = ends::pairs(builder, &parents, difference.pairs.as_ref())?;
            let dimension = ends::dimension(builder, &parents);
            let mapping = Difference::new(&pairs).in_dimension(dimension);
            let node = add_mapped(builder, &parents, pairs.len(), mapping)?;
            let of = |end: &End| match end {
                End::Element(at) => Some((parents.nodes[at.parent], at.element)),
                End::Point(_) => None,
            };
            let both = pairs.iter().filter_map(|(a, b)| Some([of(a)?, of(b)?]));
            builder.differences.insert(node, both.collect());
            Ok(())
        }
        Spec::RigidPoints(points) => add_rigid_points(builder, &parents, points),
        Spec::RelativeRotation(rotation) => add_relative_rotation(builder, &parents, rotation),
        Spec::Subset(subset) => {
            let elements = ends::elements(builder, &parents, &subset.elements)?;
            add_mapped(
                builder,
                &parents,
                elements.len(),
                Subset::of_parents(space, &elements),
            )
            .map(drop)
        }
        Spec::Identity => add_mapped(builder, &parents, count, Identity::new(space, count)).map(drop),
        Spec::Affine(affine) => add_affine(builder, &parents, affine),
        Spec::Mask(mask) => add_mask(builder, &parents, mask),
        Spec::Projection(projection) => add_projection(builder, &parents, projection),
        Spec::Quadratic(quadratic) => add_quadratic(builder, &parents, quadratic),
        Spec::Curve(curve) => curve::add(builder, &parents, curve),
        Spec::FittedFrames(frames) => fitted::add(builder, &parents, frames),
        Spec::Formula(formula) => formulas::add_mapping(builder, &parents, formula),
        Spec::WrappedRope(ropes) => wrapped::add(builder, &parents, ropes),
        Spec::BeamStrain(_)
        | Spec::Gear(_)
        | Spec::JointCoordinates(_)
        | Spec::RelativePose(_)
        | Spec::RigidFrames(_)
        | Spec::Rope(_)
        | Spec::Skinning(_)
        | Spec::Winch(_) => bodies::mapped_bodies(builder, &parents, &spec.mapping),
        _ => points::mapped_points(builder, &parents, &spec.mapping),
    }
}

/// The values of a mapping at the start.
fn initial_values(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    elements: usize,
    mapping: impl Mapping + 'static,
) -> Result<Vec<f64>> {
    builder.check_size(Where::Name(parents.user), elements)?;
    let mut model = Model::new();
    let mut nodes = Vec::with_capacity(parents.nodes.len());
    for (k, parent) in parents.nodes.iter().enumerate() {
        let (space, count) = (
            builder.model.node(*parent).space,
            builder.model.node(*parent).count,
        );
        let positions = builder.initial_positions(*parent)?.to_vec();
        let rest = vec![0.0; count.saturating_mul(space.velocity_size())];
        let node = model.add_independent(&format!("{} {k}", parents.user), space, &positions, &rest);
        nodes.push(node.map_err(|e| builder.model_error(e))?);
    }
    let node = model.add_mapped(parents.user, &nodes, mapping);
    let node = node.map_err(|e| builder.model_error(e))?;
    let state = model.initial_state().map_err(|e| builder.model_error(e))?;
    Ok(model.positions(&state, node).to_vec())
}

fn add_mask(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &MaskSpec) -> Result<()> {
    let at = Where::Field(parents.user, "coordinates");
    if builder.is_absolute(parents.nodes[0]) {
        builder.refuse_axes(&format!("`{}`", parents.user), at)?;
    }
    let mut list = Vec::with_capacity(spec.coordinates.len());
    for (element, coordinate) in &spec.coordinates {
        list.push((
            ends::element(builder, parents, element)?,
            builder.whole(coordinate, 0, 64, at)?,
        ));
    }
    add_mapped(builder, parents, list.len(), Mask::of_parents(&list)).map(drop)
}

fn add_projection(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &ProjectionSpec) -> Result<()> {
    let mut list = Vec::with_capacity(spec.points.len());
    for (element, direction) in &spec.points {
        let direction = builder.vector(direction, Where::Field(parents.user, "points"))?;
        list.push((ends::element(builder, parents, element)?, direction));
    }
    let mut offsets = builder.each(&spec.offset, list.len(), Where::Field(parents.user, "offset"))?;
    if let Some(frame) = builder.frame(parents.user) {
        // Heights are those over the plane that moves with the file.
        for (offset, (_, d)) in offsets.iter_mut().zip(&list) {
            *offset -= (0..3).map(|k| d[k] * frame.position[k]).sum::<f64>();
        }
    }
    let mapping = Projection::of_parents(&list).with_offsets(&offsets);
    add_mapped(builder, parents, list.len(), mapping).map(drop)
}

fn add_quadratic(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &QuadraticSpec) -> Result<()> {
    let first = builder.model.node(parents.nodes[0]);
    let (dimension, count) = (first.space.velocity_size(), first.count);
    let elements = match &spec.elements {
        Some(elements) => ends::elements(builder, parents, elements)?,
        None => (0..count).map(|e| Dependency::new(0, e)).collect(),
    };
    let factors = builder.each(
        &spec.factors,
        elements.len(),
        Where::Field(parents.user, "factors"),
    )?;
    let mapping = Quadratic::of_parents(dimension, &elements).with_factors(&factors);
    add_mapped(builder, parents, elements.len(), mapping).map(drop)
}

pub(super) fn add_mapped(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    elements: usize,
    mapping: impl Mapping + 'static,
) -> Result<NodeId> {
    builder.grow(parents.user, elements)?;
    builder
        .model
        .add_mapped(parents.user, &parents.nodes, mapping)
        .map_err(|e| builder.model_error(e))
}

fn add_distance(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &DistanceSpec) -> Result<()> {
    let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
    let dimension = ends::dimension(builder, parents);
    let rests = match &spec.rest {
        Some(rest) => builder.each(rest, pairs.len(), Where::Field(parents.user, "rest"))?,
        None => initial_lengths(builder, parents, &pairs, dimension)?,
    };
    let mapping = Distance::new(&pairs)
        .in_dimension(dimension)
        .with_rest_lengths(&rests);
    let node = add_mapped(builder, parents, pairs.len(), mapping)?;
    draw_elements(builder, parents, node, &pairs);
    Ok(())
}

/// Distances at the start.
pub(super) fn initial_lengths(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    pairs: &[(End, End)],
    dimension: usize,
) -> Result<Vec<f64>> {
    let mut lengths = Vec::with_capacity(pairs.len());
    for (a, b) in pairs {
        let (a, b) = (
            ends::place(builder, parents, *a)?,
            ends::place(builder, parents, *b)?,
        );
        let squares = a.iter().zip(&b).take(dimension).map(|(a, b)| (a - b) * (a - b));
        lengths.push(squares.sum::<f64>().sqrt());
    }
    Ok(lengths)
}

pub(super) fn draw_pairs(builder: &mut Builder<'_>, parents: &ParentList<'_>, pairs: &[(End, End)]) {
    for (a, b) in pairs {
        if let (Some(a), Some(b)) = (
            ends::drawn(builder, parents, *a),
            ends::drawn(builder, parents, *b),
        ) {
            builder.picture.line(a, b);
        }
    }
}

/// Draws a pair for each element of a node.
pub(super) fn draw_elements(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    node: NodeId,
    pairs: &[(End, End)],
) {
    for (element, pair) in pairs.iter().enumerate() {
        draw_element(builder, parents, (node, element), std::slice::from_ref(pair));
    }
}

/// Draws pairs for one element of a node.
pub(super) fn draw_element(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    (node, element): (NodeId, usize),
    pairs: &[(End, End)],
) {
    let first = builder.picture.segments.len();
    draw_pairs(builder, parents, pairs);
    builder.picture.name_segments(first, node, element);
}

fn add_rigid_points(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &RigidPointsSpec,
) -> Result<()> {
    let mut points = Vec::with_capacity(spec.points.len());
    for (body, point) in &spec.points {
        let point = builder.triple(point, Where::Field(parents.user, "points"))?;
        points.push((ends::element(builder, parents, body)?, point));
    }
    let node = add_mapped(builder, parents, points.len(), RigidPoints::of_parents(&points))?;
    builder.picture.show(node);
    Ok(())
}

fn add_relative_rotation(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &RelativeRotationSpec,
) -> Result<()> {
    let mut pairs = Vec::new();
    for (a, b) in ends::pairs(builder, parents, spec.pairs.as_ref())? {
        if let (End::Element(a), End::Element(b)) = (a, b) {
            pairs.push((a, b));
        } else {
            let message = format!("`{}` needs pairs of bodies, not fixed points", parents.user);
            return builder.wrong(
                &[Where::Field(parents.user, "pairs"), Where::Name(parents.user)],
                message,
                None,
            );
        }
    }
    let mut mapping = RelativeRotation::of_parents(&pairs);
    if matches!(spec.rest, RestPose::Initial) {
        mapping = mapping.with_rest_rotations(&initial_rotations(builder, parents, &pairs)?);
    }
    add_mapped(builder, parents, pairs.len(), mapping)?;
    Ok(())
}

/// Rotations of each second body against the first at the start.
pub(super) fn initial_rotations(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    pairs: &[(Dependency, Dependency)],
) -> Result<Vec<Quaternion>> {
    let mut rests = Vec::with_capacity(pairs.len());
    for (a, b) in pairs {
        for at in [a, b] {
            let node = builder.model.node(parents.nodes[at.parent]);
            if node.space != Space::Rigid3 {
                let message = format!(
                    "`{}` needs bodies, but `{}` has {}",
                    parents.user, node.name, node.space
                );
                return builder.wrong(
                    &[Where::Field(parents.user, "parents"), Where::Name(parents.user)],
                    message,
                    None,
                );
            }
        }
        let (a, b) = (
            ends::place(builder, parents, End::Element(*a))?,
            ends::place(builder, parents, End::Element(*b))?,
        );
        rests.push(multiply(conjugate(quaternion(&a)), quaternion(&b)));
    }
    Ok(rests)
}

fn add_affine(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &AffineSpec) -> Result<()> {
    let name = parents.user;
    if builder.is_absolute(parents.nodes[0]) {
        builder.refuse_axes(&format!("`{name}`"), Where::Field(name, "entries"))?;
    }
    let dimension = builder.whole(&spec.dimension, 1, 3, Where::Field(name, "dimension"))?;
    let offset = builder.numbers(&spec.offset, Where::Field(name, "offset"))?;
    let at = Where::Field(name, "entries");
    let mut entries = Vec::with_capacity(spec.entries.len());
    for entry in &spec.entries {
        entries.push(AffineEntry {
            element: builder.any_element(&entry.to.0, at)?,
            coordinate: builder.whole(&entry.to.1, 0, 2, at)?,
            from: ends::element(builder, parents, &entry.from)?,
            from_coordinate: builder.whole(&entry.coordinate, 0, 2, at)?,
            value: builder.number(&entry.value, at)?,
        });
    }
    add_mapped(
        builder,
        parents,
        offset.len().checked_div(dimension).unwrap_or(0),
        Affine::new(dimension, &offset, &entries),
    )
    .map(drop)
}

/// The rotation in the seven numbers of a body; none for an element that does not exist.
pub(super) fn quaternion(numbers: &[f64]) -> Quaternion {
    match numbers {
        [_, _, _, w, x, y, z] if [w, x, y, z].iter().any(|c| **c != 0.0) => [*w, *x, *y, *z],
        _ => [1.0, 0.0, 0.0, 0.0],
    }
}
