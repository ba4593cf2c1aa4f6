//! Places of a sweep and its tables: nothing of the user's is lost, and nothing is made in vain.

use super::{RODS, cells, column, sweep, text};
use crate::{err, out, pliant, write};
use std::fs;

/// A table is never written over a file that is no table of a sweep, or that the sweep reads.
#[test]
fn tables_take_no_file_of_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let list = "mass\n1\n2\n";
    write(dir.path(), "points.csv", list);
    write(dir.path(), "mine.csv", "a,b\n1,2\n");
    let jobs = ["jobs,b\n1,2\n", "job,status,hours\n1,ok,2\n"];
    write(dir.path(), "jobs.csv", jobs[0]);
    write(dir.path(), "job.csv", jobs[1]);
    write(dir.path(), "empty.csv", "");
    fs::create_dir(dir.path().join("s")).unwrap();
    for (more, code, words) in [
        (
            &["-o", "points.csv"][..],
            2,
            "is a list of this sweep at the same time",
        ),
        (&["-o", "./s/../points.csv"], 2, "is a list of this sweep"),
        (&["-o", "t.csv", "-o", "./t.csv"], 2, "is another table"),
        (&["-o", "s/times.csv"], 2, "is the table of times"),
        (
            &["-o", "mine.csv"],
            5,
            "is no table of a sweep; remove it, or choose another file",
        ),
        (&["-o", "jobs.csv"], 5, "is no table of a sweep"),
        (&["-o", "job.csv"], 5, "is no table of a sweep"),
        (&["-o", "empty.csv"], 5, "is no table of a sweep"),
    ] {
        let common = ["--list", "points.csv", "--out", "s"];
        let ran = sweep(dir.path(), &file, &[&common[..], more].concat());
        assert_eq!(ran.status.code(), Some(code), "{more:?}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{more:?}: {}", err(&ran));
        assert!(out(&ran).is_empty(), "{}", out(&ran));
    }
    assert_eq!(text(&dir.path().join("points.csv")), list);
    assert_eq!(text(&dir.path().join("mine.csv")), "a,b\n1,2\n");
    assert_eq!(text(&dir.path().join("jobs.csv")), jobs[0]);
    assert_eq!(text(&dir.path().join("job.csv")), jobs[1]);
    assert!(!dir.path().join("s/jobs").exists(), "a job was run");
    // Those that have their names by default, too.
    for name in ["table.csv", "times.csv"] {
        write(&dir.path().join("s"), name, "a,b\n");
        let ran = sweep(dir.path(), &file, &["--set", "mass=1", "--out", "s"]);
        assert_eq!(ran.status.code(), Some(5), "{}", err(&ran));
        assert_eq!(text(&dir.path().join("s").join(name)), "a,b\n");
        fs::remove_file(dir.path().join("s").join(name)).unwrap();
    }
    // Tables of sweeps are replaced, of whatever values.
    for mass in ["mass=1", "mass=1,2", "mass=-1"] {
        let ran = sweep(dir.path(), &file, &["--set", mass, "--out", "s", "-o", "t.csv"]);
        assert!(matches!(ran.status.code(), Some(0 | 6)), "{}", err(&ran));
    }
    let table = cells(&dir.path().join("t.csv"));
    assert_eq!(column(&table, "parameters.mass"), ["-1.0"]);
}

/// A table that is the list by another name is still the list.
#[cfg(unix)]
#[test]
fn tables_are_told_from_lists_through_links() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    write(dir.path(), "points.csv", "mass\n1\n");
    std::os::unix::fs::symlink("points.csv", dir.path().join("link.csv")).unwrap();
    for (list, table) in [("points.csv", "link.csv"), ("link.csv", "points.csv")] {
        let ran = sweep(dir.path(), &file, &["--list", list, "-o", table]);
        assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
        assert!(err(&ran).contains("is a list of this sweep"), "{}", err(&ran));
    }
    assert_eq!(text(&dir.path().join("link.csv")), "mass\n1\n");
}

/// A table in the directory of the sweep needs no directory that is there already.
#[test]
fn tables_may_be_in_the_directory_of_the_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = sweep(
        dir.path(),
        &file,
        &["--set", "mass=1", "--out", "a/s", "-o", "a/s/t.csv"],
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(dir.path().join("a/s/t.csv").exists());
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "-o", "none/t.csv"]);
    assert_eq!(ran.status.code(), Some(5));
    let help = "cannot write none/t.csv: there is no directory none; make it first";
    assert!(err(&ran).contains(help), "{}", err(&ran));
    let plan = sweep(dir.path(), &file, &["--set", "mass=1", "--dry-run", "--out", "b"]);
    assert_eq!(plan.status.code(), Some(0));
    assert!(!dir.path().join("b").exists());
}

/// A sweep is collected also once its scene has changed, and nothing is made of nothing.
#[test]
fn collecting_asks_for_a_sweep_and_for_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "--out", "s", "--collect"]);
    assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
    assert!(err(&ran).contains("there is no sweep in s\n"), "{}", err(&ran));
    assert!(!dir.path().join("s").exists());
    let ran = sweep(dir.path(), &file, &["--set", "mass=1,2", "--out", "s"]);
    assert!(ran.status.success(), "{}", err(&ran));
    let table = text(&dir.path().join("s/table.csv"));
    fs::write(&file, RODS.replace("-9.81", "-1.62")).unwrap();
    let collect = [
        "sweep",
        "--manifest",
        "s/manifest.json",
        "--collect",
        "-o",
        "t.csv",
    ];
    let ran = pliant(dir.path(), &collect);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert_eq!(text(&dir.path().join("t.csv")), table);
    // The same sweep of another scene, or other values of it, are another sweep, whose plan is not
    // put in the place of this one's.
    let plan = text(&dir.path().join("s/manifest.json"));
    let other = "the sweep in s is of other values, or of another scene";
    let ran = sweep(
        dir.path(),
        &file,
        &["--set", "mass=1,2", "--out", "s", "--collect"],
    );
    assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
    assert!(err(&ran).contains(other), "{}", err(&ran));
    fs::write(&file, RODS).unwrap();
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "--out", "s", "--collect"]);
    assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
    assert!(err(&ran).contains(other), "{}", err(&ran));
    assert_eq!(text(&dir.path().join("s/manifest.json")), plan);
    assert_eq!(text(&dir.path().join("s/table.csv")), table);
    // Of the sweep itself the table may have other quantities first.
    let more = ["--set", "mass=1,2", "--out", "s", "--collect", "--result", "time"];
    let ran = sweep(dir.path(), &file, &more);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(text(&dir.path().join("s/table.csv")).contains("warnings,time,"));
    // Jobs of other programs are not run, and collected.
    write(
        dir.path(),
        "s/manifest.json",
        &plan.replace("\"pliant\",\n      \"arg", "\"sh\",\n      \"arg"),
    );
    assert_ne!(text(&dir.path().join("s/manifest.json")), plan);
    let ran = pliant(dir.path(), &["sweep", "--manifest", "s/manifest.json"]);
    assert_eq!(ran.status.code(), Some(2), "{}", err(&ran));
    assert_eq!(pliant(dir.path(), &collect).status.code(), Some(0));
    assert_eq!(text(&dir.path().join("t.csv")), table);
}

/// A scene that is a link reads what is beside the link, as `pliant run` does.
#[cfg(unix)]
#[test]
fn a_linked_scene_has_the_meshes_beside_the_link() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["a", "b"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let scene = "(parameters: {\"m\": 1}, gravity: (0, 0, -9.81), run: (duration: 0.05), nodes: [
        Bodies(name: \"b\", bodies: [(position: (0, 0, 0.5), shape: Sphere(0.1), mass: \"$m\")])],
        colliders: [Fixed(name: \"floor\", shape: Surface(file: \"floor.obj\")), Bodies(node: \"b\")])";
    write(dir.path(), "a/ball.ron", scene);
    std::os::unix::fs::symlink("../a/ball.ron", dir.path().join("b/ball.ron")).unwrap();
    // The mesh is beside the link alone.
    let corners = "v -9 -9 -9\nv 9 -9 -9\nv 0 9 -9\nv 0 0 0\n";
    let sides = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    write(dir.path(), "b/floor.obj", &format!("{corners}{sides}"));
    let alone = pliant(dir.path(), &["run", "b/ball.ron", "--no-files"]);
    assert_eq!(alone.status.code(), Some(0), "{}", err(&alone));
    let ran = sweep(dir.path(), "b/ball.ron", &["--set", "m=1,2"]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", err(&ran), out(&ran));
}
