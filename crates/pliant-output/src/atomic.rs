//! Files that are complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ExportError;

/// Removes the temporary file unless it was renamed: also when the writing closure panics.
struct Partial {
    path: PathBuf,
    renamed: bool,
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.renamed {
            // Nobody is left to tell; a leftover `.partial` file is recognisable and is overwritten
            // by the next run.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes a file through `fill` so that `path` never holds half of it.
///
/// The bytes go to the sibling `.<name>.partial`, which is flushed, synced to the disk and then
/// renamed to `path`, replacing what was there. On any error (and on a panic of `fill`) the sibling
/// is removed and `path` stays as it was. The directory of `path` must exist. Two processes must
/// not write the same `path` at the same time: they would share the sibling. If `path` is a
/// symbolic link, the link itself is replaced.
///
/// # Errors
/// [`ExportError::Io`] with `path` and what the system or `fill` said.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ExportError> {
    try_write(path, fill).map_err(|source| ExportError::Io {
        path: path.to_path_buf(),
        source,
    })
}

fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path has no file name",
        ));
    };
    let mut sibling = std::ffi::OsString::from(".");
    sibling.push(name);
    sibling.push(".partial");
    let partial_path = path.with_file_name(sibling);
    let file = File::create(&partial_path)?;
    // From here on the file is ours to remove; a failed `create` must not remove somebody else's.
    let mut partial = Partial {
        path: partial_path,
        renamed: false,
    };
    let mut writer = BufWriter::new(file);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Without the sync a power cut after the rename may leave the new name on an empty file.
    file.sync_all()?;
    // Windows refuses to rename an open file.
    drop(file);
    fs::rename(&partial.path, path)?;
    partial.renamed = true;
    Ok(())
}

/// Creates a directory and its parents, naming it if that fails.
pub(super) fn create_directory(path: &Path) -> Result<(), ExportError> {
    fs::create_dir_all(path).map_err(|source| ExportError::Io {
        path: path.to_path_buf(),
        source,
    })
}
