//! A parsed expression: a list of operations on a stack, so that no text is too long to evaluate.

use super::curve::PointCurve;
use super::functions::{self, Binary, Ternary, Unary};
use super::measure::Measure;
use super::parser::{self, Kind, Names, Parsed};
use super::reference::Resolve;
use super::{Dimension, ExpressionError, Lookup};
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
    Ternary(Ternary),
    /// The value of the curve of that number.
    PointCurve(usize),
    Compare {
        relation: Relation,
        /// Whether only the side counts on which it is, and not by how much.
        decides: bool,
    },
    And,
    Or,
    Not,
    /// Takes a condition; if it does not hold, goes on so many operations further.
    Unless(usize),
    /// Goes on so many operations further.
    Skip(usize),
}

/// A relation of two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

/// The name in an expression of time.
pub const TIME: &[&str] = &["t"];
/// The names in an expression of the place.
pub const PLACE: &[&str] = &["x", "y", "z"];

/// An expression, perhaps of time or of the place.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Operations with the bytes that a complaint about the result points at.
    ops: Vec<(Op, Range<usize>)>,
    curves: Vec<PointCurve>,
    timed: bool,
    measure: Measure,
    length: usize,
    /// The most operands that wait at once.
    waiting: usize,
    /// The units of its value and of its free names, where these are not SI units.
    bases: Option<Bases>,
}

/// Units in which an expression without units reckons.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bases {
    /// The unit of its value, in SI units.
    value: f64,
    /// The units of its first free names, in SI units.
    free: [f64; 3],
}

impl Program {
    /// Reads `text`. Parameters get their values by `lookup`; the `free` ones have them later:
    /// [`TIME`], [`PLACE`] or none.
    ///
    /// # Errors
    /// [`ExpressionError`].
    pub fn parse(
        text: &str,
        lookup: Lookup<'_, '_>,
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
        lookup: Lookup<'_, '_>,
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

    pub(crate) fn read(text: &str, names: Names<'_, '_>, kind: Kind) -> Result<Self, ExpressionError> {
        let Parsed {
            ops,
            curves,
            measure,
            waiting,
        } = parser::parse(text, names, kind)?;
        Ok(Self {
            waiting,
            timed: ops.iter().any(|(op, _)| matches!(op, Op::Free(_))),
            ops,
            curves,
            measure,
            length: text.len(),
            bases: None,
        })
    }

    /// Makes it reckon in other units than those of SI: its first three free names are those over
    /// their units, and its value is so many units (all in SI units). What it is given and gives
    /// stays in SI units.
    #[must_use]
    pub fn in_units(mut self, value: f64, free: [f64; 3]) -> Self {
        self.bases = Some(Bases { value, free });
        self
    }

    /// The dimension of its value, if units in it say so; without units, its value is in those of
    /// the place where it stands.
    pub fn dimension(&self) -> Option<Dimension> {
        match self.measure {
            Measure::Of(dimension) => Some(dimension),
            Measure::Zero | Measure::Bare | Measure::Unknown => None,
        }
    }

    pub(crate) fn measure(&self) -> Measure {
        self.measure
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    pub(crate) fn ops(&self) -> &[(Op, Range<usize>)] {
        &self.ops
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
            curves: self.curves.clone(),
            measure: self.measure,
            length: self.length,
            waiting: self.waiting,
            bases: self.bases,
        }
    }

    /// A constant.
    pub fn number(value: f64) -> Self {
        Self {
            ops: vec![(Op::Number(value), 0..0)],
            waiting: 1,
            ..Self::default()
        }
    }

    /// A curve over the first of the free names.
    pub fn curve(curve: PointCurve) -> Self {
        Self {
            ops: vec![(Op::Free(0), 0..0), (Op::PointCurve(0), 0..0)],
            measure: curve.dimensions()[1].map_or(Measure::Bare, Measure::of),
            curves: vec![curve],
            timed: true,
            length: 0,
            waiting: 1,
            bases: None,
        }
    }

    pub(crate) fn curves(&self) -> &[PointCurve] {
        &self.curves
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
        let mut at = 0;
        while let Some((op, range)) = self.ops.get(at) {
            at += 1;
            let result = match op {
                Op::Unless(further) => {
                    if pop(&mut stack).value <= 0.0 {
                        at += further;
                    }
                    continue;
                }
                Op::Skip(further) => {
                    at += further;
                    continue;
                }
                Op::Number(value) => constant(*value),
                Op::Free(k) => {
                    let unit = self.bases.and_then(|bases| bases.free.get(*k).copied());
                    let jet = Jet {
                        value: free.get(*k).copied().unwrap_or(f64::NAN),
                        rate: if *k == 0 { 1.0 } else { 0.0 },
                    };
                    unit.map_or(jet, |unit| jet.times(1.0 / unit))
                }
                Op::Negate | Op::Not => {
                    let a = pop(&mut stack);
                    Jet {
                        value: -a.value,
                        rate: -a.rate,
                    }
                }
                Op::Unary(function) => functions::unary(*function, pop(&mut stack)),
                Op::PointCurve(k) => {
                    let a = pop(&mut stack);
                    let (value, slope) = self
                        .curves
                        .get(*k)
                        .map_or((f64::NAN, 0.0), |curve| curve.at(a.value));
                    Jet {
                        value,
                        rate: chain(slope, a.rate),
                    }
                }
                Op::Ternary(function) => {
                    let c = pop(&mut stack);
                    let b = pop(&mut stack);
                    let a = pop(&mut stack);
                    functions::ternary(*function, [a, b, c])
                        .map_err(|message| ExpressionError::new(range.clone(), message))?
                }
                _ => {
                    let b = pop(&mut stack);
                    let a = pop(&mut stack);
                    if matches!(op, Op::Divide) && b.value == 0.0 {
                        return Err(ExpressionError::new(range.clone(), "division by zero"));
                    }
                    binary(*op, a, b, truth)
                }
            };
            if matches!(op, Op::Power | Op::Unary(_) | Op::Binary(_) | Op::Compare { .. }) {
                finite(result.value, range.clone())?;
            }
            stack.push(result);
        }
        let result = pop(&mut stack);
        Ok(self.bases.map_or(result, |bases| result.times(bases.value)))
    }
}

impl Jet {
    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            rate: self.rate * factor,
        }
    }
}

/// Operands that wait for their operation. No more than this wait in an expression whose brackets
/// and functions nest as deep as the parser allows, with two arguments of a function, two words
/// that join conditions, a comparison, a sum, a product and a power in each.
pub(crate) const WAITING: usize = 8 * (parser::DEEPEST + 1);

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

pub(crate) fn constant(value: f64) -> Jet {
    Jet { value, rate: 0.0 }
}

/// A slope times a rate; what does not change has no rate, whatever the slope.
pub(crate) fn chain(slope: f64, rate: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { slope * rate }
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

fn compare(relation: Relation, [x, y]: [f64; 2], truth: Truth) -> f64 {
    let (margin, holds) = match relation {
        Relation::Less => (y - x, x < y),
        Relation::LessOrEqual => (y - x, x <= y),
        Relation::Greater => (x - y, x > y),
        Relation::GreaterOrEqual => (x - y, x >= y),
        Relation::Equal => (-(x - y).abs(), x == y),
        Relation::Unequal => ((x - y).abs(), x != y),
    };
    match truth {
        Truth::Margin => margin,
        // The margin is no number where a side is none.
        Truth::Sign if margin.is_nan() => margin,
        Truth::Sign if holds => 1.0,
        Truth::Sign => -1.0,
    }
}

fn binary(op: Op, a: Jet, b: Jet, truth: Truth) -> Jet {
    let (x, y) = (a.value, b.value);
    match op {
        Op::Compare { relation, decides } => {
            let truth = if decides { Truth::Sign } else { truth };
            constant(compare(relation, [x, y], truth))
        }
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
        Op::Binary(function) => functions::binary(function, a, b),
        Op::And if x <= y => a,
        Op::Or if x >= y => a,
        _ => b,
    }
}
