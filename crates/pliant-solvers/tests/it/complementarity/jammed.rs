//! Contacts that jam: where the path of interior points turns back.

use super::limits;
use crate::tools::Random;
use pliant_solvers::complementarity::*;

/// Contacts between more directions than there are freedoms, which approach as a motion does that can be undone: a solution exists (Klarbring and Pang 1998).
fn jam(random: &mut Random, contacts: usize, freedoms: usize, mu: f64) -> Problem {
    let n = 3 * contacts;
    let h = random.numbers(n * freedoms);
    let v = random.numbers(freedoms);
    let at = |i: usize, k: usize| h[i * freedoms + k];
    let a: Vec<f64> = (0..n * n)
        .map(|e| (0..freedoms).map(|k| at(e / n, k) * at(e % n, k)).sum())
        .collect();
    let b: Vec<f64> = (0..n)
        .map(|i| (0..freedoms).map(|k| at(i, k) * v[k]).sum())
        .collect();
    Problem::dense(&a, &b, &vec![Cone::Coulomb { mu }; contacts]).unwrap()
}

/// 360 problems of known solvability. (Interior points end at a turning point in eight of them, Newton's method in one.)
#[test]
fn the_central_path_solves_all_that_have_a_solution() {
    let families = [
        (4, 6, 0.8),
        (8, 12, 0.8),
        (8, 18, 0.8),
        (12, 18, 0.8),
        (12, 24, 0.8),
        (12, 24, 1.5),
        (12, 18, 0.4),
        (20, 30, 0.8),
        (20, 40, 0.8),
    ];
    for (contacts, freedoms, mu) in families {
        let mut random = Random(7);
        for case in 0..40 {
            let problem = jam(&mut random, contacts, freedoms, mu);
            let mut r = vec![0.0; problem.size()];
            let report = CentralPath::new(limits(1e-9, 2000))
                .solve(&problem, &mut r)
                .unwrap();
            assert_eq!(
                report.outcome,
                Outcome::Converged,
                "{contacts} {freedoms} {mu} {case} {report:?}"
            );
        }
    }
}

/// The impulse at the start means nothing; iterations are counted, and no more are taken than are allowed.
#[test]
fn the_central_path_keeps_its_limits() {
    let problem = jam(&mut Random(3), 8, 12, 0.8);
    let mut answers = [vec![0.0; problem.size()], vec![0.3; problem.size()]];
    let mut needed = 0;
    for r in &mut answers {
        let report = CentralPath::new(limits(1e-9, 2000)).solve(&problem, r).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        needed = report.iterations;
    }
    assert_eq!(answers[0], answers[1]);
    for allowed in [0, 1, 10, needed - 1, needed] {
        let mut r = vec![0.0; problem.size()];
        let report = CentralPath::new(limits(1e-9, allowed))
            .solve(&problem, &mut r)
            .unwrap();
        assert_eq!(
            report.outcome == Outcome::Converged,
            allowed == needed,
            "{allowed} {report:?}"
        );
        assert!(report.iterations <= allowed, "{allowed} {report:?}");
    }
}
