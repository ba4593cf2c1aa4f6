//! PLY: vertices, faces and edges, as text or binary.

mod data;

use super::Mesh;
use super::builder::{Builder, within};
use super::error::{Location, MeshError, excerpt};
use data::{Data, Format, Scalar};

/// Reads a PLY file: text, or binary of either byte order.
///
/// Of the element `vertex` the properties `x`, `y`, `z` are read, of `face` the list
/// `vertex_indices` (or `vertex_index`), of `edge` the properties `vertex1` and `vertex2`; all
/// other properties and elements are passed over. There are no groups.
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::BadIndex`], [`MeshError::NonFinite`], [`MeshError::Empty`]
/// and [`MeshError::TooLarge`]; strips of triangles (`tristrips`) are not read, which is an error
/// too.
pub fn parse_ply(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let (mut data, elements) = read_header(bytes)?;
    let mut builder = Builder::default();
    let total = elements
        .iter()
        .filter(|e| e.name == "vertex")
        .fold(0u64, |sum, e| sum.saturating_add(e.count));
    for element in &elements {
        match element.name.as_str() {
            "vertex" => read_vertices(&mut data, element, &mut builder)?,
            "face" => read_faces(&mut data, element, total, &mut builder)?,
            "edge" => read_edges(&mut data, element, total, &mut builder)?,
            _ => skip(&mut data, element)?,
        }
    }
    builder.finish()
}

/// The header's description of one kind of element.
struct Element {
    /// The line in the header.
    line: usize,
    name: String,
    count: u64,
    properties: Vec<Property>,
}

struct Property {
    name: String,
    /// The type of the count, where it is a list.
    list: Option<Scalar>,
    scalar: Scalar,
}

impl Element {
    fn wrong(&self, expected: impl Into<String>) -> MeshError {
        MeshError::Syntax {
            place: Location::Line(self.line),
            expected: expected.into(),
            found: format!("the element {}", excerpt(self.name.as_bytes())),
        }
    }

    /// The position of a property that is no list.
    fn scalar(&self, name: &str) -> Result<usize, MeshError> {
        self.properties
            .iter()
            .position(|p| p.name == name && p.list.is_none())
            .ok_or_else(|| self.wrong(format!("a number {name} of each {}", self.name)))
    }
}

/// `ply`, `format ...`, `element name count`, `property ...`, `end_header`.
fn read_header(bytes: &[u8]) -> Result<(Data<'_>, Vec<Element>), MeshError> {
    let mut data = Data::new(bytes);
    let first = data.line().map_or_else(String::new, |(_, text)| text);
    if first.trim() != "ply" {
        return Err(MeshError::Syntax {
            place: Location::Line(1),
            expected: "ply".to_owned(),
            found: excerpt(first.as_bytes()),
        });
    }
    let mut format = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let Some((line, text)) = data.line() else {
            return Err(super::text::cut_off(
                &String::from_utf8_lossy(bytes),
                "end_header",
            ));
        };
        let syntax = |expected: &str| MeshError::Syntax {
            place: Location::Line(line),
            expected: expected.to_owned(),
            found: excerpt(text.as_bytes()),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match (words.as_slice(), elements.last_mut()) {
            ([] | ["comment" | "obj_info", ..], _) => {}
            (["format", kind, "1.0"], None) => {
                let found = match *kind {
                    "ascii" => Format::Text,
                    "binary_little_endian" => Format::Binary { big_endian: false },
                    "binary_big_endian" => Format::Binary { big_endian: true },
                    _ => return Err(syntax("ascii, binary_little_endian or binary_big_endian")),
                };
                format = Some(found);
            }
            (["element", name, count], _) => elements.push(Element {
                line,
                name: (*name).to_owned(),
                count: count.parse().map_err(|_| syntax("element name count"))?,
                properties: Vec::new(),
            }),
            (["property", "list", count, item, name], Some(element)) => element.properties.push(Property {
                name: (*name).to_owned(),
                list: Some(Scalar::named(count).ok_or_else(|| syntax("a type of the count"))?),
                scalar: Scalar::named(item).ok_or_else(|| syntax("a type of the items"))?,
            }),
            (["property", scalar, name], Some(element)) => element.properties.push(Property {
                name: (*name).to_owned(),
                list: None,
                scalar: Scalar::named(scalar).ok_or_else(|| syntax("a type of the property"))?,
            }),
            (["end_header"], _) => break,
            _ => {
                return Err(syntax(
                    "format, element name count, property type name, comment or end_header",
                ));
            }
        }
    }
    let Some(format) = format else {
        return Err(MeshError::Syntax {
            place: Location::Line(2),
            expected: "format ascii 1.0, binary_little_endian 1.0 or binary_big_endian 1.0".to_owned(),
            found: "a header without it".to_owned(),
        });
    };
    data.format = format;
    Ok((data, elements))
}

/// Reads one element: the numbers of all its properties that are none of a list, and the items of
/// the list asked for.
fn read_one(
    data: &mut Data<'_>,
    element: &Element,
    wanted: Option<usize>,
    scalars: &mut Vec<f64>,
    items: &mut Vec<f64>,
) -> Result<(), MeshError> {
    scalars.clear();
    for (k, property) in element.properties.iter().enumerate() {
        let Some(count) = property.list else {
            scalars.push(data.number(property.scalar, &property.name)?);
            continue;
        };
        scalars.push(0.0);
        let what = format!("the length of {}", property.name);
        let count = data.whole(count, &what)?;
        if wanted == Some(k) {
            items.clear();
            within(usize::try_from(count).unwrap_or(usize::MAX), "vertices in a face")?;
        }
        for _ in 0..count {
            let item = data.number(property.scalar, &property.name)?;
            if wanted == Some(k) {
                items.push(item);
            }
        }
    }
    Ok(())
}

fn read_vertices(data: &mut Data<'_>, element: &Element, builder: &mut Builder) -> Result<(), MeshError> {
    let axes = [element.scalar("x")?, element.scalar("y")?, element.scalar("z")?];
    let (mut scalars, mut items) = (Vec::new(), Vec::new());
    for _ in 0..element.count {
        let place = data.next_place();
        read_one(data, element, None, &mut scalars, &mut items)?;
        let position = axes.map(|k| scalars[k]);
        let index = builder.vertex(position)?;
        if !position.iter().all(|x| x.is_finite()) {
            let vertex = i64::from(index);
            return Err(MeshError::NonFinite {
                place: place.of(data),
                vertex,
            });
        }
    }
    Ok(())
}

fn read_faces(
    data: &mut Data<'_>,
    element: &Element,
    vertices: u64,
    builder: &mut Builder,
) -> Result<(), MeshError> {
    let is_list =
        |p: &Property| matches!(p.name.as_str(), "vertex_indices" | "vertex_index") && p.list.is_some();
    let Some(list) = element.properties.iter().position(is_list) else {
        return Err(element.wrong("a list vertex_indices of each face"));
    };
    let (mut scalars, mut items) = (Vec::new(), Vec::new());
    for _ in 0..element.count {
        let place = data.next_place();
        read_one(data, element, Some(list), &mut scalars, &mut items)?;
        if items.len() < 3 {
            return Err(MeshError::Syntax {
                place: place.of(data),
                expected: "at least three vertices of a face".to_owned(),
                found: items.len().to_string(),
            });
        }
        let corners: Vec<u32> = items
            .iter()
            .map(|item| place.index(data, *item, vertices))
            .collect::<Result<_, _>>()?;
        builder.polygon(&corners, &[])?;
    }
    Ok(())
}

fn read_edges(
    data: &mut Data<'_>,
    element: &Element,
    vertices: u64,
    builder: &mut Builder,
) -> Result<(), MeshError> {
    let ends = [element.scalar("vertex1")?, element.scalar("vertex2")?];
    let (mut scalars, mut items) = (Vec::new(), Vec::new());
    for _ in 0..element.count {
        let place = data.next_place();
        read_one(data, element, None, &mut scalars, &mut items)?;
        let [a, b] = ends.map(|k| place.index(data, scalars[k], vertices));
        builder.edge([a?, b?], &[])?;
    }
    Ok(())
}

fn skip(data: &mut Data<'_>, element: &Element) -> Result<(), MeshError> {
    if element.name == "tristrips" && element.count > 0 {
        return Err(element.wrong("faces instead of strips of triangles"));
    }
    // Without properties there is nothing to read, however many there are.
    if element.properties.is_empty() {
        return Ok(());
    }
    let (mut scalars, mut items) = (Vec::new(), Vec::new());
    for _ in 0..element.count {
        read_one(data, element, None, &mut scalars, &mut items)?;
    }
    Ok(())
}
