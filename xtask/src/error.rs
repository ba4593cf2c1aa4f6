//! Failures of a task, apart from a gate that says no.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A task that could not do its work. A gate that ran and failed is not an error but a nonzero exit
/// code.
#[derive(Debug)]
pub(crate) enum Error {
    /// No task has this name.
    UnknownTask { name: String, nearest: Option<String> },
    /// A task was given an argument that it does not know.
    UnknownFlag {
        task: &'static str,
        flag: String,
        nearest: Option<String>,
    },
    /// No `Cargo.toml` with a `[workspace]` table in this folder or above it.
    NoWorkspace { from: PathBuf },
    /// A file could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// A program could not be started.
    Start { command: String, source: io::Error },
    /// No Python that can run the package.
    NoPython,
    /// A program whose output was needed failed.
    Failed { command: String, stderr: String },
    /// The output of `cargo metadata` is not JSON.
    Json {
        command: String,
        source: serde_json::Error,
    },
    /// The output of `cargo metadata` lacks a field.
    Metadata { missing: &'static str, of: String },
}

impl Error {
    /// The process exit code: 2 for wrong usage, 1 for everything else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Error::UnknownTask { .. } | Error::UnknownFlag { .. } => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownTask { name, nearest } => {
                write!(f, "no task is called `{name}`")?;
                suggest(f, nearest.as_deref())?;
                write!(f, "\n`cargo xtask` lists the tasks")
            }
            Error::UnknownFlag { task, flag, nearest } => {
                write!(f, "`cargo xtask {task}` does not take `{flag}`")?;
                suggest(f, nearest.as_deref())
            }
            Error::NoWorkspace { from } => {
                write!(
                    f,
                    "no Cargo.toml with a [workspace] table in {} or above it",
                    from.display()
                )
            }
            Error::File { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Start { command, source } => write!(f, "cannot start `{command}`: {source}"),
            Error::NoPython => write!(
                f,
                "the Python package needs Python 3.10 or later, as `python3` or `python`, with `venv` and `pip`"
            ),
            Error::Failed { command, stderr } => write!(f, "`{command}` failed:\n{stderr}"),
            Error::Json { command, source } => write!(f, "the output of `{command}` is not JSON: {source}"),
            Error::Metadata { missing, of } => write!(f, "`cargo metadata` gives no `{missing}` for {of}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } | Error::Start { source, .. } => Some(source),
            Error::Json { source, .. } => Some(source),
            _ => None,
        }
    }
}

fn suggest(f: &mut fmt::Formatter<'_>, nearest: Option<&str>) -> fmt::Result {
    match nearest {
        Some(name) => write!(f, "; did you mean `{name}`?"),
        None => Ok(()),
    }
}
