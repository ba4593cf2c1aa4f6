//! Scalar products of two points.

use super::{End, points};
use crate::{Blocks, Degenerate, Dependency, Mapping, ModelError, Parents, Space};
use pliant_dense::Mat3;

const BOTH: points::Stencil<2, 2> = [[1.0, 0.0], [0.0, 1.0]];

/// Scalar products of two ends.
///
/// **Equation.** `x_c = a . b` (m^2, for points) for each pair of ends. `J = (b^T, a^T)`,
/// `G = f (0, I; I, 0)`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Right angles between vectors that are nodes themselves, such as differences or normals.
#[derive(Clone, Debug, PartialEq)]
pub struct DotProduct {
    dimension: usize,
    pairs: Vec<[End; 2]>,
}

impl DotProduct {
    /// `a . b` for each pair of ends (elements, or fixed vectors), in space. For `a . a` see
    /// [`Quadratic`](crate::Quadratic).
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: pairs.iter().map(|(a, b)| [*a, *b]).collect(),
        }
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }
}

impl Mapping for DotProduct {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_ends(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.pairs[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, ends) in child.iter_mut().zip(&self.pairs) {
            let [a, b] = points::vectors(&BOTH, ends, &parents, self.dimension);
            *x = a.dot(&b);
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, ends) in self.pairs.iter().enumerate() {
            let [a, b] = points::vectors(&BOTH, ends, &parents, self.dimension);
            points::write_row(&BOTH, ends, self.dimension, &[b, a], out.block_mut(e));
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (x, ends) in child.iter_mut().zip(&self.pairs) {
            let [a, b] = points::rates(&BOTH, ends, &parents, self.dimension);
            *x += 2.0 * a.dot(&b);
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, _parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, ends) in self.pairs.iter().enumerate() {
            let (zero, g) = (Mat3::zeros(), Mat3::identity() * force[e]);
            points::write_hessian(
                &BOTH,
                ends,
                self.dimension,
                &[[zero, g], [g, zero]],
                out.block_mut(e),
            );
        }
    }
}
