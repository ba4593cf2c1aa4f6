//! Mappings that copy or subtract: identity, subset, difference.

use super::{End, check_dependency, check_pairs};
use crate::validate::{check_size, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Kept, Mapping, ModelError, Parents, Space};

/// A copy of its only parent.
///
/// **Equation.** `x_c = x_p`, `J = I`, `G = 0`.
///
/// **Parents.** Any one.
///
/// **Use.** A node of its own name for forces, masses and constraints that one wants apart from
/// others on the same coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    space: Space,
    count: usize,
}

impl Identity {
    /// A copy of `count` elements of `space`.
    pub fn new(space: Space, count: usize) -> Self {
        Self { space, count }
    }
}

/// Chosen elements of its parents, in a chosen order.
///
/// **Equation.** `x_c = x_p` for each chosen element, `J = I` on it, `G = 0`.
///
/// **Parents.** Any, all of the same space.
///
/// **Use.** Forces, masses and constraints on some elements of a node only; elements of several
/// nodes in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Subset {
    space: Space,
    elements: Vec<Dependency>,
}

impl Subset {
    /// The given elements of the only parent.
    pub fn of_elements(space: Space, elements: &[usize]) -> Self {
        Self {
            space,
            elements: elements.iter().map(|e| Dependency::new(0, *e)).collect(),
        }
    }

    /// The given elements of several parents of the same space.
    pub fn of_parents(space: Space, elements: &[Dependency]) -> Self {
        Self {
            space,
            elements: elements.to_vec(),
        }
    }
}

fn copy_elements(
    space: Space,
    elements: impl Iterator<Item = Dependency>,
    parents: Parents<'_>,
    child: &mut [f64],
) {
    for (x, at) in child.chunks_exact_mut(space.position_size()).zip(elements) {
        x.copy_from_slice(parents.position(at));
    }
}

fn identity_blocks(size: usize, out: &mut Blocks) {
    for e in 0..out.len() {
        for i in 0..size {
            out.block_mut(e)[i * size + i] = 1.0;
        }
    }
}

impl Mapping for Identity {
    fn child(&self) -> (Space, usize) {
        (self.space, self.count)
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let [(space, count)] = parents else {
            return check_size(name, Field::Parents, "parents", 1, parents.len());
        };
        check_space(name, "the same space", *space, *space == self.space)?;
        check_size(name, Field::Parents, "elements of its parent", self.count, *count)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(Dependency::new(0, element));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        copy_elements(
            self.space,
            (0..self.count).map(|e| Dependency::new(0, e)),
            parents,
            child,
        );
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        identity_blocks(self.space.velocity_size(), out);
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        let chosen = kept
            .elements
            .clone()
            .map(|e| kept.renumber(Dependency::new(0, e)));
        Some(Box::new(Subset::of_parents(
            self.space,
            &chosen.collect::<Vec<_>>(),
        )))
    }
}

impl Mapping for Subset {
    fn child(&self) -> (Space, usize) {
        (self.space, self.elements.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for at in &self.elements {
            let found = check_dependency(name, *at, parents)?;
            check_space(name, "the same space", found, found == self.space)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.elements[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        copy_elements(self.space, self.elements.iter().copied(), parents, child);
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        identity_blocks(self.space.velocity_size(), out);
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        let chosen = self.elements[kept.elements.clone()].iter();
        let chosen: Vec<_> = chosen.map(|at| kept.renumber(*at)).collect();
        Some(Box::new(Self::of_parents(self.space, &chosen)))
    }
}

/// Differences of points.
///
/// **Equation.** `x_c = a - b` (m) for each pair of ends; `J = (I, -I)`, the columns of an end that
/// is a fixed point left out; linear, so `G = 0`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Under a hard constraint a ball joint (points of two bodies) or a weld of particles,
/// under a compliance a spring of length zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    dimension: usize,
    pairs: Vec<(End, End)>,
}

impl Difference {
    /// `a - b` for each pair of ends (elements, or fixed points in m), in space.
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: pairs.to_vec(),
        }
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = if (1..=3).contains(&dimension) {
            dimension
        } else {
            3
        };
        self
    }
}

impl Mapping for Difference {
    fn child(&self) -> (Space, usize) {
        (
            Space::real(self.dimension).unwrap_or(Space::Real(3)),
            self.pairs.len(),
        )
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_pairs(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let (a, b) = self.pairs[element];
        out.extend(a.dependency());
        out.extend(b.dependency());
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, (a, b)) in child.chunks_exact_mut(self.dimension).zip(&self.pairs) {
            let (a, b) = (
                a.coordinates(&parents, self.dimension),
                b.coordinates(&parents, self.dimension),
            );
            for k in 0..self.dimension {
                x[k] = a[k] - b[k];
            }
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        let d = self.dimension;
        for (e, (a, b)) in self.pairs.iter().enumerate() {
            let width = out.width(e);
            let block = out.block_mut(e);
            let mut column = 0;
            for (end, sign) in [(a, 1.0), (b, -1.0)] {
                if end.dependency().is_some() {
                    for k in 0..d {
                        block[k * width + column + k] = sign;
                    }
                    column += d;
                }
            }
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        let pairs = self.pairs[kept.elements.clone()].iter();
        Some(Box::new(Self {
            pairs: pairs.map(|(a, b)| (a.restrict(kept), b.restrict(kept))).collect(),
            dimension: self.dimension,
        }))
    }
}
