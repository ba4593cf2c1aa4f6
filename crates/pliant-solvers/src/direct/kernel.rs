//! The factor of the permuted matrix: by fronts, by blocks or by entries, whichever is predicted to be fastest.

use crate::SolveError;
use crate::order::Elimination;
use pliant_sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, FactorReport, FrontFactor, FrontSymbolic, Graph, PivotRule,
    SparseError, Threads,
};

/// Smallest mean size of a block for which blocks pay.
const SMALLEST_BLOCK: f64 = 1.8;
/// Entries of the blocks of the matrix per entry of it above which blocks stop paying.
const LARGEST_PADDING: f64 = 4.0;
/// The same from which single entries may be faster.
const PADDING_OF_ENTRIES: f64 = 1.6;
/// Operations per entry of `L` from which nothing beats fronts.
const LARGEST_FILL: usize = 150;

/// Symbolic and numeric factor.
#[derive(Debug)]
pub(super) enum Kernel {
    /// One index per block; by entries, blocks are of one unknown.
    Blocks {
        symbolic: Box<BlockSymbolic>,
        factor: BlockFactor,
    },
    /// Dense fronts.
    Fronts {
        symbolic: Box<FrontSymbolic>,
        factor: Box<FrontFactor>,
    },
}

/// Predicted nanoseconds of the factorisation by blocks, a fit to chains, bands and grids of blocks of one to six.
fn cost_by_blocks(pattern: &BlockPattern) -> f64 {
    100.0 * pattern.len() as f64 + 3.0 * pattern.updates() as f64 + pattern.flops() as f64 / 7.0
}

/// The same by entries, for the pattern of blocks of one, with the time of clearing and filling them; a fit to chains and grids.
fn cost_by_entries(pattern: &BlockPattern) -> f64 {
    2.0 * pattern.len() as f64 + 2.0 * pattern.entries() as f64 + 1.2 * pattern.updates() as f64
}

/// The graph of the blocks with the given boundaries.
fn graph(bounds: &[usize], entries: &[(u32, u32)]) -> Graph {
    let mut vertex = Vec::with_capacity(bounds[bounds.len() - 1]);
    for (k, w) in bounds.windows(2).enumerate() {
        vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
    }
    let mut graph = Graph::new(bounds.len() - 1);
    let mut last = (0, 0);
    for (i, j) in entries {
        let edge = (vertex[*i as usize], vertex[*j as usize]);
        if edge != last {
            graph.connect(edge.0, edge.1);
            last = edge;
        }
    }
    graph
}

/// The cheaper of fronts and blocks.
struct Choice {
    fronts: FrontSymbolic,
    /// Of the blocks, if they are cheaper.
    pattern: Option<BlockPattern>,
    /// Predicted, of whichever it is.
    cost: f64,
    has_little_fill: bool,
}

impl Choice {
    fn new(
        fronts: FrontSymbolic,
        bounds: Vec<usize>,
        graph: &Graph,
        cost_of: fn(&BlockPattern) -> f64,
    ) -> Result<Self, SparseError> {
        let has_little_fill = fronts.flops() <= LARGEST_FILL * fronts.entries();
        let mut out = Self {
            cost: fronts.cost(),
            fronts,
            pattern: None,
            has_little_fill,
        };
        if has_little_fill {
            let pattern = BlockPattern::new(bounds, graph)?;
            let cost = cost_of(&pattern);
            if cost <= out.cost {
                (out.cost, out.pattern) = (cost, Some(pattern));
            }
        }
        Ok(out)
    }

    fn allocate(self, threads: &Threads) -> Result<Kernel, SparseError> {
        if let Some(pattern) = self.pattern {
            let symbolic = Box::new(BlockSymbolic::new(pattern)?);
            let factor = symbolic.allocate();
            return Ok(Kernel::Blocks { symbolic, factor });
        }
        let factor = Box::new(self.fronts.allocate(threads));
        let symbolic = Box::new(self.fronts);
        Ok(Kernel::Fronts { symbolic, factor })
    }
}

impl Kernel {
    /// Pivots up to 1 are dropped: the scales make it so.
    pub(super) const RULE: PivotRule = PivotRule::Drop { threshold: 1.0 };

    /// For a matrix of the given entries `(i, j)`, `i >= j`, each once.
    pub(super) fn new(
        order: &Elimination,
        entries: &[(u32, u32)],
        threads: &Threads,
    ) -> Result<Self, SolveError> {
        let bounds = order.bounds.clone();
        let size = order.sequence.len();
        let mut by_blocks = None;
        if size as f64 >= SMALLEST_BLOCK * (bounds.len() - 1) as f64 {
            let graph = graph(&bounds, entries);
            let fronts = FrontSymbolic::new(&bounds, &graph)?;
            let padding = fronts.matrix_entries() as f64 / entries.len() as f64;
            if padding <= LARGEST_PADDING {
                let found = Choice::new(fronts, bounds, &graph, cost_by_blocks)?;
                if padding <= PADDING_OF_ENTRIES || !found.has_little_fill {
                    return Ok(found.allocate(threads)?);
                }
                by_blocks = Some(found);
            }
        }
        let bounds: Vec<usize> = (0..=size).collect();
        let graph = graph(&bounds, entries);
        let best = match by_blocks {
            // Little fill: the pattern of the entries is quickly made.
            Some(found) => {
                let pattern = BlockPattern::new(bounds, &graph)?;
                let cost = cost_by_entries(&pattern);
                if cost < found.cost {
                    Choice {
                        cost,
                        pattern: Some(pattern),
                        ..found
                    }
                } else {
                    found
                }
            }
            None => Choice::new(
                FrontSymbolic::new(&bounds, &graph)?,
                bounds,
                &graph,
                cost_by_entries,
            )?,
        };
        Ok(best.allocate(threads)?)
    }

    /// Where entry `(i, j)` goes in [`Self::start`].
    pub(super) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        match self {
            Self::Blocks { symbolic, .. } => symbolic.slot(i, j),
            Self::Fronts { symbolic, .. } => symbolic.slot(i, j),
        }
    }

    /// The values of the matrix, all zero, to be filled.
    pub(super) fn start(&mut self) -> &mut [f64] {
        match self {
            Self::Blocks { factor, .. } => factor.clear(),
            Self::Fronts { factor, .. } => factor.clear(),
        }
        self.values_mut()
    }

    /// The same as they are.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        match self {
            Self::Blocks { factor, .. } => factor.values_mut(),
            Self::Fronts { factor, .. } => factor.values_mut(),
        }
    }

    /// Factors what was filled.
    pub(super) fn factor(&mut self) -> Result<FactorReport, SparseError> {
        match self {
            Self::Blocks { symbolic, factor } => factor.factor(symbolic, Self::RULE),
            Self::Fronts { symbolic, factor } => factor.factor(symbolic, Self::RULE),
        }
    }

    pub(super) fn pivots(&self) -> &[f64] {
        match self {
            Self::Blocks { factor, .. } => factor.pivots(),
            Self::Fronts { factor, .. } => factor.pivots(),
        }
    }

    pub(super) fn is_dropped(&self, i: usize) -> bool {
        match self {
            Self::Blocks { factor, .. } => factor.is_dropped(i),
            Self::Fronts { factor, .. } => factor.is_dropped(i),
        }
    }

    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        match self {
            Self::Blocks { symbolic, factor } => factor.solve_in_place(symbolic, x),
            Self::Fronts { symbolic, factor } => factor.solve_in_place(symbolic, x),
        }
    }

    /// Whether a part of the factor can be renewed.
    pub(super) fn is_by_blocks(&self) -> bool {
        matches!(self, Self::Blocks { .. })
    }

    /// Whether it is worth while to fill block column by block column, just before each is needed: not for single entries, of which every one is
    /// soon done.
    pub(super) fn is_swept(&self) -> bool {
        matches!(self, Self::Blocks { symbolic, .. } if symbolic.pattern().len() < symbolic.size())
    }

    /// Block columns of a factor by blocks; 0 of others.
    pub(super) fn columns(&self) -> usize {
        match self {
            Self::Blocks { symbolic, .. } => symbolic.pattern().len(),
            _ => 0,
        }
    }

    /// Entries of `L` with the diagonal, with the zeros that a block or a supernode holds.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Blocks { symbolic, .. } => symbolic.pattern().entries(),
            Self::Fronts { symbolic, .. } => symbolic.entries(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DirectSolver, KktSystem, Solution};
    use pliant_sparse::PatternBuilder;

    /// A chain of `bodies` of six with rows of three between them, as blocks or as scalars.
    fn chain(bodies: usize, blocks: bool) -> KktSystem {
        let (n, m) = (6 * bodies, 3 * bodies);
        let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
        for k in 0..bodies {
            w.insert_block((6 * k, 6 * k), (6, 6), true);
            j.insert_block((3 * k, 6 * k), (3, 6), false);
            if k > 0 {
                j.insert_block((3 * k, 6 * k - 6), (3, 6), false);
            }
            r.insert_block((3 * k, 3 * k), (3, 3), true);
        }
        let every = |step: usize, size: usize| (0..=size).step_by(if blocks { step } else { 1 }).collect();
        let (w, j, r) = (w.finish().unwrap(), j.finish().unwrap(), r.finish().unwrap());
        // Scalar row blocks want a diagonal R.
        let r = if blocks {
            r
        } else {
            let mut diagonal = PatternBuilder::new(m, m);
            (0..m).for_each(|i| diagonal.insert(i, i));
            diagonal.finish().unwrap()
        };
        let mut s = KktSystem::new(w, j, r, every(6, n), every(3, m)).unwrap();
        for i in 0..n {
            for slot in s.w.pattern().row_slots(i) {
                let k = s.w.pattern().indices()[slot] as usize;
                s.w.values_mut()[slot] = if i == k { 3.0 + (i % 5) as f64 } else { 0.2 };
            }
            s.c[i] = (i as f64).sin();
        }
        for i in 0..m {
            for slot in s.j.pattern().row_slots(i) {
                let k = s.j.pattern().indices()[slot] as usize;
                let same = i % 3 == k % 6;
                s.j.values_mut()[slot] = f64::from(u8::from(same)) + 0.3 * ((7 * i + 5 * k) as f64).cos();
            }
            s.b[i] = (i as f64).cos();
        }
        s
    }

    #[test]
    fn blocks_and_scalars_give_one_answer() {
        let mut answers = Vec::new();
        for blocks in [true, false] {
            let s = chain(30, blocks);
            let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
            solver.prepare(&s).unwrap();
            let columns = solver.plan.as_ref().map(|p| p.kernel.columns());
            assert_eq!(columns, Some(if blocks { 60 } else { 270 }));
            let report = solver.solve(&s, &mut solution).unwrap();
            assert_eq!((report.inertia, report.redundant_rows), ((180, 90), 0));
            assert!(report.residual.relative < 1e-14);
            answers.push(solution);
        }
        // Roundings, times the condition of rows that act alike on both bodies.
        let off = |a: &[f64], b: &[f64]| {
            let size = a.iter().fold(1.0f64, |s, a| s.max(a.abs()));
            a.iter()
                .zip(b)
                .fold(0.0f64, |d, (a, b)| d.max((a - b).abs() / size))
        };
        let (x, mu) = (
            off(&answers[0].x, &answers[1].x),
            off(&answers[0].mu, &answers[1].mu),
        );
        assert!(x < 1e-12 && mu < 1e-12, "{x:e} {mu:e}");
    }

    /// What is cleared, filled and factored in one sweep is what is filled first where changes are looked for: with compliances that couple rows, and
    /// variables that are fixed, one or all of a body.
    #[test]
    fn one_sweep_gives_the_bits_of_filling_first() {
        for fixed in [0..0, 7..8, 60..66] {
            let mut s = chain(30, true);
            for i in 0..s.m() {
                for slot in s.r.pattern().row_slots(i) {
                    let k = s.r.pattern().indices()[slot] as usize;
                    s.r.values_mut()[slot] = if i == k { 0.3 } else { 0.05 };
                }
            }
            s.fixed[fixed].fill(true);
            let mut solvers = [false, true].map(|few_changes| {
                let mut solver = DirectSolver::default();
                solver.options.few_changes = few_changes;
                solver
            });
            // The second time, over what the first left behind.
            for change in [0.0, 1.0] {
                (0..s.n()).for_each(|i| {
                    let slot = s.w.pattern().row_slots(i).end - 1;
                    s.w.values_mut()[slot] += change;
                });
                let answers = solvers.each_mut().map(|solver| {
                    let mut solution = Solution::default();
                    solver.prepare(&s).unwrap();
                    assert!(solver.plan.as_ref().is_some_and(|p| p.kernel.is_swept()));
                    let report = solver.solve(&s, &mut solution).unwrap();
                    assert!(report.residual.relative < 1e-14);
                    (report, solution.x, solution.mu)
                });
                assert_eq!(answers[0], answers[1]);
            }
        }
    }

    /// A chain of bodies whose `W` is diagonal and whose rows of three act on two coordinates of either body: blocks that are mostly zeros.
    fn sparse_chain(bodies: usize) -> KktSystem {
        let (n, m) = (6 * bodies, 3 * bodies);
        let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
        (0..n).for_each(|i| w.insert(i, i));
        for k in 0..bodies {
            for i in 0..3 {
                r.insert(3 * k + i, 3 * k + i);
                for body in k.saturating_sub(1)..=k {
                    j.insert(3 * k + i, 6 * body + i);
                    j.insert(3 * k + i, 6 * body + 3 + (i + 1) % 3);
                }
            }
        }
        let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
        let (primal, rows) = ((0..=n).step_by(6).collect(), (0..=m).step_by(3).collect());
        let mut s = KktSystem::new(w, j, r, primal, rows).unwrap();
        for (i, w) in s.w.values_mut().iter_mut().enumerate() {
            *w = 2.0 + (i % 5) as f64;
        }
        for (slot, a) in s.j.values_mut().iter_mut().enumerate() {
            *a = [1.0, 0.3, -1.0, 0.2][slot % 4];
        }
        s.c.iter_mut()
            .enumerate()
            .for_each(|(i, c)| *c = (i as f64).sin());
        s.b.iter_mut()
            .enumerate()
            .for_each(|(i, b)| *b = (i as f64).cos());
        s
    }

    #[test]
    fn blocks_that_are_mostly_zeros_go_by_entries_to_the_same_bits_where_few_change() {
        let mut s = sparse_chain(100);
        let mut solvers = [false, true].map(|few_changes| {
            let mut solver = DirectSolver::default();
            solver.options.few_changes = few_changes;
            solver
        });
        for change in [0, 0, 1] {
            s.w.values_mut()[17] += f64::from(change);
            let answers = solvers.each_mut().map(|solver| {
                let mut solution = Solution::default();
                solver.prepare(&s).unwrap();
                let report = solver.solve(&s, &mut solution).unwrap();
                assert!(report.residual.relative < 1e-14);
                assert_eq!((report.inertia, report.redundant_rows), ((600, 300), 0));
                (report, solution.x, solution.mu)
            });
            assert_eq!(answers[0], answers[1]);
        }
        let work = solvers.each_ref().map(DirectSolver::counters);
        // One index per unknown, not more entries than two per row and two of fill, and a part of it the second and the third time.
        assert_eq!(work[0].columns, 3 * 900);
        assert!(work[1].columns < 2 * 900, "{}", work[1].columns);
        assert!(work[0].factor_entries < 3 * 900, "{}", work[0].factor_entries);
    }

    /// A net of `side x side` particles with springs along its edges, in blocks of three.
    fn net(side: usize) -> KktSystem {
        let n = 3 * side * side;
        let at = |i: usize, j: usize| 3 * (i * side + j);
        let mut w = PatternBuilder::new(n, n);
        for i in 0..side {
            for j in 0..side {
                w.insert_block((at(i, j), at(i, j)), (3, 3), true);
                if j > 0 {
                    w.insert_block((at(i, j), at(i, j - 1)), (3, 3), false);
                }
                if i > 0 {
                    w.insert_block((at(i, j), at(i - 1, j)), (3, 3), false);
                }
            }
        }
        let rows = || PatternBuilder::new(0, n).finish().unwrap();
        let none = PatternBuilder::new(0, 0).finish().unwrap();
        let blocks = (0..=n).step_by(3).collect();
        let mut s = KktSystem::new(w.finish().unwrap(), rows(), none, blocks, vec![0]).unwrap();
        for i in 0..n {
            for slot in s.w.pattern().row_slots(i) {
                let k = s.w.pattern().indices()[slot] as usize;
                s.w.values_mut()[slot] = if i == k { 9.0 } else { ((3 * i + k) as f64).sin() };
            }
            s.c[i] = (i as f64).sin();
        }
        s
    }

    #[test]
    fn nets_go_by_fronts_and_threads_do_not_show() {
        let s = net(40);
        let mut answers = Vec::new();
        for threads in [1, 2, 3] {
            let mut solver = DirectSolver::default();
            solver.options.threads = threads;
            let mut solution = Solution::default();
            solver.prepare(&s).unwrap();
            let kernel = solver.plan.as_ref().map(|p| &p.kernel);
            assert!(matches!(kernel, Some(super::Kernel::Fronts { .. })));
            let report = solver.solve(&s, &mut solution).unwrap();
            assert!(report.residual.relative < 1e-14);
            if threads == 1 {
                let again = allocation_counter::measure(|| {
                    solver.prepare(&s).unwrap();
                    solver.solve(&s, &mut solution).unwrap();
                });
                assert_eq!(again.count_total, 0, "allocations of a step that is warm");
            }
            answers.push((report, solution.x));
        }
        assert!(answers.windows(2).all(|w| w[0] == w[1]));
    }
}
