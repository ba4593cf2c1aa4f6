//! Threads that a run is shared by.

use crate::{err, pliant, scene, write};
use std::fs;
use std::path::Path;

/// The tables of a run, to the byte.
fn tables(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["energy.csv", "trajectory.csv"];
    let read = |name: &&str| (name.to_string(), fs::read(dir.join(name)).unwrap());
    names.iter().map(read).collect()
}

fn run(dir: &Path, file: &str, out: &str, more: &[&str]) -> Vec<(String, Vec<u8>)> {
    let all = [&["run", file, "--quiet", "--trajectory", "--out", out][..], more].concat();
    let output = pliant(dir, &all);
    assert!(output.status.success(), "{}", err(&output));
    tables(&dir.join(out))
}

/// Soft balls share finite elements, bricks islands and fronts.
#[test]
fn threads_change_no_bit() {
    let dir = tempfile::tempdir().unwrap();
    for (name, duration) in [("soft_balls.ron", "0.1"), ("everyday/brick_wall.ron", "0.05")] {
        let file = scene(name);
        let file = file.to_str().unwrap();
        let with = |threads: &str, out: &str| {
            run(
                dir.path(),
                file,
                out,
                &["--duration", duration, "--threads", threads],
            )
        };
        let one = with("1", "one");
        assert!(one.iter().all(|(_, bytes)| bytes.len() > 200));
        assert!(one == with("2", "two"), "{name}");
        assert!(one == with("5", "five"), "{name}");
        // As many as there are cores.
        assert!(
            one == run(dir.path(), file, "cores", &["--duration", duration]),
            "{name}"
        );
    }
}

#[test]
fn a_run_goes_on_with_another_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("soft_balls.ron");
    let file = file.to_str().unwrap();
    let whole = run(
        dir.path(),
        file,
        "whole",
        &["--duration", "0.1", "--threads", "1"],
    );
    let part = [
        "--duration",
        "0.1",
        "--checkpoint-every",
        "7steps",
        "--threads",
        "2",
    ];
    // The checkpoint of a run that was killed: an end removes it.
    let kept = dir.path().join("out/checkpoint.pliant");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir.path())
        .args(["run", file, "--quiet", "--trajectory", "--out", "out"])
        .args(part)
        .spawn()
        .unwrap();
    while !kept.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resume = ["--duration", "0.1", "--threads", "3", "--resume"];
    match kept.exists() {
        true => assert!(whole == run(dir.path(), file, "out", &resume)),
        // It was through before it was seen to write.
        false => assert!(whole == tables(&dir.path().join("out"))),
    }
}

#[test]
fn numbers_of_threads_that_there_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)], \
                run: (duration: 0.1, threads: 0))";
    let file = write(dir.path(), "scene.ron", text);
    let output = pliant(dir.path(), &["run", &file, "--no-files"]);
    let said = err(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`threads`") && said.contains('^'), "{said}");
    let output = pliant(dir.path(), &["run", &file, "--threads", "5000"]);
    let said = err(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--threads") && said.contains("1..=1024"), "{said}");
    // An option of the command replaces that of the scene, but not where it is none.
    let good = write(dir.path(), "good.ron", &text.replace("threads: 0", "threads: 3"));
    let output = pliant(dir.path(), &["run", &good, "--no-files", "--threads", "1"]);
    assert!(output.status.success(), "{}", err(&output));
}
