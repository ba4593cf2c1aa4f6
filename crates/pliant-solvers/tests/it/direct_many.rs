//! Several right-hand sides at once.

use crate::tools::{Random, close, random_kkt};
use pliant_solvers::{DirectSolver, KktSystem, RightHandSide, Solution, SolveError, Status, solve_dense};

fn sides(random: &mut Random, system: &KktSystem, count: usize) -> Vec<RightHandSide> {
    (0..count)
        .map(|_| RightHandSide {
            c: random.numbers(system.n()),
            b: random.numbers(system.m()),
        })
        .collect()
}

#[test]
fn each_answer_is_that_of_the_dense_oracle() {
    let mut random = Random(5);
    let mut system = random_kkt(&mut random, 40, 11);
    let mut solver = DirectSolver::default();
    solver.prepare(&system).unwrap();
    let (mut solutions, mut reports) = (Vec::new(), Vec::new());
    // More than are solved together, then fewer, then none.
    for count in [37, 3, 0] {
        let sides = sides(&mut random, &system, count);
        solver
            .solve_many(&system, &sides, &mut solutions, &mut reports)
            .unwrap();
        assert_eq!((solutions.len(), reports.len()), (count, count));
        for ((side, solution), report) in sides.iter().zip(&solutions).zip(&reports) {
            system.c.copy_from_slice(&side.c);
            system.b.copy_from_slice(&side.b);
            let exact = solve_dense(&system).unwrap();
            assert_eq!(report.status, Status::Converged);
            assert_eq!(report.inertia, (39, 11));
            // A few hundred roundings of a condition number of about 100.
            close(&solution.x, &exact.x, 1e-11);
            close(&solution.mu, &exact.mu, 1e-11);
            let mut one = Solution::default();
            let alone = solver.solve(&system, &mut one).unwrap();
            assert!(report.residual.relative <= 1e-14_f64.max(2.0 * alone.residual.relative));
        }
    }
}

#[test]
fn redundant_rows_are_judged_for_each() {
    let w = crate::tools::identity(2);
    let system = KktSystem::dense(&w, &[1.0, 0.0, 1.0, 0.0], &[0.0, 0.0]).unwrap();
    let mut solver = DirectSolver::default();
    solver.prepare(&system).unwrap();
    let side = |b: [f64; 2]| RightHandSide {
        c: vec![0.0, 1.0],
        b: b.to_vec(),
    };
    let (mut solutions, mut reports) = (Vec::new(), Vec::new());
    solver
        .solve_many(
            &system,
            &[side([-1.0, -1.0]), side([-1.0, 1.0])],
            &mut solutions,
            &mut reports,
        )
        .unwrap();
    assert_eq!(reports[0].status, Status::Converged);
    assert_eq!(reports[0].redundant_rows, 1);
    // Duplicates share equally.
    close(&solutions[0].mu, &[0.5, 0.5], 1e-14);
    assert!(matches!(reports[1].status, Status::Incompatible { .. }));
    // The compromise between x = 1 and x = -1.
    close(&solutions[1].x, &[0.0, 1.0], 1e-14);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut random = Random(1);
    let system = random_kkt(&mut random, 8, 3);
    let mut solver = DirectSolver::default();
    let (mut solutions, mut reports) = (Vec::new(), Vec::new());
    let mut sides = sides(&mut random, &system, 2);
    let mut solve = |solver: &mut DirectSolver, sides: &[RightHandSide]| {
        solver.solve_many(&system, sides, &mut solutions, &mut reports)
    };
    assert_eq!(solve(&mut solver, &sides), Err(SolveError::NotPrepared));
    solver.prepare(&system).unwrap();
    sides[1].c[0] = f64::NAN;
    assert!(matches!(
        solve(&mut solver, &sides),
        Err(SolveError::NotFinite { .. })
    ));
    sides[1].c.pop();
    assert!(matches!(solve(&mut solver, &sides), Err(SolveError::Size { .. })));
    assert!(solve(&mut solver, &sides[..1]).is_ok());
}
