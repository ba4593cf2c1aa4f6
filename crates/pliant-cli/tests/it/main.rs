//! The program as its users meet it: arguments, output, files, exit codes.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod book;
mod bounds;
mod checkpoints;
mod distributed;
mod files;
mod gradients;
mod ik;
mod import;
mod info;
mod methods;
mod modes;
mod plots;
mod render;
mod states;
mod summaries;
mod sweeps;
mod tables;
mod threads;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn scene(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes")
        .join(name)
}

fn pliant(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pliant"))
        .current_dir(dir)
        .args(arguments)
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Two rods of different lengths between the same two points.
const CONTRADICTION: &str = "(run: (duration: 1), nodes: [
    Particles(name: \"a\", positions: [(1, 0, 0)], mass: 1),
    Mapped(name: \"r\", parents: [\"a\"], mapping: Distance(pairs: [(0, (0, 0, 0)), (0, (0, 0, 0))], rest: [1.0, 1.1])),
], constraints: [(name: \"hard\", on: \"r\")])";

/// A spring that pushes so hard that the sideways stiffness turns negative.
const COMPRESSED: &str = "(run: (duration: 1, integrator: Theta, clamp_geometry: false), nodes: [
    Particles(name: \"a\", positions: [(1, 0, 0)], mass: 1e-6),
    Mapped(name: \"r\", parents: [\"a\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 2)),
], force_fields: [(name: \"spring\", on: \"r\", law: Stiffness(1e9), treatment: Stiffness)])";

/// A weight on a spring.
const WEIGHT: &str = "(gravity: (0, -10, 0), run: (duration: 1, HOW), nodes: [
    Particles(name: \"p\", positions: [(0.1, -1, 0)], mass: 2),
    Mapped(name: \"d\", parents: [\"p\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1)),
], force_fields: [(name: \"spring\", on: \"d\", law: Stiffness(100))])";

/// Output of statics is of statics, and unsupported features are found by `check`.
#[test]
fn statics_are_reported_as_statics() {
    let dir = tempfile::tempdir().unwrap();
    let of = |command: &str, text: &str| {
        let file = write(dir.path(), "s.ron", text);
        pliant(dir.path(), &[command, &file])
    };
    let rest = of("run", &WEIGHT.replace("HOW", "statics: ()"));
    assert_eq!(rest.status.code(), Some(0), "{}", err(&rest));
    let table = out(&rest);
    assert!(
        table.contains("1 point, ") && table.contains("equations solved to"),
        "{table}"
    );
    assert!(!table.contains("steps") && !table.contains("momentum"), "{table}");
    // Nothing holds it: no steps were taken, and nothing was solved.
    let loose = WEIGHT
        .replace("HOW", "statics: ()")
        .replace("Stiffness(100)", "Damping(linear: 1)");
    let failed = of("run", &loose);
    assert_eq!(failed.status.code(), Some(3), "{}", err(&failed));
    let table = out(&failed);
    assert!(table.contains("statics  none was found"), "{table}");
    assert!(!table.contains("steps") && !table.contains("accuracy"), "{table}");
    let spring = of("check", &WEIGHT.replace("HOW", "statics: (loads: [\"spring\"])"));
    assert_eq!(spring.status.code(), Some(2));
    assert!(
        err(&spring).contains("a row that no motion drives"),
        "{}",
        err(&spring)
    );
    let few = of(
        "run",
        &WEIGHT.replace("HOW", "statics: (gravity: true, start: 0.1, points: 3)"),
    );
    assert_eq!(few.status.code(), Some(0), "{}", err(&few));
    assert!(out(&few).contains("the points ran out"), "{}", out(&few));
    // Without its weight nothing holds it from the side.
    let stuck = of("run", &WEIGHT.replace("HOW", "statics: (gravity: true)"));
    assert_eq!(stuck.status.code(), Some(3), "{}", err(&stuck));
    assert!(
        err(&stuck).contains("nothing holds `p`, element 0"),
        "{}",
        err(&stuck)
    );
}

/// A ball on a hard joint that holds it 5 cm deep in the ground: the step is solved, the overlap
/// cannot be taken back, and the summary says so.
#[test]
fn overlap_that_stays_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(gravity: (0, 0, -9.81), run: (duration: 0.05), nodes: [
        Bodies(name: \"ball\", bodies: [(position: (0, 0, -1), shape: Sphere(0.1), mass: 1)]),
    ], joints: [(name: \"hinge\", kind: Ball, b: Body(\"ball\", 0), at: (0, 0, 0))],
    colliders: [Fixed(name: \"ground\", shape: Plane(0, 0, 1), position: (0, 0, -1.05)), Bodies(node: \"ball\")])";
    let file = write(dir.path(), "s.ron", text);
    let ran = pliant(dir.path(), &["run", &file]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", out(&ran), err(&ran));
    let table = out(&ran);
    let warning = "corrections of overlap have no solution, as of";
    assert!(table.contains(warning) && table.contains("ground"), "{table}");
    let result = std::fs::read(dir.path().join("out/s/result.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&result).unwrap();
    let contacts = &json["contacts"];
    assert!(contacts["unsolved"].as_u64().unwrap() > 0, "{contacts}");
    assert!(
        (contacts["overlap"]["last"].as_f64().unwrap() - 0.05).abs() < 1e-9,
        "{contacts}"
    );
}

#[test]
fn check_says_that_steps_choose_their_length() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(
        dir.path(),
        "s.ron",
        &WEIGHT.replace("HOW", "adaptive_step: (largest: 0.05)"),
    );
    let checked = pliant(dir.path(), &["check", &file]);
    let table = out(&checked);
    assert!(
        table.contains("steps of 0.00000001 to 0.05 s, which choose their length"),
        "{table}"
    );
}

#[test]
fn a_run_writes_its_results_and_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let pendulum = scene("pendulum.ron");
    let ran = pliant(
        dir.path(),
        &[
            "run",
            pendulum.to_str().unwrap(),
            "--duration",
            "1",
            "--set",
            "length=2",
        ],
    );
    assert_eq!((ran.status.code(), err(&ran).as_str()), (Some(0), ""));
    let report = out(&ran);
    for words in [
        "scene      Pendulum",
        "simulated  1 s in ",
        "100 steps of 0.01 s",
        "energy     0 J at the start",
        "accuracy   equations solved to ",
        "results    open out/pendulum/play.html in a browser",
        "status     ok",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert_eq!(report.lines().count(), 6, "{report}");
    assert!(!report.contains('\u{1b}'), "no colour where there is no terminal");
    let files = dir.path().join("out/pendulum");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(files.join("result.json")).unwrap()).unwrap();
    assert_eq!(json["parameters"]["length"], 2.0);
    assert_eq!(json["steps"], 100);
    assert!(files.join("play.html").exists() && files.join("frames").is_dir());
}

#[test]
fn quiet_runs_without_files_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let pendulum = scene("pendulum.ron");
    let ran = pliant(
        dir.path(),
        &[
            "run",
            pendulum.to_str().unwrap(),
            "--no-files",
            "--quiet",
            "--step",
            "0.05",
        ],
    );
    assert_eq!(
        (ran.status.code(), out(&ran), err(&ran)),
        (Some(0), String::new(), String::new())
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn check_prints_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let net = scene("net.ron");
    let ran = pliant(dir.path(), &["check", net.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(
        out(&ran).contains("363, 6 fixed at the start") && out(&ran).contains("220"),
        "{}",
        out(&ran)
    );
}

/// Gravity is named, and so is that there is none: a scene that lost its `gravity` would just
/// float.
#[test]
fn check_names_gravity() {
    let dir = tempfile::tempdir().unwrap();
    let net = scene("net.ron");
    let ran = pliant(dir.path(), &["check", net.to_str().unwrap()]);
    assert!(out(&ran).contains("(0, -9.81, 0) m/s^2"), "{}", out(&ran));
    let free =
        r#"(run: (duration: 1, step: 0.1), nodes: [Particles(name: "p", positions: [(0, 0, 0)], mass: 1)])"#;
    let free = write(dir.path(), "free.ron", free);
    let ran = pliant(dir.path(), &["check", &free]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(out(&ran).contains("none: nothing has weight"), "{}", out(&ran));
}

#[test]
fn mistakes_have_code_2_and_a_caret() {
    let dir = tempfile::tempdir().unwrap();
    let bad = write(dir.path(), "bad.ron", "(run: (durations: 1), nodes: [])");
    let ran = pliant(dir.path(), &["check", &bad]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        err(&ran).contains("did you mean `duration`?") && err(&ran).contains("^^^^^^^^^"),
        "{}",
        err(&ran)
    );
    let pendulum = scene("pendulum.ron");
    let pendulum = pendulum.to_str().unwrap();
    for (arguments, text) in [
        (vec!["check", "nothing.ron"], "cannot read the scene nothing.ron"),
        (
            vec!["check", pendulum, "--set", "lenght=2"],
            "did you mean `length`?",
        ),
        (vec!["check", pendulum, "--set", "length"], "expected NAME=VALUE"),
        (vec!["run", pendulum, "--step", "-1"], ""),
        (vec!["run", pendulum, "--step=-1"], "the step is -1"),
        (vec!["run"], "Usage"),
        (vec!["fly"], "Usage"),
    ] {
        let ran = pliant(dir.path(), &arguments);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}");
        assert!(err(&ran).contains(text), "{}", err(&ran));
    }
}

/// A body that turns too far in a step for its gyroscopic torque: the linear step is taken in
/// halves, and the summary says so.
#[test]
fn halvings_of_the_linear_step_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(run: (duration: 0.1, step: 0.1, integrator: Theta, gyroscopic: LinearlyImplicit), nodes: [
        Bodies(name: \"top\", bodies: [(mass: 1, shape: Box((0.2, 0.3, 0.4)), angular_velocity: (60, 1, 50))]),
    ])";
    let file = write(dir.path(), "top.ron", text);
    let ran = pliant(dir.path(), &["run", &file, "--no-files"]);
    assert!(
        out(&ran).contains("1 step of 0.1 s, halved 3 times"),
        "{}",
        out(&ran)
    );
    let ran = pliant(dir.path(), &["run", &file, "--no-files", "--verbose"]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", out(&ran), err(&ran));
    let table = out(&ran);
    let row = table.lines().find(|line| line.starts_with("halvings"));
    let row = row.unwrap_or_else(|| panic!("{table}"));
    assert!(
        row.ends_with("of steps that had no solution at their length"),
        "{row}"
    );
}

#[test]
fn numerical_failures_have_their_codes_and_leave_results() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, code, words) in [
        ("contradiction", CONTRADICTION, 3, "contradicts `hard`, element"),
        ("compressed", COMPRESSED, 4, "no inertia left"),
    ] {
        let file = write(dir.path(), &format!("{name}.ron"), text);
        let ran = pliant(dir.path(), &["run", &file]);
        assert_eq!(ran.status.code(), Some(code), "{}", err(&ran));
        assert!(err(&ran).contains(words), "{}", err(&ran));
        let result = std::fs::read(dir.path().join("out").join(name).join("result.json")).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(json["status"], "failed");
        assert!(json["error"].as_str().unwrap().contains(words));
    }
}

fn problem(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pliant-lab/tests/corpus");
    path.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_failing_solve_is_dumped_and_solved_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "two rods.ron", CONTRADICTION);
    let ran = pliant(
        dir.path(),
        &["run", &file, "--no-files", "--dump-failed-solve", "failed"],
    );
    assert_eq!(ran.status.code(), Some(3));
    let dumped = "failed/two_rods-failed-solve.json";
    assert!(
        err(&ran).contains(&format!("pliant solve {dumped} --all")),
        "{}",
        err(&ran)
    );
    let mut names: Vec<_> = std::fs::read_dir(dir.path().join("failed"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let ends = [".J.mtx", ".R.mtx", ".W.mtx", ".json"];
    assert_eq!(names, ends.map(|end| format!("two_rods-failed-solve{end}")));
    // The failure is in the file.
    let solved = pliant(dir.path(), &["solve", dumped]);
    assert_eq!(solved.status.code(), Some(3), "{}", err(&solved));
    assert!(out(&solved).contains("contradicts others"), "{}", out(&solved));
    // So it is where going back undoes a choice of treatments that the step began with.
    let spring = "Particles(name: \"b\", positions: [(3, 0, 0)], mass: 1),
    Mapped(name: \"s\", parents: [\"b\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 2.9)),
], force_fields: [(name: \"spring\", on: \"s\", law: Stiffness(1e7), treatment: Auto)], constraints";
    let chosen = CONTRADICTION.replace("], constraints", spring);
    let file = write(dir.path(), "chosen.ron", &chosen);
    let dump = ["run", &file, "--no-files", "--dump-failed-solve", "failed"];
    assert_eq!(pliant(dir.path(), &dump).status.code(), Some(3));
    let solved = pliant(dir.path(), &["solve", "failed/chosen-failed-solve.json"]);
    assert!(out(&solved).contains("contradicts others"), "{}", out(&solved));
    // A good run leaves nothing.
    let pendulum = scene("pendulum.ron");
    let arguments = [
        "run",
        pendulum.to_str().unwrap(),
        "--no-files",
        "--quiet",
        "--dump-failed-solve",
        "none",
    ];
    let ran = pliant(dir.path(), &arguments);
    assert_eq!(
        (ran.status.code(), dir.path().join("none").exists()),
        (Some(0), false)
    );
}

#[test]
fn solve_prints_a_report_of_any_solver() {
    let here = Path::new(".");
    let contact = problem("contact-slips.json");
    let solved = pliant(
        here,
        &["solve", &contact, "--solver", "newton", "--tolerance", "1e-12"],
    );
    assert_eq!((solved.status.code(), err(&solved).as_str()), (Some(0), ""));
    for word in [
        "contact-slips",
        "case D07",
        "newton",
        "converged",
        "De Saxce",
        "ms",
    ] {
        assert!(out(&solved).contains(word), "{word}: {}", out(&solved));
    }
    let all = pliant(here, &["solve", &contact, "--all"]);
    assert_eq!(all.status.code(), Some(0));
    // Those that take friction, no others.
    assert!(
        out(&all).contains("\ngauss-seidel ") && !out(&all).contains("\nmurty "),
        "{}",
        out(&all)
    );
    let json = pliant(here, &["solve", &contact, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    let r = &json["solves"][0]["answer"]["r"];
    assert!((r[0].as_f64().unwrap() - 0.552810593891443).abs() < 1e-8, "{r}");
    let system = pliant(here, &["solve", &problem("redundant-rows.json"), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out(&system)).unwrap();
    assert!((json["solves"][0]["answer"]["x"][1].as_f64().unwrap() + 0.5428571428571428).abs() < 1e-12);
    let mixed = pliant(here, &["solve", &problem("capstan-4-sticks.json")]);
    assert_eq!(mixed.status.code(), Some(0), "{}", out(&mixed));
    assert!(out(&mixed).contains("KKT, relative"), "{}", out(&mixed));
}

#[test]
fn solve_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let (contact, system) = (problem("contact-slips.json"), problem("chain-20.json"));
    let broken = write(
        dir.path(),
        "broken.json",
        "{\"format\": \"pliant-problem\",\n \"version\": }",
    );
    let none = problem("lcp-none.json");
    let indefinite = problem("indefinite-on-null-space.json");
    for (arguments, code, text) in [
        (
            vec![contact.as_str(), "--solver", "newtn"],
            2,
            "did you mean `newton`?",
        ),
        (
            vec![&system, "--solver", "newton"],
            2,
            "there are: `box`, `auto`, `projected-gauss-seidel`",
        ),
        (vec!["nothing.json"], 2, "cannot read the problem nothing.json"),
        (vec![&broken], 2, "line 2, column 13"),
        (vec![&contact, "--tolerance", "0"], 2, "the tolerance is 0"),
        (vec![&contact, "--solver", "murty"], 4, ""),
        (vec![&none], 3, ""),
        (vec![&indefinite], 4, ""),
    ] {
        let ran = pliant(dir.path(), &[&["solve"], &arguments[..]].concat());
        assert_eq!(
            ran.status.code(),
            Some(code),
            "{arguments:?}: {}{}",
            out(&ran),
            err(&ran)
        );
        assert!(err(&ran).contains(text), "{arguments:?}: {}", err(&ran));
    }
}

#[test]
fn results_that_cannot_be_written_have_code_5() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "file", "");
    let pendulum = scene("pendulum.ron");
    let ran = pliant(
        dir.path(),
        &["run", pendulum.to_str().unwrap(), "--out", &file, "--step", "0.1"],
    );
    assert_eq!(ran.status.code(), Some(5));
    assert!(err(&ran).contains("cannot write"), "{}", err(&ran));
}

/// `pliant ... | head -0`: nobody reads, nothing panics.
#[test]
fn a_closed_pipe_is_no_error() {
    let pendulum = scene("pendulum.ron");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["run", pendulum.to_str().unwrap(), "--no-files"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert!(!err(&ended).contains("panic"), "{}", err(&ended));
}

#[test]
fn the_version_is_printed() {
    let ran = pliant(Path::new("."), &["--version"]);
    assert!(out(&ran).starts_with("pliant "));
}

/// The energy in the summary: of a fall from rest by implicit Euler steps `n = 99` of 0.01 s take
/// `m g^2 h^2 n/2`, a share `1/(n + 1)` of the potential energy `m g^2 h^2 n (n + 1)/2`.
#[test]
fn the_summary_says_what_the_method_takes() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "(gravity: (0, 0, -9.81), run: (duration: 0.99, step: 0.01, integrator: Theta, alpha: 1, beta: 1),
        nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])";
    let file = write(dir.path(), "fall.ron", text);
    let ran = pliant(dir.path(), &["run", &file, "--no-files"]);
    let said = out(&ran);
    let words =
        "energy     0 J at the start, -0.476 J at the end; the method lost 0.476 J, 1 % of what moved\n";
    assert!(said.contains(words), "{said}");
}

/// Ten sentences of events are printed, and how many more there are.
#[test]
fn the_first_sentences_of_events_are_printed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(run: (duration: 1.2, step: 0.01), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], velocities: [(1, 0, 0)], mass: 1)],
        events: [(name: \"tick\", when: \"mod(p.x, 0.1) < 0.05\", do: [Say(\"tock\")], again: true)])";
    let file = write(dir.path(), "ticks.ron", text);
    let ran = pliant(dir.path(), &["run", &file, "--no-files"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let printed = out(&ran);
    assert_eq!(printed.matches(" s: tock").count(), 10, "{printed}");
    assert!(printed.contains("more in `said` of result.json"), "{printed}");
}

#[test]
fn schema_prints_what_scenes_are() {
    let dir = tempfile::tempdir().unwrap();
    let printed = pliant(dir.path(), &["schema"]);
    assert_eq!((printed.status.code(), err(&printed).as_str()), (Some(0), ""));
    let schema: serde_json::Value = serde_json::from_str(&out(&printed)).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(schema["$defs"]["Rod"]["properties"]["bending_compliance"].is_object());
}

/// Every template is written, checks without a warning, and is not written over another file.
#[test]
fn new_writes_scenes_to_begin_with() {
    let dir = tempfile::tempdir().unwrap();
    let listed = pliant(dir.path(), &["new"]);
    assert_eq!((listed.status.code(), err(&listed).as_str()), (Some(0), ""));
    let list = out(&listed);
    let names: Vec<&str> = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 8 && names.contains(&"pendulum"), "{list}");
    for name in names {
        let made = pliant(dir.path(), &["new", name]);
        assert_eq!((made.status.code(), err(&made).as_str()), (Some(0), ""), "{name}");
        let file = format!("{name}.ron");
        assert!(
            out(&made).ends_with(&format!("pliant run {file}\n")),
            "{}",
            out(&made)
        );
        let text = std::fs::read_to_string(dir.path().join(&file)).unwrap();
        assert!(!text.contains("scenes/"), "{name} names a file that is not there");
        let checked = pliant(dir.path(), &["check", &file]);
        let said = err(&checked);
        // A crank of hinges in space has redundant rows, as linkages have: a note, no warning.
        let is_clean =
            said.is_empty() || name == "slider_crank" && said.starts_with("note: 3 of the 21 rows");
        assert!(checked.status.code() == Some(0) && is_clean, "{name}: {said}");
        std::fs::write(dir.path().join(&file), "mine").unwrap();
        let again = pliant(dir.path(), &["new", name]);
        assert_eq!(again.status.code(), Some(5));
        assert!(err(&again).contains("is there already"), "{}", err(&again));
        assert_eq!(std::fs::read(dir.path().join(&file)).unwrap(), b"mine");
    }
    assert!(
        std::fs::read_dir(dir.path())
            .unwrap()
            .all(|f| f.unwrap().path().extension().unwrap() == "ron")
    );
    for (words, code, said) in [
        (vec!["new", "penduluum"], 2, "no template `penduluum`"),
        (vec!["new", "pendulum", "-o", "x.json"], 2, "it ends in `.ron`"),
        (vec!["new", "pendulum", "-o", "no/where.ron"], 5, "cannot write"),
    ] {
        let refused = pliant(dir.path(), &words);
        assert_eq!(refused.status.code(), Some(code), "{words:?}");
        assert!(err(&refused).contains(said), "{}", err(&refused));
    }
}

/// Every row of `--verbose` has a line that says what it is.
#[test]
fn verbose_has_all_numbers_and_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["pendulum.ron", "stack.ron", "snap_through.ron", "governor.ron"] {
        let file = scene(name);
        let words = [
            "run",
            file.to_str().unwrap(),
            "--no-files",
            "--verbose",
            "--duration",
            "0.05",
        ];
        let most = if name == "snap_through.ron" { 4 } else { 6 };
        let ran = pliant(dir.path(), &words[..most]);
        assert_eq!(ran.status.code(), Some(0), "{name}: {}", err(&ran));
        let text = out(&ran);
        let (numbers, meanings) = text.split_once("\nThe numbers:\n").unwrap();
        // The names of rows end where two blanks begin; rows of the kind before have none.
        let names = |text: &str| -> Vec<String> {
            let name = |line: &str| line.split("  ").next().unwrap_or("").to_owned();
            text.lines().map(name).filter(|name| !name.is_empty()).collect()
        };
        let known = names(meanings);
        let plain = ["scene", "files", "warnings", "status", "at the end", "limit"];
        for name in names(numbers)
            .iter()
            .filter(|name| !plain.contains(&name.as_str()))
        {
            assert!(known.contains(name), "{name}: {text}");
        }
    }
}

/// Lines of JSON: how far it is, then what `result.json` has but states and reactions.
#[test]
fn json_lines_are_for_programs() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("pendulum.ron");
    let words = ["run", file.to_str().unwrap(), "--json", "--duration", "0.5"];
    let ran = pliant(dir.path(), &words);
    assert_eq!((ran.status.code(), err(&ran).as_str()), (Some(0), ""));
    let text = out(&ran);
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let (end, before) = lines.split_last().unwrap();
    assert!(
        !before.is_empty()
            && before
                .iter()
                .all(|line| line["kind"] == "progress" && line["steps"] == 50)
    );
    assert_eq!(
        (&end["kind"], &end["status"], &end["steps"]),
        (&"end".into(), &"ok".into(), &50.into())
    );
    let result = std::fs::read(dir.path().join("out/pendulum/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(
        (&end["energy_end"], &end["ledger"]),
        (&result["energy_end"], &result["ledger"])
    );
    assert!(
        end["files"]
            .as_array()
            .unwrap()
            .iter()
            .any(|name| name == "out/pendulum/play.html"),
        "{end}"
    );
    assert!(end.get("state").is_none() && result.get("state").is_some());
    for flags in [
        ["--quiet", "--json"],
        ["--verbose", "--json"],
        ["--quiet", "--verbose"],
    ] {
        let refused = pliant(dir.path(), &["run", file.to_str().unwrap(), flags[0], flags[1]]);
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn check_warns_and_refuses_what_the_first_step_would() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "two rods.ron", CONTRADICTION);
    let checked = pliant(dir.path(), &["check", &file]);
    assert_eq!(checked.status.code(), Some(2));
    let said = err(&checked);
    assert!(
        said.contains("they are 0.1 m apart") && said.contains("^^^^^^"),
        "{said}"
    );
    let limit = "(run: (duration: 0.1, step: 0.01),
        nodes: [Bodies(name: \"b\", bodies: [(position: (1, 0, 0), shape: Sphere(0.1), mass: 1)])],
        joints: [(name: \"j\", kind: Slider, b: Body(\"b\", 0), limits: [(lower: 0.5)])])";
    let file = write(dir.path(), "limit.ron", limit);
    let checked = pliant(dir.path(), &["check", &file]);
    assert_eq!(checked.status.code(), Some(0));
    assert!(err(&checked).starts_with("warning: `j.lower limit 0`, element 0 starts 0.5 m outside"));
    assert!(out(&checked).contains("the scene can be run, with 1 warning"));
    let ran = pliant(dir.path(), &["run", &file, "--no-files", "--duration", "0.01"]);
    assert!(
        out(&ran).contains("\nwarning    `j.lower limit 0`"),
        "{}",
        out(&ran)
    );
}
