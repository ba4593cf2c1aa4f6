//! Directions.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};

const LINE: points::Stencil<1, 2> = [[1.0, -1.0]];

/// Directions: vectors divided by their lengths.
///
/// **Equation.** `x_c = u = d/|d|` (no unit) with `d = a - b`. On `d`, `J = (I - u u^T)/|d|` and
/// `G = -(p u^T + u p^T + (f.u)(I - u u^T))/|d|^2` with `p = f - (f.u) u`. Not defined at length
/// zero.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Axes and tangents that other mappings compare, springs that act on directions only.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalization {
    dimension: usize,
    pairs: Vec<[End; 2]>,
}

impl Normalization {
    /// The direction of `a - b` for each pair of ends (elements, or fixed points in m), in space.
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: pairs.iter().map(|(a, b)| [*a, *b]).collect(),
        }
    }

    /// The directions of elements of the only parent, taken as vectors.
    pub fn of_elements(elements: &[usize]) -> Self {
        let ends: Vec<_> = elements
            .iter()
            .map(|e| (End::element(0, *e), End::Point([0.0; 3])))
            .collect();
        Self::new(&ends)
    }

    /// The same in the plane (2) or on the line (1, where it is the sign); other dimensions count
    /// as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }

    /// Length and direction of element `e`.
    #[inline]
    fn line(&self, e: usize, parents: &Parents<'_>) -> Result<(f64, Vec3), Degenerate> {
        let [d] = points::vectors(&LINE, &self.pairs[e], parents, self.dimension);
        points::direction(d).ok_or(Degenerate {
            element: e,
            reason: "a vector of length zero has no direction",
        })
    }
}

impl Mapping for Normalization {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.dimension), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_ends(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.pairs[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.chunks_exact_mut(self.dimension).enumerate() {
            let (_, u) = self.line(e, &parents)?;
            x.copy_from_slice(&u.as_slice()[..self.dimension]);
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.pairs.iter().enumerate() {
            let (length, u) = self.line(e, &parents)?;
            let j = (Mat3::identity() - u * u.transpose()) / length;
            let width = out.width(e);
            for (i, row) in out.block_mut(e).chunks_exact_mut(width).enumerate() {
                points::write_row(&LINE, ends, self.dimension, &[j.column(i).into()], row);
            }
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.pairs.iter().enumerate() {
            let Ok((length, u)) = self.line(e, &parents) else {
                continue;
            };
            let mut f = Vec3::zeros();
            for k in 0..self.dimension {
                f[k] = force[self.dimension * e + k];
            }
            let along = f.dot(&u);
            let across = Mat3::identity() - u * u.transpose();
            let g = points::twice_symmetric(f - u * along, u) + across * along;
            let g = g * (-1.0 / (length * length));
            points::write_hessian(&LINE, ends, self.dimension, &[[g]], out.block_mut(e));
        }
    }
}
