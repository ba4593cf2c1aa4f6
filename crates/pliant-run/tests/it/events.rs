//! Events of scenes against closed forms: when they are, what is released, how runs end.

mod mistakes;

use super::probes::{columns, measured, read_files, resumes, runner};
use super::scenes::path;
use pliant_run::{Outcome, Runner, write_results};
use pliant_scene::{SceneFile, Settings};

/// A scene with every word of events.
pub(crate) const EVENTS: &str = include_str!("words/events.ron");

const G: f64 = 9.81;

fn run(text: &str) -> Outcome {
    let outcome = runner(text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    outcome
}

fn time_of(outcome: &Outcome, event: &str) -> f64 {
    outcome.summary.events[event]
        .first
        .unwrap_or_else(|| panic!("`{event}` was not"))
}

/// A stone that falls 1 m: `sqrt(2/g)`, by fixed steps and by those that choose their length.
#[test]
fn free_fall_is_located_to_the_tolerance() {
    for (words, tolerance) in [
        ("", 1e-6),
        ("event_tolerance: 1e-10,", 1e-10),
        ("event_tolerance: 1e-3,", 1e-3),
        ("adaptive_step: (),", 1e-6),
        ("integrator: Nonlinear, alpha: 0.5, beta: 0.5,", 1e-6),
        ("integrator: Rattle,", 1e-6),
        ("integrator: EnergyMomentum,", 1e-6),
    ] {
        let text = format!(
            r#"(gravity: (0, -9.81, 0), run: (duration: 1, step: 0.07, {words}),
            nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
            record: [Position("stone")],
            events: [(name: "down", when: "stone.y < -1", do: [Stop])])"#
        );
        let (outcome, table) = measured(&text);
        let (found, exact) = (time_of(&outcome, "down"), (2.0 / G).sqrt());
        // Not before, but for the rounding of the height, and at most the tolerance after.
        let rounding = 1e-14;
        assert!(
            found > exact - rounding && found < exact + tolerance + rounding,
            "{words} {found} {exact}"
        );
        assert_eq!(outcome.summary.status, "ok");
        let stopped = outcome.summary.stopped_by.as_ref().unwrap();
        assert_eq!((stopped.event.as_str(), stopped.time), ("down", found));
        assert_eq!(outcome.summary.time, found);
        assert_eq!(table["time_s"].last(), Some(&found));
        assert_eq!(outcome.recording.frames.last().unwrap().time, found);
    }
}

/// A pendulum that is let go from the horizontal is at the bottom after a quarter of its period,
/// `K(1/2) sqrt(l/g)` with the elliptic integral K.
#[test]
fn pendulum_is_at_the_bottom_after_a_quarter_of_its_period() {
    // Order six: the error of the motion is below that of the event.
    let text = r#"(gravity: (0, -9.81, 0), run: (duration: 2, step: 0.01, integrator: Rattle6, event_tolerance: 1e-9),
        nodes: [Particles(name: "bob", positions: [(1, 0, 0)], mass: 1),
            Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))]))],
        constraints: [(name: "rod is hard", on: "rod")],
        events: [(name: "bottom", when: "bob.x < 0", do: [Stop])])"#;
    let quarter = 1.854_074_677_301_372 / G.sqrt();
    let found = time_of(&run(text), "bottom");
    assert!((found - quarter).abs() < 2e-8, "{found} {quarter}");
}

/// A mass on a spring goes up through the middle once in each period.
#[test]
fn events_that_may_be_again_are_once_a_period() {
    let text = r#"(run: (duration: 10, step: 0.01, integrator: Rattle4),
        nodes: [Particles(name: "a", positions: [(1, 0, 0)], mass: 1)],
        force_fields: [(name: "k", on: "a", law: Stiffness(4))],
        events: [(name: "up", when: "a.x > 0 and a.vx > 0", again: true, do: [Say("up")]),
            (name: "once", when: "a.x < 0", do: [Say("down")])])"#;
    let outcome = run(text);
    // cos(2 t) goes up through zero at 3 pi/4 + k pi.
    let up = &outcome.summary.events["up"];
    let exact = |k: f64| std::f64::consts::PI * (0.75 + k);
    assert_eq!(up.count, 3);
    // Order four at a step of 0.01: 1e-7; the tolerance is 1e-6.
    assert!((up.first.unwrap() - exact(0.0)).abs() < 2e-6);
    assert!((up.last.unwrap() - exact(2.0)).abs() < 2e-6);
    assert_eq!(outcome.summary.events["once"].count, 1);
    let said: Vec<&str> = outcome.summary.said.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(said, ["down", "up", "up", "up"]);
    assert!(outcome.summary.stopped_by.is_none() && (outcome.summary.time - 10.0).abs() < 1e-9);
}

/// Words of methods that take the models of the next tests.
const METHODS: [&str; 7] = [
    "integrator: Sdirk2",
    "integrator: Theta",
    "integrator: Nonlinear, alpha: 0.5, beta: 0.5",
    "integrator: GeneralisedAlpha()",
    "integrator: Bdf2",
    "integrator: EnergyMomentum",
    "adaptive_step: (largest: 0.01)",
];

/// A spring that is released: from then on the mass goes straight on, and what the spring stored
/// has left by `inputs` of the ledger. The velocity is that of the same run before the event.
#[test]
fn a_released_spring_takes_its_energy_with_it() {
    for method in METHODS {
        for treatment in ["Stiffness", "Compliance"] {
            let text = format!(
                r#"(run: (duration: 1, step: 0.01, {method}),
                nodes: [Particles(name: "a", positions: [(1, 0, 0)], mass: 2)],
                force_fields: [(name: "k", on: "a", law: Stiffness(8), treatment: {treatment})],
                record: [Position("a"), Velocity("a"), Force("k"), Energy(total), Energy(potential)],
                events: [(name: "cut", when: "$t >= 0.405", do: [Release("k")])])"#
            );
            let (outcome, table) = measured(&text);
            let cut = time_of(&outcome, "cut");
            assert!((cut - 0.405).abs() < 2e-6, "{method} {cut}");
            let times = &table["time_s"];
            let at = times.iter().position(|t| *t == cut).unwrap();
            let (x, v) = (table["a.x_m"][at], table["a.vx_m/s"][at]);
            let stored = table["energy.potential_J"][at];
            // Rows of compliances are measured by their multipliers, hence the tolerance.
            assert!(
                (stored - 4.0 * x * x).abs() < 0.05 * stored,
                "{method} {treatment} {stored}"
            );
            for k in at + 1..times.len() {
                assert!((table["a.vx_m/s"][k] - v).abs() < 1e-9, "{method} {treatment}");
                let straight = x + v * (times[k] - cut);
                assert!(
                    (table["a.x_m"][k] - straight).abs() < 1e-8,
                    "{method} {treatment}"
                );
                assert_eq!(table["k.force_x_N"][k], 0.0);
                assert_eq!(table["energy.potential_J"][k], 0.0);
            }
            let ledger = &outcome.summary.ledger;
            assert!(
                (ledger["inputs"] + stored).abs() < 1e-12,
                "{method} {treatment} {ledger:?}"
            );
            let changed = ledger["kinetic"] + ledger["potential"];
            let sources: f64 = ledger
                .iter()
                .filter(|(k, _)| !["kinetic", "potential"].contains(k))
                .map(|e| e.1)
                .sum();
            assert!(
                (changed - sources).abs() < 1e-9,
                "{method} {treatment} {ledger:?}"
            );
        }
    }
}

/// A pendulum whose rod is cut flies as the closed-form parabola from the state at the cut, and the
/// rope beside it carries its weight as before.
#[test]
fn released_rows_act_no_more_and_others_go_on() {
    for method in METHODS {
        let text = format!(
            r#"(gravity: (0, -9.81, 0), run: (duration: 1, step: 0.01, {method}),
            nodes: [Particles(name: "bob", positions: [(1, 0, 0)], mass: 1),
                Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
                Particles(name: "lamp", positions: [(5, -1, 0)], mass: 3),
                Mapped(name: "wire", parents: ["lamp"], mapping: Distance(pairs: [(0, (5, 0, 0))]))],
            constraints: [(name: "rod", on: "rod"), (name: "wire", on: "wire")],
            record: [Position("bob"), Velocity("bob"), Force("rod"), Force("wire"), Energy(total)],
            events: [(name: "cut", when: "bob.y < -0.5", do: [Release("rod")])])"#
        );
        let (outcome, table) = measured(&text);
        let cut = time_of(&outcome, "cut");
        let times = &table["time_s"];
        let at = times.iter().position(|t| *t == cut).unwrap();
        let start = |name: &str| table[name][at];
        // The theta method moves by the velocity at the end of its steps: g h t/2. BDF2 begins anew
        // with two such steps, each of which misses g h^2/2.
        let (drift, begun) = match method {
            method if method.contains("Theta") => (0.5 * G * 0.01, 0.0),
            method if method.contains("Bdf2") => (0.0, G * 0.01 * 0.01),
            _ => (0.0, 0.0),
        };
        for k in at..times.len() {
            let t = times[k] - cut;
            let x = start("bob.x_m") + start("bob.vx_m/s") * t;
            let y = start("bob.y_m") + start("bob.vy_m/s") * t - 0.5 * G * t * t;
            assert!((table["bob.x_m"][k] - x).abs() < 1e-8, "{method} x");
            assert!(
                (table["bob.y_m"][k] - y).abs() < 1e-8 + begun + drift * t * 1.01,
                "{method} y {k}"
            );
            if k > at {
                assert_eq!(table["rod.force_N"][k], 0.0, "{method}");
                assert!((table["wire.force_N"][k] + 3.0 * G).abs() < 1e-6, "{method}");
            }
        }
        assert!(table["rod.force_N"][at] < -5.0, "{method}");
        assert_eq!(outcome.summary.ledger["inputs"], 0.0, "a hard row stores nothing");
    }
}

/// A joint with a motor and a limit is released as a whole: its body flies.
#[test]
fn released_joints_are_gone_with_all_that_acts_on_them() {
    let text = r#"(gravity: (0, -9.81, 0), run: (duration: 0.5, step: 0.005),
        nodes: [Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 1)])],
        joints: [(name: "hinge", kind: Hinge, b: Body("arm", 0),
            motors: [Velocity(speed: 3, force: 5000)], limits: [(upper: 1)], springs: [(compliance: 0.1)])],
        record: [Position("arm"), Velocity("arm"), AngularVelocity("arm"), Force("hinge")],
        events: [(name: "off", when: "hinge.angle > 0.5", do: [Release("hinge")])])"#;
    let (outcome, table) = measured(text);
    let off = time_of(&outcome, "off");
    // At 3 rad/s from the end of the first step on.
    assert!((off - 0.5 / 3.0).abs() < 0.005, "{off}");
    let times = &table["time_s"];
    let at = times.iter().position(|t| *t == off).unwrap();
    for k in at + 1..times.len() {
        let t = times[k] - off;
        let y = table["arm.y_m"][at] + table["arm.vy_m/s"][at] * t - 0.5 * G * t * t;
        assert!((table["arm.y_m"][k] - y).abs() < 1e-9);
        assert!((table["arm.wz_rad/s"][k] - 3.0).abs() < 1e-9);
        assert_eq!(table["hinge.force_y_N"][k], 0.0);
    }
}

/// A body that a hard joint holds in the world meets nothing fixed; once it is released it falls
/// and lies. Another one that is still held hangs in the ground as before.
#[test]
fn what_was_held_collides_once_it_is_released() {
    let text = r#"(gravity: (0, -10, 0), run: (duration: 1.5, step: 0.01),
        nodes: [Bodies(name: "box", bodies: [
            (position: (0, 1, 0), shape: Box(0.2, 0.2, 0.2), mass: 2), (position: (3, 0, 0), shape: Box(0.2, 0.2, 0.2), mass: 2)])],
        joints: [(name: "hook", kind: Fixed, b: Body("box", 0), at: (0, 1, 0)),
            (name: "other hook", kind: Fixed, b: Body("box", 1), at: (3, 0, 0))],
        colliders: [Fixed(name: "ground", shape: Plane(0, 1, 0)), Bodies(node: "box")],
        record: [Position("box"), Contact(name: "foot", between: ("box 0", "ground")),
            Contact(name: "buried", between: ("box 1", "ground"))],
        events: [(name: "drop", when: "$t > 0.2", do: [Release("hook")])])"#;
    let (outcome, _) = measured(text);
    let last = |name: &str| outcome.summary.probes[name].last.unwrap();
    assert!((last("box[0].y") - 0.1).abs() < 1e-5, "{}", last("box[0].y"));
    assert!(
        (last("foot.normal") - 20.0).abs() < 1e-4,
        "{}",
        last("foot.normal")
    );
    assert_eq!(outcome.summary.probes["buried.normal"].max, Some(0.0));
    assert!(last("box[1].y").abs() < 1e-9);
}

#[test]
fn events_of_the_start_and_of_one_moment() {
    let text = |when: &str| {
        format!(
            r#"(run: (duration: 1, step: 0.1), nodes: [Particles(name: "a", positions: [(0, 0, 0)], velocities: [(1, 0, 0)], mass: 1)],
            events: [(name: "b", when: "a.x > 0.35", do: [Say("b")]), (name: "a", when: "a.x > 0.35", do: [Say("a"), Stop]),
                (name: "s", when: "{when}", do: [Say("s")])])"#
        )
    };
    let outcome = run(&text("a.x > 0.351"));
    let said: Vec<&str> = outcome.summary.said.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(
        said,
        ["b", "a"],
        "in the order of the scene, and not what is later"
    );
    let outcome = run(&text("a.x > -1"));
    assert_eq!(
        (
            outcome.summary.said[0].text.as_str(),
            outcome.summary.said[0].time
        ),
        ("s", 0.0)
    );
    // One that stops at the start: no step is taken.
    let at_once = text("a.x > -1").replace("do: [Say(\"s\")]", "do: [Stop]");
    let outcome = run(&at_once);
    assert_eq!((outcome.summary.steps, outcome.summary.time), (0, 0.0));
    assert_eq!(outcome.summary.stopped_by.unwrap().event, "s");
}

/// Bits of a run that is broken off around its events and resumed, and of a step that fails.
#[test]
fn resumed_runs_go_on_with_their_events() {
    let outcome = run(EVENTS);
    assert!(
        outcome.summary.events.values().all(|event| event.count > 0),
        "{:?}",
        outcome.summary.events
    );
    assert_eq!(outcome.summary.stopped_by.as_ref().unwrap().event, "end");
    let steps = outcome.summary.steps;
    resumes(EVENTS, &[3, steps / 2, steps - 1]);
    let adaptive = EVENTS.replace("step: 0.01,", "step: 0.01, adaptive_step: (largest: 0.01),");
    let steps = run(&adaptive).summary.steps;
    resumes(&adaptive, &[2, steps / 2, steps - 1]);
}

/// Bytes of a moment behind an event bring a run there that is still ahead of it, and back.
#[test]
fn what_is_released_is_in_checkpoints() {
    let mut run = runner(EVENTS);
    let early = run.checkpoint_bytes().unwrap();
    while run.simulation().time() < 0.2 {
        run.step().unwrap();
    }
    let late = run.checkpoint_bytes().unwrap();
    let go_on = |run: &mut Runner| {
        run.step().unwrap();
        let state = run.simulation().state();
        let bits = state
            .positions
            .iter()
            .chain(&state.velocities)
            .map(|x| x.to_bits());
        bits.collect::<Vec<_>>()
    };
    let expected = go_on(&mut run);
    let mut other = runner(EVENTS);
    other.restore_bytes(&late).unwrap();
    assert_eq!(go_on(&mut other), expected);
    let first = go_on(&mut runner(EVENTS));
    other.restore_bytes(&early).unwrap();
    assert_eq!(go_on(&mut other), first);
}

/// A condition without a value ends the run with its name, and is found by the check of the start.
#[test]
fn conditions_without_a_value_are_errors_that_name_the_event() {
    let text = EVENTS.replace("bob.y < -0.1\"", "1 / (bob.y + 0.001 * floor(1000 * $t)) > 1e9\"");
    let scene = SceneFile::from_text("a.ron".as_ref(), &text, pliant_scene::Format::Ron).unwrap();
    let error = Runner::new(scene.build(&Settings::default()).unwrap()).unwrap_err();
    let shown = error.to_string();
    assert!(
        shown.contains("the condition of the event `end` has no value at t = 0 s: division by zero"),
        "{shown}"
    );
    assert!(shown.contains("^^^^"), "{shown}");
    let text = EVENTS.replace("bob.y < -0.1\"", "log(0.05 - $t) > 1\"");
    let outcome = runner(&text).run(|_| {});
    let error = outcome.error.unwrap().to_string();
    assert!(
        error.contains("the condition of the event `end` has no value at t = 0.05"),
        "{error}"
    );
    assert_eq!(outcome.summary.status, "failed");
    assert_eq!(outcome.summary.error_kind, Some("numerical"));
    // The state is that of the last good step.
    assert!(outcome.summary.time < 0.05 + 1e-9);
}

/// The scene of the repository: the sling lets go at its angle, the stone flies as a parabola, and
/// the run stops where it lands.
#[test]
fn trebuchet_throws_a_parabola() {
    let scene = SceneFile::load(&path("trebuchet")).unwrap();
    let outcome = Runner::new(scene.build(&Settings::default()).unwrap())
        .unwrap()
        .run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), &outcome).unwrap();
    let table = columns(&read_files(dir.path())["probes.csv"]);
    let go = time_of(&outcome, "let go");
    let at = table["time_s"].iter().position(|t| *t == go).unwrap();
    let start = |name: &str| table[name][at];
    // Past the angle by at most the tolerance times the rate.
    let past = -2.2 - start("pivot.angle_rad");
    assert!(
        past > 0.0 && past < 1e-6 * start("pivot.angle_rate_rad/s").abs(),
        "{past}"
    );
    assert!(
        start("sling.force_N") < -100.0,
        "the sling pulls: {}",
        start("sling.force_N")
    );
    assert!(
        start("stone.vx_m/s") > 10.0 && start("stone.vy_m/s") > 5.0,
        "it flies"
    );
    let (vx, vy, y) = (start("stone.vx_m/s"), start("stone.vy_m/s"), start("stone.y_m"));
    let mut flown = 0;
    for k in at + 1..table["time_s"].len() {
        let t = table["time_s"][k] - go;
        assert!((table["stone.x_m"][k] - start("stone.x_m") - vx * t).abs() < 1e-8);
        assert!((table["stone.y_m"][k] - y - vy * t + 0.5 * G * t * t).abs() < 1e-8);
        flown += 1;
    }
    assert!(flown > 100);
    let landing = go + (vy + (vy * vy + 2.0 * G * (y - 0.2)).sqrt()) / G;
    let stopped = outcome.summary.stopped_by.as_ref().unwrap();
    assert_eq!(stopped.event, "landed");
    assert!(
        stopped.time > landing - 1e-9 && stopped.time < landing + 1e-6 + 1e-9,
        "{} {landing}",
        stopped.time
    );
    // Nothing is lost by letting go: a hard sling stores nothing.
    let kept = start("energy.total_J") - table["energy.total_J"].last().unwrap();
    assert!(
        kept.abs() < 1e-3 * outcome.summary.energy_start.total.abs(),
        "{kept}"
    );
}
