//! Pivoting with storage of problems that came before.

use pliant_solvers::complementarity::{BlockPivoting, Cone, Lcp, Lemke, Outcome, Problem, Solver};

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

/// Problems of every law and every end of Lemke's method, the largest one first.
fn linear_problems() -> Vec<(Problem, Outcome)> {
    let tridiagonal = |m: usize| -> Vec<f64> {
        let entry = |e: usize| match (e / m).abs_diff(e % m) {
            0 => 2.1,
            1 => -1.0,
            _ => 0.0,
        };
        (0..m * m).map(entry).collect()
    };
    let bounds = |lower, upper| Cone::Box { lower, upper };
    let push = |i: usize| {
        if i.is_multiple_of(3) {
            -1.0
        } else {
            0.4 * (i as f64).sin()
        }
    };
    let problem = |m: usize, b: &[f64], cones: &[Cone]| Problem::dense(&tridiagonal(m), b, cones).unwrap();
    let pushes: Vec<f64> = (0..19).map(push).collect();
    let laws = [
        Cone::Pyramid {
            mu: 0.3,
            facets: 5,
            first: 0.2,
        },
        Cone::PlanarCoulomb { mu: 0.5 },
        Cone::friction_box(0.4),
        bounds(-0.1, 0.2),
        bounds(f64::NEG_INFINITY, 0.1),
        bounds(0.1, f64::INFINITY),
        bounds(f64::NEG_INFINITY, f64::INFINITY),
        Cone::Free,
        Cone::NonNegative,
        Cone::Pyramid {
            mu: 0.1,
            facets: 3,
            first: 0.0,
        },
        Cone::NonNegative,
        Cone::NonNegative,
    ];
    let rolling = Cone::Rolling {
        mu: 0.5,
        torsion: 0.1,
        rolling: 0.1,
    };
    vec![
        (problem(19, &pushes, &laws), Outcome::Converged),
        (problem(6, &pushes[..6], &[rolling]), Outcome::Stagnated),
        // A circle is no pyramid.
        (
            problem(3, &[-1.0, 0.3, 0.4], &[Cone::Coulomb { mu: 0.1 }]),
            Outcome::Stagnated,
        ),
        // No impulse moves the second row: the tableau is computed anew.
        (
            Problem::dense(&[1.0, 0.0, 0.0, 0.0], &[-1.0, -1.0], &[Cone::NonNegative; 2]).unwrap(),
            Outcome::Ray,
        ),
        (
            problem(2, &[-1.0, 0.5], &[Cone::NonNegative; 2]),
            Outcome::Converged,
        ),
        // No impulse.
        (problem(1, &[1.0], &[Cone::NonNegative]), Outcome::Converged),
    ]
}

#[test]
fn a_lemke_that_was_used_allocates_nothing_and_answers_as_a_new_one() {
    let mut used = Lemke::default();
    let mut kept = Lcp::new(&linear_problems()[0].0, 8).unwrap();
    for (place, (problem, outcome)) in linear_problems().iter().enumerate() {
        let start = vec![0.3; problem.size()];
        let (mut fresh, mut again) = (start.clone(), start.clone());
        let report = Lemke::default().solve(problem, &mut fresh).unwrap();
        assert_eq!(report.outcome, *outcome, "{place}: {report:?}");
        let mut solve = |r: &mut [f64]| assert_eq!(used.solve(problem, r).unwrap(), report);
        if place == 0 {
            solve(&mut again);
            again.copy_from_slice(&start);
        }
        let found = allocation_counter::measure(|| {
            solve(&mut again);
            kept.refill(problem, 8).unwrap();
        });
        assert_eq!(again, fresh, "{place}");
        assert!(kept == Lcp::new(problem, 8).unwrap(), "{place}");
        assert_eq!(found.count_total, 0, "{place}");
    }
}
