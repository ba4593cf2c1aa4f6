//! Meshes of volume elements: nodes, elements, their volumes and masses.

mod check;
mod generate;
mod surface;

pub use surface::FaceTriangles;

pub use check::{Defect, Repair};

use crate::{ContinuumError, ElementKind};
use pliant_dense::Mat3;
use pliant_model::{CoupledMass, Field, Mass};
use std::convert::Infallible;

/// One element: its kind and its nodes in the order of [`ElementKind`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The kind.
    pub kind: ElementKind,
    /// Nodes of the mesh, as many as the kind has.
    pub nodes: Vec<usize>,
}

impl Element {
    /// An element of these nodes.
    pub fn new(kind: ElementKind, nodes: &[usize]) -> Self {
        Self {
            kind,
            nodes: nodes.to_vec(),
        }
    }
}

/// A mesh at rest: positions (m) and elements, of any kinds together.
///
/// Plain values, so it may be anything; [`defects`](Self::defects) says what is wrong, and whatever
/// is made of it checks it first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the nodes at rest (m).
    pub nodes: Vec<[f64; 3]>,
    /// The elements.
    pub elements: Vec<Element>,
}

/// A quadrature point of an element at rest.
#[derive(Default)]
pub(crate) struct RestPoint {
    pub(crate) element: usize,
    /// Volume that it stands for (m^3): weight times Jacobian determinant.
    pub(crate) volume: f64,
    /// Shape functions there.
    pub(crate) values: Vec<f64>,
    /// `dN_a/dX` (1/m).
    pub(crate) gradients: Vec<[f64; 3]>,
}

impl Mesh {
    /// A mesh of elements of one kind.
    pub fn of<const N: usize>(kind: ElementKind, nodes: &[[f64; 3]], elements: &[[usize; N]]) -> Self {
        Self {
            nodes: nodes.to_vec(),
            elements: elements.iter().map(|list| Element::new(kind, list)).collect(),
        }
    }

    /// Volume (m^3).
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`].
    pub fn volume(&self) -> Result<f64, ContinuumError> {
        self.check()?;
        let mut sum = 0.0;
        let Ok(()) = self.try_each_point(ElementKind::stiffness_degree, |q| {
            sum += q.volume;
            Ok::<(), Infallible>(())
        });
        Ok(sum)
    }

    /// Masses (kg) at the nodes for this density (kg/m^3): of every element the diagonal of its
    /// consistent mass, scaled to its mass (Hinton, Rock and Zienkiewicz 1976), which is positive
    /// for all kinds and an even share for linear tetrahedra.
    ///
    /// # Errors
    /// [`ContinuumError::Mesh`], [`ContinuumError::Empty`], [`ContinuumError::OutOfRange`] for a
    /// density that is not positive.
    pub fn lumped_mass(&self, density: f64) -> Result<Mass, ContinuumError> {
        self.check_mass(density)?;
        let mut out = vec![0.0; self.nodes.len()];
        self.each_mass(&|_| density, |nodes, matrix| Self::lump(nodes, matrix, &mut out))?;
        Ok(Mass::PerElement(out))
    }

    /// Adds the lumped mass of an element with this consistent mass.
    pub(crate) fn lump(nodes: &[usize], matrix: &[f64], out: &mut [f64]) {
        let n = nodes.len();
        let (total, trace) = (
            matrix.iter().sum::<f64>(),
            (0..n).map(|i| matrix[i * n + i]).sum::<f64>(),
        );
        for (i, node) in nodes.iter().enumerate() {
            out[*node] += matrix[i * n + i] * total / trace;
        }
    }

    /// The consistent mass for this density (kg/m^3): `m_ab` the integral of `rho N_a N_b` over
    /// each element.
    ///
    /// # Errors
    /// The errors of [`lumped_mass`](Self::lumped_mass).
    pub fn consistent_mass(&self, density: f64) -> Result<Mass, ContinuumError> {
        self.check_mass(density)?;
        let mut out = Vec::with_capacity(self.elements.len());
        self.each_mass(&|_| density, |nodes, matrix| {
            out.push(CoupledMass {
                elements: nodes.to_vec(),
                matrix: matrix.to_vec(),
            });
        })?;
        Ok(Mass::Coupled(out))
    }

    /// Checks the mesh, and a density for all of it.
    fn check_mass(&self, density: f64) -> Result<(), ContinuumError> {
        check_density(density)?;
        self.check()
    }

    /// Hands the consistent mass matrix of each element to `take`, by the density (kg/m^3) at its
    /// points; the mesh is checked.
    pub(crate) fn each_mass(
        &self,
        density: &dyn Fn(&RestPoint) -> f64,
        mut take: impl FnMut(&[usize], &[f64]),
    ) -> Result<(), ContinuumError> {
        let (mut matrix, mut of) = (Vec::new(), None);
        self.try_each_point(ElementKind::mass_degree, |q| {
            let n = q.values.len();
            if of != Some(q.element) {
                if let Some(before) = of.replace(q.element) {
                    take(&self.elements[before].nodes, &matrix);
                }
                matrix.clear();
                matrix.resize(n * n, 0.0);
            }
            let density = density(q);
            check_density(density).map_err(|error| ContinuumError::Point {
                place: self.place_of(q),
                error: Box::new(error),
            })?;
            for i in 0..n {
                for j in 0..n {
                    matrix[i * n + j] += density * q.volume * q.values[i] * q.values[j];
                }
            }
            Ok::<(), ContinuumError>(())
        })?;
        if let Some(last) = of {
            take(&self.elements[last].nodes, &matrix);
        }
        Ok(())
    }

    /// The place (m) at rest of a point.
    pub(crate) fn place_of(&self, point: &RestPoint) -> [f64; 3] {
        let nodes = &self.elements[point.element].nodes;
        let mut out = [0.0; 3];
        for (node, value) in nodes.iter().zip(&point.values) {
            for k in 0..3 {
                out[k] += value * self.nodes[*node][k];
            }
        }
        out
    }

    /// Visits the quadrature points of all elements of a checked mesh, in order, by the degree that
    /// each kind is to be integrated to, until a visit fails. Cost: no memory for each point.
    ///
    /// # Errors
    /// That of the visit.
    pub(crate) fn try_each_point<E>(
        &self,
        degree: impl Fn(ElementKind) -> usize,
        mut visit: impl FnMut(&RestPoint) -> Result<(), E>,
    ) -> Result<(), E> {
        let tables: Vec<_> = ElementKind::ALL
            .iter()
            .map(|kind| {
                if !self.elements.iter().any(|e| e.kind == *kind) {
                    return None;
                }
                let (shapes, rule) = (kind.shape_functions(), kind.quadrature(degree(*kind)));
                let at: Vec<_> = rule.points.iter().map(|p| shapes.at(*p)).collect();
                Some((rule, at))
            })
            .collect();
        let mut point = RestPoint::default();
        for (index, element) in self.elements.iter().enumerate() {
            let place = ElementKind::ALL.iter().position(|k| *k == element.kind);
            let Some((rule, at)) = place.and_then(|k| tables[k].as_ref()) else {
                continue;
            };
            for (weight, shape) in rule.weights.iter().zip(at) {
                let jacobian = self.jacobian(element, &shape.gradients);
                let inverse = jacobian.try_inverse().unwrap_or_else(|| Mat3::repeat(f64::NAN));
                // dN/dX_j = sum_k dN/dxi_k dxi_k/dX_j.
                let gradient = |g: &[f64; 3]| {
                    std::array::from_fn(|j| (0..3).map(|k| g[k] * inverse[(k, j)]).sum::<f64>())
                };
                point.element = index;
                point.volume = weight * jacobian.determinant();
                point.values.clone_from(&shape.values);
                point.gradients.clear();
                point.gradients.extend(shape.gradients.iter().map(gradient));
                visit(&point)?;
            }
        }
        Ok(())
    }

    /// `dX_i/dxi_j` of an element whose shape functions have these gradients.
    pub(crate) fn jacobian(&self, element: &Element, gradients: &[[f64; 3]]) -> Mat3 {
        // Differences from the first node: exact for elements far from the origin.
        let origin = self.nodes[element.nodes[0]];
        let mut out = Mat3::zeros();
        for (node, g) in element.nodes.iter().zip(gradients) {
            let x = self.nodes[*node];
            for i in 0..3 {
                for j in 0..3 {
                    out[(i, j)] += (x[i] - origin[i]) * g[j];
                }
            }
        }
        out
    }
}

/// Checks a density (kg/m^3).
pub(crate) fn check_density(density: f64) -> Result<(), ContinuumError> {
    if density.is_finite() && density > 0.0 {
        return Ok(());
    }
    Err(ContinuumError::OutOfRange {
        field: Field::Density,
        value: density,
        bound: "positive",
    })
}
