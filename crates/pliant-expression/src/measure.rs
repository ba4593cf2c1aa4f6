//! Units of numbers in an expression as far as they are known, and what operations make of them.
//!
//! A number with a unit has its dimension. In an expression with units, a number without one is a
//! pure number, but for zero, which is nothing of anything. Of the time `$t`, the place and
//! quantities of things nothing is known, as their units are not written in the expression.

use super::functions::{Binary, Ternary, Unary};
use super::{Dimension, ExpressionError};
use std::ops::Range;

/// Knowledge of the unit of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Measure {
    /// Zero, which has any unit.
    Zero,
    /// A number without unit.
    #[default]
    Bare,
    /// Nothing.
    Unknown,
    /// Its dimension.
    Of(Dimension),
}

impl Measure {
    pub(crate) fn of(dimension: Dimension) -> Self {
        match dimension {
            Dimension::NONE => Self::Bare,
            _ => Self::Of(dimension),
        }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Zero, _) | (_, Self::Zero) => Self::Zero,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::Bare, known) | (known, Self::Bare) => known,
            (Self::Of(a), Self::Of(b)) => Self::of(a.times(b)),
        }
    }

    pub(crate) fn over(self, other: Self) -> Self {
        self.times(match other {
            Self::Of(dimension) => Self::Of(dimension.inverse()),
            Self::Zero => Self::Bare,
            other => other,
        })
    }

    /// Whether it may be a pure number.
    fn may_be_number(self) -> bool {
        match self {
            Self::Of(dimension) => dimension.is_number(),
            _ => true,
        }
    }
}

/// A number in an expression: what is known of its unit, and its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    measure: Measure,
    range: Range<usize>,
}

impl Part {
    pub(crate) const NONE: Self = Self {
        measure: Measure::Bare,
        range: 0..0,
    };

    pub(crate) fn new(measure: Measure, range: Range<usize>) -> Self {
        Self { measure, range }
    }

    /// Refuses the argument of a function whose unit is that of another dimension.
    pub(crate) fn fits(&self, right: Dimension, user: &str) -> Result<(), ExpressionError> {
        match self.measure {
            Measure::Of(dimension) if !right.agrees(dimension) => {
                let message = format!("`{user}` is a function of {right}, and this is {dimension}");
                Err(ExpressionError::new(self.range.clone(), message))
            }
            _ => Ok(()),
        }
    }

    fn words(&self) -> String {
        match self.measure {
            Measure::Of(dimension) => dimension.to_string(),
            _ => Dimension::NONE.to_string(),
        }
    }

    /// The measure of two numbers of one dimension together, or why they cannot be `what`.
    pub(crate) fn alike(&self, other: &Self, what: &str) -> Result<Measure, ExpressionError> {
        let number = Dimension::NONE;
        let (a, b) = match (self.measure, other.measure) {
            (Measure::Zero, known) | (known, Measure::Zero) => return Ok(known),
            (Measure::Unknown, Measure::Of(a)) | (Measure::Of(a), Measure::Unknown) => {
                return Ok(Measure::Of(a));
            }
            (Measure::Unknown, _) | (_, Measure::Unknown) => return Ok(Measure::Unknown),
            (Measure::Bare, Measure::Bare) => return Ok(Measure::Bare),
            (Measure::Of(a), Measure::Of(b)) => (a, b),
            (Measure::Of(a), Measure::Bare) => (a, number),
            (Measure::Bare, Measure::Of(b)) => (number, b),
        };
        if a.agrees(b) {
            return Ok(Measure::of(if a == number { b } else { a }));
        }
        let bare = [(self, b), (other, a)];
        let bare = bare.iter().find(|(part, _)| part.measure == Measure::Bare);
        Err(ExpressionError {
            message: format!("{} and {} cannot be {what}", self.words(), other.words()),
            range: self.range.start.min(other.range.start)..self.range.end.max(other.range.end),
            help: bare.map(|(_, dimension)| {
                format!(
                    "beside numbers with units, those without are pure numbers: give it a unit, such as `{}`",
                    dimension.unit()
                )
            }),
        })
    }

    fn number(&self, user: &str) -> Result<(), ExpressionError> {
        if self.measure.may_be_number() {
            return Ok(());
        }
        let message = format!("{user} needs a number without unit, and this is {}", self.words());
        Err(ExpressionError::new(self.range.clone(), message))
    }

    /// The measure of a power; `value` is that of the exponent, if it is written as a number.
    pub(crate) fn power(&self, exponent: &Self, value: Option<f64>) -> Result<Measure, ExpressionError> {
        exponent.number("an exponent")?;
        let Measure::Of(dimension) = self.measure else {
            return Ok(self.measure);
        };
        match value.and_then(|value| dimension.power(value)) {
            Some(power) => Ok(Measure::of(power)),
            None if dimension.is_number() => Ok(Measure::Bare),
            None => Err(ExpressionError {
                message: format!(
                    "the base is {}, whose powers are those by numbers such as 2 or 1/2",
                    self.words()
                ),
                range: self.range.start..exponent.range.end,
                help: None,
            }),
        }
    }

    /// The measure of a function.
    pub(crate) fn unary(&self, name: &str, function: Unary) -> Result<Measure, ExpressionError> {
        match function {
            Unary::Abs => Ok(self.measure),
            Unary::Sqrt => self.power(&Self::NONE, Some(0.5)),
            Unary::Sign | Unary::Step => Ok(Measure::Bare),
            _ => {
                self.number(&format!("`{name}`"))?;
                let keeps = matches!(function, Unary::Floor | Unary::Ceil | Unary::Round);
                Ok(match self.measure {
                    Measure::Unknown if keeps => Measure::Unknown,
                    _ => Measure::Bare,
                })
            }
        }
    }

    /// The measure of a function of two numbers.
    pub(crate) fn binary(&self, other: &Self, function: Binary) -> Result<Measure, ExpressionError> {
        let both = self.alike(other, "compared")?;
        Ok(match function {
            Binary::Atan2 => Measure::Bare,
            _ => both,
        })
    }

    /// The measure of a function of three numbers.
    pub(crate) fn ternary(parts: &[Self; 3], function: Ternary) -> Result<Measure, ExpressionError> {
        let [a, b, c] = parts;
        let two = Self::new(a.alike(b, "compared")?, a.range.start..b.range.end);
        let all = two.alike(c, "compared")?;
        Ok(match function {
            Ternary::Smoothstep => Measure::Bare,
            Ternary::Clamp => all,
        })
    }
}
