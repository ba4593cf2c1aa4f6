//! Types that solvers have in common: limits, outcomes, the best iterate.

use super::auto::STAGES;
use super::{
    AcceleratedGradient, Admm, AdmmOptions, Auto, AutoOptions, BarzilaiBorwein, BlockPivoting,
    BlockPivotingOptions, CentralPath, GaussSeidel, GaussSeidelOptions, InteriorPoint, Jacobi, Lemke,
    LemkeOptions, ModulusSplitting, ModulusSplittingOptions, Newton, NewtonOptions, NonlinearCg, Problem,
    ProblemError, ProximalNewton, Residual,
};
use std::fmt;
use std::ops::Deref;

/// Limits of every solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Largest [`Residual::measure`] that counts as converged.
    pub tolerance: f64,
    /// Iterations, sweeps or pivots at most.
    pub max_iterations: usize,
    /// Looks at the residual at most without a new best one that is lower by a thousandth.
    pub patience: usize,
    /// Operations at most, counted by products with `A` and by factorisations. What is begun is
    /// finished, so that a solve may take one factorisation more.
    pub work: u64,
    /// Whether the report is to hold the measure of every look at the residual (which allocates).
    pub history: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            max_iterations: 1000,
            patience: 200,
            work: u64::MAX,
            history: false,
        }
    }
}

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "contact_solver")
)]
#[non_exhaustive]
pub enum Method {
    /// Block projected Gauss-Seidel.
    GaussSeidel,
    /// Damped projected Jacobi.
    Jacobi,
    /// Nonsmooth nonlinear conjugate gradient over a sweep.
    NonlinearCg,
    /// Modulus-based matrix splitting with Anderson's acceleration.
    ModulusSplitting,
    /// Accelerated projected gradient with restarts.
    AcceleratedGradient,
    /// Projected gradient with the steps of Barzilai and Borwein.
    BarzilaiBorwein,
    /// Alternating direction method of multipliers.
    Admm,
    /// Nonsmooth Newton.
    Newton,
    /// Nonsmooth Newton on proximal points.
    ProximalNewton,
    /// Primal-dual interior points.
    InteriorPoint,
    /// The central path, followed around its turning points.
    CentralPath,
    /// Lemke's complementary pivoting.
    Lemke,
    /// Block principal pivoting.
    BlockPivoting,
    /// Several of them, until the residual holds.
    Auto,
    /// A solver from elsewhere, by its name.
    #[cfg_attr(feature = "serde", serde(skip))]
    Other(#[cfg_attr(feature = "serde", serde(skip))] &'static str),
}

impl Method {
    /// A solver of this method with its usual options and the limits given; none for a solver from
    /// elsewhere.
    pub fn solver(self, limits: Limits) -> Option<Box<dyn Solver>> {
        Some(match self {
            Self::GaussSeidel => Box::new(GaussSeidel::new(GaussSeidelOptions {
                limits,
                ..GaussSeidelOptions::default()
            })),
            Self::Jacobi => Box::new(Jacobi::new(limits)),
            Self::NonlinearCg => Box::new(NonlinearCg::new(limits)),
            Self::ModulusSplitting => Box::new(ModulusSplitting::new(ModulusSplittingOptions {
                limits,
                ..ModulusSplittingOptions::default()
            })),
            Self::AcceleratedGradient => Box::new(AcceleratedGradient::new(limits)),
            Self::BarzilaiBorwein => Box::new(BarzilaiBorwein::new(limits)),
            Self::Admm => Box::new(Admm::new(AdmmOptions {
                limits,
                ..AdmmOptions::default()
            })),
            Self::Newton => Box::new(Newton::new(NewtonOptions {
                limits,
                ..NewtonOptions::default()
            })),
            Self::ProximalNewton => Box::new(ProximalNewton::new(limits)),
            Self::InteriorPoint => Box::new(InteriorPoint::new(limits)),
            Self::CentralPath => Box::new(CentralPath::new(limits)),
            Self::Lemke => Box::new(Lemke::new(LemkeOptions {
                limits,
                ..LemkeOptions::default()
            })),
            Self::BlockPivoting => Box::new(BlockPivoting::new(BlockPivotingOptions {
                limits,
                ..BlockPivotingOptions::default()
            })),
            Self::Auto => Box::new(Auto::new(AutoOptions {
                limits,
                ..AutoOptions::default()
            })),
            Self::Other(_) => return None,
        })
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The residual is below the tolerance.
    Converged,
    /// The limit of iterations came first.
    MaxIterations,
    /// No progress any more.
    Stagnated,
    /// A pivoting method met a direction without end. For a semidefinite `A` without friction the
    /// problem has no solution; for others it may have one.
    Ray,
    /// A factorisation, a pivot or a number failed.
    Breakdown,
    /// The limit of operations came first ([`Limits::work`]).
    TooMuchWork,
}

/// One solver's part in a solve by [`Auto`](super::Auto).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Place in the order of all stages, that of [`Auto::needed_by`].
    pub place: usize,
    /// Which solver.
    pub method: Method,
    /// How it ended.
    pub outcome: Outcome,
    /// Its iterations.
    pub iterations: usize,
    /// [`Residual::measure`] of its answer.
    pub measure: f64,
}

/// The solvers that [`Auto`](super::Auto) tried, in order: a list without memory of its own,
/// because a warm solve allocates nothing.
#[derive(Clone)]
pub struct Stages {
    list: [Stage; Stages::MOST],
    len: usize,
}

impl Stages {
    /// The number of stages of [`Auto`](super::Auto).
    pub(super) const MOST: usize = STAGES.len();

    /// Appends one. There are never more than [`MOST`](Self::MOST).
    pub(crate) fn push(&mut self, stage: Stage) {
        self.list[self.len] = stage;
        self.len += 1;
    }
}

impl Default for Stages {
    fn default() -> Self {
        let none = Stage {
            place: 0,
            method: Method::Auto,
            outcome: Outcome::Stagnated,
            iterations: 0,
            measure: 0.0,
        };
        Self {
            list: [none; Self::MOST],
            len: 0,
        }
    }
}

impl Deref for Stages {
    type Target = [Stage];

    fn deref(&self) -> &[Stage] {
        &self.list[..self.len]
    }
}

impl PartialEq for Stages {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Result of a solve, and its work.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which solver gave the answer.
    pub method: Method,
    /// How it ended.
    pub outcome: Outcome,
    /// Iterations, sweeps, or pivots.
    pub iterations: usize,
    /// Operations of its products with `A` and of its factorisations, by count.
    pub work: u64,
    /// The residual of the answer.
    pub residual: Residual,
    /// [`Residual::measure`] at every look, if [`Limits::history`] asks for it.
    pub history: Vec<f64>,
    /// The solvers that [`Auto`](super::Auto) tried, in order; empty for others.
    pub stages: Stages,
}

/// A solver of [`Problem`]s.
pub trait Solver {
    /// Which one.
    fn method(&self) -> Method;

    /// Starts from `r` (N s, m numbers; zeros for a cold start) and leaves the best impulse found
    /// there. It is always finite.
    ///
    /// # Errors
    /// [`ProblemError::Size`] or [`ProblemError::NotFinite`] for `r`; [`ProblemError::Unsuitable`]
    /// if the solver is not made for the problem, [`ProblemError::Option`] if an option is out of
    /// its range. That it fails is an [`Outcome`], not an error.
    fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError>;
}

/// The best iterate of a solver, and the decision when to stop: what every [`Solver`] is written
/// with.
///
/// ```
/// use pliant_solvers::complementarity::*;
/// /// Moves every impulse against its velocity.
/// struct Descent(Tracker, Limits);
///
/// impl Solver for Descent {
///     fn method(&self) -> Method {
///         Method::Other("descent")
///     }
///
///     fn solve(&mut self, problem: &Problem, r: &mut [f64]) -> Result<Report, ProblemError> {
///         let mut end = self.0.start(problem, r, self.1)?;
///         let mut iterations = 0;
///         while end.is_none() && iterations < self.1.max_iterations {
///             for k in 0..problem.blocks() {
///                 for i in problem.rows(k) {
///                     r[i] -= self.0.velocity()[i] / problem.scale(k);
///                 }
///             }
///             problem.project(r);
///             iterations += 1;
///             end = self.0.look(problem, r);
///         }
///         let end = end.unwrap_or(Outcome::MaxIterations);
///         Ok(self.0.finish(problem, r, self.method(), end, iterations))
///     }
/// }
///
/// let problem = Problem::dense(&[2.0, 0.0, 0.0, 1.0], &[-2.0, 3.0], &[Cone::NonNegative; 2])?;
/// let mut r = [0.0; 2];
/// let report = Descent(Tracker::default(), Limits::default()).solve(&problem, &mut r)?;
/// assert_eq!((report.outcome, r), (Outcome::Converged, [1.0, 0.0]));
/// # Ok::<(), ProblemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    best: Vec<f64>,
    /// Velocity of the last iterate that was looked at.
    pub(crate) u: Vec<f64>,
    measure: f64,
    mark: f64,
    since: usize,
    limits: Limits,
    work: u64,
    history: Vec<f64>,
    /// Measure of the last iterate.
    pub(crate) last: f64,
    /// The residual of the best iterate, and whether it is the last one, with `u` computed anew.
    residual: Residual,
    is_at_best: bool,
}

impl Tracker {
    /// Checks the start and looks at it; an outcome if there is nothing to do.
    ///
    /// # Errors
    /// Those of [`Problem::check_start`]; [`ProblemError::Option`] for a tolerance that is negative
    /// or no number.
    pub fn start(
        &mut self,
        problem: &Problem,
        r: &[f64],
        limits: Limits,
    ) -> Result<Option<Outcome>, ProblemError> {
        problem.check_start(r)?;
        for (what, value) in [("the tolerance", limits.tolerance)] {
            if value.is_nan() || value < 0.0 {
                return Err(ProblemError::Option { what, value });
            }
        }
        self.limits = limits;
        self.history.clear();
        self.since = 0;
        self.work = 0;
        self.measure = f64::INFINITY;
        self.mark = f64::INFINITY;
        self.is_at_best = false;
        self.u.clear();
        self.u.resize(problem.size(), 0.0);
        self.best.clear();
        self.best.extend_from_slice(r);
        Ok(self.look(problem, r))
    }

    /// Looks at an iterate; an outcome if it is the last. Cost: one product.
    pub fn look(&mut self, problem: &Problem, r: &[f64]) -> Option<Outcome> {
        problem.velocity_into(r, &mut self.u);
        let before = self.measure;
        let end = self.look_at(problem, r);
        self.is_at_best = self.measure < before;
        end
    }

    /// Counts operations of a solver beside the products of its looks.
    pub fn spend(&mut self, operations: u64) {
        self.work = self.work.saturating_add(operations);
    }

    /// Operations that the limits still allow.
    pub(crate) fn work_left(&self) -> u64 {
        self.limits.work.saturating_sub(self.work)
    }

    /// Whether the solver has done more than its limits allow.
    pub fn is_overworked(&self) -> bool {
        self.work > self.limits.work
    }

    /// Looks at an iterate whose velocity is in `self.u`.
    pub(crate) fn look_at(&mut self, problem: &Problem, r: &[f64]) -> Option<Outcome> {
        self.spend(problem.delassus().cost());
        let residual = problem.residual_at(r, &self.u);
        let measure = residual.measure();
        self.last = measure;
        self.is_at_best = false;
        if self.limits.history {
            self.history.push(measure);
        }
        if !measure.is_finite() || r.iter().any(|x| !x.is_finite()) {
            return Some(Outcome::Breakdown);
        }
        if measure < self.measure {
            self.measure = measure;
            self.best.copy_from_slice(r);
            self.residual = residual;
        }
        if measure <= self.limits.tolerance {
            return Some(Outcome::Converged);
        }
        if measure < 0.999 * self.mark {
            self.mark = measure;
            self.since = 0;
        } else {
            self.since += 1;
        }
        if self.is_overworked() {
            return Some(Outcome::TooMuchWork);
        }
        (self.since > self.limits.patience).then_some(Outcome::Stagnated)
    }

    /// The best measure so far.
    pub(crate) fn best_measure(&self) -> f64 {
        self.measure
    }

    /// The residual of the best iterate so far.
    pub(crate) fn best_residual(&self) -> &Residual {
        &self.residual
    }

    /// The best iterate so far.
    pub(crate) fn best(&self) -> &[f64] {
        &self.best
    }

    /// Velocity of the last iterate that was looked at, m.
    pub fn velocity(&self) -> &[f64] {
        &self.u
    }

    /// [`Residual::measure`] of the last iterate that was looked at.
    pub fn last_measure(&self) -> f64 {
        self.last
    }

    /// Puts the best iterate into `r` and reports on it; converged if and only if its residual says
    /// so.
    pub fn finish(
        &mut self,
        problem: &Problem,
        r: &mut [f64],
        method: Method,
        outcome: Outcome,
        iterations: usize,
    ) -> Report {
        r.copy_from_slice(&self.best);
        let residual = match self.is_at_best {
            true => self.residual,
            false => problem.residual(r, &mut self.u),
        };
        let holds = residual.measure() <= self.limits.tolerance;
        let outcome = match outcome {
            _ if holds => Outcome::Converged,
            Outcome::Converged => Outcome::Stagnated,
            other => other,
        };
        Report {
            method,
            outcome,
            iterations,
            work: self.work,
            residual,
            history: std::mem::take(&mut self.history),
            stages: Stages::default(),
        }
    }
}
