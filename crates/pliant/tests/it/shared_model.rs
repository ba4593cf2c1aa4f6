//! One model, shared by simulations on several threads.

use pliant::prelude::*;
use std::sync::Arc;

/// A pendulum of three particles on springs: the first is held by a driven constraint, the second
/// by a friction of bounded force, the third by a winch whose rest length is an input; the lengths
/// between them choose their treatment.
fn model() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let places = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.1], [1.0, 0.1, 0.0]];
    let beads = m.add_particles("beads", &places).unwrap();
    m.add_mass("m", beads, Mass::Uniform(0.2)).unwrap();
    let first = m
        .add_mapped("first", &[beads], Subset::of_elements(Space::Real(3), &[0]))
        .unwrap();
    m.add_constraint("hand", first, Level::Position).unwrap();
    let second = m
        .add_mapped("second", &[beads], Subset::of_elements(Space::Real(3), &[1]))
        .unwrap();
    let friction = m
        .add_force_field("friction", second, Damping::new(1e3), Treatment::Compliance)
        .unwrap();
    m.set_bounds(friction, -0.1, 0.1).unwrap();
    let pairs = [
        (End::element(0, 0), End::element(0, 1)),
        (End::element(0, 1), End::element(0, 2)),
    ];
    let lengths = m.add_mapped("lengths", &[beads], Distance::new(&pairs)).unwrap();
    m.add_force_field(
        "lengths",
        lengths,
        Spring::linear(500.0).with_rest(0.5),
        Treatment::Auto,
    )
    .unwrap();
    let rope = Distance::new(&[(End::element(0, 2), End::Point([1.0, 0.0, 1.0]))]);
    let rope = m.add_mapped("rope", &[beads], rope).unwrap();
    m.add_force_field(
        "winch",
        rope,
        Spring::linear(200.0).with_rest(1.0),
        Treatment::Stiffness,
    )
    .unwrap();
    m
}

/// Takes steps with a motion, bounds and inputs that go with `own`; the step grows, so that the
/// springs on lengths change their treatment.
fn run(model: Arc<Model>, own: f64) -> (Vec<u64>, usize) {
    let named = |name: &str| model.component_named(name).unwrap();
    let (hand, friction, winch) = (named("hand"), named("friction"), named("winch"));
    let mut s = Simulation::new(model.clone()).unwrap();
    s.set_motion(hand, Some(PrescribedMotion::sine(0.1 * own, 3.0 + own, 0.0)))
        .unwrap();
    s.set_bounds(friction, -own, own).unwrap();
    for k in 0..40 {
        s.set_input(winch, 0, 1.0 - 0.01 * own * f64::from(k)).unwrap();
        s.step(if k < 20 { 1e-3 } else { 0.2 * own }).unwrap();
    }
    let state = s.state();
    let numbers = state.positions.iter().chain(&state.velocities);
    let numbers = numbers.chain(s.multipliers());
    (numbers.map(|x| x.to_bits()).collect(), s.counters().plans)
}

/// A simulation leaves its model as it is: two of them on two threads have each the bits that it
/// has alone with a model of its own.
#[test]
fn two_simulations_share_a_model() {
    let shared = Arc::new(model());
    let initial = shared.initial_parameters().clone();
    let alone = [1.0, 2.0].map(|own| run(Arc::new(model()), own));
    assert!(
        alone[0].0 != alone[1].0 && alone.iter().all(|(_, plans)| *plans > 1),
        "{alone:?}"
    );
    let together = std::thread::scope(|scope| {
        let start = |own| {
            let shared = shared.clone();
            scope.spawn(move || run(shared, own))
        };
        let threads = [start(1.0), start(2.0)];
        threads.map(|t| t.join().unwrap())
    });
    assert_eq!(together, alone);
    assert_eq!(shared.initial_parameters(), &initial);
}
