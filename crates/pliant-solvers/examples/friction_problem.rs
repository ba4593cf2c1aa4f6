//! Solve a problem of contact with dry friction: bricks that land on a floor and slide or stick.
//!
//! `u = A r + b` with Coulomb's law between the impulse `r` and the velocity `u` of each contact,
//! normal first. A brick of mass `m` with the free velocity `(-v, t, 0)` gets `r_n = m v` and stops
//! if `t <= mu v`, else it slides on with `t - mu v`.
//!
//! `cargo run --release -p pliant-solvers --example friction_problem`

use pliant_solvers::complementarity::{Auto, Cone, Outcome, Problem, ProblemError, Solver};

fn main() -> Result<(), ProblemError> {
    let (m, mu, v) = (2.0, 0.5, 3.0);
    let slips = [0.4, 1.2, 2.0, 10.0];
    let rows = 3 * slips.len();
    let mut a = vec![0.0; rows * rows];
    (0..rows).for_each(|i| a[i * rows + i] = 1.0 / m);
    let b: Vec<f64> = slips.iter().flat_map(|t| [-v, 0.6 * t, 0.8 * t]).collect();
    let problem = Problem::dense(&a, &b, &vec![Cone::Coulomb { mu }; slips.len()])?;

    let mut r = vec![0.0; rows];
    let report = Auto::default().solve(&problem, &mut r)?;
    assert_eq!(report.outcome, Outcome::Converged);
    println!(
        "{:?}, residual {:.1e} of the largest velocity",
        report.method, report.residual.relative
    );
    let mut u = vec![0.0; rows];
    problem.velocity_into(&r, &mut u);
    for (k, t) in slips.iter().enumerate() {
        let own = problem.rows(k);
        let (r, u) = (&r[own.clone()], &u[own]);
        let left = (t - mu * v).max(0.0);
        println!(
            "{t:4} m/s: {} with {:.6} m/s",
            if left > 0.0 { "slides on" } else { "sticks" },
            u[1].hypot(u[2])
        );
        // The tolerance of a solver is 1e-9 of the largest velocity, 10 m/s.
        assert!((r[0] - m * v).abs() < 1e-7 && u[0].abs() < 1e-7);
        assert!((u[1] - 0.6 * left).abs() < 1e-7 && (u[2] - 0.8 * left).abs() < 1e-7);
        assert!((r[1].hypot(r[2]) - m * (t - left)).abs() < 1e-7);
    }
    Ok(())
}
