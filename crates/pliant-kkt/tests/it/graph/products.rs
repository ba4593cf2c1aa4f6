//! Products with a response matrix that is not assembled, against the assembled one.

use super::dense::close;
use super::*;
use pliant_krylov::{
    GeneralMinimalResidual, KktOperator, KrylovOptions, KrylovSolver, KrylovStatus, LinearOperator,
    StaleFactor, SymmetricOperator,
};
use pliant_solvers::{DirectSolver, SolveError};

/// Some coordinates are held, at velocities that change.
fn hold(m: &Problem, seed: u64) -> (Vec<bool>, Vec<f64>) {
    let n = m.dof_count();
    let numbers = build::numbers(seed + 5, 2 * n);
    let fixed: Vec<bool> = numbers[..n].iter().map(|x| *x > 0.6).collect();
    let change = fixed.iter().zip(&numbers[n..]);
    let change = change.map(|(fixed, x)| if *fixed { *x } else { 0.0 }).collect();
    (fixed, change)
}

/// Products and right-hand sides are those of the system that is filled, to the rounding of sums in
/// another order, whatever is attached and whatever geometric stiffness is taken; threads do not
/// show at all.
#[test]
fn products_of_random_graphs_are_those_of_the_assembled_matrix() {
    for seed in SEEDS {
        for (k, forces) in MODES.into_iter().enumerate() {
            for multipliers in [forces, MODES[(k + 1) % 6]] {
                let mut case = Case::new(seed, true);
                let scheme = case.scheme(0.3, 0.7, 0.6, GeometricTerms { forces, multipliers });
                let m = &case.built.model;
                let n = m.dof_count();
                let (fixed, change) = hold(m, seed);
                let impulse: Vec<f64> = (0..n).map(|k| 0.01 * k as f64).collect();
                let input = StepInput {
                    state: &case.state,
                    multipliers: &case.lambda,
                    impulse: &impulse,
                    fixed_change: &change,
                    motion: &case.motion,
                };
                let mut assembler = Assembler::new(m, &case.evaluation).unwrap();
                assembler.fixed_mut().copy_from_slice(&fixed);
                assembler.fill(m, &mut case.evaluation, &scheme, input);
                let system = assembler.system().clone();
                let expected = SymmetricOperator::new(&system.w, &fixed).unwrap();
                let mut bits = Vec::new();
                for threads in [1, 3] {
                    let mut other = Assembler::new(m, &case.evaluation).unwrap();
                    other.fixed_mut().copy_from_slice(&fixed);
                    other.share(threads).unwrap();
                    let mut numbers = Vec::new();
                    // Twice: nothing of the first time may be left.
                    for _ in 0..2 {
                        let evaluation = &mut case.evaluation;
                        let w = other.response(m, evaluation, &scheme, &case.state, &case.lambda);
                        assert_eq!(w.size(), n);
                        numbers.clear();
                        let mut c = vec![f64::NAN; n];
                        w.right_hand_side(input, &mut c);
                        close("c", &c, &system.c, 1e-12);
                        numbers.extend_from_slice(&c);
                        for seed in [seed, seed + 1] {
                            let x = build::numbers(seed, n);
                            let (mut found, mut product) = (vec![f64::NAN; n], vec![0.0; n]);
                            w.apply(&x, &mut found);
                            expected.apply(&x, &mut product);
                            close("W x", &found, &product, 1e-12);
                            numbers.extend_from_slice(&found);
                        }
                    }
                    bits.push(numbers);
                }
                assert_eq!(bits[0], bits[1]);
            }
        }
    }
}

/// A step is solved by products alone, with the factor of another state: the answer is that of the
/// system that is filled.
#[test]
fn a_stale_factor_and_products_solve_a_step() {
    for seed in SEEDS {
        let mut case = Case::new(seed, true);
        let scheme = case.scheme(0.1, 1.0, 1.0, GeometricTerms::default().clamped());
        let mut solver = DirectSolver::default();
        let old = case.assemble(&scheme);
        solver.prepare(&old).unwrap();
        let m = &case.built.model;
        case.state = moved(
            m,
            &case.state,
            &build::numbers(seed, m.dof_count())
                .iter()
                .map(|x| 1e-3 * x)
                .collect::<Vec<_>>(),
        );
        case.evaluation.propagate(m, &mut case.state).unwrap();
        case.evaluation.evaluate(m, &case.state).unwrap();
        let now = case.assemble(&scheme);
        let m = &case.built.model;
        let mut assembler = Assembler::new(m, &case.evaluation).unwrap();
        let w = assembler.response(m, &mut case.evaluation, &scheme, &case.state, &case.lambda);
        // The rows are those of this step; `W` is the old one, which has no say.
        let mut rows = now.clone();
        rows.w = old.w.clone();
        let operator = KktOperator::with_response(&rows, &w).unwrap();
        let filled = KktOperator::new(&now).unwrap();
        let z = build::numbers(seed + 1, now.n() + now.m());
        let mut rhs = vec![0.0; z.len()];
        filled.apply(&z, &mut rhs);
        let mut found = vec![0.0; rhs.len()];
        let mut krylov = GeneralMinimalResidual::new(KrylovOptions {
            tolerance: 1e-13,
            ..KrylovOptions::default()
        });
        let stale = StaleFactor::new(&mut solver).unwrap();
        let report = krylov.solve_with(&operator, &stale, &rhs, &mut found).unwrap();
        assert_eq!(report.status, KrylovStatus::Converged, "{seed}: {report:?}");
        let mut product = vec![0.0; z.len()];
        filled.apply(&found, &mut product);
        close("K z", &product, &rhs, 1e-9);
        let wrong = KktOperator::with_response(&rows, &operator);
        assert!(matches!(wrong, Err(SolveError::Size { .. })));
    }
}
