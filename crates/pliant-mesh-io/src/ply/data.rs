//! The numbers of a PLY file.

use super::super::cursor::{line_of, low_bits};
use super::super::error::{Location, MeshError, excerpt};

/// The encoding of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary { big_endian: bool },
}

/// The type of a number: its bytes, and whether it is real or has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Int(usize),
    Unsigned(usize),
    Real(usize),
}

impl Scalar {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::Int(1),
            "uchar" | "uint8" => Self::Unsigned(1),
            "short" | "int16" => Self::Int(2),
            "ushort" | "uint16" => Self::Unsigned(2),
            "int" | "int32" => Self::Int(4),
            "uint" | "uint32" => Self::Unsigned(4),
            "float" | "float32" => Self::Real(4),
            "double" | "float64" => Self::Real(8),
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::Int(bytes) | Self::Unsigned(bytes) | Self::Real(bytes) => bytes,
        }
    }
}

/// A position in the file.
pub(super) struct Data<'a> {
    bytes: &'a [u8],
    position: usize,
    pub(super) format: Format,
}

/// The offset at which a value begins; its line is counted only for a complaint.
#[derive(Clone, Copy)]
pub(super) struct Start(usize);

impl Start {
    pub(super) fn of(self, data: &Data<'_>) -> Location {
        data.place(self.0)
    }

    /// A number as the index of a vertex.
    pub(super) fn index(self, data: &Data<'_>, value: f64, vertices: u64) -> Result<u32, MeshError> {
        // Every type of the format but the reals is exact in f64.
        if value >= 0.0 && value < vertices as f64 && value.fract() == 0.0 {
            return Ok(value as u32);
        }
        Err(MeshError::BadIndex {
            place: self.of(data),
            index: value as i64,
            vertices: vertices as usize,
        })
    }
}

impl<'a> Data<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            format: Format::Text,
        }
    }

    /// The next line and its number.
    pub(super) fn line(&mut self) -> Option<(usize, String)> {
        let rest = &self.bytes[self.position..];
        if rest.is_empty() {
            return None;
        }
        let number = line_of(self.bytes, self.position);
        let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.advance(length.saturating_add(1));
        Some((number, String::from_utf8_lossy(&rest[..length]).into_owned()))
    }

    fn skip_blanks(&mut self) {
        let rest = &self.bytes[self.position..];
        self.advance(rest.iter().take_while(|b| b.is_ascii_whitespace()).count());
    }

    /// Steps over so many bytes, up to the end of the file.
    fn advance(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.bytes.len());
    }

    /// The start of the next number.
    pub(super) fn next_place(&mut self) -> Start {
        if self.format == Format::Text {
            self.skip_blanks();
        }
        Start(self.position)
    }

    fn place(&self, offset: usize) -> Location {
        match self.format {
            Format::Text => Location::Line(line_of(self.bytes, offset)),
            Format::Binary { .. } => Location::Byte(offset),
        }
    }

    /// The next number.
    pub(super) fn number(&mut self, scalar: Scalar, what: &str) -> Result<f64, MeshError> {
        let start = self.next_place();
        let rest = &self.bytes[self.position..];
        let wrong = |found: String| MeshError::Syntax {
            place: start.of(self),
            expected: format!("a number {what}"),
            found,
        };
        let Format::Binary { big_endian } = self.format else {
            let length = rest
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(rest.len());
            let word = &rest[..length];
            if word.is_empty() {
                return Err(wrong("the end of the file".to_owned()));
            }
            let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let number = number.ok_or_else(|| wrong(excerpt(word)))?;
            self.advance(length);
            return Ok(number);
        };
        let size = scalar.bytes();
        let Some(bytes) = rest.get(..size) else {
            return Err(wrong("the end of the file".to_owned()));
        };
        self.advance(size);
        let (bits, shift) = low_bits(bytes, big_endian);
        Ok(match scalar {
            Scalar::Unsigned(_) => bits as f64,
            // Shifted up and down again, so that the sign fills what is above.
            Scalar::Int(_) => (((bits << shift) as i64) >> shift) as f64,
            Scalar::Real(4) => f64::from(f32::from_bits(bits as u32)),
            Scalar::Real(_) => f64::from_bits(bits),
        })
    }

    /// The next number, which must be whole and not negative.
    pub(super) fn whole(&mut self, scalar: Scalar, what: &str) -> Result<u64, MeshError> {
        let start = self.next_place();
        let value = self.number(scalar, what)?;
        if value >= 0.0 && value.fract() == 0.0 && value <= f64::from(u32::MAX) {
            return Ok(value as u64);
        }
        Err(MeshError::Syntax {
            place: start.of(self),
            expected: format!("a whole number: {what}"),
            found: value.to_string(),
        })
    }
}
