//! Distance between two points.

use super::smooth_distance::check_rests;
use super::{End, check_pairs};
use crate::{Blocks, Degenerate, Dependency, Kept, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};

/// Lengths less rest lengths.
///
/// **Equation.** `x_c = |a - b| - rest` (m) for each pair of ends. With `l = |a - b|` and
/// `u = (a - b)/l`: `J = (u^T, -u^T)`, `(dJ/dt) v = (|w|^2 - (u.w)^2)/l` for the relative velocity
/// `w`, and `G = (f/l)(I - u u^T)` on `a - b` (theory/kinematics.md of the book). Not defined at length zero.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Springs, rods and cables: under a compliance a spring, under a hard constraint a rod
/// that keeps its length.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    dimension: usize,
    pairs: Vec<(End, End)>,
    rests: Vec<f64>,
}

impl Distance {
    /// The distance of each pair of ends (elements, or fixed points in m), in space, rest lengths
    /// zero.
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: pairs.to_vec(),
            rests: vec![0.0; pairs.len()],
        }
    }

    /// Distances between elements of the only parent.
    pub fn between(pairs: &[(usize, usize)]) -> Self {
        let ends: Vec<_> = pairs
            .iter()
            .map(|(a, b)| (End::element(0, *a), End::element(0, *b)))
            .collect();
        Self::new(&ends)
    }

    /// Distances of elements of the only parent from fixed points (m).
    pub fn to_points(pairs: &[(usize, [f64; 3])]) -> Self {
        let ends: Vec<_> = pairs
            .iter()
            .map(|(a, p)| (End::element(0, *a), End::Point(*p)))
            .collect();
        Self::new(&ends)
    }

    /// Sets the rest length (m) of each pair; a list of one length serves all pairs.
    #[must_use]
    pub fn with_rest_lengths(mut self, rests: &[f64]) -> Self {
        self.rests = if let [rest] = rests {
            vec![*rest; self.pairs.len()]
        } else {
            rests.to_vec()
        };
        self
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

    /// Unit vector and length of pair `e`.
    #[inline]
    fn line(&self, e: usize, parents: &Parents<'_>) -> Result<(Vec3, f64), Degenerate> {
        let (a, b) = self.pairs[e];
        let d = Vec3::from(a.coordinates(parents, self.dimension))
            - Vec3::from(b.coordinates(parents, self.dimension));
        let length = d.norm();
        if length > 0.0 {
            Ok((d / length, length))
        } else {
            Err(Degenerate {
                element: e,
                reason: "its two ends coincide, so that the line between them has no direction",
            })
        }
    }
}

impl Mapping for Distance {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_rests(name, &self.rests, self.pairs.len())?;
        check_pairs(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        let (a, b) = self.pairs[element];
        out.extend(a.dependency());
        out.extend(b.dependency());
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            *x = self.line(e, &parents)?.1 - self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let (u, _) = self.line(e, &parents)?;
            let block = out.block_mut(e);
            let mut column = 0;
            for (end, sign) in [(self.pairs[e].0, 1.0), (self.pairs[e].1, -1.0)] {
                if end.dependency().is_some() {
                    for k in 0..self.dimension {
                        block[column + k] = sign * u[k];
                    }
                    column += self.dimension;
                }
            }
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.iter_mut().enumerate() {
            let Ok((u, length)) = self.line(e, &parents) else {
                continue;
            };
            let (a, b) = self.pairs[e];
            let w = Vec3::from(a.velocity(&parents, self.dimension))
                - Vec3::from(b.velocity(&parents, self.dimension));
            // |w - (u.w) u|^2 / l, without the cancellation of |w|^2 - (u.w)^2.
            *x += (w - u * u.dot(&w)).norm_squared() / length;
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn restrict(&self, kept: Kept<'_>) -> Option<Box<dyn Mapping>> {
        let pairs = self.pairs[kept.elements.clone()].iter();
        Some(Box::new(Self {
            dimension: self.dimension,
            pairs: pairs.map(|(a, b)| (a.restrict(kept), b.restrict(kept))).collect(),
            rests: self.rests[kept.elements.clone()].to_vec(),
        }))
    }

    fn without(&self, removed: &[bool]) -> Option<Box<dyn Mapping>> {
        let mut out = self.clone();
        for (e, _) in removed.iter().enumerate().filter(|(_, is_removed)| **is_removed) {
            // Between two points that do not move: at rest for ever.
            out.pairs[e] = (End::Point([0.0; 3]), End::Point([1.0, 0.0, 0.0]));
            out.rests[e] = 1.0;
        }
        Some(Box::new(out))
    }

    fn chord_weight(&self, element: usize, ends: [&[f64]; 2]) -> f64 {
        // |d+| - |d| = (d + d+).(d+ - d)/(|d| + |d+|).
        let [start, end] = ends.map(|x| x[element] + self.rests[element]);
        end / (start + end)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for e in 0..self.pairs.len() {
            let Ok((u, length)) = self.line(e, &parents) else {
                continue;
            };
            let g = (Mat3::identity() - u * u.transpose()) * (force[e] / length);
            let width = out.width(e);
            let block = out.block_mut(e);
            let ends = width / self.dimension;
            for p in 0..ends {
                for q in 0..ends {
                    let sign = if p == q { 1.0 } else { -1.0 };
                    for i in 0..self.dimension {
                        for j in 0..self.dimension {
                            block[(p * self.dimension + i) * width + q * self.dimension + j] =
                                sign * g[(i, j)];
                        }
                    }
                }
            }
        }
    }
}
