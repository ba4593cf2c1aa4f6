//! Reads words and numbers from a section of an MSH file or a legacy VTK file, text or binary
//! alike.

use super::error::{Location, MeshError, excerpt};

/// The encoding of the numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Binary { big_endian: bool },
}

/// A position in a section. All positions are offsets into the whole file, so that errors can say
/// where they are.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    end: usize,
    pub(super) encoding: Encoding,
    /// Bytes of the format's `size_t` in a binary file: 4 or 8.
    pub(super) size_bytes: usize,
    /// The start of the last number or word.
    pub(super) last: usize,
}

impl<'a> Cursor<'a> {
    /// Expects `range` to lie in `bytes`.
    pub(super) fn new(
        bytes: &'a [u8],
        range: std::ops::Range<usize>,
        encoding: Encoding,
        size_bytes: usize,
    ) -> Self {
        Self {
            bytes,
            position: range.start,
            end: range.end,
            encoding,
            size_bytes,
            last: range.start,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..self.end]
    }

    /// Counts lines only when asked: errors are rare, numbers are not.
    pub(super) fn place(&self, offset: usize) -> Location {
        place(self.bytes, offset, self.encoding)
    }

    pub(super) fn syntax(&self, expected: impl Into<String>, found: impl Into<String>) -> MeshError {
        MeshError::Syntax {
            place: self.place(self.last),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The next word between blanks.
    pub(super) fn word(&mut self, expected: &str) -> Result<&'a [u8], MeshError> {
        self.skip_blanks();
        self.last = self.position;
        let rest = self.rest();
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        if length == 0 {
            return Err(self.syntax(expected, "the end of the section"));
        }
        self.advance(length);
        Ok(&rest[..length])
    }

    /// The next word between blanks, if there is one.
    pub(super) fn try_word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        if self.rest().is_empty() {
            return None;
        }
        self.word("a word").ok()
    }

    /// Whether the next word begins so.
    pub(super) fn next_is(&self, start: &[u8]) -> bool {
        self.rest().trim_ascii_start().starts_with(start)
    }

    /// Whether there is another word on this line.
    pub(super) fn goes_on(&self) -> bool {
        let line = self.rest().split(|byte| *byte == b'\n').next();
        line.is_some_and(|line| !line.trim_ascii().is_empty())
    }

    /// Takes the rest of the line and its end.
    pub(super) fn rest_of_line(&mut self) -> &'a [u8] {
        self.last = self.position;
        let rest = self.rest();
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.advance(length.saturating_add(1));
        &rest[..length]
    }

    /// The next `count` bytes.
    pub(super) fn bytes(&mut self, count: u64, expected: &str) -> Result<&'a [u8], MeshError> {
        self.last = self.position;
        let rest = self.rest();
        let bytes = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let Some(bytes) = bytes else {
            return Err(self.syntax(
                expected,
                format!("the end of the file after {} bytes", rest.len()),
            ));
        };
        self.advance(bytes.len());
        Ok(bytes)
    }

    /// The next word as a number, whatever the encoding.
    pub(super) fn text<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, MeshError> {
        let word = self.word(expected)?;
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.syntax(expected, excerpt(word)))
    }

    fn take<const N: usize>(&mut self, expected: &str) -> Result<[u8; N], MeshError> {
        self.last = self.position;
        let Some(array) = self.rest().first_chunk::<N>() else {
            let left = self.rest().len();
            return Err(self.syntax(
                expected,
                format!("the end of the section after {left} of {N} bytes"),
            ));
        };
        self.advance(N);
        Ok(*array)
    }

    /// A C `int`.
    pub(super) fn int(&mut self, expected: &str) -> Result<i64, MeshError> {
        match self.encoding {
            Encoding::Text => self.text(expected),
            Encoding::Binary { big_endian: true } => Ok(i32::from_be_bytes(self.take(expected)?).into()),
            Encoding::Binary { big_endian: false } => Ok(i32::from_le_bytes(self.take(expected)?).into()),
        }
    }

    /// A C `size_t`.
    pub(super) fn size(&mut self, expected: &str) -> Result<u64, MeshError> {
        match (self.encoding, self.size_bytes) {
            (Encoding::Text, _) => self.text(expected),
            (Encoding::Binary { big_endian: true }, 4) => Ok(u32::from_be_bytes(self.take(expected)?).into()),
            (Encoding::Binary { big_endian: false }, 4) => {
                Ok(u32::from_le_bytes(self.take(expected)?).into())
            }
            (Encoding::Binary { big_endian: true }, _) => Ok(u64::from_be_bytes(self.take(expected)?)),
            (Encoding::Binary { big_endian: false }, _) => Ok(u64::from_le_bytes(self.take(expected)?)),
        }
    }

    /// A `size_t` that is a tag.
    pub(super) fn tag(&mut self, expected: &str) -> Result<i64, MeshError> {
        let size = self.size(expected)?;
        i64::try_from(size).map_err(|_| self.syntax(expected, size.to_string()))
    }

    /// A C `double`.
    pub(super) fn real(&mut self, expected: &str) -> Result<f64, MeshError> {
        match self.encoding {
            Encoding::Text => self.text(expected),
            Encoding::Binary { big_endian: true } => Ok(f64::from_be_bytes(self.take(expected)?)),
            Encoding::Binary { big_endian: false } => Ok(f64::from_le_bytes(self.take(expected)?)),
        }
    }

    /// `count` as a length, if that many entries of `ints`, `sizes` and `reals` numbers each can
    /// still follow.
    ///
    /// Nothing is reserved or looped over before this check: a count in a damaged file can be any
    /// number.
    pub(super) fn fits(
        &self,
        count: u64,
        what: &str,
        [ints, sizes, reals]: [u64; 3],
    ) -> Result<usize, MeshError> {
        let left = self.rest().len() as u64;
        let (each, slack) = match self.encoding {
            // A digit and a blank; the blank after the last number may be missing.
            Encoding::Text => ([2, 2, 2], 1),
            Encoding::Binary { .. } => ([4, self.size_bytes as u64, 8], 0),
        };
        let bytes = |[int, size, real]: [u64; 3]| {
            let ints = ints.saturating_mul(int);
            ints.saturating_add(sizes.saturating_mul(size))
                .saturating_add(reals.saturating_mul(real))
        };
        if count.saturating_mul(bytes(each)) > left.saturating_add(slack) {
            return Err(self.syntax(format!("{count} {what}"), format!("only {left} bytes")));
        }
        usize::try_from(count)
            .map_err(|_| self.syntax(format!("{what} that fit in memory"), count.to_string()))
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace());
        self.advance(blanks.count());
    }

    /// Steps over so many bytes, up to the end of the section.
    fn advance(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.end);
    }

    /// Steps over the end of the line; binary data begin right behind it.
    pub(super) fn end_of_line(&mut self) -> Result<(), MeshError> {
        let blanks = self
            .rest()
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
            .count();
        self.advance(blanks);
        self.last = self.position;
        match self.rest() {
            [b'\n', ..] => {
                self.advance(1);
                Ok(())
            }
            other => Err(self.syntax("the end of the line", excerpt(&other[..other.len().min(16)]))),
        }
    }

    /// The text between two quotes on one line.
    pub(super) fn quoted(&mut self, expected: &str) -> Result<String, MeshError> {
        self.skip_blanks();
        self.last = self.position;
        let rest = self.rest();
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let inner = line
            .strip_prefix(b"\"")
            .and_then(|tail| tail.split_inclusive(|&byte| byte == b'"').next());
        let Some(name) = inner.and_then(|inner| inner.strip_suffix(b"\"")) else {
            return Err(self.syntax(expected, excerpt(line)));
        };
        // Both quotes.
        self.advance(name.len().saturating_add(2));
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    /// Checks that nothing but blanks is left.
    pub(super) fn finish(&mut self, section: &str) -> Result<(), MeshError> {
        self.skip_blanks();
        self.last = self.position;
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(());
        }
        Err(self.syntax(format!("$End{section}"), excerpt(&rest[..rest.len().min(16)])))
    }
}

/// The location of `offset`: a line of a text, a byte of a binary file.
pub(super) fn place(bytes: &[u8], offset: usize, encoding: Encoding) -> Location {
    match encoding {
        Encoding::Text => Location::Line(line_of(bytes, offset)),
        Encoding::Binary { .. } => Location::Byte(offset),
    }
}

/// The line of a text that `offset` is on, from one.
pub(super) fn line_of(bytes: &[u8], offset: usize) -> usize {
    let ends = bytes[..offset].iter().filter(|byte| **byte == b'\n');
    ends.count().saturating_add(1)
}

/// The bits of a number of at most eight bytes, in the low bytes, and how far they are from the
/// high ones.
pub(super) fn low_bits(bytes: &[u8], big_endian: bool) -> (u64, u32) {
    let append = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
    let bits = if big_endian {
        bytes.iter().fold(0, append)
    } else {
        bytes.iter().rev().fold(0, append)
    };
    let unused = size_of::<u64>().saturating_sub(bytes.len());
    (bits, unused.saturating_mul(8) as u32)
}
