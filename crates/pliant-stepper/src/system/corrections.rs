//! The solvers of position corrections and of accelerations.

use super::iterations::{FINER, Motions, krylov_options};
use super::rigid_nodes::Configuration;
use crate::Options;
use crate::contact::Penetration;
use pliant_krylov::IterativeSolver;
use pliant_solvers::{DirectSolver, KktSolver, KktSystem, Solution, SolveError, SolveReport, Status};
use pliant_sparse::Threads;

/// The solvers of position corrections.
#[derive(Debug, Default)]
pub(crate) struct Corrections {
    /// Of accelerations, which have other rows than a step, and of corrections onto hard rows unless
    /// the options name a Krylov method.
    pub(crate) direct: DirectSolver,
    /// Of corrections onto hard rows, where the options name one.
    iterations: Option<Box<Iterations>>,
    /// Of those behind a step, because of overlap, limits and ropes.
    pub(crate) behind: Box<Penetration>,
}

#[derive(Debug, Default)]
struct Iterations {
    solver: IterativeSolver,
    motions: Motions,
}

impl Corrections {
    /// Takes the options of the coming step.
    pub(crate) fn configure(&mut self, options: &Options, threads: &Threads) {
        self.direct.options = options.last_solver();
        let Some(krylov) = krylov_options(options.linear, FINER * options.tuning.solver.tolerance) else {
            self.iterations = None;
            return;
        };
        let iterations = self.iterations.get_or_insert_default();
        iterations.solver.options = krylov;
        iterations.solver.share(threads);
    }

    /// Takes the system of a correction onto hard rows, of a model in a configuration.
    ///
    /// # Errors
    /// Those of [`DirectSolver::prepare`], and of the Krylov method that the options name.
    pub(crate) fn prepare(&mut self, system: &KktSystem, at: Configuration<'_>) -> Result<(), SolveError> {
        match &mut self.iterations {
            Some(by) => {
                by.motions.tell(&mut by.solver, at)?;
                by.solver.prepare(system)
            }
            None => self.direct.prepare(system),
        }
    }

    /// Solves the system that was prepared.
    ///
    /// # Errors
    /// Those of [`DirectSolver::solve`], and of the Krylov method that the options name.
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        match &mut self.iterations {
            Some(by) => {
                // From rest, so that an answer does not depend on the one before.
                for (list, length) in [(&mut solution.x, system.n()), (&mut solution.mu, system.m())] {
                    list.clear();
                    list.resize(length, 0.0);
                }
                by.solver.solve(system, solution)
            }
            None => self.direct.solve(system, solution),
        }
    }

    /// Whether one substitution solves the system that was prepared to this relative residual, or
    /// iterations do to their tolerance.
    pub(crate) fn solve_at_once(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
        residual: f64,
    ) -> bool {
        let most = std::mem::replace(&mut self.direct.options.max_refinements, 0);
        let solved = self.solve(system, solution);
        self.direct.options.max_refinements = most;
        let enough = |report: SolveReport| {
            report.status == Status::Converged
                && (self.iterations.is_some() || report.residual.relative <= residual)
        };
        solved.is_ok_and(enough)
    }
}
