//! Singular systems with a symmetric semidefinite matrix.

use nalgebra::{DMatrix, DVector};

/// The least-squares solution of minimum norm of `A x = b` for a symmetric positive semidefinite
/// `A`, by a Cholesky factorisation with pivots that ends where what is left is below `threshold`
/// times the largest entry of the diagonal. None if what is left is more than that off the
/// diagonal, or below zero by more: then `A` is not semidefinite.
///
/// **Equation.** `A = L L^T` with `r` columns, `L = Q R`, `x = Q (R R^T)^-1 Q^T b`, refined once.
/// Cost `n r^2` for the factor and `2 n r^2` for `Q R`, less than the
/// [eigenvalues](crate::dense_ldlt::minimum_norm) take.
pub fn minimum_norm(a: &DMatrix<f64>, b: &DVector<f64>, threshold: f64) -> Option<DVector<f64>> {
    let n = a.nrows();
    let mut left = a.clone();
    let cut = threshold * (0..n).fold(0.0f64, |m, i| m.max(a[(i, i)]));
    let mut factor = DMatrix::zeros(n, n);
    let mut taken = vec![false; n];
    let mut rank = 0;
    while rank < n {
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
            if rest().any(|k| rest().any(|i| left[(i, k)].abs() > 2.0 * cut)) {
                return None;
            }
            break;
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
        rank += 1;
    }
    if rank == 0 {
        return Some(DVector::zeros(n));
    }
    let (q, r) = factor.columns(0, rank).into_owned().qr().unpack();
    let solve = |b: &DVector<f64>| {
        let mut y = q.tr_mul(b);
        let solved = r.solve_upper_triangular_mut(&mut y) && r.tr_solve_upper_triangular_mut(&mut y);
        solved.then(|| &q * y)
    };
    let x = solve(b)?;
    let correction = solve(&(b - a * &x))?;
    Some(x + correction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let x = minimum_norm(&a, &rhs, 1e-11).unwrap();
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
        assert_eq!(minimum_norm(&swap, &b, 1e-11), None);
        let negative = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
        assert_eq!(minimum_norm(&negative, &b, 1e-11), None);
        let undefined = DMatrix::from_row_slice(2, 2, &[f64::NAN, 0.0, 0.0, 1.0]);
        assert_eq!(minimum_norm(&undefined, &b, 1e-11), None);
        // By hand: of all x + y = 2 the least.
        let ones = DMatrix::from_element(2, 2, 1.0);
        let x = minimum_norm(&ones, &DVector::from_vec(vec![2.0, 2.0]), 1e-11);
        assert!((x.unwrap() - DVector::from_vec(vec![1.0, 1.0])).norm() < 1e-15);
        let zero = DMatrix::zeros(2, 2);
        assert_eq!(minimum_norm(&zero, &b, 1e-11), Some(DVector::zeros(2)));
        assert_eq!(
            minimum_norm(&DMatrix::zeros(0, 0), &DVector::zeros(0), 1e-11),
            Some(DVector::zeros(0))
        );
    }
}
