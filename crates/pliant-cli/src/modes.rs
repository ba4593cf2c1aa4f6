//! `pliant modes`.

use crate::arguments::{Modes as Arguments, Threads};
use crate::page::Page;
use crate::run::code_of;
use crate::table::{columns, number};
use crate::{BAD_SCENE, NOT_WRITTEN, complain};
use pliant::model::{Model, State};
use pliant::{About, Buckling, BucklingOptions, LoadSign, Loads, Mode, ModeKind, ModeOptions, Modes};
use pliant_output::ExportError;
use pliant_output::player::write_player;
use pliant_output::vtk::write_vtk;
use pliant_run::Runner;
use pliant_scene::{SceneError, hint};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn modes(arguments: &Arguments) -> u8 {
    let (mut runner, loads) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(error) => {
            complain(&error.to_string());
            return BAD_SCENE;
        }
    };
    let found = match arguments.buckling {
        true => buckling(arguments, &mut runner, loads),
        false => vibration(arguments, &mut runner),
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            complain(&format!("error: {error}{}", advice(arguments, &error)));
            return code_of(&error);
        }
    };
    found.page.print(arguments.json);
    if !arguments.json {
        crate::print(&found.table);
    }
    let Some(dir) = &arguments.out else { return 0 };
    match write(dir, &runner, &found) {
        Ok(()) if !arguments.json => {
            crate::print(&format!(
                "wrote {} pages mode-*.html and their files for ParaView into {}\n",
                found.shapes.len(),
                dir.display()
            ));
            0
        }
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("error: {error}"));
            NOT_WRITTEN
        }
    }
}

/// The modes, as they are shown and drawn.
struct Found {
    page: Page,
    table: String,
    state: State,
    /// Titles and shapes.
    shapes: Vec<(String, Vec<f64>)>,
}

fn prepare(arguments: &Arguments) -> Result<(Runner, Loads), SceneError> {
    let scene = arguments.scene.load()?;
    let built = scene.build(&arguments.scene.settings(None, Threads::default()))?;
    let of_scene = built.statics.as_ref().map(pliant_scene::StaticsPlan::loads);
    let of_scene = of_scene.filter(|loads| *loads != Loads::default());
    let loads = match (&arguments.load[..], of_scene) {
        ([], Some(loads)) => loads,
        ([], None) => Loads {
            gravity: true,
            ..Loads::default()
        },
        (names, _) => named(names, &built.model)?,
    };
    Ok((Runner::new(built)?.without_recording(), loads))
}

/// The loads of these names.
fn named(names: &[String], model: &Model) -> Result<Loads, SceneError> {
    let mut loads = Loads::default();
    for name in names {
        match model.component_named(name) {
            Some(component) => loads.components.push(component),
            None if name == "gravity" => loads.gravity = true,
            None => {
                let fields = model.force_fields().iter().map(|f| f.name.as_str());
                let rows = model.constraints().iter().map(|c| c.name.as_str());
                let all = fields.chain(rows).chain(["gravity"]);
                return Err(SceneError::Setting {
                    message: format!("the scene has no load `{name}`"),
                    help: hint(name, "loads", all),
                });
            }
        }
    }
    Ok(loads)
}

/// A sentence that may help.
fn advice(arguments: &Arguments, error: &pliant::Error) -> &'static str {
    match error {
        pliant::Error::NoEquilibrium { .. } if !arguments.buckling => {
            "\n = help: `--present` takes the state of the scene as it is"
        }
        _ => "",
    }
}

fn vibration(arguments: &Arguments, runner: &mut Runner) -> Result<Found, pliant::Error> {
    let how = ModeOptions {
        count: arguments.count,
        about: match arguments.present {
            true => About::Present,
            false => About::default(),
        },
        tolerance: arguments.tolerance,
        ..ModeOptions::default()
    };
    let found = runner.simulation_mut().modes(&how)?;
    let mut page = Page::default();
    page.add(
        "modes",
        format!("the lowest {} of {}, none missed", found.modes.len(), found.all),
        of_modes(&found),
    );
    page.tell("all", found.all);
    add_work(&mut page, found.solves, found.factorisations);
    page.add("mass", format!("{} kg", number(found.mass)), found.mass);
    page.add(
        "missing force",
        format!("{:.1e} of its terms", found.unbalanced),
        found.unbalanced,
    );
    page.count("massless directions", found.massless);
    page.count("redundant rows", found.redundant_rows);
    page.count("limits and ropes held both ways", found.acting_bounded_rows);
    let mut rows = vec![
        [
            "mode", "Hz", "rad/s", "mass x", "mass y", "mass z", "error", "residual", "",
        ]
        .map(str::to_owned),
    ];
    for (k, mode) in found.modes.iter().enumerate() {
        let [x, y, z] = mode.effective_masses();
        rows.push([
            (k + 1).to_string(),
            number(mode.frequency()),
            number(mode.angular_frequency()),
            share(x, found.mass),
            share(y, found.mass),
            share(z, found.mass),
            format!("{:.0e}", mode.error),
            format!("{:.0e}", mode.residual),
            in_words(mode),
        ]);
    }
    let shapes = found.modes.into_iter().enumerate().map(|(k, mode)| {
        let title = format!("mode {}: {} Hz", k + 1, number(mode.frequency()));
        (title, mode.velocities)
    });
    Ok(Found {
        page,
        table: columns(&rows),
        shapes: shapes.collect(),
        state: found.state,
    })
}

fn add_work(page: &mut Page, solves: usize, factorisations: usize) {
    let words = format!("{solves} solves, {factorisations} factorisations");
    page.add(
        "work",
        words,
        json!({"solves": solves, "factorisations": factorisations}),
    );
}

/// A part of the mass, in per cent.
fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}

fn in_words(mode: &Mode) -> String {
    match mode.kind {
        ModeKind::Vibration => String::new(),
        ModeKind::Free => "free".to_owned(),
        ModeKind::Growth => format!("grows by e in {} s", number(mode.growth_rate().recip())),
    }
}

fn of_modes(found: &Modes) -> Value {
    let one = |mode: &Mode| {
        json!({
            "kind": match mode.kind {
                ModeKind::Vibration => "vibration",
                ModeKind::Free => "free",
                ModeKind::Growth => "growth",
            },
            "frequency": mode.frequency(),
            "angular_frequency": mode.angular_frequency(),
            "growth_rate": mode.growth_rate(),
            "eigenvalue": mode.eigenvalue,
            "participation": mode.participation,
            "effective_masses": mode.effective_masses(),
            "error": mode.error,
            "residual": mode.residual,
        })
    };
    found.modes.iter().map(one).collect()
}

fn buckling(arguments: &Arguments, runner: &mut Runner, loads: Loads) -> Result<Found, pliant::Error> {
    let how = BucklingOptions {
        loads,
        at: arguments.at,
        count: arguments.count,
        sign: match arguments.both {
            true => LoadSign::Both,
            false => LoadSign::Positive,
        },
        tolerance: arguments.tolerance,
        ..BucklingOptions::default()
    };
    let found = runner.simulation_mut().buckling(&how)?;
    let mut page = Page::default();
    let words = match (found.modes.len(), found.complete) {
        (0, _) => "none: these loads do not buckle it; `--load` names others, `--both` turns them".to_owned(),
        (n, true) => format!("{n}, which are all"),
        (n, false) => format!("the lowest {n}, none missed"),
    };
    page.add("buckling modes", words, of_buckling(&found));
    page.tell("complete", found.complete);
    add_work(&mut page, found.solves, found.factorisations);
    let mut rows = vec![["mode", "load factor", "error", "residual"].map(str::to_owned)];
    for (k, mode) in found.modes.iter().enumerate() {
        rows.push([
            (k + 1).to_string(),
            number(mode.factor),
            format!("{:.0e}", mode.error),
            format!("{:.0e}", mode.residual),
        ]);
    }
    let table = if found.modes.is_empty() {
        String::new()
    } else {
        columns(&rows)
    };
    let shapes = found.modes.into_iter().enumerate().map(|(k, mode)| {
        let title = format!("buckling mode {}: load factor {}", k + 1, number(mode.factor));
        (title, mode.displacements)
    });
    Ok(Found {
        page,
        table,
        shapes: shapes.collect(),
        state: found.state,
    })
}

fn of_buckling(found: &Buckling) -> Value {
    let modes = found.modes.iter();
    let all = modes.map(|m| json!({"factor": m.factor, "error": m.error, "residual": m.residual}));
    all.collect()
}

/// Writes a page and a directory for ParaView for each mode.
fn write(dir: &Path, runner: &Runner, found: &Found) -> Result<(), ExportError> {
    let digits = found.shapes.len().to_string().len();
    let up = runner.up();
    let mut names = Vec::new();
    for (k, (title, shape)) in found.shapes.iter().enumerate() {
        let name = format!("mode-{:0digits$}", k + 1);
        let recording = runner
            .swing(title, &found.state, shape)
            .map_err(|error| ExportError::io(dir, std::io::Error::other(error.to_string())))?;
        write_vtk(&dir.join(&name), &recording)?;
        write_player(&dir.join(format!("{name}.html")), &recording, up)?;
        names.push(name);
    }
    clear(dir, &names)
}

/// Removes the pages and directories of modes that an earlier search left and this one did not write:
/// they would be taken for modes of the scene as it is now.
fn clear(dir: &Path, written: &[String]) -> Result<(), ExportError> {
    for entry in std::fs::read_dir(dir).map_err(|e| ExportError::io(dir, e))? {
        let entry = entry.map_err(|e| ExportError::io(dir, e))?;
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else { continue };
        let (stem, is_page) = match name.strip_suffix(".html") {
            Some(stem) => (stem, true),
            None => (name, false),
        };
        let number = stem.strip_prefix("mode-").unwrap_or_default();
        let is_mode = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if !is_mode || written.iter().any(|name| name == stem) {
            continue;
        }
        let kind = entry.file_type().map_err(|e| ExportError::io(&path, e))?;
        let removed = match is_page {
            true if kind.is_file() => std::fs::remove_file(&path),
            false if kind.is_dir() => clear_swing(&path),
            _ => Ok(()),
        };
        removed.map_err(|e| ExportError::io(&path, e))?;
    }
    Ok(())
}

/// Removes the files for ParaView of a mode, and their directories where nothing else is in them.
fn clear_swing(dir: &Path) -> std::io::Result<()> {
    for (folder, endings) in [
        (dir.join("frames"), &["vtp", "vtu"][..]),
        (dir.to_owned(), &["pvd"]),
    ] {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|e| endings.iter().any(|ending| e == *ending))
            {
                std::fs::remove_file(&path)?;
            }
        }
        // It stays if files of somebody else are in it.
        let _ = std::fs::remove_dir(&folder);
    }
    Ok(())
}
