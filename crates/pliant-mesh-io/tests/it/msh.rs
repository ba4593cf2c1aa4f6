//! Gmsh MSH 2.2 and 4.1.

use super::samples::{Flavour, Writer, cube, mixed};
use super::{Location, MeshError, msh_error, parse_msh, volume};

#[test]
fn the_unit_cube_has_volume_one_in_every_flavour() {
    for flavour in Flavour::all() {
        let mesh = parse_msh(&cube(flavour)).unwrap_or_else(|error| panic!("{flavour:?}: {error}"));
        assert_eq!(
            (mesh.vertices.len(), mesh.tetrahedra.len()),
            (8, 6),
            "{flavour:?}"
        );
        assert!(
            (volume(&mesh) - 1.0).abs() < 1e-15,
            "{flavour:?}: {}",
            volume(&mesh)
        );
        // 12 sides of the cube, 6 diagonals of its faces, one of its inside.
        assert_eq!(mesh.unique_edges().len(), 19);
        assert!(mesh.groups.is_empty());
    }
}

#[test]
fn all_element_kinds_and_groups_are_the_same_in_every_flavour() {
    let reference = parse_msh(&mixed(Flavour::TEXT_2)).unwrap();
    assert_eq!(reference.edges, [[0, 7]]);
    assert_eq!(reference.triangles, [[0, 1, 2], [4, 5, 7], [4, 7, 6]]);
    assert_eq!(reference.tetrahedra, [[0, 1, 2, 4]]);
    assert!(!reference.unique_edges().contains(&[4, 7]));
    let names: Vec<_> = reference.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["tip", "the cable", "skin"]);
    assert_eq!(reference.group("tip").unwrap().vertices, [7]);
    assert_eq!(reference.group("the cable").unwrap().edges, [0]);
    let skin = reference.group("skin").unwrap();
    assert_eq!(
        (&skin.triangles[..], &skin.tetrahedra[..]),
        (&[0, 1, 2][..], &[0][..])
    );
    for flavour in Flavour::all() {
        let mesh = parse_msh(&mixed(flavour)).unwrap_or_else(|error| panic!("{flavour:?}: {error}"));
        assert_eq!(mesh, reference, "{flavour:?}");
    }
}

/// Written by hand after the manual, so that the writer and the reader of these tests cannot agree
/// on a mistake.
#[test]
fn hand_written_text_of_version_2() {
    let text = "$MeshFormat\r\n2.2 0 8\r\n$EndMeshFormat\r\n$Nodes\r\n3\r\n10 0 0 0\r\n20 1 0 0\r\n5 .5 1e0 -0\r\n\
                $EndNodes\r\n\
                $Elements\r\n2\r\n1 2 3 7 1 0 10 20 5\r\n2 15 0 5\r\n$EndElements\r\n";
    let mesh = parse_msh(text.as_bytes()).unwrap();
    assert_eq!(mesh.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0]]);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    assert_eq!(mesh.group("physical_2d_7").unwrap().triangles, [0]);
}

#[test]
fn hand_written_text_of_version_4() {
    let text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n\
        $Entities\n1 0 1 0\n1 0 0 0 0\n3 0 0 0 1 1 0 2 8 9 1 1\n$EndEntities\n\
        $Nodes\n2 3 1 6\n0 1 0 1\n6\n0 0 0\n2 3 1 2\n1\n3\n1 0 0 0.25 0.5\n0 1 0 0.75 1\n$EndNodes\n\
        $Elements\n1 2 1 2\n2 3 2 2\n1 6 1 3\n2 3 1 6\n$EndElements";
    let mesh = parse_msh(text.as_bytes()).unwrap();
    assert_eq!(mesh.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 0]]);
    for name in ["physical_2d_8", "physical_2d_9"] {
        assert_eq!(mesh.group(name).unwrap().triangles, [0, 1]);
    }
}

/// Gmsh writes an element of several groups several times in 2.2, turned round where the group
/// holds it so.
#[test]
fn repeated_elements_of_version_2_are_one_cell_in_several_groups() {
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
        $Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 1\n$EndNodes\n\
        $Elements\n9\n1 4 2 1 1 1 2 3 4\n2 4 2 2 1 1 2 3 4\n3 3 2 1 1 1 2 3 4\n4 3 2 2 1 4 3 2 1\n\
        5 1 2 1 1 1 2\n6 1 2 2 1 2 1\n7 1 2 2 1 2 1\n8 15 2 1 1 3\n9 15 2 2 1 3\n$EndElements\n";
    let mesh = parse_msh(text.as_bytes()).unwrap();
    assert_eq!(
        (mesh.edges.len(), mesh.triangles.len(), mesh.tetrahedra.len()),
        (1, 2, 1)
    );
    for tag in [1, 2] {
        let cells = |dimension: i32| mesh.group(&format!("physical_{dimension}d_{tag}")).unwrap();
        assert_eq!(
            (&cells(0).vertices[..], &cells(1).edges[..]),
            (&[2][..], &[0][..])
        );
        assert_eq!(
            (&cells(2).triangles[..], &cells(3).tetrahedra[..]),
            (&[0, 1][..], &[0][..])
        );
    }
}

#[test]
fn a_node_that_is_not_there_is_named() {
    for flavour in Flavour::all() {
        let mut writer = Writer::new(flavour);
        writer.nodes(&[(3, [0.0; 3]), (4, [1.0; 3])]);
        writer.elements(&[(1, 1, 1, 0, &[3, 4]), (1, 1, 1, 0, &[3, 99])]);
        match msh_error(&writer.bytes) {
            MeshError::BadIndex {
                place,
                index: 99,
                vertices: 2,
            } => {
                assert_eq!(matches!(place, Location::Line(_)), flavour.binary.is_none());
            }
            other => panic!("{flavour:?}: {other}"),
        }
    }
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n\
        $Elements\n1\n1 15 0 2\n$EndElements\n";
    assert_eq!(
        msh_error(text.as_bytes()).to_string(),
        "line 10: a cell names vertex 2, but the file has 1 vertices"
    );
}

#[test]
fn wrong_nodes_are_named() {
    for flavour in Flavour::all() {
        let mut writer = Writer::new(flavour);
        writer.nodes(&[(3, [0.0; 3]), (4, [0.0, f64::NAN, 0.0])]);
        assert!(
            matches!(msh_error(&writer.bytes), MeshError::NonFinite { vertex: 4, .. }),
            "{flavour:?}"
        );
        let mut writer = Writer::new(flavour);
        writer.nodes(&[(3, [0.0; 3]), (3, [1.0; 3])]);
        assert!(
            matches!(msh_error(&writer.bytes), MeshError::DuplicateNode { tag: 3, .. }),
            "{flavour:?}"
        );
        let mut writer = Writer::new(flavour);
        writer.nodes(&[]);
        assert!(
            matches!(msh_error(&writer.bytes), MeshError::Empty),
            "{flavour:?}"
        );
    }
}

/// Volumes of second order, their nodes as the manual of Gmsh draws them: corners, then middles of
/// these edges, then of faces.
#[test]
fn volumes_of_all_kinds_are_read_in_the_order_of_the_library() {
    use pliant_continuum::ElementKind;
    type Pairs = &'static [&'static [usize]];
    const TET: Pairs = &[&[0, 1], &[1, 2], &[2, 0], &[3, 0], &[2, 3], &[1, 3]];
    const PRISM: Pairs = &[
        &[0, 1],
        &[0, 2],
        &[0, 3],
        &[1, 2],
        &[1, 4],
        &[2, 5],
        &[3, 4],
        &[3, 5],
        &[4, 5],
    ];
    const PYRAMID: Pairs = &[
        &[0, 1],
        &[0, 3],
        &[0, 4],
        &[1, 2],
        &[1, 4],
        &[2, 3],
        &[2, 4],
        &[3, 4],
    ];
    const HEX: Pairs = &[
        &[0, 1],
        &[0, 3],
        &[0, 4],
        &[1, 2],
        &[1, 5],
        &[2, 3],
        &[2, 6],
        &[3, 7],
        &[4, 5],
        &[4, 7],
        &[5, 6],
        &[6, 7],
        &[0, 1, 2, 3],
        &[0, 1, 4, 5],
        &[0, 3, 4, 7],
        &[1, 2, 5, 6],
        &[2, 3, 6, 7],
        &[4, 5, 6, 7],
        &[0, 1, 2, 3, 4, 5, 6, 7],
    ];
    for (number, kind, middles) in [
        (5, ElementKind::Hex8, &[] as Pairs),
        (6, ElementKind::Prism6, &[]),
        (7, ElementKind::Pyramid5, &[]),
        (11, ElementKind::Tet10, TET),
        (17, ElementKind::Hex20, &HEX[..12]),
        (18, ElementKind::Prism15, PRISM),
        (19, ElementKind::Pyramid13, PYRAMID),
        (12, ElementKind::Hex27, HEX),
    ] {
        let mut nodes = kind.reference_nodes();
        let corners = nodes[..kind.corner_count()].to_vec();
        nodes.truncate(corners.len());
        nodes.extend(middles.iter().map(|list| -> [f64; 3] {
            std::array::from_fn(|k| list.iter().map(|c| corners[*c][k]).sum::<f64>() / list.len() as f64)
        }));
        let tagged: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(k, x)| (k as i32 + 1, *x))
            .collect();
        let tags: Vec<i32> = tagged.iter().map(|(tag, _)| *tag).collect();
        for flavour in Flavour::all() {
            let mut writer = Writer::new(flavour);
            writer.nodes(&tagged);
            writer.elements(&[(number, 3, 1, 0, &tags)]);
            let mesh = parse_msh(&writer.bytes).unwrap();
            assert_eq!(mesh.volumes.len(), 1);
            let read: Vec<_> = mesh.volumes[0]
                .nodes
                .iter()
                .map(|n| mesh.vertices[*n as usize])
                .collect();
            assert_eq!(read, kind.reference_nodes(), "{flavour:?} {kind:?}");
            assert_eq!(mesh.solid(1.0).defects(), []);
            assert_eq!(mesh.unique_edges().len(), kind.edges().len());
        }
    }
}

#[test]
fn unsupported_elements_are_named() {
    for flavour in Flavour::all() {
        for (kind, wanted) in [
            (29, "20-node tetrahedron"),
            (92, "64-node hexahedron"),
            (4711, "unknown"),
        ] {
            let mut writer = Writer::new(flavour);
            writer.nodes(&[(1, [0.0; 3])]);
            writer.elements(&[(kind, 3, 1, 0, &[1; 10])]);
            match msh_error(&writer.bytes) {
                MeshError::UnsupportedElement { element, .. } => {
                    let right = element.starts_with(&kind.to_string()) && element.contains(wanted);
                    assert!(right, "{element}");
                }
                other => panic!("{flavour:?}: {other}"),
            }
        }
    }
}

#[test]
fn unsupported_versions_are_named() {
    for version in ["1", "2.1", "4.0", "4", "5.0", "x"] {
        let error = msh_error(format!("$MeshFormat\n{version} 0 8\n$EndMeshFormat\n").as_bytes());
        assert!(
            matches!(
                error,
                MeshError::UnsupportedVersion {
                    place: Location::Line(2),
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains(version), "{error}");
    }
}

#[test]
fn syntax_errors_name_the_line_and_the_expectation() {
    let header = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    let cases = [
        (String::new(), 1, "$MeshFormat"),
        ("$Nodes\n$EndNodes\n".to_owned(), 1, "$MeshFormat"),
        ("garbage".to_owned(), 1, "$Name"),
        (
            "$MeshFormat\n2.2 7 8\n$EndMeshFormat\n".to_owned(),
            2,
            "file type",
        ),
        (
            "$MeshFormat\n2.2 0 3\n$EndMeshFormat\n".to_owned(),
            2,
            "data size",
        ),
        ("$MeshFormat\n2.2 0 8\n".to_owned(), 1, "$EndMeshFormat"),
        (format!("{header}$Nodes\n2\n1 0 0 0\n"), 4, "$EndNodes"),
        (
            format!("{header}$Nodes\n2\n1 0 0 0\n2 0 0 \n$EndNodes\n"),
            8,
            "a coordinate",
        ),
        (
            format!("{header}$Nodes\n2\n1 0 0 0\n2 0 0 x\n$EndNodes\n"),
            7,
            "a coordinate",
        ),
        (
            format!("{header}$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n"),
            7,
            "$EndNodes",
        ),
        (
            format!("{header}$Nodes\n1\n1 0 0 0\n$EndNodes\nstray\n"),
            8,
            "$Name",
        ),
        (
            format!("{header}$ParametricNodes\n0\n$EndParametricNodes\n"),
            4,
            "without parametric",
        ),
        (
            format!("{header}$PhysicalNames\n1\n0 1 tip\n$EndPhysicalNames\n"),
            6,
            "in quotes",
        ),
        (
            format!("{header}$PhysicalNames\n1\n0 1 \"tip\n$EndPhysicalNames\n"),
            6,
            "in quotes",
        ),
    ];
    for (text, line, wanted) in cases {
        match msh_error(text.as_bytes()) {
            MeshError::Syntax { place, expected, .. } => {
                assert_eq!(place, Location::Line(line), "{text}");
                assert!(expected.contains(wanted), "{text}: {expected}");
            }
            other => panic!("{text}: {other}"),
        }
    }
}

/// Counts that no file can hold are errors at once, without reserving memory for them.
#[test]
fn absurd_counts_are_refused() {
    for flavour in Flavour::all() {
        let size = if flavour.size_bytes == 8 {
            1 << 60
        } else {
            u64::from(u32::MAX)
        };
        let mut nodes = Writer::new(flavour);
        let mut elements = Writer::new(flavour);
        elements.nodes(&[(1, [0.0; 3])]);
        nodes.line("$Nodes");
        elements.line("$Elements");
        for (writer, numbers) in [(&mut nodes, [3, 1, 0]), (&mut elements, [1, 1, 1])] {
            if flavour.four {
                [1, size, 1, size].iter().for_each(|&n| writer.size(n));
                numbers.iter().for_each(|&i| writer.int(i));
                writer.size(size);
            } else {
                writer.line(&(1_u64 << 60).to_string());
            }
        }
        nodes.line("\n$EndNodes");
        elements.line("\n$EndElements");
        for writer in [nodes, elements] {
            let error = msh_error(&writer.bytes);
            assert!(matches!(error, MeshError::Syntax { .. }), "{flavour:?}: {error}");
            assert!(error.to_string().contains("bytes"), "{flavour:?}: {error}");
        }
    }
}

#[test]
fn binary_headers_are_checked() {
    let mut wrong = b"$MeshFormat\n2.2 1 8\n\x07\0\0\0\n$EndMeshFormat\n".to_vec();
    assert!(matches!(
        msh_error(&wrong),
        MeshError::Syntax {
            place: Location::Byte(20),
            ..
        }
    ));
    wrong.truncate(22);
    wrong.extend_from_slice(b"\n$EndMeshFormat\n");
    assert!(matches!(msh_error(&wrong), MeshError::Syntax { .. }));
    // A block of more elements than the section announced.
    let flavour = Flavour {
        four: false,
        binary: Some(false),
        size_bytes: 8,
    };
    let mut writer = Writer::new(flavour);
    writer.nodes(&[(1, [0.0; 3])]);
    writer.line("$Elements\n1");
    [15, 2, 0, 1, 1, 2, 1].iter().for_each(|&i| writer.int(i));
    writer.line("\n$EndElements");
    assert!(
        msh_error(&writer.bytes)
            .to_string()
            .contains("at most 1 elements")
    );
}

/// The first version: no header, two sections, the number of nodes behind two tags.
#[test]
fn version_1_is_read() {
    let nodes = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n7 0 0 1\n$ENDNOD\n";
    let cells = "$ELM\n2\n1 4 5 1 4 1 2 3 7\n2 2 0 1 3 1 2 3\n$ENDELM\n";
    let mesh = parse_msh(format!("{nodes}{cells}").as_bytes()).unwrap();
    assert_eq!(mesh.vertices[3], [0.0, 0.0, 1.0]);
    assert_eq!(
        (&mesh.tetrahedra[..], &mesh.triangles[..]),
        (&[[0, 1, 2, 3]][..], &[[0, 1, 2]][..])
    );
    assert!((volume(&mesh) - 1.0 / 6.0).abs() < 1e-15);
    assert_eq!(mesh.group("physical_3d_5").unwrap().tetrahedra, [0]);
    for (text, told) in [
        (
            format!("{nodes}$ELM\n1\n1 4 5 1 3 1 2 3 7\n$ENDELM\n"),
            "expected 4 nodes",
        ),
        (format!("{nodes}$ELM\n1\n1 4 5 1 4 1 2 3 9\n$ENDELM\n"), "9"),
        (nodes.replace("$ENDNOD", "$EndNOD"), "$ENDNOD"),
    ] {
        let error = msh_error(text.as_bytes()).to_string();
        assert!(error.contains(told), "{error}");
    }
}
