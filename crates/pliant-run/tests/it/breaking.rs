//! Elements of scenes that break, and that events remove.

use super::probes::{resumes, runner};
use pliant::model::check;
use pliant_run::{Outcome, write_results};
use pliant_scene::{Format, SceneError, SceneFile, Settings};

/// A scene with every word of elements that break.
const BREAKING: &str = include_str!("words/breaking.ron");

fn run(text: &str) -> Outcome {
    let outcome = runner(text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

/// Every rule breaks something, the summary counts it, the ledger has what it stored, and files show
/// it no more.
#[test]
fn every_rule_breaks_what_it_names() {
    let outcome = run(BREAKING);
    let removed = &outcome.summary.removed;
    let names: Vec<&str> = removed.keys().map(String::as_str).collect();
    assert_eq!(names, ["crack", "cut", "shear off", "snap", "tear", "wear"]);
    for (name, of) in removed {
        println!("{name} {of:?}");
        let is_quiet = name == "shear off";
        assert_eq!(of.elements == 0, is_quiet, "{name}");
        assert_eq!(of.first.is_none(), is_quiet, "{name}");
    }
    assert_eq!(removed["cut"].elements, 1);
    assert!(outcome.summary.ledger["removed"] < 0.0);
    let frames = &outcome.recording.frames;
    let (first, last) = (&frames[0], frames.last().unwrap());
    for region in frames.iter().flat_map(|frame| &frame.regions) {
        let mut values = region.cell_values.iter().flatten();
        assert!(values.all(|value| value.is_finite()), "{:?}", region.removed);
    }
    // Faces inside solids are not there at first: three between four hexahedra, of two triangles,
    // of two solids.
    assert_eq!(first.hidden.len(), 12);
    assert!(last.hidden.len() > 12 && last.released.len() == removed["snap"].elements);
    let gone: usize = last.regions.iter().map(|region| region.removed.len()).sum();
    let of_regions = ["tear", "crack", "cut", "wear"].map(|name| removed[name].elements);
    assert_eq!(gone, of_regions.iter().sum::<usize>());
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    let page = std::fs::read_to_string(dir.path().join("play.html")).unwrap();
    assert!(page.contains("\"spans\":\""));
    for kind in ["particles_", "solids_", "sheets_"] {
        let files = std::fs::read_dir(dir.path().join("frames")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let mut own = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(kind));
        let hides = own.any(|path| std::fs::read_to_string(path).unwrap().contains("vtkGhostType"));
        assert!(hides, "{kind}");
    }
}

#[test]
fn runs_resume_across_what_breaks() {
    resumes(BREAKING, &[2, 4, 20, 39]);
}

/// A bar that is pulled apart: uniform strain, so that both of its elements break at once.
const PULLED: &str = r#"(
    run: (duration: 0.002, step: 5e-4, event_tolerance: 1e-9),
    nodes: [
        Solid(
            name: "bar", shape: Box(size: (0.1, 0.1, 0.1), cells: (2, 1, 1)), density: 1000,
            material: Linear(young: 1e6, poisson: 0),
        ),
    ],
    fixed: [
        (node: "bar", elements: Box((-1, -1, -1), (0.01, 1, 1)), velocity: [-1, 0, 0]),
        (node: "bar", elements: Box((0.09, -1, -1), (1, 1, 1)), velocity: [1, 0, 0]),
    ],
    breaking: [
        (name: "tear", of: "bar", measure: VonMises, above: 24999.9),
        (name: "twin", of: "bar", measure: VonMises, above: 24999.8),
    ],
    events: [
        (name: "strained", when: "bar.von_mises_max > 25000", do: [Say("strained")]),
        (
            name: "relaxed", when: "bar.von_mises_max < 1 and $t > 0.001",
            do: [Remove(of: "bar", elements: [0])],
        ),
    ],
)"#;

/// An event at the stress at which elements break is not lost, and one that holds without them is at
/// the same moment. Elements that two rules find, and that an event removes again, are counted once.
#[test]
fn events_are_ahead_of_what_breaks_and_after_it() {
    let outcome = run(PULLED);
    let (events, removed) = (&outcome.summary.events, &outcome.summary.removed);
    let time = events["strained"].first.unwrap();
    // Steps of 500 us, and 2e7 Pa/s.
    assert!(time > 0.001 && time < 0.0015, "{time}");
    assert_eq!((events["strained"].count, events["relaxed"].count), (1, 1));
    assert_eq!(events["relaxed"].first, Some(time));
    assert_eq!((removed["tear"].elements, removed["tear"].first), (2, Some(time)));
    for name in ["twin", "relaxed"] {
        assert_eq!((removed[name].elements, removed[name].first), (0, None), "{name}");
    }
}

/// Processes that share elements out do not take them out, and say so ahead of the run.
#[test]
fn elements_that_may_go_are_not_shared_out() {
    let scene = SceneFile::from_text("breaking.ron".as_ref(), BREAKING, Format::Ron).unwrap();
    let mut scene = scene.build(&Settings::default()).unwrap();
    let own = check::processes(1).remove(0);
    let error = scene.share_out(own).unwrap_err().to_string();
    assert_eq!(
        error,
        "elements of `film.strains` cannot be removed: the elements of the scene are shared out among processes"
    );
    assert!(scene.model.shared_elements().is_none());
}

/// Shells on frames do not break: they say so, and are not offered for a name that is wrong.
#[test]
fn shells_on_frames_do_not_break() {
    let cap = r#"nodes: [
        ElasticShell(
            name: "cap", shape: Rectangle(size: (0.2, 0.1), cells: (2, 1)), position: (0, 4, 0),
            young: 1e6, poisson: 0, thickness: 0.01, density: 1000,
        ),"#;
    let text = BREAKING.replacen("nodes: [", cap, 1);
    let of = |name: &str| {
        let text = text.replacen("\"tear\", of: \"film\"", &format!("\"tear\", of: \"{name}\""), 1);
        build(&text).unwrap_err().to_string()
    };
    let error = of("cap");
    let message = "`cap` is a shell on frames, whose elements do not break";
    assert!(error.contains(message), "{error}");
    let error = of("cup");
    assert!(
        error.contains("`cup` is no solid, sheet, net or cable") && !error.contains("cap"),
        "{error}"
    );
}

/// A surface in a solid does not tear, and says so.
#[test]
fn solids_with_a_skin_do_not_break() {
    let dir = tempfile::tempdir().unwrap();
    let skin = "v 0.02 0.02 0.02\nv 0.08 0.02 0.02\nv 0.02 0.08 0.02\nf 1 2 3\n";
    std::fs::write(dir.path().join("skin.obj"), skin).unwrap();
    let skin = r#"EmbeddedSurface(name: "skin", solid: "bar", shape: (file: "skin.obj")),"#;
    let text = PULLED.replace("    ],\n    fixed", &format!("{skin}],\n    fixed"));
    assert!(text.contains(skin));
    let path = dir.path().join("skin.ron");
    std::fs::write(&path, text).unwrap();
    let error = SceneFile::load(&path)
        .unwrap()
        .build(&Settings::default())
        .unwrap_err()
        .to_string();
    let message = "elements of `bar` cannot go: the surface `skin` rides in them";
    assert!(error.contains(message), "{error}");
}

/// A saved state does not hold what is removed, and says so.
#[test]
fn states_without_elements_are_refused() {
    let mut runner = runner(BREAKING);
    assert!(runner.state_file().is_ok());
    for _ in 0..4 {
        runner.step().unwrap();
    }
    let error = runner.state_file().unwrap_err().to_string();
    assert_eq!(
        error,
        "elements of `bar.gradients` were removed, which a saved state does not hold"
    );
    assert!(runner.simulation().time() < 0.0021);
}

fn build(text: &str) -> Result<(), SceneError> {
    let scene = SceneFile::from_text("breaking.ron".as_ref(), text, Format::Ron)?;
    scene.build(&Settings::default()).map(drop)
}

/// Change, and the message.
const MISTAKES: [(&str, &str, &str); 12] = [
    (
        "\"tear\", of: \"film\"",
        "\"tear\", of: \"flim\"",
        "`flim` is no solid, sheet, net or cable",
    ),
    (
        "Remove(of: \"bar\"",
        "Remove(of: \"bra\"",
        "`bra` is no solid, sheet, net or cable",
    ),
    ("above: 1.08", "above: 0", "must be positive"),
    (
        "\"shear off\"",
        "\"tear\"",
        "the name `tear` is used twice in `breaking`",
    ),
    (
        "\"cut\", when",
        "\"tear\", when",
        "the name `tear` is that of an event and of a rule of `breaking`",
    ),
    (
        "measure: PrincipalStress",
        "measure: PlasticStrain",
        "`bar` does not yield",
    ),
    (
        "measure: Stretch",
        "measure: VonMises",
        "`chain` has no stress; it breaks above a `Stretch`",
    ),
    (
        "compliance: 0.001",
        "compliance: 0",
        "`chain.tension` cannot be removed: it is a hard constraint",
    ),
    (
        "Hinges(1e-6)",
        "Shell",
        "hangs on elements that go and on others that stay",
    ),
    ("Nearest(0.15, 1.05, 0.05)", "[4]", "is 4, "),
    (
        "    breaking: [",
        "    colliders: [Cloth(node: \"film\", radius: 0.01)],\n    breaking: [",
        "elements of `film` cannot go: a collider is made of them",
    ),
    (
        "run: (duration: 0.02,",
        "run: (duration: 0.02, statics: (),",
        "statics",
    ),
];

#[test]
fn mistakes_are_named() {
    for (from, to, message) in MISTAKES {
        assert!(BREAKING.contains(from), "{from}");
        let text = BREAKING.replacen(from, to, 1);
        let error = build(&text).expect_err(to).to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
}
