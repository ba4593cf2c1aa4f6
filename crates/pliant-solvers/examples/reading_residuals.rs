//! Read residuals: what is wrong with an answer, in which equation, and by how much.
//!
//! `primal = max |W x - J^T mu - c|_i / W_ii` and `row = max |J x + R mu + b|` are velocities;
//! `relative` is the smallest relative change of coefficients for which the answer would be exact.
//!
//! `cargo run --release -p pliant-solvers --example reading_residuals`

use pliant_solvers::{DirectSolver, KktSystem, ResidualWorkspace, Solution, SolveError};

fn main() -> Result<(), SolveError> {
    // 2 kg and 4 kg on a rigid rod, pushed with 6 N s: both move with 1 m/s, the rod carries 4 N s.
    let mut system = KktSystem::dense(&[2.0, 0.0, 0.0, 4.0], &[1.0, -1.0], &[0.0])?;
    system.c[0] = 6.0;
    let mut solver = DirectSolver::default();
    let mut exact = Solution::default();
    solver.prepare(&system)?;
    let report = solver.solve(&system, &mut exact)?;
    println!(
        "{}: x = {:?}, mu = {:?}, {:?}",
        report.status, exact.x, exact.mu, report.residual
    );
    assert!((exact.x[1] - 1.0).abs() < 1e-15 && (exact.mu[0] + 4.0).abs() < 1e-14);
    assert!(report.residual.relative < 1e-15);

    let mut work = ResidualWorkspace::default();
    // A wrong multiplier shows in the primal equations: 0.01 N s over 2 kg.
    let mut wrong = exact.clone();
    wrong.mu[0] += 0.01;
    let found = system.residual(&wrong, &mut work);
    println!("multiplier off by 0.01 N s: {found:?}");
    assert!((found.primal - 0.01 / 2.0).abs() < 1e-15 && found.row < 1e-15);
    // Of the second equation the terms are 4 x, J mu: 0.01 / (4 + 3.99).
    assert!((found.relative - 0.01 / 7.99).abs() < 1e-12);

    // A wrong velocity shows in its own equation and in the row.
    let mut wrong = exact.clone();
    wrong.x[1] += 1e-3;
    let found = system.residual(&wrong, &mut work);
    println!("velocity off by 1 mm/s: {found:?}");
    assert!((found.primal - 1e-3).abs() < 1e-15 && (found.row - 1e-3).abs() < 1e-15);
    println!("by equation: primal {:?}, rows {:?}", work.primal(), work.row());
    assert!(work.primal()[0].abs() < 1e-14 && (work.primal()[1] + 4e-3).abs() < 1e-14);
    Ok(())
}
