//! Geometric stiffness of mapped nodes.

use super::Evaluation;
use super::gather::certainly;
use crate::{Blocks, Dependency, Model, NodeKind, State};
use std::ops::Range;

impl Evaluation {
    /// The geometric stiffness blocks of a mapped node, as last computed.
    pub fn geometric_blocks(&self, node: usize) -> Option<&Blocks> {
        self.geometry[node].as_ref()
    }

    /// Computes the geometric stiffness blocks `G` of one mapped node under the given total forces
    /// on all nodes; `None` for linear mappings. Allocates nothing.
    pub fn geometric_stiffness(
        &mut self,
        model: &Model,
        state: &State,
        node: usize,
        force: &[f64],
    ) -> Option<&Blocks> {
        let blocks = self.geometry[node].as_mut()?;
        let entry = &model.nodes()[node];
        let NodeKind::Mapped { mapping, ranges, .. } = &entry.kind else {
            return None;
        };
        let parents = model
            .parents(ranges, &state.positions, &state.velocities)
            .with_child(&state.positions[entry.position_range()])
            .with_kept(self.kept[node].known());
        let (force, size) = (&force[entry.velocity_range()], entry.space.velocity_size());
        if let Some(pieces) = mapping.pieces() {
            if blocks.len() != entry.count {
                let widths = |d: &Dependency| ranges[d.parent].2.velocity_size();
                let lists = self.lists[node].iter();
                let widths = lists.map(|l| l.iter().map(widths).sum());
                *blocks = Blocks::new(widths.map(|w| (w, w)));
            }
            certainly(blocks.write_pieces(&self.threads, |e, out| {
                let force = &force[e.start * size..e.end * size];
                pieces.geometric_stiffness(parents, e, force, out);
                Ok(())
            }));
        } else {
            blocks.clear();
            mapping.geometric_stiffness(parents, force, blocks);
        }
        Some(blocks)
    }

    /// The blocks `G` of consecutive elements of a mapped node whose mapping comes in pieces, under
    /// the given total forces on all nodes, one after the other into `out`, which is cleared; false,
    /// and nothing written, for other mappings. `state` is the one that was propagated. Allocates
    /// nothing.
    ///
    /// # Panics
    /// If there are no such elements, or `out` is not of the size of their blocks.
    pub fn write_geometric_stiffness(
        &self,
        model: &Model,
        state: &State,
        (node, elements): (usize, Range<usize>),
        force: &[f64],
        out: &mut [f64],
    ) -> bool {
        let entry = &model.nodes()[node];
        let NodeKind::Mapped { mapping, ranges, .. } = &entry.kind else {
            return false;
        };
        let Some(pieces) = mapping.pieces() else {
            return false;
        };
        let parents = model
            .parents(ranges, &state.positions, &state.velocities)
            .with_child(&state.positions[entry.position_range()])
            .with_kept(self.kept[node].known());
        let size = entry.space.velocity_size();
        let force = &force[entry.first_velocity + elements.start * size..][..elements.len() * size];
        out.fill(0.0);
        pieces.geometric_stiffness(parents, elements, force, out);
        true
    }
}
