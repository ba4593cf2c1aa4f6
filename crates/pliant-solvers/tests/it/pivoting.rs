//! Block pivoting with storage of problems that came before.

use pliant_solvers::complementarity::{BlockPivoting, Cone, Outcome, Problem, Solver};

/// Problems for each way of block pivoting to solve for its free rows.
fn problems() -> Vec<Problem> {
    let tridiagonal: Vec<f64> = (0..25)
        .map(|e: usize| match (e / 5).abs_diff(e % 5) {
            0 => 2.1,
            1 => -1.0,
            _ => 0.0,
        })
        .collect();
    let problem = |a: &[f64], b: &[f64], cone| Problem::dense(a, b, &vec![cone; b.len()]).unwrap();
    vec![
        problem(&tridiagonal, &[-1.0, 2.0, -1.0, -3.0, 1.0], Cone::NonNegative),
        // Redundant rows.
        problem(&[1.0; 9], &[-2.0; 3], Cone::NonNegative),
        // Redundant rows of an indefinite matrix.
        problem(
            &[1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0],
            &[1.0, 3.0, 3.0],
            Cone::Free,
        ),
        // No symmetry.
        problem(&[0.5, -1.0, 1.0, 0.0], &[-1.0, 2.0], Cone::Free),
        problem(&[3.0], &[-1.0], Cone::NonNegative),
        // No free row.
        problem(&[3.0], &[1.0], Cone::NonNegative),
    ]
}

#[test]
fn a_solver_that_was_used_allocates_nothing_and_answers_as_a_new_one() {
    let mut used = BlockPivoting::default();
    for problem in &problems() {
        used.solve(problem, &mut vec![0.3; problem.size()]).unwrap();
    }
    for (place, problem) in problems().iter().enumerate() {
        let start = vec![0.3; problem.size()];
        let (mut fresh, mut again) = (start.clone(), start);
        let report = BlockPivoting::default().solve(problem, &mut fresh).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{place}: {report:?}");
        let found = allocation_counter::measure(|| {
            assert_eq!(used.solve(problem, &mut again).unwrap(), report);
        });
        assert_eq!(found.count_total, 0, "{place}");
        assert_eq!(again, fresh, "{place}");
    }
}
