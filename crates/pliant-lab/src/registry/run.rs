//! Solvers of KKT systems behind one signature.

use super::KktAnswer;
use pliant_krylov::{
    Approximation, IterativeMethod, IterativeOptions, IterativeSolver, KktKrylov, KktKrylovOptions,
    KktMethod, KrylovOptions, KrylovStatus, LinearAuto, LinearOptions,
};
use pliant_solvers::{
    BoxOptions, BoxSolver, DenseCholesky, DenseOptions, DenseSolver, DirectOptions, DirectSolver, KktSolver,
    KktSystem, ProjectedGaussSeidel, ResidualWorkspace, Solution, SolveError, Status,
};

fn direct_options(tolerance: f64) -> DirectOptions {
    DirectOptions {
        tolerance,
        ..DirectOptions::default()
    }
}

/// Prepares and solves from zero.
fn run(mut solver: impl KktSolver, system: &KktSystem) -> Result<KktAnswer, SolveError> {
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    let iterations = match report.iterations {
        0 => report.refinements + report.bounds.changes,
        iterations => iterations,
    };
    Ok(KktAnswer {
        solution,
        converged: report.status == Status::Converged,
        status: report.status.to_string(),
        iterations,
        residual: report.residual,
        natural: report.bounds.natural,
    })
}

pub(super) fn solve_direct(system: &KktSystem, tolerance: f64, _: usize) -> Result<KktAnswer, SolveError> {
    run(DirectSolver::new(direct_options(tolerance)), system)
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
    let options = DenseOptions {
        tolerance,
        ..DenseOptions::default()
    };
    run(DenseSolver::new(options), system)
}

pub(super) fn solve_cholesky(system: &KktSystem, tolerance: f64, _: usize) -> Result<KktAnswer, SolveError> {
    let options = DenseOptions {
        tolerance,
        ..DenseOptions::default()
    };
    run(DenseCholesky::new(options), system)
}

fn box_options(tolerance: f64, max_changes: usize) -> BoxOptions {
    BoxOptions {
        direct: direct_options(tolerance),
        tolerance,
        max_changes,
        ..BoxOptions::default()
    }
}

pub(super) fn solve_box(system: &KktSystem, tolerance: f64, most: usize) -> Result<KktAnswer, SolveError> {
    run(BoxSolver::new(box_options(tolerance, most)), system)
}

pub(super) fn solve_sweeps(system: &KktSystem, tolerance: f64, most: usize) -> Result<KktAnswer, SolveError> {
    run(ProjectedGaussSeidel::new(box_options(tolerance, most)), system)
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

pub(super) fn solve_iterative(
    method: IterativeMethod,
    system: &KktSystem,
    tolerance: f64,
    max_iterations: usize,
) -> Result<KktAnswer, SolveError> {
    let options = IterativeOptions {
        method,
        tolerance,
        max_iterations,
        ..IterativeOptions::default()
    };
    run(IterativeSolver::new(options), system)
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
    // Its own report says why it broke down.
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
