//! Options of the direct solver, and its counters.

use pliant_sparse::OrderReport;

/// Tolerances of the [`DirectSolver`](crate::DirectSolver).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectOptions {
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Steps of iterative refinement at most; more would revive the drift modes of nearly redundant
    /// rows. An answer that is not within the tolerance then is refined up to six times more while
    /// each halves its residual at least, unless this is 0.
    pub max_refinements: usize,
    /// A hard row is redundant if its pivot is below this share of its Delassus diagonal
    /// `(J diag(W)^-1 J^T)_ii`.
    pub rank_threshold: f64,
    /// Redundant rows contradict each other if the part of `b` along their null space is above this
    /// share of `|J_i| u + |b_i|`, with the largest velocity `u` of the variables they act on.
    pub incompatibility: f64,
    /// Whether `prepare` looks for what changed since the last one, and factors only that and what
    /// comes after it in the elimination tree, if it is little: for steps in which few coefficients
    /// change, or none, as of linear models. A factor by fronts is kept where nothing
    /// changed. It costs a pass over the entries, and their memory. Results do not depend on it. A
    /// [`BoxSolver`](crate::BoxSolver) with bounded rows always looks.
    pub small_update: bool,
    /// Whether a factor that chooses its pivots solves again where refinement ends beyond the
    /// tolerance, and is asked where the signs of pivots are in doubt (a
    /// [`BoxSolver`](crate::BoxSolver) always asks): of systems of up to 1,000 unknowns, since it
    /// is slow. Not for iterations that measure their next iterate: rows that are nearly redundant
    /// are independent to it, with multipliers of that size.
    pub chooses_pivots: bool,
    /// Threads that fill finite elements, factor and solve where there is enough work for them,
    /// from the next analysis of a pattern on; 0 counts as 1, above 1024 is an error. Results do
    /// not depend on it.
    pub threads: usize,
}

pub(crate) const MOST_THREADS: usize = DirectOptions::MOST_THREADS;

impl DirectOptions {
    /// More threads than any factor has work for are a slip of the pen.
    pub const MOST_THREADS: usize = 1024;
}

impl Default for DirectOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            max_refinements: 2,
            rank_threshold: 1e-10,
            incompatibility: 1e-6,
            small_update: false,
            chooses_pivots: false,
            threads: 1,
        }
    }
}

/// Work done since the solver was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverCounters {
    /// Orderings and symbolic factorisations: one per pattern.
    pub symbolic: usize,
    /// Numeric factorisations: one per `prepare`.
    pub numeric: usize,
    /// Block columns that these eliminated, of factors by blocks: fewer than there are where only
    /// the changed part was factored again.
    pub columns: usize,
    /// Triangular solves.
    pub solves: usize,
    /// Stored entries of `L`, with the diagonal and with zeros that a block or a supernode holds.
    pub factor_entries: usize,
    /// Stored entries of the lower triangle of the permuted KKT matrix.
    pub matrix_entries: usize,
    /// How the order of elimination in use was found, and its predicted cost; deferred rows are not
    /// counted.
    pub order: OrderReport,
}

impl SolverCounters {
    /// Adds the work between two readings of another solver; none if it was made anew between them.
    pub fn add_since(&mut self, before: &Self, after: &Self) {
        self.symbolic += after.symbolic.saturating_sub(before.symbolic);
        self.numeric += after.numeric.saturating_sub(before.numeric);
        self.columns += after.columns.saturating_sub(before.columns);
        self.solves += after.solves.saturating_sub(before.solves);
    }

    /// Adds the work and the entries of another solver.
    pub fn add(&mut self, other: &Self) {
        self.add_since(&Self::default(), other);
        self.factor_entries += other.factor_entries;
        self.matrix_entries += other.matrix_entries;
    }
}
