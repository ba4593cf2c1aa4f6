//! Mesh readers: every variant of the formats on hand-made files, and garbage.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use pliant_mesh_io::{
    Location, Mesh, MeshError, parse_abaqus, parse_gts, parse_msh, parse_obj, parse_off, parse_ply,
    parse_stl, parse_tetgen, parse_vtk, parse_vtk_xml, read_mesh,
};

mod bounds;
mod cells;
mod decks;
mod garbage;
mod gts;
mod msh;
mod obj;
mod off;
mod samples;
mod surfaces;
mod vtk;

/// Checks that each text is refused with a message that contains what is beside it.
fn assert_refused(cases: &[(String, &str)], parse: fn(&str) -> Result<Mesh, MeshError>) {
    for (text, wanted) in cases {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

/// The error of a file that must not be read.
fn obj_error(text: &str) -> MeshError {
    parse_obj(text).expect_err("the file is wrong")
}

fn msh_error(bytes: &[u8]) -> MeshError {
    parse_msh(bytes).expect_err("the file is wrong")
}

/// Volume of all tetrahedra, in the unit of the file cubed.
fn volume(mesh: &Mesh) -> f64 {
    mesh.tetrahedra
        .iter()
        .map(|corners| {
            let [a, b, c, d] = corners.map(|i| mesh.vertices[i as usize]);
            let [u, v, w] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
            let cross = [
                v[1] * w[2] - v[2] * w[1],
                v[2] * w[0] - v[0] * w[2],
                v[0] * w[1] - v[1] * w[0],
            ];
            (u[0] * cross[0] + u[1] * cross[1] + u[2] * cross[2]) / 6.0
        })
        .sum()
}

#[test]
fn files_are_read_by_extension() {
    let dir = tempfile::tempdir().unwrap();
    let obj = dir.path().join("one.OBJ");
    // A comment in Latin-1 is not valid UTF-8.
    std::fs::write(&obj, b"# caf\xe9\nv 1 2 3\n").unwrap();
    assert_eq!(read_mesh(&obj).unwrap().vertices, [[1.0, 2.0, 3.0]]);
    let msh = dir.path().join("cube.Msh");
    std::fs::write(&msh, samples::cube(samples::Flavour::TEXT_2)).unwrap();
    assert_eq!(read_mesh(&msh).unwrap().tetrahedra.len(), 6);

    let missing = read_mesh(&dir.path().join("missing.msh")).unwrap_err();
    assert!(matches!(missing, MeshError::Io { .. }), "{missing}");
    assert!(missing.to_string().contains("missing.msh"), "{missing}");
    for (name, file, triangles) in [
        ("a.stl", surfaces::stl_binary(), 12),
        ("a.ply", surfaces::ply(Some(true)), 12),
        ("a.off", off::BOX.as_bytes().to_vec(), 12),
        ("a.gts", gts::TETRAHEDRON.as_bytes().to_vec(), 4),
        ("a.inp", decks::abaqus().into_bytes(), 0),
        ("a.vtk", vtk::legacy(true, false), 0),
        ("a.vtu", vtk::vtu(vtk::Flavour::all()[3]), 0),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, file).unwrap();
        assert_eq!(read_mesh(&path).unwrap().triangles.len(), triangles, "{name}");
    }
    for name in ["arm.step", "arm"] {
        let unknown = read_mesh(&dir.path().join(name)).unwrap_err();
        assert!(matches!(unknown, MeshError::UnknownExtension { .. }), "{unknown}");
        assert!(
            unknown
                .to_string()
                .contains("supported: obj, msh, vtk, vtu, vtp, inp, node, ele, stl, ply, off, gts"),
            "{unknown}"
        );
    }
}

#[test]
fn edges_are_distinct_and_sorted_and_without_diagonals() {
    // Two squares side by side, and a triangle that has the diagonal of the first one as a true
    // side.
    let squares = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\nf 1 2 3 4\nf 2 5 6 3\n";
    let mesh = parse_obj(squares).unwrap();
    assert_eq!(mesh.triangles.len(), 4);
    assert_eq!(
        mesh.unique_edges(),
        [[0, 1], [0, 3], [1, 2], [1, 4], [2, 3], [2, 5], [4, 5]]
    );
    let with_triangle = parse_obj(&format!("{squares}f 3 1 6\n")).unwrap();
    assert!(with_triangle.unique_edges().contains(&[0, 2]));

    let pentagon = parse_obj("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 1 2 3 4 5\n").unwrap();
    assert_eq!(pentagon.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    assert_eq!(pentagon.unique_edges(), [[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]]);

    let hand_made = Mesh {
        tetrahedra: vec![[3, 2, 1, 0]],
        edges: vec![[1, 0], [2, 2], [5, 4]],
        ..Mesh::default()
    };
    let expected = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [4, 5]];
    assert_eq!(hand_made.unique_edges(), expected);
}

#[test]
fn places_say_what_they_count() {
    assert_eq!(Location::Line(3).to_string(), "line 3");
    assert_eq!(Location::Byte(120).to_string(), "byte 120");
}
