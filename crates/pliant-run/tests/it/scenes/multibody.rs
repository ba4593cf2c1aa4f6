//! Multibody benchmark problems: loops that pass a singular position, a fast mechanism, a stiff
//! one. Answers: `benches/reference/multibody.py` (scipy, in minimal coordinates), and the
//! published one of Andrews' squeezer.

use super::{edited, runner};
use pliant_run::Runner;
use pliant_scene::{Format, SceneFile, Settings};

fn value(run: &Runner, node: &str) -> (f64, f64) {
    let simulation = run.simulation();
    let node = simulation.model().node_named(node).unwrap();
    (simulation.positions(node)[0], simulation.velocities(node)[0])
}

fn energy(run: &Runner) -> f64 {
    let simulation = run.simulation();
    simulation.problem().energies(simulation.state()).total()
}

/// Ten seconds and five turns, with all bars in one line ten times: the angle is that of one
/// pendulum, bars stay parallel, energy is kept to the second order and without trend, and at least
/// six rows are redundant.
#[test]
fn four_bars_pass_their_singular_position() {
    let errors = |h: f64| {
        let mut run = runner(&edited("n_four_bar", &[]), &[], Some(h));
        let start = energy(&run);
        let mut worst = [0.0f64; 2];
        while !run.is_done() {
            let report = run.step().unwrap();
            assert!(report.solve.redundant_rows >= 6 && report.violation < 1e-10);
            let half = usize::from(report.time > 5.0);
            worst[half] = worst[half].max((report.energies.total() - start).abs());
            let [a, b, c] = ["foot 0.angle", "foot 1.angle", "foot 2.angle"].map(|node| value(&run, node).0);
            // What is left by Newton's method parts them, near the singular position by its root.
            assert!((a - b).abs() < 1e-6 && (a - c).abs() < 1e-6, "{a} {b} {c}");
        }
        let angle = value(&run, "foot 0.angle").0;
        println!("{h}: angle {angle}, energies {worst:?}");
        assert!((worst[1] / worst[0] - 1.0).abs() < 0.05, "{worst:?}");
        // Turns against the sense of the angle.
        [(angle + 31.750597186981).abs(), worst[1]]
    };
    let (coarse, fine) = (errors(0.02), errors(0.01));
    for k in 0..2 {
        assert!((coarse[k] / fine[k] - 4.0).abs() < 0.4, "{coarse:?} {fine:?}");
    }
    assert!(fine[0] < 5e-3, "{fine:?}");
}

/// Angles and speeds at 0.03 s against the published ones (to their last digits, 1e-14), and the
/// energy.
#[test]
fn squeezer_is_where_the_test_set_says() {
    // In the order of the joints: published angle at the start and at the end, and speed at the
    // end.
    let published = [
        ("beta", -0.06171389001427645, 15.81077119629904, 1139.920302151208),
        ("theta", 0.0, -15.75637105984298, -1424.379294994111),
        (
            "gamma",
            0.45527981916307037,
            0.04082224013073101,
            11.03291221937134,
        ),
        ("phi", 0.22266839016588588, -0.5347301163226948, 19.29337464421385),
        (
            "delta",
            0.48736497954384256,
            0.5244099658805303,
            0.5735699284790808,
        ),
        (
            "omega",
            -0.22266839016588588,
            0.5347301163226948,
            -19.29337464421385,
        ),
        (
            "epsilon",
            1.2305474445498212,
            1.048080741042263,
            0.3231791658026955,
        ),
    ];
    let errors = |h: f64| {
        let mut run = runner(&edited("squeezer", &[]), &[], Some(h));
        let start = energy(&run);
        for _ in 0..(0.03 / h).round() as usize {
            let report = run.step().unwrap();
            assert!(report.solve.redundant_rows == 9 && report.violation < 1e-12);
        }
        let mut worst = [0.0f64; 2];
        for (name, start, angle, speed) in published {
            let (a, v) = value(&run, &format!("{name}.angle"));
            worst[0] = worst[0].max((start + a - angle).abs());
            worst[1] = worst[1].max((v - speed).abs());
        }
        // That of the motor counts as a potential of the crank's angle; it gives 0.5238 J.
        let gain = energy(&run) - start;
        println!(
            "{h}: angles {:e}, speeds {:e}, energy {gain:e}",
            worst[0], worst[1]
        );
        assert!(gain.abs() < 1e-5, "{gain}");
        worst
    };
    let (coarse, fine) = (errors(1.2e-4), errors(6e-5));
    // Order 4; the crank goes through half a rotation in five steps.
    for k in 0..2 {
        assert!(coarse[k] > 10.0 * fine[k], "{coarse:?} {fine:?}");
    }
    assert!(fine[0] < 1e-6 && fine[1] < 1e-3, "{fine:?}");
}

/// Height of the slider and speed of the shaft over ten seconds, of second order though the
/// spring-dampers are far too stiff for the step; momentum about the shaft is kept.
#[test]
fn governor_follows_its_minimal_coordinates() {
    let reference = [
        (0.5, 0.7432494248, 5.103415422),
        (1.0, 0.5014209224, 6.271125742),
        (2.0, 0.5059092943, 6.236223614),
        (5.0, 0.5355631037, 6.022496500),
        (10.0, 0.6196229171, 5.548203623),
    ];
    let errors = |h: f64| {
        let mut run = runner(&edited("governor", &[]), &[], Some(h));
        let slider = run.simulation().model().node_named("slider").unwrap();
        let mut worst = [0.0f64; 2];
        let mut taken = 0;
        for (time, height, spin) in reference {
            let until = (time / h).round() as usize;
            while taken < until {
                let report = run.step().unwrap();
                assert!(report.violation < 1e-10);
                taken += 1;
            }
            let z = run.simulation().pose(slider, 0).unwrap().position[2];
            let speed = value(&run, "bearing.angle").1;
            worst[0] = worst[0].max((z - height).abs());
            worst[1] = worst[1].max((speed - spin).abs());
        }
        println!("{h}: {worst:?}");
        worst
    };
    let (coarse, fine) = (errors(0.01), errors(0.005));
    for k in 0..2 {
        assert!((coarse[k] / fine[k]).log2() > 1.8, "{coarse:?} {fine:?}");
    }
    assert!(fine[0] < 1e-3, "{fine:?}");
}

/// Joints that are repeated are those written one by one, to the bit: their elements, places,
/// motors and limits by `$i`, nodes and gears of their coordinates.
#[test]
fn repeated_joints_are_those_written_one_by_one() {
    let scene = |joints: &str| {
        format!(
            "(gravity: (0, 0, -9.81), parameters: {{\"n\": 3}}, run: (duration: 0.2, step: 0.01), nodes: [
                Bodies(name: \"arms\", bodies: [(repeat: \"$n\", position: (\"$i\", 0, \"-0.1 - 0.1 * $i\"),
                    shape: Capsule(radius: 0.02, length: 0.1), mass: \"1 + $i\")]),
                Mapped(name: \"second\", parents: [\"hinge 1.angle\"], mapping: Subset(elements: [0]))],
            joints: [{joints}],
            gears: [(name: \"gear\", first: \"hinge 0.angle\", second: \"hinge 2.angle\", ratio: 2)],
            force_fields: [(name: \"spring\", on: \"second\", law: Stiffness(2))])"
        )
    };
    let joint = |head: &str, i: &str| {
        format!(
            "({head}, kind: Hinge, b: Body(\"arms\", {i}), at: ({i}, 0, 0), axis: (0, 1, 0),
                motors: [Velocity(speed: \"0.3 * $t * (1 + {})\", force: \"0.1 + {}\")],
                limits: [(lower: -1, upper: \"0.01 * (1 + {})\")])",
            i.trim_matches('"'),
            i.trim_matches('"'),
            i.trim_matches('"')
        )
    };
    let single: Vec<String> = (0..3)
        .map(|i| joint(&format!("name: \"hinge {i}\""), &i.to_string()))
        .collect();
    let repeated = joint("repeat: \"$n\", name: \"hinge $i\"", "\"$i\"");
    let states = [repeated, single.join(", ")].map(|joints| {
        let text = scene(&joints);
        let file = SceneFile::from_text("joints.ron".as_ref(), &text, Format::Ron);
        let file = file.unwrap_or_else(|e| panic!("{e}"));
        let outcome = runner(&file, &[], None).run(|_| {});
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(outcome.summary.joints.len(), 3);
        outcome.summary.state["arms"].clone()
    });
    assert_eq!(states[0], states[1]);
}

/// Joints that are repeated need names of their own, and nodes that there are.
#[test]
fn repeated_joints_are_refused_in_words() {
    let scene = |joint: &str| {
        let text = format!(
            "(run: (duration: 1), nodes: [Bodies(name: \"b\", bodies: [(repeat: 3, shape: Sphere(1), mass: 1)])],
            joints: [({joint}, kind: Hinge)])"
        );
        let built = SceneFile::from_text("joints.ron".as_ref(), &text, Format::Ron)
            .and_then(|file| file.build(&Settings::default()));
        built.unwrap_err().to_string()
    };
    for (joint, message, help) in [
        (
            "repeat: 3, name: \"j\", b: Body(\"b\", \"$i\")",
            "`j` is repeated, so each needs a name of its own",
            "`name: \"j $i\"`, in which `$i` is 0, 1, ...",
        ),
        (
            "repeat: 4, name: \"j $i\", b: Body(\"b\", \"$i\")",
            "there is no body 3: `b` has 3, counted from zero",
            "",
        ),
        (
            "repeat: 0, name: \"j $i\", b: Body(\"b\", \"$i\")",
            "must be a whole number from 1",
            "",
        ),
        (
            "name: \"j\", b: Body(\"b\", \"$i\")",
            "unknown parameter `$i`",
            "",
        ),
    ] {
        let shown = scene(joint);
        assert!(shown.contains(message) && shown.contains(help), "{shown}");
    }
}
