//! Systems that all processes hold.

use super::over_mpi;
use pliant_krylov::{NearNullSpace, ProvidedSolver, Purpose};
use pliant_petsc::{PROVIDER, PetscSolver};
use pliant_solvers::{KktSolver, KktSystem, Solution, SolveError, Status};
use pliant_sparse::PatternBuilder;

/// `n` masses in a row with springs of stiffness `n + 1` between them and two walls, under unit
/// forces: the displacements are those of a parabola, `x_i = i (n + 1 - i) / (2 (n + 1))`.
fn row(n: usize) -> KktSystem {
    let mut w = PatternBuilder::new(n, n);
    for i in 0..n {
        w.insert(i, i);
        if i > 0 {
            w.insert(i, i - 1);
        }
    }
    let none = || PatternBuilder::new(0, 0).finish().unwrap();
    let j = PatternBuilder::new(0, n).finish().unwrap();
    let mut system = KktSystem::new(w.finish().unwrap(), j, none(), (0..=n).collect(), vec![0]).unwrap();
    let k = (n + 1) as f64;
    for i in 0..n {
        let slots = system.w.pattern().row_slots(i);
        let values = &mut system.w.values_mut()[slots];
        *values.last_mut().unwrap() = 2.0 * k;
        if i > 0 {
            values[0] = -k;
        }
    }
    system.c.fill(1.0);
    system
}

#[test]
fn a_row_of_springs_is_a_parabola_by_either_method() {
    over_mpi(
        "over_mpi::systems::a_row_of_springs_is_a_parabola_by_either_method",
        &[1, 2, 4],
        |session| {
            let n = 1000;
            let system = row(n);
            for multigrid_from in [usize::MAX, 0] {
                let mut solver = PetscSolver::default();
                solver.multigrid_from = multigrid_from;
                solver.set_tolerance(1e-12);
                solver.set_near_null_space(&NearNullSpace::components(system.primal_blocks()));
                let mut solution = Solution::default();
                solver.prepare(&system).unwrap();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, Status::Converged, "{report:?}");
                assert_eq!(report.iterations > 0, multigrid_from == 0);
                for (i, x) in solution.x.iter().enumerate() {
                    let i = (i + 1) as f64;
                    let exact = i * (1001.0 - i) / (2.0 * 1001.0);
                    // The condition number of 4e5 times the roundings of a solve.
                    assert!((x - exact).abs() < 1e-8 * 125.0, "{i}: {x} {exact}");
                }
                let share = solver.share().unwrap();
                assert_eq!(session.sum(share.rows as f64).unwrap(), n as f64);
                // One neighbour on either side, where there are any.
                let sides =
                    usize::from(session.rank() > 0) + usize::from(session.rank() + 1 < session.size());
                assert_eq!(share.received, sides);
            }
        },
    );
}

/// Two equal rows `x0 + x1 = b` and one more, on `x0^2 + x1^2 + x2^2`.
fn redundant(b: [f64; 2]) -> KktSystem {
    let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let mut system = KktSystem::dense(&w, &[1.0, 1.0, 0.0, 1.0, 1.0, 0.0], &[0.0, 0.0]).unwrap();
    system.b.copy_from_slice(&b);
    system.c[2] = 3.0;
    system
}

#[test]
fn rows_may_be_redundant_and_not_contradict() {
    over_mpi(
        "over_mpi::systems::rows_may_be_redundant_and_not_contradict",
        &[1, 2],
        |_| {
            let mut solver = (PROVIDER.make)();
            let system = redundant([-1.0, -1.0]);
            let mut solution = Solution::default();
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_eq!((report.status, report.redundant_rows), (Status::Converged, 1));
            for (x, exact) in solution.x.iter().zip([0.5, 0.5, 3.0]) {
                assert!((x - exact).abs() < 1e-14, "{:?}", solution.x);
            }
            assert!((solution.mu[0] + solution.mu[1] - 0.5).abs() < 1e-14);
            let system = redundant([-1.0, -2.0]);
            solver.prepare(&system).unwrap();
            let report = solver.solve(&system, &mut solution).unwrap();
            assert_ne!(report.status, Status::Converged);
        },
    );
}

#[test]
fn rows_that_are_nearly_dependent_are_handed_back_and_small_pivots_for_other_reasons_are_not() {
    over_mpi(
        "over_mpi::systems::rows_that_are_nearly_dependent_are_handed_back_and_small_pivots_for_other_reasons_are_not",
        &[1, 2],
        |_| {
            let mut solver = (PROVIDER.make)();
            // What the second of two rows has of its own, and whether its square is a pivot.
            for (own, is_pivot) in [(1e-6, false), (1e-3, true)] {
                let mut system = redundant([-1.0, -1.0]);
                system.j.values_mut()[5] = own;
                solver.prepare(&system).unwrap();
                assert_eq!(solver.hands_back(), !is_pivot, "{own}");
            }
            // A heavy and a light coordinate, hard and soft rows, in any units.
            for unit in [1e-6, 1.0, 1e6] {
                let w = [1e9, 0.0, 0.0, 1.0].map(|w| w * unit);
                let mut system = KktSystem::dense(&w, &[1.0, 0.0, 1.0, 1.0], &[0.0, 1e-6 / unit]).unwrap();
                system.c[1] = 1.0;
                solver.prepare(&system).unwrap();
                assert!(!solver.hands_back());
                let mut solution = Solution::default();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, Status::Converged, "{report:?}");
                // The first row holds x0, and the second is a spring on x1.
                let exact = 1.0 / (unit * (1.0 + 1e6));
                // To the tolerance of a solve, and some for its conversion to `x`.
                let [x0, x1] = [solution.x[0] / exact, solution.x[1] / exact - 1.0].map(f64::abs);
                assert!(x0 < 1e-8 && x1 < 1e-8, "{x0:e} {x1:e}");
            }
        },
    );
}

#[test]
fn what_is_no_minimum_is_told() {
    over_mpi("over_mpi::systems::what_is_no_minimum_is_told", &[2], |_| {
        let mut solver = (PROVIDER.make)();
        let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, -1.0], &[1.0, 0.0], &[0.0]).unwrap();
        let refused = solver.prepare(&system);
        assert!(
            matches!(refused, Err(SolveError::NotPositiveDefinite { dof: 1, .. })),
            "{refused:?}"
        );
        let refused = solver.solve(&system, &mut Solution::default());
        assert!(matches!(refused, Err(SolveError::NotPrepared)));
        solver.set_purpose(Purpose::Kind);
        solver.prepare(&system).unwrap();
        assert_eq!(solver.kind(&system).unwrap().negative, 1);
        // Held by its row, the second coordinate does not matter.
        system.j.values_mut().copy_from_slice(&[0.0, 1.0]);
        solver.set_purpose(Purpose::Minimum);
        solver.prepare(&system).unwrap();
        system.bounds[0] = (0.0, 1.0);
        assert!(matches!(
            solver.prepare(&system),
            Err(SolveError::Bounded { row: 0 })
        ));
    });
}

#[test]
fn what_fixed_coordinates_would_do_is_no_matter() {
    over_mpi(
        "over_mpi::systems::what_fixed_coordinates_would_do_is_no_matter",
        &[1, 2],
        |_| {
            for own in [-5.0, 0.0, 5.0] {
                let mut system =
                    KktSystem::dense(&[2.0, 1.0, 0.0, 1.0, own, 0.0, 0.0, 0.0, 4.0], &[], &[]).unwrap();
                system.fixed[1] = true;
                system.c.copy_from_slice(&[1.0, 7.0, 1.0]);
                let mut solver = (PROVIDER.make)();
                solver.prepare(&system).unwrap();
                assert!(!solver.hands_back());
                let mut solution = Solution::default();
                let report = solver.solve(&system, &mut solution).unwrap();
                assert_eq!(report.status, Status::Converged, "{report:?}");
                for (x, exact) in solution.x.iter().zip([0.5, 0.0, 0.25]) {
                    assert!((x - exact).abs() < 1e-15, "{:?}", solution.x);
                }
                solver.set_purpose(Purpose::Kind);
                solver.prepare(&system).unwrap();
                assert_eq!(solver.kind(&system), Some(pliant_solvers::Kind::default()));
            }
        },
    );
}

#[test]
fn processes_that_disagree_are_told() {
    over_mpi(
        "over_mpi::systems::processes_that_disagree_are_told",
        &[2],
        |session| {
            let mut solver = (PROVIDER.make)();
            let mut system = row(10);
            solver.prepare(&system).unwrap();
            system.c[3] += f64::EPSILON * session.rank() as f64;
            let error = solver.solve(&system, &mut Solution::default()).unwrap_err();
            assert!(
                error.to_string().contains("right-hand sides are not the same"),
                "{error}"
            );
            system.w.values_mut()[0] += session.rank() as f64;
            let error = solver.prepare(&system).unwrap_err();
            assert!(error.to_string().contains("matrices are not the same"), "{error}");
        },
    );
}
