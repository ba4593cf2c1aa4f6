//! The graph that is ordered.

use super::{Blocks, NONE};
use crate::{KktSystem, SolveError};
use pliant_sparse::Graph;

/// The block graph without deferred rows, every hard row block merged into the primal block that
/// owns it.
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
}

impl Quotient {
    pub(super) fn new(
        system: &KktSystem,
        blocks: &Blocks,
        owner: &[Option<usize>],
        deferred: &[bool],
    ) -> Result<Self, SolveError> {
        let primal = blocks.free.len();
        let height = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        let mut owned_offsets = vec![0u32; primal + 1];
        let mut unknowns = blocks.free.clone();
        for (k, p) in owner.iter().enumerate().filter_map(|(k, p)| Some((k, (*p)?))) {
            owned_offsets[p + 1] += 1;
            unknowns[p] += height(k);
        }
        for p in 0..primal {
            owned_offsets[p + 1] += owned_offsets[p];
        }
        let mut owned = vec![0u32; owned_offsets[primal] as usize];
        let mut at = owned_offsets.clone();
        let mut leaders = Vec::new();
        let mut vertex = vec![NONE; primal + owner.len()];
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
        let mut graph = Graph::new(leaders.len());
        let mut of_vertex = vec![0; leaders.len()];
        for (v, leader) in leaders.iter().enumerate() {
            let leader = *leader as usize;
            let unknowns = if leader < primal {
                unknowns[leader]
            } else {
                height(leader - primal)
            };
            let unknowns = u32::try_from(unknowns).unwrap_or(u32::MAX);
            graph.set_unknowns(v, unknowns);
            of_vertex[v] = unknowns;
        }
        let mut seen = vec![NONE; primal];
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
        Ok(Self {
            graph,
            unknowns: of_vertex,
            vertex,
            leaders,
            owned_offsets,
            owned,
        })
    }

    /// Row blocks that a primal block owns.
    pub(super) fn owned(&self, p: usize) -> &[u32] {
        &self.owned[self.owned_offsets[p] as usize..self.owned_offsets[p + 1] as usize]
    }
}

/// The deferred row blocks in an order of their own: two are neighbours if they act on the same
/// primal block.
pub(super) fn last(blocks: &Blocks, deferred: &[bool]) -> Result<Vec<usize>, SolveError> {
    let list: Vec<usize> = (0..deferred.len()).filter(|k| deferred[*k]).collect();
    if list.len() < 2 {
        return Ok(list);
    }
    let mut incident: Vec<(u32, usize)> = Vec::new();
    for (v, k) in list.iter().enumerate() {
        incident.extend(blocks.touched(*k).iter().map(|p| (*p, v)));
    }
    incident.sort_unstable();
    let mut graph = Graph::new(list.len());
    for same in incident.chunk_by(|a, b| a.0 == b.0) {
        for (i, (_, a)) in same.iter().enumerate() {
            same[..i].iter().for_each(|(_, b)| graph.connect(*a, *b));
        }
    }
    Ok(graph.minimum_degree()?.into_iter().map(|v| list[v]).collect())
}
