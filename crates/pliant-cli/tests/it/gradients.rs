//! `pliant gradient`: places at the end of scenes by their parameters.

use super::{err, out, pliant, write};

/// A stone that is thrown and falls on a spring of 0 N/m beside one that lies.
const STONES: &str = "(parameters: {\"speed\": 3, \"mass\": 2}, gravity: (0, -10, 0),
    run: (duration: 1, step: 0.01, integrator: Nonlinear, alpha: 0.5, beta: 0.5), nodes: [
    Particles(name: \"stones\", positions: [(0, 0, 0), (5, 0, 0)], velocities: [(\"$speed\", 0, 0), (0, 0, 0)], mass: \"$mass\"),
    Particles(name: \"last\", positions: [(9, 0, 0)], mass: 1)],
    fixed: [(node: \"stones\", elements: [1])])";

#[test]
fn places_and_velocities_by_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let scene = write(dir.path(), "stones.ron", STONES);
    let ran = pliant(dir.path(), &["gradient", &scene, "stones[0]", "last"]);
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let text = out(&ran);
    for words in ["1 s, 100 steps", "by speed", "by mass", "stones[0].x", "last.z"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let ask = |words: &[&str]| {
        let ran = pliant(dir.path(), &[&["gradient", &scene, "--json"], words].concat());
        let facts: serde_json::Value = serde_json::from_str(&out(&ran)).unwrap();
        facts
    };
    // x = v t, y = -g t^2/2, which the trapezoidal rule has exactly.
    let facts = ask(&["stones[0]", "stones[1]", "--set", "speed=4"]);
    assert_eq!(facts["parameters"]["speed"], 4.0);
    let entry = |k: usize, key: &str| facts["gradients"][k][key].as_f64().unwrap();
    assert!((entry(0, "value") - 4.0).abs() < 1e-12 && (entry(1, "value") + 5.0).abs() < 1e-10);
    let by = |k: usize, name: &str| facts["gradients"][k]["by"][name].as_f64().unwrap();
    assert!((by(0, "speed") - 1.0).abs() < 1e-11 && by(1, "speed").abs() < 1e-11);
    assert!(by(0, "mass").abs() < 1e-11 && by(3, "speed").abs() < 1e-11);
    assert_eq!(facts["gradients"][3]["of"], "stones[1].x");
    // A node by its name is all of its elements.
    let all = ask(&["stones", "last", "--set", "speed=4"]);
    assert_eq!(all["gradients"].as_array().unwrap().len(), 9);
    for k in 0..6 {
        assert_eq!(all["gradients"][k], facts["gradients"][k]);
    }
    assert_eq!(all["gradients"][6]["of"], "last.x");
    // Half of the time, and velocities.
    let facts = ask(&["stones[0]", "--by", "speed", "--velocities", "--duration", "0.5"]);
    let found = &facts["gradients"][0];
    assert_eq!(found["of"], "stones[0].vx");
    assert!(
        (found["by"]["speed"].as_f64().unwrap() - 1.0).abs() < 1e-12,
        "{found}"
    );
    assert!(found["by"]["mass"].is_null() && facts["end"] == 0.5);
}

#[test]
fn what_is_not_there_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let scene = write(dir.path(), "stones.ron", STONES);
    let bare = STONES.replace("parameters: {\"speed\": 3, \"mass\": 2}, ", "");
    let bare = bare.replace("\"$speed\"", "3").replace("\"$mass\"", "2");
    let bare = write(dir.path(), "bare.ron", &bare);
    let other = STONES.replace(
        "integrator: Nonlinear, alpha: 0.5, beta: 0.5",
        "integrator: Theta",
    );
    let other = write(dir.path(), "other.ron", &other);
    for (words, code, says) in [
        (
            &[&scene, "last", "--by", "mass,speed,mass"][..],
            2,
            "the parameter `mass` twice",
        ),
        (
            &[&scene, "last", "--by", "mass", "--by", "mass"],
            2,
            "`--by mass`",
        ),
        (&[&scene, "stones[2]"], 2, "`stones` has 2 elements"),
        (&[&scene, "stones[-1]"], 2, "`stones` has 2 elements"),
        (&[&scene, "stone[0]"], 2, "did you mean `stones`?"),
        (&[&scene, "]"], 2, "no node `]`"),
        (&[&scene, "last", "--by", "sped"], 2, "did you mean `speed`?"),
        (&[&scene, "last", "--by", ""], 2, "no parameter ``"),
        (&[&scene, "last", "--smoothing", "-1"], 2, "an energy above zero"),
        (&[&scene, "last", "--step", "0"], 2, "must be positive"),
        (&[&bare, "last"], 2, "the scene has no parameters"),
        (&[&other, "last"], 2, "write `run: (integrator: Sdirk2, ..)`"),
    ] {
        let ran = pliant(dir.path(), &[&["gradient"], words].concat());
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", err(&ran));
        assert!(err(&ran).contains(says), "{words:?}: {}", err(&ran));
    }
}
