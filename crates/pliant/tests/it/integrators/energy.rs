//! Quantities that the methods conserve.

use super::models::*;
use pliant::prelude::*;

/// Largest energy errors over the first and the last quarter of a run.
fn energy_errors(model: Model, integrator: Integrator, h: f64, steps: usize) -> [f64; 2] {
    let mut s = Simulation::with_options(model, with(integrator)).unwrap();
    let start = s.problem().energies(s.state()).total();
    let mut out = [0.0f64; 2];
    for k in 0..steps {
        let error = (s.step(h).unwrap().energies.total() - start).abs();
        if k < steps / 4 {
            out[0] = out[0].max(error);
        } else if k >= steps - steps / 4 {
            out[1] = out[1].max(error);
        }
    }
    out
}

/// RATTLE: 100 periods of the pendulum; the error neither grows nor misses the factor of four.
/// (`cargo xtask bench orders` runs a thousand.)
#[test]
fn the_energy_of_rattle_has_no_trend() {
    let steps = 23_678;
    let coarse = energy_errors(pendulum(), Integrator::Rattle, 0.01, steps);
    let fine = energy_errors(pendulum(), Integrator::Rattle, 0.005, steps);
    for [first, last] in [coarse, fine] {
        // A trend of one percent in the whole run would show.
        assert!((last / first - 1.0).abs() < 0.01, "{first} then {last}");
    }
    let ratio = coarse[1] / fine[1];
    assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
}

/// The nonlinear trapezoidal step keeps the energy of a pendulum: the mean of the directions of a
/// rod at both ends does no work on the displacement between two points of the circle. What is left
/// is the tolerance of Newton's method.
#[test]
fn the_nonlinear_trapezoidal_rule_keeps_the_energy_of_a_pendulum() {
    let [_, last] = energy_errors(pendulum(), Integrator::Nonlinear, 0.02, 1000);
    assert!(last < 1e-6, "{last}");
}

/// Linear springs keep their energy to rounding in the trapezoidal rules, implicit Euler loses it.
#[test]
fn oscillators() {
    let oscillator = || {
        let mut model = Model::new();
        let node = model
            .add_independent("mass", Space::Real(1), &[0.3], &[-0.4])
            .unwrap();
        model.add_mass("m", node, Mass::Uniform(2.0)).unwrap();
        model
            .add_force_field(
                "spring",
                node,
                UniformCompliance::new(1.0 / 30.0),
                Treatment::Compliance,
            )
            .unwrap();
        model
    };
    for integrator in [Integrator::Nonlinear, Integrator::newmark(0.25, 0.5)] {
        let [_, last] = energy_errors(oscillator(), integrator, 0.1, 1000);
        // Thousand steps of a few roundings; Newmark's accelerations carry the tolerance of
        // Newton's method.
        assert!(last < 1e-9, "{last}");
    }
    let [_, last] = energy_errors(oscillator(), Integrator::bdf2(), 0.1, 1000);
    assert!(last > 1e-3);
}

/// A free body that tumbles under RATTLE keeps its momentum in space to rounding, and its energy
/// without a trend.
#[test]
fn rattle_keeps_momentum() {
    let mut s = Simulation::with_options(top(), with(Integrator::Rattle)).unwrap();
    let start = s.model().momentum(s.state()).angular;
    let energy = s.problem().energies(s.state()).total();
    let mut worst = [0.0f64; 2];
    for k in 0..5000 {
        let report = s.step(0.05).unwrap();
        // Some roundings of 3 kg m^2/s per step.
        let moved = distance(&report.momentum.angular, &start);
        assert!(moved < 1e-11, "{moved} after {k} steps");
        let half = usize::from(k >= 2500);
        worst[half] = worst[half].max((report.energies.total() - energy).abs());
    }
    assert!(
        (worst[1] / worst[0] - 1.0).abs() < 0.01 && worst[0] < 1e-2,
        "{worst:?}"
    );
}

/// Without forces that depend on time and without damping RATTLE is reversible: back with the
/// velocities turned round.
#[test]
fn rattle_is_reversible() {
    let mut s = taken(chain(3), with(Integrator::Rattle), 0.01, 0.4);
    let mut turned = s.state().clone();
    turned.velocities.iter_mut().for_each(|v| *v = -*v);
    s.set_state(&turned).unwrap();
    for _ in 0..40 {
        s.step(0.01).unwrap();
    }
    let start = chain(3).initial_state().unwrap();
    let links = 3 * 7;
    // Forty steps of a tolerance of 1e-11, which a chain of three links amplifies a hundred times.
    let error = distance(&s.state().positions[..links], &start.positions[..links]);
    assert!(error < 1e-7, "{error}");
}
