//! Block Jacobi.

use crate::operator::{check_lower, is_fixed};
use crate::precondition::positive;
use crate::{Preconditioner, check_size};
use pliant_solvers::{SolveError, Variable};
use pliant_sparse::CsrMatrix;

/// `M`: the diagonal blocks of a symmetric `A`, each by a dense Cholesky factor.
///
/// Undoes any scaling and any coupling within a block: masses and inertias of bodies, whose units
/// differ. Cost: `k^3/3` per block of order k to factor, `2 k^2` to apply. Differs from
/// [`Jacobi`](crate::Jacobi) in the couplings within a block.
#[derive(Clone, Debug, Default)]
pub struct BlockJacobi {
    boundaries: Vec<usize>,
    /// Rows of the lower triangles, block after block.
    factors: Vec<f64>,
    starts: Vec<usize>,
    replaced: usize,
}

impl BlockJacobi {
    /// From the lower triangle of `A` and the boundaries of its blocks, ascending, from 0 to n
    /// ([`KktSystem::primal_blocks`](pliant_solvers::KktSystem::primal_blocks)); `fixed`, empty if
    /// nothing is, as in [`SymmetricOperator`](crate::SymmetricOperator).
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] at a block that is not positive definite,
    /// [`SolveError::NotFinite`], [`SolveError::Size`].
    pub fn new(a: &CsrMatrix, fixed: &[bool], boundaries: &[usize]) -> Result<Self, SolveError> {
        let mut out = Self::default();
        out.update(a, fixed, boundaries)?;
        Ok(out)
    }

    /// Takes new values. Allocates only if the blocks grew.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool], boundaries: &[usize]) -> Result<(), SolveError> {
        self.factor(a, fixed, boundaries, false)
    }

    /// As [`Self::update`], but a block that is not positive definite is replaced by the magnitudes
    /// of its diagonal, so that `M` is positive definite for any `A` without a zero on its
    /// diagonal. [`Self::replaced`] counts them.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] at a zero on the diagonal, [`SolveError::NotFinite`],
    /// [`SolveError::Size`].
    pub fn update_absolute(
        &mut self,
        a: &CsrMatrix,
        fixed: &[bool],
        boundaries: &[usize],
    ) -> Result<(), SolveError> {
        self.factor(a, fixed, boundaries, true)
    }

    /// Blocks that were replaced by the magnitudes of their diagonal.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    fn factor(
        &mut self,
        a: &CsrMatrix,
        fixed: &[bool],
        boundaries: &[usize],
        absolute: bool,
    ) -> Result<(), SolveError> {
        check_lower(a, fixed)?;
        let n = a.pattern().rows();
        let ascending = boundaries.windows(2).all(|w| w[0] < w[1]);
        let fits = boundaries.first() == Some(&0) && ascending;
        let last = boundaries.last().copied().filter(|_| fits);
        check_size("blocks", n, last.unwrap_or(usize::MAX))?;
        self.boundaries.clear();
        self.boundaries.extend_from_slice(boundaries);
        self.starts.clear();
        self.factors.clear();
        self.replaced = 0;
        for block in boundaries.windows(2) {
            let (first, order) = (block[0], block[1] - block[0]);
            let start = self.factors.len();
            self.starts.push(start);
            self.factors.resize(start + order * order, 0.0);
            let l = &mut self.factors[start..];
            l.fill(0.0);
            for i in 0..order {
                let dof = first + i;
                if is_fixed(fixed, dof) {
                    l[i * order + i] = 1.0;
                    continue;
                }
                let slots = a.pattern().row_slots(dof);
                for (k, value) in a.pattern().row(dof).iter().zip(&a.values()[slots]) {
                    let k = *k as usize;
                    if k < first || is_fixed(fixed, k) {
                        continue;
                    }
                    if !value.is_finite() {
                        return Err(SolveError::NotFinite {
                            variable: Variable::Dof(dof),
                        });
                    }
                    l[i * order + k - first] = *value;
                }
            }
            if let Some(failed) = cholesky(l, order) {
                let dof = first + failed;
                if !absolute {
                    return Err(SolveError::NotPositiveDefinite {
                        dof,
                        diagonal: a.get(dof, dof),
                    });
                }
                self.replaced += 1;
                l.fill(0.0);
                for i in 0..order {
                    let free = !is_fixed(fixed, first + i);
                    let diagonal = if free {
                        a.get(first + i, first + i).abs()
                    } else {
                        1.0
                    };
                    l[i * order + i] = positive(first + i, diagonal)?.sqrt();
                }
            }
        }
        Ok(())
    }

    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.starts.len()
    }

    /// The variables of a block.
    pub(crate) fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.boundaries[block]..self.boundaries[block + 1]
    }

    /// `z = M^-1 z` for the variables of one block.
    pub(crate) fn solve_block(&self, block: usize, z: &mut [f64]) {
        let order = z.len();
        let l = &self.factors[self.starts[block]..];
        for i in 0..order {
            for k in 0..i {
                z[i] -= l[i * order + k] * z[k];
            }
            z[i] /= l[i * order + i];
        }
        for i in (0..order).rev() {
            z[i] /= l[i * order + i];
            for k in 0..i {
                z[k] -= l[i * order + k] * z[i];
            }
        }
    }
}

impl Preconditioner for BlockJacobi {
    fn size(&self) -> usize {
        self.boundaries.last().copied().unwrap_or(0)
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        for block in 0..self.blocks() {
            self.solve_block(block, &mut z[self.range(block)]);
        }
    }
}

/// Replaces a lower triangle (rows of length `order`) by its Cholesky factor; returns the row of a
/// pivot that is not positive beyond rounding.
fn cholesky(l: &mut [f64], order: usize) -> Option<usize> {
    for i in 0..order {
        for k in 0..=i {
            let sum: f64 = (0..k).map(|p| l[i * order + p] * l[k * order + p]).sum();
            let value = l[i * order + k] - sum;
            if k < i {
                l[i * order + k] = value / l[k * order + k];
            } else if value > order as f64 * f64::EPSILON * l[i * order + i] {
                l[i * order + i] = value.sqrt();
            } else {
                return Some(i);
            }
        }
    }
    None
}
