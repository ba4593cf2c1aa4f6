//! Solve a saddle-point system by a sparse factor: masses that hang on each other by rigid rods.
//!
//! `[W -J^T; -J 0] [x; mu] = [c; 0]`, `W = m I`, `J` with rows `x_k - x_(k-1)`, `c = -h m g`. All
//! hangs on the first row, so nothing moves and rod `k` (from above) takes the impulse
//! `mu_k = (n - k) h m g`.
//!
//! `cargo run --release -p pliant-solvers --example saddle_point_system`

use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, Status};
use pliant_sparse::CsrMatrix;

fn main() -> Result<(), SolveError> {
    let n = 300;
    let (m, g, h) = (2.0, 9.81, 0.01);
    let masses: Vec<_> = (0..n).map(|k| (k, k, m)).collect();
    let mut rods = Vec::new();
    for k in 0..n {
        rods.push((k, k, 1.0));
        if k > 0 {
            rods.push((k, k - 1, -1.0));
        }
    }
    let w = CsrMatrix::from_entries(n, n, &masses)?;
    let j = CsrMatrix::from_entries(n, n, &rods)?;
    let mut system = KktSystem::from_matrices(w, j, &vec![0.0; n])?;
    system.c.fill(-h * m * g);

    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    solver.prepare(&system)?;
    let report = solver.solve(&system, &mut solution)?;
    assert_eq!(report.status, Status::Converged);
    println!(
        "inertia {:?}, backward error {:.1e}",
        report.inertia, report.residual.relative
    );
    assert_eq!(report.inertia, (n, n), "a minimum: n positive, m negative pivots");
    println!(
        "tension of the first rod {:.6} N s, of the last {:.6} N s",
        solution.mu[0],
        solution.mu[n - 1]
    );
    for (k, mu) in solution.mu.iter().enumerate() {
        let expected = (n - k) as f64 * h * m * g;
        assert!((mu - expected).abs() < 1e-12 * n as f64 * expected);
    }
    assert!(solution.x.iter().all(|x| x.abs() < 1e-12));

    // Another load on the same matrices: the factor is used again.
    system.c.fill(0.0);
    system.c[n - 1] = 1.0;
    solver.solve(&system, &mut solution)?;
    assert!(
        solution.mu.iter().all(|mu| (mu + 1.0).abs() < 1e-10),
        "each rod passes it on"
    );
    assert_eq!(solver.counters().numeric, 1);
    Ok(())
}
