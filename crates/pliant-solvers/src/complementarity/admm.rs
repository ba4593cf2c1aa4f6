//! Alternating directions with an automatic penalty.

use super::cone::tangential;
use super::report::Tracker;
use super::spectrum::inverse_scales;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Options of [`Admm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmmOptions {
    /// Limits.
    pub limits: Limits,
    /// First penalty, as a share of `D`.
    pub penalty: f64,
    /// Overrelaxation, between 0 and 2.
    pub relaxation: f64,
}

impl Default for AdmmOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            penalty: 0.1,
            relaxation: 1.6,
        }
    }
}

/// Alternating direction method of multipliers on `r^T A r/2 + r^T (b + s n)` and the cones, with the shift `s = mu |u_t|` of De Saxcé set anew in
/// every iteration, so that a fixed point obeys the true law of Coulomb (Carpentier, Le Lidec, Montaut 2024):
///
/// ```math
/// (A + p D) x = p D z - y - b - s n,   z = P_K(x + y/(p D)),   y <- y + p D (x - z)
/// ```
///
/// `-y` tends to `u + s n`. The penalty `p D`, with `D` the blocks' [`scale`](Problem::scale), is balanced between the
/// two residuals after 10, 20, 40, ... iterations, each a dense Cholesky factorisation `m^3/3` (there the paper has a sparse one of
/// the whole system); an iteration costs `2 m^2` and a residual. `A` symmetric semidefinite. Allocates with every solve.
#[derive(Clone, Debug, Default)]
pub struct Admm {
    /// May be changed at any time.
    pub options: AdmmOptions,
    tracker: Tracker,
    inverse: Vec<f64>,
}

impl Admm {
    /// A solver with given options.
    pub fn new(options: AdmmOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    fn factor(&self, a: &DMatrix<f64>, penalty: f64) -> Option<Cholesky<f64, Dyn>> {
        let mut k = a.clone();
        for i in 0..k.nrows() {
            k[(i, i)] += penalty / self.inverse[i];
        }
        k.cholesky()
    }
}

impl Solver for Admm {
    fn method(&self) -> Method {
        Method::Admm
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        let options = self.options;
        super::gauss_seidel::check_relaxation(options.relaxation)?;
        if !(options.penalty > 0.0 && options.penalty.is_finite()) {
            return Err(ProblemError::Option {
                what: "the penalty",
                value: options.penalty,
            });
        }
        let mut end = self.tracker.start(problem, r, options.limits)?;
        let mut iterations = 0;
        if end.is_none() {
            inverse_scales(problem, &mut self.inverse);
            let m = problem.size();
            let a = problem.to_dense();
            let mut penalty = options.penalty;
            let mut factors = self.factor(&a, penalty);
            problem.project(r);
            let mut z = DVector::from_column_slice(r);
            problem.velocity_into(r, &mut self.tracker.u);
            super::spectrum::add_shift(problem, &mut self.tracker.u);
            let mut y = -DVector::from_column_slice(&self.tracker.u);
            let mut x = z.clone();
            let mut before = z.clone();
            let mut due = 10;
            while end.is_none() && iterations < options.limits.max_iterations {
                let Some(cholesky) = &factors else {
                    end = Some(Outcome::Breakdown);
                    break;
                };
                for i in 0..m {
                    x[i] = penalty / self.inverse[i] * z[i] - y[i] - problem.b()[i];
                }
                for (k, cone) in problem.cones().iter().enumerate() {
                    if let Some(mu) = cone.friction() {
                        let rows = problem.rows(k);
                        let first = rows.start;
                        x[first] -= mu * tangential(&y.as_slice()[rows]);
                    }
                }
                cholesky.solve_mut(&mut x);
                before.copy_from(&z);
                for i in 0..m {
                    x[i] = options.relaxation * x[i] + (1.0 - options.relaxation) * z[i];
                    z[i] = x[i] + y[i] * self.inverse[i] / penalty;
                }
                problem.project(z.as_mut_slice());
                let (mut primal, mut dual, mut sizes) = (0.0f64, 0.0f64, (0.0f64, 0.0f64));
                for i in 0..m {
                    let d = 1.0 / self.inverse[i];
                    y[i] += penalty * d * (x[i] - z[i]);
                    primal = primal.max(d * (x[i] - z[i]).abs());
                    dual = dual.max(penalty * d * (z[i] - before[i]).abs());
                    sizes.0 = sizes.0.max(d * x[i].abs().max(z[i].abs()));
                    sizes.1 = sizes.1.max(y[i].abs()).max(problem.b()[i].abs());
                }
                iterations += 1;
                end = self.tracker.look(problem, z.as_slice());
                if iterations == due {
                    due += if due < 4000 { due.min(200) } else { due };
                    let ratio = (primal * sizes.1 / (dual * sizes.0)).sqrt();
                    if ratio.is_finite() && !(0.5..=2.0).contains(&ratio) {
                        penalty = (penalty * ratio.clamp(0.05, 20.0)).clamp(1e-9, 1e9);
                        factors = self.factor(&a, penalty);
                    }
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self.tracker.finish(problem, r, Method::Admm, end, iterations))
    }
}
