//! The method of a run, by the command line.

use super::{err, pliant, scene};

/// The method of a run by the command line, with its numbers; `result.json` says which was given, and a
/// key that it does not take is an error of the scene.
#[test]
fn the_integrator_of_a_run_is_that_of_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let pendulum = scene("pendulum.ron");
    let pendulum = pendulum.to_str().unwrap();
    let run = |more: &[&str]| {
        let base = [
            "run",
            pendulum,
            "--duration",
            "0.5",
            "--out",
            "out",
            "--only-result",
        ];
        let ran = pliant(dir.path(), &[&base[..], more].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        let text = std::fs::read(dir.path().join("out/result.json")).unwrap();
        let result: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let given = result["inputs"]["integrator"].clone();
        (given, result["ledger"]["numerical"].as_f64().unwrap())
    };
    let (none, default) = run(&[]);
    let (theta, damped) = run(&["--integrator", "Theta"]);
    assert_eq!((none, theta), (serde_json::Value::Null, "Theta".into()));
    let ran = pliant(dir.path(), &["run", pendulum, "--integrator", "Teta"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(err(&ran).contains("'Theta'"), "{}", err(&ran));
    // The theta method takes a share of the energy that the default does not.
    assert!(damped < -0.1 && default.abs() < 0.01, "{damped} {default}");
}
