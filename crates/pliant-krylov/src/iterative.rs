//! KKT systems by one of the three methods that a user names.

use crate::linear::COMPLIANT;
use crate::{
    Approximation, KktKrylov, KktKrylovOptions, KktMethod, KrylovOptions, KrylovStatus, MultigridReport,
    NearNullSpace, PrimalPreconditioner,
};
use pliant_solvers::{KktMemory, KktSolver, KktSystem, Solution, SolveError, SolveReport, Status};
use pliant_sparse::Threads;

/// The Krylov method of an [`IterativeSolver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IterativeMethod {
    /// Conjugate gradients: on `W + J^T R^-1 J` where every row is compliant or there is none
    /// ([`KktMethod::PrimalPcg`]), else projected to the rows ([`KktMethod::ProjectedPcg`]). A row
    /// counts as hard if its compliance is below `1e-8` of the diagonal of `J |diag(W)|^-1 J^T`.
    /// For `W` that is positive definite on the null space of the hard rows.
    #[default]
    Cg,
    /// MINRES on the whole matrix ([`KktMethod::Minres`]).
    Minres,
    /// GMRES on the whole matrix ([`KktMethod::ConstraintGmres`]), with the restart of
    /// [`KrylovOptions::restart`].
    Gmres,
}

/// The preconditioner of an [`IterativeSolver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IterativePreconditioner {
    /// The diagonal of `W`.
    Diagonal,
    /// The diagonal blocks of `W`.
    #[default]
    Blocks,
    /// An incomplete Cholesky factor of `W + J^T R^-1 J`: for conjugate gradients without hard rows
    /// only.
    IncompleteCholesky,
    /// Smoothed aggregation ([`SmoothedAggregation`](crate::SmoothedAggregation)), whose iterations
    /// hardly depend on the number of unknowns: for conjugate gradients without hard rows, and for
    /// MINRES, which takes the place of conjugate gradients where there are some. Nearly
    /// incompressible solids, whose rows of volume have little compliance, are for MINRES:
    /// conjugate gradients condense such rows, and what comes out is as stiff as they are. For `W`
    /// that is positive definite.
    Multilevel,
}

/// Options of [`IterativeSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterativeOptions {
    /// The method.
    pub method: IterativeMethod,
    /// The preconditioner.
    pub preconditioner: IterativePreconditioner,
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Iterations at most, per solve.
    pub max_iterations: usize,
}

impl Default for IterativeOptions {
    fn default() -> Self {
        Self {
            method: IterativeMethod::default(),
            preconditioner: IterativePreconditioner::default(),
            tolerance: 1e-9,
            max_iterations: 10_000,
        }
    }
}

/// Solves a KKT system of bilateral rows, hard and compliant, by a [`KktKrylov`] whose variant
/// suits the rows of the system; where the solution has the right lengths it is the start.
///
/// The report is that of every [`KktSolver`]: iterations, corrections as refinements, the residual
/// against the matrices as given. No inertia is known, it is `(0, 0)`; that `W` is not positive
/// definite shows as [`Status::Breakdown`] or not at all.
///
/// ```
/// use pliant_krylov::{IterativeMethod, IterativeOptions, IterativeSolver};
/// use pliant_solvers::{KktSolver, KktSystem, Solution, Status};
/// let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0])?;
/// system.b[0] = -1.0;
/// for method in [IterativeMethod::Cg, IterativeMethod::Minres, IterativeMethod::Gmres] {
///     let mut solver = IterativeSolver::new(IterativeOptions { method, ..Default::default() });
///     let mut solution = Solution::default();
///     solver.prepare(&system)?;
///     let report = solver.solve(&system, &mut solution)?;
///     assert_eq!(report.status, Status::Converged, "{}", solver.name());
///     assert!((solution.x[0] - 0.5).abs() < 1e-12);
/// }
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
#[derive(Debug, Default)]
pub struct IterativeSolver {
    /// Options; a change of method or preconditioner counts from the next `prepare` on.
    pub options: IterativeOptions,
    krylov: KktKrylov,
}

impl IterativeSolver {
    /// A solver with given options.
    pub fn new(options: IterativeOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Tells the motions that cost next to no energy, as
    /// [`KktKrylov::set_near_null_space`] does.
    pub fn set_near_null_space(&mut self, modes: &NearNullSpace) {
        self.krylov.set_near_null_space(modes);
    }

    /// Lets threads share the set-up, as [`KktKrylov::share`] does.
    pub fn share(&mut self, threads: &Threads) {
        self.krylov.share(threads);
    }

    /// The levels of a multilevel preconditioner, after `prepare`.
    pub fn levels(&self) -> Option<MultigridReport> {
        self.krylov.levels()
    }

    /// The variant for the rows of a system.
    fn variant(&self, system: &KktSystem) -> Result<KktKrylovOptions, SolveError> {
        let hard = (0..system.m()).any(|i| system.r_diagonal(i) <= COMPLIANT * system.row_scale(i));
        let multilevel = self.options.preconditioner == IterativePreconditioner::Multilevel;
        let method = match self.options.method {
            IterativeMethod::Cg if hard && multilevel => KktMethod::Minres,
            IterativeMethod::Cg if hard => KktMethod::ProjectedPcg,
            IterativeMethod::Cg => KktMethod::PrimalPcg,
            IterativeMethod::Minres => KktMethod::Minres,
            IterativeMethod::Gmres => KktMethod::ConstraintGmres,
        };
        let incomplete = self.options.preconditioner == IterativePreconditioner::IncompleteCholesky;
        if incomplete && method != KktMethod::PrimalPcg {
            return Err(SolveError::Unsupported {
                what: "an incomplete Cholesky factor is for conjugate gradients on systems without hard rows",
            });
        }
        Ok(KktKrylovOptions {
            method,
            approximation: match self.options.preconditioner {
                IterativePreconditioner::Diagonal => Approximation::Diagonal,
                IterativePreconditioner::Multilevel => Approximation::Multilevel,
                _ => Approximation::Blocks,
            },
            preconditioner: match self.options.preconditioner {
                IterativePreconditioner::Diagonal => PrimalPreconditioner::Diagonal,
                IterativePreconditioner::Blocks => PrimalPreconditioner::BlockJacobi,
                IterativePreconditioner::IncompleteCholesky => PrimalPreconditioner::IncompleteCholesky,
                IterativePreconditioner::Multilevel => PrimalPreconditioner::Multilevel,
            },
            krylov: self.limits(),
        })
    }

    fn limits(&self) -> KrylovOptions {
        KrylovOptions {
            tolerance: self.options.tolerance,
            max_iterations: self.options.max_iterations,
            ..KrylovOptions::default()
        }
    }
}

impl KktSolver for IterativeSolver {
    fn name(&self) -> &'static str {
        match self.options.method {
            IterativeMethod::Cg => "conjugate gradients",
            IterativeMethod::Minres => "MINRES",
            IterativeMethod::Gmres => "GMRES",
        }
    }

    /// Equilibrates, and makes the preconditioner.
    ///
    /// # Errors
    /// Those of [`KktKrylov::prepare`]; [`SolveError::Unsupported`] for a preconditioner that the
    /// method cannot use.
    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.krylov.options = self.variant(system)?;
        self.krylov.prepare(system)
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.krylov.options.krylov = self.limits();
        KktSolver::solve(&mut self.krylov, system, solution)
    }

    /// One solve hands nothing to the next but the start.
    fn impose(&mut self, _: &KktMemory) {}
}

impl KktSolver for KktKrylov {
    fn name(&self) -> &'static str {
        self.options.method.name()
    }

    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.prepare(system)
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        let report = self.solve(system, solution)?;
        Ok(SolveReport {
            status: match report.status {
                KrylovStatus::Converged => Status::Converged,
                KrylovStatus::MaxIterations => Status::MaxIterations,
                KrylovStatus::Stagnated => Status::Stagnated,
                KrylovStatus::Breakdown { .. } => Status::Breakdown,
            },
            residual: report.residual,
            iterations: report.iterations,
            refinements: report.rounds,
            redundant_rows: 0,
            inertia: (0, 0),
            bounds: pliant_solvers::BoundsReport {
                natural: report.residual.row,
                ..Default::default()
            },
        })
    }

    /// One solve hands nothing to the next but the start.
    fn impose(&mut self, _: &KktMemory) {}
}
