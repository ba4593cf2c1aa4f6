//! Tests of imports, against numbers of MuJoCo (`reference.json`, made by `reference/generate.py`),
//! equations of motion (`sofa.json`, made by `reference/sofa.py`) and what files say.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod errors;
mod flexes;
mod garbage;
mod mjcf;
mod osim;
mod pairs;
mod reference;
mod replicate;
mod rules;
mod scn;
mod tendons;
mod urdf;

use pliant_import::{Imported, Options, import_file, import_text};
use pliant_run::Runner;
use pliant_scene::{Format, SceneFile, Settings};
use std::path::{Path, PathBuf};

/// The path of a model of the tests.
fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/models")
        .join(name)
}

/// Imports a model of the tests.
fn imported(name: &str, options: &Options) -> Imported {
    import_file(&model(name), options).unwrap_or_else(|e| panic!("{e}"))
}

/// Imports the parts of an MJCF file, which begin in its second line; the error in words.
fn import_mjcf(parts: &str) -> Result<Imported, String> {
    let text = format!("<mujoco model=\"m\">\n{parts}\n</mujoco>");
    let made = import_text(pliant_import::Format::Mjcf, "m.xml", &text, &Options::default());
    made.map_err(|e| e.to_string())
}

/// A scene as it was written.
fn scene(text: &str) -> SceneFile {
    SceneFile::from_text("imported.ron".as_ref(), text, Format::Ron).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A scene, ready to run.
fn runner(text: &str) -> Runner {
    let built = scene(text).build(&Settings::default());
    built
        .and_then(Runner::new)
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Whether some remark holds a text.
fn remarked(imported: &Imported, text: &str) -> bool {
    imported.remarks.iter().any(|r| r.to_string().contains(text))
}
