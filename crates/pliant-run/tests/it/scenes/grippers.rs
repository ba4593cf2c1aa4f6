//! A gripper of included fingers, and an arm that picks a box up.

use super::{advance, edited, path, runner};
use pliant_run::Runner;
use pliant_scene::{SceneFile, Settings};

/// The value of a column of the probes at the end of the last step.
fn probe(runner: &Runner, name: &str) -> f64 {
    runner.summary(None).probes[name].last.unwrap()
}

/// The first place of a node.
fn place(runner: &Runner, node: &str, element: usize) -> [f64; 3] {
    let simulation = runner.simulation();
    let node = simulation.model().node_named(node).unwrap();
    let x = simulation.positions(node);
    [0, 1, 2].map(|k| x[7 * element + k])
}

/// Both fingers press the ball against the palm; what they press up more than the palm down is its
/// weight. They are one file in two places, so that they move as in a mirror.
#[test]
fn two_fingers_of_one_file_hold_a_ball() {
    let scene = SceneFile::load(&path("tendon_gripper")).unwrap_or_else(|e| panic!("{e}"));
    let built = scene
        .build(&Settings::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut run = Runner::new(built).unwrap();
    advance(&mut run, 900);
    let ball = place(&run, "ball", 0);
    // Its radius below the lower face of the palm.
    assert!(ball[0].abs() < 1e-4 && (ball[1] - 0.055).abs() < 1e-4, "{ball:?}");
    let held = probe(&run, "grip.force_y") + probe(&run, "press.force_y");
    assert!((held - 0.05 * 9.81).abs() < 1e-4, "{held}");
    for element in 0..3 {
        let (left, right) = (
            place(&run, "left.links", element),
            place(&run, "right.links", element),
        );
        assert!((left[0] + right[0]).abs() < 1e-6, "{left:?} {right:?}");
        assert!((left[1] - right[1]).abs() < 1e-6, "{left:?} {right:?}");
    }
}

/// An arm at rest under PD control stands off its goal by the torque that it holds over the
/// stiffness: the moment of all weights that hang on the joint.
#[test]
fn an_arm_under_pd_control_holds_what_it_picked_up() {
    let mut run = runner(&edited("pick_and_lift", &[]), &[], None);
    advance(&mut run, 2000);
    let g = 9.81;
    let weights = [
        ("links", 0, 2.0),
        ("links", 1, 1.0),
        ("links", 2, 0.5),
        ("jaws", 0, 0.1),
        ("jaws", 1, 0.1),
        ("box", 0, 0.3),
    ];
    let angles = [0, 1, 2].map(|k| probe(&run, &format!("joint {k}.angle")));
    // Joints by the angles of two bars of 0.4 m that begin at 45 degrees.
    let first = std::f64::consts::FRAC_PI_4 + angles[0];
    let second = angles[1] + angles[0] - std::f64::consts::FRAC_PI_4;
    let elbow = 0.4 * first.cos();
    let joints = [0.0, elbow, elbow + 0.4 * second.cos()];
    for k in 0..3 {
        let moment: f64 = weights[k..]
            .iter()
            .map(|(node, element, mass)| mass * g * (place(&run, node, *element)[0] - joints[k]))
            .sum();
        let goal = 0.3 * (1.0 - k as f64);
        let torque = 2000.0 / 4.5f64.powi(k as i32) * (goal - angles[k]);
        assert!((torque - moment).abs() < 2e-3, "joint {k}: {torque} {moment}");
    }
    // The box is carried by friction, and rises as the hand does, less what the arm sags.
    let carried = probe(&run, "grip.force_y");
    assert!((carried - 0.3 * g).abs() < 1e-3, "{carried}");
    let lifted = place(&run, "box", 0)[1] - 0.19;
    let risen = 0.4 * 2f64.sqrt() * 0.3f64.sin();
    assert!((lifted - risen).abs() < 4e-3, "{lifted} {risen}");
}
