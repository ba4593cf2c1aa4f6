//! What a column without a pivot depends on.

use super::{BlockFactor, BlockSymbolic, kernels};
use crate::Dependence;

impl BlockFactor {
    /// `z = L^-T e` for the unit vector of an unknown, without entries of less than a share
    /// `negligible` of the largest. As `A z = L D e`, that of an unknown whose pivot vanishes is a
    /// vector of the null space of `A`; of others that were dropped it has no part, as their
    /// columns of `L` are zero.
    ///
    /// Only unknowns that go before have entries, of the same subtree of the elimination tree, and
    /// most of these vanish where a part of the matrix is singular by itself. So blocks are
    /// visited only next to those with entries. Cost: `2 nnz` of the block columns that are, and a
    /// look at the pattern of those before.
    ///
    /// # Panics
    /// If there is no such unknown.
    pub fn dependence(
        &self,
        symbolic: &BlockSymbolic,
        unknown: usize,
        negligible: f64,
        out: &mut Dependence,
    ) {
        let pattern = &symbolic.pattern;
        out.begin(symbolic.size(), pattern.len());
        let Dependence {
            values,
            marks,
            blocks,
            entries,
            ..
        } = out;
        let last = symbolic.vertex[unknown] as usize;
        let mut largest = 1.0f64;
        for j in (0..=last).rev() {
            let own = pattern.unknowns(j);
            if j == last {
                self.depend_in_block(symbolic, unknown, values);
            } else if pattern.column(j).iter().any(|i| marks[*i as usize]) {
                let below = pattern.column_range(j);
                let (before, rest) = values.split_at_mut(own.end);
                kernels::backward(
                    &mut before[own.start..],
                    &self.inverses[own.clone()],
                    rest,
                    own.end,
                    self.column(symbolic, j),
                    &symbolic.heights[below.clone()],
                    &symbolic.places[below.clone()],
                );
            } else {
                continue;
            }
            largest = values[own.clone()].iter().fold(largest, |a, z| a.max(z.abs()));
            for z in &mut values[own.clone()] {
                if z.abs() <= negligible * largest {
                    *z = 0.0;
                }
            }
            marks[j] = values[own].iter().any(|z| *z != 0.0);
            if marks[j] {
                blocks.push(j as u32);
            }
        }
        for j in blocks.iter().map(|j| *j as usize) {
            marks[j] = false;
            for i in pattern.unknowns(j) {
                let z = std::mem::take(&mut values[i]);
                if z.abs() > negligible * largest {
                    entries.push((i as u32, z));
                }
            }
        }
    }

    /// The entries of `L^-T e` in the block of its unknown.
    fn depend_in_block(&self, symbolic: &BlockSymbolic, unknown: usize, values: &mut [f64]) {
        let j = symbolic.vertex[unknown] as usize;
        let (own, column) = (symbolic.pattern.unknowns(j), self.column(symbolic, j));
        let width = own.len();
        let z = &mut values[own.clone()];
        z[unknown - own.start] = 1.0;
        for k in (0..unknown - own.start).rev() {
            for r in k + 1..=unknown - own.start {
                z[k] -= column[k * width + r] * z[r];
            }
        }
    }
}
