//! Everything a user can get wrong about a linear system, against every linear solver: typed errors
//! or honest statuses, no panic.

use crate::tools::{Random, random_kkt};
use pliant_krylov::{Approximation, KktKrylovOptions, KktMethod, PrimalPreconditioner};
use pliant_krylov::{LinearAuto, LinearChoice, LinearOptions};
use pliant_solvers::{
    DenseMethod, DenseOptions, DirectOptions, DirectSolver, KktSystem, PivotedOptions, Solution, SolveError,
    Status,
};
use pliant_sparse::PatternBuilder;

/// Every method that can be pinned, and the choice of none.
fn choices() -> Vec<LinearChoice> {
    let mut out = vec![
        LinearChoice::Auto,
        LinearChoice::Direct(DirectOptions::default()),
        LinearChoice::Pivoted(PivotedOptions::default()),
    ];
    for method in [
        DenseMethod::Cholesky,
        DenseMethod::Ldlt,
        DenseMethod::BunchKaufman,
    ] {
        out.push(LinearChoice::Dense(DenseOptions {
            method,
            ..DenseOptions::default()
        }));
    }
    for method in [
        KktMethod::Minres,
        KktMethod::SchurPcg,
        KktMethod::ConstraintGmres,
        KktMethod::ProjectedPcg,
        KktMethod::PrimalPcg,
    ] {
        for approximation in [Approximation::Diagonal, Approximation::Blocks] {
            for preconditioner in [
                PrimalPreconditioner::BlockJacobi,
                PrimalPreconditioner::IncompleteCholesky,
            ] {
                out.push(LinearChoice::Krylov(KktKrylovOptions {
                    method,
                    approximation,
                    preconditioner,
                    ..KktKrylovOptions::default()
                }));
            }
        }
    }
    out
}

/// Prepares and solves; a claim to have converged is checked against the definition.
fn attempt(choice: LinearChoice, system: &KktSystem) -> Result<Status, SolveError> {
    let mut solver = LinearAuto::new(LinearOptions {
        choice,
        ..LinearOptions::default()
    });
    let mut solution = Solution::default();
    solver.prepare(system)?;
    let report = solver.solve(system, &mut solution)?;
    assert!(
        solution.x.iter().chain(&solution.mu).all(|v| v.is_finite()),
        "{choice:?}"
    );
    if report.status == Status::Converged {
        let (n, m) = (system.n(), system.m());
        for i in 0..n + m {
            let entry = |k: usize| match (i < n, k < n) {
                (true, true) => system.w.get(i.max(k), i.min(k)),
                (true, false) => -system.j.get(k - n, i),
                (false, true) => -system.j.get(i - n, k),
                (false, false) => -system.r.get(i.max(k) - n, i.min(k) - n),
            };
            let z = |k: usize| if k < n { solution.x[k] } else { solution.mu[k - n] };
            let rhs = if i < n { system.c[i] } else { system.b[i - n] };
            if i < n && system.fixed[i] {
                continue;
            }
            let terms = (0..n + m).map(|k| entry(k) * z(k));
            let (mut r, mut size) = (-rhs, rhs.abs());
            for term in terms {
                r += term;
                size += term.abs();
            }
            // 1e-9 is what was asked; a row of small terms is measured against the block's largest.
            assert!(
                r.abs() <= 1e-6 * size + 1e-9 * size.max(1e-9),
                "{choice:?}: {r:e} of {size:e}"
            );
        }
    }
    Ok(report.status)
}

#[test]
fn numbers_that_are_none_are_errors() {
    let system = random_kkt(&mut Random(4), 6, 3);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for place in 0..5 {
            let mut system = system.clone();
            match place {
                0 => system.w.values_mut()[4] = bad,
                1 => system.j.values_mut()[1] = bad,
                2 => system.r.values_mut()[2] = bad,
                3 => system.c[1] = bad,
                _ => system.b[2] = bad,
            }
            for choice in choices() {
                let found = attempt(choice, &system);
                assert!(found.is_err(), "{choice:?} at {place}: {found:?}");
            }
        }
    }
}

#[test]
fn vectors_of_other_lengths_are_errors() {
    let system = random_kkt(&mut Random(4), 6, 3);
    for place in 0..5 {
        let mut system = system.clone();
        match place {
            0 => system.c.push(0.0),
            1 => system.b.clear(),
            2 => drop(system.fixed.pop()),
            3 => system.b_rounding.push(0.0),
            _ => drop(system.bounds.pop()),
        }
        for choice in choices() {
            let found = attempt(choice, &system);
            assert!(
                matches!(found, Err(SolveError::Size { .. })),
                "{choice:?}: {found:?}"
            );
        }
    }
    let mut bounded = system.clone();
    bounded.bounds[1].0 = 0.0;
    for choice in choices() {
        assert_eq!(attempt(choice, &bounded), Err(SolveError::Bounded { row: 1 }));
    }
}

#[test]
fn negative_compliance_is_named() {
    let mut system = random_kkt(&mut Random(4), 6, 3);
    for i in 0..3 {
        system.r.values_mut()[i] = 0.1;
    }
    system.r.values_mut()[1] = -0.1;
    for choice in choices() {
        let found = attempt(choice, &system);
        if matches!(choice, LinearChoice::Dense(o) if o.method == DenseMethod::Cholesky) {
            assert!(matches!(found, Err(SolveError::Parameter { .. })));
            continue;
        }
        let negative = SolveError::NegativeCompliance { row: 1, value: -0.1 };
        assert_eq!(found, Err(negative), "{choice:?}");
    }
}

#[test]
fn empty_systems_have_empty_answers() {
    let nothing = KktSystem::dense(&[], &[], &[]).unwrap();
    let mut no_rows = KktSystem::dense(&[2.0], &[], &[]).unwrap();
    no_rows.c[0] = 3.0;
    // Rows on no variable: soft ones have an answer, hard ones only if they ask for nothing.
    let mut no_variables = KktSystem::dense(&[], &[], &[0.5]).unwrap();
    no_variables.b[0] = 1.0;
    let mut all_fixed = KktSystem::dense(&[2.0], &[1.0], &[0.5]).unwrap();
    all_fixed.fixed[0] = true;
    all_fixed.c[0] = f64::NAN;
    for choice in choices() {
        for system in [&nothing, &no_rows, &no_variables, &all_fixed] {
            let cholesky = matches!(choice, LinearChoice::Dense(o) if o.method == DenseMethod::Cholesky);
            let found = attempt(choice, system);
            if cholesky && system.m() > 0 {
                assert!(found.is_err());
            } else {
                assert_eq!(found, Ok(Status::Converged), "{choice:?} {}", system.n());
            }
        }
    }
}

#[test]
fn scales_from_tiny_to_huge_are_welcome() {
    for exponent in [-300, -12, -6, 6, 12, 250] {
        let mut system = random_kkt(&mut Random(4), 6, 3);
        let scale = 10f64.powi(exponent);
        system.w.values_mut().iter_mut().for_each(|v| *v *= scale);
        for i in 0..3 {
            system.r.values_mut()[i] = 0.1 / scale;
        }
        system.c.iter_mut().for_each(|v| *v *= scale);
        for choice in choices() {
            let cholesky = matches!(choice, LinearChoice::Dense(o) if o.method == DenseMethod::Cholesky);
            let found = attempt(choice, &system);
            if !cholesky {
                assert_eq!(found, Ok(Status::Converged), "{choice:?} at 1e{exponent}");
            }
        }
    }
}

#[test]
fn variables_of_very_different_scales_are_welcome() {
    let mut system = random_kkt(&mut Random(4), 8, 3);
    // A symmetric scaling between 1e-12 and 1e12, as units that differ make it.
    let scale: Vec<f64> = (0..8).map(|i| 10f64.powi(3 * i - 10)).collect();
    for i in 0..8 {
        for slot in system.w.pattern().row_slots(i) {
            let k = system.w.pattern().indices()[slot] as usize;
            system.w.values_mut()[slot] *= scale[i] * scale[k];
        }
        system.c[i] *= scale[i];
    }
    for i in 0..3 {
        for slot in system.j.pattern().row_slots(i) {
            let k = system.j.pattern().indices()[slot] as usize;
            system.j.values_mut()[slot] *= scale[k];
        }
        system.r.values_mut()[i] = 0.1;
    }
    for choice in choices() {
        let cholesky = matches!(choice, LinearChoice::Dense(o) if o.method == DenseMethod::Cholesky);
        if !cholesky {
            assert_eq!(attempt(choice, &system), Ok(Status::Converged), "{choice:?}");
        }
    }
}

#[test]
fn matrices_without_a_minimum_never_converge() {
    let zero = KktSystem::dense(&[0.0], &[], &[]).unwrap();
    let mut negative = KktSystem::dense(&[-1.0], &[], &[]).unwrap();
    negative.c[0] = 1.0;
    let mut saddle = KktSystem::dense(&[1.0, 2.0, 2.0, 1.0], &[], &[]).unwrap();
    saddle.c = vec![1.0, -1.0];
    for choice in choices() {
        for system in [&zero, &negative] {
            let found = attempt(choice, system);
            let minres = matches!(choice, LinearChoice::Krylov(o)
                if matches!(o.method, KktMethod::Minres | KktMethod::ConstraintGmres));
            // These two solve equations, whatever the sign.
            assert!(minres || found != Ok(Status::Converged), "{choice:?}: {found:?}");
        }
        let found = attempt(choice, &saddle);
        if matches!(
            choice,
            LinearChoice::Auto | LinearChoice::Direct(_) | LinearChoice::Pivoted(_) | LinearChoice::Dense(_)
        ) {
            assert!(
                matches!(found, Err(SolveError::NotPositiveDefinite { .. })),
                "{choice:?}"
            );
        }
    }
}

#[test]
fn contradictions_are_never_converged() {
    let mut system = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
    system.b.copy_from_slice(&[1.0, -1.0]);
    for choice in choices() {
        assert_ne!(attempt(choice, &system), Ok(Status::Converged), "{choice:?}");
    }
}

#[test]
fn options_out_of_range_are_errors_or_honest() {
    let system = random_kkt(&mut Random(4), 6, 3);
    for tolerance in [f64::NAN, f64::INFINITY, -1.0] {
        let mut solver = LinearAuto::default();
        solver.options.tolerance = tolerance;
        let found = solver.prepare(&system);
        assert!(matches!(found, Err(SolveError::Parameter { .. })));
    }
    // Zero cannot be reached, and is not claimed to be.
    let mut solver = LinearAuto::default();
    solver.options.tolerance = 0.0;
    solver.options.right_hand_sides = 0;
    solver.prepare(&system).unwrap();
    let mut solution = Solution::default();
    let report = solver.solve(&system, &mut solution).unwrap();
    assert!(report.residual.relative < 1e-14);
    assert_eq!(
        report.status == Status::Converged,
        report.residual.relative == 0.0
    );
}

#[test]
fn a_solve_wants_a_prepare_for_the_same_system() {
    let system = random_kkt(&mut Random(4), 6, 3);
    let other = random_kkt(&mut Random(4), 6, 2);
    for choice in choices() {
        let mut solver = LinearAuto::new(LinearOptions {
            choice,
            ..LinearOptions::default()
        });
        let mut solution = Solution::default();
        let unprepared = Err(SolveError::NotPrepared);
        assert_eq!(solver.solve(&system, &mut solution), unprepared);
        if solver.prepare(&system).is_ok() {
            assert_eq!(solver.solve(&other, &mut solution), unprepared);
            let mut fixed = system.clone();
            fixed.fixed[0] = true;
            assert_eq!(solver.solve(&fixed, &mut solution), unprepared);
        }
    }
}

#[test]
fn patterns_that_do_not_fit_are_errors() {
    let pattern = |rows: usize, columns: usize, entries: &[(usize, usize)]| {
        let mut builder = PatternBuilder::new(rows, columns);
        entries.iter().for_each(|(i, k)| builder.insert(*i, *k));
        builder.finish().unwrap()
    };
    let full = [(0, 0), (1, 1)];
    let new =
        |w, j, r, primal: &[usize], rows: &[usize]| KktSystem::new(w, j, r, primal.to_vec(), rows.to_vec());
    let wrong = [
        // W without a diagonal entry, with one above, not square.
        new(
            pattern(2, 2, &[(0, 0)]),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[0, 2],
            &[0],
        ),
        new(
            pattern(2, 2, &[(0, 0), (0, 1), (1, 1)]),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[0, 2],
            &[0],
        ),
        new(
            pattern(2, 3, &full),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[0, 2],
            &[0],
        ),
        // J of another width, R of another size, coupled over blocks.
        new(
            pattern(2, 2, &full),
            pattern(1, 3, &[]),
            pattern(1, 1, &[(0, 0)]),
            &[0, 2],
            &[0, 1],
        ),
        new(
            pattern(2, 2, &full),
            pattern(1, 2, &[]),
            pattern(2, 2, &full),
            &[0, 2],
            &[0, 1],
        ),
        new(
            pattern(2, 2, &full),
            pattern(2, 2, &[]),
            pattern(2, 2, &[(0, 0), (1, 0), (1, 1)]),
            &[0, 2],
            &[0, 1, 2],
        ),
        // Blocks that do not ascend from zero to the end.
        new(
            pattern(2, 2, &full),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[0, 1],
            &[0],
        ),
        new(
            pattern(2, 2, &full),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[],
            &[0],
        ),
        new(
            pattern(2, 2, &full),
            pattern(0, 2, &[]),
            pattern(0, 0, &[]),
            &[0, 2, 1, 2],
            &[0],
        ),
    ];
    for found in wrong {
        assert!(matches!(found, Err(SolveError::Size { .. })), "{found:?}");
    }
}

#[test]
fn a_million_threads_are_a_slip_of_the_pen() {
    let system = KktSystem::dense(&[1.0], &[], &[]).unwrap();
    let mut solver = DirectSolver::default();
    solver.options.threads = 1_000_000;
    let what = "the number of threads";
    let expected = SolveError::Parameter { what, value: 1e6 };
    assert_eq!(solver.prepare(&system), Err(expected));
    solver.options.threads = 0;
    assert_eq!(solver.prepare(&system), Ok(()));
}
