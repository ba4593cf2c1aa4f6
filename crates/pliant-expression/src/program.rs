//! A parsed expression: a list of operations on a stack, so that no text is too long to evaluate.

use super::ExpressionError;
use super::parser::{self, Kind, Names};
use super::reference::Resolve;
use std::ops::Range;

/// A number that changes at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// The number.
    pub value: f64,
    /// Its rate (1/s).
    pub rate: f64,
}

/// One operation; those with operands take them from the top of the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Number(f64),
    /// The value of a name that is no parameter; the first one changes at unit rate.
    Free(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Unary(Unary),
    Binary(Binary),
    Compare {
        above: bool,
        or_equal: bool,
    },
    And,
    Or,
    Not,
}

/// A function of one number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unary {
    Sqrt,
    Sin,
    Cos,
    Tan,
    Exp,
    Log,
    Abs,
    Tanh,
    Floor,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binary {
    Min,
    Max,
    Mod,
}

pub(crate) const UNARY: [(&str, Unary); 9] = [
    ("sqrt", Unary::Sqrt),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("abs", Unary::Abs),
    ("tanh", Unary::Tanh),
    ("floor", Unary::Floor),
];

pub(crate) const BINARY: [(&str, Binary); 3] =
    [("min", Binary::Min), ("max", Binary::Max), ("mod", Binary::Mod)];

/// The name in an expression of time.
pub const TIME: &[&str] = &["t"];
/// The names in an expression of the place.
pub const PLACE: &[&str] = &["x", "y", "z"];

/// An expression, perhaps of time or of the place.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Operations with the bytes that a complaint about the result points at.
    ops: Vec<(Op, Range<usize>)>,
    timed: bool,
    length: usize,
}

impl Program {
    /// Reads `text`. Parameters get their values by `lookup`; the `free` ones have them later:
    /// [`TIME`], [`PLACE`] or none.
    ///
    /// # Errors
    /// [`ExpressionError`].
    pub fn parse(
        text: &str,
        lookup: &dyn Fn(&str) -> Option<f64>,
        names: &[&str],
        free: &[&str],
    ) -> Result<Self, ExpressionError> {
        let names = Names {
            lookup,
            known: names,
            free,
            resolve: None,
        };
        Self::read(text, names, Kind::Number)
    }

    /// Reads `text` as [`parse`](Self::parse) does, in which things with quantities have names, too
    /// ([`Reference`](crate::Reference)): `resolve` finds their places among the values that
    /// [`of`](Self::of) is given behind those of the `free` names.
    ///
    /// # Errors
    /// [`ExpressionError`], also those of `resolve`.
    pub fn observing(
        text: &str,
        lookup: &dyn Fn(&str) -> Option<f64>,
        names: &[&str],
        free: &[&str],
        resolve: Resolve<'_>,
    ) -> Result<Self, ExpressionError> {
        let names = Names {
            lookup,
            known: names,
            free,
            resolve: Some(resolve),
        };
        Self::read(text, names, Kind::Number)
    }

    pub(crate) fn read(text: &str, names: Names<'_>, kind: Kind) -> Result<Self, ExpressionError> {
        let ops = parser::parse(text, names, kind)?;
        Ok(Self {
            timed: ops.iter().any(|(op, _)| matches!(op, Op::Free(_))),
            ops,
            length: text.len(),
        })
    }

    /// Copies the expression with numbers in the place of its free names from number `first` on.
    #[must_use]
    pub fn fixing(&self, first: usize, values: &[f64]) -> Self {
        let fixed = |op: &Op| match op {
            Op::Free(k) if *k >= first => values.get(*k - first).map(|value| Op::Number(*value)),
            _ => None,
        };
        let ops = self.ops.iter();
        let ops: Vec<_> = ops
            .map(|(op, range)| (fixed(op).unwrap_or(*op), range.clone()))
            .collect();
        Self {
            timed: ops.iter().any(|(op, _)| matches!(op, Op::Free(_))),
            ops,
            length: self.length,
        }
    }

    /// A constant.
    pub fn number(value: f64) -> Self {
        Self {
            ops: vec![(Op::Number(value), 0..0)],
            timed: false,
            length: 0,
        }
    }

    /// Says whether it depends on the free name or quantity at a place.
    pub fn depends_on(&self, place: usize) -> bool {
        self.ops
            .iter()
            .any(|(op, _)| matches!(op, Op::Free(k) if *k == place))
    }

    /// Places of all free names and quantities in it, in the order of the text.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.ops.iter().filter_map(|(op, _)| match op {
            Op::Free(k) => Some(*k),
            _ => None,
        })
    }

    /// Whether it depends on time.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// The value at a time.
    ///
    /// # Errors
    /// [`ExpressionError`] where it is not finite.
    pub fn value(&self, time: f64) -> Result<f64, ExpressionError> {
        self.at([time, 0.0, 0.0])
    }

    /// The value at a place, or of any free names.
    ///
    /// # Errors
    /// [`ExpressionError`] where it is not finite.
    pub fn at(&self, place: [f64; 3]) -> Result<f64, ExpressionError> {
        self.of(&place)
    }

    /// The value with these values of the free names and of the quantities behind them.
    ///
    /// # Errors
    /// [`ExpressionError`] where it is not finite.
    pub fn of(&self, values: &[f64]) -> Result<f64, ExpressionError> {
        let value = self.run(values, Truth::Margin)?.value;
        finite(value, 0..self.length)?;
        Ok(value)
    }

    /// Value and rate at a time; not numbers where there are none.
    pub fn jet(&self, time: f64) -> Jet {
        self.jet_of(&[time, 0.0, 0.0])
    }

    /// Value and rate with these values of the free names, of which the first one changes at unit
    /// rate; not numbers where there are none.
    pub fn jet_of(&self, values: &[f64]) -> Jet {
        self.run(values, Truth::Margin).unwrap_or(Jet {
            value: f64::NAN,
            rate: f64::NAN,
        })
    }

    pub(crate) fn run(&self, free: &[f64], truth: Truth) -> Result<Jet, ExpressionError> {
        let mut stack = Stack::default();
        for (op, range) in &self.ops {
            let result = match op {
                Op::Number(value) => constant(*value),
                Op::Free(k) => Jet {
                    value: free.get(*k).copied().unwrap_or(f64::NAN),
                    rate: if *k == 0 { 1.0 } else { 0.0 },
                },
                Op::Negate | Op::Not => {
                    let a = pop(&mut stack);
                    Jet {
                        value: -a.value,
                        rate: -a.rate,
                    }
                }
                Op::Unary(function) => unary(*function, pop(&mut stack)),
                _ => {
                    let b = pop(&mut stack);
                    let a = pop(&mut stack);
                    if matches!(op, Op::Divide) && b.value == 0.0 {
                        return Err(ExpressionError::new(range.clone(), "division by zero"));
                    }
                    binary(*op, a, b, truth)
                }
            };
            if matches!(op, Op::Power | Op::Unary(_) | Op::Compare { .. }) {
                finite(result.value, range.clone())?;
            }
            stack.push(result);
        }
        Ok(pop(&mut stack))
    }
}

/// Operands that wait for their operation. No more than this wait in an expression whose brackets
/// and functions nest as deep as the parser allows, with two words that join conditions, a
/// comparison, a sum, a product and a power in each.
const WAITING: usize = 7 * (parser::DEEPEST + 1);

/// The operands that wait, without memory of their own: courses are evaluated in every step.
struct Stack {
    room: [Jet; WAITING],
    count: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            room: [constant(0.0); WAITING],
            count: 0,
        }
    }
}

impl Stack {
    fn push(&mut self, jet: Jet) {
        self.room[self.count] = jet;
        self.count += 1;
    }
}

/// The parser leaves operands for every operation.
fn pop(stack: &mut Stack) -> Jet {
    match stack.count.checked_sub(1) {
        Some(top) => {
            stack.count = top;
            stack.room[top]
        }
        None => constant(f64::NAN),
    }
}

pub(crate) fn finite(value: f64, range: Range<usize>) -> Result<(), ExpressionError> {
    if value.is_finite() {
        return Ok(());
    }
    let message = format!("the value of this expression is {value}, not a finite number");
    Err(ExpressionError::new(range, message))
}

fn constant(value: f64) -> Jet {
    Jet { value, rate: 0.0 }
}

/// A slope times a rate; what does not change has no rate, whatever the slope.
fn chain(slope: f64, rate: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { slope * rate }
}

fn unary(function: Unary, a: Jet) -> Jet {
    let x = a.value;
    let (value, slope) = match function {
        Unary::Sqrt => (x.sqrt(), 0.5 / x.sqrt()),
        Unary::Sin => (x.sin(), x.cos()),
        Unary::Cos => (x.cos(), -x.sin()),
        Unary::Tan => (x.tan(), 1.0 + x.tan().powi(2)),
        Unary::Exp => (x.exp(), x.exp()),
        Unary::Log => (x.ln(), x.recip()),
        Unary::Abs => (x.abs(), if x == 0.0 { 0.0 } else { x.signum() }),
        Unary::Tanh => (x.tanh(), 1.0 - x.tanh().powi(2)),
        Unary::Floor => (x.floor(), 0.0),
    };
    Jet {
        value,
        rate: chain(slope, a.rate),
    }
}

/// The exact remainder of a division that is rounded down: it has the sign of the divisor.
fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) {
        rest + y
    } else {
        rest
    }
}

/// The number that a condition is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Truth {
    /// 1 where it holds, else -1.
    Sign,
    /// By how much it holds: by so much the sides of a comparison differ, of several the least, of
    /// alternatives the most.
    Margin,
}

fn compare(above: bool, or_equal: bool, [x, y]: [f64; 2], truth: Truth) -> f64 {
    let margin = if above { x - y } else { y - x };
    match truth {
        Truth::Margin => margin,
        Truth::Sign if margin > 0.0 || (or_equal && x == y) => 1.0,
        Truth::Sign => -1.0,
    }
}

fn binary(op: Op, a: Jet, b: Jet, truth: Truth) -> Jet {
    let (x, y) = (a.value, b.value);
    match op {
        Op::Compare { above, or_equal } => constant(compare(above, or_equal, [x, y], truth)),
        Op::Add => Jet {
            value: x + y,
            rate: a.rate + b.rate,
        },
        Op::Subtract => Jet {
            value: x - y,
            rate: a.rate - b.rate,
        },
        Op::Multiply => Jet {
            value: x * y,
            rate: chain(y, a.rate) + chain(x, b.rate),
        },
        Op::Divide => Jet {
            value: x / y,
            rate: chain(y.recip(), a.rate) - chain(x / y / y, b.rate),
        },
        Op::Power => {
            let value = x.powf(y);
            let base = if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) };
            Jet {
                value,
                rate: chain(base, a.rate) + chain(value * x.ln(), b.rate),
            }
        }
        Op::Binary(Binary::Min) | Op::And if x <= y => a,
        Op::Binary(Binary::Max) | Op::Or if x >= y => a,
        Op::Binary(Binary::Mod) => Jet {
            value: remainder(x, y),
            rate: a.rate - chain((x / y).floor(), b.rate),
        },
        _ => b,
    }
}
