//! Krylov solvers at the limits: wrong input, no input, rounding, memory.

use crate::tools::{Random, close};
use crate::zoo::{krylov_solvers, laplacian, lower};
use pliant_krylov::{
    Breakdown, ConjugateGradient, FnOperator, GeneralMinimalResidual, Identity, IncompleteCholesky, Jacobi,
    KrylovOptions, KrylovSolver, KrylovStatus, MinimalResidual, SymmetricOperator,
};
use pliant_solvers::{SolveError, Variable};
use std::cell::Cell;

#[test]
fn wrong_sizes_and_values_are_typed_errors() {
    let a = laplacian(3);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let size = |what| SolveError::Size {
        what,
        expected: 9,
        found: 8,
    };
    for (_, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = [0.0; 9];
        let found = solver.solve(&operator, &[1.0; 8], &mut x);
        assert_eq!(found, Err(size("right-hand side")));
        let found = solver.solve(&operator, &[1.0; 9], &mut x[..8]);
        assert_eq!(found, Err(size("start")));
        let found = solver.solve_with(&operator, &Identity::new(8), &[1.0; 9], &mut x);
        assert_eq!(found, Err(size("preconditioner")));
        let nan = |i| {
            Err(SolveError::NotFinite {
                variable: Variable::Dof(i),
            })
        };
        let mut b = [1.0; 9];
        b[4] = f64::NAN;
        assert_eq!(solver.solve(&operator, &b, &mut x), nan(4));
        x[2] = f64::INFINITY;
        assert_eq!(solver.solve(&operator, &[1.0; 9], &mut x), nan(2));
        x[2] = 0.0;
        solver.options_mut().tolerance = f64::NAN;
        let found = solver.solve(&operator, &[1.0; 9], &mut x);
        assert!(matches!(
            found,
            Err(SolveError::Parameter {
                what: "tolerance",
                ..
            })
        ));
        solver.options_mut().tolerance = 1e-9;
        solver.options_mut().restart = 0;
        let found = solver.solve(&operator, &[1.0; 9], &mut x);
        assert!(matches!(
            found,
            Err(SolveError::Parameter { what: "restart", .. })
        ));
        assert_eq!(x, [0.0; 9]);
    }
    assert!(SymmetricOperator::new(&a, &[true; 4]).is_err());
}

#[test]
fn nothing_to_solve_takes_no_iteration() {
    let a = laplacian(3);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let empty = FnOperator::new(0, |_: &[f64], _: &mut [f64]| ());
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let report = solver.solve(&empty, &[], &mut []).unwrap();
        assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 0));
        let mut x = [0.0; 9];
        let report = solver.solve(&operator, &[0.0; 9], &mut x).unwrap();
        assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 0));
        assert_eq!((x, report.residual), ([0.0; 9], 0.0));
        // From elsewhere back to zero.
        let mut x: Vec<f64> = (1..10).map(f64::from).collect();
        let report = solver.solve(&operator, &[0.0; 9], &mut x).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged, "{name}");
        close(&x, &[0.0; 9], 1e-8);
        // In one pass, and no more steps than unknowns.
        assert!(
            report.restarts == 0 && report.iterations <= 9,
            "{name} {report:?}"
        );
        // No iterations allowed.
        solver.options_mut().max_iterations = 0;
        let report = solver.solve(&operator, &[1.0; 9], &mut x).unwrap();
        assert_eq!(
            (report.status, report.iterations),
            (KrylovStatus::MaxIterations, 0)
        );
    }
}

#[test]
fn a_warm_start_takes_no_iteration_and_a_near_one_few() {
    let a = laplacian(10);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let b = Random(7).numbers(100);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = vec![0.0; 100];
        let cold = solver.solve(&operator, &b, &mut x).unwrap();
        let warm = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(
            (warm.status, warm.iterations, warm.relative),
            (KrylovStatus::Converged, 0, cold.relative),
            "{name}"
        );
        x.iter_mut().for_each(|x| *x *= 1.0 + 1e-8);
        let near = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(near.status, KrylovStatus::Converged);
        assert!(near.iterations < cold.iterations, "{name}");
    }
}

#[test]
fn an_operator_that_is_not_finite_is_a_breakdown_and_leaves_the_start() {
    let nan = FnOperator::new(3, |x: &[f64], y: &mut [f64]| {
        y.copy_from_slice(x);
        if x[0] != 0.0 {
            y[1] = f64::NAN;
        }
    });
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let kind = Breakdown::NotFinite;
        let mut x = [0.0; 3];
        let report = solver.solve(&nan, &[1.0, 2.0, 3.0], &mut x).unwrap();
        assert_eq!(
            (report.status, x),
            (KrylovStatus::Breakdown { kind }, [0.0; 3]),
            "{name}"
        );
        assert!(report.relative == 1.0);
        let mut x = [1.0; 3];
        let report = solver.solve(&nan, &[1.0, 2.0, 3.0], &mut x).unwrap();
        assert_eq!((report.status, x), (KrylovStatus::Breakdown { kind }, [1.0; 3]));
        assert_eq!((report.iterations, report.residual), (0, f64::INFINITY));
    }
}

#[test]
fn a_tolerance_of_zero_ends_at_rounding() {
    let a = laplacian(12);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let b = Random(8).numbers(144);
    let options = KrylovOptions {
        tolerance: 0.0,
        max_iterations: 5000,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; 144];
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        assert_ne!(report.status, KrylovStatus::Converged, "{name}");
        // A few roundings of rows of five terms; the pass that gains less than a factor of two is
        // the last.
        assert!(report.relative < 2e-15, "{name} {report:?}");
    }
}

#[test]
fn a_recurrence_that_lies_is_not_believed() {
    let a = laplacian(7);
    let b = Random(14).numbers(49);
    let options = KrylovOptions {
        history: true,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        // Products to single precision, for the first so many of them.
        let products = Cell::new(0usize);
        let rounded = Cell::new(usize::MAX);
        let operator = FnOperator::new(49, |x: &[f64], y: &mut [f64]| {
            y.fill(0.0);
            a.symmetric_add_product(1.0, x, y);
            products.set(products.get() + 1);
            if products.get() <= rounded.get() {
                y.iter_mut().for_each(|y| *y = f64::from(*y as f32));
            }
        });
        let mut x = vec![0.0; 49];
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(report.status, KrylovStatus::Stagnated, "{name}");
        assert!(
            report.relative > 1e-9 && report.relative < 1e-6,
            "{name} {report:?}"
        );
        // It did claim to be there.
        let claimed = solver.history().iter().fold(f64::INFINITY, |a, r| a.min(*r));
        assert!(claimed < 1e-10 * b.len() as f64, "{name} {claimed:e}");
        // Where the products are right in the end, so is the answer.
        products.set(0);
        rounded.set(20);
        x.fill(0.0);
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged, "{name}");
        assert!(
            report.restarts > 0 && report.relative <= 1e-10,
            "{name} {report:?}"
        );
    }
}

#[test]
fn scales_of_the_whole_problem_do_not_matter() {
    let a = laplacian(6);
    let b = Random(9).numbers(36);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut counts = Vec::new();
        let mut answers = Vec::new();
        // Powers of two: the same bits.
        for (of_a, of_b) in [(0, 0), (-40, 40), (40, -40), (0, -1000), (0, 900), (30, 30)] {
            let (of_a, of_b) = (2f64.powi(of_a), 2f64.powi(of_b));
            let mut scaled = a.clone();
            scaled.values_mut().iter_mut().for_each(|v| *v *= of_a);
            let operator = SymmetricOperator::new(&scaled, &[]).unwrap();
            let b: Vec<f64> = b.iter().map(|b| b * of_b).collect();
            let mut x = vec![0.0; 36];
            let report = solver.solve(&operator, &b, &mut x).unwrap();
            assert_eq!(report.status, KrylovStatus::Converged, "{name}");
            counts.push(report.iterations);
            answers.push(x.iter().map(|x| x * of_a / of_b).collect::<Vec<_>>());
        }
        assert!(counts.iter().all(|c| *c == counts[0]), "{name} {counts:?}");
        for other in &answers[1..] {
            close(other, &answers[0], 1e-13);
        }
    }
}

#[test]
fn jacobi_undoes_diagonal_scaling() {
    // D A D with D from 1e-6 to 1e6: entries from 1e-12 to 1e12.
    let k = 6;
    let n = k * k;
    let a = laplacian(k);
    let d: Vec<f64> = (0..n)
        .map(|i| 10f64.powf(((i * 7) % n) as f64 / (n - 1) as f64 * 12.0 - 6.0))
        .collect();
    let mut scaled = a.clone();
    for i in 0..n {
        for slot in a.pattern().row_slots(i) {
            let j = a.pattern().indices()[slot] as usize;
            scaled.values_mut()[slot] *= d[i] * d[j];
        }
    }
    let exact = Random(10).numbers(n);
    let mut b = vec![0.0; n];
    a.symmetric_add_product(1.0, &exact, &mut b);
    b.iter_mut().zip(&d).for_each(|(b, d)| *b *= d);
    let operator = SymmetricOperator::new(&scaled, &[]).unwrap();
    let jacobi = Jacobi::new(&scaled, &[]).unwrap();
    // The norm sees only the stiff rows: ask for their last digits.
    let options = KrylovOptions {
        tolerance: 1e-15,
        max_iterations: 200,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; n];
        let report = solver.solve_with(&operator, &jacobi, &b, &mut x).unwrap();
        assert!(report.relative < 1e-12, "{name} {report:?}");
        if ["CG", "CR", "MINRES"].contains(&name) {
            // These see D^-1 r only, whose rows are alike.
            let y: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x * d).collect();
            close(&y, &exact, 1e-6);
        }
    }
}

#[test]
fn a_preconditioner_that_is_not_definite_is_named() {
    let a = laplacian(3);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let minus = FnOperator::new(9, |r: &[f64], z: &mut [f64]| {
        for i in 0..9 {
            z[i] = -r[i];
        }
    });
    let mut x = [0.0; 9];
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        x.fill(0.0);
        let report = solver.solve_with(&operator, &minus, &[1.0; 9], &mut x).unwrap();
        if ["BiCGSTAB", "GMRES", "FGMRES"].contains(&name) {
            assert_eq!(report.status, KrylovStatus::Converged, "{name}");
        } else {
            let kind = Breakdown::IndefinitePreconditioner { curvature: -1.0 };
            assert_eq!(report.status, KrylovStatus::Breakdown { kind }, "{name}");
        }
    }
}

#[test]
fn the_iterations_that_are_paid_for_are_kept() {
    // Not converged, but nearer; GMRES needs no multiple of its restart.
    let a = laplacian(20);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let b = Random(11).numbers(400);
    let options = KrylovOptions {
        max_iterations: 17,
        restart: 5,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; 400];
        let report = solver.solve(&operator, &b, &mut x).unwrap();
        assert_eq!(
            (report.status, report.iterations),
            (KrylovStatus::MaxIterations, 17),
            "{name}"
        );
        assert!(
            report.relative < 0.5 && x.iter().any(|x| *x != 0.0),
            "{name} {report:?}"
        );
    }
}

#[test]
fn the_second_solve_allocates_nothing() {
    let a = laplacian(9);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let mut m = IncompleteCholesky::new(&a, &[]).unwrap();
    let (b, other) = (Random(12).numbers(81), Random(13).numbers(81));
    let options = KrylovOptions {
        history: true,
        ..KrylovOptions::default()
    };
    for (name, mut solver) in krylov_solvers(options) {
        let mut x = vec![0.0; 81];
        solver.solve(&operator, &b, &mut x).unwrap();
        let counted = allocation_counter::measure(|| {
            m.update(&a, &[]).unwrap();
            x.fill(0.0);
            solver.solve_with(&operator, &m, &other, &mut x).unwrap();
        });
        assert_eq!(counted.count_total, 0, "{name}");
    }
}

#[test]
fn one_unknown() {
    let a = lower(1, &[-2.0]);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let mut x = [0.0];
    let report = MinimalResidual::default()
        .solve(&operator, &[3.0], &mut x)
        .unwrap();
    assert_eq!(
        (report.status, report.iterations, x),
        (KrylovStatus::Converged, 1, [-1.5])
    );
    x = [0.0];
    let report = GeneralMinimalResidual::default()
        .solve(&operator, &[3.0], &mut x)
        .unwrap();
    assert_eq!(
        (report.status, report.iterations, x),
        (KrylovStatus::Converged, 1, [-1.5])
    );
    x = [0.0];
    let report = ConjugateGradient::default()
        .solve(&operator, &[3.0], &mut x)
        .unwrap();
    let kind = Breakdown::Indefinite { curvature: -2.0 };
    assert_eq!(report.status, KrylovStatus::Breakdown { kind });
}
