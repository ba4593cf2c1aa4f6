//! A scalar as a smooth curve over another one.

use super::points;
use crate::validate::check_finite;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    x: f64,
    y: f64,
    slope: f64,
}

/// The law of a curve.
#[derive(Clone, Debug, PartialEq)]
enum Law {
    /// Cubic between knots, straight beyond the first and the last.
    Knots(Vec<Knot>),
    /// The sum of `c_k x^k`.
    Polynomial(Vec<f64>),
}

impl Law {
    /// Value, slope and curvature.
    fn at(&self, x: f64) -> [f64; 3] {
        match self {
            Self::Knots(knots) => at_knots(knots, x),
            Self::Polynomial(coefficients) => coefficients
                .iter()
                .rev()
                .fold([0.0; 3], |[y, slope, curvature], c| {
                    [c + y * x, y + slope * x, 2.0 * slope + curvature * x]
                }),
        }
    }
}

fn at_knots(knots: &[Knot], x: f64) -> [f64; 3] {
    let behind = knots.partition_point(|knot| knot.x <= x);
    let (Some(before), Some(after)) = (behind.checked_sub(1).map(|i| knots[i]), knots.get(behind)) else {
        let end = if behind == 0 { knots[0] } else { knots[behind - 1] };
        return [end.y + (x - end.x) * end.slope, end.slope, 0.0];
    };
    let width = after.x - before.x;
    let mean = (after.y - before.y) / width;
    let u = x - before.x;
    // y + slope u + b u^2 + c u^3, with the values and slopes of both knots.
    let b = (3.0 * mean - 2.0 * before.slope - after.slope) / width;
    let c = (before.slope + after.slope - 2.0 * mean) / (width * width);
    [
        before.y + u * (before.slope + u * (b + u * c)),
        before.slope + u * (2.0 * b + 3.0 * u * c),
        2.0 * b + 6.0 * u * c,
    ]
}

/// Slopes of the cubic spline through points whose second derivative is zero at both ends.
fn natural_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let n = points.len();
    if n < 2 {
        return vec![0.0; n];
    }
    let width = |i: usize| points[i + 1].0 - points[i].0;
    let mean = |i: usize| (points[i + 1].1 - points[i].1) / width(i);
    // One equation for each slope: that of a knot has the weights 1/width of its neighbours.
    let (mut pivots, mut sides) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for i in 0..n {
        let (mut pivot, mut side) = (0.0, 0.0);
        if i > 0 {
            pivot += 2.0 / width(i - 1);
            side += 3.0 * mean(i - 1) / width(i - 1);
        }
        if i + 1 < n {
            pivot += 2.0 / width(i);
            side += 3.0 * mean(i) / width(i);
        }
        if i > 0 {
            let factor = 1.0 / (width(i - 1) * pivots[i - 1]);
            pivot -= factor / width(i - 1);
            side -= factor * sides[i - 1];
        }
        pivots.push(pivot);
        sides.push(side);
    }
    let mut slopes = vec![0.0; n];
    for i in (0..n).rev() {
        let next = if i + 1 < n { slopes[i + 1] / width(i) } else { 0.0 };
        slopes[i] = (sides[i] - next) / pivots[i];
    }
    slopes
}

/// Scalars that follow others along a smooth curve: a cam, a knee.
///
/// **Equation.** `x_c = y(x)` per element, of which `y` is a spline (cubic between its knots and
/// straight beyond them) or a polynomial. `J = y'`, `G = f y''`. A cubic with the values and slopes
/// of its knots has no jumps of `y'`; those of `y''`, which slopes of a cubic spline leave only at
/// both ends, are jumps of a force.
///
/// **Parents.** Any scalars, such as free coordinates of joints.
///
/// **Use.** Cams; joints whose other coordinates follow from one of them, such as a knee that
/// slides while it bends: hold the [`Difference`](crate::Difference) of a coordinate and its curve
/// at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    elements: Vec<Dependency>,
    law: Law,
}

impl Curve {
    /// The cubic spline through points `(x, y)` (rad, m or any unit of the parent and of the
    /// child), `x` rising, with no second derivative at both ends. With a single point it is
    /// constant.
    pub fn through(elements: &[Dependency], points: &[(f64, f64)]) -> Self {
        let slopes = natural_slopes(points);
        Self::with_slopes(elements, points, &slopes)
    }

    /// The curve through points `(x, y)` (rad, m or any unit of the parent and of the child), `x`
    /// rising, with the slopes `dy/dx` there (m/rad, or their quotient), one for each.
    pub fn with_slopes(elements: &[Dependency], points: &[(f64, f64)], slopes: &[f64]) -> Self {
        // What is missing is found by `check`.
        let slopes = slopes.iter().copied().chain(std::iter::repeat(f64::NAN));
        let knots = points.iter().zip(slopes);
        let knots = knots.map(|((x, y), slope)| Knot { x: *x, y: *y, slope });
        Self {
            elements: elements.to_vec(),
            law: Law::Knots(knots.collect()),
        }
    }

    /// The polynomial `c_0 + c_1 x + c_2 x^2 + ...` with coefficients (m, or any unit) per power of
    /// the unit of the parent.
    pub fn polynomial(elements: &[Dependency], coefficients: &[f64]) -> Self {
        Self {
            elements: elements.to_vec(),
            law: Law::Polynomial(coefficients.to_vec()),
        }
    }
}

impl Mapping for Curve {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.elements.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        match &self.law {
            Law::Knots(knots) => {
                if knots.is_empty() {
                    return Err(points::degenerate(name, 0, "it has no points"));
                }
                for value in knots.iter().flat_map(|knot| [knot.x, knot.y]) {
                    check_finite(name, Field::CurvePoints, value)?;
                }
                if knots.windows(2).any(|pair| pair[0].x >= pair[1].x) {
                    return Err(points::degenerate(name, 0, "its points do not rise in x"));
                }
                // Slopes of a spline through points that do not rise are no numbers.
                for knot in knots {
                    check_finite(name, Field::CurvePoints, knot.slope)?;
                }
            }
            Law::Polynomial(coefficients) => {
                points::check_finite(name, Field::Coefficients, coefficients)?;
            }
        }
        for at in &self.elements {
            points::check_real(name, *at, 1, parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.elements[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (at, c) in self.elements.iter().zip(child) {
            *c = self.law.at(parents.position(*at)[0])[0];
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, at) in self.elements.iter().enumerate() {
            out.block_mut(e)[0] = self.law.at(parents.position(*at)[0])[1];
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        for (at, c) in self.elements.iter().zip(child) {
            let velocity = parents.velocity(*at)[0];
            *c += self.law.at(parents.position(*at)[0])[2] * velocity * velocity;
        }
        true
    }

    fn carries_chords(&self) -> bool {
        false
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, at) in self.elements.iter().enumerate() {
            out.block_mut(e)[0] = force[e] * self.law.at(parents.position(*at)[0])[2];
        }
    }
}
