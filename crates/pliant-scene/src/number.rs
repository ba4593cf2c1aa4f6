//! Values of a scene file that may be written in more than one way.

use crate::quantity::{Length, Pure, Quantity, Units};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// A number, or an expression over the parameters of the scene: `0.5`, `"$length / 2"`.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// The number as typed.
    Value(f64),
    /// To be evaluated when the scene is built.
    Expression(String),
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Value(value)
    }
}

/// One number for all, or a list.
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrMany<D: Units> {
    /// For all.
    One(Quantity<D>),
    /// One each.
    Many(Vec<Quantity<D>>),
}

/// One end of a difference or distance: an element, `3` or `("node", 3)`, or a fixed point
/// `(x, y, z)`.
#[derive(Clone, Debug, PartialEq)]
pub enum EndSpec {
    /// Element of the first parent.
    Element(Quantity<Pure>),
    /// Element of the parent of that name.
    Of(String, Quantity<Pure>),
    /// A point that does not move.
    Point([Quantity<Length>; 3]),
}

/// Accepts a number or a text; with `LISTS` also lists of them.
struct Loose<const LISTS: bool>;

enum LooseValue {
    One(Number),
    Many(Vec<Number>),
}

impl<'de, const LISTS: bool> Visitor<'de> for Loose<LISTS> {
    type Value = LooseValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an expression in quotes")?;
        f.write_str(if LISTS { ", or a list of them" } else { "" })
    }

    fn visit_f64<E>(self, value: f64) -> Result<LooseValue, E> {
        Ok(LooseValue::One(Number::Value(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<LooseValue, E> {
        Ok(LooseValue::One(Number::Expression(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LooseValue, A::Error> {
        if !LISTS {
            return Err(Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(LooseValue::Many(numbers))
    }
}

impl Number {
    /// Reads one as a value of that name ([`loose`](crate::notation::loose)).
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        name: &'static str,
    ) -> Result<Self, D::Error> {
        match deserializer.deserialize_newtype_struct(name, Loose::<false>)? {
            LooseValue::One(number) => Ok(number),
            LooseValue::Many(_) => Err(D::Error::custom("expected a number")),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, "number")
    }
}

impl<'de, U: Units> Deserialize<'de> for OneOrMany<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(
            match deserializer.deserialize_newtype_struct("numbers", Loose::<true>)? {
                LooseValue::One(number) => Self::One(Quantity::new(number)),
                LooseValue::Many(numbers) => Self::Many(numbers.into_iter().map(Quantity::new).collect()),
            },
        )
    }
}

impl<'de> Deserialize<'de> for EndSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str =
            "expected an element `3`, an element of a node `(\"node\", 3)`, or a point `(x, y, z)`";
        let numbers = match deserializer.deserialize_newtype_struct("end", Loose::<true>)? {
            LooseValue::One(number) => return Ok(Self::Element(Quantity::new(number))),
            LooseValue::Many(numbers) => numbers,
        };
        match <[Number; 3]>::try_from(numbers) {
            Ok(point) => Ok(Self::Point(point.map(Quantity::new))),
            Err(numbers) => match <[Number; 2]>::try_from(numbers) {
                Ok([Number::Expression(node), element]) => Ok(Self::Of(node, Quantity::new(element))),
                _ => Err(D::Error::custom(EXPECTED)),
            },
        }
    }
}
