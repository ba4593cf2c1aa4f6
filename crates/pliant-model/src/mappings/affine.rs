//! Affine mappings: a sparse matrix and an offset.

use super::{check_coordinate, check_dependency};
use crate::validate::{check_all_finite, check_finite, check_size, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};

/// One coefficient of an [`Affine`] mapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineEntry {
    /// Element of the child.
    pub element: usize,
    /// Coordinate of that element.
    pub coordinate: usize,
    /// Element of a parent.
    pub from: Dependency,
    /// Coordinate of that element.
    pub from_coordinate: usize,
    /// The coefficient (unit of the child's coordinate per unit of the parent's: (none) between
    /// lengths).
    pub value: f64,
}

/// Affine combinations of coordinates, with sparse coefficients.
///
/// **Equation.** `x_c = A x_p + b`, `J = A`; linear, so `G = 0`. Of each of `A` and `b` the units
/// are those that make the sum one of the child's coordinates.
///
/// **Parents.** Any points and scalars.
///
/// **Use.** Whatever is linear and has no mapping of its own: offsets, changes of axes, couplings
/// of several coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    space: Space,
    offset: Vec<f64>,
    entries: Vec<AffineEntry>,
    /// Dependencies of each element with the velocity size of their space.
    dependencies: Vec<Vec<Dependency>>,
}

impl Affine {
    /// A child of `offset.len()` scalars (`dimension` 1), or points of that dimension, with the
    /// offset `b` (m, for points) and the given coefficients; repeated ones add up. Dimensions
    /// other than 1, 2, 3 count as 3.
    pub fn new(dimension: usize, offset: &[f64], entries: &[AffineEntry]) -> Self {
        let space = Space::real(dimension).unwrap_or(Space::Real(3));
        let count = offset.len() / space.position_size();
        let mut dependencies = vec![Vec::new(); count];
        for entry in entries {
            if let Some(list) = dependencies.get_mut(entry.element)
                && !list.contains(&entry.from)
            {
                list.push(entry.from);
            }
        }
        Self {
            space,
            offset: offset.to_vec(),
            entries: entries.to_vec(),
            dependencies,
        }
    }
}

impl Mapping for Affine {
    fn child(&self) -> (Space, usize) {
        (self.space, self.dependencies.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let size = self.space.position_size();
        let found = self.offset.len();
        let expected = found.next_multiple_of(size);
        check_size(name, Field::Offsets, "offsets", expected, found)?;
        check_all_finite(name, Field::Offsets, &self.offset)?;
        for entry in &self.entries {
            if entry.element >= self.dependencies.len() {
                let count = self.dependencies.len();
                return Err(ModelError::Element {
                    name: name.into(),
                    element: entry.element,
                    count,
                });
            }
            let found = check_dependency(name, entry.from, parents)?;
            check_space(name, "scalars or points", found, found != Space::Rigid3)?;
            check_finite(name, Field::Coefficients, entry.value)?;
            check_coordinate(name, entry.coordinate, size)?;
            check_coordinate(name, entry.from_coordinate, found.position_size())?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.dependencies[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        child.copy_from_slice(&self.offset);
        let size = self.space.position_size();
        for entry in &self.entries {
            child[entry.element * size + entry.coordinate] +=
                entry.value * parents.position(entry.from)[entry.from_coordinate];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for entry in &self.entries {
            let before = self.dependencies[entry.element]
                .iter()
                .take_while(|d| **d != entry.from);
            let column: usize = before.map(|d| parents.velocity(*d).len()).sum();
            let width = out.width(entry.element);
            out.block_mut(entry.element)[entry.coordinate * width + column + entry.from_coordinate] +=
                entry.value;
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn without(&self, removed: &[bool]) -> Option<Box<dyn Mapping>> {
        let mut out = self.clone();
        out.entries.retain(|entry| !removed[entry.element]);
        let size = self.space.position_size();
        for (e, _) in removed.iter().enumerate().filter(|(_, is_removed)| **is_removed) {
            out.dependencies[e].clear();
            out.offset[e * size..(e + 1) * size].fill(0.0);
        }
        Some(Box::new(out))
    }
}
