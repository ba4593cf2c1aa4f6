//! Pictures in the format PNG, as Chromium writes them: 8 bits a channel, not interlaced.

/// Rows of red, green and blue; `None` for a picture of another kind.
pub(super) fn pixels(bytes: &[u8]) -> Option<Vec<Vec<[u8; 3]>>> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let (mut width, mut step, mut packed) = (0, 0, Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (kind, after) = after.split_first_chunk::<4>()?;
        let (body, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        match kind {
            b"IHDR" => {
                let [8, colour @ (2 | 6), _, _, 0] = body[8..] else {
                    return None;
                };
                width = u32::from_be_bytes(*body.first_chunk()?) as usize;
                step = if colour == 2 { 3 } else { 4 };
            }
            b"IDAT" => packed.extend_from_slice(body),
            _ => {}
        }
        rest = after.get(4..)?;
    }
    let plain = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).ok()?;
    let mut above = vec![0; width * step];
    let mut rows = Vec::new();
    for line in plain.chunks_exact(width * step + 1) {
        let mut row = line[1..].to_vec();
        for i in 0..row.len() {
            let left = if i < step {
                [0, 0]
            } else {
                [row[i - step], above[i - step]]
            };
            row[i] = row[i].wrapping_add(predicted(line[0], left[0], above[i], left[1]));
        }
        rows.push(
            row.chunks_exact(step)
                .map(|pixel| [pixel[0], pixel[1], pixel[2]])
                .collect(),
        );
        above = row;
    }
    Some(rows)
}

/// The byte that a filter expects from those to the left, above and above to the left.
fn predicted(filter: u8, left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i32::from);
    let distances = [b - c, a - c, a + b - 2 * c].map(i32::abs);
    match filter {
        1 => left,
        2 => up,
        3 => ((a + b) / 2) as u8,
        4 if distances[0] <= distances[1] && distances[0] <= distances[2] => left,
        4 if distances[1] <= distances[2] => up,
        4 => corner,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_undone() {
        // Two rows of two pixels; the second of the type of Paeth's.
        let plain = [1, 10, 20, 30, 1, 1, 1, 4, 1, 2, 3, 0, 0, 0];
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut chunk = |kind: &[u8], body: &[u8]| {
            bytes.extend((body.len() as u32).to_be_bytes());
            bytes.extend([kind, body, &[0; 4]].concat());
        };
        chunk(b"IHDR", &[0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
        chunk(b"IDAT", &miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6));
        let rows = pixels(&bytes).unwrap();
        assert_eq!(rows[0], [[10, 20, 30], [11, 21, 31]]);
        assert_eq!(rows[1][0], [11, 22, 33]);
        assert_eq!(pixels(b"no picture"), None);
    }
}
