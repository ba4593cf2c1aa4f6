//! One factor, many loads: the compliance of a structure at several points.
//!
//! Springs of stiffness `k` in a row from a wall, `n` of them: unit force at point `p` moves point
//! `q` by `(min(p, q) + 1) / k`.
//!
//! `cargo run --release -p pliant-solvers --example many_loads`

use pliant_solvers::{DirectSolver, KktSystem, RightHandSide, SolveError, Status};
use pliant_sparse::CsrMatrix;

fn main() -> Result<(), SolveError> {
    let (n, k) = (400, 50.0);
    let mut springs = Vec::new();
    for i in 0..n {
        springs.push((i, i, k));
        if i > 0 {
            springs.extend([(i - 1, i - 1, k), (i, i - 1, -k)]);
        }
    }
    let stiffness = CsrMatrix::from_entries(n, n, &springs)?;
    let system = KktSystem::from_matrices(stiffness, CsrMatrix::from_entries(0, n, &[])?, &[])?;
    let mut solver = DirectSolver::default();
    solver.prepare(&system)?;

    let points = [0, 99, 199, 399];
    let loads = points.map(|p| {
        let mut side = RightHandSide {
            c: vec![0.0; n],
            b: Vec::new(),
        };
        side.c[p] = 1.0;
        side
    });
    let (mut solutions, mut reports) = (Vec::new(), Vec::new());
    solver.solve_many(&system, &loads, &mut solutions, &mut reports)?;
    for ((p, solution), report) in points.iter().zip(&solutions).zip(&reports) {
        assert_eq!(report.status, Status::Converged);
        let moved = points.map(|q| solution.x[q]);
        println!("force at {p:3}: the points move by {moved:.6?} m");
        for (q, x) in solution.x.iter().enumerate() {
            let expected = (p.min(&q) + 1) as f64 / k;
            assert!((x - expected).abs() < 1e-11 * n as f64 * expected);
        }
    }
    assert_eq!(solver.counters().numeric, 1);
    Ok(())
}
