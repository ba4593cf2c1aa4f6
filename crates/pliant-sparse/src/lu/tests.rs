//! Against the matrix itself, and a dense determinant.

use super::*;
use crate::PatternBuilder;
use faer::Mat;
use proptest::prelude::*;

fn by_columns(n: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
    let mut builder = PatternBuilder::new(n, n);
    entries.iter().for_each(|(i, j, _)| builder.insert(*j, *i));
    let mut a = builder.finish().unwrap().into_matrix();
    for (i, j, x) in entries {
        let slot = a.pattern().slot(*j, *i).unwrap();
        a.values_mut()[slot] = *x;
    }
    a
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Any matrix with a hidden permutation as its skeleton, rows of very different sizes: the
    /// answer solves, and the determinant has the sign that a dense factorisation finds.
    #[test]
    fn solutions_and_signs_are_those_of_a_dense_factor(
        n in 1usize..30,
        turn in 0usize..30,
        edges in proptest::collection::vec((0usize..30, 0usize..30, -1.0..1.0f64), 0..120),
    ) {
        let mut entries: Vec<_> = edges.iter().map(|(i, j, x)| (i % n, j % n, *x)).collect();
        entries.extend((0..n).map(|k| ((k + turn) % n, k, if k % 3 == 0 { -3.0 } else { 2.5 })));
        let scale = |i: usize| 10f64.powi((i % 5) as i32 - 2);
        entries.iter_mut().for_each(|(i, _, x)| *x *= scale(*i));
        let a = by_columns(n, &entries);
        let dense = Mat::from_fn(n, n, |i, j| a.get(j, i) / scale(i));
        // Nearly singular matrices have no sign.
        let sizes = dense.singular_values().unwrap();
        prop_assume!(sizes[n - 1] > 1e-6 * sizes[0]);
        let negative = dense.determinant() < 0.0;
        let mut factor = LuFactor::new(a.pattern()).unwrap();
        for _ in 0..2 {
            factor.factor(&a).unwrap();
            prop_assert_eq!(factor.has_negative_determinant(), negative);
            let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut x = b.clone();
            factor.solve_in_place(&mut x);
            for i in 0..n {
                let (sum, size) = (0..n).fold((-b[i], b[i].abs()), |(sum, size), j| {
                    let term = a.get(j, i) * x[j];
                    (sum + term, size + term.abs())
                });
                // Rows are of sizes 1e-2 to 1e2, which partial pivoting does not see: 1e4
                // roundings, times the growth.
                prop_assert!(sum.abs() < 1e-10 * (size + 1.0), "row {}: {:e} of {}", i, sum, size);
            }
        }
    }
}

#[test]
fn singular_matrices_and_other_patterns_are_errors() {
    let a = by_columns(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]);
    let mut factor = LuFactor::new(a.pattern()).unwrap();
    assert!(matches!(factor.factor(&a), Err(SparseError::Pivot { .. })));
    let mut bad = a.clone();
    bad.values_mut().fill(f64::NAN);
    assert!(matches!(factor.factor(&bad), Err(SparseError::Pivot { .. })));
    // An empty column.
    let a = by_columns(2, &[(0, 0, 1.0), (1, 0, 1.0)]);
    let mut factor = LuFactor::new(a.pattern()).unwrap();
    assert!(matches!(factor.factor(&a), Err(SparseError::Pivot { index: 1 })));
    let other = by_columns(2, &[(0, 0, 1.0)]);
    assert!(matches!(factor.factor(&other), Err(SparseError::Size { .. })));
    let wide = PatternBuilder::new(2, 3).finish().unwrap();
    assert!(matches!(LuFactor::new(&wide), Err(SparseError::Size { .. })));
    let empty = by_columns(0, &[]);
    let mut factor = LuFactor::new(empty.pattern()).unwrap();
    factor.factor(&empty).unwrap();
    assert!(!factor.has_negative_determinant());
    factor.solve_in_place(&mut []);
}

#[test]
fn cycles_of_even_length_are_odd() {
    let mut seen = Vec::new();
    assert!(!is_odd(&[], &mut seen));
    assert!(!is_odd(&[0, 1, 2], &mut seen));
    assert!(is_odd(&[1, 0, 2], &mut seen));
    assert!(!is_odd(&[1, 2, 0], &mut seen));
    assert!(is_odd(&[1, 2, 3, 0], &mut seen));
    assert!(!is_odd(&[1, 0, 3, 2], &mut seen));
}
