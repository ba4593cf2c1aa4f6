//! A primal-dual interior-point method.

mod direction;
mod inside;
mod scaling;

use super::cone::length;
use super::gauss_seidel::sweep;
use super::report::Tracker;
use super::shifted::Shifted;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;
use direction::Direction;
use inside::{Iterate, ROUNDING};
use scaling::Metric;

/// Primal-dual interior points with the scaling of Nesterov and Todd and the predictor and
/// corrector of Mehrotra, for cones and bounds alike, with the shift `s = mu |u_t|` of De Saxcé as
/// part of the equations, so that the answer obeys the true law of Coulomb:
///
/// ```math
/// A r + b + s(u) n - v = 0,   r o v = tau e,   r in K, v in K*
/// ```
///
/// Where a contact resists spin and rolling too, `s` is the sum of its parts, and each disc has a
/// velocity of its own in the dual of its cone, with `tau` and a scaling of its own; normal
/// velocities add up.
///
/// Every iteration factors `A + E` with a diagonal `E`: in the eigenvectors of the scaling, whose
/// eigenvalues lie up to `10^20` apart, the rows of a contact are multiplied by a square matrix `T`
/// (of several scalings, the factor of their sum). Where the operator is a
/// [`Form::Saddle`](super::Form::Saddle), contacts are eliminated before bodies, and no Delassus
/// operator enters the factorisation. The derivative of the shift makes the system unsymmetric in
/// the rows of each contact: it has an `L U` of its own, and is refined until two digits of
/// feasibility are gained. (GMRES over the symmetric factor needs as many steps as contacts slip; a
/// dozen of them left a predictor whose error, squared in the correction, stalled heaps of balls.)
/// (The convex part: Andersen, Roos, Terlaky 2003; Vandenberghe 2010. Acary, Armand, Nguyen,
/// Shpakovych 2023 compare interior points for contact.) Close to the answer every iteration tries
/// a Gauss-Seidel sweep, which lands on the boundary, and the end up to twenty. No proof with
/// friction; 5 to 20 iterations where tried, whatever the mass ratio, and an end as soon as two
/// steps in a row are short, from where other methods find the rest. `A` symmetric semidefinite.
/// The start matters little. Nothing is allocated after the first solve of a pattern.
#[derive(Clone, Debug)]
pub struct InteriorPoint {
    /// May be changed at any time; an iteration is one factorisation.
    pub limits: Limits,
    tracker: Tracker,
    shifted: Shifted,
    iterate: Iterate,
    metric: Metric,
    shift: Shift,
    direction: Direction,
    /// `A r + b` with De Saxcé's shift.
    w: Vec<f64>,
}

impl Default for InteriorPoint {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 200,
            patience: 60,
            ..Limits::default()
        })
    }
}

/// De Saxcé's shift at the iterate.
#[derive(Clone, Debug, Default)]
struct Shift {
    /// Of each block.
    values: Vec<f64>,
    /// Derivatives `mu_i u_i/|u_i|` by row, and those in the coordinates of `E`, times `T^-T`.
    slope: Vec<f64>,
    turned: Vec<f64>,
    /// Whether the derivative of the shift is in the factor.
    unsymmetric: bool,
}

/// Residual below which the boundary is tried.
const NEAR: f64 = 1e-3;
/// Sweeps at the end.
const SWEEPS: usize = 20;
/// Least and largest share of the way to the boundary.
const BACK: f64 = 0.99;
const NEAREST: f64 = 1.0 - 1e-6;
/// Share of a step below which it is short: one contact keeps it at the boundary.
const SHORT: f64 = 0.1;

impl Shift {
    /// Makes room for those of a problem, all zero.
    fn reset(&mut self, problem: &Problem) {
        for v in [&mut self.slope, &mut self.turned] {
            v.clear();
            v.resize(problem.size(), 0.0);
        }
        self.values.clear();
        self.values.resize(problem.blocks(), 0.0);
    }

    /// Takes the shifts `mu |u_t|` anew, and adds them to `w`; returns the mean work of what the
    /// derivative does not know of their changes, as far as it is more than rounding of the
    /// velocities.
    fn set(&mut self, problem: &Problem, r: &[f64], w: &mut [f64]) -> f64 {
        let mut sum = 0.0f64;
        let speed = |k: usize| problem.scale(k) * r[problem.rows(k).start].abs();
        let rounding = ROUNDING * (0..problem.blocks()).fold(0.0, |a: f64, k| a.max(speed(k)));
        for (k, cone) in problem.cones().iter().enumerate() {
            if cone.bounds().is_some() {
                continue;
            }
            let rows = problem.rows(k);
            let first = rows.start;
            let s = cone.shift(&w[rows.clone()]);
            let moves = !cone.is_convex();
            let along: f64 = rows.skip(1).map(|i| self.slope[i] * w[i]).sum();
            let all: f64 = cone.discs().iter().map(|(mu, _)| mu).sum();
            sum += r[first] * ((s - along).abs() - all * rounding).max(0.0);
            self.values[k] = s;
            for (mu, own) in cone.discs() {
                let length = length(&w[first + own.start..first + own.end]);
                for i in own.map(|i| first + i) {
                    let slides = moves && length > 0.0;
                    self.slope[i] = if slides { mu * w[i] / length } else { 0.0 };
                }
            }
            w[first] += s;
        }
        sum / problem.blocks().max(1) as f64
    }

    /// Takes `T^-T` times the derivative.
    fn turn(&mut self, problem: &Problem, turn: &[f64]) {
        for (k, cone) in problem.cones().iter().enumerate() {
            let rows = problem.rows(k);
            let (d, square) = (rows.len(), problem.square(k).start);
            for l in 0..d {
                let along = (1..d).map(|i| self.slope[rows.start + i] * turn[square + l * d + i]);
                // `S^2 = 1` but for the normal; the rows of several discs are at right angles to
                // it.
                let apart = l == 0 && cone.friction().is_none();
                self.turned[rows.start + l] = if apart { 0.0 } else { along.sum() };
            }
        }
    }
}

impl InteriorPoint {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            tracker: Tracker::default(),
            shifted: Shifted::default(),
            iterate: Iterate::default(),
            metric: Metric::default(),
            shift: Shift::default(),
            direction: Direction::default(),
            w: Vec::new(),
        }
    }

    /// Makes room, and puts impulses and velocities inside.
    fn prepare(&mut self, problem: &Problem, r: &[f64]) -> Result<(), ProblemError> {
        let m = problem.size();
        self.shifted.prepare(problem)?;
        self.direction.reset(m);
        self.metric.reset(problem);
        self.shift.reset(problem);
        self.w.clear();
        self.w.resize(m, 0.0);
        self.iterate.begin(problem, r);
        Ok(())
    }

    /// Factors the equations at the iterate; the means of complementarity and of what the
    /// derivative of the shift does not know. `None` if it fails.
    fn linearise(&mut self, problem: &Problem) -> Option<(f64, f64)> {
        let Self {
            iterate,
            metric,
            shift,
            w,
            ..
        } = self;
        let gap = iterate.scale(problem, metric);
        problem.velocity_into(&iterate.r, w);
        let mismatch = shift.set(problem, &iterate.r, w);
        shift.unsymmetric = shift.slope.iter().any(|s| *s != 0.0);
        let ready = gap.is_finite()
            && if shift.unsymmetric {
                shift.turn(problem, &metric.turn);
                self.shifted
                    .factor_unsymmetric(problem, &metric.turn, &metric.e, &shift.turned)
            } else {
                self.shifted.factor(problem, &metric.turn, &metric.e)
            };
        ready.then_some((gap, mismatch))
    }

    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.shifted.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.shifted.forget(order);
    }
}

impl Solver for InteriorPoint {
    fn method(&self) -> Method {
        Method::InteriorPoint
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        let limits = self.limits;
        let mut end = self.tracker.start(problem, r, limits)?;
        let mut iterations = 0;
        if end.is_none() {
            self.prepare(problem, r)?;
            let mut short = 0usize;
            while end.is_none() && iterations < limits.max_iterations {
                iterations += 1;
                let linearised = self.linearise(problem);
                let sides = if self.shift.unsymmetric { 2 } else { 1 };
                self.tracker.spend(sides * self.shifted.cost());
                let Some((gap, mismatch)) = linearised else {
                    end = Some(Outcome::Breakdown);
                    break;
                };
                self.find_direction(problem, 0.0, false);
                let affine = self.iterate.largest_step(problem, &self.direction.dr).min(1.0);
                let sigma = (1.0 - affine).powi(3).clamp(1e-4, 1.0);
                // Short steps of the barrier while the shift still moves.
                let tau = (sigma * gap).max(0.3 * mismatch.min(gap));
                self.find_direction(problem, tau, true);
                if self.direction.dr.iter().any(|d| !d.is_finite()) {
                    end = Some(Outcome::Breakdown);
                    break;
                }
                // The nearer the predictor comes to the boundary, the nearer the step may: the last
                // digits come faster than by a constant factor.
                let back = (1.0 - 0.1 * (1.0 - affine)).clamp(BACK, NEAREST);
                let share = (back * self.iterate.largest_step(problem, &self.direction.dr)).min(1.0);
                self.iterate.advance(share, &self.direction.dr);
                short = if share < SHORT { short + 1 } else { 0 };
                let stalled = self.shift.unsymmetric && short >= 2;
                r.copy_from_slice(&self.iterate.r);
                problem.project(r);
                problem.velocity_into(r, &mut self.tracker.u);
                end = self.tracker.look_at(problem, r);
                if end.is_none() && self.tracker.last < NEAR {
                    // Inner points keep off the boundary; a sweep of Gauss-Seidel lands on it.
                    sweep(problem, r, 1.0, false);
                    let found = self.tracker.look(problem, r);
                    end = found.filter(|o| *o == Outcome::Converged);
                }
                if stalled {
                    end = end.or(Some(Outcome::Stagnated));
                }
            }
        }
        let mut end = end.unwrap_or(Outcome::MaxIterations);
        if iterations > 0 && end != Outcome::Converged && self.tracker.best_measure() < NEAR {
            // Where rounding ends it, the last digits are the contacts' own.
            r.copy_from_slice(self.tracker.best());
            for turn in 0..SWEEPS {
                sweep(problem, r, 1.0, turn % 2 == 1);
                if self.tracker.look(problem, r) == Some(Outcome::Converged) {
                    end = Outcome::Converged;
                    break;
                }
            }
        }
        Ok(self
            .tracker
            .finish(problem, r, Method::InteriorPoint, end, iterations))
    }
}

#[cfg(test)]
mod tests;
