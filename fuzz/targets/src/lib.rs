//! Every reader of Pliant as a function of bytes: whatever the bytes, it returns.
//!
//! A target panics where a promise of its reader is broken: that of the type that it returns, or
//! that of its errors. `cargo xtask fuzz` hands them to libFuzzer; the test of this crate replays
//! `fuzz/corpus/` and a fixed number of mutations of it ([`mutate`]).

pub mod mutate;

use std::cell::RefCell;
use std::path::{Component, Path};

use pliant::{Checkpoint, WorkLimits};
use pliant_lab::exchange::{Layout, Record, read_matrix_market, write_matrix_market};
use pliant_mesh_io::{
    Mesh, MeshError, TetgenFiles, parse_abaqus, parse_gts, parse_msh, parse_obj, parse_off, parse_ply,
    parse_stl, parse_tetgen, parse_vtk, parse_vtk_xml,
};
use pliant_output::directory::{Manifest, ResultDirectory, RunInfo};
use pliant_run::Runner;
use pliant_run::inverse_kinematics::MarkerFile;
use pliant_scene::{Format, SceneError, SceneFile, Settings};
use pliant_sweep::axis::Axis;
use pliant_sweep::manifest::Manifest as SweepManifest;

/// A target: its name, which is that of its folder of the corpus, and its function.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name.
    pub name: &'static str,
    /// Function that is handed the bytes.
    pub run: fn(&[u8]),
    /// Further folders with files to begin from, and their extension, from the workspace's root.
    pub seeds: &'static [(&'static str, &'static str)],
}

/// All targets.
pub const TARGETS: [Target; 25] = [
    plain("checkpoint", checkpoint),
    plain("expression", expression),
    Target {
        seeds: &[("crates/pliant-import/tests/models", "xml")],
        ..plain("import_mjcf", import_mjcf)
    },
    Target {
        seeds: &[("crates/pliant-import/tests/models", "scn")],
        ..plain("import_scn", import_scn)
    },
    Target {
        seeds: &[("crates/pliant-import/tests/models", "osim")],
        ..plain("import_osim", import_osim)
    },
    Target {
        seeds: &[("crates/pliant-import/tests/models", "urdf")],
        ..plain("import_urdf", import_urdf)
    },
    plain("manifest", manifest),
    plain("markers", markers),
    plain("matrix_market", matrix_market),
    Target {
        seeds: &[("scenes/meshes", "inp")],
        ..plain("mesh_inp", mesh_inp)
    },
    plain("mesh_gts", mesh_gts),
    plain("mesh_msh", mesh_msh),
    Target {
        seeds: &[("scenes/meshes", "obj")],
        ..plain("mesh_obj", mesh_obj)
    },
    plain("mesh_off", mesh_off),
    Target {
        seeds: &[("scenes/meshes", "ply")],
        ..plain("mesh_ply", mesh_ply)
    },
    plain("mesh_stl", mesh_stl),
    plain("mesh_tetgen", mesh_tetgen),
    plain("mesh_vtk", mesh_vtk),
    plain("mesh_vtu", mesh_vtu),
    Target {
        seeds: &[("crates/pliant-lab/tests/corpus", "json")],
        ..plain("problem", problem)
    },
    Target {
        seeds: &[("crates/pliant-run/tests/it/replays", "json")],
        ..plain("scene_json", scene_json)
    },
    Target {
        seeds: &[
            ("scenes", "ron"),
            ("crates/pliant-run/tests/it", "ron"),
            ("crates/pliant-run/tests/it/words", "ron"),
        ],
        ..plain("scene_ron", scene_ron)
    },
    plain("sweep_axis", sweep_axis),
    plain("sweep_list", sweep_list),
    plain("sweep_manifest", sweep_manifest),
];

const fn plain(name: &'static str, run: fn(&[u8])) -> Target {
    Target {
        name,
        run,
        seeds: &[],
    }
}

/// A line between the parts of an input of several files.
pub const PARTED: &str = "====\n";

/// More coordinates than this are not simulated: reading is what is tried.
const MOST_COORDINATES: usize = 300;
/// More work than this in a step is an error: bounds of users are for seconds of useful work, while
/// an input that takes seconds here is a finding.
const LITTLE_WORK: WorkLimits = WorkLimits {
    contact_operations: 50_000_000,
    correction_operations: 20_000_000,
    contact_tests: 1_000_000,
    factorisations: 200,
};
/// Bytes of the longest scene that is read.
const LONGEST_INPUT: usize = 1 << 16;

/// A checkpoint of a small scene in which the input changes bytes, three of it for each: the place,
/// and the new value. Whatever is not refused goes on for two steps.
pub fn checkpoint(data: &[u8]) {
    const SCENE: &str = include_str!("../../../crates/pliant-run/tests/it/replays/sleepers.ron");
    const STEP: f64 = 0.01;
    thread_local! {
        static START: RefCell<Option<(Runner, Vec<u8>)>> = const { RefCell::new(None) };
    }
    assert!(
        Checkpoint::from_bytes(data).is_err(),
        "a short input is no checkpoint"
    );
    START.with_borrow_mut(|start| {
        let (runner, bytes) = start.get_or_insert_with(|| {
            let scene = SceneFile::from_text("sleepers.ron".as_ref(), SCENE, Format::Ron);
            let built = scene.and_then(|scene| scene.build(&Settings::default()));
            let mut runner = built.and_then(Runner::new).expect("the scene is good");
            for _ in 0..5 {
                runner.step().expect("the scene runs");
            }
            let bytes = runner.simulation().checkpoint().to_bytes();
            (runner, bytes.expect("a checkpoint can be written"))
        });
        let line = bytes.iter().position(|b| *b == b'\n').expect("a first line");
        // Behind the line are the length of the value and its checksum.
        let value = line + 1 + 12;
        let mut changed = bytes.clone();
        let places = changed.len() - value;
        for [high, low, byte] in data.as_chunks::<3>().0 {
            let place = usize::from(u16::from_be_bytes([*high, *low]));
            changed[value + place % places] = *byte;
        }
        let checksum = crc32fast::hash(&changed[value..]).to_le_bytes();
        changed[value - 4..value].copy_from_slice(&checksum);
        let Ok(read) = Checkpoint::from_bytes(&changed) else {
            return;
        };
        let simulation = runner.simulation_mut();
        if simulation.restore(&read).is_ok() {
            for _ in 0..2 {
                if simulation.step(STEP).is_err() {
                    break;
                }
            }
        }
    });
}

/// A robot in URDF: read, and the scene that comes of it is one.
pub fn import_urdf(data: &[u8]) {
    import(pliant_import::Format::Urdf, data);
}

/// A model in MJCF: read, and the scene that comes of it is one.
pub fn import_mjcf(data: &[u8]) {
    import(pliant_import::Format::Mjcf, data);
}

/// A scene of SOFA: read, and the scene that comes of it is one.
pub fn import_scn(data: &[u8]) {
    import(pliant_import::Format::Scn, data);
}

/// An OpenSim model: read, and the scene that comes of it is one.
pub fn import_osim(data: &[u8]) {
    import(pliant_import::Format::OpenSim, data);
}

fn import(format: pliant_import::Format, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let options = pliant_import::Options {
        floating: data.len().is_multiple_of(2),
        self_collision: true,
        ground: true,
        ..pliant_import::Options::default()
    };
    match pliant_import::import_text(format, "input", &text, &options) {
        Ok(imported) => {
            let scene = SceneFile::from_text("input.ron".as_ref(), &imported.scene, Format::Ron);
            // What it says may still be out of range; how it is written may not.
            scene.unwrap_or_else(|error| panic!("{error}\n{}", imported.scene));
        }
        Err(error) => assert!(error.to_string().starts_with("error: "), "{error}"),
    }
}

/// A scene in RON: read, built, and two steps taken if it is small.
pub fn scene_ron(data: &[u8]) {
    scene(&String::from_utf8_lossy(data), Format::Ron);
}

/// A scene in JSON, likewise.
pub fn scene_json(data: &[u8]) {
    scene(&String::from_utf8_lossy(data), Format::Json);
}

fn scene(text: &str, format: Format) {
    if text.len() > LONGEST_INPUT {
        return;
    }
    // Files that the scene names are looked for beside it: the repository's.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/fuzz");
    let built = SceneFile::from_text(&path, text, format).and_then(|s| s.build(&Settings::default()));
    let runner = built.and_then(|mut built| {
        built.options.tuning.work = LITTLE_WORK;
        if built.model.dof_count() > MOST_COORDINATES {
            return Ok(None);
        }
        Runner::new(built).map(Some)
    });
    match runner {
        Ok(Some(mut runner)) => {
            for _ in 0..2 {
                if runner.step().is_err() {
                    break;
                }
                let state = runner.simulation().state();
                let mut numbers = state.positions.iter().chain(&state.velocities);
                assert!(
                    numbers.all(|x| x.is_finite()),
                    "a step left a number that is none"
                );
            }
        }
        Ok(None) => {}
        Err(error) => check_scene_error(&error),
    }
}

fn check_scene_error(error: &SceneError) {
    let text = error.to_string();
    assert!(text.starts_with("error: "), "{text}");
}

/// An expression: as a parameter, a number, a count, a function of time, a mapping and an energy.
pub fn expression(data: &[u8]) {
    let text = serde_json::Value::from(String::from_utf8_lossy(data)).to_string();
    for scene_text in [
        format!(r#"{{"run": {{"duration": 1}}, "parameters": {{"a": {text}}}, "nodes": []}}"#),
        format!(
            r#"{{"run": {{"duration": 1, "record_every": {text}}}, "parameters": {{"a": 2}}, "nodes": [
            {{"Particles": {{"name": "p", "formula": {{"count": 3, "position": [{text}, 0, "$i"]}}, "mass": 1}}}},
            {{"Mapped": {{"name": "d", "parents": ["p"], "mapping": {{"Distance": {{"pairs": [[0, 1]]}}}}}}}}],
            "constraints": [{{"name": "c", "on": "d", "motion": {text}}}]}}"#
        ),
        format!(
            r#"{{"run": {{"duration": 1}}, "parameters": {{"a": 2}}, "nodes": [
            {{"Scalars": {{"name": "q", "values": [0.5, 0], "mass": 1}}}},
            {{"Particles": {{"name": "p", "positions": [[1, 2, 3]], "mass": 1}}}},
            {{"Mapped": {{"name": "m", "parents": ["q", "p"], "mapping": {{"Formula": {{"values": [{text}]}}}}}}}}]}}"#
        ),
        format!(
            r#"{{"run": {{"duration": 1}}, "parameters": {{"a": 2}}, "nodes": [
            {{"Scalars": {{"name": "q", "values": [0.5, 0], "mass": 1}}}},
            {{"Particles": {{"name": "p", "positions": [[1, 2, 3]], "mass": 1}}}}],
            "potentials": [{{"name": "v", "energy": {text}}}]}}"#
        ),
    ] {
        let read = SceneFile::from_text(Path::new("expression.json"), &scene_text, Format::Json);
        if let Err(error) = read.and_then(|scene| scene.build(&Settings::default())) {
            check_scene_error(&error);
        }
    }
}

/// The promises of a mesh: indices are of vertices and elements that are there, coordinates finite.
fn mesh(read: Result<Mesh, MeshError>) {
    let mesh = match read {
        Ok(mesh) => mesh,
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && text.len() < 1000, "{text}");
            return;
        }
    };
    assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()));
    let vertices = mesh.vertices.len();
    let is_vertex = |i: &u32| (*i as usize) < vertices;
    assert!(mesh.edges.iter().flatten().all(is_vertex));
    assert!(mesh.triangles.iter().flatten().all(is_vertex));
    assert!(mesh.tetrahedra.iter().flatten().all(is_vertex));
    assert!(mesh.volumes.iter().flat_map(|c| &c.nodes).all(is_vertex));
    for group in &mesh.groups {
        assert!(mesh.group_vertices(group).iter().all(is_vertex));
        let triangles = mesh.triangles.len();
        assert!(group.triangles.iter().all(|i| (*i as usize) < triangles));
        let _ = mesh.selection(&[group]);
    }
    let _ = mesh.unique_edges();
    let _ = mesh.faces();
    let _ = mesh.solid(1.0).defects();
}

/// A Gmsh file.
pub fn mesh_msh(data: &[u8]) {
    mesh(parse_msh(data));
}

/// A Wavefront file.
pub fn mesh_obj(data: &[u8]) {
    mesh(parse_obj(&String::from_utf8_lossy(data)));
}

/// An STL file, of text or binary.
pub fn mesh_stl(data: &[u8]) {
    mesh(parse_stl(data));
}

/// An OFF file.
pub fn mesh_off(data: &[u8]) {
    mesh(parse_off(&String::from_utf8_lossy(data)));
}

/// A GTS file.
pub fn mesh_gts(data: &[u8]) {
    mesh(parse_gts(&String::from_utf8_lossy(data)));
}

/// A PLY file.
pub fn mesh_ply(data: &[u8]) {
    mesh(parse_ply(data));
}

/// An Abaqus deck.
pub fn mesh_inp(data: &[u8]) {
    mesh(parse_abaqus(&String::from_utf8_lossy(data)));
}

/// A legacy VTK file.
pub fn mesh_vtk(data: &[u8]) {
    mesh(parse_vtk(data));
}

/// A VTK file of XML.
pub fn mesh_vtu(data: &[u8]) {
    mesh(parse_vtk_xml(data));
}

/// The files of TetGen: nodes, elements and perhaps faces, parted by [`PARTED`].
pub fn mesh_tetgen(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, PARTED);
    let [nodes, elements] = [0, 1].map(|_| parts.next().unwrap_or_default());
    let faces = parts.next();
    mesh(parse_tetgen(TetgenFiles {
        nodes,
        elements,
        faces,
    }));
}

/// A problem of `pliant solve`: its header, then its matrices, parted by [`PARTED`] and named `0`,
/// `1`, ... What is read is what is read again from what is written.
pub fn problem(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let parts: Vec<&str> = text.split(PARTED).collect();
    let load = |name: &str| {
        let part = name.parse().ok().and_then(|k: usize| parts.get(k + 1));
        part.map(|text| (*text).to_owned())
            .ok_or_else(|| "not there".to_owned())
    };
    match Record::read(parts[0], load) {
        Ok(record) => {
            let written = record
                .write(Layout::Single)
                .expect("a problem that was read is written");
            let none = |name: &str| Err(format!("no {name}"));
            let again = Record::read(&written.header, none).expect("what was written is read");
            let twice = again.write(Layout::Single).expect("and written again");
            assert!(
                twice.header == written.header,
                "a problem changes as it is read and written"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A Matrix Market text of a matrix of three rows and columns.
pub fn matrix_market(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match read_matrix_market("matrix", &text, 3, 3) {
        Ok(matrix) => {
            let written = write_matrix_market(&matrix, false);
            let again = read_matrix_market("matrix", &written, 3, 3);
            assert!(again.is_ok_and(|again| again.pattern() == matrix.pattern()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The values of an axis: as many as there are points, and all of them finite.
pub fn sweep_axis(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // A range of a million values is allowed, and slow to try again and again.
    if text.contains("space") && text.len() > 64 {
        return;
    }
    check_axis(Axis::parse("--set", &text));
}

/// Places of markers: each frame has one for each name, later than the one before.
pub fn markers(data: &[u8]) {
    let Ok(file) = MarkerFile::from_text(&String::from_utf8_lossy(data)) else {
        return;
    };
    assert!(!file.names.is_empty() && !file.frames.is_empty());
    assert!(file.frames.is_sorted_by(|a, b| a.time < b.time));
    for frame in &file.frames {
        assert_eq!(frame.places.len(), file.names.len());
        let numbers = frame.places.iter().flatten().flatten();
        assert!(numbers.into_iter().all(|x| x.is_finite()));
    }
}

/// A list of points: all lines have a value for each name.
pub fn sweep_list(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_axis(Axis::from_list("points.csv", &text, &["k", "mass"]));
}

fn check_axis(read: Result<Axis, pliant_sweep::SweepError>) {
    match read {
        Ok(axis) => {
            assert!(!axis.points.is_empty());
            let fits = |point: &Vec<f64>| point.len() == axis.names.len();
            assert!(axis.points.iter().all(fits));
            assert!(axis.points.iter().flatten().all(|value| value.is_finite()));
        }
        Err(error) => assert!(error.to_string().contains('^'), "{error}"),
    }
}

/// The manifest of a sweep: what is read is written and read again as the same, and no job has its
/// directory outside of that of the manifest.
pub fn sweep_manifest(data: &[u8]) {
    match SweepManifest::from_text("manifest.json", &String::from_utf8_lossy(data)) {
        Ok(manifest) => {
            for job in &manifest.jobs {
                let mut parts = Path::new(&job.directory).components();
                assert!(parts.all(|part| matches!(part, Component::Normal(_))));
            }
            let text = manifest.to_text().unwrap_or_default();
            let again = SweepManifest::from_text("manifest.json", &text);
            assert!(again.is_ok_and(|again| again == manifest), "{text}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The manifest of a directory of results: a run that takes the directory removes nothing outside
/// of it, and nothing in it that is no result.
pub fn manifest(data: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let results = folder.path().join("results");
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes);
    let (outside, mine) = (folder.path().join("energy.csv"), results.join("notes.txt"));
    let made = std::fs::create_dir(&results)
        .and_then(|()| write(&outside, b"mine"))
        .and_then(|()| write(&mine, b"mine"))
        .and_then(|()| write(&results.join("manifest.json"), data));
    if made.is_err() {
        return;
    }
    let run = RunInfo {
        pliant: "0",
        scene: "scene",
        status: "ok",
    };
    let cleared =
        ResultDirectory::take(&results).and_then(|mut directory| directory.clear(run, &["energy.csv"], &[]));
    match cleared {
        Ok(()) => assert!(matches!(Manifest::read(&results), Ok(Some(_)))),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    assert!(
        outside.exists() && mine.exists(),
        "a file of somebody else was removed"
    );
}
