//! A cloth that hangs between two rails: a catenary.
//!
//! Of the length `L` between rails `D` apart: `y = a cosh(x / a)`, `2 a sinh(D / (2 a)) = L`, with the
//! sag `a (cosh(D / (2 a)) - 1)` and the tension `w a` per width at its lowest, `w` its weight per area.
//!
//! `cargo run --release -p pliant --example hanging_cloth`

use pliant::continuum::{Sheet, SheetMesh};
use pliant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (length, between, width, cells) = (1.3, 1.0, 0.2, 40);
    // Half of the angle of the arc of this length over this chord, and of a catenary its `a`.
    let (mut arc, mut a) = (1.0, 0.5);
    for _ in 0..100 {
        arc -= (f64::sin(arc) - arc * between / length) / (f64::cos(arc) - between / length);
        let s = between / (2.0 * a);
        a -= (2.0 * a * f64::sinh(s) - length) / (2.0 * s.sinh() - between / a * s.cosh());
    }
    // It starts on the arc; what counts are the lengths of its triangles, not their places.
    let mut mesh = SheetMesh::rectangle([length, width], [cells, 2], true);
    let radius = 0.5 * length / arc;
    for x in &mut mesh.nodes {
        let angle = arc * (2.0 * x[0] / length - 1.0);
        *x = [radius * angle.sin(), x[1], radius * (arc.cos() - angle.cos())];
    }
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let (thickness, density) = (5e-4, 400.0);
    let cloth = Sheet::isotropic(1e7, 0.0, thickness).with_density(density);
    let parts = cloth.add_to(&mut model, "cloth", &mesh)?;
    let held: Vec<usize> = (0..mesh.nodes.len())
        .filter(|e| mesh.nodes[*e][0].abs() > 0.499 * between)
        .collect();
    for e in &held {
        model.fix(parts.nodes, *e, &[true; 3])?;
    }
    let mut simulation = Simulation::new(model)?;
    simulation.find_equilibrium(&Equilibrium::default())?;

    let heights = simulation.positions(parts.nodes).iter().skip(2).step_by(3);
    let sag = -heights.fold(0.0f64, |low, z| low.min(*z));
    let expected = a * ((between / (2.0 * a)).cosh() - 1.0);
    println!("sag {sag:.5} m, of a catenary {expected:.5} m");
    // Forty segments for the curve, and a stretch of a few parts in 1e4.
    assert!((sag / expected - 1.0).abs() < 5e-3);
    let weight = 9.81 * density * thickness * mesh.areas()?.iter().sum::<f64>();
    let carried: f64 = held
        .iter()
        .map(|e| simulation.support_force(parts.nodes, *e)[2])
        .sum();
    println!("the rails carry {carried:.6} N of {weight:.6} N");
    assert!((carried / weight - 1.0).abs() < 1e-8);
    Ok(())
}
