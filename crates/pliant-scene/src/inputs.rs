//! The files that a scene is made of, and where they may be.

use std::path::{Path, PathBuf};

/// A file that a scene is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Where it was read.
    pub path: PathBuf,
    /// Its path as the scene says it, relative to the scene.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its CRC-32, as in zip and gzip.
    pub crc32: u32,
}

impl InputFile {
    /// A file with this content.
    pub(crate) fn of(path: PathBuf, name: &str, bytes: &[u8]) -> Self {
        Self {
            path,
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            crc32: crc32fast::hash(bytes),
        }
    }
}

/// The place of a file that is in none of the directories, links followed as far as there is
/// something on the way to it. Missing files are missing inside, and outside none of the scene's
/// business.
pub(crate) fn outside(file: &Path, folder: &Path, directories: &[PathBuf]) -> Option<PathBuf> {
    let real = file.ancestors().find_map(|path| {
        let there = path.canonicalize().ok()?;
        let rest = file.strip_prefix(path).unwrap_or(Path::new(""));
        Some(if rest.as_os_str().is_empty() {
            there
        } else {
            there.join(rest)
        })
    })?;
    let holds = |directory: &Path| directory.canonicalize().is_ok_and(|d| real.starts_with(d));
    let inside = holds(folder) || directories.iter().any(|d| holds(d));
    (!inside).then_some(real)
}
