//! First and second derivatives of expressions, exact to rounding.
//!
//! An expression is evaluated over hyper-dual numbers (J. A. Fike and J. J. Alonso, The development
//! of hyper-dual numbers for exact second-derivative calculations, 2011): a value with its
//! derivatives along two directions and the mixed second one. Where an expression has no derivative
//! that is an error, and never a number.

use super::functions::{self, Binary, Ternary, Unary};
use super::program::{Op, Program, Relation, WAITING, finite};
use super::{ExpressionError, PointCurve};
use std::ops::Range;

/// Numbers that differ by less of their size are equal but for rounding: slopes at both sides of a
/// place where an expression switches.
const ROUNDING: f64 = 1e-9;

/// Operands that wait in most expressions; more take a larger stack.
const FEW: usize = 16;

/// A number with its derivatives along two directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyperDual {
    /// The number.
    pub value: f64,
    /// Its first derivatives along the two directions.
    pub first: [f64; 2],
    /// Its second derivative along both.
    pub mixed: f64,
}

impl HyperDual {
    /// A number that does not change.
    pub const fn constant(value: f64) -> Self {
        Self {
            value,
            first: [0.0; 2],
            mixed: 0.0,
        }
    }

    fn moves(self) -> bool {
        self.first != [0.0; 2] || self.mixed != 0.0
    }

    /// A function of one number with these two derivatives.
    fn chain(self, value: f64, slope: f64, curvature: f64) -> Self {
        Self {
            value,
            first: self.first.map(|a| times(slope, a)),
            mixed: times(slope, self.mixed) + times(curvature, self.first[0] * self.first[1]),
        }
    }

    fn is_finite(self) -> bool {
        self.value.is_finite() && self.first.iter().all(|a| a.is_finite()) && self.mixed.is_finite()
    }

    /// Whether two numbers are one with one slope, along both directions.
    fn meets(self, other: Self) -> bool {
        let same = |a: f64, b: f64| (a - b).abs() <= ROUNDING * (a.abs() + b.abs());
        let [a, b] = self.first;
        same(self.value, other.value) && same(a, other.first[0]) && same(b, other.first[1])
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            value: factor * self.value,
            first: self.first.map(|a| factor * a),
            mixed: factor * self.mixed,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            first: [0, 1].map(|k| self.first[k] + other.first[k]),
            mixed: self.mixed + other.mixed,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            first: [0, 1].map(|k| self.first[k] - other.first[k]),
            mixed: self.mixed - other.mixed,
        }
    }
}

/// A slope times a rate; what does not change has no rate, whatever the slope.
fn times(slope: f64, rate: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { slope * rate }
}

/// Derivatives of a function of two numbers.
struct Partials {
    value: f64,
    first: [f64; 2],
    /// By the first twice, by both, by the second twice.
    second: [f64; 3],
}

impl Partials {
    fn at(&self, a: HyperDual, b: HyperDual) -> HyperDual {
        let [x, y] = self.first;
        let [xx, xy, yy] = self.second;
        let ([a1, a2], [b1, b2]) = (a.first, b.first);
        HyperDual {
            value: self.value,
            first: [0, 1].map(|k| times(x, a.first[k]) + times(y, b.first[k])),
            mixed: times(x, a.mixed)
                + times(y, b.mixed)
                + times(xx, a1 * a2)
                + times(xy, a1 * b2 + a2 * b1)
                + times(yy, b1 * b2),
        }
    }
}

/// Operands that wait for their operation, without memory of their own.
struct Stack<const N: usize> {
    room: [HyperDual; N],
    count: usize,
}

impl<const N: usize> Stack<N> {
    fn new() -> Self {
        Self {
            room: [HyperDual::constant(0.0); N],
            count: 0,
        }
    }

    fn push(&mut self, number: HyperDual) {
        self.room[self.count] = number;
        self.count += 1;
    }

    /// The parser leaves operands for every operation.
    fn pop(&mut self) -> HyperDual {
        match self.count.checked_sub(1) {
            Some(top) => {
                self.count = top;
                self.room[top]
            }
            None => HyperDual::constant(f64::NAN),
        }
    }
}

/// Part of an expression, with the values of its free names.
#[derive(Clone, Copy)]
struct Section<'a> {
    program: &'a Program,
    free: &'a [HyperDual],
    /// Whether it is one of two alternatives that are both looked at.
    is_alternative: bool,
}

impl Program {
    /// The value with first derivatives along two directions and the mixed second one, exact to
    /// rounding, where the free names and the quantities behind them have these. Allocates nothing
    /// but for an error.
    ///
    /// # Errors
    /// [`ExpressionError`] where it has no finite value, or no derivative along these directions:
    /// at a jump (`floor`, `atan2` on its cut), at a kink (`abs` of zero, `min` of two that are
    /// equal, `if` at its switch), unless both sides have the same value and slope there, and
    /// where a slope is infinite (`sqrt` of zero).
    pub fn derivatives(&self, free: &[HyperDual]) -> Result<HyperDual, ExpressionError> {
        let section = Section {
            program: self,
            free,
            is_alternative: false,
        };
        let whole = 0..self.ops().len();
        let number = match self.waiting() <= FEW {
            true => section.run::<FEW>(whole),
            false => section.run::<WAITING>(whole),
        }?;
        finite(number.value, 0..self.length())?;
        Ok(number)
    }
}

impl Section<'_> {
    fn run<const N: usize>(self, part: Range<usize>) -> Result<HyperDual, ExpressionError> {
        let ops = self.program.ops();
        let mut stack = Stack::<N>::new();
        let mut at = part.start;
        while at < part.end {
            let (op, range) = &ops[at];
            at += 1;
            let wrong = |message| ExpressionError::new(range.clone(), message);
            let result = match op {
                Op::Unless(further) => {
                    let condition = stack.pop();
                    let holds = condition.value > 0.0;
                    if condition.moves() {
                        let (number, end) = self.switch::<N>(at, *further, holds).map_err(|inner| {
                            inner.unwrap_or_else(|| {
                                wrong(
                                    "`if` switches here, and both sides of it differ in value or slope, so that \
                                     it has no derivative"
                                        .to_owned(),
                                )
                            })
                        })?;
                        stack.push(number);
                        at = end;
                    } else if !holds {
                        at += further;
                    }
                    continue;
                }
                Op::Skip(further) => {
                    at += further;
                    continue;
                }
                Op::Number(value) => HyperDual::constant(*value),
                Op::Free(k) => {
                    let free = self.free.get(*k).copied();
                    free.unwrap_or(HyperDual::constant(f64::NAN))
                }
                Op::Negate => stack.pop().scaled(-1.0),
                Op::Not => {
                    let condition = stack.pop();
                    HyperDual {
                        value: -condition.value,
                        ..condition
                    }
                }
                Op::Unary(function) => unary(*function, stack.pop()).map_err(wrong)?,
                Op::PointCurve(k) => curve(self.program.curves().get(*k), stack.pop()).map_err(wrong)?,
                Op::Ternary(function) => {
                    let c = stack.pop();
                    let b = stack.pop();
                    let a = stack.pop();
                    ternary(*function, [a, b, c]).map_err(wrong)?
                }
                _ => {
                    let b = stack.pop();
                    let a = stack.pop();
                    if matches!(op, Op::Divide) && b.value == 0.0 {
                        return Err(wrong("division by zero".to_owned()));
                    }
                    operate(*op, a, b).map_err(wrong)?
                }
            };
            finite(result.value, range.clone())?;
            if !result.is_finite() {
                return Err(wrong(
                    "it has no derivative here: its slope or curvature is infinite".to_owned(),
                ));
            }
            stack.push(result);
        }
        Ok(stack.pop())
    }

    /// The number of a choice at the place where its condition changes, and where it ends: that of
    /// the side that is taken, if the other one has the same value and slope. Without an error of
    /// its own, they have not.
    fn switch<const N: usize>(
        self,
        first: usize,
        further: usize,
        holds: bool,
    ) -> Result<(HyperDual, usize), Option<ExpressionError>> {
        if self.is_alternative {
            return Err(None);
        }
        let skip = first + further - 1;
        let Some((Op::Skip(more), _)) = self.program.ops().get(skip) else {
            return Err(None);
        };
        let end = skip + 1 + more;
        let both = Self {
            is_alternative: true,
            ..self
        };
        let (mut taken, mut other) = (first..skip, skip + 1..end);
        if !holds {
            std::mem::swap(&mut taken, &mut other);
        }
        let taken = both.run::<N>(taken).map_err(Some)?;
        match both.run::<N>(other) {
            Ok(other) if taken.meets(other) => Ok((taken, end)),
            _ => Err(None),
        }
    }
}

/// A condition: 1 where it holds, else -1. It moves if it changes here along the directions.
fn truth(holds: bool, changes: bool) -> HyperDual {
    HyperDual {
        value: if holds { 1.0 } else { -1.0 },
        first: [if changes { 1.0 } else { 0.0 }, 0.0],
        mixed: 0.0,
    }
}

fn compare(relation: Relation, a: HyperDual, b: HyperDual) -> HyperDual {
    let (x, y) = (a.value, b.value);
    let holds = match relation {
        Relation::Less => x < y,
        Relation::LessOrEqual => x <= y,
        Relation::Greater => x > y,
        Relation::GreaterOrEqual => x >= y,
        Relation::Equal => x == y,
        Relation::Unequal => x != y,
    };
    truth(holds, x == y && a.minus(b).moves())
}

/// Two conditions of which both are to hold (`all`), or one.
fn join(all: bool, a: HyperDual, b: HyperDual) -> HyperDual {
    // One that decides alone and stays as it is.
    let decides = |c: HyperDual| (c.value > 0.0) != all && !c.moves();
    let (p, q) = (a.value > 0.0, b.value > 0.0);
    let holds = if all { p && q } else { p || q };
    truth(holds, !decides(a) && !decides(b) && (a.moves() || b.moves()))
}

fn operate(op: Op, a: HyperDual, b: HyperDual) -> Result<HyperDual, String> {
    let (x, y) = (a.value, b.value);
    Ok(match op {
        Op::Compare { relation, .. } => compare(relation, a, b),
        Op::And => join(true, a, b),
        Op::Or => join(false, a, b),
        Op::Add => a.plus(b),
        Op::Subtract => a.minus(b),
        Op::Multiply => Partials {
            value: x * y,
            first: [y, x],
            second: [0.0, 1.0, 0.0],
        }
        .at(a, b),
        Op::Divide => Partials {
            value: x / y,
            first: [y.recip(), -x / y / y],
            second: [0.0, -y.recip() / y, 2.0 * x / y / y / y],
        }
        .at(a, b),
        Op::Power => power(a, b)?,
        Op::Binary(function) => binary(function, a, b)?,
        _ => b,
    })
}

fn power(a: HyperDual, b: HyperDual) -> Result<HyperDual, String> {
    let (x, y) = (a.value, b.value);
    let value = x.powf(y);
    // A factor of zero counts ahead of a power that is infinite.
    let derivative = |factor: f64, order: f64| {
        if factor == 0.0 {
            0.0
        } else {
            factor * x.powf(y - order)
        }
    };
    let (slope, curvature) = (derivative(y, 1.0), derivative(y * (y - 1.0), 2.0));
    if !b.moves() {
        return Ok(a.chain(value, slope, curvature));
    }
    if x <= 0.0 {
        return Err(format!(
            "a power whose exponent changes has a derivative over a positive base alone, and this base is {x}"
        ));
    }
    let log = x.ln();
    let partials = Partials {
        value,
        first: [slope, value * log],
        second: [curvature, x.powf(y - 1.0) * (1.0 + y * log), value * log * log],
    };
    Ok(partials.at(a, b))
}

/// Says that a function has no derivative somewhere.
fn kink(function: &str, place: &str) -> String {
    format!("`{function}` has no derivative {place}")
}

fn unary(function: Unary, a: HyperDual) -> Result<HyperDual, String> {
    let x = a.value;
    let root = 1.0 - x * x;
    let (value, slope) = functions::slope(function, x);
    let curvature = match function {
        Unary::Sqrt => -0.5 * slope / x,
        Unary::Sin | Unary::Cos => -value,
        Unary::Tan => 2.0 * value * slope,
        Unary::Asin | Unary::Acos => x * slope / root,
        Unary::Atan => -2.0 * x * slope * slope,
        Unary::Sinh | Unary::Cosh | Unary::Exp => value,
        Unary::Tanh => -2.0 * value * slope,
        Unary::Asinh => -x * slope / (1.0 + x * x),
        Unary::Acosh => x * slope / root,
        Unary::Atanh => 2.0 * x * slope * slope,
        Unary::Log | Unary::Log10 => -slope / x,
        Unary::Abs | Unary::Sign | Unary::Step | Unary::Floor | Unary::Ceil | Unary::Round => 0.0,
    };
    let place = match function {
        Unary::Abs if x == 0.0 => "at zero",
        Unary::Sign | Unary::Step if x == 0.0 => "at zero, where it jumps",
        Unary::Floor | Unary::Ceil if x == x.floor() => "at whole numbers, where it jumps",
        Unary::Round if x.fract().abs() == 0.5 => "between whole numbers, where it jumps",
        _ => return Ok(a.chain(value, slope, curvature)),
    };
    if a.moves() {
        return Err(kink(functions::name(function), place));
    }
    Ok(HyperDual::constant(value))
}

fn binary(function: Binary, a: HyperDual, b: HyperDual) -> Result<HyperDual, String> {
    let (x, y) = (a.value, b.value);
    let moves = a.moves() || b.moves();
    match function {
        Binary::Min | Binary::Max => {
            let name = if function == Binary::Min { "min" } else { "max" };
            if x == y && !a.meets(b) {
                return Err(kink(name, "where both numbers are equal"));
            }
            let first = if function == Binary::Min { x <= y } else { x >= y };
            Ok(if first { a } else { b })
        }
        Binary::Mod => {
            let times = (x / y).floor();
            let value = functions::remainder(x, y);
            if value == 0.0 && moves {
                return Err(kink(
                    "mod",
                    "where nothing is left of the division, where it jumps",
                ));
            }
            let partials = Partials {
                value,
                first: [1.0, -times],
                second: [0.0; 3],
            };
            Ok(partials.at(a, b))
        }
        Binary::Atan2 => {
            if y < 0.0 && x == 0.0 && a.moves() {
                return Err(kink("atan2", "at half a turn, where it jumps"));
            }
            if x == 0.0 && y == 0.0 && moves {
                return Err(kink("atan2", "where both numbers are zero"));
            }
            let square = x * x + y * y;
            let (c, s) = (y / square, x / square);
            let partials = Partials {
                value: x.atan2(y),
                first: [c, -s],
                second: [-2.0 * c * s, s * s - c * c, 2.0 * c * s],
            };
            Ok(partials.at(a, b))
        }
        Binary::Hypot => {
            let value = x.hypot(y);
            if value == 0.0 && moves {
                return Err(kink("hypot", "where both numbers are zero"));
            }
            let (c, s) = (x / value, y / value);
            let partials = Partials {
                value,
                first: [c, s],
                second: [s * s / value, -c * s / value, c * c / value],
            };
            Ok(partials.at(a, b))
        }
    }
}

fn ternary(function: Ternary, [a, b, c]: [HyperDual; 3]) -> Result<HyperDual, String> {
    let (x, y, z) = (a.value, b.value, c.value);
    functions::check_ternary(function, [x, y, z])?;
    match function {
        Ternary::Clamp => {
            for bound in [b, c] {
                if x == bound.value && !a.meets(bound) {
                    return Err(kink("clamp", "at its bounds"));
                }
            }
            Ok(if x < y {
                b
            } else if x > z {
                c
            } else {
                a
            })
        }
        Ternary::Smoothstep if z <= x => Ok(HyperDual::constant(0.0)),
        Ternary::Smoothstep if z >= y => Ok(HyperDual::constant(1.0)),
        Ternary::Smoothstep => {
            let s = operate(Op::Divide, c.minus(a), b.minus(a))?;
            let t = s.value;
            Ok(s.chain(t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t), 6.0 - 12.0 * t))
        }
    }
}

fn curve(curve: Option<&PointCurve>, a: HyperDual) -> Result<HyperDual, String> {
    let Some(curve) = curve else {
        return Ok(HyperDual::constant(f64::NAN));
    };
    let (value, slope) = curve.at(a.value);
    let (curvature, before) = curve.bend(a.value);
    let sides = [slope, before].map(|slope| a.chain(value, slope, 0.0));
    if a.moves() && !sides[0].meets(sides[1]) {
        return Err(format!(
            "the curve has no derivative at {}, where its slope jumps",
            a.value
        ));
    }
    Ok(a.chain(value, slope, curvature))
}

#[cfg(test)]
mod tests;
