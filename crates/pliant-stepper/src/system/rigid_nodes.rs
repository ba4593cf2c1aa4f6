//! Independent coordinates as a multilevel preconditioner sees them: by what they do in a motion as
//! a rigid body.

use pliant_krylov::{NearNullSpace, RigidNode};
use pliant_model::{Node, NodeKind, Problem, Space, State};
use pliant_solvers::SolveError;

/// A model at the positions of a state.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a> {
    /// The model.
    pub model: &'a Problem,
    /// Its state; velocities do not matter.
    pub state: &'a State,
}

impl<'a> Configuration<'a> {
    /// Tells a near null space where the nodes are in the initial state of the model: a plan that
    /// is made by these places is the same in a run that goes on from a checkpoint.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a place that is not finite.
    pub fn tell_reference(self, motions: &mut NearNullSpace) -> Result<(), SolveError> {
        // Who has come to a configuration has had an initial state.
        let Ok(initial) = self.model.initial_state() else {
            return Ok(());
        };
        let at = Configuration {
            model: self.model,
            state: &initial,
        };
        motions.set_reference(at.rigid_nodes())
    }

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
                    (Space::Real(3), &[x, y, z]) if !node.is_amplitudes => RigidNode::Point([x, y, z]),
                    (Space::Rigid3, &[x, y, z, a, b, c, d]) => RigidNode::Body {
                        centre: [x, y, z],
                        rotation: [a, b, c, d],
                    },
                    _ => RigidNode::Other(node.space.velocity_size()),
                })
            })
    }
}
