//! States that runs save, and scenes that start from them.

use pliant_run::Runner;
use pliant_run::rollout::{Quantity, Rollout};
use pliant_scene::{Format, SceneFile, Settings, StateFile};
use std::path::Path;

/// A runner of a text, in a directory with a state to start from if there is one.
fn runner(text: &str, from: Option<&StateFile>) -> Runner {
    let dir = tempfile::tempdir().unwrap();
    let text = match from {
        None => text.to_owned(),
        Some(state) => {
            std::fs::write(dir.path().join("state.json"), state.to_text()).unwrap();
            assert!(text.contains("nodes: ["), "{text}");
            text.replacen("nodes: [", "start_from: \"state.json\", nodes: [", 1)
        }
    };
    let scene = SceneFile::from_text(&dir.path().join("scene.ron"), &text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap()).unwrap()
}

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    std::fs::read_to_string(path.join(name)).unwrap()
}

/// The largest difference of positions and internal variables.
fn difference(a: &Runner, b: &Runner) -> f64 {
    let numbers = |runner: &Runner| {
        let state = runner.simulation().state();
        [&state.positions[..], &state.internal].concat()
    };
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f64::max)
}

/// A run in two parts, of which the second starts from the state of the first, is the run as a
/// whole, where nothing but the state goes from step to step: no forces that change with time, and a
/// method of one step. Left are the tolerance of the solves and the multipliers of the step before,
/// which the first step of the second part begins its search at.
#[test]
fn runs_go_on_from_saved_states() {
    let wound = r#"(
    run: (duration: 2, step: 0.01),
    nodes: [Bodies(name: "wheel", bodies: [(position: (0, 0, 0), mass: 1, inertia: (1, 1, 1), angular_velocity: (0, 0, 30))])],
    joints: [(name: "axle", kind: Hinge, b: Body("wheel", 0), at: (0, 0, 0), axis: (0, 0, 1))],
    force_fields: [(name: "spring", on: "axle.angle", law: Spring(curve: Linear(2)))],
)"#;
    for (text, parts, tolerance) in [
        (wound.to_owned(), [60, 60], 1e-11),
        (shipped("double_pendulum.ron"), [50, 50], 1e-11),
        // Fibres of muscles and strains that creep are internal variables.
        (shipped("calf_muscle.ron"), [40, 40], 1e-11),
        (shipped("creeping_shelf.ron"), [20, 20], 1e-11),
        (shipped("beam.ron"), [20, 20], 1e-11),
    ] {
        let mut whole = runner(&text, None);
        for _ in 0..parts[0] {
            whole.step().unwrap();
        }
        let state = whole.state_file().unwrap();
        assert_eq!(StateFile::from_text(&state.to_text()).unwrap(), state);
        let mut second = runner(&text, Some(&state));
        assert_eq!(second.simulation().time(), 0.0);
        let start = difference(&whole, &second);
        assert!(start < 1e-14, "{start:e}\n{text}");
        for _ in 0..parts[1] {
            whole.step().unwrap();
            second.step().unwrap();
        }
        let end = difference(&whole, &second);
        println!("{end:e} {}", whole.state_file().unwrap().scene);
        assert!(end < tolerance, "{end:e}\n{text}");
    }
}

/// A coordinate of a joint counts its turns, in the saved state too, and its spring pulls by them.
#[test]
fn turns_are_saved() {
    let text = r#"(
    run: (duration: 2, step: 0.01),
    nodes: [Bodies(name: "wheel", bodies: [(position: (0, 0, 0), mass: 1, inertia: (1, 1, 1), angular_velocity: (0, 0, 30))])],
    joints: [(name: "axle", kind: Hinge, b: Body("wheel", 0), at: (0, 0, 0), axis: (0, 0, 1))],
)"#;
    let mut run = runner(text, None);
    while !run.is_done() {
        run.step().unwrap();
    }
    let angle = |run: &Runner| {
        let simulation = run.simulation();
        simulation.positions(simulation.model().node_named("axle.angle").unwrap())[0]
    };
    assert!((angle(&run) - 60.0).abs() < 1e-9, "{}", angle(&run));
    let second = runner(text, Some(&run.state_file().unwrap()));
    assert!((angle(&second) - 60.0).abs() < 1e-9, "{}", angle(&second));
}

/// Where a search of equilibrium ends a motion stays.
#[test]
fn motions_start_at_rest_of_statics() {
    let scene = |run: &str| {
        format!(
            r#"(
    gravity: (0, -9.81, 0),
    run: ({run}),
    nodes: [Cable(
        name: "rope", from: (0, 0, 0), to: (2, 0, 0), links: 12, link_mass: 0.1, compliance: 1e-3, start: Fixed, end: Fixed,
    )],
)"#
        )
    };
    let mut found = runner(&scene("duration: 1, statics: ()"), None);
    found.find_equilibria().unwrap();
    let text = scene("duration: 1, step: 0.01");
    let motion = |from: Option<&StateFile>| {
        let mut run = runner(&text, from);
        let mut largest: f64 = 0.0;
        while !run.is_done() {
            largest = largest.max(run.step().unwrap().energies.kinetic);
        }
        largest
    };
    let still = motion(Some(&found.state_file().unwrap()));
    // The residual of the equilibrium, 1e-9 of the weight, makes speeds of that share of metres per
    // second at most.
    assert!(still < 1e-17, "{still:e}");
    assert!(motion(None) > 1e-3);
}

const TEXT: &str = r#"(
    run: (duration: 1, step: 0.01),
    nodes: [
        Particles(name: "points", positions: [(0, 0, 0), (1, 0, 0)], mass: 1),
        Bodies(name: "box", bodies: [(position: (0, 1, 0), mass: 1, inertia: (1, 1, 1))]),
        Mapped(name: "gap", parents: ["points"], mapping: Distance()),
    ],
)"#;

/// The error of a scene with a state of this text.
fn refused(state: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("state.json"), state).unwrap();
    let text = TEXT.replacen("nodes: [", "start_from: \"state.json\", nodes: [", 1);
    let scene = SceneFile::from_text(&dir.path().join("scene.ron"), &text, Format::Ron).unwrap();
    scene.build(&Settings::default()).unwrap_err().to_string()
}

#[test]
fn states_that_do_not_fit_are_errors_with_a_caret() {
    let nodes = |nodes: &str| format!("{{\"pliant_state\": 1, \"nodes\": {{{nodes}}}}}");
    for (state, words) in [
        ("".to_owned(), "line 1 column 0"),
        ("{\"pliant_state\": 2, \"nodes\": {}}".to_owned(), "version 1"),
        ("{\"pliant_state\": 1}".to_owned(), "missing field `nodes`"),
        (nodes("\"point\": {\"positions\": []}"), "did you mean `points`?"),
        (
            nodes("\"points\": {\"position\": []}"),
            "unknown field `position`",
        ),
        (
            nodes("\"points\": {\"positions\": [[0, 0, 0]]}"),
            "`points` has positions of 1 elements in the file, and 2 in the scene",
        ),
        (
            nodes("\"points\": {\"positions\": [[0, 0, 0], [1, 0]]}"),
            "element 1 of `points` has 2 numbers as positions, and 3 in the scene",
        ),
        (
            nodes("\"points\": {\"positions\": [[0, 0, 0], [1, 0, 0]], \"velocities\": []}"),
            "`points` has velocities of 0 elements",
        ),
        (
            nodes("\"points\": {\"positions\": [[0, 0, 0], [1e999, 0, 0]]}"),
            "number out of range",
        ),
        (
            nodes("\"box\": {\"positions\": [[0, 0, 0, 2, 0, 0, 0]]}"),
            "the quaternion of element 0 of `box` has the norm 2",
        ),
        (
            nodes("\"points\": {\"positions\": []}, \"points\": {\"positions\": []}"),
            "`points` stands there twice",
        ),
        (
            nodes("\"gap\": {\"positions\": [[2]]}"),
            "`gap` is mapped, and not where the nodes that it follows have it",
        ),
        (
            "{\"pliant_state\": 1, \"nodes\": {}, \"memory\": {\"clay\": [1]}}".to_owned(),
            "there is no force field with a past `clay` in the scene",
        ),
    ] {
        let found = refused(&state);
        assert!(found.contains(words), "{state}: {found}");
        assert!(found.contains('^') && found.contains("start_from"), "{found}");
    }
}

/// Nodes without an entry start where the scene has them, those without velocities at rest.
#[test]
fn states_may_have_a_part_of_the_scene() {
    let text = TEXT.replace("mass: 1),\n", "mass: 1, velocities: [(1, 0, 0), (1, 0, 0)]),\n");
    let state = r#"{"pliant_state": 1, "nodes": {"points": {"positions": [[0, 0, 0], [3, 0, 0]]}}}"#;
    let run = runner(&text, Some(&StateFile::from_text(state).unwrap()));
    let simulation = run.simulation();
    let node = |name| simulation.model().node_named(name).unwrap();
    assert_eq!(simulation.velocities(node("points")), [0.0; 6]);
    assert_eq!(simulation.positions(node("gap")), [2.0]);
    assert_eq!(simulation.positions(node("box"))[..3], [0.0, 1.0, 0.0]);
}

/// Gradients by parameters differentiate the start, which a file has not the derivative of.
#[test]
fn gradients_refuse_states() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("state.json"),
        "{\"pliant_state\": 1, \"nodes\": {}}",
    )
    .unwrap();
    let text = TEXT.replacen("nodes: [", "start_from: \"state.json\", nodes: [", 1);
    let scene = SceneFile::from_text(&dir.path().join("scene.ron"), &text, Format::Ron).unwrap();
    let build = move |_: &[f64]| scene.build(&Settings::default());
    let error = Rollout::new(Box::new(build), &[], &[("points", Quantity::Positions)], None);
    let found = error.unwrap_err().to_string();
    assert!(found.contains("`start_from`"), "{found}");
}

/// Velocities of what is fixed do not count, as those of scenes, and a warning names them.
#[test]
fn fixed_nodes_of_states_stand_still() {
    let state = r#"{"pliant_state": 1, "nodes": {"points": {"positions": [[0, 0, 0], [1, 0, 0]],
        "velocities": [[1, 0, 0], [0, 2, 0]]}}}"#;
    let text = TEXT.replace("\n)", "    fixed: [(node: \"points\", elements: [0])],\n)");
    let mut run = runner(&text, Some(&StateFile::from_text(state).unwrap()));
    let warnings: Vec<String> = run.warnings().iter().map(|w| w.0.message.clone()).collect();
    assert!(
        warnings.iter().any(|w| w.contains("`points` of the state")),
        "{warnings:?}"
    );
    for _ in 0..10 {
        run.step().unwrap();
    }
    let simulation = run.simulation();
    let points = simulation.model().node_named("points").unwrap();
    let at = simulation.positions(points);
    assert_eq!(at[..3], [0.0; 3]);
    assert!((at[4] - 0.2).abs() < 1e-12, "{at:?}");
}

/// Numbers that are finite and whose energy is not.
#[test]
fn states_of_endless_energy_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let state = r#"{"pliant_state": 1, "nodes": {"points": {"positions": [[0, 0, 0], [1, 0, 0]],
        "velocities": [[1e200, 0, 0], [0, 2, 0]]}}}"#;
    std::fs::write(dir.path().join("state.json"), state).unwrap();
    let text = TEXT.replacen("nodes: [", "start_from: \"state.json\", nodes: [", 1);
    let scene = SceneFile::from_text(&dir.path().join("scene.ron"), &text, Format::Ron).unwrap();
    let error = Runner::new(scene.build(&Settings::default()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("`start_from`"), "{error}");
}
