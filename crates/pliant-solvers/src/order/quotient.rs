//! The graph that is ordered.

use super::{Blocks, NONE};
use crate::{KktSystem, SolveError};
use pliant_sparse::{Graph, SymbolicWorkspace};

/// The block graph without deferred rows, every hard row block merged into the primal block that
/// owns it.
#[derive(Debug, Default)]
pub(super) struct Quotient {
    pub(super) graph: Graph,
    /// Unknowns of each vertex.
    pub(super) unknowns: Vec<u32>,
    /// Vertex of each primal block; `NONE` if all of it is fixed.
    pub(super) vertex: Vec<u32>,
    /// The primal block, or `primal +` row block, that each vertex is named after.
    pub(super) leaders: Vec<u32>,
    /// Row blocks owned by each primal block: offsets and list.
    owned_offsets: Vec<u32>,
    owned: Vec<u32>,
    /// Scratch: unknowns of each primal block with those of the rows that it owns, where its next
    /// row block goes, the last block beside which it was seen.
    sizes: Vec<usize>,
    at: Vec<u32>,
    seen: Vec<u32>,
}

impl Quotient {
    pub(super) fn refill(
        &mut self,
        system: &KktSystem,
        blocks: &Blocks,
        owner: &[Option<usize>],
        deferred: &[bool],
    ) {
        self.list_owned(system, blocks, owner);
        let primal = blocks.free.len();
        let height = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        let Self {
            graph,
            unknowns: of_vertex,
            vertex,
            leaders,
            owned,
            sizes,
            at,
            seen,
            ..
        } = self;
        leaders.clear();
        vertex.clear();
        vertex.resize(primal + owner.len(), NONE);
        for p in (0..primal).filter(|p| blocks.free[*p] > 0) {
            vertex[p] = leaders.len() as u32;
            leaders.push(p as u32);
        }
        for k in 0..owner.len() {
            if let Some(p) = owner[k] {
                vertex[primal + k] = vertex[p];
                owned[at[p] as usize] = k as u32;
                at[p] += 1;
            } else if !deferred[k] {
                vertex[primal + k] = leaders.len() as u32;
                leaders.push((primal + k) as u32);
            }
        }
        graph.reset(leaders.len());
        of_vertex.clear();
        for (v, leader) in leaders.iter().enumerate() {
            let leader = *leader as usize;
            let unknowns = if leader < primal {
                sizes[leader]
            } else {
                height(leader - primal)
            };
            let unknowns = u32::try_from(unknowns).unwrap_or(u32::MAX);
            graph.set_unknowns(v, unknowns);
            of_vertex.push(unknowns);
        }
        seen.clear();
        seen.resize(primal, NONE);
        for (p, w) in system.primal_blocks().windows(2).enumerate() {
            let free = (w[0]..w[1]).filter(|i| !system.fixed[*i]);
            for k in free.flat_map(|i| system.w.pattern().row(i)) {
                let q = blocks.of_dof[*k as usize];
                if q != NONE && q as usize != p && seen[q as usize] != p as u32 {
                    seen[q as usize] = p as u32;
                    graph.connect(vertex[p] as usize, vertex[q as usize] as usize);
                }
            }
        }
        for k in (0..owner.len()).filter(|k| !deferred[*k]) {
            for p in blocks.touched(k) {
                graph.connect(vertex[primal + k] as usize, vertex[*p as usize] as usize);
            }
        }
        vertex.truncate(primal);
    }

    /// Makes room for the lists of row blocks that each primal block owns.
    fn list_owned(&mut self, system: &KktSystem, blocks: &Blocks, owner: &[Option<usize>]) {
        let Self {
            owned_offsets,
            owned,
            sizes,
            at,
            ..
        } = self;
        let primal = blocks.free.len();
        owned_offsets.clear();
        owned_offsets.resize(primal + 1, 0);
        sizes.clone_from(&blocks.free);
        for (k, p) in owner.iter().enumerate().filter_map(|(k, p)| Some((k, (*p)?))) {
            owned_offsets[p + 1] += 1;
            sizes[p] += system.row_blocks()[k + 1] - system.row_blocks()[k];
        }
        for p in 0..primal {
            owned_offsets[p + 1] += owned_offsets[p];
        }
        owned.clear();
        owned.resize(owned_offsets[primal] as usize, 0);
        at.clone_from(owned_offsets);
    }

    /// Row blocks that a primal block owns.
    pub(super) fn owned(&self, p: usize) -> &[u32] {
        &self.owned[self.owned_offsets[p] as usize..self.owned_offsets[p + 1] as usize]
    }
}

/// The deferred row blocks in an order of their own, and scratch to find it.
#[derive(Debug, Default)]
pub(super) struct Last {
    pub(super) sequence: Vec<usize>,
    list: Vec<usize>,
    incident: Vec<(u32, usize)>,
    graph: Graph,
}

impl Last {
    /// Two of the row blocks are neighbours if they act on the same primal block.
    pub(super) fn find(
        &mut self,
        blocks: &Blocks,
        deferred: &[bool],
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<(), SolveError> {
        let Self {
            sequence,
            list,
            incident,
            graph,
        } = self;
        list.clear();
        list.extend((0..deferred.len()).filter(|k| deferred[*k]));
        if list.len() < 2 {
            sequence.clone_from(list);
            return Ok(());
        }
        incident.clear();
        for (v, k) in list.iter().enumerate() {
            incident.extend(blocks.touched(*k).iter().map(|p| (*p, v)));
        }
        incident.sort_unstable();
        graph.reset(list.len());
        for same in incident.chunk_by(|a, b| a.0 == b.0) {
            for (i, (_, a)) in same.iter().enumerate() {
                same[..i].iter().for_each(|(_, b)| graph.connect(*a, *b));
            }
        }
        graph.minimum_degree_into(symbolic, sequence)?;
        sequence.iter_mut().for_each(|v| *v = list[*v]);
        Ok(())
    }
}
