//! The corpus of every target, and the same mutations of it every time.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

use pliant_fuzz_targets::mutate::{Random, mutate};
use pliant_fuzz_targets::{TARGETS, Target};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Mutations of every target; `PLIANT_MUTATIONS` sets another number.
const MUTATIONS: usize = 600;
/// Larger files are replayed, but not mutated: they say little more and take longer.
const LARGEST_MUTATED: usize = 20_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: Option<&str>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.is_file() && extension.is_none_or(|wanted| path.extension().is_some_and(|e| e == wanted))
    });
    files.sort();
    files
}

fn inputs(target: &Target) -> Vec<Vec<u8>> {
    let mut paths = files(&root().join("fuzz/corpus").join(target.name), None);
    for (folder, extension) in target.seeds {
        paths.extend(files(&root().join(folder), Some(extension)));
    }
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn replay(name: &str) {
    let target = TARGETS.iter().find(|t| t.name == name).expect("a target");
    let inputs = inputs(target);
    assert!(!inputs.is_empty(), "{name} has no corpus");
    for input in &inputs {
        (target.run)(input);
    }
    let small: Vec<&Vec<u8>> = inputs.iter().filter(|i| i.len() <= LARGEST_MUTATED).collect();
    let mutations = std::env::var("PLIANT_MUTATIONS").map_or(MUTATIONS, |n| n.parse().expect("a number"));
    let mut random = Random(0);
    for _ in 0..mutations {
        let mut bytes = small[random.below(small.len())].clone();
        mutate(&mut bytes, small[random.below(small.len())], &mut random);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let caught = std::panic::catch_unwind(|| (target.run)(&bytes));
        assert!(caught.is_ok(), "{name} panics at {} bytes: {text:?}", bytes.len());
    }
}

/// A test for each target, so that they run beside each other.
macro_rules! replays {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*
        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
    };
}

replays!(
    checkpoint,
    expression,
    import_mjcf,
    import_osim,
    import_scn,
    import_urdf,
    manifest,
    markers,
    matrix_market,
    mesh_gts,
    mesh_inp,
    mesh_msh,
    mesh_obj,
    mesh_off,
    mesh_ply,
    mesh_stl,
    mesh_tetgen,
    mesh_vtk,
    mesh_vtu,
    problem,
    scene_json,
    scene_ron,
    sweep_axis,
    sweep_list,
    sweep_manifest,
);

/// Every target is replayed here, has a binary for libFuzzer, and every reader of meshes is one.
#[test]
fn nothing_is_left_out() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, REPLAYED.iter().copied().collect());
    let stems = |folder: &str, extension| -> BTreeSet<String> {
        let files = files(&root().join(folder), extension);
        let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        files.iter().map(stem).collect()
    };
    let binaries = stems("fuzz/fuzz_targets", Some("rs"));
    assert_eq!(binaries, names.iter().map(|name| (*name).to_owned()).collect());
    for dictionary in stems("fuzz/dictionaries", Some("dict")) {
        assert!(
            names.contains(dictionary.as_str()),
            "{dictionary} is of no target"
        );
        let path = root().join(format!("fuzz/dictionaries/{dictionary}.dict"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            // libFuzzer knows few escapes.
            let left = line.replace(r"\\", "").replace(r#"\""#, "").replace(r"\x0A", "");
            let word = left.strip_prefix('"').and_then(|left| left.strip_suffix('"'));
            assert!(
                word.is_some_and(|word| !word.contains(['"', '\\'])),
                "{dictionary}: {line}"
            );
        }
    }
    for extension in pliant_mesh_io::MESH_EXTENSIONS {
        let name = match extension {
            "node" | "ele" | "face" => "mesh_tetgen".to_owned(),
            "vtp" => "mesh_vtu".to_owned(),
            other => format!("mesh_{other}"),
        };
        assert!(names.contains(name.as_str()), "{name}");
    }
}
