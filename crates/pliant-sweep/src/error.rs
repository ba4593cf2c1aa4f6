//! Errors of sweeps.

use pliant_output::ExportError;
use pliant_scene::{Diagnostic, SceneError, SourceSpan};
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Why there is no sweep, or no table of it. What it shows is ready for the terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// A value, a name or a cell does not fit.
    #[error("{0}")]
    Place(Box<Diagnostic>),
    /// The scene is no scene, or not with its own parameters.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// The arguments together do not fit.
    #[error("error: {message}{}", .help.as_ref().map_or_else(String::new, |h| format!("\n = help: {h}")))]
    Setting {
        /// The error.
        message: String,
        /// Help.
        help: Option<String>,
    },
    /// A file cannot be read.
    #[error("error: cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system has no thread for the jobs.
    #[error("error: cannot start a thread for the jobs: {source}")]
    Thread {
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written, or a directory cannot be had.
    #[error("error: {0}")]
    Write(#[from] ExportError),
}

impl SweepError {
    /// An error about a place of a text; `file` is its name.
    pub(crate) fn at(
        file: &str,
        text: &str,
        range: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        Self::Place(Box::new(Diagnostic {
            message: message.into(),
            file: file.to_owned(),
            place: Some(SourceSpan::of(text, range)),
            help,
            notes: Vec::new(),
        }))
    }

    /// An error without a place.
    pub(crate) fn setting(message: impl Into<String>, help: Option<String>) -> Self {
        Self::Setting {
            message: message.into(),
            help,
        }
    }
}
