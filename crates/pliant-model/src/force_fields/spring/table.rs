//! A curve through points: monotone cubics (Fritsch and Butland 1984).

use crate::validate::{check_bound, check_finite, check_least};
use crate::{Field, ModelError};

/// Tension over extension through points, with its integral.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>,
    /// Energy from the first point to each.
    energies: Vec<f64>,
    /// Energy from the first point to zero extension.
    at_zero: f64,
}

impl Table {
    pub(super) fn new(points: &[(f64, f64)]) -> Self {
        let mut out = Self {
            points: points.to_vec(),
            slopes: slopes(points),
            energies: vec![0.0; points.len()],
            at_zero: 0.0,
        };
        for k in 1..points.len() {
            out.energies[k] = out.energies[k - 1] + out.integral(k, 1.0);
        }
        out.at_zero = out.since_first(0.0);
        out
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        let count = self.points.len();
        check_least(
            name,
            Field::CurveExtensions,
            "points of a curve, or more",
            2,
            count,
        )?;
        for (i, (x, t)) in self.points.iter().enumerate() {
            check_finite(name, Field::CurveExtensions, *x).map_err(|e| e.at(i, count))?;
            check_finite(name, Field::CurveForces, *t).map_err(|e| e.at(i, count))?;
        }
        let (field, bound) = (Field::CurveExtensions, "larger than the one before");
        let mut pairs = self.points.windows(2).enumerate();
        pairs.try_for_each(|(i, w)| {
            check_bound(name, field, w[1].0, bound, w[1].0 > w[0].0).map_err(|e| e.at(i + 1, count))
        })
    }

    /// Whether the curve rises everywhere, so that its slope has an inverse.
    pub(super) fn rises(&self) -> bool {
        self.points.windows(2).all(|w| w[1].1 > w[0].1)
    }

    pub(super) fn tension(&self, x: f64) -> f64 {
        match self.locate(x) {
            Location::Beyond(k) => self.points[k].1 + self.slopes[k] * (x - self.points[k].0),
            Location::Inside(k, t) => {
                let (h, t0, t1, m0, m1) = self.segment(k);
                let bend = (t0 - t1) + h * m0;
                let twist = 2.0 * (t0 - t1) + h * (m0 + m1);
                // t0 + h m0 t + (...) t^2 + twist t^3
                t0 + t * (h * m0 + t * (t * twist - (bend + twist)))
            }
            Location::Nowhere => f64::NAN,
        }
    }

    pub(super) fn slope(&self, x: f64) -> f64 {
        match self.locate(x) {
            Location::Beyond(k) => self.slopes[k],
            Location::Inside(k, t) => {
                let (h, t0, t1, m0, m1) = self.segment(k);
                let bend = (t0 - t1) + h * m0;
                let twist = 2.0 * (t0 - t1) + h * (m0 + m1);
                (h * m0 + t * (3.0 * t * twist - 2.0 * (bend + twist))) / h
            }
            Location::Nowhere => f64::NAN,
        }
    }

    pub(super) fn energy(&self, x: f64) -> f64 {
        self.since_first(x) - self.at_zero
    }

    fn since_first(&self, x: f64) -> f64 {
        match self.locate(x) {
            Location::Beyond(k) => {
                let d = x - self.points[k].0;
                self.energies[k] + d * (self.points[k].1 + 0.5 * self.slopes[k] * d)
            }
            Location::Inside(k, t) => self.energies[k - 1] + self.integral(k, t),
            Location::Nowhere => f64::NAN,
        }
    }

    /// Integral over the first `t` of the segment that ends at point `k`.
    fn integral(&self, k: usize, t: f64) -> f64 {
        let (h, t0, t1, m0, m1) = self.segment(k);
        let bend = (t0 - t1) + h * m0;
        let twist = 2.0 * (t0 - t1) + h * (m0 + m1);
        h * t * (t0 + t * (0.5 * h * m0 + t * (0.25 * t * twist - (bend + twist) / 3.0)))
    }

    fn segment(&self, k: usize) -> (f64, f64, f64, f64, f64) {
        let ((x0, t0), (x1, t1)) = (self.points[k - 1], self.points[k]);
        (x1 - x0, t0, t1, self.slopes[k - 1], self.slopes[k])
    }

    fn locate(&self, x: f64) -> Location {
        let n = self.points.len();
        if n < 2 || x.is_nan() {
            return Location::Nowhere;
        }
        match self.points.partition_point(|p| p.0 <= x) {
            0 => Location::Beyond(0),
            k if k == n => Location::Beyond(n - 1),
            k => Location::Inside(
                k,
                (x - self.points[k - 1].0) / (self.points[k].0 - self.points[k - 1].0),
            ),
        }
    }
}

/// A coordinate with respect to the points of a curve.
enum Location {
    /// Beyond the first or the last point.
    Beyond(usize),
    /// On the segment that ends at a point, and how far along.
    Inside(usize, f64),
    /// There is no curve.
    Nowhere,
}

/// Slopes at the points: weighted harmonic means of the secants where these agree in sign, zero
/// where not; at the ends the secant.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let n = points.len();
    if n < 2 {
        return vec![0.0; n];
    }
    let step = |k: usize| points[k + 1].0 - points[k].0;
    let secant = |k: usize| (points[k + 1].1 - points[k].1) / step(k);
    let mut out = vec![secant(0)];
    for k in 1..n - 1 {
        let (a, b) = (secant(k - 1), secant(k));
        let (wa, wb) = (2.0 * step(k) + step(k - 1), step(k) + 2.0 * step(k - 1));
        out.push(if a * b > 0.0 {
            (wa + wb) / (wa / a + wb / b)
        } else {
            0.0
        });
    }
    out.push(secant(n - 2));
    out
}
