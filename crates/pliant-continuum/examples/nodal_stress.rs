//! Carry values of the quadrature points to the nodes, and read equivalent stresses.
//!
//! A stress that is linear over the elements is so at the nodes: bending, `s_xx = m y`, of a beam.
//! Von Mises' stress of pure shear `t` is `sqrt(3) t`, of hydrostatic pressure zero.
//!
//! `cargo run --release -p pliant-continuum --example nodal_stress`

use pliant_continuum::{ElementKind, Mesh, Solid, pressure, von_mises};
use pliant_model::Model;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert!((von_mises(&[0.0, 0.0, 0.0, 2e6, 0.0, 0.0]) - 3f64.sqrt() * 2e6).abs() < 1e-8);
    assert!((von_mises(&[5e6, 0.0, 0.0, 0.0, 0.0, 0.0]) - 5e6).abs() < 1e-8);
    let squeezed = [-3e6, -3e6, -3e6, 0.0, 0.0, 0.0];
    assert!(von_mises(&squeezed) < 1e-8 && pressure(&squeezed) == 3e6);

    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.1], [5, 2, 1])?;
    let mut model = Model::new();
    let parts = Solid::linear(1e9, 0.3).add_to(&mut model, "beam", &mesh)?;
    // Places of the quadrature points, element by element, by the shape functions.
    let kind = ElementKind::Hex8;
    let functions = kind.shape_functions();
    let rule = kind.quadrature(kind.stiffness_degree());
    let mut places: Vec<f64> = Vec::new();
    for element in &mesh.elements {
        for point in &rule.points {
            let shares = functions.at(*point).values;
            let nodes = element.nodes.iter().zip(&shares);
            places.push(nodes.map(|(n, s)| s * mesh.nodes[*n][1]).sum());
        }
    }
    assert_eq!(places.len(), parts.volumes.len());
    assert!((parts.volumes.iter().sum::<f64>() - 0.02).abs() < 1e-15);

    let slope = 3e7;
    let bending = |y: &f64| [slope * (y - 0.1), 0.0, 0.0, 0.0, 0.0, 0.0];
    let stress: Vec<[f64; 6]> = places.iter().map(bending).collect();
    let at_nodes = parts.recovery.nodes(&stress, &parts.volumes);
    let largest = at_nodes.iter().map(von_mises).fold(0.0, f64::max);
    let at_points = stress.iter().map(von_mises).fold(0.0, f64::max);
    println!("largest stress {at_points:.4e} Pa at points, {largest:.4e} Pa at nodes");
    for (s, x) in at_nodes.iter().zip(&mesh.nodes) {
        assert!((s[0] - slope * (x[1] - 0.1)).abs() < 1e-12 * slope);
    }
    // The surface carries s = m h / 2; the points are inside, at 1 / sqrt(3) of their element.
    assert!((largest - 0.1 * slope).abs() < 1e-12 * slope && at_points < largest);
    Ok(())
}
