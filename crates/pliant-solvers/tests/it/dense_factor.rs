//! Dense factors and the dense solver of KKT systems.

use crate::tools::{Random, close, definite, random_kkt};
use nalgebra::{DMatrix, DVector};
use pliant_solvers::{
    DenseFactor, DenseMethod, DenseOptions, DenseSolver, Inertia, KktSystem, Solution, SolveError, Status,
    solve_dense,
};

const ALL: [DenseMethod; 3] = [
    DenseMethod::Cholesky,
    DenseMethod::Ldlt,
    DenseMethod::BunchKaufman,
];

/// A random symmetric matrix of any signs.
fn symmetric(random: &mut Random, n: usize) -> Vec<f64> {
    let mut a = random.numbers(n * n);
    for i in 0..n {
        for k in 0..i {
            a[k * n + i] = a[i * n + k];
        }
    }
    a
}

#[test]
fn solves_and_inertia_are_those_of_other_factors() {
    // Beyond the size at which faer works by blocks.
    for n in [1, 2, 3, 7, 20, 150] {
        let mut random = Random(n as u64);
        let indefinite = symmetric(&mut random, n);
        for (a, methods) in [(definite(&mut random, n), &ALL[..]), (indefinite, &ALL[2..])] {
            let matrix = DMatrix::from_row_slice(n, n, &a);
            let eigenvalues = matrix.clone().symmetric_eigen().eigenvalues;
            let positive = eigenvalues.iter().filter(|v| **v > 0.0).count();
            let smallest = eigenvalues.iter().fold(f64::INFINITY, |s, v| s.min(v.abs()));
            let b = random.numbers(3 * n);
            for method in methods {
                let mut factor = DenseFactor::new(*method, n);
                factor.factor(&a).unwrap();
                let inertia = Inertia {
                    positive,
                    negative: n - positive,
                    zero: 0,
                };
                assert_eq!(factor.inertia(), inertia, "{method:?} {n}");
                let mut x = b.clone();
                factor.solve_in_place(&mut x).unwrap();
                let exact = matrix.clone().lu();
                for (x, b) in x.chunks_exact(n).zip(b.chunks_exact(n)) {
                    let exact = exact.solve(&DVector::from_column_slice(b)).unwrap();
                    // n roundings times the condition number.
                    let room = 100.0 * n as f64 * f64::EPSILON / smallest * exact.amax();
                    close(x, exact.as_slice(), room);
                }
            }
        }
    }
}

#[test]
fn a_zero_diagonal_needs_pivots() {
    // W = 0 on a variable that a row holds: [0 -1; -1 0] and more of them.
    let a = [0.0, 0.0, 1.0, 0.0, 1e-30, 2.0, 1.0, 2.0, 0.0];
    assert!(matches!(
        DenseFactor::new(DenseMethod::Ldlt, 3).factor(&a),
        Err(SolveError::Singular { index: 0, .. })
    ));
    assert!(matches!(
        DenseFactor::new(DenseMethod::Cholesky, 3).factor(&a),
        Err(SolveError::NotPositiveDefinite { dof: 0, .. })
    ));
    let mut factor = DenseFactor::new(DenseMethod::BunchKaufman, 3);
    factor.factor(&[0.0, 1.0, 1.0, 0.0]).unwrap_err();
    factor.factor(&a).unwrap();
    // Rank two: one positive, one negative, one zero eigenvalue.
    let inertia = Inertia {
        positive: 1,
        negative: 1,
        zero: 1,
    };
    assert_eq!(factor.inertia(), inertia);
    assert!(matches!(
        factor.solve_in_place(&mut [1.0; 3]),
        Err(SolveError::Singular { .. })
    ));
}

#[test]
fn garbage_is_a_typed_error() {
    for method in ALL {
        let mut factor = DenseFactor::new(method, 2);
        assert_eq!(factor.solve_in_place(&mut [1.0; 2]), Err(SolveError::NotPrepared));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let found = factor.factor(&[1.0, 0.0, bad, 1.0]);
            assert!(matches!(found, Err(SolveError::NotFinite { .. })));
            assert_eq!(factor.solve_in_place(&mut [1.0; 2]), Err(SolveError::NotPrepared));
        }
        // What stands above the diagonal does not count.
        factor.factor(&[1.0, f64::NAN, 0.0, 1.0]).unwrap();
        let found = factor.solve_in_place(&mut [1.0; 3]);
        assert!(matches!(found, Err(SolveError::Size { .. })));
        factor.solve_in_place(&mut []).unwrap();
        let mut empty = DenseFactor::new(method, 0);
        empty.factor(&[]).unwrap();
        empty.solve_in_place(&mut []).unwrap();
        assert_eq!(empty.inertia(), Inertia::default());
        for scale in [1e-300, 1e-12, 1e12, 1e300] {
            let mut one = DenseFactor::new(method, 1);
            one.factor(&[scale]).unwrap();
            let mut x = [3.0 * scale];
            one.solve_in_place(&mut x).unwrap();
            close(&x, &[3.0], 1e-15);
        }
        // All zeros: singular, by whatever name.
        let zero = factor
            .factor(&[0.0; 4])
            .and_then(|()| factor.solve_in_place(&mut [1.0; 2]));
        assert!(zero.is_err());
    }
}

#[test]
fn the_dense_solver_agrees_with_the_oracle() {
    let (mut bunch, mut plain) = (DenseSolver::default(), DenseSolver::default());
    plain.options.method = DenseMethod::Ldlt;
    for seed in 0..8 {
        let system = random_kkt(&mut Random(seed), 10, 4);
        let exact = solve_dense(&system).unwrap();
        for solver in [&mut bunch, &mut plain] {
            let mut solution = Solution::default();
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_eq!(report.status, Status::Converged);
            assert_eq!((report.inertia, report.redundant_rows), ((9, 4), 0));
            assert!(report.residual.relative < 1e-14);
            close(&solution.x, &exact.x, 1e-11);
            close(&solution.mu, &exact.mu, 1e-11);
        }
    }
    let mut system = random_kkt(&mut Random(9), 10, 4);
    let mut solution = Solution::default();
    bunch.prepare(&system).unwrap();
    bunch.solve(&system, &mut solution).unwrap();
    let slot = system.w.pattern().slot(3, 3).unwrap();
    system.w.values_mut()[slot] += 1.0;
    let counted = allocation_counter::measure(|| {
        bunch.prepare(&system).unwrap();
        bunch.solve(&system, &mut solution).unwrap();
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn what_has_no_minimum_is_an_error() {
    let mut solver = DenseSolver::new(DenseOptions::default());
    let saddle = KktSystem::dense(&[1.0, 0.0, 0.0, -1.0], &[1.0, 0.0], &[0.0]).unwrap();
    assert!(matches!(
        solver.prepare(&saddle),
        Err(SolveError::NotPositiveDefinite { dof: 1, .. })
    ));
    // Indefinite W, but not on the null space of J.
    let held = KktSystem::dense(&[1.0, 0.0, 0.0, -1.0], &[0.0, 1.0], &[0.0]).unwrap();
    solver.prepare(&held).unwrap();
    let redundant = KktSystem::dense(&[1.0], &[1.0, 2.0], &[0.0, 0.0]).unwrap();
    assert!(matches!(
        solver.prepare(&redundant),
        Err(SolveError::Singular { .. })
    ));
    let mut solution = Solution::default();
    assert_eq!(
        solver.solve(&redundant, &mut solution),
        Err(SolveError::NotPrepared)
    );
}
