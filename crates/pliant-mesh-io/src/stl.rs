//! STL: triangles without shared corners, as text or binary.

use std::collections::HashMap;

use super::Mesh;
use super::builder::Builder;
use super::error::{Location, MeshError};
use super::text::{Words, cut_off, lines, syntax};

/// Bytes before the triangles of a binary file: a title and their number.
const HEADER: usize = 84;
/// Bytes of a triangle: a normal and three corners in single precision, and a number of two bytes.
const FACET: usize = 50;
/// Bytes of a normal or a corner.
const POINT: usize = 12;

/// Reads an STL file, text or binary.
///
/// The format has no shared vertices: corners that are exactly equal (`-0` and `0` are) become one,
/// all others stay apart. Normals and the attribute bytes of binary files are left out; the order
/// of the corners says where the outside is. The solids of a text file become groups of their
/// names. A file whose length is that of the number of triangles in its header is binary, whatever
/// it begins with.
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::NonFinite`], [`MeshError::Empty`] and
/// [`MeshError::TooLarge`].
pub fn parse_stl(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut welder = Welder::default();
    let count = bytes.get(HEADER - 4..HEADER).map(|count| {
        let count: [u8; 4] = std::array::from_fn(|k| count[k]);
        u64::from(u32::from_le_bytes(count))
    });
    let wanted = count.map(|count| count.saturating_mul(FACET as u64).saturating_add(HEADER as u64));
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    if wanted == Some(bytes.len() as u64) || !is_text {
        binary(bytes, count, wanted, &mut welder)?;
    } else {
        text(&String::from_utf8_lossy(bytes), &mut welder)?;
    }
    welder.builder.finish()
}

fn binary(
    bytes: &[u8],
    count: Option<u64>,
    wanted: Option<u64>,
    welder: &mut Welder,
) -> Result<(), MeshError> {
    let length = bytes.len();
    let (Some(count), Some(wanted)) = (count, wanted) else {
        return Err(MeshError::Syntax {
            place: Location::Byte(0),
            expected: "\"solid\", or the 84 bytes before the triangles of a binary file".to_owned(),
            found: format!("{length} bytes of something else"),
        });
    };
    if wanted > length as u64 {
        return Err(MeshError::Syntax {
            place: Location::Byte(HEADER - 4),
            expected: format!("{count} triangles in {wanted} bytes, or \"solid\" at the start"),
            found: format!("{length} bytes"),
        });
    }
    for (index, facet) in bytes[HEADER..]
        .chunks_exact(FACET)
        .take(count as usize)
        .enumerate()
    {
        let mut corners = [0; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            // Behind the normal and the corners before.
            let start = k.saturating_add(1).saturating_mul(POINT);
            let mut position = [0.0; 3];
            let numbers = facet[start..].as_chunks::<4>().0;
            for (x, bytes) in position.iter_mut().zip(numbers) {
                *x = f64::from(f32::from_le_bytes(*bytes));
            }
            let before = index.saturating_mul(FACET).saturating_add(start);
            let place = Location::Byte(before.saturating_add(HEADER));
            *corner = welder.vertex(position, place)?;
        }
        welder.builder.polygon(&corners, &[])?;
    }
    Ok(())
}

/// `solid name`, `facet normal ...`, `outer loop`, three times `vertex x y z`, `endloop`,
/// `endfacet`, `endsolid`.
fn text(text: &str, welder: &mut Welder) -> Result<(), MeshError> {
    let mut groups: Option<Vec<usize>> = None;
    // Corners of the facet that is being read.
    let mut facet: Option<Vec<u32>> = None;
    for (line, code) in lines(text, "\0") {
        let mut words = Words::new(line, code);
        let keyword = words.word("a statement")?.to_ascii_lowercase();
        match (keyword.as_str(), &mut groups, &mut facet) {
            ("solid", open @ None, _) => {
                let name = code.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
                let group = (!name.is_empty())
                    .then(|| welder.builder.group(&name))
                    .transpose()?;
                *open = Some(group.into_iter().collect());
            }
            ("facet", Some(_), open @ None) => *open = Some(Vec::new()),
            ("outer", Some(_), Some(corners)) if corners.is_empty() => {}
            ("vertex", Some(_), Some(corners)) if corners.len() < 3 => {
                let position = words.position()?;
                corners.push(welder.vertex(position, Location::Line(line))?);
            }
            ("endloop", Some(_), Some(corners)) if corners.len() == 3 => {}
            ("endfacet", Some(groups), Some(corners)) if corners.len() == 3 => {
                welder.builder.polygon(corners, groups)?;
                facet = None;
            }
            ("endsolid", open @ Some(_), None) => *open = None,
            (_, None, _) => return Err(syntax(line, "solid", Some(code))),
            (_, _, None) => return Err(syntax(line, "facet or endsolid", Some(code))),
            (_, _, Some(corners)) => {
                let expected = match corners.len() {
                    0 => "outer loop or vertex",
                    1 | 2 => "three lines of vertex",
                    _ => "endloop or endfacet",
                };
                return Err(syntax(line, expected, Some(code)));
            }
        }
    }
    if groups.is_some() {
        return Err(cut_off(text, "endsolid"));
    }
    Ok(())
}

/// Makes one vertex of equal corners.
#[derive(Default)]
struct Welder {
    builder: Builder,
    known: HashMap<[u64; 3], u32>,
}

impl Welder {
    fn vertex(&mut self, position: [f64; 3], place: Location) -> Result<u32, MeshError> {
        if !position.iter().all(|x| x.is_finite()) {
            let vertex = (self.builder.vertices() as i64).saturating_add(1);
            return Err(MeshError::NonFinite { place, vertex });
        }
        // Adding zero makes zeros of both signs the same.
        let position = position.map(|x| x + 0.0);
        let key = position.map(f64::to_bits);
        if let Some(index) = self.known.get(&key) {
            return Ok(*index);
        }
        let index = self.builder.vertex(position)?;
        self.known.insert(key, index);
        Ok(index)
    }
}
