//! Volumes of tetrahedra, and under surfaces.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, skew};

/// Signed volumes of tetrahedra less rest volumes.
///
/// **Equation.** `x_c = e1 . (e2 x e3)/6 - rest` (m^3) for each tetrahedron, `e1`, `e2`, `e3` its
/// edges from the first corner. Gradient `e2 x e3/6` and so on round, Hessian `-[e3]/6` between the
/// first two edges, `[e2]/6` between the first and the last, `-[e1]/6` between the last two;
/// defined everywhere.
///
/// **Parents.** Points of space.
///
/// **Use.** Incompressible solids; with [`under_surface`](Self::under_surface), the volume and the
/// pressure of a closed surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    corners: Vec<[End; 4]>,
    rests: Vec<f64>,
}

impl Volume {
    /// The volume of each tetrahedron of ends (elements, or fixed points in m), rest volumes zero.
    /// Positive if the last three corners go round to the right when seen from the first.
    pub fn new(tetrahedra: &[[End; 4]]) -> Self {
        Self {
            corners: tetrahedra.to_vec(),
            rests: vec![0.0; tetrahedra.len()],
        }
    }

    /// Tetrahedra of elements of the only parent.
    pub fn between(tetrahedra: &[[usize; 4]]) -> Self {
        Self::new(&points::elements(tetrahedra))
    }

    /// Per triangle of elements of the only parent the volume of the tetrahedron with the origin.
    /// Over a closed surface whose triangles go round to the left when seen from outside, their sum
    /// is the enclosed volume.
    pub fn under_surface(triangles: &[[usize; 3]]) -> Self {
        let corners = |[a, b, c]: &[usize; 3]| {
            let [a, b, c] = [*a, *b, *c].map(|k| End::element(0, k));
            [End::Point([0.0; 3]), a, b, c]
        };
        let corners: Vec<_> = triangles.iter().map(corners).collect();
        Self::new(&corners)
    }

    /// Sets the rest volume (m^3, with its sign) of each tetrahedron; a list of one serves all.
    #[must_use]
    pub fn with_rest_volumes(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.corners.len());
        self
    }
}

impl Mapping for Volume {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.corners.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_list(
            name,
            Field::RestVolumes,
            "rest volumes",
            &self.rests,
            self.corners.len(),
        )?;
        points::check_ends(name, &self.corners, 3, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.corners[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let [a, b, c] = points::vectors(&points::TETRAHEDRON, &self.corners[e], &parents, 3);
            *x = a.dot(&b.cross(&c)) / 6.0 - self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.corners.iter().enumerate() {
            let [a, b, c] = points::vectors(&points::TETRAHEDRON, ends, &parents, 3);
            let gradient = [b.cross(&c) / 6.0, c.cross(&a) / 6.0, a.cross(&b) / 6.0];
            points::write_row(&points::TETRAHEDRON, ends, 3, &gradient, out.block_mut(e));
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.corners.iter().enumerate() {
            let edges = points::vectors(&points::TETRAHEDRON, ends, &parents, 3);
            let [a, b, c] = edges.map(|edge| skew(edge) * (force[e] / 6.0));
            let zero = Mat3::zeros();
            let hessian = [[zero, -c, b], [c, zero, -a], [-b, a, zero]];
            points::write_hessian(&points::TETRAHEDRON, ends, 3, &hessian, out.block_mut(e));
        }
    }
}
