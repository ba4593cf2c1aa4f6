//! The factor of the permuted matrix: by blocks where that is faster, else by entries.

use crate::order::Elimination;
use crate::{KktSystem, SolveError};
use pliant_sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, CsrMatrix, Factor, FactorReport, Graph, PatternBuilder,
    PivotRule, SparseError, Symbolic,
};

/// Smallest mean size of a block for which blocks pay.
const SMALLEST_BLOCK: f64 = 1.8;
/// Operations per entry of `L` from which the supernodes of the scalar factor are faster.
const LARGEST_FILL: usize = 100;
/// Share of the blocks of `L` that zeros may be before blocks stop paying, as entries of `L` per entry of the matrix.
const LARGEST_PADDING: usize = 4;

/// Symbolic and numeric factor.
#[derive(Debug)]
pub(super) enum Kernel {
    /// One index per entry; supernodes where there is much fill.
    Scalar {
        matrix: CsrMatrix,
        symbolic: Box<Symbolic>,
        factor: Factor,
    },
    /// One index per block.
    Blocks {
        symbolic: BlockSymbolic,
        factor: BlockFactor,
    },
}

/// Boundaries of the runs of unknowns of one primal or row block, in the order of elimination.
fn runs(system: &KktSystem, order: &Elimination) -> Vec<usize> {
    let n = system.n();
    let block = |v: usize| {
        if v < n {
            (false, system.primal_blocks().partition_point(|first| *first <= v))
        } else {
            (true, system.row_blocks().partition_point(|first| *first <= v - n))
        }
    };
    let mut bounds = Vec::new();
    let mut last = None;
    for (k, v) in order.sequence.iter().enumerate() {
        let now = Some(block(*v));
        if now != last {
            bounds.push(k);
            last = now;
        }
    }
    bounds.push(order.sequence.len());
    bounds
}

impl Kernel {
    /// For a matrix of the given entries `(i, j)`, `i >= j`, each once.
    pub(super) fn new(
        system: &KktSystem,
        order: &Elimination,
        entries: &[(u32, u32)],
    ) -> Result<Self, SolveError> {
        let bounds = runs(system, order);
        let size = order.sequence.len();
        let blocks = bounds.len() - 1;
        if size as f64 >= SMALLEST_BLOCK * blocks as f64 {
            let mut vertex = Vec::with_capacity(size);
            for (k, w) in bounds.windows(2).enumerate() {
                vertex.extend(std::iter::repeat_n(k, w[1] - w[0]));
            }
            let mut graph = Graph::new(blocks);
            let mut last = (0, 0);
            for (i, j) in entries {
                let edge = (vertex[*i as usize], vertex[*j as usize]);
                if edge != last {
                    graph.connect(edge.0, edge.1);
                    last = edge;
                }
            }
            let pattern = BlockPattern::new(bounds, &graph)?;
            let pays = pattern.flops() <= LARGEST_FILL * pattern.entries()
                && pattern.entries() <= LARGEST_PADDING * entries.len();
            if pays {
                let symbolic = BlockSymbolic::new(pattern)?;
                let factor = symbolic.allocate();
                return Ok(Self::Blocks { symbolic, factor });
            }
        }
        let mut builder = PatternBuilder::new(size, size);
        for (i, j) in entries {
            builder.insert(*i as usize, *j as usize);
        }
        let matrix = builder.finish()?.into_matrix();
        let symbolic = Symbolic::new(matrix.pattern())?;
        let factor = symbolic.allocate();
        let symbolic = Box::new(symbolic);
        Ok(Self::Scalar {
            matrix,
            symbolic,
            factor,
        })
    }

    /// Where entry `(i, j)` goes in [`Self::start`].
    pub(super) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        match self {
            Self::Scalar { matrix, .. } => matrix.pattern().slot(i, j),
            Self::Blocks { symbolic, .. } => symbolic.slot(i, j),
        }
    }

    /// The values of the matrix, all zero, to be filled.
    pub(super) fn start(&mut self) -> &mut [f64] {
        match self {
            Self::Scalar { matrix, .. } => {
                matrix.clear();
                matrix.values_mut()
            }
            Self::Blocks { factor, .. } => {
                factor.clear();
                factor.values_mut()
            }
        }
    }

    /// Factors what was filled; pivots up to 1 are dropped.
    pub(super) fn factor(&mut self) -> Result<FactorReport, SparseError> {
        let rule = PivotRule::Drop { threshold: 1.0 };
        match self {
            Self::Scalar {
                matrix,
                symbolic,
                factor,
            } => factor.factor(symbolic, matrix, rule),
            Self::Blocks { symbolic, factor } => factor.factor(symbolic, rule),
        }
    }

    pub(super) fn pivots(&self) -> &[f64] {
        match self {
            Self::Scalar { factor, .. } => factor.pivots(),
            Self::Blocks { factor, .. } => factor.pivots(),
        }
    }

    pub(super) fn is_dropped(&self, i: usize) -> bool {
        match self {
            Self::Scalar { factor, .. } => factor.is_dropped(i),
            Self::Blocks { factor, .. } => factor.is_dropped(i),
        }
    }

    pub(super) fn solve_in_place(&mut self, x: &mut [f64]) {
        match self {
            Self::Scalar { symbolic, factor, .. } => factor.solve_in_place(symbolic, x),
            Self::Blocks { symbolic, factor } => factor.solve_in_place(symbolic, x),
        }
    }

    /// Entries of `L` with the diagonal, with the zeros that a block or a supernode holds.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Scalar { symbolic, .. } => symbolic.factor_entries(),
            Self::Blocks { symbolic, .. } => symbolic.pattern().entries(),
        }
    }
}
