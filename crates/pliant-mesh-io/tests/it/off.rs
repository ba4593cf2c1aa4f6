//! OFF.

use super::cells::enclosed;
use super::{MeshError, assert_refused, parse_off};

/// A box of edges 1/2, 3/4 and 2, with colours, a comment, and an edge across.
pub(crate) const BOX: &str = "COFF # a box
8 7 0
0 0 0 1 0 0 1
0.5 0 0 1 0 0 1
0 0.75 0 1 0 0 1

0.5 0.75 0 1 0 0 1
0 0 2 1 0 0 1
0.5 0 2 1 0 0 1
0 0.75 2 1 0 0 1
0.5 0.75 2 1 0 0 1
4 0 2 3 1 255 0 0
4 4 5 7 6
4 0 1 5 4
4 2 6 7 3
4 0 4 6 2
4 1 3 7 5
2 0 7
";

#[test]
fn polygons_are_triangles_and_two_corners_an_edge() {
    let mesh = parse_off(BOX).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
    assert_eq!(mesh.edges, [[0, 7]]);
    assert_eq!(enclosed(&mesh), 0.75);
    assert_eq!(mesh.unique_edges().len(), 13);
}

/// The counts may be on the line of the first word, which may be left out.
#[test]
fn every_head_is_the_same_mesh() {
    let mesh = parse_off(BOX).unwrap();
    let body = BOX.split_once("8 7 0\n").unwrap().1;
    for head in [
        "OFF 8 7 0\n",
        "OFF\n# of it\n8 7\n",
        "8 7 12\n",
        "STCNOFF\n8 7 0\r\n",
    ] {
        assert_eq!(parse_off(&format!("{head}{body}")).unwrap(), mesh, "{head}");
    }
}

#[test]
fn mistakes_have_a_place() {
    let cases = [
        (BOX.replace("COFF", "4OFF"), "line 1: expected OFF, STOFF"),
        (BOX.replace("COFF", "OFF BINARY"), "line 1: expected OFF as text"),
        (
            BOX.replace("8 7 0", "8 -7 0"),
            "line 2: expected the number of faces",
        ),
        (
            BOX.replace("0.5 0.75 2", "0.5 z 2"),
            "line 11: expected coordinate y",
        ),
        (
            BOX.replace("0.5 0.75 2", "0.5 nan 2"),
            "line 11: expected coordinate y of a vertex, finite",
        ),
        (
            BOX.replace("4 1 3 7 5", "4 1 3 8 5"),
            "line 17: a cell names vertex 8",
        ),
        (
            BOX.replace("4 1 3 7 5", "4 1 3 7"),
            "line 17: expected a vertex of a face",
        ),
        (BOX.replace("4 1 3 7 5", "4000000000 1"), "more than"),
        (
            BOX.replace("2 0 7\n", ""),
            "line 17: expected 7 faces, of which 6 are there",
        ),
        (
            "OFF\n".to_owned(),
            "line 1: expected the numbers of vertices and faces",
        ),
    ];
    assert_refused(&cases, parse_off);
    assert!(matches!(parse_off("OFF 0 0 0\n"), Err(MeshError::Empty)));
    assert!(parse_off("").is_err());
}
