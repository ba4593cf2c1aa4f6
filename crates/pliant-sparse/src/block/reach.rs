//! Quadratic forms of the inverse on few entries: half a solve, and only where it is felt.

use super::{BlockFactor, BlockSymbolic, kernels};

/// Scratch of [`BlockFactor::add_gram`]; kept, so that only the first call and larger ones
/// allocate.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Vectors of the order of the matrix, one after another; zero between calls.
    values: Vec<f64>,
    /// Whether a block column is in `columns`.
    seen: Vec<bool>,
    columns: Vec<u32>,
}

impl Reach {
    /// Block columns that the last call worked on.
    pub fn visited(&self) -> usize {
        self.columns.len()
    }
}

impl BlockFactor {
    /// `out += B^T A^-1 B` for `count` sparse vectors `B`, given by their entries
    /// `(vector, unknown, value)`; `out` is `count x count`.
    ///
    /// With `Y = L^-1 B` that is `Y^T D^-1 Y`: no backward substitution, and a forward one only in
    /// the block columns with an entry and their ancestors in the elimination tree (Gilbert,
    /// Predicting structure in sparse matrix computations, SIAM J. Matrix Anal. Appl. 15 (1994)).
    /// Cost: `2 nnz` of these columns of `L` per vector. Dropped variables count as zero.
    ///
    /// # Panics
    /// If an entry is outside, or `out` shorter than `count^2`.
    pub fn add_gram(
        &self,
        symbolic: &BlockSymbolic,
        count: usize,
        entries: &[(usize, usize, f64)],
        reach: &mut Reach,
        out: &mut [f64],
    ) {
        let n = symbolic.size();
        let pattern = &symbolic.pattern;
        if n == 0 {
            assert!(entries.is_empty(), "entries of an empty matrix");
            return;
        }
        if reach.values.len() < n * count {
            reach.values.resize(n * count, 0.0);
        }
        if reach.seen.len() < pattern.len() {
            reach.seen.resize(pattern.len(), false);
        }
        reach.columns.clear();
        for (vector, unknown, value) in entries {
            assert!(*vector < count && *unknown < n, "entry ({vector}, {unknown})");
            reach.values[vector * n + unknown] += value;
            let mut up = Some(symbolic.vertex[*unknown]);
            while let Some(j) = up.filter(|j| !reach.seen[*j as usize]) {
                reach.seen[j as usize] = true;
                reach.columns.push(j);
                up = pattern.column(j as usize).first().copied();
            }
        }
        reach.columns.sort_unstable();
        for j in reach.columns.iter().map(|j| *j as usize) {
            let below = pattern.column_range(j);
            let own = pattern.unknowns(j);
            for x in reach.values.chunks_exact_mut(n).take(count) {
                let (before, rest) = x.split_at_mut(own.end);
                kernels::forward(
                    &mut before[own.start..],
                    rest,
                    own.end,
                    self.column(symbolic, j),
                    &symbolic.heights[below.clone()],
                    &symbolic.places[below.clone()],
                );
            }
            for i in own {
                for a in 0..count {
                    let y = self.inverses[i] * reach.values[a * n + i];
                    for b in 0..count {
                        out[a * count + b] += y * reach.values[b * n + i];
                    }
                }
            }
        }
        for j in &reach.columns {
            reach.seen[*j as usize] = false;
            let own = pattern.unknowns(*j as usize);
            for x in reach.values.chunks_exact_mut(n).take(count) {
                x[own.clone()].fill(0.0);
            }
        }
    }
}
