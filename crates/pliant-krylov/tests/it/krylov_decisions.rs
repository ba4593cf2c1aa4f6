//! Decisions of iterative solvers that show in few problems: what ends them, what they keep, what
//! they forget.

use crate::tools::{Random, close, random_kkt};
use crate::zoo::{laplacian, lower};
use pliant_krylov::LinearAuto;
use pliant_krylov::{
    BiConjugateGradient, BlockIncompleteCholesky, Breakdown, ConjugateGradient, FnOperator,
    IncompleteCholesky, KktKrylov, KktKrylovOptions, KktMethod, KrylovSolver, KrylovStatus, Preconditioner,
    SymmetricOperator,
};
use pliant_solvers::{KktSystem, Solution, SolveError, Variable};
use pliant_sparse::{PatternBuilder, SymmetricBlockMatrix};

/// Kershaw's matrix (1978): positive definite, but elimination without its fill meets a negative
/// pivot.
const KERSHAW: [f64; 16] = [
    3.0, -2.0, 0.0, 2.0, -2.0, 3.0, -2.0, 0.0, 0.0, -2.0, 3.0, -2.0, 2.0, 0.0, -2.0, 3.0,
];

fn applied(m: &dyn Preconditioner) -> Vec<f64> {
    let r: Vec<f64> = (0..m.size()).map(|i| 1.0 + (i as f64).sin()).collect();
    let mut z = vec![0.0; m.size()];
    m.apply(&r, &mut z);
    z
}

#[test]
fn a_shift_is_forgotten_with_the_values_it_was_for() {
    let hard = lower(4, &KERSHAW);
    let mut dominant = KERSHAW;
    (0..4).for_each(|i| dominant[5 * i] = 9.0);
    let easy = lower(4, &dominant);
    let fresh = IncompleteCholesky::new(&easy, &[]).unwrap();
    let mut m = IncompleteCholesky::new(&hard, &[]).unwrap();
    assert!(m.shift() > 0.0);
    m.update(&easy, &[]).unwrap();
    assert_eq!((m.shift(), applied(&m)), (0.0, applied(&fresh)));
    // And the pattern with them.
    let other = laplacian(2);
    m.update(&other, &[]).unwrap();
    assert_eq!(
        applied(&m),
        applied(&IncompleteCholesky::new(&other, &[]).unwrap())
    );
    let [hard, easy] = [&hard, &easy].map(|a| SymmetricBlockMatrix::<1>::new(a, &[]).unwrap());
    let fresh = BlockIncompleteCholesky::new(&easy).unwrap();
    let mut m = BlockIncompleteCholesky::new(&hard).unwrap();
    assert!(m.shift() > 0.0);
    m.update(&easy).unwrap();
    assert_eq!((m.shift(), applied(&m)), (0.0, applied(&fresh)));
}

/// A pivot of 1e-12 of its diagonal has four digits: the factor of `A` would be exact, and its
/// inverse as large as its error.
#[test]
fn a_pivot_of_few_digits_is_shifted() {
    let a = lower(2, &[1.0, 1.0, 1.0, 1.0 + 1e-12]);
    assert!(IncompleteCholesky::new(&a, &[]).unwrap().shift() >= 1e-3);
    let blocks = SymmetricBlockMatrix::<2>::new(&a, &[]).unwrap();
    assert!(BlockIncompleteCholesky::new(&blocks).unwrap().shift() >= 1e-3);
}

/// `A = diag(1, -1/2)`, from a start that is off by a solution of `A d = (1, 1)`: the first step is
/// `alpha = 2/(1/2) = 4` along `(1, 1)`. The residual grows from `2^(1/2)` to `18^(1/2)`, the
/// energy falls by 4, and the next direction `(6, 12)` has the curvature `-36`.
#[test]
fn conjugate_gradients_that_meet_negative_curvature_keep_what_lowered_the_energy() {
    let a = lower(2, &[1.0, 0.0, 0.0, -0.5]);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let mut x = [100.0, 100.0];
    let mut solver = ConjugateGradient::default();
    let report = solver.solve(&operator, &[101.0, -49.0], &mut x).unwrap();
    let indefinite = |status| {
        matches!(
            status,
            KrylovStatus::Breakdown {
                kind: Breakdown::Indefinite { .. }
            }
        )
    };
    assert!(indefinite(report.status), "{report:?}");
    close(&x, &[104.0, 104.0], 1e-12);
    assert!((report.residual - 18f64.sqrt()).abs() < 1e-12);
}

/// A quarter turn: every direction is orthogonal to its product, so that no step of BiCGSTAB has an
/// `omega`. With half of the product in the shadow the first half of a step is `alpha = 1`, and its
/// residual `(-1, 3)` is a smaller share of `|A x| + |b|` than that of zero: it is kept, but not
/// halved.
#[test]
fn a_turn_breaks_bicgstab_down_by_name() {
    let turn = FnOperator::new(2, |x: &[f64], y: &mut [f64]| y.copy_from_slice(&[x[1], -x[0]]));
    let mut x = [0.0; 2];
    let report = BiConjugateGradient::default()
        .solve(&turn, &[1.0, 2.0], &mut x)
        .unwrap();
    let kind = Breakdown::ZeroInnerProduct;
    assert_eq!(report.status, KrylovStatus::Breakdown { kind });
    close(&x, &[1.0, 2.0], 1e-14);
    assert!((report.relative - 0.5f64.sqrt()).abs() < 1e-14);
}

#[test]
fn projected_iterations_run_out_where_they_are_told_to() {
    let mut system = random_kkt(&mut Random(46), 30, 12);
    for i in 0..system.m() {
        let slot = system.r.pattern().row_slots(i).end - 1;
        system.r.values_mut()[slot] = 0.0;
    }
    let mut solver = KktKrylov::new(KktKrylovOptions {
        method: KktMethod::ProjectedPcg,
        ..KktKrylovOptions::default()
    });
    solver.options.krylov.max_iterations = 2;
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut Solution::default()).unwrap();
    assert_eq!(
        (report.status, report.iterations),
        (KrylovStatus::MaxIterations, 2)
    );
}

#[test]
fn a_number_that_is_not_finite_ends_the_search_for_a_method() {
    let mut system = random_kkt(&mut Random(48), 40, 12);
    let slot = system.w.pattern().row_slots(7).end - 1;
    system.w.values_mut()[slot] = f64::NAN;
    let mut solver = LinearAuto::default();
    let found = solver.prepare(&system);
    let variable = Variable::Dof(7);
    assert_eq!(found, Err(SolveError::NotFinite { variable }));
    assert_eq!(solver.attempts().len(), 1, "{:?}", solver.attempts());
}

#[test]
fn more_right_hand_sides_are_planned_for_anew() {
    let a = laplacian(30);
    let none = |rows, columns| PatternBuilder::new(rows, columns).finish().unwrap();
    let blocks = (0..=900).collect();
    let mut system = KktSystem::new(a.pattern().clone(), none(0, 900), none(0, 0), blocks, vec![0]).unwrap();
    system.w.values_mut().copy_from_slice(a.values());
    let mut solver = LinearAuto::default();
    let mut direct = |right_hand_sides| {
        solver.options.right_hand_sides = right_hand_sides;
        solver.prepare(&system).unwrap();
        solver.prediction().unwrap().direct
    };
    let (one, two, many) = (direct(1), direct(2), direct(11));
    // A factorisation, and so many solves.
    assert!(two > one && (many - one - 10.0 * (two - one)).abs() < 1e-9 * many);
}
