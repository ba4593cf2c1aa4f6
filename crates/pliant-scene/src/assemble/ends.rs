//! Elements of parents, as mappings name them.

use super::{Builder, Result, selections};
use crate::EndSpec;
use crate::picture::PointRef;
use crate::schema::Elements;
use crate::source::Where;
use pliant::model::{Dependency, End, NodeId, Space};
use pliant_expression::suggest;

/// The parents of a mapped node.
pub(super) struct ParentList<'a> {
    /// Name of the mapped node.
    pub(super) user: &'a str,
    pub(super) names: &'a [String],
    pub(super) nodes: Vec<NodeId>,
}

pub(super) fn parents<'a>(
    builder: &Builder<'_>,
    user: &'a str,
    names: &'a [String],
) -> Result<ParentList<'a>> {
    if names.is_empty() {
        let message = format!("`{user}` has no parents");
        return builder.wrong(&[Where::Field(user, "parents"), Where::Name(user)], message, None);
    }
    let nodes = names
        .iter()
        .map(|name| builder.node(name, user, "parents"))
        .collect::<Result<_>>()?;
    Ok(ParentList { user, names, nodes })
}

pub(super) fn end(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &EndSpec) -> Result<End> {
    let at = Where::Field(parents.user, "mapping");
    match spec {
        EndSpec::Point(point) => Ok(End::Point(builder.place(point, at)?)),
        EndSpec::Element(element) => Ok(End::element(0, builder.any_element(element, at)?)),
        EndSpec::Of(node, element) => {
            let element = builder.any_element(element, at)?;
            let Some(parent) = parents.names.iter().position(|n| n == node) else {
                let help = suggest::hint(node, "its parents", parents.names.iter().map(String::as_str));
                let message = format!("`{node}` is no parent of `{}`", parents.user);
                let places = [Where::Literal(parents.user, node), Where::Name(parents.user)];
                return builder.wrong(&places, message, help);
            };
            Ok(End::element(parent, element))
        }
    }
}

/// An end that must be an element.
pub(super) fn element(builder: &Builder<'_>, parents: &ParentList<'_>, spec: &EndSpec) -> Result<Dependency> {
    match end(builder, parents, spec)? {
        End::Element(at) => Ok(at),
        End::Point(_) => {
            let message = format!("`{}` needs elements here, not a fixed point", parents.user);
            builder.wrong(
                &[Where::Field(parents.user, "mapping"), Where::Name(parents.user)],
                message,
                None,
            )
        }
    }
}

/// Elements in a list, or those of the first parent that a selection means.
pub(super) fn elements(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &Elements<EndSpec>,
) -> Result<Vec<Dependency>> {
    let selected = match spec {
        Elements::List(list) => return list.iter().map(|e| element(builder, parents, e)).collect(),
        Elements::Group(name) => Elements::Group(name.clone()),
        Elements::Select(selection) => Elements::Select(selection.clone()),
    };
    let at = Where::Field(parents.user, "elements");
    let elements = selections::of_node(builder, &selected, parents.nodes[0], at)?;
    Ok(elements.into_iter().map(|e| Dependency::new(0, e)).collect())
}

/// Each of so many elements with the next.
pub(super) fn neighbours(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).zip(1..count).map(|(a, b)| [a, b])
}

/// Elements of the first parent.
pub(super) fn in_first<const N: usize>(elements: [usize; N]) -> [End; N] {
    elements.map(|element| End::element(0, element))
}

/// The given pairs, or each element of the first parent with the next.
pub(super) fn pairs(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    pairs: Option<&Vec<(EndSpec, EndSpec)>>,
) -> Result<Vec<(End, End)>> {
    match pairs {
        Some(list) => list
            .iter()
            .map(|(a, b)| Ok((end(builder, parents, a)?, end(builder, parents, b)?)))
            .collect(),
        None => {
            let count = builder.model.node(parents.nodes[0]).count;
            Ok(neighbours(count).map(|pair| in_first(pair).into()).collect())
        }
    }
}

/// Position of an end at the start; zeros for an element that does not exist, which the model
/// will complain of.
pub(super) fn place(builder: &mut Builder<'_>, parents: &ParentList<'_>, end: End) -> Result<Vec<f64>> {
    match end {
        End::Point(point) => Ok(point.to_vec()),
        End::Element(at) => {
            let node = parents.nodes[at.parent];
            let size = builder.model.node(node).space.position_size();
            let positions = builder.initial_positions(node)?;
            let found = positions.chunks_exact(size).nth(at.element);
            Ok(found.map_or_else(|| vec![0.0; size], <[f64]>::to_vec))
        }
    }
}

/// Returns the point of a picture where an end is drawn; `None` if it is no point of space.
pub(super) fn drawn(builder: &mut Builder<'_>, parents: &ParentList<'_>, end: End) -> Option<PointRef> {
    match end {
        End::Point(point) => Some(builder.picture.anchor(point)),
        End::Element(at) => {
            let node = parents.nodes[at.parent];
            (builder.model.node(node).space == Space::Real(3)).then_some(PointRef::Node(node, at.element))
        }
    }
}

/// Dimension of the space of the ends: that of the first parent.
pub(super) fn dimension(builder: &Builder<'_>, parents: &ParentList<'_>) -> usize {
    builder.model.node(parents.nodes[0]).space.velocity_size().min(3)
}
