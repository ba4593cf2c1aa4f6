//! The cantilever that engines are compared on: 1.0 x 0.1 x 0.1 m along x, clamped at x = 0, of
//! tetrahedra, under its weight.

use pliant::continuum::{ContinuumError, Mesh};
use pliant::dense::Vec3;

/// Young's modulus (Pa).
pub const YOUNG: f64 = 1e7;
/// Poisson's ratio.
pub const POISSON: f64 = 0.3;
/// Density (kg/m^3).
pub const DENSITY: f64 = 1000.0;

/// So many cubes along the beam and across it, each of six tetrahedra.
///
/// # Errors
/// If a number is zero.
pub fn mesh([along, across]: [usize; 2]) -> Result<Mesh, ContinuumError> {
    Ok(Mesh::hexahedral_box([1.0, 0.1, 0.1], [along, across, across])?.into_tetrahedra())
}

/// The nodes of the free end.
pub fn end_nodes(mesh: &Mesh) -> Vec<usize> {
    (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == 1.0)
        .collect()
}

/// The mass of each tetrahedron (kg), of a density (kg/m^3), in equal parts at its corners: of each
/// node.
pub fn corner_masses(mesh: &Mesh, density: f64) -> Vec<f64> {
    let mut masses = vec![0.0; mesh.nodes.len()];
    for element in &mesh.elements {
        let corners = [0, 1, 2, 3].map(|k| element.nodes[k]);
        let [a, b, c, d] = corners.map(|k| Vec3::from(mesh.nodes[k]));
        let volume = (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0;
        corners.iter().for_each(|k| masses[*k] += density * volume / 4.0);
    }
    masses
}
