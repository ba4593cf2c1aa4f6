//! The factor with blocks of one: where the blocks of a matrix are mostly zeros, one index per
//! entry is the leanest.
//!
//! The operations and their order are those of the kernels for blocks, so that a partial
//! refactorisation, which uses those, finds the same bits.

use super::kernels::pivot;
use super::{BlockFactor, BlockSymbolic};
use crate::{FactorReport, SparseError};

impl BlockFactor {
    /// See [`factor`](Self::factor): the column `l = a / d`, then `A_ik -= l_i d l_k` at the places
    /// planned for it.
    pub(super) fn factor_single(
        &mut self,
        symbolic: &BlockSymbolic,
        threshold: f64,
    ) -> Result<FactorReport, SparseError> {
        let mut report = FactorReport::default();
        let mut targets = symbolic.targets.as_slice();
        let mut first = 0;
        let ends = symbolic.starts[1..].iter();
        let diagonal = self.pivots.iter_mut().zip(&mut self.inverses);
        for (index, (end, (d, inverse))) in ends.zip(diagonal).enumerate() {
            let end = *end as usize;
            let (done, later) = self.values.split_at_mut(end);
            let [own, below @ ..] = &mut done[first..] else {
                break;
            };
            first = end;
            (*d, *inverse) = pivot(*own, threshold, &mut report).ok_or(SparseError::Pivot { index })?;
            for l in &mut *below {
                *l *= *inverse;
            }
            let mut below = &*below;
            while let [l, after @ ..] = below {
                let y = l * *d;
                let (own, others) = targets.split_at(below.len());
                targets = others;
                for (l, at) in below.iter().zip(own) {
                    later[*at as usize - end] -= y * l;
                }
                below = after;
            }
        }
        Ok(report)
    }

    /// See [`solve_in_place`](Self::solve_in_place), for one right-hand side.
    pub(super) fn solve_single(&self, symbolic: &BlockSymbolic, x: &mut [f64]) {
        let mut places = symbolic.places.as_slice();
        let columns = symbolic.starts.windows(2);
        for (j, bounds) in columns.enumerate() {
            let below = &self.values[bounds[0] as usize + 1..bounds[1] as usize];
            let (own, others) = places.split_at(below.len());
            places = others;
            let z = x[j];
            for (l, i) in below.iter().zip(own) {
                x[*i as usize] -= l * z;
            }
        }
        let mut places = symbolic.places.as_slice();
        let columns = symbolic.starts.windows(2).zip(&self.inverses);
        for (j, (bounds, inverse)) in columns.enumerate().rev() {
            let below = &self.values[bounds[0] as usize + 1..bounds[1] as usize];
            let (others, own) = places.split_at(places.len() - below.len());
            places = others;
            let mut z = x[j] * inverse;
            for (l, i) in below.iter().zip(own) {
                z -= l * x[*i as usize];
            }
            x[j] = z;
        }
    }
}
