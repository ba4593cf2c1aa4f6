//! Start a solve from the last answer: a stack of boxes whose load changes a little every step.
//!
//! Contact `k` of `n` equal masses on top of each other carries all above it: `r_k = (n - k) m g h`,
//! and with `s_k` more on mass `k`, `h` times the sum of `s` above, too.
//!
//! `cargo run --release -p pliant-solvers --example warm_start`

use pliant_solvers::complementarity::{Cone, GaussSeidel, Outcome, Problem, ProblemError, Solver};

fn main() -> Result<(), ProblemError> {
    let n = 8;
    let (m, g, h) = (1.0, 9.81, 0.01);
    // Contact k is between the masses k - 1 and k (0: the floor): A = tridiag(-1, 2, -1) / m.
    let mut a = vec![0.0; n * n];
    for k in 0..n {
        a[k * n + k] = if k == 0 { 1.0 } else { 2.0 } / m;
        if k > 0 {
            a[k * n + k - 1] = -1.0 / m;
            a[(k - 1) * n + k] = -1.0 / m;
        }
    }
    let mut b = vec![0.0; n];
    b[0] = -g * h;
    let mut problem = Problem::dense(&a, &b, &vec![Cone::NonNegative; n])?;
    let mut solver = GaussSeidel::default();
    let mut warm = vec![0.0; n];
    let mut counts = Vec::new();
    for step in 0..5 {
        // A growing push on the uppermost mass: it approaches the one below by s h / m more.
        let s = 1e-4 * f64::from(step);
        b[n - 1] = -s * h / m;
        problem.set_b(&b)?;
        let mut cold = vec![0.0; n];
        let from_zero = solver.solve(&problem, &mut cold)?;
        let from_last = solver.solve(&problem, &mut warm)?;
        assert_eq!([from_zero.outcome, from_last.outcome], [Outcome::Converged; 2]);
        println!(
            "step {step}: {} sweeps from zero, {} from the last answer",
            from_zero.iterations, from_last.iterations
        );
        counts.push((from_zero.iterations, from_last.iterations));
        for (k, r) in warm.iter().enumerate() {
            // The residual, 1e-9 of the velocity g h, times the norm n^2 m of the inverse.
            let expected = (n - k) as f64 * m * g * h + s * h;
            assert!(
                (r - expected).abs() < 1e-9 * g * h * m * (n * n) as f64,
                "contact {k}"
            );
        }
    }
    assert_eq!(counts[0].0, counts[0].1, "both begin from zero");
    assert!(counts[1..].iter().all(|(cold, warm)| 2 * warm < *cold));
    Ok(())
}
