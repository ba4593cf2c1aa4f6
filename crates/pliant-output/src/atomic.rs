//! Files that are complete or absent.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use crc32fast::Hasher as Crc32;

/// The end of the names of temporary files.
pub(crate) const PARTIAL: &str = ".partial";

/// Names that are tried for a temporary file; with 64 random bits each the first one is free.
const MOST_NAMES: usize = 8;

/// A file that was written, with the size and checksum of the bytes that the system took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its CRC-32, as in zip and gzip.
    pub crc32: u32,
}

/// Removes the temporary file unless it was renamed: also when the writing closure panics.
struct Partial {
    path: PathBuf,
    renamed: bool,
}

impl Partial {
    /// Creates a temporary file beside `path`. Its name is of this process and this call alone, and
    /// it did not exist: neither another run nor a link under that name can share it.
    fn create(path: &Path) -> io::Result<(Self, File)> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path has no file name",
            ));
        };
        let mut taken = None;
        for _ in 0..MOST_NAMES {
            // The seeds of hash maps are the random numbers that the standard library has.
            let random = RandomState::new().build_hasher().finish();
            let mut sibling = std::ffi::OsString::from(".");
            sibling.push(name);
            sibling.push(format!(".{}-{random:016x}{PARTIAL}", std::process::id()));
            let path = path.with_file_name(sibling);
            match File::create_new(&path) {
                Ok(file) => {
                    let renamed = false;
                    return Ok((Self { path, renamed }, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.renamed {
            // Nobody is left to tell; a run that takes the directory removes leftovers of results.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The file name that a temporary file stands for; `None` of other names.
pub(crate) fn name_of_partial(name: &str) -> Option<&str> {
    let (name, tag) = name.strip_prefix('.')?.strip_suffix(PARTIAL)?.rsplit_once('.')?;
    let (process, random) = tag.split_once('-')?;
    let is_tag = !process.is_empty()
        && process.bytes().all(|b| b.is_ascii_digit())
        && random.len() == 16
        && random.bytes().all(|b| b.is_ascii_hexdigit());
    is_tag.then_some(name)
}

/// A file, and the size and checksum of what went into it.
struct Summed {
    file: File,
    bytes: u64,
    crc: Crc32,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        self.crc.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file through `fill` so that `path` never holds half of it.
///
/// The bytes go to a sibling `.<name>.<process>-<random>.partial`, which is flushed, synced to the
/// disk and then renamed to `path`, replacing what was there. On any error (and on a panic of
/// `fill`) the sibling is removed and `path` stays as it was; a process that is killed leaves the
/// sibling. The directory of `path` must exist. Several processes may write the same `path`: one of
/// their files stands at the end, whole. If `path` is a symbolic link, the link itself is replaced.
///
/// # Errors
/// [`ExportError::Io`] with `path` and what the system or `fill` said.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Written, ExportError> {
    try_write(path, fill).map_err(|source| ExportError::io(path, source))
}

/// Asks whether a file could be written at a path now: its directory is there and takes files, and
/// the path is not a directory itself. Leaves nothing.
///
/// # Errors
/// [`ExportError::Io`] with what the system says.
pub fn check_writable(path: &Path) -> Result<(), ExportError> {
    if path.is_dir() {
        return Err(ExportError::io(path, io::ErrorKind::IsADirectory.into()));
    }
    Partial::create(path)
        .map(drop)
        .map_err(|source| ExportError::io(path, source))
}

fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Written> {
    let (mut partial, file) = Partial::create(path)?;
    let (bytes, crc) = (0, Crc32::new());
    let mut writer = BufWriter::new(Summed { file, bytes, crc });
    fill(&mut writer)?;
    let Summed { file, bytes, crc } = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Without the sync a power cut after the rename may leave the new name on an empty file.
    file.sync_all()?;
    // Windows refuses to rename an open file.
    drop(file);
    fs::rename(&partial.path, path)?;
    partial.renamed = true;
    Ok(Written {
        path: path.to_path_buf(),
        bytes,
        crc32: crc.finalize(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_temporary_names_are_recognised() {
        assert_eq!(
            name_of_partial(".energy.csv.12-0123456789abcdef.partial"),
            Some("energy.csv")
        );
        for name in [
            "energy.csv",
            ".energy.csv.partial",
            "energy.csv.12-0123456789abcdef.partial",
            ".energy.csv.12-0123456789abcdef",
            ".energy.csv.12-0123.partial",
            ".energy.csv.-0123456789abcdef.partial",
            ".energy.csv.x-0123456789abcdef.partial",
        ] {
            assert_eq!(name_of_partial(name), None, "{name}");
        }
        let dir = tempfile::tempdir().unwrap();
        let (first, _) = Partial::create(&dir.path().join("a.b")).unwrap();
        let (second, _) = Partial::create(&dir.path().join("a.b")).unwrap();
        assert_ne!(first.path, second.path);
        let name = first.path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name_of_partial(name), Some("a.b"));
    }
}
