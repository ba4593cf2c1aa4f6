//! The energy of a beam that swings freely, over as many periods as a test may take;
//! `cargo xtask bench vibrations` runs a thousand.

use pliant::prelude::*;
use pliant_benches::vibrations::{Course, Mode, materials, swing};

fn mode() -> Mode {
    Mode::first([4, 1, 1]).unwrap()
}

fn largest(part: &[f64]) -> f64 {
    part.iter().fold(0.0, |a: f64, e| a.max(*e))
}

/// The beam of the material with this number, let go at 0.1 m of its 1 m.
fn swung(mode: &Mode, material: usize, options: &Options, periods: usize, per_period: usize) -> Course {
    let mut simulation = mode.let_go(&materials()[material].1, 0.1).unwrap();
    let found = swing(&mut simulation, options, (mode.period(), periods, per_period));
    assert!(found.failure.is_none(), "{:?}", found.failure);
    assert_eq!(found.largest.len(), 100);
    found
}

fn nonlinear() -> Options {
    Options {
        integrator: Integrator::Nonlinear,
        ..Options::trapezoidal()
    }
}

/// A linear beam: the trapezoidal rule turns its mode by `2 atan(omega h/2)` per step, and keeps
/// the energy but for rounding.
#[test]
fn a_linear_beam_swings_in_its_mode_and_keeps_its_energy() {
    let mode = mode();
    for options in [Options::trapezoidal(), nonlinear()] {
        let mut simulation = mode.let_go(&materials()[0].1, 0.1).unwrap();
        let (periods, per_period) = (50, 40);
        let found = swing(&mut simulation, &options, (mode.period(), periods, per_period));
        let h = mode.period() / per_period as f64;
        let off = mode.distance_from_the_mode(&simulation, 0.1, h, periods * per_period);
        println!(
            "linear beam: {off:e} m off its mode, energy error {:e}",
            largest(&found.largest)
        );
        // 2,000 steps, each with the rounding of places of 1 m over a swing of 0.1 m: 1e-15 of that
        // swing, and of phase.
        assert!(off < 1e-10, "{off}");
        assert!(largest(&found.largest) < 1e-12, "{:?}", found.largest);
    }
}

/// Of nonlinear materials: bounded, a quarter at half of the step, and no trend (a hundredth of the
/// scatter in the whole run would show).
#[test]
fn the_nonlinear_trapezoidal_rule_keeps_the_energy_of_a_deflected_beam() {
    let mode = mode();
    for material in [1, 2] {
        let [coarse, fine] = [40, 80].map(|n| swung(&mode, material, &nonlinear(), 25, n));
        for found in [&coarse, &fine] {
            let trend = 25.0 * found.slope / found.scatter;
            println!(
                "{}: largest {:e}, trend {trend:e} of the scatter",
                materials()[material].0,
                largest(&found.largest)
            );
            assert!(trend.abs() < 0.02, "{trend}");
            let (first, last) = (largest(&found.largest[..10]), largest(&found.largest[90..]));
            // Which swing comes nearest to a step differs from period to period.
            assert!((last / first - 1.0).abs() < 0.1, "{first} then {last}");
        }
        let ratio = largest(&coarse.largest) / largest(&fine.largest);
        assert!((ratio - 4.0).abs() < 0.4, "{ratio}");
    }
}

/// The theta method solves nonlinear materials with an error of each step that adds up: with the
/// geometric stiffness of the start it loses energy, without it gains.
#[test]
fn the_linear_step_drifts_on_nonlinear_materials() {
    let mode = mode();
    let bare = Options {
        geometry: GeometricTerms::NONE,
        ..Options::trapezoidal()
    };
    for material in [1, 2] {
        let loss = swung(&mode, material, &Options::trapezoidal(), 5, 40).slope;
        let gain = swung(&mode, material, &bare, 5, 40).slope;
        println!("{}: {loss:e} and {gain:e} per period", materials()[material].0);
        assert!(
            (-0.1..-0.001).contains(&loss) && (0.001..0.1).contains(&gain),
            "{loss} {gain}"
        );
    }
}
