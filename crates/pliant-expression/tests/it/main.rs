//! Functions, choices and units of expressions, against known values.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod curves;

use pliant_expression::{Condition, Dimension, ExpressionError, Program, Symbol, TIME, constant, parameters};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-15 * expected.abs().max(1.0)
}

#[test]
fn functions_have_their_known_values() {
    let pi = std::f64::consts::PI;
    for (text, expected) in [
        ("asin(0.5)", pi / 6.0),
        ("acos(0.5)", pi / 3.0),
        ("atan(1)", pi / 4.0),
        ("atan2(1, -1)", 0.75 * pi),
        ("atan2(-1, 0)", -0.5 * pi),
        ("hypot(3, -4)", 5.0),
        ("sinh(log(2))", 0.75),
        ("cosh(log(2))", 1.25),
        ("tanh(log(2))", 0.6),
        ("asinh(0.75) / log(2)", 1.0),
        ("acosh(1.25) / log(2)", 1.0),
        ("atanh(0.6) / log(2)", 1.0),
        ("log10(1000)", 3.0),
        ("ceil(-1.5) + ceil(1.5)", 1.0),
        ("round(2.5) + 10 * round(-2.5)", -27.0),
        ("sign(-3) + sign(0) + 10 * sign(0.1)", 9.0),
        ("step(-1e-9) + 2 * step(0) + 4 * step(3)", 6.0),
        ("clamp(5, 1, 2) + clamp(-5, 1, 2) + clamp(1.5, 1, 2)", 4.5),
        ("smoothstep(0, 4, 1)", 0.156_25),
        ("smoothstep(1, 2, 0) + 2 * smoothstep(1, 2, 3)", 2.0),
        ("if(1 < 2, 10, 20)", 10.0),
        ("if(not 1 < 2 or 2 != 2, 10, 20)", 20.0),
        ("if(2 >= 2 and 2 == 2, 10, 20)", 10.0),
        // The other way has no value.
        ("if(0 == 0, 1, 1 / 0)", 1.0),
        ("if(0 != 0, sqrt(-1), 2)", 2.0),
        ("if(1 > 2, 1, if(3 > 2, 2, 1/0)) + 1", 3.0),
    ] {
        let found = constant(text).unwrap_or_else(|e| panic!("{text}: {}", e.message));
        assert!(close(found, expected), "{text}: {found} {expected}");
    }
}

#[test]
fn wrong_expressions_point_at_the_place() {
    for (text, message, range) in [
        ("1 < 2", "this is a condition, and a number is needed", 0..5),
        ("2 * (1 < 2)", "a number is needed", 4..11),
        ("if(1, 2, 3)", "a condition is needed", 3..4),
        ("if(1 < 2, 3)", "`if` takes a condition and two numbers", 2..12),
        ("if(1 < 2)", "`if` takes a condition and two numbers", 2..9),
        (
            "if(1 < 2, 3, 4, 5)",
            "`if` takes a condition and two numbers",
            14..15,
        ),
        ("if 1 < 2", "needs its argument in parentheses", 0..2),
        ("if(1 < 2, 1 < 3, 4)", "a number is needed", 10..15),
        ("1 == 2", "unexpected `=`", 2..3),
        ("clamp(1, 2)", "`clamp` takes three numbers", 5..11),
        ("clamp(1, 3, 2)", "nothing is between them", 0..14),
        ("smoothstep(1, 1, 2)", "must be the greater one", 0..19),
        ("asin(2)", "NaN", 0..7),
        ("1 + atan2(1)", "`atan2` takes two numbers", 9..12),
        ("acosh(0)", "NaN", 0..8),
        ("2 pi", "`pi` is no unit", 2..4),
        ("2 mmm", "`mmm` is no unit", 2..5),
        ("2 m^x", "whole number", 4..4),
        ("2 m^1000", "whole number", 4..8),
        ("2 kg/m s", "not clear", 2..8),
        (
            "20 mm + 3 s",
            "a length (m) and a time (s) cannot be added",
            0..11,
        ),
        ("20 mm - 3", "cannot be subtracted", 0..9),
        ("if(1 < 2, 2 m, 3 kg)", "cannot be alternatives", 10..19),
        ("if(1 m < 2 s, 2, 3)", "cannot be compared", 3..12),
        ("max(1 N, 2 m)", "cannot be compared", 4..12),
        ("sin(2 m)", "`sin` needs a number without unit", 4..7),
        ("2 ^ (3 m)", "an exponent needs a number without unit", 4..9),
        ("(3 m) ^ 0.1", "whose powers are those by numbers", 0..11),
        ("(2 m) ^ $t", "whose powers are those by numbers", 0..10),
        ("1e200 m^2 * 1e200 km^50", "inf", 12..23),
    ] {
        let error = Program::parse(text, &|_| None, &[], TIME).and_then(|program| program.value(0.5));
        let error = error.unwrap_err();
        assert!(error.message.contains(message), "{text}: {}", error.message);
        assert_eq!(error.range, range, "{text}");
    }
    let help = |text: &str| constant(text).unwrap_err().help.unwrap();
    assert!(help("1 < 2").contains("if(condition, 1, 0)"));
    assert_eq!(help("2 Mpa"), "did you mean `MPa`?");
    assert_eq!(help("2 pi"), "numbers are multiplied by `*`: `2 * pi`");
    assert!(help("20 mm + 3").contains("such as `m`"));
}

#[test]
fn choices_have_the_rate_of_the_way_that_is_taken() {
    let text = "if($t < 1, $t^2, if($t <= 2, 3 * $t, 1 / ($t - 3)))";
    let program = Program::parse(text, &|_| None, &[], TIME).unwrap();
    for (t, value, rate) in [
        (0.5, 0.25, 1.0),
        (1.0, 3.0, 3.0),
        (2.0, 6.0, 3.0),
        (5.0, 0.5, -0.25),
    ] {
        let jet = program.jet(t);
        assert_eq!((jet.value, jet.rate), (value, rate), "{t}");
    }
    assert!(program.value(3.0).unwrap_err().message.contains("division"));
    // The slope of the arc sine has no bound at one.
    assert!(
        !Program::parse("asin($t)", &|_| None, &[], TIME)
            .unwrap()
            .jet(1.0)
            .rate
            .is_finite()
    );
}

#[test]
fn units_are_those_of_their_definitions() {
    let degree = std::f64::consts::PI / 180.0;
    for (text, expected, unit) in [
        ("20 mm", 0.02, "m"),
        ("20mm", 0.02, "m"),
        ("30 deg", 30.0 * degree, "rad"),
        ("30°", 30.0 * degree, "rad"),
        ("5 kN", 5000.0, "N"),
        ("2 kg/m^3", 2.0, "kg/m^3"),
        ("60 rpm", 360.0 * degree, "rad/s"),
        ("1 h + 1 min + 1 s", 3661.0, "s"),
        ("1 g/cm^3", 1000.0, "kg/m^3"),
        ("7.85 t/m^3", 7850.0, "kg/m^3"),
        ("210 GPa", 210e9, "Pa"),
        ("1 psi", 6_894.757_293_168_361, "Pa"),
        ("1 lbf", 4.448_221_615_260_5, "N"),
        ("12 in - 1 ft", 0.0, "m"),
        ("3 N m", 3.0, "N m"),
        ("3 N*m", 3.0, "N m"),
        ("1 kN/mm", 1e6, "N/m"),
        ("2 deg/(N mm)", 2.0 * degree * 1e3, "rad/(N m)"),
        ("9.81 m/s^2", 9.81, "m/s^2"),
        ("9.81 m s^-2", 9.81, "m/s^2"),
        ("9.81 m/s/s", 9.81, "m/s^2"),
        ("5 N / 2", 2.5, "N"),
        ("6 m / 2 s", 3.0, "m/s"),
        ("2 m * 3 m", 6.0, "m^2"),
        ("(2 m)^2 / 4 m", 1.0, "m"),
        ("sqrt(4 m^2)", 2.0, "m"),
        ("(8 m^3)^(1/3)", 2.0, "m"),
        ("hypot(3 mm, 4 mm)", 5e-3, "m"),
        ("-abs(-3 mm)", -3e-3, "m"),
        ("max(0, 3 mm) + 0", 3e-3, "m"),
        ("mod(7 mm, 2 mm)", 1e-3, "m"),
        ("2 m * 30 deg + 1 m", 1.0 + 60.0 * degree, "kg"),
    ] {
        let program = Program::parse(text, &|_| None, &[], TIME).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let found = program.value(0.0).unwrap();
        assert!(
            (found - expected).abs() <= 4e-16 * expected.abs().max(1e-9),
            "{text}: {found} {expected}"
        );
        let dimension = program.dimension().unwrap();
        if unit == "kg" {
            // An arc and a length are added: angles count as numbers.
            assert!(dimension.agrees(Dimension::LENGTH), "{text}");
        } else {
            assert_eq!(dimension.unit(), unit, "{text}");
        }
    }
    for text in [
        "20 mm / 4 mm",
        "50 %",
        "sin(30 deg)",
        "2",
        "atan2(3 mm, 4 mm)",
        "5 N / 2 N",
        "sign(-3 kg)",
        "$t",
    ] {
        let program = Program::parse(text, &|_| None, &[], TIME).unwrap();
        assert_eq!(program.dimension(), None, "{text}");
    }
}

#[test]
fn time_and_parameters_have_what_units_they_are_given() {
    let own = Program::parse("2 * $n", &|_| Some(Symbol::from(4.0)), &["n"], &[]).unwrap();
    let lookup = |name: &str| match name {
        "n" => Some(Symbol::Number(4.0, None)),
        "length" => Some(Symbol::Number(0.5, Some(Dimension::LENGTH))),
        "twice" => Some(Symbol::Program(&own)),
        _ => None,
    };
    let read = |text: &str| Program::parse(text, &lookup, &["n", "length"], TIME);
    for (text, expected, unit) in [
        ("$n * 20 mm", 0.08, Some("m")),
        ("$length + 20 mm", 0.52, Some("m")),
        ("$length / 2 s", 0.25, Some("m/s")),
        (
            "20 mm * sin(2 * pi * $t)",
            0.02 * (2.0 * std::f64::consts::PI * 0.7).sin(),
            Some("m"),
        ),
        // The time is in seconds, and may be a number: nothing is known of the whole.
        ("20 mm/s * $t", 0.014, None),
        ("0.1 m + 20 mm/s * $t", 0.114, Some("m")),
        ("$twice + 1", 9.0, None),
    ] {
        let program = read(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert!(close(program.value(0.7).unwrap(), expected), "{text}");
        assert_eq!(
            program.dimension().map(Dimension::unit).as_deref(),
            unit,
            "{text}"
        );
    }
    let error = read("$n + 20 mm").unwrap_err();
    assert!(
        error.message.contains("a number without unit and a length (m)"),
        "{}",
        error.message
    );
    let names: Vec<_> = parameters("$a * ($b2+$a)^$").collect();
    assert_eq!(names, [("a", 0..2), ("b2", 6..9), ("a", 10..12), ("", 14..15)]);
}

#[test]
fn quantities_are_compared_with_numbers_in_units() {
    let mut resolve = |_: &pliant_expression::Reference| Ok(0);
    let condition = Condition::parse("arm.angle > 30 deg", &|_| None, &[], &[], &mut resolve).unwrap();
    assert!(condition.holds(&[0.53]).unwrap() && !condition.holds(&[0.52]).unwrap());
    // A choice inside decides exactly, whatever the margin of the whole is.
    let condition =
        Condition::parse("if(arm.angle >= 1, 2, 3) < 3", &|_| None, &[], &[], &mut resolve).unwrap();
    assert_eq!(
        (condition.margin(&[1.0]), condition.holds(&[1.0])),
        (Ok(1.0), Ok(true))
    );
    // A quantity of a thing whose name is that of a unit.
    let program = Program::observing("2 * m.x + 3", &|_| None, &[], &[], &mut resolve).unwrap();
    assert_eq!(program.of(&[2.0]), Ok(7.0));
}

#[test]
fn programs_in_programs_have_a_bound() {
    let mut program = Program::parse("$t + $t", &|_| None, &[], TIME).unwrap();
    let mut error: Option<ExpressionError> = None;
    for _ in 0..40 {
        let inner = program.clone();
        match Program::parse("$a + $a", &|_| Some(Symbol::Program(&inner)), &[], TIME) {
            Ok(longer) => program = longer,
            Err(refused) => {
                error = Some(refused);
                break;
            }
        }
    }
    assert!(error.unwrap().message.contains("too long"));
    // Nested ones wait for each other's results.
    let deep = "(1+".repeat(30) + "$t" + &")".repeat(30);
    let mut program = Program::parse(&deep, &|_| None, &[], TIME).unwrap();
    let around = deep.replace("$t", "$a");
    let error = (0..40).find_map(|_| {
        let inner = program.clone();
        let read = Program::parse(&around, &|_| Some(Symbol::Program(&inner)), &[], TIME);
        read.map(|longer| program = longer).err()
    });
    assert!(error.unwrap().message.contains("nested too deeply"));
    assert!(program.value(1.0).is_ok());
}
