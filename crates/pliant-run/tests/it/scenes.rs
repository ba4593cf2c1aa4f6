//! The scenes of the repository against numbers that other programs or formulas gave.

mod adaptive;
mod bow;
mod chains;
mod components;
mod contact;
mod everyday;
mod grippers;
mod joints;
mod meshes;
mod multibody;
mod muscles;
mod net;
mod pendulums;
mod plastic;
mod rods;
mod rubber;
mod sheets;
mod shells;
mod soft;
mod solids;
mod statics;
mod verdicts;

use pliant::Simulation;
use pliant_run::Runner;
use pliant_scene::{Format, Number, SceneFile, Settings};
use std::path::PathBuf;

/// The file of a scene.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name)
        .with_extension("ron")
}

/// A scene with some words of its text replaced; each must be there.
fn edited(name: &str, edits: &[(&str, &str)]) -> SceneFile {
    let path = path(name);
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in edits {
        assert!(text.contains(from), "{name} does not say {from}");
        text = text.replace(from, to);
    }
    SceneFile::from_text(&path, &text, Format::Ron).unwrap()
}

/// A scene ready to run, with parameters and perhaps a step of the test's own.
fn runner(scene: &SceneFile, parameters: &[(&str, f64)], step: Option<f64>) -> Runner {
    let parameters = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Number::Value(*value)))
        .collect();
    let settings = Settings {
        parameters,
        step,
        ..Settings::default()
    };
    Runner::new(scene.build(&settings).unwrap()).unwrap()
}

/// Takes all steps of a run.
fn finish(runner: &mut Runner) {
    while !runner.is_done() {
        runner.step().unwrap();
    }
}

/// Value and rate of a scalar node.
fn scalar(simulation: &Simulation, node: &str) -> (f64, f64) {
    let node = simulation.model().node_named(node).unwrap();
    (simulation.positions(node)[0], simulation.velocities(node)[0])
}

fn advance(runner: &mut Runner, steps: usize) {
    for _ in 0..steps {
        runner.step().unwrap();
    }
}

/// Positions of a node of points.
fn points(runner: &Runner, node: &str) -> Vec<[f64; 3]> {
    let simulation = runner.simulation();
    let node = simulation.model().node_named(node).unwrap();
    simulation.positions(node).as_chunks::<3>().0.to_vec()
}

/// Forces along the coordinates of a constraint or spring of that name.
fn reaction(runner: &Runner, name: &str) -> Vec<f64> {
    let simulation = runner.simulation();
    let model = simulation.problem();
    let group = model
        .row_groups()
        .iter()
        .find(|g| model.component_name(g.component) == name)
        .unwrap();
    simulation.reaction(group.component).to_vec()
}

/// The forces of a cable's links on one of its particles; positive reactions push.
fn pull(runner: &Runner, node: &str, pairs: &[(usize, usize)], at: usize) -> [f64; 3] {
    let x = points(runner, node);
    let mut force = [0.0; 3];
    for ((a, b), lambda) in pairs.iter().zip(reaction(runner, &format!("{node}.tension"))) {
        let other = match () {
            () if *a == at => *b,
            () if *b == at => *a,
            () => continue,
        };
        let d: [f64; 3] = std::array::from_fn(|k| x[at][k] - x[other][k]);
        let length = d.iter().map(|c| c * c).sum::<f64>().sqrt();
        for k in 0..3 {
            force[k] += lambda * d[k] / length;
        }
    }
    force
}

#[test]
fn every_scene_of_the_repository_builds() {
    let mut found = 0;
    let folders = ["x", "everyday/x"].map(|name| path(name).parent().unwrap().to_owned());
    for entry in folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
    {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|e| e == "ron") {
            let built = SceneFile::load(&file).and_then(|s| s.build(&Settings::default()));
            let built = built.unwrap_or_else(|e| panic!("{e}"));
            assert!(!built.title.is_empty());
            found += 1;
        }
    }
    assert!(found >= 30);
}
