//! How iterations of Krylov solvers end, and what goes on from there.

use crate::tools::{Random, close, random_kkt};
use crate::zoo::{krylov_solvers, laplacian};

use pliant_krylov::{
    Approximation, BiConjugateGradient, Breakdown, FnOperator, GeneralMinimalResidual, KktKrylov,
    KktKrylovOptions, KktMethod, KrylovOptions, KrylovSolver, KrylovStatus, PrimalPreconditioner,
    SymmetricOperator,
};
use pliant_solvers::{KktSystem, Solution};
use std::cell::Cell;

fn matrix<const N: usize>(a: [[f64; N]; N]) -> FnOperator<impl Fn(&[f64], &mut [f64])> {
    FnOperator::new(N, move |x: &[f64], y: &mut [f64]| {
        for (y, row) in y.iter_mut().zip(&a) {
            *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
        }
    })
}

/// `A = diag(1, -4)`, `b = (1, 2)`: after `alpha = -1/3` is `s = (4, -2)/3` orthogonal to `A s`, so
/// that `omega` vanishes. The residual has fallen by a third by then, and its share of
/// `|A x| + |b|` to 0.3; a new shadow finds the rest, although the residual is orthogonal to its
/// product.
#[test]
fn bicgstab_begins_again_where_omega_vanishes() {
    let mut x = [0.0; 2];
    let report = BiConjugateGradient::default()
        .solve(&matrix([[1.0, 0.0], [0.0, -4.0]]), &[1.0, 2.0], &mut x)
        .unwrap();
    assert_eq!((report.status, report.restarts), (KrylovStatus::Converged, 1));
    close(&x, &[1.0, -0.5], 1e-9);
}

/// The first step leaves `r = (0, -0.4, 0.2)` of `b = (1, 0, 0)`, orthogonal to it, which was the
/// shadow: by hand.
#[test]
fn bicgstab_begins_again_where_the_shadow_is_orthogonal() {
    let a = matrix([[1.0, 1.0, -1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 2.0]]);
    let mut x = [0.0; 3];
    let mut solver = BiConjugateGradient::default();
    let report = solver.solve(&a, &[1.0, 0.0, 0.0], &mut x).unwrap();
    assert_eq!(report.status, KrylovStatus::Converged);
    assert!(report.restarts > 0, "{report:?}");
    close(&x, &[2.0, -2.0, -1.0], 1e-9);
}

/// The identity takes one product, not the second one of an iteration: one for the residual at the
/// start, one at the end.
#[test]
fn bicgstab_ends_in_the_middle_of_an_iteration() {
    let products = Cell::new(0);
    let identity = FnOperator::new(3, |x: &[f64], y: &mut [f64]| {
        products.set(products.get() + 1);
        y.copy_from_slice(x);
    });
    let mut x = [0.0; 3];
    let report = BiConjugateGradient::default()
        .solve(&identity, &[1.0, 2.0, 3.0], &mut x)
        .unwrap();
    assert_eq!((report.status, report.iterations), (KrylovStatus::Converged, 1));
    assert_eq!((products.get(), x), (3, [1.0, 2.0, 3.0]));
}

/// A product that overflows is no vanishing one, and no iteration is done with it.
#[test]
fn an_infinite_product_is_not_finite() {
    let infinite = FnOperator::new(3, |x: &[f64], y: &mut [f64]| {
        y.copy_from_slice(x);
        if x[0] != 0.0 {
            y[1] = f64::INFINITY;
        }
    });
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = [0.0; 3];
        let report = solver.solve(&infinite, &[1.0, 2.0, 3.0], &mut x).unwrap();
        let kind = Breakdown::NotFinite;
        let end = (report.status, report.iterations, x);
        assert_eq!(end, (KrylovStatus::Breakdown { kind }, 0, [0.0; 3]), "{name}");
    }
}

/// The second product of an iteration is not finite: the half step before it is kept,
/// `alpha = 14/36` of `b` for `A = diag(1, 2, 3)`.
#[test]
fn bicgstab_keeps_half_a_step() {
    let count = Cell::new(0);
    let fails = FnOperator::new(3, |x: &[f64], y: &mut [f64]| {
        (0..3).for_each(|i| y[i] = (i + 1) as f64 * x[i]);
        count.set(count.get() + 1);
        if count.get() == 3 {
            y[1] = f64::NAN;
        }
    });
    let mut x = [0.0; 3];
    let report = BiConjugateGradient::default()
        .solve(&fails, &[1.0, 2.0, 3.0], &mut x)
        .unwrap();
    let kind = Breakdown::NotFinite;
    assert_eq!(report.status, KrylovStatus::Breakdown { kind });
    close(&x, &[14.0 / 36.0, 28.0 / 36.0, 42.0 / 36.0], 1e-15);
}

/// The fourth product is not finite: what the two iterations before have found is kept.
#[test]
fn gmres_keeps_the_columns_before_a_product_that_is_not_finite() {
    let a = laplacian(4);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let b = Random(3).numbers(16);
    let count = Cell::new(0);
    let fails = FnOperator::new(16, |x: &[f64], y: &mut [f64]| {
        use pliant_krylov::LinearOperator;
        operator.apply(x, y);
        count.set(count.get() + 1);
        if count.get() == 4 {
            y[5] = f64::NAN;
        }
    });
    let mut x = vec![0.0; 16];
    let report = GeneralMinimalResidual::default()
        .solve(&fails, &b, &mut x)
        .unwrap();
    let kind = Breakdown::NotFinite;
    let mut two = vec![0.0; 16];
    let options = KrylovOptions {
        max_iterations: 2,
        ..KrylovOptions::default()
    };
    let after = GeneralMinimalResidual::new(options).solve(&operator, &b, &mut two);
    assert_eq!(
        (report.status, report.iterations),
        (KrylovStatus::Breakdown { kind }, 2)
    );
    assert_eq!((x, report.residual), (two, after.unwrap().residual));
}

/// `A = [0 1; 0 0]` takes `b = (1, 0)` to nothing: no Krylov space has the answer.
#[test]
fn gmres_names_a_singular_column() {
    let mut x = [0.0; 2];
    let report = GeneralMinimalResidual::default()
        .solve(&matrix([[0.0, 1.0], [0.0, 0.0]]), &[1.0, 0.0], &mut x)
        .unwrap();
    let kind = Breakdown::ZeroInnerProduct;
    assert_eq!((report.status, x), (KrylovStatus::Breakdown { kind }, [0.0; 2]));
}

/// A preconditioner that takes everything to zero.
#[test]
fn a_preconditioner_without_an_answer_is_a_vanishing_product() {
    let a = laplacian(3);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let zero = FnOperator::new(9, |_: &[f64], z: &mut [f64]| z.fill(0.0));
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut x = [0.0; 9];
        let report = solver.solve_with(&operator, &zero, &[1.0; 9], &mut x).unwrap();
        let kind = Breakdown::ZeroInnerProduct;
        assert_eq!(report.status, KrylovStatus::Breakdown { kind }, "{name}");
    }
}

/// Where `b` is zero the tolerance is a share of the residual at the start, whose size does not
/// matter: the same bits at all of them.
#[test]
fn the_scale_of_the_start_does_not_matter_where_there_is_no_right_hand_side() {
    let a = laplacian(6);
    let operator = SymmetricOperator::new(&a, &[]).unwrap();
    let start = Random(9).numbers(36);
    for (name, mut solver) in krylov_solvers(KrylovOptions::default()) {
        let mut all = Vec::new();
        for power in [0, 40, -40] {
            let scale = 2f64.powi(power);
            let mut x: Vec<f64> = start.iter().map(|x| scale * x).collect();
            let report = solver.solve(&operator, &[0.0; 36], &mut x).unwrap();
            assert_eq!(report.status, KrylovStatus::Converged, "{name}");
            x.iter_mut().for_each(|x| *x /= scale);
            all.push((report.iterations, report.restarts, x));
        }
        assert!(all.iter().all(|other| *other == all[0]), "{name}");
    }
}

/// Options that count from the next `prepare` on do so: what was made for others is not kept.
#[test]
fn another_preconditioner_is_made_anew() {
    let single = random_kkt(&mut Random(21), 40, 12);
    let patterns = [&single.w, &single.j, &single.r].map(|a| a.pattern().clone());
    let [w, j, r] = patterns;
    let blocks = (0..=40).step_by(5).collect();
    let mut system = KktSystem::new(w, j, r, blocks, single.row_blocks().to_vec()).unwrap();
    system.w.values_mut().copy_from_slice(single.w.values());
    system.j.values_mut().copy_from_slice(single.j.values());
    system.c.copy_from_slice(&single.c);
    system.b.copy_from_slice(&single.b);
    // Compliant rows can be condensed.
    for i in 0..system.m() {
        let slot = system.r.pattern().row_slots(i).end - 1;
        system.r.values_mut()[slot] = 0.5;
    }
    // Each alone.
    let change = |options: &mut KktKrylovOptions| match options.method {
        KktMethod::PrimalPcg => options.preconditioner = PrimalPreconditioner::BlockJacobi,
        _ => options.approximation = Approximation::Diagonal,
    };
    for method in [
        KktMethod::ConstraintGmres,
        KktMethod::Minres,
        KktMethod::PrimalPcg,
    ] {
        let mut options = KktKrylovOptions {
            method,
            ..KktKrylovOptions::default()
        };
        let solve = |solver: &mut KktKrylov| {
            solver.prepare(&system).unwrap();
            let mut solution = Solution::default();
            let report = solver.solve(&system, &mut solution).unwrap();
            (report.iterations, solution.x)
        };
        let mut solver = KktKrylov::new(options);
        let before = solve(&mut solver);
        change(&mut solver.options);
        change(&mut options);
        let after = solve(&mut solver);
        assert_ne!(before, after, "{method:?}");
        assert_eq!(after, solve(&mut KktKrylov::new(options)), "{method:?}");
    }
}
