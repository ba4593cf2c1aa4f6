//! Bytes as they are, or in base64.

/// Bytes that are read one after the other.
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    base64: bool,
    /// Bytes of the last group of four letters that are not read yet, and how many.
    ready: [u8; 3],
    left: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn raw(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            base64: false,
            ready: [0; 3],
            left: 0,
        }
    }

    pub(super) fn base64(bytes: &'a [u8]) -> Self {
        Self {
            base64: true,
            ..Self::raw(bytes)
        }
    }

    /// The next bytes; none if there are fewer.
    pub(super) fn take(&mut self, count: u64) -> Option<Vec<u8>> {
        let count = usize::try_from(count).ok()?;
        if !self.base64 {
            let (head, tail) = self.bytes.split_at_checked(count)?;
            self.bytes = tail;
            return Some(head.to_vec());
        }
        // Four letters are three bytes.
        let most = (self.bytes.len() / 4).saturating_mul(3);
        if count > most.saturating_add(self.left) {
            return None;
        }
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            if self.left == 0 {
                self.group()?;
            }
            out.push(self.ready[3usize.saturating_sub(self.left)]);
            self.left = self.left.saturating_sub(1);
        }
        Some(out)
    }

    /// Reads four letters. Padding ends a run of bytes, and another may follow it: lengths and
    /// blocks are written so.
    fn group(&mut self) -> Option<()> {
        let mut letters = self
            .bytes
            .iter()
            .enumerate()
            .filter(|(_, b)| !b.is_ascii_whitespace());
        let mut bits = 0u32;
        let mut padding = 0usize;
        let mut behind = 0;
        for _ in 0..4 {
            let (at, letter) = letters.next()?;
            behind = at.saturating_add(1);
            let value = match letter {
                b'A'..=b'Z' => letter.saturating_sub(b'A'),
                b'a'..=b'z' => letter.saturating_sub(b'a').saturating_add(26),
                b'0'..=b'9' => letter.saturating_sub(b'0').saturating_add(52),
                b'+' => 62,
                b'/' => 63,
                b'=' => {
                    padding = padding.saturating_add(1);
                    0
                }
                _ => return None,
            };
            // Letters behind padding in one group mean nothing.
            if padding > 0 && *letter != b'=' {
                return None;
            }
            bits = (bits << 6) | u32::from(value);
        }
        if padding > 2 {
            return None;
        }
        let [_, bytes @ ..] = bits.to_be_bytes();
        self.bytes = &self.bytes[behind..];
        self.left = 3usize.saturating_sub(padding);
        // The bytes that there are, at the end.
        self.ready[padding..].copy_from_slice(&bytes[..self.left]);
        Some(())
    }
}
