//! Probes of `record` against closed forms and against the other files of a run.

mod mistakes;

use pliant_run::{Every, Outcome, ResultDirectory, Runner, write_into, write_results};
use pliant_scene::{Format, SceneError, SceneFile, Settings};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

/// A scene with every word of what is measured.
pub(crate) const PROBES: &str = include_str!("words/probes.ron");

pub(crate) fn runner(text: &str) -> Runner {
    try_runner(text).unwrap_or_else(|e| panic!("{e}"))
}

fn try_runner(text: &str) -> Result<Runner, SceneError> {
    let scene = SceneFile::from_text("probes.ron".as_ref(), text, Format::Ron)?;
    Runner::new(scene.build(&Settings::default())?)
}

/// The columns of a table by their names.
pub(crate) fn columns(table: &str) -> BTreeMap<String, Vec<f64>> {
    let mut lines = table.lines().map(|line| line.split(','));
    let names: Vec<String> = lines.next().unwrap().map(str::to_owned).collect();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, cell) in columns.iter_mut().zip(line) {
            column.push(cell.parse().unwrap());
        }
    }
    names.into_iter().zip(columns).collect()
}

/// The files of a run by their names.
pub(crate) fn files(outcome: &Outcome) -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    write_results(dir.path(), outcome).unwrap();
    read_files(dir.path())
}

pub(crate) fn read_files(dir: &Path) -> BTreeMap<String, String> {
    let read = |name: &str| {
        std::fs::read_to_string(dir.join(name))
            .ok()
            .map(|text| (name.to_owned(), text))
    };
    ["probes.csv", "energy.csv", "joints.csv", "result.json"]
        .into_iter()
        .filter_map(read)
        .collect()
}

pub(crate) fn measured(text: &str) -> (Outcome, BTreeMap<String, Vec<f64>>) {
    let outcome = runner(text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let table = columns(&files(&outcome)["probes.csv"]);
    (outcome, table)
}

/// Closed forms: a stone that is thrown, a body that spins freely, the distance of the two.
/// SDIRK2 is exact for parabolas, so that what is left is rounding.
#[test]
fn probes_of_motion_are_closed_forms() {
    let text = r#"(
        gravity: (0, -9.81, 0), run: (duration: 1, step: 0.05),
        nodes: [
            Particles(name: "stone", positions: [(1, 2, 3)], velocities: [(4, 5, 6)], mass: 2),
            Bodies(name: "ball", bodies: [(shape: Sphere(0.1), mass: 3, velocity: (0, 1, 0), angular_velocity: (0, 0, 2))]),
        ],
        record: [
            Position("stone"), Velocity("stone"), Position("ball", 0), Orientation("ball"), AngularVelocity("ball"),
            Distance(name: "gap", between: ("stone", "ball")), Distance(name: "high", between: ("stone", (1, 0, 3))),
            Energy(kinetic), Energy(total), Expression(name: "speed", value: "sqrt(stone.vx^2 + stone.vy^2 + stone.vz^2) - stone.speed"),
        ],
    )"#;
    let (outcome, table) = measured(text);
    let times = &table["time_s"];
    assert_eq!(times.len(), 21);
    let near = |name: &str, f: &dyn Fn(f64) -> f64, tolerance: f64| {
        for (t, found) in times.iter().zip(&table[name]) {
            assert!(
                (found - f(*t)).abs() < tolerance,
                "{name} at {t}: {found} {}",
                f(*t)
            );
        }
    };
    let g = 9.81;
    let y = move |t: f64| 2.0 + 5.0 * t - 0.5 * g * t * t;
    let ball = move |t: f64| t - 0.5 * g * t * t;
    near("stone.x_m", &|t| 1.0 + 4.0 * t, 1e-12);
    near("stone.y_m", &y, 1e-12);
    near("stone.vy_m/s", &|t| 5.0 - g * t, 1e-12);
    near("stone.vz_m/s", &|_| 6.0, 1e-12);
    near("ball.y_m", &ball, 1e-12);
    // A sphere about a fixed axis turns evenly; the method is of second order in rotations, and
    // exact where the angular velocity does not change.
    near("ball.qw", &|t| t.cos(), 1e-9);
    near("ball.qz", &|t| t.sin(), 1e-9);
    near("ball.wz_rad/s", &|_| 2.0, 1e-12);
    let gap = move |t: f64| (1.0 + 4.0 * t).hypot(y(t) - ball(t)).hypot(3.0 + 6.0 * t);
    near("gap_m", &gap, 1e-12);
    near("high_m", &|t| (4.0 * t).hypot(y(t)).hypot(6.0 * t), 1e-12);
    let spin = 0.5 * 0.4 * 3.0 * 0.01 * 4.0;
    let kinetic = move |t: f64| {
        let stone = 16.0 + (5.0 - g * t).powi(2) + 36.0;
        stone + 1.5 * (1.0 - g * t).powi(2) + spin
    };
    near("energy.kinetic_J", &kinetic, 1e-10);
    near("energy.total_J", &|_| kinetic(0.0) + 2.0 * g * 2.0, 1e-10);
    near("speed", &|_| 0.0, 1e-12);
    let probes = &outcome.summary.probes;
    assert_eq!(probes["stone.x"].min, Some(1.0));
    assert_eq!(probes["stone.x"].max, probes["stone.x"].last);
    let highest = table["stone.y_m"].iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(probes["stone.y"].max, Some(highest));
    let json: serde_json::Value = serde_json::from_str(&files(&outcome)["result.json"]).unwrap();
    assert_eq!(json["probes"]["stone.y"]["max"], highest);
}

/// The same numbers, to the bit, as in the files that a run has anyway, and the forces of contact
/// and rope that statics asks for.
#[test]
fn probes_are_the_numbers_of_the_other_files() {
    let text = PROBES.replace("probe_every: 3", "record_every: 1");
    let (outcome, table) = measured(&text);
    let files = files(&outcome);
    let (energy, joints) = (columns(&files["energy.csv"]), columns(&files["joints.csv"]));
    for name in ["kinetic", "potential", "total"] {
        assert_eq!(table[&format!("energy.{name}_J")], energy[&format!("{name}_J")]);
    }
    let own = joints.keys().filter(|name| name.starts_with("hinge."));
    let mut compared = 0;
    for name in own {
        assert_eq!(table[name], joints[name], "{name}");
        compared += 1;
    }
    assert_eq!(compared, 8);
    let summary = &outcome.summary;
    let last = |name: &str| summary.probes[name].last.unwrap();
    let reaction = summary.reactions["hinge.motor 0"][0];
    assert_eq!(last("hinge.motor 0.force"), reaction);
    assert_eq!(*table["hinge.motor 0.force_Nm"].last().unwrap(), reaction);
    assert!((reaction - 2.0).abs() < 1e-9, "the motor is too weak: {reaction}");
    let foot = &summary.contacts.as_ref().unwrap().forces["bobs"];
    assert!((last("foot.normal") - foot[0][1] - foot[1][1]).abs() < 1e-12);
    assert!((last("foot.force_y") + foot[0][1] + foot[1][1]).abs() < 1e-12);
    let angle = last("hinge.angle");
    let gap = last("gap");
    let mix = 0.5 * (angle + reaction) - last("foot.normal") + gap * summary.time;
    assert!((last("mix") - mix).abs() < 1e-12);
    assert_eq!(last("three"), 3.0);
    // A force has no value before the first step, and its zero there is no extreme.
    assert_eq!(table["hinge.motor 0.force_Nm"][0], 0.0);
    assert!(summary.probes["hinge.motor 0.force"].min.unwrap() > 1.0);
    // The tension of a spring of 10 N/m that is 0.5 m too long, at the start and ever after:
    // friction of 0.5 * 9.81 N on each ball is less, and they slide.
    let rope = summary.probes["rope.force"].max.unwrap();
    assert!(
        rope < 0.0 && summary.probes["rope.force"].min.unwrap() >= -5.0 - 1e-12,
        "{rope}"
    );
}

/// A block on a slope sticks: weight times sine and cosine of the slope.
#[test]
fn contact_probes_carry_weights() {
    let text = r#"(
        gravity: (3, -9, 0), run: (duration: 0.2, step: 0.01),
        nodes: [Bodies(name: "box", bodies: [(position: (0, 0.05, 0), shape: Box(0.1, 0.1, 0.1), mass: 2)])],
        colliders: [Fixed(name: "ground", shape: Plane(0, 1, 0)), Bodies(node: "box")],
        record: [Contact(name: "a", between: ("box", "ground")), Contact(name: "b", between: ("ground", "box"))],
    )"#;
    let (outcome, _) = measured(text);
    let last = |name: &str| outcome.summary.probes[name].last.unwrap();
    // To the accuracy of contacts.
    for (name, force) in [
        ("a.normal", 18.0),
        ("a.friction", 6.0),
        ("a.force_x", 6.0),
        ("a.force_y", -18.0),
        ("b.normal", 18.0),
        ("b.friction", 6.0),
        ("b.force_x", -6.0),
        ("b.force_y", 18.0),
    ] {
        assert!((last(name) - force).abs() < 1e-5, "{name}: {}", last(name));
    }
}

#[test]
fn lines_are_every_so_many_steps_and_at_the_end() {
    let (outcome, table) = measured(PROBES);
    let times = &table["time_s"];
    let expected = [0.0, 0.03, 0.06, 0.09, 0.1];
    assert_eq!(times.len(), expected.len());
    assert!(
        times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12),
        "{times:?}"
    );
    // Extremes are those of all steps.
    let all = runner(&PROBES.replace("probe_every: 3", "probe_every: 1")).run(|_| {});
    assert_eq!(outcome.summary.probes, all.summary.probes);
    // Nothing is kept without files, and the numbers are the same.
    let none = runner(PROBES).without_recording().run(|_| {});
    assert!(none.recording.probes.lines.is_empty());
    assert_eq!(outcome.summary.probes, none.summary.probes);
}

/// The bytes of all tables, of a run that is broken off and resumed, are those of one that is not.
#[test]
fn resumed_runs_go_on_with_their_probes() {
    resumes(PROBES, &[4, 7]);
    let adaptive = "adaptive_step: (first: 0.001, largest: 0.004), probe_every: 2";
    resumes(&PROBES.replace("probe_every: 3", adaptive), &[5, 13]);
}

pub(crate) fn resumes(text: &str, stops: &[usize]) {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let outcome = runner(text).run(|_| {});
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert!(stops.iter().all(|stop| *stop < outcome.summary.steps));
    write_into(&mut ResultDirectory::take(&whole).unwrap(), &outcome).unwrap();
    let parts = dir.path().join("parts");
    let mut directory = ResultDirectory::take(&parts).unwrap();
    let every = Every::Steps(NonZeroUsize::new(1000).unwrap());
    let last = [usize::MAX];
    for (k, stop) in stops.iter().chain(&last).enumerate() {
        let run = match k {
            0 => runner(text).keep_checkpoints(&directory, Some(every)),
            _ => runner(text).resume(&directory, Some(every)),
        };
        let outcome = run.unwrap().run_while(|progress| match progress.taken >= *stop {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        let status = if *stop == usize::MAX { "ok" } else { "interrupted" };
        assert_eq!(outcome.summary.status, status, "{:?}", outcome.error);
        write_into(&mut directory, &outcome).unwrap();
    }
    let (mut whole, mut parts) = (read_files(&whole), read_files(&parts));
    let results = [&mut whole, &mut parts].map(|files| {
        let text = files.remove("result.json").unwrap();
        let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
        for key in ["seconds", "work", "crc32"] {
            result.as_object_mut().unwrap().remove(key);
        }
        result
    });
    assert_eq!(results[0], results[1]);
    assert!(whole == parts && whole.contains_key("probes.csv"));
}

/// A bar under a weight that grows: points of a path, and a single equilibrium.
#[test]
fn probes_of_equilibria() {
    let scene = |statics: &str| {
        format!(
            r#"(run: (duration: 1, statics: ({statics})),
            nodes: [Particles(name: "a", positions: [(1, 0, 0)], mass: 1),
                Mapped(name: "r", parents: ["a"], mapping: Difference(pairs: [(0, (1, 0, 0))]))],
            force_fields: [(name: "pull", on: "a", law: Force([3, 0, 0])), (name: "spring", on: "r", law: Stiffness(10))],
            record: [Position("a"), Force("spring"), Energy(potential), Expression(name: "load", value: "-spring.force_x / 3")])"#
        )
    };
    let (outcome, table) = measured(&scene("loads: [\"pull\"]"));
    let loads = &outcome.summary.statics.as_ref().unwrap().load;
    assert_eq!(table["load"].len(), loads.len());
    for (k, load) in loads.iter().enumerate() {
        assert!((table["a.x_m"][k] - 1.0 - 0.3 * load).abs() < 1e-9);
        assert!((table["load"][k] - load).abs() < 1e-9);
    }
    assert!((outcome.summary.probes["load"].max.unwrap() - 1.0).abs() < 1e-9);
    let (outcome, table) = measured(&scene(""));
    assert_eq!(table["time_s"], [0.0, 1.0]);
    assert!((table["a.x_m"][1] - 1.3).abs() < 1e-9);
    // Extremes are of equilibria, not of the start.
    assert_eq!(
        outcome.summary.probes["a.x"].min,
        outcome.summary.probes["a.x"].last
    );
}

/// An expression without a value is no number in the table, `null` in the result, and a warning.
#[test]
fn expressions_without_a_value_are_said() {
    let text = PROBES.replace("value: 3)", "value: \"1 / ($t - 0.03) + sqrt(0.05 - $t)\")");
    let outcome = runner(&text).run(|_| {});
    let table = columns(&files(&outcome)["probes.csv"]);
    assert!(table["three"][0].is_finite() && table["three"][4].is_nan());
    assert_eq!(outcome.summary.probes["three"].last, None);
    assert!(outcome.summary.probes["three"].min.is_some());
    let warning = outcome
        .summary
        .warnings
        .iter()
        .find(|w| w.contains("`three`"))
        .unwrap();
    assert!(
        warning.contains("had no value at") && warning.contains("division by zero"),
        "{warning}"
    );
}

/// Forces of what turns are torques: the unit of each column is that of its coordinate.
#[test]
fn forces_have_the_unit_of_their_coordinate() {
    let text = "(gravity: (0, -9.81, 0), run: (duration: 0.02, step: 0.01), nodes: [
        Bodies(name: \"a\", bodies: [(position: (1, 0, 0), shape: Sphere(0.1), mass: 1)]),
        Bodies(name: \"b\", bodies: [(position: (3, 0, 0), shape: Sphere(0.1), mass: 1)]),
        Bodies(name: \"d\", bodies: [(position: (5, 0, 0), shape: Sphere(0.1), mass: 1)])],
    joints: [
        (name: \"c\", kind: Cylindrical, b: Body(\"a\", 0), at: (0, 0, 0),
            friction: [(coefficient: 0.1, radius: 0.01)]),
        (name: \"h\", kind: Hinge, b: Body(\"b\", 0), at: (3, 0, 0), friction: [(force: 0.1)]),
        (name: \"k\", kind: Hinge, b: Body(\"d\", 0), at: (5, 0, 0))],
    gears: [(name: \"g\", first: \"h.angle\", second: \"k.angle\", ratio: 1)],
    events: [(name: \"off\", when: \"$t > 0.005\", do: [Release(\"g\")])],
    record: [Force(\"c.friction 0\"), Force(\"h.friction 0\"), Force(\"g\")])";
    let runner = runner(text);
    let outcome = runner.run(|_| {});
    let table = files(&outcome)["probes.csv"].clone();
    // A gear is called by its name, also where it is released.
    assert_eq!(
        table.lines().next(),
        Some("time_s,c.friction 0.force_x_N,c.friction 0.force_y_Nm,h.friction 0.force_Nm,g.force")
    );
    assert_eq!(outcome.summary.events["off"].count, 1);
}
