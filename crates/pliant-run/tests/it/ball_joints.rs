//! Coordinates, springs, dampers and motors of ball joints, against closed forms.

use super::probes::{measured, resumes};
use pliant_scene::{Format, SceneError, SceneFile, Settings};
use std::collections::BTreeMap;

/// A box of 12 kg that hangs by its centre: inertia 5, 10 and 13 kg m^2 about its axes.
fn spinner(joint: &str, run: &str) -> String {
    format!(
        r#"(run: (duration: 2, {run}),
        nodes: [Bodies(name: "body", bodies: [(shape: Box(3, 2, 1), mass: 12)])],
        joints: [(name: "hub", kind: Ball, b: Body("body", 0), {joint})],
        record: [Joint("hub"), Orientation("body"), AngularVelocity("body"), Energy(total)])"#
    )
}

fn of<'a>(table: &'a BTreeMap<String, Vec<f64>>, name: &str) -> &'a [f64] {
    let found = table.get(name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", table.keys()))
}

/// About a principal axis, a spring of one coordinate is that of a torsional pendulum.
#[test]
fn torsional_oscillation_about_each_axis() {
    for (axis, name, inertia) in [(0, "rx", 5.0), (1, "ry", 10.0), (2, "rz", 13.0)] {
        let mut start = [0.0; 3];
        start[axis] = 0.8;
        for spring in [
            "(compliance: 0.01)".to_owned(),
            format!("(on: \"{name}\", compliance: 0.01)"),
        ] {
            let joint = format!(
                "springs: [{spring}], start: [{}, {}, {}]",
                start[0], start[1], start[2]
            );
            let table = measured(&spinner(&joint, "step: 0.002")).1;
            let w = f64::sqrt(100.0 / inertia);
            let angle = of(&table, &format!("hub.{name}_rad"));
            for (t, angle) in of(&table, "time_s").iter().zip(angle) {
                let expected = 0.8 * (w * t).cos();
                // SDIRK2 is of second order: a phase of (w h)^2 w t / 12.
                assert!((angle - expected).abs() < 1e-4, "{name} {t}: {angle} {expected}");
            }
        }
    }
}

/// A ball in equal springs turns to and fro about one axis, whichever it is.
#[test]
fn equal_springs_have_no_axes() {
    let text = r#"(run: (duration: 1, step: 0.002),
        nodes: [Bodies(name: "body", bodies: [(shape: Sphere(0.5), mass: 10)])],
        joints: [(name: "hub", kind: Ball, b: Body("body", 0), springs: [(compliance: 0.1)], start: [0.5, -1, 1.2])],
        record: [Joint("hub")])"#;
    let table = measured(text).1;
    let w = f64::sqrt(10.0 / (0.4 * 10.0 * 0.25));
    for (k, t) in of(&table, "time_s").iter().enumerate() {
        for (name, start) in [("rx", 0.5), ("ry", -1.0), ("rz", 1.2)] {
            let found = of(&table, &format!("hub.{name}_rad"))[k];
            let expected = start * (w * t).cos();
            assert!((found - expected).abs() < 2e-5, "{name} {t}: {found} {expected}");
        }
    }
}

/// A rod that lies on a ball joint at its end tilts until the spring bears its weight.
#[test]
fn static_tilt_under_gravity() {
    let text = r#"(gravity: (0, -10, 0), run: (duration: 1, statics: ()),
        nodes: [Bodies(name: "rod", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)])],
        joints: [(name: "hub", kind: Ball, b: Body("rod", 0), springs: [(compliance: "1/20")])],
        record: [Joint("hub"), Force("hub")])"#;
    let table = measured(text).1;
    let last = |name: &str| *of(&table, name).last().unwrap();
    // 20 a = 10 cos(a), with the weight of 20 N at half a metre.
    let mut angle = 0.5f64;
    for _ in 0..50 {
        angle -= (20.0 * angle - 10.0 * angle.cos()) / (20.0 + 10.0 * angle.sin());
    }
    assert!(
        (last("hub.rz_rad") + angle).abs() < 1e-9,
        "{} {angle}",
        last("hub.rz_rad")
    );
    // The spring turns the rod back by as much as its weight turns it, and the hub bears it.
    assert!((last("hub.torque_z_Nm") - 20.0 * angle).abs() < 1e-7);
    assert!((last("hub.force_y_N") - 20.0).abs() < 1e-7);
    assert!(last("hub.rx_rad").abs() < 1e-9 && last("hub.ry_rad").abs() < 1e-9);
}

/// A damper about a principal axis: the rate decays.
#[test]
fn dampers_slow_the_turn() {
    let table = measured(&spinner(
        "dampers: [(damping: 3)], speed: [0, 0, 1.5]",
        "step: 0.005",
    ))
    .1;
    let rates = of(&table, "hub.rz_rate_rad/s");
    for (t, rate) in of(&table, "time_s").iter().zip(rates) {
        let expected = 1.5 * (-3.0 * t / 13.0).exp();
        assert!((rate - expected).abs() < 1e-6, "{t}: {rate} {expected}");
    }
}

/// A motor without compliance is where its target is, at any speed and about axes that move.
#[test]
fn motors_reach_their_orientation() {
    let motors = r#"motors: [Position(target: ["0.9 * sin(2 * $t)", "0.3 * $t", "-0.5 * $t^2"])]"#;
    let text = spinner(motors, "step: 0.01");
    let table = measured(&text).1;
    for (k, t) in of(&table, "time_s").iter().enumerate() {
        let target = [0.9 * (2.0 * t).sin(), 0.3 * t, -0.5 * t * t];
        for (name, target) in ["rx", "ry", "rz"].iter().zip(target) {
            let found = of(&table, &format!("hub.{name}_rad"))[k];
            assert!((found - target).abs() < 1e-9, "{name} {t}: {found} {target}");
        }
        // The quaternion of that rotation vector.
        let size = target.iter().map(|r| r * r).sum::<f64>().sqrt();
        assert!((of(&table, "body.qw")[k].abs() - (0.5 * size).cos().abs()).abs() < 1e-9);
        for (name, target) in ["qx", "qy", "qz"].iter().zip(target) {
            let wanted = 0.5
                * target
                * if size == 0.0 {
                    1.0
                } else {
                    (0.5 * size).sin() / (0.5 * size)
                };
            let found = of(&table, &format!("body.{name}"))[k] * of(&table, "body.qw")[k].signum();
            assert!(
                (found - wanted * (0.5 * size).cos().signum()).abs() < 1e-9,
                "{name} {t}"
            );
        }
    }
    resumes(&text, &[20]);
    // Motors of single coordinates are the same one.
    let each = r#"motors: [
        Position(on: "rx", target: "0.9 * sin(2 * $t)"), Position(on: "ry", target: "0.3 * $t"),
        Position(on: "rz", target: "-0.5 * $t^2"),
    ]"#;
    assert_eq!(measured(&spinner(each, "step: 0.01")).1, table);
}

/// A motor of a speed about an axis that stays.
#[test]
fn motors_turn_at_their_speed() {
    let table = measured(&spinner(
        r#"motors: [Velocity(speed: [0, "1.5 * $t", 0])]"#,
        "step: 0.01",
    ))
    .1;
    for (k, t) in of(&table, "time_s").iter().enumerate() {
        let (angle, rate) = (of(&table, "hub.ry_rad")[k], of(&table, "body.wy_rad/s")[k]);
        assert!((rate - 1.5 * t).abs() < 1e-9, "{t}: {rate}");
        assert!((angle - 0.75 * t * t).abs() < 1e-3, "{t}: {angle}");
    }
}

/// A ball joint has coordinates where something acts on them or it is asked for them, and its
/// start is theirs.
#[test]
fn coordinates_are_there_if_they_are_asked_for() {
    let names = |joint: &str| -> Vec<String> {
        let table = measured(&spinner(joint, "step: 0.1")).1;
        table
            .keys()
            .filter(|name| name.contains("_rad"))
            .cloned()
            .collect()
    };
    let all = [
        "rx_rad",
        "rx_rate_rad/s",
        "ry_rad",
        "ry_rate_rad/s",
        "rz_rad",
        "rz_rate_rad/s",
    ];
    let found = names("coordinates: true");
    for name in all {
        assert!(found.contains(&format!("hub.{name}")), "{found:?}");
    }
    let without = spinner("", "step: 0.1").replace("Joint(\"hub\")", "Force(\"hub\")");
    assert!(!measured(&without).1.keys().any(|name| name.starts_with("hub.r")));
    let table = measured(&spinner("coordinates: true, start: [0.3, -0.7, 2]", "step: 0.1")).1;
    for (name, value) in [("rx", 0.3), ("ry", -0.7), ("rz", 2.0)] {
        assert!((of(&table, &format!("hub.{name}_rad"))[0] - value).abs() < 1e-12);
    }
    // Their axes are those of the first side.
    let tilted = spinner(
        "coordinates: true, axis: (1, 0, 0), x_axis: (0, 1, 0), speed: [0, 0, 0.4]",
        "step: 0.1",
    );
    let table = measured(&tilted).1;
    assert!((of(&table, "body.wx_rad/s")[0] - 0.4).abs() < 1e-12);
    assert!((of(&table, "hub.rz_rate_rad/s")[0] - 0.4).abs() < 1e-12);
}

#[test]
fn limits_and_friction_act_on_them() {
    let joint = r#"limits: [(on: "rz", upper: 0.5)], speed: [0, 0, 1]"#;
    let table = measured(&spinner(joint, "step: 0.01")).1;
    let largest = of(&table, "hub.rz_rad").iter().fold(0.0, |a: f64, b| a.max(*b));
    assert!(largest < 0.5 + 1e-6 && largest > 0.49, "{largest}");
    let table = measured(&spinner(
        r#"friction: [(on: "rz", force: 6.5)], speed: [0, 0, 0.4]"#,
        "step: 0.01",
    ))
    .1;
    // It stops behind 0.8 s.
    for (t, rate) in of(&table, "time_s").iter().zip(of(&table, "hub.rz_rate_rad/s")) {
        let expected = (0.4 - 0.5 * t).max(0.0);
        assert!((rate - expected).abs() < 1e-3, "{t}: {rate} {expected}");
    }
}

#[test]
fn mistakes_are_named() {
    let build = |joint: &str| -> Result<(), SceneError> {
        let text = spinner(joint, "step: 0.01");
        SceneFile::from_text("ball.ron".as_ref(), &text, Format::Ron)?
            .build(&Settings::default())
            .map(drop)
    };
    for (joint, message) in [
        (
            r#"springs: [(on: "angle", compliance: 1)]"#,
            "`hub` is a ball joint: it has no free coordinate `angle`",
        ),
        (
            "motors: [Position(target: [1, 2])]",
            "`target` of `hub` has 2 functions of time, needed are 1",
        ),
        ("springs: [(compliance: -1)]", "must be zero or more"),
        ("start: [1, 2]", "`start` of `hub` has 2 numbers, needed are 3"),
    ] {
        let error = build(joint).unwrap_err();
        assert!(
            error.diagnostic().unwrap().message.contains(message),
            "{joint}: {error}"
        );
    }
    let error = build("").unwrap_err();
    let help = error.diagnostic().unwrap().help.clone().unwrap();
    assert!(
        help.contains("`coordinates: true` gives it its rotation vector"),
        "{help}"
    );
    let hinge = spinner("coordinates: true", "step: 0.01").replace("kind: Ball", "kind: Hinge");
    let error = SceneFile::from_text("ball.ron".as_ref(), &hinge, Format::Ron)
        .unwrap()
        .build(&Settings::default())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`coordinates` is of ball joints, and `hub` is none"),
        "{error}"
    );
}
