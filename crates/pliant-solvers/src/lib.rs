//! Saddle-point (KKT) systems: the problem statement, honest residuals and solvers.
//!
//! The problem, in the notation of the book:
//!
//! ```math
//! [  W  -J^T ] [ x  ]   [ c ]
//! [ -J  -R   ] [ mu ] = [ b ]
//! ```
//!
//! with `W` (n x n) symmetric, positive definite on the null space of `J` and without a zero on its
//! diagonal, `J` (m x n), `R` (m x m) symmetric positive semidefinite and block diagonal; rows with
//! `R = 0` are hard. Fixed variables stay at `x = 0`.
//!
//! The crate holds the statement ([`KktSystem`]), the residuals by which every solver is judged,
//! and the solvers that a step calls. It never sees a node, a mapping or a time step. Rows are
//! bilateral ([`DirectSolver`], [`DenseSolver`], [`DenseCholesky`]) or have a bounded multiplier
//! ([`BoxSolver`], [`ProjectedGaussSeidel`]): motors, dry friction in joints, unilateral stops. A
//! step calls any of them as a [`KktSolver`]. Cones of friction, and problems that come as a
//! matrix, are in [`complementarity`]. Iterative solvers of linear systems are in the crate
//! `pliant-krylov`; eigenvalues are in [`eigen`]; methods for comparison, the list of all solvers
//! by name and problems as texts are in `pliant-lab`.
//!
//! ```
//! use pliant_solvers::{DirectSolver, KktSystem, Solution, Status};
//! // min (x0^2 + x1^2)/2 subject to x0 + x1 = 1: both are 1/2, and the multiplier too.
//! let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0])?;
//! system.b[0] = -1.0;
//! let mut solver = DirectSolver::default();
//! let mut solution = Solution::default();
//! solver.prepare(&system)?;
//! let report = solver.solve(&system, &mut solution)?;
//! assert_eq!(report.status, Status::Converged);
//! assert!((solution.x[0] - 0.5).abs() < 1e-15 && (solution.mu[0] - 0.5).abs() < 1e-15);
//! # Ok::<(), pliant_solvers::SolveError>(())
//! ```
//!
//! With the feature `serde`, off by default, options that are a choice of words and what solvers
//! remember are read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod complementarity;

mod bounds;
mod boxed;
mod dense;
mod direct;
pub mod eigen;
mod equilibrated;
mod kkt_solver;
mod order;
mod redundant;
mod residual;
mod system;

pub use bounds::{BoundState, BoundsReport};
pub use boxed::{BoxOptions, BoxSolver, CondensedBounds, ProjectedGaussSeidel};
pub use dense::{
    DenseCholesky, DenseFactor, DenseMethod, DenseOptions, DenseSolver, Inertia, solve_dense,
    solve_dense_ldlt,
};
pub use direct::{
    DirectOptions, DirectSolver, Kind, PivotedOptions, PivotedSolver, RightHandSide, SolverCounters,
    StationarySolver, TimeSplit,
};
pub use equilibrated::{Equilibrated, power_of_two_below};
pub use kkt_solver::{KktMemory, KktSolver};
pub use order::Elimination;
pub use residual::{KktResidual, ResidualWorkspace};
pub use system::{KktShape, KktSystem, Solution};

/// One unknown of a [`KktSystem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Entry of `x`.
    Dof(usize),
    /// Entry of `mu`.
    Row(usize),
}

impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dof(i) => write!(f, "degree of freedom {i}"),
            Self::Row(i) => write!(f, "constraint row {i}"),
        }
    }
}

/// Why a system could not be solved at all. (A solve that ended with too large a residual is a
/// [`Status`].)
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// `W` is not positive definite on the null space of `J`: no inertia, a negative mass, or
    /// compression beyond what the mass can carry in a step. The solution would not be a minimum.
    #[error(
        "the response matrix W is not positive definite on the constraints' null space, first seen at degree of freedom {dof} \
         (diagonal {diagonal:e})"
    )]
    NotPositiveDefinite {
        /// Index into `x`.
        dof: usize,
        /// `W_ii`.
        diagonal: f64,
    },
    /// `R` has a negative diagonal.
    #[error("constraint row {row} has the negative compliance term {value:e}")]
    NegativeCompliance {
        /// Index into `mu`.
        row: usize,
        /// `R_ii`.
        value: f64,
    },
    /// No multiplier lies between the bounds of a row: one is NaN, they are in the wrong order, or
    /// both are the same infinity.
    #[error("constraint row {row} has no multiplier between its bounds {lower:e} and {upper:e}")]
    Bounds {
        /// Index into `mu`.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A bounded row for a solver of bilateral rows.
    #[error("constraint row {row} has bounds, which this solver would ignore")]
    Bounded {
        /// Index into `mu`.
        row: usize,
    },
    /// A pivot that is zero, up to rounding.
    #[error("the matrix is singular: pivot {index} (variables first, then rows) is {pivot:e}")]
    Singular {
        /// Index of the unknown, rows after all variables.
        index: usize,
        /// Its pivot.
        pivot: f64,
    },
    /// A row without compliance for a method that condenses compliant rows.
    #[error("constraint row {row} is hard, and this method condenses compliant rows")]
    HardRow {
        /// Index into `mu`.
        row: usize,
    },
    /// A matrix or right-hand side holds NaN or infinity.
    #[error("{variable} has a coefficient that is not finite")]
    NotFinite {
        /// Where.
        variable: Variable,
    },
    /// Sizes do not fit.
    #[error("expected {what} of length {expected}, found {found}")]
    Size {
        /// Which operand.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// An option outside its range.
    #[error("{what} is {value:e}, which makes no sense")]
    Parameter {
        /// Which option.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// `solve` before `prepare`, or with a system of another shape.
    #[error("the solver was not prepared for this system")]
    NotPrepared,
    /// A combination of options that no method has.
    #[error("{what}")]
    Unsupported {
        /// The combination.
        what: &'static str,
    },
    /// A solver from outside the library failed.
    #[error("{solver}: {message}")]
    Provided {
        /// Its name.
        solver: &'static str,
        /// Why, in its own words.
        message: String,
    },
    /// From the sparse kernels.
    #[error(transparent)]
    Sparse(#[from] pliant_sparse::SparseError),
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for SolveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Compares the length of an operand with that of the system.
///
/// # Errors
/// [`SolveError::Size`] if they differ.
pub fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), SolveError> {
    if expected == found {
        Ok(())
    } else {
        Err(SolveError::Size {
            what,
            expected,
            found,
        })
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// The residual is below the tolerance.
    Converged,
    /// Refinement stopped above the tolerance.
    Stagnated,
    /// The iterations allowed ran out above the tolerance.
    MaxIterations,
    /// An iterative method cannot go on: it met a direction without curvature or a product that is
    /// not finite. The answer is the best one so far.
    Breakdown,
    /// Hard rows contradict each other: `x` is the least-squares compromise, `mu` belongs to it.
    Incompatible {
        /// The row that is violated most.
        row: usize,
        /// `|J x + R mu + b|` there.
        violation: f64,
    },
    /// The set of rows at their bounds did not settle within the rounds allowed, or what it settled
    /// on misses the tolerance.
    Unsettled {
        /// The row that misses its law most, against its tolerance.
        row: usize,
        /// Natural-map residual there, as in [`BoundsReport::natural`].
        residual: f64,
    },
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::Stagnated => f.write_str("stagnated"),
            Self::MaxIterations => f.write_str("iterations ran out"),
            Self::Breakdown => f.write_str("broke down"),
            Self::Incompatible { row, violation } => {
                write!(f, "row {row} contradicts others, violated by {violation:.1e}")
            }
            Self::Unsettled { row, residual } => {
                write!(f, "bounds unsettled, row {row} misses its law by {residual:.1e}")
            }
        }
    }
}

/// Result of a solve, and its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveReport {
    /// How it ended.
    pub status: Status,
    /// The residual of the answer, against the matrices as given.
    pub residual: KktResidual,
    /// Iterations of a Krylov method, sweeps of projected Gauss-Seidel; zero of a factor.
    pub iterations: usize,
    /// Steps of iterative refinement, corrections of a Krylov method.
    pub refinements: usize,
    /// Pivots that were dropped as dependent: the rank deficiency of the hard rows.
    pub redundant_rows: usize,
    /// Positive and negative pivots: always n (free variables) and m less the redundant rows. A row
    /// at a bound counts with its unit pivot. Methods that know no inertia say `(0, 0)`.
    pub inertia: (usize, usize),
    /// Residual and work of the rows with bounds.
    pub bounds: BoundsReport,
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
