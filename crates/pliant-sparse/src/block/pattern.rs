//! The block pattern of `L`, and what a factorisation on it costs.

use super::PatternWorkspace;
use crate::{Graph, SparseError, SymbolicWorkspace, check_bounds, fill};
use std::ops::Range;

/// The blocks of `L` for a block matrix in the order given: block elimination tree and fill,
/// without values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPattern {
    /// First unknown of each vertex, and the number of unknowns.
    bounds: Vec<usize>,
    /// Where the rows of each block column start.
    offsets: Vec<usize>,
    /// Vertices below the diagonal of each block column, ascending.
    rows: Vec<u32>,
    entries: usize,
    values: usize,
    updates: usize,
    flops: usize,
}

impl BlockPattern {
    /// The pattern of `L` for the blocks `bounds[k]..bounds[k + 1]`, coupled as in the graph and
    /// eliminated in ascending order: the rows of a column are its neighbours that come later and
    /// the rows of its children in the elimination tree (George and Liu, Computer Solution of Large
    /// Sparse Positive Definite Systems, section 5.1). Cost: the number of blocks of `L`, times a
    /// logarithm.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the bounds do not ascend from 0 or are not one more than the
    /// vertices, [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(bounds: &[usize], graph: &Graph) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(bounds, graph, &mut SymbolicWorkspace::default())?;
        Ok(out)
    }

    /// Makes it that of other blocks, as [`new`](Self::new) does. Allocates only for larger ones
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
        let blocks = graph.len();
        check_bounds(bounds, blocks)?;
        let (adjacent, neighbours) = graph.lists_in(&mut work.graph)?;
        let PatternWorkspace {
            seen, child, next, ..
        } = &mut work.blocks;
        fill(seen, blocks, usize::MAX);
        // Columns whose first row is j: a list through `next`.
        fill(child, blocks, usize::MAX);
        fill(next, blocks, usize::MAX);
        self.clear(bounds);
        for j in 0..blocks {
            let start = self.rows.len();
            seen[j] = j;
            for i in &neighbours[adjacent[j] as usize..adjacent[j + 1] as usize] {
                if *i as usize > j {
                    seen[*i as usize] = j;
                    self.rows.push(*i);
                }
            }
            let mut c = child[j];
            while c != usize::MAX {
                for at in self.offsets[c]..self.offsets[c + 1] {
                    let i = self.rows[at];
                    if seen[i as usize] != j {
                        seen[i as usize] = j;
                        self.rows.push(i);
                    }
                }
                c = next[c];
            }
            self.rows[start..].sort_unstable();
            if let Some(parent) = self.rows.get(start).map(|parent| *parent as usize) {
                next[j] = child[parent];
                child[parent] = j;
            }
            self.offsets.push(self.rows.len());
            self.count(j);
        }
        Ok(())
    }

    fn clear(&mut self, bounds: &[usize]) {
        self.bounds.clear();
        self.bounds.extend_from_slice(bounds);
        self.offsets.clear();
        self.offsets.push(0);
        self.rows.clear();
        (self.entries, self.values, self.updates, self.flops) = (0, 0, 0, 0);
    }

    /// Adds what a block column costs.
    fn count(&mut self, j: usize) {
        let size = |i: usize| self.bounds[i + 1] - self.bounds[i];
        let (width, rows) = (size(j), self.column(j));
        let count = rows.len();
        let below: usize = rows.iter().map(|i| size(*i as usize)).sum();
        self.entries += width * (width + 1) / 2 + width * below;
        self.values += width * width + width * below;
        self.updates += count * (count + 1) / 2;
        // Scalar column by scalar column, r entries below the pivot: r (r + 2) operations.
        self.flops += (0..width)
            .map(|k| width - 1 - k + below)
            .map(|r| r * (r + 2))
            .sum::<usize>();
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// First unknown of each vertex, and the number of unknowns.
    pub fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// Unknowns of vertex `j`.
    pub fn unknowns(&self, j: usize) -> Range<usize> {
        self.bounds[j]..self.bounds[j + 1]
    }

    /// Number of unknowns of vertex `j`.
    pub fn block_size(&self, j: usize) -> usize {
        self.bounds[j + 1] - self.bounds[j]
    }

    /// Vertices below the diagonal of block column `j`, ascending.
    pub fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.column_range(j)]
    }

    pub(super) fn column_range(&self, j: usize) -> Range<usize> {
        self.offsets[j]..self.offsets[j + 1]
    }

    /// Number of vertices below the diagonal of each block column.
    pub(super) fn counts(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0])
    }

    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Entries of `L` with its diagonal, all of those in a block counted.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Numbers that are stored: the entries, and the unused triangle above each diagonal.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Block updates of one factorisation.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Floating-point operations of one factorisation that uses symmetry.
    pub fn flops(&self) -> usize {
        self.flops
    }
}
