//! KKT systems by Krylov methods, against the direct solver.

use crate::tools::{Random, close, identity, random_kkt};
use pliant_krylov::{Approximation, KktKrylov, KktKrylovOptions, KktKrylovReport, KktMethod, KrylovStatus};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, Variable};

const METHODS: [KktMethod; 3] = [KktMethod::Minres, KktMethod::SchurPcg, KktMethod::ConstraintGmres];

fn solver(method: KktMethod, approximation: Approximation) -> KktKrylov {
    KktKrylov::new(KktKrylovOptions {
        method,
        approximation,
        ..KktKrylovOptions::default()
    })
}

fn solve(system: &KktSystem, method: KktMethod) -> (Solution, KktKrylovReport) {
    let mut solver = solver(method, Approximation::Blocks);
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    (solution, report)
}

fn direct(system: &KktSystem) -> Solution {
    let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
    solver.prepare(system).unwrap();
    solver.solve(system, &mut solution).unwrap();
    solution
}

#[test]
fn random_systems_as_by_the_direct_solver() {
    let mut random = Random(41);
    for (n, m) in [(3, 0), (4, 1), (12, 5), (40, 21)] {
        let system = random_kkt(&mut random, n, m);
        let exact = direct(&system);
        for method in METHODS {
            for approximation in [Approximation::Diagonal, Approximation::Blocks] {
                let mut solver = solver(method, approximation);
                let mut solution = Solution::default();
                solver.prepare(&system).unwrap();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, KrylovStatus::Converged, "{method:?} {report:?}");
                assert!(report.residual.relative <= 1e-10);
                close(&solution.x, &exact.x, 1e-8);
                close(&solution.mu, &exact.mu, 1e-7);
                // From the answer: nothing to do.
                let copy = solution.clone();
                let again = solver.solve(&system, &mut solution).unwrap();
                assert_eq!((again.iterations, again.status), (0, KrylovStatus::Converged));
                assert_eq!(solution, copy);
            }
        }
    }
}

#[test]
fn scales_of_rows_and_variables_do_not_matter() {
    // Masses from 1e-12 to 1e12, and rows that are far from them.
    let mut random = Random(42);
    let (n, m) = (14, 6);
    let mut system = random_kkt(&mut random, n, m);
    let exact = direct(&system);
    let d: Vec<f64> = (0..n)
        .map(|i| 10f64.powf(12.0 * i as f64 / (n - 1) as f64 - 6.0))
        .collect();
    let t: Vec<f64> = (0..m).map(|i| 10f64.powi(5 - 2 * i as i32)).collect();
    for i in 0..n {
        for slot in system.w.pattern().row_slots(i) {
            let k = system.w.pattern().indices()[slot] as usize;
            system.w.values_mut()[slot] *= d[i] * d[k];
        }
        system.c[i] *= d[i];
    }
    for i in 0..m {
        for slot in system.j.pattern().row_slots(i) {
            let k = system.j.pattern().indices()[slot] as usize;
            system.j.values_mut()[slot] *= t[i] * d[k];
        }
        system.r.values_mut()[i] *= t[i] * t[i];
        system.b[i] *= t[i];
    }
    for method in METHODS {
        let (solution, report) = solve(&system, method);
        assert_eq!(report.status, KrylovStatus::Converged, "{method:?} {report:?}");
        let x: Vec<f64> = solution.x.iter().zip(&d).map(|(x, d)| x * d).collect();
        let mu: Vec<f64> = solution.mu.iter().zip(&t).map(|(x, t)| x * t).collect();
        close(&x, &exact.x, 1e-7);
        close(&mu, &exact.mu, 1e-7);
    }
}

/// Three rows on three variables, the first one twice.
fn duplicated(b: [f64; 3]) -> KktSystem {
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let j = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let mut system = KktSystem::dense(&w, &j, &[0.0; 3]).unwrap();
    system.c.copy_from_slice(&[1.0, 0.5, 2.0]);
    system.b.copy_from_slice(&b);
    system
}

#[test]
fn redundant_rows_that_agree_are_welcome_and_others_are_not() {
    let system = duplicated([0.5, 0.5, 0.2]);
    let exact = direct(&system);
    for method in METHODS {
        let (solution, report) = solve(&system, method);
        assert_eq!(report.status, KrylovStatus::Converged, "{method:?} {report:?}");
        close(&solution.x, &exact.x, 1e-9);
        // The force is unique, its share of each row is not.
        let sum = |s: &Solution| s.mu[0] + s.mu[1];
        assert!((sum(&solution) - sum(&exact)).abs() < 1e-9, "{method:?}");
        let (solution, report) = solve(&duplicated([0.5, 0.7, 0.2]), method);
        assert_ne!(report.status, KrylovStatus::Converged, "{method:?}");
        assert!(
            report.residual.is_finite() && report.residual.row >= 0.1 - 1e-9,
            "{report:?}"
        );
        assert!(solution.x.iter().chain(&solution.mu).all(|v| v.is_finite()));
    }
}

#[test]
fn w_may_be_indefinite_where_the_rows_hold() {
    // W = diag(1, 1, -2), held in the third variable.
    let mut w = identity(3);
    w[8] = -2.0;
    let mut system = KktSystem::dense(&w, &[0.1, 0.5, 1.0], &[0.0]).unwrap();
    system.c = vec![1.0, 2.0, 3.0];
    system.b = vec![0.25];
    let exact = direct(&system);
    for method in [KktMethod::Minres, KktMethod::ConstraintGmres] {
        let (solution, report) = solve(&system, method);
        assert_eq!(report.status, KrylovStatus::Converged, "{method:?}");
        close(&solution.x, &exact.x, 1e-9);
        close(&solution.mu, &exact.mu, 1e-9);
    }
    let mut schur = solver(KktMethod::SchurPcg, Approximation::Blocks);
    let error = SolveError::NotPositiveDefinite {
        dof: 2,
        diagonal: -2.0,
    };
    assert_eq!(schur.prepare(&system), Err(error));
    assert_eq!(
        schur.solve(&system, &mut Solution::default()),
        Err(SolveError::NotPrepared)
    );
}

#[test]
fn the_approximation_is_exact_for_uncoupled_masses() {
    let mut random = Random(43);
    let mut system = KktSystem::dense(&identity(9), &random.numbers(36), &[0.0; 4]).unwrap();
    (system.c, system.b) = (random.numbers(9), random.numbers(4));
    let exact = direct(&system);
    for (method, iterations) in METHODS.into_iter().zip([3, 1, 1]) {
        let (solution, report) = solve(&system, method);
        assert_eq!((report.iterations, report.rounds), (iterations, 1), "{method:?}");
        close(&solution.x, &exact.x, 1e-11);
        close(&solution.mu, &exact.mu, 1e-11);
    }
}

#[test]
fn the_second_solve_allocates_nothing() {
    let mut random = Random(44);
    let mut system = random_kkt(&mut random, 16, 7);
    for method in METHODS {
        let mut solver = solver(method, Approximation::Blocks);
        let mut solution = Solution::default();
        solver.prepare(&system).unwrap();
        solver.solve(&system, &mut solution).unwrap();
        system.c[1] += 1.0;
        system.w.values_mut()[0] += 1.0;
        let counted = allocation_counter::measure(|| {
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert!(report.status == KrylovStatus::Converged && report.iterations > 0);
        });
        assert_eq!(counted.count_total, 0, "{method:?}");
    }
}

#[test]
fn errors_are_typed() {
    let mut random = Random(45);
    let system = random_kkt(&mut random, 6, 2);
    for method in METHODS {
        let mut solver = solver(method, Approximation::Blocks);
        let mut solution = Solution::default();
        assert_eq!(solver.solve(&system, &mut solution), Err(SolveError::NotPrepared));
        solver.prepare(&system).unwrap();
        let other = random_kkt(&mut random, 5, 2);
        assert_eq!(solver.solve(&other, &mut solution), Err(SolveError::NotPrepared));
        let nan = |variable| Err(SolveError::NotFinite { variable });
        let mut bad = system.clone();
        bad.c[1] = f64::NAN;
        assert_eq!(
            solver.solve(&bad, &mut solution).unwrap_err(),
            SolveError::NotFinite {
                variable: Variable::Dof(1)
            }
        );
        let mut bad = system.clone();
        bad.b[1] = f64::INFINITY;
        assert_eq!(
            solver.solve(&bad, &mut solution).unwrap_err(),
            SolveError::NotFinite {
                variable: Variable::Row(1)
            }
        );
        solution.x = vec![f64::NAN; 6];
        assert_eq!(
            solver.solve(&system, &mut solution).unwrap_err(),
            SolveError::NotFinite {
                variable: Variable::Dof(0)
            }
        );
        let mut bad = system.clone();
        bad.b.pop();
        assert!(matches!(solver.prepare(&bad), Err(SolveError::Size { .. })));
        let mut bad = system.clone();
        bad.bounds[0] = (0.0, 1.0);
        assert_eq!(solver.prepare(&bad), Err(SolveError::Bounded { row: 0 }));
        let mut bad = system.clone();
        bad.r.values_mut()[1] = -1.0;
        let negative = SolveError::NegativeCompliance { row: 1, value: -1.0 };
        assert_eq!(solver.prepare(&bad), Err(negative));
        let mut bad = system.clone();
        bad.j.values_mut()[0] = f64::NAN;
        assert_eq!(solver.prepare(&bad), nan(Variable::Row(0)));
        let mut bad = system.clone();
        bad.w.values_mut()[2] = f64::NAN;
        assert_eq!(solver.prepare(&bad), nan(Variable::Dof(1)));
    }
}

#[test]
fn iterations_that_run_out_are_reported_with_the_better_answer() {
    let mut random = Random(46);
    let system = random_kkt(&mut random, 30, 12);
    for method in METHODS {
        let mut solver = solver(method, Approximation::Diagonal);
        solver.options.krylov.max_iterations = 2;
        let mut solution = Solution::default();
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut solution).unwrap();
        assert_eq!(
            (report.status, report.iterations),
            (KrylovStatus::MaxIterations, 2)
        );
        assert!(report.residual.relative <= 1.0 && report.residual.is_finite());
    }
}

#[test]
fn an_answer_that_decays_is_right_to_its_smallest_entries() {
    // Springs to the ground and between neighbours, pushed at one end: the answer falls by 0.38 per
    // entry, to 1e-40.
    let n = 100;
    let mut w = vec![0.0; n * n];
    for i in 0..n {
        w[i * n + i] = 3.0;
        if i > 0 {
            w[i * n + i - 1] = -1.0;
        }
    }
    let mut j = vec![0.0; n];
    j[0] = 1.0;
    let mut system = KktSystem::dense(&w, &j, &[0.5]).unwrap();
    system.b[0] = 1.0;
    let exact = direct(&system);
    assert!(exact.x[n - 1].abs() < 1e-40 && exact.x[n - 1] != 0.0);
    for method in METHODS {
        let (solution, report) = solve(&system, method);
        assert_eq!(report.status, KrylovStatus::Converged, "{method:?} {report:?}");
        for (x, e) in solution.x.iter().zip(&exact.x) {
            assert!((x - e).abs() <= 1e-6 * e.abs(), "{method:?}: {x:e} is not {e:e}");
        }
    }
}

#[test]
fn the_residual_is_that_of_the_answer_however_a_solve_ends() {
    let mut random = Random(47);
    for k in 0..30 {
        let system = random_kkt(&mut random, 6 + k % 7, 3);
        for method in METHODS {
            let mut solver = solver(method, Approximation::Blocks);
            solver.options.krylov.tolerance = 0.0;
            let mut solution = Solution::default();
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            // A few roundings of sums of a dozen terms.
            assert!(report.residual.relative < 2e-15, "{method:?} {report:?}");
            solver.options.krylov.max_iterations = 0;
            let copy = solution.clone();
            let same = solver.solve(&system, &mut solution).unwrap();
            assert_eq!((same.residual, &solution), (report.residual, &copy), "{method:?}");
        }
    }
}
