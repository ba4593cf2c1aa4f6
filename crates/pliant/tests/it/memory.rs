//! Determinism, checkpoints, allocation.

use crate::scenes::machine;
use pliant::prelude::*;

#[test]
fn a_restored_simulation_goes_on_bit_for_bit() {
    for accept in [1, 7, 20] {
        let mut s = Simulation::new(machine()).unwrap();
        for _ in 0..accept {
            s.step(0.01).unwrap();
        }
        let checkpoint = s.checkpoint();
        let mut other = Simulation::new(machine()).unwrap();
        other.restore(&checkpoint).unwrap();
        for _ in 0..20 {
            let (a, b) = (s.step(0.01).unwrap(), other.step(0.01).unwrap());
            assert_eq!(
                (a.energies, a.dissipated, a.residual),
                (b.energies, b.dissipated, b.residual)
            );
        }
        assert_eq!(s.checkpoint(), other.checkpoint());
    }
}

#[test]
fn two_runs_are_one() {
    let run = || {
        let mut s = Simulation::new(machine()).unwrap();
        for _ in 0..50 {
            s.step(0.01).unwrap();
        }
        s.checkpoint()
    };
    assert_eq!(run(), run());
}

#[test]
fn no_allocation_in_any_formulation_or_with_stabilisation() {
    for formulation in [
        Formulation::Velocity,
        Formulation::VelocityChange,
        Formulation::Acceleration,
    ] {
        for stabilise in [false, true] {
            let how = stabilise.then(Stabilisation::default);
            let options = Options {
                formulation,
                pre_stabilisation: how,
                post_stabilisation: how,
                ..Options::default()
            };
            let mut s = Simulation::with_options(machine(), options).unwrap();
            for _ in 0..3 {
                s.step(0.01).unwrap();
            }
            let found = allocation_counter::measure(|| {
                for _ in 0..5 {
                    s.step(0.01).unwrap();
                }
            });
            assert_eq!(found.count_total, 0, "{formulation:?}, stabilised {stabilise}");
            assert_eq!(s.counters().solver.symbolic, 1);
        }
    }
}

#[test]
fn freeing_a_coordinate_costs_one_analysis() {
    let mut s = Simulation::new(machine()).unwrap();
    let driver = s.model().node_named("driver").unwrap();
    s.step(0.01).unwrap();
    s.release(driver, 0, &[true; 3]).unwrap();
    s.step(0.01).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(s.counters().solver.symbolic, 2);
    // It kept its velocity but for gravity and the spring.
    assert!((s.velocities(driver)[0] - 0.3).abs() < 1.0 && s.velocities(driver)[1] < 0.0);
    s.hold(driver, 0, &[true; 3], &[0.0, 1.0, 0.0]).unwrap();
    s.step(0.01).unwrap();
    assert_eq!(s.velocities(driver), &[0.0, 1.0, 0.0]);
}
