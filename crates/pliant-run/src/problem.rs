//! Files of problems for the solvers: a failing solve that is sent, a problem that is tried.
//!
//! The format is that of [`pliant_lab::exchange`]; reference/solvers.md of the book describes it.

use pliant_lab::exchange::{ExchangeError, Layout, Record};
use pliant_mesh_io::read_file;
use pliant_output::ExportError;
use pliant_output::atomic::write_atomically;
use std::io;
use std::path::{Path, PathBuf};

/// The largest file that [`read_problem`] reads, in bytes: 256 MiB.
pub const LARGEST_PROBLEM: u64 = 256 << 20;

/// Why a problem could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemFileError {
    /// The operating system refused.
    #[error("cannot read the problem {path}: {source}", path = path.display())]
    Io {
        /// The file meant.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The content is no problem.
    #[error("{path}: {source}", path = path.display())]
    Content {
        /// The file meant.
        path: PathBuf,
        /// The error in it.
        source: ExchangeError,
    },
}

/// Reads a problem and its matrices, which are beside it, from files of at most
/// [`LARGEST_PROBLEM`] bytes each.
///
/// # Errors
/// [`ProblemFileError`], which names the file.
pub fn read_problem(path: &Path) -> Result<Record, ProblemFileError> {
    read_problem_within(path, LARGEST_PROBLEM)
}

/// Reads a problem as [`read_problem`] does, from files of at most `most` bytes each.
///
/// # Errors
/// [`ProblemFileError`], which names the file.
pub fn read_problem_within(path: &Path, most: u64) -> Result<Record, ProblemFileError> {
    let read = |path: &Path| {
        let bytes = read_file(path, most)?;
        String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
    };
    let text = read(path).map_err(|source| ProblemFileError::Io {
        path: path.to_owned(),
        source,
    })?;
    let beside = |name: &str| read(&path.with_file_name(name)).map_err(|e| e.to_string());
    Record::read(&text, beside).map_err(|source| ProblemFileError::Content {
        path: path.to_owned(),
        source,
    })
}

/// Why a problem could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteProblemError {
    /// A file.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The problem itself.
    #[error(transparent)]
    Content(#[from] ExchangeError),
}

/// Writes a problem into the directory `dir` (created if missing) as `<name>.json` and its
/// matrices, and returns the path of the former. Each file is complete or absent; the matrices come
/// first, so that a header never lacks one.
///
/// # Errors
/// [`WriteProblemError`].
pub fn write_problem(dir: &Path, record: &Record, layout: Layout) -> Result<PathBuf, WriteProblemError> {
    let texts = record.write(layout)?;
    std::fs::create_dir_all(dir).map_err(|source| ExportError::Io {
        path: dir.to_owned(),
        source,
    })?;
    for (name, text) in &texts.matrices {
        write_atomically(&dir.join(name), |out| out.write_all(text.as_bytes()))?;
    }
    let path = dir.join(format!("{}.json", record.name));
    write_atomically(&path, |out| out.write_all(texts.header.as_bytes()))?;
    Ok(path)
}
