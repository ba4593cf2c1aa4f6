//! Changes of a problem that must not change its answer, and answers that must never come out.

use super::{UNILATERAL, limits, near, solve, solvers, takes_friction};
use crate::tools::{Random, definite};
use pliant_lab::ActiveSetQp;
use pliant_solvers::complementarity::*;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn times(a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks(x.len())
        .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}

/// Remembers what it was multiplied with.
#[derive(Debug)]
struct Watched {
    a: DenseDelassus,
    seen: std::sync::Arc<Mutex<Vec<Vec<f64>>>>,
}

impl Delassus for Watched {
    fn size(&self) -> usize {
        self.a.size()
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        self.seen.lock().unwrap().push(r.to_vec());
        self.a.rows_times(rows, r, out);
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        self.a.block(rows, columns, out);
    }
}

#[test]
fn the_active_set_never_climbs() {
    let mut random = Random(41);
    let mut falls = 0;
    for _ in 0..20 {
        let (n, a) = (8, definite(&mut random, 8));
        let b: Vec<f64> = random.numbers(n).iter().map(|b| 4.0 * b).collect();
        let mut cones = vec![UNILATERAL; n];
        (0..n / 2).for_each(|k| {
            cones[2 * k] = Cone::Box {
                lower: -0.2,
                upper: 0.3,
            }
        });
        let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
        let watched = Watched {
            a: DenseDelassus::new(&a).unwrap(),
            seen: seen.clone(),
        };
        let problem = Problem::new(watched, b.clone(), cones.clone()).unwrap();
        seen.lock().unwrap().clear();
        let mut r: Vec<f64> = random.numbers(n);
        let report = ActiveSetQp::new(limits(1e-12, 200))
            .solve(&problem, &mut r)
            .unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        let seen = seen.lock().unwrap();
        let energy = |r: &[f64]| -> f64 {
            let p = times(&a, r);
            (0..n).map(|i| r[i] * (0.5 * p[i] + b[i])).sum()
        };
        let inside = |r: &&Vec<f64>| {
            let mut p = (*r).clone();
            cones
                .iter()
                .enumerate()
                .for_each(|(k, c)| c.project(&mut p[k..=k]));
            p == **r
        };
        // Admissible iterates in their order; the start, which is not, is projected first.
        let energies: Vec<f64> = seen.iter().filter(inside).map(|r| energy(r)).collect();
        for pair in energies.windows(2) {
            assert!(pair[1] <= pair[0] + 1e-12 * (1.0 + pair[0].abs()), "{energies:?}");
            falls += usize::from(pair[1] < pair[0]);
        }
    }
    assert!(falls > 40, "{falls}");
}

#[test]
fn turned_tangents_turn_the_answer() {
    let mut random = Random(42);
    for _ in 0..5 {
        let cones = [Cone::Coulomb { mu: 0.4 }, UNILATERAL, Cone::Coulomb { mu: 0.2 }];
        let a = definite(&mut random, 7);
        let b = random.numbers(7);
        let mut turn = [0.0; 49];
        (0..7).for_each(|i| turn[8 * i] = 1.0);
        for (first, angle) in [(0, 0.7f64), (4, -2.1)] {
            let (s, c) = angle.sin_cos();
            for (i, k, x) in [(1, 1, c), (1, 2, -s), (2, 1, s), (2, 2, c)] {
                turn[7 * (first + i) + first + k] = x;
            }
        }
        let turned_a: Vec<f64> = (0..49)
            .map(|p| {
                let (i, k) = (p / 7, p % 7);
                (0..49)
                    .map(|q| turn[7 * i + q / 7] * a[q] * turn[7 * k + q % 7])
                    .sum()
            })
            .collect();
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let other = Problem::dense(&turned_a, &times(&turn, &b), &cones).unwrap();
        for (mut one, mut two) in solvers(1e-11).into_iter().zip(solvers(1e-11)) {
            if takes_friction(one.method()) && one.method() != Method::Lemke {
                let (r, first) = solve(one.as_mut(), &problem);
                let (s, second) = solve(two.as_mut(), &other);
                assert_eq!(
                    [first.outcome, second.outcome],
                    [Outcome::Converged; 2],
                    "{first:?} {second:?}"
                );
                near(&s, &times(&turn, &r), 1e-7);
            }
        }
    }
}

#[test]
fn the_order_and_the_unit_of_rows_do_not_matter() {
    let mut random = Random(43);
    for _ in 0..5 {
        let (n, a) = (6, definite(&mut random, 6));
        let b = random.numbers(n);
        let cones: Vec<Cone> = (0..n)
            .map(|k| {
                if k % 3 == 0 {
                    Cone::Box {
                        lower: -0.1,
                        upper: 0.4,
                    }
                } else {
                    UNILATERAL
                }
            })
            .collect();
        let order = [3, 0, 5, 1, 4, 2];
        // Velocities in cm/s.
        let other_a: Vec<f64> = (0..n * n)
            .map(|p| 100.0 * a[order[p / n] * n + order[p % n]])
            .collect();
        let other_b: Vec<f64> = order.iter().map(|k| 100.0 * b[*k]).collect();
        let other_cones: Vec<Cone> = order.iter().map(|k| cones[*k]).collect();
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let other = Problem::dense(&other_a, &other_b, &other_cones).unwrap();
        for (mut one, mut two) in solvers(1e-11).into_iter().zip(solvers(1e-11)) {
            let (r, first) = solve(one.as_mut(), &problem);
            let (s, second) = solve(two.as_mut(), &other);
            assert_eq!(
                [first.outcome, second.outcome],
                [Outcome::Converged; 2],
                "{first:?} {second:?}"
            );
            let expected: Vec<f64> = order.iter().map(|k| r[*k]).collect();
            near(&s, &expected, 1e-8);
        }
    }
}

#[test]
fn jamming_contacts_converge_only_to_coulombs_law() {
    // A_nn <= mu A_nt: one, none or three answers (Painlevé).
    let mu = 0.8;
    let (mut solved, mut not) = (0, 0);
    for along in [1.3, 2.0, 5.0] {
        let a = [1.0, along, along, along * along + 0.5];
        assert!(a[0] - mu * a[1] <= 0.0 && a[0] * a[3] > a[1] * a[2]);
        for (bn, bt) in [
            (-1.0, 1.0),
            (-1.0, -1.0),
            (-1.0, 4.0),
            (-0.1, -9.0),
            (0.2, 3.0),
            (0.2, -3.0),
            (0.0, 1.0),
        ] {
            let problem = Problem::dense(&a, &[bn, bt], &[Cone::PlanarCoulomb { mu }]).unwrap();
            for mut solver in solvers(1e-10) {
                if !takes_friction(solver.method()) {
                    continue;
                }
                let (r, report) = solve(solver.as_mut(), &problem);
                if report.outcome != Outcome::Converged {
                    not += 1;
                    continue;
                }
                solved += 1;
                let u = [bn + a[0] * r[0] + a[1] * r[1], bt + a[2] * r[0] + a[3] * r[1]];
                let size = 1e-7 * (1.0 + r[0].abs() * along * along);
                let separates = r[0].abs() <= size && r[1].abs() <= size && u[0] >= -size;
                let closed = r[0] >= -size && u[0].abs() <= size && r[1].abs() <= mu * r[0] + size;
                let friction = u[1].abs() <= size || (r[1] + mu * r[0] * u[1].signum()).abs() <= size;
                assert!(separates || (closed && friction), "{r:?} {u:?} {report:?}");
            }
        }
    }
    assert!(solved > 100 && not > 0, "{solved} {not}");
}

/// An operator whose products are NaN after some.
#[derive(Debug)]
struct Rotten(AtomicUsize, usize);

impl Delassus for Rotten {
    fn size(&self) -> usize {
        4
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        let bad = self.0.fetch_add(1, Ordering::Relaxed) > self.1;
        let sum: f64 = r.iter().sum();
        for (o, i) in out.iter_mut().zip(rows) {
            *o = if bad { f64::NAN } else { 1.5 * r[i] + 0.5 * sum };
        }
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        let width = columns.len();
        for (k, i) in rows.enumerate() {
            for (l, j) in columns.clone().enumerate() {
                out[k * width + l] = if i == j { 2.0 } else { 0.5 };
            }
        }
    }
}

#[test]
fn numbers_that_turn_bad_at_any_moment_never_get_out() {
    let cones = [Cone::Coulomb { mu: 0.5 }, UNILATERAL];
    for calls in [1, 2, 3, 5, 8, 13, 30] {
        for mut solver in solvers(0.0) {
            if takes_friction(solver.method()) {
                let problem = Problem::new(
                    Rotten(0.into(), calls),
                    vec![-1.0, 0.3, 0.2, -1.0],
                    cones.to_vec(),
                )
                .unwrap();
                let mut r = [0.0; 4];
                let report = solver.solve(&problem, &mut r).unwrap();
                assert_ne!(report.outcome, Outcome::Converged, "{report:?}");
                assert!(r.iter().all(|x| x.is_finite()), "{report:?} {r:?}");
            }
        }
    }
}

#[test]
fn numbers_at_the_end_of_their_range_never_make_a_false_claim() {
    let a = [2.0, 0.5, 0.2, 0.5, 1.0, 0.0, 0.2, 0.0, 1.5];
    for (size, speed) in [
        (1e200, 1e100),
        (1e-200, 1e-100),
        (1e150, 1e-150),
        (1e-150, 1e150),
        (1.0, 1e-300),
        (1.0, 1e300),
    ] {
        let scaled = a.map(|x| size * x);
        let b = [-speed, 0.4 * speed, 0.1 * speed];
        let problem = Problem::dense(&scaled, &b, &[Cone::Coulomb { mu: 0.3 }]).unwrap();
        for mut solver in solvers(1e-9) {
            if takes_friction(solver.method()) {
                let (r, report) = solve(solver.as_mut(), &problem);
                if report.outcome == Outcome::Converged {
                    // In units in which all numbers are near one.
                    let r: Vec<f64> = r.iter().map(|r| r / speed * size).collect();
                    let u: Vec<f64> = times(&a, &r)
                        .iter()
                        .zip([-1.0, 0.4, 0.1])
                        .map(|(u, b)| u + b)
                        .collect();
                    assert!(de_saxce(0.3, &r, &u, 1.0) < 1e-7, "{report:?} {r:?}");
                }
            }
        }
    }
}
