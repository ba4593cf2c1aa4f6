//! Units behind numbers of scenes.

use crate::{build, build_with, drawn, positions, set};

const SCENE: &str = r#"(
    parameters: {"length": "20 cm", "n": 3},
    gravity: (0, "-9.81 m/s^2", 0),
    run: (duration: "0.5 min", step: "10 ms"),
    nodes: [
        Particles(name: "p", positions: [("20 mm", "$n * 20 mm", "$length + 1 in")], mass: "250 g"),
        Bodies(name: "b", bodies: [(
            position: ("1 km", 2, 3), shape: Cylinder(radius: "5 cm", length: "$length"), mass: 2,
            rotation: Axis(around: (0, 0, 1), degrees: "0.5 turn"), angular_velocity: (0, 0, "60 rpm"),
        )]),
    ],
    joints: [(name: "h", kind: Hinge, b: Body("b", 0), at: ("1 km", 2, 3), limits: [(lower: "-30 deg")])],
    force_fields: [(name: "f", on: "p", law: Force(["2 kN * sin(2 * pi * $t)", 0, 0]))],
)"#;

#[test]
fn numbers_may_have_units() {
    let built = build(SCENE).unwrap();
    assert_eq!((built.plan.duration, built.plan.step), (30.0, 0.01));
    let close = |found: &[f64], expected: &[f64]| {
        let pairs = found.iter().zip(expected);
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(
            found.len() == expected.len() && off < 1e-15,
            "{found:?} {expected:?}"
        );
    };
    close(&positions(&built, "p"), &[0.02, 0.06, 0.2254]);
    let body = positions(&built, "b");
    assert_eq!(body[0], 1000.0);
    // Half a turn about z.
    close(&body[3..], &[(std::f64::consts::PI / 2.0).cos(), 0.0, 0.0, 1.0]);
    let state = built.model.initial_state().unwrap();
    let node = built.model.node_named("b").unwrap();
    close(
        &built.model.velocities(&state, node)[5..],
        &[std::f64::consts::TAU],
    );
    close(&[built.inputs[0].program.value(0.25).unwrap()], &[2000.0]);
    assert_eq!(built.parameters["length"], 0.2);
    // Given without a unit, a parameter is in that of SI; it cannot be something else.
    let built = build_with(SCENE, &set(&[("length", "0.5")])).unwrap();
    close(&positions(&built, "p")[2..], &[0.5254]);
    let error = build_with(SCENE, &set(&[("length", "3 kg")])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error: the parameter `length`: it is a length (m) in the scene, and given is a mass (kg)"
    );
}

/// Change, message, what the carets are under.
const WRONG: [(&str, &str, &str, &str); 12] = [
    (
        "\"250 g\"",
        "\"3 mm\"",
        "`mass` of `p` is a length (m), and needed is a mass (kg)",
        "3 mm",
    ),
    (
        "\"10 ms\"",
        "\"10 m\"",
        "`step` is a length (m), and needed is a time (s)",
        "10 m",
    ),
    (
        "\"250 g\"",
        "\"30 deg\"",
        "is an angle (rad), and needed is a mass (kg)",
        "30 deg",
    ),
    (
        "\"-30 deg\"",
        "\"-3 mm\"",
        "`limits` of `h` is a length (m), and needed is an angle (rad)",
        "-3 mm",
    ),
    (
        "\"0.5 turn\"",
        "\"5 s\"",
        "is a time (s), and needed is an angle (rad)",
        "5 s",
    ),
    ("\"20 mm\"", "\"20 mn\"", "`mn` is no unit", "mn"),
    (
        "\"20 mm\"",
        "\"20 mm + 3\"",
        "a length (m) and a number without unit cannot be added",
        "20 mm + 3",
    ),
    (
        "\"20 mm\"",
        "\"$length * $length\"",
        "is an area (m^2), and needed is a length (m)",
        "$length * $length",
    ),
    (
        "\"60 rpm\"",
        "\"60 km/h\"",
        "is a velocity (m/s), and needed is an angular velocity (rad/s)",
        "60 km/h",
    ),
    (
        "Body(\"b\", 0)",
        "Body(\"b\", \"0 m + 1 m\")",
        "is a length (m), and needed is a number without unit",
        "0 m + 1 m",
    ),
    (
        "\"-9.81 m/s^2\"",
        "\"-9.81 m/s\"",
        "`gravity` is a velocity (m/s), and needed is an acceleration (m/s^2)",
        "-9.81 m/s",
    ),
    (
        "\"5 cm\"",
        "\"5 kg\"",
        "is a mass (kg), and needed is a length (m)",
        "5 kg",
    ),
];

#[test]
fn wrong_units_are_shown() {
    for (from, to, message, under) in WRONG {
        assert!(SCENE.contains(from), "{from}");
        let error = build(&SCENE.replacen(from, to, 1)).unwrap_err();
        let drawn = drawn(&error);
        assert!(drawn.contains(message), "{to}: {drawn}");
        let mut lines = drawn.lines().skip(1);
        let (line, carets) = (lines.next().unwrap(), lines.next().unwrap());
        let start = carets.find('^').unwrap();
        assert_eq!(
            &line[start..start + carets.trim_end().len() - start],
            under,
            "{drawn}"
        );
    }
}

#[test]
fn an_error_of_units_is_drawn() {
    let error = build(&SCENE.replacen("\"250 g\"", "\"3 mm\"", 1)).unwrap_err();
    let expected = r#"error: `mass` of `p` is a length (m), and needed is a mass (kg)
 --> a.ron:6:93
  |
6 |         Particles(name: "p", positions: [("20 mm", "$n * 20 mm", "$length + 1 in")], mass: "3 mm"),
  |                                                                                             ^^^^"#;
    assert_eq!(error.to_string(), expected);
}
