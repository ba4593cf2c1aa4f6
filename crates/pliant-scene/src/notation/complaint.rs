//! Errors in the notation of a scene, before any number is looked at.

use super::keys::{home_of, word_for};
use pliant_expression::suggest;
use serde::de::{Error, Expected, Unexpected};
use std::fmt::{self, Display};
use std::ops::Range;

/// A complaint about a range of the text.
#[derive(Debug)]
pub(crate) struct Complaint(Box<Inner>);

#[derive(Debug)]
struct Inner {
    fault: Fault,
    /// The kind or key that holds what is wrong.
    outer: Option<&'static str>,
    help: Option<String>,
    range: Option<Range<usize>>,
}

#[derive(Debug)]
enum Fault {
    UnknownKey(String, &'static [&'static str]),
    UnknownKind(String, &'static [&'static str]),
    MissingKey(&'static str),
    SecondKey(&'static str),
    Other(String),
}

impl Complaint {
    fn new(fault: Fault) -> Self {
        Self(Box::new(Inner {
            fault,
            outer: None,
            help: None,
            range: None,
        }))
    }

    /// A complaint in words.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(Fault::Other(message.into()))
    }

    /// Adds what may help.
    pub(crate) fn with_help(mut self, help: &str) -> Self {
        self.0.help = Some(help.to_owned());
        self
    }

    /// Sets where it is, unless that is known more closely.
    pub(crate) fn at(mut self, range: &Range<usize>) -> Self {
        self.0.range.get_or_insert_with(|| range.clone());
        self
    }

    /// Sets the kind or key that it is in, unless that is known.
    pub(super) fn inside(mut self, outer: &'static str) -> Self {
        self.0.outer.get_or_insert(outer);
        self
    }

    /// Whether it is about a key that is not there.
    pub(super) fn is_of_missing_key(&self) -> bool {
        matches!(self.0.fault, Fault::MissingKey(_))
    }

    /// The message, the place, and what may help.
    pub(crate) fn into_parts(self) -> (String, Range<usize>, Option<String>) {
        let message = self.to_string();
        let help = match &self.0.fault {
            Fault::UnknownKey(found, known) => {
                let near = suggest::nearest(found, known.iter().copied());
                match (word_for(found, known), home_of(found, known)) {
                    (Some(word), _) => Some(format!("`{found}` is `{word}` here")),
                    (None, Some(home)) if near.is_none() => Some(format!("`{found}` is a key of {home}")),
                    _ => suggest::hint(found, "known keys", known.iter().copied()),
                }
            }
            Fault::UnknownKind(found, known) => match word_for(found, known) {
                Some(word) => Some(format!("`{found}` is `{word}` here")),
                None => suggest::hint(found, "known kinds", known.iter().copied()),
            },
            _ => self.0.help,
        };
        (message, self.0.range.unwrap_or_default(), help)
    }
}

impl Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.fault {
            Fault::UnknownKey(found, _) => write!(f, "unknown key `{found}`")?,
            Fault::UnknownKind(found, _) => write!(f, "unknown kind `{found}`")?,
            Fault::MissingKey(key) => write!(f, "missing key `{key}`")?,
            Fault::SecondKey(key) => return write!(f, "the key `{key}` is given twice"),
            Fault::Other(message) => return f.write_str(message),
        }
        match self.0.outer {
            Some("Scene") => f.write_str(" in the scene"),
            Some(outer) => write!(f, " in `{outer}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Complaint {}

impl Error for Complaint {
    fn custom<T: Display>(message: T) -> Self {
        Self::other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::other(format!("expected {expected}; found {}", Found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        Self::other(format!("expected {expected}, found {found} of them"))
    }

    fn unknown_field(found: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownKey(found.to_owned(), expected))
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Fault::UnknownKind(found.to_owned(), expected))
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Fault::MissingKey(key))
    }

    fn duplicate_field(key: &'static str) -> Self {
        Self::new(Fault::SecondKey(key))
    }
}

/// A value in words.
struct Found<'a>(Unexpected<'a>);

impl Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Bool(value) => write!(f, "the boolean `{value}`"),
            Unexpected::Float(value) => write!(f, "the number {value}"),
            Unexpected::Str(text) => write!(f, "the text {text:?}"),
            Unexpected::Seq => f.write_str("a list"),
            Unexpected::Map => f.write_str("keys with values"),
            Unexpected::Unit => f.write_str("nothing"),
            // Only where a kind stands and none is taken.
            Unexpected::Enum => f.write_str("a bare word"),
            other => other.fmt(f),
        }
    }
}
