use super::*;
use proptest::prelude::*;

/// A sparse symmetric matrix, lower triangle, some diagonals missing; and the same dense.
fn sparse(n: usize, seed: &[f64]) -> (CsrMatrix, Vec<f64>) {
    let mut builder = PatternBuilder::new(n, n);
    let number = |i: usize, k: usize| seed[(i * 31 + k * 7) % seed.len()];
    let kept = |i: usize, k: usize| number(i, k).abs() < 0.4;
    for i in 0..n {
        (0..=i).filter(|k| kept(i, *k)).for_each(|k| builder.insert(i, k));
    }
    let mut a = builder.finish().unwrap().into_matrix();
    let mut dense = vec![0.0; n * n];
    for i in 0..n {
        for slot in a.pattern().row_slots(i) {
            let k = a.pattern().indices()[slot] as usize;
            let value = number(k, i) + 0.5;
            a.values_mut()[slot] = value;
            dense[i * n + k] = value;
            dense[k * n + i] = value;
        }
    }
    (a, dense)
}

/// `A x` by the definition, and the same of the magnitudes: what roundings are measured against.
fn product(n: usize, dense: &[f64], x: &[f64]) -> Vec<(f64, f64)> {
    let row = |i: usize| (0..n).map(move |k| dense[i * n + k] * x[k]);
    (0..n)
        .map(|i| (row(i).sum(), row(i).map(f64::abs).sum()))
        .collect()
}

fn check<const B: usize>(n: usize, seed: &[f64], fixed: &[bool]) {
    let (a, mut dense) = sparse(n, seed);
    for i in (0..n).filter(|i| fixed.get(*i).copied().unwrap_or(false)) {
        for k in 0..n {
            dense[i * n + k] = 0.0;
            dense[k * n + i] = 0.0;
        }
        dense[i * n + i] = 1.0;
    }
    let mut blocks = SymmetricBlockMatrix::<B>::new(&a, fixed).unwrap();
    // What was there before does not matter.
    let mut other = a.clone();
    other.values_mut().fill(7.0);
    blocks.update(&other, &vec![true; n]).unwrap();
    blocks.update(&a, fixed).unwrap();
    let x: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sin()).collect();
    let mut y = vec![f64::NAN; n];
    blocks.product_into(&x, &mut y);
    // n roundings of the terms.
    let room = 2.0 * n as f64 * f64::EPSILON;
    for (y, (exact, size)) in y.iter().zip(product(n, &dense, &x)) {
        assert!((y - exact).abs() <= room * size, "{y} is not {exact}");
    }
    let columns: Vec<[f64; 4]> = (0..n)
        .map(|i| [0.0, 1.0, 2.0, 3.0].map(|k| (1.0 + i as f64 + k).cos()))
        .collect();
    let mut out = vec![[f64::NAN; 4]; n];
    blocks.products_into(&columns, &mut out);
    for k in 0..4 {
        let x: Vec<f64> = columns.iter().map(|c| c[k]).collect();
        for (y, (exact, size)) in out.iter().zip(product(n, &dense, &x)) {
            assert!((y[k] - exact).abs() <= room * size, "{} is not {exact}", y[k]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn products_are_those_of_the_dense_matrix(
        blocks in 1usize..7,
        seed in prop::collection::vec(-1.0f64..1.0, 97),
        mask in prop::collection::vec(any::<bool>(), 36),
    ) {
        for fixed in [&[][..], &mask[..]] {
            let cut = |n: usize| &fixed[..n.min(fixed.len())];
            check::<1>(blocks, &seed, cut(blocks));
            check::<2>(2 * blocks, &seed, cut(2 * blocks));
            check::<3>(3 * blocks, &seed, cut(3 * blocks));
            check::<6>(6 * blocks, &seed, cut(6 * blocks));
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (a, _) = sparse(7, &[0.1, -0.3, 0.7]);
    let wrong = |found: Result<(), SparseError>| assert!(matches!(found, Err(SparseError::Size { .. })));
    wrong(SymmetricBlockMatrix::<3>::new(&a, &[]).map(|_| ()));
    wrong(SymmetricBlockMatrix::<0>::new(&a, &[]).map(|_| ()));
    wrong(SymmetricBlockMatrix::<1>::new(&a, &[true]).map(|_| ()));
    let mut builder = PatternBuilder::new(2, 2);
    builder.insert(0, 1);
    let upper = builder.finish().unwrap().into_matrix();
    wrong(SymmetricBlockMatrix::<1>::new(&upper, &[]).map(|_| ()));
    let wide = PatternBuilder::new(2, 4).finish().unwrap().into_matrix();
    wrong(SymmetricBlockMatrix::<2>::new(&wide, &[]).map(|_| ()));
    let mut blocks = SymmetricBlockMatrix::<1>::new(&a, &[]).unwrap();
    wrong(blocks.update(&sparse(7, &[0.9, 0.2, 0.3]).0, &[]));
    wrong(blocks.update(&a, &[false; 6]));
}

#[test]
fn an_empty_matrix_has_an_empty_product() {
    let a = PatternBuilder::new(0, 0).finish().unwrap().into_matrix();
    let blocks = SymmetricBlockMatrix::<3>::new(&a, &[]).unwrap();
    assert_eq!((blocks.order(), blocks.blocks().len()), (0, 0));
    blocks.product_into(&[], &mut []);
    blocks.products_into::<8>(&[], &mut []);
}

#[test]
fn full_blocks_are_not_padded() {
    let mut builder = PatternBuilder::new(6, 6);
    builder.insert_block((0, 0), (6, 6), true);
    let a = builder.finish().unwrap().into_matrix();
    assert_eq!(SymmetricBlockMatrix::<3>::new(&a, &[]).unwrap().padding(), 1.0);
    let mut builder = PatternBuilder::new(6, 6);
    (0..6).for_each(|i| builder.insert(i, i));
    let diagonal = builder.finish().unwrap().into_matrix();
    assert_eq!(
        SymmetricBlockMatrix::<3>::new(&diagonal, &[]).unwrap().padding(),
        2.0
    );
}
