//! Newton's direction of the interior-point method.

use super::inside::Iterate;
use super::scaling::{Metric, product, quotient};
use super::{InteriorPoint, Shift};
use crate::complementarity::Problem;
use crate::complementarity::cone::ROWS;
use crate::complementarity::shifted::Shifted;

/// Largest entry.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |a, x| a.max(x.abs()))
}

/// Refinements at most.
const PASSES: usize = 4;
/// Share of the infeasibility that the linear system may leave.
const GAIN: f64 = 0.01;

/// Newton's direction, and what it is computed from.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub(super) dr: Vec<f64>,
    /// `T^-T dr`.
    q: Vec<f64>,
    /// `T^-1 E q`: what complementarity takes from the velocities.
    push: Vec<f64>,
    /// Velocities that complementarity wants.
    g: Vec<f64>,
    rhs: Vec<f64>,
    y: Vec<f64>,
    scratch: Vec<f64>,
}

impl Direction {
    /// Makes room for so many rows.
    pub(super) fn reset(&mut self, size: usize) {
        for v in [
            &mut self.dr,
            &mut self.q,
            &mut self.push,
            &mut self.g,
            &mut self.rhs,
            &mut self.y,
            &mut self.scratch,
        ] {
            v.clear();
            v.resize(size, 0.0);
        }
    }
}

/// Parts of the linear system.
struct System<'a> {
    problem: &'a Problem,
    shifted: &'a mut Shifted,
    metric: &'a Metric,
    shift: &'a Shift,
    scratch: &'a mut [f64],
}

impl System<'_> {
    /// `q = T^-T (A + V^-1 E)^-1 x`.
    fn solve(&mut self, x: &[f64], q: &mut [f64]) {
        self.turned(false, x);
        if self.shift.unsymmetric {
            self.shifted.solve_unsymmetric(self.scratch, q);
        } else {
            self.shifted.solve(self.scratch, q);
        }
    }

    /// Each block times `T`, or its transpose, into the scratch.
    fn turned(&mut self, transpose: bool, x: &[f64]) {
        for k in 0..self.problem.blocks() {
            let rows = self.problem.rows(k);
            let d = rows.len();
            let mut y = [0.0; ROWS];
            for i in 0..d {
                for l in 0..d {
                    let t = if transpose { l * d + i } else { i * d + l };
                    y[i] += self.metric.turn[self.problem.square(k).start + t] * x[rows.start + l];
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

    /// `push = T^-1 E q`, with `T^-1 = S^2 T^T`, `S = diag(mu, 1, 1)`; that of several discs leans
    /// on the normal.
    fn push(&mut self, q: &[f64], push: &mut [f64], iterate: &Iterate) {
        for i in 0..q.len() {
            self.scratch[i] = self.metric.e[i] * q[i];
        }
        for (k, (inner, cone)) in iterate.blocks.iter().zip(self.problem.cones()).enumerate() {
            let rows = self.problem.rows(k);
            let (d, first) = (rows.len(), rows.start);
            let force = |at: usize| self.scratch[at] - inner.floor * q[at];
            let turned = |i: usize, from: usize| -> f64 {
                let square = self.problem.square(k).start;
                let terms = (from..d).map(|l| self.metric.turn[square + l * d + i] * force(first + l));
                terms.sum()
            };
            if cone.bounds().is_none() && cone.friction().is_none() {
                let leaning = iterate.discs[inner.discs()]
                    .iter()
                    .map(|x| x.lean * force(x.rows().start));
                push[first] = force(first) + leaning.sum::<f64>();
                // The first row of `T` is what it takes from the normal.
                (1..d).for_each(|i| push[first + i] = turned(i, 1));
                continue;
            }
            let mu = cone.friction().filter(|mu| *mu > 0.0).unwrap_or(1.0);
            for i in 0..d {
                let sum = turned(i, 0);
                push[first + i] = if i == 0 { mu * mu * sum } else { sum };
            }
        }
    }

    /// `y += sign (V^-1 - I) push`, `V` the derivative of `u + mu |u_t| n`.
    fn bend(&self, push: &[f64], sign: f64, y: &mut [f64]) {
        for k in 0..self.problem.blocks() {
            let rows = self.problem.rows(k);
            let first = rows.start;
            for i in rows.skip(1) {
                y[first] -= sign * self.shift.slope[i] * push[i];
            }
        }
    }
}

impl InteriorPoint {
    /// Largest entry of `w - v`.
    fn infeasibility(&self, problem: &Problem) -> f64 {
        let mut out = 0.0f64;
        for (k, (cone, inner)) in problem.cones().iter().zip(&self.iterate.blocks).enumerate() {
            let rows = problem.rows(k);
            let miss = match cone.bounds() {
                Some(_) => (self.w[rows.start] - inner.v[0] + inner.v[1]).abs(),
                None => rows
                    .zip(self.iterate.velocity(problem, k))
                    .map(|(i, v)| (self.w[i] - v).abs())
                    .fold(0.0, f64::max),
            };
            out = out.max(miss);
        }
        out
    }

    /// The direction for the barrier `tau`, with or without the second-order correction, from the
    /// shifted velocity `w`:
    ///
    /// ```math
    /// V A dr - dv = v - w,   dv = g - v - E dr
    /// ```
    ///
    /// is solved as `(A + V^-1 E) dr = V^-1 (g - w)`, and the corrector's is refined against `A` as
    /// it is.
    pub(super) fn find_direction(&mut self, problem: &Problem, tau: f64, correct: bool) {
        self.iterate.wanted(problem, tau, correct, &mut self.direction.g);
        // The corrector's answer is the step: it is to gain feasibility, whatever the size of the
        // rest of the right-hand side.
        let passes = if correct { PASSES } else { 1 };
        let enough = GAIN * self.infeasibility(problem);
        let Self {
            shifted,
            metric,
            shift,
            iterate,
            w,
            ..
        } = self;
        let Direction {
            dr,
            q,
            push,
            g,
            rhs,
            y,
            scratch,
        } = &mut self.direction;
        let mut system = System {
            problem,
            shifted,
            metric,
            shift,
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
                // What is left of the equations themselves, without floors and rounding of the
                // factor.
                system.push(q, push, iterate);
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
        system.push(q, push, iterate);
        iterate.find_velocities(problem, tau, metric, &mut self.direction);
    }
}

impl Iterate {
    /// Velocities that complementarity wants.
    fn wanted(&mut self, problem: &Problem, tau: f64, correct: bool, g: &mut [f64]) {
        g.fill(0.0);
        for disc in &mut self.discs {
            if !correct {
                (disc.correction, disc.g) = ([0.0; 3], [0.0; 3]);
                continue;
            }
            let c = disc.correction;
            let q = quotient(&disc.scaling.lambda, &[tau - c[0], -c[1], -c[2]]);
            let q = disc.scaling.times(&q);
            disc.g = [disc.mu * q[0], q[1], q[2]];
            g[disc.normal] += disc.g[0];
            g[disc.rows()].copy_from_slice(&disc.g[1..=disc.rows().len()]);
        }
        for (k, cone) in problem.cones().iter().enumerate() {
            let row = problem.rows(k).start;
            let inner = &mut self.blocks[k];
            if !correct {
                inner.correction = [0.0; 2];
            }
            let c = inner.correction;
            let (r, g) = (self.r[row], &mut g[row]);
            match cone.bounds() {
                None if inner.discs().is_empty() => *g = (tau - c[0]) / r,
                Some((lower, upper)) if lower < upper => {
                    if lower.is_finite() {
                        *g += (tau - c[0]) / (r - lower);
                    }
                    if upper.is_finite() {
                        *g -= (tau - c[1]) / (upper - r);
                    }
                }
                _ => {}
            }
        }
    }

    /// Changes of the velocities, and the correction of second order that they make.
    fn find_velocities(&mut self, problem: &Problem, tau: f64, metric: &Metric, direction: &mut Direction) {
        let Direction { dr, q, push: all, .. } = direction;
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let inner = &mut self.blocks[k];
            let c = inner.correction;
            let (r, first) = (self.r[rows.start], rows.start);
            match cone.bounds() {
                None => {
                    let discs = &mut self.discs[inner.discs()];
                    let several = cone.friction().is_none();
                    if discs.is_empty() {
                        dr[first + 1..rows.end].fill(0.0);
                        inner.dv[0] = (tau - c[0] - inner.v[0] * dr[first]) / r - inner.v[0];
                        inner.correction[0] = inner.dv[0] * dr[first];
                    }
                    for disc in discs {
                        let mut push = [all[first], 0.0, 0.0];
                        for (to, i) in push[1..].iter_mut().zip(disc.rows()) {
                            *to = all[i];
                        }
                        if several {
                            // Its own part of what they push in the normal.
                            let own = disc.rows().start;
                            push[0] = disc.e * q[first] + disc.lean * (metric.e[own] - inner.floor) * q[own];
                        }
                        for i in 0..3 {
                            disc.dv[i] = disc.g[i] - disc.v[i] - push[i];
                        }
                        let x = disc.scaling.times(&disc.impulse(dr));
                        let y = disc.scaling.over(&disc.velocity(&disc.dv));
                        disc.correction = product(&x, &y);
                    }
                    if several {
                        for (_, own) in cone.discs().into_iter().filter(|(mu, _)| *mu == 0.0) {
                            dr[first + own.start..first + own.end].fill(0.0);
                        }
                    }
                }
                Some((lower, upper)) if lower < upper => {
                    let dr = dr[first];
                    for (l, (bound, sign)) in [(lower, 1.0), (upper, -1.0)].into_iter().enumerate() {
                        if bound.is_finite() {
                            let room = sign * (r - bound);
                            let (v, dz) = (inner.v[l], sign * dr);
                            inner.dv[l] = (tau - c[l] - v * dz) / room - v;
                            inner.correction[l] = inner.dv[l] * dz;
                        }
                    }
                }
                Some((lower, upper)) if lower == upper => dr[first] = 0.0,
                _ => {}
            }
        }
    }
}
