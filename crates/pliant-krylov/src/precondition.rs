//! The simplest preconditioners, and what the others share.

use crate::operator::{check_lower, is_fixed};
use crate::{Preconditioner, check_size};
use pliant_solvers::{SolveError, Variable};
use pliant_sparse::CsrMatrix;

/// `M = I`: no preconditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    size: usize,
}

impl Identity {
    /// Of order `size`.
    pub fn new(size: usize) -> Self {
        Self { size }
    }
}

impl Preconditioner for Identity {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
    }
}

/// `M = diag(A)`. Cost `n`. Source: Jacobi 1845.
///
/// Among all diagonal `M` it is within a factor of the largest number of non-zeros in a row of the
/// least condition number for positive definite `A` (van der Sluis 1969), and it undoes any
/// diagonal scaling of `A`.
#[derive(Clone, Debug, Default)]
pub struct Jacobi {
    inverse: Vec<f64>,
}

impl Jacobi {
    /// The diagonal of a symmetric `A` given by its lower triangle; `fixed`, empty if nothing is,
    /// as in [`SymmetricOperator`](crate::SymmetricOperator).
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] at a diagonal that is not positive,
    /// [`SolveError::NotFinite`], [`SolveError::Size`].
    pub fn new(a: &CsrMatrix, fixed: &[bool]) -> Result<Self, SolveError> {
        let mut out = Self::default();
        out.update(a, fixed)?;
        Ok(out)
    }

    /// Takes new values. Allocates only if the size grew.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
        check_lower(a, fixed)?;
        self.inverse.clear();
        for i in 0..a.pattern().rows() {
            let diagonal = if is_fixed(fixed, i) { 1.0 } else { a.get(i, i) };
            self.inverse.push(1.0 / positive(i, diagonal)?);
        }
        Ok(())
    }

    /// From a diagonal.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_diagonal(diagonal: &[f64]) -> Result<Self, SolveError> {
        let inverse = diagonal
            .iter()
            .enumerate()
            .map(|(i, d)| Ok(1.0 / positive(i, *d)?));
        Ok(Self {
            inverse: inverse.collect::<Result<_, SolveError>>()?,
        })
    }
}

impl Preconditioner for Jacobi {
    fn size(&self) -> usize {
        self.inverse.len()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        for ((z, r), d) in z.iter_mut().zip(r).zip(&self.inverse) {
            *z = r * d;
        }
    }
}

/// The diagonal if it is positive and finite.
pub(crate) fn positive(dof: usize, diagonal: f64) -> Result<f64, SolveError> {
    if !diagonal.is_finite() {
        Err(SolveError::NotFinite {
            variable: Variable::Dof(dof),
        })
    } else if diagonal > 0.0 {
        Ok(diagonal)
    } else {
        Err(SolveError::NotPositiveDefinite { dof, diagonal })
    }
}

/// Copies `P A P + I - P` on the pattern of `A`, which must have its whole diagonal. Allocates only
/// for another pattern.
pub(crate) fn copy_masked(
    a: &CsrMatrix,
    fixed: &[bool],
    target: &mut Option<CsrMatrix>,
) -> Result<(), SolveError> {
    check_lower(a, fixed)?;
    let n = a.pattern().rows();
    if target.as_ref().is_none_or(|t| t.pattern() != a.pattern()) {
        let present = (0..n).filter(|i| a.pattern().slot(*i, *i).is_some()).count();
        check_size("diagonal of a symmetric matrix", n, present)?;
        *target = Some(a.clone());
    }
    let Some(target) = target else {
        return Err(SolveError::NotPrepared);
    };
    let values = target.values_mut();
    for i in 0..n {
        for (slot, k) in a.pattern().row_slots(i).zip(a.pattern().row(i)) {
            let k = *k as usize;
            values[slot] = if !is_fixed(fixed, i) && !is_fixed(fixed, k) {
                let value = a.values()[slot];
                if !value.is_finite() {
                    return Err(SolveError::NotFinite {
                        variable: Variable::Dof(i),
                    });
                }
                value
            } else if i == k {
                1.0
            } else {
                0.0
            };
        }
    }
    Ok(())
}

/// Solves `L y = x` in place for the lower triangle of `l`, its diagonal multiplied by `d`.
pub(crate) fn forward(l: &CsrMatrix, d: f64, x: &mut [f64]) {
    for i in 0..x.len() {
        let slots = l.pattern().row_slots(i);
        let last = slots.end - 1;
        let mut sum = x[i];
        for (k, a) in l.pattern().indices()[slots.start..last]
            .iter()
            .zip(&l.values()[slots.start..last])
        {
            sum -= a * x[*k as usize];
        }
        x[i] = sum / (d * l.values()[last]);
    }
}

/// Solves `L^T y = x` in place, as [`forward`].
pub(crate) fn backward(l: &CsrMatrix, d: f64, x: &mut [f64]) {
    for i in (0..x.len()).rev() {
        let slots = l.pattern().row_slots(i);
        let last = slots.end - 1;
        let xi = x[i] / (d * l.values()[last]);
        x[i] = xi;
        for (k, a) in l.pattern().indices()[slots.start..last]
            .iter()
            .zip(&l.values()[slots.start..last])
        {
            x[*k as usize] -= a * xi;
        }
    }
}
