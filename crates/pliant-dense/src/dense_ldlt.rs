//! Dense oracles: slow, simple answers that the sparse solvers are tested against.

use nalgebra::{DMatrix, DVector};

/// Why a dense factorisation stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DenseError {
    /// The pivot of this variable is zero or not finite.
    #[error("pivot {index} is {pivot:e}")]
    Pivot {
        /// Variable, from 0.
        index: usize,
        /// The offending pivot.
        pivot: f64,
    },
    /// A matrix is not of the size that was asked for.
    #[error("expected {expected} rows, found {found}")]
    Size {
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
}

/// The factors of `A = L D L^T` of a dense symmetric matrix, without pivoting (meant for
/// quasi-definite matrices).
#[derive(Clone, Debug)]
pub struct DenseLdlt {
    /// Unit lower triangle `L` below the diagonal, `D` on it.
    factors: DMatrix<f64>,
}

impl DenseLdlt {
    /// Factors a symmetric matrix; only the lower triangle is read. Cost `n^3 / 3`.
    ///
    /// # Errors
    /// [`DenseError::Size`] if the matrix is not square, [`DenseError::Pivot`] at a zero or
    /// non-finite pivot.
    pub fn new(matrix: &DMatrix<f64>) -> Result<Self, DenseError> {
        let n = matrix.nrows();
        if matrix.ncols() != n {
            return Err(DenseError::Size {
                expected: n,
                found: matrix.ncols(),
            });
        }
        let mut factors = matrix.clone();
        for j in 0..n {
            let pivot = factors[(j, j)]
                - (0..j)
                    .map(|k| factors[(j, k)].powi(2) * factors[(k, k)])
                    .sum::<f64>();
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(DenseError::Pivot { index: j, pivot });
            }
            factors[(j, j)] = pivot;
            for i in j + 1..n {
                let sum: f64 = (0..j)
                    .map(|k| factors[(i, k)] * factors[(j, k)] * factors[(k, k)])
                    .sum();
                factors[(i, j)] = (factors[(i, j)] - sum) / pivot;
            }
        }
        Ok(Self { factors })
    }

    /// Number of positive and of negative pivots.
    pub fn inertia(&self) -> (usize, usize) {
        let positive = self.factors.diagonal().iter().filter(|d| **d > 0.0).count();
        (positive, self.factors.nrows() - positive)
    }

    /// Solves `A x = b`. Cost `2 n^2`.
    ///
    /// # Errors
    /// [`DenseError::Size`] if `b` has the wrong length.
    pub fn solve(&self, b: &DVector<f64>) -> Result<DVector<f64>, DenseError> {
        let n = self.factors.nrows();
        if b.len() != n {
            return Err(DenseError::Size {
                expected: n,
                found: b.len(),
            });
        }
        let mut x = b.clone();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| self.factors[(i, k)] * x[k]).sum();
            x[i] -= sum;
        }
        for i in 0..n {
            x[i] /= self.factors[(i, i)];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| self.factors[(k, i)] * x[k]).sum();
            x[i] -= sum;
        }
        Ok(x)
    }
}

/// The least-squares solution of minimum norm of `A x = b` for a symmetric `A`, by eigenvalues;
/// those below `threshold` times the largest in size count as zero.
pub fn minimum_norm(a: &DMatrix<f64>, b: &DVector<f64>, threshold: f64) -> DVector<f64> {
    let mut x = DVector::zeros(a.nrows());
    let mut storage = crate::semidefinite::MinimumNorm::default();
    storage.by_eigenvalues(a.as_view(), b.as_slice(), threshold, x.as_mut_slice());
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_quasi_definite_system_and_counts_its_signs() {
        let a = DMatrix::from_row_slice(3, 3, &[4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, -1.0]);
        let b = DVector::from_vec(vec![1.0, -2.0, 0.3]);
        let f = DenseLdlt::new(&a).unwrap();
        assert_eq!(f.inertia(), (2, 1));
        // Oracle: LU with partial pivoting of another library.
        let x = a.clone().lu().solve(&b).unwrap();
        assert!((f.solve(&b).unwrap() - x).norm() < 1e-15);
        assert!(matches!(
            f.solve(&DVector::zeros(2)),
            Err(DenseError::Size { .. })
        ));
    }

    #[test]
    fn a_zero_pivot_is_named() {
        let a = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(
            DenseLdlt::new(&a).unwrap_err(),
            DenseError::Pivot { index: 1, pivot: 0.0 }
        );
        let x = minimum_norm(&a, &DVector::from_vec(vec![2.0, 2.0]), 1e-12);
        assert!((x - DVector::from_vec(vec![1.0, 1.0])).norm() < 1e-14);
    }
}
