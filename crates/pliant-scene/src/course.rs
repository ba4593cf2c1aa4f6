//! Functions of time as they stand in a scene.

use super::Number;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::fmt;

/// A function of time: a number or an expression in `$t` (s), a list of them with one for each
/// coordinate, or a table of (time, value).
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// For all coordinates.
    One(Number),
    /// One for each coordinate.
    Each(Vec<Number>),
    /// Pairs of time and value, joined by straight lines and constant beyond; for all coordinates.
    Table(Vec<[Number; 2]>),
}

/// An entry of a list.
enum Entry {
    Number(Number),
    Pair([Number; 2]),
}

struct Courses;
struct Entries;

macro_rules! numbers {
    ($one:path) => {
        fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
            Ok($one(Number::Value(value)))
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok($one(Number::Expression(text.to_owned())))
        }
    };
}

impl<'de> Visitor<'de> for Entries {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, an expression in quotes, or a pair (time, value)")
    }

    numbers!(Entry::Number);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entry, A::Error> {
        let (Some(time), Some(value), None) = (
            list.next_element()?,
            list.next_element()?,
            list.next_element::<Number>()?,
        ) else {
            return Err(serde::de::Error::custom("expected a pair (time, value)"));
        };
        Ok(Entry::Pair([time, value]))
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Entries)
    }
}

impl<'de> Visitor<'de> for Courses {
    type Value = Course;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, an expression of the time \"$t\", or a list [(time, value), ..]")
    }

    numbers!(Course::One);

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Course, A::Error> {
        let (mut numbers, mut pairs) = (Vec::new(), Vec::new());
        while let Some(entry) = list.next_element()? {
            match entry {
                Entry::Number(number) => numbers.push(number),
                Entry::Pair(pair) => pairs.push(pair),
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
}

impl<'de> Deserialize<'de> for Course {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Courses)
    }
}
