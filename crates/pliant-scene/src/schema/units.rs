//! Units of the numbers of a file.

use crate::texts;
use serde::Deserialize;

/// Units of the numbers of a file that have none of their own. Those of other dimensions are made
/// of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "units", deny_unknown_fields)]
pub struct UnitsSpec {
    /// Of lengths; `m` by default.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub length: Option<String>,
    /// Of masses; `kg` by default, or what `force` makes it.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub mass: Option<String>,
    /// Of times; `s` by default.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub time: Option<String>,
    /// Of forces, instead of `mass`.
    #[serde(default, deserialize_with = "texts::maybe_plain")]
    pub force: Option<String>,
}
