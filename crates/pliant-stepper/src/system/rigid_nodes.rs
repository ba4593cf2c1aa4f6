//! Independent coordinates as a multilevel preconditioner sees them: by what they do in a motion as
//! a rigid body.

use pliant_krylov::RigidNode;
use pliant_model::{NodeKind, Problem, Space, State};

/// The elements of the independent nodes, in the order of their coordinates, at the positions of a
/// state.
pub fn rigid_nodes<'a>(model: &'a Problem, state: &'a State) -> impl Iterator<Item = RigidNode> + Clone + 'a {
    let independent = |node: &&pliant_model::Node| matches!(node.kind, NodeKind::Independent { .. });
    model.nodes().iter().filter(independent).flat_map(|node| {
        let size = node.space.position_size();
        let places = state.positions[node.position_range()].chunks_exact(size.max(1));
        places.map(|x| match (node.space, x) {
            (Space::Real(3), &[x, y, z]) => RigidNode::Point([x, y, z]),
            (Space::Rigid3, &[x, y, z, ref rotation @ ..]) => RigidNode::Body {
                centre: [x, y, z],
                rotation: rotation.try_into().unwrap_or([1.0, 0.0, 0.0, 0.0]),
            },
            _ => RigidNode::Other(node.space.velocity_size()),
        })
    })
}
