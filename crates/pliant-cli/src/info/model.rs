//! Facts about scenes, and about files that become scenes.

use super::{Complaint, add_box};
use crate::arguments::{Info, Scene, Threads};
use crate::check::{describe, describe_gravity};
use crate::page::Page;
use crate::table::number;
use pliant::model::{Mass, Model, NodeKind, Space, State};
use pliant::solvers::eigen::Spectrum;
use pliant_import::{Options, import_file};
use pliant_run::{StepSpectrum, step_spectrum};
use pliant_scene::{BuiltScene, Format, Reading, SceneFile, Settings};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn of_scene(arguments: &Info, page: &mut Page) -> Result<(), Complaint> {
    let scene = Scene {
        path: arguments.path.clone(),
        set: arguments.set.clone(),
        bounds: arguments.bounds.clone(),
    };
    let built = scene
        .load()
        .and_then(|file| file.build(&scene.settings(None, Threads::default())));
    let built = built.map_err(|e| e.to_string())?;
    add(&built, page)?;
    if arguments.spectrum {
        let found = step_spectrum(built).map_err(|e| e.to_string())?;
        add_spectrum(&found, page);
    }
    Ok(())
}

/// Adds the condition of the matrix of the first step.
fn add_spectrum(found: &StepSpectrum, page: &mut Page) {
    let Spectrum {
        positive,
        negative,
        zero,
        lost,
        ..
    } = found.scaled;
    let mut zeros = String::new();
    if zero > 0 {
        zeros += &format!(", {zero} zero (redundant rows)");
    }
    if lost > 0 {
        zeros += &format!(", {lost} or more of unknowns zero to rounding");
    }
    let held = found.unknowns + found.rows - positive - negative - zero - lost;
    page.add(
        "matrix",
        format!(
            "{} unknowns and {} rows: {positive} eigenvalues above zero, {negative} below{zeros}; {held} held",
            found.unknowns, found.rows
        ),
        json!({"unknowns": found.unknowns, "rows": found.rows, "positive": positive, "negative": negative,
            "zero": zero, "lost": lost, "held": held}),
    );
    let scaled = found.scaled.condition();
    let words = |spectrum: &Spectrum| {
        let at_least = if spectrum.lost > 0 { "at least " } else { "" };
        format!("{at_least}{:.1e}", spectrum.condition())
    };
    let plain = match &found.plain {
        Ok(plain) => format!("{} in SI units", words(plain)),
        Err(error) => format!("not found in SI units: {error}"),
    };
    page.add(
        "condition",
        format!("{} as solvers see it, {plain}", words(&found.scaled)),
        json!({"scaled": scaled, "si": found.plain.as_ref().ok().map(Spectrum::condition)}),
    );
    let extremes = [&found.scaled.weakest, &found.scaled.strongest];
    for ((name, extreme), unknown) in ["weakest", "strongest"]
        .into_iter()
        .zip(extremes)
        .zip(&found.directions)
    {
        if let (Some(extreme), Some(unknown)) = (extreme, unknown) {
            page.add(
                name,
                format!(
                    "eigenvalue {:.1e}, {:.0} % of it {unknown}",
                    extreme.value,
                    100.0 * extreme.share
                ),
                json!({"eigenvalue": extreme.value, "error": extreme.error, "share": extreme.share,
                    "unknown": unknown}),
            );
        }
    }
}

/// Imports a file, and describes the scene that it becomes.
pub(super) fn of_import(path: &Path, page: &mut Page) -> Result<(), Complaint> {
    let options = Options {
        scene_directory: path.parent().map(Path::to_owned),
        ..Options::default()
    };
    let imported = import_file(path, &options).map_err(|e| e.to_string())?;
    page.say("file", path.display().to_string());
    let remarks: Vec<String> = imported.remarks.iter().map(ToString::to_string).collect();
    let words = format!(
        "{} parts are not taken, or in another way: `pliant import` says which",
        remarks.len()
    );
    page.add("remarks", words, json!(remarks));
    let reading = Reading {
        directories: imported.mesh_directories.clone(),
        ..Reading::default()
    };
    let settings = Settings {
        mesh_directories: imported.mesh_directories,
        ..Settings::default()
    };
    let scene = SceneFile::from_text_with(
        &path.with_extension("ron"),
        &imported.scene,
        Format::Ron,
        &reading,
    );
    let built = scene.and_then(|scene| scene.build(&settings));
    add(&built.map_err(|e| e.to_string())?, page)
}

/// Counts of words, in order.
fn counted(page: &mut Page, name: &'static str, kinds: impl Iterator<Item = String>) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    let all: usize = counts.values().sum();
    if all > 0 {
        let words: Vec<String> = counts
            .iter()
            .map(|(kind, count)| format!("{count} x {kind}"))
            .collect();
        let values: Map<String, Value> = counts
            .into_iter()
            .map(|(kind, count)| (kind, json!(count)))
            .collect();
        page.add(
            name,
            format!("{all}: {}", words.join(", ")),
            Value::Object(values),
        );
    }
}

fn add(built: &BuiltScene, page: &mut Page) -> Result<(), Complaint> {
    describe(built, page);
    let model = &built.model;
    let independent = || {
        model
            .nodes()
            .iter()
            .filter(|n| matches!(n.kind, NodeKind::Independent { .. }))
    };
    let elements = |space: Space| independent().filter(|n| n.space == space).map(|n| n.count).sum();
    page.count("bodies", elements(Space::Rigid3));
    let amplitudes: usize = independent().filter(|n| n.is_amplitudes).map(|n| n.count).sum();
    page.count("points", elements(Space::Real(3)) - amplitudes);
    page.count("scalars", elements(Space::Real(1)));
    page.add("nodes", model.nodes().len().to_string(), model.nodes().len());
    page.add("dofs", model.dof_count().to_string(), model.dof_count());
    counted(
        page,
        "joints",
        built.joints.iter().map(|(_, kind, _)| kind.name().to_owned()),
    );
    let soft = built.deformables.iter().map(|d| d.what().to_owned());
    counted(page, "deformables", soft);
    let rows = model.initial_parameters().row_count();
    page.add("rows", rows.to_string(), rows);
    page.count("constraints", model.constraints().len());
    page.count("force fields", model.force_fields().len());
    let colliders = built.world.as_ref().map_or(0, |world| world.colliders().len());
    page.count("colliders", colliders);
    page.count("probes", built.observables.columns.len());
    page.count("sensors", built.sensors.len());
    page.count("controllers", built.controllers.len());
    page.count("actuators", built.actuators.len());
    let mass = total_mass(model);
    page.add("mass", format!("{} kg", number(mass)), mass);
    let gravity = model.initial_parameters().gravity();
    page.add("gravity", describe_gravity(gravity), gravity.to_vec());
    let state = model.initial_state().map_err(|e| format!("error: {e}"))?;
    add_box(
        places(model, &state).iter(),
        "m, about points and centres of bodies",
        page,
    );
    let meshes: Vec<&str> = built.mesh_files.iter().map(|file| file.name.as_str()).collect();
    if !meshes.is_empty() {
        page.add("meshes", meshes.join(", "), json!(meshes));
    }
    Ok(())
}

/// Mass of all that moves in space (kg).
fn total_mass(model: &Model) -> f64 {
    let mut sum = 0.0;
    for entry in model.masses() {
        let node = model.node(entry.node);
        let count = node.count as f64;
        sum += match (&entry.component, node.space) {
            (Mass::Rigid(list), _) => match &list[..] {
                [one] => one.mass * count,
                list => list.iter().map(|rigid| rigid.mass).sum(),
            },
            (Mass::Uniform(mass), Space::Real(3)) => mass * count,
            (Mass::PerElement(list), Space::Real(3)) => list.iter().sum(),
            (Mass::Coupled(list), Space::Real(3)) => list.iter().flat_map(|m| &m.matrix).sum(),
            _ => 0.0,
        };
    }
    sum
}

/// Places of all points and centres of bodies (m).
fn places(model: &Model, state: &State) -> Vec<[f64; 3]> {
    let nodes = model.nodes().iter();
    let in_space = nodes.filter(|node| node.is_placed());
    let of = |node: &pliant::model::Node| {
        let size = node.space.position_size();
        let all = state.positions[node.position_range()].chunks_exact(size);
        all.map(|x| [x[0], x[1], x[2]]).collect::<Vec<_>>()
    };
    in_space.flat_map(of).collect()
}
