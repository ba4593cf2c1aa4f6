//! Sweeps: tables, manifests, failures, and what becomes of a sweep that is killed.

mod example;
mod kept;
#[cfg(target_os = "linux")]
mod kills;
mod manifests;
mod places;
mod quantities;
mod workers;

use crate::{err, out, pliant, scene, write};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A mass on a rod, and a second rod that fits for one value of `rest`.
const RODS: &str = "(
    parameters: {\"rest\": 1, \"mass\": 1},
    gravity: (0, -9.81, 0), run: (duration: 0.2), nodes: [
    Particles(name: \"bob\", positions: [(1, 0, 0)], mass: \"$mass\"),
    Mapped(name: \"rods\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0)), (0, (0, 0, 0))], rest: [1, \"$rest\"])),
], constraints: [(name: \"hard\", on: \"rods\")])";

/// A sweep of [`RODS`] with jobs that go through, two that fail and two that are refused.
const MIXED: [&str; 4] = ["--set", "rest=1,1.1", "--set", "mass=1,-1,2.5"];

fn sweep(dir: &Path, scene: &str, more: &[&str]) -> std::process::Output {
    pliant(dir, &[&["sweep", scene], more].concat())
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of a table without quotes in its texts, by line.
fn cells(path: &Path) -> Vec<Vec<String>> {
    let line = |line: &str| {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    text(path).lines().map(line).collect()
}

fn column(table: &[Vec<String>], name: &str) -> Vec<String> {
    let k = table[0].iter().position(|n| n == name);
    let k = k.unwrap_or_else(|| panic!("{name}: {:?}", table[0]));
    table[1..].iter().map(|row| row[k].clone()).collect()
}

/// One table for any number of workers, with a row for each job, those that fail among them.
#[test]
fn the_table_is_the_same_for_any_number_of_workers() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let mut tables = Vec::new();
    for workers in ["1", "2", "3"] {
        let place = format!("s{workers}");
        let ran = sweep(
            dir.path(),
            &file,
            &[&MIXED[..], &["-j", workers, "--out", &place]].concat(),
        );
        assert_eq!(ran.status.code(), Some(6), "{}", err(&ran));
        assert!(err(&ran).contains("4 of 6 jobs failed"), "{}", err(&ran));
        let report = out(&ran);
        for words in [
            "6 were run, 0 had results",
            "2 ok, 4 failed",
            "0002: the mass of",
            "6 rows",
        ] {
            assert!(report.contains(words), "{words}: {report}");
        }
        tables.push(text(&dir.path().join(place).join("table.csv")));
    }
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
    let head = "job,parameters.rest,parameters.mass,status,error_kind,error,warnings,";
    assert!(tables[0].starts_with(head), "{}", tables[0]);
    let rows: Vec<&str> = tables[0].lines().skip(1).collect();
    for (row, start) in rows.iter().zip([
        "0001,1.0,1.0,ok,,,0,",
        "0002,1.0,-1.0,failed,refused,\"the mass of",
        "0003,1.0,2.5,ok,,,0,",
        "0004,1.1,1.0,failed,not_converged,",
        "0005,1.1,-1.0,failed,refused,",
        "0006,1.1,2.5,failed,not_converged,",
    ]) {
        assert!(row.starts_with(start), "{row}");
    }
    for word in ["seconds", "work", "crc32"] {
        assert!(!tables[0].contains(word), "{word}");
    }
    let times = cells(&dir.path().join("s1/times.csv"));
    assert_eq!(column(&times, "job"), ["0001", "0003", "0004", "0006"]);
    assert!(
        column(&times, "total")
            .iter()
            .all(|s| s.parse::<f64>().unwrap() > 0.0)
    );
}

/// A row holds what a run of its own says.
#[test]
fn rows_are_the_results_of_runs() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("pendulum.ron");
    let file = file.to_str().unwrap();
    let more = [
        "--set",
        "length=linspace(1,2,3)",
        "--duration",
        "0.5",
        "--result",
        "state.bob.positions",
    ];
    let ran = sweep(
        dir.path(),
        file,
        &[&more[..], &["--result", "energy_end", "-o", "t.csv"]].concat(),
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let table = cells(&dir.path().join("t.csv"));
    assert_eq!(column(&table, "parameters.length"), ["1.0", "1.5", "2.0"]);
    let chosen = [
        "warnings",
        "state.bob.positions.0.0",
        "state.bob.positions.0.1",
        "state.bob.positions.0.2",
    ];
    assert_eq!(table[0][5..9], chosen);
    assert_eq!(
        table[0][9..12],
        ["energy_end.kinetic", "energy_end.potential", "energy_end.total"]
    );
    let alone = pliant(
        dir.path(),
        &[
            "run",
            file,
            "--set",
            "length=1.5",
            "--duration",
            "0.5",
            "--out",
            "one",
        ],
    );
    assert_eq!(alone.status.code(), Some(0));
    let result: Value =
        serde_json::from_slice(&fs::read(dir.path().join("one/result.json")).unwrap()).unwrap();
    for (name, value) in [
        (
            "state.bob.positions.0.1",
            &result["state"]["bob"]["positions"][0][1],
        ),
        ("energy_end.total", &result["energy_end"]["total"]),
        ("residual.worst", &result["residual"]["worst"]),
        (
            "certificate.since_start.share",
            &result["certificate"]["since_start"]["share"],
        ),
        ("time", &result["time"]),
    ] {
        let found: f64 = column(&table, name)[1].parse().unwrap();
        assert_eq!(found.to_bits(), value.as_f64().unwrap().to_bits(), "{name}");
    }
    assert_eq!(column(&table, "steps")[1], result["steps"].to_string());
    // Results alone, unless all files are asked for.
    let names = |job: &str| {
        let mut names: Vec<_> = fs::read_dir(dir.path().join("out/pendulum-sweep/jobs").join(job))
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("0001"), [".pliant.lock", "manifest.json", "result.json"]);
    let all = sweep(
        dir.path(),
        file,
        &["--set", "length=1", "--duration", "0.1", "--all-files", "--quiet"],
    );
    assert_eq!(
        (all.status.code(), out(&all), err(&all)),
        (Some(0), String::new(), String::new())
    );
    // That job has another duration: what the earlier sweep left of it does not count.
    assert!(
        names("0001").contains(&"play.html".to_owned()),
        "{:?}",
        names("0001")
    );
}

/// A list gives points, and is combined with the values of an option.
#[test]
fn lists_and_values_are_combined() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    write(dir.path(), "points.csv", "mass,rest\n1,1\n\"max(2, 3)\",1\n");
    let ran = sweep(dir.path(), &file, &["--list", "points.csv", "--quiet"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let table = cells(&dir.path().join("out/rods-sweep/table.csv"));
    assert_eq!(column(&table, "parameters.mass"), ["1.0", "3.0"]);
    write(dir.path(), "points.csv", "mass\n1\n2\n");
    let more = ["--list", "points.csv", "--set", "rest=1,1+0", "--dry-run"];
    let ran = sweep(dir.path(), &file, &more);
    let manifest: Value = serde_json::from_str(&out(&ran)).unwrap();
    let of = |k: usize| &manifest["jobs"][k]["parameters"];
    let masses: Vec<f64> = (0..4).map(|k| of(k)["mass"].as_f64().unwrap()).collect();
    assert_eq!(masses, [1.0, 1.0, 2.0, 2.0]);
}

/// Mistakes are told ahead of the first job, with the place.
/// Where nothing varies there is one job, and it is run.
#[test]
fn a_sweep_of_one_point_is_one_job() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = pliant(dir.path(), &["sweep", &file, "--out", "one"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(out(&ran).contains("1 job in one"), "{}", out(&ran));
}

#[test]
fn mistakes_have_code_2_and_a_caret() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    write(dir.path(), "bad.csv", "mass,rest\n1,1\n2,x\n");
    write(dir.path(), "typo.csv", "mas\n1\n");
    write(dir.path(), "broken.ron", "(run: (durations: 1), nodes: [])");
    for (scene, more, words) in [
        (&file[..], &["--set", "masss=1,2"][..], "did you mean `mass`?"),
        (&file, &["--set", "mass=1,two"], "--> --set:1:8"),
        (
            &file,
            &["--set", "mass=1", "--set", "mass=2"],
            "`mass` is given twice",
        ),
        (
            &file,
            &[
                "--set",
                "mass=linspace(0,1,1001)",
                "--set",
                "rest=linspace(0,1,1001)",
            ],
            "1001 x 1001 jobs",
        ),
        (&file, &["--set", "mass=1,2", "--max-jobs", "1"], "the limit of 1"),
        (&file, &["--list", "bad.csv"], "--> bad.csv:3:3"),
        (&file, &["--list", "typo.csv"], "did you mean `mass`?"),
        (&file, &["--list", "none.csv"], "cannot read none.csv"),
        (
            &file,
            &["--set", "mass=1", "-o", "table.txt"],
            "tables end in `.csv` or `.parquet`",
        ),
        (&file, &["--set", "mass=1", "-j", "0"], "'0'"),
        (&file, &["--set", "mass=1", "--duration=-1"], "the duration is -1"),
        (
            &file,
            &["--set", "mass=1", "--checkpoint-every", "3days"],
            "no unit of time",
        ),
        ("broken.ron", &["--set", "mass=1"], "did you mean `duration`?"),
        ("none.ron", &["--set", "mass=1"], "cannot read the scene none.ron"),
    ] {
        let ran = sweep(dir.path(), scene, more);
        assert_eq!(ran.status.code(), Some(2), "{more:?}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{more:?}: {}", err(&ran));
    }
    // A manifest is a whole plan.
    for words in [
        "rods.ron",
        "--set=mass=1",
        "--list=a.csv",
        "--result=time",
        "--out=a",
        "--all-files",
        "--checkpoint-every=1s",
        "--max-jobs=2",
        "--duration=1",
        "--step=1",
        "--allow-outside=.",
        "--max-elements=1",
        "--max-file-size=1",
    ] {
        let ran = pliant(dir.path(), &["sweep", "--manifest", "m.json", words]);
        assert_eq!(ran.status.code(), Some(2), "{words}: {}", err(&ran));
        assert!(
            err(&ran).contains("cannot be used with"),
            "{words}: {}",
            err(&ran)
        );
    }
    assert!(!dir.path().join("out").exists(), "nothing was begun");
    // A quantity that no result has is known once there is a result; the table is there.
    let ran = sweep(
        dir.path(),
        &file,
        &["--set", "mass=1", "--result", "energy_end.totl"],
    );
    assert_eq!(ran.status.code(), Some(2));
    let told =
        "no result has `energy_end.totl`: its column is empty\n = help: did you mean `energy_end.total`?";
    assert!(err(&ran).contains(told), "{}", err(&ran));
    assert!(dir.path().join("out/rods-sweep/table.csv").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_a_feature() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let ran = sweep(dir.path(), &file, &["--set", "mass=1", "-o", "t.parquet"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(err(&ran).contains("--features parquet"), "{}", err(&ran));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_written_beside() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let mut tables = Vec::new();
    for workers in ["1", "3"] {
        let more = ["-j", workers, "--out", workers, "-o", "t.parquet", "-o", "t.csv"];
        let ran = sweep(dir.path(), &file, &[&MIXED[..], &more].concat());
        assert_eq!(ran.status.code(), Some(6), "{}", err(&ran));
        tables.push(fs::read(dir.path().join("t.parquet")).unwrap());
    }
    assert!(tables[0] == tables[1] && tables[0].starts_with(b"PAR1"));
}

/// The same command does what is missing, and notices what has changed.
#[test]
fn a_sweep_that_is_repeated_does_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let place = dir.path().join("out/rods-sweep");
    let again = |more: &[&str], words: &str, code: i32| {
        let ran = sweep(dir.path(), &file, more);
        assert_eq!(ran.status.code(), Some(code), "{}", err(&ran));
        assert!(out(&ran).contains(words), "{words}: {}", out(&ran));
        text(&place.join("table.csv"))
    };
    let three = ["--set", "mass=1,2,3"];
    let first = again(&three, "3 were run, 0 had results", 0);
    let result = place.join("jobs/0002/result.json");
    let whole = fs::read(&result).unwrap();
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    assert_eq!(fs::read(&result).unwrap(), whole, "it was not touched");
    // Another job of a failed sweep is tried again if it left nothing, not if it failed by itself.
    again(&MIXED, "5 were run, 1 had results", 6);
    again(&MIXED, "2 were run, 4 had results", 6);
    // Results of other parameters, also of those that are not named, and of another duration.
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    let other = again(
        &["--set", "rest=1.1", "--set", "mass=1,2,3"],
        "2 were run, 1 had results",
        6,
    );
    assert!(
        other
            .lines()
            .skip(1)
            .all(|row| row.contains(",failed,not_converged,")),
        "{other}"
    );
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    let brief = ["--set", "mass=1,2,3", "--duration", "0.1"];
    again(&brief, "3 were run, 0 had results", 0);
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    // Files that were changed, cut or are missing.
    let whole = fs::read(&result).unwrap();
    let bits = |k: usize| {
        whole
            .iter()
            .enumerate()
            .map(|(i, b)| b ^ u8::from(i == k))
            .collect::<Vec<u8>>()
    };
    for garbage in [
        bits(whole.len() / 2),
        bits(3),
        whole[..40].to_vec(),
        Vec::new(),
        b"notes".to_vec(),
    ] {
        fs::write(&result, garbage).unwrap();
        assert_eq!(again(&three, "1 were run, 2 had results", 0), first);
    }
    fs::remove_dir_all(place.join("jobs/0003")).unwrap();
    assert_eq!(again(&three, "1 were run, 2 had results", 0), first);
    fs::remove_file(place.join("jobs/0001/manifest.json")).unwrap();
    assert_eq!(again(&three, "1 were run, 2 had results", 0), first);
    // Values more, and in another order: what is there is moved to its job.
    again(&["--set", "mass=1,2,3,4"], "1 were run, 3 had results", 0);
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    let five = again(&["--set", "mass=0.5,3,1,4,2"], "1 were run, 4 had results", 0);
    let ran = sweep(dir.path(), &file, &["--set", "mass=0.5,3,1,4,2", "--out", "b"]);
    assert!(ran.status.success());
    assert_eq!(five, text(&dir.path().join("b/table.csv")));
    // Also where a sweep was killed while it moved them.
    for (from, to) in [
        ("0001", ".result-1-0003"),
        ("0002", ".result-1-0001"),
        ("0003", "0001"),
    ] {
        fs::rename(place.join("jobs").join(from), place.join("jobs").join(to)).unwrap();
    }
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    again(&["--set", "mass=3,0.5,4"], "0 were run, 3 had results", 0);
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
    // Another scene under the same name.
    fs::write(&file, RODS.replace("-9.81", "-1.62")).unwrap();
    let moon = again(&three, "3 were run, 0 had results", 0);
    assert_ne!(moon, first);
    fs::write(&file, RODS).unwrap();
    assert_eq!(again(&three, "0 were run, 3 had results", 0), first);
}

/// A mesh is a part of the scene, also one in another directory.
#[test]
fn a_changed_mesh_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["scenes", "meshes"] {
        fs::create_dir(dir.path().join(folder)).unwrap();
    }
    let mesh = |top: &str| {
        let corners = format!("v -9 -9 -9\nv 9 -9 -9\nv 0 9 -9\nv 0 0 {top}\n");
        let sides = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
        write(dir.path(), "meshes/floor.obj", &format!("{corners}{sides}"));
    };
    mesh("0");
    let text = "(parameters: {\"m\": 1}, gravity: (0, 0, -9.81), run: (duration: 0.05), nodes: [
        Bodies(name: \"b\", bodies: [(position: (0, 0, 0.5), shape: Sphere(0.1), mass: \"$m\")])],
        colliders: [Fixed(name: \"floor\", shape: Surface(file: \"../meshes/floor.obj\")), Bodies(node: \"b\")])";
    write(dir.path(), "scenes/ball.ron", text);
    let ran = |words: &str| {
        let more = [
            "--set",
            "m=1,2",
            "--allow-outside",
            "meshes",
            "--max-elements",
            "1000",
        ];
        let ran = sweep(dir.path(), "scenes/ball.ron", &more);
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        assert!(out(&ran).contains(words), "{words}: {}", out(&ran));
    };
    ran("2 were run");
    ran("0 were run, 2 had results");
    mesh("0.1");
    ran("2 were run, 0 had results");
    let manifest = self::text(&dir.path().join("out/ball-sweep/manifest.json"));
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["inputs"][0]["path"], "../../scenes/ball.ron");
    assert_eq!(manifest["inputs"][1]["path"], "../../meshes/floor.obj");
}

/// Where nothing can be written, nothing is run.
#[test]
fn places_that_cannot_be_written_are_found_ahead_of_the_first_job() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    write(dir.path(), "file", "");
    fs::create_dir(dir.path().join("folder.csv")).unwrap();
    for more in [
        ["--out", "file"],
        ["--out", "file/s"],
        ["-o", "none/t.csv"],
        ["-o", "file/t.csv"],
        ["-o", "folder.csv"],
    ] {
        let ran = sweep(dir.path(), &file, &[&["--set", "mass=1"], &more[..]].concat());
        assert_eq!(ran.status.code(), Some(5), "{more:?}: {}", err(&ran));
        assert!(
            err(&ran).contains(&format!("cannot write {}", more[1])),
            "{more:?}: {}",
            err(&ran)
        );
        assert!(out(&ran).is_empty());
    }
    assert!(!dir.path().join("out").exists());
    // A directory of one job that cannot be had is a row.
    fs::create_dir_all(dir.path().join("out/rods-sweep/jobs")).unwrap();
    write(dir.path(), "out/rods-sweep/jobs/0001", "");
    let ran = sweep(dir.path(), &file, &["--set", "mass=1,2"]);
    assert_eq!(ran.status.code(), Some(6), "{}", err(&ran));
    let table = cells(&dir.path().join("out/rods-sweep/table.csv"));
    assert_eq!(column(&table, "status"), ["failed", "ok"]);
    assert_eq!(column(&table, "error_kind"), ["unwritten", ""]);
}

#[test]
fn the_first_failure_may_end_a_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    let more = ["--set", "mass=1,-1,2,3", "--fail-fast", "-j", "1"];
    let ran = sweep(dir.path(), &file, &more);
    assert_eq!(ran.status.code(), Some(6), "{}", err(&ran));
    let table = cells(&dir.path().join("out/rods-sweep/table.csv"));
    assert_eq!(column(&table, "status"), ["ok", "failed", "missing", "missing"]);
}
