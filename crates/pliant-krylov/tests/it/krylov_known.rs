//! Krylov solvers on problems whose answers and numbers of iterations are known.

use crate::tools::{Random, close, identity};
use crate::zoo::{krylov_solvers, laplacian, lower};
use pliant_krylov::{
    Breakdown, ConjugateGradient, ConjugateResidual, FnOperator, GeneralMinimalResidual, Identity,
    IncompleteCholesky, Jacobi, KktOperator, KrylovOptions, KrylovSolver, KrylovStatus, LinearOperator,
    MinimalResidual, SchurOperator, SymmetricOperator,
};
use pliant_solvers::{DirectSolver, KktSystem, Solution};
use std::f64::consts::PI;

fn diagonal(d: Vec<f64>) -> impl LinearOperator {
    FnOperator::new(d.len(), move |x: &[f64], y: &mut [f64]| {
        for i in 0..x.len() {
            y[i] = d[i] * x[i];
        }
    })
}

#[test]
fn short_recurrences_take_as_many_steps_as_there_are_eigenvalues() {
    let d: Vec<f64> = (0..40).map(|i| [1.0, 2.0, 5.0, 9.0][i % 4]).collect();
    let b = Random(1).numbers(40);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        if name == "BiCGSTAB" {
            continue; // Two products per step, and no such theorem.
        }
        let mut x = vec![0.0; 40];
        let report = solver.solve(&diagonal(d.clone()), &b, &mut x).unwrap();
        assert_eq!(
            (report.status, report.iterations, report.restarts),
            (KrylovStatus::Converged, 4, 0),
            "{name}"
        );
        let exact: Vec<f64> = b.iter().zip(&d).map(|(b, d)| b / d).collect();
        close(&x, &exact, 1e-12);
    }
}

#[test]
fn minres_takes_three_steps_on_orthonormal_rows() {
    // Eigenvalues 1 and (1 +- sqrt 5)/2.
    let (n, m) = (12, 4);
    let mut j = vec![0.0; m * n];
    for i in 0..m {
        // Rows (1, 1, -1)/sqrt 3 on variables of their own.
        for (k, s) in [1.0, 1.0, -1.0].into_iter().enumerate() {
            j[i * n + 3 * i + k] = s / 3f64.sqrt();
        }
    }
    let mut system = KktSystem::dense(&identity(n), &j, &vec![0.0; m]).unwrap();
    system.c = Random(2).numbers(n);
    system.b = Random(3).numbers(m);
    let rhs: Vec<f64> = system.c.iter().chain(&system.b).copied().collect();
    let operator = KktOperator::new(&system).unwrap();
    let mut z = vec![0.0; n + m];
    let report = MinimalResidual::default().solve(&operator, &rhs, &mut z).unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 3));
    let (mut direct, mut solution) = (DirectSolver::default(), Solution::default());
    direct.prepare(&system).unwrap();
    direct.solve(&system, &mut solution).unwrap();
    close(&z[..n], &solution.x, 1e-13);
    close(&z[n..], &solution.mu, 1e-13);
}

/// A chain of n unit masses that hangs from a support: row i is the i-th link.
fn chain(n: usize) -> KktSystem {
    let mut j = vec![0.0; n * n];
    for i in 0..n {
        j[i * n + i] = 1.0;
        if i > 0 {
            j[i * n + i - 1] = -1.0;
        }
    }
    KktSystem::dense(&identity(n), &j, &vec![0.0; n]).unwrap()
}

#[test]
fn the_delassus_operator_of_a_chain_has_its_eigenvalues() {
    let n = 7;
    let system = chain(n);
    let inverse = Jacobi::new(&system.w, &system.fixed).unwrap();
    let delassus = SchurOperator::new(&system, &inverse).unwrap();
    let mode = |k: usize| {
        let theta = (2 * k - 1) as f64 * PI / (2 * n + 1) as f64;
        let v: Vec<f64> = (0..n).map(|i| ((i as f64 + 0.5) * theta).cos()).collect();
        (2.0 - 2.0 * theta.cos(), v)
    };
    for k in 1..=n {
        let (eigenvalue, v) = mode(k);
        let mut y = vec![0.0; n];
        delassus.apply(&v, &mut y);
        let expected: Vec<f64> = v.iter().map(|v| eigenvalue * v).collect();
        close(&y, &expected, 1e-14);
    }
    // Three modes, three iterations; a force at the end excites all of them.
    let mut sum = vec![0.0; n];
    for k in [1, 4, 6] {
        mode(k).1.iter().zip(&mut sum).for_each(|(v, s)| *s += v);
    }
    let mut solver = ConjugateGradient::default();
    let mut mu = vec![0.0; n];
    assert_eq!(solver.solve(&delassus, &sum, &mut mu).unwrap().iterations, 3);
    sum.fill(0.0);
    sum[n - 1] = 1.0;
    mu.fill(0.0);
    let report = solver.solve(&delassus, &sum, &mut mu).unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, n));
}

#[test]
fn a_singular_consistent_system_is_solved_by_the_least_change() {
    // The Laplacian of a ring: constants are its null space.
    let n = 9;
    let ring = FnOperator::new(n, move |x: &[f64], y: &mut [f64]| {
        for i in 0..n {
            y[i] = 2.0 * x[i] - x[(i + 1) % n] - x[(i + n - 1) % n];
        }
    });
    let mut b = Random(4).numbers(n);
    let mean = b.iter().sum::<f64>() / n as f64;
    b.iter_mut().for_each(|b| *b -= mean);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x: Vec<f64> = (0..n).map(|i| 7.0 + 0.1 * i as f64).collect();
        let before: f64 = x.iter().sum();
        let report = solver.solve(&ring, &b, &mut x).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged, "{name}");
        assert!((x.iter().sum::<f64>() - before).abs() < 1e-12, "{name}");
    }
    // Outside the range there is no solution: the least residual is the mean, and nobody claims
    // otherwise.
    b.iter_mut().for_each(|b| *b += 1.0);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = vec![0.0; n];
        let report = solver.solve(&ring, &b, &mut x).unwrap();
        assert_ne!(report.status, KrylovStatus::Converged, "{name}");
        assert!(report.relative.is_finite() && x.iter().all(|x| x.is_finite()));
        if name == "MINRES" {
            assert_eq!(report.status, KrylovStatus::Stagnated);
            assert!((report.residual - 3.0).abs() < 1e-12, "{}", report.residual);
        }
    }
}

#[test]
fn an_indefinite_matrix_is_named_by_cg_and_solved_by_minres() {
    let d: Vec<f64> = (0..20)
        .map(|i| if i == 7 { -3.0 } else { 1.0 + i as f64 })
        .collect();
    let a = diagonal(d.clone());
    let b = Random(5).numbers(20);
    let mut cg = ConjugateGradient::default();
    let mut x = vec![0.0; 20];
    let report = cg.solve(&a, &b, &mut x).unwrap();
    let KrylovStatus::Breakdown {
        kind: Breakdown::Indefinite { curvature },
    } = report.status
    else {
        panic!("{report:?}")
    };
    // The direction is there, and its curvature is what the report says.
    let p = cg.direction();
    let (mut pap, mut pp) = (0.0, 0.0);
    for (p, d) in p.iter().zip(&d) {
        pap += d * p * p;
        pp += p * p;
    }
    assert!((-3.0..0.0).contains(&curvature) && (curvature - pap / pp).abs() < 1e-14);

    let mut x = vec![0.0; 20];
    let report = MinimalResidual::default().solve(&a, &b, &mut x).unwrap();
    assert_eq!(report.status, KrylovStatus::Converged);
    let exact: Vec<f64> = b.iter().zip(&d).map(|(b, d)| b / d).collect();
    close(&x, &exact, 1e-9);

    // Zero curvature from the first direction on.
    let swap = FnOperator::new(2, |x: &[f64], y: &mut [f64]| (y[0], y[1]) = (x[1], x[0]));
    let mut x = [0.0; 2];
    let report = ConjugateGradient::default()
        .solve(&swap, &[1.0, 0.0], &mut x)
        .unwrap();
    let kind = Breakdown::Indefinite { curvature: 0.0 };
    assert_eq!((report.status, x), (KrylovStatus::Breakdown { kind }, [0.0, 0.0]));
    let report = ConjugateResidual::default()
        .solve(&swap, &[1.0, 0.0], &mut x)
        .unwrap();
    let kind = Breakdown::ZeroInnerProduct;
    assert_eq!(report.status, KrylovStatus::Breakdown { kind });
    let report = MinimalResidual::default()
        .solve(&swap, &[1.0, 0.0], &mut x)
        .unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 2));
    close(&x, &[0.0, 1.0], 1e-15);
}

#[test]
fn gmres_needs_the_whole_space_for_a_cyclic_shift() {
    // Nothing is gained before the last step (Nachtigal, Reddy and Trefethen 1992).
    let n = 8;
    let shift = FnOperator::new(n, move |x: &[f64], y: &mut [f64]| {
        for i in 0..n {
            y[i] = x[(i + 1) % n];
        }
    });
    let mut b = vec![0.0; n];
    b[0] = 1.0;
    let mut x = vec![0.0; n];
    let mut solver = GeneralMinimalResidual::default();
    let report = solver.solve(&shift, &b, &mut x).unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, n));
    close(&x, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-15);
    solver.options_mut().restart = n - 1;
    x.fill(0.0);
    let report = solver.solve(&shift, &b, &mut x).unwrap();
    assert_eq!(
        (report.status, report.iterations),
        (KrylovStatus::Stagnated, n - 1)
    );
}

#[test]
fn residuals_of_minimising_methods_only_fall_and_cr_is_minres() {
    let a = laplacian(8);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let b = Random(6).numbers(64);
    let options = KrylovOptions {
        history: true,
        ..KrylovOptions::default()
    };
    let mut histories = Vec::new();
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; 64];
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        let history = solver.history().to_vec();
        assert_eq!(history.len(), report.iterations + 1, "{name}");
        // The last recurrence value is the true residual, up to the rounding of A x.
        assert!(
            (history[history.len() - 1] - report.residual).abs() < 1e-13,
            "{name}"
        );
        if ["CR", "MINRES", "GMRES"].contains(&name) {
            assert!(history.windows(2).all(|w| w[1] <= w[0]), "{name}");
            histories.push(history);
        }
    }
    // Euclidean also where the preconditioner measures otherwise, and in the middle of the way.
    let m = IncompleteCholesky::new(&a, &[]).unwrap();
    for (name, mut solver) in krylov_solvers(options) {
        for max_iterations in [1, 2, 5, 9] {
            solver.options_mut().max_iterations = max_iterations;
            let mut x = vec![0.0; 64];
            let report = solver.solve_with(&operator, &m, &b, &mut x).unwrap();
            let last = solver.history()[solver.history().len() - 1];
            assert!(
                (last - report.residual).abs() < 1e-13,
                "{name} {report:?} {last:e}"
            );
        }
    }
    for other in &histories[1..] {
        assert_eq!(other.len(), histories[0].len());
        close(&other[..20], &histories[0][..20], 1e-10);
    }
}

#[test]
fn fixed_variables_are_decoupled() {
    let w = [4.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 2.0];
    let a = lower(3, &w);
    let fixed = [false, true, false];
    let operator = SymmetricOperator::new(&a, &fixed).unwrap();
    let mut x = [0.0; 3];
    let m = Identity::new(3);
    let report = ConjugateGradient::default()
        .solve_with(&operator, &m, &[1.0, 0.0, 3.0], &mut x)
        .unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 2));
    close(&x, &[0.25, 0.0, 1.5], 1e-15);
}
