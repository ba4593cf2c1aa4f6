//! The multifrontal `L D L^T` and `L L^T` of a symmetric block matrix: fill gathered in dense
//! fronts, on one thread or several.
//!
//! Columns of `L` with the same pattern form a *front*, a dense trapezoid that the dense kernels of
//! `faer` eliminate. What it does to later columns is its *update matrix*, which its parent in the
//! elimination tree adds up (Duff and Reid, ACM TOMS 9 (1983) 302; Liu, SIAM Review 34 (1992) 82).
//! Subtrees share nothing, so that threads may take one each.

mod dense;
mod dependence;
mod numeric;
mod pivoted;
mod schedule;
mod solve;
mod supernodes;
mod tasks;
mod tree;
mod unsymmetric;

pub use numeric::FrontFactor;
pub use pivoted::{Inertia, PivotedFactor};
pub use unsymmetric::UnsymmetricFactor;

use crate::{Graph, SparseError, SymbolicWorkspace, check_bounds, fill};
use std::ops::Range;
use supernodes::Supernodes;
use tree::{Adjacency, Forest, NONE};

/// The fronts of `L` and where everything goes: what one pattern of `A` needs once.
///
/// Storage: fronts one after another, children before parents; each is a dense matrix by columns
/// with a row for each of its unknowns and each row below. What is above the diagonal has no
/// meaning.
#[derive(Clone, Debug, Default)]
pub struct FrontSymbolic {
    /// Column of each unknown.
    position: Vec<u32>,
    /// Unknown of each column.
    unknown: Vec<u32>,
    /// Vertex, in the order of elimination, of each column.
    vertex: Vec<u32>,
    /// First column of each vertex, and the number of columns.
    bounds: Vec<usize>,
    /// Front of each vertex.
    front: Vec<u32>,
    fronts: Vec<Front>,
    /// Vertices below each front, ascending, and the local row where each starts.
    rows: Vec<u32>,
    places: Vec<u32>,
    /// Children of each front, roots last: offsets and list.
    child_offsets: Vec<usize>,
    child_list: Vec<usize>,
    /// Where the rows below each front are in its parent.
    runs: Vec<Run>,
    matrix_entries: usize,
    values: usize,
    vectors: usize,
    flops: usize,
}

/// Scratch of an analysis. No result depends on what is in it.
#[derive(Debug, Default)]
pub(crate) struct TreeWorkspace {
    weights: Vec<usize>,
    nodes: Supernodes,
    supernodes: supernodes::Scratch,
    children: Forest,
    rank: Vec<u32>,
    seen: Vec<usize>,
}

/// One front.
#[derive(Clone, Debug)]
struct Front {
    /// First column.
    first: usize,
    /// Columns eliminated here.
    width: usize,
    /// Rows below them.
    below: usize,
    /// Where its values start.
    values: usize,
    /// Where its part of a vector starts: `width + below` entries per right-hand side.
    vector: usize,
    /// Its part of [`FrontSymbolic::rows`].
    rows: Range<usize>,
    /// Its part of [`FrontSymbolic::runs`]: first those among the columns of the parent, then those
    /// among the rows below them.
    runs: Range<usize>,
    split: usize,
    parent: usize,
    /// Whether the number of its ancestors is odd.
    odd: bool,
    /// Predicted time, of it and of it with all its descendants.
    cost: f64,
    work: f64,
    /// First front of its subtree.
    leftmost: usize,
}

impl Front {
    fn height(&self) -> usize {
        self.width + self.below
    }
}

/// Consecutive rows below a front that are consecutive in its parent.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// From this row below the front,
    from: u32,
    /// which is this local row of the parent,
    to: u32,
    /// so many.
    len: u32,
}

impl FrontSymbolic {
    /// Analyses a block matrix with the unknowns `bounds[k]..bounds[k + 1]` in vertex `k`, coupled
    /// as in the graph, and eliminated in ascending order up to changes that keep the elimination
    /// tree. Cost: nearly linear in the edges and in the blocks of the fronts, which are far fewer
    /// than those of `L`.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the bounds do not ascend from 0 or are not one more than the
    /// vertices, [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(bounds: &[usize], graph: &Graph) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(bounds, graph, &mut SymbolicWorkspace::default())?;
        Ok(out)
    }

    /// Makes it that of another matrix, as [`new`](Self::new) does. Allocates only for larger ones
    /// than ever before. After an error it is of no use.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn refill(
        &mut self,
        bounds: &[usize],
        graph: &Graph,
        work: &mut SymbolicWorkspace,
    ) -> Result<(), SparseError> {
        let count = graph.len();
        check_bounds(bounds, count)?;
        let (offsets, indices) = graph.lists_in(&mut work.graph)?;
        let graph = Adjacency { offsets, indices };
        let work = &mut work.fronts;
        work.weights.clear();
        work.weights.extend(bounds.windows(2).map(|w| w[1] - w[0]));
        work.nodes.refill(&graph, &work.weights, &mut work.supernodes);
        self.clear();
        self.take_columns(bounds, &work.nodes, &mut work.children);
        self.structure(&graph, &work.nodes, &mut work.rank, &mut work.seen);
        self.relate();
        if self.values >= u32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "values of fronts",
                found: self.values,
            });
        }
        Ok(())
    }

    fn clear(&mut self) {
        let Self {
            position,
            unknown,
            vertex,
            bounds,
            front,
            fronts,
            rows,
            places,
            child_offsets,
            child_list,
            runs,
            matrix_entries,
            values,
            vectors,
            flops,
        } = self;
        for list in [position, unknown, vertex, front, rows, places] {
            list.clear();
        }
        for list in [bounds, child_offsets, child_list] {
            list.clear();
        }
        fronts.clear();
        runs.clear();
        for count in [matrix_entries, values, vectors, flops] {
            *count = 0;
        }
    }

    /// The order of elimination, and fronts without rows.
    fn take_columns(&mut self, bounds: &[usize], nodes: &Supernodes, children: &mut Forest) {
        let out = self;
        out.position.resize(bounds[nodes.order.len()], 0);
        out.bounds.push(0);
        for (k, v) in nodes.order.iter().enumerate() {
            for unknown in bounds[*v]..bounds[v + 1] {
                out.position[unknown] = out.unknown.len() as u32;
                out.unknown.push(unknown as u32);
                out.vertex.push(k as u32);
            }
            out.bounds.push(out.unknown.len());
        }
        for (f, w) in nodes.starts.windows(2).enumerate() {
            out.front.extend(std::iter::repeat_n(f as u32, w[1] - w[0]));
            let first = out.bounds[w[0]];
            out.fronts.push(Front {
                first,
                width: out.bounds[w[1]] - first,
                below: 0,
                values: 0,
                vector: 0,
                rows: 0..0,
                runs: 0..0,
                split: 0,
                parent: nodes.parent[f],
                odd: false,
                cost: nodes.cost[f],
                work: nodes.cost[f],
                leftmost: f,
            });
        }
        children.find_children(&nodes.parent);
        out.child_offsets.clone_from(&children.offsets);
        out.child_list.clone_from(&children.list);
        for f in (0..out.fronts.len()).rev() {
            let parent = out.fronts[f].parent;
            out.fronts[f].odd = parent != NONE && !out.fronts[parent].odd;
        }
        for f in 0..out.fronts.len() {
            let Front {
                parent,
                work,
                leftmost,
                ..
            } = out.fronts[f];
            if parent != NONE {
                out.fronts[parent].work += work;
                out.fronts[parent].leftmost = out.fronts[parent].leftmost.min(leftmost);
            }
        }
    }

    /// The rows below each front: those of the matrix and those of its children.
    fn structure(
        &mut self,
        graph: &Adjacency<'_>,
        nodes: &Supernodes,
        rank: &mut Vec<u32>,
        seen: &mut Vec<usize>,
    ) {
        fill(rank, nodes.order.len(), 0);
        for (k, v) in nodes.order.iter().enumerate() {
            rank[*v] = k as u32;
        }
        fill(seen, nodes.order.len(), NONE);
        for f in 0..self.fronts.len() {
            let (start, end) = (self.rows.len(), nodes.starts[f + 1] as u32);
            for (k, v) in (nodes.starts[f]..).zip(&nodes.order[nodes.starts[f]..nodes.starts[f + 1]]) {
                let size = |k: usize| self.bounds[k + 1] - self.bounds[k];
                let own = size(k);
                self.matrix_entries += own * (own + 1) / 2;
                for i in graph.of(*v).map(|i| rank[i]) {
                    if i as usize > k {
                        self.matrix_entries += own * size(i as usize);
                    }
                    if i >= end && seen[i as usize] != f {
                        seen[i as usize] = f;
                        self.rows.push(i);
                    }
                }
            }
            for c in self.child_offsets[f]..self.child_offsets[f + 1] {
                for at in self.fronts[self.child_list[c]].rows.clone() {
                    let i = self.rows[at];
                    if i >= end && seen[i as usize] != f {
                        seen[i as usize] = f;
                        self.rows.push(i);
                    }
                }
            }
            self.rows[start..].sort_unstable();
            let width = self.fronts[f].width;
            let mut place = width;
            for i in &self.rows[start..] {
                self.places.push(place as u32);
                place += self.bounds[*i as usize + 1] - self.bounds[*i as usize];
            }
            let front = &mut self.fronts[f];
            front.rows = start..self.rows.len();
            front.below = place - width;
            front.values = self.values;
            front.vector = self.vectors;
            self.values += width * place;
            self.vectors += place;
            // Scalar column by scalar column, r entries below the pivot: r (r + 2) operations.
            self.flops += (0..width)
                .map(|k| (place - 1 - k) * (place + 1 - k))
                .sum::<usize>();
        }
    }

    /// Where the rows below each front are in its parent.
    fn relate(&mut self) {
        for f in 0..self.fronts.len() {
            let start = self.runs.len();
            let mut split = start;
            if let Some(parent) = self.fronts.get(self.fronts[f].parent) {
                let mut at = parent.rows.start;
                let own = self.fronts[f].rows.clone();
                for (i, place) in self.rows[own.clone()].iter().zip(&self.places[own]) {
                    let i = *i as usize;
                    let inside = self.bounds[i] < parent.first + parent.width;
                    let to = if inside {
                        self.bounds[i] - parent.first
                    } else {
                        while (self.rows[at] as usize) < i {
                            at += 1;
                        }
                        self.places[at] as usize
                    };
                    let from = *place as usize - self.fronts[f].width;
                    let len = (self.bounds[i + 1] - self.bounds[i]) as u32;
                    match self.runs[start..].last_mut() {
                        // Runs end where the columns of the parent do.
                        Some(run) if (run.to + run.len) as usize == to && to != parent.width => {
                            run.len += len;
                        }
                        _ => self.runs.push(Run {
                            from: from as u32,
                            to: to as u32,
                            len,
                        }),
                    }
                    if inside {
                        split = self.runs.len();
                    }
                }
            }
            self.fronts[f].split = split - start;
            self.fronts[f].runs = start..self.runs.len();
        }
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.position.len()
    }

    /// Number of fronts.
    pub fn len(&self) -> usize {
        self.fronts.len()
    }

    /// Whether the matrix is of order zero.
    pub fn is_empty(&self) -> bool {
        self.fronts.is_empty()
    }

    /// Stored numbers: `L` with its diagonal, the zeros that fronts hold, and the unused triangle
    /// above each diagonal block.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Entries of `L` with its diagonal and the zeros that fronts hold.
    pub fn entries(&self) -> usize {
        let unused = self.fronts.iter().map(|f| f.width * (f.width - 1) / 2);
        self.values - unused.sum::<usize>()
    }

    /// Entries of the lower triangle of `A`, all of those in a block counted.
    pub fn matrix_entries(&self) -> usize {
        self.matrix_entries
    }

    /// Floating-point operations of one factorisation.
    pub fn flops(&self) -> usize {
        self.flops
    }

    /// Predicted nanoseconds of one factorisation on one thread: for comparisons, not for clocks.
    pub fn cost(&self) -> f64 {
        self.fronts.iter().map(|f| f.cost).sum()
    }

    /// Where entry `(i, j)` or its mirror image is stored; `None` outside the pattern of `L` or
    /// outside the matrix. Cost: a binary search in the rows of a front.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (*self.position.get(i)? as usize, *self.position.get(j)? as usize);
        let (row, column) = (a.max(b), a.min(b));
        let front = &self.fronts[self.front[self.vertex[column] as usize] as usize];
        let local = if row < front.first + front.width {
            row - front.first
        } else {
            let vertex = self.vertex[row];
            let found = self.rows[front.rows.clone()].binary_search(&vertex).ok()?;
            self.places[front.rows.start + found] as usize + row - self.bounds[vertex as usize]
        };
        Some(front.values + (column - front.first) * front.height() + local)
    }

    fn children(&self, front: usize) -> &[usize] {
        &self.child_list[self.child_offsets[front]..self.child_offsets[front + 1]]
    }
}

#[cfg(test)]
mod tests;
