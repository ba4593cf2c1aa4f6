//! Least-index principal pivoting.

use pliant_solvers::complementarity::{
    BlockPivoting, BlockPivotingOptions, Limits, Method, Problem, ProblemError, Report, Solver,
};

/// Of all rows that violate their law the one of least index changes its state (Murty 1974).
///
/// No friction. For a P-matrix it ends at the solution, after up to `2^n - 1` pivots: a last
/// resort, and a test of patience. The start gives the first set. It is [`BlockPivoting`] without
/// patience for blocks. Cost: a dense factorisation of the free rows each. Allocates.
#[derive(Clone, Debug)]
pub struct Murty {
    pivoting: BlockPivoting,
}

impl Default for Murty {
    fn default() -> Self {
        Self::new(BlockPivotingOptions::default().limits)
    }
}

impl Murty {
    /// A solver with given limits; an iteration is a pivot.
    pub fn new(limits: Limits) -> Self {
        Self {
            pivoting: BlockPivoting::new(BlockPivotingOptions {
                limits,
                patience: 0,
                redundant: true,
            }),
        }
    }
}

impl Solver for Murty {
    fn method(&self) -> Method {
        Method::Other("murty")
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let report = self.pivoting.solve(problem, r)?;
        Ok(Report {
            method: self.method(),
            ..report
        })
    }
}
