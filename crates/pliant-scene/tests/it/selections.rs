//! Which elements selections select.

use super::{built as build, places};
use pliant_scene::{BuiltScene, Format, SceneFile, Settings};

/// A scene of nine points along x from 0 to 1, a solid and a net, with a subset of a node.
fn subset(of: &str, elements: &str) -> String {
    format!(
        r#"(
    parameters: {{"half": 0.5}},
    run: (duration: 1),
    nodes: [
        Particles(name: "row", line: (from: (0, 0, 0), to: (1, 0, 0), count: 9), mass: 1),
        Solid(
            name: "beam", shape: Box(size: (0.3, 0.3, 0.3), cells: (3, 3, 3)), position: (10, 0, 0),
            material: Linear(young: 1e6, poisson: 0.3), density: 1000,
        ),
        ElasticSheet(
            name: "sheet", shape: Rectangle(size: (1, 1), cells: (4, 4)), material: Isotropic(young: 1e5, poisson: 0.3),
            thickness: 0.001, density: 300,
        ),
        Bodies(name: "boxes", bodies: [(repeat: 5, position: (0, "0.1 * $i", 0), shape: Box(1, 1, 1), mass: 1)]),
        Mapped(name: "some", parents: ["{of}"], mapping: Subset(elements: {elements})),
    ],
    groups: {{
        "end": (node: "row", select: Plane(point: (0.9, 0, 0), normal: (1, 0, 0))),
        "ends": (node: "row", select: Or(["end", [0]])),
    }},
)"#
    )
}

/// The x of the selected points of the row, in eighths.
fn eighths(elements: &str) -> Vec<u32> {
    let scene = build(&subset("row", elements));
    let x = places(&scene, "some").into_iter().map(|x| 8.0 * x[0]);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    x.map(|x| x.round() as u32).collect()
}

#[test]
fn selections_are_those_of_their_geometry() {
    for (elements, expected) in [
        ("All", &[0, 1, 2, 3, 4, 5, 6, 7, 8][..]),
        ("[3, 1]", &[3, 1]),
        ("Box((0.25, 0, 0), (\"$half\", 0, 0))", &[2, 3, 4]),
        ("Sphere(centre: (0.5, 0, 0.1), radius: 0.2)", &[3, 4, 5]),
        ("Plane(point: (0.5, 7, 7), normal: (-3, 0, 0))", &[0, 1, 2, 3, 4]),
        (
            "Plane(point: (0.5, 0, 0), normal: (1, 0, 0), within: 0.125)",
            &[3, 4, 5],
        ),
        ("Plane(normal: (0, 1, 0))", &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("Nearest(0.4, 1, 0)", &[3]),
        ("Range(from: 1, to: 6, by: 2)", &[1, 3, 5]),
        ("Range(by: 4)", &[0, 4, 8]),
        ("Range(from: 7)", &[7, 8]),
        ("And([Range(by: 2), Box((0.2, -1, -1), (0.8, 1, 1))])", &[2, 4, 6]),
        ("Or([Nearest(1, 0, 0), Nearest(0, 0, 0)])", &[0, 8]),
        ("Not(Box((0.1, -1, -1), (0.9, 1, 1)))", &[0, 8]),
        ("And([Not(\"end\"), Range(from: 6)])", &[6, 7]),
        ("\"end\"", &[8]),
        ("\"ends\"", &[0, 8]),
        ("Or([[5], \"end\"])", &[5, 8]),
    ] {
        assert_eq!(eighths(elements), expected, "{elements}");
    }
}

#[test]
fn a_place_that_is_off_by_rounding_is_on_the_border() {
    // 3 * 0.1 is larger than 0.3.
    let scene = build(&subset("boxes", "Box((0, 0, 0), (0, 0.3, 0))"));
    assert_eq!(places(&scene, "some").len(), 4);
    let scene = build(&subset("boxes", "Box((0, 0, 0), (0, 0.299999, 0))"));
    assert_eq!(places(&scene, "some").len(), 3);
}

#[test]
fn the_surface_of_a_solid_has_no_inner_points_and_the_rim_of_a_sheet_neither() {
    // Of 4^3 points 2^3 are inside; of 5^2 points 3^2 are.
    assert_eq!(places(&build(&subset("beam", "Surface")), "some").len(), 56);
    assert_eq!(places(&build(&subset("sheet", "Rim")), "some").len(), 16);
    // Places are those in the world, not in the axes of the shape.
    let face = places(
        &build(&subset("beam", "Plane(point: (10, 0, 0), normal: (-1, 0, 0))")),
        "some",
    );
    assert_eq!(face.len(), 16);
    assert!(face.iter().all(|x| x[0] == 10.0));
}

/// The elements that a scene holds, of each hold.
fn held(scene: &BuiltScene) -> Vec<Vec<usize>> {
    scene.holds.iter().map(|hold| hold.elements.clone()).collect()
}

#[test]
fn what_is_selected_is_what_is_held() {
    let text = |what: &str| subset("row", "All").replace("groups:", &format!("fixed: [{what}], groups:"));
    let ends = "(node: \"row\", elements: Or([Range(to: 0), Range(from: 8)]))";
    let row = |what: &str| held(&build(&text(what)))[0].clone();
    assert_eq!(row(ends), [0, 8]);
    assert_eq!(row("(node: \"row\", elements: \"ends\")"), [0, 8]);
    // A group is a node, too, and its elements are counted in it.
    assert_eq!(row("(node: \"ends\")"), [0, 8]);
    assert_eq!(row("(node: \"ends\", elements: [1])"), [8]);
    let scene = build(&text(ends));
    assert_eq!(scene.holds[0].node, scene.model.node_named("row").unwrap());
    let scene = build(&text("(node: \"ends\")"));
    assert_eq!(scene.holds[0].node, scene.model.node_named("row").unwrap());
}

#[test]
fn fix_of_a_solid_is_in_the_axes_of_its_shape() {
    let text =
        subset("row", "All").replace("density: 1000,", "density: 1000, fix: Plane(normal: (-1, 0, 0)),");
    let held = held(&build(&text));
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].len(), 16);
}

#[test]
fn groups_are_nodes_of_their_own() {
    let scene = build(&subset("ends", "[1]"));
    assert_eq!(places(&scene, "ends"), [[0.0; 3], [1.0, 0.0, 0.0]]);
    assert_eq!(places(&scene, "some"), [[1.0, 0.0, 0.0]]);
}

#[test]
fn points_of_a_group_of_a_mesh_file_are_found() {
    let directory = std::env::temp_dir().join(format!("pliant-groups-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\ng left\nf 1 2 3 4\ng right\nf 2 5 3\n";
    std::fs::write(directory.join("two.obj"), mesh).unwrap();
    let text = r#"(
        run: (duration: 1),
        nodes: [
            Net(name: "net", mesh: "two.obj", mass: 1),
            Mapped(name: "some", parents: ["net"], mapping: Subset(elements: MeshGroup("right"))),
        ],
    )"#;
    let file = SceneFile::from_text(&directory.join("scene.ron"), text, Format::Ron).unwrap();
    let scene = file.build(&Settings::default());
    std::fs::remove_dir_all(&directory).unwrap();
    let scene = scene.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        places(&scene, "some"),
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    );
}

#[test]
fn json_says_the_same() {
    let text = r#"{
        "run": {"duration": 1},
        "groups": {"end": {"node": "row", "select": {"Box": [[0.9, 0, 0], [2, 0, 0]]}}},
        "nodes": [
            {"Particles": {"name": "row", "line": {"from": [0, 0, 0], "to": [1, 0, 0], "count": 9}, "mass": 1}},
            {"Mapped": {"name": "some", "parents": ["row"], "mapping": {"Subset": {"elements": {"Or": ["end", {"Range": {"to": 1}}]}}}}},
            {"Mapped": {"name": "all", "parents": ["row"], "mapping": {"Subset": {"elements": "All"}}}}
        ]
    }"#;
    let file =
        SceneFile::from_text("scene.json".as_ref(), text, Format::Json).unwrap_or_else(|e| panic!("{e}"));
    let scene = file.build(&Settings::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(places(&scene, "some").len(), 3);
    assert_eq!(places(&scene, "all").len(), 9);
}

#[test]
fn selections_of_many_elements_are_counted_before_they_are_tested() {
    let many = "Range(by: 1), ".repeat(3000);
    let text = subset("row", &format!("Or([{many}])")).replace("count: 9", "count: 1000");
    let file = SceneFile::from_text("scene.ron".as_ref(), &text, Format::Ron).unwrap();
    let mut settings = Settings::default();
    assert!(file.build(&settings).is_ok());
    settings.limits.elements = 2900;
    let error = file.build(&settings).unwrap_err().to_string();
    assert!(error.contains("selections test more than"), "{error}");
}
