//! The stiff beam at every stiffness, and where the time of a step of a solid goes.
//!
//! `cargo xtask bench solids`. The first table is that of `benches/reference/beam.txt`: a beam of
//! 39 x 3 x 3 hexahedra under its weight, steps of 0.01 s, then brought to rest. The second has
//! solids of about 3,000 and 30,000 degrees of freedom. Least times of eight steps after two from
//! rest, which have neither stress nor speed. `--times` prints the second alone, `--threads N` lets
//! the filling and the factor share so many threads. `--products` times products with the response
//! matrix, assembled and not, instead. `--sizes` prints the tables of solids of 3,000 to 300,000
//! degrees of freedom instead, on one thread and on two, with memory and what the machine could do;
//! `--multilevel` prints the table of conjugate gradients with smoothed aggregation of 30,000 to 3
//! million degrees of freedom, beside the factor, and with `--write` draws its times as a picture of
//! the book; `--memory` that of cantilevers of 30,000 to a million unknowns against beam theory, with
//! the peak of memory of a run; `--solvers` those of steps and rests by a factor and by the automatic
//! choice; `--most N` leaves out larger ones.
//! `--beams` prints the beam in tetrahedra of the comparison with other programs, and the parts of
//! its steps. With the feature `peers`, `--peers` prints the beam in tetrahedra alone, beside
//! Rapier's soft bodies.

mod beams;
mod solvers;

use super::{Ended, write_picture};
use pliant::continuum::{Mesh, Solid, StrainEnergy};
use pliant::prelude::*;
use pliant_benches::solid_levels;
use pliant_benches::solid_memory;
use pliant_benches::solid_products;
use pliant_benches::solid_sizes::{self, clamped, least_times};
use std::process::ExitCode;

const BEAM: &str = include_str!("../../reference/beam.txt");

pub(super) fn run(arguments: &[String]) -> Ended {
    let mut threads = 1;
    let mut solvers = false;
    let (mut beam, mut beams, mut sizes, mut products, mut most) = (true, false, false, false, usize::MAX);
    let (mut multilevel, mut memory, mut write) = (false, false, false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--times" => beam = false,
            "--beams" => beams = true,
            "--solvers" => solvers = true,
            "--sizes" => sizes = true,
            "--products" => products = true,
            "--multilevel" => multilevel = true,
            "--memory" => memory = true,
            "--write" => write = true,
            "--one-memory" => {
                let [kind, size] = [number(arguments.next())?, number(arguments.next())?];
                return done(solid_memory::measure_one(kind, size));
            }
            "--one-multilevel" => {
                let numbers: Result<Vec<usize>, _> = arguments.map(|a| a.parse()).collect();
                let numbers = numbers?;
                let [shape, step, size, factor] = numbers[..] else {
                    return Err("`--one-multilevel` takes a shape, a step, a size and a method".into());
                };
                return done(solid_levels::measure_one(shape, step, size, factor));
            }
            "--most" => most = number(arguments.next())?,
            "--one" => {
                let numbers: Result<Vec<usize>, _> = arguments.map(|a| a.parse()).collect();
                let numbers = numbers?;
                let [solid, size, threads] = numbers[..] else {
                    return Err("`--one` takes a solid, a size and a number of threads".into());
                };
                return done(solid_sizes::measure_one(solid, size, threads));
            }
            #[cfg(feature = "peers")]
            "--peers" => return done(peers()),
            "--threads" => threads = number(arguments.next())?,
            other => {
                return Err(format!(
                    "unknown argument `{other}`; there are `--times`, `--beams`, `--threads N`, `--products`, `--sizes`, `--multilevel`, `--write`, `--memory`, `--solvers`, `--most N`, `--peers`"
                )
                .into());
            }
        }
    }
    if solvers {
        return done(solvers::table(threads, most));
    }
    if beams {
        return done(beams::table(threads));
    }
    if products {
        return done(solid_products::table(threads));
    }
    if multilevel {
        let times = solid_levels::table(most)?;
        if write {
            write_picture("solid-sizes.svg", &solid_levels::picture(&times))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if memory {
        return done(solid_memory::table(most));
    }
    if sizes {
        return done(solid_sizes::tables(most));
    }
    if beam {
        stiff_beams()?;
    }
    println!("| solid | dofs | fill ms | factor ms | solve ms | other ms | fill / factor |");
    println!("|---|---|---|---|---|---|---|");
    for cells in [[30, 5, 4], [99, 9, 9]] {
        let hexes = Mesh::hexahedral_box([1.0, 0.1, 0.1], cells)?;
        let tetrahedra = hexes.clone().into_tetrahedra();
        let turned = Solid::hyperelastic(StrainEnergy::corotational(1e6, 0.3));
        let rubber = Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.3));
        for (name, solid, mesh) in [
            ("hexahedra, linear", Solid::linear(1e6, 0.3), &hexes),
            ("hexahedra, corotational", Solid::corotational(1e6, 0.3), &hexes),
            ("hexahedra, corotational on gradients", turned, &hexes),
            ("hexahedra, neo-Hookean", rubber, &hexes),
            (
                "tetrahedra, corotational",
                Solid::corotational(1e6, 0.3),
                &tetrahedra,
            ),
            ("tetrahedra, neo-Hookean", rubber, &tetrahedra),
        ] {
            timed(name, &solid, mesh, threads)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The exit code of a part that did what was asked of it.
fn done(part: Result<(), Box<dyn std::error::Error>>) -> Ended {
    part.map(|()| ExitCode::SUCCESS)
}

/// The number behind a flag.
fn number(text: Option<&String>) -> Result<usize, std::num::ParseIntError> {
    text.map_or("", String::as_str).parse()
}

fn stiff_beams() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| E (Pa) | tip (m) | reference (m) | error / sag | worst residual | ms per step | passes to rest |"
    );
    println!("|---|---|---|---|---|---|---|");
    for exponent in 5..=12 {
        stiff_beam(10f64.powi(exponent))?;
    }
    println!();
    Ok(())
}

/// The beam in tetrahedra at every stiffness: ours brought to rest, Rapier's after ten seconds, the
/// mean of the last one and how much it still moves.
#[cfg(feature = "peers")]
fn peers() -> Result<(), Box<dyn std::error::Error>> {
    use pliant_benches::soft_peer::{Cells, FEM, SoftPeer};
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [39, 3, 3])?.into_tetrahedra();
    println!("| E (Pa) | program | tip (m) | error / sag | still moves (m) | ms per step |");
    println!("|---|---|---|---|---|---|");
    for exponent in 5..=12 {
        let young = 10f64.powi(exponent);
        let ours = beam_at_rest(&mesh, young)?;
        println!(
            "| {young:.0e} | pliant | {:.9} | | | {:.2} |",
            ours.tip,
            ours.least * 1e3
        );
        for (name, cells) in [("Rapier, default", Cells::Constraints), ("Rapier, `fem`", FEM)] {
            let mut peer = SoftPeer::new(&mesh, (young, 0.3, 1000.0), 0.01, cells);
            let (mut tips, mut least) = (Vec::new(), f64::INFINITY);
            for _ in 0..1000 {
                let start = std::time::Instant::now();
                peer.step();
                least = least.min(start.elapsed().as_secs_f64());
                tips.push(peer.tip());
            }
            let last = &tips[900..];
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            let (low, high) = last.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
                (l.min(*x), h.max(*x))
            });
            println!(
                "| | {name} | {mean:.9} | {:.1e} | {:.0e} | {:.2} |",
                (mean - ours.tip) / (0.05 - ours.tip),
                high - low,
                least * 1e3
            );
        }
    }
    Ok(())
}

/// A beam that was dropped and then brought to rest.
struct Rest {
    /// Mean height of its free end (m).
    tip: f64,
    /// Largest relative residual of the steps of the fall.
    worst: f64,
    /// Least time of one of them (s).
    least: f64,
    /// Steps to rest.
    passes: usize,
}

fn beam_at_rest(mesh: &Mesh, young: f64) -> Result<Rest, Box<dyn std::error::Error>> {
    let (mut simulation, nodes) = clamped(&Solid::corotational(young, 0.3), mesh)?;
    let (mut worst, mut least) = (0.0f64, f64::INFINITY);
    for _ in 0..50 {
        let report = simulation.step(0.01)?;
        worst = worst.max(report.residual.relative);
        least = least.min(report.timings.total().as_secs_f64());
    }
    // Soft beams swing far: short pseudo-static steps first.
    let mut passes = 0;
    let swing = if young < 1e7 { 40 } else { 0 };
    for _ in 0..swing {
        simulation.settle_once(1.0, 0.0)?;
        passes += 1;
    }
    let how = Settle {
        h: if young < 1e7 { 10.0 } else { 1.0 },
        tolerance: 1e-11,
        max_steps: 200,
        ..Settle::default()
    };
    passes += simulation.settle(how)?.steps;
    let tip: Vec<f64> = mesh
        .nodes
        .iter()
        .zip(simulation.positions(nodes).chunks(3))
        .filter(|(x, _)| x[0] == 1.0)
        .map(|(_, x)| x[2])
        .collect();
    let tip = tip.iter().sum::<f64>() / tip.len() as f64;
    Ok(Rest {
        tip,
        worst,
        least,
        passes,
    })
}

fn stiff_beam(young: f64) -> Result<(), Box<dyn std::error::Error>> {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [39, 3, 3])?;
    let Rest {
        tip,
        worst,
        least,
        passes,
    } = beam_at_rest(&mesh, young)?;
    let name = format!("corotational 1e+{:02} ", young.log10().round());
    let line = BEAM.lines().find(|l| l.starts_with(&name)).unwrap_or_default();
    let exact: f64 = line.split_whitespace().last().unwrap_or("nan").parse()?;
    println!(
        "| {young:.0e} | {tip:.12} | {exact:.12} | {:.1e} | {worst:.1e} | {:.2} | {passes} |",
        (tip - exact) / (0.05 - exact),
        least * 1e3
    );
    Ok(())
}

fn timed(name: &str, solid: &Solid, mesh: &Mesh, threads: usize) -> Result<(), Box<dyn std::error::Error>> {
    let (mut simulation, _) = clamped(solid, mesh)?;
    simulation.options.tuning.solver.threads = threads;
    let [other, fill, factor, solve] = least_times(&mut simulation, 8)?.map(|t| 1e3 * t);
    println!(
        "| {name} | {} | {fill:.1} | {factor:.1} | {solve:.1} | {other:.1} | {:.2} |",
        3 * mesh.nodes.len(),
        fill / factor
    );
    Ok(())
}
