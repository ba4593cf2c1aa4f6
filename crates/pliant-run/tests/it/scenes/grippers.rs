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

/// Tension (Pa, over the area at rest) of the finger's silicone in one direction, where it is free
/// across: of the energy `c1 (I - 3) + k/2 (J - 1)^2` with `I` of unit volume, at a stretch.
fn tension(c1: f64, bulk: f64, stretch: f64) -> f64 {
    // The stretch across has no force, found by bisection.
    let slopes = |across: f64| {
        let volume = stretch * across * across;
        let squares = stretch * stretch + 2.0 * across * across;
        let (unit, pressure) = (volume.powf(-2.0 / 3.0), bulk * (volume - 1.0));
        let by = |square: f64, of_volume: f64| {
            c1 * (square * unit - 2.0 / 3.0 * squares * unit / volume * of_volume) + pressure * of_volume
        };
        [
            by(2.0 * stretch, across * across),
            by(4.0 * across, 2.0 * stretch * across),
        ]
    };
    let (mut low, mut high) = (0.5, 2.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match slopes(middle)[1] > 0.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    slopes(low)[0]
}

/// Stretch of the axis and turn for each metre (rad/m) of plane sections, of a square of side `h`
/// about the axis, under a cable with the pull at the height `y`.
fn plane_sections(c1: f64, bulk: f64, h: f64, pull: f64, y: f64) -> [f64; 2] {
    let missing = |[stretch, turn]: [f64; 2]| {
        // The mean of each of 200 layers.
        let layers = (0..200).map(|k| ((f64::from(k) + 0.5) / 200.0 - 0.5) * h);
        let forces = layers.map(|z| (z, h * h / 200.0 * tension(c1, bulk, stretch + turn * z)));
        let [force, moment] = forces.fold([0.0; 2], |[f, m], (z, t)| [f + t, m + t * z]);
        [force + pull, (moment + pull * y) / h]
    };
    let mut u = [1.0, 0.0];
    for _ in 0..20 {
        let f = missing(u);
        let [by_stretch, by_turn] = [[1e-6, 0.0], [0.0, 1e-4]].map(|d| {
            let g = missing([u[0] + d[0], u[1] + d[1]]);
            [0, 1].map(|i| (g[i] - f[i]) / (d[0] + d[1]))
        });
        let determinant = by_stretch[0] * by_turn[1] - by_turn[0] * by_stretch[1];
        u[0] -= (f[0] * by_turn[1] - f[1] * by_turn[0]) / determinant;
        u[1] -= (f[1] * by_stretch[0] - f[0] * by_stretch[1]) / determinant;
    }
    u
}

/// The cable bends the finger as plane sections say, but for elements, the saddles that sections
/// become, and its own layer, which it presses towards the middle where it turns: 0.6 % at 1 N, 1.6 %
/// at 2 N.
#[test]
fn a_cable_bends_a_soft_finger() {
    for (pull, row, share) in [(1.0, 1.0, 0.01), (2.0, 1.0, 0.025)] {
        let text = edited("soft_finger", &[]);
        let outcome = runner(&text, &[("pull", pull), ("row", row)], None).run(|_| {});
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let x = &outcome.summary.state["finger"].positions;
        let at = |i: usize, j: usize, k: usize| &x[(3 * k + j) * 25 + i];
        let slope = |i: usize| {
            let (low, high) = (at(i, 1, 0), at(i, 1, 4));
            f64::atan2(high[0] - low[0], high[2] - low[2])
        };
        let found = (slope(16) - slope(8)) / (8.0 * 0.005);
        let y = 0.004 * (row - 2.0);
        let [stretch, turn] = plane_sections(2e5 / 6.0, 2e6 / 3.0, 0.016, pull, y);
        println!("pull {pull} N in row {row}: {found} rad/m of {turn}, stretch {stretch}");
        assert!((found / turn - 1.0).abs() < share, "{found} {turn}");
    }
}
