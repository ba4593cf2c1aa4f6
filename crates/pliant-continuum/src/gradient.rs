//! Deformation gradients at the quadrature points of a mesh.

use crate::checks::first_parent;
use crate::{ContinuumError, ElementKind, Mesh};
use pliant_model::validate::{check_size, check_space};
use pliant_model::{
    Blocks, Degenerate, Dependency, Field, Kept, Mapping, MappingPieces, ModelError, Parents, Space,
};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

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
    /// `dN_a/dX_j` of each point: a row for each `j`, a column for each node of its finite element.
    gradients: Arc<Blocks>,
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

    fn to_degree(mesh: &Mesh, degree: impl Fn(ElementKind) -> usize + Copy) -> Result<Self, ContinuumError> {
        mesh.check()?;
        Ok(Self::at_points(mesh, degree))
    }

    /// At the points of full integration of the elements of a mesh that is checked, or is part of
    /// one: it may have nodes of no element.
    pub(crate) fn of_checked(mesh: &Mesh) -> Self {
        Self::at_points(mesh, ElementKind::stiffness_degree)
    }

    fn at_points(mesh: &Mesh, degree: impl Fn(ElementKind) -> usize + Copy) -> Self {
        let mut out = Self {
            node_count: mesh.nodes.len(),
            nodes: Vec::new(),
            starts: vec![0],
            elements: Vec::new(),
            volumes: Vec::new(),
            gradients: Arc::default(),
        };
        for element in &mesh.elements {
            out.nodes.extend(&element.nodes);
            out.starts.push(out.nodes.len());
        }
        let points_of = |kind: ElementKind| kind.quadrature(degree(kind)).weights.len();
        let counts = ElementKind::ALL.map(|kind| (kind, points_of(kind)));
        let shapes = mesh.elements.iter().flat_map(|element| {
            let count = counts.iter().find(|(kind, _)| *kind == element.kind);
            std::iter::repeat_n((3, element.nodes.len()), count.map_or(0, |(_, count)| *count))
        });
        let mut blocks = Blocks::new(shapes);
        let Ok(()) = mesh.try_each_point(degree, |point| {
            let (block, width) = (blocks.block_mut(out.elements.len()), point.gradients.len());
            for (a, g) in point.gradients.iter().enumerate() {
                for j in 0..3 {
                    block[j * width + a] = g[j];
                }
            }
            out.elements.push(point.element);
            out.volumes.push(point.volume);
            Ok::<(), Infallible>(())
        });
        [&mut out.nodes, &mut out.starts, &mut out.elements]
            .into_iter()
            .for_each(Vec::shrink_to_fit);
        out.volumes.shrink_to_fit();
        out.gradients = Arc::new(blocks);
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

    fn constant_jacobian(&self) -> Option<&Arc<Blocks>> {
        Some(&self.gradients)
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

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        let points = kept.elements.clone();
        let (first, last) = (self.elements[points.start], self.elements[points.end - 1]);
        let begin = self.starts[first];
        let nodes = self.nodes[begin..self.starts[last + 1]].iter();
        let shapes = points.clone().map(|q| (3, self.gradients.width(q)));
        let mut gradients = Blocks::new(shapes);
        for (to, q) in points.clone().enumerate() {
            gradients.block_mut(to).copy_from_slice(self.gradients.block(q));
        }
        Some(Box::new(Self {
            node_count: kept.parents[0].len(),
            nodes: nodes
                .map(|n| kept.renumber(Dependency::new(0, *n)).element)
                .collect(),
            starts: self.starts[first..=last + 1].iter().map(|s| s - begin).collect(),
            elements: self.elements[points.clone()].iter().map(|e| e - first).collect(),
            volumes: self.volumes[points].to_vec(),
            gradients: Arc::new(gradients),
        }))
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
            let block = self.gradients.block(q);
            let (g0, rest) = block.split_at(nodes.len());
            let (g1, g2) = rest.split_at(nodes.len());
            for (a, node) in nodes.iter().enumerate().skip(1) {
                let g = [g0[a], g1[a], g2[a]];
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
        out.copy_from_slice(self.gradients.run(elements));
        Ok(())
    }
}
