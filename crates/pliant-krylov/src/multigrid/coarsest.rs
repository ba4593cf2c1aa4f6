//! The coarsest level, by a dense factor.

use super::level::{Block, Floor, Lower};

/// A dense Cholesky factor of a positive semidefinite matrix.
///
/// Unknowns whose pivot is zero within rounding are passed over: they come out as zero. Cost:
/// `n^3/3` per factorisation, `2 n^2` per solve.
#[derive(Debug, Default)]
pub(super) struct Coarsest {
    n: usize,
    /// Rows of the lower triangle, each of n numbers.
    l: Vec<f64>,
    /// Reciprocals of the pivots; zero for those passed over.
    reciprocals: Vec<f64>,
    pub(super) passed: usize,
}

impl Coarsest {
    pub(super) fn new(n: usize) -> Self {
        Self {
            n,
            l: vec![0.0; n * n],
            reciprocals: vec![0.0; n],
            passed: 0,
        }
    }

    /// Factors; the first unknown with a negative pivot, if there is one.
    #[inline(always)]
    pub(super) fn factor<const B: usize>(
        &mut self,
        a: Lower<'_, B>,
        sizes: &[[f64; B]],
        floor: Floor,
    ) -> Option<usize> {
        let Self {
            n,
            l,
            reciprocals,
            passed,
        } = self;
        let n = *n;
        *passed = 0;
        l.fill(0.0);
        for i in 0..a.rows() {
            let (columns, blocks, diagonal) = a.row(i);
            let index = i as u32;
            let all = columns.iter().zip(blocks).chain([(&index, diagonal)]);
            for (j, block) in all {
                for r in 0..B {
                    let first = (i * B + r) * n + *j as usize * B;
                    l[first..first + B].copy_from_slice(&block[r]);
                }
            }
        }
        let sizes = sizes.as_flattened();
        for i in 0..n {
            let (done, rest) = l.split_at_mut(i * n);
            let own = &mut rest[..n];
            for k in 0..i {
                let other = &done[k * n..k * n + k];
                own[k] = (own[k] - crate::dot(&own[..k], other)) * reciprocals[k];
            }
            let pivot = own[i] - crate::dot(&own[..i], &own[..i]);
            if pivot > floor.share * sizes[i] {
                own[i] = pivot.sqrt();
                reciprocals[i] = 1.0 / own[i];
            } else if floor.passes && pivot >= -floor.share * sizes[i] {
                own[..=i].fill(0.0);
                reciprocals[i] = 0.0;
                *passed += 1;
            } else {
                return Some(i);
            }
        }
        None
    }

    /// `x = A^-1 b`.
    #[inline(always)]
    pub(super) fn solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.n;
        x.copy_from_slice(b);
        for i in 0..n {
            let row = &self.l[i * n..i * n + i];
            x[i] = (x[i] - crate::dot(row, &x[..i])) * self.reciprocals[i];
        }
        for i in (0..n).rev() {
            x[i] *= self.reciprocals[i];
            let (xi, row) = (x[i], &self.l[i * n..i * n + i]);
            crate::axpy(-xi, row, &mut x[..i]);
        }
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.l.len() + self.reciprocals.len())
    }
}

/// `sum_r P_rc^2 size_r` of every coarse unknown: what its diagonal would be without cancellation.
#[inline(always)]
pub(super) fn carry_sizes<const B: usize, const K: usize>(
    transfer: &super::transfer::Transfer<B, K>,
    fine: &[[f64; B]],
    coarse: &mut [[f64; K]],
) {
    coarse.fill([0.0; K]);
    for (i, sizes) in fine.iter().enumerate() {
        for slot in transfer.pattern.row_slots(i) {
            let target = &mut coarse[transfer.pattern.indices()[slot] as usize];
            let p: &Block<B, K> = &transfer.values[slot];
            for r in 0..B {
                for c in 0..K {
                    target[c] += p[r][c] * p[r][c] * sizes[r];
                }
            }
        }
    }
}
