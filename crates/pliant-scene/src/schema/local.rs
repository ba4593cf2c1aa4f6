//! Values in the axes of the file that says them.

use crate::texts;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A value in the axes of the file that says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Local<T> {
    /// The prefix of names of the file: `left.` of what an instance `left` says; empty of the scene
    /// itself.
    pub file: String,
    /// The value.
    pub value: T,
}

struct LocalVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LocalVisitor<T> {
    type Value = Local<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its file")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<Local<T>, D::Error> {
        Ok(Local {
            file: String::new(),
            value: T::deserialize(value)?,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Local<T>, A::Error> {
        let missing = || A::Error::custom("a value with its file");
        let file = pair.next_element()?.ok_or_else(missing)?;
        let value = pair.next_element()?.ok_or_else(missing)?;
        Ok(Local { file, value })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Local<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(texts::LOCAL, LocalVisitor(PhantomData))
    }
}
