//! A beam of finite elements, clamped at one end and loaded at the other.
//!
//! Timoshenko: `d = F L^3 / (3 E I) + F L / (k G A)`, `k = 5/6`. Hexahedra with enhanced strains bend
//! as a beam does, two of them over the height; without, they are far too stiff.
//!
//! `cargo run --release -p pliant --example soft_beam`

use pliant::continuum::{Enhancement, Mesh, Solid};
use pliant::prelude::*;

/// How far the loaded end goes down (m).
fn deflection(solid: Solid, size: [f64; 3], load: f64) -> Result<f64, Box<dyn std::error::Error>> {
    let mesh = Mesh::hexahedral_box(size, [20, 1, 2])?;
    let mut model = Model::new();
    let beam = solid.add_to(&mut model, "beam", &mesh)?;
    let end: Vec<usize> = (0..mesh.nodes.len())
        .filter(|e| mesh.nodes[*e][0] > 0.999 * size[0])
        .collect();
    for e in (0..mesh.nodes.len()).filter(|e| mesh.nodes[*e][0] == 0.0) {
        model.fix(beam.nodes, e, &[true; 3])?;
    }
    let mut simulation = Simulation::new(model)?;
    for e in &end {
        simulation.set_force(beam.nodes, *e, &[0.0, 0.0, -load / end.len() as f64])?;
    }
    simulation.find_equilibrium(&Equilibrium::default())?;
    let x = simulation.positions(beam.nodes);
    let moved = end.iter().map(|e| mesh.nodes[*e][2] - x[3 * e + 2]);
    Ok(moved.sum::<f64>() / end.len() as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size @ [length, width, height] = [1.0, 0.05, 0.1];
    let (young, poisson, load) = (1e7, 0.3, 1.0);
    let inertia = width * f64::powi(height, 3) / 12.0;
    let shear = young / (2.0 * (1.0 + poisson)) * width * height * 5.0 / 6.0;
    let expected = load * f64::powi(length, 3) / (3.0 * young * inertia) + load * length / shear;

    let plain = deflection(Solid::corotational(young, poisson), size, load)?;
    let solid = Solid::corotational(young, poisson).with_enhanced_strains(Enhancement::Bending);
    let enhanced = deflection(solid, size, load)?;
    println!("plain {plain:.6} m, enhanced {enhanced:.6} m, Timoshenko {expected:.6} m");
    // What the clamp keeps from shrinking across stiffens the first tenth of the beam.
    assert!((enhanced / expected - 1.0).abs() < 0.02);
    assert!(plain < 0.9 * enhanced);

    // Twice the load, twice the deflection, as long as it is small.
    let twice = deflection(solid, size, 2.0 * load)?;
    assert!((twice / enhanced - 2.0).abs() < 0.01);
    Ok(())
}
