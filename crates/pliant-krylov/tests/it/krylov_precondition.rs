//! Preconditioners: exact where they should be, and the numbers of iterations they save.

use crate::tools::{Random, close, definite, random_kkt};
use crate::zoo::{krylov_solvers, laplacian, lower};
use pliant_krylov::{
    ApproximateSchur, Approximation, BiConjugateGradient, BlockJacobi, ConjugateGradient,
    ConstraintPreconditioner, DiagonalPreconditioner, GeneralMinimalResidual, Identity, IncompleteCholesky,
    Jacobi, KktOperator, KrylovOptions, KrylovSolver, KrylovStatus, MinimalResidual, Preconditioner, Ssor,
    StaleFactor, SymmetricFactor, SymmetricOperator,
};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError};
use pliant_sparse::CsrMatrix;

/// Iterations of CG on a random right-hand side.
fn count(a: &CsrMatrix, m: &dyn Preconditioner) -> usize {
    let n = a.pattern().rows();
    let b = Random(21).numbers(n);
    let mut x = vec![0.0; n];
    let report = ConjugateGradient::default()
        .solve_with(&SymmetricOperator::new(a, &[]).unwrap(), m, &b, &mut x)
        .unwrap();
    assert_eq!((report.status, report.restarts), (KrylovStatus::Converged, 0));
    report.iterations
}

/// The matrix of a preconditioner, column by column.
fn matrix(m: &dyn Preconditioner) -> Vec<f64> {
    let n = m.size();
    let mut out = vec![0.0; n * n];
    let mut unit = vec![0.0; n];
    for i in 0..n {
        unit[i] = 1.0;
        m.apply(&unit, &mut out[i * n..(i + 1) * n]);
        unit[i] = 0.0;
    }
    out
}

fn is_symmetric(m: &dyn Preconditioner) -> bool {
    let (n, a) = (m.size(), matrix(m));
    (0..n * n).all(|k| (a[k] - a[k % n * n + k / n]).abs() < 1e-13)
}

#[test]
fn a_two_dimensional_laplacian_takes_fewer_iterations_the_better_the_preconditioner() {
    let mut counts = Vec::new();
    for k in [16, 32] {
        let a = laplacian(k);
        let n = k * k;
        let incomplete = IncompleteCholesky::new(&a, &[]).unwrap();
        assert_eq!(incomplete.shift(), 0.0);
        counts.push([
            count(&a, &Identity::new(n)),
            count(&a, &Jacobi::new(&a, &[]).unwrap()),
            count(&a, &Ssor::new(&a, &[], 1.0).unwrap()),
            count(&a, &incomplete),
            count(&a, &SymmetricFactor::new(&a, &[], 0.0).unwrap()),
        ]);
    }
    // The diagonal is constant, so that Jacobi changes nothing. Twice the points per side, twice
    // the iterations of CG.
    assert_eq!(counts, GOLDEN);
}

/// CG, Jacobi, SSOR, IC(0), exact.
const GOLDEN: [[usize; 5]; 2] = [[56, 56, 26, 23, 1], [114, 114, 46, 41, 1]];

#[test]
fn incomplete_cholesky_is_exact_without_fill() {
    let n = 50;
    let mut dense = vec![0.0; n * n];
    let mut random = Random(22);
    for i in 0..n {
        dense[i * n + i] = 2.5 + random.number();
        if i > 0 {
            dense[i * n + i - 1] = random.number() * 0.7;
        }
    }
    let a = lower(n, &dense);
    let m = IncompleteCholesky::new(&a, &[]).unwrap();
    assert_eq!((m.shift(), count(&a, &m)), (0.0, 1));
    // And where the variables in between are fixed.
    let fixed: Vec<bool> = (0..n).map(|i| i % 7 == 3).collect();
    let m = IncompleteCholesky::new(&a, &fixed).unwrap();
    let operator = SymmetricOperator::new(&a, &fixed).unwrap();
    let (b, mut x) = (random.numbers(n), vec![0.0; n]);
    let report = ConjugateGradient::default()
        .solve_with(&operator, &m, &b, &mut x)
        .unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 1));
}

#[test]
fn incomplete_cholesky_reports_its_shift() {
    // Kershaw's matrix (1978): positive definite, and IC(0) meets a negative pivot, 3 - 3.2.
    let kershaw = [
        3.0, -2.0, 0.0, 2.0, -2.0, 3.0, -2.0, 0.0, 0.0, -2.0, 3.0, -2.0, 2.0, 0.0, -2.0, 3.0,
    ];
    let a = lower(4, &kershaw);
    let m = IncompleteCholesky::new(&a, &[]).unwrap();
    assert!(m.shift() >= 1e-3 && m.shift() < 1.0, "{}", m.shift());
    assert!(is_symmetric(&m) && count(&a, &m) <= 4);
    let a = lower(2, &[1.0, 0.0, 0.0, -1.0]);
    let negative = SolveError::NotPositiveDefinite {
        dof: 1,
        diagonal: -1.0,
    };
    assert_eq!(IncompleteCholesky::new(&a, &[]).unwrap_err(), negative);
    assert_eq!(Jacobi::new(&a, &[]).unwrap_err(), negative);
    assert_eq!(Ssor::new(&a, &[], 1.2).unwrap_err(), negative);
    assert_eq!(BlockJacobi::new(&a, &[], &[0, 2]).unwrap_err(), negative);
    let relaxation = Ssor::new(&a, &[], 2.0);
    assert!(matches!(
        relaxation,
        Err(SolveError::Parameter { value: 2.0, .. })
    ));
    // Fixed, it does not count.
    assert!(IncompleteCholesky::new(&a, &[false, true]).is_ok());
}

#[test]
fn ssor_is_its_formula() {
    // n = 2, w = 1.5: M = (D/w + L) (w/(2 - w) D^-1) (D/w + L)^T by hand.
    let a = lower(2, &[4.0, 0.0, 2.0, 6.0]);
    let m = Ssor::new(&a, &[], 1.5).unwrap();
    let (d0, d1, l) = (4.0 / 1.5, 6.0 / 1.5, 2.0);
    let (s0, s1) = (3.0 / 4.0, 3.0 / 6.0);
    let full = [d0 * s0 * d0, d0 * s0 * l, l * s0 * l + d1 * s1 * d1];
    let z = [1.0, -2.0];
    let r = [full[0] * z[0] + full[1] * z[1], full[1] * z[0] + full[2] * z[1]];
    let mut found = [0.0; 2];
    m.apply(&r, &mut found);
    close(&found, &z, 1e-15);
}

#[test]
fn block_jacobi_is_exact_on_blocks() {
    let mut random = Random(23);
    let mut dense = vec![0.0; 49];
    let boundaries = [0, 3, 4, 7];
    for block in boundaries.windows(2) {
        let k = block[1] - block[0];
        let own = definite(&mut random, k);
        for i in 0..k * k {
            dense[(block[0] + i / k) * 7 + block[0] + i % k] = 1e3f64.powi(block[0] as i32) * own[i];
        }
    }
    let a = lower(7, &dense);
    let mut m = BlockJacobi::new(&a, &[], &boundaries).unwrap();
    assert_eq!((count(&a, &m), m.replaced()), (1, 0));
    assert!(matches!(
        BlockJacobi::new(&a, &[], &[0, 3, 3, 7]),
        Err(SolveError::Size { .. })
    ));
    assert!(matches!(
        BlockJacobi::new(&a, &[], &[0, 3]),
        Err(SolveError::Size { .. })
    ));
    let indefinite = lower(3, &[1.0, 0.0, 0.0, 2.0, -4.0, 0.0, 0.0, 0.0, 5.0]);
    m.update_absolute(&indefinite, &[], &[0, 2, 3]).unwrap();
    let mut z = [0.0; 3];
    m.apply(&[1.0, 4.0, 5.0], &mut z);
    assert_eq!((z, m.replaced()), ([1.0, 1.0, 1.0], 1));
}

fn right_hand_side(system: &KktSystem) -> Vec<f64> {
    let c = system.c.iter().zip(&system.fixed);
    let c = c.map(|(c, fixed)| if *fixed { 0.0 } else { *c });
    c.chain(system.b.iter().copied()).collect()
}

#[test]
fn kkt_preconditioners_take_their_known_numbers_of_iterations() {
    let mut random = Random(24);
    let (n, m) = (12, 5);
    let mut system = random_kkt(&mut random, n, m);
    // W diagonal: the approximation is exact. Every eigenvalue of J W^-1 J^T against S_D makes two
    // of the KKT matrix, beside 1; for R = 0 there is one.
    for i in 0..n {
        for slot in system.w.pattern().row_slots(i) {
            let k = system.w.pattern().indices()[slot] as usize;
            system.w.values_mut()[slot] = if i == k { 10f64.powi(i as i32 % 5) } else { 0.0 };
        }
    }
    let rhs = right_hand_side(&system);
    for (r, minres) in [(0.0, 3), (0.1, 2 * m + 1)] {
        system.r.values_mut().fill(r);
        let schur = ApproximateSchur::new(&system, Approximation::Diagonal).unwrap();
        let operator = KktOperator::new(&system).unwrap();
        let constraint = ConstraintPreconditioner::new(&system, &schur).unwrap();
        let diagonal = DiagonalPreconditioner::new(&schur);
        assert!(is_symmetric(&constraint) && is_symmetric(&diagonal));
        let mut z = vec![0.0; n + m];
        let report = GeneralMinimalResidual::default()
            .solve_with(&operator, &constraint, &rhs, &mut z)
            .unwrap();
        assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 1));
        let mut z = vec![0.0; n + m];
        let report = MinimalResidual::default()
            .solve_with(&operator, &diagonal, &rhs, &mut z)
            .unwrap();
        assert_eq!(report.status, KrylovStatus::Converged);
        assert_eq!(report.iterations, minres);
    }
}

#[test]
fn constraint_preconditioners_need_the_null_space_only() {
    // n - m - 1 + 2 iterations at most in exact arithmetic, whatever D is.
    let mut random = Random(25);
    for (n, m) in [(10, 4), (16, 9)] {
        let mut system = random_kkt(&mut random, n, m);
        system.r.values_mut().fill(0.0);
        system.fixed.fill(false);
        let rhs = right_hand_side(&system);
        let operator = KktOperator::new(&system).unwrap();
        for approximation in [Approximation::Diagonal, Approximation::Blocks] {
            let schur = ApproximateSchur::new(&system, approximation).unwrap();
            let constraint = ConstraintPreconditioner::new(&system, &schur).unwrap();
            let mut z = vec![0.0; n + m];
            let report = GeneralMinimalResidual::default()
                .solve_with(&operator, &constraint, &rhs, &mut z)
                .unwrap();
            assert_eq!(report.status, KrylovStatus::Converged);
            assert!(report.iterations <= n - m + 2, "{report:?}");
        }
    }
}

#[test]
fn a_stale_factor_takes_one_iteration_more_than_the_rank_of_the_change() {
    let mut random = Random(26);
    let (n, m) = (14, 6);
    let mut system = random_kkt(&mut random, n, m);
    let mut direct = DirectSolver::default();
    assert!(matches!(
        StaleFactor::new(&mut direct),
        Err(SolveError::NotPrepared)
    ));
    direct.prepare(&system).unwrap();
    for rank in 0..3 {
        if rank > 0 {
            let slot = system.w.pattern().slot(rank, rank).unwrap();
            system.w.values_mut()[slot] += 2.0;
        }
        let rhs = right_hand_side(&system);
        let operator = KktOperator::new(&system).unwrap();
        let stale = StaleFactor::new(&mut direct).unwrap();
        let mut z = vec![0.0; n + m];
        let report = GeneralMinimalResidual::default()
            .solve_with(&operator, &stale, &rhs, &mut z)
            .unwrap();
        assert_eq!(
            (report.status, report.iterations),
            (KrylovStatus::Converged, rank + 1)
        );
        let mut z2 = vec![0.0; n + m];
        let report = BiConjugateGradient::default()
            .solve_with(&operator, &stale, &rhs, &mut z2)
            .unwrap();
        assert_eq!(report.status, KrylovStatus::Converged);
        assert_eq!(z[n / 2], 0.0);
        let (mut fresh, mut solution) = (DirectSolver::default(), Solution::default());
        fresh.prepare(&system).unwrap();
        fresh.solve(&system, &mut solution).unwrap();
        for z in [z, z2] {
            close(&z[..n], &solution.x, 1e-8);
            close(&z[n..], &solution.mu, 1e-8);
        }
    }
}

#[test]
fn updates_take_new_values_without_allocating() {
    let mut random = Random(27);
    let mut system = random_kkt(&mut random, 10, 4);
    let mut schur = ApproximateSchur::new(&system, Approximation::Blocks).unwrap();
    let mut factor = SymmetricFactor::new(&system.w, &system.fixed, 0.0).unwrap();
    let mut ssor = Ssor::new(&system.w, &system.fixed, 1.1).unwrap();
    let mut jacobi = Jacobi::new(&system.w, &system.fixed).unwrap();
    let mut blocks = BlockJacobi::new(&system.w, &system.fixed, system.primal_blocks()).unwrap();
    system.w.values_mut().iter_mut().for_each(|v| *v *= 4.0);
    let mut z = [0.0; 14];
    let counted = allocation_counter::measure(|| {
        schur.update(&system).unwrap();
        factor.update(&system.w, &system.fixed).unwrap();
        ssor.update(&system.w, &system.fixed).unwrap();
        jacobi.update(&system.w, &system.fixed).unwrap();
        blocks
            .update(&system.w, &system.fixed, system.primal_blocks())
            .unwrap();
        DiagonalPreconditioner::new(&schur).apply(&[1.0; 14], &mut z);
        factor.apply(&[1.0; 10], &mut z[..10]);
    });
    assert_eq!(counted.count_total, 0);
    let fresh = SymmetricFactor::new(&system.w, &system.fixed, 0.0).unwrap();
    assert_eq!(matrix(&factor), matrix(&fresh));
    let fresh = Ssor::new(&system.w, &system.fixed, 1.1).unwrap();
    assert_eq!(matrix(&ssor), matrix(&fresh));
    let fresh = ApproximateSchur::new(&system, Approximation::Blocks).unwrap();
    assert_eq!(
        matrix(&DiagonalPreconditioner::new(&schur)),
        matrix(&DiagonalPreconditioner::new(&fresh))
    );
}

#[test]
fn a_factor_knows_the_inertia() {
    let a = lower(3, &[2.0, 0.0, 0.0, 1.0, -3.0, 0.0, 0.0, 1.0, 4.0]);
    let factor = SymmetricFactor::new(&a, &[], 0.0).unwrap();
    assert_eq!((factor.inertia(), factor.dropped()), ((2, 1), &[][..]));
    // All solvers take an exact preconditioner of their own kind in one iteration.
    let a = laplacian(5);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let factor = SymmetricFactor::new(&a, &[], 0.0).unwrap();
    let b = Random(28).numbers(25);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = vec![0.0; 25];
        let report = solver.solve_with(&operator, &factor, &b, &mut x).unwrap();
        assert_eq!(
            (report.status, report.iterations),
            (KrylovStatus::Converged, 1),
            "{name}"
        );
    }
}

#[test]
fn redundant_rows_leave_the_diagonal_preconditioner_definite() {
    let j = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let w = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 4.0];
    let system = KktSystem::dense(&w, &j, &[0.0; 3]).unwrap();
    let schur = ApproximateSchur::new(&system, Approximation::Diagonal).unwrap();
    assert_eq!((schur.dropped().len(), schur.replaced_blocks()), (1, 0));
    let m = DiagonalPreconditioner::new(&schur);
    assert!(is_symmetric(&m));
    let dense = nalgebra::DMatrix::from_row_slice(6, 6, &matrix(&m));
    assert!(dense.cholesky().is_some());
}
