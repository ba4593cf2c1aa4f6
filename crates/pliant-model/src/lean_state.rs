//! States to go back to, without what follows from the rest.

use crate::{Model, Node, NodeKind, State};

/// A state without the positions and velocities that follow from it: it has the positions of
/// independent nodes and of mapped ones whose mappings may have branches, the velocities of
/// independent nodes, and the internal variables. Of a solid that is a small part of the state.
#[derive(Clone, Debug, Default)]
pub struct LeanState {
    positions: Vec<f64>,
    velocities: Vec<f64>,
    internal: Vec<f64>,
}

impl LeanState {
    /// The one of a state.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn of(model: &Model, state: &State) -> Self {
        let mut out = Self::default();
        out.take(model, state);
        out
    }

    /// Takes another state of the model, in the storage that is there.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn take(&mut self, model: &Model, state: &State) {
        self.positions.clear();
        self.velocities.clear();
        for node in model.nodes() {
            if is_kept(node) {
                self.positions
                    .extend_from_slice(&state.positions[node.position_range()]);
            }
            if node.first_dof().is_some() {
                self.velocities
                    .extend_from_slice(&state.velocities[node.velocity_range()]);
            }
        }
        self.internal.clone_from(&state.internal);
    }

    /// Every node whose positions it has, with these.
    ///
    /// # Panics
    /// If it belongs to another model.
    pub fn nodes<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a Node, &'a [f64])> {
        let mut rest = &self.positions[..];
        model.nodes().iter().filter(|n| is_kept(n)).map(move |node| {
            let (own, after) = rest.split_at(node.position_range().len());
            rest = after;
            (node, own)
        })
    }

    /// Puts it into a state of the same model, which is to be
    /// [propagated](crate::Evaluation::propagate) then: to the bit the state that was taken.
    ///
    /// # Panics
    /// If it or the state belongs to another model.
    pub fn write(&self, model: &Model, state: &mut State) {
        for (node, places) in self.nodes(model) {
            state.positions[node.position_range()].copy_from_slice(places);
        }
        let mut rest = &self.velocities[..];
        for node in model.nodes().iter().filter(|n| n.first_dof().is_some()) {
            let (own, after) = rest.split_at(node.velocity_range().len());
            state.velocities[node.velocity_range()].copy_from_slice(own);
            rest = after;
        }
        state.internal.clone_from(&self.internal);
    }
}

/// Whether the positions of a node do not follow from those of other nodes alone.
fn is_kept(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Independent { .. } => true,
        NodeKind::Mapped { mapping, .. } => mapping.pieces().is_none(),
    }
}
