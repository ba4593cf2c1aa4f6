//! D07, F: the complementarity and the Krylov solvers on problems with known answers.

use super::Checks;
use pliant::krylov::{
    ConjugateGradient, FnOperator, Jacobi as InverseDiagonal, KktOperator, KrylovOptions, KrylovSolver,
    LinearOperator, MinimalResidual, SchurOperator,
};
use pliant::prelude::Error;
use pliant::solvers::KktSystem;
use pliant::solvers::complementarity::*;
use pliant_lab::Murty;

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    one_contact(checks)?;
    worst_case(checks)?;
    small_problems(checks)?;
    gauss_seidel(checks)?;
    krylov(checks)?;
    delassus(checks)?;
    measures(checks)
}

fn yes(holds: bool) -> [f64; 1] {
    [f64::from(u8::from(holds))]
}

fn rows(a: &[f64], q: &[f64]) -> Result<Problem, Error> {
    Problem::dense(a, q, &vec![Cone::NonNegative; q.len()]).map_err(Error::Contacts)
}

fn solve(solver: &mut dyn Solver, problem: &Problem) -> Result<(Vec<f64>, Report), Error> {
    let mut r = vec![0.0; problem.size()];
    let report = solver.solve(problem, &mut r).map_err(Error::Contacts)?;
    Ok((r, report))
}

/// D07: separation, stick and slip of one contact whose directions are coupled, by every solver
/// that knows friction.
fn one_contact(checks: &mut Checks) -> Result<(), Error> {
    let a = [2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.1];
    let cone = Cone::Coulomb { mu: 0.4 };
    let limits = Limits {
        tolerance: 1e-14,
        max_iterations: 5000,
        ..Limits::default()
    };
    let cases = [
        ("separate b=[0.5, 1.0, 1.0]: reaction", [0.5, 1.0, 1.0]),
        ("stick b=[-1.29, -0.3, 0.385]: reaction", [-1.29, -0.3, 0.385]),
        ("slip1 b=[-1.0, 1.2, -0.7]: reaction", [-1.0, 1.2, -0.7]),
        ("slip2 b=[-0.5, -2.0, 3.0]: reaction", [-0.5, -2.0, 3.0]),
    ];
    for (key, b) in cases {
        let problem = Problem::dense(&a, &b, &[cone]).map_err(Error::Contacts)?;
        let expected = checks.references.expected("D07", key);
        let mut solvers: Vec<Box<dyn Solver>> = vec![
            Box::new(Auto::new(AutoOptions {
                limits,
                ..AutoOptions::default()
            })),
            Box::new(GaussSeidel::new(GaussSeidelOptions {
                limits,
                ..GaussSeidelOptions::default()
            })),
            Box::new(NonlinearCg::new(limits)),
            Box::new(Jacobi::new(limits)),
            Box::new(AcceleratedGradient::new(limits)),
            Box::new(BarzilaiBorwein::new(limits)),
            Box::new(ModulusSplitting::new(ModulusSplittingOptions {
                limits,
                ..ModulusSplittingOptions::default()
            })),
            Box::new(Admm::new(AdmmOptions {
                limits,
                ..AdmmOptions::default()
            })),
            Box::new(Newton::new(NewtonOptions {
                limits,
                ..NewtonOptions::default()
            })),
            Box::new(InteriorPoint::new(limits)),
        ];
        for solver in &mut solvers {
            let (r, report) = solve(solver.as_mut(), &problem)?;
            let what = format!("{key}, {:?}", solver.method());
            checks.compare("D07", what, &expected, &r, 1e-12);
            let what = format!("De Saxcé residual, {:?}", solver.method());
            checks.at_most("D07", what, 1e-12, report.residual.natural);
        }
        let mut r = [0.0; 3];
        solve_block(&cone, &a, &b, &mut r);
        checks.compare("D07", format!("{key}, as one block"), &expected, &r, 1e-12);
    }
    let given = checks.references.expected("D07", "inputs of that residual (r,u)");
    let key = "De Saxce residual of a given non-solution";
    let found = de_saxce(0.4, &given[..3], &given[3..], 1.0);
    checks.against("D07", key, &[found], 1e-15);
    Ok(())
}

/// F01: least-index pivoting visits all corners of Murty's problem.
fn worst_case(checks: &mut Checks) -> Result<(), Error> {
    for n in [2, 5, 8, 10] {
        let u = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => 2.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => 0.0,
        };
        let upper: Vec<f64> = (0..n * n).map(|k| u(k / n, k % n)).collect();
        let gram = |i: usize, j: usize| (0..n).map(|l| u(i, l) * u(j, l)).sum();
        let gram: Vec<f64> = (0..n * n).map(|k| gram(k / n, k % n)).collect();
        for (a, name) in [(upper, "pivots"), (gram, "pivots UU^T")] {
            let problem = rows(&a, &vec![-1.0; n])?;
            let (r, report) = solve(&mut Murty::default(), &problem)?;
            checks.against("F01", &format!("{name} n={n}"), &[report.iterations as f64], 0.0);
            // A solve with U U^T loses the condition of U twice.
            let tolerance = if name == "pivots" { 1e-12 } else { 1e-9 };
            checks.against("F01", &format!("z=e_n n={n}"), &r, tolerance);
            let (r, report) = solve(&mut Lemke::default(), &problem)?;
            let expected = checks.references.expected("F01", &format!("z=e_n n={n}"));
            let what = format!("the same, {name}, by Lemke in {} pivots", report.iterations);
            checks.compare("F01", what, &expected, &r, tolerance);
        }
    }
    Ok(())
}

/// F02: one solution, several, none, and a ray beside solutions.
fn small_problems(checks: &mut Checks) -> Result<(), Error> {
    type Case = (
        &'static str,
        &'static [f64],
        &'static [f64],
        &'static [&'static str],
    );
    let cases: [Case; 8] = [
        (
            "PD",
            &[2.0, 1.0, 1.0, 2.0],
            &[-5.0, -6.0],
            &["[1.333333, 2.333333]"],
        ),
        (
            "three solutions",
            &[1.0, 2.0, 2.0, 1.0],
            &[-1.0, -1.0],
            &["[0, 1]", "[0.333333, 0.333333]", "[1, 0]"],
        ),
        ("none", &[-1.0, 0.0, 0.0, -1.0], &[-1.0, -1.0], &[]),
        (
            "PSD infeasible (rope both ways)",
            &[1.0, -1.0, -1.0, 1.0],
            &[-1.0, 0.5],
            &[],
        ),
        ("PSD feasible", &[1.0, -1.0, -1.0, 1.0], &[-1.0, 2.0], &["[1, 0]"]),
        (
            "Lemke ray although solvable",
            &[-2.0, -2.0, 2.0, -2.0],
            &[2.0, -1.0],
            &["[0.75, 0.25]", "[1, 0]"],
        ),
        (
            "Z-matrix",
            &[2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0],
            &[-1.0, 1.0, -1.0],
            &["[0.5, 0.0, 0.5]"],
        ),
        (
            "skew (bimatrix-like)",
            &[0.0, 1.0, -1.0, 0.0],
            &[-1.0, 2.0],
            &["[2.0, 1.0]"],
        ),
    ];
    let keys = checks.references.keys("F02");
    for (name, a, q, solutions) in cases {
        let problem = rows(a, q)?;
        let (r, report) = solve(&mut Lemke::default(), &problem)?;
        let (key, outcome) = (format!("{name}: Lemke ok"), Outcome::Converged);
        let (key, outcome) = if keys.contains(&key) {
            (key, outcome)
        } else {
            (format!("{name}: Lemke ray"), Outcome::Ray)
        };
        checks.against("F02", &key, &yes(report.outcome == outcome), 0.0);
        let mut nearest: Vec<f64> = Vec::new();
        for solution in solutions {
            let known = checks
                .references
                .expected("F02", &format!("{name}: solution {solution}"));
            let residual = problem.residual(&known, &mut vec![0.0; q.len()]);
            let what = format!("{name}: residual at {solution}");
            checks.at_most("F02", what, 1e-15, residual.natural);
            if nearest.is_empty() || super::distance(&known, &r) < super::distance(&nearest, &r) {
                nearest = known;
            }
        }
        if outcome == Outcome::Converged {
            checks.compare(
                "F02",
                format!("{name}: Lemke's is one of them"),
                &nearest,
                &r,
                1e-11,
            );
        }
    }
    Ok(())
}

/// F05: the iterates of Gauss-Seidel, and by how much their error falls.
fn gauss_seidel(checks: &mut Checks) -> Result<(), Error> {
    let problem = rows(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0])?;
    let mut iterates = Vec::new();
    for sweeps in 1..=3 {
        let limits = Limits {
            tolerance: 0.0,
            max_iterations: sweeps,
            ..Limits::default()
        };
        let mut solver = GaussSeidel::new(GaussSeidelOptions {
            limits,
            check_every: 1,
            ..GaussSeidelOptions::default()
        });
        iterates.extend(solve(&mut solver, &problem)?.0);
    }
    checks.against("F05", "PGS iterates 1..3", &iterates, 1e-15);
    let error = |k: usize| super::distance(&iterates[2 * k..2 * k + 2], &[4.0 / 3.0, 7.0 / 3.0]);
    let key = "error contracts by 1/4 exactly";
    checks.against("F05", key, &[error(2) / error(1)], 1e-12);
    Ok(())
}

/// F05: as many iterations as there are eigenvalues.
fn krylov(checks: &mut Checks) -> Result<(), Error> {
    // Rows (1, 1, -1)/sqrt 3 on variables of their own, and an identity: three eigenvalues.
    let (n, m) = (12, 4);
    let mut j = vec![0.0; m * n];
    for i in 0..m {
        for (k, s) in [1.0, 1.0, -1.0].into_iter().enumerate() {
            j[i * n + 3 * i + k] = s / 3f64.sqrt();
        }
    }
    let system = KktSystem::dense(&identity(n), &j, &vec![0.0; m]).map_err(Error::Solve)?;
    let operator = KktOperator::new(&system).map_err(Error::Solve)?;
    let rhs: Vec<f64> = (0..n + m).map(|k| (1.3 * k as f64 + 0.7).sin()).collect();
    let mut z = vec![0.0; n + m];
    let mut minres = MinimalResidual::default();
    let report = minres.solve(&operator, &rhs, &mut z).map_err(Error::Solve)?;
    let key = "MINRES stops in 3 iterations";
    checks.against("F05", key, &[report.iterations as f64], 0.0);

    let d: Vec<f64> = (0..40).map(|i| [1.0, 2.0, 5.0, 9.0][i % 4]).collect();
    let a = FnOperator::new(40, |x: &[f64], y: &mut [f64]| {
        for i in 0..x.len() {
            y[i] = d[i] * x[i];
        }
    });
    let b: Vec<f64> = (0..40).map(|k| (0.9 * f64::from(k) + 0.2).cos()).collect();
    let exact: Vec<f64> = b.iter().zip(&d).map(|(b, d)| b / d).collect();
    let mut found = Vec::new();
    for limit in [3, 4] {
        let mut cg = ConjugateGradient::new(KrylovOptions {
            max_iterations: limit,
            ..KrylovOptions::default()
        });
        let mut x = vec![0.0; 40];
        cg.solve(&a, &b, &mut x).map_err(Error::Solve)?;
        found.extend(yes(super::distance(&x, &exact) < 1e-10));
    }
    let key = "CG: 4 distinct eigenvalues -> exact after 4 iterations, not after 3";
    checks.against("F05", key, &found, 0.0);
    Ok(())
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect()
}

/// F05: the Delassus operator of a hanging chain of equal masses has its cosines as eigenvectors.
fn delassus(checks: &mut Checks) -> Result<(), Error> {
    let n = 20;
    let mut j = vec![0.0; n * n];
    for i in 0..n {
        j[i * n + i] = 1.0;
        if i > 0 {
            j[i * n + i - 1] = -1.0;
        }
    }
    let system = KktSystem::dense(&identity(n), &j, &vec![0.0; n]).map_err(Error::Solve)?;
    let inverse = InverseDiagonal::new(&system.w, &system.fixed).map_err(Error::Solve)?;
    let operator = SchurOperator::new(&system, &inverse).map_err(Error::Solve)?;
    let mut eigenvalues = Vec::new();
    for k in 1..=n {
        let theta = (2 * k - 1) as f64 * std::f64::consts::PI / (2 * n + 1) as f64;
        let v: Vec<f64> = (0..n).map(|i| ((i as f64 + 0.5) * theta).cos()).collect();
        let mut y = vec![0.0; n];
        operator.apply(&v, &mut y);
        // The quotient of the entry that is largest, and all others must agree.
        let largest = (0..n)
            .max_by(|a, b| v[*a].abs().total_cmp(&v[*b].abs()))
            .unwrap_or(0);
        let eigenvalue = y[largest] / v[largest];
        let off = v
            .iter()
            .zip(&y)
            .map(|(v, y)| (eigenvalue * v - y).abs())
            .fold(0.0, f64::max);
        checks.at_most(
            "F05",
            format!("mode {k} of a chain is an eigenvector"),
            1e-13,
            off,
        );
        eigenvalues.push(eigenvalue);
    }
    let key = "Delassus eigenvalues of an equal-mass chain: 2-2cos((2k-1)pi/(2n+1))";
    checks.against("F05", key, &eigenvalues, 1e-12);
    Ok(())
}

/// F06: measures of error at a point that is no solution.
fn measures(checks: &mut Checks) -> Result<(), Error> {
    let (z, w) = ([0.5, 0.0, 0.2, -0.1], [0.0, 0.3, 0.1, 0.4]);
    let map: Vec<f64> = z.iter().zip(w).map(|(z, w)| natural_map(1.0, *z, w)).collect();
    checks.against("F06", "componentwise z - P+(z-w)", &map, 1e-16);
    let b: Vec<f64> = w.iter().zip(z).map(|(w, z)| w - z).collect();
    let residual = rows(&identity(4), &b)?.residual(&z, &mut [0.0; 4]);
    let key = "natural map |min(z,w)|_inf";
    checks.against("F06", key, &[residual.natural], 1e-16);
    let expected = checks
        .references
        .expected("F06", "complementarity |z.w|, max(0,-z), max(0,-w)");
    let found = [residual.negative_impulse, residual.approach];
    checks.compare("F06", "max(0,-z), max(0,-w)", &expected[1..], &found, 1e-16);
    // Ours is the largest |z_i w_i|, which cannot cancel: (0, 0, 0.02, -0.04).
    let largest = z.iter().zip(w).map(|(z, w)| (z * w).abs()).fold(0.0, f64::max);
    checks.compare(
        "F06",
        "largest |z_i w_i|",
        &[largest],
        &[residual.complementarity],
        1e-16,
    );
    let cone = Cone::Box {
        lower: -1.0,
        upper: 0.4,
    };
    let problem = Problem::dense(&[1.0], &b[..1], &[cone]).map_err(Error::Contacts)?;
    let residual = problem.residual(&z[..1], &mut [0.0]);
    let key = "boxed: z - P[lo,hi](z-w), lo=-1, hi=.4";
    checks.against("F06", key, &[residual.natural], 1e-15);
    Ok(())
}
