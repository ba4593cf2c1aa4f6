//! The keys that the parts of a scene have, for errors.

use crate::schema::{MaterialSpec, Run, Scene, StaticsSpec};
use serde::de::value::Error as Fault;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::cell::Cell;

/// All keys of a type with keys.
pub(super) fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct Keys(Cell<&'static [&'static str]>);
    impl<'de> Deserializer<'de> for &Keys {
        type Error = Fault;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
            Err(Fault::custom(""))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Fault> {
            self.0.set(fields);
            Err(Fault::custom(""))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let keys = Keys(Cell::new(&[]));
    // Always an error: only the names of the keys are asked for.
    drop(T::deserialize(&keys));
    keys.0.get()
}

/// The part of a scene that a key belongs to, in words, where it stands in another one, whose keys
/// are known.
pub(super) fn home_of(key: &str, known: &[&str]) -> Option<&'static str> {
    // Nearly everything has a name.
    if key == "name" {
        return None;
    }
    let homes = [
        ("the scene itself", keys_of::<Scene>()),
        ("`run`", keys_of::<Run>()),
        ("`statics` in `run`", keys_of::<StaticsSpec>()),
        ("`materials` of surfaces", keys_of::<MaterialSpec>()),
    ];
    let has = |keys: &&[&str]| keys.contains(&key) && keys[..] != *known;
    homes.iter().find(|(_, keys)| has(keys)).map(|(home, _)| *home)
}
