//! The unsymmetric factor against residuals, tasks and threads against one of each.

use super::*;
use crate::Graph;
use proptest::prelude::*;

/// Blocks of one to four unknowns on a random graph, dominant diagonal blocks in which rows are
/// out of order.
fn matrix(sizes: &[usize], edges: &[(usize, usize)], seed: u64) -> (Vec<usize>, Graph, Vec<Vec<f64>>) {
    let mut bounds = vec![0];
    sizes
        .iter()
        .for_each(|s| bounds.push(bounds[bounds.len() - 1] + s));
    let n = bounds[sizes.len()];
    let mut graph = Graph::new(sizes.len());
    let mut state = seed;
    let mut noise = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut a = vec![vec![0.0; n]; n];
    for (k, s) in sizes.iter().enumerate() {
        for i in 0..*s {
            for j in 0..*s {
                let turned = (i + 1) % s == j;
                a[bounds[k] + i][bounds[k] + j] = noise() + if turned { 40.0 } else { 0.0 };
            }
        }
    }
    for (p, q) in edges.iter().map(|(p, q)| (p % sizes.len(), q % sizes.len())) {
        if p == q {
            continue;
        }
        graph.connect(p, q);
        for (k, l) in [(p, q), (q, p)] {
            for i in bounds[k]..bounds[k + 1] {
                for j in bounds[l]..bounds[l + 1] {
                    a[i][j] = noise();
                }
            }
        }
    }
    (bounds, graph, a)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// The residual of the solution, with the entries as given.
    #[test]
    fn solutions_solve(
        sizes in proptest::collection::vec(1usize..5, 1..40),
        edges in proptest::collection::vec((0usize..40, 0usize..40), 0..90),
        seed in any::<u64>(),
    ) {
        let (bounds, graph, a) = matrix(&sizes, &edges, seed);
        let n = a.len();
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
        for turn in 0..2 {
            let scale = 1.0 + f64::from(turn);
            factor.clear();
            for i in 0..n {
                for j in 0..n {
                    if a[i][j] != 0.0 {
                        let slot = symbolic.unsymmetric_slot(i, j).unwrap();
                        factor.values_mut()[slot] += scale * a[i][j];
                    }
                }
            }
            factor.factor(&symbolic).unwrap();
            let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut x = b.clone();
            factor.solve_in_place(&symbolic, &mut x);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| scale * a[i][j] * x[j]).sum();
                // Pivots of 40 against rows of at most a few hundred entries of 1/2: a few
                // hundred roundings.
                prop_assert!((sum - b[i]).abs() < 1e-12, "row {}: {}", i, sum - b[i]);
            }
        }
    }
}

/// A binary tree of blocks that stay fronts of their own, with rows below them that are larger
/// than their pivots: these may not become pivots, and what fronts of one branch leave must not
/// be taken by another.
#[test]
fn fronts_of_a_tree_with_larger_rows_below() {
    let (blocks, width) = (31, 24);
    let edges: Vec<(usize, usize)> = (0..blocks - 1)
        .map(|k| (k, blocks - 1 - (blocks - 2 - k) / 2))
        .collect();
    let (bounds, graph, mut a) = matrix(&vec![width; blocks], &edges, 3);
    let n = bounds[blocks];
    for (p, q) in edges {
        for i in bounds[p]..bounds[p + 1] {
            for j in bounds[q]..bounds[q + 1] {
                a[i][j] *= 0.01;
                a[j][i] *= 200.0;
            }
        }
    }
    let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
    assert!(symbolic.fronts.len() > blocks / 2);
    let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
    for (i, row) in a.iter().enumerate() {
        for (j, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = *a;
        }
    }
    factor.factor(&symbolic).unwrap();
    let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut x = b.clone();
    factor.solve_in_place(&symbolic, &mut x);
    for (row, b) in a.iter().zip(&b) {
        let (sum, size) = row.iter().zip(&x).fold((-b, b.abs()), |(sum, size), (a, x)| {
            (sum + a * x, size + (a * x).abs())
        });
        // Multipliers up to 2.5 a level, five levels: a hundred times the roundings of a
        // product of up to 96 entries.
        assert!(sum.abs() < 1e-12 * size, "{sum:e} of {size}");
    }
}

/// As many tasks as there can be, on one thread and on three, and two right-hand sides at once:
/// the same bits as one task and one right-hand side after the other.
#[test]
fn tasks_and_threads_do_not_show() {
    let (blocks, width) = (63, 12);
    let edges: Vec<(usize, usize)> = (0..blocks - 1)
        .map(|k| (k, blocks - 1 - (blocks - 2 - k) / 2))
        .collect();
    let (bounds, graph, a) = matrix(&vec![width; blocks], &edges, 11);
    let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
    let n = a.len();
    let b: Vec<f64> = (0..2 * n).map(|i| (i as f64).sin()).collect();
    let solve = |threads: &Threads, grain: f64, together: usize| {
        let mut factor = UnsymmetricFactor::default();
        factor.refill_in_tasks(&symbolic, threads, grain);
        for (i, row) in a.iter().enumerate() {
            for (j, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = *a;
            }
        }
        factor.factor(&symbolic).unwrap();
        let mut x = b.clone();
        x.chunks_exact_mut(together * n)
            .for_each(|x| factor.solve_in_place(&symbolic, x));
        (factor.schedule.tasks.len(), x)
    };
    let (one, expected) = solve(&Threads::one(), f64::INFINITY, 1);
    assert_eq!(one, 1);
    for threads in [Threads::one(), Threads::new(3).unwrap()] {
        let (tasks, found) = solve(&threads, 0.0, 2);
        assert!(tasks > 3, "{tasks} tasks");
        assert!(found == expected);
    }
}

#[test]
fn one_front_of_several_panels() {
    let n = 3 * PANEL - 5;
    let (bounds, graph, mut a) = matrix(&[n], &[], 7);
    // Off the diagonal everything is small: exchanges put 40 on it.
    a[0][0] += 1.0;
    let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
    let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
    for i in 0..n {
        for j in 0..n {
            factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = a[i][j];
        }
    }
    factor.factor(&symbolic).unwrap();
    let mut x: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    factor.solve_in_place(&symbolic, &mut x);
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
}

#[test]
fn a_singular_matrix_and_a_wrong_pattern_are_errors() {
    let mut graph = Graph::new(2);
    graph.connect(0, 1);
    let symbolic = FrontSymbolic::new(&[0, 1, 2], &graph).unwrap();
    let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = 1.0;
    }
    assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
    factor.values_mut().fill(f64::NAN);
    assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
    let other = FrontSymbolic::new(&[0, 2, 3], &graph).unwrap();
    assert!(matches!(factor.factor(&other), Err(SparseError::Size { .. })));
    let empty = FrontSymbolic::new(&[0], &Graph::new(0)).unwrap();
    let mut factor = empty.allocate_unsymmetric(&Threads::one());
    factor.factor(&empty).unwrap();
    factor.solve_in_place(&empty, &mut []);
}
