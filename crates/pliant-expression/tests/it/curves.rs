//! Curves through points, against cubics and solutions by hand.

use pliant_expression::{CurveError, PointCurve, Program, Shape, Symbol, TIME};

/// Points of a function, unevenly apart.
fn points(f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    [-1.0, -0.2, 0.5, 0.9, 2.0, 3.5].map(|x| (x, f(x))).to_vec()
}

#[test]
fn a_cubic_is_found_again() {
    let f = |x: f64| 2.0 - 3.0 * x + 0.5 * x * x - 0.25 * x.powi(3);
    let slope = |x: f64| -3.0 + x - 0.75 * x * x;
    let curve = PointCurve::through(&points(f), Shape::NotAKnot).unwrap();
    for k in 0..=90 {
        let x = -1.0 + f64::from(k) * 0.05 - 1e-9;
        if x < -1.0 {
            continue;
        }
        let (value, rate) = curve.at(x);
        assert!((value - f(x)).abs() < 1e-13, "{x}: {value} {}", f(x));
        assert!((rate - slope(x)).abs() < 1e-12, "{x}: {rate} {}", slope(x));
    }
    // A parabola through three points, a line through two.
    let three = [(0.0, 1.0), (1.0, 2.0), (3.0, 10.0)];
    let (value, rate) = PointCurve::through(&three, Shape::NotAKnot).unwrap().at(2.0);
    assert!((value - 5.0).abs() < 1e-14 && (rate - 4.0).abs() < 1e-14);
    for shape in [Shape::Lines, Shape::Natural, Shape::NotAKnot, Shape::Monotone] {
        let (value, rate) = PointCurve::through(&three[..2], shape).unwrap().at(0.25);
        assert!(
            (value - 1.25).abs() < 1e-15 && (rate - 1.0).abs() < 1e-15,
            "{shape:?}"
        );
    }
}

#[test]
fn curvature_is_continuous_where_it_is_to_be() {
    let f = |x: f64| (2.0 * x).sin() + x;
    for shape in [Shape::Natural, Shape::NotAKnot, Shape::Periodic] {
        let mut points = points(f);
        points[5].1 = points[0].1;
        let curve = PointCurve::through(&points, shape).unwrap();
        let h = 1e-5;
        let bend = |x: f64| (curve.at(x + h).1 - curve.at(x - h).1) / (2.0 * h);
        for (x, y) in &points[1..5] {
            assert!((curve.at(*x).0 - y).abs() < 1e-14, "{shape:?}");
            let jump = curve.at(*x).1 - curve.at(x - 1e-9).1;
            assert!(jump.abs() < 1e-6, "{shape:?} at {x}: {jump}");
            let (before, after) = (bend(x - 2.0 * h), bend(x + 2.0 * h));
            assert!(
                (before - after).abs() < 2e-3,
                "{shape:?} at {x}: {before} {after}"
            );
        }
        let ends = [bend(-1.0 + 2.0 * h), bend(3.5 - 2.0 * h)];
        match shape {
            Shape::Natural => assert!(ends.iter().all(|bend| bend.abs() < 1e-3), "{ends:?}"),
            Shape::Periodic => {
                assert!((ends[0] - ends[1]).abs() < 2e-3, "{ends:?}");
                let jump = curve.at(-1.0).1 - curve.at(3.5 - 1e-9).1;
                assert!(jump.abs() < 1e-6, "{jump}");
                for (a, b) in [(0.3, 4.8), (-1.0, 3.5), (2.9, 2.9 - 9.0)] {
                    let off = [curve.at(a).0 - curve.at(b).0, curve.at(a).1 - curve.at(b).1];
                    assert!(off.iter().all(|off| off.abs() < 1e-13), "{a} {b}: {off:?}");
                }
            }
            _ => {}
        }
    }
    // By hand: 4 m = -12.
    let natural = PointCurve::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)], Shape::Natural).unwrap();
    assert!((natural.at(0.5).0 - 0.6875).abs() < 1e-15 && (natural.at(0.5).1 - 1.125).abs() < 1e-15);
}

#[test]
fn monotone_points_have_monotone_curves() {
    // By hand: slopes 0 at the ends of a parabola, 2/(1/1 + 1/3) = 3/2 between.
    let curve = PointCurve::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)], Shape::Monotone).unwrap();
    let (value, rate) = curve.at(1.0);
    assert!((value - 1.0).abs() < 1e-15 && (rate - 1.5).abs() < 1e-15);
    assert!((curve.at(0.5).0 - 0.3125).abs() < 1e-15);
    let steps = [(0.0, 0.0), (1.0, 0.0), (1.1, 5.0), (2.0, 5.0), (4.0, 5.1)];
    let (monotone, natural) = (
        PointCurve::through(&steps, Shape::Monotone).unwrap(),
        PointCurve::through(&steps, Shape::Natural).unwrap(),
    );
    let values = |curve: &PointCurve| {
        (0..=400)
            .map(|k| curve.at(0.01 * f64::from(k)).0)
            .collect::<Vec<_>>()
    };
    assert!(values(&monotone).windows(2).all(|w| w[1] >= w[0] - 1e-12));
    assert!(values(&natural).windows(2).any(|w| w[1] < w[0] - 0.01));
}

#[test]
fn straight_lines_are_constant_beyond_their_ends() {
    let curve = PointCurve::through(&[(0.0, 1.0), (2.0, 5.0), (3.0, 4.0)], Shape::Lines).unwrap();
    for (x, value, rate) in [
        (-1.0, 1.0, 0.0),
        (0.0, 1.0, 2.0),
        (1.0, 3.0, 2.0),
        (2.0, 5.0, -1.0),
        (3.0, 4.0, 0.0),
    ] {
        assert_eq!(curve.at(x), (value, rate), "{x}");
    }
    let lookup = |name: &str| (name == "gait").then_some(Symbol::Function(&curve));
    let program = Program::parse("gait(2 * $t)^2 + gait(1)", &lookup, &[], TIME).unwrap();
    let jet = program.jet(0.25);
    // (1 + 2 * 0.5)^2 + 3, and 2 * 2 * 2 * 2.
    assert_eq!((jet.value, jet.rate), (7.0, 16.0));
    assert_eq!(
        PointCurve::through(&[(1.0, 7.0)], Shape::Lines).unwrap().at(3.0),
        (7.0, 0.0)
    );
}

#[test]
fn points_that_make_no_curve_are_named() {
    let through = |points: &[(f64, f64)], shape| PointCurve::through(points, shape).unwrap_err();
    assert_eq!(
        through(&[], Shape::Lines),
        CurveError::Few { found: 0, needed: 1 }
    );
    assert_eq!(
        through(&[(0.0, 1.0); 3], Shape::Periodic),
        CurveError::Few { found: 3, needed: 4 }
    );
    let order = through(&[(0.0, 1.0), (1.0, 2.0), (1.0, 3.0)], Shape::Natural);
    assert_eq!(order, CurveError::Order { point: 2 });
    let bad = through(&[(0.0, 1.0), (1.0, f64::NAN)], Shape::Lines);
    assert_eq!(bad, CurveError::NotFinite { point: 1 });
    let range = through(&[(0.0, -1e308), (1e-300, 1e308)], Shape::Lines);
    assert_eq!(range, CurveError::Range { point: 0 });
    let ends = through(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 0.0)], Shape::Periodic);
    assert_eq!(
        ends,
        CurveError::Ends {
            first: 1.0,
            last: 0.0
        }
    );
}
