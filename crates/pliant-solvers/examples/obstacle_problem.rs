//! A quadratic program with bounds on the variables: a string that is pressed onto a floor.
//!
//! `min u^T K u / 2 - f . u` subject to `u >= -d`, `K = tridiag(-1, 2, -1) / s`, `f = -s`. Where it
//! hangs free `u'' = 1`: `u = x^2 / 2 - a x` up to `x = a = sqrt(2 d)`, then it lies on the floor.
//! Second differences of a parabola are exact, so that the answer at the points is, too.
//!
//! `cargo run --release -p pliant-solvers --example obstacle_problem`

use pliant_solvers::{BoxSolver, KktSystem, Solution, SolveError, Status};
use pliant_sparse::CsrMatrix;

fn main() -> Result<(), SolveError> {
    let (n, s) = (99, 0.01);
    let (a, d) = (0.3, 0.045);
    let mut k = Vec::new();
    for i in 0..n {
        k.push((i, i, 2.0 / s));
        if i > 0 {
            k.push((i, i - 1, -1.0 / s));
        }
    }
    let rows: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
    let stiffness = CsrMatrix::from_entries(n, n, &k)?;
    let mut system =
        KktSystem::from_matrices(stiffness, CsrMatrix::from_entries(n, n, &rows)?, &vec![0.0; n])?;
    system.c.fill(-s);
    // Row i: w = u + d >= 0, multiplier (force of the floor) >= 0, one of them zero.
    system.b.fill(d);
    system.bounds.fill((0.0, f64::INFINITY));

    let mut solver = BoxSolver::default();
    let mut solution = Solution::default();
    solver.prepare(&system)?;
    let report = solver.solve(&system, &mut solution)?;
    assert_eq!(report.status, Status::Converged);
    println!(
        "{} of {n} points hang free after {} changes",
        report.bounds.rows_at_bounds, report.bounds.changes
    );
    let exact = |x: f64| if x < a { 0.5 * x * x - a * x } else { -d };
    for i in 0..n {
        // Symmetric about the middle.
        let x = s * (i + 1) as f64;
        assert!((solution.x[i] - exact(x.min(1.0 - x))).abs() < 1e-12);
    }
    // The floor carries what does not hang at the ends: each end of the string carries a.
    let carried: f64 = solution.mu.iter().sum();
    println!("the floor carries {carried:.9}");
    // Next to each wall half a spacing of load goes straight to it.
    assert!((carried - (1.0 - s - 2.0 * (a - 0.5 * s))).abs() < 1e-11);
    Ok(())
}
