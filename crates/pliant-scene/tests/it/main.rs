//! The language of scenes: mistakes as they are drawn, what selections, included files and repeats
//! mean, parameters, units, functions out of files, densities, joints.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod broken;
mod density;
mod file_units;
mod includes;
mod json_schema;
mod parameters;
mod repeats;
mod selections;
mod solid_materials;
mod solid_muscles;
mod starts;
mod tables;
mod units;

use pliant_scene::{BuiltScene, Format, INTEGRATORS, Number, SceneError, SceneFile, Settings, ThreadChoice};

fn build_with(text: &str, settings: &Settings) -> Result<BuiltScene, SceneError> {
    SceneFile::from_text("a.ron".as_ref(), text, Format::Ron)?.build(settings)
}

fn build(text: &str) -> Result<BuiltScene, SceneError> {
    build_with(text, &Settings::default())
}

/// Each integrator of scenes has its name for settings, and another name is an error that proposes one.
#[test]
fn integrators_are_named_as_in_scenes() {
    let scene = |how: &str| {
        format!(
            "(run: (duration: 1, step: 0.1{how}), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])"
        )
    };
    let named = |name: &str| {
        let integrator = Some(name.to_owned());
        let settings = Settings {
            integrator,
            ..Settings::default()
        };
        build_with(&scene(", integrator: Bdf2"), &settings)
    };
    for (name, make) in INTEGRATORS {
        let expected = format!("{:?}", make());
        let found = |built: BuiltScene| format!("{:?}", built.options.integrator);
        assert_eq!(found(named(name).unwrap()), expected, "{name}");
        // Those with numbers are written with brackets.
        let numbers = if ["GeneralisedAlpha", "Newmark"].contains(&name) {
            "()"
        } else {
            ""
        };
        let written = build(&scene(&format!(", integrator: {name}{numbers}"))).unwrap();
        assert_eq!(found(written), expected, "{name}");
    }
    let error = named("Teta").unwrap_err().to_string();
    assert!(error.contains("did you mean `Theta`?"), "{error}");
    // The language lists these, and no others.
    let error = build(&scene(", integrator: Zzzzzzzzzzzz"))
        .unwrap_err()
        .to_string();
    let (_, listed) = error.split_once("help: ").unwrap();
    assert_eq!(listed.matches(',').count() + 1, INTEGRATORS.len(), "{error}");
    for (name, _) in INTEGRATORS {
        assert!(listed.contains(&format!("`{name}`")), "{name}: {error}");
    }
}

/// Settings that give parameters other values.
fn set(parameters: &[(&str, &str)]) -> Settings {
    let one = |(name, text): &(&str, &str)| ((*name).to_owned(), Number::Expression((*text).to_owned()));
    Settings {
        parameters: parameters.iter().map(one).collect(),
        ..Settings::default()
    }
}

/// The drawing of an error without the arrow to its file.
fn drawn(error: &SceneError) -> String {
    let text = error.to_string();
    let lines = text
        .lines()
        .filter(|line| !line.contains("-->") && !line.trim_end().ends_with('|'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Where a spring without mass holds it: the numbers of the first node.
fn positions(built: &BuiltScene, node: &str) -> Vec<f64> {
    let node = built.model.node_named(node).unwrap();
    let state = built.model.initial_state().unwrap();
    built.model.positions(&state, node).to_vec()
}

/// A scene out of a text of RON, which is right.
fn built(text: &str) -> BuiltScene {
    build(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Places of the elements of a node of points or bodies at the start.
fn places(scene: &BuiltScene, node: &str) -> Vec<[f64; 3]> {
    let id = scene
        .model
        .node_named(node)
        .unwrap_or_else(|| panic!("no node {node}"));
    let state = scene.model.initial_state().unwrap();
    let size = scene.model.node(id).space.position_size();
    let all = scene.model.positions(&state, id).chunks(size);
    all.map(|x| [x[0], x[1], x[2]]).collect()
}

/// A number that is given goes before that of the scene, and this before the default.
#[test]
fn threads_are_those_that_are_asked_for() {
    let threads = |run: &str, threads| {
        let text =
            format!("(nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)], run: ({run}))");
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let built = build_with(&text, &settings).unwrap();
        built.options.tuning.solver.threads
    };
    let (plain, three) = ("duration: 1", "duration: 1, threads: 3");
    assert_eq!(threads(plain, ThreadChoice::default()), 1);
    assert_eq!(threads(plain, ThreadChoice::SceneOr(5)), 5);
    assert_eq!(threads(three, ThreadChoice::SceneOr(5)), 3);
    assert_eq!(threads(three, ThreadChoice::Exactly(7)), 7);
}
