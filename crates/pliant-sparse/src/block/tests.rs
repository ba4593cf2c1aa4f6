//! The block factor against the dense one, the scalar one and itself.

use super::*;
use crate::{CsrMatrix, Graph, PatternBuilder, Symbolic};
use proptest::prelude::*;

/// A random quasi-definite block matrix: a lower triangle by rows, dense in its blocks.
pub(crate) struct Problem {
    pub(crate) bounds: Vec<usize>,
    pub(crate) graph: Graph,
    pub(crate) a: CsrMatrix,
}

/// Numbers in (-1, 1), the same for the same state.
pub(crate) fn noise(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl Problem {
    pub(crate) fn new(sizes: &[usize], edges: &[(usize, usize)], seed: u64) -> Self {
        let mut bounds = vec![0];
        for s in sizes {
            bounds.push(bounds[bounds.len() - 1] + s);
        }
        let n = bounds[sizes.len()];
        let mut graph = Graph::new(sizes.len());
        let mut builder = PatternBuilder::new(n, n);
        for k in 0..sizes.len() {
            builder.insert_block((bounds[k], bounds[k]), (sizes[k], sizes[k]), true);
        }
        for (i, j) in edges
            .iter()
            .map(|(a, b)| (*a.max(b), *a.min(b)))
            .filter(|(i, j)| i != j)
        {
            graph.connect(i, j);
            builder.insert_block((bounds[i], bounds[j]), (sizes[i], sizes[j]), false);
        }
        let mut a = builder.finish().unwrap().into_matrix();
        let mut state = seed;
        for i in 0..n {
            let sign = if i % 3 == 2 { -1.0 } else { 1.0 };
            for slot in a.pattern().row_slots(i) {
                let diagonal = a.pattern().indices()[slot] as usize == i;
                let off = noise(&mut state);
                a.values_mut()[slot] = if diagonal { sign * (4.0 + n as f64) } else { off };
            }
        }
        Self { bounds, graph, a }
    }

    /// Bodies and joints: positive blocks, hard rows after the blocks they act on.
    pub(crate) fn constrained(bodies: &[usize], rows: &[usize], seed: u64) -> Self {
        // body 0, joint 0, body 1, joint 1, ...: joint k acts on bodies k and k + 1.
        let mut sizes = Vec::new();
        let mut edges = Vec::new();
        for (k, b) in bodies.iter().enumerate() {
            sizes.push(*b);
            if k + 1 < bodies.len() {
                sizes.push(rows[k].min(*b));
                edges.extend([(2 * k, 2 * k + 1), (2 * k + 1, 2 * k + 2)]);
            }
        }
        let mut out = Self::new(&sizes, &edges, seed);
        for i in 0..out.bounds[sizes.len()] {
            let vertex = out.bounds.partition_point(|b| *b <= i) - 1;
            for slot in out.a.pattern().row_slots(i) {
                let j = out.a.pattern().indices()[slot] as usize;
                let inside = j >= out.bounds[vertex];
                if vertex % 2 == 1 && inside {
                    out.a.values_mut()[slot] = 0.0;
                } else if i == j {
                    out.a.values_mut()[slot] = 8.0;
                }
            }
        }
        out
    }

    fn symbolic(&self) -> BlockSymbolic {
        BlockSymbolic::new(BlockPattern::new(&self.bounds, &self.graph).unwrap()).unwrap()
    }

    pub(crate) fn fill(&self, symbolic: &BlockSymbolic, factor: &mut BlockFactor) {
        factor.clear();
        for i in 0..self.a.pattern().rows() {
            for (slot, j) in self.a.pattern().row_slots(i).zip(self.a.pattern().row(i)) {
                factor.values_mut()[symbolic.slot(i, *j as usize).unwrap()] = self.a.values()[slot];
            }
        }
    }

    fn factor(&self, rule: PivotRule) -> (BlockSymbolic, BlockFactor, Result<FactorReport, SparseError>) {
        let symbolic = self.symbolic();
        let mut factor = symbolic.allocate();
        self.fill(&symbolic, &mut factor);
        let report = factor.factor(&symbolic, rule);
        (symbolic, factor, report)
    }

    /// Dense `L D L^T` of the same order, dropped columns zero: `L` by rows and `D`.
    pub(crate) fn dense(&self, threshold: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let n = self.a.pattern().rows();
        let mut l: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| self.a.get(i, j)).collect())
            .collect();
        let mut d = vec![0.0; n];
        for k in 0..n {
            let pivot = l[k][k];
            let dropped = pivot.abs() <= threshold;
            d[k] = if dropped { DROPPED } else { pivot };
            let column: Vec<f64> = (0..n).map(|i| l[i][k]).collect();
            l[k][k] = 1.0;
            for i in k + 1..n {
                l[i][k] = if dropped { 0.0 } else { column[i] / pivot };
                for j in k + 1..=i {
                    l[i][j] -= l[i][k] * column[j];
                }
            }
        }
        (l, d)
    }

    /// `L D L^T = A` to the rounding of its terms, and the decisions on pivots are those of the
    /// dense factor; `to` is how far `L` and `D` may be from the dense ones, relatively.
    fn agrees_with_dense(&self, threshold: f64, to: f64) -> Result<(), TestCaseError> {
        let (symbolic, factor, report) = self.factor(PivotRule::Drop { threshold });
        let report = report.unwrap();
        let (l, d) = self.dense(threshold);
        let n = d.len();
        let value = |i: usize, j: usize| match (i == j, symbolic.slot(i, j)) {
            (true, _) => 1.0,
            (false, slot) => slot.map_or(0.0, |slot| factor.values[slot]),
        };
        let p = factor.pivots();
        for i in 0..n {
            prop_assert_eq!(factor.is_dropped(i), d[i] == DROPPED);
            prop_assert!((p[i] - d[i]).abs() <= to * d[i].abs(), "{} is not {}", p[i], d[i]);
            for j in 0..=i {
                let (x, y) = (value(i, j), l[i][j]);
                prop_assert!(
                    (x - y).abs() <= to * (1.0 + y.abs()),
                    "({i}, {j}): {x} is not {y}"
                );
                if factor.is_dropped(j) {
                    continue;
                }
                let terms = (0..=j).map(|k| value(i, k) * p[k] * value(j, k));
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
                let (error, bound) = (
                    (sum - self.a.get(i, j)).abs(),
                    4.0 * n as f64 * f64::EPSILON * size,
                );
                prop_assert!(
                    error <= bound,
                    "({i}, {j}) is off by {error:e}, more than {bound:e}"
                );
            }
        }
        let dropped = d.iter().filter(|d| **d == DROPPED).count();
        let negative = d.iter().filter(|d| **d < 0.0).count();
        prop_assert_eq!(
            (report.positive, report.negative, report.dropped),
            (n - negative - dropped, negative, dropped)
        );
        Ok(())
    }

    /// `|A x - b|` of the solution for `b = A (1, 2, ..)`, where no variable is dropped.
    fn solves(&self) -> Result<(), TestCaseError> {
        let (symbolic, factor, report) = self.factor(PivotRule::Keep);
        report.unwrap();
        let n = symbolic.size();
        let exact: Vec<f64> = (0..n).map(|i| 1.0 + (i % 7) as f64).collect();
        let mut b = vec![0.0; n];
        self.a.symmetric_add_product(1.0, &exact, &mut b);
        // Two right-hand sides: b and -2 b.
        let mut x: Vec<f64> = b.iter().copied().chain(b.iter().map(|b| -2.0 * b)).collect();
        factor.solve_in_place(&symbolic, &mut x);
        for i in 0..n {
            prop_assert!((x[i] - exact[i]).abs() < 1e-9, "{} is not {}", x[i], exact[i]);
            prop_assert_eq!(x[n + i], -2.0 * x[i]);
        }
        let scalar = Symbolic::new(self.a.pattern()).unwrap();
        let mut other = scalar.allocate();
        other.factor(&scalar, &self.a, PivotRule::Keep).unwrap();
        other.solve_in_place(&scalar, &mut b);
        for i in 0..n {
            prop_assert!((x[i] - b[i]).abs() < 1e-9);
        }
        // Its fill is that of the scalar factor or a few zeros in blocks more.
        if !scalar.is_supernodal() {
            prop_assert!(symbolic.pattern().entries() >= scalar.factor_entries());
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn blocks_of_one(
        size in 1usize..40, pairs in prop::collection::vec((0usize..40, 0usize..40), 0..80), picks in prop::collection::vec((0usize..40, 1.0..3.0f64), 0..4),
        seed in any::<u64>()
    ) {
        let edges: Vec<_> = pairs.iter().map(|(a, b)| (a % size, b % size)).collect();
        let mut problem = Problem::new(&vec![1; size], &edges, seed);
        prop_assert!(problem.symbolic().is_single());
        problem.agrees_with_dense(0.0, 1e-10)?;
        problem.solves()?;
        // A partial one, which goes by the kernels for blocks, to the same bits.
        let rule = PivotRule::Drop { threshold: 1e-9 };
        let (symbolic, mut factor, _) = problem.factor(rule);
        let changed: Vec<usize> = picks.iter().map(|(j, _)| j % size).collect();
        picks.iter().for_each(|(j, by)| problem.scale_column(j % size, *by));
        let done = problem.refactor(&symbolic, &mut factor, &changed).unwrap();
        let (_, whole, report) = problem.factor(rule);
        prop_assert_eq!(done.report, report.unwrap());
        prop_assert_eq!((&factor.values, &factor.pivots), (&whole.values, &whole.pivots));
    }

    #[test]
    fn random_graphs(
        sizes in prop::collection::vec(1usize..9, 1..12),
        pairs in prop::collection::vec((0usize..12, 0usize..12), 0..25),
        seed in any::<u64>()
    ) {
        let inside = |(a, b): &(usize, usize)| (a % sizes.len(), b % sizes.len());
        let edges: Vec<_> = pairs.iter().map(inside).collect();
        let problem = Problem::new(&sizes, &edges, seed);
        problem.agrees_with_dense(0.0, 1e-10)?;
        problem.solves()?;
    }

    #[test]
    fn random_trees(
        sizes in prop::collection::vec(1usize..8, 2..20), up in prop::collection::vec(0usize..100, 20), seed in any::<u64>()
    ) {
        // The parent of a vertex comes later: no fill.
        let last = sizes.len() - 1;
        let edges: Vec<_> = (0..last).map(|k| (k, k + 1 + up[k] % (last - k))).collect();
        let problem = Problem::new(&sizes, &edges, seed);
        prop_assert_eq!(problem.symbolic().pattern().entries(), problem.a.pattern().len());
        problem.agrees_with_dense(0.0, 1e-10)?;
        problem.solves()?;
    }

    #[test]
    fn hard_rows_and_dropped_ones(
        bodies in prop::collection::vec(3usize..8, 1..6), rows in prop::collection::vec(1usize..6, 6), seed in any::<u64>()
    ) {
        let mut problem = Problem::constrained(&bodies, &rows, seed);
        problem.agrees_with_dense(1e-9, f64::INFINITY)?;
        if bodies.len() > 1 && rows[0].min(bodies[0]) > 1 {
            // The second row of the first joint is twice the first: its pivot is rounding.
            let first = problem.bounds[1];
            for j in (0..problem.bounds[1]).chain(problem.bounds[2]..problem.bounds[3]) {
                let slot = |i: usize| problem.a.pattern().slot(i.max(j), i.min(j)).unwrap();
                let (from, to) = (slot(first), slot(first + 1));
                problem.a.values_mut()[to] = 2.0 * problem.a.values()[from];
            }
            let (symbolic, factor, report) = problem.factor(PivotRule::Drop { threshold: 1e-9 });
            // Others may be redundant too: as many as the dense oracle says, below.
            prop_assert!(report.unwrap().dropped >= 1);
            prop_assert!(factor.is_dropped(first + 1));
            problem.agrees_with_dense(1e-9, f64::INFINITY)?;
            let mut x = vec![1.0; symbolic.size()];
            factor.solve_in_place(&symbolic, &mut x);
            prop_assert_eq!(x[first + 1], 0.0);
            prop_assert!(x.iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn nothing_and_one_block() {
    let empty = Problem::new(&[], &[], 0);
    let (symbolic, factor, report) = empty.factor(PivotRule::Keep);
    assert_eq!(report, Ok(FactorReport::default()));
    assert!(symbolic.pattern().is_empty());
    factor.solve_in_place(&symbolic, &mut []);
    for size in 1..10 {
        let one = Problem::new(&[size], &[], 3);
        one.agrees_with_dense(0.0, 1e-10).unwrap();
        one.solves().unwrap();
        assert_eq!(one.symbolic().pattern().entries(), size * (size + 1) / 2);
        assert_eq!(
            (one.symbolic().slot(0, size), one.symbolic().slot(size, 0)),
            (None, None)
        );
    }
}

#[test]
fn bad_pivots_and_bad_sizes_are_named() {
    let mut problem = Problem::new(&[3, 2, 7], &[(0, 1), (1, 2)], 1);
    let slot = problem.a.pattern().slot(4, 4).unwrap();
    problem.a.values_mut()[slot] = f64::NAN;
    assert_eq!(
        problem.factor(PivotRule::Drop { threshold: 1.0 }).2,
        Err(SparseError::Pivot { index: 4 })
    );
    let slot = problem.a.pattern().slot(0, 0).unwrap();
    problem.a.values_mut()[slot] = 0.0;
    assert_eq!(
        problem.factor(PivotRule::Keep).2,
        Err(SparseError::Pivot { index: 0 })
    );
    let other = Problem::new(&[2], &[], 1).symbolic();
    let mut factor = problem.symbolic().allocate();
    assert!(matches!(
        factor.factor(&other, PivotRule::Keep),
        Err(SparseError::Size { .. })
    ));
    for bounds in [vec![], vec![0, 1], vec![1, 2, 3], vec![0, 2, 2]] {
        assert!(BlockPattern::new(&bounds, &Graph::new(2)).is_err());
    }
}

/// `[2 2 0; 2 2 1; 0 1 3]`: the second pivot is zero. Dropped, it decouples: pivots 2, -, 3.
#[test]
fn blocks_of_one_drop_and_name_bad_pivots() {
    let mut problem = Problem::new(&[1, 1, 1], &[(0, 1), (1, 2)], 1);
    problem.a.values_mut().copy_from_slice(&[2.0, 2.0, 2.0, 1.0, 3.0]);
    assert_eq!(
        problem.factor(PivotRule::Keep).2,
        Err(SparseError::Pivot { index: 1 })
    );
    let (symbolic, factor, report) = problem.factor(PivotRule::Drop { threshold: 1e-9 });
    let report = report.unwrap();
    assert_eq!((report.positive, report.negative, report.dropped), (2, 0, 1));
    assert_eq!(factor.pivots(), [2.0, DROPPED, 3.0]);
    let mut x = [4.0, 5.0, 6.0];
    factor.solve_in_place(&symbolic, &mut x);
    assert_eq!(x, [2.0, 0.0, 2.0]);
    problem.a.values_mut()[4] = f64::NAN;
    let found = problem.factor(PivotRule::Drop { threshold: 1e-9 }).2;
    assert_eq!(found, Err(SparseError::Pivot { index: 2 }));
}

#[test]
fn the_same_matrix_gives_the_same_bits_again() {
    let problem = Problem::new(&[6, 3, 6, 5, 6, 7], &[(0, 1), (1, 2), (2, 3), (3, 4), (0, 5)], 5);
    let (symbolic, mut factor, report) = problem.factor(PivotRule::Keep);
    let before = (factor.values.clone(), factor.pivots.clone());
    problem.fill(&symbolic, &mut factor);
    assert_eq!(factor.factor(&symbolic, PivotRule::Keep), report);
    assert_eq!((factor.values, factor.pivots), before);
}

/// All entries, row by row.
pub(crate) fn entries_of(a: &CsrMatrix) -> Vec<f64> {
    let n = a.pattern().rows();
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for k in a.pattern().row(i) {
            let k = *k as usize;
            out[i * n + k] = a.get(i, k);
            out[k * n + i] = a.get(i, k);
        }
    }
    out
}

impl Problem {
    /// Changes the entries of block column `j`, keeps their signs.
    fn scale_column(&mut self, j: usize, by: f64) {
        for i in self.bounds[j]..self.bounds[self.bounds.len() - 1] {
            for slot in self.a.pattern().row_slots(i) {
                let column = self.a.pattern().indices()[slot] as usize;
                if (self.bounds[j]..self.bounds[j + 1]).contains(&column) {
                    self.a.values_mut()[slot] *= by;
                }
            }
        }
    }

    /// Writes `A` into the given block columns only, and factors these.
    fn refactor(
        &self,
        symbolic: &BlockSymbolic,
        factor: &mut BlockFactor,
        changed: &[usize],
    ) -> Result<Refactored, SparseError> {
        let open = factor.reopen(symbolic, changed)?.to_vec();
        for i in 0..self.a.pattern().rows() {
            for (slot, j) in self.a.pattern().row_slots(i).zip(self.a.pattern().row(i)) {
                if open.contains(&symbolic.vertex[*j as usize]) {
                    factor.values_mut()[symbolic.slot(i, *j as usize).unwrap()] = self.a.values()[slot];
                }
            }
        }
        factor.refactor(symbolic, PivotRule::Drop { threshold: 1e-9 })
    }
}

proptest! {
    #[test]
    fn a_partial_refactorisation_gives_the_bits_of_a_whole_one(
        sizes in prop::collection::vec(1usize..9, 1..14),
        pairs in prop::collection::vec((0usize..14, 0usize..14), 0..25),
        picks in prop::collection::vec((0usize..14, 1.0..3.0f64), 0..4),
        seed in any::<u64>()
    ) {
        let edges: Vec<_> = pairs.iter().map(|(a, b)| (a % sizes.len(), b % sizes.len())).collect();
        let mut problem = Problem::new(&sizes, &edges, seed);
        let (symbolic, mut factor, _) = problem.factor(PivotRule::Drop { threshold: 1e-9 });
        // Twice: the scratch of the first time is used again.
        for _ in 0..2 {
            let mut changed = Vec::new();
            for (j, by) in &picks {
                problem.scale_column(j % sizes.len(), *by);
                changed.push(j % sizes.len());
            }
            let done = problem.refactor(&symbolic, &mut factor, &changed).unwrap();
            let (_, whole, report) = problem.factor(PivotRule::Drop { threshold: 1e-9 });
            prop_assert_eq!(done.report, report.unwrap());
            prop_assert_eq!(&factor.values, &whole.values);
            prop_assert_eq!(&factor.pivots, &whole.pivots);
            prop_assert_eq!(&factor.inverses, &whole.inverses);
        }
    }
}

#[test]
fn a_change_of_a_chain_costs_its_way_to_the_root() {
    let links = 1000;
    let sizes: Vec<usize> = (0..2 * links).map(|k| if k % 2 == 0 { 6 } else { 3 }).collect();
    let edges: Vec<_> = (1..2 * links).map(|k| (k - 1, k)).collect();
    let mut problem = Problem::new(&sizes, &edges, 3);
    let (symbolic, mut factor, report) = problem.factor(PivotRule::Keep);
    report.unwrap();
    for (at, columns, read) in [(2 * links - 2, 2, 1), (links, links, 1), (0, 2 * links, 0)] {
        problem.scale_column(at, 1.5);
        let done = problem.refactor(&symbolic, &mut factor, &[at]).unwrap();
        assert_eq!((done.columns, done.read), (columns, read));
        assert_eq!(factor.values, problem.factor(PivotRule::Keep).1.values);
    }
}

#[test]
fn a_partial_refactorisation_wants_a_whole_one_first() {
    let mut problem = Problem::new(&[2, 3], &[(0, 1)], 1);
    let symbolic = problem.symbolic();
    let mut factor = symbolic.allocate();
    assert_eq!(factor.reopen(&symbolic, &[0]), Err(SparseError::NotFactored));
    assert_eq!(
        factor.refactor(&symbolic, PivotRule::Keep),
        Err(SparseError::NotFactored)
    );
    problem.fill(&symbolic, &mut factor);
    factor.factor(&symbolic, PivotRule::Keep).unwrap();
    let outside = SparseError::NoColumn {
        column: 2,
        columns: 2,
    };
    assert_eq!(factor.reopen(&symbolic, &[2]), Err(outside));
    assert_eq!(problem.refactor(&symbolic, &mut factor, &[]).unwrap().columns, 0);
    assert_eq!(
        factor.refactor(&symbolic, PivotRule::Keep),
        Err(SparseError::NotFactored)
    );
    // A bad pivot leaves nothing to go on from; the next whole factorisation does.
    let slot = problem.a.pattern().slot(3, 3).unwrap();
    let good = std::mem::replace(&mut problem.a.values_mut()[slot], f64::NAN);
    assert_eq!(
        problem.refactor(&symbolic, &mut factor, &[1]),
        Err(SparseError::Pivot { index: 3 })
    );
    assert_eq!(factor.reopen(&symbolic, &[1]), Err(SparseError::NotFactored));
    problem.a.values_mut()[slot] = good;
    problem.fill(&symbolic, &mut factor);
    factor.factor(&symbolic, PivotRule::Keep).unwrap();
    assert_eq!(problem.refactor(&symbolic, &mut factor, &[1]).unwrap().columns, 1);
}

proptest! {
    #[test]
    fn a_gram_matrix_is_that_of_whole_solves_and_costs_the_path_to_the_root(
        sizes in prop::collection::vec(1usize..7, 1..14),
        pairs in prop::collection::vec((0usize..14, 0usize..14), 0..20),
        picks in prop::collection::vec((0usize..3, 0usize..80, -1.0..1.0f64), 1..7),
        seed in any::<u64>()
    ) {
        let edges: Vec<_> = pairs.iter().map(|(a, b)| (a % sizes.len(), b % sizes.len())).collect();
        let problem = Problem::new(&sizes, &edges, seed);
        let (symbolic, factor, report) = problem.factor(PivotRule::Keep);
        prop_assert!(report.is_ok());
        let n = symbolic.size();
        let entries: Vec<_> = picks.iter().map(|(v, i, a)| (*v, i % n, *a)).collect();
        let mut reach = Reach::default();
        let mut out = [0.0; 9];
        // Twice: the first call leaves no trace in the scratch.
        factor.add_gram(&symbolic, 3, &entries, &mut reach, &mut [0.0; 9]);
        factor.add_gram(&symbolic, 3, &entries, &mut reach, &mut out);
        let mut b = vec![0.0; 3 * n];
        entries.iter().for_each(|(v, i, a)| b[v * n + i] += a);
        let mut x = b.clone();
        factor.solve_in_place(&symbolic, &mut x);
        for (k, found) in out.iter().enumerate() {
            let (p, q) = (k / 3, k % 3);
            let exact: f64 = (0..n).map(|i| b[p * n + i] * x[q * n + i]).sum();
            prop_assert!((found - exact).abs() < 1e-13, "{} {}", found, exact);
        }
        let mut path = std::collections::BTreeSet::new();
        for (_, i, _) in &entries {
            let mut up = Some(symbolic.vertex[*i]);
            while let Some(j) = up {
                path.insert(j);
                up = symbolic.pattern().column(j as usize).first().copied();
            }
        }
        prop_assert_eq!(reach.visited(), path.len());
    }
}

/// Three blocks in a row, the first of which has a pivot that is dropped: its count goes with it
/// and comes back.
#[test]
fn a_dropped_pivot_of_a_reopened_column_is_counted_once() {
    let mut problem = Problem::new(&[2, 2, 2], &[(0, 1), (1, 2)], 3);
    for i in 0..6 {
        for slot in problem.a.pattern().row_slots(i) {
            let j = problem.a.pattern().indices()[slot] as usize;
            let diagonal = if i == 1 { 0.0 } else { 4.0 };
            problem.a.values_mut()[slot] = match (i, j) {
                _ if i == j => diagonal,
                // Unknown 1 stands alone.
                (1, _) | (_, 1) => 0.0,
                _ => 0.5,
            };
        }
    }
    let (symbolic, mut factor, whole) = problem.factor(PivotRule::Drop { threshold: 1e-9 });
    let whole = whole.unwrap();
    assert_eq!((whole.positive, whole.negative, whole.dropped), (5, 0, 1));
    for changed in [[0], [1], [2]] {
        let done = problem.refactor(&symbolic, &mut factor, &changed).unwrap();
        assert_eq!(done.report, whole, "{changed:?}");
    }
}

/// Between reopening and refactoring there is no factor; a bad pivot is an error whatever comes
/// after it.
#[test]
fn a_reopened_factor_is_none_and_stays_none_after_a_bad_pivot() {
    let mut problem = Problem::new(&[1, 1, 1], &[(0, 2), (1, 2)], 4);
    let (symbolic, mut factor, _) = problem.factor(PivotRule::Keep);
    factor.reopen(&symbolic, &[0]).unwrap();
    assert_eq!(factor.reopen(&symbolic, &[0]), Err(SparseError::NotFactored));
    problem.fill(&symbolic, &mut factor);
    factor.factor(&symbolic, PivotRule::Keep).unwrap();
    // Column 0 has no diagonal; column 1, which is good, comes after it.
    let slot = problem.a.pattern().slot(0, 0).unwrap();
    problem.a.values_mut()[slot] = f64::NAN;
    assert_eq!(
        problem.refactor(&symbolic, &mut factor, &[0, 1]),
        Err(SparseError::Pivot { index: 0 })
    );
}
