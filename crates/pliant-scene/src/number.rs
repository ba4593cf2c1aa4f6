//! Values of a scene file that may be written in more than one way.

use super::texts;
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
pub enum OneOrMany {
    /// For all.
    One(Number),
    /// One each.
    Many(Vec<Number>),
}

/// One end of a difference or distance: an element, `3` or `("node", 3)`, or a fixed point
/// `(x, y, z)`.
#[derive(Clone, Debug, PartialEq)]
pub enum EndSpec {
    /// Element of the first parent.
    Element(Number),
    /// Element of the parent of that name.
    Of(String, Number),
    /// A point that does not move.
    Point([Number; 3]),
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

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<LooseValue, D::Error> {
        inner.deserialize_any(self)
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

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(Loose::<false>)? {
            LooseValue::One(number) => Ok(number),
            LooseValue::Many(_) => Err(D::Error::custom("expected a number")),
        }
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(Loose::<true>)? {
            LooseValue::One(number) => Self::One(number),
            LooseValue::Many(numbers) => Self::Many(numbers),
        })
    }
}

impl<'de> Deserialize<'de> for EndSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str =
            "expected an element `3`, an element of a node `(\"node\", 3)`, or a point `(x, y, z)`";
        let numbers = match deserializer.deserialize_newtype_struct(texts::EITHER, Loose::<true>)? {
            LooseValue::One(number) => return Ok(Self::Element(number)),
            LooseValue::Many(numbers) => numbers,
        };
        match <[Number; 3]>::try_from(numbers) {
            Ok(point) => Ok(Self::Point(point)),
            Err(numbers) => match <[Number; 2]>::try_from(numbers) {
                Ok([Number::Expression(node), element]) => Ok(Self::Of(node, element)),
                _ => Err(D::Error::custom(EXPECTED)),
            },
        }
    }
}
