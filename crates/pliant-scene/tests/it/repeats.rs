//! Entries of lists that are repeated.

use super::{built as build, places};
use pliant_scene::{BuiltScene, Format, Number, SceneFile, Settings};

/// Names of the joints of a scene.
fn joints(scene: &BuiltScene) -> Vec<&str> {
    scene.joints.iter().map(|(name, ..)| name.as_str()).collect()
}

const CHAIN: &str = r#"(
    parameters: {"n": 4, "length": 0.5},
    run: (duration: 1),
    nodes: [
        Bodies(name: "link", bodies: [(repeat: "$n", position: ("$length * ($i + 0.5)", 0, 0), shape: Box("$length", 0.1, 0.1), mass: 1)]),
    ],
    joints: [(
        repeat: "$n - 1", name: "hinge {$i + 1}", kind: Hinge, a: Body("link", "$i"), b: Body("link", "$i + 1"),
        at: ("$length * ($i + 1)", 0, 0),
    )],
    record: [Repeat("$n - 1", Joint("hinge {$i + 1}"))],
)"#;

#[test]
fn a_chain_of_hinges_is_one_entry() {
    let scene = build(CHAIN);
    assert_eq!(joints(&scene), ["hinge 1", "hinge 2", "hinge 3"]);
    let columns: Vec<&str> = scene
        .observables
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(columns[..2], ["hinge 1.angle", "hinge 1.angle_rate"]);
    assert_eq!(columns.len(), 6);
    // Written out by hand it is the same model.
    let one = |i: usize, at: f64| {
        format!(
            "(name: \"hinge {}\", kind: Hinge, a: Body(\"link\", {i}), b: Body(\"link\", {}), at: ({at}, 0, 0))",
            i + 1,
            i + 1
        )
    };
    let by_hand = [one(0, 0.5), one(1, 1.0), one(2, 1.5)].join(", ");
    let start = CHAIN.find("joints:").unwrap();
    let end = CHAIN.find("record:").unwrap();
    let by_hand = format!("{}joints: [{by_hand}], {}", &CHAIN[..start], &CHAIN[end..]);
    let (a, b) = (scene, build(&by_hand));
    assert_eq!(joints(&a), joints(&b));
    let state = |scene: &BuiltScene| scene.model.initial_state().unwrap().positions;
    assert_eq!(state(&a), state(&b));
}

#[test]
fn counts_follow_the_parameters_that_are_given() {
    let file = SceneFile::from_text("chain.ron".as_ref(), CHAIN, Format::Ron).unwrap();
    let settings = Settings {
        parameters: vec![("n".to_owned(), Number::Value(7.0))],
        ..Settings::default()
    };
    assert_eq!(file.build(&settings).unwrap().joints.len(), 6);
    assert_eq!(file.build(&Settings::default()).unwrap().joints.len(), 3);
}

#[test]
fn indices_have_names_nest_and_run_with_the_last_one_first() {
    let scene = build(
        r#"(
        run: (duration: 1),
        nodes: [
            Particles(repeat: (row: 2, column: 3), name: "p $row $column", positions: [("$column", "$row", 0)], mass: 1),
            Particles(
                repeat: 2, name: "q $i", mass: 1,
                positions: [Repeat((k: 3), ("10 * $i", "$k", 0))],
            ),
            // A formula counts its own points.
            Particles(repeat: (row: 2), name: "r {$row + 1}", formula: (count: 3, position: ("$i", "$row", 0)), mass: 1),
            Bodies(name: "stack", bodies: [Repeat((layer: 2), (repeat: 3, position: ("$i", "$layer", 0), shape: Box(1, 1, 1), mass: 1))]),
        ],
    )"#,
    );
    let names: Vec<&str> = scene
        .model
        .nodes()
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "p 0 0", "p 0 1", "p 0 2", "p 1 0", "p 1 1", "p 1 2", "q 0", "q 1", "r 1", "r 2", "stack"
        ]
    );
    assert_eq!(places(&scene, "p 1 2"), [[2.0, 1.0, 0.0]]);
    assert_eq!(
        places(&scene, "q 1"),
        [[10.0, 0.0, 0.0], [10.0, 1.0, 0.0], [10.0, 2.0, 0.0]]
    );
    assert_eq!(
        places(&scene, "r 2"),
        [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]
    );
    assert_eq!(places(&scene, "stack").len(), 6);
    assert_eq!(places(&scene, "stack")[4], [1.0, 1.0, 0.0]);
}

#[test]
fn whatever_stands_in_a_list_is_repeated() {
    let scene = build(
        r#"(
        gravity: (0, -9.81, 0),
        run: (duration: 1),
        nodes: [
            Particles(name: "row", line: (from: (0, 0, 0), to: (3, 0, 0), count: 4), mass: 1),
            Mapped(repeat: 3, name: "gap $i", parents: ["row"], mapping: Distance(pairs: [("$i", "$i + 1")])),
            Mapped(name: "all", parents: ["row"], mapping: Distance(pairs: [Repeat(3, ("$i", "$i + 1"))])),
        ],
        masses: [(repeat: 2, name: "load $i", on: "row", mass: "1 + $i")],
        force_fields: [(repeat: 3, name: "spring $i", on: "gap $i", law: Stiffness("10 * ($i + 1)"))],
        constraints: [(repeat: 2, name: "hard {2 - $i}", on: "gap $i")],
        fixed: [(repeat: 2, node: "row", elements: ["3 * $i"])],
        materials: [(repeat: 2, name: "m $i", friction: "0.1 * $i")],
        colliders: [
            Fixed(name: "ground", shape: Plane(0, 1, 0), position: (0, -1, 0)),
            Points(repeat: 4, name: "ball $i", node: "row", elements: ["$i"], radius: 0.1, material: "m {mod($i, 2)}"),
        ],
        ignore: [Repeat(2, ("ground", "ball $i")), ("ball*", "ball*")],
        events: [(repeat: 2, name: "low $i", when: "row[{$i}].y < -$i", do: [Say("{$i}")])],
    )"#,
    );
    assert_eq!(scene.model.node(scene.model.node_named("all").unwrap()).count, 3);
    for name in ["load 1", "spring 2", "hard 1", "hard 2"] {
        assert!(scene.model.component_named(name).is_some(), "{name}");
    }
    assert_eq!(scene.holds.len(), 2);
    assert_eq!(scene.holds[1].elements, [3]);
    assert_eq!(scene.world.as_ref().unwrap().colliders().len(), 5);
}

#[test]
fn json_repeats_as_well() {
    let text = r#"{
        "run": {"duration": 1},
        "nodes": [
            {"Bodies": {"name": "arm", "bodies": [{"repeat": 3, "position": ["$i", 0, 0], "shape": {"Box": [1, 1, 1]}, "mass": 1}]}}
        ],
        "joints": [{"repeat": {"k": 2}, "name": "hinge $k", "kind": "Hinge", "a": {"Body": ["arm", "$k"]}, "b": {"Body": ["arm", "$k + 1"]}}],
        "record": [{"Repeat": [2, {"Joint": "hinge $i"}]}]
    }"#;
    let file =
        SceneFile::from_text("scene.json".as_ref(), text, Format::Json).unwrap_or_else(|e| panic!("{e}"));
    let scene = file.build(&Settings::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(joints(&scene), ["hinge 0", "hinge 1"]);
    assert_eq!(scene.observables.columns.len(), 4);
}

#[test]
fn repeats_that_multiply_are_refused_before_they_are_written() {
    let positions = "[Repeat((a: 1000), (\"$a\", 0, 0))]";
    for nodes in [
        "Particles(repeat: 1e6, name: \"p $i\", positions: [(0, 0, 0)], mass: 1)".to_owned(),
        format!("Particles(repeat: 1000, name: \"p $i\", positions: {positions}, mass: 1)"),
    ] {
        let text = format!("(run: (duration: 1), nodes: [{nodes}])");
        let file = SceneFile::from_text("scene.ron".as_ref(), &text, Format::Ron).unwrap();
        let error = file.build(&Settings::default()).unwrap_err().to_string();
        assert!(error.contains("repeats write more than"), "{error}");
    }
}
