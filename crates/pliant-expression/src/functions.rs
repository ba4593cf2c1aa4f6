//! The functions of expressions, with their rates.

use super::program::{Jet, chain, constant};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unary {
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Log,
    Log10,
    Abs,
    Sign,
    Step,
    Floor,
    Ceil,
    Round,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Binary {
    Min,
    Max,
    Mod,
    Atan2,
    Hypot,
}

/// A function of three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ternary {
    /// A number, kept between two others.
    Clamp,
    /// From 0 to 1 between two numbers, by a third.
    Smoothstep,
}

pub(crate) const UNARY: &[(&str, Unary)] = &[
    ("sqrt", Unary::Sqrt),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("asin", Unary::Asin),
    ("acos", Unary::Acos),
    ("atan", Unary::Atan),
    ("sinh", Unary::Sinh),
    ("cosh", Unary::Cosh),
    ("tanh", Unary::Tanh),
    ("asinh", Unary::Asinh),
    ("acosh", Unary::Acosh),
    ("atanh", Unary::Atanh),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("log10", Unary::Log10),
    ("abs", Unary::Abs),
    ("sign", Unary::Sign),
    ("step", Unary::Step),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("round", Unary::Round),
];

pub(crate) const BINARY: &[(&str, Binary)] = &[
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("mod", Binary::Mod),
    ("atan2", Binary::Atan2),
    ("hypot", Binary::Hypot),
];

pub(crate) const TERNARY: &[(&str, Ternary)] =
    &[("clamp", Ternary::Clamp), ("smoothstep", Ternary::Smoothstep)];

/// The word of the choice between two numbers, which is no function: one of them has no value.
pub(crate) const IF: &str = "if";

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
    let one = UNARY.iter().map(|(name, _)| *name);
    let two = BINARY.iter().map(|(name, _)| *name);
    let three = TERNARY.iter().map(|(name, _)| *name);
    one.chain(two).chain(three).chain([IF])
}

/// The name of a function of one number.
pub(crate) fn name(function: Unary) -> &'static str {
    let found = UNARY.iter().find(|(_, other)| *other == function);
    found.map_or("", |(name, _)| name)
}

/// A function of one number with its rate. Where it is constant beside a jump, its rate is zero
/// there, too.
pub(crate) fn unary(function: Unary, a: Jet) -> Jet {
    let (value, slope) = slope(function, a.value);
    Jet {
        value,
        rate: chain(slope, a.rate),
    }
}

/// The value and the slope of a function of one number.
pub(crate) fn slope(function: Unary, x: f64) -> (f64, f64) {
    match function {
        Unary::Sqrt => (x.sqrt(), 0.5 / x.sqrt()),
        Unary::Sin => (x.sin(), x.cos()),
        Unary::Cos => (x.cos(), -x.sin()),
        Unary::Tan => (x.tan(), 1.0 + x.tan().powi(2)),
        Unary::Asin => (x.asin(), beside_one(x).sqrt().recip()),
        Unary::Acos => (x.acos(), -beside_one(x).sqrt().recip()),
        Unary::Atan => (x.atan(), (1.0 + x * x).recip()),
        Unary::Sinh => (x.sinh(), x.cosh()),
        Unary::Cosh => (x.cosh(), x.sinh()),
        Unary::Tanh => (x.tanh(), x.cosh().powi(2).recip()),
        Unary::Asinh => (x.asinh(), x.hypot(1.0).recip()),
        Unary::Acosh => (x.acosh(), (-beside_one(x)).sqrt().recip()),
        Unary::Atanh => (x.atanh(), beside_one(x).recip()),
        Unary::Exp => (x.exp(), x.exp()),
        Unary::Log => (x.ln(), x.recip()),
        Unary::Log10 => (x.log10(), (x * std::f64::consts::LN_10).recip()),
        Unary::Abs => (x.abs(), sign(x)),
        Unary::Sign => (sign(x), 0.0),
        Unary::Step if x.is_nan() => (x, 0.0),
        Unary::Step => (if x >= 0.0 { 1.0 } else { 0.0 }, 0.0),
        Unary::Floor => (x.floor(), 0.0),
        Unary::Ceil => (x.ceil(), 0.0),
        Unary::Round => (x.round(), 0.0),
    }
}

/// `1 - x^2`, exact near one.
fn beside_one(x: f64) -> f64 {
    (1.0 - x) * (1.0 + x)
}

/// Zero of zero.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

pub(crate) fn binary(function: Binary, a: Jet, b: Jet) -> Jet {
    let (x, y) = (a.value, b.value);
    match function {
        Binary::Min if x <= y => a,
        Binary::Max if x >= y => a,
        Binary::Min | Binary::Max => b,
        Binary::Mod => Jet {
            value: remainder(x, y),
            rate: a.rate - chain((x / y).floor(), b.rate),
        },
        Binary::Atan2 => {
            // The first is the sine's side, the second the cosine's.
            let square = x * x + y * y;
            Jet {
                value: x.atan2(y),
                rate: chain(y / square, a.rate) - chain(x / square, b.rate),
            }
        }
        Binary::Hypot => {
            let value = x.hypot(y);
            Jet {
                value,
                rate: chain(x / value, a.rate) + chain(y / value, b.rate),
            }
        }
    }
}

/// The exact remainder of a division that is rounded down: it has the sign of the divisor.
pub(crate) fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) {
        rest + y
    } else {
        rest
    }
}

/// Why a function of three numbers has no value, if it has none.
pub(crate) fn check_ternary(function: Ternary, [x, y, z]: [f64; 3]) -> Result<(), String> {
    match function {
        Ternary::Clamp if y > z => Err(format!(
            "the bounds of `clamp` are {y} and {z}: nothing is between them"
        )),
        Ternary::Smoothstep if x >= y => Err(format!(
            "`smoothstep` rises from {x} to {y}, which must be the greater one"
        )),
        _ => Ok(()),
    }
}

/// A function of three numbers, or why it has no value.
pub(crate) fn ternary(function: Ternary, [a, b, c]: [Jet; 3]) -> Result<Jet, String> {
    let (x, y, z) = (a.value, b.value, c.value);
    check_ternary(function, [x, y, z])?;
    Ok(match function {
        Ternary::Clamp if x < y => b,
        Ternary::Clamp if x > z => c,
        Ternary::Clamp => a,
        Ternary::Smoothstep if z <= x => constant(0.0),
        Ternary::Smoothstep if z >= y => constant(1.0),
        Ternary::Smoothstep => {
            let width = y - x;
            let s = (z - x) / width;
            // The rate of s, of which all three numbers have a part.
            let rate = (c.rate - a.rate - s * (b.rate - a.rate)) / width;
            Jet {
                value: s * s * (3.0 - 2.0 * s),
                rate: chain(6.0 * s * (1.0 - s), rate),
            }
        }
    })
}
