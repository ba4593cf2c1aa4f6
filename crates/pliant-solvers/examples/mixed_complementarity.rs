//! A mixed complementarity problem that is no minimum: three producers and a price.
//!
//! Producer `i` makes `0 <= q_i <= 4`, at the marginal cost `c_i + q_i`: one with room makes what the
//! price `p` pays, one at its capacity earns more, one that is too dear makes nothing. The price is
//! free, and clears the market: demand is `20 - p`. In rows, `u_i = c_i + q_i - p` with a box for
//! `q_i`, and `u_p = sum q - (20 - p) = 0`: the matrix is skew between them.
//!
//! `cargo run --release -p pliant-solvers --example mixed_complementarity`

use pliant_solvers::complementarity::{Auto, Cone, Lemke, Outcome, Problem, ProblemError, Solver};

fn main() -> Result<(), ProblemError> {
    #[rustfmt::skip]
    let a = [
        1.0, 0.0, 0.0, -1.0,
        0.0, 1.0, 0.0, -1.0,
        0.0, 0.0, 1.0, -1.0,
        1.0, 1.0, 1.0, 1.0,
    ];
    let costs = [1.0, 11.0, 15.0];
    let b = [costs[0], costs[1], costs[2], -20.0];
    let (lower, upper) = (0.0, 4.0);
    let made = Cone::Box { lower, upper };
    let problem = Problem::dense(&a, &b, &[made, made, made, Cone::Free])?;
    let mut lemke = Lemke::default();
    let mut auto = Auto::default();
    let solvers: [&mut dyn Solver; 2] = [&mut lemke, &mut auto];
    for solver in solvers {
        let mut z = [0.0; 4];
        let report = solver.solve(&problem, &mut z)?;
        assert_eq!(report.outcome, Outcome::Converged);
        println!(
            "{:?}: quantities {:.6?}, price {:.6}",
            report.method,
            &z[..3],
            z[3]
        );
        // The first is at capacity, the third idle: p = 11 + q_2 and 4 + q_2 = 20 - p.
        for (z, expected) in z.iter().zip([4.0, 2.5, 0.0, 13.5]) {
            assert!((z - expected).abs() < 1e-8);
        }
        let mut u = [0.0; 4];
        problem.velocity_into(&z, &mut u);
        // The signs of the rows say where they are: u <= 0 at the upper bound, u >= 0 at the lower.
        assert!(u[0] < 0.0 && u[1].abs() < 1e-8 && u[2] > 0.0 && u[3].abs() < 1e-8);
    }
    Ok(())
}
