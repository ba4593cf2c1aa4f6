//! Values as bytes: a line of text with their kind and version, their length and checksum, and the
//! value itself as MessagePack with the names of all fields.
//!
//! Every number comes back to the bit. Bytes that were cut or changed, or that another version
//! wrote, are refused with the reason; what is read is checked for its meaning where it is used.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why bytes were not read, or a value not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The first line is not that of such a value.
    #[error("this is no {kind} of Pliant: the first line should be `pliant {kind} {version}`")]
    Kind {
        /// The kind of value that was asked for.
        kind: &'static str,
        /// The version of its structure that is read.
        version: u32,
    },
    /// The structure is that of another version of Pliant.
    #[error("version {found} of a {kind} cannot be read: this program reads and writes version {version}")]
    Version {
        /// The kind of value.
        kind: &'static str,
        /// The version that was found.
        found: String,
        /// The version that is read.
        version: u32,
    },
    /// There are fewer or more bytes than the value has.
    #[error("a {kind} of {expected} bytes has {found}: the end is missing, or something follows it")]
    Length {
        /// The kind of value.
        kind: &'static str,
        /// The length that it should have.
        expected: u64,
        /// The length that was found.
        found: u64,
    },
    /// The bytes are not those that were written.
    #[error("the {kind} is damaged: its checksum is {found:08x}, and {expected:08x} was written")]
    Checksum {
        /// The kind of value.
        kind: &'static str,
        /// The checksum that was written (CRC-32).
        expected: u32,
        /// The checksum of the bytes.
        found: u32,
    },
    /// The bytes are whole, but are not such a value.
    #[error("the {kind} cannot be read or written: {reason}")]
    Value {
        /// The kind of value.
        kind: &'static str,
        /// The field that is wrong, and how.
        reason: String,
    },
}

/// Bytes between the first line and the value: its length and checksum, little endian.
const NUMBERS: usize = 12;

/// A value as bytes, which start with its kind and version.
///
/// # Errors
/// [`ArchiveError::Value`] if it cannot be written, for instance because it holds a map whose
/// length is not known.
pub fn to_bytes<T: Serialize>(kind: &'static str, version: u32, value: &T) -> Result<Vec<u8>, ArchiveError> {
    let mut out = first_line(kind, version).into_bytes();
    let start = out.len() + NUMBERS;
    out.resize(start, 0);
    let mut writer = rmp_serde::Serializer::new(&mut out).with_struct_map();
    value
        .serialize(&mut writer)
        .map_err(|error| ArchiveError::Value {
            kind,
            reason: error.to_string(),
        })?;
    let length = (out.len() - start) as u64;
    let checksum = crc32fast::hash(&out[start..]);
    out[start - NUMBERS..start - 4].copy_from_slice(&length.to_le_bytes());
    out[start - 4..start].copy_from_slice(&checksum.to_le_bytes());
    Ok(out)
}

/// The value that [`to_bytes`] wrote.
///
/// # Errors
/// [`ArchiveError`] if the bytes are of another kind or version, were cut or changed, or are not
/// such a value.
pub fn from_bytes<T: DeserializeOwned>(
    kind: &'static str,
    version: u32,
    bytes: &[u8],
) -> Result<T, ArchiveError> {
    match split_first::<T>(kind, version, bytes)? {
        (value, []) => Ok(value),
        (_, rest) => Err(ArchiveError::Length {
            kind,
            expected: (bytes.len() - rest.len()) as u64,
            found: bytes.len() as u64,
        }),
    }
}

/// The first of several values that were written one after the other, and the bytes behind it.
///
/// # Errors
/// [`ArchiveError`] if the bytes do not begin with a whole value of this kind and version.
pub fn split_first<'a, T: DeserializeOwned>(
    kind: &'static str,
    version: u32,
    bytes: &'a [u8],
) -> Result<(T, &'a [u8]), ArchiveError> {
    let line = first_line(kind, version);
    let Some(rest) = bytes.strip_prefix(line.as_bytes()) else {
        let before = format!("pliant {kind} ");
        let found = bytes.strip_prefix(before.as_bytes()).and_then(|rest| {
            let end = rest.iter().take(20).position(|b| *b == b'\n')?;
            let version = std::str::from_utf8(&rest[..end]).ok()?;
            version.parse::<u32>().ok()?;
            Some(version.to_owned())
        });
        return Err(match found {
            Some(found) => ArchiveError::Version { kind, found, version },
            None => ArchiveError::Kind { kind, version },
        });
    };
    let numbers = rest.split_first_chunk::<8>();
    let numbers = numbers.and_then(|(length, rest)| Some((length, rest.split_first_chunk::<4>()?)));
    let cut = |expected: u64| ArchiveError::Length {
        kind,
        expected: expected.saturating_add((line.len() + NUMBERS) as u64),
        found: bytes.len() as u64,
    };
    let (length, (checksum, rest)) = numbers.ok_or_else(|| cut(0))?;
    let (length, expected) = (u64::from_le_bytes(*length), u32::from_le_bytes(*checksum));
    let whole = usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length));
    let (value, rest) = whole.ok_or_else(|| cut(length))?;
    let found = crc32fast::hash(value);
    if found != expected {
        return Err(ArchiveError::Checksum {
            kind,
            expected,
            found,
        });
    }
    let value = rmp_serde::from_slice(value).map_err(|error| ArchiveError::Value {
        kind,
        reason: error.to_string(),
    })?;
    Ok((value, rest))
}

fn first_line(kind: &str, version: u32) -> String {
    format!("pliant {kind} {version}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_or_changed_is_refused_with_the_reason() {
        let value = vec![1.0, f64::NAN, -0.0, f64::INFINITY, 0.1 + 0.2];
        let bytes = to_bytes("list", 3, &value).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let read = |bytes: &[u8]| from_bytes::<Vec<f64>>("list", 3, bytes);
        assert_eq!(bits(&read(&bytes).unwrap()), bits(&value));
        for end in 0..bytes.len() {
            let error = read(&bytes[..end]).unwrap_err();
            let in_line = end < b"pliant list 3\n".len();
            assert_eq!(matches!(error, ArchiveError::Kind { .. }), in_line, "{error}");
            assert_eq!(matches!(error, ArchiveError::Length { .. }), !in_line, "{error}");
        }
        for k in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[k] ^= 0x10;
            assert!(read(&changed).is_err(), "byte {k}");
        }
        let error = from_bytes::<Vec<f64>>("list", 4, &bytes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "version 3 of a list cannot be read: this program reads and writes version 4"
        );
        let error = from_bytes::<Vec<f64>>("table", 3, &bytes).unwrap_err();
        assert!(matches!(error, ArchiveError::Kind { .. }), "{error}");
        let error = from_bytes::<Vec<bool>>("list", 3, &bytes).unwrap_err();
        assert!(matches!(error, ArchiveError::Value { .. }), "{error}");
        let two = [&bytes[..], &bytes].concat();
        assert!(matches!(read(&two), Err(ArchiveError::Length { .. })));
        let (_, rest) = split_first::<Vec<f64>>("list", 3, &two).unwrap();
        assert_eq!(rest, bytes);
    }
}
