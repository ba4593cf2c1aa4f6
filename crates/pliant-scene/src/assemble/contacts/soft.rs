//! Colliders of points: balls, cables, cloths.

use super::super::ends::neighbours;
use super::super::{Builder, Result, selections};
use crate::schema::{CableColliderSpec, ClothColliderSpec, PointsColliderSpec};
use crate::source::Where;
use crate::{Amount, Quantity, quantity::Pure};
use pliant::collision::{Collider, ContactError, Placement, Shape};
use pliant::model::{NodeId, Space};
use pliant_expression::suggest;

/// Neighbours beyond this are all there is.
const MOST_NEIGHBOURS: usize = 1000;

/// A node of points that collide, with how many they are.
fn soft_node(builder: &Builder<'_>, node: &str, name: &str) -> Result<(NodeId, usize)> {
    let Some(id) = builder.model.node_named(node) else {
        let known = builder.model.nodes().iter().map(|n| n.name.as_str());
        let help = suggest::hint(node, "nodes", known);
        let places = [Where::Literal(name, node), Where::Used(name, "node")];
        return builder.wrong(&places, format!("unknown node `{node}`"), help);
    };
    let entry = builder.model.node(id);
    if entry.space == Space::Real(3) {
        return Ok((id, entry.count));
    }
    let message = format!("`{node}` has {}, not points of space", entry.space);
    let help = "rigid bodies collide as `Bodies` or `Body`".to_owned();
    let places = [Where::Used(name, "node"), Where::Name(name)];
    builder.wrong(&places, message, Some(help))
}

fn soft(
    builder: &Builder<'_>,
    name: &str,
    node: NodeId,
    shape: std::result::Result<Shape, ContactError>,
) -> Result<Collider> {
    let shape = shape.map_err(|error| builder.contact_error(name, "radius", &error))?;
    Ok(Collider::new(name, shape, Placement::Points(node)))
}

fn self_contact(builder: &Builder<'_>, collider: Collider, number: Option<&Amount>) -> Result<Collider> {
    let Some(number) = number else {
        return Ok(collider);
    };
    let at = Where::Used(&collider.name, "self_contact");
    let neighbours = builder.whole(number, 1, MOST_NEIGHBOURS, at)?;
    Ok(collider.with_self_contact(neighbours))
}

pub(super) fn points_collider(
    builder: &mut Builder<'_>,
    spec: &PointsColliderSpec,
    name: &str,
) -> Result<Collider> {
    let (node, count) = soft_node(builder, &spec.node, name)?;
    let radius = builder.positive(&spec.radius, Where::Used(name, "radius"))?;
    let elements = match &spec.elements {
        None => (0..count).collect(),
        Some(elements) => selections::of_node(builder, elements, node, Where::Used(name, "elements"))?,
    };
    let collider = soft(builder, name, node, Shape::soft_points(&elements, radius))?;
    Ok(if spec.self_contact {
        collider.with_self_contact(1)
    } else {
        collider
    })
}

pub(super) fn cable_collider(
    builder: &Builder<'_>,
    spec: &CableColliderSpec,
    name: &str,
) -> Result<Collider> {
    let (node, count) = soft_node(builder, &spec.node, name)?;
    let radius = builder.positive(&spec.radius, Where::Used(name, "radius"))?;
    let segments = match (&spec.segments, builder.skins.get(&node)) {
        (Some(list), _) => {
            let at = Where::Used(name, "segments");
            let end = |number: &Amount| builder.element(number, &spec.node, count, at);
            let pair = |[a, b]: &[Quantity<Pure>; 2]| Ok([end(a)?, end(b)?]);
            list.iter().map(pair).collect::<Result<Vec<_>>>()?
        }
        (None, Some(skin)) => skin.edges.clone(),
        (None, None) => neighbours(count).collect(),
    };
    let collider = soft(builder, name, node, Shape::soft_segments(&segments, radius))?;
    self_contact(builder, collider, spec.self_contact.as_deref())
}

pub(super) fn cloth_collider(
    builder: &Builder<'_>,
    spec: &ClothColliderSpec,
    name: &str,
) -> Result<Collider> {
    let (node, count) = soft_node(builder, &spec.node, name)?;
    let radius = builder.positive(&spec.radius, Where::Used(name, "radius"))?;
    let triangles = match (&spec.triangles, builder.skins.get(&node)) {
        (Some(list), _) => {
            let at = Where::Used(name, "triangles");
            let corner = |number: &Amount| builder.element(number, &spec.node, count, at);
            let triple = |[a, b, c]: &[Quantity<Pure>; 3]| Ok([corner(a)?, corner(b)?, corner(c)?]);
            list.iter().map(triple).collect::<Result<Vec<_>>>()?
        }
        (None, Some(skin)) => skin.triangles.clone(),
        (None, None) => {
            let message = format!("`{}` is no mesh, so `{name}` needs its `triangles`", spec.node);
            let help = "lines of points collide as `Cable`".to_owned();
            let places = [Where::Used(name, "node"), Where::Name(name)];
            return builder.wrong(&places, message, Some(help));
        }
    };
    let collider = soft(builder, name, node, Shape::soft_triangles(&triangles, radius))?;
    self_contact(builder, collider, spec.self_contact.as_deref())
}
