//! Contacts that resist spin and rolling.

use super::random::planted;
use super::{interior, limits, near, solve, solvers, takes_friction};
use crate::tools::{Random, definite};
use pliant_solvers::complementarity::*;

const PARTS: [std::ops::Range<usize>; 3] = [1..3, 3..4, 4..6];

fn size(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(super) fn rolling(mu: f64, torsion: f64, rolling: f64) -> Cone {
    Cone::Rolling { mu, torsion, rolling }
}

/// A ball of mass `m` and radius `R` on the floor z = 0 with moments in units of `R`: the response
/// of `(v_z, v_x, v_y, R w_z, R w_x, R w_y)` at the point of contact, from the equations of a free
/// body. The point is at `(0, 0, -R)`: `v_x - R w_y`, `v_y + R w_x`.
fn ball(m: f64) -> [f64; 36] {
    let mut a = [0.0; 36];
    let mut set = |i: usize, k: usize, x: f64| a[6 * i + k] = x / m;
    for (i, x) in [1.0, 3.5, 3.5, 2.5, 2.5, 2.5].into_iter().enumerate() {
        set(i, i, x);
    }
    set(1, 5, -2.5);
    set(5, 1, -2.5);
    set(2, 4, 2.5);
    set(4, 2, 2.5);
    a
}

#[test]
fn projections_and_shifts_are_those_of_the_cone() {
    let mut random = Random(41);
    for case in 0..500 {
        let mut arm = |zero: bool| if zero { 0.0 } else { 2.0 * random.number().abs() };
        let arms = [arm(case % 7 == 0), arm(case % 5 == 0), arm(case % 3 == 0)];
        let cone = rolling(arms[0], arms[1], arms[2]);
        let r: Vec<f64> = (0..6).map(|_| 2.0 * random.number()).collect();
        let mut p = r.clone();
        cone.project(&mut p);
        // Moreau: p in K, q = p - r in its dual, orthogonal.
        let q: Vec<f64> = p.iter().zip(&r).map(|(p, r)| p - r).collect();
        let mut shift = 0.0;
        for (mu, i) in arms.iter().zip(PARTS) {
            assert!(size(&p[i.clone()]) <= mu * p[0] + 1e-13, "{cone:?} {r:?} {p:?}");
            shift += mu * size(&q[i]);
        }
        assert!(p[0] >= 0.0 && q[0] >= shift - 1e-13, "{cone:?} {r:?} {p:?}");
        let dot: f64 = p.iter().zip(&q).map(|(p, q)| p * q).sum();
        assert!(dot.abs() < 1e-12, "{cone:?} {r:?} {p:?}");
        assert!((cone.shift(&q) - shift).abs() < 1e-13);
    }
}

#[test]
fn answers_that_were_chosen_are_found_by_all_that_take_them() {
    let mut random = Random(42);
    for case in 0..20 {
        let all = [
            rolling(0.3, 0.1, 0.05),
            rolling(0.5, 0.0, 0.2),
            Cone::Coulomb { mu: 0.4 },
            rolling(0.0, 0.1, 0.0),
            Cone::NonNegative,
        ];
        let mut cones = vec![all[0]];
        cones.extend((0..case % 5).map(|_| all[random.below(5)]));
        let (a, b, r, u) = planted(&mut random, &cones);
        let problem = Problem::dense(&a, &b, &cones).unwrap();
        let mut scratch = vec![0.0; r.len()];
        assert!(problem.residual(&r, &mut scratch).measure() < 1e-14);
        near(&scratch, &u, 1e-13);
        for mut solver in solvers(1e-10) {
            let method = solver.method();
            if takes_friction(method) && method != Method::Lemke {
                let (found, report) = solve(solver.as_mut(), &problem);
                assert_eq!(report.outcome, Outcome::Converged, "{case} {report:?}");
                // Weakly coupled contacts have one answer.
                near(&found, &r, 1e-7);
            }
        }
    }
}

#[test]
fn those_who_do_not_know_rolling_say_so() {
    let problem = Problem::dense(
        &ball(1.0),
        &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        &[rolling(0.5, 0.1, 0.1)],
    )
    .unwrap();
    for mut solver in solvers(1e-9) {
        let method = solver.method();
        let found = solver.solve(&problem, &mut [0.0; 6]);
        let refuses = !takes_friction(method);
        match found {
            Err(ProblemError::Unsuitable { block: 0, .. }) => assert!(refuses, "{method:?}"),
            other => assert!(other.is_ok() && !refuses, "{method:?} {other:?}"),
        }
    }
    for arms in [[-1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0], [0.0, 0.0, f64::INFINITY]] {
        let cone = rolling(arms[0], arms[1], arms[2]);
        let made = Problem::dense(&ball(1.0), &[0.0; 6], &[cone]);
        assert!(
            matches!(made, Err(ProblemError::Friction { block: 0, .. })),
            "{cone:?}"
        );
    }
}

#[test]
fn a_ball_rolls_spins_and_is_held() {
    let (m, push) = (2.0, 3.0);
    let (mu, torsion, arm) = (0.5, 0.02, 0.01);
    let cone = rolling(mu, torsion, arm);
    let a = ball(m);
    // Pressed down with `push`; moves with `v` along x and rolls with it or not; spins.
    let cases = [
        // It rolls on: M = arm N against R w_y, and friction keeps v = R w_y: (3.5 m) dv = -arm N
        // with moments in units of R.
        (
            [2.0, 2.0, 5.0],
            [
                -arm * push / (1.4 * m),
                -arm * push / (1.4 * m),
                -2.5 * torsion * push / m,
            ],
        ),
        // Too slow for that: it is held.
        (
            [0.5 * arm * push / (1.4 * m), 0.5 * arm * push / (1.4 * m), 0.0],
            [-0.5 * arm * push / (1.4 * m), -0.5 * arm * push / (1.4 * m), 0.0],
        ),
        // It slides: all three slip.
        (
            [4.0, 1.0, -0.01],
            [-mu * push / m, 2.5 * (mu - arm) * push / m, 0.01],
        ),
    ];
    for (start, change) in cases {
        let [v, w, spin] = start;
        // u = (v_z, v_x - R w_y, v_y + R w_x, R w_z, R w_x, R w_y) before.
        let b = [-push / m, v - w, 0.0, spin, 0.0, w];
        let problem = Problem::dense(&a, &b, &[cone]).unwrap();
        for mut solver in solvers(1e-11) {
            let method = solver.method();
            if !takes_friction(method) {
                continue;
            }
            let (r, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{start:?} {report:?}");
            near(&[r[0]], &[push], 1e-8);
            // v = impulse / m, R w_y = 2.5 (moment - tangential)/m in units of R.
            let found = [r[1] / m, 2.5 * (r[5] - r[1]) / m, 2.5 * r[3] / m];
            near(&found, &change, 1e-8);
        }
        // One block is exact.
        let mut r = [0.0; 6];
        assert!(solve_block(&cone, &a, &b, &mut r));
        near(
            &[r[1] / m, 2.5 * (r[5] - r[1]) / m, 2.5 * r[3] / m],
            &change,
            1e-14,
        );
    }
}

#[test]
fn one_block_is_solved_to_rounding() {
    let mut random = Random(43);
    let mut found = 0;
    for case in 0..300 {
        let a = if case % 2 == 0 {
            definite(&mut random, 6)
        } else {
            // As strongly coupled as bodies are, of any condition.
            let g = random.numbers(42);
            let dot = |i: usize, k: usize| (0..7).map(|l| g[7 * i + l] * g[7 * k + l]).sum();
            (0..36).map(|l| dot(l / 6, l % 6)).collect()
        };
        let b: Vec<f64> = (0..6)
            .map(|i| {
                if i == 0 {
                    -random.number().abs()
                } else {
                    3.0 * random.number()
                }
            })
            .collect();
        let cone = rolling(
            0.4 * random.number().abs(),
            0.3 * random.number().abs(),
            0.2 * random.number().abs(),
        );
        let mut r = [0.0; 6];
        if solve_block(&cone, &a, &b, &mut r) {
            found += 1;
            let problem = Problem::dense(&a, &b, &[cone]).unwrap();
            let measure = problem.residual(&r, &mut [0.0; 6]).measure();
            // Impulses are up to 100 times what velocities ask for: the rounding of A r.
            assert!(measure < 1e-11, "{case} {measure:e} {cone:?}");
        }
    }
    // Strong coupling may leave a block without a solution, or with one that is not found.
    assert!(found >= 297, "{found}");
}

#[test]
fn without_arms_it_is_coulomb_and_units_do_not_count() {
    let mut random = Random(44);
    for _ in 0..20 {
        let a = definite(&mut random, 6);
        let b: Vec<f64> = (0..6)
            .map(|i| if i == 0 { -1.0 } else { 2.0 * random.number() })
            .collect();
        let mut plain = [0.0; 3];
        let three: Vec<f64> = (0..9).map(|l| a[6 * (l / 3) + l % 3]).collect();
        assert!(solve_block(
            &Cone::Coulomb { mu: 0.3 },
            &three,
            &b[..3],
            &mut plain
        ));
        let mut r = [0.0; 6];
        assert!(solve_block(&rolling(0.3, 0.0, 0.0), &a, &b, &mut r));
        near(&r[..3], &plain, 1e-13);
        assert_eq!(r[3..], [0.0; 3]);
        // Moments in other units: r_s = m_s / l, u_s = l w_s.
        let (l, unit) = (3.0, [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]);
        assert!(solve_block(&rolling(0.3, 0.2, 0.1), &a, &b, &mut r));
        let scaled: Vec<f64> = (0..36).map(|k| a[k] * unit[k / 6] * unit[k % 6]).collect();
        let other: Vec<f64> = (0..6).map(|i| b[i] * unit[i]).collect();
        let mut s = [0.0; 6];
        assert!(solve_block(
            &rolling(0.3, 0.2 / l, 0.1 / l),
            &scaled,
            &other,
            &mut s
        ));
        (0..6).for_each(|i| s[i] *= unit[i]);
        near(&r, &s, 1e-12);
    }
}

/// A ball that rolls along x with the speed of its surface is held up to the speed at which it
/// takes all of the arm, `arm N/(1.4 m)`, and keeps what is beyond it: no jump where the law
/// changes.
#[test]
fn interior_points_find_the_limit_of_rest() {
    let (m, push, arm) = (2.0, 3.0, 0.01);
    let limit = arm * push / (1.4 * m);
    for share in [0.5, 1.0 - 1e-6, 1.0, 1.0 + 1e-6, 2.0] {
        let speed = share * limit;
        let b = [-push / m, 0.0, 0.0, 0.0, 0.0, speed];
        let problem = Problem::dense(&ball(m), &b, &[rolling(0.5, 0.02, arm)]).unwrap();
        let solvers: [Box<dyn Solver>; 2] = [
            Box::new(interior(1e-11)),
            Box::new(CentralPath::new(limits(1e-11, 2000))),
        ];
        for mut solver in solvers {
            let (r, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{share} {report:?}");
            // R w_y after, with friction that keeps it rolling.
            let left = speed + 2.5 * (r[5] - r[1]) / m;
            let expected = (speed - limit).max(0.0);
            assert!((left - expected).abs() < 1e-10, "{share} {left:e} {expected:e}");
            assert!((r[5] + 1.4 * m * speed.min(limit)).abs() < 1e-10, "{share} {r:?}");
        }
    }
}

/// A disc that spins on the floor about its axis, which is all that it can do:
/// `w' = w - torsion N/I`, until it stands; other parts have no arm, or no freedom.
#[test]
fn interior_points_stop_a_disc_that_spins() {
    let (push, torsion, inertia) = (3.0, 0.05, 0.2);
    for (mu, arm) in [(0.0, 0.0), (0.4, 0.0), (0.4, 0.1)] {
        for (spin, torque) in [
            (2.0, -torsion * push),
            (-2.0, torsion * push),
            (0.3, -0.3 * inertia),
        ] {
            let mut a = [0.0; 36];
            (a[0], a[21]) = (1.0, 1.0 / inertia);
            let b = [-push, 0.0, 0.0, spin, 0.0, 0.0];
            let problem = Problem::dense(&a, &b, &[rolling(mu, torsion, arm)]).unwrap();
            let solvers: [Box<dyn Solver>; 2] = [
                Box::new(interior(1e-11)),
                Box::new(CentralPath::new(limits(1e-11, 2000))),
            ];
            for mut solver in solvers {
                // From where parts without an arm push.
                let mut r = [1.0; 6];
                let report = solver.solve(&problem, &mut r).unwrap();
                assert_eq!(report.outcome, Outcome::Converged, "{mu} {arm} {spin} {report:?}");
                assert!(
                    (r[0] - push).abs() < 1e-9 && (r[3] - torque).abs() < 1e-9,
                    "{r:?}"
                );
            }
        }
    }
}
