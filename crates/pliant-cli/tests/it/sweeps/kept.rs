//! Results of earlier sweeps, which are kept where others take their places.

use super::{RODS, sweep, text};
use crate::{err, out, pliant, write};
use std::fs;

/// Results whose place is taken by other values are found again when they are asked for.
#[test]
fn results_of_other_values_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let place = dir.path().join("out/rods-sweep");
    let again = |more: &[&str], words: &str| {
        let ran = sweep(dir.path(), &file, more);
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        assert!(out(&ran).contains(words), "{words}: {}", out(&ran));
        text(&place.join("table.csv"))
    };
    let first = again(&["--set", "mass=1,2,3"], "3 were run, 0 had results");
    let second = again(
        &["--set", "mass=4,5,6"],
        "3 of other values or scenes are now in jobs/kept-*, where they are found again",
    );
    assert_eq!(
        again(&["--set", "mass=1,2,3"], "0 were run, 3 had results"),
        first
    );
    assert_eq!(
        again(&["--set", "mass=4,5,6"], "0 were run, 3 had results"),
        second
    );
    // One of them in the place of another, and values of both sweeps.
    again(&["--set", "mass=7,1,5,6"], "1 were run, 3 had results");
    again(&["--set", "mass=linspace(1,7,7)"], "0 were run, 7 had results");
    // What is of another scene is kept like this, too.
    fs::write(&file, RODS.replace("-9.81", "-1.62")).unwrap();
    let moon = again(&["--set", "mass=1,2,3"], "3 were run, 0 had results");
    fs::write(&file, RODS).unwrap();
    assert_eq!(
        again(&["--set", "mass=1,2,3"], "0 were run, 3 had results"),
        first
    );
    fs::write(&file, RODS.replace("-9.81", "-1.62")).unwrap();
    assert_eq!(again(&["--set", "mass=1,2,3"], "0 were run, 3 had results"), moon);
    // Runs without all their files are replaced by the same ones with them, and not kept.
    let kept = || {
        let names = fs::read_dir(place.join("jobs")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("kept-")).count()
    };
    let before = kept();
    again(
        &["--set", "mass=1,2,3", "--all-files"],
        "3 were run, 0 had results",
    );
    assert_eq!(kept(), before);
    again(
        &["--set", "mass=3,1,2", "--all-files"],
        "0 were run, 3 had results",
    );
}

/// A manifest that was put by finds its results, too, once another one was run in its directory.
#[test]
fn manifests_find_what_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let place = dir.path().join("s");
    let first = sweep(dir.path(), &file, &["--set", "mass=1,2", "--out", "s"]);
    assert_eq!(first.status.code(), Some(0), "{}", err(&first));
    let table = text(&place.join("table.csv"));
    fs::copy(place.join("manifest.json"), place.join("first.json")).unwrap();
    for more in [&["--collect"][..], &[]] {
        let other = sweep(dir.path(), &file, &["--set", "mass=3,4", "--out", "s"]);
        assert_eq!(other.status.code(), Some(0), "{}", err(&other));
        let words = [&["sweep", "--manifest", "s/first.json"], more].concat();
        let again = pliant(dir.path(), &words);
        assert_eq!(again.status.code(), Some(0), "{}", err(&again));
        assert!(
            out(&again).contains("0 were run, 2 had results"),
            "{}",
            out(&again)
        );
        assert_eq!(text(&place.join("table.csv")), table);
    }
}
