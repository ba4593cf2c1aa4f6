//! The checksum of the manifest: CRC-32 as in zip, gzip and PNG (`zlib.crc32` of Python).

/// Bytes that are taken at once: the large files are those that a run's end waits for.
const STRIDE: usize = 8;

/// Remainders of all bytes, for the reversed polynomial 0xEDB88320: in row `k` of the byte with `k`
/// zeros behind it.
const TABLES: [[u32; 256]; STRIDE] = {
    let mut tables = [[0; 256]; STRIDE];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 * STRIDE {
            remainder = (remainder >> 1) ^ ((remainder & 1) * 0xEDB8_8320);
            bit += 1;
            if bit % 8 == 0 {
                tables[bit / 8 - 1][byte] = remainder;
            }
        }
        byte += 1;
    }
    tables
};

/// The checksum of bytes that come in pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crc32(u32);

impl Crc32 {
    /// The checksum before the first byte.
    pub(crate) fn new() -> Self {
        Self(u32::MAX)
    }

    /// Adds a piece.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (strides, rest) = bytes.as_chunks::<STRIDE>();
        for stride in strides {
            let mut mixed = *stride;
            for (byte, old) in mixed.iter_mut().zip(self.0.to_le_bytes()) {
                *byte ^= old;
            }
            let rows = TABLES.iter().rev();
            self.0 = rows
                .zip(mixed)
                .fold(0, |crc, (row, byte)| crc ^ row[usize::from(byte)]);
        }
        for byte in rest {
            self.0 = TABLES[0][usize::from(self.0 as u8 ^ byte)] ^ (self.0 >> 8);
        }
    }

    /// The checksum of all pieces.
    pub(crate) fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_everybody_uses() {
        let of = |pieces: &[&[u8]]| {
            let mut crc = Crc32::new();
            pieces.iter().for_each(|piece| crc.add(piece));
            crc.value()
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(of(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
        assert_eq!(of(&[b"123456789".repeat(9).as_slice()]), 0x082B_D298);
        assert_eq!(of(&[b"The quick brown fox jumps over the lazy dog"]), 0x414F_A339);
    }
}
