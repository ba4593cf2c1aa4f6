//! The notations of scene files: text to a tree of values, and the tree to the schema.
//!
//! RON and JSON are read into one [`Tree`], which keeps where everything stands, and the schema is
//! read from trees only. A complaint so knows its key, its kind and its place, in both notations.
//!
//! Scenes are written in a part of RON: `(key: value)`, `(a, b)`, `[a, b]`, `{"key": value}`,
//! `Kind`, `Kind(key: value)`, `Kind(a, b)`, numbers, texts, `true` and `false`, comments, commas
//! at the end. `Some` may be left out, and so may the inner brackets of `Kind((key: value))`.
//!
//! Included files become part of the tree (`merge`, `scope`), and what is repeated is written out
//! on it (`repeat`), before the schema is read.

mod complaint;
mod keys;
mod merge;
mod read;
mod repeat;
mod scope;
mod tree;
mod units;

pub(super) use complaint::Complaint;
pub(super) use repeat::Repeats;
pub(super) use scope::{Scope, resolve};
pub(super) use tree::Tree;

use std::path::Path;

/// The notation of a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rusty object notation, for people.
    Ron,
    /// JSON, for programs.
    Json,
}

/// A value that is written in more than one way: a number or a text, a list of such, perhaps a
/// kind.
///
/// Visitors of such values are read by `deserialize_newtype_struct` under one of the names below,
/// so that a reader knows what is asked for, as it does of structs and kinds.
pub(crate) struct Loose {
    /// Whether it may be a kind, too.
    pub(crate) kinds: bool,
}

/// The value of that name, if it is written in more than one way: `number`, also with its units
/// behind it, `numbers`, `end`, `place`, `thing`, `elements`, `function`, also with the units of
/// its values.
pub(crate) fn loose(name: &str) -> Option<Loose> {
    let word = name.split(' ').next().unwrap_or_default();
    matches!(
        word,
        "number" | "numbers" | "end" | "place" | "thing" | "function" | "elements"
    )
    .then_some(Loose {
        kinds: matches!(word, "function" | "elements"),
    })
}

impl Format {
    /// The notation of a file by its extension.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("ron") => Some(Self::Ron),
            Some("json") => Some(Self::Json),
            _ => None,
        }
    }
}
