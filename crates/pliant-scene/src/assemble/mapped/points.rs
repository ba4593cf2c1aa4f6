//! Mappings of several points.

use super::{Builder, ParentList, Result, Spec};
use crate::assemble::ends;
use crate::schema::{
    AreaSpec, BarycentricSpec, DihedralSpec, HingesSpec, PairingSpec, PairsSpec, SafeDistanceSpec,
    SegmentAngleSpec, VolumeSpec,
};
use crate::source::Where;
use crate::{EndSpec, OneOrMany, Quantity, Units, quantity::Pure};
use pliant::model::{
    Addition, Area, Barycentric, Cell, CentreOfMass, CurvatureBinormal, Dependency, DihedralAngle,
    DotProduct, End, Mapping, MeshError, Normalization, Pairing, SafeDistance, SegmentAngle, SquareDistance,
    Volume, quadratic_bending,
};

/// Pairs of a `Pairing`: its second derivatives are one dense block.
const MOST_PAIRS: usize = 1000;

type Weighted = Vec<Vec<(Dependency, f64)>>;

/// Mappings of points; others are left alone.
pub(super) fn mapped_points(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &Spec) -> Result<()> {
    match spec {
        Spec::Addition(spec) => add_addition(builder, parents, spec),
        Spec::Area(spec) => add_area(builder, parents, spec),
        Spec::Barycentric(spec) => add_barycentric(builder, parents, spec),
        Spec::CentreOfMass(spec) => {
            let groups = weighted(builder, parents, &spec.groups)?;
            add_shown(builder, parents, groups.len(), CentreOfMass::new(&groups))
        }
        Spec::CurvatureBinormal(spec) => {
            let chains = chains(builder, parents, spec.chains.as_deref())?;
            let mapping = CurvatureBinormal::new(&chains);
            super::add_mapped(builder, parents, chains.len(), mapping).map(drop)
        }
        Spec::DihedralAngle(spec) => add_dihedral_angle(builder, parents, spec),
        Spec::DotProduct(spec) => {
            let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
            let mapping = DotProduct::new(&pairs).in_dimension(ends::dimension(builder, parents));
            super::add_mapped(builder, parents, pairs.len(), mapping).map(drop)
        }
        Spec::Normalization(spec) => {
            let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
            let mapping = Normalization::new(&pairs).in_dimension(ends::dimension(builder, parents));
            super::add_mapped(builder, parents, pairs.len(), mapping).map(drop)
        }
        Spec::Pairing(spec) => add_pairing(builder, parents, spec),
        Spec::QuadraticBending(spec) => add_quadratic_bending(builder, parents, spec),
        Spec::SafeDistance(spec) => add_safe_distance(builder, parents, spec),
        Spec::SegmentAngle(spec) => add_segment_angle(builder, parents, spec),
        Spec::SquareDistance(spec) => {
            let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
            let dimension = ends::dimension(builder, parents);
            let rests = match &spec.rest {
                Some(rest) => builder.each(rest, pairs.len(), Where::Field(parents.user, "rest"))?,
                None => super::initial_lengths(builder, parents, &pairs, dimension)?,
            };
            let mapping = SquareDistance::new(&pairs).in_dimension(dimension);
            let mapping = mapping.with_rest_lengths(&rests);
            let node = super::add_mapped(builder, parents, pairs.len(), mapping)?;
            super::draw_elements(builder, parents, node, &pairs);
            Ok(())
        }
        Spec::Volume(spec) => add_volume(builder, parents, spec),
        _ => Ok(()),
    }
}

/// Adds points that are drawn.
pub(super) fn add_shown(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    elements: usize,
    mapping: impl Mapping + 'static,
) -> Result<()> {
    let node = super::add_mapped(builder, parents, elements, mapping)?;
    if builder.model.node(node).space == super::Space::Real(3) {
        builder.picture.show(node);
    }
    Ok(())
}

fn add_addition(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &PairsSpec) -> Result<()> {
    let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
    let mapping = Addition::new(&pairs).in_dimension(ends::dimension(builder, parents));
    add_shown(builder, parents, pairs.len(), mapping)
}

fn ends<const N: usize>(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    list: &[[EndSpec; N]],
) -> Result<Vec<[End; N]>> {
    let mut out = Vec::with_capacity(list.len());
    for group in list {
        let mut ends = [End::Point([0.0; 3]); N];
        for (end, spec) in ends.iter_mut().zip(group) {
            *end = ends::end(builder, parents, spec)?;
        }
        out.push(ends);
    }
    Ok(out)
}

fn chains(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    list: Option<&[[EndSpec; 3]]>,
) -> Result<Vec<[End; 3]>> {
    match list {
        Some(list) => ends(builder, parents, list),
        None => {
            let count = builder.model.node(parents.nodes[0]).count;
            let pairs = super::ends::neighbours(count).zip(2..count);
            Ok(pairs
                .map(|([a, b], c)| super::ends::in_first([a, b, c]))
                .collect())
        }
    }
}

pub(super) fn weighted(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    groups: &[Vec<(EndSpec, Quantity<Pure>)>],
) -> Result<Weighted> {
    let at = Where::Field(parents.user, "mapping");
    let one = |(end, weight): &(EndSpec, Quantity<Pure>)| {
        Ok((ends::element(builder, parents, end)?, builder.number(weight, at)?))
    };
    groups
        .iter()
        .map(|group| group.iter().map(one).collect())
        .collect()
}

/// Given rest values, or those at the start, which the mapping without rest values gives.
fn rests(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    rest: Option<&OneOrMany<impl Units>>,
    count: usize,
    mapping: impl Mapping + 'static,
) -> Result<Vec<f64>> {
    match rest {
        Some(rest) => builder.each(rest, count, Where::Field(parents.user, "rest")),
        None => super::initial_values(builder, parents, count, mapping),
    }
}

fn add_area(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &AreaSpec) -> Result<()> {
    let triangles = ends(builder, parents, &spec.triangles)?;
    let mut mapping = Area::new(&triangles);
    if ends::dimension(builder, parents) == 2 {
        mapping = mapping.in_plane();
    }
    let rests = rests(
        builder,
        parents,
        spec.rest.as_ref(),
        triangles.len(),
        mapping.clone(),
    )?;
    super::add_mapped(builder, parents, triangles.len(), mapping.with_rest_areas(&rests))?;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|end| ends::drawn(builder, parents, end));
        if let (Some(a), Some(b), Some(c)) = (a, b, c) {
            builder.picture.triangle([a, b, c]);
        }
    }
    Ok(())
}

fn add_barycentric(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &BarycentricSpec,
) -> Result<()> {
    let name = parents.user;
    let at = Where::Field(name, "mapping");
    let mapping = match (&spec.cells, &spec.points, &spec.groups) {
        (None, None, Some(groups)) => Barycentric::new(&weighted(builder, parents, groups)?),
        (Some(cells), Some(points), None) => {
            let cells = cells.iter().map(|cell| cell_of(builder, name, cell));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            let mut places = Vec::with_capacity(points.len());
            for point in points {
                places.push(builder.place(point, Where::Field(name, "points"))?);
            }
            let nodes = rest_points(builder, parents)?;
            Barycentric::embed(&nodes, &cells, &places, spec.outside)
                .or_else(|e| bad_mesh(builder, name, e))?
        }
        _ => {
            let message = format!("`{name}` needs either `cells` and `points`, or `groups`");
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
    };
    let mapping = mapping.in_dimension(ends::dimension(builder, parents));
    add_shown(builder, parents, mapping.weights().len(), mapping)
}

fn bad_mesh<T>(builder: &Builder<'_>, name: &str, error: MeshError) -> Result<T> {
    let places = [Where::Field(name, "mapping"), Where::Name(name)];
    builder.wrong(
        &places,
        format!("`{name}` cannot be made of its mesh: {error}"),
        None,
    )
}

/// Positions of the points of the first parent at the start.
fn rest_points(builder: &mut Builder<'_>, parents: &ParentList<'_>) -> Result<Vec<[f64; 3]>> {
    let node = builder.model.node(parents.nodes[0]);
    if node.space != super::Space::Real(3) {
        let message = format!(
            "`{}` needs points of space, but `{}` has {}",
            parents.user, node.name, node.space
        );
        let places = [Where::Field(parents.user, "parents"), Where::Name(parents.user)];
        return builder.wrong(&places, message, None);
    }
    Ok(builder
        .initial_positions(parents.nodes[0])?
        .as_chunks::<3>()
        .0
        .to_vec())
}

fn cell_of(builder: &Builder<'_>, name: &str, nodes: &[Quantity<impl Units>]) -> Result<Cell> {
    let at = Where::Field(name, "cells");
    let list = nodes.iter().map(|n| builder.any_element(n, at));
    match list.collect::<Result<Vec<_>>>()?[..] {
        [a, b] => Ok(Cell::Segment([a, b])),
        [a, b, c] => Ok(Cell::Triangle([a, b, c])),
        [a, b, c, d] => Ok(Cell::Tetrahedron([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => Ok(Cell::Hexahedron([a, b, c, d, e, f, g, h])),
        _ => {
            let message = format!(
                "a cell of `{name}` has {} elements: 2, 3, 4 or 8 make one",
                nodes.len()
            );
            builder.wrong(&[at, Where::Name(name)], message, None)
        }
    }
}

fn add_dihedral_angle(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &DihedralSpec,
) -> Result<()> {
    let hinges = ends(builder, parents, &spec.hinges)?;
    let mapping = DihedralAngle::new(&hinges);
    let rests = rests(
        builder,
        parents,
        spec.rest.as_ref(),
        hinges.len(),
        mapping.clone(),
    )?;
    super::add_mapped(builder, parents, hinges.len(), mapping.with_rest_angles(&rests)).map(drop)
}

fn add_segment_angle(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &SegmentAngleSpec,
) -> Result<()> {
    let chains = chains(builder, parents, spec.chains.as_deref())?;
    let mut mapping = SegmentAngle::new(&chains);
    if ends::dimension(builder, parents) == 2 {
        mapping = mapping.in_plane();
    }
    let rests = rests(
        builder,
        parents,
        spec.rest.as_ref(),
        chains.len(),
        mapping.clone(),
    )?;
    super::add_mapped(builder, parents, chains.len(), mapping.with_rest_angles(&rests)).map(drop)
}

fn add_safe_distance(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &SafeDistanceSpec,
) -> Result<()> {
    let pairs = ends::pairs(builder, parents, spec.pairs.as_ref())?;
    let smoothing = builder.positive(&spec.smoothing, Where::Field(parents.user, "smoothing"))?;
    let mapping = SafeDistance::new(&pairs, smoothing).in_dimension(ends::dimension(builder, parents));
    let rests = rests(builder, parents, spec.rest.as_ref(), pairs.len(), mapping.clone())?;
    let mapping = mapping.with_rest_lengths(&rests);
    let node = super::add_mapped(builder, parents, pairs.len(), mapping)?;
    super::draw_elements(builder, parents, node, &pairs);
    Ok(())
}

fn add_pairing(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &PairingSpec) -> Result<()> {
    let name = parents.user;
    let first = builder.model.node(parents.nodes[0]);
    let (dimension, count) = (first.space.velocity_size(), first.count);
    let pairs = match &spec.pairs {
        Some(list) => list
            .iter()
            .map(|(a, b)| {
                Ok((
                    ends::element(builder, parents, a)?,
                    ends::element(builder, parents, b)?,
                ))
            })
            .collect::<Result<Vec<_>>>()?,
        None => (0..count)
            .map(|e| (Dependency::new(0, e), Dependency::new(1, e)))
            .collect(),
    };
    if pairs.len() > MOST_PAIRS {
        let message = format!("`{name}` has {} pairs, more than {MOST_PAIRS}", pairs.len());
        let help = "keep one of the two in an `Affine` mapping".to_owned();
        return builder.wrong(
            &[Where::Field(name, "mapping"), Where::Name(name)],
            message,
            Some(help),
        );
    }
    super::add_mapped(builder, parents, 1, Pairing::new(dimension, &pairs)).map(drop)
}

fn add_quadratic_bending(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &HingesSpec,
) -> Result<()> {
    let at = Where::Field(parents.user, "hinges");
    let mut hinges = Vec::with_capacity(spec.hinges.len());
    for hinge in &spec.hinges {
        let mut nodes = [0; 4];
        for (node, number) in nodes.iter_mut().zip(hinge) {
            *node = builder.any_element(number, at)?;
        }
        hinges.push(nodes);
    }
    let rest = match &spec.rest {
        None => rest_points(builder, parents)?,
        Some(list) => {
            let at = Where::Field(parents.user, "rest");
            let count = builder.model.node(parents.nodes[0]).count;
            if list.len() != count {
                let name = parents.user;
                let message = format!(
                    "`rest` of `{name}` has {} places, and there are {count} points",
                    list.len()
                );
                return builder.wrong(&[at, Where::Name(name)], message, None);
            }
            let places = list.iter().map(|x| builder.place(x, at));
            places.collect::<Result<Vec<_>>>()?
        }
    };
    let mapping = quadratic_bending(&hinges, &rest).or_else(|e| bad_mesh(builder, parents.user, e))?;
    super::add_mapped(builder, parents, hinges.len(), mapping).map(drop)
}

fn add_volume(builder: &mut Builder<'_>, parents: &ParentList<'_>, spec: &VolumeSpec) -> Result<()> {
    let name = parents.user;
    let (mapping, count) = match (&spec.tetrahedra, &spec.surface) {
        (Some(list), None) => (Volume::new(&ends(builder, parents, list)?), list.len()),
        (None, Some(list)) => {
            let mut triangles = Vec::with_capacity(list.len());
            for triangle in list {
                let mut corners = [0; 3];
                for (corner, number) in corners.iter_mut().zip(triangle) {
                    *corner = builder.any_element(number, Where::Field(name, "surface"))?;
                }
                triangles.push(corners);
            }
            (Volume::under_surface(&triangles), list.len())
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `tetrahedra` and `surface`");
            return builder.wrong(&[Where::Field(name, "mapping"), Where::Name(name)], message, None);
        }
    };
    let rests = match (&spec.rest, &spec.surface) {
        (None, Some(_)) => vec![0.0; count],
        (rest, _) => rests(builder, parents, rest.as_ref(), count, mapping.clone())?,
    };
    super::add_mapped(builder, parents, count, mapping.with_rest_volumes(&rests)).map(drop)
}
