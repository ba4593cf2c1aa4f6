//! Errors in scenes.

use super::diagnostic::Diagnostic;
use pliant::model::ModelError;
use pliant_mesh_io::MeshError;
use std::io;
use std::path::PathBuf;

/// Why a scene cannot be used. What it shows is ready for the terminal: the complaint, the place,
/// the line with a caret, help.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file is missing or unreadable.
    #[error("error: cannot read the scene {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The extension is neither `ron` nor `json`.
    #[error(
        "error: {path} is not a scene by its name\n = help: scene files end in `.ron` or `.json`",
        path = path.display()
    )]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The text does not follow the format.
    #[error("{0}")]
    Syntax(Box<Diagnostic>),
    /// A number, expression or name in the file does not fit.
    #[error("{0}")]
    Value(Box<Diagnostic>),
    /// The model refuses what the file says.
    #[error("{diagnostic}")]
    Model {
        /// The complaint with its place.
        diagnostic: Box<Diagnostic>,
        /// The model's error.
        source: ModelError,
    },
    /// The simulation refuses what the file says.
    #[error("{diagnostic}")]
    Simulation {
        /// The complaint with its place.
        diagnostic: Box<Diagnostic>,
        /// The simulation's error.
        source: Box<pliant::Error>,
    },
    /// A mesh that the scene names cannot be read.
    #[error("{diagnostic}")]
    Mesh {
        /// The complaint with its place.
        diagnostic: Box<Diagnostic>,
        /// The reader's error.
        source: MeshError,
    },
    /// A value given beside the file (`--set`, `--step`) does not fit.
    #[error("error: {message}{}", .help.as_ref().map_or_else(String::new, |h| format!("\n = help: {h}")))]
    Setting {
        /// The error.
        message: String,
        /// Help.
        help: Option<String>,
    },
}

/// The complaint with its place: a `main` that returns the error prints it, behind `Error: `.
impl std::fmt::Debug for SceneError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.to_string();
        f.write_str(text.strip_prefix("error: ").unwrap_or(&text))
    }
}

impl SceneError {
    /// The complaint about the file, if it is one.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        match self {
            Self::Syntax(diagnostic)
            | Self::Value(diagnostic)
            | Self::Model { diagnostic, .. }
            | Self::Simulation { diagnostic, .. }
            | Self::Mesh { diagnostic, .. } => Some(diagnostic),
            _ => None,
        }
    }
}
