//! The factor of the permuted matrix: by fronts, by blocks or by entries, whichever is predicted to
//! be fastest.

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
/// Entries of the blocks per entry of the matrix from which single entries may be faster.
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
        let factor = Box::new(self.fronts.allocate(threads)?);
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

    /// The values as they are stored, to be written.
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

    /// Whether it is worth while to fill block column by block column, just before each is needed:
    /// not for single entries, of which every one is soon done.
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
mod tests;
