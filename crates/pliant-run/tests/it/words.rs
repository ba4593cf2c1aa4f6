//! Every word of a scene, and what is said where one is wrong.

mod contact_mistakes;
mod mistakes;

use contact_mistakes::CONTACT_MISTAKES;
use mistakes::MISTAKES;
use pliant::dense::Vec3;
use pliant::dense::rotation::rotate;
use pliant_run::{Runner, write_results};
use pliant_scene::{BuiltScene, Format, SceneError, SceneFile, Settings};
use std::path::{Path, PathBuf};

/// A scene with every word for joints, mappings, laws and shapes.
pub(crate) const WORDS: &str = include_str!("words.ron");

/// A scene with every word of what touches.
pub(crate) const CONTACTS: &str = include_str!("words/contacts.ron");

/// A scene with every word of steps that choose their length.
pub(crate) const ADAPTIVE: &str = include_str!("words/adaptive.ron");

fn build(text: &str) -> Result<BuiltScene, SceneError> {
    SceneFile::from_text("words.ron".as_ref(), text, Format::Ron)?.build(&Settings::default())
}

#[test]
fn every_word_builds_and_runs() {
    let built = build(WORDS).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((built.joints.len(), built.plan.steps), (18, 2));
    let outcome = Runner::new(built).unwrap_or_else(|e| panic!("{e}")).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let summary = &outcome.summary;
    assert_eq!(summary.joints.len(), 18);
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
    let text = "(run: (duration: 1, step: 0.1, integrator: Theta, alpha: 0.5, beta: 0.5), nodes: [
            Particles(name: \"p\", positions: [(0, 0, 0)], mass: 2)],
        force_fields: [(name: \"f\", on: \"p\", law: Force([\"6 * $t\", 0, 0]))])";
    let outcome = Runner::new(build(text).unwrap()).unwrap().run(|_| {});
    // The midpoint rule integrates 3 t exactly.
    assert!((outcome.summary.state["p"].velocities[0][0] - 1.5).abs() < 1e-12);
}

/// A body with products of inertia moves as the one whose principal axes are turned to it.
#[test]
fn products_of_inertia_are_those_of_turned_axes() {
    // Moments 1, 2, 2.5 about axes that are turned by 30 degrees about z: the tensor in the world
    // is R diag R^T.
    let (c, s) = (0.75f64.sqrt(), 0.5);
    let (xx, yy, xy) = (c * c + 2.0 * s * s, s * s + 2.0 * c * c, -c * s);
    let end = |body: &str| {
        let text = format!(
            "(run: (duration: 1, step: 0.01), nodes: [Bodies(name: \"b\", bodies: [
                (mass: 1, angular_velocity: (1, 2, 3), {body})])])"
        );
        let outcome = Runner::new(build(&text).unwrap()).unwrap().run(|_| {});
        let velocities = outcome.summary.state["b"].velocities[0].to_vec();
        let rotation = outcome.summary.state["b"].positions[0][3..].to_vec();
        let spin = Vec3::new(velocities[3], velocities[4], velocities[5]);
        rotate([rotation[0], rotation[1], rotation[2], rotation[3]], spin)
    };
    let own = end(&format!("inertia: ({xx}, {yy}, 2.5), products: ({xy}, 0, 0)"));
    let turned = end("rotation: Axis(around: (0, 0, 1), degrees: 30), inertia: (1, 2, 2.5)");
    // The same equations in other coordinates: they differ by what Newton's method leaves.
    assert!((own - turned).norm() < 1e-7, "{own} {turned}");
    assert!((own - Vec3::new(1.0, 2.0, 3.0)).norm() > 0.1, "it turns over");
    let error = build(
        "(run: (duration: 1), nodes: [Bodies(name: \"b\", bodies: [(mass: 1, shape: Sphere(1), products: (0, 0, 0))])])",
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("`products` of inertia without moments")
    );
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
        ("shape: Sphere(1)", "exactly one of `mass` and `density`"),
    ] {
        let error = scene(body).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains('^'), "{error}");
    }
}

/// A distance field of a mesh collides as the solid of the mesh does, is drawn, and refuses what is
/// not closed.
#[test]
fn distance_fields_come_from_meshes() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = String::new();
    for corner in 0..8 {
        let x = |k: usize| if corner >> k & 1 == 1 { 1.0 } else { -1.0 };
        mesh.push_str(&format!("v {} {} {}\n", x(0), x(1), x(2)));
    }
    for face in ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"] {
        mesh.push_str(&format!("f {face}\n"));
    }
    std::fs::write(dir.path().join("cube.obj"), &mesh).unwrap();
    std::fs::write(dir.path().join("open.obj"), mesh.replacen("f 1 3 4 2\n", "", 1)).unwrap();
    let scene = |field: &str| {
        let text = format!(
            "(gravity: (0, 0, -10), run: (duration: 0.5, step: 0.01),
              nodes: [Bodies(name: \"ball\", bodies: [(position: (0.1, 0.2, 0.75), shape: Sphere(0.2), mass: 3)])],
              colliders: [Bodies(node: \"ball\"), Fixed(name: \"block\", shape: DistanceField({field}))])"
        );
        SceneFile::from_text(&dir.path().join("a.ron"), &text, Format::Ron)?.build(&Settings::default())
    };
    let built = scene("file: \"cube.obj\", scale: 0.5, spacing: 0.05").unwrap_or_else(|e| panic!("{e}"));
    let outcome = Runner::new(built).unwrap().run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let at = &outcome.summary.state["ball"].positions[0];
    assert!((at[2] - 0.7).abs() < 1e-6, "{at:?}");
    write_results(dir.path(), &outcome).unwrap();
    let page = std::fs::read_to_string(dir.path().join("play.html")).unwrap();
    assert_eq!(page.matches("\"kind\":\"mesh\"").count(), 1);
    for (field, message) in [
        ("file: \"open.obj\", spacing: 0.1", "must have two triangles"),
        ("file: \"cubes.obj\", spacing: 0.1", "cubes.obj"),
        ("file: \"cube.obj\", spacing: 1e-4", "more than"),
        ("file: \"cube.obj\"", "missing key `spacing`"),
        (
            "file: \"cube.obj\", from: (0, 0, 0), spacing: 0.1",
            "needs either `file`",
        ),
    ] {
        let error = scene(field).unwrap_err().to_string();
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

#[test]
fn mistakes_are_named_and_pointed_at() {
    let contacts = CONTACT_MISTAKES.map(|mistake| (CONTACTS, mistake));
    let mistakes = MISTAKES.map(|mistake| (WORDS, mistake));
    for (text, (from, to, message, help)) in mistakes.into_iter().chain(contacts) {
        assert!(text.contains(from), "{from}");
        let error = match build(&text.replacen(from, to, 1)) {
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
fn json_has_the_same_words() {
    let text = r#"{
  "run": {"duration": 0.02},
  "nodes": [{"Bodies": {"name": "b", "bodies": [{"shape": {"Cylinder": {"radius": 1, "length": 2}}, "mass": 1}]}}],
  "joints": [{
    "name": "j", "kind": {"Screw": {"pitch": 0.1}}, "b": {"Body": ["b", 0]}, "axis": [1, 0, 0],
    "motors": [{"Position": {"on": "angle", "target": [[0, 0], [1, "2 * pi"]]}}]
  }]
}"#;
    let scene = SceneFile::from_text("a.json".as_ref(), text, Format::Json).unwrap_or_else(|e| panic!("{e}"));
    let built = scene
        .build(&Settings::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let outcome = Runner::new(built).unwrap().run(|_| {});
    let joint = &outcome.summary.joints["j"];
    let turn = 0.02 * std::f64::consts::TAU;
    assert!((joint.coordinates["angle"].position - turn).abs() < 1e-12);
    assert!((joint.coordinates["travel"].position - 0.002).abs() < 1e-12);
    let wrong = text.replace("\"on\": \"angle\"", "\"on\": \"angel\"");
    let scene = SceneFile::from_text("a.json".as_ref(), &wrong, Format::Json).unwrap();
    let error = scene.build(&Settings::default()).unwrap_err().to_string();
    assert!(
        error.contains("a.json:6") && error.contains("did you mean `angle`?"),
        "{error}"
    );
}

/// The Markdown files in a folder and below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(pages(&path)),
            false => found.extend(path.extension().is_some_and(|e| e == "md").then_some(path)),
        }
    }
    found.sort();
    found
}

/// The scenes in the README and in the book are built, and take a step or find their rest.
#[test]
fn the_scenes_of_the_book_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    for path in pages(&root.join("docs/book/src"))
        .into_iter()
        .chain([root.join("README.md")])
    {
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("```ron\n").skip(1) {
            let scene = &block[..block.find("```").unwrap()];
            let failed = |e: &dyn std::fmt::Display| -> ! { panic!("{}: {e}\n{scene}", path.display()) };
            let file = SceneFile::from_text(&path, scene, Format::Ron).unwrap_or_else(|e| failed(&e));
            let built = file.build(&Settings::default()).unwrap_or_else(|e| failed(&e));
            let mut runner = Runner::new(built).unwrap_or_else(|e| failed(&e));
            if let Err(error) = runner.step() {
                failed(&error);
            }
            found += 1;
        }
    }
    assert!(found >= 15, "{found}");
}

/// Everything that can collide does, is drawn and is written down.
#[test]
fn every_word_of_contact_builds_and_runs() {
    let built = build(CONTACTS).unwrap_or_else(|e| panic!("{e}"));
    let world = built.world.as_ref().unwrap();
    let names: Vec<&str> = world.colliders().iter().map(|c| c.name.as_str()).collect();
    assert!(
        names.contains(&"boxes 2") && names.contains(&"others 4") && names.contains(&"pole 1"),
        "{names:?}"
    );
    let [boxes, ground] = ["boxes 1", "ground"].map(|name| world.collider_named(name).unwrap());
    let pair = world.pair_material(boxes, ground);
    assert_eq!((pair.friction, pair.compliance), (0.3, 0.002));
    let outcome = Runner::new(built).unwrap().run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let contacts = outcome.summary.contacts.as_ref().unwrap();
    assert!(contacts.most_active > 8 && contacts.forces.contains_key("rope"));
    assert!(outcome.recording.bodies.iter().any(|b| b.name == "fist"));
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    let table = std::fs::read_to_string(dir.path().join("contacts.csv")).unwrap();
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|line| line.split(',').count() == columns));
    assert!(table.contains(",ground,boxes 0,"));
}
