//! Newton's direction of the interior-point method.

use super::scaling::{product, quotient};
use super::{InteriorPoint, pad};
use crate::complementarity::Problem;
use crate::complementarity::shifted::Shifted;

/// Largest entry.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// Refinements at most.
const PASSES: usize = 4;
/// Share of the infeasibility that the linear system may leave.
const GAIN: f64 = 0.01;

/// What the linear system is made of.
struct System<'a> {
    problem: &'a Problem,
    shifted: &'a mut Shifted,
    turn: &'a [f64],
    e: &'a [f64],
    slope: &'a [[f64; 2]],
    bent: bool,
    scratch: &'a mut [f64],
}

impl System<'_> {
    /// `q = T^-T (A + V^-1 E)^-1 x`.
    fn solve(&mut self, x: &[f64], q: &mut [f64]) {
        self.turned(false, x);
        if self.bent {
            self.shifted.solve_bent(self.scratch, q);
        } else {
            self.shifted.solve(self.scratch, q);
        }
    }

    /// Each block times `T`, or its transpose, into the scratch.
    fn turned(&mut self, transpose: bool, x: &[f64]) {
        for k in 0..self.problem.blocks() {
            let rows = self.problem.rows(k);
            let d = rows.len();
            let mut y = [0.0; 3];
            for i in 0..d {
                for l in 0..d {
                    let t = if transpose { l * d + i } else { i * d + l };
                    y[i] += self.turn[self.problem.square(k).start + t] * x[rows.start + l];
                }
            }
            self.scratch[rows].copy_from_slice(&y[..d]);
        }
    }

    /// `dr = T^T q`.
    fn back(&mut self, q: &[f64], dr: &mut [f64]) {
        self.turned(true, q);
        dr.copy_from_slice(self.scratch);
    }

    /// `push = T^-1 E q`, with `T^-1 = S^2 T^T`, `S = diag(mu, 1, 1)`.
    fn push(&mut self, q: &[f64], push: &mut [f64], blocks: &[super::Inner]) {
        for i in 0..q.len() {
            self.scratch[i] = self.e[i] * q[i];
        }
        for k in 0..self.problem.blocks() {
            let rows = self.problem.rows(k);
            let d = rows.len();
            let floor = blocks[k].floor;
            let mu = self.problem.cones()[k]
                .friction()
                .filter(|mu| *mu > 0.0)
                .unwrap_or(1.0);
            for i in 0..d {
                let terms = (0..d).map(|l| {
                    let at = rows.start + l;
                    self.turn[self.problem.square(k).start + l * d + i] * (self.scratch[at] - floor * q[at])
                });
                let sum: f64 = terms.sum();
                push[rows.start + i] = if i == 0 { mu * mu * sum } else { sum };
            }
        }
    }

    /// `y += sign (V^-1 - I) push`, `V` the derivative of `u + mu |u_t| n`.
    fn bend(&self, push: &[f64], sign: f64, y: &mut [f64]) {
        for (k, t) in self.slope.iter().enumerate() {
            let rows = self.problem.rows(k);
            for l in 1..rows.len() {
                y[rows.start] -= sign * t[l - 1] * push[rows.start + l];
            }
        }
    }
}

impl InteriorPoint {
    /// Largest entry of `w - v`.
    fn infeasibility(&self, problem: &Problem) -> f64 {
        let mut out = 0.0f64;
        for (k, (cone, inner)) in problem.cones().iter().zip(&self.blocks).enumerate() {
            let rows = problem.rows(k);
            let miss = match cone.bounds() {
                Some(_) => (self.w[rows.start] - inner.v[0] + inner.v[1]).abs(),
                None => rows
                    .clone()
                    .map(|i| (self.w[i] - inner.v[i - rows.start]).abs())
                    .fold(0.0, f64::max),
            };
            out = out.max(miss);
        }
        out
    }

    /// The direction for the barrier `tau`, with or without the second-order correction, from the shifted velocity `w`:
    ///
    /// ```math
    /// V A dr - dv = v - w,   dv = g - v - E dr
    /// ```
    ///
    /// is solved as `(A + V^-1 E) dr = V^-1 (g - w)`, and the corrector's is refined against `A` as it is.
    pub(super) fn direction(&mut self, problem: &Problem, tau: f64, correct: bool) {
        self.wanted(problem, tau, correct);
        // The corrector's answer is the step: it is to gain feasibility, whatever the size of the rest of the right-hand side.
        let passes = if correct { PASSES } else { 1 };
        let enough = GAIN * self.infeasibility(problem);
        let Self {
            shifted,
            turn,
            e,
            slope,
            scratch,
            bent,
            q,
            push,
            rhs,
            y,
            g,
            w,
            dr,
            blocks,
            ..
        } = self;
        let mut system = System {
            problem,
            shifted,
            turn,
            e,
            slope,
            bent: *bent,
            scratch,
        };
        let m = problem.size();
        for i in 0..m {
            rhs[i] = g[i] - w[i];
        }
        // `(V^-1 - I) x` for the right-hand side itself.
        y.copy_from_slice(rhs);
        system.bend(y, 1.0, rhs);
        q.fill(0.0);
        y.copy_from_slice(rhs);
        let mut last = f64::INFINITY;
        for pass in 0..passes {
            if pass > 0 {
                // What is left of the equations themselves, without floors and rounding of the factor.
                system.push(q, push, blocks);
                system.back(q, dr);
                problem.delassus().rows_times(0..m, dr, y);
                for i in 0..m {
                    y[i] = rhs[i] - y[i] - push[i];
                }
                system.bend(push, -1.0, y);
                let left = largest(y);
                if left <= enough || left >= 0.5 * last {
                    break;
                }
                last = left;
            }
            system.solve(y, dr);
            for (q, d) in q.iter_mut().zip(dr.iter()) {
                *q += d;
            }
        }
        system.back(q, dr);
        system.push(q, push, blocks);
        self.velocities(problem, tau);
    }

    /// Velocities that complementarity wants.
    fn wanted(&mut self, problem: &Problem, tau: f64, correct: bool) {
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let inner = &mut self.blocks[k];
            if !correct {
                inner.correction = [0.0; 3];
            }
            let c = inner.correction;
            let (r, g) = (&self.r[rows.clone()], &mut self.g[rows]);
            g.fill(0.0);
            match (cone.friction(), cone.bounds()) {
                (Some(0.0), _) => g[0] = (tau - c[0]) / r[0],
                (Some(mu), _) if correct => {
                    let q = quotient(&inner.scaling.lambda, &[tau - c[0], -c[1], -c[2]]);
                    let q = inner.scaling.times(&q);
                    g[0] = mu * q[0];
                    g[1..].copy_from_slice(&q[1..d]);
                }
                (None, Some((lower, upper))) if lower < upper => {
                    if lower.is_finite() {
                        g[0] += (tau - c[0]) / (r[0] - lower);
                    }
                    if upper.is_finite() {
                        g[0] -= (tau - c[1]) / (upper - r[0]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Changes of the velocities, and the correction of second order that they make.
    fn velocities(&mut self, problem: &Problem, tau: f64) {
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let d = rows.len();
            let inner = &mut self.blocks[k];
            let c = inner.correction;
            let (r, dr) = (&self.r[rows.clone()], &mut self.dr[rows.clone()]);
            match (cone.friction(), cone.bounds()) {
                (Some(0.0), _) => {
                    dr[1..].fill(0.0);
                    inner.dv[0] = (tau - c[0] - inner.v[0] * dr[0]) / r[0] - inner.v[0];
                    inner.correction[0] = inner.dv[0] * dr[0];
                }
                (Some(mu), _) => {
                    for i in 0..d {
                        inner.dv[i] = self.g[rows.start + i] - inner.v[i] - self.push[rows.start + i];
                    }
                    let x = inner.scaling.times(&pad(mu, dr));
                    let y = inner.scaling.over(&pad(1.0 / mu, &inner.dv[..d]));
                    inner.correction = product(&x, &y);
                }
                (None, Some((lower, upper))) if lower < upper => {
                    for (l, (bound, sign)) in [(lower, 1.0), (upper, -1.0)].into_iter().enumerate() {
                        if bound.is_finite() {
                            let room = sign * (r[0] - bound);
                            let (v, dz) = (inner.v[l], sign * dr[0]);
                            inner.dv[l] = (tau - c[l] - v * dz) / room - v;
                            inner.correction[l] = inner.dv[l] * dz;
                        }
                    }
                }
                (None, Some((lower, upper))) if lower == upper => dr[0] = 0.0,
                _ => {}
            }
        }
    }
}
