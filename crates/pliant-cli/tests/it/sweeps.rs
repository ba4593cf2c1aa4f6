//! Sweeps: tables, manifests, failures, and what becomes of a sweep that is killed.

use crate::{err, out, pliant, scene, write};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
#[test]
fn mistakes_have_code_2_and_a_caret() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "rods.ron", RODS);
    write(dir.path(), "bad.csv", "mass,rest\n1,1\n2,x\n");
    write(dir.path(), "typo.csv", "mas\n1\n");
    write(dir.path(), "broken.ron", "(run: (durations: 1), nodes: [])");
    for (scene, more, words) in [
        (&file[..], &[][..], "nothing varies"),
        (&file, &["--set", "masss=1,2"], "did you mean `mass`?"),
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
        (
            &file,
            &["--set", "mass=1", "--manifest", "m.json"],
            "cannot be used with",
        ),
        ("broken.ron", &["--set", "mass=1"], "did you mean `duration`?"),
        ("none.ron", &["--set", "mass=1"], "cannot read the scene none.ron"),
    ] {
        let ran = sweep(dir.path(), scene, more);
        assert_eq!(ran.status.code(), Some(2), "{more:?}: {}", err(&ran));
        assert!(err(&ran).contains(words), "{more:?}: {}", err(&ran));
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
    assert_eq!(again(&three, "1 were run, 2 had results", 0), first);
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
    again(
        &["--set", "mass=1,2,3", "--duration", "0.1"],
        "3 were run, 0 had results",
        0,
    );
    assert_eq!(again(&three, "2 were run, 1 had results", 0), first);
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
    assert_eq!(again(&three, "3 were run, 0 had results", 0), first);
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

/// Complete elliptic integral of the first kind, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..60 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// The example of the documentation, as it stands there: quarters of periods by the closed form,
/// and what the steps miss of them, of second order.
#[test]
fn the_example_of_the_documentation_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweeps.md");
    let page = text(&page);
    let block = |kind: &str| {
        page.split_once(&format!("```{kind}\n"))
            .unwrap()
            .1
            .split_once("```")
            .unwrap()
            .0
    };
    write(dir.path(), "quarter.ron", block("ron"));
    write(dir.path(), "quarter.csv", block("csv"));
    let command = page
        .lines()
        .find(|line| line.starts_with("pliant sweep quarter.ron"))
        .unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let ran = pliant(dir.path(), &words);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let table = cells(&dir.path().join("out/quarter-sweep/table.csv"));
    let numbers = |name: &str| -> Vec<f64> {
        column(&table, name)
            .iter()
            .map(|cell| cell.parse().unwrap())
            .collect()
    };
    let (angles, quarters) = (numbers("parameters.angle"), numbers("parameters.quarter"));
    let (places, speeds) = (
        numbers("state.bob.positions.0.0"),
        numbers("state.bob.velocities.0.0"),
    );
    assert_eq!(angles.len(), 15);
    let mut missed = Vec::new();
    for k in 0..15 {
        let quarter = elliptic((0.5 * angles[k].to_radians()).sin()) / 9.81_f64.sqrt();
        // The closed form in the page has 16 digits.
        assert!((quarters[k] - quarter).abs() < 1e-15, "{} {quarter}", quarters[k]);
        missed.push(-places[k] / speeds[k]);
    }
    for (row, angle) in missed.chunks(3).zip([10, 45, 90, 135, 170]) {
        // Of second order, but for terms of the fourth in 1/100.
        assert!(
            (row[0] / row[1] - 4.0).abs() < 0.05 && (row[1] / row[2] - 4.0).abs() < 0.05,
            "{row:?}"
        );
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {angle}\u{b0} |")))
            .unwrap();
        let said: Vec<f64> = line
            .split('|')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        for (said, found) in said.iter().zip(row) {
            // Three digits.
            assert!((said / found - 1.0).abs() < 5e-3, "{line} {found}");
        }
    }
}

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
#[cfg(target_os = "linux")]
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

#[cfg(unix)]
fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([name, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    assert!(sent.is_ok());
}

/// Workers and the sweep itself are killed at random moments: the same command comes to the same
/// table in the end. The environment's `PLIANT_KILLS` is the number of kills, ten without it.
#[cfg(target_os = "linux")]
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
    let most = started.elapsed().as_millis() as u64;
    let whole = text(&dir.path().join("whole/table.csv"));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut killed = [0; 2];
    while killed[0] + killed[1] < kills {
        let workers = ["1", "2", "3"][random.below(3) as usize];
        let mut child = start(
            dir.path(),
            file,
            &[&LONG[..], &["--out", "s", "-j", workers]].concat(),
        );
        std::thread::sleep(std::time::Duration::from_millis(random.below(most)));
        let workers = children(child.id());
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
            None => assert!(
                !dir.path().join("s/table.csv").exists(),
                "a table of an earlier sweep"
            ),
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
    assert!(killed[0] > 0 && killed[1] > 0, "{killed:?}");
}

/// A sweep that is asked to end leaves checkpoints of the jobs that run, and goes on from them.
#[cfg(target_os = "linux")]
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
    assert!(sweep("s").wait().unwrap().success());
    assert!(!job.join("checkpoint.pliant").exists());
    assert_eq!(
        text(&dir.path().join("s/table.csv")),
        text(&dir.path().join("whole/table.csv"))
    );
}

/// Two sweeps in one directory at once: the second is refused.
#[cfg(target_os = "linux")]
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
