//! XML files: unstructured grids (`.vtu`) and surfaces (`.vtp`).

mod arrays;
mod stream;

use roxmltree::{Document, Node, ParsingOptions};

use super::super::Mesh;
use super::super::builder::Builder;
use super::super::error::{Location, MeshError, clipped, excerpt};
use super::data::Values;
use super::grid::{CellData, Cells, POLY_LINE, POLY_VERTEX, POLYGON, STRIP, add_cells};
use arrays::Arrays;

/// Bytes of a tag at most: attributes take time by the square of their number.
const LONGEST_TAG: usize = 2048;
/// Elements and texts of a document at most; an array is three of them.
const MOST_NODES: u32 = 100_000;

/// Reads an XML file of VTK: `UnstructuredGrid` or `PolyData`, of one or several pieces.
///
/// Arrays may be text, base64 or appended (raw or base64), of either byte order, with lengths of 32
/// or 64 bits, as they are or compressed by `vtkZLibDataCompressor`. Cells and groups are those of
/// [`parse_vtk`](super::parse_vtk).
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::BadIndex`], [`MeshError::NonFinite`],
/// [`MeshError::UnsupportedElement`], [`MeshError::Empty`] and [`MeshError::TooLarge`].
pub fn parse_vtk_xml(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let (text, appended) = split(bytes);
    // Comments may be long.
    let long = |tag: &str| !tag.starts_with('!') && tag.find('>').unwrap_or(tag.len()) > LONGEST_TAG;
    if text.split('<').skip(1).any(long) {
        return Err(MeshError::Syntax {
            place: Location::Line(1),
            expected: format!("tags of at most {LONGEST_TAG} bytes"),
            found: "a longer one".to_owned(),
        });
    }
    let options = ParsingOptions {
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(&text, options).map_err(|error| MeshError::Syntax {
        place: Location::Line(error.pos().row as usize),
        expected: "an XML file of VTK".to_owned(),
        found: clipped(&error.to_string()),
    })?;
    let root = document.root_element();
    let reader = Reader {
        arrays: Arrays::new(root, appended)?,
    };
    let kind = root.attribute("type").unwrap_or_default();
    if root.tag_name().name() != "VTKFile" || !matches!(kind, "UnstructuredGrid" | "PolyData") {
        let expected = "<VTKFile type=\"UnstructuredGrid\"> or type=\"PolyData\"";
        return Err(wrong(root, expected, &excerpt(kind.as_bytes())));
    }
    let mut builder = Builder::default();
    for piece in child(root, kind)?.children().filter(|n| n.has_tag_name("Piece")) {
        reader.piece(piece, kind == "PolyData", &mut builder)?;
    }
    builder.finish()
}

/// The file without its appended data, and those: raw ones are no XML.
fn split(bytes: &[u8]) -> (String, &[u8]) {
    const TAG: &[u8] = b"<AppendedData";
    let find = |from: usize, wanted: &[u8]| {
        let tail = bytes.get(from..)?;
        tail.windows(wanted.len())
            .position(|w| w == wanted)
            .map(|at| from.saturating_add(at))
    };
    let data = find(0, TAG).and_then(|tag| find(tag, b">")).and_then(|close| {
        let mark = find(close, b"_")?;
        let between = &bytes[close.saturating_add(1)..mark];
        between.trim_ascii().is_empty().then_some((close, mark))
    });
    match data {
        Some((close, mark)) => {
            let mut text = String::from_utf8_lossy(&bytes[..=close]).into_owned();
            text.push_str("</AppendedData></VTKFile>");
            (text, &bytes[mark.saturating_add(1)..])
        }
        None => (String::from_utf8_lossy(bytes).into_owned(), &[]),
    }
}

/// The line that an element of the file begins on.
fn place(node: Node<'_, '_>) -> Location {
    Location::Line(node.document().text_pos_at(node.range().start).row as usize)
}

fn wrong(node: Node<'_, '_>, expected: &str, found: &str) -> MeshError {
    MeshError::Syntax {
        place: place(node),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Result<Node<'a, 'b>, MeshError> {
    let found = node.children().find(|n| n.has_tag_name(name));
    found.ok_or_else(|| {
        let within = format!("<{}> without it", node.tag_name().name());
        wrong(node, &format!("<{name}>"), &within)
    })
}

/// A whole number that an attribute says.
fn count(node: Node<'_, '_>, name: &str) -> Result<u64, MeshError> {
    let text = node.attribute(name).unwrap_or("0");
    let expected = format!("a whole number {name}");
    text.trim()
        .parse()
        .map_err(|_| wrong(node, &expected, &excerpt(text.as_bytes())))
}

struct Reader<'a> {
    arrays: Arrays<'a>,
}

impl Reader<'_> {
    fn piece(&self, piece: Node<'_, '_>, surface: bool, builder: &mut Builder) -> Result<(), MeshError> {
        let points = count(piece, "NumberOfPoints")?;
        let first = builder.vertices();
        if points > 0 {
            let node = child(piece, "Points")?;
            let array = child(node, "DataArray")?;
            let values = self.arrays.read(array, points, 3)?.real();
            for (index, position) in values.as_chunks::<3>().0.iter().enumerate() {
                if !position.iter().all(|x| x.is_finite()) {
                    let place = place(array);
                    let vertex = index as i64;
                    return Err(MeshError::NonFinite { place, vertex });
                }
                builder.vertex(*position)?;
            }
        }
        let mut cells = Cells {
            place: Some(place(piece)),
            ..Cells::default()
        };
        if surface {
            for (tag, number, kind) in [
                ("Verts", "NumberOfVerts", POLY_VERTEX),
                ("Lines", "NumberOfLines", POLY_LINE),
                ("Polys", "NumberOfPolys", POLYGON),
                ("Strips", "NumberOfStrips", STRIP),
            ] {
                self.cells(piece, tag, count(piece, number)?, &mut cells)?;
                cells.types.resize(cells.ends.len(), kind);
            }
        } else {
            let total = count(piece, "NumberOfCells")?;
            self.cells(piece, "Cells", total, &mut cells)?;
            if total > 0 {
                let array = named(child(piece, "Cells")?, "types")?;
                cells.types = self.whole(array, total)?;
            }
        }
        let data = self.cell_data(piece, cells.ends.len() as u64)?;
        add_cells(builder, first, &cells, &data)
    }

    /// Adds the cells of a section: the ends of their lists of nodes, and the nodes of all.
    fn cells(&self, piece: Node<'_, '_>, tag: &str, total: u64, cells: &mut Cells) -> Result<(), MeshError> {
        if total == 0 {
            return Ok(());
        }
        let section = child(piece, tag)?;
        cells.place = Some(place(section));
        let ends = self.whole(named(section, "offsets")?, total)?;
        let array = named(section, "connectivity")?;
        let last = ends.last().copied().unwrap_or_default();
        let size =
            u64::try_from(last).map_err(|_| wrong(array, "a last offset above zero", &last.to_string()))?;
        let nodes = self.whole(array, size)?;
        let start = cells.connectivity.len() as i64;
        cells
            .ends
            .extend(ends.iter().map(|end| end.saturating_add(start)));
        cells.connectivity.extend(nodes);
        Ok(())
    }

    fn whole(&self, array: Node<'_, '_>, total: u64) -> Result<Vec<i64>, MeshError> {
        match self.arrays.read(array, total, 1)? {
            Values::Whole(values) => Ok(values),
            Values::Real(_) => Err(wrong(array, "an array of whole numbers", "real ones")),
        }
    }

    /// Whole numbers of cells, which become groups.
    fn cell_data(&self, piece: Node<'_, '_>, total: u64) -> Result<CellData, MeshError> {
        let mut out = CellData::new();
        let Some(node) = piece.children().find(|n| n.has_tag_name("CellData")) else {
            return Ok(out);
        };
        for array in node.children().filter(|n| n.has_tag_name("DataArray")) {
            let single = array
                .attribute("NumberOfComponents")
                .is_none_or(|n| n.trim() == "1");
            if single && arrays::scalar(array)?.is_whole() {
                let name = array.attribute("Name").unwrap_or("cells").to_owned();
                out.push((name, self.whole(array, total)?));
            }
        }
        Ok(out)
    }
}

/// The array of that name in a section.
fn named<'a, 'b>(section: Node<'a, 'b>, name: &str) -> Result<Node<'a, 'b>, MeshError> {
    let is = |n: &Node<'_, '_>| n.has_tag_name("DataArray") && n.attribute("Name") == Some(name);
    let found = section.children().find(is);
    found.ok_or_else(|| wrong(section, &format!("<DataArray Name=\"{name}\">"), "none"))
}
