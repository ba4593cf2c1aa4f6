//! Accelerated projected gradients around a fixed point on De Saxcé's shift.

use super::report::Tracker;
use super::spectrum::{inverse_scales, largest_eigenvalue};
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};

/// Minimises `r^T A r/2 + r^T (b + s n)` over the cones by Nesterov's accelerated projected
/// gradient with restarts, and between restarts sets `s = mu |u_t|`.
///
/// With `s = 0` the minimum has *associated* friction: a contact that slips lifts off at
/// `u_n = mu |u_t|` (Anitescu 2006), which is what the method of Mazhar, Heyn, Negrut and Tasora
/// (2015) solves. Here the shift is iterated on (Cadoux 2009; Acary, Cadoux, Lemaréchal, Malick
/// 2011) until De Saxcé's residual holds: the answer obeys the true law of Coulomb. Each minimum
/// exists and is found; that the outer iteration converges is the rule and not a theorem.
///
/// Steps are in the metric `L D` of the blocks' [`scale`](Problem::scale), with `L` from the power
/// method and doubled whenever a step shows that it was too low; restart when the gradient and the
/// step no longer agree (O'Donoghue and Candès 2015). `A` symmetric semidefinite. Cost: one product
/// each. Nothing is allocated after the first solve of a size.
#[derive(Clone, Debug, Default)]
pub struct AcceleratedGradient {
    /// Limits; may be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    inverse: Vec<f64>,
    shift: Vec<f64>,
    /// `A r + b` at `r` and at the last one.
    gradient: Vec<f64>,
    last_gradient: Vec<f64>,
    last: Vec<f64>,
    /// Extrapolated point and its gradient with the shift.
    y: Vec<f64>,
    y_gradient: Vec<f64>,
}

impl AcceleratedGradient {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// `s = mu |u_t|`, relaxed; whether there is friction at all.
    fn set_shift(&mut self, problem: &Problem, relaxation: f64) {
        for (k, cone) in problem.cones().iter().enumerate() {
            if cone.bounds().is_none() {
                let rows = problem.rows(k);
                let target = cone.shift(&self.tracker.u[rows.clone()]);
                let s = &mut self.shift[rows.start];
                *s += relaxation * (target - *s);
            }
        }
    }

    /// Residual of the minimum with the shift as it is, as a velocity:
    /// `max D |r - P_K(r - D^-1 (u + s n))|`.
    fn inner_residual(&mut self, problem: &Problem, r: &[f64]) -> f64 {
        let mut out = 0.0f64;
        self.y.copy_from_slice(r);
        for i in 0..r.len() {
            self.y[i] -= self.inverse[i] * (self.tracker.u[i] + self.shift[i]);
        }
        problem.project(&mut self.y);
        for i in 0..r.len() {
            out = out.max((r[i] - self.y[i]).abs() / self.inverse[i]);
        }
        out
    }
}

impl Solver for AcceleratedGradient {
    fn method(&self) -> Method {
        Method::AcceleratedGradient
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.check_start(r)?;
        problem.project(r);
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let m = problem.size();
        inverse_scales(problem, &mut self.inverse);
        let mut lipschitz = largest_eigenvalue(problem, &self.inverse, &mut self.y, &mut self.y_gradient);
        for v in [
            &mut self.shift,
            &mut self.gradient,
            &mut self.last_gradient,
            &mut self.last,
        ] {
            v.clear();
            v.resize(m, 0.0);
        }
        let friction = !problem.is_convex();
        let (mut relaxation, mut level, mut since) = (1.0, f64::INFINITY, 0);
        self.set_shift(problem, 1.0);
        self.gradient.copy_from_slice(&self.tracker.u);
        let mut momentum = 1.0f64;
        let mut fresh = true;
        let mut iterations = 0;
        while end.is_none() && iterations < self.limits.max_iterations {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let beta = if fresh { 0.0 } else { (momentum - 1.0) / next };
            momentum = if fresh { 1.0 } else { next };
            fresh = false;
            for i in 0..m {
                self.y[i] = r[i] + beta * (r[i] - self.last[i]);
                let g = self.gradient[i] + beta * (self.gradient[i] - self.last_gradient[i]);
                self.y_gradient[i] = g;
            }
            self.last.copy_from_slice(r);
            self.last_gradient.copy_from_slice(&self.gradient);
            // The step, repeated while L is too low for it.
            for _ in 0..60 {
                r.copy_from_slice(&self.y);
                for i in 0..m {
                    r[i] -= self.inverse[i] / lipschitz * (self.y_gradient[i] + self.shift[i]);
                }
                problem.project(r);
                problem.velocity_into(r, &mut self.gradient);
                let (mut curvature, mut length) = (0.0, 0.0);
                for i in 0..m {
                    let d = r[i] - self.y[i];
                    curvature += d * (self.gradient[i] - self.y_gradient[i]);
                    length += d * d / self.inverse[i];
                }
                if curvature <= lipschitz * length * (1.0 + 1e-10)
                    || length == 0.0
                    || curvature.abs() < 1e-280
                {
                    break;
                }
                // Rounding may look like curvature when the step is tiny.
                if length <= 1e-24 * r.iter().zip(&self.inverse).map(|(r, d)| r * r / d).sum::<f64>() {
                    break;
                }
                lipschitz *= 2.0;
            }
            iterations += 1;
            let mut ahead = 0.0;
            for i in 0..m {
                let pull = (self.y[i] - r[i]) / self.inverse[i];
                ahead += pull * (r[i] - self.last[i]);
            }
            if ahead > 0.0 {
                fresh = true;
            }
            self.tracker.u.copy_from_slice(&self.gradient);
            end = self.tracker.look_at(problem, r);
            if friction {
                since += 1;
                let truth = problem.residual_at(r, &self.tracker.u).natural;
                if self.inner_residual(problem, r) <= 0.2 * truth || since >= 200 {
                    // A fixed point that jumps about is damped.
                    if truth > 0.9 * level {
                        relaxation = f64::max(0.1, 0.7 * relaxation);
                    }
                    level = truth.min(level);
                    self.set_shift(problem, relaxation);
                    fresh = true;
                    since = 0;
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::AcceleratedGradient, end, iterations))
    }
}
