//! Files that are included, their names, parameters and places.

use super::places;
use pliant_scene::{BuiltScene, Number, Reading, SceneError, SceneFile, Settings};
use std::path::{Path, PathBuf};

/// Files in a directory that is removed at the end.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let directory = std::env::temp_dir().join(format!("pliant-include-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let files_ = Self(directory);
        for (file, text) in files {
            let path = files_.0.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        files_
    }

    fn try_build(&self, file: &str, parameters: &[(&str, f64)]) -> Result<BuiltScene, SceneError> {
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Number::Value(*value)));
        let settings = Settings {
            parameters: parameters.collect(),
            ..Settings::default()
        };
        SceneFile::load(&self.0.join(file))?.build(&settings)
    }

    fn build(&self, file: &str, parameters: &[(&str, f64)]) -> BuiltScene {
        self.try_build(file, parameters)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

const FINGER: &str = r#"(
    title: "Finger",
    gravity: (1, 2, 3),
    parameters: {"length": 0.1, "k": 2},
    run: (duration: 5),
    nodes: [
        Bodies(name: "tip", bodies: [(position: ("$length", 0, 0), shape: Box("$length", 0.02, 0.02), mass: 0.1)]),
        Particles(name: "nail", positions: [("2 * $length", 0, 0)], mass: 1),
    ],
    joints: [(name: "root", kind: Hinge, b: Body("tip", 0))],
    groups: {"all nails": (node: "nail", select: All)},
    force_fields: [(name: "air", on: "all nails", law: Damping(linear: "$k"))],
    record: [
        Joint("root"), Expression(name: "twice", value: "2 * root.angle + $k"),
        Expression(name: "blank", value: "twice + 'all nails'.x + min(1, tip.x)"),
    ],
    events: [(name: "far", when: "root.angle > $k", do: [Say("root.angle"), Release("root")])],
    materials: [(name: "skin", friction: 0.1)],
    colliders: [Bodies(node: "tip", material: "skin")],
)"#;

const HAND: &str = r#"(
    gravity: (0, -9.81, 0),
    parameters: {"size": 3},
    run: (duration: 1),
    include: [
        (file: "parts/finger.ron", name: "left", parameters: {"length": "0.1 * 3"}),
        (file: "parts/finger.ron", name: "right_hand"),
    ],
    nodes: [Mapped(name: "both", parents: ["left.nail", "right_hand.nail"], mapping: Subset(elements: [0, ("right_hand.nail", 0)]))],
    record: [Position("*nail"), Expression(name: "sum", value: "left.twice + right_hand.root.angle")],
    ignore: [("left.*", "right_hand.tip")],
)"#;

#[test]
fn instances_have_names_and_parameters_of_their_own() {
    let files = Files::new("instances", &[("hand.ron", HAND), ("parts/finger.ron", FINGER)]);
    let scene = files.build("hand.ron", &[]);
    let nodes: Vec<&str> = scene
        .model
        .nodes()
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    for name in [
        "left.tip",
        "left.root.angle",
        "left.all nails",
        "right_hand.nail",
        "both",
    ] {
        assert!(nodes.contains(&name), "{name}: {nodes:?}");
    }
    assert!(!nodes.contains(&"tip"));
    // Lengths differ, and what is of the whole is that of the scene.
    assert_eq!(
        places(&scene, "both"),
        [[2.0 * 0.1 * 3.0, 0.0, 0.0], [0.2, 0.0, 0.0]]
    );
    assert_eq!(scene.model.initial_parameters().gravity(), [0.0, -9.81, 0.0]);
    assert_eq!(scene.plan.duration, 1.0);
    assert_eq!(scene.title, "hand");
    let parameters: Vec<(&str, f64)> = scene
        .parameters
        .iter()
        .map(|(name, v)| (name.as_str(), *v))
        .collect();
    assert_eq!(
        parameters,
        [
            ("left.k", 2.0),
            ("left.length", 0.1 * 3.0),
            ("right_hand.k", 2.0),
            ("right_hand.length", 0.1),
            ("size", 3.0)
        ]
    );
    let columns: Vec<&str> = scene
        .observables
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    for name in [
        "left.root.angle",
        "left.twice",
        "right_hand.blank",
        "left.nail.x",
        "sum",
    ] {
        assert!(columns.contains(&name), "{name}: {columns:?}");
    }
    assert_eq!(scene.included.len(), 1);
    assert_eq!(scene.included[0].name, "parts/finger.ron");
    assert_eq!(scene.included[0].crc32, crc32fast::hash(FINGER.as_bytes()));
    // A parameter of an instance may be given beside the file.
    let scene = files.build("hand.ron", &[("left.length", 1.0)]);
    assert_eq!(places(&scene, "left.nail"), [[2.0, 0.0, 0.0]]);
    assert_eq!(places(&scene, "right_hand.nail"), [[0.2, 0.0, 0.0]]);
}

#[test]
fn an_included_file_is_a_scene_of_its_own() {
    let files = Files::new("alone", &[("finger.ron", FINGER)]);
    let scene = files.build("finger.ron", &[]);
    assert_eq!(scene.title, "Finger");
    assert_eq!(scene.plan.duration, 5.0);
}

/// Within `tolerance` of each other.
fn assert_near(found: [f64; 3], expected: [f64; 3]) {
    for k in 0..3 {
        assert!((found[k] - expected[k]).abs() < 1e-15, "{found:?} {expected:?}");
    }
}

#[test]
fn places_of_files_in_files_add_up() {
    let arm = r#"(
        include: [(file: "finger.ron", name: "end", position: (1, 0, 0), rotation: Axis(around: (0, 0, 1), degrees: 90))],
        nodes: [Particles(name: "bead", positions: [(0, 0, 1)], velocities: [(1, 0, 0)], mass: 1)],
        groups: {"far": (node: "end.nail", select: Box((0.9, 0.1, -1), (1.1, 0.3, 1)))},
        colliders: [Fixed(name: "wall", shape: Box(1, 1, 1), position: (1, 2, 3))],
        force_fields: [(name: "push", on: "bead", law: Force([0, "$t", 1]))],
        fixed: [(node: "bead", velocity: [0, 0, 2])],
    )"#;
    let scene = r#"(
        run: (duration: 1),
        include: [(file: "parts/arm.ron", name: "arm", position: (0, 0, 10), rotation: Axis(around: (1, 0, 0), degrees: 90))],
        nodes: [],
    )"#;
    let files = Files::new(
        "places",
        &[
            ("scene.ron", scene),
            ("parts/arm.ron", arm),
            ("parts/finger.ron", FINGER),
        ],
    );
    let scene = files.build("scene.ron", &[]);
    // Of the finger (0.2, 0, 0), of the arm (1, 0.2, 0), of the scene y is z.
    assert_near(places(&scene, "arm.end.nail")[0], [1.0, 0.0, 10.2]);
    assert_near(places(&scene, "arm.bead")[0], [0.0, -1.0, 10.0]);
    assert_near(places(&scene, "arm.far")[0], [1.0, 0.0, 10.2]);
    assert_near(
        scene.holds[0].velocity.clone().try_into().unwrap(),
        [0.0, -2.0, 0.0],
    );
    let wall = scene
        .picture
        .colliders
        .iter()
        .find(|collider| collider.name == "arm.wall")
        .unwrap();
    assert_near(wall.pose.position, [1.0, -3.0, 12.0]);
}

#[test]
fn meshes_are_beside_the_file_that_names_them() {
    let part = r#"(nodes: [Mesh(name: "mesh", mesh: "shapes/one.obj", mass: 1)])"#;
    let scene = r#"(run: (duration: 1), include: [(file: "parts/part.ron", name: "a", position: (0, 1, 0))], nodes: [])"#;
    let files = Files::new(
        "meshes",
        &[
            ("scene.ron", scene),
            ("parts/part.ron", part),
            ("parts/shapes/one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
        ],
    );
    let scene = files.build("scene.ron", &[]);
    assert_eq!(
        places(&scene, "a.mesh"),
        [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]]
    );
}

#[test]
fn names_that_a_file_does_not_have_are_those_of_the_file_that_includes_it() {
    let part = r#"(nodes: [], colliders: [Fixed(name: "wall", shape: Plane(1, 0, 0), material: "steel")])"#;
    let scene = r#"(
        run: (duration: 1), include: [(file: "part.ron", name: "a")], nodes: [],
        materials: [(name: "steel", friction: 0.2)],
    )"#;
    let files = Files::new("outer", &[("scene.ron", scene), ("part.ron", part)]);
    assert_eq!(files.build("scene.ron", &[]).world.unwrap().colliders().len(), 1);
}

#[test]
fn a_file_without_a_name_keeps_its_names() {
    let part = r#"{"parameters": {"k": 2}, "materials": [{"name": "steel"}], "nodes": []}"#;
    let scene = r#"(
        run: (duration: "$k"), include: [(file: "part.json", parameters: {"k": 7})], nodes: [],
        colliders: [Fixed(name: "wall", shape: Plane(1, 0, 0), material: "steel")],
    )"#;
    let files = Files::new("unnamed", &[("scene.ron", scene), ("part.json", part)]);
    assert_eq!(files.build("scene.ron", &[]).plan.duration, 7.0);
}

#[test]
fn repeats_in_included_files_follow_the_parameters_of_the_instance() {
    let part = r#"(
        parameters: {"n": 2},
        nodes: [
            Particles(repeat: "$n", name: "p $i", positions: [("$i * $n", 0, 0)], mass: 1),
            Mapped(name: "all", parents: ["p 0"], mapping: Distance(pairs: [Repeat((k: 1), ("$k", (0, 0, 5)))])),
        ],
        record: [Repeat("$n", Position("p $i"))],
    )"#;
    let scene = r#"(
        run: (duration: 1), nodes: [],
        include: [(file: "part.ron", name: "a", position: (0, 0, 1)), (file: "part.ron", name: "b", parameters: {"n": 3})],
    )"#;
    let files = Files::new("repeats", &[("scene.ron", scene), ("part.ron", part)]);
    let scene = files.build("scene.ron", &[]);
    assert_eq!(scene.model.nodes().len(), 7);
    assert_eq!(places(&scene, "b.p 2"), [[6.0, 0.0, 0.0]]);
    assert_eq!(scene.observables.columns.len(), 15);
    let error = files
        .try_build("scene.ron", &[("b.n", 2.5)])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("part.ron:4:") && error.contains("included as `b` by"),
        "{error}"
    );
}

#[test]
fn a_file_is_read_outside_of_the_folder_only_where_that_is_allowed() {
    let scene = r#"(run: (duration: 1), include: [(file: "../part.ron", name: "a")], nodes: [])"#;
    let files = Files::new("outside", &[("in/scene.ron", scene), ("part.ron", "(nodes: [])")]);
    let path = files.0.join("in/scene.ron");
    let error = SceneFile::load(&path).unwrap_err().to_string();
    assert!(error.contains("not in the folder of the scene"), "{error}");
    let reading = Reading {
        directories: vec![files.0.clone()],
        ..Reading::default()
    };
    assert!(SceneFile::load_with(&path, &reading).is_ok());
}

#[test]
fn files_that_multiply_end_at_a_count_and_at_their_size() {
    let twenty = |file: &str| {
        let entries: Vec<String> = (0..20)
            .map(|k| format!("(file: \"{file}\", name: \"a{k}\")"))
            .collect();
        format!(
            "(run: (duration: 1), include: [{}], nodes: [])",
            entries.join(", ")
        )
    };
    let files = Files::new(
        "many",
        &[
            ("a.ron", &twenty("b.ron")),
            ("b.ron", &twenty("c.ron")),
            ("c.ron", &twenty("d.ron")),
            ("d.ron", "(nodes: [])"),
            ("self.ron", &twenty("./self.ron")),
        ],
    );
    let error = SceneFile::load(&files.0.join("a.ron")).unwrap_err().to_string();
    assert!(error.contains("more than 1000 files"), "{error}");
    let error = SceneFile::load(&files.0.join("self.ron"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("in a ring"), "{error}");
    let reading = Reading {
        bytes: 3000,
        ..Reading::default()
    };
    let error = SceneFile::load_with(&files.0.join("a.ron"), &reading)
        .unwrap_err()
        .to_string();
    assert!(error.contains("more than 3000"), "{error}");
    assert!(Path::new(&files.0).exists());
}

/// A file is included as often as `repeat` says, with the index in names, places and parameters.
#[test]
fn instances_may_be_repeated() {
    let row = r#"(
        include: [(
            repeat: (row: 2, column: 3), file: "finger.ron", name: "f{2 * $row + 1}_$column",
            position: ("0.5 * $column", "$row", 0), parameters: {"length": "0.1 + 0.1 * $column"},
        )],
        run: (duration: 1),
        nodes: [],
        joints: [(name: "weld", kind: Fixed, a: Body("f1_0.tip", 0), b: Body("f3_2.tip", 0))],
    )"#;
    let files = Files::new("repeated", &[("row.ron", row), ("finger.ron", FINGER)]);
    let built = files.build("row.ron", &[]);
    let state = built.model.initial_state().unwrap();
    for (instance, place) in [
        ("f1_0", [0.2, 0.0]),
        ("f1_2", [1.0 + 0.6, 0.0]),
        ("f3_1", [0.5 + 0.4, 1.0]),
    ] {
        let node = built.model.node_named(&format!("{instance}.nail")).unwrap();
        let found = built.model.positions(&state, node);
        for (found, place) in found.iter().zip(place) {
            assert!((found - place).abs() < 1e-12, "{instance}: {found} {place}");
        }
    }
    assert_eq!(built.parameters["f3_2.length"], 0.1 + 0.1 * 2.0);
    // A value from outside reaches one of them alone.
    let built = files.build("row.ron", &[("f1_0.length", 0.3)]);
    assert_eq!(
        (built.parameters["f1_0.length"], built.parameters["f1_1.length"]),
        (0.3, 0.2)
    );
}
