//! Symmetric successive over-relaxation.

use crate::Preconditioner;
use crate::precondition::{backward, copy_masked, forward, positive};
use pliant_solvers::SolveError;
use pliant_sparse::CsrMatrix;

/// With `A = L + D + L^T` and the relaxation `w` in (0, 2), positive definite if `D` is:
///
/// ```math
/// M = (D/w + L) (w/(2 - w) D^-1) (D/w + L)^T
/// ```
///
/// A forward and a backward Gauss-Seidel sweep. No factorisation and no fill; for model problems
/// and the best `w` the condition number of `M^-1 A` is the square root of that of `A` (Axelsson
/// 1972). At `w = 1` within a factor of that, without anything to choose.
///
/// Cost of an application: `4 nnz + 2 n`. Source: Young 1971; Axelsson 1972.
#[derive(Clone, Debug, Default)]
pub struct Ssor {
    matrix: Option<CsrMatrix>,
    relaxation: f64,
}

impl Ssor {
    /// From the lower triangle of a symmetric `A`; `fixed`, empty if nothing is, as in
    /// [`SymmetricOperator`](crate::SymmetricOperator).
    ///
    /// # Errors
    /// [`SolveError::Parameter`] if `relaxation` is outside (0, 2),
    /// [`SolveError::NotPositiveDefinite`] at a diagonal that is not positive,
    /// [`SolveError::NotFinite`], [`SolveError::Size`].
    pub fn new(a: &CsrMatrix, fixed: &[bool], relaxation: f64) -> Result<Self, SolveError> {
        if relaxation.is_nan() || relaxation <= 0.0 || relaxation >= 2.0 {
            return Err(SolveError::Parameter {
                what: "relaxation",
                value: relaxation,
            });
        }
        let mut out = Self {
            matrix: None,
            relaxation,
        };
        out.update(a, fixed)?;
        Ok(out)
    }

    /// Takes new values. Allocates only for another pattern.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
        copy_masked(a, fixed, &mut self.matrix)?;
        if let Some(matrix) = &self.matrix {
            for i in 0..matrix.pattern().rows() {
                positive(i, matrix.get(i, i))?;
            }
        }
        Ok(())
    }
}

impl Preconditioner for Ssor {
    fn size(&self) -> usize {
        self.matrix.as_ref().map_or(0, |m| m.pattern().rows())
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let Some(a) = &self.matrix else { return };
        let w = self.relaxation;
        forward(a, 1.0 / w, z);
        for (i, z) in z.iter_mut().enumerate() {
            // The diagonal is the last entry of a row of a lower triangle.
            *z *= (2.0 - w) / w * a.values()[a.pattern().row_slots(i).end - 1];
        }
        backward(a, 1.0 / w, z);
    }
}
