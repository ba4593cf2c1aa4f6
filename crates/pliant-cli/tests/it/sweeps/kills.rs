//! Sweeps that are killed or interrupted, and go on.

use super::{cells, column, text};
use crate::{err, scene};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

/// Jobs of some tens of milliseconds.
const LONG: [&str; 6] = [
    "--set",
    "draw=0.2,0.25,0.3,0.35",
    "--duration",
    "0.3",
    "--checkpoint-every",
    "20steps",
];

fn start(dir: &Path, file: &str, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir)
        .args(["sweep", file, "--quiet"])
        .args(more)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Processes whose parent has this number.
fn children(parent: u32) -> Vec<u32> {
    let stat = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        text.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse::<u32>()
            .ok()
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid) == Some(parent)).collect()
}

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([name, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    assert!(sent.is_ok());
}

/// Workers and the sweep itself are killed at random moments: the same command comes to the same
/// table in the end. The environment's `PLIANT_KILLS` is the number of kills, ten without it.
#[test]
fn killed_sweeps_go_on_to_the_same_table() {
    let kills = std::env::var("PLIANT_KILLS").map_or(10, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let file = scene("bow.ron");
    let file = file.to_str().unwrap();
    let started = std::time::Instant::now();
    let ended = start(
        dir.path(),
        file,
        &[&LONG[..], &["--out", "whole", "-j", "2"]].concat(),
    );
    let ended = ended.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", err(&ended));
    let mut most = started.elapsed().as_millis() as u64;
    let whole = text(&dir.path().join("whole/table.csv"));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut killed = [0; 2];
    while killed[0] + killed[1] < kills {
        let table = dir.path().join("s/table.csv");
        let before = fs::read_to_string(&table).ok();
        let is_whole = !dir.path().join("s").exists();
        let workers = ["1", "2", "3"][random.below(3) as usize];
        let mut child = start(
            dir.path(),
            file,
            &[&LONG[..], &["--out", "s", "-j", workers]].concat(),
        );
        // Nobody waits for a sweep that has ended. If it ran from its beginning, later ones are
        // killed within its time: the machine may have been busier with the first one.
        let (begun, wait) = (std::time::Instant::now(), random.below(most));
        while begun.elapsed().as_millis() < u128::from(wait) {
            if child.try_wait().unwrap().is_some() {
                if is_whole {
                    most = most.min(begun.elapsed().as_millis() as u64).max(1);
                }
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let workers = children(child.id());
        let idle = workers.is_empty();
        let of_worker = random.below(2) == 0 && !workers.is_empty();
        if of_worker {
            signal("-9", workers[random.below(workers.len() as u64) as usize]);
        } else if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed[1] += 1;
        }
        let ended = child.wait_with_output().unwrap();
        match ended.status.code() {
            // Whoever was killed had just ended, or nobody was.
            Some(0) => assert_eq!(text(&dir.path().join("s/table.csv")), whole),
            Some(6) => {
                killed[0] += 1;
                let table = text(&dir.path().join("s/table.csv"));
                assert!(table.contains(",failed,killed,ended by a signal: 9"), "{table}");
            }
            // The table of an earlier sweep is gone once there are jobs; its own may be there as
            // its last act.
            None => {
                let table = fs::read_to_string(&table).ok();
                let not_begun = idle && table == before;
                assert!(
                    not_begun || table.as_ref().is_none_or(|table| *table == whole),
                    "{table:?}"
                );
            }
            code => panic!("{code:?}: {}", err(&ended)),
        }
        if ended.status.code() == Some(0) {
            fs::remove_dir_all(dir.path().join("s")).unwrap();
        }
    }
    let ended = start(
        dir.path(),
        file,
        &[&LONG[..], &["--out", "s", "-j", "2"]].concat(),
    );
    let ended = ended.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", err(&ended));
    assert_eq!(text(&dir.path().join("s/table.csv")), whole);
    // Few kills may all be of one kind.
    assert!(killed[0] + killed[1] >= kills, "{killed:?}");
    assert!(kills < 10 || (killed[0] > 0 && killed[1] > 0), "{killed:?}");
}

/// Tables of an earlier sweep are gone when the first job begins.
#[test]
fn a_killed_sweep_leaves_no_tables() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("bow.ron");
    let file = file.to_str().unwrap();
    let common = ["--out", "s", "--set"];
    let brief = [&common[..], &["draw=0.2", "--duration", "0.01"]].concat();
    assert!(start(dir.path(), file, &brief).wait().unwrap().success());
    let tables = ["s/table.csv", "s/times.csv"].map(|name| dir.path().join(name));
    assert!(tables.iter().all(|table| table.exists()));
    let mut child = start(dir.path(), file, &[&common[..], &["draw=0.3"]].concat());
    while children(child.id()).is_empty() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for table in tables {
        assert!(!table.exists(), "{}", table.display());
    }
}

/// A sweep that is asked to end leaves checkpoints of the jobs that run, and goes on from them.
#[test]
fn an_interrupted_sweep_goes_on_from_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("bow.ron");
    let file = file.to_str().unwrap();
    let sweep = |place: &str| {
        start(
            dir.path(),
            file,
            &["--set", "draw=0.2,0.3", "--out", place, "-j", "1"],
        )
    };
    assert!(sweep("whole").wait().unwrap().success());
    let child = sweep("s");
    while children(child.id()).is_empty() {
        std::thread::yield_now();
    }
    // The first job is past its start when its directory has a lock.
    while !dir.path().join("s/jobs/0001/.pliant.lock").exists() {
        std::thread::yield_now();
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    signal("-TERM", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", err(&ended));
    assert!(
        err(&ended).contains("the same command goes on"),
        "{}",
        err(&ended)
    );
    let job = dir.path().join("s/jobs/0001");
    let left = job.join("checkpoint.pliant").exists();
    let result: Value = serde_json::from_str(&text(&job.join("result.json"))).unwrap();
    assert_eq!(result["status"] == "interrupted", left);
    assert!(left, "the first job was over by then");
    let table = cells(&dir.path().join("s/table.csv"));
    assert_eq!(column(&table, "status"), ["failed", "missing"]);
    assert_eq!(column(&table, "error_kind"), ["interrupted", ""]);
    // Also where other values took the place of the job in the meantime.
    let checkpoint = fs::read(job.join("checkpoint.pliant")).unwrap();
    let other = ["--set", "draw=0.25", "--duration", "0.01", "--out", "s"];
    assert!(start(dir.path(), file, &other).wait().unwrap().success());
    let kept = dir.path().join("s/jobs/kept-0001/checkpoint.pliant");
    assert!(fs::read(kept).unwrap() == checkpoint);
    assert!(sweep("s").wait().unwrap().success());
    assert!(!job.join("checkpoint.pliant").exists());
    assert_eq!(
        text(&dir.path().join("s/table.csv")),
        text(&dir.path().join("whole/table.csv"))
    );
}

/// Two sweeps in one directory at once: the second is refused.
#[test]
fn a_directory_belongs_to_one_sweep_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("bow.ron");
    let file = file.to_str().unwrap();
    let mut first = start(dir.path(), file, &["--set", "draw=0.2,0.3", "--out", "s"]);
    while children(first.id()).is_empty() {
        std::thread::yield_now();
    }
    let second = start(dir.path(), file, &["--set", "draw=0.2", "--out", "s"])
        .wait_with_output()
        .unwrap();
    assert_eq!(second.status.code(), Some(5), "{}", err(&second));
    assert!(
        err(&second).contains("another run is writing into s"),
        "{}",
        err(&second)
    );
    signal("-TERM", first.id());
    first.wait().unwrap();
}
