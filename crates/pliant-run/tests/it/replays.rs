//! Restored checkpoints and steps after a failed one go on to the bit. The scenes, in `replays/`,
//! are the least of random ones in which they once did not.

use pliant::archive::ArchiveError;
use pliant::{Adaptive, Checkpoint, Simulation};
use pliant_run::Runner;
use pliant_scene::{Format, SceneFile, Settings};
use std::path::Path;

fn start(name: &str) -> (Runner, f64) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/replays");
    let scene = SceneFile::load(&file.join(name)).unwrap();
    let built = scene.build(&Settings::default()).unwrap();
    let step = built.plan.step;
    (Runner::new(built).unwrap(), step)
}

/// Takes steps to the first error; the bits of the state after each, and the error in words.
fn go_on(simulation: &mut Simulation, h: f64, steps: usize) -> (Vec<Vec<u64>>, String) {
    let mut bits = Vec::new();
    for _ in 0..steps {
        if let Err(error) = simulation.step(h) {
            return (bits, error.to_string());
        }
        let state = simulation.state();
        let numbers = state.positions.iter().chain(&state.velocities);
        bits.push(numbers.map(|x| x.to_bits()).collect());
    }
    (bits, String::new())
}

fn runs_on_from_every_checkpoint(name: &str) {
    const STEPS: usize = 30;
    let (mut runner, h) = start(name);
    let simulation = runner.simulation_mut();
    let mut checkpoints = vec![simulation.checkpoint()];
    let mut bits = Vec::new();
    for _ in 0..STEPS {
        let (state, error) = go_on(simulation, h, 1);
        assert_eq!(error, "", "{name}");
        bits.extend(state);
        checkpoints.push(simulation.checkpoint());
    }
    for (k, checkpoint) in checkpoints[..STEPS].iter().enumerate().step_by(3) {
        let (mut other, _) = start(name);
        let other = other.simulation_mut();
        let bytes = checkpoint.to_bytes().unwrap();
        other.restore(&Checkpoint::from_bytes(&bytes).unwrap()).unwrap();
        // The memory that was restored is that of the next checkpoint, also where it was not used.
        assert!(other.checkpoint() == *checkpoint, "{name}: checkpoint {k}");
        let (found, error) = go_on(other, h, STEPS - k);
        assert_eq!(error, "", "{name}: from checkpoint {k}");
        assert!(found == bits[k..], "{name}: from checkpoint {k}");
    }
}

/// The memory of a factor is its order and its judgements on rows that may be redundant.
#[test]
fn restored_checkpoints_go_on_to_the_bit() {
    for name in ["restore-91.json", "restore-373.json", "restore-425.json"] {
        runs_on_from_every_checkpoint(name);
    }
}

/// A checkpoint whose fields are those of the first version is refused, with both versions named.
#[test]
fn a_checkpoint_of_another_version_is_refused() {
    let (mut runner, h) = start("sleepers.ron");
    let simulation = runner.simulation_mut();
    go_on(simulation, h, 2);
    let bytes = simulation.checkpoint().to_bytes().unwrap();
    let line = b"pliant checkpoint 2\n";
    assert!(bytes.starts_with(line));
    let old = [b"pliant checkpoint 1\n", &bytes[line.len()..]].concat();
    let error = Checkpoint::from_bytes(&old).unwrap_err();
    let is_version = matches!(&error, ArchiveError::Version { found, version: 2, .. } if found == "1");
    assert!(is_version, "{error}");
    assert_eq!(
        error.to_string(),
        "version 1 of a checkpoint cannot be read: this program reads and writes version 2"
    );
}

/// Checkpoints that were changed by hand, with the checksum of the change: they are refused, or
/// steps go on or end with an error. Each byte in turn becomes the largest small number, an index
/// of nothing; others change at random.
#[test]
fn no_checkpoint_makes_a_step_panic() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % n
    };
    for (name, steps) in [("restore-91.json", 20), ("sleepers.ron", 2), ("sleepers.ron", 20)] {
        let (mut refused, mut went_on, mut unread) = (0, 0, 0);
        let (mut runner, h) = start(name);
        let simulation = runner.simulation_mut();
        go_on(simulation, h, steps);
        let bytes = simulation.checkpoint().to_bytes().unwrap();
        let value = bytes.iter().position(|b| *b == b'\n').unwrap() + 1 + 12;
        let mut attempt = |changed: &mut [u8]| {
            let checksum = crc32fast::hash(&changed[value..]).to_le_bytes();
            changed[value - 4..value].copy_from_slice(&checksum);
            match Checkpoint::from_bytes(changed) {
                Ok(checkpoint) if simulation.restore(&checkpoint).is_ok() => {
                    went_on += 1;
                    go_on(simulation, h, 2);
                }
                Ok(_) => refused += 1,
                Err(ArchiveError::Value { .. }) => unread += 1,
                Err(error) => panic!("{error}"),
            }
        };
        for at in (value..bytes.len()).filter(|at| bytes[*at] < 0x7f) {
            let mut changed = bytes.clone();
            changed[at] = 0x7f;
            attempt(&mut changed);
        }
        for _ in 0..1000 {
            let mut changed = bytes.clone();
            for _ in 0..=below(3) {
                let at = value + below(bytes.len() - value);
                changed[at] = [0, 1, 0x7f, 0xff, changed[at].wrapping_add(1)][below(5)];
            }
            attempt(&mut changed);
        }
        assert!(
            refused > 0 && went_on > 0 && unread > 0,
            "{name}: {refused}, {went_on}, {unread}"
        );
    }
}

/// A failed step leaves nothing behind, in the solvers neither: one that has no solution, or one
/// whose solution is not as exact as it shall be.
#[test]
fn a_step_after_a_failed_one_is_that_of_a_restored_checkpoint() {
    for name in ["afterfail-119.json", "afterfail-629.json"] {
        let (mut runner, h) = start(name);
        let simulation = runner.simulation_mut();
        let (mut failures, mut checkpoint) = (0, simulation.checkpoint());
        let tuning = simulation.options.tuning.clone();
        for step in 0..300 {
            if step == 40 {
                simulation.options.tuning.solver.tolerance = 1e-300;
                simulation.options.tuning.newton.iterations = 1;
                simulation.options.tuning.newton.halvings = 1;
            }
            let stepped = simulation.step(h);
            simulation.options.tuning.clone_from(&tuning);
            match stepped {
                Ok(_) => checkpoint = simulation.checkpoint(),
                Err(_) => {
                    failures += 1;
                    assert!(simulation.checkpoint() == checkpoint, "{name}");
                    let (mut other, _) = start(name);
                    let other = other.simulation_mut();
                    other.restore(&checkpoint).unwrap();
                    let after = go_on(simulation, 0.25 * h, 8);
                    assert!(after == go_on(other, 0.25 * h, 8), "{name}: {}", after.1);
                    break;
                }
            }
        }
        assert!(failures > 0, "{name} has no failed step");
    }
}

/// Three points on hard links in steps that choose their length, of which the shortest misses the
/// tolerance: the trials leave nothing behind, in the solvers neither.
#[test]
fn a_failed_step_that_chooses_its_length_changes_nothing() {
    let text = r#"(gravity: (0, -9.81, 0), run: (duration: 1, step: 0.01, integrator: Theta, post_stabilisation: ()), nodes: [
        Particles(name: "p", positions: [(1, 0, 0), (2, 0, 0), (3, 0, 0)], mass: 1),
        Mapped(name: "d", parents: ["p"], mapping: Distance(pairs: [(0, (0, 0, 0)), (0, 1), (1, 2), (0, 2)])),
    ], constraints: [(name: "links", on: "d")])"#;
    let start = || {
        let scene = SceneFile::from_text("a.ron".as_ref(), text, Format::Ron).unwrap();
        Runner::new(scene.build(&Settings::default()).unwrap()).unwrap()
    };
    let how = Adaptive {
        position: 1e-14,
        velocity: 1e-14,
        relative: 0.0,
        position_kink: 0.0,
        velocity_kink: 0.0,
        smallest: 1e-3,
        first: 1e-2,
        ..Adaptive::default()
    };
    for steps in [0, 3] {
        let mut runner = start();
        let simulation = runner.simulation_mut();
        assert_eq!(go_on(simulation, 0.01, steps).1, "");
        let before = simulation.checkpoint();
        let error = simulation.step_adaptively(&how, 1.0).unwrap_err();
        assert!(matches!(error, pliant::Error::StepTooSmall { .. }), "{error}");
        assert!(simulation.checkpoint() == before, "after {steps} steps");
        let mut other = start();
        let other = other.simulation_mut();
        other.restore(&before).unwrap();
        assert!(go_on(simulation, 0.002, 8) == go_on(other, 0.002, 8));
    }
}

/// Four bodies of 6 g to 700 kg in joints that say some of it twice, beside one that is free: the
/// signs of their pivots are rounding, and said that there was no inertia left.
#[test]
fn bodies_of_very_different_masses_in_redundant_joints_have_inertia() {
    let (mut runner, h) = start("inertia-109.json");
    let (_, error) = go_on(runner.simulation_mut(), h, 100);
    assert_eq!(error, "");
}
