//! Scalars that are coordinates of their parents: chosen ones, or along given directions.

use super::{check_coordinate, check_dependency, points};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};

/// Chosen coordinates of elements, each a scalar of its own.
///
/// **Equation.** `x_c = x_p[i]` (the unit of the coordinate); `J` is a row of the identity; linear,
/// so `G = 0`. Of bodies only the three coordinates of the position (m) can be chosen: those of a
/// rotation are not coordinates.
///
/// **Parents.** Any points, scalars or bodies.
///
/// **Use.** Constraints and springs on single coordinates, such as a point held on a plane of fixed
/// height.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    coordinates: Vec<(Dependency, usize)>,
}

impl Mask {
    /// (element, coordinate) of the only parent, one for each scalar.
    pub fn new(coordinates: &[(usize, usize)]) -> Self {
        let one = |(e, i): &(usize, usize)| (Dependency::new(0, *e), *i);
        Self {
            coordinates: coordinates.iter().map(one).collect(),
        }
    }

    /// Coordinates of elements of several parents, of any real space or bodies.
    pub fn of_parents(coordinates: &[(Dependency, usize)]) -> Self {
        Self {
            coordinates: coordinates.to_vec(),
        }
    }
}

impl Mapping for Mask {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.coordinates.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        for (at, coordinate) in &self.coordinates {
            let found = match check_dependency(name, *at, parents)? {
                Space::Real(n) => n,
                Space::Rigid3 => 3,
            };
            check_coordinate(name, *coordinate, found)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.coordinates[element].0);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (x, (at, i)) in child.iter_mut().zip(&self.coordinates) {
            *x = parents.position(*at)[*i];
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, (_, i)) in self.coordinates.iter().enumerate() {
            out.block_mut(e)[*i] = 1.0;
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// Coordinates of points along fixed directions.
///
/// **Equation.** `x_c = d . x + offset` (m, if `d` is a unit vector); `J = d^T`; linear, so
/// `G = 0`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Heights over planes, sliding on planes and lines, sensors along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    dimension: usize,
    points: Vec<(Dependency, [f64; 3])>,
    offsets: Vec<f64>,
}

impl Projection {
    /// Element of the only parent and direction (none) for each scalar, in space, offsets zero.
    /// Directions have any length but zero and are used as they are.
    pub fn new(points: &[(usize, [f64; 3])]) -> Self {
        let list: Vec<_> = points.iter().map(|(e, d)| (Dependency::new(0, *e), *d)).collect();
        Self::of_parents(&list)
    }

    /// Projections of elements of several parents: each with its direction (none).
    pub fn of_parents(points: &[(Dependency, [f64; 3])]) -> Self {
        Self {
            dimension: 3,
            points: points.to_vec(),
            offsets: vec![0.0; points.len()],
        }
    }

    /// Sets what is added to each product (m, for unit directions); a list of one serves all.
    #[must_use]
    pub fn with_offsets(mut self, offsets: &[f64]) -> Self {
        self.offsets = points::one_or_each(offsets, self.points.len());
        self
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }
}

impl Mapping for Projection {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.points.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        points::check_list(name, Field::Offsets, "offsets", &self.offsets, self.points.len())?;
        for (element, (at, d)) in self.points.iter().enumerate() {
            points::check_real(name, *at, self.dimension, parents)?;
            let checked = points::check_finite(name, Field::Directions, d);
            checked.map_err(|e| e.at(element, self.points.len()))?;
            if d[..self.dimension].iter().all(|x| *x == 0.0) {
                return Err(points::degenerate(name, element, "its direction is zero"));
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.points[element].0);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let (at, d) = &self.points[e];
            let product: f64 = parents.position(*at).iter().zip(d).map(|(x, d)| x * d).sum();
            *x = product + self.offsets[e];
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, (_, d)) in self.points.iter().enumerate() {
            out.block_mut(e).copy_from_slice(&d[..self.dimension]);
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }
}
