//! Arithmetic over named parameters: `"2 * ($a + 1)"`, and functions of time, `"sin($t)"`, or of
//! the place, `"$z - 0.1 * sin($x)"`, as they stand in scene files; expressions and conditions over
//! quantities of named things, `"arm.angle > 0.8"`; and the nearest known name to a misspelt one.
//!
//! Steps evaluate such functions, so that this crate is compiled for speed and the language of
//! scenes, which is read once, is not.

mod condition;
mod curve;
mod functions;
mod hyper_dual;
mod measure;
mod parser;
mod program;
mod reference;
mod suffix;
pub mod suggest;
mod unit;

pub use condition::Condition;
pub use curve::{CurveError, PointCurve, Shape};
pub use hyper_dual::HyperDual;
pub use reference::{Reference, Resolve};

pub use program::{Jet, PLACE, Program, TIME};
pub use unit::{Dimension, symbols};

use std::fmt;
use std::ops::Range;

/// An error in an expression, and the bytes that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The error, one line.
    pub message: String,
    /// Bytes of the expression.
    pub range: Range<usize>,
    /// Help, one line.
    pub help: Option<String>,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExpressionError {}

impl ExpressionError {
    fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            range,
            help: None,
        }
    }
}

/// The meaning of a name in an expression.
#[derive(Clone, Copy, Debug)]
pub enum Symbol<'a> {
    /// A number, in SI units if it has a dimension; without, as a number without unit.
    Number(f64, Option<Dimension>),
    /// An expression over the free names of the one in which the name stands.
    Program(&'a Program),
    /// A function, which is written without the dollar sign and with an argument.
    Function(&'a PointCurve),
}

impl From<f64> for Symbol<'_> {
    fn from(value: f64) -> Self {
        Self::Number(value, None)
    }
}

/// The meaning of names.
pub type Lookup<'l, 'p> = &'l dyn Fn(&str) -> Option<Symbol<'p>>;

/// Whether a word has a meaning in expressions of its own: a function, a number, a word between
/// conditions.
pub fn is_own(word: &str) -> bool {
    functions::names().any(|name| name == word) || matches!(word, "pi" | "and" | "or" | "not")
}

/// The names behind `$` in an expression, with their bytes, the dollar sign included.
pub fn parameters(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let marks = text.match_indices('$');
    marks.map(move |(start, _)| {
        let rest = &text[start + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let end = end.unwrap_or(rest.len());
        (&rest[..end], start..start + 1 + end)
    })
}

/// Evaluates `text`: numbers, perhaps with units, `pi`, `$name` by `lookup`, `+ - * / ^`, unary
/// minus, parentheses and functions. `names` are what `lookup` knows, for suggestions.
///
/// # Errors
/// [`ExpressionError`]; a result that is not finite is one.
pub fn evaluate(text: &str, lookup: Lookup<'_, '_>, names: &[&str]) -> Result<f64, ExpressionError> {
    Program::parse(text, lookup, names, &[])?.value(0.0)
}

/// Evaluates an expression without parameters, as `--set` takes them: `pi/4`.
///
/// # Errors
/// [`ExpressionError`]; a result that is not finite is one.
pub fn constant(text: &str) -> Result<f64, ExpressionError> {
    evaluate(text, &|_| None, &[])
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, ExpressionError> {
        let lookup = |name: &str| match name {
            "a" => Some(3.0.into()),
            "length" => Some(0.5.into()),
            _ => None,
        };
        evaluate(text, &lookup, &["a", "length"])
    }

    #[test]
    fn arithmetic() {
        let cases = [
            ("1", 1.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("1 - 2 - 3", -4.0),
            ("2 * ($a + 1) / $length", 16.0),
            ("sqrt(16) + cos(0)", 5.0),
            ("1e-3 + 1.5E+2", 150.001),
            ("--1", 1.0),
            ("2 * pi", std::f64::consts::TAU),
            ("floor(2.7) + floor(-0.5)", 1.0),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        let cases = [
            ("1 / ($a - 3)", "division by zero", 4..12),
            ("$lenght * 2", "unknown parameter `$lenght`", 0..7),
            ("1 + ", "ends too early", 4..4),
            ("(1 + 2", "not closed", 0..1),
            ("1 2", "unexpected `2`", 2..3),
            ("sqrt(-1)", "NaN", 0..8),
            ("1e999", "inf", 0..5),
            ("1.2.3", "not a number", 0..5),
            ("", "ends too early", 0..0),
            ("ä", "unknown name `ä`", 0..2),
            ("10^400", "inf", 0..6),
        ];
        for (text, message, range) in cases {
            let error = value(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(error.range, range, "{text}");
        }
        assert_eq!(
            value("$lenght").unwrap_err().help.as_deref(),
            Some("did you mean `length`?")
        );
        assert!(value("length").unwrap_err().help.unwrap().contains("`$length`"));
    }

    fn program(text: &str) -> Program {
        Program::parse(
            text,
            &|name| (name == "a").then_some(Symbol::from(3.0)),
            &["a", "t"],
            TIME,
        )
        .unwrap()
    }

    #[test]
    fn functions_of_time_have_rates() {
        for text in [
            "$t",
            "3",
            "-$t^2 + 2 * $t / ($t + 4)",
            "sin($a * $t) * cos($t) + tan(0.3 * $t)",
            "exp(-$t) * log(2 + $t) + sqrt($t)",
            "2^$t + $t^$t + $t^-0.5",
            "tanh($t - 1) + abs($t - 9)",
            "min($t, 5) + max(2 * $t, 0.1) + min($a, $t^2)",
            "mod(3 * $t, 2) + mod(-$t, $a) - mod(7 * $t, 2 + $t)",
            "asin($t / 2) - acos($t^2) + atan(3 * $t)",
            "sinh($t) * cosh(2 * $t) + asinh($t) + acosh(1 + $t) + atanh($t / 2)",
            "atan2($t^2, 1 - 3 * $t) + hypot($t, 2 - $t) + log10(1 + $t)",
            "sign($t) + step($t) + ceil(3 * $t) + round(0.1 + $t) + clamp($t^2, 0, 1)",
            "clamp($t^2, 0, 0.3 * $t) + clamp($t^2, 2 * $t, 3)",
            "smoothstep(0, 1, $t) + smoothstep(0.1 * $t, 1 + $t, 2 * $t) + smoothstep(2 * $t, 3, 0)",
            "if($t < 1, 3 * $t^2, 1 / ($t - 0.7))",
        ] {
            let program = program(text);
            let (h, t) = (1e-5, 0.7);
            let at = |t| program.value(t).unwrap();
            let slope = (at(t + h) - at(t - h)) / (2.0 * h);
            let jet = program.jet(t);
            assert_eq!(jet.value, at(t), "{text}");
            assert!(
                (jet.rate - slope).abs() < 1e-8 * (1.0 + slope.abs()),
                "{text}: {} {slope}",
                jet.rate
            );
            assert_eq!(program.is_timed(), text.contains("$t"));
        }
        // Where a rate times zero would be no number.
        assert_eq!(program("0^2 * $t + (0 * $t)^3 + sqrt(0)").jet(0.0).rate, 0.0);
        assert!(program("1 / $t").jet(0.0).value.is_nan());
        assert!(
            program("1 / $t")
                .value(0.0)
                .unwrap_err()
                .message
                .contains("division")
        );
        assert!(
            value("$t")
                .unwrap_err()
                .message
                .contains("unknown parameter `$t`")
        );
    }

    #[test]
    fn functions_of_two_numbers() {
        assert_eq!(value("min(1, 2) + max($a, 4)"), Ok(5.0));
        assert!(value("min(1)").unwrap_err().message.contains("two numbers"));
        for (text, message, at) in [
            ("hypot(1, 2, 3)", "`hypot` takes two numbers: `hypot(1, 2)`", 10),
            ("sin(1, 2)", "`sin` takes one number: `sin(1)`", 5),
            (
                "clamp(1, 2, 3, 4)",
                "`clamp` takes three numbers: `clamp(1, 2, 3)`",
                13,
            ),
            (
                "if(1 > 0, 2, 3, 4)",
                "`if` takes a condition and two numbers: `if($a > 1, 2, 3)`",
                14,
            ),
        ] {
            let error = value(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.range), (message, at..at + 1));
        }
    }

    /// Quantities by name: the values are places in this list.
    const QUANTITIES: [(&str, Option<usize>, &str); 5] = [
        ("arm", None, "angle"),
        ("chain", Some(3), "x"),
        ("left arm", None, "angle"),
        ("hinge.motor 0", None, "force"),
        ("gap", None, ""),
    ];

    fn resolve(reference: &Reference) -> Result<usize, ExpressionError> {
        let wanted = (
            reference.name(),
            reference.element.as_ref().map(|e| e.1),
            reference.quantity(),
        );
        let found = QUANTITIES.iter().position(|(name, element, quantity)| {
            (*name, *element, *quantity) == (&wanted.0, wanted.1, &wanted.2)
        });
        found.ok_or_else(|| ExpressionError::new(reference.quantity_range(), format!("no {wanted:?}")))
    }

    fn condition(text: &str) -> Result<Condition, ExpressionError> {
        let lookup = |name: &str| (name == "a").then_some(Symbol::from(3.0));
        Condition::parse(text, &lookup, &["a", "t"], TIME, &mut resolve)
    }

    #[test]
    fn quantities_have_values() {
        let lookup = |name: &str| (name == "a").then_some(Symbol::from(3.0));
        let text =
            "2*arm.angle - chain[3].x + 'left arm'.angle * $a ^ 'hinge.motor 0'.force - gap + min(gap, $t)";
        let program = Program::observing(text, &lookup, &["a", "t"], TIME, &mut resolve).unwrap();
        let values = [0.5, 1.0, 10.0, 2.0, 2.0, 7.0];
        assert_eq!(program.of(&values), Ok(2.0 - 10.0 + 2.0 * 9.0 - 7.0 + 0.5));
        assert_eq!(program.places().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 5, 0]);
        let fixed = program.fixing(1, &values[1..]);
        assert_eq!(fixed.value(0.5), program.of(&values));
        assert!(fixed.is_timed() && !fixed.depends_on(1) && program.depends_on(1));
        assert!(!fixed.fixing(0, &[0.5]).is_timed());
        // Without anything that has quantities, such words are no names.
        assert!(
            value("arm.angle")
                .unwrap_err()
                .message
                .contains("unknown name `arm`")
        );
    }

    #[test]
    fn conditions_hold_or_not_and_by_how_much() {
        let values = |angle: f64| [0.5, angle, 10.0, 2.0, 2.0, 7.0];
        for (text, angle, holds, margin) in [
            ("arm.angle > 0.8", 0.8, false, 0.0),
            ("arm.angle >= 0.8", 0.8, true, 0.0),
            ("arm.angle < 0.8", 0.5, true, 0.8 - 0.5),
            ("arm.angle <= 0.8", 1.0, false, 0.8 - 1.0),
            ("not arm.angle > 0.8", 0.8, true, 0.0),
            ("arm.angle > 0 and gap > 6 or $t > 3", 2.0, true, 1.0),
            ("arm.angle > 0 and (gap > 8 or not (gap < 3))", 2.0, true, 2.0),
            ("((arm.angle) + 1) * 2 > ($a)", 1.0, true, 1.0),
            ("not not arm.angle>1", 2.0, true, 1.0),
        ] {
            let condition = condition(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            assert_eq!(condition.holds(&values(angle)), Ok(holds), "{text}");
            assert_eq!(condition.margin(&values(angle)), Ok(margin), "{text}");
        }
        let error = condition("1 / (arm.angle - 1) > 2 or gap > 0")
            .unwrap()
            .holds(&values(1.0))
            .unwrap_err();
        assert_eq!((error.message.as_str(), error.range), ("division by zero", 4..19));
        assert!(
            condition("arm.angle > 0 or gap > 0")
                .unwrap()
                .holds(&values(f64::NAN))
                .is_err()
        );
    }

    #[test]
    fn errors_in_conditions_point_at_the_place() {
        for (text, message, range) in [
            ("arm.angle", "a condition is needed", 0..9),
            ("(arm.angle > 1) + 1 > 0", "a number is needed", 0..15),
            ("1 + (arm.angle > 1) > 0", "a number is needed", 4..19),
            ("-(arm.angle > 1) > 0", "a number is needed", 1..16),
            ("sqrt(gap > 1) > 0", "a number is needed", 5..12),
            ("min(gap > 1, 2) > 0", "a number is needed", 4..11),
            ("2 ^ (gap > 1) > 0", "a number is needed", 4..13),
            ("gap > 1 > 0", "unexpected `>`", 8..9),
            ("gap and gap > 1", "a condition is needed", 0..3),
            ("not gap", "a condition is needed", 4..7),
            ("gap == 1", "unexpected `=`", 4..5),
            ("gap > 1 && gap < 2", "unexpected `&`", 8..9),
            ("arm.speed > 1", "no (\"arm\", None, \"speed\")", 4..9),
            ("chain[x].x > 1", "0, 1, 2", 6..7),
            ("chain[3 > 1", "not closed", 5..6),
            ("'left arm.angle > 1", "apostrophe", 0..1),
            ("arm. > 1", "missing", 4..5),
            ("arm.", "missing", 4..4),
            ("gap >", "ends too early", 5..5),
            ("", "ends too early", 0..0),
            ("what(1) > 2", "unknown name `what`", 0..4),
        ] {
            let error = condition(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(error.range, range, "{text}");
        }
        assert!(condition("gap == 1").unwrap_err().help.unwrap().contains("`<=`"));
        for unit in ["not ", "(", "-", "gap > 1 or ("] {
            let error = condition(&unit.repeat(100_000)).unwrap_err();
            assert!(error.message.contains("deeply"), "{unit}: {}", error.message);
        }
        let long = "gap > 1 and ".repeat(100_000) + "gap > 1";
        assert_eq!(
            condition(&long).unwrap().holds(&[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]),
            Ok(true)
        );
    }

    #[test]
    fn long_sums_need_no_deep_stack() {
        assert_eq!(value(&("1 + ".repeat(200_000) + "1")), Ok(200_001.0));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for unit in ["(", "-", "sqrt(", "1^"] {
            let error = value(&unit.repeat(100_000)).unwrap_err();
            assert!(error.message.contains("deeply"), "{unit}: {}", error.message);
        }
    }
}
