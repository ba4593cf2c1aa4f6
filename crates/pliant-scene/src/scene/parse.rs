//! Text to schema, with errors that point at the place.

use super::error::SceneError;
use super::schema::Scene;
use super::source::SourceText;
use super::suggest;
use ron::error::Error as RonError;
use ron::extensions::Extensions;

/// The notation of a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rusty object notation, for people.
    Ron,
    /// JSON, for programs.
    Json,
}

/// Deeper nesting of brackets is refused. A scene needs about ten.
const DEEPEST: usize = 64;

pub(crate) fn parse(source: &SourceText, format: Format) -> Result<Scene, SceneError> {
    match format {
        Format::Ron => parse_ron(source),
        Format::Json => parse_json(source),
    }
}

fn parse_ron(source: &SourceText) -> Result<Scene, SceneError> {
    let options = ron::Options::default()
        .with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
        .with_recursion_limit(DEEPEST);
    options.from_str(&source.text).map_err(|error| {
        let (start, end) = (error.span.start, error.span.end);
        let byte = byte_at(&source.text, start.line, start.col);
        let stop = byte_at(&source.text, end.line, end.col);
        let after = matches!(error.code, RonError::InvalidValueForType { .. });
        let complaint = Complaint::of_ron(error.code);
        let place = complaint
            .word
            .as_ref()
            .and_then(|word| source.word_near(word, stop));
        // A word of the wrong type is complained of once it is read.
        let place = place.or_else(|| if after { source.value_before(stop) } else { None });
        let place = place.or_else(|| source.token_at(byte)).unwrap_or(byte..stop);
        SceneError::Syntax(Box::new(source.at(place, complaint.message, complaint.help)))
    })
}

fn parse_json(source: &SourceText) -> Result<Scene, SceneError> {
    serde_json::from_str(&source.text).map_err(|error| {
        let byte = byte_at(&source.text, error.line(), error.column());
        let complaint = Complaint::of_json(&error.to_string());
        let place = complaint
            .word
            .as_ref()
            .and_then(|word| source.word_near(word, byte));
        let place = place
            .or_else(|| source.token_before(byte.max(1)))
            .unwrap_or(byte..byte);
        SceneError::Syntax(Box::new(source.at(place, complaint.message, complaint.help)))
    })
}

/// The byte of a line and column, both counted from one, the column in characters.
fn byte_at(text: &str, line: usize, column: usize) -> usize {
    let mut start = 0;
    for _ in 1..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len(),
        }
    }
    let rest = &text[start..];
    start
        + rest
            .char_indices()
            .nth(column.saturating_sub(1))
            .map_or(rest.len(), |(i, _)| i)
}

/// What is wrong, what may help, and the word of the file that it is about.
struct Complaint {
    message: String,
    help: Option<String>,
    word: Option<String>,
}

impl Complaint {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            word: None,
        }
    }

    fn unknown(kind: &str, found: &str, outer: Option<&str>, expected: &[&str], plural: &str) -> Self {
        let inside = outer.map_or_else(String::new, |outer| format!(" in `{outer}`"));
        Self {
            message: format!("unknown {kind} `{found}`{inside}"),
            help: suggest::hint(found, plural, expected.iter().copied()),
            word: Some(found.to_owned()),
        }
    }

    fn of_ron(error: RonError) -> Self {
        let missing = |field: &str, outer: Option<&str>| {
            let inside = outer.map_or_else(String::new, |outer| format!(" in `{outer}`"));
            Self::new(format!("missing key `{field}`{inside}"))
        };
        let wrong = |message: String| Self::new(message);
        match error {
            RonError::NoSuchStructField {
                expected,
                found,
                outer,
            } => Self::unknown("key", &found, outer.as_deref(), expected, "known keys"),
            RonError::NoSuchEnumVariant {
                expected,
                found,
                outer,
            } => Self::unknown("kind", &found, outer.as_deref(), expected, "known kinds"),
            RonError::MissingStructField { field, outer } => missing(field, outer.as_deref()),
            RonError::DuplicateStructField { field, .. } => Self {
                message: format!("the key `{field}` is given twice"),
                help: None,
                word: Some(field.to_owned()),
            },
            RonError::InvalidValueForType { expected, found } => {
                let found = found
                    .replace("a unit value", "a bare word")
                    .replace("a sequence", "a list");
                wrong(format!("expected {expected}; found {found}"))
            }
            RonError::ExpectedDifferentLength { expected, found } => {
                wrong(format!("expected {expected}, found {found} of them"))
            }
            RonError::ExceededRecursionLimit => wrong("brackets are nested too deeply for a scene".into()),
            RonError::Eof => Self {
                message: "the scene ends too early".into(),
                help: Some("is there a closing bracket missing?".into()),
                word: None,
            },
            other => {
                let text = other.to_string();
                let mut characters = text.chars();
                let first = characters
                    .next()
                    .map(|c| c.to_lowercase().to_string())
                    .unwrap_or_default();
                wrong(first + characters.as_str())
            }
        }
    }

    /// Reads the words of `serde_json`, which has no structured errors.
    fn of_json(text: &str) -> Self {
        let text = text.rsplit_once(" at line ").map_or(text, |(message, _)| message);
        let mut quoted = text.split('`').skip(1).step_by(2);
        let unknown = ["unknown field", "unknown variant"]
            .iter()
            .position(|s| text.starts_with(s));
        if let (Some(which), Some(found)) = (unknown, quoted.next()) {
            let known: Vec<&str> = quoted.collect();
            let (kind, plural) = [("key", "known keys"), ("kind", "known kinds")][which];
            return Self::unknown(kind, found, None, &known, plural);
        }
        let text =
            text.replacen("missing field", "missing key", 1)
                .replacen("duplicate field", "second key", 1);
        Self::new(text)
    }
}
