//! Surfaces that ride in solids.

use super::{Builder, Result, deformables};
use crate::picture::PointRef;
use crate::schema::EmbeddedSurface as Spec;
use crate::source::Where;
use pliant::continuum::{Element, ElementKind};
use pliant::model::{Barycentric, Cell, MeshError, NodeId};
use pliant_expression::suggest;

pub(super) fn add(builder: &mut Builder<'_>, spec: &Spec) -> Result<()> {
    let name = spec.name.as_str();
    let (solid, cells) = cells_of_solid(builder, spec)?;
    let file = deformables::file_mesh(builder, name, &spec.shape)?;
    if file.triangles.is_empty() {
        let message = format!("{} has no triangles", spec.shape.file);
        let places = [Where::Field(name, "shape"), Where::Name(name)];
        return builder.wrong(&places, message, None);
    }
    let place = deformables::placement(
        builder,
        name,
        spec.position.as_ref(),
        spec.rotation.as_ref(),
        None,
    )?;
    let points: Vec<[f64; 3]> = file.vertices.iter().map(|x| place.put(*x)).collect();
    builder.grow(name, points.len())?;
    let nodes = builder.initial_positions(solid)?.as_chunks::<3>().0.to_vec();
    let mapping = Barycentric::embed(&nodes, &cells, &points, spec.outside);
    let mapping = mapping.or_else(|error| does_not_fit(builder, spec, &error))?;
    let node = builder.model.add_mapped(name, &[solid], mapping);
    let node = node.map_err(|e| builder.model_error(e))?;
    builder.initial = None;

    hide(builder, solid);
    builder.picture.show(node);
    let triangles = file.triangles.iter().map(|t| t.map(|v| v as usize));
    deformables::cover(builder, node, triangles.collect());
    Ok(())
}

/// The solid that a surface rides in, and its elements as cells.
fn cells_of_solid(builder: &Builder<'_>, spec: &Spec) -> Result<(NodeId, Vec<Cell>)> {
    let (name, solid) = (spec.name.as_str(), spec.solid.as_str());
    let places = [Where::Field(name, "solid"), Where::Literal(name, solid)];
    let found = builder.model.node_named(solid);
    let found = found.and_then(|node| builder.solids.get_key_value(&node));
    let Some((node, elements)) = found else {
        let known = builder
            .solids
            .keys()
            .map(|node| builder.model.node(*node).name.as_str());
        let help = suggest::hint(solid, "solids before this part", known);
        return builder.wrong(&places, format!("no solid `{solid}`"), help);
    };
    let cell = |element: &Element| match (element.kind, element.nodes.as_slice()) {
        (ElementKind::Tet4, [a, b, c, d]) => Some(Cell::Tetrahedron([*a, *b, *c, *d])),
        (ElementKind::Hex8, [a, b, c, d, e, f, g, h]) => {
            Some(Cell::Hexahedron([*a, *b, *c, *d, *e, *f, *g, *h]))
        }
        _ => None,
    };
    let Some(cells) = elements.iter().map(cell).collect::<Option<Vec<_>>>() else {
        let message = format!("`{solid}` has other elements than tetrahedra of 4 and hexahedra of 8 nodes");
        let help = "a surface rides in linear elements; `elements: Tetrahedra` makes them".to_owned();
        return builder.wrong(&places, message, Some(help));
    };
    Ok((*node, cells))
}

fn does_not_fit<T>(builder: &Builder<'_>, spec: &Spec, error: &MeshError) -> Result<T> {
    let (name, solid) = (spec.name.as_str(), spec.solid.as_str());
    let places = [Where::Field(name, "shape"), Where::Name(name)];
    let help = matches!(error, MeshError::Outside { .. }).then(|| {
        "`outside: Extrapolate` carries points that lie a little outside with the nearest element".to_owned()
    });
    let message = format!("`{name}` does not fit into `{solid}`: {error}");
    builder.wrong(&places, message, help)
}

/// No longer draws a node, unless lines are drawn between its points.
fn hide(builder: &mut Builder<'_>, node: NodeId) {
    let of_node = |point: &PointRef| matches!(point, PointRef::Node(n, _) if *n == node);
    builder.picture.drop_triangles(of_node);
    if !builder.picture.segments.iter().flatten().any(of_node) {
        builder.picture.nodes.retain(|n| *n != node);
    }
}
