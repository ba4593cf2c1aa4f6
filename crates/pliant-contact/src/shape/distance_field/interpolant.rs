//! The tricubic interpolant of values on a grid.
//!
//! Along an axis, between the values `f_0` and `f_1` with `f_-1` and `f_2` beside them, it is the
//! cubic with these values and the slopes `(f_1 - f_-1)/2` and `(f_2 - f_0)/2` (Catmull and Rom
//! 1974). It has quadratic polynomials exactly, so its error is of third order in the spacing, that
//! of its gradient of second order. At the sides of the grid the value beyond is that of the
//! parabola of the last three.

use pliant_dense::{Mat3, Vec3};

/// Values on a grid, x first.
#[derive(Clone, Debug)]
pub(crate) struct Interpolant {
    pub(crate) counts: [usize; 3],
    pub(crate) spacing: Vec3,
    pub(crate) origin: Vec3,
    pub(crate) values: Vec<f64>,
}

/// Value, gradient and second derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jet {
    pub(crate) value: f64,
    pub(crate) slope: Vec3,
    pub(crate) bend: Mat3,
}

/// Weights of four values in a row from a first one: of the value and of two derivatives by the
/// coordinate.
struct Row {
    first: usize,
    weights: [[f64; 4]; 3],
}

impl Row {
    fn new(u: f64, count: usize, spacing: f64) -> Self {
        let cell = (u.floor().max(0.0) as usize).min(count - 2);
        let t = u - cell as f64;
        let (t2, t3) = (t * t, t * t * t);
        let value = [
            -0.5 * t + t2 - 0.5 * t3,
            1.0 - 2.5 * t2 + 1.5 * t3,
            0.5 * t + 2.0 * t2 - 1.5 * t3,
            -0.5 * t2 + 0.5 * t3,
        ];
        let slope = [
            -0.5 + 2.0 * t - 1.5 * t2,
            -5.0 * t + 4.5 * t2,
            0.5 + 4.0 * t - 4.5 * t2,
            -t + 1.5 * t2,
        ];
        let bend = [2.0 - 3.0 * t, -5.0 + 9.0 * t, 4.0 - 9.0 * t, -1.0 + 3.0 * t];
        let scaled = |w: [f64; 4], by: f64| w.map(|x| x * by);
        let weights = [
            value,
            scaled(slope, 1.0 / spacing),
            scaled(bend, 1.0 / spacing / spacing),
        ];
        // The value beyond a side is 3 f_0 - 3 f_1 + f_2.
        let (first, weights) = if cell == 0 {
            let low = |[b, p, q, r]: [f64; 4]| [p + 3.0 * b, q - 3.0 * b, r + b, 0.0];
            (0, weights.map(low))
        } else if cell == count - 2 {
            let high = |[p, q, r, b]: [f64; 4]| [0.0, p + b, q - 3.0 * b, r + 3.0 * b];
            (count - 4, weights.map(high))
        } else {
            (cell - 1, weights)
        };
        Self { first, weights }
    }
}

impl Interpolant {
    /// The indices along the axes of a value.
    pub(crate) fn index(&self, k: usize) -> [usize; 3] {
        let [nx, ny, _] = self.counts;
        [k % nx, k / nx % ny, k / nx / ny]
    }

    /// The position of a value.
    pub(crate) fn entry(&self, at: [usize; 3]) -> usize {
        at[0] + self.counts[0] * (at[1] + self.counts[1] * at[2])
    }

    /// The place of a point of the grid.
    pub(crate) fn place(&self, at: [usize; 3]) -> Vec3 {
        self.origin + Vec3::from_fn(|k, _| self.spacing[k] * at[k] as f64)
    }

    /// The point of the grid farthest from its origin.
    pub(crate) fn far(&self) -> Vec3 {
        self.place(self.counts.map(|n| n - 1))
    }

    /// The largest spacing.
    pub(crate) fn coarse(&self) -> f64 {
        self.spacing.amax()
    }

    /// The smallest spacing.
    pub(crate) fn fine(&self) -> f64 {
        self.spacing.min()
    }

    /// The largest slope between neighbouring values.
    pub(crate) fn steepest(&self) -> f64 {
        let of_point = |k: usize| {
            let at = self.index(k);
            let along = |axis: usize| {
                let mut other = at;
                let slope = |other: [usize; 3]| {
                    (self.values[self.entry(other)] - self.values[k]).abs() / self.spacing[axis]
                };
                let mut most = 0.0_f64;
                if at[axis] > 0 {
                    other[axis] = at[axis] - 1;
                    most = slope(other);
                }
                if at[axis] + 1 < self.counts[axis] {
                    other[axis] = at[axis] + 1;
                    most = most.max(slope(other));
                }
                most
            };
            along(0).hypot(along(1)).hypot(along(2))
        };
        (0..self.values.len()).map(of_point).fold(0.0, f64::max)
    }

    /// The field about a point; none beyond the grid, or where numbers overflow.
    pub(crate) fn at(&self, point: Vec3) -> Option<Jet> {
        let u = (point - self.origin).component_div(&self.spacing);
        if !(0..3).all(|k| u[k] >= 0.0 && u[k] <= (self.counts[k] - 1) as f64) {
            return None;
        }
        let [x, y, z] = [0, 1, 2].map(|k| Row::new(u[k], self.counts[k], self.spacing[k]));
        // By derivative along z, y, x; orders that are not needed stay zero.
        let mut sums = [[[0.0; 3]; 3]; 3];
        for k in 0..4 {
            let mut plane = [[0.0; 3]; 3];
            for j in 0..4 {
                let start = self.entry([x.first, y.first + j, z.first + k]);
                let values = &self.values[start..start + 4];
                let mut line = [0.0; 3];
                for (sum, weights) in line.iter_mut().zip(&x.weights) {
                    *sum = (0..4).map(|i| weights[i] * values[i]).sum();
                }
                for (b, of_y) in plane.iter_mut().enumerate() {
                    for a in 0..3 - b {
                        of_y[a] += y.weights[b][j] * line[a];
                    }
                }
            }
            for (c, of_z) in sums.iter_mut().enumerate() {
                for b in 0..3 - c {
                    for a in 0..3 - b - c {
                        of_z[b][a] += z.weights[c][k] * plane[b][a];
                    }
                }
            }
        }
        let d = |a: usize, b: usize, c: usize| sums[c][b][a];
        let jet = Jet {
            value: d(0, 0, 0),
            slope: Vec3::new(d(1, 0, 0), d(0, 1, 0), d(0, 0, 1)),
            bend: Mat3::new(
                d(2, 0, 0),
                d(1, 1, 0),
                d(1, 0, 1),
                d(1, 1, 0),
                d(0, 2, 0),
                d(0, 1, 1),
                d(1, 0, 1),
                d(0, 1, 1),
                d(0, 0, 2),
            ),
        };
        let known = jet.value.is_finite() && jet.slope.norm_squared().is_finite();
        (known && jet.bend.norm_squared().is_finite()).then_some(jet)
    }
}

impl Jet {
    /// The unit gradient, and its length; none where that is zero.
    pub(crate) fn normal(&self) -> Option<(Vec3, f64)> {
        let length = self.slope.norm();
        (length > 1e-100).then(|| (self.slope / length, length))
    }
}
