//! Files that a scene includes.

use super::{Rotation, Triple};
use crate::quantity::Length;
use crate::{Number, texts};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A file whose entries are part of the scene.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "include", deny_unknown_fields)]
pub struct IncludeSpec {
    /// The path of the file, relative to the file that includes it.
    #[serde(deserialize_with = "texts::plain")]
    pub file: String,
    /// The name of this instance: `tip` in the file is `name.tip` outside of it. Without it, names
    /// are as they are.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub name: Option<String>,
    /// Values of parameters of the file, instead of its own.
    #[serde(default)]
    pub parameters: BTreeMap<String, Number>,
    /// The place of the origin of the file.
    #[serde(default)]
    pub position: Option<Triple<Length>>,
    /// Axes of the file against those of what includes it.
    #[serde(default)]
    pub rotation: Option<Rotation>,
}
