//! Values at the nodes and of the elements of a mesh from those at its quadrature points.

use crate::{Element, ElementKind, Mesh};
use nalgebra::DMatrix;

/// The elements of a solid, and how values at quadrature points are carried to its nodes.
///
/// **Equation.** In each element the values are fitted by least squares, over its quadrature
/// points, with polynomials of the reference cell: constant, linear in quadratic tetrahedra and
/// pyramids and in prisms of six nodes, bilinear in quadratic prisms (linear in the triangle times
/// linear), trilinear in hexahedra, or of lower order where there are fewer points. A node has the
/// mean of what the elements around it have there, weighted by their volumes at rest.
///
/// **Use.** Stress at surfaces, where it is largest in bending: quadrature points are inside.
#[derive(Clone, Debug, PartialEq)]
pub struct NodalRecovery {
    node_count: usize,
    elements: Vec<Element>,
    /// Quadrature points of each kind, and the matrix from them to its nodes, rows first.
    matrices: Vec<(ElementKind, usize, Vec<f64>)>,
}

/// A part of a mesh, values at its quadrature points, and the volumes (m^3) of these.
pub type PointValues<'a, const N: usize> = (&'a NodalRecovery, &'a [[f64; N]], &'a [f64]);

impl NodalRecovery {
    /// Prepares the recovery from the points of full integration of a mesh.
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let kinds = ElementKind::ALL.into_iter();
        let used = kinds.filter(|kind| mesh.elements.iter().any(|e| e.kind == *kind));
        Self {
            node_count: mesh.nodes.len(),
            elements: mesh.elements.clone(),
            matrices: used.map(extrapolation).collect(),
        }
    }

    /// The elements, whose quadrature points come one after the other.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// How many quadrature points each element has.
    pub fn point_counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.elements.iter().map(|element| {
            let found = self.matrices.iter().find(|(kind, ..)| *kind == element.kind);
            found.map_or(0, |(_, count, _)| *count)
        })
    }

    /// Number of nodes of the mesh.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// Values at the nodes of those at the quadrature points, which stand for these volumes (m^3).
    /// Nodes of no element have zeros.
    ///
    /// # Panics
    /// If there are fewer values or volumes than quadrature points.
    pub fn nodes<const N: usize>(&self, values: &[[f64; N]], volumes: &[f64]) -> Vec<[f64; N]> {
        Self::nodes_of(&[(self, values, volumes)])
    }

    /// Values at the nodes of several parts of one mesh, each with values at its quadrature points
    /// and their volumes (m^3), as [`nodes`](Self::nodes) has them: a node between parts has the
    /// mean of both.
    ///
    /// # Panics
    /// Panics as [`nodes`](Self::nodes) does, and if there is no part.
    pub fn nodes_of<const N: usize>(parts: &[PointValues<'_, N>]) -> Vec<[f64; N]> {
        let count = parts[0].0.node_count;
        let (mut sums, mut weights) = (vec![[0.0; N]; count], vec![0.0; count]);
        for (part, values, volumes) in parts {
            part.each(volumes, |element, points, volume, matrix| {
                let count = points.len();
                for (a, node) in element.nodes.iter().enumerate() {
                    weights[*node] += volume;
                    for (share, value) in matrix[a * count..].iter().zip(&values[points.clone()]) {
                        for k in 0..N {
                            sums[*node][k] += volume * share * value[k];
                        }
                    }
                }
            });
        }
        for (sum, weight) in sums.iter_mut().zip(weights).filter(|(_, w)| *w > 0.0) {
            sum.iter_mut().for_each(|s| *s /= weight);
        }
        sums
    }

    /// Means over the elements of values at the quadrature points, which stand for these volumes
    /// (m^3). Elements without a volume have zeros.
    ///
    /// # Panics
    /// Panics as [`nodes`](Self::nodes) does.
    pub fn means<const N: usize>(&self, values: &[[f64; N]], volumes: &[f64]) -> Vec<[f64; N]> {
        let mut means = Vec::with_capacity(self.elements.len());
        self.each(volumes, |_, points, volume, _| {
            let mut mean = [0.0; N];
            // Points of elements that are gone have no volume.
            for q in points.filter(|_| volume > 0.0) {
                for k in 0..N {
                    mean[k] += volumes[q] / volume * values[q][k];
                }
            }
            means.push(mean);
        });
        means
    }

    /// Each element with its points, its volume, and the matrix of its kind.
    fn each(&self, volumes: &[f64], mut take: impl FnMut(&Element, std::ops::Range<usize>, f64, &[f64])) {
        let mut first = 0;
        for element in &self.elements {
            let found = self.matrices.iter().find(|(kind, ..)| *kind == element.kind);
            let Some((_, count, matrix)) = found else { continue };
            let points = first..first + count;
            first = points.end;
            let volume: f64 = volumes[points.clone()].iter().sum();
            take(element, points, volume, matrix);
        }
    }
}

/// Powers of the coordinates of the reference cell that values of a kind are fitted with.
fn basis(kind: ElementKind, points: usize) -> &'static [[i32; 3]] {
    const TRILINEAR: &[[i32; 3]] = &[
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 1, 0],
        [0, 1, 1],
        [1, 0, 1],
        [1, 1, 1],
    ];
    /// Linear in the triangle times linear.
    const WEDGE: &[[i32; 3]] = &[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1]];
    let wanted = match kind {
        ElementKind::Tet4 | ElementKind::Pyramid5 => &TRILINEAR[..1],
        ElementKind::Tet10 | ElementKind::Pyramid13 | ElementKind::Prism6 => &TRILINEAR[..4],
        ElementKind::Prism15 => WEDGE,
        ElementKind::Hex8 | ElementKind::Hex20 | ElementKind::Hex27 => TRILINEAR,
    };
    if points < wanted.len() {
        &TRILINEAR[..1]
    } else {
        wanted
    }
}

/// The matrix from the quadrature points of a kind to its nodes: `B (A^T A)^-1 A^T` with the basis
/// at the points, `A`, and at the nodes, `B`.
fn extrapolation(kind: ElementKind) -> (ElementKind, usize, Vec<f64>) {
    let points = kind.quadrature(kind.stiffness_degree()).points;
    let nodes = kind.reference_nodes();
    let powers = basis(kind, points.len());
    let table = |places: &[[f64; 3]]| {
        DMatrix::from_fn(places.len(), powers.len(), |i, j| {
            (0..3).map(|k| places[i][k].powi(powers[j][k])).product::<f64>()
        })
    };
    let (a, b) = (table(&points), table(&nodes));
    let normal = (a.transpose() * &a).try_inverse();
    // The points of every rule determine its polynomials.
    let fit = normal.map_or_else(
        || DMatrix::from_element(nodes.len(), points.len(), 1.0 / points.len() as f64),
        |normal| b * normal * a.transpose(),
    );
    (kind, points.len(), fit.transpose().as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that the basis holds come back at the nodes: a constant everywhere, a linear function
    /// of the reference cell where it is fitted, and products of coordinates where these are.
    #[test]
    fn polynomials_of_the_basis_are_carried_exactly() {
        for kind in ElementKind::ALL {
            let (_, count, matrix) = extrapolation(kind);
            let points = kind.quadrature(kind.stiffness_degree()).points;
            let linear = if basis(kind, count).len() > 1 { 1.0 } else { 0.0 };
            let along = match kind {
                ElementKind::Prism15 | ElementKind::Hex8 | ElementKind::Hex20 | ElementKind::Hex27 => 1.0,
                _ => 0.0,
            };
            let of = |p: &[f64; 3]| {
                let sum = p[0] - 3.0 * p[1] + 0.5 * p[2];
                2.0 + linear * sum + along * p[2] * (2.0 * p[0] - p[1])
            };
            for (row, node) in matrix.chunks_exact(count).zip(kind.reference_nodes()) {
                let found: f64 = row.iter().zip(&points).map(|(m, p)| m * of(p)).sum();
                assert!((found - of(&node)).abs() < 1e-13, "{kind:?} {found}");
            }
        }
    }

    /// Elements that are gone have no volume, and no values at all.
    #[test]
    fn elements_without_a_volume_have_zeros() {
        let mesh = Mesh::hexahedral_box([2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
        let recovery = NodalRecovery::new(&mesh);
        let (values, volumes) = ([[3.0]; 16], [[0.0; 8], [0.125; 8]].concat());
        assert_eq!(recovery.means(&values, &volumes), [[0.0], [3.0]]);
    }

    #[test]
    fn only_elements_of_one_point_or_no_linear_strain_are_fitted_by_a_constant() {
        let constant = ElementKind::ALL.into_iter().filter(|kind| {
            let points = kind.quadrature(kind.stiffness_degree()).points.len();
            basis(*kind, points).len() == 1
        });
        assert_eq!(
            constant.collect::<Vec<_>>(),
            [ElementKind::Tet4, ElementKind::Pyramid5]
        );
    }
}
