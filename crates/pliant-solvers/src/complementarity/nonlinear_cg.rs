//! Nonlinear conjugate gradients over Gauss-Seidel sweeps.

use super::gauss_seidel::sweep;
use super::report::Tracker;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};

/// The nonsmooth nonlinear conjugate gradient method NNCG (Silcowitz-Hansen, Niebles, Erleben
/// 2010): a Gauss-Seidel sweep `r -> P(r)` is taken for a descent step, `-g = P(r) - r`, and
/// accelerated by Fletcher and Reeves' `beta = |g'|^2/|g|^2`, with a restart when `beta > 1`:
///
/// ```math
/// r <- P(r) + beta p,   p <- beta p - g'
/// ```
///
/// Lengths are taken in the metric of the blocks' [`scale`](Problem::scale), so that heavy and
/// light bodies count alike (the paper has the Euclidean one), and it restarts too when the
/// residual grows tenfold above the best. All cones. Cost: a sweep and a residual each. Nothing is
/// allocated after the first solve of a size.
#[derive(Clone, Debug, Default)]
pub struct NonlinearCg {
    /// Limits; may be changed at any time.
    pub limits: Limits,
    tracker: Tracker,
    swept: Vec<f64>,
    direction: Vec<f64>,
}

impl NonlinearCg {
    /// A solver with given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }
}

impl Solver for NonlinearCg {
    fn method(&self) -> Method {
        Method::NonlinearCg
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        let mut end = self.tracker.start(problem, r, self.limits)?;
        let m = problem.size();
        self.direction.clear();
        self.direction.resize(m, 0.0);
        let mut before = 0.0;
        let mut iterations = 0;
        while end.is_none() && iterations < self.limits.max_iterations {
            self.swept.clear();
            self.swept.extend_from_slice(r);
            sweep(problem, &mut self.swept, 1.0, false);
            self.tracker
                .spend(problem.delassus().cost_of_sweep(problem.blocks()));
            iterations += 1;
            // The sweep's end is admissible, the accelerated point need not be.
            end = self.tracker.look(problem, &self.swept);
            let mut now = 0.0;
            for k in 0..problem.blocks() {
                let rows = problem.rows(k);
                let steps = self.swept[rows.clone()].iter().zip(&r[rows]);
                now += problem.scale(k) * steps.map(|(s, r)| (s - r) * (s - r)).sum::<f64>();
            }
            let beta = now / before;
            let lost = self.tracker.last > 10.0 * self.tracker.best_measure();
            let restart = before == 0.0 || beta.is_nan() || beta > 1.0 || lost;
            for i in 0..m {
                let step = self.swept[i] - r[i];
                let carried = if restart { 0.0 } else { beta * self.direction[i] };
                r[i] = self.swept[i] + carried;
                self.direction[i] = if restart { step } else { carried + step };
            }
            before = now;
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self
            .tracker
            .finish(problem, r, Method::NonlinearCg, end, iterations))
    }
}
