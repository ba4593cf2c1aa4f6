//! Many contacts that resist spin and rolling: jams, and heaps of balls.

use super::jammed::jam;
use super::rolling::rolling;
use super::{interior, limits};
use crate::corpus::judge;
use crate::tools::Random;
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::*;
use pliant_sparse::PatternBuilder;

/// 200 problems of known solvability: the path solves them all, interior points end at a turning
/// point in seven of them.
#[test]
fn the_central_path_solves_jams() {
    let families = [
        (4, 6, [0.8, 0.2, 0.1]),
        (4, 12, [0.8, 0.2, 0.1]),
        (8, 12, [0.8, 0.1, 0.3]),
        (8, 24, [0.8, 0.8, 0.8]),
        (12, 30, [0.5, 0.0, 0.2]),
    ];
    let mut direct = 0;
    for (contacts, freedoms, [mu, torsion, arm]) in families {
        let mut random = Random(7);
        for case in 0..40 {
            let problem = jam(&mut random, contacts, freedoms, rolling(mu, torsion, arm));
            let mut r = vec![0.0; problem.size()];
            let report = CentralPath::new(limits(1e-9, 2000)).solve(&problem, &mut r);
            let report = report.unwrap();
            assert_eq!(
                report.outcome,
                Outcome::Converged,
                "{contacts} {freedoms} {case} {report:?}"
            );
            // The judge adds in another order than the solvers.
            assert!(
                judge::cones(&problem, &r) <= 1.001e-9,
                "{contacts} {freedoms} {case}"
            );
            r.fill(0.0);
            let report = interior(1e-9).solve(&problem, &mut r).unwrap();
            if report.outcome == Outcome::Converged {
                assert!(
                    judge::cones(&problem, &r) <= 1.001e-9,
                    "{contacts} {freedoms} {case}"
                );
                direct += 1;
            }
        }
    }
    assert!(direct >= 185, "{direct}");
}

/// Balls of radius 1/2 at the points of a lattice, which touch, in a box without a lid; they move
/// at random and fall. The system, and the velocities of its rows without impulses.
fn balls(random: &mut Random, [wide, deep, high]: [usize; 3]) -> (KktSystem, Vec<f64>) {
    let count = wide * deep * high;
    let at = |x: usize, y: usize, z: usize| (x * deep + y) * high + z;
    // Normal axis, the ball in whose direction it points, the other one.
    let mut contacts = Vec::new();
    for x in 0..wide {
        for y in 0..deep {
            for z in 0..high {
                let own = at(x, y, z);
                contacts.push((2, own, (z > 0).then(|| at(x, y, z - 1))));
                if x > 0 {
                    contacts.push((0, own, Some(at(x - 1, y, z))));
                }
                if y > 0 {
                    contacts.push((1, own, Some(at(x, y - 1, z))));
                }
            }
        }
    }
    let (n, m) = (6 * count, 6 * contacts.len());
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    (0..n).for_each(|i| w.insert(i, i));
    (0..m).for_each(|i| r.insert(i, i));
    for (c, (_, own, other)) in contacts.iter().enumerate() {
        for body in [Some(*own), *other].into_iter().flatten() {
            j.insert_block((6 * c, 6 * body), (6, 6), false);
        }
    }
    let [w, j, r] = [w, j, r].map(|p| p.finish().unwrap());
    let blocks = |n: usize| (0..=n).step_by(6).collect();
    let mut system = KktSystem::new(w, j, r, blocks(n), blocks(m)).unwrap();
    for body in 0..count {
        // A solid ball has the moment 2/5 m R^2.
        let mass = 1.0 + random.number().abs();
        for i in 0..6 {
            system.w.values_mut()[6 * body + i] = if i < 3 { mass } else { 0.1 * mass };
        }
    }
    let unit = |axis: usize| [0, 1, 2].map(|i| f64::from(u8::from(i == axis)));
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    for (c, (axis, own, other)) in contacts.iter().enumerate() {
        for (body, sign) in [(Some(*own), 1.0), (*other, -1.0)] {
            let Some(body) = body else { continue };
            // From the centre of the ball to the point of contact.
            let arm = unit(*axis).map(|x| -0.5 * sign * x);
            for row in 0..6 {
                let way = unit((axis + row) % 3);
                let (moves, turns) = if row < 3 {
                    (way, cross(arm, way))
                } else {
                    ([0.0; 3], way)
                };
                for i in 0..3 {
                    for (k, value) in [(i, moves[i]), (3 + i, turns[i])] {
                        let slot = system.j.pattern().slot(6 * c + row, 6 * body + k).unwrap();
                        system.j.values_mut()[slot] = sign * value;
                    }
                }
            }
        }
    }
    let mut v: Vec<f64> = random.numbers(n).iter().map(|x| 0.3 * x).collect();
    (0..count).for_each(|body| v[6 * body + 2] -= 1.0);
    let b = (0..m)
        .map(|i| (0..n).map(|k| system.j.get(i, k) * v[k]).sum())
        .collect();
    (system, b)
}

/// By dense entries and through the bodies. (Of the largest heap interior points leave the last
/// digit to Newton's method, and the path takes long.)
#[test]
fn heaps_of_balls_that_resist_rolling_are_solved() {
    let mut random = Random(11);
    for (sizes, arms, alone, path) in [
        ([1, 1, 6], [0.5, 0.02, 0.01], true, true),
        ([3, 3, 2], [0.5, 0.02, 0.01], true, true),
        ([3, 2, 4], [0.3, 0.1, 0.1], true, false),
        ([4, 4, 4], [0.5, 0.0, 0.005], false, false),
    ] {
        let (system, b) = balls(&mut random, sizes);
        let m = b.len();
        let rows: Vec<usize> = (0..m).collect();
        let boundaries: Vec<usize> = (0..=m).step_by(6).collect();
        let cones = vec![rolling(arms[0], arms[1], arms[2]); m / 6];
        let delassus = SaddleDelassus::new(&system, &rows, &boundaries).unwrap();
        let saddle = Problem::new(delassus, b.clone(), cones.clone()).unwrap();
        let mut a = vec![0.0; m * m];
        saddle.delassus().block(0..m, 0..m, &mut a);
        let dense = Problem::dense(&a, &b, &cones).unwrap();
        // Dense factors of the largest take seconds.
        for (what, problem) in [("bodies", &saddle), ("dense", &dense)]
            .into_iter()
            .take(1 + usize::from(alone))
        {
            let mut solvers: Vec<Box<dyn Solver>> = vec![Box::new(Auto::default())];
            if alone {
                solvers.push(Box::new(interior(1e-8)));
            }
            if path {
                solvers.push(Box::new(CentralPath::new(limits(1e-8, 3000))));
            }
            for mut solver in solvers {
                let mut r = vec![0.0; m];
                let report = solver.solve(problem, &mut r).unwrap();
                println!("{sizes:?} {what} {} {:?}", report.iterations, report.stages);
                assert_eq!(report.outcome, Outcome::Converged, "{sizes:?} {what} {report:?}");
                // The judge adds in another order than the solvers.
                assert!(
                    judge::cones(problem, &r) <= 1.001e-8,
                    "{sizes:?} {what} {report:?}"
                );
            }
        }
    }
}
