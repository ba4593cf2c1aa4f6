//! Redundant constraints: a table on four rigid legs, and one whose legs contradict each other.
//!
//! Legs at `(+-1, +-1)` hold a plate with the velocities `(v, w_x, w_y)`: rank three of four rows,
//! and `(1, -1, 1, -1) / 2` around the table exerts no force. Of all shares of a load at `(x, y)`,
//! the one of least norm is `mu_i = (F / 4)(1 + x x_i + y y_i)`.
//!
//! `cargo run --release -p pliant-solvers --example redundant_rows`

use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, Status};

fn main() -> Result<(), SolveError> {
    let legs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
    // Vertical velocity of a leg: v + w_x y - w_y x. Mass 12 kg, moments of inertia 4 kg m^2.
    let j: Vec<f64> = legs.iter().flat_map(|[x, y]| [1.0, *y, -x]).collect();
    let w = [12.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
    let mut system = KktSystem::dense(&w, &j, &[0.0; 4])?;
    let (f, [x, y]) = (100.0, [0.5, -0.25]);
    system.c.copy_from_slice(&[-f, -f * y, f * x]);

    let mut solver = DirectSolver::default();
    let mut solution = Solution::default();
    solver.prepare(&system)?;
    let report = solver.solve(&system, &mut solution)?;
    println!(
        "{}, {} redundant, legs {:.6?}",
        report.status, report.redundant_rows, solution.mu
    );
    assert_eq!((report.status, report.redundant_rows), (Status::Converged, 1));
    for (mu, [leg_x, leg_y]) in solution.mu.iter().zip(legs) {
        assert!((mu - 0.25 * f * (1.0 + x * leg_x + y * leg_y)).abs() < 1e-12 * f);
    }
    let null = &solver.null_vectors()[0];
    println!("a combination without force: {null:.6?}");
    let sign = null[0].1.signum();
    assert!(
        null.iter()
            .all(|(i, n)| (sign * n - if i % 2 == 0 { 0.5 } else { -0.5 }).abs() < 1e-14)
    );

    // One leg is to sink with 0.2 m/s while the others stand: the plate cannot, and tells.
    system.b[2] = 0.2;
    let report = solver.solve(&system, &mut solution)?;
    println!("{}", report.status);
    let Status::Incompatible { violation, .. } = report.status else {
        return Err(SolveError::NotPrepared);
    };
    // Least squares leave each row the part of b along the null vector: 0.2 / 4.
    assert!((violation - 0.05).abs() < 1e-12);
    Ok(())
}
