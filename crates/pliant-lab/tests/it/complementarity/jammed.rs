//! Contacts that jam: where the path of interior points turns back.

use super::limits;
use crate::tools::Random;
use pliant_lab::exchange::{Record, Statement};
use pliant_solvers::complementarity::*;

/// Contacts between more directions than there are freedoms, which approach as a motion does that
/// can be undone: a solution exists (Klarbring and Pang 1998).
pub(super) fn jam(random: &mut Random, contacts: usize, freedoms: usize, cone: Cone) -> Problem {
    let n = cone.rows() * contacts;
    let h = random.numbers(n * freedoms);
    let v = random.numbers(freedoms);
    let at = |i: usize, k: usize| h[i * freedoms + k];
    let a: Vec<f64> = (0..n * n)
        .map(|e| (0..freedoms).map(|k| at(e / n, k) * at(e % n, k)).sum())
        .collect();
    let b: Vec<f64> = (0..n)
        .map(|i| (0..freedoms).map(|k| at(i, k) * v[k]).sum())
        .collect();
    Problem::dense(&a, &b, &vec![cone; contacts]).unwrap()
}

/// 360 problems of known solvability. (Interior points end at a turning point in eight of them,
/// Newton's method in one.)
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
            let problem = jam(&mut random, contacts, freedoms, Cone::Coulomb { mu });
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

/// Five nearly equal jams beside each other, which do not touch: their paths turn back one after
/// the other, in hairpins that are as near to each other as the problems are. A follower that tells
/// onward from the last tangent jumps across one, and goes back the way for good.
#[test]
fn the_central_path_does_not_jump_across_hairpins() {
    let (copies, contacts, freedoms) = (5, 3, 4);
    let (n, m) = (3 * contacts, 3 * contacts * copies);
    let mut random = Random(37);
    let h = random.numbers(n * freedoms);
    let v = random.numbers(freedoms);
    let row = |i: usize| &h[i * freedoms..][..freedoms];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut blocks, mut b) = (Vec::new(), Vec::new());
    for copy in 0..copies {
        let v: Vec<f64> = v.iter().map(|v| v + 0.03 * random.number()).collect();
        for i in 0..n {
            blocks.extend((0..n).map(|k| (copy * n + i, copy * n + k, vec![dot(row(i), row(k))])));
            b.push(dot(row(i), &v));
        }
    }
    let a = BlockSparse::new(&vec![1; m], &blocks).unwrap();
    let problem = Problem::new(a, b, vec![Cone::Coulomb { mu: 1.0 }; contacts * copies]).unwrap();
    let mut r = vec![0.0; m];
    let report = CentralPath::new(limits(1e-9, 3000))
        .solve(&problem, &mut r)
        .unwrap();
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
}

/// A path that turns back is long no better than before, and so are its last steps: patience means
/// nothing. Corrections that hardly move share a factor.
#[test]
fn the_central_path_has_patience() {
    for text in [
        include_str!("../../corpus/heap-0-46.json"),
        include_str!("../../corpus/heap-10-34.json"),
    ] {
        let record = Record::read(text, |name| Err(name.to_owned())).unwrap();
        let Statement::Complementarity(problem) = &record.statement else {
            panic!("{}", record.name)
        };
        let answer = |patience| {
            let mut r = vec![0.0; problem.size()];
            let limits = Limits {
                patience,
                ..limits(1e-8, 3000)
            };
            let report = CentralPath::new(limits).solve(problem, &mut r).unwrap();
            println!(
                "{} {patience} {} {:?}",
                record.name, report.iterations, report.outcome
            );
            assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
            (r, report.iterations)
        };
        let (r, factorisations) = answer(0);
        // 334 and 361 with one for each correction and each tangent.
        assert!(factorisations <= 200, "{factorisations}");
        assert_eq!((r, factorisations), answer(2000));
    }
}

/// Steps of tumbling boxes, which no other method but the central path solves to 1e-8: proximal
/// points from no impulse come to 1e-4 in some twenty factorisations (6 to 21), in one of them in
/// 214.
#[test]
fn proximal_points_find_the_first_digits_of_jams() {
    let heaps = [
        include_str!("../../corpus/heap-0-46.json"),
        include_str!("../../corpus/heap-1-82.json"),
        include_str!("../../corpus/heap-10-34.json"),
        include_str!("../../corpus/heap-10-66.json"),
        include_str!("../../corpus/heap-4-39.json"),
        include_str!("../../corpus/heap-4-42.json"),
        include_str!("../../corpus/heap-4-76.json"),
        include_str!("../../corpus/heap-8-29.json"),
        include_str!("../../corpus/heap-9-116.json"),
        include_str!("../../corpus/heap-10-41.json"),
    ];
    for (k, text) in heaps.into_iter().enumerate() {
        let record = Record::read(text, |name| Err(name.to_owned())).unwrap();
        let Statement::Complementarity(problem) = &record.statement else {
            panic!("{}", record.name)
        };
        let mut r = vec![0.0; problem.size()];
        let report = ProximalNewton::new(limits(1e-4, 2000))
            .solve(problem, &mut r)
            .unwrap();
        let most = if k < 9 { 25 } else { 250 };
        assert_eq!(report.outcome, Outcome::Converged, "{}", record.name);
        assert!(report.iterations <= most, "{} {}", record.name, report.iterations);
    }
}

/// Jams that no quick method solves end at the accuracy that is enough, with less work the less is
/// asked for; a problem that a quick one solves is solved to the tolerance whatever is enough.
#[test]
fn an_accuracy_is_enough_for_jams_alone() {
    let solve = |text: &str, accuracy: f64| {
        let record = Record::read(text, |name| Err(name.to_owned())).unwrap();
        let Statement::Complementarity(problem) = &record.statement else {
            panic!("{}", record.name)
        };
        let options = AutoOptions {
            limits: limits(1e-8, 2000),
            accuracy,
            ..AutoOptions::default()
        };
        let mut r = vec![0.0; problem.size()];
        let report = Auto::new(options).solve(problem, &mut r).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{}", record.name);
        // The report is true.
        let measure = problem.residual(&r, &mut vec![0.0; r.len()]).measure();
        assert!((measure - report.residual.measure()).abs() <= 1e-9, "{measure:e}");
        (measure, report.iterations)
    };
    let heap = include_str!("../../corpus/heap-1-82.json");
    let [(exact, most), (fine, some), (coarse, few)] = [0.0, 1e-6, 1e-3].map(|a| solve(heap, a));
    assert!(exact <= 1e-8 && fine <= 1e-6 && coarse <= 1e-3);
    assert!(few < some && some < most, "{few} {some} {most}");
    let wall = include_str!("../../corpus/wall-4.json");
    assert_eq!(solve(wall, 0.0), solve(wall, 1e-3));
}

/// From an impulse that is given it begins in the middle of the path; iterations are counted, and
/// no more are taken than are allowed.
#[test]
fn the_central_path_keeps_its_limits() {
    let problem = jam(&mut Random(3), 8, 12, Cone::Coulomb { mu: 0.8 });
    let [needed, near] = [0.0, 1.0].map(|share| {
        let mut r = vec![0.0; problem.size()];
        CentralPath::new(limits(1e-9, 2000))
            .solve(&problem, &mut r)
            .unwrap();
        r.iter_mut().for_each(|r| *r *= share * 1.01);
        let report = CentralPath::new(limits(1e-9, 2000))
            .solve(&problem, &mut r)
            .unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        report.iterations
    });
    assert!(near < needed, "{near} {needed}");
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
