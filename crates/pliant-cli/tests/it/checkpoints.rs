//! Runs that are killed or interrupted, and go on from their checkpoints.

#[cfg(target_os = "linux")]
use crate::files::on_own_disk;
use crate::files::{check_set, files};
use crate::{err, out, pliant, scene, write};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The sums of a run without the seconds, and the work that planning anew adds.
fn sums(dir: &Path) -> serde_json::Value {
    let mut result = check_set(dir);
    for key in ["seconds", "work", "scene", "crc32"] {
        result[key].take();
    }
    result
}

/// Whether two directories hold the same results, to the bit.
fn assert_same(a: &Path, b: &Path) {
    assert_eq!(sums(a), sums(b));
    let (mut a, mut b) = (files(a), files(b));
    for set in [&mut a, &mut b] {
        set.remove("result.json");
    }
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{name}");
    }
}

/// Numbers that look random, the same in each run of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Kills runs of a scene at random moments, lets each go on, and compares what they end with. A run
/// that was killed ahead of its first checkpoint begins anew.
fn kill_and_resume(kills: usize, name: &str, arguments: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let file = scene(name);
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
        command
            .current_dir(dir.path())
            .args(["run", file.to_str().unwrap(), "--quiet"]);
        command.args(arguments).args(more).stderr(Stdio::piped());
        command
    };
    let started = std::time::Instant::now();
    assert!(run(&["--out", "whole"]).status().unwrap().success());
    let most = started.elapsed().as_millis() as u64;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut killed, mut resumed) = (0, 0);
    while killed < kills {
        let there = dir.path().join("out/checkpoint.pliant").exists();
        let every = ["1steps", "7steps", "20ms"][random.below(3) as usize];
        let mut command = run(&["--out", "out", "--checkpoint-every", every]);
        if there {
            command.arg("--resume");
            resumed += 1;
        }
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(random.below(most)));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            continue;
        }
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", err(&ended));
        assert_same(&dir.path().join("whole"), &dir.path().join("out"));
        fs::remove_dir_all(dir.path().join("out")).unwrap();
    }
    if dir.path().join("out/checkpoint.pliant").exists() {
        resumed += 1;
        let ended = run(&["--out", "out", "--resume"]).output().unwrap();
        assert!(ended.status.success(), "{}", err(&ended));
        assert_same(&dir.path().join("whole"), &dir.path().join("out"));
    }
    assert!(resumed >= kills / 2, "{resumed} of {kills} went on");
}

/// The environment's `PLIANT_KILLS` is the number of kills, ten without it.
#[test]
fn killed_runs_go_on_to_the_bit() {
    let kills = std::env::var("PLIANT_KILLS").map_or(10, |n| n.parse().unwrap());
    kill_and_resume(kills * 3 / 5, "trampoline.ron", &["--duration", "0.8"]);
    kill_and_resume(kills * 2 / 5, "bouncing_balls.ron", &[]);
}

/// An interrupted run says how to go on, and the end of it removes the checkpoint.
#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("trampoline.ron");
    let run = |more: &[&str]| {
        let arguments = [&["run", file.to_str().unwrap(), "--duration", "1"], more].concat();
        pliant(dir.path(), &arguments)
    };
    assert!(run(&["--out", "whole"]).status.success());
    let ended = Command::new("timeout")
        .current_dir(dir.path())
        .args(["0.3", env!("CARGO_BIN_EXE_pliant"), "run", file.to_str().unwrap()])
        .args(["--duration", "1", "--out", "out"])
        .output()
        .unwrap();
    let text = err(&ended);
    assert!(
        text.contains("the same command with `--resume` goes on"),
        "{text}"
    );
    assert_eq!(check_set(&dir.path().join("out"))["status"], "interrupted");
    let checkpoint = dir.path().join("out/checkpoint.pliant");
    assert!(checkpoint.exists());
    let resumed = run(&["--out", "out", "--resume"]);
    assert!(resumed.status.success(), "{}", err(&resumed));
    assert!(err(&resumed).contains("resumed at t = "), "{}", err(&resumed));
    assert_same(&dir.path().join("whole"), &dir.path().join("out"));
    assert!(!checkpoint.exists());
    let again = run(&["--out", "out", "--resume"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        err(&again).contains("there is no checkpoint in out"),
        "{}",
        err(&again)
    );
}

/// Runs a scene for 1000 s into `out`, and kills it once it has written a checkpoint.
fn kill_at_checkpoint(dir: &Path, file: &str) {
    let mut run = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir)
        .args(["run", file, "--out", "out", "--quiet"])
        .args(["--checkpoint-every", "10steps", "--duration", "1000"])
        .spawn()
        .unwrap();
    while !dir.join("out/checkpoint.pliant").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

/// A run goes on as itself or not at all, and the reason is in the user's words.
#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = crate::WEIGHT.replace("HOW", "step: 0.01");
    let text = text.replacen('(', "(parameters: {\"n\": 3}, ", 1);
    let file = write(dir.path(), "weight.ron", &text);
    let checkpoint = dir.path().join("out/checkpoint.pliant");
    let log = dir.path().join("out/checkpoint.log");
    kill_at_checkpoint(dir.path(), &file);
    let whole = [&checkpoint, &log].map(|path| fs::read(path).unwrap());
    let refused = |more: &[&str], code: i32, expected: &str| {
        let base = ["run", &file, "--out", "out", "--resume", "--duration", "1000"];
        let ended = pliant(dir.path(), &[&base[..], more].concat());
        assert_eq!(ended.status.code(), Some(code), "{}", err(&ended));
        assert!(err(&ended).contains(expected), "{}", err(&ended));
        assert!(out(&ended).is_empty());
    };
    refused(&["--set", "n=5"], 2, "parameter `n` is 3 there and 5 here");
    refused(&["--step", "0.02"], 2, "the step (s) is 0.01 there and 0.02 here");
    refused(
        &["--integrator", "Theta"],
        2,
        "the integrator is that of the scene there and `Theta` here",
    );
    refused(&["--no-files"], 2, "cannot be used with");
    fs::write(&file, format!("{text} // another weight\n")).unwrap();
    refused(&[], 2, "the scene file or one that it includes has changed since");
    fs::write(&file, &text).unwrap();
    // The log may have a part more than the checkpoint that was written last.
    for (path, bytes, missing) in [
        (&checkpoint, &whole[0], "there is no checkpoint in out"),
        (&log, &whole[1], "checkpoint.log: it is missing"),
    ] {
        let mut changed = bytes.clone();
        changed[60] ^= 1;
        fs::write(path, changed).unwrap();
        refused(&[], 2, "is damaged: its checksum is");
        fs::write(path, &bytes[..60]).unwrap();
        refused(&[], 2, "the end is missing");
        fs::remove_file(path).unwrap();
        refused(&[], 2, missing);
        fs::write(path, bytes).unwrap();
    }
    let line = b"pliant checkpoint of a run 2\n";
    let rest = whole[0].strip_prefix(line).unwrap();
    fs::write(&checkpoint, [b"pliant checkpoint of a run 1\n", rest].concat()).unwrap();
    refused(&[], 2, "version 1 of a checkpoint of a run cannot be read");
    fs::write(&checkpoint, "notes").unwrap();
    refused(&[], 2, "this is no checkpoint of a run of Pliant");
    let statics = scene("cook.ron");
    let ended = pliant(
        dir.path(),
        &[
            "run",
            statics.to_str().unwrap(),
            "--checkpoint-every",
            "1s",
            "--out",
            "b",
        ],
    );
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        err(&ended).contains("a scene of statics has no checkpoints"),
        "{}",
        err(&ended)
    );
    for (value, expected) in [
        ("3", "expected a time such as 30s"),
        ("0s", "greater than zero"),
        ("0steps", "from 1 on"),
        ("1.5steps", "from 1 on"),
        ("nans", "`nans` is no unit of time"),
        ("-1s", "greater than zero"),
        ("1000000000000000000000h", "that a clock can count"),
        ("3days", "`days` is no unit of time"),
    ] {
        let every = format!("--checkpoint-every={value}");
        let ended = pliant(dir.path(), &["run", &file, &every]);
        assert_eq!(ended.status.code(), Some(2), "{value}");
        assert!(err(&ended).contains(expected), "{value}: {}", err(&ended));
    }
}

/// A mesh that is replaced makes another run of the same scene.
#[test]
fn a_checkpoint_of_another_mesh_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mesh = |top: &str| {
        let corners = format!("v -9 -9 -9\nv 9 -9 -9\nv 0 9 -9\nv 0 0 {top}\n");
        let sides = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
        write(dir.path(), "floor.obj", &format!("{corners}{sides}"));
    };
    mesh("0");
    let text = "(gravity: (0, 0, -9.81), run: (duration: 1000), nodes: [
        Bodies(name: \"b\", bodies: [(position: (0, 0, 0.5), shape: Sphere(0.1), mass: 1)])],
        colliders: [Fixed(name: \"floor\", shape: Surface(file: \"floor.obj\")), Bodies(node: \"b\")])";
    let file = write(dir.path(), "ball.ron", text);
    kill_at_checkpoint(dir.path(), &file);
    mesh("0.1");
    let base = ["run", &file, "--out", "out", "--resume", "--duration", "1000"];
    let ended = pliant(dir.path(), &base);
    assert_eq!(ended.status.code(), Some(2), "{}", err(&ended));
    assert!(
        err(&ended).contains("a mesh that the scene reads has changed"),
        "{}",
        err(&ended)
    );
}

/// A directory in the place of a checkpoint: the run does not start.
#[test]
fn a_checkpoint_that_cannot_be_written_is_found_ahead_of_the_first_step() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(
        dir.path(),
        "weight.ron",
        &crate::WEIGHT.replace("HOW", "step: 0.01"),
    );
    fs::create_dir_all(dir.path().join("out/checkpoint.pliant/something")).unwrap();
    let base = ["run", &file, "--out", "out", "--checkpoint-every", "10steps"];
    let ended = pliant(dir.path(), &base);
    assert_eq!(ended.status.code(), Some(5), "{}", err(&ended));
    assert!(
        err(&ended).contains("cannot write out/checkpoint.pliant"),
        "{}",
        err(&ended)
    );
    assert!(out(&ended).is_empty(), "it did not start");
}

/// The disk is full while checkpoints are written: the run goes on, says so at its end, and leaves
/// the last checkpoint that found room, from which the results can be had without the steps before.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_last_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mkdir disk && mount -t tmpfs -o size=60k none disk && echo mounted || exit 0
        $0 run $1 --out whole --quiet --duration 2
        $0 run $1 --out disk/out --quiet --duration 2 --checkpoint-every 5steps; echo $?
        find disk -name '*.partial' | wc -l
        mount -o remount,size=20m disk
        $0 run $1 --out disk/out --quiet --duration 2 --resume; echo $?
        cp -R disk/out out";
    let Some(ended) = on_own_disk(dir.path(), script) else {
        return;
    };
    assert_eq!(out(&ended), "mounted\n5\n0\n0\n", "{}", err(&ended));
    assert!(
        err(&ended).contains("a checkpoint could not be written"),
        "{}",
        err(&ended)
    );
    assert_same(&dir.path().join("whole"), &dir.path().join("out"));
}
