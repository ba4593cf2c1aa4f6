//! Solve a linear complementarity problem with an unsymmetric matrix by three methods.
//!
//! `w = M z + q`, `0 <= z`, `w >= 0`, `z . w = 0` with Murty's matrix (1 on the diagonal, 2 to the
//! right of it) and `q = -1`. It is a P-matrix, so there is one solution, `z = (0, .., 0, 1)`, and a
//! method of single pivots may take `2^n - 1` of them.
//!
//! `cargo run --release -p pliant-solvers --example linear_complementarity`

use pliant_solvers::complementarity::{
    Auto, BlockPivoting, Cone, Lemke, Outcome, Problem, ProblemError, Solver,
};

fn main() -> Result<(), ProblemError> {
    let n = 12;
    let mut m = vec![0.0; n * n];
    for i in 0..n {
        m[i * n + i] = 1.0;
        m[i * n + i + 1..(i + 1) * n].fill(2.0);
    }
    let problem = Problem::dense(&m, &vec![-1.0; n], &vec![Cone::NonNegative; n])?;
    let mut lemke = Lemke::default();
    let mut pivoting = BlockPivoting::default();
    let mut auto = Auto::default();
    let solvers: [&mut dyn Solver; 3] = [&mut lemke, &mut pivoting, &mut auto];
    for solver in solvers {
        let mut z = vec![0.0; n];
        let report = solver.solve(&problem, &mut z)?;
        println!(
            "{:?}: {:?} after {} pivots, z_n = {:.9}",
            report.method,
            report.outcome,
            report.iterations,
            z[n - 1]
        );
        assert_eq!(report.outcome, Outcome::Converged);
        assert!(z[..n - 1].iter().all(|z| z.abs() < 1e-12) && (z[n - 1] - 1.0).abs() < 1e-12);
        // The velocity w = M z + q is 1 in all rows but the last.
        let mut w = vec![0.0; n];
        let residual = problem.residual(&z, &mut w);
        assert!(residual.measure() < 1e-12 && w[..n - 1].iter().all(|w| (w - 1.0).abs() < 1e-12));
    }
    Ok(())
}
