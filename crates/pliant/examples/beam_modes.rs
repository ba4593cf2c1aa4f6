//! Natural frequencies of a clamped beam.
//!
//! Euler and Bernoulli: `w = (b L)^2 sqrt(E I / (rho A L^4))` with `cos(b L) cosh(b L) = -1`:
//! `b L = 1.8751, 4.6941, 7.8548`. A beam of unequal sides has each of them twice.
//!
//! `cargo run --release -p pliant --example beam_modes`

use pliant::continuum::{Rod, RodCurve, Section};
use pliant::prelude::*;
use std::f64::consts::TAU;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (length, sides, young, density) = (0.8, [0.004, 0.006], 70e9, 2700.0);
    let mut model = Model::new();
    let rod = Rod::new(Section::rectangle(sides), young, 0.33).with_density(density);
    let curve = RodCurve::straight([0.0; 3], [length, 0.0, 0.0], 80).with_normal([0.0, 1.0, 0.0]);
    let parts = rod.add_to(&mut model, "rod", &curve)?;
    model.fix(parts.frames, 0, &[true; 6])?;

    let mut simulation = Simulation::new(model)?;
    let found = simulation.modes(&ModeOptions {
        count: 5,
        ..ModeOptions::default()
    })?;
    let mut expected: Vec<f64> = [1.875_104_068_7, 4.694_091_133, 7.854_757_438]
        .iter()
        .flat_map(|bl: &f64| {
            sides.map(|side| bl * bl * side / (length * length) * (young / (12.0 * density)).sqrt())
        })
        .collect();
    expected.sort_by(f64::total_cmp);
    for (mode, expected) in found.modes.iter().zip(&expected) {
        let w = mode.angular_frequency();
        println!(
            "{:9.4} Hz, of a beam {:9.4} Hz, effective mass {:.4} kg",
            w / TAU,
            expected / TAU,
            mode.participation.iter().map(|p| p * p).sum::<f64>()
        );
        assert_eq!(mode.kind, ModeKind::Vibration);
        // Eighty segments, of second order, and what shear and rotary inertia take.
        assert!((w / expected - 1.0).abs() < 3e-3);
    }
    // The first mode of a clamped beam moves 0.6131 of its mass.
    let first = &found.modes[0].participation;
    let share = first.iter().map(|p| p * p).sum::<f64>() / (density * sides[0] * sides[1] * length);
    println!("{share:.4} of the mass in the first mode");
    assert!((share - 0.6131).abs() < 2e-3);
    Ok(())
}
