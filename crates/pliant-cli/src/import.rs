//! `pliant import`.

use crate::arguments::Import;
use crate::{BAD_SCENE, NOT_WRITTEN, complain, print, write_whole};
use pliant_import::{Imported, Options, import_file};
use pliant_run::{Runner, Sizes};
use pliant_scene::{Format, SceneFile, Settings};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn import(arguments: &Import) -> u8 {
    let output = output(arguments);
    if output.extension().is_none_or(|e| e != "ron") {
        complain(&format!(
            "error: {} is not a scene by its name\n = help: it ends in `.ron`",
            output.display()
        ));
        return BAD_SCENE;
    }
    if output.exists() && !arguments.force {
        complain(&format!(
            "error: {} is there already\n = help: `--force` writes over it, `-o` takes another name",
            output.display()
        ));
        return NOT_WRITTEN;
    }
    let options = Options {
        packages: arguments.package.clone(),
        floating: arguments.floating,
        position: arguments.at.unwrap_or_default(),
        self_collision: arguments.self_collision,
        ground: arguments.ground,
        start: arguments.start.clone(),
        scene_directory: output.parent().map(Path::to_owned),
    };
    let imported = match import_file(&arguments.path, &options) {
        Ok(imported) => imported,
        Err(error) => {
            complain(&error.to_string());
            return BAD_SCENE;
        }
    };
    if let Err(error) = write_whole(&output, &imported.scene) {
        complain(&format!("error: cannot write {}: {error}", output.display()));
        return NOT_WRITTEN;
    }
    if !arguments.quiet {
        print(&report(&output, &imported));
    }
    try_out(&output, &imported, arguments.quiet)
}

fn output(arguments: &Import) -> PathBuf {
    match &arguments.output {
        Some(path) => path.clone(),
        None => PathBuf::from(arguments.path.file_name().unwrap_or_default()).with_extension("ron"),
    }
}

fn report(output: &Path, imported: &Imported) -> String {
    let mut out = String::new();
    for remark in &imported.remarks {
        let _ = writeln!(out, "remark: {remark}");
    }
    let _ = writeln!(out, "written: {}", output.display());
    let outside: Vec<String> = imported
        .mesh_directories
        .iter()
        .map(|d| format!(" --allow-outside {}", quoted(&d.display().to_string())))
        .collect();
    let _ = writeln!(
        out,
        "run it:  pliant run {}{}",
        quoted(&output.display().to_string()),
        outside.concat()
    );
    out
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Reads and builds the scene that was written, as a run would.
fn try_out(output: &Path, imported: &Imported, quiet: bool) -> u8 {
    let settings = Settings {
        mesh_directories: imported.mesh_directories.clone(),
        ..Settings::default()
    };
    let built =
        SceneFile::from_text(output, &imported.scene, Format::Ron).and_then(|scene| scene.build(&settings));
    match built.and_then(Runner::new) {
        Ok(runner) => {
            runner.warnings().iter().for_each(|w| complain(&w.to_string()));
            let Sizes {
                dofs, fixed, rows, ..
            } = Sizes::of(runner.simulation());
            if !quiet {
                print(&format!("sizes:   {dofs} dofs, {fixed} fixed, {rows} rows\n"));
            }
            0
        }
        Err(error) => {
            complain(&format!(
                "{error}\nthe scene was written, but cannot be run as it is"
            ));
            BAD_SCENE
        }
    }
}
