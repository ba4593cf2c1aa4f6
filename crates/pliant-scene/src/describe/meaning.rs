//! The documentation of keys and kinds, which `cargo xtask keys` writes down from the types that
//! read them.

use std::collections::BTreeMap;

/// Lines `Type.key: meaning`.
const TEXT: &str = include_str!("meanings.txt");

/// The meanings of keys and kinds, by the types that read them.
pub(super) struct Meanings(BTreeMap<&'static str, &'static str>);

impl Meanings {
    pub(super) fn new() -> Self {
        Self(TEXT.lines().filter_map(|line| line.split_once(": ")).collect())
    }

    /// The meaning of a key of a struct or a kind of an enum, by the path of the type of its visitor,
    /// in which the name of the struct or enum stands.
    pub(super) fn of(&self, path: &str, key: &str) -> Option<&'static str> {
        path.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .find_map(|name| self.0.get(format!("{name}.{key}").as_str()).copied())
    }
}
