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
    /// Solver of corrections onto hard rows, and of accelerations, which have other rows than a step.
    pub(crate) direct: DirectSolver,
    /// Solver of corrections by masses alone, where the options name a Krylov method: other metrics
    /// may be indefinite, which a factor tells and iterations may not.
    iterations: Option<Box<Iterations>>,
    /// Solver of corrections behind a step, because of overlap, limits and ropes.
    pub(crate) behind: Box<Penetration>,
}

#[derive(Debug, Default)]
struct Iterations {
    solver: IterativeSolver,
    motions: Motions,
    /// Relative residual that is good enough.
    tolerance: f64,
    /// Whether the last system was prepared for them.
    are_prepared: bool,
}

impl Corrections {
    /// Takes the options of the coming step.
    pub(crate) fn configure(&mut self, options: &Options, threads: &Threads) {
        self.direct.options = options.last_solver();
        let tolerance = options.tuning.solver.tolerance;
        let Some(krylov) = krylov_options(options.linear, FINER * tolerance) else {
            self.iterations = None;
            return;
        };
        let iterations = self.iterations.get_or_insert_default();
        iterations.solver.options = krylov;
        iterations.solver.share(threads);
        iterations.tolerance = tolerance;
    }

    /// Takes the system of a correction onto hard rows, by masses alone if `of_masses` says so, of a
    /// model in a configuration.
    ///
    /// # Errors
    /// Errors of the factor ([`DirectSolver::prepare`]).
    pub(crate) fn prepare(
        &mut self,
        system: &KktSystem,
        of_masses: bool,
        at: Configuration<'_>,
    ) -> Result<(), SolveError> {
        if let Some(by) = &mut self.iterations {
            by.are_prepared =
                of_masses && by.motions.tell(&mut by.solver, at).is_ok() && by.solver.prepare(system).is_ok();
            if by.are_prepared {
                return Ok(());
            }
        }
        self.direct.prepare(system)
    }

    /// Solves the system that was prepared: where iterations do not, as of rows that contradict each
    /// other, by a factor.
    ///
    /// # Errors
    /// Errors of the factor ([`DirectSolver::prepare`], [`DirectSolver::solve`]).
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        if let Some(by) = self.iterations.as_mut().filter(|by| by.are_prepared) {
            // From rest, so that an answer does not depend on the one before.
            for (list, length) in [(&mut solution.x, system.n()), (&mut solution.mu, system.m())] {
                list.clear();
                list.resize(length, 0.0);
            }
            if let Ok(mut found) = by.solver.solve(system, solution)
                && found.residual.relative <= by.tolerance
            {
                found.status = Status::Converged;
                return Ok(found);
            }
            by.are_prepared = false;
            self.direct.prepare(system)?;
        }
        self.direct.solve(system, solution)
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
        let iterates = self.iterations.as_ref().is_some_and(|by| by.are_prepared);
        let enough = |report: SolveReport| {
            report.status == Status::Converged && (iterates || report.residual.relative <= residual)
        };
        solved.is_ok_and(enough)
    }
}
