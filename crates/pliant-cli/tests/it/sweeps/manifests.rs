//! The manifest of a sweep: run by other engines, by itself, and refused.

use super::{RODS, cells, column, sweep, text};
use crate::{err, out, pliant, write};
use serde_json::Value;
use std::fs;

/// The manifest is the plan, and can be run by itself, from anywhere.
#[test]
fn a_manifest_is_run_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let more = ["--set", "mass=1,2", "--result", "energy_end.total"];
    let plan = sweep(dir.path(), &file, &[&more[..], &["--dry-run"]].concat());
    assert_eq!(plan.status.code(), Some(0), "{}", err(&plan));
    assert!(!dir.path().join("out").exists());
    let manifest: Value = serde_json::from_str(&out(&plan)).unwrap();
    let job = &manifest["jobs"][1];
    assert_eq!(job["id"], "0002");
    let words: Vec<&str> = job["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w.as_str().unwrap())
        .collect();
    let expected =
        "run ../../rods.ron --set mass=2.0 --out jobs/0002 --quiet --resume-or-start --only-result";
    assert_eq!(words.join(" "), expected);
    assert_eq!(job["expect"]["parameters.mass"], 2.0);
    // By its own command, as another engine runs it, in the directory of the manifest.
    let place = dir.path().join("out/rods-sweep");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("manifest.json"), &plan.stdout).unwrap();
    assert!(pliant(&place, &words).status.success());
    let result: Value = serde_json::from_str(&text(&place.join(job["result"].as_str().unwrap()))).unwrap();
    for (path, value) in job["expect"].as_object().unwrap() {
        let found = path
            .split('.')
            .fold(&result, |value, key| value.get(key).unwrap());
        assert_eq!(found, value, "{path}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let name = place.join("manifest.json");
    let run = |more: &[&str]| {
        pliant(
            elsewhere.path(),
            &[&["sweep", "--manifest", name.to_str().unwrap()], more].concat(),
        )
    };
    // What is there so far.
    let part = run(&["--collect", "-o", "part.csv"]);
    assert_eq!(part.status.code(), Some(0), "{}", err(&part));
    let table = cells(&elsewhere.path().join("part.csv"));
    assert_eq!(column(&table, "status"), ["missing", "ok"]);
    let ran = run(&[]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(out(&ran).contains("1 were run, 1 had results"), "{}", out(&ran));
    let table = text(&place.join("table.csv"));
    assert!(
        sweep(dir.path(), &file, &[&more[..], &["--out", "b"]].concat())
            .status
            .success()
    );
    assert_eq!(text(&dir.path().join("b/table.csv")), table);
    // The scene has changed since.
    fs::write(&file, RODS.replace("-9.81", "-1.62")).unwrap();
    let ran = run(&[]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        err(&ran).contains("../../rods.ron has changed since the manifest was written"),
        "{}",
        err(&ran)
    );
}

/// A manifest is data: of programs it runs this one, of commands `run`, into the job's directory.
#[test]
fn manifests_run_no_other_commands() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let plan = sweep(dir.path(), &file, &["--set", "mass=1", "--dry-run", "--out", "."]);
    let whole = out(&plan);
    for (from, to, words) in [
        (
            "\"program\": \"pliant\"",
            "\"program\": \"sh\"",
            "is of the program `sh`",
        ),
        ("\"run\"", "\"solve\"", "has arguments that do not fit"),
        ("\"--quiet\"", "\"--loud\"", "unexpected argument '--loud'"),
        ("\"run\"", "\"check\"", "has arguments that do not fit"),
        (
            "\"jobs/0001\",\n        \"--q",
            "\"../elsewhere\",\n        \"--q",
            "must have its `--out`",
        ),
        (
            "\"--quiet\"",
            "\"--dump-failed-solve=x\"",
            "without `--dump-failed-solve`",
        ),
        ("\"--quiet\"", "\"--save=x\"", "without `--save`"),
        (
            "\"jobs/0001/result.json\"",
            "\"secret.json\"",
            "must have its result in its directory",
        ),
        ("{", "", "this is no manifest of a sweep"),
        ("\"id\"", "\"name\"", "unknown field `name`"),
    ] {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{from}");
        write(dir.path(), "m.json", &text);
        let ran = pliant(dir.path(), &["sweep", "--manifest", "m.json"]);
        assert_eq!(ran.status.code(), Some(2), "{from}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{words}: {}", err(&ran));
    }
    assert!(!dir.path().join("jobs").exists());
    for garbage in [&b""[..], b"\xff\x00", b"[1, 2", b"null"] {
        fs::write(dir.path().join("m.json"), garbage).unwrap();
        let ran = pliant(dir.path(), &["sweep", "--manifest", "m.json"]);
        assert_eq!(ran.status.code(), Some(2));
        assert!(
            err(&ran).contains("this is no manifest of a sweep"),
            "{}",
            err(&ran)
        );
    }
    // A manifest of something else in the directory of a sweep is left alone.
    fs::create_dir(dir.path().join("s")).unwrap();
    write(dir.path(), "s/manifest.json", "notes");
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "--out", "s"]);
    assert_eq!(ran.status.code(), Some(5), "{}", err(&ran));
    assert!(
        err(&ran).contains("was not written by this version of Pliant"),
        "{}",
        err(&ran)
    );
    assert_eq!(text(&dir.path().join("s/manifest.json")), "notes");
}
