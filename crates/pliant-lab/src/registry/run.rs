//! Solvers of KKT systems behind one signature.

use super::KktAnswer;
use pliant_krylov::{Approximation, KktKrylov, KktKrylovOptions, KktMethod, KrylovOptions, KrylovStatus};
use pliant_krylov::{LinearAuto, LinearOptions};
use pliant_solvers::{
    BoxOptions, BoxSolver, DenseOptions, DenseSolver, DirectOptions, DirectSolver, KktSystem,
    ResidualWorkspace, Solution, SolveError, SolveReport, Status,
};

fn direct_options(tolerance: f64) -> DirectOptions {
    DirectOptions {
        tolerance,
        ..DirectOptions::default()
    }
}

/// The answer of a solver with a [`SolveReport`].
fn answer(solution: Solution, report: SolveReport) -> KktAnswer {
    KktAnswer {
        solution,
        converged: report.status == Status::Converged,
        status: report.status.to_string(),
        iterations: report.refinements + report.bounds.changes,
        residual: report.residual,
        natural: report.bounds.natural,
    }
}

pub(super) fn solve_direct(system: &KktSystem, tolerance: f64, _: usize) -> Result<KktAnswer, SolveError> {
    let mut solver = DirectSolver::new(direct_options(tolerance));
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    Ok(answer(solution, report))
}

pub(super) fn solve_auto(system: &KktSystem, tolerance: f64, _: usize) -> Result<KktAnswer, SolveError> {
    let mut solver = LinearAuto::new(LinearOptions {
        tolerance,
        ..LinearOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    Ok(KktAnswer {
        solution,
        converged: report.status == Status::Converged,
        status: format!("{} ({:?})", report.status, report.method),
        iterations: report.iterations + report.refinements,
        natural: report.residual.row,
        residual: report.residual,
    })
}

pub(super) fn solve_pivoted(system: &KktSystem, tolerance: f64, _: usize) -> Result<KktAnswer, SolveError> {
    let mut solver = DenseSolver::new(DenseOptions {
        tolerance,
        ..DenseOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    Ok(answer(solution, report))
}

pub(super) fn solve_box(
    system: &KktSystem,
    tolerance: f64,
    max_changes: usize,
) -> Result<KktAnswer, SolveError> {
    let mut solver = BoxSolver::new(BoxOptions {
        direct: direct_options(tolerance),
        tolerance,
        max_changes,
        ..BoxOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    Ok(answer(solution, report))
}

/// Of a solver that does not look at its residual.
pub(super) fn judged(
    system: &KktSystem,
    solution: Solution,
    tolerance: f64,
) -> Result<KktAnswer, SolveError> {
    let residual = system.residual(&solution, &mut ResidualWorkspace::default());
    let converged = residual.relative <= tolerance;
    let status = if converged {
        "converged"
    } else {
        "residual too large"
    };
    Ok(KktAnswer {
        solution,
        converged,
        status: status.into(),
        iterations: 1,
        natural: residual.row,
        residual,
    })
}

pub(super) fn solve_krylov(
    method: KktMethod,
    approximation: Approximation,
    system: &KktSystem,
    tolerance: f64,
    max_iterations: usize,
) -> Result<KktAnswer, SolveError> {
    let mut solver = KktKrylov::new(KktKrylovOptions {
        method,
        approximation,
        krylov: KrylovOptions {
            tolerance,
            max_iterations,
            ..KrylovOptions::default()
        },
        ..KktKrylovOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    Ok(KktAnswer {
        solution,
        converged: report.status == KrylovStatus::Converged,
        status: report.status.to_string(),
        iterations: report.iterations,
        natural: report.residual.row,
        residual: report.residual,
    })
}
