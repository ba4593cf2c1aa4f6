//! A motor of limited force, and dry friction: rows with bounds on their multipliers.
//!
//! A cart of `m = 10` kg is to go with `v` m/s, `J x + b = x - v`, by a motor of at most
//! `|mu| <= 20` N s in this step, against friction of at most 5 N s. It can change its velocity by
//! `(20 - 5) / 10 = 1.5` m/s; below that the motor gives what is needed, and friction always its most.
//!
//! `cargo run --release -p pliant-solvers --example bounded_motor`

use pliant_solvers::{BoxSolver, KktSystem, Solution, SolveError, Status};

fn main() -> Result<(), SolveError> {
    let (m, most, friction) = (10.0, 20.0, 5.0);
    // Row 0: the motor. Row 1: friction, which would hold the cart still.
    let mut system = KktSystem::dense(&[m], &[1.0, 1.0], &[0.0, 0.0])?;
    system.bounds = vec![(-most, most), (-friction, friction)];
    let mut solver = BoxSolver::default();
    let mut solution = Solution::default();
    for wanted in [0.0, 1.0, 1.5, 4.0, -4.0] {
        system.b[0] = -wanted;
        solver.prepare(&system)?;
        let report = solver.solve(&system, &mut solution)?;
        assert_eq!(report.status, Status::Converged);
        let (v, [motor, drag]) = (solution.x[0], [solution.mu[0], solution.mu[1]]);
        println!("wanted {wanted:4} m/s: {v:.6} m/s, motor {motor:.6} N s, friction {drag:.6} N s");
        println!(
            "    {} rows at bounds, natural residual {:.1e}",
            report.bounds.rows_at_bounds, report.bounds.natural
        );
        let reached = f64::clamp(wanted, -1.5, 1.5);
        assert!((v - reached).abs() < 1e-13);
        if wanted != 0.0 {
            assert!((drag + friction * wanted.signum()).abs() < 1e-12);
            assert!((motor - (m * reached - drag)).abs() < 1e-12);
        }
    }
    Ok(())
}
