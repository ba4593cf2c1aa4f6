//! Masses of meshes: lumped at the nodes, or consistent with linear interpolation.

use super::{CoupledMass, Mass};
use crate::validate::{check_all_finite, check_positive};
use crate::{Field, ModelError};
use pliant_dense::Vec3;

impl Mass {
    /// Segments of density `density` (kg/m) between these positions (m; in the plane with a third
    /// coordinate of zero), half the mass of each at either end.
    ///
    /// # Errors
    /// [`ModelError::Shape`] for a segment of length zero or a node of no segment,
    /// [`ModelError::Element`], [`ModelError::NotFinite`], [`ModelError::OutOfRange`].
    pub fn lumped_segments(
        positions: &[[f64; 3]],
        segments: &[[usize; 2]],
        density: f64,
    ) -> Result<Self, ModelError> {
        lumped(positions, segments, density)
    }

    /// Triangles of density `density` (kg/m^2) between these positions (m), a third of the mass of
    /// each at every corner.
    ///
    /// # Errors
    /// As [`lumped_segments`](Self::lumped_segments).
    pub fn lumped_triangles(
        positions: &[[f64; 3]],
        triangles: &[[usize; 3]],
        density: f64,
    ) -> Result<Self, ModelError> {
        lumped(positions, triangles, density)
    }

    /// Tetrahedra of density `density` (kg/m^3) between these positions (m), a quarter of the mass
    /// of each at every corner; the order of the corners does not matter.
    ///
    /// # Errors
    /// As [`lumped_segments`](Self::lumped_segments).
    pub fn lumped_tetrahedra(
        positions: &[[f64; 3]],
        tetrahedra: &[[usize; 4]],
        density: f64,
    ) -> Result<Self, ModelError> {
        lumped(positions, tetrahedra, density)
    }

    /// Segments of density `density` (kg/m) between these positions (m), of linear velocity:
    /// `m_ij = m (1 + delta_ij)/6`.
    ///
    /// # Errors
    /// As [`lumped_segments`](Self::lumped_segments).
    pub fn consistent_segments(
        positions: &[[f64; 3]],
        segments: &[[usize; 2]],
        density: f64,
    ) -> Result<Self, ModelError> {
        consistent(positions, segments, density)
    }

    /// Triangles of density `density` (kg/m^2) between these positions (m), of linear velocity:
    /// `m_ij = m (1 + delta_ij)/12`.
    ///
    /// # Errors
    /// As [`lumped_segments`](Self::lumped_segments).
    pub fn consistent_triangles(
        positions: &[[f64; 3]],
        triangles: &[[usize; 3]],
        density: f64,
    ) -> Result<Self, ModelError> {
        consistent(positions, triangles, density)
    }

    /// Tetrahedra of density `density` (kg/m^3) between these positions (m), of linear velocity:
    /// `m_ij = m (1 + delta_ij)/20`; the order of the corners does not matter.
    ///
    /// # Errors
    /// As [`lumped_segments`](Self::lumped_segments).
    pub fn consistent_tetrahedra(
        positions: &[[f64; 3]],
        tetrahedra: &[[usize; 4]],
        density: f64,
    ) -> Result<Self, ModelError> {
        consistent(positions, tetrahedra, density)
    }
}

fn lumped<const N: usize>(
    positions: &[[f64; 3]],
    elements: &[[usize; N]],
    density: f64,
) -> Result<Mass, ModelError> {
    let mut out = vec![0.0; positions.len()];
    for (list, mass) in elements.iter().zip(masses(positions, elements, density)?) {
        for v in list {
            out[*v] += mass / N as f64;
        }
    }
    Ok(Mass::PerElement(out))
}

fn consistent<const N: usize>(
    positions: &[[f64; 3]],
    elements: &[[usize; N]],
    density: f64,
) -> Result<Mass, ModelError> {
    let masses = masses(positions, elements, density)?;
    let coupled = elements.iter().zip(masses).map(|(list, mass)| {
        let share = mass / (N * (N + 1)) as f64;
        let entry = |k: usize| if k / N == k % N { 2.0 * share } else { share };
        CoupledMass {
            elements: list.to_vec(),
            matrix: (0..N * N).map(entry).collect(),
        }
    });
    Ok(Mass::Coupled(coupled.collect()))
}

/// Mass of each element, once the mesh is checked.
fn masses<const N: usize>(
    positions: &[[f64; 3]],
    elements: &[[usize; N]],
    density: f64,
) -> Result<Vec<f64>, ModelError> {
    check_mesh("a mesh", positions, elements, density)?;
    let mut used = vec![false; positions.len()];
    elements.iter().flatten().for_each(|v| used[*v] = true);
    if let Some(element) = used.iter().position(|u| !u) {
        return Err(ModelError::Shape {
            what: "node",
            element,
            reason: "has no mass: it belongs to no element",
        });
    }
    let one = |(element, list): (usize, &[usize; N])| {
        let (measure, largest) = measure(positions, list);
        if measure > 1e-12 * largest {
            Ok(density * measure)
        } else {
            Err(ModelError::Shape {
                what: "element",
                element,
                reason: "is flat: its length, area or volume is zero",
            })
        }
    };
    elements.iter().enumerate().map(one).collect()
}

/// Length, area or volume of an element, and that of the parallelepiped of its edges if these were
/// at right angles.
fn measure<const N: usize>(positions: &[[f64; 3]], list: &[usize; N]) -> (f64, f64) {
    let edge = |k: usize| Vec3::from(positions[list[k]]) - Vec3::from(positions[list[0]]);
    let largest = (1..N)
        .map(|k| edge(k).norm())
        .fold(0.0, f64::max)
        .powi(N as i32 - 1);
    let measure = match N {
        2 => edge(1).norm(),
        3 => edge(1).cross(&edge(2)).norm() / 2.0,
        _ => edge(1).dot(&edge(2).cross(&edge(3))).abs() / 6.0,
    };
    (measure, largest)
}

/// Checks the numbers and the indices of a mesh.
pub(super) fn check_mesh<const N: usize>(
    name: &str,
    positions: &[[f64; 3]],
    elements: &[[usize; N]],
    density: f64,
) -> Result<(), ModelError> {
    check_positive(name, Field::Density, density)?;
    check_all_finite(name, Field::Positions, positions.iter().flatten())?;
    match elements.iter().flatten().find(|v| **v >= positions.len()) {
        Some(element) => Err(ModelError::Element {
            name: name.into(),
            element: *element,
            count: positions.len(),
        }),
        None => Ok(()),
    }
}
