//! Sums of two points.

use super::{End, check_pairs, points};
use crate::{Blocks, Degenerate, Dependency, Mapping, ModelError, Parents, Space};

/// Sums of points: `a + b` for each pair of ends.
///
/// **Equation.** `x_c = a + b` (m); `J = (I, I)`, the columns of an end that is a fixed point left
/// out; linear, so `G = 0`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** A motion made of a coarse one and a correction, points moved by a fixed offset,
/// superposed fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    dimension: usize,
    pairs: Vec<(End, End)>,
}

impl Addition {
    /// `a + b` for each pair of ends (elements, or fixed points in m), in space.
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: pairs.to_vec(),
        }
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }
}

impl Mapping for Addition {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.dimension), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_pairs(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let (a, b) = self.pairs[element];
        points::push_dependencies(&[a, b], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let d = self.dimension;
        for (x, (a, b)) in child.chunks_exact_mut(d).zip(&self.pairs) {
            let (a, b) = (a.coordinates(&parents, d), b.coordinates(&parents, d));
            for k in 0..d {
                x[k] = a[k] + b[k];
            }
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let width = out.width(e);
            let block = out.block_mut(e);
            for column in 0..width {
                block[column % self.dimension * width + column] = 1.0;
            }
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }
}
