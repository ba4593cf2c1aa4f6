//! Elements of scenes that break, and that events remove.

use super::probes::{resumes, runner};
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
const MISTAKES: [(&str, &str, &str); 11] = [
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
