//! Pictures as files in the format PNG.

use super::ExportError;
use super::atomic::{Written, write_atomically};
use std::path::Path;

/// Effort of the packing, from 0 to 10.
const LEVEL: u8 = 6;

/// The bytes of a PNG file of a picture: red, green and blue of each pixel, row by row from the
/// upper left, 8 bits each.
///
/// # Panics
/// Never: of `pixels` that are no whole rows, what is missing is black, and what is more is left
/// out.
pub fn png(pixels: &[u8], [width, height]: [u32; 2]) -> Vec<u8> {
    let row_bytes = 3 * width as usize;
    let mut above = vec![0; row_bytes];
    let mut plain = Vec::with_capacity((row_bytes + 1) * height as usize);
    for k in 0..height as usize {
        let start = (k * row_bytes).min(pixels.len());
        let mut row = pixels[start..(start + row_bytes).min(pixels.len())].to_vec();
        row.resize(row_bytes, 0);
        // Filter 2: the difference from the row above.
        plain.push(2);
        plain.extend(row.iter().zip(&above).map(|(x, up)| x.wrapping_sub(*up)));
        above = row;
    }
    let mut header = Vec::with_capacity(13);
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // 8 bits a channel, three channels, the only methods that there are, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, LEVEL);
    for (kind, body) in [(b"IHDR", &header), (b"IDAT", &packed), (b"IEND", &Vec::new())] {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(kind);
        checksum.update(body);
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(kind);
        bytes.extend(body);
        bytes.extend(checksum.finalize().to_be_bytes());
    }
    bytes
}

/// Writes a picture to `path`, whole or not at all (see [`write_atomically`]).
///
/// # Errors
/// [`ExportError::Io`] with `path`.
pub fn write_png(path: &Path, pixels: &[u8], size: [u32; 2]) -> Result<Written, ExportError> {
    let bytes = png(pixels, size);
    write_atomically(path, |file| file.write_all(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk of a file, and the rest.
    fn chunk(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
        let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
        let (body, rest) = rest.split_at(4 + u32::from_be_bytes(*length) as usize);
        let (checksum, rest) = rest.split_first_chunk::<4>().unwrap();
        assert_eq!(crc32fast::hash(body), u32::from_be_bytes(*checksum));
        (&body[..4], &body[4..], rest)
    }

    #[test]
    fn a_picture_is_read_back() {
        let pixels: Vec<u8> = (0..3 * 5 * 4).map(|k| (7 * k * k % 251) as u8).collect();
        let bytes = png(&pixels, [5, 4]);
        let rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
        let (kind, header, rest) = chunk(rest);
        assert_eq!(
            (kind, header),
            (&b"IHDR"[..], &[0, 0, 0, 5, 0, 0, 0, 4, 8, 2, 0, 0, 0][..])
        );
        let (kind, packed, rest) = chunk(rest);
        assert_eq!(kind, b"IDAT");
        let plain = miniz_oxide::inflate::decompress_to_vec_zlib(packed).unwrap();
        let mut above = [0u8; 15];
        let mut found = Vec::new();
        for row in plain.chunks_exact(16) {
            assert_eq!(row[0], 2);
            for (up, x) in above.iter_mut().zip(&row[1..]) {
                *up = up.wrapping_add(*x);
            }
            found.extend(above);
        }
        assert_eq!(found, pixels);
        assert_eq!(chunk(rest).0, b"IEND");
    }
}
