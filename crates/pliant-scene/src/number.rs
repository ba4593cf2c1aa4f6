//! Values of a scene file that may be written in more than one way.

use crate::quantity::{Bases, Length, Pure, Quantity, Units, Written};
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
    One(Written),
    Many(Vec<Written>),
}

/// A number or a text alone.
pub(crate) struct Plain(pub(crate) Number);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;

        impl Visitor<'_> for Numbers {
            type Value = Plain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or an expression in quotes")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Plain, E> {
                Ok(Plain(Number::Value(value)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Plain, E> {
                Ok(Plain(Number::Expression(text.to_owned())))
            }
        }

        deserializer.deserialize_any(Numbers)
    }
}

impl Written {
    /// A number in SI units, or with units of its own.
    pub(crate) fn plain(number: Number) -> Self {
        Self { number, bases: None }
    }

    /// Reads the units of a file and a number.
    pub(crate) fn in_units<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (mass, length, time, Plain(number)) = Deserialize::deserialize(deserializer)?;
        Ok(Self {
            number,
            bases: Some(Bases { mass, length, time }),
        })
    }

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

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, "number")
    }
}

impl<'de, const LISTS: bool> Visitor<'de> for Loose<LISTS> {
    type Value = LooseValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an expression in quotes")?;
        f.write_str(if LISTS { ", or a list of them" } else { "" })
    }

    fn visit_f64<E>(self, value: f64) -> Result<LooseValue, E> {
        Ok(LooseValue::One(Written::plain(Number::Value(value))))
    }

    fn visit_str<E>(self, text: &str) -> Result<LooseValue, E> {
        let number = Number::Expression(text.to_owned());
        Ok(LooseValue::One(Written::plain(number)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, in_units: D) -> Result<LooseValue, D::Error> {
        Written::in_units(in_units).map(LooseValue::One)
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
        Written::deserialize(deserializer).map(|written| written.number)
    }
}

impl<'de, U: Units> Deserialize<'de> for OneOrMany<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(
            match deserializer.deserialize_newtype_struct("numbers", Loose::<true>)? {
                LooseValue::One(number) => Self::One(Quantity::written(number)),
                LooseValue::Many(numbers) => Self::Many(numbers.into_iter().map(Quantity::written).collect()),
            },
        )
    }
}

impl<'de> Deserialize<'de> for EndSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str =
            "expected an element `3`, an element of a node `(\"node\", 3)`, or a point `(x, y, z)`";
        let numbers = match deserializer.deserialize_newtype_struct("end", Loose::<true>)? {
            LooseValue::One(number) => return Ok(Self::Element(Quantity::written(number))),
            LooseValue::Many(numbers) => numbers,
        };
        match <[Written; 3]>::try_from(numbers) {
            Ok(point) => Ok(Self::Point(point.map(Quantity::written))),
            Err(numbers) => match <[Written; 2]>::try_from(numbers) {
                Ok(
                    [
                        Written {
                            number: Number::Expression(node),
                            ..
                        },
                        element,
                    ],
                ) => Ok(Self::Of(node, Quantity::written(element))),
                _ => Err(D::Error::custom(EXPECTED)),
            },
        }
    }
}
