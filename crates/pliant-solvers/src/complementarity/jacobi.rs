//! Damped projected Jacobi.

use super::report::Tracker;
use super::spectrum::{add_shift, inverse_scales, largest_eigenvalue, projected_step};
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};

/// All blocks at once by the fixed point of the residual itself,
///
/// ```math
/// r <- P_K(r - theta D^-1 (u + mu |u_t| n)),   theta = 1/(1.05 L)
/// ```
///
/// with `D` the blocks' [`scale`](Problem::scale) and `L` the largest eigenvalue of
/// `D^-1/2 A D^-1/2` (power method). Should the estimate of `L` be too low, or friction make it
/// diverge, `theta` is halved and the best iterate taken up again. For `A` symmetric semidefinite.
/// De Saxcé and Feng 1998, with a scaled step. The slowest of all, and the one without any order of
/// blocks. Cost: one product each. Nothing is allocated after the first solve of a size.
#[derive(Clone, Debug, Default)]
pub struct Jacobi {
    /// Limits; may be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    inverse: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Jacobi {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

impl Solver for Jacobi {
    fn method(&self) -> Method {
        Method::Jacobi
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let mut iterations = 0;
        inverse_scales(problem, &mut self.inverse);
        let mut theta = 1.0 / (1.05 * largest_eigenvalue(problem, &self.inverse, &mut self.x, &mut self.y));
        while end.is_none() && iterations < self.limits.max_iterations {
            add_shift(problem, &mut self.tracker.u);
            projected_step(problem, r, &self.tracker.u, &self.inverse, theta);
            iterations += 1;
            end = self.tracker.look(problem, r);
            if self.tracker.last > 10.0 * self.tracker.best_measure() {
                theta *= 0.5;
                r.copy_from_slice(self.tracker.best());
                problem.velocity_into(r, &mut self.tracker.u);
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self.tracker.finish(problem, r, Method::Jacobi, end, iterations))
    }
}
