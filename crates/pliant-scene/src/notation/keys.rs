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

/// Words of other programs, in small letters without lines below, and ours, of which the first that
/// is known stands.
const WORDS: &[(&str, &[&str])] = &[
    ("anchor", &["at"]),
    ("angularvelocity", &["angular_velocity"]),
    ("backwardeuler", &["Theta"]),
    ("ballandsocket", &["Ball"]),
    ("body1", &["a"]),
    ("body2", &["b"]),
    ("bodya", &["a"]),
    ("bodyb", &["b"]),
    ("child", &["b"]),
    ("coordinate", &["on"]),
    ("cuboid", &["Box"]),
    ("dt", &["step"]),
    ("e", &["young"]),
    ("endtime", &["duration"]),
    ("fem", &["Solid"]),
    ("filename", &["file"]),
    ("frictioncoefficient", &["friction"]),
    ("halfspace", &["Plane"]),
    ("impliciteuler", &["Theta"]),
    ("mu", &["friction"]),
    ("node", &["on"]),
    ("nu", &["poisson"]),
    ("omega", &["angular_velocity"]),
    ("on", &["node"]),
    ("orientation", &["rotation"]),
    ("origin", &["at", "position"]),
    ("parent", &["a", "node"]),
    ("poissonratio", &["poisson"]),
    ("poissonsratio", &["poisson"]),
    ("pos", &["position", "at"]),
    ("pininslot", &["SlottedHinge"]),
    ("pinslot", &["SlottedHinge"]),
    ("prismatic", &["Slider"]),
    ("quat", &["rotation"]),
    ("quaternion", &["rotation"]),
    ("revolute", &["Hinge"]),
    ("rho", &["density"]),
    ("rigid", &["Bodies"]),
    ("rigidbodies", &["Bodies"]),
    ("rigidbody", &["Bodies"]),
    ("rpy", &["rotation"]),
    ("spherical", &["Ball"]),
    ("static", &["Fixed"]),
    ("stvk", &["StVenantKirchhoff"]),
    ("tetrahedra", &["Solid"]),
    ("time", &["duration"]),
    ("timestep", &["step"]),
    ("translation", &["position"]),
    ("velocities", &["velocity"]),
    ("weld", &["Fixed"]),
    ("xyz", &["position", "at"]),
    ("youngmodulus", &["young"]),
    ("youngsmodulus", &["young"]),
];

/// The key or kind, of those that are known, that other programs give this name.
pub(super) fn word_for(found: &str, known: &[&'static str]) -> Option<&'static str> {
    let plain: String = found.chars().filter(|c| *c != '_').collect();
    let plain = plain.to_lowercase();
    let (_, ours) = WORDS.iter().find(|(theirs, _)| *theirs == plain)?;
    ours.iter().find(|own| known.contains(own)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_programs_are_those_that_stand_there() {
        assert_eq!(word_for("Revolute", &["Ball", "Hinge"]), Some("Hinge"));
        assert_eq!(word_for("youngs_modulus", &["young", "poisson"]), Some("young"));
        assert_eq!(word_for("pos", &["at"]), Some("at"));
        assert_eq!(word_for("dt", &["duration"]), None);
        let plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        assert!(
            WORDS
                .iter()
                .all(|(theirs, ours)| plain(theirs) && !ours.is_empty())
        );
    }
}
