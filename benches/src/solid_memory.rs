//! Cantilevers of 30,000 to a million unknowns at rest under their weight and in linear steps, by
//! conjugate gradients with levels: how far they are from beam theory, and what a run takes of
//! memory from the mesh on.
//!
//! Every row is measured in a process of its own, so that its peak of memory is its own.

use crate::solid_sizes::peak;
use pliant::Preconditioner;
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

/// Length, width and height (m).
const SIZE: [f64; 3] = [1.0, 0.1, 0.1];
/// Young's modulus (Pa); Poisson's ratio is zero, so that the clamp hinders nothing.
const YOUNG: f64 = 1e9;
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;
/// Cells, ten times as many along as across.
const CELLS: [[usize; 3]; 4] = [[100, 10, 10], [200, 20, 20], [280, 26, 26], [400, 28, 28]];
const KINDS: [&str; 3] = ["hexahedra, at rest", "hexahedra, steps", "tetrahedra, at rest"];
/// Steps that are taken (s).
const STEP: f64 = 0.01;

/// The sag of the free end (m) by Timoshenko's theory.
fn theory() -> f64 {
    let (area, inertia) = (SIZE[1] * SIZE[2], SIZE[1] * SIZE[2].powi(3) / 12.0);
    let load = DENSITY * GRAVITY * area;
    let (length, shear) = (SIZE[0], 0.5 * YOUNG);
    load * length.powi(4) / (8.0 * YOUNG * inertia) + load * length.powi(2) / (2.0 * 5.0 / 6.0 * shear * area)
}

/// Measures one beam and prints what [`table`] shows: the child's side.
///
/// # Errors
/// If something is not solved.
pub fn measure_one(kind: usize, size: usize) -> Result<(), Box<dyn Error>> {
    let (Some(kind), Some(cells)) = (KINDS.get(kind), CELLS.get(size)) else {
        return Err("no such beam".into());
    };
    let began = Instant::now();
    let mut mesh = Mesh::hexahedral_box(SIZE, *cells)?;
    if kind.starts_with("tetrahedra") {
        mesh = mesh.into_tetrahedra();
    }
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -GRAVITY])?;
    let solid = Solid::corotational(YOUNG, 0.0).with_density(DENSITY);
    let nodes = solid.add_to(&mut model, "beam", &mesh)?.nodes;
    let section = |x: f64| -> Vec<usize> {
        let places = mesh.nodes.iter().enumerate();
        let there = places.filter(|(_, place)| (place[0] - x).abs() < 1e-9);
        there.map(|(k, _)| k).collect()
    };
    let (clamped, free) = (section(0.0), section(SIZE[0]));
    for node in &clamped {
        model.fix(nodes, *node, &[true; 3])?;
    }
    let heights: Vec<f64> = free.iter().map(|k| mesh.nodes[*k][2]).collect();
    let unknowns = 3 * mesh.nodes.len();
    drop(mesh);
    let options = Options {
        linear: LinearSolver::krylov(KrylovMethod::Cg, Preconditioner::Multilevel),
        ..Options::theta()
    };
    let mut simulation = Simulation::with_options(model, options)?;
    let made = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let (mut passes, mut missed) = (0, 0.0f64);
    if kind.ends_with("steps") {
        for _ in 0..4 {
            missed = missed.max(simulation.step(STEP)?.residual.relative);
            passes += 1;
        }
    } else {
        passes = simulation.find_equilibrium(&Equilibrium::default())?.iterations;
        // What the clamp holds is found by no solver: forces at its nodes.
        let held = clamped.iter().map(|k| simulation.support_force(nodes, *k)[2]);
        let weight = DENSITY * GRAVITY * SIZE.iter().product::<f64>();
        missed = (held.sum::<f64>() / weight - 1.0).abs();
    }
    let solved = began.elapsed().as_secs_f64();
    let places = simulation.positions(nodes);
    let sinks = free.iter().zip(heights).map(|(k, z)| z - places[3 * k + 2]);
    let sag = sinks.sum::<f64>() / free.len() as f64;
    println!("{unknowns} {sag} {missed} {passes} {made} {solved} {}", peak());
    Ok(())
}

/// Prints the table; `most` leaves out beams of more unknowns.
///
/// # Errors
/// If something is not solved.
pub fn table(most: usize) -> Result<(), Box<dyn Error>> {
    println!(
        "| beam | cells | unknowns | sag (m) | over beam theory | passes or steps | missed | made, solved (s) | peak (GB) | bytes for each unknown |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (kind, name) in KINDS.iter().enumerate() {
        for (size, cells) in CELLS.iter().enumerate() {
            let [x, y, z] = *cells;
            if 3 * (x + 1) * (y + 1) * (z + 1) > most {
                continue;
            }
            let mut child = Command::new(std::env::current_exe()?);
            child.args(["solids", "--one-memory"]);
            let out = child.args([kind, size].map(|a| format!("{a}"))).output()?;
            if !out.status.success() {
                return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
            }
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            let numbers: Vec<f64> = text.split_whitespace().map_while(|w| w.parse().ok()).collect();
            let [unknowns, sag, missed, passes, made, solved, peak] = numbers[..] else {
                return Err("a child said something else".into());
            };
            // Steps are on their way.
            let over = if name.ends_with("rest") {
                format!("{:.5}", sag / theory())
            } else {
                String::new()
            };
            println!(
                "| {name} | {x} x {y} x {z} | {unknowns} | {sag:.12e} | {over} | {passes} | {missed:.0e} | {made:.1}, {solved:.1} | {:.2} | {:.0} |",
                peak / 1e9,
                peak / unknowns
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sag_of_theory_is_bending_and_shear() {
        // 98.1 N/m on 1 m: q/(8 E I) = 1.4715 mm, and 0.012 mm of shear.
        assert!((theory() - (1.4715e-3 + 1.1772e-5)).abs() < 1e-12);
    }
}
