//! Sizes that a scene may ask for, and places of its files.

use pliant_run::Runner;
use pliant_run::problem::{read_problem, read_problem_within};
use pliant_scene::{BuiltScene, Format, Limits, SceneError, SceneFile, Settings};
use std::fs;
use std::path::{Path, PathBuf};

/// A scene with these entries at its top level.
fn scene(entries: &str) -> SceneFile {
    let text = format!("(run: (duration: 1), {entries})");
    SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap_or_else(|e| panic!("{e}"))
}

fn limited(elements: usize) -> Settings {
    let limits = Limits {
        elements,
        ..Limits::default()
    };
    Settings {
        limits,
        ..Settings::default()
    }
}

/// The message about a scene that must not be built.
fn refused(file: &SceneFile, settings: &Settings) -> String {
    match file.build(settings) {
        Ok(_) => panic!("built, but must be refused: {:?}", file.schema()),
        Err(error) => error.to_string(),
    }
}

/// The text that the carets of a message are under.
fn under(message: &str) -> &str {
    let lines: Vec<&str> = message.lines().collect();
    let marks = lines.iter().rposition(|line| line.contains('^')).unwrap();
    let start = lines[marks].find('^').unwrap();
    &lines[marks - 1][start..start + lines[marks].matches('^').count()]
}

/// Every way to ask for many elements with few letters. None of these can be made: a count that is
/// not checked ahead of the work is noticed.
#[test]
fn counts_are_checked_before_the_work() {
    let solid = |shape: &str| {
        format!(
            "Solid(name: \"s\", shape: {shape}, material: Linear(young: 1e6, poisson: 0.3), density: 1000)"
        )
    };
    let repeated = solid("Box(size: (1, 1, 1), cells: (10, 10, 10))");
    let repeated = repeated.replace("density", "repeat: 1000000, density");
    let cut = solid("Box(size: (1, 1, 1), cells: (50, 50, 50))");
    let cut = cut.replace("density", "elements: Tetrahedra, density");
    let sheet = "ElasticSheet(name: \"s\", shape: Rectangle(size: (1, 1), cells: (1000000, 1000000)), \
                 material: Isotropic(young: 1e6, poisson: 0.3), thickness: 1e-3, density: 1000)";
    let rod = |points: &str| {
        format!(
            "ElasticRod(name: \"s\", {points}, section: Circle(0.01), young: 1e6, poisson: 0.3, density: 1000)"
        )
    };
    let formula = "formula: (count: 1000000, position: (\"$i\", 0, 0))";
    let nodes = [
        // The count that came out, the key, and its value.
        (solid("Box(size: (1, 1, 1), cells: (2, 1000000, 4))"), "cells", "143000015", "(2, 1000000, 4)"),
        (solid("Box(size: (1, 1, 1), cells: (1000000, 1000000, 1000000))"), "cells", "17000003000003000001", ""),
        (solid("Ball(radius: 1, cells: 100, layers: 1)"), "cells", "17030301", "100"),
        (solid("Ball(radius: 1, cells: 2, layers: 1000000)"), "layers", "408000000", "1000000"),
        (solid("Cylinder(radius: 1, length: 1, cells: 1000, layers: 1, slices: 1)"), "cells", "18004002", ""),
        (solid("Cylinder(radius: 1, length: 1, cells: 2, layers: 1000000, slices: 1)"), "layers", "136000000", ""),
        (solid("Cylinder(radius: 1, length: 1, cells: 2, layers: 1, slices: 1000000)"), "slices", "204000000", ""),
        (solid("Tube(inner_radius: 1, outer_radius: 2, length: 1, around: 1000000, layers: 1, slices: 1)"), "around", "17000000", ""),
        (solid("Tube(inner_radius: 1, outer_radius: 2, length: 1, around: 3, layers: 1000000, slices: 1)"), "layers", "51000000", ""),
        (solid("Tube(inner_radius: 1, outer_radius: 2, length: 1, around: 3, layers: 1, slices: 1000000)"), "slices", "51000000", ""),
        (repeated, "repeat", "17331000000", "1000000"),
        (cut, "cells", "1632651", "(50, 50, 50)"),
        (sheet.to_owned(), "cells", "11000002000001", "(1000000, 1000000)"),
        (sheet.replace("thickness", "elements: Quadrangles, thickness"), "cells", "5000002000001", ""),
        (rod("line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000000)"), "count", "4000000", "1000000"),
        (rod(formula), "count", "4000000", "1000000"),
        ("Cable(name: \"s\", from: (0, 0, 0), to: (1, 0, 0), links: 1000000, link_mass: 1)".into(), "links", "2000001", "1000000"),
        ("Rod(name: \"s\", from: (0, 0, 0), to: (1, 0, 0), segments: 1000000, mass: 1, width: 0.1, bending_compliance: 1)".into(), "segments", "5000000", "1000000"),
        ("Bodies(name: \"s\", bodies: [(repeat: 1000000, shape: Sphere(1), mass: 1), (repeat: 1000000, shape: Sphere(1), mass: 1)])".into(), "repeat", "2000000", "1000000"),
        (format!("Scalars(name: \"a\", values: [0], mass: 1), Particles(name: \"s\", {formula}, mass: 1)"), "count", "1000001", "1000000"),
        ("Scalars(name: \"a\", values: [0], mass: 1), Particles(name: \"s\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000000), mass: 1)".into(), "count", "1000001", ""),
    ];
    for (node, key, count, value) in nodes {
        let message = refused(&scene(&format!("nodes: [{node}]")), &Settings::default());
        let wanted =
            format!("with `{key}` of `s`, the scene has {count} elements, more than the limit of 1000000");
        assert!(message.contains(&wanted), "{wanted}: {message}");
        assert!(message.contains("`--max-elements` raises the limit"), "{message}");
        assert!(value.is_empty() || under(&message) == value, "{message}");
    }
}

#[test]
fn limits_can_be_raised_and_lowered() {
    let file = scene("nodes: [Cable(name: \"s\", from: (0, 0, 0), to: (1, 0, 0), links: 4, link_mass: 1)]");
    let message = refused(&file, &limited(8));
    assert!(
        message.contains("has 9 elements, more than the limit of 8"),
        "{message}"
    );
    let built = file.build(&limited(9)).unwrap();
    assert_eq!(built.model.dof_count(), 15);
    let line = "Particles(name: \"s\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000001), mass: 1)";
    // Without pictures, which have a limit of their own.
    let text = format!("(run: (duration: 1, record_every: 100), nodes: [{line}])");
    let many = SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap();
    assert!(refused(&many, &Settings::default()).contains("must be from 2 to 1000000"));
    let built = many.build(&limited(1_000_001)).unwrap();
    assert_eq!(built.model.dof_count(), 3_000_003);
    // A limit that no memory holds is one as well.
    let line = line.replace("1000001", "1e15");
    let endless = scene(&format!("nodes: [{line}]"));
    let message = refused(&endless, &limited(usize::MAX));
    let wanted =
        "has 1000000000000000 elements, for which the system does not grant the least of 100000000.0 GB";
    assert!(message.contains(wanted) && under(&message) == "1e15", "{message}");
    assert!(file.build(&limited(usize::MAX)).is_ok());
}

/// Nodes without elements, and elements of theirs.
#[test]
fn elements_of_empty_nodes_are_refused_by_name() {
    let bodies = "nodes: [Bodies(name: \"b\", bodies: [])]";
    let points = "nodes: [Particles(name: \"b\", positions: [], mass: 1)]";
    let cable = "nodes: [Particles(name: \"b\", positions: [], mass: 1), \
                 Cable(name: \"c\", from: (0, 0, 0), links: 2, link_mass: 1, end: Attached(\"b\", 0))]";
    for (nodes, collider, key) in [
        (
            bodies,
            "Bodies(node: \"b\", elements: [0], shape: Sphere(0.1))",
            "elements",
        ),
        (
            points,
            "Points(node: \"b\", elements: [0], radius: 0.1)",
            "elements",
        ),
        (
            points,
            "Cable(node: \"b\", segments: [(0, 1)], radius: 0.1)",
            "segments",
        ),
        (
            points,
            "Cloth(node: \"b\", triangles: [(0, 1, 2)], radius: 0.1)",
            "triangles",
        ),
    ] {
        let message = refused(
            &scene(&format!("{nodes}, colliders: [{collider}]")),
            &Settings::default(),
        );
        let wanted = format!("`{key}` of `b`: `b` has no elements");
        assert!(message.contains(&wanted) && message.contains('^'), "{message}");
    }
    let message = refused(&scene(cable), &Settings::default());
    assert!(message.contains("`b` has no elements"), "{message}");
    // Nothing refers to an element: nothing collides.
    let all = scene(&format!(
        "{bodies}, colliders: [Bodies(node: \"b\", shape: Sphere(0.1))]"
    ));
    assert!(Runner::new(all.build(&Settings::default()).unwrap()).is_ok());
}

#[test]
fn products_of_lists_are_counted() {
    let colliders = "nodes: [Bodies(name: \"b\", bodies: [(repeat: 40, shape: Sphere(1), mass: 1)])], \
                     colliders: [Bodies(node: \"b\"), Fixed(name: \"g\", shape: Plane(0, 0, 1))]";
    let ignore = format!("{colliders}, ignore: [(\"g\", \"b\"), (\"b\", \"g\"), (\"b\", \"b\")]");
    let message = refused(&scene(&ignore), &limited(1000));
    let wanted = "with those of `b` and `b`, `ignore` has 1680 pairs, more than the limit of 1000";
    assert!(
        message.contains(wanted) && message.contains("`groups`"),
        "{message}"
    );
    // Each body has a shape of its own: 40 hulls of 6 points.
    let hull = "Hull(points: [(1,0,0), (-1,0,0), (0,1,0), (0,-1,0), (0,0,1), (0,0,-1)])";
    let shape = format!("Bodies(node: \"b\", shape: {hull})");
    let file = scene(&colliders.replace("Bodies(node: \"b\")", &shape));
    assert!(file.build(&limited(50)).is_ok());
    let message = refused(&file, &limited(49));
    let wanted = "with `shape` of `b`, the meshes of the scene have 246 vertices and cells, more than the limit of 245";
    assert!(message.contains(wanted), "{message}");
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// A folder of a scene that reads the mesh, with other files around.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for name in ["scenes", "scenes/meshes", "other"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        for name in ["scenes/meshes/a.obj", "other/b.obj"] {
            fs::write(folder.path(name), TRIANGLE).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn build(&self, mesh: &str, allowed: &[PathBuf]) -> Result<BuiltScene, SceneError> {
        let mesh = mesh.replace('\\', "/");
        let text =
            format!("(run: (duration: 1), nodes: [\n  Net(name: \"n\", mesh: \"{mesh}\", mass: 1),\n])");
        let settings = Settings {
            mesh_directories: allowed.to_vec(),
            ..Settings::default()
        };
        SceneFile::from_text(&self.path("scenes/s.ron"), &text, Format::Ron)?.build(&settings)
    }
}

#[test]
fn meshes_are_read_below_the_scene_unless_the_user_says_so() {
    let folder = Folder::new();
    let absolute = folder.path("scenes/meshes/a.obj");
    for inside in [
        "meshes/a.obj",
        "./meshes/../meshes/a.obj",
        "../scenes/meshes/a.obj",
        absolute.to_str().unwrap(),
    ] {
        assert!(folder.build(inside, &[]).is_ok(), "{inside}");
    }
    let absolute = folder.path("other/b.obj");
    for outside in [
        "../other/b.obj",
        "meshes/../../other/b.obj",
        absolute.to_str().unwrap(),
    ] {
        let error = folder.build(outside, &[]).unwrap_err();
        assert!(matches!(error, SceneError::Value(_)), "{error}");
        let message = error.to_string();
        let real = absolute.canonicalize().unwrap();
        let wanted = format!("is not in the folder of the scene, but at {}", real.display());
        assert!(message.contains(&wanted), "{message}");
        assert!(message.contains("help: `--allow-outside DIR`"), "{message}");
        assert!(under(&message).contains("b.obj"), "{message}");
        // What is allowed is one directory and what is below it.
        assert!(folder.build(outside, &[folder.path("scenes")]).is_err());
        assert!(
            folder
                .build(outside, &[folder.path("nothing"), folder.path("other")])
                .is_ok()
        );
        assert!(folder.build(outside, &[folder.path("scenes/..")]).is_ok());
    }
    // A file that is not there is missing inside, and none of the scene's business outside.
    let missing = folder.build("meshes/no/c.obj", &[]).unwrap_err();
    assert!(matches!(missing, SceneError::Mesh { .. }), "{missing}");
    let missing = folder.build("../other/no/c.obj", &[]).unwrap_err().to_string();
    assert!(missing.contains("is not in the folder of the scene"), "{missing}");
    let missing = folder
        .build("../other/no/c.obj", &[folder.path("other")])
        .unwrap_err();
    assert!(matches!(missing, SceneError::Mesh { .. }), "{missing}");
}

#[cfg(unix)]
#[test]
fn links_lead_out_of_the_folder_as_paths_do() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    symlink(folder.path("other/b.obj"), folder.path("scenes/link.obj")).unwrap();
    symlink(folder.path("other"), folder.path("scenes/links")).unwrap();
    symlink("meshes/a.obj", folder.path("scenes/inside.obj")).unwrap();
    // A mesh of several files, of which one is elsewhere.
    fs::write(folder.path("scenes/t.node"), "3 3\n0 0 0 0\n1 1 0 0\n2 0 1 0\n").unwrap();
    fs::write(folder.path("scenes/t.ele"), "0 4\n").unwrap();
    fs::write(folder.path("other/t.face"), "1 0\n0 0 1 2\n").unwrap();
    assert!(folder.build("inside.obj", &[]).is_ok());
    assert!(folder.build("t.node", &[]).is_ok());
    symlink(folder.path("other/t.face"), folder.path("scenes/t.face")).unwrap();
    for outside in ["link.obj", "links/b.obj", "t.ele"] {
        let message = folder.build(outside, &[]).unwrap_err().to_string();
        assert!(message.contains("is not in the folder of the scene"), "{message}");
        assert!(
            folder.build(outside, &[folder.path("other")]).is_ok(),
            "{outside}"
        );
    }
}

#[test]
fn every_mesh_of_a_scene_is_looked_at() {
    let folder = Folder::new();
    for part in [
        "nodes: [Mesh(name: \"n\", mesh: \"../other/b.obj\", mass: 1)]",
        "nodes: [Bodies(name: \"n\", bodies: [(shape: Surface(file: \"../other/b.obj\"), mass: 1)])]",
        "nodes: [Bodies(name: \"n\", bodies: [(shape: Hull(file: \"../other/b.obj\"), mass: 1)])]",
        "nodes: [Solid(name: \"n\", shape: File(file: \"../other/b.obj\"), material: Linear(young: 1, poisson: 0), density: 1)]",
        "nodes: [ElasticSheet(name: \"n\", shape: File(file: \"../other/b.obj\"), material: Isotropic(young: 1, poisson: 0), thickness: 1, density: 1)]",
        "nodes: [], colliders: [Fixed(name: \"n\", shape: Sheet(file: \"../other/b.obj\"))]",
        "nodes: [], colliders: [Fixed(name: \"n\", shape: Compound([(shape: Hull(file: \"../other/b.obj\"))]))]",
    ] {
        let text = format!("(run: (duration: 1), {part})");
        let file = SceneFile::from_text(&folder.path("scenes/s.ron"), &text, Format::Ron).unwrap();
        let message = refused(&file, &Settings::default());
        assert!(message.contains("is not in the folder of the scene"), "{message}");
    }
}

#[test]
fn mesh_files_have_the_size_that_the_settings_allow() {
    let folder = Folder::new();
    let text = "(run: (duration: 1), nodes: [Net(name: \"n\", mesh: \"meshes/a.obj\", mass: 1)])";
    let file = SceneFile::from_text(&folder.path("scenes/s.ron"), text, Format::Ron).unwrap();
    let limits = |mesh_bytes| Settings {
        limits: Limits {
            mesh_bytes,
            ..Limits::default()
        },
        ..Settings::default()
    };
    assert!(file.build(&limits(TRIANGLE.len() as u64)).is_ok());
    let message = refused(&file, &limits(20));
    assert!(
        message.contains("a.obj: it has 32 bytes, more than the limit of 20"),
        "{message}"
    );
    assert_eq!(under(&message), "\"meshes/a.obj\"");
}

/// Paths in a directory that are no regular files, under a name.
fn odd_files(dir: &Path, name: &str) -> Vec<(PathBuf, &'static str)> {
    let directory = dir.join(name);
    fs::create_dir(&directory).unwrap();
    let mut out = vec![(directory, "it is a directory, not a file")];
    if cfg!(unix) {
        let pipe = dir.join(format!("pipe {name}"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        out.push((pipe, "it is a pipe, a device or a socket, not a regular file"));
    }
    out
}

#[test]
fn scenes_and_problems_are_regular_files_of_a_bounded_size() {
    let dir = tempfile::tempdir().unwrap();
    for (path, wanted) in odd_files(dir.path(), "a.ron") {
        let error = SceneFile::load(&path).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("a.ron"), "{error}");
    }
    for (path, wanted) in odd_files(dir.path(), "a.json") {
        let error = read_problem(&path).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("a.json"), "{error}");
    }
    // A matrix beside a problem.
    let problem = "{\"format\": \"pliant-problem\", \"version\": 1, \"kind\": \"kkt\", \"c\": [0], \"b\": [], \
                   \"W\": {\"file\": \"a.json\"}}";
    let path = dir.path().join("p.json");
    fs::write(&path, problem).unwrap();
    let error = read_problem(&path).unwrap_err().to_string();
    assert!(error.contains("it is a directory, not a file"), "{error}");
    let size = problem.len() as u64;
    let error = read_problem_within(&path, size - 1).unwrap_err().to_string();
    assert!(
        error.contains(&format!("it has {size} bytes, more than the limit of")),
        "{error}"
    );
    let path = dir.path().join("s.ron");
    fs::write(&path, "(run: (duration: 1), nodes: [])").unwrap();
    assert!(SceneFile::load_within(&path, 31).is_ok());
    let error = SceneFile::load_within(&path, 30).unwrap_err().to_string();
    assert!(
        error.contains("it has 31 bytes, more than the limit of 30"),
        "{error}"
    );
}

/// Each number of a list takes a hundred bytes while the list is read.
#[test]
fn scenes_of_too_many_numbers_are_refused_before_they_are_read() {
    let text = |numbers: usize| {
        let list = "1,".repeat(numbers);
        format!("(run: (duration: 1), nodes: [Scalars(name: \"s\", mass: 1, values: [{list}])])")
    };
    let read = |text: &str| SceneFile::from_text("a.ron".as_ref(), text, Format::Ron);
    assert!(read(&text(1000)).is_ok());
    let error = read(&text(8_000_001)).unwrap_err().to_string();
    let wanted = "error: the scene has more than 16000000 words, numbers and marks";
    assert!(
        error.starts_with(wanted) && error.contains("mesh files"),
        "{error}"
    );
}

/// An equilibrium has two pictures, however many steps a motion of the same duration would take.
#[test]
fn pictures_of_an_equilibrium_are_not_those_of_steps() {
    let of = |statics: &str| {
        let text = format!(
            "(run: (duration: 1, step: 1e-6, record_every: 1 {statics}), nodes: [
                Particles(name: \"s\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000), mass: 1)])"
        );
        SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap()
    };
    assert!(of(", statics: ()").build(&Settings::default()).is_ok());
    let message = refused(&of(""), &Settings::default());
    assert!(message.contains("the pictures of the whole run"), "{message}");
}

#[test]
fn pictures_of_a_path_are_counted() {
    let of = |points: &str| {
        let text = format!(
            "(gravity: (0, 0, -1), run: (duration: 1, statics: (gravity: true{points})), nodes: [
                Particles(name: \"s\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 1000), mass: 1)])"
        );
        SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap()
    };
    assert!(of("").build(&Settings::default()).is_ok());
    assert!(of(", points: 20000").build(&Settings::default()).is_ok());
    let message = refused(&of(", points: 100000"), &Settings::default());
    assert!(
        message.contains("the pictures of the whole run would take 4.8 GB"),
        "{message}"
    );
    assert_eq!(under(&message), "100000");
}
