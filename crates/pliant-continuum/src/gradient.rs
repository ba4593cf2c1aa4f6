//! Deformation gradients at the quadrature points of a mesh.

use crate::checks::first_parent;
use crate::mesh::RestPoint;
use crate::{ContinuumError, ElementKind, Mesh, Quadrature};
use pliant_dense::Mat3;
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
/// *Enhanced*, each hexahedron of eight nodes has modes, vectors `a_k` (m): to its `F` they add
/// `sum_k a_k G_k^T` with `G_k = (j_0/j) p_k(xi) dxi_i/dX`, the last at the centre of the element,
/// whose Jacobian determinant is `j_0` (Simo and Armero 1992, after Wilson's incompatible modes and
/// Taylor, Beresford and Wilson 1976). [`Enhancement`] lists `p_k` and `i`. Their mean over the
/// element is zero, so that constant strains stay exact.
///
/// **Parents.** Points of space: the nodes of the mesh; enhanced, then the modes.
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
    enhancement: Option<Enhancement>,
    /// The first mode of each element, if it has any; empty without modes.
    modes: Vec<Option<usize>>,
    /// `dN_a/dX_j` of each point: a row for each `j`, a column for each node of its finite element,
    /// then one for each of its modes.
    gradients: Arc<Blocks>,
}

/// The modes of an enhanced element: products `p` of reference coordinates, and the coordinate `i`
/// along whose gradient they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "enhanced_strains")
)]
pub enum Enhancement {
    /// `xi_i` along `i`: three vectors. Free of force, the element bends as a beam does.
    #[default]
    Bending,
    /// Besides, `xi eta` along `eta`, `eta zeta` along `zeta`, `zeta xi` along `xi`: six vectors.
    /// Bending that changes along the element keeps the volume too, so that it does not lock where
    /// the material is nearly incompressible. (With `xi eta` along `xi` as well, and so on, turns
    /// within the element would have no stiffness.) The choice goes by the numbers of the nodes.
    BendingAndVolume,
}

/// Most modes of an element.
const MOST_MODES: usize = 6;

/// The factors of `p_k`, one or two reference coordinates, and `i`.
type Mode = (&'static [usize], usize);

impl Enhancement {
    fn modes(self) -> &'static [Mode] {
        const ALL: [Mode; MOST_MODES] = [
            (&[0], 0),
            (&[1], 1),
            (&[2], 2),
            (&[0, 1], 1),
            (&[1, 2], 2),
            (&[2, 0], 0),
        ];
        match self {
            Self::Bending => &ALL[..3],
            Self::BendingAndVolume => &ALL,
        }
    }
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
        Ok(Self::at_points(mesh, degree, None))
    }

    /// Enhanced gradients at the points of full integration of a mesh (m): the second parent has
    /// [`mode_count`](Self::mode_count) vectors.
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`].
    pub fn enhanced(mesh: &Mesh, modes: Enhancement) -> Result<Self, ContinuumError> {
        mesh.check()?;
        Ok(Self::of_checked(mesh, Some(modes)))
    }

    /// At the points of full integration of the elements of a mesh that is checked, or is part of
    /// one: it may have nodes of no element.
    pub(crate) fn of_checked(mesh: &Mesh, enhancement: Option<Enhancement>) -> Self {
        Self::at_points(mesh, ElementKind::stiffness_degree, enhancement)
    }

    fn at_points(
        mesh: &Mesh,
        degree: impl Fn(ElementKind) -> usize + Copy,
        enhancement: Option<Enhancement>,
    ) -> Self {
        let mut out = Self {
            node_count: mesh.nodes.len(),
            nodes: Vec::new(),
            starts: vec![0],
            elements: Vec::new(),
            volumes: Vec::new(),
            enhancement,
            modes: Vec::new(),
            gradients: Arc::default(),
        };
        let mut count = 0;
        for element in &mesh.elements {
            out.nodes.extend(&element.nodes);
            out.starts.push(out.nodes.len());
            if let Some(kind) = enhancement {
                let has_modes = element.kind == ElementKind::Hex8;
                out.modes.push(has_modes.then_some(count));
                count += if has_modes { kind.modes().len() } else { 0 };
            }
        }
        let points_of = |kind: ElementKind| kind.quadrature(degree(kind)).weights.len();
        let counts = ElementKind::ALL.map(|kind| (kind, points_of(kind)));
        let shapes = mesh.elements.iter().enumerate().flat_map(|(e, element)| {
            let count = counts.iter().find(|(kind, _)| *kind == element.kind);
            let width = element.nodes.len() + out.modes_of(e).len();
            std::iter::repeat_n((3, width), count.map_or(0, |(_, count)| *count))
        });
        let mut blocks = Blocks::new(shapes);
        let mut centres = Centres::default();
        let Ok(()) = mesh.try_each_point(degree, |point| {
            let modes = match out.modes_of(point.element).is_empty() {
                true => &[],
                false => enhancement.map_or(&[][..], Enhancement::modes),
            };
            let (block, nodes) = (blocks.block_mut(out.elements.len()), point.gradients.len());
            let width = nodes + modes.len();
            let more = centres.vectors(mesh, point, modes);
            for (a, g) in point.gradients.iter().chain(&more[..modes.len()]).enumerate() {
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

    /// Number of vectors of the second parent; zero unless the gradients are enhanced.
    pub fn mode_count(&self) -> usize {
        self.modes_of_each() * self.modes.iter().flatten().count()
    }

    fn modes_of_each(&self) -> usize {
        self.enhancement.map_or(0, |kind| kind.modes().len())
    }

    /// The modes of a finite element.
    fn modes_of(&self, element: usize) -> Range<usize> {
        match self.modes.get(element) {
            Some(Some(first)) => *first..*first + self.modes_of_each(),
            _ => 0..0,
        }
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
        check_size(name, Field::Parents, what, self.node_count, count)?;
        if self.modes.is_empty() {
            return Ok(());
        }
        let (space, count) = parents.get(1).copied().unwrap_or((Space::Real(3), 0));
        check_space(name, "vectors of space", space, space == Space::Real(3))?;
        let what = "vectors of modes, as many for each hexahedron of eight nodes";
        check_size(name, Field::Parents, what, self.mode_count(), count)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.nodes_of(element).iter().map(|n| Dependency::new(0, *n)));
        out.extend(
            self.modes_of(self.elements[element])
                .map(|k| Dependency::new(1, k)),
        );
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
            enhancement: self.enhancement,
            modes: self.modes[first.min(self.modes.len())..(last + 1).min(self.modes.len())]
                .iter()
                .map(|mode| mode.map(|k| kept.renumber(Dependency::new(1, k)).element))
                .collect(),
            gradients: Arc::new(gradients),
        }))
    }

    fn without(&self, removed: &[bool]) -> Option<Box<dyn Mapping>> {
        // Points of an element go together, and its modes would be left without stiffness.
        let mut of_element = vec![None; self.starts.len() - 1];
        for (e, is_removed) in self.elements.iter().zip(removed) {
            match of_element[*e] {
                None => of_element[*e] = Some(*is_removed),
                Some(before) if before != *is_removed => return None,
                Some(_) => {}
            }
        }
        let gone = |e: usize| of_element[e] == Some(true);
        if (0..of_element.len()).any(|e| gone(e) && !self.modes_of(e).is_empty()) {
            return None;
        }
        let mut out = self.clone();
        out.nodes.clear();
        out.starts.truncate(1);
        for e in 0..of_element.len() {
            if !gone(e) {
                out.nodes
                    .extend_from_slice(&self.nodes[self.starts[e]..self.starts[e + 1]]);
            }
            out.starts.push(out.nodes.len());
        }
        let width = |q: usize| if removed[q] { 0 } else { self.gradients.width(q) };
        let mut gradients = Blocks::new((0..removed.len()).map(|q| (3, width(q))));
        for q in (0..removed.len()).filter(|q| !removed[*q]) {
            gradients.block_mut(q).copy_from_slice(self.gradients.block(q));
        }
        out.gradients = Arc::new(gradients);
        Some(Box::new(out))
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
            if nodes.is_empty() {
                // Out of the model: as at rest.
                f.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
                continue;
            }
            let origin = parents.position(Dependency::new(0, nodes[0]));
            f.fill(0.0);
            let block = self.gradients.block(q);
            let modes = self.modes_of(self.elements[q]);
            let width = nodes.len() + modes.len();
            let (g0, rest) = block.split_at(width);
            let (g1, g2) = rest.split_at(width);
            for (a, mode) in (nodes.len()..).zip(modes) {
                let amplitude = parents.position(Dependency::new(1, mode));
                for i in 0..3 {
                    for (j, g) in [g0[a], g1[a], g2[a]].into_iter().enumerate() {
                        f[3 * i + j] += amplitude[i] * g;
                    }
                }
            }
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

/// The centres of elements, one after the other.
#[derive(Debug, Default)]
struct Centres {
    /// The element at hand, and its next point.
    element: Option<usize>,
    point: usize,
    /// `dxi_k/dX_j` at the centre of the element, a row for each `k`.
    inverse: Mat3,
    /// Jacobian determinant there.
    determinant: f64,
    points: Quadrature,
}

impl Centres {
    /// `G_k` (1/m) of modes at a point; points come in their order.
    fn vectors(&mut self, mesh: &Mesh, point: &RestPoint, modes: &[Mode]) -> [[f64; 3]; MOST_MODES] {
        let mut out = [[0.0; 3]; MOST_MODES];
        if modes.is_empty() {
            return out;
        }
        let element = &mesh.elements[point.element];
        if self.element != Some(point.element) {
            self.element = Some(point.element);
            self.point = 0;
            if self.points.points.is_empty() {
                self.points = element.kind.quadrature(element.kind.stiffness_degree());
            }
            let shape = element.kind.shape_functions().at([0.0; 3]);
            let jacobian = mesh.jacobian(element, &shape.gradients);
            self.inverse = jacobian.try_inverse().unwrap_or_else(|| Mat3::repeat(f64::NAN));
            self.determinant = jacobian.determinant();
        }
        let (xi, weight) = (self.points.points[self.point], self.points.weights[self.point]);
        self.point += 1;
        let ratio = self.determinant * weight / point.volume;
        for (g, (factors, along)) in out.iter_mut().zip(modes) {
            let p: f64 = factors.iter().map(|k| xi[*k]).product();
            *g = std::array::from_fn(|j| ratio * p * self.inverse[(*along, j)]);
        }
        out
    }
}
