//! Friction in polygons and ellipses.

use super::scenes::{incline, tower};
use super::{UNILATERAL, near, solve, solvers};
use crate::tools::{INF, Random};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::*;
use pliant_sparse::PatternBuilder;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4, SQRT_2, TAU};

const UNIT: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// A mass of 1 kg pressed down with 1 N s and pushed with `push` N s.
fn block(push: [f64; 2], cone: Cone) -> Problem {
    Problem::dense(&UNIT, &[-1.0, push[0], push[1]], &[cone]).unwrap()
}

fn takes_pyramids(method: Method) -> bool {
    use Method::*;
    matches!(
        method,
        Jacobi | AcceleratedGradient | BarzilaiBorwein | Admm | ModulusSplitting | Lemke | Auto
    )
}

#[test]
fn a_block_pushed_between_the_tangents() {
    // Pushed with 3 N s at 45 degrees: the diamond holds mu N / sqrt(2) back, the circle mu N, the
    // box sqrt(2) mu N.
    let mu = 0.5;
    let push = [3.0 * FRAC_1_SQRT_2; 2];
    let diamond = Cone::Pyramid {
        mu,
        facets: 4,
        first: 0.0,
    };
    for (cone, holds) in [
        (diamond, mu * FRAC_1_SQRT_2),
        (Cone::Coulomb { mu }, mu),
        (Cone::friction_box(mu), mu * SQRT_2),
    ] {
        for mut solver in solvers(1e-9) {
            let circle = matches!(cone, Cone::Coulomb { .. });
            if !takes_pyramids(solver.method()) || (circle && solver.method() == Method::Lemke) {
                continue;
            }
            let (r, report) = solve(solver.as_mut(), &block(push, cone));
            assert_eq!(report.outcome, Outcome::Converged, "{cone:?} {report:?}");
            let along = -(r[1] + r[2]) * FRAC_1_SQRT_2;
            assert!((along - holds).abs() < 1e-7, "{cone:?} {along} {report:?}");
        }
    }
    // Along a tangent the box holds mu N, and so does the diamond.
    for cone in [diamond, Cone::friction_box(mu)] {
        let (r, _) = solve(&mut Auto::default(), &block([3.0, 0.1], cone));
        assert!((r[1] + mu).abs() < 1e-8, "{r:?}");
    }
}

#[test]
fn those_who_do_not_know_pyramids_say_so() {
    let problem = block([1.0, 0.0], Cone::friction_box(0.5));
    for mut solver in solvers(1e-9) {
        let method = solver.method();
        let found = solver.solve(&problem, &mut [0.0; 3]);
        if takes_pyramids(method) {
            assert!(found.is_ok(), "{found:?}");
        } else if super::takes_friction(method) {
            assert_eq!(
                found,
                Err(ProblemError::Pyramid {
                    solver: method,
                    block: 0
                })
            );
            let words = found.unwrap_err().to_string();
            assert!(words.contains(&format!("{method:?}")), "{words}");
        } else {
            assert!(matches!(found, Err(ProblemError::Unsuitable { block: 0, .. })));
        }
    }
    let refused = |cone| Problem::dense(&UNIT, &[0.0; 3], &[cone]).err();
    for mu in [-1.0, f64::NAN, INF] {
        let cone = Cone::Pyramid {
            mu,
            facets: 4,
            first: 0.0,
        };
        assert!(matches!(
            refused(cone),
            Some(ProblemError::Friction { block: 0, .. })
        ));
    }
    for (facets, first) in [(2, 0.0), (4, f64::NAN), (4, INF)] {
        let cone = Cone::Pyramid {
            mu: 0.5,
            facets,
            first,
        };
        assert!(matches!(refused(cone), Some(ProblemError::Option { .. })));
    }
}

#[test]
fn projections_and_shifts_are_those_of_all_corners() {
    // The nearest point of a pyramid is as near as any, and p - r is in its dual cone: against
    // every corner, not only those of the sector.
    let mut random = Random(31);
    for case in 0..400 {
        let (mu, facets, first) = (random.number().abs() * 2.0, 3 + case % 6, 7.0 * random.number());
        let cone = Cone::Pyramid { mu, facets, first };
        let corners: Vec<[f64; 3]> = (0..facets)
            .map(|l| {
                let (s, c) = (first + TAU * l as f64 / facets as f64).sin_cos();
                [1.0, mu * c, mu * s]
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let r: Vec<f64> = (0..3).map(|_| 2.0 * random.number()).collect();
        let mut p = r.clone();
        cone.project(&mut p);
        let polar: Vec<f64> = p.iter().zip(&r).map(|(p, r)| p - r).collect();
        // Moreau: p in K, p - r in K*, orthogonal; K is its own when projected again.
        assert!(
            corners.iter().all(|c| dot(&polar, c) > -1e-12),
            "{cone:?} {r:?} {p:?}"
        );
        assert!(dot(&polar, &p).abs() < 1e-12);
        let mut again = p.clone();
        cone.project(&mut again);
        near(&again, &p, 1e-12);
        // The shift: the largest work of friction on the slip, and the shifted velocity on the
        // boundary of K* for u_n = 0.
        let u = [0.0, r[1], r[2]];
        let worst = corners.iter().fold(f64::INFINITY, |a, c| a.min(dot(&u, c)));
        assert!((cone.shift(&u) + worst).abs() < 1e-12);
    }
}

#[test]
fn many_sides_are_a_circle() {
    // 64 sides: within 1 - cos(pi/64) = 1.2e-3 of the circle.
    let scene = incline(10.0, 0.0981, 0.6, 0.3);
    let (m, mut a) = (scene.size(), vec![0.0; 144]);
    scene.delassus().block(0..m, 0..m, &mut a);
    (0..m).for_each(|i| a[13 * i] += 1e-3);
    let pyramid = Cone::Pyramid {
        mu: 0.3,
        facets: 64,
        first: 0.1,
    };
    let many = Problem::dense(&a, scene.b(), &[pyramid; 4]).unwrap();
    let circle = Problem::dense(&a, scene.b(), scene.cones()).unwrap();
    let (r, one) = solve(&mut Auto::default(), &many);
    let (s, two) = solve(&mut Auto::default(), &circle);
    assert_eq!([one.outcome, two.outcome], [Outcome::Converged; 2]);
    near(&r, &s, 2e-3);
}

#[test]
fn a_stack_with_pyramids_converges_and_pivoting_agrees() {
    let scene = tower(3, 2.0, 0.3, 0.5);
    let (m, b) = (scene.size(), scene.b().to_vec());
    let mut a = vec![0.0; m * m];
    scene.delassus().block(0..m, 0..m, &mut a);
    (0..m).for_each(|i| a[i * (m + 1)] += 1e-2);
    let cones = vec![
        Cone::Pyramid {
            mu: 0.5,
            facets: 6,
            first: FRAC_PI_4
        };
        scene.blocks()
    ];
    let problem = Problem::dense(&a, &b, &cones).unwrap();
    let (exact, report) = solve(&mut Lemke::default(), &problem);
    assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
    for mut solver in solvers(1e-9) {
        // Jacobi needs more than its 20000 sweeps.
        if takes_pyramids(solver.method()) && solver.method() != Method::Jacobi {
            let (r, report) = solve(solver.as_mut(), &problem);
            assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
            near(&r, &exact, 1e-6);
        }
    }
}

#[test]
fn an_ellipse_is_a_circle_in_other_units() {
    // The block is pushed with (3, 4) N s on an ellipse of (0.2, 0.8). Slipping: r_t = -(M v)_t
    // with M = diag(0.04, 0.64)/|diag(0.2, 0.8) v|, where v is the velocity left.
    let pair = [0.2, 0.8];
    let problem = block([3.0, 4.0], Cone::Coulomb { mu: 9.0 });
    let elliptic = Elliptic::new(&problem, &[Some(pair)]).unwrap();
    for mut solver in solvers(1e-11) {
        if !super::takes_friction(solver.method()) || solver.method() == Method::Lemke {
            continue;
        }
        let (mut r, report) = solve(solver.as_mut(), &elliptic.problem);
        assert_eq!(report.outcome, Outcome::Converged, "{report:?}");
        elliptic.unscale(&mut r);
        let v = [3.0 + r[1], 4.0 + r[2]];
        let length = (pair[0] * v[0]).hypot(pair[1] * v[1]);
        near(&[r[0]], &[1.0], 1e-9);
        for i in 0..2 {
            assert!(
                (r[i + 1] + pair[i] * pair[i] * v[i] / length).abs() < 1e-9,
                "{r:?}"
            );
        }
        let mut again = r.clone();
        elliptic.scale(&mut again);
        elliptic.unscale(&mut again);
        near(&again, &r, 1e-15);
    }
    let refused = |pair| Elliptic::new(&problem, &[Some(pair)]).err();
    for mu in [0.0, -1.0, f64::NAN, INF] {
        assert!(matches!(refused([0.5, mu]), Some(ProblemError::Friction { .. })));
    }
    assert!(matches!(
        Elliptic::new(&problem, &[]),
        Err(ProblemError::Size { .. })
    ));
    let row = Problem::dense(&[1.0], &[1.0], &[UNILATERAL]).unwrap();
    assert!(matches!(
        Elliptic::new(&row, &[Some(pair)]),
        Err(ProblemError::Unsuitable { .. })
    ));
}

#[test]
fn ellipses_in_every_form_of_the_operator() {
    // Dense, sparse and saddle-point operators of two contacts, the second left as it is.
    let mut random = Random(5);
    let dense = |rows: usize, columns: usize, lower: bool| {
        let mut pattern = PatternBuilder::new(rows, columns);
        for (i, k) in (0..rows * columns).map(|p| (p / columns, p % columns)) {
            if !lower || (k <= i && k / 3 == i / 3) {
                pattern.insert(i, k);
            }
        }
        pattern.finish().unwrap()
    };
    let (w, j, r) = (dense(4, 4, true), dense(6, 4, false), dense(6, 6, true));
    let mut system = KktSystem::new(w, j, r, vec![0, 3, 4], vec![0, 3, 6]).unwrap();
    system.j.values_mut().copy_from_slice(&random.numbers(24));
    for (matrix, size) in [(&mut system.w, 4), (&mut system.r, 6)] {
        for i in 0..size {
            for slot in matrix.pattern().row_slots(i) {
                let k = matrix.pattern().indices()[slot] as usize;
                matrix.values_mut()[slot] = if i == k { 1.0 + 0.1 * i as f64 } else { 0.1 };
            }
        }
    }
    let b = random.numbers(6);
    let cones = [Cone::Coulomb { mu: 0.5 }; 2];
    let saddle = SaddleDelassus::new(&system, &[0, 1, 2, 3, 4, 5], &[0, 3, 6]).unwrap();
    let mut a = vec![0.0; 36];
    saddle.block(0..6, 0..6, &mut a);
    let blocks: Vec<(usize, usize, Vec<f64>)> = (0..4)
        .map(|k| {
            let mut values = vec![0.0; 9];
            saddle.block(
                3 * (k / 2)..3 * (k / 2) + 3,
                3 * (k % 2)..3 * (k % 2) + 3,
                &mut values,
            );
            (k / 2, k % 2, values)
        })
        .collect();
    let sparse = BlockSparse::new(&[3, 3], &blocks).unwrap();
    let problems = [
        Problem::dense(&a, &b, &cones).unwrap(),
        Problem::new(sparse, b.clone(), cones.to_vec()).unwrap(),
        Problem::new(saddle, b, cones.to_vec()).unwrap(),
    ];
    let (s, at) = ([1.0, 0.4, 0.7, 1.0, 1.0, 1.0], |i: usize, k: usize| a[6 * i + k]);
    for problem in problems {
        let elliptic = Elliptic::new(&problem, &[Some([0.4, 0.7]), None]).unwrap();
        assert_eq!(
            elliptic.problem.cones(),
            [Cone::Coulomb { mu: 1.0 }, Cone::Coulomb { mu: 0.5 }]
        );
        let mut found = vec![0.0; 36];
        elliptic.problem.delassus().block(0..6, 0..6, &mut found);
        let expected: Vec<f64> = (0..36).map(|p| s[p / 6] * s[p % 6] * at(p / 6, p % 6)).collect();
        near(&found, &expected, 1e-13);
        let (_, report) = solve(&mut Auto::default(), &elliptic.problem);
        assert_eq!(report.outcome, Outcome::Converged);
    }
}
