//! Open and closed paths of the graph: vertices of two neighbours, whose order costs nothing but
//! decides the size of pivots.
//!
//! A row that follows its owner has the pivot `J W^-1 J^T` of the owner alone, with the mass that
//! the owner has taken over by then. Along a chain of rigidly aligned bodies, eliminated so that
//! each hands its mass on to the next, or in pairs of longer and longer pieces, that mass grows
//! without bound, and pivots of independent rows become as small as the rounding of redundant ones.
//! Eliminated from the other body of the owned rows to the owner, every owner is as light as it was
//! at first.

use super::quotient::Quotient;
use pliant_sparse::{Graph, SparseError, SymbolicWorkspace};

/// Shortest path for which it matters: masses that grow to a few times their size are no harm.
const LONG: usize = 16;

/// Vertices that go first, and the graph of the others.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub(super) first: Vec<usize>,
    pub(super) rest: Graph,
    /// The vertex in the whole graph of each vertex of the rest.
    pub(super) vertices: Vec<usize>,
    /// Scratch: whether each vertex was on a path, the path at hand, edges between what paths end
    /// at, the vertex in the rest of each vertex that stays.
    seen: Vec<bool>,
    path: Vec<usize>,
    bridges: Vec<(usize, usize)>,
    place: Vec<usize>,
}

impl Paths {
    /// Finds the long paths without loose ends but their own: closed ones, those between two
    /// vertices of more neighbours, and, where rows are deferred, those that are a whole component.
    /// A path that hangs on another vertex goes from its loose end, without fill. False if there
    /// are none. `parents(v)` are the vertices that the rows owned by `v` act on; `is_deferring`
    /// says whether rows come after everything else. Cost: linear.
    pub(super) fn find(
        &mut self,
        quotient: &Quotient,
        parent: impl Fn(usize) -> Option<usize>,
        is_deferring: bool,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<bool, SparseError> {
        let graph = &quotient.graph;
        let (offsets, neighbours) = graph.adjacency_in(symbolic)?;
        let of = |v: usize| &neighbours[offsets[v] as usize..offsets[v + 1] as usize];
        let is_link = |v: usize| (1..=2).contains(&of(v).len());
        let Self {
            first,
            seen,
            path,
            bridges,
            ..
        } = self;
        seen.clear();
        seen.resize(graph.len(), false);
        first.clear();
        bridges.clear();
        for start in (0..graph.len()).filter(|v| is_link(*v)) {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            path.clear();
            path.push(start);
            let mut ends = [None; 2];
            for (side, end) in ends.iter_mut().enumerate() {
                if side == 1 {
                    path.reverse();
                }
                let mut before = path.len().checked_sub(2).map(|k| path[k]);
                if side == 0 {
                    // The other neighbour is for the second walk.
                    before = of(start).get(1).map(|v| *v as usize);
                }
                loop {
                    let at = path[path.len() - 1];
                    let next = of(at).iter().map(|v| *v as usize).find(|v| Some(*v) != before);
                    match next {
                        Some(v) if is_link(v) && !seen[v] => {
                            seen[v] = true;
                            before = Some(at);
                            path.push(v);
                        }
                        Some(v) if !is_link(v) => {
                            *end = Some(v);
                            break;
                        }
                        _ => break,
                    }
                }
            }
            let hangs = ends[0].is_some() != ends[1].is_some();
            let (first_of, last_of) = (path[0], path[path.len() - 1]);
            let is_closed = path.len() > 2 && of(first_of).iter().any(|v| *v as usize == last_of);
            // Nothing is redundant in a chain whose rows all have owners, and from its loose ends
            // there is less fill.
            let is_plain = ends[0].is_none() && !is_closed && !is_deferring;
            if path.len() < LONG || hangs || is_plain {
                continue;
            }
            let owns = |v: usize, u: usize| parent(v) == Some(u);
            let forward = path.windows(2).filter(|w| owns(w[1], w[0])).count();
            let backward = path.windows(2).filter(|w| owns(w[0], w[1])).count();
            if forward == 0 && backward == 0 {
                continue;
            }
            if backward > forward {
                path.reverse();
            }
            first.extend_from_slice(path);
            if let [Some(a), Some(b)] = ends {
                bridges.push((a, b));
            }
        }
        if first.is_empty() {
            return Ok(false);
        }
        self.leave_rest(quotient, of);
        Ok(true)
    }

    /// The graph without the vertices that go first; `of` are the neighbours of a vertex.
    fn leave_rest<'a>(&mut self, quotient: &Quotient, of: impl Fn(usize) -> &'a [u32]) {
        let Self {
            first,
            rest,
            vertices,
            seen: goes,
            bridges,
            place,
            ..
        } = self;
        let count = quotient.graph.len();
        place.clear();
        place.resize(count, usize::MAX);
        goes.fill(false);
        first.iter().for_each(|v| goes[*v] = true);
        vertices.clear();
        vertices.extend((0..count).filter(|v| !goes[*v]));
        rest.reset(vertices.len());
        for (k, v) in vertices.iter().enumerate() {
            place[*v] = k;
            rest.set_unknowns(k, quotient.unknowns[*v]);
        }
        for v in &*vertices {
            for u in of(*v).iter().map(|u| *u as usize).filter(|u| u > v && !goes[*u]) {
                rest.connect(place[*v], place[u]);
            }
        }
        for (a, b) in &*bridges {
            rest.connect(place[*a], place[*b]);
        }
    }
}
