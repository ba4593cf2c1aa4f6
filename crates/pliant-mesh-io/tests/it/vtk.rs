//! VTK: legacy files, and XML files in every encoding.

mod small;

use super::cells::{Cell, DETERMINANT, cells};
use super::{Mesh, MeshError, parse_vtk, parse_vtk_xml};

/// The cells as lists: nodes of all, types, nodes of each cell.
fn lists(cells: &[Cell]) -> (Vec<[f64; 3]>, Vec<i64>, Vec<Vec<i64>>) {
    let mut next = 0;
    let mut lists = Vec::new();
    for cell in cells {
        let count = cell.nodes.len() as i64;
        lists.push((next..next + count).collect());
        next += count;
    }
    let nodes = cells.iter().flat_map(|c| c.nodes.clone()).collect();
    (nodes, cells.iter().map(|c| c.vtk).collect(), lists)
}

/// Checks the mesh that every file of all cells must give.
fn check(mesh: &Mesh, what: &str) {
    let solid = mesh.solid(1.0);
    assert_eq!(solid.defects(), [], "{what}");
    assert_eq!((mesh.tetrahedra.len(), mesh.volumes.len()), (1, 8), "{what}");
    let expected: f64 = cells().iter().map(|c| c.volume).sum();
    let found = solid.volume().unwrap();
    // Sums of some hundred terms of size one.
    assert!((found - expected).abs() < 1e-13, "{what}: {found} {expected}");
    // Numbers of cells are groups; those of each cell are too.
    let names: Vec<_> = mesh.groups.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names[..2], ["material_-2", "material_5"], "{what}");
    assert_eq!(mesh.groups[0].tetrahedra, [0], "{what}");
    assert_eq!(mesh.groups[1].volumes, [0, 1, 2, 3, 4, 5, 6, 7], "{what}");
}

fn material(cells: &[Cell]) -> Vec<i64> {
    (0..cells.len()).map(|k| if k == 0 { -2 } else { 5 }).collect()
}

/// A legacy file; `new` has offsets and connectivity as arrays.
pub(crate) fn legacy(binary: bool, new: bool) -> Vec<u8> {
    let cells = cells();
    let (nodes, types, lists) = lists(&cells);
    let version = if new { "5.1" } else { "3.0" };
    let kind = if binary { "BINARY" } else { "ASCII" };
    let mut out = format!("# vtk DataFile Version {version}\nall cells\n{kind}\nDATASET UNSTRUCTURED_GRID\n");
    out += &format!("POINTS {} double\n", nodes.len());
    let mut out = out.into_bytes();
    let reals = |out: &mut Vec<u8>, list: &mut dyn Iterator<Item = f64>| {
        for x in list {
            if binary {
                out.extend(x.to_be_bytes());
            } else {
                out.extend(format!("{x} ").bytes());
            }
        }
        out.push(b'\n');
    };
    let ints = |out: &mut Vec<u8>, bytes: usize, list: &mut dyn Iterator<Item = i64>| {
        for i in list {
            if binary {
                out.extend(&i.to_be_bytes()[8 - bytes..]);
            } else {
                out.extend(format!("{i} ").bytes());
            }
        }
        out.push(b'\n');
    };
    reals(&mut out, &mut nodes.as_flattened().iter().copied());
    let (count, total) = (lists.len(), nodes.len());
    if new {
        out.extend(format!("CELLS {} {total}\nOFFSETS vtktypeint64\n", count + 1).bytes());
        let ends = lists.iter().map(|list| list[list.len() - 1] + 1);
        ints(&mut out, 8, &mut std::iter::once(0).chain(ends));
        out.extend(b"CONNECTIVITY vtktypeint64\n");
        ints(&mut out, 8, &mut (0..total as i64));
    } else {
        out.extend(format!("CELLS {count} {}\n", count + total).bytes());
        let each = lists
            .iter()
            .flat_map(|list| std::iter::once(list.len() as i64).chain(list.iter().copied()));
        ints(&mut out, 4, &mut each.into_iter());
    }
    out.extend(format!("CELL_TYPES {count}\n").bytes());
    ints(&mut out, 4, &mut types.iter().copied());
    out.extend(format!("POINT_DATA {total}\nVECTORS velocity double\n").bytes());
    reals(&mut out, &mut nodes.as_flattened().iter().copied());
    out.extend(b"METADATA\nINFORMATION 0\n\n");
    out.extend(format!("CELL_DATA {count}\nSCALARS material short 1\nLOOKUP_TABLE default\n").bytes());
    ints(&mut out, 2, &mut material(&cells).into_iter());
    out.extend(format!("FIELD FieldData 2\nheat 1 {count} double\n").bytes());
    reals(&mut out, &mut types.iter().map(|t| 0.5 * *t as f64));
    out.extend(format!("part 1 {count} int\n").bytes());
    ints(&mut out, 4, &mut (0..count as i64));
    out
}

/// How an XML file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flavour {
    format: &'static str,
    encoding: &'static str,
    big: bool,
    wide: bool,
    compressed: bool,
}

impl Flavour {
    pub(crate) fn all() -> Vec<Self> {
        let mut out = Vec::new();
        for (format, encoding) in [
            ("ascii", ""),
            ("binary", ""),
            ("appended", "raw"),
            ("appended", "base64"),
        ] {
            for choice in 0..if format == "ascii" { 1 } else { 8 } {
                out.push(Self {
                    format,
                    encoding,
                    big: choice & 1 == 1,
                    wide: choice & 2 == 2,
                    compressed: choice & 4 == 4,
                });
            }
        }
        out
    }

    /// Bytes of an array, with the lengths before them.
    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        let number = |n: usize| {
            let mut low = (n as u64).to_le_bytes()[..if self.wide { 8 } else { 4 }].to_vec();
            if self.big {
                low.reverse();
            }
            low
        };
        let letters = |bytes: Vec<u8>| {
            if self.encoding == "raw" {
                bytes
            } else {
                base64(&bytes)
            }
        };
        if !self.compressed {
            return letters([number(bytes.len()), bytes.to_vec()].concat());
        }
        const BLOCK: usize = 100;
        let blocks: Vec<Vec<u8>> = bytes
            .chunks(BLOCK)
            .map(|block| miniz_oxide::deflate::compress_to_vec_zlib(block, 6))
            .collect();
        let lengths = [blocks.len(), BLOCK, bytes.len() % BLOCK];
        let lengths = lengths.into_iter().chain(blocks.iter().map(Vec::len));
        // The lengths are a run of letters of their own.
        [
            letters(lengths.flat_map(number).collect()),
            letters(blocks.concat()),
        ]
        .concat()
    }
}

pub(crate) fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= group.len() { letter } else { b'=' });
        }
    }
    out
}

/// A `.vtu` file of all cells, in two pieces: the first two cells, and the others.
pub(crate) fn vtu(flavour: Flavour) -> Vec<u8> {
    let Flavour {
        format,
        encoding,
        big,
        wide,
        compressed,
    } = flavour;
    let mut appended = Vec::new();
    let mut out = b"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\"".to_vec();
    out.extend(
        format!(
            " byte_order=\"{}\"",
            if big { "BigEndian" } else { "LittleEndian" }
        )
        .bytes(),
    );
    out.extend(format!(" header_type=\"{}\"", if wide { "UInt64" } else { "UInt32" }).bytes());
    if compressed {
        out.extend(b" compressor=\"vtkZLibDataCompressor\"");
    }
    out.extend(b">\n<UnstructuredGrid>\n");
    let mut array = |out: &mut Vec<u8>, head: &str, words: &[String], chunks: &[Vec<u8>]| {
        out.extend(format!("<DataArray {head} format=\"{format}\"").bytes());
        let turned = |chunk: &Vec<u8>| {
            let mut chunk = chunk.clone();
            if big {
                chunk.reverse();
            }
            chunk
        };
        let bytes: Vec<u8> = chunks.iter().flat_map(turned).collect();
        match format {
            "ascii" => out.extend(format!(">\n{}\n</DataArray>\n", words.join(" ")).bytes()),
            "binary" => {
                out.extend(b">\n  ");
                out.extend(flavour.pack(&bytes));
                out.extend(b"\n</DataArray>\n");
            }
            _ => {
                out.extend(format!(" offset=\"{}\"/>\n", appended.len()).bytes());
                appended.extend(flavour.pack(&bytes));
            }
        }
    };
    let mut all = cells();
    let second = all.split_off(2);
    for piece in [all, second] {
        let (nodes, types, lists) = lists(&piece);
        let ints = |list: &[i64]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        out.extend(
            format!(
                "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
                nodes.len(),
                types.len()
            )
            .bytes(),
        );
        let x = nodes.as_flattened();
        let words: Vec<String> = x.iter().map(ToString::to_string).collect();
        let single: Vec<_> = x.iter().map(|x| (*x as f32).to_le_bytes().to_vec()).collect();
        out.extend(b"<Points>");
        array(
            &mut out,
            "type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"",
            &words,
            &single,
        );
        out.extend(b"</Points>\n<Cells>");
        let flat = lists.concat();
        let wide: Vec<_> = flat.iter().map(|i| i.to_le_bytes().to_vec()).collect();
        array(
            &mut out,
            "type=\"Int64\" Name=\"connectivity\"",
            &ints(&flat),
            &wide,
        );
        let ends: Vec<i64> = lists.iter().map(|list| list[list.len() - 1] + 1).collect();
        let wide: Vec<_> = ends.iter().map(|i| (*i as i32).to_le_bytes().to_vec()).collect();
        array(&mut out, "type=\"Int32\" Name=\"offsets\"", &ints(&ends), &wide);
        let bytes: Vec<_> = types.iter().map(|t| vec![*t as u8]).collect();
        array(&mut out, "type=\"UInt8\" Name=\"types\"", &ints(&types), &bytes);
        out.extend(b"</Cells>\n<CellData>");
        let numbers: Vec<i64> = piece.iter().map(|c| if c.vtk == 10 { -2 } else { 5 }).collect();
        let bytes: Vec<_> = numbers
            .iter()
            .map(|t| (*t as i16).to_le_bytes().to_vec())
            .collect();
        array(
            &mut out,
            "type=\"Int16\" Name=\"material\"",
            &ints(&numbers),
            &bytes,
        );
        let words: Vec<String> = types.iter().map(|_| "0.5".to_owned()).collect();
        let bytes: Vec<_> = types.iter().map(|_| 0.5f64.to_le_bytes().to_vec()).collect();
        array(&mut out, "type=\"Float64\" Name=\"heat\"", &words, &bytes);
        out.extend(b"</CellData>\n</Piece>\n");
    }
    out.extend(b"</UnstructuredGrid>\n");
    if format == "appended" {
        out.extend(format!("<AppendedData encoding=\"{encoding}\">\n  _").bytes());
        out.extend(appended);
        out.extend(b"\n</AppendedData>\n");
    }
    out.extend(b"</VTKFile>\n");
    out
}

#[test]
fn legacy_files_hold_all_cells() {
    for binary in [false, true] {
        for new in [false, true] {
            let mesh = parse_vtk(&legacy(binary, new)).unwrap_or_else(|e| panic!("{binary} {new}: {e}"));
            check(&mesh, &format!("binary {binary}, new {new}"));
            assert_eq!(mesh.groups.len(), 2 + 9, "a part for each cell");
        }
    }
}

#[test]
fn xml_files_hold_all_cells_in_every_flavour() {
    for flavour in Flavour::all() {
        let mesh = parse_vtk_xml(&vtu(flavour)).unwrap_or_else(|e| panic!("{flavour:?}: {e}"));
        check(&mesh, &format!("{flavour:?}"));
        assert_eq!(mesh.groups.len(), 2);
    }
}

/// Cells of surfaces, of second order, and those that count along the axes; by hand after the
/// manual.
#[test]
fn other_types_of_cells() {
    let text = "# vtk DataFile Version 2.0\nvoxel\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n\
                0 0 0 2 0 0 0 3 0 2 3 0 0 0 4 2 0 4 0 3 4 2 3 4\nCELLS 4 22\n8 0 1 2 3 4 5 6 7\n4 0 1 2 3\n\
                3 0 1 2\n3 0 2 1\nCELL_TYPES 4\n11 8 2 21\n";
    let mesh = parse_vtk(text.as_bytes()).unwrap();
    // 2 x 3 x 4 at half of the size, from eight points whose weights are rounded.
    assert!((mesh.solid(0.5).volume().unwrap() - 3.0).abs() < 1e-14);
    assert_eq!(mesh.triangles, [[0, 1, 3], [0, 3, 2]]);
    assert_eq!(
        mesh.edges,
        [[0, 1], [1, 2]],
        "by the node in the middle, which is the last"
    );

    // Two flat cells of second order: a triangle of area 2 and a quadrangle of area 4, whose
    // middles must be on the outside.
    let text = "# vtk DataFile Version 2.0\nfaces\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 15 float\n\
                0 0 0 2 0 0 0 2 0 1 0 0 1 1 0 0 1 0\n5 0 0 7 0 0 7 2 0 5 2 0 6 0 0 7 1 0 6 2 0 5 1 0 6 1 0\n\
                CELLS 3 26\n6 0 1 2 3 4 5\n8 6 7 8 9 10 11 12 13\n9 6 7 8 9 10 11 12 13 14\nCELL_TYPES 3\n22 23 28\n";
    let mesh = parse_vtk(text.as_bytes()).unwrap();
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
        0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    };
    let areas: Vec<f64> = mesh.triangles.iter().map(area).collect();
    assert!(areas.iter().all(|a| *a > 0.0), "none is flat: {areas:?}");
    assert_eq!(areas.len(), 4 + 6 + 8);
    assert_eq!(areas.iter().sum::<f64>(), 2.0 + 4.0 + 4.0);

    let text = "# vtk DataFile Version 3.0\nstrips\nASCII\nDATASET POLYDATA\nPOINTS 6 double\n\
                0 0 0 1 0 0 0 1 0 1 1 0 0 2 0 1 2 0\nVERTICES 1 2\n1 5\nLINES 1 4\n3 0 1 3\n\
                POLYGONS 1 5\n4 0 1 3 2\nTRIANGLE_STRIPS 1 7\n6 0 1 2 3 4 5\nCELL_DATA 4\nSCALARS part int\n0 0 1 1\n";
    let mesh = parse_vtk(text.as_bytes()).unwrap();
    assert_eq!(mesh.edges, [[0, 1], [1, 3]]);
    let strip = [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]];
    assert_eq!(mesh.triangles, [&[[0, 1, 3], [0, 3, 2]], &strip[..]].concat());
    assert_eq!(mesh.group("part_0").unwrap().vertices, [5]);
    assert_eq!(mesh.group("part_1").unwrap().triangles, [0, 1, 2, 3, 4, 5]);

    let xml = "<VTKFile type='PolyData'><PolyData><Piece NumberOfPoints='3' NumberOfLines='1' NumberOfPolys='1'>\
               <Points><DataArray type='Float64' NumberOfComponents='3'>0 0 0 1 0 0 0 1 0</DataArray></Points>\
               <Lines><DataArray type='Int32' Name='connectivity'>2 0</DataArray>\
               <DataArray type='Int32' Name='offsets'>2</DataArray></Lines>\
               <Polys><DataArray type='Int32' Name='connectivity'>0 1 2</DataArray>\
               <DataArray type='Int32' Name='offsets'>3</DataArray></Polys>\
               <CellData><DataArray type='UInt64' Name='id'>18446744073709551615 7</DataArray></CellData></Piece></PolyData></VTKFile>";
    // A number that no group can have is a complaint, not another number.
    assert!(
        parse_vtk_xml(xml.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("18446744073709551615")
    );
    let mesh = parse_vtk_xml(xml.replace("18446744073709551615", "8").as_bytes()).unwrap();
    assert_eq!(
        (&mesh.edges[..], &mesh.triangles[..]),
        (&[[2, 0]][..], &[[0, 1, 2]][..])
    );
    assert_eq!(mesh.group("id_7").unwrap().triangles, [0]);
}

/// With one place of the file written otherwise, the complaint begins with what is wanted.
fn refused(text: &str, [from, to]: [&str; 2], wanted: &str, parse: fn(&[u8]) -> Result<Mesh, MeshError>) {
    let broken = text.replacen(from, to, 1);
    assert_ne!(broken, text, "{from}");
    let message = parse(broken.as_bytes()).unwrap_err().to_string();
    assert!(message.starts_with(wanted), "{message} instead of {wanted}");
}

#[test]
fn mistakes_name_the_line_and_what_was_expected() {
    let text = String::from_utf8(legacy(false, false)).unwrap();
    let first = cells()[0].nodes.len();
    for (from, to, wanted) in [
        ("# vtk", "# tvk", "line 1: expected # vtk DataFile Version"),
        ("ASCII", "EBCDIC", "line 3: expected ASCII or BINARY"),
        (
            "UNSTRUCTURED_GRID",
            "RECTILINEAR_GRID",
            "line 4: expected UNSTRUCTURED_GRID or POLYDATA",
        ),
        ("double", "float128", "line 5: expected a type of numbers"),
        (
            "CELLS 9",
            "CELLS 10",
            "line 8: expected the number of nodes of cell 9",
        ),
        ("CELLS 9", "CELLS 8", "line 8: expected 117 numbers of 8 cells"),
        ("\n10 12 ", "\n10 99 ", "line 7: elements of type 99 (unknown"),
        ("\n10 12 ", "\n10 42 ", "line 7: elements of type 42 (polyhedron)"),
        (
            "\n10 12 ",
            "\n12 12 ",
            "line 7: expected 8 nodes in cell 0 of type 12, found 4",
        ),
        ("CELL_TYPES 9", "CELL_TYPES 8", "line 10: expected a section"),
        ("CELL_DATA", "CELL_DOTA", "line 17: expected a section"),
    ] {
        refused(&text, [from, to], wanted, parse_vtk);
    }
    assert_eq!((first, DETERMINANT), (4, 2.5625));

    let text = String::from_utf8(vtu(Flavour::all()[0])).unwrap();
    for (from, to, wanted) in [
        ("</Points>", "</Pints>", "line 8: expected an XML file"),
        ("UnstructuredGrid", "ImageData", "line 2: expected <VTKFile type="),
        ("LittleEndian", "MiddleEndian", "line 2: expected byte_order"),
        ("UInt32", "UInt16", "line 2: expected header_type"),
        (
            " byte_order",
            " compressor=\"vtkLZ4DataCompressor\" byte_order",
            "line 2: expected no compressor",
        ),
        (
            "NumberOfPoints=\"12\"",
            "NumberOfPoints=\"13\"",
            "line 5: expected 39 numbers in the array, found 36",
        ),
        (
            "NumberOfCells=\"2\"",
            "NumberOfCells=\"x\"",
            "line 4: expected a whole number NumberOfCells",
        ),
        ("Float32", "Float80", "line 5: expected a type of numbers"),
        (
            "format=\"ascii\"",
            "format=\"morse\"",
            "line 5: expected the format",
        ),
        (
            "Name=\"offsets\"",
            "Name=\"ends\"",
            "line 9: expected <DataArray Name=\"offsets\">",
        ),
        ("\n10 12\n", "\n10 14\n", "line 9: expected 5 nodes in cell 1"),
        (
            "\n4 12\n",
            "\n4 11\n",
            "line 9: expected 11 numbers in the array, found 12",
        ),
        ("\n4 12\n", "\n-4 12\n", "line 9: expected nodes of cell 0"),
        ("\n0 1 2 3 ", "\n0 1 2 33 ", "line 9: a cell names vertex 33"),
        ("\n0 1 2 3 ", "\n0 1 2 x ", "line 9: expected numbers of the type"),
    ] {
        refused(&text, [from, to], wanted, parse_vtk_xml);
    }
    let broken = text.replacen("NumberOfPoints=\"12\"", "NumberOfPoints=\"999999999999999\"", 1);
    assert!(matches!(
        parse_vtk_xml(broken.as_bytes()),
        Err(MeshError::Syntax { .. })
    ));
}

/// Lengths of compressed blocks that promise more than there is.
#[test]
fn compressed_blocks_are_as_long_as_they_say() {
    let flavour = Flavour {
        format: "appended",
        encoding: "raw",
        big: false,
        wide: true,
        compressed: true,
    };
    let file = vtu(flavour);
    let data = file.windows(3).position(|w| w == b" _\x02").map(|at| at + 2);
    let data = data.expect("two blocks are the first number");
    for (number, value) in [
        (0, u64::MAX),
        (1, u64::MAX),
        (1, 99),
        (2, 43),
        (3, u64::MAX),
        (3, 1),
    ] {
        let mut broken = file.clone();
        broken[data + 8 * number..][..8].copy_from_slice(&value.to_le_bytes());
        let message = parse_vtk_xml(&broken).unwrap_err().to_string();
        assert!(
            message.starts_with("line 5: expected 144 bytes of the array"),
            "{number} {value}: {message}"
        );
    }
}

#[test]
fn numbers_of_cells_are_no_groups() {
    // Three different numbers make groups, a thousand and one do not.
    for (count, groups) in [(3, 3), (1000, 1000), (1001, 0)] {
        let mut text =
            "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\n".to_owned();
        text += &format!("VERTICES {count} {}\n{}\n", 2 * count, "1 0 ".repeat(count));
        text += &format!("CELL_DATA {count}\nSCALARS id int\nLOOKUP_TABLE default\n");
        (0..count).for_each(|k| text += &format!("{k} "));
        assert_eq!(parse_vtk(text.as_bytes()).unwrap().groups.len(), groups);
    }
}
