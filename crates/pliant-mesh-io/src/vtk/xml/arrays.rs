//! Arrays of numbers in an XML file: text, base64, appended.

use roxmltree::Node;
use std::cell::RefCell;

use super::super::super::error::{MeshError, excerpt};
use super::super::data::{Numbers, Scalar, Values};
use super::stream::Stream;
use super::{count, wrong};

/// The encoding of the arrays of a file.
pub(super) struct Arrays<'a> {
    big_endian: bool,
    /// Bytes of lengths.
    header: usize,
    compressed: bool,
    appended: &'a [u8],
    /// Whether the appended data are bytes; base64 otherwise.
    raw: bool,
    /// Numbers of the arrays read so far.
    numbers: RefCell<Numbers>,
}

/// The type of the numbers of an array.
pub(super) fn scalar(array: Node<'_, '_>) -> Result<Scalar, MeshError> {
    let name = array.attribute("type").unwrap_or_default();
    let expected = "a type of numbers, as Float64 or Int32";
    // Texts are no numbers, but neither wrong.
    if name == "String" {
        return Ok(Scalar::Double);
    }
    Scalar::of_xml(name).ok_or_else(|| wrong(array, expected, &excerpt(name.as_bytes())))
}

impl<'a> Arrays<'a> {
    pub(super) fn new(root: Node<'_, '_>, appended: &'a [u8]) -> Result<Self, MeshError> {
        let choice = |node: Node<'_, '_>, name: &str, known: [&str; 2]| {
            let text = node.attribute(name).unwrap_or(known[0]).to_owned();
            if known.contains(&text.as_str()) {
                return Ok(text == known[1]);
            }
            let expected = format!("{name} {} or {}", known[0], known[1]);
            Err(wrong(node, &expected, &excerpt(text.as_bytes())))
        };
        let compressor = root.attribute("compressor").unwrap_or_default();
        if !matches!(compressor, "" | "vtkZLibDataCompressor") {
            let expected = "no compressor, or vtkZLibDataCompressor";
            return Err(wrong(root, expected, &excerpt(compressor.as_bytes())));
        }
        let data = root.children().find(|n| n.has_tag_name("AppendedData"));
        Ok(Self {
            big_endian: choice(root, "byte_order", ["LittleEndian", "BigEndian"])?,
            header: if choice(root, "header_type", ["UInt32", "UInt64"])? {
                8
            } else {
                4
            },
            compressed: !compressor.is_empty(),
            appended,
            raw: match data {
                Some(data) => choice(data, "encoding", ["base64", "raw"])?,
                None => false,
            },
            numbers: RefCell::default(),
        })
    }

    /// The numbers of an array, `total` times `each` of them.
    pub(super) fn read(&self, array: Node<'_, '_>, total: u64, each: u64) -> Result<Values, MeshError> {
        let scalar = scalar(array)?;
        let wanted = total.saturating_mul(each);
        let text = array.text().unwrap_or_default();
        let format = array.attribute("format").unwrap_or("ascii");
        if format == "ascii" {
            let found = text.split_ascii_whitespace().count();
            if found as u64 != wanted {
                let expected = format!("{wanted} numbers in the array");
                return Err(wrong(array, &expected, &found.to_string()));
            }
        }
        self.numbers.borrow_mut().add(total, each)?;
        match format {
            "ascii" => scalar.parse(text.split_ascii_whitespace()).map_err(|word| {
                let expected = "numbers of the type of the array";
                wrong(array, expected, &excerpt(word.as_bytes()))
            }),
            "binary" => {
                let stream = Stream::base64(text.trim_ascii_start().as_bytes());
                self.binary(array, scalar, wanted, stream)
            }
            "appended" => {
                let offset = count(array, "offset")?;
                let tail = usize::try_from(offset)
                    .ok()
                    .and_then(|at| self.appended.get(at..));
                let Some(tail) = tail else {
                    let found = format!("{} bytes of them", self.appended.len());
                    return Err(wrong(array, "an offset inside the appended data", &found));
                };
                let stream = if self.raw {
                    Stream::raw(tail)
                } else {
                    Stream::base64(tail)
                };
                self.binary(array, scalar, wanted, stream)
            }
            other => {
                let expected = "the format ascii, binary or appended";
                Err(wrong(array, expected, &excerpt(other.as_bytes())))
            }
        }
    }

    fn binary(
        &self,
        array: Node<'_, '_>,
        scalar: Scalar,
        wanted: u64,
        mut stream: Stream<'_>,
    ) -> Result<Values, MeshError> {
        let size = wanted.saturating_mul(scalar.bytes() as u64);
        let short = |found: String| wrong(array, &format!("{size} bytes of the array"), &found);
        let cut = || short("the end of the data".to_owned());
        let length = |stream: &mut Stream<'_>| {
            let bytes = stream.take(self.header as u64).ok_or_else(cut)?;
            let number = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
            Ok(if self.big_endian {
                bytes.iter().fold(0, number)
            } else {
                bytes.iter().rev().fold(0, number)
            })
        };
        if !self.compressed {
            let found = length(&mut stream)?;
            if found != size {
                return Err(short(format!("{found} bytes")));
            }
            let bytes = stream.take(size).ok_or_else(cut)?;
            return Ok(scalar.decode(&bytes, self.big_endian));
        }
        let (blocks, block, last) = (length(&mut stream)?, length(&mut stream)?, length(&mut stream)?);
        // Each of the lengths that follow needs bytes that must be there.
        let mut sizes = Vec::new();
        for _ in 0..blocks {
            sizes.push(length(&mut stream)?);
        }
        let mut out = Vec::new();
        for (index, compressed) in sizes.iter().enumerate() {
            let bytes = stream.take(*compressed).ok_or_else(cut)?;
            let is_last = index.saturating_add(1) == sizes.len();
            let expected = if is_last && last > 0 { last } else { block };
            let left = size.saturating_sub(out.len() as u64);
            // Never more than the array needs, whatever the lengths say.
            if expected > left {
                return Err(short(format!(
                    "{expected} bytes in block {index}, where {left} are left"
                )));
            }
            let limit = usize::try_from(expected).map_err(|_| cut())?;
            let whole = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&bytes, limit);
            match whole {
                Ok(whole) if whole.len() as u64 == expected => out.extend(whole),
                Ok(whole) => {
                    return Err(short(format!(
                        "{} bytes in block {index}, which says {expected}",
                        whole.len()
                    )));
                }
                Err(error) => {
                    return Err(short(format!(
                        "block {index} that does not unpack ({:?})",
                        error.status
                    )));
                }
            }
        }
        if out.len() as u64 != size {
            return Err(short(format!("{} bytes", out.len())));
        }
        Ok(scalar.decode(&out, self.big_endian))
    }
}
