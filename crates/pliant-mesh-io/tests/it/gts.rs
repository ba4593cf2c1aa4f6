//! GTS.

use super::cells::enclosed;
use super::{MeshError, assert_refused, parse_gts};

/// A tetrahedron of volume 1/6 whose triangles face outwards, and an edge to a point beside it.
pub(crate) const TETRAHEDRON: &str = "5 7 4 GtsSurface GtsFace GtsEdge GtsVertex
0 0 0
1 0 0
# comments
0 1 0
0 0 1 ! of either mark
2 0 0
1 2
1 3
1 4
2 3
2 4
3 4
2 5
2 4 1
1 5 3
3 6 2
4 6 5
";

#[test]
fn triangles_run_along_their_edges() {
    let mesh = parse_gts(TETRAHEDRON).unwrap();
    assert_eq!(mesh.triangles, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
    assert!((enclosed(&mesh) - 1.0 / 6.0).abs() < 1e-15);
    assert_eq!(mesh.edges, [[1, 4]]);
}

#[test]
fn mistakes_have_a_place() {
    let cases = [
        (
            TETRAHEDRON.replace("5 7 4 Gts", "5 7 Gts"),
            "line 1: expected the number of triangles",
        ),
        (
            TETRAHEDRON.replace("2 0 0", "2 0"),
            "line 7: expected coordinate z",
        ),
        (
            TETRAHEDRON.replace("\n2 5\n", "\n2 6\n"),
            "line 14: a cell names vertex 6",
        ),
        (
            TETRAHEDRON.replace("\n2 5\n", "\n0 5\n"),
            "line 14: a cell names vertex 0",
        ),
        (
            TETRAHEDRON.replace("4 6 5", "4 6 8"),
            "line 18: expected an edge of a triangle, from 1 to 7",
        ),
        (
            TETRAHEDRON.replace("4 6 5", "4 0 5"),
            "line 18: expected an edge of a triangle, from 1 to 7",
        ),
        (
            TETRAHEDRON.replace("4 6 5", "4 6 7"),
            "line 18: expected three edges that are the sides",
        ),
        (
            TETRAHEDRON.replace("4 6 5", "4 4 5"),
            "line 18: expected three edges that are the sides",
        ),
        (
            TETRAHEDRON.replace("4 6 5\n", ""),
            "line 17: expected 4 triangles, of which 3 are there",
        ),
    ];
    assert_refused(&cases, parse_gts);
    assert!(matches!(parse_gts("0 0 0\n"), Err(MeshError::Empty)));
}
