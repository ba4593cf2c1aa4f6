//! Soft things that grip, are lifted, and grow on bones.

use super::{Runner, edited, points, runner};

fn to_the_end(run: &mut Runner) {
    while !run.is_done() {
        let report = run.step().unwrap();
        assert!(report.contacts.residual <= 1e-8);
    }
}

/// Lifted by 0.2 m if `2 mu F` is more than the weight; `F` is about `E A` times the compression,
/// 84 N, so that 0.058 is the least friction.
#[test]
fn a_soft_gripper_lifts_by_friction() {
    for (friction, lifted) in [(0.5, true), (0.1, true), (0.05, false)] {
        // What slips is solved to a millionth by default.
        let accurate = ("run: (", "run: (contact_accuracy: 1e-8, ");
        let scene = edited("gripper_soft", &[accurate]);
        let mut run = runner(&scene, &[("friction", friction)], None);
        to_the_end(&mut run);
        let node = run.simulation().model().node_named("box").unwrap();
        let height = run.simulation().positions(node)[2] - 0.06;
        assert_eq!(height > 0.19, lifted, "{friction}: {height}");
        if lifted {
            // Half of the weight on each finger shears it by F L/(G A) = 1.1 mm, and bends it by
            // about as much again; the fingers have a weight too.
            assert!(height < 0.2 - 1.1e-3 && height > 0.2 - 4e-3, "{height}");
            let (force, _) = run.simulation().contact_force(node, 0);
            assert!((force[2] - 9.81).abs() < 1e-6, "{force:?}");
        }
    }
}

/// Without Poisson's effect a finger is a bar: it pushes with `E A` times 7 mm of its 40 mm.
#[test]
fn soft_fingers_push_like_bars() {
    // The linear step damps the fingers to rest.
    let linear = ("run: (", "run: (integrator: Theta, ");
    let scene = edited("gripper_soft", &[("poisson: 0.3", "poisson: 0"), linear]);
    let mut run = runner(&scene, &[("mass", 0.1)], None);
    to_the_end(&mut run);
    let contacts = run.simulation().contacts().iter();
    let pushed: f64 = contacts
        .filter(|c| c.contact.sides.contains(&2))
        .map(|c| c.impulse[0] / 0.01)
        .sum();
    let expected = 1e5 * 0.06 * 0.08 * 0.007 / 0.04;
    // Weights shear the fingers by about a hundredth, whose square is what it turns the law of
    // strains by.
    assert!(
        (pushed.abs() - expected).abs() < 1e-3 * expected,
        "{pushed} {expected}"
    );
}

/// Torques about the elbow of the weights, of the muscle by Thelen's curves at that activation, and
/// of the contacts of the tissue.
fn torques(run: &Runner, activation: f64) -> [f64; 3] {
    let simulation = run.simulation();
    let node = |name| simulation.model().node_named(name).unwrap();
    let bone = simulation.positions(node("forearm"));
    let ends = points(run, "points");
    let tissue = points(run, "tissue");
    let (mut weights, mut contacts) = (1.5 * bone[0] + ends[1][0], 0.0);
    for (n, x) in tissue.iter().enumerate() {
        // Elements of 0.05 x 0.04 x 0.03 m give an eighth to each corner.
        let shared = |k: usize, last: usize| if k == 0 || k == last { 1.0 } else { 2.0 };
        weights += 1000.0 * 6e-5 / 8.0 * shared(n % 5, 4) * shared(n / 10, 2) * x[0];
        let (force, _) = simulation.contact_force(node("tissue"), n);
        contacts += x[0] * force[1] - x[1] * force[0];
    }
    let length = simulation.positions(node("biceps"))[0];
    let strain = length / 0.28 - 1.0;
    let y = 5.0 * strain.max(0.0) / 0.6;
    let force = activation * (-strain * strain / 0.45).exp() + (y.exp() - 1.0 - y) / (5f64.exp() - 6.0);
    let lever = (ends[0][0] * 0.28 - ends[0][1] * 0.1) / length;
    [-9.81 * weights, 600.0 * force * lever, contacts]
}

#[test]
fn the_table_and_then_the_muscle_carry_a_soft_arm() {
    let mut run = runner(&edited("muscle_arm", &[]), &[], None);
    super::advance(&mut run, 100);
    let [weights, muscle, table] = torques(&run, 0.0);
    assert!(table > 0.9 * weights.abs());
    // What is left of the fall after a second.
    assert!(
        (weights + muscle + table).abs() < 1e-3 * weights.abs(),
        "{weights} {muscle} {table}"
    );
    to_the_end(&mut run);
    let [weights, muscle, table] = torques(&run, 0.35);
    assert_eq!(table, 0.0);
    let angle = run.simulation().model().node_named("elbow.angle").unwrap();
    assert!(run.simulation().positions(angle)[0] > 0.8);
    // What is left of the swinging after three seconds.
    assert!(
        (weights + muscle).abs() < 2e-3 * weights.abs(),
        "{weights} {muscle}"
    );
}
