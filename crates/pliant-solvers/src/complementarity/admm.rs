//! Alternating directions with an automatic penalty.

use super::cone::ROWS;
use super::report::Tracker;
use super::shifted::Shifted;
use super::spectrum::inverse_scales;
use super::{Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;

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

/// Alternating direction method of multipliers on `r^T A r/2 + r^T (b + s n)` and the cones, with
/// the shift `s = mu |u_t|` of De Saxcé set anew in every iteration, so that a fixed point obeys
/// the true law of Coulomb (Carpentier, Le Lidec, Montaut 2024):
///
/// ```math
/// (A + p D) x = p D z - y - b - s n,   z = P_K(x + y/(p D)),   y <- y + p D (x - z)
/// ```
///
/// `-y` tends to `u + s n`. The penalty `p D`, with `D` the blocks' [`scale`](Problem::scale), is
/// balanced between the two residuals after 10, 20, 40, ... iterations, each a sparse factorisation
/// of `A + p D`, where there is one through the [saddle-point system](super::Form::Saddle) without
/// forming `A`; an iteration costs two triangular solves and a residual. `A` symmetric
/// semidefinite. Nothing is allocated after the first solve of a pattern.
#[derive(Clone, Debug, Default)]
pub struct Admm {
    /// May be changed at any time.
    pub options: AdmmOptions,
    tracker: Tracker,
    inverse: Vec<f64>,
    shifted: Shifted,
    turn: Vec<f64>,
    e: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    before: Vec<f64>,
}

impl Admm {
    /// A solver with given options.
    pub fn new(options: AdmmOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    fn factor(&mut self, problem: &Problem, penalty: f64) -> bool {
        self.e.clear();
        self.e.extend(self.inverse.iter().map(|d| penalty / d));
        let factored = self.shifted.factor(problem, &self.turn, &self.e);
        self.tracker.spend(self.shifted.cost());
        factored
    }
}

impl Admm {
    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.shifted.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.shifted.forget(order);
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
            let mut penalty = options.penalty;
            self.turn.clear();
            self.turn.resize(problem.squares(), 0.0);
            for k in 0..problem.blocks() {
                let (d, first) = (problem.rows(k).len(), problem.square(k).start);
                (0..d).for_each(|i| self.turn[first + i * d + i] = 1.0);
            }
            self.shifted.prepare(problem)?;
            let mut ready = self.factor(problem, penalty);
            problem.project(r);
            problem.velocity_into(r, &mut self.tracker.u);
            super::spectrum::add_shift(problem, &mut self.tracker.u);
            for v in [&mut self.x, &mut self.y, &mut self.z, &mut self.before] {
                v.clear();
            }
            self.y.extend(self.tracker.u.iter().map(|u| -u));
            self.z.extend_from_slice(r);
            self.x.resize(m, 0.0);
            self.before.resize(m, 0.0);
            let mut due = 10;
            while end.is_none() && iterations < options.limits.max_iterations {
                if !ready {
                    end = Some(Outcome::Breakdown);
                    break;
                }
                let Self {
                    x,
                    y,
                    z,
                    before,
                    inverse,
                    tracker,
                    shifted,
                    ..
                } = self;
                for i in 0..m {
                    before[i] = penalty / inverse[i] * z[i] - y[i] - problem.b()[i];
                }
                for (k, cone) in problem.cones().iter().enumerate() {
                    // Multipliers are minus the shifted velocities.
                    let (rows, mut u) = (problem.rows(k), [0.0; ROWS]);
                    let first = rows.start;
                    for (u, y) in u.iter_mut().zip(&y[rows]) {
                        *u = -y;
                    }
                    before[first] -= cone.shift(&u);
                }
                shifted.solve(before, x);
                before.copy_from_slice(z);
                for i in 0..m {
                    x[i] = options.relaxation * x[i] + (1.0 - options.relaxation) * z[i];
                    z[i] = x[i] + y[i] * inverse[i] / penalty;
                }
                problem.project(z);
                let (mut primal, mut dual, mut sizes) = (0.0f64, 0.0f64, (0.0f64, 0.0f64));
                for i in 0..m {
                    let d = 1.0 / inverse[i];
                    y[i] += penalty * d * (x[i] - z[i]);
                    primal = primal.max(d * (x[i] - z[i]).abs());
                    dual = dual.max(penalty * d * (z[i] - before[i]).abs());
                    sizes.0 = sizes.0.max(d * x[i].abs().max(z[i].abs()));
                    sizes.1 = sizes.1.max(y[i].abs()).max(problem.b()[i].abs());
                }
                iterations += 1;
                end = tracker.look(problem, z);
                if iterations == due {
                    due += if due < 4000 { due.min(200) } else { due };
                    let ratio = (primal * sizes.1 / (dual * sizes.0)).sqrt();
                    if ratio.is_finite() && !(0.5..=2.0).contains(&ratio) {
                        penalty = (penalty * ratio.clamp(0.05, 20.0)).clamp(1e-9, 1e9);
                        ready = self.factor(problem, penalty);
                    }
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self.tracker.finish(problem, r, Method::Admm, end, iterations))
    }
}
