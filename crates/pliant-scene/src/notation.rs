//! The notations of scene files: text to a tree of values, and the tree to the schema.
//!
//! RON and JSON are read into one [`Tree`], which keeps where everything stands, and the schema is
//! read from trees only. A complaint so knows its key, its kind and its place, in both notations.
//!
//! Scenes are written in a part of RON: `(key: value)`, `(a, b)`, `[a, b]`, `{"key": value}`,
//! `Kind`, `Kind(key: value)`, `Kind(a, b)`, numbers, texts, `true` and `false`, comments, commas
//! at the end. `Some` may be left out, and so may the inner brackets of `Kind((key: value))`.
//!
//! Included files become part of the tree (`merge`, `scope`), and what is repeated is written out on it
//! (`repeat`), before the schema is read.

mod complaint;
mod merge;
mod read;
mod repeat;
mod scope;
mod tree;

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
