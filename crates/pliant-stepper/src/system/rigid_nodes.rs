//! Independent coordinates as a multilevel preconditioner sees them: by what they do in a motion as
//! a rigid body.

use pliant_krylov::RigidNode;
use pliant_model::{Node, NodeKind, Problem, Space, State};

/// A model at the positions of a state.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a> {
    /// The model.
    pub model: &'a Problem,
    /// Its state; velocities do not matter.
    pub state: &'a State,
}

impl<'a> Configuration<'a> {
    /// The elements of the independent nodes, in the order of their coordinates.
    pub fn rigid_nodes(self) -> impl Iterator<Item = RigidNode> + Clone + 'a {
        let independent = |node: &&Node| matches!(node.kind, NodeKind::Independent { .. });
        self.model
            .nodes()
            .iter()
            .filter(independent)
            .flat_map(move |node| {
                let size = node.space.position_size();
                let places = self.state.positions[node.position_range()].chunks_exact(size.max(1));
                places.map(|x| match (node.space, x) {
                    (Space::Real(3), &[x, y, z]) => RigidNode::Point([x, y, z]),
                    (Space::Rigid3, &[x, y, z, a, b, c, d]) => RigidNode::Body {
                        centre: [x, y, z],
                        rotation: [a, b, c, d],
                    },
                    _ => RigidNode::Other(node.space.velocity_size()),
                })
            })
    }
}
