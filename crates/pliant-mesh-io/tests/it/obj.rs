//! Wavefront OBJ.

use super::{Location, MeshError, obj_error, parse_obj};

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn corners_of_all_forms_are_the_same_face() {
    let forms = [
        "f 1 2 3",
        "f 1/1 2/1 3/1",
        "f 1/1/2 2/1/2 3/1/2",
        "f 1//2 2//2 3//2",
        "f -4 -3 -2",
        "f -4/-1 2/ -2//-1",
    ];
    for form in forms {
        let mesh = parse_obj(&format!("{CORNERS}{form}\n")).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2]], "{form}");
        assert_eq!(mesh.vertices.len(), 4);
        assert!(mesh.groups.is_empty() && mesh.diagonals.is_empty());
    }
}

#[test]
fn lines_points_and_polygons() {
    let mesh = parse_obj(&format!("{CORNERS}l 1 2/7 3\nl -1 -2\np 4 1\nf 1 2 3 4\n")).unwrap();
    assert_eq!(mesh.edges, [[0, 1], [1, 2], [3, 2]]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.diagonals, [[0, 2], [1, 0]]);
}

#[test]
fn comments_continuations_blank_lines_and_line_ends() {
    let text = "# a comment \\\r\n\r\nmtllib x.mtl\r\nv 0 0 \\\r\n  0 # end\r\n\
                \tv 1 0 0 1.0\r\nvn 0 0 1\r\nvt 0 0\r\n\
                v 1 1 0 0.5 0.5 0.5\r\ns off\r\nf 1 \\\r\n2 \\\r\n3";
    let mesh = parse_obj(text).unwrap();
    assert_eq!(mesh.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    // A continuation that the end of the file cuts off still counts.
    assert_eq!(
        parse_obj("\u{feff}v 1 2 3 \\").unwrap().vertices,
        [[1.0, 2.0, 3.0]]
    );
}

#[test]
fn absolute_indices_may_point_forward() {
    let mesh = parse_obj("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 1 1 0\n").unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
}

#[test]
fn groups_and_objects_collect_cells() {
    let text =
        format!("{CORNERS}o left arm\nf 1 2 3\ng skin outer\nf 1 3 4\nl 1 2\ng\np 4\no\nf 1 2 4\ng empty\n");
    let mesh = parse_obj(&text).unwrap();
    let names: Vec<_> = mesh.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["left arm", "skin", "outer"]);
    let arm = mesh.group("left arm").unwrap();
    assert_eq!(
        (&arm.triangles[..], &arm.edges[..], &arm.vertices[..]),
        (&[0, 1][..], &[0][..], &[3][..])
    );
    for name in ["skin", "outer"] {
        let group = mesh.group(name).unwrap();
        assert_eq!((&group.triangles[..], &group.edges[..]), (&[1][..], &[0][..]));
        assert_eq!(mesh.group_vertices(group), [0, 1, 2, 3]);
    }
    assert!(mesh.group("empty").is_none());
}

#[test]
fn errors_name_line_and_index() {
    let bad = obj_error(&format!("{CORNERS}\nf 1 2 9\n"));
    assert!(
        matches!(
            bad,
            MeshError::BadIndex {
                place: Location::Line(6),
                index: 9,
                vertices: 4
            }
        ),
        "{bad}"
    );
    assert_eq!(
        bad.to_string(),
        "line 6: a cell names vertex 9, but the file has 4 vertices"
    );
    for (text, line, index, vertices) in [
        (format!("{CORNERS}l 1 0\n"), 5, 0, 4),
        (format!("{CORNERS}l 1 -5\n"), 5, -5, 4),
        ("v 0 0 0\nl 1 -2\nv 1 1 1\n".to_owned(), 2, -2, 1),
        (format!("{CORNERS}p -9223372036854775808\n"), 5, i64::MIN, 4),
        (format!("{CORNERS}p 9223372036854775807\n"), 5, i64::MAX, 4),
        (format!("{CORNERS}p 4294967297\n"), 5, 4_294_967_297, 4),
    ] {
        match obj_error(&text) {
            MeshError::BadIndex {
                place,
                index: i,
                vertices: n,
            } => {
                assert_eq!((place, i, n), (Location::Line(line), index, vertices), "{text}");
            }
            other => panic!("{text}: {other}"),
        }
    }
}

#[test]
fn syntax_errors_name_the_line_and_the_expectation() {
    let cases = [
        ("v 0 0\n", 1, "coordinate z", "the end of the line"),
        ("\nv 0 zero 0\n", 2, "coordinate y", "\"zero\""),
        ("v 0 0 0\nf 1 1\n", 2, "at least three", "2"),
        ("v 0 0 0\nl 1\n", 2, "at least two", "1"),
        ("v 0 0 0\np\n", 2, "a vertex", "0"),
        ("v 0 0 0\nf 1 \\\n x 1\n", 2, "a vertex index", "\"x\""),
        ("v 0 0 0\nf 1/a 1 1\n", 2, "a vertex index", "\"1/a\""),
        ("v 0 0 0\nf 1/1/1/1 1 1\n", 2, "a vertex index", "\"1/1/1/1\""),
        (
            "v 0 0 0\nf 99999999999999999999 1 1\n",
            2,
            "a vertex index",
            "\"99999999999999999999\"",
        ),
    ];
    for (text, line, wanted, seen) in cases {
        match obj_error(text) {
            MeshError::Syntax {
                place,
                expected,
                found,
            } => {
                assert_eq!(place, Location::Line(line), "{text}");
                assert!(
                    expected.contains(wanted) && found == seen,
                    "{text}: {expected} / {found}"
                );
            }
            other => panic!("{text}: {other}"),
        }
    }
    let names = "x ".repeat(65);
    assert!(matches!(
        obj_error(&format!("v 0 0 0\ng {names}\n")),
        MeshError::Syntax { .. }
    ));
}

#[test]
fn coordinates_must_be_finite_and_files_not_empty() {
    for word in ["nan", "inf", "-inf", "1e999"] {
        let error = obj_error(&format!("v 0 0 0\n\nv 0 {word} 0\n"));
        assert!(
            matches!(
                error,
                MeshError::NonFinite {
                    place: Location::Line(3),
                    vertex: 2
                }
            ),
            "{error}"
        );
    }
    for text in ["", "# nothing\n", "hello world"] {
        assert!(matches!(obj_error(text), MeshError::Empty));
    }
}
