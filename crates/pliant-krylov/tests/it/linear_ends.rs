//! How `LinearAuto` ends where methods fail.

use crate::linear::lattice;
use crate::tools::{Random, close};
use crate::zoo::laplacian;
use pliant_krylov::{LinearAuto, LinearMethod, LinearOptions, Outcome};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, Status};
use pliant_sparse::PatternBuilder;

/// 81 unknowns on a grid, and two rows, the second of which may be the first one again.
fn grid(redundant: bool) -> KktSystem {
    let w = laplacian(9);
    let mut j = PatternBuilder::new(2, 81);
    for i in 0..2 {
        j.insert(i, 3);
        j.insert(i, 40);
    }
    let mut r = PatternBuilder::new(2, 2);
    (0..2).for_each(|i| r.insert(i, i));
    let (j, r) = (j.finish().unwrap(), r.finish().unwrap());
    let blocks = (0..=81).collect();
    let mut out = KktSystem::new(w.pattern().clone(), j, r, blocks, vec![0, 1, 2]).unwrap();
    out.w.values_mut().copy_from_slice(w.values());
    let second = if redundant { 1.0 } else { 2.0 };
    out.j.values_mut().copy_from_slice(&[1.0, 1.0, 1.0, second]);
    out.c.copy_from_slice(&Random(4).numbers(81));
    out.b.copy_from_slice(&[0.5, 0.5]);
    out
}

/// No residual is zero, so that the sparse factor does not get there; the dense one cannot have
/// redundant rows. What the first found is returned, and says what it is.
#[test]
fn the_best_answer_is_given_where_the_last_method_fails() {
    let system = grid(true);
    let options = LinearOptions {
        tolerance: 0.0,
        ..LinearOptions::default()
    };
    let mut solver = LinearAuto::new(options);
    let mut solution = Solution::default();
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut solution).unwrap();
    let tried: Vec<_> = solver
        .attempts()
        .iter()
        .map(|a| (a.method, a.outcome.clone()))
        .collect();
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert_eq!(tried[0].0, LinearMethod::Direct);
    assert!(matches!(tried[0].1, Outcome::Solved(status) if status != Status::Converged));
    assert!(
        matches!(tried[1].1, Outcome::Failed(SolveError::Singular { .. })),
        "{tried:?}"
    );
    assert_eq!(
        (report.method, report.status == Status::Converged),
        (LinearMethod::Direct, false)
    );
    assert!(report.residual.relative < 1e-14, "{report:?}");
    let (mut plain, mut expected) = (LinearAuto::default(), Solution::default());
    plain.prepare(&system).unwrap();
    plain.solve(&system, &mut expected).unwrap();
    close(&solution.x, &expected.x, 1e-12);
    close(&solution.mu, &expected.mu, 1e-12);
}

/// Iterations leave an answer of a system that has none, which only the factors find: it is an
/// error, the one of the sparse factor, and not that answer.
#[test]
fn an_answer_of_iterations_to_a_system_that_is_not_definite_is_not_given() {
    let mut system = lattice(12, 1.0, 1.0);
    // The diagonal says nothing of it.
    let slot = system.w.pattern().row_slots(40).start;
    assert!(system.w.pattern().indices()[slot] < 40);
    system.w.values_mut()[slot] = 50.0;
    let (mut solver, mut solution) = (LinearAuto::default(), Solution::default());
    solver.prepare(&system).unwrap();
    let found = solver.solve(&system, &mut solution);
    let tried = solver.attempts();
    assert!(matches!(tried[0].method, LinearMethod::Krylov(_)), "{tried:?}");
    assert!(
        matches!(tried[0].outcome, Outcome::Solved(_)) && tried.len() > 2,
        "{tried:?}"
    );
    let direct = DirectSolver::default().prepare(&system);
    assert!(
        matches!(direct, Err(SolveError::NotPositiveDefinite { .. })),
        "{direct:?}"
    );
    assert_eq!(found.err(), direct.err());
}

/// Of two methods that fail, the sparse factor says why.
#[test]
fn the_error_is_that_of_the_sparse_factor() {
    // The dense one meets the redundant row.
    let mut system = grid(true);
    let slot = system.w.pattern().slot(30, 30).unwrap();
    system.w.values_mut()[slot] = -50.0;
    let mut solver = LinearAuto::default();
    let found = solver.prepare(&system);
    let failed = |a: &pliant_krylov::Attempt| match &a.outcome {
        Outcome::Failed(error) => error.clone(),
        other => panic!("{other:?}"),
    };
    let errors: Vec<_> = solver.attempts().iter().map(failed).collect();
    assert_eq!(solver.attempts()[0].method, LinearMethod::Direct);
    assert!(
        matches!(
            errors[..],
            [
                SolveError::NotPositiveDefinite { .. },
                SolveError::Singular { .. }
            ]
        ),
        "{errors:?}"
    );
    assert_eq!(found, Err(errors[0].clone()));
    // What is indefinite may be asked for, on the same pattern.
    let mut system = grid(false);
    system.w.values_mut()[slot] = -50.0;
    let mut solution = Solution::default();
    solver.options.indefinite = true;
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut solution).unwrap();
    assert_eq!(
        (report.status, report.method),
        (Status::Converged, LinearMethod::Pivoted)
    );
    // And the factor that failed is the first again when the system is mended.
    solver.options.indefinite = false;
    solver.prepare(&system).unwrap_err();
    system.w.values_mut()[slot] = 5.0;
    for _ in 0..2 {
        solver.prepare(&system).unwrap();
        // Every solve has its own attempts.
        for _ in 0..2 {
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_eq!(
                (report.status, report.method),
                (Status::Converged, LinearMethod::Direct)
            );
            assert_eq!(solver.attempts().len(), 1, "{:?}", solver.attempts());
        }
    }
}

/// Without a tolerance no method gets there, and it is the best answer that is returned, not the
/// last.
#[test]
fn of_several_answers_the_best_is_given() {
    let options = LinearOptions {
        tolerance: 0.0,
        ..LinearOptions::default()
    };
    let mut firsts = 0;
    for seed in 0..20 {
        let mut system = grid(false);
        system.c.copy_from_slice(&Random(seed).numbers(81));
        let (mut solver, mut solution) = (LinearAuto::new(options), Solution::default());
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut solution).unwrap();
        let residuals: Vec<f64> = solver.attempts().iter().map(|a| a.residual).collect();
        let least = residuals.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(report.residual.relative, least, "{residuals:?}");
        firsts += usize::from(residuals.len() == 2 && residuals[0] < residuals[1]);
        if report.method == LinearMethod::Direct && residuals.len() == 2 {
            // The answer is the one that the report is about.
            let (mut direct, mut expected) = (DirectSolver::default(), Solution::default());
            direct.options.tolerance = 0.0;
            direct.prepare(&system).unwrap();
            direct.solve(&system, &mut expected).unwrap();
            assert_eq!(solution, expected);
        }
    }
    assert!(firsts > 0, "{firsts}");
}

/// A plan is for the patterns of all matrices: what was planned for others is planned anew, and not
/// solved with.
#[test]
fn other_rows_are_another_system() {
    let system = grid(false);
    let with = |columns: &[usize], coupled: bool| {
        let mut j = PatternBuilder::new(2, 81);
        (0..2).for_each(|i| columns.iter().for_each(|k| j.insert(i, *k)));
        let mut r = PatternBuilder::new(2, 2);
        (0..2).for_each(|i| r.insert(i, i));
        if coupled {
            r.insert(1, 0);
        }
        let blocks = (0..=81).collect();
        let (j, r) = (j.finish().unwrap(), r.finish().unwrap());
        let mut out = KktSystem::new(system.w.pattern().clone(), j, r, blocks, vec![0, 2]).unwrap();
        out.w.values_mut().copy_from_slice(system.w.values());
        for (k, value) in out.j.values_mut().iter_mut().enumerate() {
            *value = (k as f64 + 1.0).sin();
        }
        for i in 0..2 {
            let slot = out.r.pattern().slot(i, i).unwrap();
            out.r.values_mut()[slot] = 0.1;
        }
        out
    };
    let few = with(&[3, 40], false);
    let mut many = Vec::new();
    many.extend((0..81).step_by(3));
    for other in [with(&many, false), with(&[3, 40], true)] {
        let (mut solver, mut fresh) = (LinearAuto::default(), LinearAuto::default());
        let mut solution = Solution::default();
        solver.prepare(&few).unwrap();
        assert_eq!(
            solver.solve(&other, &mut solution).err(),
            Some(SolveError::NotPrepared)
        );
        solver.prepare(&other).unwrap();
        fresh.prepare(&other).unwrap();
        assert_eq!(solver.prediction(), fresh.prediction());
        assert_eq!(
            solver.solve(&other, &mut solution).unwrap().status,
            Status::Converged
        );
    }
}

/// Iterations that failed on one pattern are tried on another.
#[test]
fn another_pattern_is_another_chance() {
    let (mut solver, mut solution) = (LinearAuto::default(), Solution::default());
    for (size, stiff, first) in [(12, 1e8, true), (12, 1e8, false), (13, 1.0, true)] {
        let system = lattice(size, stiff, if stiff > 1.0 { 1e4 } else { 1.0 });
        solver.prepare(&system).unwrap();
        let report = solver.solve(&system, &mut solution).unwrap();
        // What failed counts.
        let all: usize = solver.attempts().iter().map(|a| a.iterations).sum();
        assert!(report.iterations == all && (all > 0) == first, "{report:?}");
        let krylov = matches!(solver.attempts()[0].method, LinearMethod::Krylov(_));
        assert_eq!(krylov, first, "{size} {:?}", solver.attempts());
    }
}
