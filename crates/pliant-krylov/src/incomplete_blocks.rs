//! Incomplete Cholesky factors by blocks.

use crate::Preconditioner;
use pliant_solvers::{SolveError, Variable};
use pliant_sparse::{Pattern, SymmetricBlockMatrix};

/// IC(0) by blocks: `M = L L^T` with `L` on the block pattern of the lower triangle of `A`, so that
///
/// ```math
/// (L L^T)_ij = A_ij   for the blocks below the diagonal that A has,   (L L^T)_ii = (1 + shift) A_ii
/// ```
///
/// Differs from [`IncompleteCholesky`](crate::IncompleteCholesky) in that couplings within a block
/// are exact and that a factorisation and an application read one index per `B^2` numbers. The
/// shift grows from zero as there until every pivot is safely positive; [`Self::shift`] says what
/// it took.
///
/// Cost: `2 B^3` operations for every pair of blocks of two coupled rows that meet, per
/// factorisation and attempt; an application is as dear as a product with `A`. Source: Axelsson
/// 1994, Iterative Solution Methods, section 7; shift: Manteuffel 1980.
#[derive(Clone, Debug)]
pub struct BlockIncompleteCholesky<const B: usize> {
    /// The pattern of the blocks of `A`.
    blocks: Pattern,
    /// Blocks of `L` below the diagonal; inverses of those on it.
    values: Vec<[[f64; B]; B]>,
    /// Slot of the row at hand for every block column.
    slot_of: Vec<u32>,
    shift: f64,
}

/// The first shift that is tried, and how often it is doubled: far beyond diagonal dominance.
const FIRST_SHIFT: f64 = 1e-3;
const ATTEMPTS: usize = 60;
/// Share of the diagonal below which a pivot is not trusted.
const SMALL_PIVOT: f64 = 1e-10;
const NONE: u32 = u32::MAX;

impl<const B: usize> BlockIncompleteCholesky<B> {
    /// Factors a matrix.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] at a diagonal that is not positive, or if no shift
    /// helped; [`SolveError::NotFinite`].
    pub fn new(a: &SymmetricBlockMatrix<B>) -> Result<Self, SolveError> {
        let mut out = Self {
            blocks: a.blocks().clone(),
            values: vec![[[0.0; B]; B]; a.blocks().len()],
            slot_of: vec![NONE; a.blocks().rows()],
            shift: 0.0,
        };
        out.update(a)?;
        Ok(out)
    }

    /// Factors new values on the same pattern. Allocates nothing.
    ///
    /// # Errors
    /// As [`Self::new`], and [`SolveError::Size`] if the pattern is another one.
    pub fn update(&mut self, a: &SymmetricBlockMatrix<B>) -> Result<(), SolveError> {
        if self.blocks != *a.blocks() {
            let (expected, found) = (self.blocks.len(), a.blocks().len());
            return Err(SolveError::Size {
                what: "blocks of the pattern analysed",
                expected,
                found,
            });
        }
        for i in 0..self.blocks.rows() {
            let own = self.blocks.row_slots(i);
            let row = &a.values()[own.clone()];
            if let Some(r) = (0..B).find(|r| row.iter().any(|b| b[*r].iter().any(|v| !v.is_finite()))) {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i * B + r),
                });
            }
            for r in 0..B {
                crate::precondition::positive(i * B + r, a.values()[own.end - 1][r][r])?;
            }
        }
        self.shift = 0.0;
        let mut failed = 0;
        for _ in 0..ATTEMPTS {
            match self.attempt(a) {
                None => return Ok(()),
                Some(dof) => failed = dof,
            }
            self.shift = (2.0 * self.shift).max(FIRST_SHIFT);
        }
        let diagonal = a.values()[self.blocks.row_slots(failed / B).end - 1][failed % B][failed % B];
        Err(SolveError::NotPositiveDefinite {
            dof: failed,
            diagonal,
        })
    }

    /// The diagonal was multiplied by one plus this.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Factors with the shift as it is; returns the first variable whose pivot is too small.
    fn attempt(&mut self, a: &SymmetricBlockMatrix<B>) -> Option<usize> {
        let Self {
            blocks,
            values,
            slot_of,
            shift,
        } = self;
        for i in 0..blocks.rows() {
            let own = blocks.row_slots(i);
            let (first, last) = (own.start, own.end - 1);
            let (done, rest) = values.split_at_mut(first);
            let (row, pivot) = rest.split_at_mut(last - first);
            let columns = &blocks.indices()[first..last];
            for (at, k) in columns.iter().enumerate() {
                slot_of[*k as usize] = at as u32;
            }
            let mut square = a.values()[last];
            square
                .as_flattened_mut()
                .iter_mut()
                .for_each(|v| *v *= 1.0 + *shift);
            for (at, j) in columns.iter().enumerate() {
                let other = blocks.row_slots(*j as usize);
                let (from, to) = (other.start, other.end - 1);
                let mut block = a.values()[first + at];
                for (k, l) in blocks.indices()[from..to].iter().zip(&done[from..to]) {
                    let met = slot_of[*k as usize];
                    if met != NONE {
                        subtract_product(&mut block, &row[met as usize], l);
                    }
                }
                row[at] = times_transpose(&block, &done[to]);
                let own = row[at];
                subtract_product(&mut square, &own, &own);
            }
            for k in columns {
                slot_of[*k as usize] = NONE;
            }
            let diagonal = &a.values()[last];
            match inverse_factor(&square, |r| SMALL_PIVOT * diagonal[r][r]) {
                Ok(inverse) => pivot[0] = inverse,
                Err(r) => return Some(i * B + r),
            }
        }
        None
    }
}

/// `a -= b c^T`.
#[inline]
fn subtract_product<const B: usize>(a: &mut [[f64; B]; B], b: &[[f64; B]; B], c: &[[f64; B]; B]) {
    for r in 0..B {
        for s in 0..B {
            for k in 0..B {
                a[r][s] -= b[r][k] * c[s][k];
            }
        }
    }
}

/// `b c^T`.
#[inline]
fn times_transpose<const B: usize>(b: &[[f64; B]; B], c: &[[f64; B]; B]) -> [[f64; B]; B] {
    let mut a = [[0.0; B]; B];
    for r in 0..B {
        for s in 0..B {
            for k in 0..B {
                a[r][s] += b[r][k] * c[s][k];
            }
        }
    }
    a
}

/// The inverse of the Cholesky factor (lower triangle), or the row whose pivot is not above its
/// limit.
fn inverse_factor<const B: usize>(
    a: &[[f64; B]; B],
    limit: impl Fn(usize) -> f64,
) -> Result<[[f64; B]; B], usize> {
    let mut l = [[0.0; B]; B];
    for i in 0..B {
        for k in 0..=i {
            let sum: f64 = (0..k).map(|p| l[i][p] * l[k][p]).sum();
            let value = a[i][k] - sum;
            if k < i {
                l[i][k] = value / l[k][k];
            } else if value > limit(i) {
                l[i][i] = value.sqrt();
            } else {
                return Err(i); // NaN too.
            }
        }
    }
    let mut inverse = [[0.0; B]; B];
    for k in 0..B {
        inverse[k][k] = 1.0 / l[k][k];
        for i in k + 1..B {
            let sum: f64 = (k..i).map(|p| l[i][p] * inverse[p][k]).sum();
            inverse[i][k] = -sum / l[i][i];
        }
    }
    Ok(inverse)
}

impl<const B: usize> Preconditioner for BlockIncompleteCholesky<B> {
    fn size(&self) -> usize {
        self.blocks.rows() * B
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let z = z.as_chunks_mut::<B>().0;
        let offsets = self.blocks.offsets();
        for (i, bounds) in offsets.windows(2).enumerate() {
            let own = bounds[0] as usize..bounds[1] as usize;
            let (columns, blocks) = (&self.blocks.indices()[own.clone()], &self.values[own]);
            let Some((inverse, blocks)) = blocks.split_last() else {
                continue;
            };
            // One sum per column: shorter chains of additions.
            let mut sums = [[0.0; B]; B];
            for (j, l) in columns.iter().zip(blocks) {
                let zj = z[*j as usize];
                for r in 0..B {
                    for c in 0..B {
                        sums[r][c] += l[r][c] * zj[c];
                    }
                }
            }
            let mut sum = z[i];
            for r in 0..B {
                sum[r] -= sums[r].iter().sum::<f64>();
            }
            let mut out = [0.0; B];
            for r in 0..B {
                for c in 0..=r {
                    out[r] += inverse[r][c] * sum[c];
                }
            }
            z[i] = out;
        }
        for i in (0..self.blocks.rows()).rev() {
            let own = self.blocks.row_slots(i);
            let (columns, blocks) = (&self.blocks.indices()[own.clone()], &self.values[own]);
            let Some((inverse, blocks)) = blocks.split_last() else {
                continue;
            };
            let mut out = [0.0; B];
            for r in 0..B {
                for c in 0..=r {
                    out[c] += inverse[r][c] * z[i][r];
                }
            }
            z[i] = out;
            for (j, l) in columns.iter().zip(blocks) {
                let mut zj = z[*j as usize];
                for r in 0..B {
                    for c in 0..B {
                        zj[c] -= l[r][c] * out[r];
                    }
                }
                z[*j as usize] = zj;
            }
        }
    }
}
