//! All Krylov solvers on the same random problems, against dense solves and the direct solver.

use crate::tools::{Random, definite, random_kkt};
use crate::zoo::{krylov_solvers, lower};
use nalgebra::{DMatrix, DVector};
use pliant_krylov::{
    ApproximateSchur, Approximation, Breakdown, ConstraintPreconditioner, DiagonalPreconditioner, FnOperator,
    Identity, IncompleteCholesky, Jacobi, KktOperator, KrylovOptions, KrylovStatus, Preconditioner, Ssor,
    SymmetricOperator,
};
use pliant_solvers::{DirectSolver, KktSystem, Solution};

fn dense(n: usize, a: &[f64], b: &[f64]) -> DVector<f64> {
    let a = DMatrix::from_row_slice(n, n, a);
    a.lu().solve(&DVector::from_column_slice(b)).unwrap()
}

fn near(x: &[f64], exact: &[f64], tolerance: f64, what: &str) {
    let size = exact.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    for (x, e) in x.iter().zip(exact) {
        assert!(
            (x - e).abs() <= tolerance * size,
            "{what}: {x} is not {e} to {tolerance:e} of {size}"
        );
    }
}

#[test]
fn definite_matrices() {
    let mut random = Random(31);
    for n in [1, 2, 5, 20, 60] {
        let a = definite(&mut random, n);
        let (sparse, b) = (lower(n, &a), random.numbers(n));
        let exact = dense(n, &a, &b);
        let mut system = KktSystem::dense(&a, &[], &[]).unwrap();
        system.c.copy_from_slice(&b);
        near(&direct(&system), exact.as_slice(), 1e-12, "direct");
        let operator = SymmetricOperator::new(&sparse, &[]).unwrap();
        let preconditioners: [(&str, Box<dyn Preconditioner>); 4] = [
            ("I", Box::new(Identity::new(n))),
            ("Jacobi", Box::new(Jacobi::new(&sparse, &[]).unwrap())),
            ("SSOR", Box::new(Ssor::new(&sparse, &[], 1.3).unwrap())),
            ("IC", Box::new(IncompleteCholesky::new(&sparse, &[]).unwrap())),
        ];
        for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
            for (with, m) in &preconditioners {
                let mut x = vec![0.0; n];
                let report = solver.solve_with(&operator, m.as_ref(), &b, &mut x).unwrap();
                let what = format!("{name} with {with}, n = {n}: {report:?}");
                assert_eq!(report.status, KrylovStatus::Converged, "{what}");
                assert!(report.relative <= 1e-10, "{what}");
                // The condition number is below 10.
                near(&x, exact.as_slice(), 1e-8, &what);
            }
        }
    }
}

#[test]
fn unsymmetric_matrices() {
    let mut random = Random(32);
    for n in [1, 3, 10, 40] {
        // Diagonally dominant rows of a random sign structure, far from symmetric.
        let mut a = random.numbers(n * n);
        for i in 0..n {
            a[i * n + i] = 0.6 * n as f64 + 1.0;
        }
        let b = random.numbers(n);
        let exact = dense(n, &a, &b);
        let copy = a.clone();
        let operator = FnOperator::new(n, move |x: &[f64], y: &mut [f64]| {
            for i in 0..n {
                y[i] = (0..n).map(|k| copy[i * n + k] * x[k]).sum();
            }
        });
        for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
            if !["BiCGSTAB", "GMRES"].contains(&name) {
                continue;
            }
            let d: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            let m = Jacobi::from_diagonal(&d).unwrap();
            let mut x = random.numbers(n);
            let report = solver.solve_with(&operator, &m, &b, &mut x).unwrap();
            assert_eq!(report.status, KrylovStatus::Converged, "{name} {report:?}");
            near(&x, exact.as_slice(), 1e-8, name);
        }
    }
}

#[test]
fn restarted_gmres_gets_there_in_the_end() {
    let mut random = Random(33);
    let n = 40;
    let a = definite(&mut random, n);
    let (sparse, b) = (lower(n, &a), random.numbers(n));
    let operator = SymmetricOperator::new(&sparse, &[]).unwrap();
    let exact = dense(n, &a, &b);
    let options = KrylovOptions {
        restart: 4,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; n];
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged);
        assert_eq!(report.restarts > 0, name.ends_with("GMRES"));
        near(&x, exact.as_slice(), 1e-8, name);
    }
}

fn direct(system: &KktSystem) -> Vec<f64> {
    let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
    solver.prepare(system).unwrap();
    solver.solve(system, &mut solution).unwrap();
    solution.x.into_iter().chain(solution.mu).collect()
}

#[test]
fn quasi_definite_matrices() {
    let mut random = Random(34);
    for (n, m) in [(4, 1), (10, 6), (30, 14)] {
        let mut system = random_kkt(&mut random, n, m);
        system.r.values_mut().fill(0.2);
        system.c[n / 2] = 0.0;
        let exact = direct(&system);
        let rhs: Vec<f64> = system.c.iter().chain(&system.b).copied().collect();
        let operator = KktOperator::new(&system).unwrap();
        let schur = ApproximateSchur::new(&system, Approximation::Diagonal).unwrap();
        let constraint = ConstraintPreconditioner::new(&system, &schur).unwrap();
        let diagonal = DiagonalPreconditioner::new(&schur);
        for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
            let mut x = vec![0.0; n + m];
            let definite: [&dyn Preconditioner; 2] = [&Identity::new(n + m), &diagonal];
            for m in definite {
                x.fill(0.0);
                let report = solver.solve_with(&operator, m, &rhs, &mut x).unwrap();
                if ["CG", "CR", "BiCGSTAB"].contains(&name) {
                    // Nothing is promised, but nothing false is said.
                    assert!(x.iter().all(|x| x.is_finite()));
                    if report.status != KrylovStatus::Converged {
                        continue;
                    }
                }
                assert_eq!(report.status, KrylovStatus::Converged, "{name} {report:?}");
                near(&x, &exact, 1e-7, name);
            }
            if ["BiCGSTAB", "GMRES"].contains(&name) {
                x.fill(0.0);
                let report = solver.solve_with(&operator, &constraint, &rhs, &mut x).unwrap();
                assert_eq!(report.status, KrylovStatus::Converged, "{name} {report:?}");
                near(&x, &exact, 1e-7, name);
            }
        }
    }
}

/// A matrix of one of many kinds, none of them chosen for the solver's comfort.
fn any_matrix(random: &mut Random, n: usize) -> Vec<f64> {
    let mut a = random.numbers(n * n);
    let kind = random.below(7);
    for i in 0..n {
        for k in 0..i {
            let (upper, lower) = (k * n + i, i * n + k);
            match kind {
                0 | 4 => a[upper] = a[lower],
                1 => a[upper] = -a[lower],
                2 => (a[upper], a[lower]) = (0.0, 0.0),
                _ => {}
            }
        }
        match kind {
            1 => a[i * n + i] = 0.0,
            2 => a[i * n + i] *= 10f64.powi(random.below(40) as i32 - 20),
            4 => a[i * n + i] += n as f64,
            _ => {}
        }
    }
    match kind {
        // Of low rank, symmetric or not.
        5 | 6 => {
            let rank = random.below(n);
            let (u, v) = (a.clone(), random.numbers(n * n));
            let v = if kind == 5 { &u } else { &v };
            for i in 0..n {
                for k in 0..n {
                    a[i * n + k] = (0..rank).map(|l| u[l * n + i] * v[l * n + k]).sum();
                }
            }
        }
        _ => {}
    }
    let scale = [1.0, 1.0, 1e-150, 1e150, 1e300][random.below(5)];
    a.iter_mut().for_each(|v| *v *= scale);
    a
}

#[test]
fn whatever_the_matrix_the_report_is_true() {
    let mut random = Random(35);
    for _ in 0..2000 {
        let n = 1 + random.below(12);
        let a = any_matrix(&mut random, n);
        let m = any_matrix(&mut random, n);
        let mut b = random.numbers(n);
        let scale = [1.0, 1e-200, 1e200, 0.0][random.below(4)];
        b.iter_mut().for_each(|v| *v *= scale);
        let product = |a: Vec<f64>| {
            FnOperator::new(n, move |x: &[f64], y: &mut [f64]| {
                for i in 0..n {
                    y[i] = (0..n).map(|k| a[i * n + k] * x[k]).sum();
                }
            })
        };
        let (operator, m) = (product(a.clone()), product(m));
        let options = KrylovOptions {
            tolerance: [1e-10, 1e-4, 0.0, 1e-17][random.below(4)],
            max_iterations: 300,
            restart: 1 + random.below(6),
            history: true,
        };
        let start = random.numbers(n);
        for (name, mut solver) in krylov_solvers(options) {
            for with in [&Identity::new(n) as &dyn Preconditioner, &m] {
                let mut x = start.clone();
                let report = solver.solve_with(&operator, with, &b, &mut x).unwrap();
                let what = format!("{name}: {report:?}, {options:?}, {a:?}, {b:?}");
                assert!(x.iter().all(|x| x.is_finite()), "{what}");
                assert!(!report.relative.is_nan() && !report.residual.is_nan(), "{what}");
                assert!(report.iterations <= 300, "{what}");
                assert!(solver.history().iter().all(|r| r.is_finite()), "{what}");
                let converged = report.relative <= options.tolerance;
                assert_eq!(report.status == KrylovStatus::Converged, converged, "{what}");
                // Again, from the definition.
                let r = (0..n).map(|i| b[i] - (0..n).map(|k| a[i * n + k] * x[k]).sum::<f64>());
                let r: Vec<f64> = r.collect();
                let size = r.iter().fold(0.0f64, |a, r| a.max(r.abs()));
                if report.residual.is_finite() && size > 0.0 {
                    let norm = size * r.iter().map(|r| (r / size).powi(2)).sum::<f64>().sqrt();
                    assert!((report.residual - norm).abs() <= 1e-12 * norm, "{what}");
                }
                match report.status {
                    KrylovStatus::Breakdown { kind } => match kind {
                        Breakdown::Indefinite { curvature } => assert!(curvature <= 0.0, "{what}"),
                        Breakdown::IndefinitePreconditioner { curvature } => {
                            assert!(curvature <= 0.0, "{what}");
                        }
                        _ => {}
                    },
                    KrylovStatus::MaxIterations => assert_eq!(report.iterations, 300, "{what}"),
                    _ => {}
                }
            }
        }
    }
}
