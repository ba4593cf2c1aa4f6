//! Texts of a scene by what they mean, for files that are included: names of things get the prefix
//! of their instance, and so do the names in expressions; paths are those from the directory of the
//! scene.
//!
//! A `String` of the schema is the name of a thing, a [`Number`](crate::Number) an expression.
//! Other texts say so by `#[serde(deserialize_with = "..")]`.

use serde::{Deserialize, Deserializer};

/// An expression.
pub(crate) const EXPRESSION: &str = "text that is an expression";
/// The name of a parameter.
pub(crate) const PARAMETER: &str = "text that is a parameter";
/// The path of a file.
pub(crate) const FILE: &str = "text that is a path";
/// A value with the prefix of its file.
pub(crate) const LOCAL: &str = "value with its file";
/// The same in every file.
pub(crate) const PLAIN: &str = "text";

#[derive(Deserialize)]
#[serde(rename = "text that is an expression")]
struct Expression(String);

#[derive(Deserialize)]
#[serde(rename = "text that is a parameter")]
struct Parameter(String);

#[derive(Deserialize)]
#[serde(rename = "text that is a path")]
struct File(String);

#[derive(Deserialize)]
#[serde(rename = "text")]
struct Plain(String);

/// Reads an expression that is kept as a text.
pub(crate) fn expression<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Expression::deserialize(from).map(|text| text.0)
}

/// Reads the name of a parameter.
pub(crate) fn parameter<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Parameter::deserialize(from).map(|text| text.0)
}

/// Reads the path of a file.
pub(crate) fn file<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    File::deserialize(from).map(|text| text.0)
}

/// Reads the path of a file that may be missing.
pub(crate) fn maybe_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<File>::deserialize(from)?.map(|text| text.0))
}

/// Reads a text that means the same in every file.
pub(crate) fn plain<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Plain::deserialize(from).map(|text| text.0)
}

/// Reads such a text that may be missing.
pub(crate) fn maybe_plain<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Plain>::deserialize(from)?.map(|text| text.0))
}

/// Reads a list of such texts.
pub(crate) fn plain_list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let list = Vec::<Plain>::deserialize(from)?;
    Ok(list.into_iter().map(|text| text.0).collect())
}

/// Reads a list of such texts that may be missing.
pub(crate) fn maybe_plain_list<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let list = Option::<Vec<Plain>>::deserialize(from)?;
    Ok(list.map(|list| list.into_iter().map(|text| text.0).collect()))
}
