//! Changes to inputs that depend on a seed alone, for runs that are the same everywhere.

/// Bytes and words that readers may stumble over.
const AWKWARD: [&[u8]; 22] = [
    b"0",
    b"-1",
    b"1e308",
    b"-0.0",
    b"NaN",
    b"inf",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"9223372036854775808",
    b"1e-320",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
    b"\n",
    b" ",
    b"\"",
    b"(",
    b"]",
    b"====\n",
    "\u{e9}".as_bytes(),
];

/// A sequence of random numbers from a seed: `SplitMix64`.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below a bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn place(&mut self, bytes: &[u8]) -> usize {
        self.below(bytes.len() + 1)
    }

    /// A range of at most 64 bytes.
    fn range(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.place(bytes);
        let most = (bytes.len() - start).min(64);
        start..start + self.below(most + 1)
    }
}

/// Changes an input in one to four places; `other` lends some of its bytes.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.place(bytes);
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => {
                let range = random.range(bytes);
                bytes.drain(range);
            }
            3 => {
                let copy = bytes[random.range(bytes)].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let copy = other[random.range(other)].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => bytes.truncate(at),
            6 => {
                let word = AWKWARD[random.below(AWKWARD.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            // A number in place of another: the digits from here on.
            _ => {
                let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                let word = AWKWARD[random.below(AWKWARD.len())];
                bytes.splice(at..at + digits, word.iter().copied());
            }
        }
    }
}
