//! The block pattern of `L`, and what a factorisation on it costs.

use crate::{Graph, SparseError};
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
    pub fn new(bounds: Vec<usize>, graph: &Graph) -> Result<Self, SparseError> {
        let blocks = graph.len();
        if bounds.len() != blocks + 1 || bounds[0] != 0 || bounds.windows(2).any(|w| w[0] >= w[1]) {
            return Err(SparseError::Size {
                what: "ascending block bounds",
                expected: blocks + 1,
                found: bounds.len(),
            });
        }
        let size = bounds[blocks];
        if size >= i32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "rows",
                found: size,
            });
        }
        let (adjacent, neighbours) = graph.adjacency()?;
        let mut out = Self {
            offsets: vec![0],
            ..Self::default()
        };
        let mut seen = vec![usize::MAX; blocks];
        // Columns whose first row is j: a list through `next`.
        let (mut child, mut next) = (vec![usize::MAX; blocks], vec![usize::MAX; blocks]);
        for j in 0..blocks {
            let start = out.rows.len();
            seen[j] = j;
            for i in &neighbours[adjacent[j] as usize..adjacent[j + 1] as usize] {
                if *i as usize > j {
                    seen[*i as usize] = j;
                    out.rows.push(*i);
                }
            }
            let mut c = child[j];
            while c != usize::MAX {
                for at in out.offsets[c]..out.offsets[c + 1] {
                    let i = out.rows[at];
                    if seen[i as usize] != j {
                        seen[i as usize] = j;
                        out.rows.push(i);
                    }
                }
                c = next[c];
            }
            out.rows[start..].sort_unstable();
            if let Some(parent) = out.rows.get(start).map(|parent| *parent as usize) {
                next[j] = child[parent];
                child[parent] = j;
            }
            out.offsets.push(out.rows.len());
            let width = bounds[j + 1] - bounds[j];
            let count = out.rows.len() - start;
            let sizes = out.rows[start..]
                .iter()
                .map(|i| bounds[*i as usize + 1] - bounds[*i as usize]);
            let below: usize = sizes.sum();
            out.entries += width * (width + 1) / 2 + width * below;
            out.values += width * width + width * below;
            out.updates += count * (count + 1) / 2;
            // Scalar column by scalar column, r entries below the pivot: r (r + 2) operations.
            out.flops += (0..width)
                .map(|k| width - 1 - k + below)
                .map(|r| r * (r + 2))
                .sum::<usize>();
        }
        out.bounds = bounds;
        Ok(out)
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
