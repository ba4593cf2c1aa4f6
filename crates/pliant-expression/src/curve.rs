//! Functions through points: straight lines and cubic splines.

use super::Dimension;
use std::fmt;
use std::sync::Arc;

/// The way between the points of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Straight lines.
    Lines,
    /// A cubic spline whose second derivative is continuous, and zero at both ends.
    Natural,
    /// A cubic spline whose second derivative is continuous, and whose third one is so at the
    /// second point and the last but one, too: it is exact for polynomials of degree three.
    NotAKnot,
    /// A cubic spline whose second derivative is continuous, also from its end to its start: it
    /// repeats. The last value is the first one.
    Periodic,
    /// A cubic between any two points that is monotone there; its slope is continuous. Slopes are
    /// weighted harmonic means of those to both neighbours (F. N. Fritsch and J. Butland, A method
    /// for constructing local monotone piecewise cubic interpolants, 1984).
    Monotone,
}

/// Why points make no curve.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveError {
    /// Fewer points than its shape needs.
    Few {
        /// How many there are.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A number that is not finite.
    NotFinite {
        /// The number of the point, counted from zero.
        point: usize,
    },
    /// A point that is not behind the one before it.
    Order {
        /// The number of the point, counted from zero.
        point: usize,
    },
    /// Points so close or values so large that the curve between them leaves the range of numbers.
    Range {
        /// The number of the first of two points, counted from zero.
        point: usize,
    },
    /// The values at both ends of a curve that repeats differ.
    Ends {
        /// The first.
        first: f64,
        /// The last.
        last: f64,
    },
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Few { found, needed } => write!(f, "it has {found} points, and needs {needed}"),
            Self::NotFinite { .. } => f.write_str("a number is not finite"),
            Self::Order { .. } => f.write_str("this is not behind the point before it"),
            Self::Range { .. } => {
                f.write_str("the slope from here to the next point is beyond the range of numbers")
            }
            Self::Ends { first, last } => write!(
                f,
                "it repeats, so its last value is to be its first one; they are {last} and {first}"
            ),
        }
    }
}

impl std::error::Error for CurveError {}

/// A function of one number through points; beyond both ends it has the values there, or repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct PointCurve {
    /// Places of the points, ascending.
    places: Arc<[f64]>,
    /// Value, slope, and factors of the square and the cube of the way behind each point but the
    /// last.
    pieces: Arc<[[f64; 4]]>,
    last: f64,
    repeats: bool,
    /// Dimensions of its argument and of its value, if they have units.
    dimensions: [Option<Dimension>; 2],
}

impl PointCurve {
    /// The curve of that shape through points (place, value).
    ///
    /// # Errors
    /// [`CurveError`].
    pub fn through(points: &[(f64, f64)], shape: Shape) -> Result<Self, CurveError> {
        check(points, shape)?;
        let steps: Vec<f64> = points.windows(2).map(|w| w[1].0 - w[0].0).collect();
        let slopes: Vec<f64> = points
            .windows(2)
            .zip(&steps)
            .map(|(w, h)| (w[1].1 - w[0].1) / h)
            .collect();
        let pieces = match shape {
            Shape::Lines => {
                let piece = |(point, slope): (&(f64, f64), &f64)| [point.1, *slope, 0.0, 0.0];
                points.iter().zip(&slopes).map(piece).collect()
            }
            Shape::Monotone => hermite(points, &steps, &slopes, &monotone(&steps, &slopes)),
            _ => by_curvature(points, &steps, &slopes, &curvatures(&steps, &slopes, shape)),
        };
        if let Some(point) = pieces
            .iter()
            .position(|piece: &[f64; 4]| piece.iter().any(|c| !c.is_finite()))
        {
            return Err(CurveError::Range { point });
        }
        Ok(Self {
            places: points.iter().map(|point| point.0).collect(),
            pieces: pieces.into(),
            last: points.last().map_or(0.0, |point| point.1),
            repeats: shape == Shape::Periodic,
            dimensions: [None; 2],
        })
    }

    /// Gives the arguments and the values of the curve these dimensions.
    #[must_use]
    pub fn in_units(mut self, argument: Option<Dimension>, value: Option<Dimension>) -> Self {
        self.dimensions = [argument, value];
        self
    }

    pub(crate) fn dimensions(&self) -> [Option<Dimension>; 2] {
        self.dimensions
    }

    /// Value and slope at a place. Where the slope jumps, that of what follows.
    pub fn at(&self, place: f64) -> (f64, f64) {
        let (Some(first), Some(end)) = (self.places.first(), self.places.last()) else {
            return (self.last, 0.0);
        };
        if place.is_nan() {
            return (place, place);
        }
        let place = match self.repeats {
            true => first + (place - first).rem_euclid(end - first),
            false => place,
        };
        let behind = self.places.partition_point(|p| *p <= place);
        if behind == 0 {
            return (self.pieces.first().map_or(self.last, |piece| piece[0]), 0.0);
        }
        let Some([value, slope, square, cube]) = self.pieces.get(behind - 1) else {
            return (self.last, 0.0);
        };
        let way = place - self.places[behind - 1];
        (
            value + way * (slope + way * (square + way * cube)),
            slope + way * (2.0 * square + 3.0 * way * cube),
        )
    }

    /// The second derivative at a place, and the slope of what is before it, which is another than
    /// that of [`at`](Self::at) where the slope jumps.
    pub(crate) fn bend(&self, place: f64) -> (f64, f64) {
        let (Some(first), Some(end)) = (self.places.first(), self.places.last()) else {
            return (0.0, 0.0);
        };
        let place = match self.repeats {
            true => first + (place - first).rem_euclid(end - first),
            false => place,
        };
        let slope_in = |piece: usize| {
            let [_, slope, square, cube] = self.pieces[piece];
            let way = place - self.places[piece];
            slope + way * (2.0 * square + 3.0 * way * cube)
        };
        // The piece that the place is in, unless it is beyond both ends.
        let behind = self.places.partition_point(|p| *p <= place);
        let inside = behind
            .checked_sub(1)
            .and_then(|k| self.pieces.get(k).map(|piece| (k, piece)));
        let curvature = inside.map_or(0.0, |(k, [_, _, square, cube])| {
            2.0 * square + 6.0 * (place - self.places[k]) * cube
        });
        let ahead = self.places.partition_point(|p| *p < place);
        let before = match ahead.checked_sub(1) {
            Some(piece) if piece < self.pieces.len() => slope_in(piece),
            // At the start of a curve that repeats, its end is before it.
            None if self.repeats && place == *first => self.slope_at_end(),
            _ => 0.0,
        };
        (curvature, before)
    }

    fn slope_at_end(&self) -> f64 {
        let (Some([_, slope, square, cube]), [.., from, to]) = (self.pieces.last(), &*self.places) else {
            return 0.0;
        };
        let way = to - from;
        slope + way * (2.0 * square + 3.0 * way * cube)
    }
}

fn check(points: &[(f64, f64)], shape: Shape) -> Result<(), CurveError> {
    let needed = match shape {
        Shape::Lines => 1,
        Shape::Periodic => 4,
        _ => 2,
    };
    if points.len() < needed {
        let found = points.len();
        return Err(CurveError::Few { found, needed });
    }
    let not_finite = |point: &(f64, f64)| !point.0.is_finite() || !point.1.is_finite();
    if let Some(point) = points.iter().position(not_finite) {
        return Err(CurveError::NotFinite { point });
    }
    if let Some(before) = points.windows(2).position(|w| w[0].0 >= w[1].0) {
        return Err(CurveError::Order { point: before + 1 });
    }
    match (shape, points) {
        (Shape::Periodic, [(_, first), .., (_, last)]) if first != last => Err(CurveError::Ends {
            first: *first,
            last: *last,
        }),
        _ => Ok(()),
    }
}

/// Pieces by second derivatives at the points.
fn by_curvature(points: &[(f64, f64)], steps: &[f64], slopes: &[f64], m: &[f64]) -> Vec<[f64; 4]> {
    let piece = |k: usize| {
        let h = steps[k];
        let slope = slopes[k] - h * (2.0 * m[k] + m[k + 1]) / 6.0;
        [points[k].1, slope, 0.5 * m[k], (m[k + 1] - m[k]) / (6.0 * h)]
    };
    (0..steps.len()).map(piece).collect()
}

/// Pieces by first derivatives at the points.
fn hermite(points: &[(f64, f64)], steps: &[f64], slopes: &[f64], d: &[f64]) -> Vec<[f64; 4]> {
    let piece = |k: usize| {
        let h = steps[k];
        let square = (3.0 * slopes[k] - 2.0 * d[k] - d[k + 1]) / h;
        [
            points[k].1,
            d[k],
            square,
            (d[k] + d[k + 1] - 2.0 * slopes[k]) / (h * h),
        ]
    };
    (0..steps.len()).map(piece).collect()
}

/// First derivatives that keep every piece monotone.
fn monotone(steps: &[f64], slopes: &[f64]) -> Vec<f64> {
    let n = steps.len();
    if n == 1 {
        return vec![slopes[0]; 2];
    }
    let inner = |k: usize| {
        let (a, b) = (slopes[k - 1], slopes[k]);
        if a * b <= 0.0 {
            return 0.0;
        }
        let weights = [steps[k - 1] + 2.0 * steps[k], 2.0 * steps[k - 1] + steps[k]];
        (weights[0] + weights[1]) / (weights[0] / b + weights[1] / a)
    };
    // The slope of the parabola through three points, no steeper than is monotone.
    let end = |near: usize, far: usize| {
        let (h, g) = (steps[near], steps[far]);
        let slope = ((2.0 * h + g) * slopes[near] - h * slopes[far]) / (h + g);
        if slope * slopes[near] <= 0.0 {
            0.0
        } else if slopes[near] * slopes[far] <= 0.0 && slope.abs() > 3.0 * slopes[near].abs() {
            3.0 * slopes[near]
        } else {
            slope
        }
    };
    let mut all = vec![end(0, 1)];
    all.extend((1..n).map(inner));
    all.push(end(n - 1, n - 2));
    all
}

/// Second derivatives at the points of a spline whose second derivative is continuous.
fn curvatures(h: &[f64], slopes: &[f64], shape: Shape) -> Vec<f64> {
    let n = h.len();
    let load = |k: usize| 6.0 * (slopes[k] - slopes[k - 1]);
    match (shape, n) {
        (Shape::Periodic, _) => return periodic(h, slopes),
        (_, 1) => return vec![0.0; 2],
        // A parabola.
        (Shape::NotAKnot, 2) => return vec![2.0 * (slopes[1] - slopes[0]) / (h[0] + h[1]); 3],
        _ => {}
    }
    // Rows of the inner points: below, on and above the diagonal, and the right side.
    let mut rows: Vec<[f64; 4]> = (1..n)
        .map(|k| [h[k - 1], 2.0 * (h[k - 1] + h[k]), h[k], load(k)])
        .collect();
    let ends = |near: f64, far: f64| [near * (1.0 + near / far), near * near / far];
    if shape == Shape::NotAKnot {
        let [on, off] = ends(h[0], h[1]);
        rows[0][1] += on;
        rows[0][2] -= off;
        let [on, off] = ends(h[n - 1], h[n - 2]);
        rows[n - 2][1] += on;
        rows[n - 2][0] -= off;
    }
    let inner = tridiagonal(&mut rows);
    let mut all = vec![0.0; n + 1];
    all[1..n].copy_from_slice(&inner);
    if shape == Shape::NotAKnot {
        all[0] = all[1] + h[0] / h[1] * (all[1] - all[2]);
        all[n] = all[n - 1] + h[n - 1] / h[n - 2] * (all[n - 1] - all[n - 2]);
    }
    all
}

/// Second derivatives of a spline that repeats: a tridiagonal system with two corners, which are
/// taken out as a matrix of rank one and put back by the formula of Sherman and Morrison.
fn periodic(h: &[f64], slopes: &[f64]) -> Vec<f64> {
    let n = h.len();
    let before = |k: usize| if k == 0 { n - 1 } else { k - 1 };
    let row = |k: usize| {
        let (a, b) = (h[before(k)], h[k]);
        [a, 2.0 * (a + b), b, 6.0 * (slopes[k] - slopes[before(k)])]
    };
    let mut rows: Vec<[f64; 4]> = (0..n).map(row).collect();
    let corner = rows[0][0];
    let gamma = -rows[0][1];
    rows[0][1] -= gamma;
    rows[n - 1][1] -= corner * corner / gamma;
    let mut others = rows.clone();
    for (k, row) in others.iter_mut().enumerate() {
        row[3] = match k {
            0 => gamma,
            k if k == n - 1 => corner,
            _ => 0.0,
        };
    }
    let (x, z) = (tridiagonal(&mut rows), tridiagonal(&mut others));
    let factor = (x[0] + corner * x[n - 1] / gamma) / (1.0 + z[0] + corner * z[n - 1] / gamma);
    let mut all: Vec<f64> = x.iter().zip(&z).map(|(x, z)| x - factor * z).collect();
    all.push(all[0]);
    all
}

/// Solves a tridiagonal system of rows (below, on, above the diagonal, right side), which are used
/// up. Its diagonals outweigh the rest, so that no rows need to be exchanged.
fn tridiagonal(rows: &mut [[f64; 4]]) -> Vec<f64> {
    for k in 1..rows.len() {
        let [_, on, above, right] = rows[k - 1];
        let factor = rows[k][0] / on;
        rows[k][1] -= factor * above;
        rows[k][3] -= factor * right;
    }
    let mut solution = vec![0.0; rows.len()];
    let mut behind = 0.0;
    for (x, [_, on, above, right]) in solution.iter_mut().zip(rows.iter()).rev() {
        behind = (right - above * behind) / on;
        *x = behind;
    }
    solution
}
