//! Steps one by one, to times of one's own, with motors that are driven, and checkpoints as bytes.

use pliant::Settle;
use pliant::model::ComponentId;
use pliant_run::{CheckpointError, Runner, Target};
use pliant_scene::{Format, SceneFile, Settings};
use std::path::Path;

fn start(name: &str, settings: &Settings) -> Runner {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let scene = SceneFile::load(&folder.join(name)).unwrap();
    Runner::new(scene.build(settings).unwrap()).unwrap()
}

/// The pendulum with another integrator, or steps that choose their length.
fn pendulum(how: &str) -> Runner {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let text = std::fs::read_to_string(folder.join("pendulum.ron")).unwrap();
    let text = text.replace("integrator: Sdirk2", how);
    let scene = SceneFile::from_text("pendulum.ron".as_ref(), &text, Format::Ron).unwrap();
    Runner::new(scene.build(&Settings::default()).unwrap()).unwrap()
}

/// The pendulum for a second.
fn a_second() -> Runner {
    let settings = Settings {
        duration: Some(1.0),
        ..Settings::default()
    };
    start("pendulum.ron", &settings)
}

/// Steps that are left, taken.
fn finish(runner: &mut Runner) -> usize {
    let before = runner.steps_taken();
    while !runner.is_done() {
        runner.step().unwrap();
    }
    runner.steps_taken() - before
}

/// Servos that hold their arm against gravity, and no friction.
fn strong_servos() -> Runner {
    let settings = Settings {
        parameters: vec![
            ("friction".to_owned(), 0.0.into()),
            ("torque".to_owned(), 1e4.into()),
        ],
        ..Settings::default()
    };
    start("servo_arm.ron", &settings)
}

fn component(runner: &Runner, name: &str) -> ComponentId {
    runner.simulation().model().component_named(name).unwrap()
}

/// Bits of the state after each of some steps.
fn go_on(runner: &mut Runner, steps: usize) -> Vec<Vec<u64>> {
    let one = |_| {
        runner.step().unwrap();
        let state = runner.simulation().state();
        let numbers = state.positions.iter().chain(&state.velocities);
        numbers.map(|x| x.to_bits()).collect()
    };
    (0..steps).map(one).collect()
}

fn to<'a>(positions: &'a [f64], velocities: &'a [f64]) -> Target<'a> {
    Target {
        positions: Some(positions),
        velocities,
        within: 0.02,
    }
}

fn angle(runner: &Runner, joint: &str) -> (f64, f64) {
    let simulation = runner.simulation();
    let node = simulation.model().node_named(joint).unwrap();
    (simulation.positions(node)[0], simulation.velocities(node)[0])
}

#[test]
fn steps_end_at_the_time_that_is_asked_for() {
    let mut runner = start("pendulum.ron", &Settings::default());
    let lengths: Vec<f64> = (0..3).map(|_| runner.step_until(0.025).unwrap().h).collect();
    assert_eq!(lengths[..2], [0.01; 2]);
    assert!((lengths[2] - 0.005).abs() < 1e-15 && (runner.simulation().time() - 0.025).abs() < 1e-15);
    // A step that ends within rounding of the time has the scene's length.
    let h = runner.step_until(0.035 - 1e-12).unwrap().h;
    assert_eq!(h, 0.01);
    for end in [0.0, runner.simulation().time(), f64::NAN, f64::NEG_INFINITY] {
        assert!(runner.step_until(end).is_err(), "{end}");
    }
}

/// The end of a run is a time, whatever lengths its steps had.
#[test]
fn a_run_ends_at_its_duration_after_steps_of_other_lengths() {
    let mut runner = a_second();
    while !runner.is_done() {
        runner.step_of(0.001).unwrap();
    }
    // Sums of steps miss round times by rounding.
    assert_eq!(runner.steps_taken(), 1000);
    assert!((runner.simulation().time() - 1.0).abs() < 1e-12);

    let mut runner = a_second();
    runner.step_of(0.5).unwrap();
    assert_eq!(finish(&mut runner), 50);
    assert!((runner.simulation().time() - 1.0).abs() < 1e-12);

    let mut runner = a_second();
    while runner.simulation().time() < 0.025 {
        runner.step_until(0.025).unwrap();
    }
    let bytes = runner.checkpoint_bytes().unwrap();
    assert_eq!(finish(&mut runner), 98);
    // The last step is what is left of the duration.
    assert_eq!(runner.simulation().time(), 1.0);
    // Further steps have the length of the scene again.
    assert_eq!(runner.step().unwrap().h, 0.01);
    runner.restore_bytes(&bytes).unwrap();
    assert_eq!(finish(&mut runner), 98);
    assert_eq!(runner.simulation().time(), 1.0);
}

#[test]
fn steps_of_the_length_of_the_scene_stay_on_its_plan() {
    let (mut one, mut other) = (a_second(), a_second());
    for _ in 0..60 {
        other.step_of(0.01).unwrap();
    }
    assert_eq!((finish(&mut one), finish(&mut other)), (100, 40));
    assert_eq!(go_on(&mut one, 2), go_on(&mut other, 2));
}

#[test]
fn coming_to_rest_takes_its_time_of_the_duration() {
    let text = r#"(
        gravity: (0, -10, 0),
        run: (duration: 50, step: 0.01),
        nodes: [
            Particles(name: "stone", positions: [(0, 0, 0)], mass: 2),
            Mapped(name: "gap", parents: ["stone"], mapping: Subset(elements: [0])),
        ],
        force_fields: [(name: "spring", on: "gap", law: Stiffness(100))],
    )"#;
    let scene = SceneFile::from_text("spring.ron".as_ref(), text, Format::Ron).unwrap();
    let mut runner = Runner::new(scene.build(&Settings::default()).unwrap()).unwrap();
    runner.simulation_mut().settle(Settle::default()).unwrap();
    let time = runner.simulation().time();
    assert!(time > 0.1 && time < 49.0, "{time}");
    let left = ((50.0 - time) / 0.01).round() as usize;
    assert_eq!(finish(&mut runner), left);
    // 5,000 sums of times of 50 s, each rounded by half of 7e-15.
    assert!((runner.simulation().time() - 50.0).abs() < 2e-11);
}

#[test]
fn a_search_for_rest_that_fails_leaves_the_state() {
    let mut runner = start("pendulum.ron", &Settings::default());
    go_on(&mut runner, 3);
    let before = runner.simulation().state().clone();
    let how = Settle {
        max_steps: 2,
        ..Settle::default()
    };
    let error = runner.simulation_mut().settle(how).unwrap_err();
    assert!(error.to_string().contains("not at rest after 2 steps"), "{error}");
    let after = runner.simulation().state();
    assert_eq!(
        (&after.positions, &after.velocities),
        (&before.positions, &before.velocities)
    );
    let mut fresh = start("pendulum.ron", &Settings::default());
    go_on(&mut fresh, 3);
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

#[test]
fn steps_that_choose_their_length_go_on_after_others() {
    let mut runner = pendulum("adaptive_step: ()");
    runner.step_of(0.1).unwrap();
    let time = runner.simulation().time();
    runner.step().unwrap();
    assert!(runner.simulation().time() > time);
    finish(&mut runner);
    assert_eq!(runner.simulation().time(), runner.plan().duration);
}

#[test]
fn a_step_that_fails_leaves_the_inputs() {
    let mut runner = start("muscle_arm.ron", &Settings::default());
    go_on(&mut runner, 3);
    let energies = |runner: &Runner| {
        let simulation = runner.simulation();
        simulation.problem().energies(simulation.state())
    };
    let before = energies(&runner);
    assert!(runner.step_of(1e300).is_err());
    assert_eq!(energies(&runner), before);
    let mut fresh = start("muscle_arm.ron", &Settings::default());
    go_on(&mut fresh, 3);
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

/// A hold that is due at the start of a step begins with one that is taken.
#[test]
fn a_step_that_fails_leaves_the_holds() {
    let text = r#"(
        gravity: (0, -10, 0),
        run: (duration: 1, step: 0.01),
        nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
        fixed: [(node: "stone", velocity: [10, 0, 0], from: 0.02, until: 0.04)],
    )"#;
    let scene = SceneFile::from_text("stone.ron".as_ref(), text, Format::Ron).unwrap();
    let mut runner = Runner::new(scene.build(&Settings::default()).unwrap()).unwrap();
    let controls = |runner: &Runner| runner.simulation().checkpoint().controls;
    go_on(&mut runner, 2);
    for _ in 0..2 {
        let before = controls(&runner);
        assert!(runner.step_of(f64::MAX).is_err());
        assert_eq!(controls(&runner), before);
        go_on(&mut runner, 1);
        assert!(controls(&runner) != before);
        go_on(&mut runner, 1);
    }
    assert!((runner.simulation().time() - 0.06).abs() < 1e-12);
}

/// Equilibria are found once, and go into checkpoints.
#[test]
fn equilibria_that_are_found_end_the_run() {
    for name in ["snap_through.ron", "mooring.ron"] {
        let mut runner = start(name, &Settings::default());
        assert!(runner.is_static() && !runner.is_done());
        runner.find_equilibria().unwrap();
        assert!(runner.is_done());
        let found = runner.summary(None);
        assert!(found.statics.is_some());
        runner.find_equilibria().unwrap();
        let again = runner.summary(None);
        assert_eq!((&again.statics, &again.state), (&found.statics, &found.state));
        let mut other = start(name, &Settings::default());
        other.restore_bytes(&runner.checkpoint_bytes().unwrap()).unwrap();
        assert!(other.is_done());
        let copied = other.summary(None);
        assert_eq!((&copied.statics, &copied.state), (&found.statics, &found.state));
    }
}

/// A rate that no number holds is refused before a step meets it.
#[test]
fn a_drive_that_is_too_fast_for_a_number_is_refused() {
    let mut runner = start("servo_arm.ron", &Settings::default());
    let motor = component(&runner, "elbow.motor 0");
    let target = Target {
        within: 1e-300,
        ..to(&[1e308], &[0.0])
    };
    let error = runner.drive(motor, target).unwrap_err();
    assert!(error.to_string().contains("drive"), "{error}");
    let mut fresh = start("servo_arm.ron", &Settings::default());
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

#[test]
fn steps_that_choose_their_length_end_there_too() {
    let mut runner = pendulum("adaptive_step: ()");
    assert!(runner.plan().adaptive.is_some());
    while runner.simulation().time() < 0.0123 {
        runner.step_until(0.0123).unwrap();
    }
    assert_eq!(runner.simulation().time(), 0.0123);
}

#[test]
fn a_step_of_no_length_is_refused_with_the_inputs_as_they_were() {
    let mut runner = start("muscle_arm.ron", &Settings::default());
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = runner.step_of(h).unwrap_err();
        assert!(error.to_string().contains("time step"), "{error}");
    }
    let mut fresh = start("muscle_arm.ron", &Settings::default());
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

/// A servo that is driven at 1 rad/s turns its arm at 1 rad/s; then the scene has it again.
#[test]
fn a_driven_motor_follows_and_is_given_back() {
    let mut runner = strong_servos();
    let motor = component(&runner, "elbow.motor 0");
    runner.drive(motor, to(&[0.02], &[1.0])).unwrap();
    for _ in 0..100 {
        runner.step().unwrap();
    }
    // The servo is a compliance of 1e-3 rad/(N m): it lags by its torque, below 10 N m.
    let (position, velocity) = angle(&runner, "elbow.angle");
    assert!(
        (position - 0.5).abs() < 1e-2 && (velocity - 1.0).abs() < 1e-2,
        "{position} {velocity}"
    );
    runner.end_drive(motor).unwrap();
    while !runner.is_done() {
        runner.step().unwrap();
    }
    assert!((angle(&runner, "elbow.angle").0 - 0.6).abs() < 1e-2);
}

#[test]
fn drives_that_do_not_fit_are_refused() {
    let mut runner = start("servo_arm.ron", &Settings::default());
    let motor = component(&runner, "elbow.motor 0");
    for (start, rate) in [
        (&[f64::NAN][..], &[0.0][..]),
        (&[0.0], &[f64::INFINITY]),
        (&[0.0; 2], &[0.0; 2]),
        (&[0.0], &[]),
    ] {
        assert!(
            runner.drive(motor, to(start, rate)).is_err(),
            "{start:?} {rate:?}"
        );
    }
    for other in [
        ComponentId::Mass(0),
        ComponentId::Constraint(99),
        ComponentId::ForceField(99),
    ] {
        assert!(runner.drive(other, to(&[0.0], &[0.0])).is_err(), "{other:?}");
        assert!(runner.end_drive(other).is_ok(), "{other:?}");
    }
    for within in [0.0, -1.0, 1e-300, f64::NAN, f64::INFINITY] {
        let target = Target {
            within,
            ..to(&[0.1], &[0.0])
        };
        // From the time zero any time is more than rounding.
        assert_eq!(runner.drive(motor, target).is_ok(), within == 1e-300, "{within}");
        runner.end_drive(motor).unwrap();
    }
    let mut fresh = start("servo_arm.ron", &Settings::default());
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

/// The work of a motor that jumps to a target is accounted for, however stiff it is.
#[test]
fn a_motor_brings_in_the_energy_of_a_jump() {
    let mut runner = strong_servos();
    let motor = component(&runner, "elbow.motor 0");
    for k in 0..20 {
        let position = [0.05 * f64::from(k % 2)];
        let target = Target {
            within: 0.005,
            ..to(&position, &[0.0])
        };
        runner.drive(motor, target).unwrap();
        runner.step().unwrap();
    }
    assert!(runner.ledger().motors > 1.0, "{:?}", runner.ledger());
}

#[test]
fn a_velocity_alone_goes_on_from_where_the_motion_is() {
    let mut runner = start("servo_arm.ron", &Settings::default());
    let motor = component(&runner, "shoulder.motor 0");
    let target = Target {
        positions: None,
        ..to(&[], &[0.3])
    };
    runner.drive(motor, target).unwrap();
    for _ in 0..200 {
        runner.step().unwrap();
    }
    // The servo lags by its torque, below 20 N m, times 1e-3 rad/(N m).
    assert!((angle(&runner, "shoulder.angle").0 - 0.3).abs() < 2e-2);
}

#[test]
fn a_run_goes_on_from_bytes_to_the_bit() {
    for name in [
        "servo_arm.ron",
        "bow.ron",
        "stack.ron",
        "bouncing_balls.ron",
        "muscle_arm.ron",
    ] {
        let mut runner = start(name, &Settings::default());
        go_on(&mut runner, 4);
        if name == "servo_arm.ron" {
            let motor = component(&runner, "elbow.motor 0");
            runner.drive(motor, to(&[0.01], &[0.5])).unwrap();
            let motor = component(&runner, "shoulder.motor 0");
            runner.drive(motor, to(&[0.005], &[0.0])).unwrap();
            go_on(&mut runner, 1);
        }
        let bytes = runner.checkpoint_bytes().unwrap();
        let expected = go_on(&mut runner, 6);
        let mut other = start(name, &Settings::default());
        other.restore_bytes(&bytes).unwrap();
        assert_eq!(go_on(&mut other, 6), expected, "{name}");
        // The same run goes back, too, and its sums are those of one way.
        runner.restore_bytes(&bytes).unwrap();
        assert_eq!(go_on(&mut runner, 6), expected, "{name}");
        let (a, b) = (runner.summary(None), other.summary(None));
        assert_eq!(
            (a.steps, a.ledger, a.state),
            (b.steps, b.ledger, b.state),
            "{name}"
        );
    }
}

#[test]
fn bytes_of_another_run_are_refused_and_change_nothing() {
    let settings = Settings {
        parameters: vec![("length".to_owned(), 2.0.into())],
        ..Settings::default()
    };
    let bytes = start("pendulum.ron", &settings).checkpoint_bytes().unwrap();
    let mut runner = start("pendulum.ron", &Settings::default());
    let error = runner.restore_bytes(&bytes).unwrap_err();
    assert!(matches!(error, CheckpointError::OtherBytes { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the checkpoint is of another run: parameter `length` is 2 there and 1 here"
    );
    let mut fresh = start("pendulum.ron", &Settings::default());
    assert_eq!(go_on(&mut runner, 3), go_on(&mut fresh, 3));
}

/// Bytes that were changed by hand, with the checksum of the change, are refused, or steps go on or
/// end with an error. A value that is refused leaves the run as it was.
#[test]
fn no_bytes_make_a_run_panic() {
    let mut runner = start("servo_arm.ron", &Settings::default());
    let motor = component(&runner, "elbow.motor 0");
    runner.drive(motor, to(&[0.01], &[0.5])).unwrap();
    go_on(&mut runner, 2);
    let bytes = runner.checkpoint_bytes().unwrap();
    let value = bytes.iter().position(|b| *b == b'\n').unwrap() + 1 + 12;
    let (mut refused, mut went_on) = (0, 0);
    for at in (value..bytes.len()).filter(|at| bytes[*at] < 0x7f).step_by(5) {
        let mut changed = bytes.clone();
        changed[at] = 0x7f;
        let checksum = crc32fast::hash(&changed[value..]).to_le_bytes();
        changed[value - 4..value].copy_from_slice(&checksum);
        if runner.restore_bytes(&changed).is_ok() {
            went_on += 1;
            let _ = runner.step();
        } else {
            refused += 1;
        }
    }
    assert!(refused > 10 && went_on > 10, "{refused} {went_on}");
    runner.restore_bytes(&bytes).unwrap();
}

/// A force of `5 t` on a cart of 2 kg: a step takes that of its middle, a look that of its time.
#[test]
fn a_look_at_the_present_has_the_inputs_of_its_time() {
    let text = r#"(
        run: (duration: 1, step: 0.05),
        nodes: [Bodies(name: "cart", bodies: [(shape: Box(1, 1, 1), mass: 2)])],
        force_fields: [(name: "push", on: "cart", law: Force(["5 * $t", 0, 0]))],
        joints: [(name: "x", kind: Slider, b: Body("cart", 0), axis: (1, 0, 0))],
    )"#;
    let scene = SceneFile::from_text("cart.ron".as_ref(), text, Format::Ron).unwrap();
    let built = || scene.build(&Settings::default()).unwrap();
    let nodes = built().joints[0].2.coordinates.clone();
    let (mut asked, mut alone) = (Runner::new(built()).unwrap(), Runner::new(built()).unwrap());
    for _ in 0..5 {
        asked.step().unwrap();
        alone.step().unwrap();
        let found = asked.at_present(|simulation| simulation.coordinate_dynamics(&nodes, &[]));
        let expected = 2.5 * asked.simulation().time();
        // One division, and the refined solution of one free coordinate.
        assert!((found.unwrap().accelerations[0] - expected).abs() < 1e-12);
    }
    let states = [&asked, &alone].map(|run| run.simulation().state().clone());
    assert_eq!(states[0].velocities, states[1].velocities);
    assert_eq!(asked.ledger().inputs.to_bits(), alone.ledger().inputs.to_bits());
}

#[test]
fn a_drive_that_is_asked_for_is_not_set() {
    let (mut asked, mut alone) = (strong_servos(), strong_servos());
    let motor = component(&asked, "shoulder.motor 0");
    let to = |within| Target {
        positions: Some(&[0.5]),
        velocities: &[0.0],
        within,
    };
    asked.check_drive(motor, to(0.1)).unwrap();
    asked.check_drive(motor, to(0.0)).unwrap_err();
    assert_eq!(go_on(&mut asked, 3), go_on(&mut alone, 3));
}
