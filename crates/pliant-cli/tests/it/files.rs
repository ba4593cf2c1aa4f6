//! The directory of results as several runs, links and sudden ends meet it.

use crate::{err, out, pliant, scene, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Contents by path from a directory, with forward slashes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn files(dir: &Path) -> Files {
    let mut all = Files::new();
    for (prefix, dir) in [("", dir.to_owned()), ("frames/", dir.join("frames"))] {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_str().unwrap();
                all.insert(format!("{prefix}{name}"), fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// Number of files, of which some may come and go.
fn entries(dir: &Path) -> usize {
    let of = |dir| fs::read_dir(dir).into_iter().flatten().count();
    of(dir.to_owned()) + of(dir.join("frames"))
}

/// CRC-32 bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
        }
    }
    !crc
}

/// Checks that a directory holds the complete set of one run, of the scene's title: what its
/// manifest lists, the manifest and the lock, and nothing else.
pub(crate) fn check_set(dir: &Path) -> serde_json::Value {
    let mut left = files(dir);
    assert_eq!(left.remove(".pliant.lock"), Some(Vec::new()));
    let manifest: serde_json::Value = serde_json::from_slice(&left.remove("manifest.json").unwrap()).unwrap();
    assert_eq!(manifest["format"], "pliant-manifest-1");
    assert_eq!(manifest["unwritten"], serde_json::json!([]));
    for file in manifest["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let bytes = left.remove(name).unwrap_or_else(|| panic!("{name} is missing"));
        if ["result.json", "checkpoint.pliant", "checkpoint.log"].contains(&name) {
            assert!(file["bytes"].is_null() && file["crc32"].is_null());
            continue;
        }
        assert_eq!(file["bytes"], bytes.len(), "{name}");
        assert_eq!(file["crc32"], format!("{:08x}", crc32(&bytes)), "{name}");
    }
    assert_eq!(left.keys().collect::<Vec<_>>(), Vec::<&String>::new());
    let result: serde_json::Value =
        serde_json::from_slice(&fs::read(dir.join("result.json")).unwrap()).unwrap();
    assert_eq!(
        (&result["status"], &result["scene"]),
        (&manifest["status"], &manifest["scene"])
    );
    result
}

/// Starts a run of the pendulum into `out`.
fn start(dir: &Path, step: &str, duration: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir)
        .args([
            "run",
            scene("pendulum.ron").to_str().unwrap(),
            "--out",
            "out",
            "--quiet",
        ])
        .args(["--step", step, "--duration", duration])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// One of two takes the directory. The other one is refused, or comes after it and replaces it.
#[test]
fn of_two_runs_at_once_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let steps = ["0.01", "0.0125"];
    let mut refusals = 0;
    for _ in 0..12 {
        let _ = fs::remove_dir_all(dir.path().join("out"));
        let runs = steps.map(|step| start(dir.path(), step, "2"));
        let mut good = Vec::new();
        for (run, step) in runs.into_iter().zip(steps) {
            let ended = run.wait_with_output().unwrap();
            if ended.status.code() == Some(0) {
                good.push(step.parse::<f64>().unwrap());
            } else {
                let text = err(&ended);
                assert_eq!(ended.status.code(), Some(5), "{text}");
                assert!(text.contains("another run is writing into out"), "{text}");
                refusals += 1;
            }
        }
        let result = check_set(&dir.path().join("out"));
        let step = result["step"].as_f64().unwrap();
        assert!(good.contains(&step), "{step} of {good:?}");
    }
    assert!(refusals > 0, "no two of them ran at once");
}

#[test]
fn a_shorter_run_leaves_no_frames_of_a_longer_one() {
    let dir = tempfile::tempdir().unwrap();
    let run = |duration| assert!(start(dir.path(), "0.01", duration).wait().unwrap().success());
    run("3");
    let long = files(&dir.path().join("out")).len();
    fs::write(dir.path().join("out/notes.txt"), "mine").unwrap();
    run("1");
    assert_eq!(fs::read(dir.path().join("out/notes.txt")).unwrap(), b"mine");
    fs::remove_file(dir.path().join("out/notes.txt")).unwrap();
    check_set(&dir.path().join("out"));
    assert!(files(&dir.path().join("out")).len() < long);
}

/// Killed while it simulates or writes, a run leaves whole files, and the next one a whole set.
#[test]
fn a_killed_run_leaves_no_half_file_and_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    assert!(start(dir.path(), "0.005", "8").wait().unwrap().success());
    check_set(&out);
    let whole = files(&out);
    let mut stopped = 0;
    // The number of files at which to kill.
    for count in [1, 3, 4, 6, 9, 12, 40, 100] {
        fs::remove_dir_all(&out).unwrap();
        let mut run = start(dir.path(), "0.005", "8");
        while entries(&out) < count && run.try_wait().unwrap().is_none() {}
        run.kill().unwrap();
        run.wait().unwrap();
        let left = files(&out);
        for (name, bytes) in &left {
            let is_temporary = name.ends_with(".partial");
            // The one has seconds in it, the other one a state.
            if !is_temporary && !["result.json", "manifest.json"].contains(&name.as_str()) {
                assert!(whole[name] == *bytes, "{name} after {count} files");
            }
        }
        for name in ["result.json", "manifest.json"] {
            if let Some(bytes) = left.get(name) {
                serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
            }
        }
        stopped += usize::from(left.len() < whole.len());
        assert!(start(dir.path(), "0.01", "1").wait().unwrap().success());
        check_set(&out);
    }
    assert!(stopped > 4, "{stopped} runs were killed before their end");
}

/// Killed at any moment, also over the results of an earlier run: the manifest says that a set is
/// complete only where it is, and what stands under the name of a result is a whole file. A set is
/// also complete beside a file that the killed run had begun under a name of its own.
#[test]
fn a_run_killed_at_a_random_moment_leaves_no_result_or_a_whole_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let runs = [["0.005", "8"], ["0.01", "3"]];
    let clock = std::time::Instant::now();
    let whole = runs.map(|[step, duration]| {
        assert!(start(dir.path(), step, duration).wait().unwrap().success());
        check_set(&out);
        files(&out)
    });
    // As long as two runs: about half of them come to their end.
    let longest = clock.elapsed().as_micros() as u64;
    let (mut complete, mut random) = (0, 1_u64);
    for k in 0..24 {
        let [step, duration] = runs[k % 2];
        let mut run = start(dir.path(), step, duration);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(std::time::Duration::from_micros((random >> 33) % longest));
        run.kill().unwrap();
        run.wait().unwrap();
        let left = files(&out);
        let says: Option<serde_json::Value> = left
            .get("manifest.json")
            .map(|bytes| serde_json::from_slice(bytes).unwrap());
        if says.is_some_and(|manifest| {
            manifest["unwritten"] == serde_json::json!([]) && manifest["status"] != "writing"
        }) {
            for begun in left.keys().filter(|name| name.ends_with(".partial")) {
                fs::remove_file(out.join(begun)).unwrap();
            }
            check_set(&out);
            complete += 1;
        }
        for (name, bytes) in &left {
            if ["result.json", "manifest.json", ".pliant.lock"].contains(&name.as_str())
                || name.ends_with(".partial")
            {
                continue;
            }
            assert!(
                whole.iter().any(|w| w.get(name) == Some(bytes)),
                "{name} after kill {k}"
            );
        }
    }
    println!("{complete} of 24 directories hold a complete set");
    assert!(start(dir.path(), "0.01", "1").wait().unwrap().success());
    check_set(&out);
}

/// A run of hours keeps its directory from its first step on.
#[test]
fn a_directory_is_taken_ahead_of_the_first_step() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = start(dir.path(), "0.002", "9000");
    let lock = dir.path().join("out/.pliant.lock");
    while !lock.exists() && first.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // The lock is taken just after its file is made.
    std::thread::sleep(std::time::Duration::from_millis(1000));
    let second = start(dir.path(), "0.01", "1").wait_with_output().unwrap();
    let text = err(&second);
    assert_eq!(second.status.code(), Some(5), "{text}");
    assert!(text.contains("another run is writing into out"), "{text}");
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(start(dir.path(), "0.01", "1").wait().unwrap().success());
    check_set(&dir.path().join("out"));
}

/// A bad scene leaves no directory.
#[test]
fn a_bad_scene_takes_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    let bad = write(dir.path(), "bad.ron", "(run: (durations: 1), nodes: [])");
    assert_eq!(pliant(dir.path(), &["run", &bad]).status.code(), Some(2));
    assert!(!dir.path().join("out").exists());
}

#[cfg(unix)]
#[test]
fn links_lead_nothing_outside() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let pendulum = scene("pendulum.ron");
    let run = || pliant(dir.path(), &["run", pendulum.to_str().unwrap(), "--step", "0.05"]);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(dir.path().join("out")).unwrap();
    let victim = write(dir.path(), "victim", "mine");
    let results = dir.path().join("out/pendulum");
    symlink(&elsewhere, &results).unwrap();
    let refused = run();
    assert_eq!(refused.status.code(), Some(5), "{}", err(&refused));
    assert!(
        err(&refused).contains("out/pendulum: it is a link to"),
        "{}",
        err(&refused)
    );
    fs::remove_file(&results).unwrap();
    fs::create_dir(&results).unwrap();
    symlink(&elsewhere, results.join("frames")).unwrap();
    let refused = run();
    assert_eq!(refused.status.code(), Some(5), "{}", err(&refused));
    assert!(
        err(&refused).contains("frames: it is a link to"),
        "{}",
        err(&refused)
    );
    assert!(out(&refused).is_empty(), "no step was taken: {}", out(&refused));
    fs::remove_file(results.join("frames")).unwrap();
    for name in ["result.json", "play.html", ".energy.csv.partial", "energy.csv"] {
        symlink(&victim, results.join(name)).unwrap();
    }
    let good = run();
    assert_eq!(good.status.code(), Some(0), "{}", err(&good));
    fs::remove_file(results.join(".energy.csv.partial")).unwrap();
    check_set(&results);
    assert_eq!(fs::read(victim).unwrap(), b"mine");
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
}

/// A limit of the system on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn files_that_find_no_room_leave_no_half() {
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("out");
    assert!(start(dir.path(), "0.01", "1").wait().unwrap().success());
    let pendulum = scene("pendulum.ron");
    let limited = |blocks: u32| {
        let limit =
            format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" run \"$1\" --out out --duration 1");
        Command::new("sh")
            .current_dir(dir.path())
            .args([
                "-c",
                &limit,
                env!("CARGO_BIN_EXE_pliant"),
                pendulum.to_str().unwrap(),
            ])
            .output()
            .unwrap()
    };
    // Room for no file at all: what was there stays as it was.
    let before = files(&results);
    let ended = limited(0);
    assert_eq!(ended.status.code(), Some(5), "{}", err(&ended));
    assert!(err(&ended).contains("cannot write"), "{}", err(&ended));
    assert!(files(&results) == before);
    // Room for small files.
    let ended = limited(16);
    assert_eq!(ended.status.code(), Some(5), "{}", err(&ended));
    assert!(err(&ended).contains("play.html"), "{}", err(&ended));
    let left = files(&results);
    assert!(
        left.keys().all(|name| !name.ends_with(".partial")),
        "{:?}",
        left.keys()
    );
    assert!(!left.contains_key("play.html"), "not that of the run before");
    let manifest: serde_json::Value = serde_json::from_slice(&left["manifest.json"]).unwrap();
    assert!(
        manifest["unwritten"]
            .as_array()
            .unwrap()
            .contains(&"play.html".into()),
        "{manifest}"
    );
    assert!(start(dir.path(), "0.01", "1").wait().unwrap().success());
    check_set(&results);
}

/// Runs a script of the shell in a name space where it may mount a disk, after which it says
/// `mounted`: `$0` is the program, `$1` the pendulum. `None` where the system mounts nothing for
/// users.
#[cfg(target_os = "linux")]
pub(crate) fn on_own_disk(dir: &Path, script: &str) -> Option<Output> {
    let ended = Command::new("unshare")
        .current_dir(dir)
        .args(["-r", "-m", "sh", "-c", script, env!("CARGO_BIN_EXE_pliant")])
        .arg(scene("pendulum.ron"))
        .output();
    let mounted = ended.ok().filter(|ended| out(ended).starts_with("mounted"));
    if mounted.is_none() {
        eprintln!("not tested: this system mounts nothing for users");
    }
    mounted
}

/// A disk of 300 kB.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_the_next_run_works() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o size=300k none disk || exit 0; echo mounted
        for duration in 0.2 50 0.2; do
            \"$0\" run \"$1\" --quiet --out disk/out --duration $duration; echo $?
            find disk -name '*.partial' | wc -l
        done
        cp -R disk/out out";
    let Some(ended) = on_own_disk(dir.path(), script) else {
        return;
    };
    assert_eq!(out(&ended), "mounted\n0\n0\n5\n0\n0\n0\n", "{}", err(&ended));
    assert!(err(&ended).contains("No space left"), "{}", err(&ended));
    check_set(&dir.path().join("out"));
}

/// Ctrl-C, and the signal by which clusters and services end a program.
#[cfg(unix)]
#[test]
fn signals_end_a_run_after_a_step_with_its_results() {
    for signal in ["INT", "TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let text = crate::WEIGHT.replace("HOW", "record_every: 100000");
        let file = write(dir.path(), "long.ron", &text);
        let mut run = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .current_dir(dir.path())
            .args(["run", &file, "--duration", "80000", "--out", "results"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !dir.path().join("results/.pliant.lock").exists() {
            assert!(run.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        let kill = format!("kill -{signal} {}", run.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", err(&ended));
        assert!(err(&ended).contains("interrupted at t = "), "{}", err(&ended));
        assert!(out(&ended).contains("status     interrupted"), "{}", out(&ended));
        let result = check_set(&dir.path().join("results"));
        assert_eq!(result["status"], "interrupted");
        assert!(result["steps"].as_u64().unwrap() > 0);
        assert!(dir.path().join("results/checkpoint.pliant").exists());
    }
}

/// `timeout` and schedulers signal a process and its group: that is one signal.
#[cfg(unix)]
#[test]
fn two_signals_at_once_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let text = crate::WEIGHT.replace("HOW", "record_every: 100000");
    let file = write(dir.path(), "long.ron", &text);
    let ended = Command::new("timeout")
        .current_dir(dir.path())
        .args(["1", env!("CARGO_BIN_EXE_pliant"), "run", &file])
        .args(["--duration", "80000", "--out", "results"])
        .output()
        .unwrap();
    assert!(out(&ended).contains("status     interrupted"), "{}", err(&ended));
    check_set(&dir.path().join("results"));
}
