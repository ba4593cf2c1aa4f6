//! STL and PLY: surfaces.

use super::cells::{box_triangles, enclosed};
use super::{Location, MeshError, parse_ply, parse_stl};

/// Multiples of powers of two, which single precision has exactly.
const EDGES: [f64; 3] = [0.5, 0.75, 2.0];

pub(crate) fn stl_text() -> String {
    let mut out = "solid a box\n".to_owned();
    for (k, corners) in box_triangles(EDGES).into_iter().enumerate() {
        // A zero of either sign is the same place.
        let zero = if k % 2 == 0 { 0.0 } else { -0.0 };
        out += "  facet normal 0 0 0\n    outer loop\n";
        for [x, y, z] in corners {
            out += &format!("      vertex {x:e} {y} {}\n", if z == 0.0 { zero } else { z });
        }
        out += "    endloop\n  endfacet\n";
    }
    out + "endsolid a box\n"
}

/// The box with 32-bit numbers; the title may begin like a text.
pub(crate) fn stl_binary() -> Vec<u8> {
    let mut out = b"solid but binary".to_vec();
    out.resize(80, b' ');
    let triangles = box_triangles(EDGES);
    out.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        out.extend([0u8; 12]);
        for x in triangle.as_flattened() {
            out.extend((*x as f32).to_le_bytes());
        }
        out.extend([7, 0]);
    }
    out
}

#[test]
fn stl_corners_that_are_equal_are_one() {
    for (file, named) in [(stl_text().into_bytes(), true), (stl_binary(), false)] {
        let mesh = parse_stl(&file).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
        assert_eq!(enclosed(&mesh), 0.75, "edges 1/2, 3/4 and 2");
        // Twelve edges of the box and a diagonal on each side: closed.
        assert_eq!(mesh.unique_edges().len(), 18);
        let names: Vec<_> = mesh.groups.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, if named { vec!["a box"] } else { vec![] });
    }
    // As far apart as rounding: not the same.
    let text = stl_text().replacen("vertex 5e-1", "vertex 5.0000000000000001e-1", 1);
    assert_eq!(
        parse_stl(text.as_bytes()).unwrap().vertices.len(),
        8,
        "the same number"
    );
    let text = stl_text().replacen("vertex 5e-1", "vertex 5.000000000000001e-1", 1);
    assert_eq!(parse_stl(text.as_bytes()).unwrap().vertices.len(), 9);
}

#[test]
fn stl_mistakes_have_a_place() {
    let text = stl_text();
    let cases: [(String, usize, &str); 6] = [
        (text.replacen("vertex", "vertices", 1), 4, "outer loop or vertex"),
        (
            text.replacen("vertex 0e0 0", "vertex 0e0 z", 1),
            4,
            "coordinate y of a vertex",
        ),
        (text.replacen("vertex 0e0 0", "vertex nan 0", 1), 4, "finite"),
        (text.replacen("    endloop\n  endfacet", "  endfacet", 1), 8, ""),
        (text.replacen("endsolid a box", "", 1), 86, "endsolid"),
        (format!("{text}facet\n"), 87, "solid"),
    ];
    for (text, line, wanted) in cases {
        match parse_stl(text.as_bytes()) {
            // A loop need not be ended by its own word.
            Ok(mesh) => assert!(wanted.is_empty() && mesh.triangles.len() == 12),
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with(&format!("line {line}: ")), "{message}");
                assert!(message.contains(wanted), "{message}");
            }
        }
    }
    let mut binary = stl_binary();
    binary[0] = b'#';
    binary[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = parse_stl(&binary).unwrap_err();
    assert!(
        matches!(
            error,
            MeshError::Syntax {
                place: Location::Byte(80),
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("214748364834 bytes"), "{error}");
    let mut binary = stl_binary();
    binary[84 + 12..84 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    let error = parse_stl(&binary).unwrap_err();
    assert!(
        matches!(
            error,
            MeshError::NonFinite {
                place: Location::Byte(96),
                ..
            }
        ),
        "{error}"
    );
    // What is behind the triangles that the header counts is none of them.
    let mut binary = stl_binary();
    binary[..5].copy_from_slice(b"plain");
    binary.extend([0; 75]);
    assert_eq!(parse_stl(&binary).unwrap().triangles.len(), 12);
    assert!(matches!(parse_stl(b"solid\nendsolid\n"), Err(MeshError::Empty)));
    assert!(parse_stl(b"neither").is_err());
}

/// A box of six quadrangles and an edge; `big` is the byte order, if it is binary.
pub(crate) fn ply(big: Option<bool>) -> Vec<u8> {
    let format = match big {
        None => "ascii",
        Some(false) => "binary_little_endian",
        Some(true) => "binary_big_endian",
    };
    let header = format!(
        "ply\nformat {format} 1.0\ncomment a box\nelement vertex 8\nproperty uchar red\nproperty double x\n\
         property float y\nproperty float z\nelement camera 1\nproperty list uchar short list\nelement face 6\n\
         property list uchar uint vertex_indices\nproperty int flag\nelement edge 1\nproperty int vertex1\n\
         property int vertex2\nend_header\n"
    );
    let mut out = header.into_bytes();
    let mut put = |text: String, little: &[u8]| match big {
        None => out.extend(format!("{text} ").bytes()),
        Some(false) => out.extend(little),
        Some(true) => out.extend(little.iter().rev()),
    };
    for bits in 0..8usize {
        let [x, y, z] = [0, 1, 2].map(|k| if bits >> k & 1 == 1 { EDGES[k] } else { 0.0 });
        put("200".into(), &[200]);
        put(x.to_string(), &x.to_le_bytes());
        for c in [y, z] {
            put(c.to_string(), &(c as f32).to_le_bytes());
        }
    }
    put("2".into(), &[2]);
    for number in [-3i16, 4] {
        put(number.to_string(), &number.to_le_bytes());
    }
    for side in [
        [0u32, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ] {
        put("4".into(), &[4]);
        for corner in side {
            put(corner.to_string(), &corner.to_le_bytes());
        }
        put("-1".into(), &(-1i32).to_le_bytes());
    }
    for end in [0i32, 7] {
        put(end.to_string(), &end.to_le_bytes());
    }
    out
}

#[test]
fn ply_is_the_same_in_every_format() {
    let text = parse_ply(&ply(None)).unwrap();
    assert_eq!((text.vertices.len(), text.triangles.len()), (8, 12));
    assert_eq!(text.edges, [[0, 7]]);
    assert_eq!(enclosed(&text), 0.75);
    // Twelve edges of the box and the one across: diagonals of quadrangles are no edges.
    assert_eq!(text.unique_edges().len(), 13);
    for big in [false, true] {
        assert_eq!(parse_ply(&ply(Some(big))).unwrap(), text);
    }
}

/// Whole numbers as coordinates, with and without a sign, behind a list; bytes by hand.
#[test]
fn ply_numbers_have_the_widths_and_signs_of_their_types() {
    let text = "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty list uchar char tags\nproperty char x\n\
                property uchar y\nproperty ushort z\nelement face 1\nproperty list uchar ushort vertex_indices\nend_header\n";
    let mut file = text.as_bytes().to_vec();
    file.extend([2, 9, 9, 0xfd, 200, 0x40, 0x9c]);
    file.extend([0, 0x7f, 1, 1, 0]);
    file.extend([1, 5, 0x80, 255, 0xff, 0xff]);
    file.extend([3, 0, 0, 1, 0, 2, 0]);
    let mesh = parse_ply(&file).unwrap();
    let expected = [
        [-3.0, 200.0, 40000.0],
        [127.0, 1.0, 1.0],
        [-128.0, 255.0, 65535.0],
    ];
    assert_eq!(mesh.vertices, expected);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn ply_mistakes_have_a_place() {
    let text = String::from_utf8(ply(None)).unwrap();
    let cases = [
        (text.replacen("ply", "plx", 1), "line 1: expected ply"),
        (
            text.replacen("ascii 1.0", "ebcdic 1.0", 1),
            "line 2: expected ascii",
        ),
        (
            text.replacen("format ascii 1.0\n", "", 1),
            "line 2: expected format",
        ),
        (
            text.replacen("vertex 8", "vertex -8", 1),
            "line 4: expected element",
        ),
        (text.replacen("float y", "real y", 1), "line 7: expected a type"),
        (
            text.replacen("float y", "float w", 1),
            "line 4: expected a number y",
        ),
        (
            text.replacen("vertex_indices", "corners", 1),
            "line 11: expected a list",
        ),
        (
            text.replacen("camera 1", "tristrips 1", 1),
            "line 9: expected faces",
        ),
        (text.replacen("end_header", "end", 1), "line 17: expected format"),
        (
            text.replacen("4 0 2 3 1", "4 0 2 8 1", 1),
            "line 18: a cell names vertex 8",
        ),
        (
            text.replacen("4 0 2 3 1", "4 0 2 -3 1", 1),
            "line 18: a cell names vertex -3",
        ),
        (
            text.replacen("4 0 2 3 1", "2 0 2", 1),
            "line 18: expected at least three",
        ),
        (
            text.replacen("200 0.5 0 0", "200 inf 0 0", 1),
            "line 18: vertex 1 has",
        ),
        (
            text.replacen("vertex 8", "vertex 999999999999", 1),
            "line 18: expected a number",
        ),
    ];
    for (text, wanted) in cases {
        let message = parse_ply(text.as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with(wanted), "{message} instead of {wanted}");
    }
    let mut binary = ply(Some(false));
    binary.truncate(binary.len() - 1);
    let error = parse_ply(&binary).unwrap_err();
    assert!(
        matches!(
            error,
            MeshError::Syntax {
                place: Location::Byte(_),
                ..
            }
        ),
        "{error}"
    );
}
