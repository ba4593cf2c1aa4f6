//! Nonsmooth Newton methods.

mod law;
mod proximal;

use super::gauss_seidel::sweep;
use super::jacobian::{Jacobian, Wanted};
use super::report::Tracker;
use super::{Cone, Limits, Method, Outcome, Problem, ProblemError, Report, Solver};
use crate::Elimination;
pub(super) use law::contact;
use law::{Local, shifted_friction};
pub use proximal::ProximalNewton;

/// Function whose zero is the law of a unilateral row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowFunction {
    /// `min(s r, u)`, piecewise linear.
    #[default]
    NaturalMap,
    /// Fischer (1992): `s r + u - sqrt((s r)^2 + u^2)`, smooth away from the origin.
    FischerBurmeister,
}

/// Function whose zero is the law of a contact with friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactFunction {
    /// Alart and Curnier (1991): the disc of the tangential part has the radius
    /// `mu max(0, r_n - u_n/s)`.
    #[default]
    AlartCurnier,
    /// Jean and Moreau (1987): the radius is `mu max(0, r_n)`.
    JeanMoreau,
}

/// Gauss-Seidel sweeps at the start, and whenever the line search fails.
const SWEEPS: usize = 5;

/// Share of the merit that a full step has to take away.
const ALLOWED: f64 = 1e-4;
/// Halvings of a step at most.
const HALVINGS: usize = 12;

/// Options of [`Newton`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Limits. Newton counts steps.
    pub limits: Limits,
    /// For unilateral rows; bounded ones take the natural map.
    pub row: RowFunction,
    /// For contacts.
    pub contact: ContactFunction,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            limits: Limits {
                max_iterations: 100,
                patience: 40,
                ..Limits::default()
            },
            row: RowFunction::default(),
            contact: ContactFunction::default(),
        }
    }
}

/// Newton's method on `F(r, A r + b) = 0` with one nonsmooth function per block and an element of
/// its generalised Jacobian, `(F_r + F_u (A + e D)) dr = -F`.
///
/// With redundant contacts the Jacobian is singular: `e`, the last relative residual times a
/// factor, and at least 1e-13, keeps it regular and vanishes with the residual (a proximal step).
/// The factor, at first 0.1, falls with full steps and grows with short ones, as of Levenberg and
/// Marquardt: without that, towers of boxes with a mass ratio of 1000 were not solved. The line
/// search halves the step until `|F|^2` is below the largest of its last five values (Grippo,
/// Lampariello, Lucidi 1986); when it fails, Gauss-Seidel sweeps take over for a moment. Friction
/// has no descent guarantee: far from a solution other methods are safer; near one it converges in
/// a handful of steps (Acary, Brémond, Huber 2018 compare). Cost: up to 60 rows, and for operators
/// without entries, a dense factorisation, `2 m^3/3`; else a sparse unsymmetric one, of the
/// saddle-point system where the operator is a [`Form::Saddle`](super::Form::Saddle), of the
/// Jacobian itself where its entries are kept. Nothing is allocated for problems no larger than
/// before, but for the fill of the latter.
#[derive(Clone, Debug, Default)]
pub struct Newton {
    /// May be changed at any time.
    pub options: NewtonOptions,
    tracker: Tracker,
    jacobian: Jacobian,
    /// Right-hand side, then the direction.
    step: Vec<f64>,
    trial: Vec<f64>,
    u: Vec<f64>,
    /// Blocks of the generalised Jacobian.
    by_r: Vec<f64>,
    by_u: Vec<f64>,
}

impl Newton {
    /// A solver with given options.
    pub fn new(options: NewtonOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    fn local(&self, problem: &Problem, k: usize, r: &[f64], u: &[f64]) -> Local {
        let rows = problem.rows(k);
        let s = problem.scale(k);
        let (r, u) = (&r[rows.clone()], &u[rows]);
        let cone = &problem.cones()[k];
        if let Cone::Shifted { mu, shift } = *cone {
            return shifted_friction(mu, shift, s, r, u);
        }
        if cone.bounds().is_none() {
            return contact(self.options.contact, cone, s, r, u);
        }
        let mut out = Local::default();
        let (lower, upper) = cone.bounds().unwrap_or((0.0, 0.0));
        let unilateral = lower == 0.0 && upper == f64::INFINITY;
        let (p, u) = (s * r[0], u[0]);
        if unilateral && self.options.row == RowFunction::FischerBurmeister {
            let length = p.hypot(u);
            let (cp, cu) = if length > 0.0 {
                (p / length, u / length)
            } else {
                (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2)
            };
            out.value[0] = p + u - length;
            out.by_r[0] = s * (1.0 - cp);
            out.by_u[0] = 1.0 - cu;
            return out;
        }
        let target = p - u;
        if target < s * lower {
            (out.value[0], out.by_r[0]) = (p - s * lower, s);
        } else if target > s * upper {
            (out.value[0], out.by_r[0]) = (p - s * upper, s);
        } else {
            (out.value[0], out.by_u[0]) = (u, 1.0);
        }
        out
    }

    /// The largest entry of `F` in m/s.
    fn largest(&self, problem: &Problem, r: &[f64]) -> f64 {
        let largest = |k: usize| {
            let values = self.local(problem, k, r, &self.u).value;
            let values = values[..problem.rows(k).len()].iter();
            values.fold(
                0.0f64,
                |a, x| if x.is_nan() { f64::INFINITY } else { a.max(x.abs()) },
            )
        };
        (0..problem.blocks()).map(largest).fold(0.0, f64::max)
    }

    /// Storage for a problem, and its operator if that is to be dense.
    fn begin(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        for list in [&mut self.trial, &mut self.u] {
            list.clear();
            list.resize(problem.size(), 0.0);
        }
        self.jacobian.prepare(problem, Wanted::Speed)
    }

    fn merit(&self, problem: &Problem, r: &[f64], u: &[f64]) -> f64 {
        let square = |k: usize| {
            let values = self.local(problem, k, r, u).value;
            values[..problem.rows(k).len()].iter().map(|x| x * x).sum::<f64>()
        };
        (0..problem.blocks()).map(square).sum()
    }

    /// Puts the Newton direction at the velocities `u` into `step`; false if the factorisation
    /// fails.
    fn direction(&mut self, problem: &Problem, r: &[f64], e: f64) -> bool {
        self.by_r.clear();
        self.by_u.clear();
        self.step.clear();
        self.step.resize(problem.size(), 0.0);
        for k in 0..problem.blocks() {
            let local = self.local(problem, k, r, &self.u);
            let entries = problem.square(k).len();
            self.by_r.extend_from_slice(&local.by_r[..entries]);
            self.by_u.extend_from_slice(&local.by_u[..entries]);
            for (i, value) in problem.rows(k).zip(local.value) {
                self.step[i] = -value;
            }
        }
        self.jacobian
            .solve(problem, &self.by_r, &self.by_u, e, &mut self.step)
    }

    /// Gives its factors for those of another method.
    pub(super) fn exchange_factors(&mut self, other: &mut Jacobian) {
        std::mem::swap(&mut self.jacobian, other);
    }

    /// Halves the step until the merit of the equations, with what `add` adds to the velocities at
    /// an impulse, is below the largest of the memory, and takes it; the share of the step, or none
    /// if no halving helps.
    fn search(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        memory: &mut [f64; 5],
        add: impl Fn(&[f64], &mut [f64]),
    ) -> Option<f64> {
        let allowed = memory.iter().fold(0.0f64, |a, b| a.max(*b));
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            for ((trial, r), step) in self.trial.iter_mut().zip(&*r).zip(&self.step) {
                *trial = r + share * step;
            }
            problem.velocity_into(&self.trial, &mut self.u);
            add(&self.trial, &mut self.u);
            self.tracker.spend(problem.delassus().cost());
            let merit = self.merit(problem, &self.trial, &self.u);
            if merit <= (1.0 - ALLOWED * share) * allowed {
                r.copy_from_slice(&self.trial);
                memory.rotate_left(1);
                memory[4] = merit;
                return Some(share);
            }
            share *= 0.5;
        }
        None
    }

    /// Writes the order of elimination in use, or that for the next pattern.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.jacobian.record(out);
    }

    /// Forgets all factors; the order is for the next pattern, if it fits.
    pub(crate) fn forget(&mut self, order: Option<Elimination>) {
        self.jacobian.forget(order);
    }
}

impl Solver for Newton {
    fn method(&self) -> Method {
        Method::Newton
    }

    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
        problem.refuse_pyramids(self.method())?;
        let options = self.options;
        let mut end = self.tracker.start(problem, r, options.limits)?;
        let mut iterations = 0;
        if end.is_none() {
            self.begin(problem)?;
            let mut memory = [0.0f64; 5];
            let mut relax = true;
            let mut proximal = 0.1f64;
            while end.is_none() && iterations < options.limits.max_iterations {
                if relax {
                    for _ in 0..SWEEPS {
                        sweep(problem, r, 1.0, false);
                    }
                    let sweep = problem.delassus().cost_of_sweep(problem.blocks());
                    self.tracker.spend(SWEEPS as u64 * sweep);
                    end = self.tracker.look(problem, r);
                    memory = [self.merit(problem, r, &self.tracker.u); 5];
                    if end.is_some() {
                        break;
                    }
                }
                relax = true;
                let e = (proximal * self.tracker.last).clamp(1e-13, 0.1);
                iterations += 1;
                self.u.copy_from_slice(&self.tracker.u);
                let found = self.direction(problem, r, e);
                self.tracker.spend(self.jacobian.cost());
                if !found {
                    continue;
                }
                let share = self.search(problem, r, &mut memory, |_, _| {});
                relax = share.is_none();
                proximal *= match share {
                    None => 10.0,
                    Some(1.0) => 0.3,
                    Some(..0.1) => 3.0,
                    Some(_) => 1.0,
                };
                proximal = proximal.clamp(1e-6, 10.0);
                if !relax {
                    end = self.tracker.look(problem, r);
                }
            }
        }
        let end = end.unwrap_or(Outcome::MaxIterations);
        Ok(self.tracker.finish(problem, r, Method::Newton, end, iterations))
    }
}
