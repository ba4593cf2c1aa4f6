//! Functions of time out of files.

use crate::drawn;
use pliant::Simulation;
use pliant_scene::{BuiltScene, SceneError, SceneFile, Settings};
use std::path::Path;

const DATA: &str =
    "# a step\n\"t, ms\",hip,\"knee \"\"left\"\"\"\n0,0,1\r\n1000,45,3\n\n2000,0,-1\n3000,90,2\n";

fn build_in(folder: &Path, text: &str) -> Result<BuiltScene, SceneError> {
    let path = folder.join("a.ron");
    std::fs::write(&path, text).unwrap();
    SceneFile::load(&path)?.build(&Settings::default())
}

fn scene(target: &str, functions: &str) -> String {
    format!(
        r#"(
    {functions}run: (duration: 3, step: 0.01),
    nodes: [
        Bodies(name: "b", bodies: [(shape: Sphere(1), mass: 1)]),
        Particles(name: "p", positions: [(0, 0, 0)], mass: 1),
    ],
    joints: [(name: "h", kind: Hinge, b: Body("b", 0), motors: [Position(target: {target})])],
    force_fields: [(name: "f", on: "p", law: Force(["$t", 0, 0]))],
)"#
    )
}

/// The angle of the hinge after so many steps of 0.01 s.
fn angle(built: BuiltScene, steps: usize) -> (f64, f64) {
    let node = built.model.node_named("h.angle").unwrap();
    let mut simulation = Simulation::with_options(built.model, built.options).unwrap();
    for _ in 0..steps {
        simulation.step(0.01).unwrap();
    }
    (simulation.positions(node)[0], simulation.velocities(node)[0])
}

const TABLE: &str = r#"Table(file: "gait.csv", time: "t, ms", column: "hip", time_unit: "ms", unit: "deg")"#;

#[test]
fn motors_follow_columns_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gait.csv"), DATA).unwrap();
    let degree = std::f64::consts::PI / 180.0;
    let built = build_in(folder.path(), &scene(TABLE, "")).unwrap();
    assert_eq!(built.mesh_files.len(), 1);
    assert_eq!(built.mesh_files[0].crc32, crc32fast::hash(DATA.as_bytes()));
    assert_eq!(built.meshes, crc32fast::hash(DATA.as_bytes()));
    let (at, rate) = angle(built, 50);
    assert!(
        (at - 22.5 * degree).abs() < 1e-9 && (rate - 45.0 * degree).abs() < 1e-6,
        "{at} {rate}"
    );
    // The natural spline through four points, solved by hand: 4 m1 + m2 = 6 (-45 - 45),
    // m1 + 4 m2 = 6 (90 + 45), so that m1 = -198 and m2 = 252 deg/s^2.
    let spline = TABLE.replace("Table(", "Spline(");
    let (at, _) = angle(build_in(folder.path(), &scene(&spline, "")).unwrap(), 150);
    let expected = 0.5 * 45.0 - (-198.0 + 252.0) / 16.0;
    assert!(
        (at - expected * degree).abs() < 1e-9,
        "{} {expected}",
        at / degree
    );
}

#[test]
fn functions_have_names_and_rates() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gait.csv"), DATA).unwrap();
    let functions =
        format!("functions: {{\"hip\": {TABLE}}}, parameters: {{\"half\": \"hip(0.5) / 2\"}},\n    ");
    let text = scene("\"2 * hip($t + 0.25 s)\"", &functions);
    let text = text.replace("\"$t\"", "\"1 N * hip($t) / 1 rad\"");
    let built = build_in(folder.path(), &text).unwrap();
    let degree = std::f64::consts::PI / 180.0;
    assert!((built.parameters["half"] - 11.25 * degree).abs() < 1e-15);
    let jet = built.inputs[0].program.jet(1.5);
    assert!((jet.value - 22.5 * degree).abs() < 1e-15 && (jet.rate + 45.0 * degree).abs() < 1e-15);
    let (at, rate) = angle(built, 50);
    assert!(
        (at - 2.0 * 33.75 * degree).abs() < 1e-9 && (rate - 90.0 * degree).abs() < 1e-6,
        "{at} {rate}"
    );
}

/// Words of the scene, of the file, and the message about them.
const WRONG: [(&str, &str, &str); 14] = [
    (
        "column: \"hip\"",
        "column: \"hips\"",
        "gait.csv has no column `hips`\n",
    ),
    (
        "file: \"gait.csv\"",
        "file: \"gate.csv\"",
        "cannot read the table",
    ),
    (
        "file: \"gait.csv\"",
        "file: \"../gait.csv\"",
        "is not in the folder of the scene",
    ),
    (
        "unit: \"deg\"",
        "unit: \"mm\"",
        "`target` of `h` is a length (m), and needed is an angle (rad)",
    ),
    ("unit: \"deg\"", "unit: \"degree\"", "\"degree\" is no unit"),
    (
        "time_unit: \"ms\"",
        "time_unit: \"m\"",
        "\"m\" is the unit of a length (m), and needed is a time (s)",
    ),
    ("Table(", "Tabel(", "unknown kind `Tabel` in `function`"),
    (
        "column: \"hip\"",
        "colum: \"hip\"",
        "unknown key `colum` in `Table`",
    ),
    (
        "2000,0,-1",
        "2000,x,-1",
        "gait.csv, line 6, column `hip`: \"x\" is no number",
    ),
    (
        "2000,0,-1",
        "2000",
        "gait.csv, line 6, column `hip`: there is no number",
    ),
    (
        "2000,0,-1",
        "2000,NaN,-1",
        "gait.csv, line 6, column `hip`: \"NaN\" is no number",
    ),
    (
        "2000,0,-1",
        "1000,0,-1",
        "gait.csv, line 6, column `t, ms`: this is not behind the point before it",
    ),
    (DATA, "", "gait.csv has no headings and no numbers"),
    (
        DATA,
        "\"t, ms\",hip\n",
        "gait.csv, column `hip`: it has 0 points, and needs 1",
    ),
];

#[test]
fn wrong_files_are_named_with_line_and_column() {
    for (from, to, message) in WRONG {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("scene");
        std::fs::create_dir(&inner).unwrap();
        let text = scene(TABLE, "");
        let (text, data) = (text.replacen(from, to, 1), DATA.replacen(from, to, 1));
        assert!(text != scene(TABLE, "") || data != DATA, "{from}");
        std::fs::write(inner.join("gait.csv"), &data).unwrap();
        std::fs::write(folder.path().join("gait.csv"), &data).unwrap();
        let error = build_in(&inner, &text).unwrap_err();
        assert!(drawn(&error).contains(message), "{to}: {error}");
        assert!(error.to_string().contains("a.ron:7:"), "{to}: {error}");
    }
}

#[test]
fn wrong_functions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gait.csv"), DATA).unwrap();
    for (name, target, message) in [
        ("sin", "1", "`sin` has a meaning in expressions already"),
        ("a b", "1", "\"a b\" is no name for a function"),
        ("hip", "\"hip\"", "`hip` needs its argument in parentheses"),
        ("hip", "\"$hip\"", "`hip` is a function"),
        ("hip", "\"hip(1, 2)\"", "`hip` takes one number: `hip($t)`"),
        (
            "hip",
            "\"hip(2 m)\"",
            "`hip` is a function of a time (s), and this is a length (m)",
        ),
        ("hip", "\"hp($t)\"", "unknown name `hp`"),
    ] {
        let functions = format!("functions: {{\"{name}\": {TABLE}}},\n    ");
        let error = build_in(folder.path(), &scene(target, &functions)).unwrap_err();
        assert!(drawn(&error).contains(message), "{name} {target}: {error}");
    }
}
