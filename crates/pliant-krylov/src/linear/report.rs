//! Reports of the automatic solver.

use crate::KktMethod;
use pliant_solvers::{DenseMethod, SolveError, SolveReport, Status};
use std::time::Duration;

/// A method of the [`LinearAuto`](crate::LinearAuto).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinearMethod {
    /// [`DenseSolver`](pliant_solvers::DenseSolver).
    Dense(DenseMethod),
    /// [`DirectSolver`](pliant_solvers::DirectSolver).
    Direct,
    /// [`PivotedSolver`](pliant_solvers::PivotedSolver).
    Pivoted,
    /// [`KktKrylov`](crate::KktKrylov).
    Krylov(KktMethod),
}

impl std::fmt::Display for LinearMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dense(method) => method.name(),
            Self::Direct => "sparse L D L^T",
            Self::Pivoted => "sparse L B L^T with pivoting",
            Self::Krylov(method) => method.name(),
        })
    }
}

/// Why a method was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The caller said so.
    Pinned,
    /// The system is small and full.
    Small,
    /// Half the work of a factor is as much as this many iterations.
    WorthIterations {
        /// The iterations that it got.
        budget: usize,
    },
    /// A factor costs too little for iterations to compete.
    CheapFactor,
    /// The methods before it failed.
    Escalated,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pinned => f.write_str("as asked for"),
            Self::Small => f.write_str("the system is small and full"),
            Self::WorthIterations { budget } => {
                write!(f, "half the work of a factor buys {budget} iterations")
            }
            Self::CheapFactor => f.write_str("a factor costs less than iterations would"),
            Self::Escalated => f.write_str("what came before failed"),
        }
    }
}

/// To what end a method was tried.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The method gave an answer.
    Solved(Status),
    /// The method could not be prepared, or broke down.
    Failed(SolveError),
}

/// One method that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Which.
    pub method: LinearMethod,
    /// Why.
    pub reason: Reason,
    /// To what end.
    pub outcome: Outcome,
    /// Krylov iterations.
    pub iterations: usize,
    /// [`KktResidual::relative`](pliant_solvers::KktResidual::relative) of its answer; infinite
    /// without one.
    pub residual: f64,
    /// Time of the preparation, if it was made for this solve. For reading only: no decision
    /// depends on it.
    pub preparation: Duration,
    /// Time of the solve.
    pub solve: Duration,
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): ", self.method, self.reason)?;
        match &self.outcome {
            Outcome::Solved(status) => write!(f, "{status:?}")?,
            Outcome::Failed(error) => write!(f, "{error}")?,
        }
        let milliseconds = |t: Duration| 1e3 * t.as_secs_f64();
        write!(
            f,
            ", {} iterations, relative residual {:.1e}, {:.2} + {:.2} ms",
            self.iterations,
            self.residual,
            milliseconds(self.preparation),
            milliseconds(self.solve)
        )
    }
}

/// Result of a solve by [`LinearAuto`](crate::LinearAuto), and its work. The way there is in
/// [`attempts`](crate::LinearAuto::attempts).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearReport {
    /// How it ended.
    pub status: Status,
    /// The residual of the answer, against the matrices as given.
    pub residual: pliant_solvers::KktResidual,
    /// The method whose answer it is.
    pub method: LinearMethod,
    /// Krylov iterations of all methods.
    pub iterations: usize,
    /// Refinements of a factor's answer, or rounds of a Krylov method.
    pub refinements: usize,
    /// Rows dropped as redundant, and the inertia, if a factor answered.
    pub factor: Option<FactorSummary>,
}

/// Properties of the system that a factor showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactorSummary {
    /// Pivots that were dropped as dependent: the rank deficiency of the hard rows.
    pub redundant_rows: usize,
    /// Positive and negative pivots: n (free variables) and m less the redundant rows. Only where
    /// [`indefinite`](crate::LinearOptions::indefinite) systems are allowed may they be others: the
    /// answer is then no minimum.
    pub inertia: (usize, usize),
}

impl LinearReport {
    /// From the report of a factor's solve.
    pub(super) fn of_factor(method: LinearMethod, report: &SolveReport) -> Self {
        Self {
            status: report.status,
            residual: report.residual,
            method,
            iterations: 0,
            refinements: report.refinements,
            factor: Some(FactorSummary {
                redundant_rows: report.redundant_rows,
                inertia: report.inertia,
            }),
        }
    }
}
