//! Deformation gradients at the quadrature points of a mesh.

use crate::checks::first_parent;
use crate::mesh::RestPoint;
use crate::{ContinuumError, ElementKind, Mesh};
use pliant_model::validate::{check_size, check_space};
use pliant_model::{
    Blocks, Degenerate, Dependency, Field, Mapping, MappingPieces, ModelError, Parents, Space,
};
use std::ops::Range;

/// Deformation gradients of a mesh, one element of nine coordinates per quadrature point.
///
/// **Equation.** `F_ij = sum_a x_a,i dN_a/dX_j` (none), rows first, over the nodes `a` of the
/// finite element of the point, with the shape functions `N_a` and the places `X` (m) at rest. `J`
/// holds `dN_a/dX_j` (1/m); linear, so `G = 0`. The gradients add up to zero, and differences from
/// the first node are summed, so that a shift is no strain.
///
/// **Parents.** Points of space: the nodes of the mesh.
///
/// **Use.** The parent of all strains and of hyperelastic materials. A point stands for a volume at
/// rest, [`volumes`](Self::volumes), by which materials weigh their energy density.
#[derive(Clone, Debug, PartialEq)]
pub struct DeformationGradient {
    node_count: usize,
    /// Nodes of all finite elements, one after the other, and where those of each begin.
    nodes: Vec<usize>,
    starts: Vec<usize>,
    /// Finite element of each point.
    elements: Vec<usize>,
    volumes: Vec<f64>,
    /// `dN_a/dX` of all points, and where those of each begin.
    gradients: Vec<[f64; 3]>,
    gradient_starts: Vec<usize>,
}

impl DeformationGradient {
    /// At the points of full integration of each element of a mesh (m), in order.
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`].
    pub fn new(mesh: &Mesh) -> Result<Self, ContinuumError> {
        Self::to_degree(mesh, ElementKind::stiffness_degree)
    }

    /// At the points of one-point (reduced) integration: cheap, with modes that no strain sees in
    /// all elements but tetrahedra of four nodes. The mesh is in m.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn at_centres(mesh: &Mesh) -> Result<Self, ContinuumError> {
        Self::to_degree(mesh, |_| 0)
    }

    fn to_degree(mesh: &Mesh, degree: impl Fn(ElementKind) -> usize) -> Result<Self, ContinuumError> {
        mesh.check()?;
        Ok(Self::at_points(mesh, degree))
    }

    /// At the points of full integration of the elements of a mesh that is checked, or is part of
    /// one: it may have nodes of no element.
    pub(crate) fn of_checked(mesh: &Mesh) -> Self {
        Self::at_points(mesh, ElementKind::stiffness_degree)
    }

    fn at_points(mesh: &Mesh, degree: impl Fn(ElementKind) -> usize) -> Self {
        let points = mesh.rest_points(degree);
        let mut out = Self {
            node_count: mesh.nodes.len(),
            nodes: Vec::new(),
            starts: vec![0],
            elements: points.iter().map(|q| q.element).collect(),
            volumes: points.iter().map(|q| q.volume).collect(),
            gradients: Vec::new(),
            gradient_starts: vec![0],
        };
        for element in &mesh.elements {
            out.nodes.extend(&element.nodes);
            out.starts.push(out.nodes.len());
        }
        for RestPoint { gradients, .. } in points {
            out.gradients.extend(gradients);
            out.gradient_starts.push(out.gradients.len());
        }
        out
    }

    /// Number of quadrature points.
    pub fn point_count(&self) -> usize {
        self.elements.len()
    }

    /// Volume at rest (m^3) that each point stands for.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }

    /// The finite element that each point belongs to.
    pub fn elements(&self) -> &[usize] {
        &self.elements
    }

    /// Nodes of the finite element of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn nodes_of(&self, point: usize) -> &[usize] {
        let e = self.elements[point];
        &self.nodes[self.starts[e]..self.starts[e + 1]]
    }

    fn gradients_of(&self, point: usize) -> &[[f64; 3]] {
        &self.gradients[self.gradient_starts[point]..self.gradient_starts[point + 1]]
    }
}

impl Mapping for DeformationGradient {
    fn child(&self) -> (Space, usize) {
        (Space::Real(9), self.elements.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (space, count) = first_parent(name, parents)?;
        check_space(name, "points of space", space, space == Space::Real(3))?;
        let what = "points, one for each node of the mesh";
        check_size(name, Field::Parents, what, self.node_count, count)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.nodes_of(element).iter().map(|n| Dependency::new(0, *n)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        MappingPieces::apply(self, parents, 0..self.point_count(), child)
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        (0..self.point_count())
            .try_for_each(|q| MappingPieces::jacobian(self, parents, q..q + 1, out.block_mut(q)))
    }

    fn repeated(&self) -> Option<usize> {
        Some(3)
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn pieces(&self) -> Option<&dyn MappingPieces> {
        Some(self)
    }
}

impl MappingPieces for DeformationGradient {
    fn apply(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        child: &mut [f64],
    ) -> Result<(), Degenerate> {
        for (q, f) in elements.zip(child.as_chunks_mut::<9>().0) {
            let nodes = self.nodes_of(q);
            let origin = parents.position(Dependency::new(0, nodes[0]));
            f.fill(0.0);
            for (node, g) in nodes.iter().zip(self.gradients_of(q)).skip(1) {
                let x = parents.position(Dependency::new(0, *node));
                for i in 0..3 {
                    let d = x[i] - origin[i];
                    for j in 0..3 {
                        f[3 * i + j] += d * g[j];
                    }
                }
            }
        }
        Ok(())
    }

    fn jacobian(
        &self,
        _parents: Parents<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), Degenerate> {
        let mut rest = out;
        for q in elements {
            let gradients = self.gradients_of(q);
            let width = gradients.len();
            let (block, after) = rest.split_at_mut(3 * width);
            rest = after;
            for (a, g) in gradients.iter().enumerate() {
                for j in 0..3 {
                    block[j * width + a] = g[j];
                }
            }
        }
        Ok(())
    }
}
