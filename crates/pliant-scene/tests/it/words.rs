//! Every word of a scene, and what is said where one is wrong.

use pliant_scene::runner::{Runner, write_results};
use pliant_scene::scene::{BuiltScene, Format, SceneError, SceneFile, Settings};
use std::path::Path;

/// A scene with every word for joints, mappings, laws and shapes.
pub(crate) const WORDS: &str = include_str!("words.ron");

fn build(text: &str) -> Result<BuiltScene, SceneError> {
    SceneFile::from_text("words.ron".as_ref(), text, Format::Ron)?.build(&Settings::default())
}

#[test]
fn every_word_builds_and_runs() {
    let built = build(WORDS).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((built.joints.len(), built.plan.steps), (12, 2));
    let outcome = Runner::new(built).unwrap_or_else(|e| panic!("{e}")).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let summary = &outcome.summary;
    assert_eq!(summary.joints.len(), 12);
    assert_eq!(summary.treatments.len(), 2, "{:?}", summary.treatments);
    assert_eq!(
        summary.joints["plane"].coordinates.keys().collect::<Vec<_>>(),
        [&"angle", &"x", &"y"]
    );
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    let table = std::fs::read_to_string(dir.path().join("joints.csv")).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 4, "start, two steps and the names");
    assert_eq!(
        lines[0][..3],
        ["time_s", "hinge.angle_rad", "hinge.angle_rate_rad/s"]
    );
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let page = std::fs::read_to_string(dir.path().join("play.html")).unwrap();
    assert_eq!(page.matches("\"kind\":\"mesh\"").count(), 4);
}

/// Inputs that depend on time have their value where the scheme weighs forces.
#[test]
fn forces_follow_functions_of_time() {
    let text = "(run: (duration: 1, step: 0.1, alpha: 0.5, beta: 0.5), nodes: [
            Particles(name: \"p\", positions: [(0, 0, 0)], mass: 2)],
        force_fields: [(name: \"f\", on: \"p\", law: Force([\"6 * $t\", 0, 0]))])";
    let outcome = Runner::new(build(text).unwrap()).unwrap().run(|_| {});
    // The midpoint rule integrates 3 t exactly.
    assert!((outcome.summary.state["p"].velocities[0][0] - 1.5).abs() < 1e-12);
}

/// A body of a mesh has the inertia of the solid, whatever is given of mass and density.
#[test]
fn surfaces_become_bodies() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = String::new();
    for corner in 0..8 {
        let x = |k: usize| if corner >> k & 1 == 1 { 2.0 } else { 1.0 };
        mesh.push_str(&format!("v {} {} {}\n", x(0), x(1), x(2)));
    }
    for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
        mesh.push_str(&format!("f {face}\n"));
    }
    std::fs::write(dir.path().join("cube.obj"), &mesh).unwrap();
    std::fs::write(dir.path().join("open.obj"), mesh.replacen("f 1 3 4 2\n", "", 1)).unwrap();
    let scene = |body: &str| {
        let text = format!("(run: (duration: 0.1), nodes: [Bodies(name: \"b\", bodies: [({body})])])");
        SceneFile::from_text(&dir.path().join("a.ron"), &text, Format::Ron)?.build(&Settings::default())
    };
    for (body, mass) in [
        ("shape: Surface(file: \"cube.obj\", scale: 2, density: 3)", 24.0),
        ("shape: Surface(file: \"cube.obj\", scale: 2), mass: 6", 6.0),
    ] {
        let built = scene(body).unwrap_or_else(|e| panic!("{e}"));
        let rigid = *built.model.masses()[0].component.rigid(0).unwrap();
        assert!((rigid.mass - mass).abs() < 1e-12);
        let expected = mass * 4.0 / 6.0;
        assert!((rigid.inertia[0][0] - expected).abs() < 1e-12 && rigid.inertia[0][1].abs() < 1e-12);
    }
    for (body, message) in [
        (
            "shape: Surface(file: \"open.obj\", density: 3)",
            "the surface is open",
        ),
        (
            "shape: Surface(file: \"cube.obj\")",
            "exactly one of `mass` and `density`",
        ),
        (
            "shape: Surface(file: \"cube.obj\", density: 1), mass: 1",
            "exactly one of `mass` and `density`",
        ),
        ("shape: Surface(file: \"cubes.obj\", density: 1)", "cubes.obj"),
        ("shape: Sphere(1)", "missing key `mass`"),
    ] {
        let error = scene(body).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains('^'), "{error}");
    }
}

/// A net and particles with the mass of their mesh.
#[test]
fn meshes_have_masses_of_their_density() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let scene = |part: &str| {
        let text = format!("(run: (duration: 0.02), gravity: (0, 0, -10), nodes: [{part}])");
        SceneFile::from_text(&dir.path().join("a.ron"), &text, Format::Ron)?.build(&Settings::default())
    };
    for part in [
        "Mesh(name: \"m\", mesh: \"a.obj\", density: 6)",
        "Mesh(name: \"m\", mesh: \"a.obj\", density: 6, mass_matrix: Consistent)",
        "Mesh(name: \"m\", mesh: \"a.obj\", mass: 1)",
        "Net(name: \"m\", mesh: \"a.obj\", density: 6, mass_matrix: Consistent)",
    ] {
        let outcome = Runner::new(scene(part).unwrap_or_else(|e| panic!("{e}")))
            .unwrap()
            .run(|_| {});
        let momentum = outcome.summary.momentum[2];
        assert!((momentum + 3.0 * 0.2).abs() < 1e-12, "{part}: {momentum}");
    }
    for (part, message) in [
        (
            "Mesh(name: \"m\", mesh: \"a.obj\")",
            "exactly one of `mass` and `density`",
        ),
        (
            "Mesh(name: \"m\", mesh: \"a.obj\", density: -1)",
            "must be positive",
        ),
        (
            "Mesh(name: \"m\", mesh: \"a.obj\", mass: 1, mass_matrix: Consistent)",
            "made of a `density`",
        ),
        (
            "Mesh(name: \"m\", mesh: \"a.obj\", density: 1, fix: [3])",
            "must be from 0 to 2",
        ),
    ] {
        let error = scene(part).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains('^'), "{error}");
    }
}

/// Change of the words, message, help.
const MISTAKES: [(&str, &str, &str, &str); 58] = [
    (
        "kind: Hinge",
        "kind: Hinges",
        "unknown kind `Hinges` in `kind`",
        "did you mean `Hinge`?",
    ),
    ("kind: Hinge", "kind: Screw()", "missing key `pitch`", ""),
    (
        "b: Body(\"bodies\", 0), axis",
        "b: Body(\"bodis\", 0), axis",
        "unknown node `bodis`",
        "did you mean `bodies`?",
    ),
    (
        "b: Body(\"bodies\", 0), axis",
        "b: Body(\"p\", 0), axis",
        "needs a body here, but `p` has points of space",
        "",
    ),
    (
        "b: Body(\"bodies\", 0), axis",
        "b: Body(\"bodies\", 6), axis",
        "there is no body 6",
        "",
    ),
    (
        "b: Body(\"bodies\", 0), axis",
        "b: Wrold, axis",
        "unknown kind `Wrold`",
        "did you mean `World`?",
    ),
    (
        "b: Body(\"bodies\", 0), axis",
        "axis",
        "`hinge` joins the world to itself",
        "sides are",
    ),
    (
        "b: Body(\"bodies\", 0), axis",
        "a: Body(\"bodies\", 0), b: Body(\"bodies\", 0), axis",
        "`hinge` joins a body to itself",
        "",
    ),
    (
        "axis: (0, 1, 0)",
        "axis: (0, 0, 0)",
        "direction of length zero",
        "",
    ),
    (
        "axis: (0, 1, 0)",
        "axis: (0, NaN, 0)",
        "`axis` of `hinge` is NaN",
        "",
    ),
    (
        "x_axis: (1, 0, 1)",
        "x_axis: (0, 3, 0)",
        "parallel to its axis",
        "",
    ),
    (
        "on: \"angle\"",
        "on: \"angel\"",
        "`hinge` is a hinge: it has no free coordinate `angel`",
        "did you mean `angle`?",
    ),
    (
        "on: \"travel\"",
        "on: \"x\"",
        "`cylinder` is a cylindrical joint",
        "free coordinates: `travel`, `angle`",
    ),
    (
        "(on: \"travel\", damping",
        "(damping",
        "must say `on` which coordinate",
        "free coordinates",
    ),
    (
        "kind: Ball,",
        "kind: Ball, friction: [(force: 1)],",
        "leaves nothing free that `friction`",
        "",
    ),
    (
        "rest: 0.1)",
        "rest: \"$t\")",
        "unknown parameter `$t`",
        "only targets of motions",
    ),
    (
        "compliance: 0.1, relaxation_time: 0.01",
        "compliance: -0.1",
        "must be zero or more",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: \"1 / ($t - 0.005)\"",
        "division by zero, at t = 0.005 s",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: \"sqrt($t)\"",
        "changes infinitely fast at t = 0 s",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: \"sin($x)\"",
        "unknown parameter `$x`",
        "parameters: `k`, `t`",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: [1, 2]",
        "has 2 functions of time, needed are 1",
        "a table is a list of pairs",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: [(1, 2), 3]",
        "not both in one",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: [(1, 2), (1, 3)]",
        "the times of its table do not increase",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: []",
        "has 0 functions of time",
        "",
    ),
    (
        "target: \"0.1 * sin($t)\"",
        "target: true",
        "an expression of the time",
        "",
    ),
    (
        "speed: [(0, 0), (1, 1)]",
        "target: 1",
        "unknown key `target`",
        "speed",
    ),
    ("force: 5)", "force: -5)", "must be zero or more", ""),
    (
        "(lower: -1)",
        "(lower: 3, upper: 1)",
        "nothing is between them",
        "",
    ),
    (
        "(lower: -1)",
        "(lowr: 3)",
        "unknown key `lowr`",
        "did you mean `lower`?",
    ),
    ("pitch: 0.01", "pitch: inf", "`pitch` of `screw` is inf", ""),
    (
        "compliance: [1e-6, 1e-6, 1e-3, 1e-3]",
        "compliance: [1e-6, 1e-6]",
        "needs",
        "",
    ),
    (
        "level: Position,",
        "relaxation_time: 1,",
        "is hard, so it has no relaxation time",
        "give it a `compliance`",
    ),
    (
        "position: (0.1, 0, 0)), at",
        "rotation: Quaternion(0, 0, 0, 0)), at",
        "quaternion has length zero",
        "",
    ),
    (
        "name: \"slider\"",
        "name: \"hinge\"",
        "the name `hinge` is used twice",
        "",
    ),
    (
        "second: \"screw.angle\"",
        "second: \"screw.angel\"",
        "unknown node `screw.angel`",
        "did you mean `screw.angle`?",
    ),
    (
        "second: \"screw.angle\"",
        "second: \"plane.angle\"",
        "gears `plane.angle` to itself",
        "",
    ),
    (
        "second: \"screw.angle\"",
        "second: \"bodies\"",
        "needs a node of one scalar",
        "",
    ),
    ("ratio: 2)]", "ratio: NaN)]", "NaN", ""),
    (
        "triangles: [(0, 1, 2)]",
        "triangles: [(0, 1, 9)]",
        "refers to element 9",
        "",
    ),
    (
        "triangles: [(0, 1, 2)]",
        "triangle: [(0, 1, 2)]",
        "unknown key `triangle`",
        "did you mean `triangles`?",
    ),
    (
        "[0, 1, 2, 3], [0, 1, 2]",
        "[0, 1, 2, 3, 4], [0, 1, 2]",
        "has 5 elements: 2, 3, 4 or 8",
        "",
    ),
    (
        "points: [(0.1, 0.1, 0.1)])",
        "points: [(9, 9, 9)])",
        "outside the mesh",
        "",
    ),
    ("Area(", "Aera(", "unknown kind `Aera`", "did you mean `Area`?"),
    ("Twist(z)", "Twist(w)", "unknown kind `w`", "known kinds: `x`"),
    ("smoothing: 0.01", "smoothing: 0", "must be positive", ""),
    (
        "(body: 0, position: (0, 0, 1)",
        "(position: (0, 0, 1)",
        "has no `body` to ride on",
        "",
    ),
    (
        "parents: [\"p\", \"hinge.angle\"]",
        "parents: [\"p\", \"hinge.angel\"]",
        "unknown node `hinge.angel`",
        "did you mean `hinge.angle`?",
    ),
    (
        "tetrahedra: [(0, 1, 2, 3)]",
        "",
        "exactly one of `tetrahedra` and `surface`",
        "",
    ),
    ("on: \"pose\", law", "on: \"p\", law", "`matrix`", ""),
    (
        "compliance: [1, 0, 0, 0, 0, 0, 0",
        "compliance: [1, 5, 0, 0, 0, 0, 0",
        "not symmetric",
        "",
    ),
    (
        "activation: \"min(1, $t)\"",
        "activation: \"1 + $t\"",
        "activation",
        "",
    ),
    ("activation: \"min(1, $t)\"", "activation: [1, 1]", "needs", ""),
    (
        "curve: TensionOnly(10))",
        "curve: TensionOnly(10)), treatment: Compliance",
        "has no compliance",
        "",
    ),
    (
        "bounds: (lower: -5, upper: 5)",
        "bounds: (lower: 5, upper: -5)",
        "which no force is",
        "",
    ),
    (
        "bounds: (lower: -5, upper: 5)",
        "bounds: (lower: -5), treatment: Stiffness",
        "cannot be driven",
        "",
    ),
    (
        "treatment: Auto",
        "treatment: Automatic",
        "unknown kind `Automatic`",
        "",
    ),
    ("coefficient: 0.5", "coefficient: 2", "coefficient", ""),
    (
        "mass: 0.01, stiffness",
        "mass: -0.01, stiffness",
        "`rayleigh`",
        "",
    ),
];

#[test]
fn mistakes_are_named_and_pointed_at() {
    for (from, to, message, help) in MISTAKES {
        assert!(WORDS.contains(from), "{from}");
        let error = match build(&WORDS.replacen(from, to, 1)) {
            Ok(_) => panic!("{to} is accepted"),
            Err(error) => error.to_string(),
        };
        let first = error.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("error: ") && first.contains(message),
            "{to}: {error}"
        );
        assert!(error.contains(help) && error.contains('^'), "{to}: {error}");
    }
}

#[test]
fn the_manual_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenes.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut found = 0;
    for block in text.split("```ron\n").skip(1) {
        let scene = &block[..block.find("```").unwrap()];
        let file = SceneFile::from_text(&path, scene, Format::Ron).unwrap_or_else(|e| panic!("{e}"));
        let built = file.build(&Settings::default()).unwrap_or_else(|e| panic!("{e}"));
        Runner::new(built)
            .unwrap_or_else(|e| panic!("{e}"))
            .step()
            .unwrap_or_else(|e| panic!("{e}"));
        found += 1;
    }
    assert!(found >= 5);
}
