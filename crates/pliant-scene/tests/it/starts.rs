//! Coordinates and velocities at which joints start.

use crate::{build, drawn};
use pliant::Simulation;
use pliant_scene::BuiltScene;

/// Three bodies in a chain of joints from the world.
fn chain(joints: &str) -> String {
    format!(
        r#"(
    run: (duration: 1, step: 0.01),
    nodes: [
        Bodies(name: "far", bodies: [(position: (2, 1, 0.3), shape: Box(1, 0.1, 0.2), mass: 3)]),
        Bodies(name: "near", bodies: [
            (position: (0.5, 0, 0), rotation: Axis(around: (1, 2, 3), degrees: 40), shape: Box(1, 0.1, 0.2), mass: 1),
            (position: (1.5, 0.2, 0), shape: Box(1, 0.1, 0.2), mass: 2),
        ]),
        Mapped(name: "length", parents: ["far"], mapping: RigidPoints(points: [(0, (0, 0, 0))])),
    ],
    joints: [{joints}],
)"#
    )
}

fn simulation(built: BuiltScene) -> Simulation {
    Simulation::with_options(built.model, built.options).unwrap()
}

/// Coordinates, their rates, and how far what the joints hold is off.
fn coordinates(built: BuiltScene, joint: &str) -> (Vec<f64>, Vec<f64>, f64) {
    let all: Vec<_> = built
        .joints
        .iter()
        .map(|(name, _, handle)| (name.clone(), handle.clone()))
        .collect();
    let simulation = simulation(built);
    let mut off: f64 = 0.0;
    let (mut places, mut rates) = (Vec::new(), Vec::new());
    for (name, handle) in all {
        if let Some(node) = handle.held {
            let held = simulation
                .positions(node)
                .iter()
                .chain(simulation.velocities(node));
            off = held.fold(off, |off, x| off.max(x.abs()));
        }
        if name == joint {
            for node in &handle.coordinates {
                places.push(simulation.positions(*node)[0]);
                rates.push(simulation.velocities(*node)[0]);
            }
        }
    }
    (places, rates, off)
}

#[test]
fn joints_of_every_kind_start_at_their_coordinates() {
    for (kind, start, speed) in [
        ("Hinge", vec![0.4], vec![2.0]),
        ("Slider", vec![-0.3], vec![0.7]),
        ("Cylindrical", vec![0.2, -1.1], vec![0.5, 3.0]),
        (
            "Screw(pitch: 0.5)",
            vec![0.05, 0.1 * std::f64::consts::TAU],
            vec![0.5, std::f64::consts::TAU],
        ),
        ("Universal", vec![0.3, -0.8], vec![1.0, -0.6]),
        ("GimbalXyz", vec![0.3, -0.8, 0.5], vec![1.0, -0.6, 0.4]),
        ("GimbalXzy", vec![0.3, -0.8, 0.5], vec![1.0, -0.6, 0.4]),
        ("SkewedUniversal(skew: 0.3)", vec![0.3, -0.8], vec![1.0, -0.6]),
        ("Planar", vec![0.3, -0.8, 0.5], vec![1.0, -0.6, 0.4]),
        ("PlanarTranslation", vec![0.3, -0.8], vec![1.0, -0.6]),
        ("SlottedHinge", vec![0.3, -0.8], vec![1.0, -0.6]),
        (
            "FixedAxis",
            vec![0.3, -0.8, 0.5, 0.7, -0.4],
            vec![1.0, -0.6, 0.4, 2.0, -1.5],
        ),
        (
            "Free",
            vec![0.3, -0.8, 0.5, 0.7, 0.0, 0.0],
            vec![1.0, -0.6, 0.4, 2.0, 0.0, 0.0],
        ),
        ("PointOnLine", vec![0.3], vec![1.0]),
        ("PointOnPlane", vec![0.3, 0.4], vec![1.0, -2.0]),
    ] {
        // Between the world and a body, two bodies, and either way round.
        for (sides, others) in [
            (
                "b: Body(\"near\", 0)",
                "a: Body(\"near\", 0), b: Body(\"near\", 1)",
            ),
            (
                "a: Body(\"near\", 0)",
                "a: Body(\"near\", 0), b: Body(\"near\", 1)",
            ),
            (
                "a: Body(\"near\", 0), b: Body(\"near\", 1)",
                "b: Body(\"near\", 0)",
            ),
            (
                "a: Body(\"near\", 1), b: Body(\"near\", 0)",
                "b: Body(\"near\", 0)",
            ),
            (
                "a: Body(\"near\", 1), b: Body(\"near\", 0)",
                "b: Body(\"far\", 0)",
            ),
        ] {
            let joints = format!(
                "(name: \"j\", kind: {kind}, {sides}, at: (0.3, 0.1, 0.2), axis: (1, 2, 0.5), start: {start:?}, speed: {speed:?}), \
                 (name: \"k\", kind: Hinge, {others}, at: (1, 0.2, 0), axis: (0, 1, 1), start: [0.7], speed: [-1.5]), \
                 (name: \"l\", kind: Fixed, a: Body(\"near\", 1), b: Body(\"far\", 0), at: (2, 0, 0)),"
            );
            // The last case has its far body on the world already.
            let joints = match others.contains("far") {
                true => joints.replace(
                    "(name: \"l\", kind: Fixed, a: Body(\"near\", 1), b: Body(\"far\", 0), at: (2, 0, 0)),",
                    "",
                ),
                false => joints,
            };
            let built = || build(&chain(&joints)).unwrap_or_else(|e| panic!("{e}"));
            let (places, rates, off) = coordinates(built(), "j");
            let close = |a: &[f64], b: &[f64]| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
            };
            assert!(close(&places, &start), "{kind} {sides}: {places:?}");
            assert!(close(&rates, &speed), "{kind} {sides}: {rates:?}");
            assert!(off < 1e-12, "{kind} {sides}: {off}");
            let (places, rates, _) = coordinates(built(), "k");
            assert!(
                close(&places, &[0.7]) && close(&rates, &[-1.5]),
                "{kind} {sides}: {places:?} {rates:?}"
            );
        }
    }
}

#[test]
fn a_pendulum_starts_at_an_angle_with_a_speed() {
    let text = r#"(
    gravity: (0, "-9.81 m/s^2", 0),
    run: (duration: 1, step: 0.001),
    nodes: [Bodies(name: "rod", bodies: [(position: (0, -0.5, 0), shape: Box(0.1, 1, 0.1), mass: 2)])],
    joints: [(name: "h", kind: Hinge, b: Body("rod", 0), start: ["40 deg"], speed: ["30 rpm"])],
)"#;
    let built = build(text).unwrap();
    let angle = built.model.node_named("h.angle").unwrap();
    let mut simulation = simulation(built);
    for _ in 0..1000 {
        simulation.step(0.001).unwrap();
    }
    // The equation of the pendulum by the classical Runge-Kutta method at a tenth of the step.
    let inertia = 2.0 * (1.01 / 12.0 + 0.25);
    let torque = |x: f64| -2.0 * 9.81 * 0.5 * x.sin() / inertia;
    let (mut x, mut v, h) = (40f64.to_radians(), std::f64::consts::PI, 1e-4);
    for _ in 0..10_000 {
        let (a1, b1) = (v, torque(x));
        let (a2, b2) = (v + 0.5 * h * b1, torque(x + 0.5 * h * a1));
        let (a3, b3) = (v + 0.5 * h * b2, torque(x + 0.5 * h * a2));
        let (a4, b4) = (v + h * b3, torque(x + h * a3));
        x += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        v += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
    }
    let found = [simulation.positions(angle)[0], simulation.velocities(angle)[0]];
    // Second order: (1 s)(1 ms)^2 times a few.
    assert!(
        (found[0] - x).abs() < 1e-5 && (found[1] - v).abs() < 1e-4,
        "{found:?} {x} {v}"
    );
}

#[test]
fn a_ball_joint_starts_turned_and_turning() {
    let joints = r#"(name: "j", kind: Ball, b: Body("near", 0), at: (0.3, 0.1, 0.2), start: [0, 0, "90 deg"], speed: [2, 0, 0])"#;
    let built = build(&chain(joints)).unwrap();
    let node = built.model.node_named("near").unwrap();
    let simulation = simulation(built);
    let (x, v) = (simulation.positions(node), simulation.velocities(node));
    // (0.2, -0.1, -0.2) from the joint, turned by a quarter about z, turns about x of the world.
    for (found, expected) in x[..3].iter().zip([0.4, 0.3, 0.0]) {
        assert!((found - expected).abs() < 1e-12, "{x:?}");
    }
    // (2, 0, 0) x (0.1, 0.2, -0.2)
    for (found, expected) in v[..3].iter().zip([0.0, 0.4, 0.4]) {
        assert!((found - expected).abs() < 1e-12, "{v:?}");
    }
}

#[test]
fn wrong_starts_are_refused() {
    let loops = r#"(name: "j", kind: Hinge, b: Body("near", 0), start: [1]),
        (name: "k", kind: Hinge, a: Body("near", 0), b: Body("near", 1)), (name: "l", kind: Hinge, b: Body("near", 1)),"#;
    for (joints, message, under) in [
        (
            loops,
            "`j` is a part of a loop of joints, which its `start` or `speed` would tear",
            "[1]",
        ),
        (
            r#"(name: "j", kind: Hinge, b: Body("near", 0), start: [1, 2])"#,
            "`start` of `j` has 2 numbers, needed are 1",
            "[1, 2]",
        ),
        (
            r#"(name: "j", kind: Hinge, b: Body("near", 0), start: ["3 mm"])"#,
            "`start` of `j` is a length (m), and needed is an angle (rad)",
            "3 mm",
        ),
        (
            r#"(name: "j", kind: Slider, b: Body("near", 0), speed: ["3 rpm"])"#,
            "`speed` of `j` is an angular velocity (rad/s), and needed is a velocity (m/s)",
            "3 rpm",
        ),
        (
            r#"(name: "j", kind: Fixed, b: Body("near", 0), start: [1])"#,
            "a fixed joint leaves nothing free that could start elsewhere",
            "[1]",
        ),
        (
            r#"(name: "j", kind: Hinge, b: Frame(body: ("near", 0)), start: [1])"#,
            "`j` has a `Frame`, so the places of its bodies say where it starts",
            "[1]",
        ),
        (
            r#"(name: "j", kind: Screw(pitch: 1), b: Body("near", 0), start: [1, 1])"#,
            "the travel in `start` of `j` is 1, and its turns make 0.159",
            "[1, 1]",
        ),
        (
            r#"(name: "j", kind: Hinge, b: Body("nere", 0), start: [1])"#,
            "`nere`",
            "\"nere\"",
        ),
    ] {
        let error = build(&chain(joints)).unwrap_err();
        let drawn = drawn(&error);
        assert!(drawn.contains(message), "{joints}: {drawn}");
        let lines: Vec<&str> = drawn.lines().collect();
        let start = lines[2].find('^').unwrap();
        let end = lines[2].trim_end().len();
        assert_eq!(&lines[1][start..end], under, "{drawn}");
    }
}

/// A bob of 1 kg on a rod without mass, 1 m below a ball joint whose axes point down.
fn bob(keys: &str) -> String {
    format!(
        r#"(
    gravity: (0, 0, -9.81),
    run: (duration: 1, step: 0.001),
    nodes: [Bodies(name: "bob", bodies: [(position: (0, 0, -1), inertia: (1e-9, 1e-9, 1e-9), mass: 1)])],
    joints: [(name: "j", kind: Ball, b: Body("bob", 0), axis: (0, 0, -1), x_axis: (1, 0, 0), {keys})],
)"#
    )
}

#[test]
fn a_spherical_pendulum_stays_in_its_cone() {
    let (cone, step) = (0.5f64, 0.001);
    // Thrown outwards along x: it would rise to 1 rad, and stops at the cone. The y axis of the
    // joint is that of the world turned over.
    let speed = (2.0 * 9.81 * (1.0 - 1f64.cos())).sqrt();
    let text = bob(&format!(
        "cone: \"{} deg\", speed: [0, {speed}, 0]",
        cone.to_degrees()
    ));
    let built = build(&text).unwrap();
    let (node, cosine) = ["bob", "j.cone"]
        .map(|name| built.model.node_named(name).unwrap())
        .into();
    let mut pendulum = simulation(built);
    let mut most: f64 = 0.0;
    for _ in 0..400 {
        pendulum.step(step).unwrap();
        let x = pendulum.positions(node);
        let angle = x[0].hypot(x[1]).atan2(-x[2]);
        assert!((pendulum.positions(cosine)[0] - angle.cos()).abs() < 1e-9);
        most = most.max(angle);
    }
    assert!((most - cone).abs() < 1e-4, "{most}");
    // Round along the cone, far faster than a conical pendulum: it presses outwards, and goes round
    // at a steady speed.
    let turning = 8.0;
    let radius = cone.sin();
    let text = bob(&format!(
        "cone: {cone}, start: [0, {cone}, 0], speed: [0, 0, {turning}]"
    ));
    let built = build(&text).unwrap();
    let mut pendulum = simulation(built);
    for _ in 0..500 {
        pendulum.step(step).unwrap();
    }
    let (x, v) = (pendulum.positions(node), pendulum.velocities(node));
    let angle = x[0].hypot(x[1]).atan2(-x[2]);
    assert!((angle - cone).abs() < 1e-5, "{angle}");
    let found = v[0].hypot(v[1]);
    assert!(
        (found - turning * radius).abs() < 1e-4,
        "{found} {}",
        turning * radius
    );
    let way = x[1].atan2(x[0]).rem_euclid(std::f64::consts::TAU);
    let expected = (0.5 * turning).rem_euclid(std::f64::consts::TAU);
    let off = (way - expected)
        .abs()
        .min((way + expected - std::f64::consts::TAU).abs());
    assert!(off < 1e-4, "{way} {expected}");
}

#[test]
fn the_twist_of_a_ball_joint_has_limits() {
    let text = bob("twist: (lower: -1, upper: \"30 deg\"), speed: [0, 0, 2]")
        .replace("1e-9, 1e-9, 1e-9", "0.1, 0.1, 0.1");
    for (text, at) in [
        (text.clone(), std::f64::consts::PI / 6.0),
        (text.replace("0, 0, 2]", "0, 0, -2]"), -1.0),
    ] {
        let built = build(&text).unwrap();
        let twist = built.model.node_named("j.twist").unwrap();
        let mut simulation = simulation(built);
        let start = simulation.velocities(twist)[0];
        assert!((start.abs() - 2.0).abs() < 1e-12 && start * at > 0.0, "{start}");
        for _ in 0..1000 {
            simulation.step(0.001).unwrap();
        }
        let found = (simulation.positions(twist)[0], simulation.velocities(twist)[0]);
        assert!((found.0 - at).abs() < 1e-6 && found.1.abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn wrong_limits_of_ball_joints_are_refused() {
    for (keys, message) in [
        ("cone: 4", "`cone` of `j` is 4 rad, but must be between 0 and pi"),
        ("cone: 0", "must be between 0 and pi"),
        (
            "cone: \"3 m\"",
            "`cone` of `j` is a length (m), and needed is an angle (rad)",
        ),
        (
            "twist: (lower: 2, upper: 1)",
            "the limits of `twist` of `j` are 2 and 1: nothing is between them",
        ),
        ("twist: (least: 2)", "unknown key `least` in `twist`"),
    ] {
        let error = build(&bob(keys)).unwrap_err();
        assert!(drawn(&error).contains(message), "{keys}: {error}");
    }
    let error = build(&bob("cone: 1").replace("Ball", "Hinge")).unwrap_err();
    assert!(
        drawn(&error).contains("`cone` is of ball joints, and `j` is none"),
        "{error}"
    );
}
