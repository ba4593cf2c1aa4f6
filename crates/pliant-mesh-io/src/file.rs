//! Files that are read as a whole: regular ones of a bounded size.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Reads a regular file of at most `most` bytes.
///
/// The kind and the size are looked at before the file is opened: a pipe would block, and a device
/// may never end. A file that grows while it is read, or that says nothing of its size, is read up
/// to the limit and refused behind it.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for what is no regular file, [`ErrorKind::FileTooLarge`] for one
/// that is too large, [`ErrorKind::OutOfMemory`] where there is no room for it, and those of
/// opening and reading it.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let size = size_of(&std::fs::metadata(path)?, most)?;
    let file = File::open(path)?;
    // What was opened may be another file than the one that was looked at.
    size_of(&file.metadata()?, most)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(&format!("at least {}", bytes.len()), most));
    }
    Ok(bytes)
}

/// The size of a regular file that is not too large.
fn size_of(found: &Metadata, most: u64) -> Result<u64> {
    if !found.is_file() {
        let what = if found.is_dir() {
            "it is a directory, not a file"
        } else {
            "it is a pipe, a device or a socket, not a regular file"
        };
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    if found.len() > most {
        return Err(too_large(&found.len().to_string(), most));
    }
    Ok(found.len())
}

fn too_large(found: &str, most: u64) -> Error {
    let text = format!("it has {found} bytes, more than the limit of {most}");
    Error::new(ErrorKind::FileTooLarge, text)
}
