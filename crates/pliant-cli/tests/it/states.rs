//! `--save`, and scenes that start from what it wrote.

use crate::{CONTRADICTION, err, out, pliant, write};
use std::fs;

const FALL: &str = "(gravity: (0, -10, 0), run: (duration: 1, step: 0.1), nodes: [
    Particles(name: \"stone\", positions: [(0, 0, 0)], mass: 1),
])";

/// A stone that falls for two seconds in two parts is where one that falls in one is.
#[test]
fn runs_start_where_others_ended() {
    let dir = tempfile::tempdir().unwrap();
    let first = write(dir.path(), "first.ron", FALL);
    let saved = pliant(dir.path(), &["run", &first, "--no-files", "--save", "end.json"]);
    assert_eq!(saved.status.code(), Some(0), "{}", err(&saved));
    assert!(out(&saved).contains("state      end.json"), "{}", out(&saved));
    let text = FALL.replace("nodes:", "start_from: \"end.json\", nodes:");
    let second = write(dir.path(), "second.ron", &text);
    let done = pliant(
        dir.path(),
        &["run", &second, "--no-files", "--quiet", "--save", "end.json"],
    );
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert_eq!(out(&done), "");
    let state: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("end.json")).unwrap()).unwrap();
    let stone = &state["nodes"]["stone"];
    // g t^2/2 and g t: the method is exact for constant forces.
    assert!((stone["positions"][0][1].as_f64().unwrap() + 20.0).abs() < 1e-12);
    assert!((stone["velocities"][0][1].as_f64().unwrap() + 20.0).abs() < 1e-12);
    // It takes part in what a checkpoint is of.
    let check = pliant(dir.path(), &["check", &second]);
    assert_eq!(check.status.code(), Some(0), "{}", err(&check));
}

#[test]
fn states_that_cannot_be_saved_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let fall = write(dir.path(), "fall.ron", FALL);
    let nowhere = pliant(dir.path(), &["run", &fall, "--save", "no/end.json"]);
    assert_eq!(nowhere.status.code(), Some(5), "{}", err(&nowhere));
    assert!(err(&nowhere).contains("no/end.json"), "{}", err(&nowhere));
    assert!(!dir.path().join("out").exists(), "before the first step");
    // A run that fails leaves what was there.
    let before = "{\"pliant_state\": 1, \"nodes\": {}}";
    write(dir.path(), "end.json", before);
    let wrong = write(dir.path(), "wrong.ron", CONTRADICTION);
    let failed = pliant(dir.path(), &["run", &wrong, "--no-files", "--save", "end.json"]);
    assert_ne!(failed.status.code(), Some(0));
    assert!(
        err(&failed).contains("end.json is not written"),
        "{}",
        err(&failed)
    );
    assert_eq!(fs::read_to_string(dir.path().join("end.json")).unwrap(), before);
    // What is no state stays, above all the scene.
    let over = pliant(dir.path(), &["run", &fall, "--no-files", "--save", &fall]);
    assert_eq!(over.status.code(), Some(5), "{}", err(&over));
    assert!(err(&over).contains("is no state"), "{}", err(&over));
    assert_eq!(fs::read_to_string(&fall).unwrap(), FALL);
}

/// `pliant info` says what is in a state.
#[test]
fn states_are_described() {
    let dir = tempfile::tempdir().unwrap();
    let fall = write(dir.path(), "fall.ron", FALL);
    let run = pliant(dir.path(), &["run", &fall, "--no-files", "--save", "end.json"]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    let found = pliant(dir.path(), &["info", "end.json"]);
    assert_eq!(found.status.code(), Some(0), "{}", err(&found));
    for words in ["state", "fall", "1 s", "1: stone (1)"] {
        assert!(out(&found).contains(words), "{words}: {}", out(&found));
    }
}
