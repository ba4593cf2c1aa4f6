//! The checksum of the manifest: CRC-32 as in zip, gzip and PNG (`zlib.crc32` of Python).

/// Remainders of all bytes, for the reversed polynomial 0xEDB88320.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder = (remainder >> 1) ^ (carry * 0xEDB8_8320);
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
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
        for byte in bytes {
            self.0 = TABLE[usize::from(self.0 as u8 ^ byte)] ^ (self.0 >> 8);
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
        assert_eq!(of(&[b"The quick brown fox jumps over the lazy dog"]), 0x414F_A339);
    }
}
