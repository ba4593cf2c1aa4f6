//! Small files by hand, after the manual: types of arrays, what is passed over, and lists that do
//! not fit together.

use super::{Flavour, Mesh, base64, parse_vtk, parse_vtk_xml};

/// Two triangles of a square, and the sections that follow.
fn square(kind: &str, points: &[u8], cells: &[u8], data: &[u8]) -> Vec<u8> {
    let head = format!("# vtk DataFile Version 5.1\nsquare\n{kind}\nDATASET POLYDATA\n");
    [head.as_bytes(), points, cells, data].concat()
}

const POINTS: &[u8] = b"POINTS 4 float\n0 0 0 1 0 0 1 1 0 0 1 0\n";
const CELLS: &[u8] = b"POLYGONS 3 6\nOFFSETS vtktypeint64\n0 3 6\nCONNECTIVITY vtktypeint64\n0 1 2 0 2 3\n";

fn groups(mesh: &Mesh) -> Vec<&str> {
    mesh.groups.iter().map(|g| g.name.as_str()).collect()
}

/// Data that are no whole number of cells are passed over, to the right place.
#[test]
fn other_data_are_passed_over() {
    let data = b"POINT_DATA 4\nSCALARS ids int 1\nLOOKUP_TABLE colours\n1 2 3 4\nLOOKUP_TABLE colours 2\n0 0 0 1 1 1 1 1\n\
                 TENSORS stress double\n1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9\n\
                 COLOR_SCALARS paint 2\n0 1 0 1 0 1 0 1\nCELL_DATA 2\nSCALARS normal int 3\nLOOKUP_TABLE default\n1 2 3 4 5 6\n\
                 SCALARS part int\n8 9\n";
    let mesh = parse_vtk(&square("ASCII", POINTS, CELLS, data)).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(groups(&mesh), ["part_8", "part_9"]);
}

/// Widths of types in a binary file: an `int` and a `vtkIdType` have four bytes, a `long` has
/// eight, colours have one each.
#[test]
fn binary_types_have_their_widths() {
    let reals = |list: &[f32]| list.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let four = |list: &[i32]| list.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let eight = |list: &[i64]| list.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let places = reals(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.]);
    let points = [b"POINTS 4 float\n", &places[..], b"\n"].concat();
    let cells = [
        b"POLYGONS 3 6\nOFFSETS vtkIdType\n",
        &four(&[0, 3, 6])[..],
        b"\nCONNECTIVITY long\n",
        &eight(&[0, 1, 2, 0, 2, 3]),
        b"\n",
    ]
    .concat();
    let data = [
        b"POINT_DATA 4\nCOLOR_SCALARS paint 2\n",
        &[200u8; 8][..],
        b"\nLOOKUP_TABLE colours 2\n",
        &[100; 8],
        b"\nCELL_DATA 2\nFIELD f 2\nid 1 2 vtkIdType\n",
        &four(&[7, -7]),
        b"\npart 1 2 long\n",
        &eight(&[1 << 40, 5]),
        b"\n",
    ]
    .concat();
    let mesh = parse_vtk(&square("BINARY", &points, &cells, &data)).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(groups(&mesh), ["id_-7", "id_7", "part_5", "part_1099511627776"]);
}

/// Offsets count from the start of their own section.
#[test]
fn sections_have_offsets_of_their_own() {
    let cells = b"LINES 2 2\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY vtktypeint64\n1 3\n";
    let both = [&cells[..], CELLS].concat();
    let mesh = parse_vtk(&square("ASCII", POINTS, &both, b"")).unwrap();
    assert_eq!(mesh.edges, [[1, 3]]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn lists_that_do_not_fit_together_are_refused() {
    let polygons = String::from_utf8(CELLS.to_vec()).unwrap();
    let grid = "# vtk DataFile Version 3.0\ng\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 1 1 0 0 1 0\n\
                CELLS 2 8\n3 0 1 2\n3 0 2 3\nCELL_TYPES 1\n5\n";
    let file = |cells: &str, data: &[u8]| square("ASCII", POINTS, cells.as_bytes(), data);
    for (bytes, wanted) in [
        (grid.as_bytes().to_vec(), "expected types of 2 cells, found 1"),
        (
            file(&polygons, b"CELL_DATA 2\nFIELD f 1\npart 1 3 int\n1 2 3\n"),
            "expected 2 numbers part of cells, found 3",
        ),
        (
            file(
                &polygons
                    .replace("3 6\nOFF", "3 7\nOFF")
                    .replace("0 2 3", "0 2 3 1"),
                b"",
            ),
            "expected 6 nodes of all cells together, found 7",
        ),
        (
            file(&polygons.replace("0 3 6", "1 3 6"), b""),
            "expected a first offset of 0, found 1",
        ),
    ] {
        let message = parse_vtk(&bytes).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message} instead of {wanted}");
    }
}

/// A surface of 25 points up and down along x: a point, and a strip of 23 triangles. The points are
/// `points`, an array of another kind of file.
fn strip(head: &str, points: &str) -> String {
    let strip: Vec<String> = (0..25).map(|k| k.to_string()).collect();
    format!(
        "<VTKFile type='PolyData'{head}><PolyData><Piece NumberOfPoints='25' NumberOfVerts='1' NumberOfStrips='1'>\
         <Points>{points}</Points>\
         <Verts><DataArray type='Int32' Name='connectivity'>4 7</DataArray><DataArray type='Int32' Name='offsets'>2</DataArray></Verts>\
         <Strips><DataArray type='Int32' Name='connectivity'>{}</DataArray>\
         <DataArray type='Int32' Name='offsets'>25</DataArray></Strips>\
         <CellData><DataArray type='String' Name='label'>97 0 98 0</DataArray>\
         <DataArray type='Int32' Name='normal' NumberOfComponents='3'>1 2 3 4 5 6</DataArray>\
         <DataArray type='Int32' Name='part'>3 4</DataArray></CellData></Piece></PolyData></VTKFile>",
        strip.join(" ")
    )
}

/// Lengths have four bytes if the file does not say; an array of whole blocks has none that is
/// shorter (300 bytes are three of 100).
#[test]
fn surfaces_of_points_and_strips_in_whole_blocks() {
    let flavour = Flavour {
        format: "binary",
        encoding: "",
        big: false,
        wide: false,
        compressed: true,
    };
    let place = |k: usize| [k as f32, (k % 2) as f32, 0.0];
    let bytes: Vec<u8> = (0..25).flat_map(place).flat_map(f32::to_le_bytes).collect();
    let letters = String::from_utf8(flavour.pack(&bytes)).unwrap();
    let points =
        format!("<DataArray type='Float32' NumberOfComponents='3' format='binary'>{letters}</DataArray>");
    let text = strip(" compressor='vtkZLibDataCompressor'", &points);
    let mesh = parse_vtk_xml(text.as_bytes()).unwrap();
    assert_eq!(mesh.vertices.len(), 25);
    assert_eq!(mesh.vertices[23], [23.0, 1.0, 0.0]);
    assert_eq!(mesh.triangles.len(), 23);
    assert_eq!(
        mesh.triangles[1],
        [2, 1, 3],
        "every other one goes round the other way"
    );
    assert_eq!(groups(&mesh), ["part_3", "part_4"]);
    assert_eq!(mesh.groups[0].vertices, [4, 7]);
    assert!(mesh.edges.is_empty());
}

/// Padding ends a run of letters: what follows it in its group of four is a mistake.
#[test]
fn letters_behind_padding_are_refused() {
    let bytes = [0u8; 300];
    // The length 300 as two runs of two bytes.
    let file = |length: &str| {
        let letters = format!("{length}{}", String::from_utf8(base64(&bytes)).unwrap());
        let points = format!("<DataArray type='Float32' format='binary'>{letters}</DataArray>");
        strip("", &points)
    };
    assert_eq!(base64(&[44, 1]), b"LAE=");
    assert!(parse_vtk_xml(file("LAE=AAA=").as_bytes()).is_ok());
    let message = parse_vtk_xml(file("LAE=AA=A").as_bytes())
        .unwrap_err()
        .to_string();
    assert!(message.contains("found the end of the data"), "{message}");
}
