//! JSON documents that hold their own checksum.
//!
//! The last key of the object is `crc32`: the CRC-32 (that of zip and gzip, eight hexadecimal
//! digits) of all bytes of the file ahead of the comma before it. Readers of JSON meet one key
//! more; whoever wants to know whether the file is as it was written compares.

use super::ExportError;
use super::atomic::{Written, write_atomically};
use serde::Serialize;
use std::io;
use std::path::Path;

/// Bytes between the bytes that are summed and the sum.
const SEAL: &str = ",\n  \"crc32\": \"";
/// Ends of a document, with and without the sum.
const END: &str = "\n}";
const SEALED_END: &str = "\"\n}\n";

/// Writes an object with at least one key as a document of this kind.
///
/// # Errors
/// [`ExportError::Io`] if the file cannot be written, or if the value is no such object.
pub fn write_sealed(path: &Path, value: &impl Serialize) -> Result<Written, ExportError> {
    let text = serde_json::to_vec_pretty(value).map_err(|error| ExportError::io(path, error.into()))?;
    let Some(body) = text.strip_suffix(END.as_bytes()) else {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "the value is no object with keys");
        return Err(ExportError::io(path, error));
    };
    write_atomically(path, |out| {
        out.write_all(body)?;
        write!(out, "{SEAL}{:08x}{SEALED_END}", crc32fast::hash(body))
    })
}

/// CRC-32 of bytes, that of zip and gzip.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Whether the bytes of a document are those that were written.
pub fn is_intact(bytes: &[u8]) -> bool {
    let seal = SEAL.len() + 8 + SEALED_END.len();
    let Some((body, seal)) = bytes
        .len()
        .checked_sub(seal)
        .and_then(|at| bytes.split_at_checked(at))
    else {
        return false;
    };
    seal == format!("{SEAL}{:08x}{SEALED_END}", crc32fast::hash(body)).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_change_of_a_byte_is_noticed_and_readers_of_json_read_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        let value = BTreeMap::from([("a", vec![1.5, -0.25]), ("b", vec![])]);
        write_sealed(&path, &value).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert!(is_intact(&bytes), "{}", String::from_utf8_lossy(&bytes));
        let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            (&read["a"][1], &read["b"]),
            (&serde_json::json!(-0.25), &serde_json::json!([]))
        );
        // The sum of the bytes by another program: `zlib.crc32` of Python.
        assert_eq!(read["crc32"], "acb8855e");
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert!(!is_intact(&changed), "{index}");
            assert!(!is_intact(&bytes[..index]), "{index}");
        }
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        for value in [
            serde_json::json!([1]),
            serde_json::json!({}),
            serde_json::json!(3),
        ] {
            assert!(
                write_sealed(&dir.path().join("a.json"), &value).is_err(),
                "{value}"
            );
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
