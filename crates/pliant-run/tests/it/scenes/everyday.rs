//! Everyday scenes of contact (`scenes/everyday`): none fails, nothing is in anything else by more
//! than a hundredth of its thickness, and what they come to is what their weights say.

use super::{edited, points, runner};
use pliant_run::Runner;

const GRAVITY: f64 = 9.81;

fn scene(name: &str) -> Runner {
    runner(&edited(&format!("everyday/{name}"), &[]), &[], None)
}

/// Takes so many steps; the largest overlap in them (m).
fn run(run: &mut Runner, steps: usize) -> f64 {
    (0..steps).fold(0.0, |overlap: f64, _| {
        let report = run.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.contacts.residual <= 1e-6);
        overlap.max(report.contacts.overlap)
    })
}

/// Takes less work for less accuracy where friction jams, and says what it reached.
#[test]
fn accuracy_is_what_jams_are_solved_to() {
    let [exact, coarse] = ["1e-8", "1e-2"].map(|accuracy| {
        let run = format!("run: (contact_accuracy: {accuracy}, ");
        let scene = edited("everyday/brick_wall", &[("run: (", &run)]);
        let mut run = runner(&scene, &[], None);
        (0..14).fold((0.0f64, 0), |(residual, work), _| {
            let contacts = run.step().unwrap_or_else(|e| panic!("{e}")).contacts;
            (residual.max(contacts.residual), work + contacts.solve.operations)
        })
    });
    assert!(
        exact.0 <= 1e-8 && coarse.0 > 1e-8 && coarse.0 <= 1e-2,
        "{exact:?} {coarse:?}"
    );
    assert!(coarse.1 < exact.1, "{exact:?} {coarse:?}");
}

/// The vertical force of contacts on all bodies of a node (N).
fn carried(run: &Runner, node: &str, count: usize) -> f64 {
    let simulation = run.simulation();
    let node = simulation.model().node_named(node).unwrap();
    (0..count).map(|k| simulation.contact_force(node, k).0[2]).sum()
}

fn height(run: &Runner, node: &str, element: usize) -> f64 {
    let simulation = run.simulation();
    let node = simulation.model().node_named(node).unwrap();
    simulation.pose(node, element).unwrap().position[2]
}

/// Boxes that are hit begin to turn within a step, and bring in corners that were behind others: an
/// overlap of 25 mm, before these were looked for where the step ends.
#[test]
fn twenty_boxes_come_to_rest_in_a_box() {
    let mut s = scene("boxes_in_box");
    let overlap = run(&mut s, 300);
    assert!(overlap < 5e-4, "{overlap}");
    // At rest to 1e-4 of the weight.
    let floor = carried(&s, "boxes", 20);
    assert!((floor - 20.0 * GRAVITY).abs() < 0.02, "{floor}");
    for k in 0..20 {
        let simulation = s.simulation();
        let node = simulation.model().node_named("boxes").unwrap();
        let [x, y, z] = simulation.pose(node, k).unwrap().position;
        assert!(x.abs() < 0.32 && y.abs() < 0.32 && z > 0.04, "{k} {x} {y} {z}");
    }
}

/// A plate of 2 mm falls over and lies on the ground by its lower face, its middle at 1 mm; it lay
/// on its upper corners, 1 mm deep in the ground.
#[test]
fn fast_balls_and_thin_plates_do_not_pass() {
    let mut s = scene("ball_at_wall");
    run(&mut s, 200);
    let z = height(&s, "plate", 0);
    assert!((z - 0.001).abs() < 1e-6, "{z}");
    let simulation = s.simulation();
    let node = simulation.model().node_named("balls").unwrap();
    let x = simulation.pose(node, 0).unwrap().position[0];
    assert!(x < -0.01, "{x}");
}

/// Cloth that lies down on cloth is squeezed where it touches, so that its stiffness is indefinite:
/// Newton's method still ends in every step, and none is halved. With the absolute value of the
/// geometric stiffness four of these steps were, and others took 50 iterations.
#[test]
fn cloth_lies_down_on_cloth_without_halves() {
    let mut s = scene("cloth_on_cloth");
    let (mut iterations, mut overlap) = (0, 0.0f64);
    for _ in 0..34 {
        let report = s.step().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.solve.newton.step_halvings, 0, "{}", report.time);
        iterations += report.solve.newton.iterations;
        overlap = overlap.max(report.contacts.overlap);
    }
    assert!(overlap < 1e-5 && iterations < 300, "{overlap} {iterations}");
}

#[test]
fn a_ball_comes_to_rest_on_a_taut_rope() {
    let mut s = scene("ball_on_taut_rope");
    let overlap = run(&mut s, 200);
    assert!(overlap < 1e-5, "{overlap}");
    // The ball still swings a little on the rope.
    let force = carried(&s, "ball", 1);
    assert!((force - GRAVITY).abs() < 0.2, "{force}");
}

#[test]
fn a_chain_catches_the_ring_that_it_runs_through() {
    let mut s = scene("chain_through_ring");
    let overlap = run(&mut s, 300);
    assert!(overlap < 1e-5, "{overlap}");
    // Below the posts, and above the lowest place that a chain of 1.3 m reaches between them.
    let lowest = 1.0 - (0.65f64.powi(2) - 0.6f64.powi(2)).sqrt() - 0.17;
    let z = height(&s, "ring", 0);
    assert!((lowest..1.0).contains(&z), "{z} {lowest}");
}

/// The rope of 2 m does not stretch, and bears the box of 2 kg on the average of a swing.
#[test]
fn a_box_swings_on_the_rope_that_is_tied_to_it() {
    let mut s = scene("rope_tied_to_box");
    for _ in 0..400 {
        s.step().unwrap_or_else(|e| panic!("{e}"));
        let rope = points(&s, "rope");
        for link in rope.windows(2) {
            let length: f64 = (0..3)
                .map(|k| (link[1][k] - link[0][k]).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!((length - 0.1).abs() < 1e-6, "{length}");
        }
    }
}

/// Cables bear planks of 8 kg and a box of 5 kg, with the friction of planks that still slide and
/// knock: on the average of the last second.
#[test]
fn planks_and_a_box_lie_on_two_cables() {
    let mut s = scene("planks_on_cables");
    let mut overlap = run(&mut s, 200);
    let mut force = 0.0;
    for _ in 0..100 {
        overlap = overlap.max(run(&mut s, 1));
        force += (carried(&s, "planks", 8) + carried(&s, "box", 1)) / 100.0;
    }
    assert!(overlap < 2e-5, "{overlap}");
    assert!((force - 13.0 * GRAVITY).abs() < 0.5, "{force}");
}

#[test]
fn a_rope_bridge_carries_three_boxes() {
    let mut s = scene("rope_bridge");
    let overlap = run(&mut s, 300);
    assert!(overlap < 2e-5, "{overlap}");
    // The ropes let the middle sag by a third of a metre.
    for k in 0..3 {
        let z = height(&s, "boxes", k);
        assert!((1.5..2.3).contains(&z), "{k} {z}");
    }
}

/// The mean of the force on the wheels over the last three seconds is the weight, to what the ride
/// over the bumps leaves in the springs at their ends.
#[test]
fn a_car_drives_over_bumps() {
    let mut s = scene("car");
    let overlap = run(&mut s, 100);
    let mut mean = 0.0;
    for _ in 0..300 {
        assert!(run(&mut s, 1).max(overlap) < 1e-3);
        mean += carried(&s, "wheels", 4) / 300.0;
    }
    let weight = 480.0 * GRAVITY;
    assert!((mean - weight).abs() < 0.02 * weight, "{mean} {weight}");
}

/// Ten ragdolls fall on each other: no step fails, joints hold, and the ground carries what moves
/// as little as what lies still.
#[test]
fn ragdolls_fall_into_a_pile() {
    let mut s = scene("ragdolls");
    let mut held = 0.0f64;
    let mut overlap = 0.0f64;
    for _ in 0..90 {
        let report = s.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.contacts.residual <= 1e-6);
        held = held.max(report.certificate.rows);
        overlap = overlap.max(report.contacts.overlap);
    }
    // Of joints (m, rad); the thinnest limb has a radius of 4 cm.
    assert!(held < 1e-4 && overlap < 4e-4, "{held} {overlap}");
}

/// A step with an impact is taken by one stage, and the first iterate of the two that are tried
/// before shows it: their further iterates, and their contacts solved to the accuracy, would be for
/// nothing. That is where nothing is taken by itself: one box is driven.
#[test]
fn impacts_are_seen_at_the_first_iterate() {
    let mut s = scene("boxes_in_box");
    let boxes = s.simulation().model().node_named("boxes").unwrap();
    let up = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    s.simulation_mut().hold(boxes, 19, &[true; 6], &up).unwrap();
    let (mut impacts, mut iterations) = (0, 0);
    for _ in 0..60 {
        let report = s.step().unwrap_or_else(|e| panic!("{e}"));
        if report.solve.stages == 1 {
            impacts += 1;
            iterations += report.solve.newton.iterations;
        }
    }
    // 165 in 44 of them; with all iterates of the attempts at two stages 219.
    assert!(
        impacts > 20 && 2 * iterations < 9 * impacts,
        "{impacts} {iterations}"
    );
}

/// While the equations of a step are missed by more, its contacts need not be solved to the
/// accuracy by methods that cost much; at its end they are.
#[test]
fn contacts_are_solved_to_the_accuracy_at_the_end_of_a_step() {
    let mut s = scene("brick_wall");
    for _ in 0..20 {
        let contacts = s.step().unwrap_or_else(|e| panic!("{e}")).contacts;
        assert!(contacts.residual <= 1e-6, "{}", contacts.residual);
    }
}
