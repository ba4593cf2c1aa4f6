//! Jobs at the same time: how many there may be, how they are interrupted, and what is counted.

use super::{RODS, cells, column, sweep};
use crate::{err, out, write};
use std::process::Command;

#[test]
fn the_number_of_jobs_at_the_same_time_has_a_bound() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    for number in ["257", "300", "1e3", "-1"] {
        let ran = sweep(dir.path(), &file, &["--set", "mass=1", &format!("-j{number}")]);
        assert_eq!(ran.status.code(), Some(2), "{number}: {}", err(&ran));
        assert!(
            err(&ran).contains("expected a whole number from 1 to 256"),
            "{}",
            err(&ran)
        );
    }
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "-j", "256"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
}

/// Threads that ask for more memory than there are addresses cannot be made.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn without_threads_there_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir.path())
        .args(["sweep", &file, "--set", "mass=1,2", "-j", "2"])
        .env("RUST_MIN_STACK", "1000000000000000000")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(5), "{}", err(&ran));
    let words = "error: cannot start a thread for the jobs: ";
    assert!(err(&ran).contains(words), "{}", err(&ran));
}

/// The first failure is told when it happens, not at the end alone.
#[test]
fn the_first_failure_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = sweep(dir.path(), &file, &["--set", "mass=1,-1,-2", "-j", "1"]);
    assert_eq!(ran.status.code(), Some(6));
    assert!(
        err(&ran).contains("job 0002 failed: the mass of"),
        "{}",
        err(&ran)
    );
    assert!(!err(&ran).contains("job 0003 failed"), "{}", err(&ran));
}

#[cfg(target_os = "linux")]
mod interrupts {
    use super::*;
    use crate::scene;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Output, Stdio};
    use std::time::Duration;

    /// Starts a sweep of three bows as the leader of a process group, waits until a place is there,
    /// and signals all of the group after a moment.
    fn interrupted(dir: &Path, workers: &str, place: &str, moment: Duration) -> Output {
        let file = scene("bow.ron");
        let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .current_dir(dir)
            .arg("sweep")
            .arg(file)
            .args(["--set", "draw=0.2,0.3,0.25", "--out", "s", "-j", workers])
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !dir.join(place).exists() {
            assert!(
                child.try_wait().unwrap().is_none(),
                "the sweep ended before it began"
            );
            std::thread::yield_now();
        }
        std::thread::sleep(moment);
        let group = format!("-{}", child.id());
        let sent = Command::new("kill").args(["-INT", "--", &group]).status();
        assert!(sent.unwrap().success());
        child.wait_with_output().unwrap()
    }

    /// Ctrl-C, which goes to all processes of a group: whatever their state, the jobs are
    /// interrupted, and not killed.
    #[test]
    fn ctrl_c_interrupts_jobs_at_any_moment() {
        for moment in 0..12u64 {
            let dir = tempfile::tempdir().unwrap();
            let ended = interrupted(dir.path(), "2", "s/jobs", Duration::from_millis(moment));
            assert_eq!(ended.status.code(), Some(130), "{}", err(&ended));
            let table = cells(&dir.path().join("s/table.csv"));
            let kinds = column(&table, "error_kind");
            assert!(
                kinds.iter().all(|kind| kind == "interrupted" || kind.is_empty()),
                "{table:?}"
            );
        }
    }

    /// The numbers that are told of an interrupted sweep are those of its table.
    #[test]
    fn interrupted_jobs_have_no_results() {
        let dir = tempfile::tempdir().unwrap();
        // The first job has begun: its directory is there.
        let ended = interrupted(dir.path(), "1", "s/jobs/0001", Duration::from_millis(20));
        assert_eq!(ended.status.code(), Some(130), "{}", err(&ended));
        let table = cells(&dir.path().join("s/table.csv"));
        assert_eq!(column(&table, "error_kind"), ["interrupted", "", ""]);
        assert!(
            err(&ended).contains("interrupted: 0 of 3 jobs have results"),
            "{}",
            err(&ended)
        );
        for words in [
            "0 were run, 0 had results, 2 are missing, 1 interrupted",
            "0 ok, 0 failed",
        ] {
            assert!(out(&ended).contains(words), "{}", out(&ended));
        }
    }
}
