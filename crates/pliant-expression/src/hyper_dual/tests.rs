//! Derivatives against differences and closed forms, and where there are none.

use super::HyperDual;
use crate::{ExpressionError, PointCurve, Program, Shape, Symbol};

fn program(text: &str) -> Program {
    let points = [(0.0, 0.0), (1.0, 2.0), (2.5, 1.0), (4.0, 3.0)];
    let spline = PointCurve::through(&points, Shape::NotAKnot).unwrap();
    let lines = PointCurve::through(&points, Shape::Lines).unwrap();
    let ring = [(0.0, 0.0), (1.0, 2.0), (2.0, -1.0), (3.0, 0.0)];
    let ring = PointCurve::through(&ring, Shape::Periodic).unwrap();
    let lookup = |name: &str| match name {
        "k" => Some(Symbol::from(3.0)),
        "spline" => Some(Symbol::Function(&spline)),
        "lines" => Some(Symbol::Function(&lines)),
        "ring" => Some(Symbol::Function(&ring)),
        _ => None,
    };
    let mut resolve = |reference: &crate::Reference| match reference.whole().as_str() {
        "x" => Ok(0),
        "a.y" => Ok(1),
        other => panic!("{other}"),
    };
    Program::observing(text, &lookup, &["k"], &[], &mut resolve).unwrap()
}

/// Value and derivatives along coordinates `i` and `j`.
fn at(program: &Program, x: [f64; 2], i: usize, j: usize) -> Result<HyperDual, ExpressionError> {
    let one = |c: usize, k: usize| f64::from(u8::from(c == k));
    let free: Vec<HyperDual> = (0..2)
        .map(|k| HyperDual {
            value: x[k],
            first: [one(i, k), one(j, k)],
            mixed: 0.0,
        })
        .collect();
    program.derivatives(&free)
}

#[test]
fn derivatives_are_those_of_differences() {
    let h = 1e-5;
    let close = |exact: f64, difference: f64, text: &str| {
        // Differences of second order, of functions of unit scale.
        let wrong = (exact - difference).abs();
        assert!(wrong < 2e-8 * (1.0 + exact.abs()), "{text}: {exact} {difference}");
    };
    for text in [
        "x",
        "3",
        "-x^2 + 2 * x * a.y / (x + 4) - a.y",
        "sin(x * a.y) * cos(x) + tan(0.3 * x * a.y)",
        "exp(-x * a.y) * log(2 + x) + sqrt(x + a.y) + log10(x * a.y)",
        "2^x + x^a.y + (x * a.y)^-0.5 + x^3 + x^1 + x^0 + a.y^2.5",
        "tanh(x - a.y) + abs(x - 9 * a.y)",
        "min(x, 5 * a.y) + max(2 * x, 0.1 * a.y) + min($k, x^2 * a.y)",
        "mod(3 * x * a.y, 2) + mod(-x * a.y, $k) - mod(7 * x, 2 + x * a.y)",
        "asin(x * a.y / 2) - acos(x^2 * a.y / 2) + atan(3 * x * a.y)",
        "sinh(x * a.y) * cosh(2 * x) + asinh(x * a.y) + acosh(1 + x * a.y) + atanh(x * a.y / 2)",
        "atan2(x^2, a.y - 3 * x) + hypot(x * a.y, 2 - x)",
        "sign(x) + step(a.y) + ceil(3 * x) + round(0.1 + x) + floor(a.y) + clamp(x^2 * a.y, 0, 1)",
        "clamp(x^2, 0, 0.3 * x * a.y) + clamp(x^2, 2 * x, 3) + clamp(x * a.y, -1, 9)",
        "smoothstep(0, 1, x * a.y) + smoothstep(0.1 * x, 1 + a.y, 2 * x) + smoothstep(2 * x, 3, 0)",
        "if(x < 1 and not a.y < 0, 3 * x^2 * a.y, 1 / (x - 0.7))",
        "if(x > 1 or a.y == 3, 1 / (x - 0.7), x * a.y^2)",
        "spline(x * a.y) + spline(7 * x) + lines(x) * a.y + ring(x * a.y) + ring(-3 * x - a.y)",
    ] {
        let program = program(text);
        let x = [0.7, 1.1];
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let exact = at(&program, x, i, j).unwrap();
            assert_eq!(exact.value, program.of(&x).unwrap(), "{text}");
            let moved = |s: f64| {
                let mut x = x;
                x[j] += s * h;
                at(&program, x, i, j).unwrap()
            };
            let (plus, minus) = (moved(1.0), moved(-1.0));
            close(exact.first[1], (plus.value - minus.value) / (2.0 * h), text);
            close(exact.mixed, (plus.first[0] - minus.first[0]) / (2.0 * h), text);
        }
    }
}

#[test]
fn derivatives_are_those_of_tables() {
    // A function, its first and its second derivative, by x.
    for [text, first, second] in [
        ["sqrt(x)", "0.5 / sqrt(x)", "-0.25 / x^1.5"],
        ["tan(x)", "1 / cos(x)^2", "2 * sin(x) / cos(x)^3"],
        ["asin(x)", "(1 - x^2)^-0.5", "x * (1 - x^2)^-1.5"],
        [
            "acosh(2 * x)",
            "2 / sqrt(4 * x^2 - 1)",
            "-8 * x / (4 * x^2 - 1)^1.5",
        ],
        ["tanh(x)", "1 / cosh(x)^2", "-2 * sinh(x) / cosh(x)^3"],
        ["log10(x)", "1 / (x * log(10))", "-1 / (x^2 * log(10))"],
        ["hypot(x, 2)", "x / sqrt(x^2 + 4)", "4 / (x^2 + 4)^1.5"],
        ["atan2(x, 2)", "2 / (x^2 + 4)", "-4 * x / (x^2 + 4)^2"],
        ["x^x", "x^x * (log(x) + 1)", "x^x * ((log(x) + 1)^2 + 1 / x)"],
    ] {
        for x in [0.55, 0.7, 0.9] {
            let found = at(&program(text), [x, 0.0], 0, 0).unwrap();
            for (found, wanted) in [(found.first[0], first), (found.mixed, second)] {
                let wanted = program(wanted).of(&[x, 0.0]).unwrap();
                assert!(
                    (found - wanted).abs() < 1e-13 * (1.0 + wanted.abs()),
                    "{text}: {found} {wanted}"
                );
            }
        }
    }
}

#[test]
fn places_without_a_derivative_are_errors() {
    for (text, x, message, at_bytes) in [
        ("2 * abs(x)", [0.0, 0.0], "`abs` has no derivative at zero", 4..10),
        ("sqrt(x)", [0.0, 0.0], "infinite", 0..7),
        ("x^1.5", [0.0, 0.0], "infinite", 0..5),
        ("sqrt(x - 1)", [0.0, 0.0], "NaN", 0..11),
        ("1 + 1 / x", [0.0, 0.0], "division by zero", 8..9),
        ("min(x, a.y)", [1.0, 1.0], "`min` has no derivative", 0..11),
        ("max(x, 2 * x)", [0.0, 0.0], "`max` has no derivative", 0..13),
        (
            "floor(2 * x)",
            [1.5, 0.0],
            "`floor` has no derivative at whole",
            0..12,
        ),
        ("ceil(x)", [2.0, 0.0], "`ceil`", 0..7),
        ("round(x)", [2.5, 0.0], "`round`", 0..8),
        ("sign(x) + step(a.y)", [1.0, 0.0], "`step`", 10..19),
        ("sign(x)", [0.0, 0.0], "`sign`", 0..7),
        ("mod(x, 2)", [4.0, 0.0], "`mod`", 0..9),
        ("atan2(x, a.y)", [0.0, -1.0], "half a turn", 0..13),
        ("atan2(x, a.y)", [0.0, 0.0], "both numbers are zero", 0..13),
        ("hypot(x, a.y)", [0.0, 0.0], "both numbers are zero", 0..13),
        ("clamp(x, -1, 2)", [2.0, 0.0], "`clamp`", 0..15),
        ("clamp(x, 2, 1)", [2.0, 0.0], "nothing is between", 0..14),
        ("a.y^x", [1.0, 0.0], "positive base", 0..5),
        ("lines(x)", [1.0, 0.0], "no derivative at 1", 0..8),
        ("spline(x)", [4.0, 0.0], "no derivative at 4", 0..9),
        ("if(x > 0, x, 2 * x)", [0.0, 0.0], "`if` switches", 0..9),
        ("if(x > 0, x, 1 + x)", [0.0, 0.0], "`if` switches", 0..9),
        ("if(x > 0 and a.y > 0, x, 0)", [0.0, 1.0], "`if` switches", 0..21),
        (
            "if(not x >= 0 or a.y > 0, x, 0)",
            [0.0, -1.0],
            "`if` switches",
            0..25,
        ),
        ("if(x == 0, 1, sin(x) / x)", [0.0, 0.0], "`if` switches", 0..10),
        ("exp(1000 * x)", [1.0, 0.0], "inf", 0..13),
    ] {
        let program = program(text);
        let both = [(0, 0), (1, 1)].map(|(i, j)| at(&program, x, i, j));
        let error = both.into_iter().find_map(Result::err);
        let error = error.unwrap_or_else(|| panic!("{text} has a derivative"));
        assert!(error.message.contains(message), "{text}: {}", error.message);
        assert_eq!(error.range, at_bytes, "{text}");
    }
}

#[test]
fn both_sides_with_one_slope_have_a_derivative() {
    for (text, x, first) in [
        ("if(x > 0, x^2, 0)", 0.0, 0.0),
        ("if(x < 1, x^2, 2 * x - 1)", 1.0, 2.0),
        ("abs(x) * x", 1.0, 2.0),
        ("max(x^2, 2 * x - 1)", 1.0, 2.0),
        ("smoothstep(0, 1, x)", 1.0, 0.0),
        // A condition that stays as it is, whatever the other one does.
        ("if(x > 0 and a.y > 1, x, 3 * x)", 0.0, 3.0),
        ("if(x > 0 or a.y < 1, x, 3 * x)", 0.0, 1.0),
        // What does not change has no derivative to miss.
        ("sqrt(0) * x + abs(0) + floor(2) + x^0", 0.0, 0.0),
        ("spline(x)", 1.0, program("spline(x)").jet_of(&[1.0, 0.0]).rate),
        ("ring(x)", 3.0, program("ring(x)").jet_of(&[3.0, 0.0]).rate),
    ] {
        let found = at(&program(text), [x, 0.0], 0, 0).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!((found.first[0] - first).abs() < 1e-12, "{text}: {found:?}");
    }
}

#[test]
fn deep_expressions_take_a_larger_stack() {
    let deep = "x + (".repeat(40) + "x * a.y" + &")".repeat(40);
    let found = at(&program(&deep), [2.0, 3.0], 0, 1).unwrap();
    assert_eq!((found.value, found.first, found.mixed), (86.0, [43.0, 2.0], 1.0));
}
