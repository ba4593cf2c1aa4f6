//! Errors of imports.

use pliant_scene::Diagnostic;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be imported. What it shows is ready for the terminal, as of a scene: the
/// complaint, the place, the line with a caret, help.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file, or one that it includes, is missing or unreadable.
    #[error("error: cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Neither the name of the file nor its first element says what it is.
    #[error("{0}")]
    Format(Box<Diagnostic>),
    /// The text is no well-formed XML, or beyond a limit.
    #[error("{0}")]
    Syntax(Box<Diagnostic>),
    /// A number, name or element does not fit.
    #[error("{0}")]
    Value(Box<Diagnostic>),
    /// An option of the import, such as a coordinate to start from, does not fit the file.
    #[error("error: {message}{}", .help.as_ref().map_or_else(String::new, |h| format!("\n = help: {h}")))]
    Option {
        /// The error.
        message: String,
        /// Help.
        help: Option<String>,
    },
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for ImportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl ImportError {
    /// The complaint about the file, if it is one.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Self::Format(diagnostic) | Self::Syntax(diagnostic) | Self::Value(diagnostic) => Some(diagnostic),
            _ => None,
        }
    }
}
