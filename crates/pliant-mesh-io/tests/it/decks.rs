//! Abaqus and TetGen.

use super::cells::cells;
use super::{MeshError, parse_abaqus, parse_tetgen};
use pliant_mesh_io::{TetgenFiles, read_mesh};

/// All cells that Abaqus has, one `*ELEMENT` for each; long lists of nodes go on in a second line.
pub(crate) fn abaqus() -> String {
    let mut out =
        "*HEADING\n  all cells, *not a keyword\n** a comment\n*Part, name=one\n*NODE, nset=All\n".to_owned();
    let mut elements = String::new();
    let (mut node, mut label) = (0, 0);
    for cell in cells() {
        let Some(kind) = cell.abaqus else { continue };
        label += 10;
        let set = if label == 10 { ", ELSET=\"soft core\"" } else { "" };
        elements += &format!("*Element, TYPE={kind}{set}\n{label}");
        for (k, [x, y, z]) in cell.nodes.iter().enumerate() {
            node += 1;
            out += &format!("{node}, {x}, {y:e},{z}\n");
            elements += &format!(",{}{node}", if k == 7 { "\n  " } else { " " });
        }
        elements += "\n";
    }
    out += &elements;
    out += "*ELSET, ELSET=rest, GENERATE\n20, 70, 10\n*ELSET, elset=all elements\nrest, \"soft core\",\n\
            *NSET,\n NSET=base\n1, 2,\n3\n*END PART\n*Assembly, name=A\n*Instance, name=one-1, part=one\n*End Instance\n\
            *Nset, nset=TIP, instance=one-1\n4,\n*End Assembly\n*MATERIAL, NAME=rubber\n*ELASTIC\n1e6, 0.3\n";
    out
}

#[test]
fn abaqus_cells_and_sets() {
    let mesh = parse_abaqus(&abaqus()).unwrap();
    let solid = mesh.solid(1.0);
    assert_eq!(solid.defects(), []);
    let expected: f64 = cells()
        .iter()
        .filter(|c| c.abaqus.is_some())
        .map(|c| c.volume)
        .sum();
    let found = solid.volume().unwrap();
    assert!((found - expected).abs() < 1e-13, "{found} {expected}");
    let names: Vec<_> = mesh.groups.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["All", "soft core", "rest", "all elements", "base", "TIP"]);
    let group = |name: &str| mesh.group(name).unwrap();
    assert_eq!(
        (
            &group("soft core").tetrahedra[..],
            &group("soft core").volumes[..]
        ),
        (&[0][..], &[][..])
    );
    assert_eq!(group("rest").volumes, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        (
            group("all elements").tetrahedra.len(),
            group("all elements").volumes.len()
        ),
        (1, 6)
    );
    assert_eq!(group("All").vertices.len(), mesh.vertices.len());
    assert_eq!(
        (&group("base").vertices[..], &group("TIP").vertices[..]),
        (&[0, 1, 2][..], &[3][..])
    );
}

#[test]
fn abaqus_faces_and_lines() {
    let text = "*NODE\n1,,,\n2,1,0,0\n3,1,1,0\n4,0,1,0\n*ELEMENT, TYPE=S3R\n1,1,2,3\n*ELEMENT,TYPE=CPS4R\n2,1,2,3,4\n\
                *ELEMENT,TYPE=T3D2,ELSET=rod\n3,1,3\n";
    let mesh = parse_abaqus(text).unwrap();
    assert_eq!(mesh.vertices[0], [0.0; 3], "nothing between commas is zero");
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.edges, [[0, 2]]);
    assert_eq!(mesh.group("rod").unwrap().edges, [0]);
}

/// Flat cells of second order become several triangles each: sets name those of theirs, and cover
/// their areas. A range without a step has the step one.
#[test]
fn abaqus_faces_of_second_order() {
    let places = "0,0 2,0 0,2 1,0 1,1 0,1 5,0 7,0 7,2 5,2 6,0 7,1 6,2 5,1 6,1";
    let mut text = "*NODE\n".to_owned();
    for (k, place) in places.split(' ').enumerate() {
        text += &format!("{}, {place}, 0\n", k + 1);
    }
    text += "*ELEMENT, TYPE=S8R, ELSET=eight\n1, 7,8,9,10, 11,12,13,14\n*ELEMENT, TYPE=STRI65, ELSET=six\n2, 1,2,3, 4,5,6\n\
             *ELEMENT, TYPE=S9R5, ELSET=nine\n3, 7,8,9,10, 11,12,13,14, 15\n*ELEMENT, TYPE=S3, ELSET=three\n4, 1,2,3\n\
             *NSET, NSET=some, GENERATE\n2, 5\n";
    let mesh = parse_abaqus(&text).unwrap();
    let area = |t: [u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
        0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    };
    for (set, pieces, whole) in [
        ("eight", 6, 4.0),
        ("six", 4, 2.0),
        ("nine", 8, 4.0),
        ("three", 1, 2.0),
    ] {
        let triangles = &mesh.group(set).unwrap().triangles;
        let areas: Vec<f64> = triangles
            .iter()
            .map(|t| area(mesh.triangles[*t as usize]))
            .collect();
        assert_eq!((areas.len(), areas.iter().sum()), (pieces, whole), "{set}");
    }
    assert_eq!(
        mesh.group("nine").unwrap().triangles,
        [10, 11, 12, 13, 14, 15, 16, 17]
    );
    let used = mesh.group_vertices(mesh.group("nine").unwrap());
    assert_eq!(
        used,
        [6, 7, 8, 9, 10, 11, 12, 13, 14],
        "the one in the middle too"
    );
    assert_eq!(mesh.group("some").unwrap().vertices, [1, 2, 3, 4]);
}

#[test]
fn abaqus_mistakes_name_the_line() {
    let nodes = "*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,1\n";
    for (text, wanted) in [
        ("*ELEMENT, TYPE=C3D4\n1,1,2,3,9", "line 7: a cell names vertex 9"),
        (
            "*ELEMENT, TYPE=C3D4\n1,1,2,3",
            "line 7: expected 4 nodes of element 1",
        ),
        (
            "*ELEMENT, TYPE=C3D4\n1,1,2,3\n*STEP",
            "line 8: expected 4 nodes of element 1",
        ),
        (
            "*ELEMENT, TYPE=C3D4\n1,1,2,3,4,4",
            "line 7: expected 4 nodes of an element",
        ),
        (
            "*ELEMENT, TYPE=C3D4\n1,1,2,3,x",
            "line 7: expected the number of a node",
        ),
        (
            "*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n1,1,2,3,4",
            "line 8: expected a number for each element",
        ),
        ("*ELEMENT, TYPE=C3D27\n", "line 6: elements of type \"C3D27\""),
        (
            "*ELEMENT, TYPE=C3D15\n1,1,2,3,4,1,2,3,4,1,2,3,4,1,2",
            "line 7: expected 15 nodes of element 1, found \"14\"",
        ),
        ("*ELEMENT, TYPE=C3D40\n", "line 6: elements of type \"C3D40\""),
        ("*ELEMENT, ELSET=a\n", "line 6: expected *ELEMENT, TYPE="),
        ("*NODE\n1,0,0,0", "line 7: a second node"),
        ("*NODE\n5,0,0", "line 7: expected coordinate z"),
        (
            "*NODE\n5,0,0,nan",
            "line 7: expected coordinate z of a node, finite",
        ),
        ("*NODE, SYSTEM=C\n", "line 6: expected nodes in rectangular"),
        ("*NGEN\n1,2", "line 6: expected a mesh that is written out"),
        (
            "*INCLUDE, INPUT=b.inp\n",
            "line 6: expected a mesh that is written out",
        ),
        (
            "*PART, NAME=b\n*NODE\n5,0,0,0",
            "line 7: expected the nodes of one part",
        ),
        (
            "*INSTANCE, NAME=i\n0,0,1",
            "line 7: expected an instance that is where",
        ),
        (
            "*NSET, NSET=a\n7",
            "line 7: expected the number of a node that is there",
        ),
        (
            "*NSET, NSET=a\nb",
            "line 7: expected the number of a node, or a set before",
        ),
        (
            "*NSET, NSET=a\na",
            "line 7: expected the number of a node, or a set before",
        ),
        ("*NSET\n1", "line 6: expected *NSET, NSET="),
        (
            "*NSET, NSET=a, ELSET=b\n",
            "line 6: expected the nodes of a set one by one",
        ),
        (
            "*NSET, NSET=a, GENERATE\n1, 4, 0",
            "line 7: expected first, last, step",
        ),
        (
            "*NSET, NSET=a, GENERATE\n1, 9223372036854775807",
            "line 7: expected the number of a node that",
        ),
    ] {
        let message = parse_abaqus(&format!("{nodes}{text}\n")).unwrap_err().to_string();
        assert!(message.starts_with(wanted), "{message} instead of {wanted}");
    }
    // Sets of sets of sets name no more than the nodes can be in.
    let mut text = format!("{nodes}*NSET, NSET=s0\n1,2,3,4\n");
    for k in 1..200 {
        text += &format!("*NSET, NSET=s{k}\ns{}\n", k - 1);
    }
    let message = parse_abaqus(&text).unwrap_err().to_string();
    assert!(message.contains("sets that name at most 256"), "{message}");
    assert!(matches!(parse_abaqus("*STEP\n"), Err(MeshError::Empty)));
}

/// Nodes and tetrahedra of 4 or 10 nodes, from zero or one; the nodes in the middle in any order.
pub(crate) fn tetgen(ten: bool, first: usize) -> [String; 3] {
    let cell = cells().into_iter().find(|c| c.vtk == if ten { 24 } else { 10 });
    let nodes = cell.map(|c| c.nodes).unwrap_or_default();
    let mut node = format!("# a comment\n{} 3 1 1\n", nodes.len());
    for (k, [x, y, z]) in nodes.iter().enumerate() {
        node += &format!("{} {x} {y} {z} 0.5 {}\n", k + first, -i32::from(k == 2));
    }
    let order = [0, 1, 2, 3, 9, 7, 4, 8, 5, 6];
    let list = |range: &[usize]| {
        range
            .iter()
            .map(|k| format!(" {}", k + first))
            .collect::<String>()
    };
    let count = nodes.len();
    let ele = format!("1 {count} 1\n{first} {} 7.0 # region\n", list(&order[..count]));
    // The face of corners 0, 1 and 2; its middles are nodes 4, 5 and 6.
    let face = if ten {
        list(&[0, 2, 1, 4, 5, 6])
    } else {
        list(&[0, 2, 1])
    };
    [node, ele, format!("1 1\n{first} {face} 3\n")]
}

#[test]
fn tetgen_meshes() {
    for (ten, first) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        let [nodes, elements, faces] = tetgen(ten, first);
        let files = TetgenFiles {
            nodes: &nodes,
            elements: &elements,
            faces: Some(&faces),
        };
        let mesh = parse_tetgen(files).unwrap();
        let solid = mesh.solid(1.0);
        assert_eq!(solid.defects(), []);
        let expected = cells()[0].volume;
        assert!((solid.volume().unwrap() - expected).abs() < 1e-14);
        let names: Vec<_> = mesh.groups.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["marker_-1", "region_7", "boundary_3"]);
        let group = |name: &str| mesh.group_vertices(mesh.group(name).unwrap());
        assert_eq!(group("marker_-1"), [2]);
        assert_eq!(group("region_7").len(), if ten { 10 } else { 4 });
        assert_eq!(
            group("boundary_3"),
            if ten {
                vec![0, 1, 2, 4, 5, 6]
            } else {
                vec![0, 1, 2]
            }
        );
        assert_eq!(mesh.triangles.len(), if ten { 4 } else { 1 });
    }
}

/// Several attributes of nodes are passed over; the two tetrahedra behind the marker of a face make
/// it no face of six nodes.
#[test]
fn tetgen_columns_behind_what_is_read() {
    let files = TetgenFiles {
        nodes: "4 3 2 1\n1 0 0 0 0.5 7 3\n2 1 0 0 0.5 7 3\n3 0 1 0 0.5 7 4\n4 0 0 1 0.5 7 0\n",
        elements: "1 4 0\n1 1 2 3 4\n",
        faces: Some("1 1\n1 1 3 2 5 1 -1\n"),
    };
    let mesh = parse_tetgen(files).unwrap();
    assert_eq!(mesh.group("marker_3").unwrap().vertices, [0, 1]);
    assert_eq!(mesh.group("marker_4").unwrap().vertices, [2]);
    assert_eq!(mesh.triangles, [[0, 2, 1]]);
    assert_eq!(mesh.group("boundary_5").unwrap().triangles, [0]);
}

#[test]
fn tetgen_files_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let [nodes, elements, faces] = tetgen(false, 1);
    let path = |extension: &str| dir.path().join("x").with_extension(extension);
    std::fs::write(path("ele"), &elements).unwrap();
    let error = read_mesh(&path("ele")).unwrap_err().to_string();
    assert!(error.contains("x.node"), "{error}");
    std::fs::write(path("node"), &nodes).unwrap();
    assert!(read_mesh(&path("node")).unwrap().triangles.is_empty());
    std::fs::write(path("face"), &faces).unwrap();
    assert_eq!(read_mesh(&path("ele")).unwrap().triangles.len(), 1);
    for (wrong, extension, from, to) in [
        (
            ".node file, line 3: expected 0 or 1 as the number",
            "node",
            "\n1 ",
            "\n2 ",
        ),
        (".node file, line 4: expected node 2", "node", "\n2 ", "\n3 "),
        (
            ".node file, line 2: expected the dimension 3",
            "node",
            "4 3 1",
            "4 2 1",
        ),
        (
            ".node file, line 6: expected 5 nodes, of which 4 are there",
            "node",
            "4 3 1",
            "5 3 1",
        ),
        (
            ".ele file, line 1: expected the nodes of a tetrahedron, 4 or 10",
            "ele",
            "1 4",
            "1 5",
        ),
        (
            ".ele file, line 2: a cell names vertex 5",
            "ele",
            "4 7.0",
            "5 7.0",
        ),
        (".ele file, line 2: expected the region", "ele", "7.0", ""),
        (
            ".face file, line 2: a cell names vertex 0",
            "face",
            " 1 3 2",
            " 0 3 2",
        ),
        (
            ".face file, line 2: expected 9999999999999999999 faces, of which 1",
            "face",
            "1 1\n",
            "9999999999999999999 1\n",
        ),
    ] {
        let text = match extension {
            "node" => &nodes,
            "ele" => &elements,
            _ => &faces,
        };
        let broken = text.replacen(from, to, 1);
        assert_ne!(&broken, text, "{wrong}");
        std::fs::write(path(extension), &broken).unwrap();
        let message = read_mesh(&path("ele")).unwrap_err().to_string();
        assert!(message.starts_with(wrong), "{message} instead of {wrong}");
        std::fs::write(path(extension), text).unwrap();
    }
    // Nodes in the middle of an edge must lie there.
    let [nodes, elements, _] = tetgen(true, 1);
    let doubled = elements.replacen(" 10 8 ", " 8 8 ", 1);
    let files = TetgenFiles {
        nodes: &nodes,
        elements: &doubled,
        faces: None,
    };
    let message = parse_tetgen(files).unwrap_err().to_string();
    assert!(
        message.contains("a node near the middle of each edge"),
        "{message}"
    );
}
