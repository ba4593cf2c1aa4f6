//! Saddle-point systems with cones: the operator, and the whole.

use super::{limits, near, solvers, takes_friction};
use crate::tools::{INF, Random};
use pliant_solvers::complementarity::*;
use pliant_solvers::{KktSystem, Solution, solve_dense};
use pliant_sparse::PatternBuilder;

/// Bodies of three unknowns in a row; a bilateral row between every two, a contact on every body.
/// Row blocks: links first, then contacts.
fn train(random: &mut Random, bodies: usize, compliance: f64) -> (KktSystem, Vec<Option<Cone>>) {
    let (n, links) = (3 * bodies, bodies - 1);
    let m = links + 3 * bodies;
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..bodies {
        w.insert_block((3 * k, 3 * k), (3, 3), true);
        j.insert_block((links + 3 * k, 3 * k), (3, 3), false);
        r.insert_block((links + 3 * k, links + 3 * k), (3, 3), true);
        if k > 0 {
            j.insert_block((k - 1, 3 * k - 3), (1, 6), false);
            r.insert(k - 1, k - 1);
        }
    }
    let rows = (0..=links).chain((1..=bodies).map(|k| links + 3 * k)).collect();
    let finish = |b: PatternBuilder| b.finish().unwrap();
    let blocks = (0..=bodies).map(|k| 3 * k).collect();
    let mut s = KktSystem::new(finish(w), finish(j), finish(r), blocks, rows).unwrap();
    for i in 0..n {
        for slot in s.w.pattern().row_slots(i) {
            let own = s.w.pattern().indices()[slot] as usize == i;
            s.w.values_mut()[slot] = if own {
                2.0 + random.number().abs()
            } else {
                0.3 * random.number()
            };
        }
        s.c[i] = random.number();
    }
    for value in s.j.values_mut() {
        *value = random.number();
    }
    for i in 0..m {
        let slot = s.r.pattern().slot(i, i).unwrap();
        s.r.values_mut()[slot] = compliance * (1.0 + random.number().abs());
        s.b[i] = 0.3 * random.number();
    }
    let mut cones = vec![None; links];
    cones.extend((0..bodies).map(|k| {
        Some(Cone::Coulomb {
            mu: 0.2 + 0.1 * (k % 3) as f64,
        })
    }));
    (s, cones)
}

/// The Delassus operator and its right-hand side by dense solves of the bilateral part.
fn dense_operator(s: &KktSystem, links: usize) -> (Vec<f64>, Vec<f64>) {
    let (n, m) = (s.n(), s.m());
    let entry = |a: &pliant_sparse::CsrMatrix, i: usize, k: usize| a.get(i.max(k), i.min(k));
    let w: Vec<f64> = (0..n * n).map(|x| entry(&s.w, x / n, x % n)).collect();
    let j: Vec<f64> = (0..links * n).map(|x| s.j.get(x / n, x % n)).collect();
    let r: Vec<f64> = (0..links).map(|i| s.r.get(i, i)).collect();
    let mut part = KktSystem::dense(&w, &j, &r).unwrap();
    part.c.copy_from_slice(&s.c);
    part.b.copy_from_slice(&s.b[..links]);
    let velocities = |x: &[f64]| -> Vec<f64> {
        let row = |i: usize| (0..n).map(|k| s.j.get(i, k) * x[k]).sum();
        (links..m).map(row).collect()
    };
    let mut b = velocities(&solve_dense(&part).unwrap().x);
    b.iter_mut().zip(&s.b[links..]).for_each(|(u, b)| *u += b);
    part.b.fill(0.0);
    let p = m - links;
    let mut a = vec![0.0; p * p];
    for k in 0..p {
        (0..n).for_each(|i| part.c[i] = s.j.get(links + k, i));
        let column = velocities(&solve_dense(&part).unwrap().x);
        for i in 0..p {
            a[i * p + k] = column[i]
                + if i == k {
                    s.r.get(links + i, links + i)
                } else {
                    0.0
                };
        }
    }
    (a, b)
}

#[test]
fn the_operator_is_the_dense_one() {
    let mut random = Random(11);
    for (bodies, compliance) in [(1, 0.0), (2, 0.1), (5, 0.0), (9, 1e-3)] {
        let (mut s, _) = train(&mut random, bodies, compliance);
        let links = bodies - 1;
        let rows: Vec<usize> = (links..s.m()).collect();
        let blocks: Vec<usize> = (0..=bodies).map(|k| 3 * k).collect();
        let mut operator = SaddleDelassus::new(&s, &rows, &blocks).unwrap();
        for _ in 0..2 {
            let (a, _) = dense_operator(&s, links);
            let p = rows.len();
            let mut found = vec![0.0; p * p];
            operator.block(0..p, 0..p, &mut found);
            near(&found, &a, 1e-11);
            // New values, the same pattern.
            s.j.values_mut().iter_mut().for_each(|x| *x *= 1.5);
            operator.update(&s).unwrap();
        }
    }
}

#[test]
fn redundant_bilateral_rows_do_not_disturb_the_operator() {
    // Two equal hard rows; one contact row.
    let w = [2.0, 0.0, 0.0, 3.0];
    let twice = KktSystem::dense(&w, &[1.0, -1.0, 1.0, -1.0, 0.0, 1.0], &[0.0; 3]).unwrap();
    let mut operator = SaddleDelassus::new(&twice, &[2], &[0, 1]).unwrap();
    let mut a = [0.0];
    operator.block(0..1, 0..1, &mut a);
    // The two masses move as one.
    assert!((a[0] - 0.2).abs() < 1e-12, "{a:?}");
    assert!(operator.update(&twice).is_ok());
    for (rows, blocks) in [
        (vec![3], vec![0, 1]),
        (vec![2, 2], vec![0, 2]),
        (vec![2], vec![0, 2]),
        (vec![2], vec![]),
    ] {
        assert!(SaddleDelassus::new(&twice, &rows, &blocks).is_err());
    }
}

#[test]
fn the_whole_system_holds_and_agrees_with_the_dense_problem() {
    let mut random = Random(12);
    for (bodies, compliance) in [(1, 0.0), (4, 1e-2), (6, 0.0)] {
        let (s, cones) = train(&mut random, bodies, compliance);
        let links = bodies - 1;
        let (a, b) = dense_operator(&s, links);
        let laws: Vec<Cone> = cones.iter().flatten().copied().collect();
        let problem = Problem::dense(&a, &b, &laws).unwrap();
        let mut solver = ConicSolver::default();
        solver.prepare(&s, &cones).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(&s, &mut solution).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
        assert!(report.linear.residual.relative < 1e-9);
        let mut u = vec![0.0; b.len()];
        let judged = problem.residual(&solution.mu[links..], &mut u);
        assert!(judged.measure() < 2e-9, "{judged:?}");
        // Stationarity by hand: W x - J^T mu = c.
        let mut rest = s.c.iter().map(|c| -c).collect::<Vec<_>>();
        s.w.symmetric_add_product(1.0, &solution.x, &mut rest);
        s.j.add_transpose_product(-1.0, &solution.mu, &mut rest);
        assert!(rest.iter().all(|x| x.abs() < 1e-9), "{rest:?}");
        // Again from the answer: nothing is left to do.
        let again = solver.solve(&s, &mut solution).unwrap();
        assert_eq!((again.outcome, again.cones.iterations), (Outcome::Converged, 0));
        for mut other in solvers(1e-9) {
            if takes_friction(other.method()) && other.method() != Method::Lemke {
                let mut mine = Solution::default();
                let report = solver.solve_with(other.as_mut(), &s, &mut mine).unwrap();
                if report.outcome == Outcome::Converged {
                    let mut v = vec![0.0; b.len()];
                    assert!(problem.residual(&mine.mu[links..], &mut v).measure() < 2e-9);
                }
            }
        }
    }
}

#[test]
fn bounds_of_the_system_count_and_may_change() {
    // A motor of limited force on a unit mass against a wall.
    let mut s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
    s.c[0] = 1.0;
    s.bounds[0] = (-0.25, 0.25);
    let mut solver = ConicSolver::default();
    for limit in [0.25, 0.5, 3.0] {
        s.bounds[0] = (-limit, limit);
        solver.prepare(&s, &[None, Some(Cone::NonNegative)]).unwrap();
        let mut solution = Solution::default();
        let report = solver.solve(&s, &mut solution).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        near(&solution.x, &[f64::max(1.0 - limit, 0.0)], 1e-8);
    }
    s.bounds[0] = (-INF, INF);
    solver.prepare(&s, &[None, Some(Cone::NonNegative)]).unwrap();
    let mut solution = Solution::default();
    solver.solve(&s, &mut solution).unwrap();
    near(&solution.x, &[0.0], 1e-12);
}

#[test]
fn what_does_not_fit_is_refused() {
    let s = KktSystem::dense(&[1.0], &[1.0], &[0.0]).unwrap();
    let mut solver = ConicSolver::default();
    let mut solution = Solution::default();
    assert!(solver.solve(&s, &mut solution).is_err());
    assert!(matches!(solver.prepare(&s, &[]), Err(ProblemError::Size { .. })));
    let cone = Some(Cone::Coulomb { mu: 0.5 });
    assert!(matches!(
        solver.prepare(&s, &[cone]),
        Err(ProblemError::Size { .. })
    ));
    let mut bad = s.clone();
    bad.w.values_mut()[0] = f64::NAN;
    assert!(solver.prepare(&bad, &[Some(Cone::NonNegative)]).is_err());
    assert!(solver.solve(&s, &mut solution).is_err());
    solver.prepare(&s, &[Some(Cone::NonNegative)]).unwrap();
    let mut bad = s.clone();
    bad.c[0] = f64::NAN;
    assert!(solver.solve(&bad, &mut solution).is_err());
}

#[test]
fn a_steady_state_allocates_nothing() {
    let mut random = Random(13);
    let (mut s, cones) = train(&mut random, 6, 1e-3);
    let mut solver = ConicSolver::default();
    let mut inner = InteriorPoint::new(limits(1e-8, 100));
    let mut solution = Solution::default();
    let mut cycle = |s: &KktSystem| {
        solver.prepare(s, &cones).unwrap();
        solution.mu.fill(0.0);
        solver.solve_with(&mut inner, s, &mut solution).unwrap()
    };
    cycle(&s);
    s.c.iter_mut().for_each(|c| *c *= 1.1);
    s.w.values_mut().iter_mut().for_each(|w| *w *= 1.01);
    cycle(&s);
    s.w.values_mut().iter_mut().for_each(|w| *w *= 1.01);
    let mut report = None;
    let info = allocation_counter::measure(|| report = Some(cycle(&s)));
    assert!(report.unwrap().cones.iterations > 0);
    assert_eq!(info.count_total, 0);
}
