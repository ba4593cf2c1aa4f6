//! Incomplete factors by blocks, projected and condensed conjugate gradients, flexible GMRES.

use crate::linear::lattice;
use crate::tools::{Random, close, definite, random_kkt};
use crate::zoo::{laplacian, lower};
use pliant_krylov::{
    BlockIncompleteCholesky, ConjugateGradient, FlexibleMinimalResidual, FnOperator, GeneralMinimalResidual,
    IncompleteCholesky, KktKrylov, KktKrylovOptions, KktMethod, KrylovOptions, KrylovSolver, KrylovStatus,
    LinearOperator, Preconditioner, PrimalPreconditioner,
};
use pliant_solvers::{KktSystem, Solution, SolveError, solve_dense};
use pliant_sparse::SymmetricBlockMatrix;
use std::cell::{Cell, RefCell};

/// `M^-1`, column by column.
fn matrix(m: &dyn Preconditioner) -> Vec<f64> {
    let n = m.size();
    let mut out = Vec::new();
    for k in 0..n {
        let (mut unit, mut z) = (vec![0.0; n], vec![0.0; n]);
        unit[k] = 1.0;
        m.apply(&unit, &mut z);
        out.extend(z);
    }
    out
}

/// A block tridiagonal matrix with blocks of two: its factor has no fill.
fn tridiagonal(random: &mut Random, blocks: usize) -> Vec<f64> {
    let n = 2 * blocks;
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..=i {
            if i / 2 - k / 2 <= 1 {
                let value = if i == k { 6.0 } else { random.number() };
                a[i * n + k] = value;
                a[k * n + i] = value;
            }
        }
    }
    a
}

#[test]
fn blocks_without_fill_are_factored_exactly() {
    let mut random = Random(3);
    let dense = tridiagonal(&mut random, 7);
    let a = SymmetricBlockMatrix::<2>::new(&lower(14, &dense), &[]).unwrap();
    let m = BlockIncompleteCholesky::new(&a).unwrap();
    assert_eq!(m.shift(), 0.0);
    let (r, mut z, mut back) = (random.numbers(14), vec![0.0; 14], vec![0.0; 14]);
    m.apply(&r, &mut z);
    a.product_into(&z, &mut back);
    // Diagonally dominant: a few roundings.
    close(&back, &r, 1e-14);
    let mut solver = ConjugateGradient::default();
    let report = solver.solve_with(&a, &m, &r, &mut [0.0; 14]).unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 1));
}

#[test]
fn blocks_of_one_are_the_scalar_factor() {
    let a = laplacian(6);
    let scalar = IncompleteCholesky::new(&a, &[]).unwrap();
    let blocks = SymmetricBlockMatrix::<1>::new(&a, &[]).unwrap();
    let block = BlockIncompleteCholesky::new(&blocks).unwrap();
    close(&matrix(&scalar), &matrix(&block), 1e-15);
}

#[test]
fn incomplete_blocks_say_what_they_added() {
    // Positive definite, but elimination without the fill it makes loses that (after Kershaw 1978).
    let kershaw = [
        3.0, -2.0, 0.0, 2.0, -2.0, 3.0, -2.0, 0.0, 0.0, -2.0, 3.0, -2.0, 2.0, 0.0, -2.0, 3.0,
    ];
    let mut a = SymmetricBlockMatrix::<1>::new(&lower(4, &kershaw), &[]).unwrap();
    let mut m = BlockIncompleteCholesky::new(&a).unwrap();
    assert!(m.shift() > 0.0 && m.shift() < 1.0);
    let mut x = [0.0; 4];
    let report = ConjugateGradient::default().solve_with(&a, &m, &[1.0, 2.0, 3.0, 4.0], &mut x);
    assert_eq!(report.unwrap().status, KrylovStatus::Converged);
    // As one block nothing is lost.
    let one = SymmetricBlockMatrix::<4>::new(&lower(4, &kershaw), &[]).unwrap();
    assert_eq!(BlockIncompleteCholesky::new(&one).unwrap().shift(), 0.0);
    let mut wrong = kershaw;
    wrong[5] = -1.0;
    a.update(&lower(4, &wrong), &[]).unwrap();
    assert!(matches!(
        m.update(&a),
        Err(SolveError::NotPositiveDefinite { dof: 1, .. })
    ));
    wrong[5] = f64::NAN;
    a.update(&lower(4, &wrong), &[]).unwrap();
    assert!(matches!(m.update(&a), Err(SolveError::NotFinite { .. })));
    let other = SymmetricBlockMatrix::<1>::new(&lower(2, &[1.0; 4]), &[]).unwrap();
    assert!(matches!(m.update(&other), Err(SolveError::Size { .. })));
}

fn solver(method: KktMethod) -> KktKrylov {
    let mut options = KktKrylovOptions {
        method,
        ..KktKrylovOptions::default()
    };
    options.krylov.tolerance = 1e-12;
    KktKrylov::new(options)
}

#[test]
fn projected_steps_are_counted_by_the_null_space() {
    // Finite termination: as many steps as the null space of J has dimensions, whatever W is.
    for (n, m) in [(12, 9), (12, 11), (12, 12), (9, 1)] {
        let mut random = Random((n + m) as u64);
        let (w, j) = (definite(&mut random, n), random.numbers(m * n));
        let mut system = KktSystem::dense(&w, &j, &vec![0.0; m]).unwrap();
        system.c = random.numbers(n);
        system.b = random.numbers(m);
        let (mut solver, mut solution) = (solver(KktMethod::ProjectedPcg), Solution::default());
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut solution).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged);
        // One more for every round, which rounding may ask for.
        assert!(report.iterations <= n - m + report.rounds, "{report:?}");
        let exact = solve_dense(&system).unwrap();
        // Conditions of random J: up to 1e4.
        close(&solution.x, &exact.x, 1e-8);
        close(&solution.mu, &exact.mu, 1e-7);
    }
}

#[test]
fn projected_and_condensed_answers_are_those_of_the_oracle() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let mut system = random_kkt(&mut random, 15, 6);
        for hard in [true, false] {
            if !hard {
                for i in 0..6 {
                    let slot = system.r.pattern().slot(i, i).unwrap();
                    system.r.values_mut()[slot] = 10f64.powi(-(i as i32));
                }
            }
            let exact = solve_dense(&system).unwrap();
            for method in [KktMethod::ProjectedPcg, KktMethod::PrimalPcg] {
                let mut solver = solver(method);
                if hard && method == KktMethod::PrimalPcg {
                    assert_eq!(solver.prepare(&system), Err(SolveError::HardRow { row: 0 }));
                    continue;
                }
                let mut solution = Solution::default();
                solver.prepare(&system).unwrap();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, KrylovStatus::Converged, "{method:?} {report:?}");
                close(&solution.x, &exact.x, 1e-8);
                close(&solution.mu, &exact.mu, 1e-7);
            }
        }
        let slot = system.r.pattern().slot(3, 3).unwrap();
        system.r.values_mut()[slot] = -1.0;
        for method in [KktMethod::ProjectedPcg, KktMethod::PrimalPcg] {
            let found = solver(method).prepare(&system);
            let negative = SolveError::NegativeCompliance { row: 3, value: -1.0 };
            assert_eq!(found, Err(negative), "{method:?}");
        }
    }
}

#[test]
fn an_indefinite_matrix_is_named_by_projected_steps() {
    // W = diag(1, -1, 2), and one row that leaves the negative direction free.
    let w = [1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 2.0];
    let mut system = KktSystem::dense(&w, &[1.0, 0.0, 0.0], &[0.0]).unwrap();
    system.c = vec![1.0, 2.0, 3.0];
    let (mut solver, mut solution) = (solver(KktMethod::ProjectedPcg), Solution::default());
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut solution).unwrap();
    assert!(
        matches!(report.status, KrylovStatus::Breakdown { .. }),
        "{report:?}"
    );
    // With the row in the way of that direction there is a minimum.
    let mut held = KktSystem::dense(&w, &[0.0, 1.0, 0.0], &[0.0]).unwrap();
    held.c = vec![1.0, 2.0, 3.0];
    solver.prepare(&held).unwrap();
    let report = solver.solve(&held, &mut solution).unwrap();
    assert_eq!(report.status, KrylovStatus::Converged);
    close(&solution.x, &[1.0, 0.0, 1.5], 1e-12);
    close(&solution.mu, &[-2.0], 1e-12);
}

#[test]
fn a_preconditioner_that_changes_is_for_flexible_gmres() {
    let a = laplacian(20);
    let operator = SymmetricBlockMatrix::<1>::new(&a, &[]).unwrap();
    let n = operator.size();
    let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let options = KrylovOptions {
        tolerance: 1e-10,
        max_iterations: 60,
        ..KrylovOptions::default()
    };
    // A few steps of conjugate gradients: another polynomial of A every time.
    let inner = RefCell::new(ConjugateGradient::new(KrylovOptions {
        tolerance: 0.1,
        ..options
    }));
    let products = Cell::new(0);
    let counted = FnOperator::new(n, |x: &[f64], y: &mut [f64]| {
        products.set(products.get() + 1);
        operator.product_into(x, y);
    });
    let m = FnOperator::new(n, |r: &[f64], z: &mut [f64]| {
        z.fill(0.0);
        inner.borrow_mut().solve(&counted, r, z).unwrap();
    });
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    let mut flexible = FlexibleMinimalResidual::new(options);
    let report = flexible.solve_with(&operator, &m, &b, &mut x).unwrap();
    assert_eq!((report.status, report.restarts), (KrylovStatus::Converged, 0));
    // Every outer step reduces the residual by about the inner tolerance.
    assert!(report.iterations <= 14 && products.get() > 60, "{report:?}");
    // Without the directions the same preconditioner leads astray: the basis does not lead back to
    // them.
    let astray = GeneralMinimalResidual::new(options).solve_with(&operator, &m, &b, &mut y);
    let astray = astray.unwrap();
    assert!(
        astray.restarts > 0 || astray.iterations > report.iterations,
        "{astray:?}"
    );
    operator.product_into(&x, &mut y);
    close(&y, &b, 1e-8);
}

#[test]
fn a_constant_preconditioner_makes_flexible_gmres_gmres() {
    let a = laplacian(9);
    let operator = SymmetricBlockMatrix::<1>::new(&a, &[]).unwrap();
    let m = IncompleteCholesky::new(&a, &[]).unwrap();
    let options = KrylovOptions {
        restart: 5,
        history: true,
        ..KrylovOptions::default()
    };
    let b: Vec<f64> = (0..81).map(|i| (i as f64).cos()).collect();
    let (mut x, mut y) = (vec![0.0; 81], vec![0.0; 81]);
    let mut flexible = FlexibleMinimalResidual::new(options);
    let mut plain = GeneralMinimalResidual::new(options);
    let found = flexible.solve_with(&operator, &m, &b, &mut x).unwrap();
    let expected = plain.solve_with(&operator, &m, &b, &mut y).unwrap();
    assert_eq!(
        (found.iterations, found.restarts),
        (expected.iterations, expected.restarts)
    );
    assert!(found.restarts > 0);
    // Roundings of one application of M more.
    close(&x, &y, 1e-12);
    assert_eq!(flexible.history().len(), plain.history().len());
}

#[test]
fn both_preconditioners_and_all_block_sizes_agree() {
    let mut random = Random(17);
    // Three divides 12, two divides 10, neither divides 7.
    for n in [12, 10, 7] {
        let dense = definite(&mut random, n);
        let mut system = KktSystem::dense(&dense, &[], &[]).unwrap();
        system.c = random.numbers(n);
        system.fixed[1] = true;
        let exact = solve_dense(&system).unwrap();
        for preconditioner in [
            PrimalPreconditioner::BlockJacobi,
            PrimalPreconditioner::IncompleteCholesky,
        ] {
            let mut solver = solver(KktMethod::PrimalPcg);
            solver.options.preconditioner = preconditioner;
            let mut solution = Solution::default();
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_eq!(report.status, KrylovStatus::Converged);
            // A full pattern has no fill: the factor is exact.
            if preconditioner == PrimalPreconditioner::IncompleteCholesky {
                assert!(report.iterations <= report.rounds);
            }
            close(&solution.x, &exact.x, 1e-10);
        }
    }
}

#[test]
fn new_values_on_the_old_pattern_allocate_nothing() {
    let mut system = lattice(5, 1.0, 1.0);
    let mut rows = random_kkt(&mut Random(2), 15, 6);
    for (method, system) in [
        (KktMethod::PrimalPcg, &mut system),
        (KktMethod::ProjectedPcg, &mut rows),
    ] {
        let (mut solver, mut solution) = (solver(method), Solution::default());
        let mut step = |system: &KktSystem, solution: &mut Solution| {
            solver.prepare(system).unwrap();
            solver.solve(system, solution).unwrap().iterations
        };
        step(system, &mut solution);
        system.c[0] += 0.5;
        let slot = system.w.pattern().slot(2, 2).unwrap();
        system.w.values_mut()[slot] += 0.25;
        let mut iterations = 0;
        let counted = allocation_counter::measure(|| iterations = step(system, &mut solution));
        assert!(iterations > 0);
        assert_eq!(counted.count_total, 0, "{method:?}");
    }
}
