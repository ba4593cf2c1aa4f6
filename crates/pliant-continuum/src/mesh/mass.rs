//! Masses of meshes of any elements.

use super::Mesh;
use crate::{ContinuumError, ElementKind};
use pliant_model::{CoupledMass, Mass};

impl Mesh {
    /// Masses (kg) at the nodes for this density (kg/m^3): of every element the diagonal of its
    /// consistent mass, scaled to its mass (Hinton, Rock and Zienkiewicz 1976), which is positive
    /// for all kinds and an even share for linear tetrahedra.
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`], [`ContinuumError::OutOfRange`] for a
    /// density that is not positive.
    pub fn lumped_mass(&self, density: f64) -> Result<Mass, ContinuumError> {
        let mut out = vec![0.0; self.nodes.len()];
        self.each_mass(density, |nodes, matrix| {
            let n = nodes.len();
            let (total, trace) = (
                matrix.iter().sum::<f64>(),
                (0..n).map(|i| matrix[i * n + i]).sum::<f64>(),
            );
            for (i, node) in nodes.iter().enumerate() {
                out[*node] += matrix[i * n + i] * total / trace;
            }
        })?;
        Ok(Mass::PerElement(out))
    }

    /// The consistent mass for this density (kg/m^3): `m_ab` the integral of `rho N_a N_b` over
    /// each element.
    ///
    /// # Errors
    /// As [`lumped_mass`](Self::lumped_mass).
    pub fn consistent_mass(&self, density: f64) -> Result<Mass, ContinuumError> {
        let mut out = Vec::with_capacity(self.elements.len());
        self.each_mass(density, |nodes, matrix| {
            out.push(CoupledMass {
                elements: nodes.to_vec(),
                matrix: matrix.to_vec(),
            });
        })?;
        Ok(Mass::Coupled(out))
    }

    /// Hands the consistent mass matrix of each element to `take`.
    fn each_mass(&self, density: f64, mut take: impl FnMut(&[usize], &[f64])) -> Result<(), ContinuumError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(ContinuumError::OutOfRange {
                what: "the density",
                value: density,
                bound: "positive",
            });
        }
        self.check()?;
        let points = self.rest_points(ElementKind::mass_degree);
        let mut matrix = Vec::new();
        for group in points.chunk_by(|a, b| a.element == b.element) {
            let nodes = &self.elements[group[0].element].nodes;
            let n = nodes.len();
            matrix.clear();
            matrix.resize(n * n, 0.0);
            for q in group {
                for i in 0..n {
                    for j in 0..n {
                        matrix[i * n + j] += density * q.volume * q.values[i] * q.values[j];
                    }
                }
            }
            take(nodes, &matrix);
        }
        Ok(())
    }
}
