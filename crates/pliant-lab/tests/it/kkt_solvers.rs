//! Every linear solver behind the interface by which a step calls it.

use crate::tools::{INF, Random, chain, close, random_kkt};
use pliant_krylov::{IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver, KktKrylov};
use pliant_solvers::{
    BoxSolver, DenseCholesky, DenseSolver, DirectSolver, KktSolver, KktSystem, PivotedSolver,
    ProjectedGaussSeidel, Solution, SolveError, Status,
};

const METHODS: [IterativeMethod; 3] = [
    IterativeMethod::Cg,
    IterativeMethod::Minres,
    IterativeMethod::Gmres,
];

/// Every solver that takes bilateral rows, hard and compliant, to a tolerance of 1e-12.
fn bilateral() -> Vec<Box<dyn KktSolver>> {
    let mut out: Vec<Box<dyn KktSolver>> = vec![
        Box::<DirectSolver>::default(),
        Box::<BoxSolver>::default(),
        Box::<PivotedSolver>::default(),
        Box::<DenseSolver>::default(),
        Box::<DenseCholesky>::default(),
        Box::<ProjectedGaussSeidel>::default(),
        Box::<KktKrylov>::default(),
    ];
    for method in METHODS {
        for preconditioner in [IterativePreconditioner::Diagonal, IterativePreconditioner::Blocks] {
            let options = IterativeOptions {
                method,
                preconditioner,
                tolerance: 1e-12,
                ..IterativeOptions::default()
            };
            out.push(Box::new(IterativeSolver::new(options)));
        }
    }
    out
}

fn solve(solver: &mut dyn KktSolver, system: &KktSystem) -> (Solution, Status) {
    let mut solution = Solution::default();
    solver.prepare(system).unwrap();
    let report = solver.solve(system, &mut solution).unwrap();
    let name = solver.name();
    assert!(
        report.residual.relative <= 1e-9 || report.status != Status::Converged,
        "{name} {report:?}"
    );
    (solution, report.status)
}

/// Rows of which a third, all and none are compliant; the second system of a pattern takes the warm
/// path.
#[test]
fn all_find_the_solution_of_the_factor() {
    let mut random = Random(3);
    for compliance in [None, Some(0.2), Some(0.0)] {
        let mut system = random_kkt(&mut random, 12, 5);
        if let Some(r) = compliance {
            system.r.values_mut().fill(r);
        }
        for mut solver in bilateral() {
            for shift in [0.0, 0.5] {
                system.c[0] += shift;
                let (expected, _) = solve(&mut DirectSolver::default(), &system);
                let (found, status) = solve(&mut *solver, &system);
                assert_eq!(status, Status::Converged, "{}", solver.name());
                close(&found.x, &expected.x, 1e-8);
                close(&found.mu, &expected.mu, 1e-8);
            }
        }
    }
}

/// The incomplete factor is for condensed rows: other combinations are refused by name.
#[test]
fn what_no_method_has_is_refused() {
    let mut random = Random(5);
    let hard = random_kkt(&mut random, 8, 3);
    let mut soft = random_kkt(&mut random, 8, 3);
    soft.r.values_mut().fill(0.1);
    for method in METHODS {
        let mut solver = IterativeSolver::new(IterativeOptions {
            method,
            preconditioner: IterativePreconditioner::IncompleteCholesky,
            ..IterativeOptions::default()
        });
        let refused = solver.prepare(&hard).unwrap_err();
        assert!(matches!(refused, SolveError::Unsupported { .. }), "{refused:?}");
        assert_eq!(solver.prepare(&soft).is_ok(), method == IterativeMethod::Cg);
    }
    // Bounded rows too, but by those who take them.
    let mut bounded = hard;
    bounded.bounds[0] = (0.0, INF);
    for mut solver in bilateral() {
        let prepared = solver.prepare(&bounded);
        let refused = matches!(prepared, Err(SolveError::Bounded { row: 0 }));
        assert_eq!(refused, !solver.takes_bounds(), "{} {prepared:?}", solver.name());
    }
}

/// Iterations that run out are no solution.
#[test]
fn an_answer_that_is_not_good_enough_is_not_called_one() {
    let (system, _) = chain(&mut Random(2), 9, 4);
    for method in METHODS {
        let mut solver = IterativeSolver::new(IterativeOptions {
            method,
            preconditioner: IterativePreconditioner::Diagonal,
            max_iterations: 1,
            ..IterativeOptions::default()
        });
        let mut system = system.clone();
        system.c.fill(1.0);
        let (_, status) = solve(&mut solver, &system);
        assert_eq!(status, Status::MaxIterations, "{}", solver.name());
    }
}

/// Motors and stops in a chain of bodies, by an active set and by sweeps.
#[test]
fn sweeps_find_the_solution_of_the_active_set() {
    let mut random = Random(7);
    let (mut system, rows) = chain(&mut random, 8, 10);
    let numbers = random.numbers(system.n() + system.m());
    let (c, b) = numbers.split_at(system.n());
    system.c.copy_from_slice(c);
    system.b.copy_from_slice(b);
    for (k, row) in rows.iter().enumerate() {
        system.bounds[*row] = if k % 2 == 0 { (0.0, INF) } else { (-0.1, 0.2) };
    }
    let (expected, _) = solve(&mut BoxSolver::default(), &system);
    let mut solver = ProjectedGaussSeidel::default();
    solver.options.tolerance = 1e-12;
    solver.prepare(&system).unwrap();
    let mut found = Solution::default();
    let report = solver.solve(&system, &mut found).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!(
        report.iterations > 0 && report.bounds.natural < 1e-10,
        "{report:?}"
    );
    let at_bound = |mu: &[f64]| {
        rows.iter()
            .filter(|i| mu[**i] <= system.bounds[**i].0 || mu[**i] >= system.bounds[**i].1)
            .count()
    };
    assert_eq!(report.bounds.rows_at_bounds, at_bound(&expected.mu));
    close(&found.x, &expected.x, 1e-9);
    close(&found.mu, &expected.mu, 1e-9);
    // One sweep does not do.
    solver.options.max_changes = 1;
    solver.prepare(&system).unwrap();
    let report = solver.solve(&system, &mut Solution::default()).unwrap();
    assert!(matches!(report.status, Status::Unsettled { .. }), "{report:?}");
}

/// Memory of a solver makes another one go on with the same bits.
#[test]
fn memory_is_all_that_is_handed_on() {
    let mut random = Random(13);
    let (mut system, rows) = chain(&mut random, 8, 10);
    rows.iter().for_each(|row| system.bounds[*row] = (-0.1, 0.1));
    system.c.fill(1.0);
    let pairs: [[Box<dyn KktSolver>; 2]; 2] = [
        [Box::<BoxSolver>::default(), Box::<BoxSolver>::default()],
        [
            Box::<ProjectedGaussSeidel>::default(),
            Box::<ProjectedGaussSeidel>::default(),
        ],
    ];
    for [mut first, mut second] in pairs {
        solve(&mut *first, &system);
        second.impose(&first.memory());
        system.b.fill(0.3);
        assert_eq!(
            solve(&mut *first, &system),
            solve(&mut *second, &system),
            "{}",
            first.name()
        );
    }
}
