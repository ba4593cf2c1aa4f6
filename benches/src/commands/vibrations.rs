//! A clamped beam that swings freely: its energy over many periods.
//!
//! `cargo xtask bench vibrations [--quick] [--write]`: prints; `--quick` takes 20 periods instead
//! of 1000; with `--write` it draws `docs/book/src/pictures/vibrations.svg` anew.

use super::{Ended, write_picture};
use pliant::prelude::*;
use pliant_benches::orders::{self, energies_svg};
use pliant_benches::vibrations::{Mode, materials, swing};
use std::process::ExitCode;

/// Largest displacement of the tip (m) of the beam of 1 m.
const AMPLITUDE: f64 = 0.1;

pub(super) fn run(arguments: &[String]) -> Ended {
    let (mut quick, mut write) = (false, false);
    for argument in arguments {
        match argument.as_str() {
            "--quick" => quick = true,
            "--write" => write = true,
            other => {
                eprintln!("unknown argument `{other}`; there are `--quick` and `--write`");
                return Ok(ExitCode::from(2));
            }
        }
    }
    let picture = compare(if quick { 20 } else { 1000 })?;
    if write {
        write_picture("vibrations.svg", &picture)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn methods() -> [(&'static str, Options); 4] {
    let of = |integrator| Options {
        integrator,
        ..Options::trapezoidal()
    };
    let bare = Options {
        geometry: GeometricTerms::NONE,
        ..of(Integrator::Theta)
    };
    [
        ("linear (1/2, 1/2)", of(Integrator::Theta)),
        ("linear (1/2, 1/2), no geometric stiffness", bare),
        ("nonlinear (1/2, 1/2)", of(Integrator::Nonlinear)),
        ("energy-momentum", orders::energy_momentum().options),
    ]
}

fn compare(periods: usize) -> Result<String, Box<dyn std::error::Error>> {
    let mode = Mode::first([8, 1, 1])?;
    println!(
        "Energy error of a clamped beam of 8 hexahedra over {periods} periods of {:.2} s, let go at {AMPLITUDE} m of 1 m, as a share of its energy\n",
        mode.period()
    );
    println!(
        "| material | method | steps per period | first tenth | last tenth | slope per period | scatter | slope x periods / scatter |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut panels: Vec<(&str, Vec<orders::Course>)> = Vec::new();
    for (material, solid) in materials() {
        let mut courses = Vec::new();
        for (method, options) in methods() {
            for per_period in [40, 80] {
                let mut simulation = mode.let_go(&solid, AMPLITUDE)?;
                let found = swing(&mut simulation, &options, (mode.period(), periods, per_period));
                let largest = |part: &[f64]| part.iter().fold(0.0f64, |a, e| a.max(*e));
                let tenth = found.largest.len() / 10;
                let (first, last) = (
                    largest(&found.largest[..tenth]),
                    largest(&found.largest[found.largest.len() - tenth..]),
                );
                print!("| {material} | {method} | {per_period} | {first:.1e} |");
                match found.failure {
                    Some((_, Error::Unsupported { .. })) => println!(" refused | | | |"),
                    Some((after, error)) => {
                        println!(" fails after {after:.0} periods | | | |");
                        eprintln!("{error}");
                    }
                    None => {
                        let growth = found.slope * periods as f64 / found.scatter;
                        let (slope, scatter) = (found.slope, found.scatter);
                        println!(" {last:.1e} | {slope:.1e} | {scatter:.1e} | {growth:.1e} |");
                    }
                }
                courses.push(orders::Course {
                    name: format!("{method}, {per_period} steps"),
                    errors: found.largest,
                });
            }
        }
        panels.push((material, courses));
    }
    Ok(energies_svg(periods as f64, &panels, (-16.0, 1.0)))
}
