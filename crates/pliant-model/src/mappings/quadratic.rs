//! Quadratic scalars of elements of any dimension.

use super::points;
use crate::validate::check_positive;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use std::collections::BTreeMap;

/// Checks that there are coordinates at all.
fn check_dimension(name: &str, dimension: usize) -> Result<(), ModelError> {
    check_positive(name, Field::Dimension, dimension as f64)
}

/// Half squares of elements, times a factor.
///
/// **Equation.** `x_c = (k/2) |x|^2` per element, of any real dimension (J, if `x` is in m and `k`
/// in N/m). `J = k x^T`, `G = f k I`.
///
/// **Parents.** Any real coordinates of one dimension.
///
/// **Use.** An elastic energy as a coordinate, norms of strains, tests of second derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    dimension: usize,
    elements: Vec<Dependency>,
    factors: Vec<f64>,
}

impl Quadratic {
    /// The given elements, of `dimension` coordinates, of the only parent; `k = 1`.
    pub fn new(dimension: usize, elements: &[usize]) -> Self {
        let list: Vec<_> = elements.iter().map(|e| Dependency::new(0, *e)).collect();
        Self::of_parents(dimension, &list)
    }

    /// The given elements, of `dimension` coordinates, of several parents; `k = 1`.
    pub fn of_parents(dimension: usize, elements: &[Dependency]) -> Self {
        Self {
            dimension,
            elements: elements.to_vec(),
            factors: vec![1.0; elements.len()],
        }
    }

    /// Sets the factor `k` of each element (N/m, or any unit and sign); a list of one serves all.
    #[must_use]
    pub fn with_factors(mut self, factors: &[f64]) -> Self {
        self.factors = points::one_or_each(factors, self.elements.len());
        self
    }
}

impl Mapping for Quadratic {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.elements.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_dimension(name, self.dimension)?;
        points::check_list(
            name,
            Field::Factors,
            "factors",
            &self.factors,
            self.elements.len(),
        )?;
        for at in &self.elements {
            points::check_real(name, *at, self.dimension, parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.elements[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, c) in child.iter_mut().enumerate() {
            let square: f64 = parents.position(self.elements[e]).iter().map(|x| x * x).sum();
            *c = 0.5 * self.factors[e] * square;
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, at) in self.elements.iter().enumerate() {
            for (j, x) in out.block_mut(e).iter_mut().zip(parents.position(*at)) {
                *j = self.factors[e] * x;
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, c) in child.iter_mut().enumerate() {
            let square: f64 = parents.velocity(self.elements[e]).iter().map(|v| v * v).sum();
            *c += self.factors[e] * square;
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, _parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.iter().enumerate() {
            let diagonal = out.block_mut(e).iter_mut().step_by(self.dimension + 1);
            diagonal.for_each(|g| *g = f * self.factors[e]);
        }
    }
}

/// The sum of scalar products over pairs of elements, one scalar.
///
/// **Equation.** `x_c = sum_i x_i . y_i` (m^2, for points) over pairs of elements of any one real
/// dimension. `J` holds `y_i^T` at `x_i` and `x_i^T` at `y_i`, `G` holds `f I` between them. An
/// element may be in several pairs, or twice in one.
///
/// `G` is one dense block over all elements: for fields of more than some hundred numbers keep one
/// of the two in an [`Affine`](crate::Affine) mapping instead.
///
/// **Parents.** Any real coordinates of one dimension.
///
/// **Use.** The work of a field of forces on a field of displacements, orthogonality of one field
/// to another (a mode, say).
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    dimension: usize,
    /// Distinct elements, in order of appearance.
    elements: Vec<Dependency>,
    /// Pairs of indices into them.
    pairs: Vec<(usize, usize)>,
}

impl Pairing {
    /// Pairs of elements of `dimension` coordinates.
    pub fn new(dimension: usize, pairs: &[(Dependency, Dependency)]) -> Self {
        let mut elements = Vec::new();
        let mut known = BTreeMap::new();
        let mut index = |at: Dependency| {
            *known.entry((at.parent, at.element)).or_insert_with(|| {
                elements.push(at);
                elements.len() - 1
            })
        };
        let pairs = pairs.iter().map(|(a, b)| (index(*a), index(*b))).collect();
        Self {
            dimension,
            elements,
            pairs,
        }
    }

    /// Each of the first `count` elements of the first parent with that of the second.
    pub fn of_nodes(dimension: usize, count: usize) -> Self {
        let pairs: Vec<_> = (0..count)
            .map(|e| (Dependency::new(0, e), Dependency::new(1, e)))
            .collect();
        Self::new(dimension, &pairs)
    }
}

impl Mapping for Pairing {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), 1)
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_dimension(name, self.dimension)?;
        if self.pairs.is_empty() {
            return Err(points::degenerate(name, 0, "it has no pairs"));
        }
        for at in &self.elements {
            points::check_real(name, *at, self.dimension, parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, _element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.elements);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let at = |k: usize| parents.position(self.elements[k]);
        let product = |(a, b): &(usize, usize)| at(*a).iter().zip(at(*b)).map(|(x, y)| x * y).sum::<f64>();
        child[0] = self.pairs.iter().map(product).sum();
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        let block = out.block_mut(0);
        for (a, b) in &self.pairs {
            for (to, from) in [(*a, *b), (*b, *a)] {
                let columns = &mut block[to * self.dimension..][..self.dimension];
                for (j, x) in columns.iter_mut().zip(parents.position(self.elements[from])) {
                    *j += x;
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        let at = |k: usize| parents.velocity(self.elements[k]);
        let product = |(a, b): &(usize, usize)| at(*a).iter().zip(at(*b)).map(|(x, y)| x * y).sum::<f64>();
        child[0] += 2.0 * self.pairs.iter().map(product).sum::<f64>();
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, _parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        let width = out.width(0);
        let block = out.block_mut(0);
        for (a, b) in &self.pairs {
            for i in 0..self.dimension {
                let (i, j) = (a * self.dimension + i, b * self.dimension + i);
                block[i * width + j] += force[0];
                block[j * width + i] += force[0];
            }
        }
    }
}
