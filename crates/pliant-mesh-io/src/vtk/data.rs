//! Numbers of VTK's types.

use super::super::MOST_NUMBERS;
use super::super::cursor::low_bits;
use super::super::error::MeshError;

/// Numbers of the arrays of a file, counted before they take memory.
#[derive(Default)]
pub(super) struct Numbers(u64);

impl Numbers {
    /// Counts the numbers of another array, `total` times `each`, against [`MOST_NUMBERS`].
    pub(super) fn add(&mut self, total: u64, each: u64) -> Result<(), MeshError> {
        self.0 = self.0.saturating_add(total.saturating_mul(each));
        if self.0 <= MOST_NUMBERS as u64 {
            return Ok(());
        }
        let (what, most) = ("numbers in its arrays", MOST_NUMBERS);
        Err(MeshError::TooLarge { what, most })
    }
}

/// The type of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// Whole, of so many bytes.
    Int(usize),
    /// Whole without a sign.
    Unsigned(usize),
    /// Single precision.
    Single,
    /// Double precision.
    Double,
}

/// The numbers of an array.
pub(super) enum Values {
    Whole(Vec<i64>),
    Real(Vec<f64>),
}

impl Scalar {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Int(bytes) | Self::Unsigned(bytes) => bytes,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Int(_) | Self::Unsigned(_))
    }

    /// The type of that name in XML files.
    pub(super) fn of_xml(name: &str) -> Option<Self> {
        Some(match name {
            "Int8" => Self::Int(1),
            "UInt8" => Self::Unsigned(1),
            "Int16" => Self::Int(2),
            "UInt16" => Self::Unsigned(2),
            "Int32" => Self::Int(4),
            "UInt32" => Self::Unsigned(4),
            "Int64" => Self::Int(8),
            "UInt64" => Self::Unsigned(8),
            "Float32" => Self::Single,
            "Float64" => Self::Double,
            _ => return None,
        })
    }

    /// The type of that name in legacy files.
    pub(super) fn of_legacy(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "signed_char" | "vtktypeint8" => Self::Int(1),
            "unsigned_char" | "vtktypeuint8" => Self::Unsigned(1),
            "short" | "vtktypeint16" => Self::Int(2),
            "unsigned_short" | "vtktypeuint16" => Self::Unsigned(2),
            // vtkIdType is written as an int.
            "int" | "vtkIdType" | "vtkidtype" | "vtktypeint32" => Self::Int(4),
            "unsigned_int" | "vtktypeuint32" => Self::Unsigned(4),
            "long" | "vtktypeint64" => Self::Int(8),
            "unsigned_long" | "vtktypeuint64" => Self::Unsigned(8),
            "float" => Self::Single,
            "double" => Self::Double,
            _ => return None,
        })
    }

    /// Reads as many numbers as the bytes hold.
    pub(super) fn decode(self, bytes: &[u8], big_endian: bool) -> Values {
        let size = self.bytes();
        let (_, shift) = low_bits(&[0; 8][..size], big_endian);
        let bits = bytes
            .chunks_exact(size)
            .map(|chunk| low_bits(chunk, big_endian).0);
        match self {
            // Beyond the largest signed number, none is an index or a group: the largest stands for
            // it and is refused as one.
            Self::Unsigned(_) => Values::Whole(bits.map(|b| i64::try_from(b).unwrap_or(i64::MAX)).collect()),
            // Shifted up and down again, so that the sign fills what is above.
            Self::Int(_) => Values::Whole(bits.map(|b| ((b << shift) as i64) >> shift).collect()),
            Self::Single => Values::Real(bits.map(|b| f64::from(f32::from_bits(b as u32))).collect()),
            Self::Double => Values::Real(bits.map(f64::from_bits).collect()),
        }
    }

    /// The numbers of words; the first word that is none, if there is one.
    pub(super) fn parse<'a>(self, words: impl Iterator<Item = &'a str>) -> Result<Values, &'a str> {
        fn all<'a, T: std::str::FromStr>(words: impl Iterator<Item = &'a str>) -> Result<Vec<T>, &'a str> {
            words.map(|word| word.parse().map_err(|_| word)).collect()
        }
        Ok(if self.is_whole() {
            Values::Whole(all(words)?)
        } else {
            Values::Real(all(words)?)
        })
    }
}

impl Values {
    /// The values as real numbers, exact up to 2^53.
    pub(super) fn real(self) -> Vec<f64> {
        match self {
            Self::Whole(values) => values.into_iter().map(|v| v as f64).collect(),
            Self::Real(values) => values,
        }
    }
}
