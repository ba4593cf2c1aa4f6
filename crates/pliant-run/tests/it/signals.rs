//! Sensors and actuators against closed forms and recursions.

use super::drawn::assert_drawn;
use super::probes::{measured, resumes, runner};
use pliant_scene::{Format, SceneError, SceneFile, Settings};

/// A scene with every word of sensors and actuators.
pub(crate) const SIGNALS: &str = include_str!("words/signals.ron");

/// A cart of 2 kg on a line, whose step is exact for a constant push.
fn cart(run: &str, velocity: f64, words: &str) -> String {
    format!(
        r#"(parameters: {{"u": 4}}, run: (duration: 1, {run}),
        nodes: [Scalars(name: "cart", values: [0], velocities: [{velocity}], mass: 2)],
        {words})"#
    )
}

/// Of a lag, `F = 4 (1 - e^(-t/0.2))`, and `2 v` is its integral, to second order; what is recorded
/// is the output in the middle of each step.
#[test]
fn an_actuator_answers_with_its_lag() {
    let exact = |t: f64| 4.0 * (1.0 - (-t / 0.2f64).exp());
    let error = |h: f64| {
        let words = r#"actuators: [(name: "drive", on: "cart", command: "$u", lag: 0.2)],
            record: [Velocity("cart"), Actuator("drive"), Force("drive")]"#;
        let (_, table) = measured(&cart(&format!("step: {h}"), 0.0, words));
        for (k, t) in table["time_s"].iter().enumerate().skip(1) {
            let output = table["drive.output"][k];
            assert!((output - exact(t - 0.5 * h)).abs() < 1e-13, "{t}: {output}");
            assert_eq!(table["drive.command"][k], 4.0);
            assert!((table["drive.force"][k] - output).abs() < 1e-13);
        }
        let v = table["cart.rate"].last().unwrap();
        (v - 2.0 * (1.0 - 0.2 * (1.0 - (-5f64).exp()))).abs()
    };
    let (coarse, fine) = (error(0.02), error(0.01));
    assert!(
        coarse < 1e-3 && (3.9..4.1).contains(&(coarse / fine)),
        "{coarse} {fine}"
    );
}

/// A ramp to the limit, which the command passes; then another way round by an event.
#[test]
fn an_actuator_has_a_largest_rate_and_limits() {
    let words = r#"actuators: [(name: "drive", on: "cart", gear: [-0.5], command: "$u", rate: 10, limits: (lower: -1, upper: 3), start: -0.5)],
        record: [Actuator("drive"), Force("drive")],
        events: [(name: "back", when: "$t > 0.5", do: [Set("u", -7)])]"#;
    let (outcome, table) = measured(&cart("step: 0.01", 0.0, words));
    let back = outcome.summary.events["back"].first.unwrap();
    for k in 1..table["time_s"].len() {
        let start = table["time_s"][k - 1];
        let middle = start + 0.005;
        let expected = if start < back {
            (-0.5 + 10.0 * middle).min(3.0)
        } else {
            (3.0 - 10.0 * (middle - back)).max(-1.0)
        };
        let output = table["drive.output"][k];
        assert!((output - expected).abs() < 1e-9, "{start}: {output} {expected}");
        assert!((table["drive.force"][k] + 0.5 * output).abs() < 1e-13);
        assert_eq!(table["drive.command"][k], if start < back { 4.0 } else { -7.0 });
    }
    let least = outcome.summary.probes["drive.output"].min.unwrap();
    assert_eq!(least, -1.0, "the step before the first is no reading");
}

/// A cart at 1 m/s: `x = t`. A line of the table has the sample from which its step began.
#[test]
fn sensors_read_with_their_faults() {
    let h = 0.01;
    for (words, expected) in [
        ("", (|k| f64::from(k) * 0.01) as fn(i32) -> f64),
        ("every: 4", |k| f64::from(k / 4 * 4) * 0.01),
        ("delay: 3", |k| f64::from((k - 3).max(0)) * 0.01),
        ("every: 2, delay: 3", |k| f64::from((k / 2 * 2 - 6).max(0)) * 0.01),
        ("lag: 0.1", |k| {
            let t = f64::from(k) * 0.01;
            t - 0.1 + 0.1 * (-t / 0.1).exp()
        }),
        ("resolution: 0.05", |k| {
            (f64::from(k) * 0.01 / 0.05 + 1e-9).round() * 0.05
        }),
        ("limits: (lower: 0.2, upper: 0.7)", |k| {
            (f64::from(k) * 0.01).clamp(0.2, 0.7)
        }),
    ] {
        let words = format!(
            r#"sensors: [(name: "place", of: "cart.value", {words})],
            record: [Position("cart"), Sensor("place"), Expression(name: "twice", value: "2 * place.reading")],
            events: [(name: "unused", when: "$u > 10", do: [Stop])]"#
        );
        // Not where the reading rounds up and down at once.
        let text = cart(&format!("step: {h}"), 1.0, &words).replace("values: [0]", "values: [1e-11]");
        let (outcome, table) = measured(&text);
        for k in 0..=100 {
            let sample = expected((k - 1).max(0));
            let reading = table["place.reading"][k as usize];
            assert!(
                (reading - sample).abs() < 1e-10,
                "{words} {k}: {reading} {sample}"
            );
            assert_eq!(table["twice"][k as usize], 2.0 * reading);
        }
        let least = outcome.summary.probes["place.reading"].min.unwrap();
        assert!((least - expected(0)).abs() < 1e-10, "{words}: {least}");
    }
}

/// Noise has its deviation, is the same in every run, and another one of another seed.
#[test]
fn noise_is_the_same_in_every_run() {
    let words = r#"sensors: [(name: "a", of: "0", noise: 0.3), (name: "b", of: "0", noise: 0.3), (name: "c", of: "0", noise: 0.3, seed: 1)],
        record: [Sensor("a"), Sensor("b"), Sensor("c")],
        events: [(name: "unused", when: "$u > 10", do: [Stop])]"#;
    let text = cart("step: 0.001", 0.0, words);
    let (_, first) = measured(&text);
    let (_, second) = measured(&text);
    for name in ["a.reading", "b.reading", "c.reading"] {
        assert_eq!(first[name], second[name]);
        let samples = &first[name][1..];
        let square = samples.iter().map(|x| x * x).sum::<f64>() / samples.len() as f64;
        // The deviation of a thousand samples has a spread of 2 %.
        assert!((square.sqrt() - 0.3).abs() < 0.03, "{name}: {square}");
    }
    assert_ne!(first["a.reading"], first["b.reading"]);
}

/// A controller that sees a cart by a late sensor and drives it by an actuator with a largest rate,
/// by the recursion of a mass under a force that is constant in a step.
#[test]
fn a_loop_of_all_three_is_its_recursion() {
    let words = r#"sensors: [(name: "place", of: "cart.value", delay: 2)],
        controllers: [(name: "c", sets: "u", law: Feedback("20 * (1 - place.reading) - 9 * cart.rate"))],
        actuators: [(name: "drive", on: "cart", command: "$u", rate: 100, start: 1)],
        record: [Position("cart"), Actuator("drive")]"#;
    let (_, table) = measured(&cart("step: 0.01", 0.0, words));
    let (mut x, mut v, mut y) = (0.0f64, 0.0f64, 1.0f64);
    let mut seen = vec![0.0; 2];
    for k in 0..100 {
        seen.push(x);
        let u = 20.0 * (1.0 - seen[k]) - 9.0 * v;
        let go = |y: f64, h: f64| y + (u - y).clamp(-100.0 * h, 100.0 * h);
        let force = go(y, 0.005);
        y = go(y, 0.01);
        x += 0.01 * v + 0.5e-4 * force / 2.0;
        v += 0.01 * force / 2.0;
        let found = [
            table["cart.value"][k + 1],
            table["drive.command"][k + 1],
            table["drive.output"][k + 1],
        ];
        for (found, expected) in found.into_iter().zip([x, u, force]) {
            // Roundings of a hundred steps.
            assert!((found - expected).abs() < 1e-10, "{k}: {found} {expected}");
        }
    }
}

/// Commands from outside stand in place of those of the scene until they are taken back.
#[test]
fn commands_from_outside() {
    let words = r#"actuators: [(name: "drive", on: "cart", command: "$u", limits: (lower: -5, upper: 5))]"#;
    let mut run = runner(&cart("step: 0.01", 0.0, words));
    let drive = |run: &pliant_run::Runner| run.actuators().next().map(|(_, both)| both).unwrap();
    for (given, expected) in [
        (None, [4.0, 4.0]),
        (Some(Some(1.5)), [1.5, 1.5]),
        (Some(Some(-7.0)), [-7.0, -5.0]),
        (Some(None), [4.0, 4.0]),
    ] {
        if let Some(command) = given {
            assert!(run.command("drive", command).unwrap());
        }
        let before = run.simulation().state().velocities[0];
        run.step().unwrap();
        assert_eq!(drive(&run), expected);
        let gain = run.simulation().state().velocities[0] - before;
        assert!((gain - 0.005 * expected[1]).abs() < 1e-12, "{gain}");
    }
    assert!(!run.command("drve", Some(1.0)).unwrap());
    assert!(
        run.command("drive", Some(f64::NAN))
            .unwrap_err()
            .to_string()
            .contains("command")
    );
    run.command("drive", Some(2.0)).unwrap();
    let bytes = run.checkpoint_bytes().unwrap();
    let mut other = runner(&cart("step: 0.01", 0.0, words));
    other.restore_bytes(&bytes).unwrap();
    other.step().unwrap();
    assert_eq!(drive(&other), [2.0, 2.0], "commands are in checkpoints");
}

#[test]
fn resumed_runs_go_on_with_their_signals() {
    resumes(SIGNALS, &[1, 2, 7, 18, 19, 30, 40]);
    let adaptive = SIGNALS.replace("step: 0.01", "step: 0.01, adaptive_step: (largest: 0.01)");
    resumes(&adaptive, &[2, 9, 31]);
}

#[test]
fn signals_without_a_value_are_errors_with_their_name() {
    for (from, to, said) in [
        (
            "command: \"$u\"",
            "command: \"0 * $u + 1 / (0.03 - floor(100 * $t + 0.5) / 100)\"",
            "the actuator `drive` has no value at t = 0.03 s: division by zero",
        ),
        (
            "of: \"hinge.angle_rate\"",
            "of: \"1 / (0.03 - floor(100 * $t + 0.5) / 100)\"",
            "the sensor `gyro` has no value at t = 0.03 s: division by zero",
        ),
    ] {
        let text = SIGNALS.replace(from, to);
        assert_ne!(text, SIGNALS);
        let error = runner(&text).run(|_| {}).error.unwrap().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// An arm with its drive in a file of its own, twice.
#[test]
fn included_files_have_signals_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let part = r#"(parameters: {"goal": 1},
        nodes: [Scalars(name: "cart", values: [0], mass: 2)],
        sensors: [(name: "place", of: "cart.value")],
        actuators: [(name: "drive", on: "cart", command: "20 * ($goal - $place.reading) - 9 * cart.rate")],
        force_fields: [(name: "echo", on: "cart", law: Force(["0 * $drive.output"]))])"#;
    let scene = r#"(run: (duration: 3, step: 0.01), nodes: [],
        include: [(file: "part.ron", name: "a"), (file: "part.ron", name: "b", parameters: {"goal": -2})],
        record: [Position("a.cart"), Position("b.cart"), Sensor("b.place"), Actuator("a.drive")])"#;
    std::fs::write(folder.path().join("part.ron"), part).unwrap();
    let path = folder.path().join("scene.ron");
    std::fs::write(&path, scene).unwrap();
    let built = SceneFile::load(&path)
        .unwrap()
        .build(&Settings::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let outcome = pliant_run::Runner::new(built).unwrap().run(|_| {});
    let last = |name: &str| outcome.summary.probes[name].last.unwrap();
    // Damped oscillators, e^(-9 t/4) after 3 s.
    assert!((last("a.cart.value") - 1.0).abs() < 0.01 && (last("b.cart.value") + 2.0).abs() < 0.02);
    assert!((last("b.place.reading") + 2.0).abs() < 0.02);
}

fn build(text: &str) -> Result<(), SceneError> {
    let scene = SceneFile::from_text("signals.ron".as_ref(), text, Format::Ron)?;
    scene.build(&Settings::default()).map(drop)
}

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 15] = [
    (
        "of: \"hinge.angle_rate\"",
        "of: \"hinge.angel_rate\"",
        "`hinge` has no quantity `angel_rate`",
        "angel_rate",
        "did you mean `angle_rate`?",
    ),
    (
        "name: \"gyro\"",
        "name: \"encoder\"",
        "the name `encoder` is used twice in `sensors`",
        "\"encoder\"",
        "",
    ),
    (
        "name: \"turn\"",
        "name: \"drive\"",
        "the name `drive` is used twice in `actuators`",
        "\"drive\"",
        "",
    ),
    (
        "on: \"hinge.angle\", command",
        "on: \"hinge.angel\", command",
        "unknown node `hinge.angel`",
        "\"hinge.angel\"",
        "did you mean `hinge.angle`?",
    ),
    (
        "gear: [0, 0.5, \"2 N\"], ",
        "",
        "`cart` has more coordinates than one, and `jet` does not say along which of them it acts",
        "\"cart\"",
        "`gear` has the force along each of them at an output of 1: `gear: [0, 0, 1]`",
    ),
    (
        "gear: [0, 0.5, \"2 N\"]",
        "gear: [0, 0.5]",
        "`gear` of `jet` has 2 numbers, and forces on `cart` have 3",
        "[0, 0.5]",
        "",
    ),
    (
        "rate: 20)",
        "rate: 20, gear: [1])",
        "the `gear` of `turn` is of forces, and it acts `on` no node",
        "[1]",
        "",
    ),
    (
        "start: 2)",
        "start: 20)",
        "the output of `drive` starts at 20, beyond its `limits`",
        "20",
        "`start` is its output at the start, 0 by default",
    ),
    (
        "rate: 500",
        "rate: 0",
        "`rate` of `drive` is 0, but must be positive",
        "0",
        "",
    ),
    (
        "lag: 0.02",
        "lag: -0.02",
        "`lag` of `drive` is -0.02, less than zero",
        "-0.02",
        "",
    ),
    (
        "lower: -15, upper: 15",
        "lower: 15, upper: -15",
        "the limits of `drive` are 15 and -15: nothing is between them",
        "(lower: 15, upper: -15)",
        "",
    ),
    (
        "$turn.output",
        "2 * $t",
        "`turn` acts on no node, and nothing follows its output",
        "\"turn\"",
        "forces, targets of motions and of motors may say `\"$turn.output\"`; `on` has a node that it pushes",
    ),
    ("delay: 1", "delay: 0.5", "`delay` of `encoder`", "0.5", ""),
    (
        "Sensor(\"gyro\")",
        "Sensor(\"giro\")",
        "unknown sensor `giro`",
        "\"giro\"",
        "did you mean `gyro`?",
    ),
    (
        "mass: 2)",
        "mass: \"2 + $drive.output\")",
        "`$drive.output` changes while the scene runs, and",
        "$drive.output",
        "",
    ),
];

#[test]
fn mistakes_are_drawn() {
    for (from, to, message, under, help) in MISTAKES {
        assert!(SIGNALS.contains(from), "{from}");
        let text = SIGNALS.replacen(from, to, 1);
        let error = build(&text).expect_err(to);
        let found = assert_drawn(&error, message, under);
        if !help.is_empty() {
            assert_eq!(found.help.as_deref().unwrap_or_default(), help, "{to}: {error}");
        }
    }
    let still = SIGNALS.replace("step: 0.01)", "step: 0.01, statics: ())");
    let error = build(&still).unwrap_err().to_string();
    assert!(error.contains("of motion, and `statics` has none"), "{error}");
}
