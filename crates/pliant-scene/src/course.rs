//! Functions of time as they stand in a scene.

use super::Number;
use crate::quantity::{Quantity, Takes, Time, Units, Written};
use crate::schema::FunctionSpec;
use serde::Deserialize;
use serde::de::value::EnumAccessDeserializer;
use serde::de::{Deserializer, EnumAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A function of time: a number or an expression in `$t` (s), a list of them with one for each
/// coordinate, a table of (time, value), or one out of a file.
#[derive(Clone, Debug)]
pub enum Course<D: Units> {
    /// For all coordinates.
    One(Quantity<D>),
    /// One for each coordinate.
    Each(Vec<Quantity<D>>),
    /// Pairs of time and value, joined by straight lines and constant beyond; for all coordinates.
    Table(Vec<(Quantity<Time>, Quantity<D>)>),
    /// Of columns of a file, joined by straight lines or by a curve, and the units of its values;
    /// for all coordinates.
    File(FunctionSpec, &'static Takes),
}

impl<D: Units> Course<D> {
    /// The same function where only these units are right.
    pub(crate) fn taking(&self, takes: &'static Takes) -> Self {
        match self {
            Self::One(number) => Self::One(number.taking(takes)),
            Self::Each(list) => Self::Each(list.iter().map(|number| number.taking(takes)).collect()),
            Self::Table(points) => {
                let point =
                    |(time, value): &(Quantity<Time>, Quantity<D>)| (time.clone(), value.taking(takes));
                Self::Table(points.iter().map(point).collect())
            }
            Self::File(file, _) => Self::File(file.clone(), takes),
        }
    }
}

impl<D: Units> Course<D> {
    /// The same function where these units are right of numbers that have none of their own.
    pub(crate) fn fitting(&self, takes: Option<&'static Takes>) -> Self {
        match self {
            Self::One(number) => Self::One(number.fitting(takes)),
            Self::Each(list) => Self::Each(list.iter().map(|number| number.fitting(takes)).collect()),
            Self::Table(points) => {
                let point =
                    |(time, value): &(Quantity<Time>, Quantity<D>)| (time.clone(), value.fitting(takes));
                Self::Table(points.iter().map(point).collect())
            }
            Self::File(..) => self.clone(),
        }
    }
}

/// An entry of a list.
enum Entry {
    Number(Written),
    Pair([Written; 2]),
}

struct Courses<D>(PhantomData<D>);
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, an expression in quotes, or a pair (time, value)")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Entry, E> {
        Ok(Entry::Number(Written::plain(Number::Value(value))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Entry, E> {
        let number = Number::Expression(text.to_owned());
        Ok(Entry::Number(Written::plain(number)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, in_units: D) -> Result<Entry, D::Error> {
        Written::in_units(in_units).map(Entry::Number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entry, A::Error> {
        let (Some(time), Some(value), None) = (
            list.next_element()?,
            list.next_element()?,
            list.next_element::<Written>()?,
        ) else {
            return Err(serde::de::Error::custom("expected a pair (time, value)"));
        };
        Ok(Entry::Pair([time, value]))
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("number", Entries)
    }
}

impl<'de, U: Units> Visitor<'de> for Courses<U> {
    type Value = Course<U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a number, an expression of the time \"$t\", a list [(time, value), ..], `Table(..)` or `Spline(..)`",
        )
    }

    fn visit_f64<E>(self, value: f64) -> Result<Course<U>, E> {
        Ok(Course::One(Quantity::new(Number::Value(value))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Course<U>, E> {
        Ok(Course::One(Quantity::new(Number::Expression(text.to_owned()))))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, in_units: D) -> Result<Course<U>, D::Error> {
        Written::in_units(in_units).map(|written| Course::One(Quantity::written(written)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Course<U>, A::Error> {
        let (mut numbers, mut pairs) = (Vec::new(), Vec::new());
        while let Some(entry) = list.next_element()? {
            match entry {
                Entry::Number(number) => numbers.push(Quantity::written(number)),
                Entry::Pair([time, value]) => pairs.push((Quantity::written(time), Quantity::written(value))),
            }
        }
        match (numbers.is_empty(), pairs.is_empty()) {
            (_, true) => Ok(Course::Each(numbers)),
            (true, false) => Ok(Course::Table(pairs)),
            _ => Err(serde::de::Error::custom(
                "expected a list of numbers or a list of pairs (time, value), not both in one",
            )),
        }
    }

    fn visit_enum<A: EnumAccess<'de>>(self, kind: A) -> Result<Course<U>, A::Error> {
        FunctionSpec::deserialize(EnumAccessDeserializer::new(kind)).map(|file| Course::File(file, U::TAKES))
    }
}

impl<'de, U: Units> Deserialize<'de> for Course<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("function", Courses::<U>(PhantomData))
    }
}
