//! Distances that are smooth where the two ends meet.

use super::{End, points};
use crate::validate::{check_bound, check_finite};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use pliant_dense::{Mat3, Vec3};

const LINE: points::Stencil<1, 2> = [[1.0, -1.0]];

fn ends(pairs: &[(End, End)]) -> Vec<[End; 2]> {
    pairs.iter().map(|(a, b)| [*a, *b]).collect()
}

pub(super) fn check_rests(name: &str, rests: &[f64], count: usize) -> Result<(), ModelError> {
    points::check_list(name, Field::RestLengths, "rest lengths", rests, count)?;
    points::check_not_negative(name, Field::RestLengths, rests)
}

/// Lengths less rest lengths, smooth at length zero.
///
/// **Equation.** `x_c = sqrt(|a - b|^2 + eps^2) - eps - rest` (m) for each pair of ends. With
/// `s = sqrt(|a - b|^2 + eps^2)` and `u = (a - b)/s`: `J = (u^T, -u^T)`, `G = (f/s)(I - u u^T)` on
/// `a - b`, defined everywhere. Unlike [`Distance`](crate::Distance) it has no kink at length zero,
/// where its `J` vanishes and its curvature is `1/eps`; the price is a length up to `eps` too
/// short: by `eps (1 - eps/(2 l))` for `l` well above `eps`.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Springs and cables whose ends may meet or pass through each other.
#[derive(Clone, Debug, PartialEq)]
pub struct SafeDistance {
    dimension: usize,
    pairs: Vec<[End; 2]>,
    smoothing: f64,
    rests: Vec<f64>,
}

impl SafeDistance {
    /// The length of each pair of ends (elements, or fixed points in m), in space, rest lengths
    /// zero, with the smoothing length `eps > 0` (m).
    pub fn new(pairs: &[(End, End)], smoothing: f64) -> Self {
        Self {
            dimension: 3,
            pairs: ends(pairs),
            smoothing,
            rests: vec![0.0; pairs.len()],
        }
    }

    /// Sets the rest length (m) of each pair; a list of one length serves all pairs.
    #[must_use]
    pub fn with_rest_lengths(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.pairs.len());
        self
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }

    /// `(a - b)/s`, `|a - b|` and `s`.
    #[inline]
    fn line(&self, e: usize, parents: &Parents<'_>) -> (Vec3, f64, f64) {
        let [d] = points::vectors(&LINE, &self.pairs[e], parents, self.dimension);
        let length = d.norm();
        let s = length.hypot(self.smoothing);
        (d / s, length, s)
    }
}

impl Mapping for SafeDistance {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (eps, fits) = (self.smoothing, self.smoothing >= points::SHORTEST);
        check_finite(name, Field::Smoothing, eps)?;
        check_bound(name, Field::Smoothing, eps, "positive", fits)?;
        check_rests(name, &self.rests, self.pairs.len())?;
        points::check_ends(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.pairs[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let (_, length, s) = self.line(e, &parents);
            // s - eps, without its cancellation at short lengths.
            *x = length * (length / (s + self.smoothing)) - self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let (u, ..) = self.line(e, &parents);
            points::write_row(&LINE, &self.pairs[e], self.dimension, &[u], out.block_mut(e));
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.iter_mut().enumerate() {
            let (u, _, s) = self.line(e, &parents);
            let [w] = points::rates(&LINE, &self.pairs[e], &parents, self.dimension);
            // |w|^2 - (u.w)^2 as a sum of squares; |u|^2 = 1 - (eps/s)^2.
            let along = u.dot(&w);
            let rest = along * (self.smoothing / s);
            *x += ((w - u * along).norm_squared() + rest * rest) / s;
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn chord_weight(&self, element: usize, ends: [&[f64]; 2]) -> f64 {
        // As of a distance, with s in place of the length.
        let shift = self.rests[element] + self.smoothing;
        let [start, end] = ends.map(|x| x[element] + shift);
        end / (start + end)
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for e in 0..self.pairs.len() {
            let (u, _, s) = self.line(e, &parents);
            let g = (Mat3::identity() - u * u.transpose()) * (force[e] / s);
            points::write_hessian(&LINE, &self.pairs[e], self.dimension, &[[g]], out.block_mut(e));
        }
    }
}

/// Squares of lengths less squares of rest lengths.
///
/// **Equation.** `x_c = |a - b|^2 - rest^2` (m^2) for each pair of ends.
/// `J = (2 (a - b)^T, -2 (a - b)^T)`, `G = 2 f I` on `a - b`: a polynomial, defined everywhere. Its
/// `J` vanishes at length zero, where a hard constraint on it holds nothing.
///
/// **Parents.** Points of space, the plane or the line.
///
/// **Use.** Inextensible rods and cloth edges, springs quartic in length: no square root and a
/// constant `G` per force.
#[derive(Clone, Debug, PartialEq)]
pub struct SquareDistance {
    dimension: usize,
    pairs: Vec<[End; 2]>,
    rests: Vec<f64>,
}

impl SquareDistance {
    /// The squared length of each pair of ends (elements, or fixed points in m), in space, rest
    /// lengths zero.
    pub fn new(pairs: &[(End, End)]) -> Self {
        Self {
            dimension: 3,
            pairs: ends(pairs),
            rests: vec![0.0; pairs.len()],
        }
    }

    /// Sets the rest length (m, not squared) of each pair; a list of one length serves all pairs.
    #[must_use]
    pub fn with_rest_lengths(mut self, rests: &[f64]) -> Self {
        self.rests = points::one_or_each(rests, self.pairs.len());
        self
    }

    /// The same in the plane (2) or on the line (1); other dimensions count as 3.
    #[must_use]
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.dimension = points::spatial(dimension);
        self
    }
}

impl Mapping for SquareDistance {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.pairs.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_rests(name, &self.rests, self.pairs.len())?;
        points::check_ends(name, &self.pairs, self.dimension, parents)
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        points::push_dependencies(&self.pairs[element], out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, x) in child.iter_mut().enumerate() {
            let [d] = points::vectors(&LINE, &self.pairs[e], &parents, self.dimension);
            *x = d.norm_squared() - self.rests[e] * self.rests[e];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.pairs.len() {
            let [d] = points::vectors(&LINE, &self.pairs[e], &parents, self.dimension);
            points::write_row(
                &LINE,
                &self.pairs[e],
                self.dimension,
                &[d * 2.0],
                out.block_mut(e),
            );
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (e, x) in child.iter_mut().enumerate() {
            let [w] = points::rates(&LINE, &self.pairs[e], &parents, self.dimension);
            *x += 2.0 * w.norm_squared();
        }
        true
    }

    fn carries_chords(&self) -> bool {
        true
    }

    fn geometric_stiffness(&self, _parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, f) in force.iter().enumerate() {
            let g = Mat3::identity() * (2.0 * f);
            points::write_hessian(&LINE, &self.pairs[e], self.dimension, &[[g]], out.block_mut(e));
        }
    }
}
