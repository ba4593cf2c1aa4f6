//! Newton's method on proximal points.

use super::{Newton, NewtonOptions};
use crate::Elimination;
use crate::complementarity::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::order::OrderMemory;

/// Proximal points of the exact law, each by Newton's method:
///
/// ```math
/// F(r, A r + b + e D (r - r_k)) = 0,   r_(k+1) = r,   e = f min(1, residual of r_k)
/// ```
///
/// with `D` the [scales](Problem::scale) of the blocks and `F` the equations of [`Newton`]. The
/// compliance `e D` makes contacts springs about the last impulse: with it the problem has few
/// contacts about to slip or part, redundant ones share their load, and what is left of it in the
/// residual is `e D (r_(k+1) - r_k)`, which goes away with the points and not with `e` alone. A
/// point is done when its equations miss a tenth of the last residual; `f` halves where that took
/// few steps, and grows tenfold where it failed.
///
/// Where friction makes contacts jam, points go on along a direction in which `A` hardly resists,
/// and the residual stays: the outcome is [`Stagnated`](Outcome::Stagnated) then. An iteration is a
/// factorisation, as of [`Newton`], and counts so in [`Limits::patience`], within which the
/// residual has to halve.
#[derive(Clone, Debug)]
pub struct ProximalNewton {
    /// May be changed at any time. An iteration is a factorisation.
    pub limits: Limits,
    newton: Newton,
    /// The impulse of the last point.
    anchor: Vec<f64>,
}

impl Default for ProximalNewton {
    fn default() -> Self {
        Self::new(Limits {
            max_iterations: 200,
            patience: 40,
            ..Limits::default()
        })
    }
}

/// The compliance of the first point, and the range of all, as shares of the scales.
const FIRST: f64 = 0.025;
const RANGE: (f64, f64) = (1e-9, 1.0);
/// `f` at the start, and its factors after an easy point and a failed one.
const SHARE: f64 = 0.1;
const EASIER: f64 = 0.5;
const HARDER: f64 = 10.0;
/// Steps up to which a point is easy, and steps of a point at most.
const EASY: usize = 5;
const STEPS: usize = 20;
/// Share of the last residual at which a point is done.
const DONE: f64 = 0.1;

impl ProximalNewton {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            newton: Newton::new(NewtonOptions::default()),
            anchor: Vec::new(),
        }
    }

    /// The method of single steps, with which it shares its factors.
    pub(in crate::complementarity) fn newton(&mut self) -> &mut Newton {
        &mut self.newton
    }

    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut OrderMemory) {
        self.newton.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.newton.forget(order);
    }

    /// The velocities of the equations of a point: `u += e D (r - r_k)`.
    fn add_compliance(anchor: &[f64], problem: &Problem, e: f64, r: &[f64], u: &mut [f64]) {
        for k in 0..problem.blocks() {
            let compliance = e * problem.scale(k);
            for i in problem.rows(k) {
                u[i] += compliance * (r[i] - anchor[i]);
            }
        }
    }

    /// Steps from `r` towards a point; how many of them, and whether it was reached.
    fn point(&mut self, problem: &Problem, e: f64, speed: f64, r: &mut [f64], left: usize) -> (usize, bool) {
        let Self { newton, anchor, .. } = self;
        newton.u.copy_from_slice(&newton.tracker.u);
        let mut memory = [newton.merit(problem, r, &newton.u); 5];
        for steps in 0..STEPS.min(left) {
            if newton.largest(problem, r) <= speed {
                return (steps, true);
            }
            let found = newton.direction(problem, r, e);
            newton.tracker.spend(newton.jacobian.cost());
            if !found {
                return (steps + 1, false);
            }
            let add = |r: &[f64], u: &mut [f64]| Self::add_compliance(anchor, problem, e, r, u);
            if newton.search(problem, r, &mut memory, add).is_none() {
                return (steps + 1, false);
            }
        }
        let reached = newton.largest(problem, r) <= speed;
        (STEPS.min(left), reached)
    }
}

impl Solver for ProximalNewton {
    fn method(&self) -> Method {
        Method::ProximalNewton
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        let limits = Limits {
            patience: usize::MAX,
            ..self.limits
        };
        let mut end = self.newton.tracker.start(problem, r, limits)?;
        let (mut iterations, mut halved) = (0, 0);
        if end.is_none() {
            self.newton.begin(problem)?;
            let speed = self.newton.tracker.best_residual().velocity;
            let (mut share, mut residual) = (SHARE, self.newton.tracker.last);
            let mut mark = residual;
            while end.is_none() && iterations < limits.max_iterations {
                if iterations - halved > self.limits.patience {
                    end = Some(Outcome::Stagnated);
                    break;
                }
                let largest = if iterations == 0 { FIRST } else { RANGE.1 };
                let e = (share * residual.min(1.0)).clamp(RANGE.0, largest);
                self.anchor.clear();
                self.anchor.extend_from_slice(r);
                let done = DONE * residual.min(1.0) * speed;
                let left = limits.max_iterations - iterations;
                let (steps, reached) = self.point(problem, e, done, r, left);
                iterations += steps.max(1);
                end = self.newton.tracker.look(problem, r);
                let found = self.newton.tracker.last;
                if found < 0.5 * mark {
                    (mark, halved) = (found, iterations);
                }
                if reached || found < residual {
                    residual = found;
                    if steps <= EASY {
                        share *= EASIER;
                    }
                } else {
                    r.copy_from_slice(&self.anchor);
                    problem.velocity_into(r, &mut self.newton.tracker.u);
                    share *= HARDER;
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        let method = self.method();
        Ok(self.newton.tracker.finish(problem, r, method, end, iterations))
    }
}
