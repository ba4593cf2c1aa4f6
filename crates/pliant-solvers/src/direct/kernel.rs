//! The factor of the permuted matrix: by fronts, by blocks or by entries, whichever is predicted to
//! be fastest.

use crate::SolveError;
use crate::order::Elimination;
use pliant_sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, CsrMatrix, Dependence, FactorReport, FrontFactor,
    FrontSymbolic, Graph, PivotRule, PivotedFactor, SparseError, SymbolicWorkspace, Threads,
};

/// Smallest mean size of a block for which blocks pay.
const SMALLEST_BLOCK: f64 = 1.8;
/// Entries of the blocks of the matrix per entry of it above which blocks stop paying.
const LARGEST_PADDING: f64 = 4.0;
/// Entries of the blocks per entry of the matrix from which single entries may be faster.
const PADDING_OF_ENTRIES: f64 = 1.6;
/// Operations per entry of `L` from which nothing beats fronts.
const LARGEST_FILL: usize = 150;

/// Symbolic and numeric factor. The storage of the kind that is not in use waits for a pattern
/// that takes it.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    kind: Kind,
    /// One index per block; by entries, blocks are of one unknown.
    block_symbolic: BlockSymbolic,
    block_factor: BlockFactor,
    /// Dense fronts.
    front_symbolic: FrontSymbolic,
    front_factor: FrontFactor,
    /// The factor of the last matrix where pivots had to be chosen.
    pivoted: Option<Pivoted>,
}

/// A factor that chooses its pivots, and the unknowns that found none.
#[derive(Debug)]
struct Pivoted {
    factor: PivotedFactor,
    dropped: Vec<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Blocks,
    Fronts,
}

/// Scratch of the choice. No result depends on what is in it.
#[derive(Debug, Default)]
pub(super) struct KernelWorkspace {
    graph: Graph,
    vertex: Vec<usize>,
    bounds: Vec<usize>,
    /// The pattern of the cheapest factor by blocks or entries, and one that is compared with it.
    pattern: BlockPattern,
    other: BlockPattern,
}

/// Predicted nanoseconds of the factorisation by blocks, a fit to chains, bands and grids of blocks
/// of one to six.
fn cost_by_blocks(pattern: &BlockPattern) -> f64 {
    100.0 * pattern.len() as f64 + 3.0 * pattern.updates() as f64 + pattern.flops() as f64 / 7.0
}

/// Predicted nanoseconds of the factorisation by entries, for the pattern of blocks of one, with
/// the time of clearing and filling them; a fit to chains and grids.
fn cost_by_entries(pattern: &BlockPattern) -> f64 {
    2.0 * pattern.len() as f64 + 2.0 * pattern.entries() as f64 + 1.2 * pattern.updates() as f64
}

/// Makes the graph of the blocks with the given boundaries.
fn connect(bounds: &[usize], entries: &[(u32, u32)], vertex: &mut Vec<usize>, graph: &mut Graph) {
    vertex.clear();
    for (k, w) in bounds.windows(2).enumerate() {
        vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
    }
    graph.reset(bounds.len() - 1);
    let mut last = (0, 0);
    for (i, j) in entries {
        let edge = (vertex[*i as usize], vertex[*j as usize]);
        if edge != last {
            graph.connect(edge.0, edge.1);
            last = edge;
        }
    }
}

/// The cheaper of fronts and blocks.
struct Choice {
    kind: Kind,
    /// Predicted, of whichever it is.
    cost: f64,
    has_little_fill: bool,
}

/// Blocks of the unknowns in the order of elimination.
struct Blocks<'a> {
    /// The first unknown of each, and the end.
    bounds: &'a [usize],
    /// The pairs that an entry connects.
    graph: &'a Graph,
}

impl Choice {
    /// Between the fronts, and blocks with the same graph whose pattern is left in `pattern` if
    /// they are cheaper.
    fn new(
        fronts: &FrontSymbolic,
        blocks: &Blocks<'_>,
        cost_of: fn(&BlockPattern) -> f64,
        pattern: &mut BlockPattern,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<Self, SparseError> {
        let mut out = Self {
            kind: Kind::Fronts,
            cost: fronts.cost(),
            has_little_fill: fronts.flops() <= LARGEST_FILL * fronts.entries(),
        };
        if out.has_little_fill {
            pattern.refill(blocks.bounds, blocks.graph, symbolic)?;
            let cost = cost_of(pattern);
            if cost <= out.cost {
                (out.cost, out.kind) = (cost, Kind::Blocks);
            }
        }
        Ok(out)
    }
}

impl Kernel {
    /// Pivots up to 1 are dropped: the scales make it so.
    pub(super) const RULE: PivotRule = PivotRule::Drop { threshold: 1.0 };

    /// Makes it one for a matrix of the given entries `(i, j)`, `i >= j`, each once. After an error
    /// it is of no use.
    pub(super) fn refill(
        &mut self,
        order: &Elimination,
        entries: &[(u32, u32)],
        threads: &Threads,
        work: &mut KernelWorkspace,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<(), SolveError> {
        let kind = self.choose(order, entries, work, symbolic)?;
        self.kind = kind;
        self.pivoted = None;
        match kind {
            Kind::Blocks => {
                self.block_symbolic.refill(&mut work.pattern)?;
                self.block_factor.refill(&self.block_symbolic);
            }
            Kind::Fronts => self.front_factor.refill(&self.front_symbolic, threads)?,
        }
        Ok(())
    }

    /// Analyses the fronts, and leaves the pattern of the blocks in `work.pattern` if they are
    /// cheaper.
    fn choose(
        &mut self,
        order: &Elimination,
        entries: &[(u32, u32)],
        work: &mut KernelWorkspace,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<Kind, SolveError> {
        let KernelWorkspace {
            graph,
            vertex,
            bounds,
            pattern,
            other,
        } = work;
        let fronts = &mut self.front_symbolic;
        let size = order.sequence.len();
        let mut by_blocks = None;
        if size as f64 >= SMALLEST_BLOCK * (order.bounds.len() - 1) as f64 {
            let bounds = &order.bounds;
            connect(bounds, entries, vertex, graph);
            fronts.refill(bounds, graph, symbolic)?;
            let padding = fronts.matrix_entries() as f64 / entries.len() as f64;
            if padding <= LARGEST_PADDING {
                let found = Choice::new(
                    fronts,
                    &Blocks { bounds, graph },
                    cost_by_blocks,
                    pattern,
                    symbolic,
                )?;
                if padding <= PADDING_OF_ENTRIES || !found.has_little_fill {
                    return Ok(found.kind);
                }
                by_blocks = Some(found);
            }
        }
        bounds.clear();
        bounds.extend(0..=size);
        connect(bounds, entries, vertex, graph);
        let Some(found) = by_blocks else {
            fronts.refill(bounds, graph, symbolic)?;
            let best = Choice::new(
                fronts,
                &Blocks { bounds, graph },
                cost_by_entries,
                pattern,
                symbolic,
            )?;
            return Ok(best.kind);
        };
        // Little fill: the pattern of the entries is quickly made.
        other.refill(bounds, graph, symbolic)?;
        if cost_by_entries(other) < found.cost {
            std::mem::swap(pattern, other);
            return Ok(Kind::Blocks);
        }
        Ok(found.kind)
    }

    /// Where entry `(i, j)` goes in [`Self::start`].
    pub(super) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        match self.kind {
            Kind::Blocks => self.block_symbolic.slot(i, j),
            Kind::Fronts => self.front_symbolic.slot(i, j),
        }
    }

    /// The values of the matrix, all zero, to be filled.
    pub(super) fn start(&mut self) -> &mut [f64] {
        match self.kind {
            Kind::Blocks => self.block_factor.clear(),
            Kind::Fronts => self.front_factor.clear(),
        }
        self.values_mut()
    }

    /// The values as they are stored, to be written.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        match self.kind {
            Kind::Blocks => self.block_factor.values_mut(),
            Kind::Fronts => self.front_factor.values_mut(),
        }
    }

    /// Factors what was filled.
    pub(super) fn factor(&mut self) -> Result<FactorReport, SparseError> {
        match self.kind {
            Kind::Blocks => self.block_factor.factor(&self.block_symbolic, Self::RULE),
            Kind::Fronts => self.front_factor.factor(&self.front_symbolic, Self::RULE),
        }
    }

    /// Factors the same matrix with pivots of one and two that are chosen for stability, instead of
    /// the order of elimination: slow, and whatever the sizes of its entries. It is in use until
    /// [`Self::drop_pivots`]. Unknowns without a pivot are dropped.
    pub(super) fn factor_by_pivots(&mut self, matrix: &CsrMatrix) -> Result<FactorReport, SparseError> {
        self.pivoted = None;
        let factor = PivotedFactor::new(matrix, PivotedFactor::THRESHOLD)?;
        let inertia = factor.inertia();
        let mut dropped = vec![false; factor.size()];
        factor.zeros().for_each(|k| dropped[k] = true);
        self.pivoted = Some(Pivoted { factor, dropped });
        Ok(FactorReport {
            positive: inertia.positive,
            negative: inertia.negative,
            dropped: inertia.zero,
        })
    }

    /// Goes back to the factor in the order of elimination.
    pub(super) fn drop_pivots(&mut self) {
        self.pivoted = None;
    }

    /// Whether the factor in use chose its pivots.
    pub(super) fn chooses_pivots(&self) -> bool {
        self.pivoted.is_some()
    }

    /// The pivots of the factor in the order of elimination.
    pub(super) fn pivots(&self) -> &[f64] {
        match self.kind {
            Kind::Blocks => self.block_factor.pivots(),
            Kind::Fronts => self.front_factor.pivots(),
        }
    }

    pub(super) fn is_dropped(&self, i: usize) -> bool {
        if let Some(pivoted) = &self.pivoted {
            return pivoted.dropped[i];
        }
        match self.kind {
            Kind::Blocks => self.block_factor.is_dropped(i),
            Kind::Fronts => self.front_factor.is_dropped(i),
        }
    }

    /// Solves for as many right-hand sides as `x` holds one after another.
    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        if let Some(Pivoted { factor, .. }) = &self.pivoted {
            let sides = x.chunks_exact_mut(factor.size().max(1));
            sides.for_each(|x| factor.solve_in_place(x));
            return;
        }
        match self.kind {
            Kind::Blocks => self.block_factor.solve_in_place(&self.block_symbolic, x),
            Kind::Fronts => self.front_factor.solve_in_place(&self.front_symbolic, x),
        }
    }

    /// `L^-T e` for the unit vector of an unknown, without entries of less than a share of the
    /// largest, of the factor in the order of elimination.
    pub(super) fn dependence(&self, unknown: usize, negligible: f64, out: &mut Dependence) {
        match self.kind {
            Kind::Blocks => self
                .block_factor
                .dependence(&self.block_symbolic, unknown, negligible, out),
            Kind::Fronts => self
                .front_factor
                .dependence(&self.front_symbolic, unknown, negligible, out),
        }
    }

    /// Symbolic and numeric factor by blocks, a part of which can be renewed; `None` of others.
    pub(super) fn by_blocks(&self) -> Option<(&BlockSymbolic, &BlockFactor)> {
        let is_it = self.kind == Kind::Blocks && self.pivoted.is_none();
        is_it.then_some((&self.block_symbolic, &self.block_factor))
    }

    /// The factor of [`by_blocks`](Self::by_blocks), to be filled and computed.
    pub(super) fn by_blocks_mut(&mut self) -> Option<(&BlockSymbolic, &mut BlockFactor)> {
        (self.kind == Kind::Blocks).then_some((&self.block_symbolic, &mut self.block_factor))
    }

    /// Symbolic factor by blocks if it is worth while to fill block column by block column, just
    /// before each is needed: not for single entries, of which every one is soon done.
    pub(super) fn swept(&self) -> Option<&BlockSymbolic> {
        let (symbolic, _) = self.by_blocks()?;
        (symbolic.pattern().len() < symbolic.size()).then_some(symbolic)
    }

    /// Block columns of a factor by blocks; 0 of others.
    pub(super) fn columns(&self) -> usize {
        self.by_blocks()
            .map_or(0, |(symbolic, _)| symbolic.pattern().len())
    }

    /// Entries of `L` with the diagonal, with the zeros that a block or a supernode holds.
    pub(super) fn entries(&self) -> usize {
        match self.kind {
            Kind::Blocks => self.block_symbolic.pattern().entries(),
            Kind::Fronts => self.front_symbolic.entries(),
        }
    }
}

#[cfg(test)]
mod tests;
