//! Legacy files.

use super::super::Mesh;
use super::super::builder::Builder;
use super::super::cursor::{Cursor, Encoding};
use super::super::error::{Location, MeshError, excerpt};
use super::data::{Numbers, Scalar, Values};
use super::grid::{CellData, Cells, POLY_LINE, POLY_VERTEX, POLYGON, STRIP, add_cells};

/// Reads a legacy file of VTK: text or binary, `UNSTRUCTURED_GRID` or `POLYDATA`, with cells as
/// before version 5 or since 5.1.
///
/// Points, lines, polygons, strips and the volumes of
/// [`ElementKind`](pliant_continuum::ElementKind) are read. Whole numbers of cells (scalars, or a
/// field of one component) become groups `<array>_<value>`, unless they have more than 1000
/// different values. All other data are passed over.
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::BadIndex`], [`MeshError::NonFinite`],
/// [`MeshError::UnsupportedElement`], [`MeshError::Empty`] and [`MeshError::TooLarge`].
pub fn parse_vtk(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let mut reader = Reader {
        cursor: Cursor::new(bytes, 0..bytes.len(), Encoding::Text, 8),
        builder: Builder::default(),
        cells: Cells::default(),
        types: None,
        of_cells: false,
        data: CellData::new(),
        numbers: Numbers::default(),
    };
    reader.header()?;
    while let Some(keyword) = reader.cursor.try_word() {
        let keyword = String::from_utf8_lossy(keyword).to_ascii_uppercase();
        reader.section(&keyword)?;
    }
    let Reader {
        mut builder,
        mut cells,
        types,
        data,
        ..
    } = reader;
    if let Some(types) = types {
        cells.types = types;
    }
    add_cells(&mut builder, 0, &cells, &data)?;
    builder.finish()
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
    cells: Cells,
    /// Types of the cells of a grid; cells of surfaces have theirs from the section that they are
    /// in.
    types: Option<Vec<i64>>,
    /// Whether the data that follow are those of cells.
    of_cells: bool,
    data: CellData,
    numbers: Numbers,
}

impl Reader<'_> {
    /// `# vtk DataFile Version x.y`, a title, `ASCII` or `BINARY`, `DATASET type`.
    fn header(&mut self) -> Result<(), MeshError> {
        let first = self.cursor.rest_of_line();
        if !first.starts_with(b"# vtk DataFile Version") {
            return Err(self.cursor.syntax("# vtk DataFile Version", excerpt(first)));
        }
        self.cursor.rest_of_line();
        let binary = match self.cursor.word("ASCII or BINARY")? {
            b"ASCII" => false,
            b"BINARY" => true,
            word => return Err(self.cursor.syntax("ASCII or BINARY", excerpt(word))),
        };
        match self.cursor.word("DATASET")? {
            b"DATASET" => {}
            word => return Err(self.cursor.syntax("DATASET", excerpt(word))),
        }
        match self.cursor.word("UNSTRUCTURED_GRID or POLYDATA")? {
            b"UNSTRUCTURED_GRID" => self.types = Some(Vec::new()),
            b"POLYDATA" => {}
            word => return Err(self.cursor.syntax("UNSTRUCTURED_GRID or POLYDATA", excerpt(word))),
        }
        if binary {
            self.cursor.encoding = Encoding::Binary { big_endian: true };
        }
        Ok(())
    }

    fn section(&mut self, keyword: &str) -> Result<(), MeshError> {
        let place = self.cursor.place(self.cursor.last);
        match keyword {
            "POINTS" => self.points(),
            "CELLS" if self.types.is_some() => self.cells(place, None),
            "CELL_TYPES" if self.types.is_some() => {
                let count = self.cursor.text("the number of cells")?;
                let types = self.array(Scalar::Int(4), count, 1, "types of cells")?;
                if let Values::Whole(types) = types {
                    self.types = Some(types);
                }
                Ok(())
            }
            "VERTICES" if self.types.is_none() => self.cells(place, Some(POLY_VERTEX)),
            "LINES" if self.types.is_none() => self.cells(place, Some(POLY_LINE)),
            "POLYGONS" if self.types.is_none() => self.cells(place, Some(POLYGON)),
            "TRIANGLE_STRIPS" if self.types.is_none() => self.cells(place, Some(STRIP)),
            "CELL_DATA" | "POINT_DATA" => {
                self.cursor.text::<u64>("the number of cells or points")?;
                self.of_cells = keyword == "CELL_DATA";
                Ok(())
            }
            "METADATA" => {
                // Up to an empty line.
                self.cursor.rest_of_line();
                while !self.cursor.rest_of_line().trim_ascii().is_empty() {}
                Ok(())
            }
            _ => self.attributes(keyword),
        }
    }

    fn points(&mut self) -> Result<(), MeshError> {
        if self.builder.vertices() > 0 {
            return Err(self.cursor.syntax("the points once", "POINTS"));
        }
        let place = self.cursor.place(self.cursor.last);
        let count = self.cursor.text("the number of points")?;
        let scalar = self.scalar()?;
        let values = self.array(scalar, count, 3, "coordinates of points")?.real();
        for (index, position) in values.as_chunks::<3>().0.iter().enumerate() {
            if !position.iter().all(|x| x.is_finite()) {
                let vertex = index as i64;
                return Err(MeshError::NonFinite { place, vertex });
            }
            self.builder.vertex(*position)?;
        }
        Ok(())
    }

    /// `cells size` and the cells one by one, each behind its number of nodes; or since version 5.1
    /// `offsets size`, and the arrays of both.
    fn cells(&mut self, place: Location, kind: Option<i64>) -> Result<(), MeshError> {
        let first: u64 = self.cursor.text("the number of cells")?;
        let size: u64 = self.cursor.text("the number of their numbers")?;
        self.cells.place.get_or_insert(place);
        let start = self.cells.connectivity.len() as i64;
        if self.cursor.next_is(b"OFFSETS") {
            self.cursor.word("OFFSETS")?;
            let scalar = self.scalar()?;
            let offsets = self.array(scalar, first, 1, "offsets of cells")?;
            match self.cursor.word("CONNECTIVITY")? {
                b"CONNECTIVITY" => {}
                word => return Err(self.cursor.syntax("CONNECTIVITY", excerpt(word))),
            }
            let scalar = self.scalar()?;
            let connectivity = self.array(scalar, size, 1, "nodes of cells")?;
            let (Values::Whole(offsets), Values::Whole(connectivity)) = (offsets, connectivity) else {
                return Err(self.cursor.syntax("whole numbers of nodes", "real ones"));
            };
            if offsets.first().is_some_and(|first| *first != 0) {
                return Err(self.cursor.syntax("a first offset of 0", offsets[0].to_string()));
            }
            let ends = offsets.iter().skip(1);
            self.cells.ends.extend(ends.map(|end| end.saturating_add(start)));
            self.cells.connectivity.extend(connectivity);
        } else {
            let Values::Whole(numbers) = self.array(Scalar::Int(4), size, 1, "numbers of cells")? else {
                return Ok(());
            };
            let mut rest = numbers.as_slice();
            for index in 0..first {
                let nodes = rest.split_first().and_then(|(count, behind)| {
                    let count = usize::try_from(*count).ok()?;
                    behind.split_at_checked(count)
                });
                let Some((nodes, behind)) = nodes else {
                    let expected = format!("the number of nodes of cell {index}, and the nodes");
                    return Err(self.cursor.syntax(expected, "others"));
                };
                self.cells.connectivity.extend(nodes);
                self.cells.ends.push(self.cells.connectivity.len() as i64);
                rest = behind;
            }
            if !rest.is_empty() {
                let expected = format!("{size} numbers of {first} cells");
                return Err(self.cursor.syntax(expected, format!("{} too many", rest.len())));
            }
        }
        if let Some(kind) = kind {
            self.cells.types.resize(self.cells.ends.len(), kind);
        }
        Ok(())
    }

    /// Data of points or cells; kept are whole numbers of cells.
    fn attributes(&mut self, keyword: &str) -> Result<(), MeshError> {
        let count = (self.of_cells, self.cells.ends.len(), self.builder.vertices());
        let count = if count.0 { count.1 } else { count.2 } as u64;
        match keyword {
            "SCALARS" => {
                let name = self.name()?;
                let scalar = self.scalar()?;
                let mut components = 1;
                if self.cursor.goes_on() {
                    components = self.cursor.text("the number of components")?;
                }
                if self.cursor.next_is(b"LOOKUP_TABLE") {
                    self.cursor.word("LOOKUP_TABLE")?;
                    self.cursor.word("the name of a table")?;
                }
                let values = self.array(scalar, count, components, &name)?;
                self.keep(name, components, values);
            }
            "FIELD" => {
                self.name()?;
                let arrays: u64 = self.cursor.text("the number of arrays")?;
                for _ in 0..arrays {
                    if self.cursor.next_is(b"METADATA") {
                        self.cursor.word("METADATA")?;
                        self.section("METADATA")?;
                    }
                    let name = self.name()?;
                    let components = self.cursor.text("the number of components")?;
                    let tuples = self.cursor.text("the number of tuples")?;
                    let scalar = self.scalar()?;
                    let values = self.array(scalar, tuples, components, &name)?;
                    self.keep(name, components, values);
                }
            }
            "VECTORS" | "NORMALS" | "TENSORS" | "TENSORS6" | "GLOBAL_IDS" | "PEDIGREE_IDS" => {
                let name = self.name()?;
                let scalar = self.scalar()?;
                let components = match keyword {
                    "TENSORS" => 9,
                    "TENSORS6" => 6,
                    "VECTORS" | "NORMALS" => 3,
                    _ => 1,
                };
                self.array(scalar, count, components, &name)?;
            }
            "TEXTURE_COORDINATES" => {
                let name = self.name()?;
                let components = self.cursor.text("the number of components")?;
                let scalar = self.scalar()?;
                self.array(scalar, count, components, &name)?;
            }
            "COLOR_SCALARS" => {
                let name = self.name()?;
                let components = self.cursor.text("the number of components")?;
                let scalar = self.colours();
                self.array(scalar, count, components, &name)?;
            }
            "LOOKUP_TABLE" => {
                let name = self.name()?;
                let size = self.cursor.text("the number of colours")?;
                let scalar = self.colours();
                self.array(scalar, size, 4, &name)?;
            }
            _ => {
                let expected =
                    "a section as POINTS, CELLS, CELL_TYPES, POLYGONS, CELL_DATA, SCALARS or FIELD";
                return Err(self.cursor.syntax(expected, excerpt(keyword.as_bytes())));
            }
        }
        Ok(())
    }

    /// Colours are real numbers as text, bytes otherwise.
    fn colours(&self) -> Scalar {
        match self.cursor.encoding {
            Encoding::Text => Scalar::Double,
            Encoding::Binary { .. } => Scalar::Unsigned(1),
        }
    }

    fn keep(&mut self, name: String, components: u64, values: Values) {
        if let (true, 1, Values::Whole(values)) = (self.of_cells, components, values) {
            self.data.push((name, values));
        }
    }

    fn name(&mut self) -> Result<String, MeshError> {
        let word = self.cursor.word("the name of an array")?;
        Ok(String::from_utf8_lossy(word).into_owned())
    }

    fn scalar(&mut self) -> Result<Scalar, MeshError> {
        let word = self.cursor.word("a type of numbers, as float or int")?;
        let scalar = std::str::from_utf8(word).ok().and_then(Scalar::of_legacy);
        let expected = "a type of numbers, as float or int";
        scalar.ok_or_else(|| self.cursor.syntax(expected, excerpt(word)))
    }

    /// `count` times `each` numbers, which a binary file has behind the end of the line.
    fn array(&mut self, scalar: Scalar, count: u64, each: u64, what: &str) -> Result<Values, MeshError> {
        let total = count.saturating_mul(each);
        self.numbers.add(count, each)?;
        if let Encoding::Binary { big_endian } = self.cursor.encoding {
            if total == 0 {
                return Ok(scalar.decode(&[], big_endian));
            }
            self.cursor.end_of_line()?;
            let size = total.saturating_mul(scalar.bytes() as u64);
            let bytes = self.cursor.bytes(size, &format!("{total} {what}"))?;
            return Ok(scalar.decode(bytes, big_endian));
        }
        let total = self.cursor.fits(total, what, [1, 0, 0])?;
        if scalar.is_whole() {
            let values = (0..total).map(|_| self.cursor.text(what));
            values.collect::<Result<_, _>>().map(Values::Whole)
        } else {
            let values = (0..total).map(|_| self.cursor.text(what));
            values.collect::<Result<_, _>>().map(Values::Real)
        }
    }
}
