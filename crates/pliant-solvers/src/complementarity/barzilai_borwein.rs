//! Projected gradients with the steps of Barzilai and Borwein.

use super::report::Tracker;
use super::spectrum::{add_shift, inverse_scales, largest_eigenvalue, projected_step};
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};

/// `r <- P_K(r - t D^-1 (u + mu |u_t| n))` with the spectral steps of Barzilai and Borwein (1988),
/// the two by turns, as of Birgin, Martínez and Raydan (2000) for convex sets; Heyn (2013) has it
/// for contact.
///
/// With `d` the last change of `r` and `w` that of the shifted velocity, in the metric of the
/// blocks' [`scale`](Problem::scale), `t = d.d/d.w` or `d.w/w.w`. The residual does not fall
/// steadily: the best iterate is kept, and taken up again with the safe step `1/L` when the
/// residual has grown a hundredfold. `A` symmetric semidefinite. Cheap to 1e-4 or 1e-6 where masses
/// are alike. Cost: one product each. Nothing is allocated after the first solve of a size.
#[derive(Clone, Debug, Default)]
pub struct BarzilaiBorwein {
    /// Limits; may be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    inverse: Vec<f64>,
    last: Vec<f64>,
    w: Vec<f64>,
    last_w: Vec<f64>,
}

impl BarzilaiBorwein {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

impl Solver for BarzilaiBorwein {
    fn method(&self) -> Method {
        Method::BarzilaiBorwein
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let mut iterations = 0;
        if end.is_none() {
            inverse_scales(problem, &mut self.inverse);
            let safe = 1.0 / (1.05 * largest_eigenvalue(problem, &self.inverse, &mut self.last, &mut self.w));
            let mut step = safe;
            self.last.clear();
            self.last.extend_from_slice(r);
            self.w.clear();
            self.w.extend_from_slice(&self.tracker.u);
            add_shift(problem, &mut self.w);
            while end.is_none() && iterations < self.limits.max_iterations {
                projected_step(problem, r, &self.w, &self.inverse, step);
                iterations += 1;
                end = self.tracker.look(problem, r);
                if self.tracker.last > 100.0 * self.tracker.best_measure() {
                    r.copy_from_slice(self.tracker.best());
                    problem.velocity_into(r, &mut self.tracker.u);
                    self.last.copy_from_slice(r);
                    self.w.copy_from_slice(&self.tracker.u);
                    add_shift(problem, &mut self.w);
                    step = safe;
                    continue;
                }
                self.last_w.clear();
                self.last_w.extend_from_slice(&self.w);
                self.w.copy_from_slice(&self.tracker.u);
                add_shift(problem, &mut self.w);
                let (mut dd, mut dw, mut ww) = (0.0, 0.0, 0.0);
                for i in 0..r.len() {
                    let (d, w) = (r[i] - self.last[i], self.w[i] - self.last_w[i]);
                    dd += d * d / self.inverse[i];
                    dw += d * w;
                    ww += w * w * self.inverse[i];
                }
                self.last.copy_from_slice(r);
                let next = if iterations % 2 == 0 { dd / dw } else { dw / ww };
                step = if next > 0.0 && next.is_finite() {
                    next.clamp(safe, 1e6 * safe)
                } else {
                    safe
                };
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        let method = Method::BarzilaiBorwein;
        Ok(self.tracker.finish(problem, r, method, end, iterations))
    }
}
