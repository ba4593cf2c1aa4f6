//! The fronts against the dense factor, the fill of the block factor, and themselves on several
//! threads.

use super::numeric::FrontFactor;
use super::*;
use crate::block::tests::{Problem, noise};
use crate::{BlockPattern, FactorReport, PivotRule, Threads};
use proptest::prelude::*;

impl Problem {
    fn fronts(&self) -> FrontSymbolic {
        FrontSymbolic::new(&self.bounds, &self.graph).unwrap()
    }

    fn fill_fronts(&self, symbolic: &FrontSymbolic, factor: &mut FrontFactor) {
        factor.clear();
        for i in 0..self.a.pattern().rows() {
            for (slot, j) in self.a.pattern().row_slots(i).zip(self.a.pattern().row(i)) {
                factor.values_mut()[symbolic.slot(i, *j as usize).unwrap()] = self.a.values()[slot];
            }
        }
    }

    /// Pivots as the dense factor has them (they do not depend on the order of independent
    /// subtrees), up to `to`.
    fn fronts_agree_with_dense(&self, threshold: f64, to: f64) -> Result<(), TestCaseError> {
        let symbolic = self.fronts();
        let mut factor = symbolic.allocate(&Threads::one()).unwrap();
        self.fill_fronts(&symbolic, &mut factor);
        let report = factor.factor(&symbolic, PivotRule::Drop { threshold }).unwrap();
        let (_, d) = self.dense(threshold);
        for (i, d) in d.iter().enumerate() {
            prop_assert_eq!(factor.is_dropped(i), *d == 1e100);
            let p = factor.pivots()[i];
            prop_assert!(
                factor.is_dropped(i) || (p - d).abs() <= to * d.abs(),
                "{p} is not {d}"
            );
        }
        let dropped = d.iter().filter(|d| **d == 1e100).count();
        let negative = d.iter().filter(|d| **d < 0.0).count();
        prop_assert_eq!(
            (report.positive, report.negative, report.dropped),
            (d.len() - negative - dropped, negative, dropped)
        );
        Ok(())
    }

    /// One thread in one task, several threads in as many tasks as there can be: the same bits, and
    /// the solution of `A x = b`.
    fn fronts_solve(&self, threads: &Threads, columns: usize) -> Result<(), TestCaseError> {
        let symbolic = self.fronts();
        let n = symbolic.size();
        let exact: Vec<f64> = (0..n * columns).map(|i| 1.0 + (i % 7) as f64).collect();
        let mut b = vec![0.0; n * columns];
        for (b, x) in b.chunks_mut(n.max(1)).zip(exact.chunks(n.max(1))) {
            self.a.symmetric_add_product(1.0, x, b);
        }
        let mut all = Vec::new();
        for (threads, grain) in [(&Threads::one(), f64::INFINITY), (threads, 0.0), (threads, 5e4)] {
            let mut factor = symbolic.allocate_in_tasks(threads, grain).unwrap();
            self.fill_fronts(&symbolic, &mut factor);
            let report = factor.factor(&symbolic, PivotRule::Keep).unwrap();
            let mut x = b.clone();
            factor.solve_in_place(&symbolic, &mut x);
            for (x, e) in x.iter().zip(&exact) {
                prop_assert!((x - e).abs() < 1e-9, "{} is not {}", x, e);
            }
            // The unused triangles hold leftovers of the stacks.
            all.push((report, factor.pivots().to_vec(), x));
        }
        prop_assert!(all.windows(2).all(|w| w[0] == w[1]));
        Ok(())
    }
}

/// A square of particles, ordered by minimum degree.
fn grid(side: usize, size: usize, seed: u64) -> Problem {
    let id = |i: usize, j: usize| i * side + j;
    let mut edges = Vec::new();
    for i in 0..side {
        for j in 0..side {
            edges.extend((j > 0).then(|| (id(i, j), id(i, j - 1))));
            edges.extend((i > 0).then(|| (id(i, j), id(i - 1, j))));
            edges.extend((i > 0 && j > 0).then(|| (id(i, j), id(i - 1, j - 1))));
        }
    }
    let mut graph = Graph::new(side * side);
    edges.iter().for_each(|(a, b)| graph.connect(*a, *b));
    let mut rank = vec![0; side * side];
    for (k, v) in graph.minimum_degree().unwrap().into_iter().enumerate() {
        rank[v] = k;
    }
    let edges: Vec<_> = edges.iter().map(|(a, b)| (rank[*a], rank[*b])).collect();
    Problem::new(&vec![size; side * side], &edges, seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_graphs(
        sizes in prop::collection::vec(1usize..9, 1..25),
        pairs in prop::collection::vec((0usize..25, 0usize..25), 0..40),
        seed in any::<u64>(), columns in 1usize..5
    ) {
        let inside = |(a, b): &(usize, usize)| (a % sizes.len(), b % sizes.len());
        let edges: Vec<_> = pairs.iter().map(inside).collect();
        let problem = Problem::new(&sizes, &edges, seed);
        problem.fronts_agree_with_dense(0.0, 1e-10)?;
        problem.fronts_solve(&Threads::one(), columns)?;
        // All of the pattern of L has a place, each its own.
        let (symbolic, pattern) = (problem.fronts(), BlockPattern::new(&problem.bounds, &problem.graph).unwrap());
        let mut slots = Vec::new();
        for j in 0..pattern.len() {
            for i in pattern.column(j).iter().copied().chain([j as u32]) {
                for a in pattern.unknowns(i as usize) {
                    slots.extend(pattern.unknowns(j).filter(|b| *b <= a).map(|b| symbolic.slot(a, b).unwrap()));
                }
            }
        }
        let count = slots.len();
        prop_assert_eq!(count, pattern.entries());
        slots.sort_unstable();
        slots.dedup();
        prop_assert!(slots.len() == count && slots.last().is_none_or(|s| *s < symbolic.values()));
        prop_assert!(symbolic.entries() >= count && symbolic.flops() >= pattern.flops());
    }

    #[test]
    fn hard_rows_and_dropped_ones(
        bodies in prop::collection::vec(3usize..8, 2..6), rows in prop::collection::vec(2usize..6, 6), seed in any::<u64>()
    ) {
        let mut problem = Problem::constrained(&bodies, &rows, seed);
        // The second row of the first joint is twice the first: its pivot is rounding.
        let first = problem.bounds[1];
        for j in (0..problem.bounds[1]).chain(problem.bounds[2]..problem.bounds[3]) {
            let slot = |i: usize| problem.a.pattern().slot(i.max(j), i.min(j)).unwrap();
            let (from, to) = (slot(first), slot(first + 1));
            problem.a.values_mut()[to] = 2.0 * problem.a.values()[from];
        }
        problem.fronts_agree_with_dense(1e-9, f64::INFINITY)?;
        let symbolic = problem.fronts();
        let mut factor = symbolic.allocate(&Threads::one()).unwrap();
        problem.fill_fronts(&symbolic, &mut factor);
        factor.factor(&symbolic, PivotRule::Drop { threshold: 1e-9 }).unwrap();
        let mut x = vec![1.0; 3 * symbolic.size()];
        factor.solve_in_place(&symbolic, &mut x[..]);
        prop_assert!(factor.is_dropped(first + 1));
        prop_assert!(x.iter().all(|x| x.is_finite()));
        let dropped = (0..3).map(|c| x[c * symbolic.size() + first + 1]);
        prop_assert!(dropped.fold(0.0f64, |m, x| m.max(x.abs())) < 1e-90);
    }
}

#[test]
fn threads_give_the_same_bits_on_grids() {
    let threads = Threads::new(3).unwrap();
    assert_eq!(threads.count(), 3);
    for (side, size, columns) in [(24, 3, 1), (12, 2, 40)] {
        grid(side, size, 9).fronts_solve(&threads, columns).unwrap();
    }
    // The fine division is a division: tasks wait for others.
    let symbolic = grid(24, 3, 9).fronts();
    let tasks = symbolic.allocate_in_tasks(&threads, 0.0).unwrap().schedule.tasks;
    assert!(tasks.len() > 20, "{} tasks", tasks.len());
    let own: usize = tasks.iter().map(|t| t.own.len()).sum();
    assert_eq!(own, symbolic.len());
}

#[test]
fn fronts_wider_than_panels_and_tiles() {
    // One front of several panels, and blocks whose update matrices have several tiles.
    let threads = Threads::new(2).unwrap();
    for (sizes, edges) in [
        (vec![300], vec![]),
        (vec![150, 140, 280], vec![(0, 2), (1, 2)]),
        (vec![20, 330], vec![(0, 1)]),
    ] {
        let problem = Problem::new(&sizes, &edges, 4);
        problem.fronts_agree_with_dense(0.0, 1e-10).unwrap();
        problem.fronts_solve(&threads, 2).unwrap();
    }
}

#[test]
fn long_chains_and_stars_need_no_deep_recursion() {
    let threads = Threads::new(2).unwrap();
    let chain: Vec<_> = (1..30_000).map(|k| (k - 1, k)).collect();
    let star: Vec<_> = (0..30_000).map(|k| (k, 30_000)).collect();
    for (count, edges) in [(30_000, chain), (30_001, star)] {
        Problem::new(&vec![1; count], &edges, 2)
            .fronts_solve(&threads, 1)
            .unwrap();
    }
}

#[test]
fn positive_matrices_by_cholesky() {
    let mut problem = grid(10, 3, 6);
    let n = problem.a.pattern().rows();
    for i in 0..n {
        let slot = problem.a.pattern().slot(i, i).unwrap();
        problem.a.values_mut()[slot] = problem.a.values()[slot].abs();
    }
    let symbolic = problem.fronts();
    let mut factors = [0, 1].map(|_| symbolic.allocate(&Threads::one()).unwrap());
    for f in &mut factors {
        problem.fill_fronts(&symbolic, f);
    }
    let [ldlt, llt] = &mut factors;
    let report = ldlt.factor(&symbolic, PivotRule::Keep).unwrap();
    assert_eq!(
        report,
        FactorReport {
            positive: n,
            ..FactorReport::default()
        }
    );
    assert_eq!(llt.factor_positive(&symbolic).unwrap(), report);
    for (a, b) in ldlt.pivots().iter().zip(llt.pivots()) {
        assert!((a - b).abs() <= 1e-13 * a.abs(), "{a} is not {b}");
    }
    for columns in [1, 3] {
        let mut state = 1;
        let exact: Vec<f64> = (0..n * columns).map(|_| noise(&mut state)).collect();
        let mut b = vec![0.0; n * columns];
        for (b, x) in b.chunks_mut(n).zip(exact.chunks(n)) {
            problem.a.symmetric_add_product(1.0, x, b);
        }
        llt.solve_in_place(&symbolic, &mut b);
        for (x, e) in b.iter().zip(&exact) {
            assert!((x - e).abs() < 1e-12, "{x} is not {e}");
        }
    }
    // A negative pivot is refused, by the user's name for it.
    let slot = problem.a.pattern().slot(n - 1, n - 1).unwrap();
    problem.a.values_mut()[slot] = -1.0;
    problem.fill_fronts(&symbolic, llt);
    assert_eq!(
        llt.factor_positive(&symbolic),
        Err(SparseError::Pivot { index: n - 1 })
    );
}

#[test]
fn nothing_and_one_block() {
    let empty = Problem::new(&[], &[], 0);
    let symbolic = empty.fronts();
    assert!(symbolic.is_empty());
    let mut factor = symbolic.allocate(&Threads::one()).unwrap();
    assert_eq!(
        factor.factor(&symbolic, PivotRule::Keep),
        Ok(FactorReport::default())
    );
    factor.solve_in_place(&symbolic, &mut []);
    let one = Problem::new(&[7], &[], 3);
    one.fronts_agree_with_dense(0.0, 1e-10).unwrap();
    one.fronts_solve(&Threads::one(), 3).unwrap();
    let symbolic = one.fronts();
    assert_eq!(
        (symbolic.len(), symbolic.values(), symbolic.entries()),
        (1, 49, 28)
    );
    assert_eq!((symbolic.slot(0, 7), symbolic.slot(7, 0)), (None, None));
}

#[test]
fn bad_pivots_and_bad_sizes_are_named() {
    let mut problem = Problem::new(&[3, 2, 7], &[(0, 1), (1, 2)], 1);
    let symbolic = problem.fronts();
    let mut factor = symbolic.allocate(&Threads::one()).unwrap();
    for (index, value, rule) in [
        (4, f64::NAN, PivotRule::Drop { threshold: 1.0 }),
        (4, f64::INFINITY, PivotRule::Keep),
        (0, 0.0, PivotRule::Keep),
    ] {
        let slot = problem.a.pattern().slot(index, index).unwrap();
        problem.a.values_mut()[slot] = value;
        problem.fill_fronts(&symbolic, &mut factor);
        assert_eq!(factor.factor(&symbolic, rule), Err(SparseError::Pivot { index }));
    }
    let other = Problem::new(&[2], &[], 1).fronts();
    assert!(matches!(
        factor.factor(&other, PivotRule::Keep),
        Err(SparseError::Size { .. })
    ));
    for bounds in [vec![], vec![0, 1], vec![1, 2, 3], vec![0, 2, 2]] {
        assert!(FrontSymbolic::new(&bounds, &Graph::new(2)).is_err());
    }
}
