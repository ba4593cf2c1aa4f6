//! Points near the central path, and what the laws make of them.

use super::law::smooth;
use crate::complementarity::{Compensated, Problem};

/// `tau` at the start in shares of the work, and the logarithm of what is left of it at `t = 1`.
const START: f64 = 1e2;
pub(super) const RANGE: f64 = -19.0 * std::f64::consts::LN_10;
/// Width at the start of the corner of De Saxcé's shift in shares of the largest `|b|`, and the
/// power of `tau` with which it becomes sharp: by the end it is below rounding.
const BLUR: f64 = 0.01;
const SHARPER: f64 = 0.7;
/// Share of the scale of a block that is added to its rows: a part of the tolerance, between these.
/// More, and the velocities that it gives to large impulses are seen in the residual; less, and
/// rounding hides what impulses of redundant contacts are. A factor that has no pivots to choose
/// takes three times as much, and where little accuracy is asked for up to the softest.
const PIVOTED: f64 = 0.01;
const UNPIVOTED: f64 = 0.03;
const COMPLIANCE: (f64, f64) = (1e-12, 1e-9);
const SOFTEST: f64 = 1e-6;

/// Data that stay the same along the path.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// Length of the path per impulse, by row (1/(N s)).
    pub(super) weight: Vec<f64>,
    /// Compliance added to the diagonal of `A`, by row (m/s per N s), and the impulse at which it
    /// gives no velocity (N s).
    pub(super) compliance: Vec<f64>,
    pub(super) anchor: Vec<f64>,
    /// The miss of the start (m/s).
    pub(super) offset: Vec<f64>,
    /// The compliance as a share of the scales.
    pub(super) share: f64,
    /// Units of which `tau` and the blur are shares (J, m/s).
    work: f64,
    speed: f64,
}

impl Course {
    pub(super) fn begin(&mut self, problem: &Problem, tolerance: f64, pivots: bool) {
        let speed = problem.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let speed = if speed == 0.0 { 1.0 } else { speed };
        let blocks = problem.blocks().max(1) as f64;
        let middle = ((0..problem.blocks()).map(|k| problem.scale(k).ln()).sum::<f64>() / blocks).exp();
        (self.work, self.speed) = (speed * speed / middle, speed);
        self.share = if pivots {
            (PIVOTED * tolerance).clamp(COMPLIANCE.0, COMPLIANCE.1)
        } else {
            (UNPIVOTED * tolerance).clamp(COMPLIANCE.0, SOFTEST)
        };
        self.weight.clear();
        self.compliance.clear();
        for k in 0..problem.blocks() {
            for _ in problem.rows(k) {
                self.weight.push(problem.scale(k) / speed);
                self.compliance.push(self.share * problem.scale(k));
            }
        }
        for list in [&mut self.anchor, &mut self.offset] {
            list.clear();
            list.resize(problem.size(), 0.0);
        }
    }

    /// `tau` at a place, as a share of that at the start.
    pub(super) fn share_at(&self, t: f64) -> f64 {
        (RANGE * t).exp()
    }

    /// Scalar product of two changes.
    pub(super) fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = self.weight.iter().zip(a.iter().zip(b));
        terms.map(|(w, (a, b))| (w * a) * (w * b)).sum()
    }
}

/// A point near the path, and what the laws make of it.
#[derive(Clone, Debug, Default)]
pub(super) struct PathPoint {
    /// `S r - S^-1 v/s` of each block.
    pub(super) z: Vec<f64>,
    /// Share of the way in the logarithm of `tau`.
    pub(super) t: f64,
    pub(super) r: Vec<f64>,
    /// The miss, and its derivative by `t` (m/s).
    pub(super) miss: Vec<f64>,
    pub(super) drift: Vec<f64>,
    /// Matrices by blocks: `s (1 - P) S`, `P S^-1 V`, `S^-1 V / s`; and the first entry of `S`.
    pub(super) by_r: Vec<f64>,
    pub(super) by_u: Vec<f64>,
    pub(super) lift: Vec<f64>,
    pub(super) first: Vec<f64>,
    /// The miss, before it is rounded.
    sums: Vec<Compensated>,
}

impl PathPoint {
    /// The start: `z = 0`, where every law is at its middle.
    pub(super) fn begin(&mut self, problem: &Problem) {
        let (m, squares) = (problem.size(), problem.squares());
        self.t = 0.0;
        for list in [&mut self.z, &mut self.r, &mut self.miss, &mut self.drift] {
            list.clear();
            list.resize(m, 0.0);
        }
        for list in [&mut self.by_r, &mut self.by_u, &mut self.lift] {
            list.clear();
            list.resize(squares, 0.0);
        }
        self.first.clear();
        self.first.resize(problem.blocks(), 1.0);
        self.sums.clear();
        self.sums.resize(m, Compensated::default());
    }

    /// Everything from `z` and `t`. What the start missed is given back as `tau` falls. The
    /// velocities at which redundant contacts stick cancel to what the compliance gives, a
    /// billionth of their terms, which only a product of twice the precision does not drown. Cost:
    /// that and a common product.
    pub(super) fn evaluate(&mut self, problem: &Problem, course: &Course, scratch: &mut [f64]) {
        let share = course.share_at(self.t);
        let tau = course.work * START * share;
        let blur = BLUR * course.speed * share.powf(SHARPER);
        let b = problem.b();
        for (k, cone) in problem.cones().iter().enumerate() {
            let (rows, square) = (problem.rows(k), problem.square(k));
            let d = rows.len();
            let law = smooth(cone, problem.scale(k), (tau, blur), &self.z[rows.clone()]);
            self.r[rows.clone()].copy_from_slice(&law.r[..d]);
            for (i, row) in rows.enumerate() {
                let (e, start) = (course.compliance[row], share * course.offset[row]);
                let sum = &mut self.sums[row];
                *sum = Compensated::default();
                *sum += b[row];
                *sum += -law.u[i];
                sum.add_product(-share, course.offset[row]);
                sum.add_product(e, law.r[i]);
                sum.add_product(-e, course.anchor[row]);
                scratch[row] = RANGE * tau * law.r_tau[i];
                self.drift[row] = e * scratch[row] - RANGE * (tau * law.u_tau[i] + start);
            }
            self.drift[problem.rows(k).start] -= SHARPER * RANGE * blur * law.u_blur;
            self.by_r[square.clone()].copy_from_slice(&law.by_r[..d * d]);
            self.by_u[square.clone()].copy_from_slice(&law.by_u[..d * d]);
            self.lift[square].copy_from_slice(&law.lift[..d * d]);
            self.first[k] = law.first;
        }
        let flow = &mut self.miss;
        problem.delassus().rows_times(0..problem.size(), scratch, flow);
        self.drift.iter_mut().zip(&*flow).for_each(|(d, x)| *d += x);
        problem.delassus().add_times(&self.r, &mut self.sums, scratch);
        let sums = self.miss.iter_mut().zip(&self.sums);
        sums.for_each(|(miss, sum)| *miss = sum.value());
    }
}

/// `y -= X x` for a matrix by blocks.
pub(super) fn subtract(problem: &Problem, matrix: &[f64], x: &[f64], y: &mut [f64]) {
    for k in 0..problem.blocks() {
        let (rows, square) = (problem.rows(k), problem.square(k).start);
        let d = rows.len();
        for i in 0..d {
            let terms = (0..d).map(|l| matrix[square + i * d + l] * x[rows.start + l]);
            y[rows.start + i] -= terms.sum::<f64>();
        }
    }
}
