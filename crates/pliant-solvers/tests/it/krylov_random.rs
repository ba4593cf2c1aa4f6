//! All Krylov solvers on the same random problems, against dense solves and the direct solver.

use crate::tools::{Random, definite, krylov_solvers, lower, random_kkt};
use nalgebra::{DMatrix, DVector};
use pliant_solvers::krylov::{
    ApproximateSchur, Approximation, ConstraintPreconditioner, DiagonalPreconditioner, FnOperator, Identity,
    IncompleteCholesky, Jacobi, KktOperator, KrylovOptions, KrylovStatus, Preconditioner, Ssor,
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
        assert_eq!(report.restarts > 0, name == "GMRES");
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
