//! Parameters that change while a scene runs, set by events and by controllers, against closed
//! forms and recursions.

use super::drawn::assert_drawn;
use super::probes::{measured, resumes, runner};
use pliant_run::Runner;
use pliant_scene::{Format, SceneError, SceneFile, Settings};

/// A scene with every word of controllers.
pub(crate) const CONTROLLERS: &str = include_str!("words/controllers.ron");

/// A cart of 2 kg without friction that a parameter pushes. SDIRK2 is exact for a constant push.
fn cart(words: &str, run: &str) -> String {
    format!(
        r#"(parameters: {{"u": 4}}, run: (duration: 1, {run}),
        nodes: [Particles(name: "cart", positions: [(0, 0, 0)], mass: 2)],
        force_fields: [(name: "push", on: "cart", law: Force(["$u", 0, 0]))],
        record: [Position("cart"), Velocity("cart"), Expression(name: "u", value: "$u"), Energy(total)], {words})"#
    )
}

/// A force that an event turns round: two parabolas.
#[test]
fn events_set_forces() {
    for run in [
        "step: 0.07",
        "step: 0.01, adaptive_step: ()",
        "step: 0.01, integrator: Rattle",
    ] {
        let text = cart(
            r#"events: [(name: "turn", when: "cart.x > 0.25", do: [Set("u", "-8 * cart.vx")])]"#,
            run,
        );
        let (outcome, table) = measured(&text);
        // x = t^2 up to 0.25 m at 0.5 s with 1 m/s, then a push of -8 N.
        let turn = outcome.summary.events["turn"].first.unwrap();
        assert!((turn - 0.5).abs() < 2e-6, "{run}: {turn}");
        let at = table["time_s"].iter().position(|t| *t == turn).unwrap();
        let (x, v) = (table["cart.x_m"][at], table["cart.vx_m/s"][at]);
        let push = -8.0 * v;
        for k in at + 1..table["time_s"].len() {
            let t = table["time_s"][k] - turn;
            assert!(
                (table["cart.x_m"][k] - x - v * t - 0.25 * push * t * t).abs() < 1e-10,
                "{run}"
            );
            assert_eq!(table["u"][k], push);
        }
        assert_eq!(
            (table["u"][0], table["u"][at]),
            (4.0, 4.0),
            "the line is that before the action"
        );
    }
}

/// A spring whose rest an event moves: what it stores more or less is `inputs` of the ledger.
#[test]
fn set_springs_are_in_the_ledger() {
    let text = r#"(parameters: {"rest": 0}, run: (duration: 1, step: 0.01),
        nodes: [Scalars(name: "a", values: [0.5], mass: 2)],
        force_fields: [(name: "k", on: "a", law: Spring(curve: Linear(10), rest: "$rest"))],
        record: [Position("a"), Energy(total)],
        events: [(name: "pull", when: "$t >= 0.305", do: [Set("rest", 1)])])"#;
    let (outcome, table) = measured(text);
    let pull = outcome.summary.events["pull"].first.unwrap();
    let at = table["time_s"].iter().position(|t| *t == pull).unwrap();
    let x = table["a.value"][at];
    let jump = 5.0 * (x - 1.0).powi(2) - 5.0 * x * x;
    let ledger = &outcome.summary.ledger;
    assert!((ledger["inputs"] - jump).abs() < 1e-12, "{ledger:?} {jump}");
    let energy = &table["energy.total_J"];
    // The method keeps energy to second order.
    assert!(
        (energy.last().unwrap() - energy[at] - jump).abs() < 1e-3,
        "{energy:?}"
    );
}

/// Motors follow: a target is reached in a straight line in the time of one step, a speed at once.
#[test]
fn set_targets_and_speeds_are_followed() {
    for (words, between) in [
        ("", 0),
        (
            "adaptive_step: (first: 0.002, largest: 0.003, position: 1, velocity: 100),",
            2,
        ),
    ] {
        let text = format!(
            r#"(parameters: {{"a": 0.2, "w": 1}}, run: (duration: 0.5, step: 0.01, {words}),
            nodes: [Bodies(name: "b", bodies: [
                (position: (0, 0, 0), shape: Sphere(0.1), mass: 1), (position: (1, 0, 0), shape: Sphere(0.1), mass: 1)])],
            joints: [
                (name: "p", kind: Hinge, b: Body("b", 0), motors: [Position(target: "$a * $t / 0.1 * max(0, 0.1 - $t) + $a")]),
                (name: "v", kind: Hinge, b: Body("b", 1), at: (1, 0, 0), motors: [Velocity(speed: "$w")])],
            record: [Joint("p"), Joint("v")],
            events: [(name: "s", when: "$t > 0.2", do: [Set("a", 0.3), Set("w", -2)])])"#
        );
        let (outcome, table) = measured(&text);
        let at = outcome.summary.events["s"].first.unwrap();
        let mut on_the_way = 0;
        for (k, t) in table["time_s"].iter().enumerate().skip(2) {
            let (angle, rate) = (table["p.angle_rad"][k], table["v.angle_rate_rad/s"][k]);
            let course = 1.0 + t / 0.1 * (0.1 - t).max(0.0);
            let since = t - at;
            let target = match since <= 0.0 {
                true => 0.2 * course,
                false => 0.3 * course - 0.1 * course * (1.0 - since / 0.01).max(0.0),
            };
            on_the_way += usize::from(since > 0.0 && since < 0.009);
            // Hard motors hold positions at the ends of steps, to the accuracy of Newton's method.
            assert!((angle - target).abs() < 1e-7, "{words} {t}: {angle} {target}");
            let speed = if since <= 0.0 { 1.0 } else { -2.0 };
            assert!((rate - speed).abs() < 1e-9, "{words} {t}: {rate}");
        }
        assert!(on_the_way >= between, "{on_the_way} steps on the way");
    }
}

/// The samples of a PID controller on a cart, by the recursion of a mass under a force that is
/// constant between samples.
fn recursion(
    h: f64,
    every: usize,
    steps: usize,
    gains: [f64; 3],
    limits: [f64; 2],
    measured: bool,
) -> Vec<[f64; 3]> {
    let [p, i, d] = gains;
    let (mut x, mut v, mut u) = (0.0, 0.0, 0.0);
    let (mut integral, mut before) = (0.0, None);
    let mut out = Vec::new();
    for k in 0..steps {
        if k % every == 0 {
            let e = 1.0 - x;
            let since = h * every as f64;
            let (more, slope) = match before {
                None => (0.0, 0.0),
                Some(last) => (0.5 * (e + last) * since, (e - last) / since),
            };
            let rate = if measured { -v } else { slope };
            let free = p * e + i * (integral + more) + d * rate;
            let stuck = (free > limits[1] && i * more > 0.0) || (free < limits[0] && i * more < 0.0);
            integral += if stuck { 0.0 } else { more };
            u = (p * e + i * integral + d * rate).clamp(limits[0], limits[1]);
            before = Some(e);
        }
        x += h * v + 0.5 * h * h * u / 2.0;
        v += h * u / 2.0;
        out.push([x, v, u]);
    }
    out
}

#[test]
fn pid_is_its_recursion() {
    let infinite = [f64::NEG_INFINITY, f64::INFINITY];
    for (words, every, gains, limits, measured_rate) in [
        (
            "Pid(error: \"1 - cart.x\", rate: \"-cart.vx\", p: 20, i: 5, d: 9)",
            1,
            [20.0, 5.0, 9.0],
            infinite,
            true,
        ),
        (
            "Pid(error: \"1 - cart.x\", p: 20, i: 5, d: 9)",
            1,
            [20.0, 5.0, 9.0],
            infinite,
            false,
        ),
        (
            "Pid(error: \"1 - cart.x\", p: 20, i: 5, d: 9), every: 4",
            4,
            [20.0, 5.0, 9.0],
            infinite,
            false,
        ),
        (
            "Pid(error: \"1 - cart.x\", rate: \"-cart.vx\", p: 20, i: 50, d: 9), limits: (lower: -3, upper: 6)",
            1,
            [20.0, 50.0, 9.0],
            [-3.0, 6.0],
            true,
        ),
    ] {
        let h = 0.01;
        let text = cart(
            &format!("controllers: [(name: \"c\", sets: \"u\", law: {words})]"),
            "step: 0.01",
        );
        let (_, table) = measured(&text);
        let expected = recursion(h, every, 100, gains, limits, measured_rate);
        for (k, [x, v, u]) in expected.iter().enumerate() {
            let found = [
                table["cart.x_m"][k + 1],
                table["cart.vx_m/s"][k + 1],
                table["u"][k + 1],
            ];
            for (found, expected) in found.into_iter().zip([x, v, u]) {
                // Roundings of a hundred steps, by the gain of the difference over a step.
                assert!((found - expected).abs() < 1e-9, "{words} {k}: {found} {expected}");
            }
        }
        if limits[1] == 6.0 {
            assert!(
                expected.iter().filter(|s| s[2] == 6.0).count() > 5,
                "it is at its limit for a while"
            );
        }
    }
}

/// With ever shorter steps a PD controller is the damped oscillator `2 x'' = 8 (1 - x) - 4 x'`,
/// `1 - x = e^-t (cos(sqrt(3) t) + sin(sqrt(3) t)/sqrt(3))`, to first order in the time of a
/// sample.
#[test]
fn pid_converges_to_the_damped_oscillator() {
    let error = |h: f64| {
        let words = r#"controllers: [(name: "c", sets: "u", law: Pid(error: "1 - cart.x", rate: "-cart.vx", p: 8, d: 4))]"#;
        let (_, table) = measured(&cart(words, &format!("step: {h}")));
        let s = 3f64.sqrt();
        let exact = 1.0 - (-1f64).exp() * (s.cos() + s.sin() / s);
        (table["cart.x_m"].last().unwrap() - exact).abs()
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!(
        coarse < 0.02 && (1.8..2.2).contains(&(coarse / fine)),
        "{coarse} {fine}"
    );
}

/// A torque by feedback that bears the weight of an arm holds it exactly where it is.
#[test]
fn feedback_holds_an_arm() {
    let text = r#"(parameters: {"u": 0}, gravity: (0, -9.81, 0), run: (duration: 1, step: 0.01),
        nodes: [Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)])],
        joints: [(name: "hinge", kind: Hinge, b: Body("arm", 0))],
        force_fields: [(name: "motor", on: "hinge.angle", law: Force(["$u"]))],
        record: [Joint("hinge"), Force("motor")],
        controllers: [(name: "bear", sets: "u", law: Feedback("2 * 9.81 * 0.5 * cos(hinge.angle)"))])"#;
    let (outcome, _) = measured(text);
    let last = |name: &str| outcome.summary.probes[name].last.unwrap();
    assert!(last("hinge.angle").abs() < 1e-8 && (last("motor.force") - 9.81).abs() < 1e-9);
}

#[test]
fn resumed_runs_go_on_with_their_controllers() {
    resumes(CONTROLLERS, &[1, 7, 19, 20, 22, 40]);
    let adaptive = CONTROLLERS.replace("step: 0.01", "step: 0.01, adaptive_step: (largest: 0.01)");
    resumes(&adaptive, &[2, 9, 31]);
}

/// Bytes of another moment bring the variables, the motors and the integrals with them.
#[test]
fn variables_are_in_checkpoints() {
    let bits = |run: &Runner| {
        let state = run.simulation().state();
        let bits = state
            .positions
            .iter()
            .chain(&state.velocities)
            .map(|x| x.to_bits());
        bits.collect::<Vec<_>>()
    };
    let mut run = runner(CONTROLLERS);
    let early = run.checkpoint_bytes().unwrap();
    for _ in 0..25 {
        run.step().unwrap();
    }
    let late = run.checkpoint_bytes().unwrap();
    run.step().unwrap();
    let expected = bits(&run);
    let mut other = runner(CONTROLLERS);
    other.restore_bytes(&late).unwrap();
    other.step().unwrap();
    assert_eq!(bits(&other), expected);
    other.restore_bytes(&early).unwrap();
    other.step().unwrap();
    let mut first = runner(CONTROLLERS);
    first.step().unwrap();
    assert_eq!(bits(&other), bits(&first));
}

#[test]
fn controllers_without_a_value_are_errors_with_their_name() {
    let text = CONTROLLERS.replace(
        "-$gain * hinge.angle_rate",
        "1 / (0.03 - floor(100 * $t + 0.5) / 100)",
    );
    let outcome = runner(&text).run(|_| {});
    let error = outcome.error.unwrap().to_string();
    assert!(
        error.contains("the controller `hold` has no value at t = 0.03 s: division by zero"),
        "{error}"
    );
}

fn build(text: &str) -> Result<(), SceneError> {
    let scene = SceneFile::from_text("controllers.ron".as_ref(), text, Format::Ron)?;
    scene.build(&Settings::default()).map(drop)
}

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 16] = [
    (
        "sets: \"push\"",
        "sets: \"psh\"",
        "unknown parameter `psh`",
        "\"psh\"",
        "did you mean `push`?",
    ),
    (
        "Set(\"rest\", -0.5)",
        "Set(\"rst\", -0.5)",
        "unknown parameter `rst`",
        "\"rst\"",
        "did you mean `rest`?",
    ),
    (
        "Set(\"rest\", -0.5)",
        "Set(\"gain\")",
        "expected 2 values in brackets",
        "(\"gain\")",
        "",
    ),
    (
        "sets: \"torque\"",
        "sets: \"push\"",
        "`push`, which `hold` sets, is set by another controller or event, too",
        "\"push\"",
        "",
    ),
    (
        "sets: \"torque\"",
        "sets: \"speed\"",
        "`speed`, which `hold` sets, is set by another",
        "\"speed\"",
        "",
    ),
    (
        "rest: \"$rest\"",
        "rest: 0",
        "`rest` is set while the scene runs, and nothing follows it",
        "\"rest\"",
        "",
    ),
    (
        "mass: 2)",
        "mass: \"$rest\")",
        "`$rest` changes while the scene runs, and `mass` of `cart` does not",
        "$rest",
        "",
    ),
    (
        "force: 5)",
        "force: \"$speed\")",
        "`$speed` changes while the scene runs",
        "$speed",
        "",
    ),
    (
        "p: 20",
        "p: \"$push\"",
        "`$push` changes while the scene runs, and `p` of `place` does not",
        "$push",
        "",
    ),
    ("1 - cart.x", "1 - cart.w", "`cart` has no quantity `w`", "w", ""),
    (
        "law: Pid(",
        "law: Pidd(",
        "unknown kind `Pidd`",
        "Pidd",
        "did you mean `Pid`?",
    ),
    ("error: \"1 - cart.x\", ", "", "missing key `error`", ")", ""),
    (
        "lower: -15",
        "lower: 20",
        "the limits of `place` are 20 and 15",
        "(lower: 20, upper: 15)",
        "",
    ),
    (
        "every: 3",
        "every: 0",
        "`every` of `hold` is 0, but must be from 1",
        "0",
        "",
    ),
    (
        "name: \"hold\"",
        "name: \"place\"",
        "the name `place` is used twice in `controllers`",
        "\"place\"",
        "",
    ),
    (
        "hinge.angle_rate +",
        "hinge.angle_rate > 0 +",
        "this is a condition, and a number is needed",
        "-$gain * hinge.angle_rate > 0 + 0.1 * (1 - hinge.angle)",
        "`if(condition, 1, 0)` makes a number of it",
    ),
];

#[test]
fn mistakes_are_drawn_with_a_suggestion() {
    for (from, to, message, under, help) in MISTAKES {
        assert!(CONTROLLERS.contains(from), "{from}");
        let error = build(&CONTROLLERS.replacen(from, to, 1)).err();
        let error = error.unwrap_or_else(|| panic!("{to} is taken"));
        let found = assert_drawn(&error, message, under);
        if !help.is_empty() {
            assert_eq!(found.help.as_deref().unwrap_or_default(), help, "{to}: {error}");
        }
    }
    let error = build(&CONTROLLERS.replace("step: 0.01", "statics: ()"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("of motion, and `statics` has none") || error.contains("depend on time"),
        "{error}"
    );
}
