//! Singular systems with a symmetric matrix, mostly a semidefinite one.

use crate::in_place;
use nalgebra::{DMatrixView, DMatrixViewMut, DVectorView, DVectorViewMut};

/// The least-squares solution of minimum norm of `A x = b` for a symmetric `A`, with storage that
/// grows only with a matrix that is larger than ever before.
///
/// ```
/// use nalgebra::DMatrix;
/// use pliant_dense::semidefinite::MinimumNorm;
/// // Of all x + y = 2 the least.
/// let ones = DMatrix::from_element(2, 2, 1.0);
/// let mut x = [0.0; 2];
/// MinimumNorm::default().solve(ones.as_view(), &[2.0, 2.0], 1e-11, &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MinimumNorm {
    /// Rest of the matrix beside the factor, or its eigenvalues.
    left: Vec<f64>,
    /// The factor with pivots, then the `R` of it, or eigenvectors.
    factor: Vec<f64>,
    q: Vec<f64>,
    diagonal: Vec<f64>,
    taken: Vec<bool>,
    /// In the columns of `Q`.
    y: Vec<f64>,
    rest: Vec<f64>,
    correction: Vec<f64>,
}

impl MinimumNorm {
    /// Solves by the [Cholesky factor](Self::semidefinite), and by
    /// [eigenvalues](Self::by_eigenvalues) where `A` is not semidefinite.
    ///
    /// # Panics
    /// If sizes differ.
    pub fn solve(&mut self, a: DMatrixView<'_, f64>, b: &[f64], threshold: f64, x: &mut [f64]) {
        if !self.semidefinite(a, b, threshold, x) {
            self.by_eigenvalues(a, b, threshold, x);
        }
    }

    /// Solves for a positive semidefinite `A`, by a Cholesky factorisation with pivots that ends
    /// where what is left is below `threshold` times the largest entry of the diagonal. False if
    /// what is left is more than that off the diagonal, or below zero by more: then `A` is not
    /// semidefinite, and `x` undefined.
    ///
    /// **Equation.** `A = L L^T` with `r` columns, `L = Q R`, `x = Q (R R^T)^-1 Q^T b`, refined
    /// once. Cost `n r^2` for the factor and `4 n r^2` for `Q R`, less than the
    /// [eigenvalues](Self::by_eigenvalues) take.
    ///
    /// # Panics
    /// If sizes differ.
    #[must_use]
    pub fn semidefinite(
        &mut self,
        a: DMatrixView<'_, f64>,
        b: &[f64],
        threshold: f64,
        x: &mut [f64],
    ) -> bool {
        let n = a.nrows();
        let Some(rank) = self.factor(a, threshold) else {
            return false;
        };
        if rank == 0 {
            x.fill(0.0);
            return true;
        }
        refill(&mut self.q, n * rank);
        refill(&mut self.diagonal, rank);
        refill(&mut self.y, rank);
        refill(&mut self.correction, n);
        self.rest.clear();
        self.rest.extend_from_slice(b);
        let mut factor = DMatrixViewMut::from_slice(&mut self.factor, n, rank);
        let mut q = DMatrixViewMut::from_slice(&mut self.q, n, rank);
        if !in_place::householder(&mut factor, &mut q, &mut self.diagonal) {
            return false;
        }
        let r = factor.rows(0, rank);
        let b = DVectorView::from_slice(b, n);
        let mut x = DVectorViewMut::from_slice(x, n);
        let mut y = DVectorViewMut::from_slice(&mut self.y, rank);
        let mut rest = DVectorViewMut::from_slice(&mut self.rest, n);
        let mut correction = DVectorViewMut::from_slice(&mut self.correction, n);
        for before in [0.0, 1.0] {
            if before > 0.0 {
                a.mul_to(&x, &mut rest);
                rest.zip_apply(&b, |r, b| *r = b - *r);
            }
            q.tr_mul_to(&rest, &mut y);
            if !r.solve_upper_triangular_mut(&mut y) || !r.tr_solve_upper_triangular_mut(&mut y) {
                return false;
            }
            q.mul_to(&y, &mut correction);
            x.axpy(1.0, &correction, before);
        }
        true
    }

    /// Factors `A = L L^T` with pivots into the first columns of `factor`, and says how many these
    /// are; none if `A` is not semidefinite.
    fn factor(&mut self, a: DMatrixView<'_, f64>, threshold: f64) -> Option<usize> {
        let n = a.nrows();
        let cut = threshold * (0..n).fold(0.0f64, |m, i| m.max(a[(i, i)]));
        self.left.clear();
        self.left.extend(a.iter());
        refill(&mut self.factor, n * n);
        self.taken.clear();
        self.taken.resize(n, false);
        let mut left = DMatrixViewMut::from_slice(&mut self.left, n, n);
        let mut factor = DMatrixViewMut::from_slice(&mut self.factor, n, n);
        let taken = &mut self.taken;
        for rank in 0..n {
            let mut rest = (0..n).filter(|i| !taken[*i]);
            let first = rest.next()?;
            let pivot = rest.fold(first, |p, i| if left[(i, i)] > left[(p, p)] { i } else { p });
            let d = left[(pivot, pivot)];
            if !d.is_finite() {
                return None;
            }
            if d <= cut {
                let rest = || (0..n).filter(|i| !taken[*i]);
                // Of a semidefinite matrix an entry is at most the mean of those on the diagonal.
                let large = rest().any(|k| rest().any(|i| left[(i, k)].abs() > 2.0 * cut));
                return (!large).then_some(rank);
            }
            let root = d.sqrt();
            taken[pivot] = true;
            for i in (0..n).filter(|i| !taken[*i]) {
                factor[(i, rank)] = left[(i, pivot)] / root;
            }
            factor[(pivot, rank)] = root;
            let column = factor.column(rank);
            for k in (0..n).filter(|k| !taken[*k]) {
                left.column_mut(k).axpy(-column[k], &column, 1.0);
            }
        }
        Some(n)
    }

    /// Solves by eigenvalues; those below `threshold` times the largest in size count as zero. Cost
    /// about `9 n^3`.
    ///
    /// # Panics
    /// If sizes differ.
    pub fn by_eigenvalues(&mut self, a: DMatrixView<'_, f64>, b: &[f64], threshold: f64, x: &mut [f64]) {
        let n = a.nrows();
        let (d, v) = (&mut self.left, &mut self.factor);
        d.clear();
        d.extend(a.iter());
        refill(v, n * n);
        // Accurate to rounding of the largest eigenvalue. (A general singular value iteration
        // stopped at 1e-7 here.)
        crate::eigen::solve_minimum_norm(n, d, v, b, threshold, x);
    }
}

/// Makes storage that many zeros.
fn refill(storage: &mut Vec<f64>, len: usize) {
    storage.clear();
    storage.resize(len, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// The answer for a semidefinite matrix, by storage that was used for a larger one.
    fn minimum_norm(a: &DMatrix<f64>, b: &DVector<f64>) -> Option<DVector<f64>> {
        let mut storage = MinimumNorm::default();
        let large = DMatrix::from_fn(11, 11, |i, k| 1.0 + (i * k) as f64);
        storage.solve(large.as_view(), &[1.0; 11], 1e-11, &mut [0.0; 11]);
        let mut x = DVector::from_element(b.len(), f64::NAN);
        let found = storage.semidefinite(a.as_view(), b.as_slice(), 1e-11, x.as_mut_slice());
        found.then_some(x)
    }

    proptest! {
        /// `A = B B^T`, some of whose columns are combinations of others, by scales of six decades:
        /// the answer of the eigenvalues.
        #[test]
        fn gives_the_answer_of_the_eigenvalues(
            (n, entries, rank, scales) in (1usize..9).prop_flat_map(|n| (
                Just(n),
                prop::collection::vec(-1.0f64..1.0, n * n),
                0..=n,
                prop::collection::vec(-1.5f64..1.5, n),
            )),
            rhs in prop::collection::vec(-1.0f64..1.0, 9),
        ) {
            let mut b = DMatrix::from_vec(n, n, entries);
            for k in rank..n {
                b.column_mut(k).fill(0.0);
            }
            for (i, s) in scales.iter().enumerate() {
                b.row_mut(i).scale_mut(10f64.powf(*s));
            }
            let a = &b * b.transpose();
            let values = a.clone().symmetric_eigen().eigenvalues;
            let largest = values.amax();
            // Where the ranks are told apart by a wide margin.
            prop_assume!(values.iter().all(|x| x.abs() < 1e-13 * largest || *x > 1e-7 * largest));
            let rhs = DVector::from_fn(n, |i, _| rhs[i]);
            let x = minimum_norm(&a, &rhs).unwrap();
            let expected = crate::dense_ldlt::minimum_norm(&a, &rhs, 1e-11);
            // The condition is at most 1e7, and enters squared where the right-hand side is out of
            // range.
            prop_assert!((&x - &expected).norm() <= 1e-7 * expected.norm(), "{} {}", x, expected);
        }
    }

    #[test]
    fn tells_what_is_not_semidefinite() {
        let b = DVector::from_vec(vec![1.0, 1.0]);
        let swap = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(minimum_norm(&swap, &b), None);
        let negative = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
        assert_eq!(minimum_norm(&negative, &b), None);
        let undefined = DMatrix::from_row_slice(2, 2, &[f64::NAN, 0.0, 0.0, 1.0]);
        assert_eq!(minimum_norm(&undefined, &b), None);
        // By hand: of all x + y = 2 the least.
        let ones = DMatrix::from_element(2, 2, 1.0);
        let x = minimum_norm(&ones, &DVector::from_vec(vec![2.0, 2.0]));
        assert!((x.unwrap() - DVector::from_vec(vec![1.0, 1.0])).norm() < 1e-15);
        let zero = DMatrix::zeros(2, 2);
        assert_eq!(minimum_norm(&zero, &b), Some(DVector::zeros(2)));
        assert_eq!(
            minimum_norm(&DMatrix::zeros(0, 0), &DVector::zeros(0)),
            Some(DVector::zeros(0))
        );
    }
}
