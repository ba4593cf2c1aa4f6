//! The scaling of Nesterov and Todd for one friction cone, in coordinates in which it is the
//! self-dual cone `|x_t| <= x_0`.

use crate::complementarity::Problem;

/// The scalings of all blocks, as one matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Metric {
    /// `T`: to the eigenvectors of the scaling, in which `E` is diagonal.
    pub(super) turn: Vec<f64>,
    pub(super) e: Vec<f64>,
}

impl Metric {
    /// Makes room for that of a problem.
    pub(super) fn reset(&mut self, problem: &Problem) {
        self.turn.clear();
        self.turn.resize(problem.squares(), 0.0);
        self.e.clear();
        self.e.resize(problem.size(), 0.0);
    }
}

/// Sum of products of the tangential parts.
fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[1] * b[1] + a[2] * b[2]
}

/// `x_0 - |x_t|`, the smaller eigenvalue.
pub(super) fn least(x: &[f64; 3]) -> f64 {
    x[0] - x[1].hypot(x[2])
}

/// `x_0^2 - |x_t|^2` as a product, without cancellation beyond that of its factors.
pub(super) fn determinant(x: &[f64; 3]) -> f64 {
    let t = x[1].hypot(x[2]);
    (x[0] - t) * (x[0] + t)
}

/// Jordan product.
pub(super) fn product(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [
        a[0] * b[0] + dot(a, b),
        a[0] * b[1] + b[0] * a[1],
        a[0] * b[2] + b[0] * a[2],
    ]
}

/// `y` with `l o y = x`.
pub(super) fn quotient(l: &[f64; 3], x: &[f64; 3]) -> [f64; 3] {
    let y = (l[0] * x[0] - dot(l, x)) / determinant(l);
    [y, (x[1] - y * l[1]) / l[0], (x[2] - y * l[2]) / l[0]]
}

/// Largest step by which `x + step d` stays in the cone.
pub(super) fn step(x: &[f64; 3], d: &[f64; 3]) -> f64 {
    // The least positive root of (x + s d)_0^2 = |(x + s d)_t|^2.
    let a = determinant(d);
    let b = x[0] * d[0] - dot(x, d);
    let c = determinant(x).max(0.0);
    let mut out = f64::INFINITY;
    let inner = b * b - a * c;
    if inner >= 0.0 {
        let q = -(b + b.signum() * inner.sqrt());
        for root in [q / a, c / q] {
            if root > 0.0 {
                out = out.min(root);
            }
        }
    }
    if d[0] < 0.0 { out.min(-x[0] / d[0]) } else { out }
}

/// `W` symmetric with `W r = W^-1 v = lambda`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scaling {
    size: f64,
    w: [f64; 3],
    pub(super) lambda: [f64; 3],
}

/// A scaling's square with its own part eliminated from the normal: along the direction `way` of
/// the own part and across it, what is left of the normal, and how much of the own part's push on
/// the normal there is per push along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    pub(super) way: [f64; 2],
    pub(super) along: f64,
    pub(super) across: f64,
    pub(super) left: f64,
    pub(super) lean: f64,
}

impl Scaling {
    /// For `r` and `v` inside the cone.
    pub(super) fn new(r: &[f64; 3], v: &[f64; 3]) -> Self {
        let (dr, dv) = (determinant(r).sqrt(), determinant(v).sqrt());
        let inner = (r[0] * v[0] + dot(r, v)) / (dr * dv);
        let gamma = (0.5 * (1.0 + inner)).sqrt();
        let bar = |k: usize| {
            let sign = if k == 0 { 1.0 } else { -1.0 };
            (v[k] / dv + sign * r[k] / dr) / (2.0 * gamma)
        };
        let mut w = [0.0, bar(1), bar(2)];
        // Of unit determinant by construction.
        w[0] = (1.0 + dot(&w, &w)).sqrt();
        let mut out = Self {
            size: (dv / dr).sqrt(),
            w,
            lambda: [0.0; 3],
        };
        out.lambda = out.times(r);
        out
    }

    fn apply(&self, x: &[f64; 3], sign: f64) -> [f64; 3] {
        let along = dot(&self.w, x);
        let head = self.w[0] * x[0] + sign * along;
        let share = sign * x[0] + along / (1.0 + self.w[0]);
        [head, x[1] + share * self.w[1], x[2] + share * self.w[2]]
    }

    /// `W x`.
    pub(super) fn times(&self, x: &[f64; 3]) -> [f64; 3] {
        self.apply(x, 1.0).map(|y| self.size * y)
    }

    /// `W^-1 x`.
    pub(super) fn over(&self, x: &[f64; 3]) -> [f64; 3] {
        self.apply(x, -1.0).map(|y| y / self.size)
    }

    /// `W^2` in the form of an arrow: with the eigenvalues `a >= b` along the rays `(1, w_t)` and
    /// `(1, -w_t)`, all without cancellation.
    pub(super) fn arrow(&self) -> Arrow {
        let ([ray, ..], [a, b, across]) = self.square();
        let way = [ray[1] / ray[0], ray[2] / ray[0]];
        let share = b / a;
        Arrow {
            way,
            along: 0.5 * (a + b),
            across,
            left: 2.0 * b / (1.0 + share),
            lean: (1.0 - share) / (1.0 + share),
        }
    }

    /// Eigenvectors of `W^2 = size^2 (2 w w^T - J)`, as rows, and its eigenvalues: along the ray of
    /// `w`, along its mirror image, across. In closed form, because one may be `10^20` times the
    /// other.
    pub(super) fn square(&self) -> ([[f64; 3]; 3], [f64; 3]) {
        let length = self.w[1].hypot(self.w[2]);
        let (c, s) = if length > 0.0 {
            (self.w[1] / length, self.w[2] / length)
        } else {
            (1.0, 0.0)
        };
        let h = std::f64::consts::FRAC_1_SQRT_2;
        let (size, grow) = (self.size * self.size, self.w[0] + length);
        (
            [[h, h * c, h * s], [h, -h * c, -h * s], [0.0, -s, c]],
            [size * grow * grow, size / (grow * grow), size],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_points_scale_to_the_same() {
        for (r, v) in [
            ([1.0, 0.3, -0.2], [2.0, -1.0, 0.5]),
            ([1e-6, 0.9e-6, 0.0], [5.0, 4.99, 0.1]),
            ([3.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ] {
            let s = Scaling::new(&r, &v);
            let other = s.over(&v);
            for k in 0..3 {
                assert!((s.lambda[k] - other[k]).abs() < 1e-9 * s.lambda[0]);
            }
            let (vectors, values) = s.square();
            for (q, e) in vectors.iter().zip(values) {
                let twice = s.times(&s.times(q));
                assert!((0..3).all(|k| (twice[k] - e * q[k]).abs() < 1e-12 * values[0]));
            }
            // The arrow is the same matrix.
            let arrow = s.arrow();
            let [c, d] = arrow.way;
            let ways = [[1.0, 0.0, 0.0], [arrow.lean, c, d], [0.0, -d, c]];
            let parts = [arrow.left, arrow.along, arrow.across];
            for i in 0..3 {
                let unit = [0, 1, 2].map(|k| f64::from(u8::from(i == k)));
                let twice = s.times(&s.times(&unit));
                for k in 0..3 {
                    let sum: f64 = (0..3).map(|l| parts[l] * ways[l][i] * ways[l][k]).sum();
                    assert!((twice[k] - sum).abs() < 1e-12 * values[0]);
                }
            }
            let x = [0.2, -0.4, 0.7];
            let y = quotient(&s.lambda, &x);
            let back = product(&s.lambda, &y);
            assert!((0..3).all(|k| (back[k] - x[k]).abs() < 1e-6));
        }
    }

    #[test]
    fn the_step_ends_on_the_boundary() {
        let x = [1.0, 0.2, 0.0];
        for d in [
            [-1.0, 0.0, 0.0],
            [0.0, 2.0, 1.0],
            [-0.3, -0.9, 0.4],
            [1.0, 0.1, 0.0],
        ] {
            let s = step(&x, &d);
            let end = [0, 1, 2].map(|k| x[k] + s * d[k]);
            assert!(
                if s.is_finite() {
                    least(&end).abs() < 1e-13
                } else {
                    least(&d) >= 0.0
                },
                "{d:?} {s}"
            );
        }
    }
}
