//! Inertia against dense eigenvalues, solutions against the matrix.

use super::front::{DenseFront, Eliminated};
use super::*;
use crate::block::tests::noise;
use crate::{PatternBuilder, PivotRule, Symbolic};
use faer::{Mat, Side};
use proptest::prelude::*;

/// A sparse symmetric matrix from its lower entries, each once.
fn matrix(n: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
    let mut b = PatternBuilder::new(n, n);
    for (i, j, _) in entries {
        b.insert(*i, *j);
    }
    let mut a = b.finish().unwrap().into_matrix();
    for (i, j, v) in entries {
        let slot = a.pattern().slot(*i, *j).unwrap();
        a.values_mut()[slot] = *v;
    }
    a
}

/// Numbers of eigenvalues above, below and within `1e-11` of the largest.
fn dense_inertia(a: &CsrMatrix) -> Inertia {
    let n = a.pattern().rows();
    let dense = Mat::from_fn(n, n, |i, j| a.get(i.max(j), i.min(j)));
    let values = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut out = Inertia::default();
    for v in values {
        if v.abs() <= 1e-11 * largest {
            out.zero += 1;
        } else if v > 0.0 {
            out.positive += 1;
        } else {
            out.negative += 1;
        }
    }
    out
}

/// `|A x - b| / (|A| |x| + |b|)` in the largest norm, for an answer of `A x = A (1, -2, ..)`.
fn backward_error(a: &CsrMatrix, factor: &PivotedFactor) -> f64 {
    let n = a.pattern().rows();
    let mut state = 3;
    let exact: Vec<f64> = (0..n).map(|_| noise(&mut state)).collect();
    let mut b = vec![0.0; n];
    a.symmetric_add_product(1.0, &exact, &mut b);
    let mut x = b.clone();
    factor.solve_in_place(&mut x);
    let largest = |v: &[f64]| v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let mut r = b.clone();
    a.symmetric_add_product(-1.0, &x, &mut r);
    let norm = (0..n)
        .map(|i| (0..n).map(|j| a.get(i.max(j), i.min(j)).abs()).sum::<f64>())
        .fold(0.0, f64::max);
    largest(&r) / (norm * largest(&x) + largest(&b)).max(f64::MIN_POSITIVE)
}

/// Whether an eigenvalue is so small that the rounding of one method or the other decides whether
/// it is zero.
fn undecided(a: &CsrMatrix) -> bool {
    let n = a.pattern().rows();
    let dense = Mat::from_fn(n, n, |i, j| a.get(i.max(j), i.min(j)));
    let values = dense.self_adjoint_eigenvalues(Side::Lower).unwrap();
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let small = |v: &&f64| v.abs() > 1e-14 * largest && v.abs() < 1e-8 * largest;
    values.iter().any(|v| small(&v))
}

fn check(a: &CsrMatrix) -> Result<(), TestCaseError> {
    prop_assume!(!undecided(a));
    let expected = dense_inertia(a);
    for factor in [
        PivotedFactor::new(a, PivotedFactor::THRESHOLD).unwrap(),
        PivotedFactor::in_order(a, 0.5).unwrap(),
        PivotedFactor::in_order(a, 0.25).unwrap(),
    ] {
        prop_assert_eq!(factor.inertia(), expected);
    }
    // What the tests of pivots promise; without a threshold, at a root, Bunch and Parlett's bound
    // of 2.78 holds.
    for threshold in [0.1, 0.25, 0.5f64] {
        let factor = PivotedFactor::in_order(a, threshold).unwrap();
        let largest = factor.fronts.iter().map(Eliminated::largest).fold(0.0, f64::max);
        prop_assert!(largest <= threshold.recip().max(2.79), "{largest} at {threshold}");
    }
    // Growth is at most 1 + 1/threshold per pivot, and rarely more than a few in all.
    let error = backward_error(a, &PivotedFactor::new(a, PivotedFactor::THRESHOLD).unwrap());
    prop_assert!(error < 1e-12, "backward error {error:e}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_indefinite(
        n in 1usize..40, density in 0.02..0.6f64, zeros in 0.0..1.0f64, seed in any::<u64>()
    ) {
        let mut state = seed;
        let mut entries = Vec::new();
        for i in 0..n {
            for j in 0..i {
                if noise(&mut state).abs() < density {
                    entries.push((i, j, noise(&mut state)));
                }
            }
            // Some of the diagonal is zero or absent. Others are small, so that pairs are wanted.
            if noise(&mut state).abs() > zeros {
                entries.push((i, i, 0.1 * noise(&mut state)));
            } else if noise(&mut state) > 0.0 {
                entries.push((i, i, 0.0));
            }
        }
        check(&matrix(n, &entries))?;
    }

    /// `[W J^T; J 0]` with the multipliers first: no plain elimination gets past the first pivot.
    #[test]
    fn saddle_points_in_the_worst_order(n in 2usize..20, rows in 1usize..10, seed in any::<u64>()) {
        let m = rows.min(n);
        let mut state = seed;
        let mut entries = Vec::new();
        for i in 0..m {
            // Row i acts on variable i and on two others: independent rows.
            entries.push((m + i, i, 1.0));
            for _ in 0..2 {
                let k = i + 1 + (noise(&mut state).abs() * n as f64) as usize;
                if k < n && !entries.iter().any(|e| (e.0, e.1) == (m + k, i)) {
                    entries.push((m + k, i, noise(&mut state)));
                }
            }
        }
        for i in 0..m {
            entries.push((i, i, 0.0));
        }
        for i in 0..n {
            entries.push((m + i, m + i, 1.0 + noise(&mut state).abs()));
        }
        let a = matrix(n + m, &entries);
        let plain = Symbolic::new(a.pattern()).unwrap();
        prop_assert!(plain.allocate().factor(&plain, &a, PivotRule::Keep).is_err());
        let factor = PivotedFactor::in_order(&a, PivotedFactor::THRESHOLD).unwrap();
        prop_assert_eq!(factor.inertia(), Inertia { positive: n, negative: m, zero: 0 });
        check(&a)?;
    }

    #[test]
    fn singular_matrices(n in 2usize..15, rank in 1usize..10, seed in any::<u64>()) {
        check(&low_rank(n, rank.min(n - 1), seed))?;
    }
}

/// `B diag(d) B^T` with `B` of `rank` columns: the zeros are counted, and consistent right-hand
/// sides are solved for.
fn low_rank(n: usize, rank: usize, seed: u64) -> CsrMatrix {
    let mut state = seed;
    let b: Vec<f64> = (0..n * rank).map(|_| (noise(&mut state) * 8.0).round()).collect();
    let d: Vec<f64> = (0..rank).map(|k| if k % 2 == 0 { 1.0 } else { -2.0 }).collect();
    let mut entries = Vec::new();
    for i in 0..n {
        for j in 0..=i {
            let v: f64 = (0..rank).map(|k| b[i * rank + k] * d[k] * b[j * rank + k]).sum();
            if v != 0.0 {
                entries.push((i, j, v));
            }
        }
    }
    matrix(n, &entries)
}

/// Singular matrices whose entries grow on the way, through pivots of one and of two, before they
/// cancel: their zeros are roundings of the largest one.
#[test]
fn zeros_are_measured_against_what_came_up_on_the_way() {
    for (n, rank, seed) in [(8, 7, 13822005887706189824), (10, 9, 11919683888429338903)] {
        check(&low_rank(n, rank, seed)).unwrap();
    }
}

#[test]
fn badly_scaled_matrices_keep_their_inertia() {
    // An indefinite tridiagonal matrix between D = 10^(-60 .. 60) on both sides: Sylvester.
    let n = 13;
    let scale = |i: usize| 10f64.powi(10 * i as i32 - 60);
    let diagonal = (0..n).map(|i| (i, i, [1.0, -0.5][i % 2]));
    let plain: Vec<(usize, usize, f64)> = diagonal.chain((1..n).map(|i| (i, i - 1, 2.0))).collect();
    let scaled: Vec<_> = plain
        .iter()
        .map(|(i, j, v)| (*i, *j, v * scale(*i) * scale(*j)))
        .collect();
    let expected = dense_inertia(&matrix(n, &plain));
    let factor = PivotedFactor::new(&matrix(n, &scaled), PivotedFactor::THRESHOLD).unwrap();
    assert_eq!(factor.inertia(), expected);
    assert_eq!(factor.size(), n);
    assert!(factor.entries() >= n - 1);
}

#[test]
fn zero_empty_and_bad_matrices() {
    let zero = PivotedFactor::new(&matrix(3, &[]), 0.1).unwrap();
    assert_eq!(
        zero.inertia(),
        Inertia {
            zero: 3,
            ..Inertia::default()
        }
    );
    let mut x = [1.0; 3];
    zero.solve_in_place(&mut x);
    assert_eq!(x, [0.0; 3]);
    let empty = PivotedFactor::new(&matrix(0, &[]), 0.1).unwrap();
    assert_eq!(empty.inertia(), Inertia::default());
    let swap = matrix(2, &[(1, 0, 3.0)]);
    assert_eq!(
        PivotedFactor::in_order(&swap, 0.1).unwrap().inertia(),
        Inertia {
            positive: 1,
            negative: 1,
            zero: 0
        }
    );
    for bad in [f64::NAN, f64::INFINITY] {
        let a = matrix(2, &[(0, 0, 1.0), (1, 0, bad)]);
        assert_eq!(
            PivotedFactor::new(&a, 0.1).unwrap_err(),
            SparseError::Pivot { index: 1 }
        );
    }
    for threshold in [0.0, -1.0, 0.6, f64::NAN] {
        assert!(matches!(
            PivotedFactor::new(&swap, threshold),
            Err(SparseError::Threshold { .. })
        ));
    }
    let upper = matrix(2, &[(0, 1, 1.0)]);
    assert!(matches!(
        PivotedFactor::new(&upper, 0.1),
        Err(SparseError::OutOfRange { .. })
    ));
    let wide = PatternBuilder::new(1, 2).finish().unwrap().into_matrix();
    assert!(matches!(
        PivotedFactor::new(&wide, 0.1),
        Err(SparseError::Size { .. })
    ));
}

/// Three dense blocks of 40 unknowns that meet in a fourth, which is more than one front: unknowns
/// of the blocks without a diagonal and with couplings of `inside` to their own wait until those of
/// one to the last block can serve as pivots.
#[test]
fn unknowns_wait_for_a_later_front() {
    for inside in [1e-3, 1e-7] {
        let size = 40;
        let mut state = 5;
        let mut entries = Vec::new();
        for i in 0..4 * size {
            let (block, own) = (i / size, i % size);
            for j in block.min(3) * size..i {
                // Every fourth has small entries only.
                let small = block < 3 && (own % 4 == 0 || j % size % 4 == 0);
                entries.push((i, j, if small { inside } else { 1.0 } * noise(&mut state)));
            }
            if block == 3 {
                entries.extend((0..3 * size).map(|j| (i, j, noise(&mut state))));
            }
            if own % 4 != 0 {
                entries.push((i, i, noise(&mut state)));
            }
        }
        let a = matrix(4 * size, &entries);
        let factor = PivotedFactor::in_order(&a, PivotedFactor::THRESHOLD).unwrap();
        assert!(factor.fronts.len() > 2, "{} fronts", factor.fronts.len());
        // More than the fronts would have if nothing waited.
        let bounds: Vec<usize> = (0..=4 * size).collect();
        let mut graph = Graph::new(4 * size);
        edges(&a).unwrap().iter().for_each(|(i, j)| graph.connect(*i, *j));
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        let own = |k: usize| symbolic.fronts[k].width;
        assert!(
            (0..symbolic.len()).any(|k| factor.fronts[k].eliminated() < own(k)),
            "nothing waits"
        );
        check(&a).unwrap();
    }
}

/// `[D B; B^T B^T D^-1 B]`: what is left of the last block is rounding, which is no pivot. Inertia
/// by Haynsworth: that of `D`.
#[test]
fn what_cancels_in_a_later_front_is_zero() {
    let (many, last) = (400, 40);
    let mut state = 11;
    let b: Vec<f64> = (0..many * last).map(|_| noise(&mut state)).collect();
    let d = |k: usize| if k.is_multiple_of(3) { -1.7 } else { 1.3 };
    let mut entries: Vec<_> = (0..many).map(|k| (k, k, d(k))).collect();
    for i in 0..last {
        entries.extend((0..many).map(|k| (many + i, k, b[k * last + i])));
        for j in 0..=i {
            let sum: f64 = (0..many).map(|k| b[k * last + i] * b[k * last + j] / d(k)).sum();
            entries.push((many + i, many + j, sum));
        }
    }
    let factor = PivotedFactor::in_order(&matrix(many + last, &entries), 0.1).unwrap();
    assert!(factor.fronts.len() > 1);
    let negative = many.div_ceil(3);
    let expected = Inertia {
        positive: many - negative,
        negative,
        zero: last,
    };
    assert_eq!(factor.inertia(), expected);
}

/// A pair of pivots may be definite: `[a b; b c]` with `b^2 < a c`, of which `a` alone is too small
/// beside `b`.
#[test]
fn definite_pairs_are_counted() {
    for sign in [1.0, -1.0] {
        let mut front = DenseFront::new(vec![0, 1], &[]);
        let entries = [(0, 0, 0.005 * sign), (1, 0, 0.06), (1, 1, sign)];
        front.assemble(&entries, &[], &mut [NONE; 2]);
        let (mut found, mut seen) = (Inertia::default(), 0.0);
        let done = front.eliminate(0.1, ZERO, true, &mut found, &mut seen);
        // Solved as one pair: nothing is left below the pivots.
        assert_eq!(done.largest(), 0.0);
        let expected = if sign > 0.0 { (2, 0) } else { (0, 2) };
        assert_eq!(
            (found.positive, found.negative, found.zero),
            (expected.0, expected.1, 0)
        );
    }
}

/// A chain of variables of which neighbours are tied by two equal rows each: one row of every pair
/// is redundant, which shows where the pair is. Carried to the root, the zeros would widen every
/// front on their way, and the entries of the factor would grow with the square of the links.
#[test]
fn zeros_do_not_wait_for_the_root() {
    let entries = |links: usize| {
        let mut list: Vec<_> = (0..=links).map(|i| (i, i, 1.0 + 0.1 * (i % 7) as f64)).collect();
        for k in 0..2 * links {
            let row = links + 1 + k;
            list.extend([(row, k / 2, -1.0), (row, k / 2 + 1, 1.0)]);
        }
        let factor = PivotedFactor::new(&matrix(3 * links + 1, &list), PivotedFactor::THRESHOLD).unwrap();
        let expected = Inertia {
            positive: links + 1,
            negative: links,
            zero: links,
        };
        assert_eq!(factor.inertia(), expected);
        factor.entries() as f64
    };
    // Twice as many links, twice as many entries, up to what the ends lack.
    assert!(entries(200) < 2.1 * entries(100));
}
