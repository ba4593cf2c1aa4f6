//! Dense factorisations in storage of the caller: they allocate nothing.

use nalgebra::{DMatrixView, DMatrixViewMut, DVectorViewMut, Dim, Dyn, Matrix, Reflection, StorageMut, Unit};

/// Factors a symmetric positive definite matrix in place; only the lower triangle is read, and
/// becomes that of `L`. False at a pivot that is not positive.
///
/// **Equation.** `A = L L^T`, column by column. Cost `n^3 / 3`.
///
/// # Panics
/// If the matrix is not square.
#[must_use]
pub fn cholesky(a: &mut DMatrixViewMut<'_, f64>) -> bool {
    assert!(a.is_square(), "a matrix that is not square");
    for j in 0..a.ncols() {
        for k in 0..j {
            let factor = -a[(j, k)];
            let (mut left, right) = a.columns_range_pair_mut(j, k);
            left.rows_range_mut(j..).axpy(factor, &right.rows_range(j..), 1.0);
        }
        let pivot = a[(j, j)];
        if pivot > 0.0 {
            let root = pivot.sqrt();
            a[(j, j)] = root;
            a.view_range_mut(j + 1.., j).unscale_mut(root);
        } else {
            return false;
        }
    }
    true
}

/// Solves `L L^T x = b` for the factor of [`cholesky`], where `x` holds `b` at first. Cost `2 n^2`.
///
/// # Panics
/// If sizes differ.
pub fn solve_cholesky(l: DMatrixView<'_, f64>, x: &mut DVectorViewMut<'_, f64>) {
    l.solve_lower_triangular_unchecked_mut(x);
    l.ad_solve_lower_triangular_unchecked_mut(x);
}

/// Solves `A X = B` for a general matrix and one column or several, where `x` holds `B` at first,
/// by elimination with exchange of rows; the upper triangle of `A` becomes `U`. False if the matrix
/// is singular.
///
/// **Equation.** `P A = L U`, `L Y = P B`, `U X = Y`. Cost `2 n^3 / 3`, and `2 n^2` for each
/// column.
///
/// # Panics
/// If the matrix is not square, or sizes differ.
#[must_use]
pub fn solve_general<C: Dim>(
    a: &mut DMatrixViewMut<'_, f64>,
    x: &mut Matrix<f64, Dyn, C, impl StorageMut<f64, Dyn, C>>,
) -> bool {
    let n = a.nrows();
    assert!(a.is_square() && x.nrows() == n, "sizes that differ");
    for i in 0..n {
        let larger = |p: usize, k: usize| if a[(k, i)].abs() > a[(p, i)].abs() { k } else { p };
        let pivot = (i..n).fold(i, larger);
        if a[(pivot, i)] == 0.0 {
            return false;
        }
        a.swap_rows(i, pivot);
        x.swap_rows(i, pivot);
        let (mut column, mut right) = a.columns_range_pair_mut(i, i + 1..);
        let inverse = 1.0 / column[i];
        let mut factors = column.rows_range_mut(i + 1..);
        factors *= inverse;
        for mut other in right.column_iter_mut() {
            let factor = -other[i];
            other.rows_range_mut(i + 1..).axpy(factor, &factors, 1.0);
        }
        for mut other in x.column_iter_mut() {
            let factor = -other[i];
            other.rows_range_mut(i + 1..).axpy(factor, &factors, 1.0);
        }
    }
    a.solve_upper_triangular_mut(x)
}

/// Factors a matrix of at least as many rows as columns by Householder's reflections: the upper
/// triangle of `a` becomes `R` with a positive diagonal, below which is scratch, and `q` the
/// columns of `Q`. `diagonal` has a number for each column. False if a column depends on those
/// before it.
///
/// **Equation.** `A = Q R`, `Q^T Q = I`. Cost `4 n r^2 - 4 r^3 / 3` for `n x r`.
///
/// # Panics
/// If sizes differ.
#[must_use]
pub fn householder(
    a: &mut DMatrixViewMut<'_, f64>,
    q: &mut DMatrixViewMut<'_, f64>,
    diagonal: &mut [f64],
) -> bool {
    assert!(
        a.shape() == q.shape() && a.ncols() == diagonal.len(),
        "sizes that differ"
    );
    assert!(a.nrows() >= a.ncols(), "more columns than rows");
    for (i, diagonal) in diagonal.iter_mut().enumerate() {
        let (mut column, mut right) = a.columns_range_pair_mut(i, i + 1..);
        let mut axis = column.rows_range_mut(i..);
        let square = axis.norm_squared();
        let (norm, head) = (square.sqrt(), axis[0]);
        let doubled = (square + head.abs() * norm) * 2.0;
        if doubled == 0.0 {
            return false;
        }
        let sign = if head >= 0.0 { 1.0 } else { -1.0 };
        axis[0] += sign * norm;
        axis.unscale_mut(doubled.sqrt());
        // Once more, for numbers so small that their squares lose digits.
        let _ = axis.normalize_mut();
        // With the sign, that of the diagonal, the reflection leaves a positive one.
        *diagonal = -sign * norm;
        Reflection::new(Unit::new_unchecked(axis), 0.0)
            .reflect_with_sign(&mut right.rows_range_mut(i..), -sign);
    }
    // From the last reflection on, so that the first columns are still those of the identity.
    q.fill_with_identity();
    for (i, diagonal) in diagonal.iter().enumerate().rev() {
        Reflection::new(Unit::new_unchecked(a.view_range(i.., i)), 0.0)
            .reflect_with_sign(&mut q.view_range_mut(i.., i..), diagonal.signum());
    }
    for (i, diagonal) in diagonal.iter().enumerate() {
        a[(i, i)] = diagonal.abs();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// A matrix of up to 12 rows and as many columns or fewer.
    fn tall() -> impl Strategy<Value = DMatrix<f64>> {
        (1usize..13)
            .prop_flat_map(|n| (Just(n), 1..=n))
            .prop_flat_map(|(n, m)| {
                let entries = prop::collection::vec(-1.0f64..1.0, n * m);
                entries.prop_map(move |entries| DMatrix::from_vec(n, m, entries))
            })
    }

    fn square() -> impl Strategy<Value = DMatrix<f64>> {
        tall().prop_map(|a| a.columns(0, a.ncols()).rows(0, a.ncols()).into_owned())
    }

    proptest! {
        /// The factor and the answer of another library, to the bit.
        #[test]
        fn cholesky_is_that_of_nalgebra(b in square(), scale in 0.0f64..1.0) {
            let n = b.nrows();
            // Of which about half are definite.
            let a = &b + b.transpose() + DMatrix::identity(n, n) * (3.0 * scale * n as f64);
            let mut l = a.clone();
            let found = cholesky(&mut l.as_view_mut());
            let expected = a.cholesky();
            prop_assert_eq!(found, expected.is_some());
            if let Some(expected) = expected {
                prop_assert_eq!(l.lower_triangle(), expected.l());
                let rhs = DVector::from_fn(n, |i, _| 1.0 - i as f64);
                let mut x = rhs.clone();
                solve_cholesky(l.as_view(), &mut x.as_view_mut());
                prop_assert_eq!(x, expected.solve(&rhs));
            }
        }

        #[test]
        fn elimination_is_that_of_nalgebra(a in square()) {
            let rhs = DVector::from_fn(a.nrows(), |i, _| 1.0 - i as f64);
            let (mut u, mut x) = (a.clone(), rhs.clone());
            prop_assert!(solve_general(&mut u.as_view_mut(), &mut x));
            prop_assert_eq!(Some(x), a.clone().lu().solve(&rhs));
            let rhs = DMatrix::from_fn(a.nrows(), 3, |i, k| 1.0 - (i * k) as f64);
            let (mut u, mut x) = (a.clone(), rhs.clone());
            prop_assert!(solve_general(&mut u.as_view_mut(), &mut x));
            prop_assert_eq!(Some(x), a.lu().solve(&rhs));
        }

        #[test]
        fn reflections_are_those_of_nalgebra(a in tall()) {
            let (n, m) = a.shape();
            let (mut r, mut q, mut diagonal) = (a.clone(), DMatrix::zeros(n, m), vec![0.0; m]);
            prop_assert!(householder(&mut r.as_view_mut(), &mut q.as_view_mut(), &mut diagonal));
            let expected = a.qr().unpack();
            prop_assert_eq!(r.rows(0, m).upper_triangle(), expected.1);
            prop_assert_eq!(q, expected.0);
        }
    }

    #[test]
    fn singular_matrices_are_told() {
        let ones = DMatrix::from_element(2, 2, 1.0);
        assert!(!cholesky(&mut ones.clone().as_view_mut()));
        assert!(!cholesky(
            &mut DMatrix::from_element(1, 1, f64::NAN).as_view_mut()
        ));
        let mut x = DVector::from_element(2, 1.0);
        assert!(!solve_general(&mut ones.clone().as_view_mut(), &mut x));
        let mut q = ones.clone();
        let zero = &mut DMatrix::zeros(2, 2);
        assert!(!householder(
            &mut zero.as_view_mut(),
            &mut q.as_view_mut(),
            &mut [0.0; 2]
        ));
        // By hand: rows change places.
        let mut swap = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 2.0, 0.0]);
        let mut x = DVector::from_vec(vec![3.0, 4.0]);
        assert!(solve_general(&mut swap.as_view_mut(), &mut x));
        assert_eq!(x.as_slice(), [2.0, 3.0]);
    }
}
