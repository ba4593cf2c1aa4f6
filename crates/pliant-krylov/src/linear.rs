//! The automatic solver of bilateral systems: picks a method by predicted work, checks its answer,
//! and goes on to the next if that is not good enough.

mod predict;
mod report;

pub(crate) use predict::COMPLIANT;
pub use predict::Prediction;
pub use report::{Attempt, FactorSummary, LinearMethod, LinearReport, Outcome, Reason};

use crate::{KktKrylov, KktKrylovOptions, KrylovOptions, KrylovStatus};
use pliant_solvers::{
    DenseOptions, DenseSolver, DirectOptions, DirectSolver, KktSystem, PivotedOptions, PivotedSolver,
    Solution, SolveError, Status,
};
use predict::{Plan, Shape};
use std::time::{Duration, Instant};

/// Which method the [`LinearAuto`] uses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LinearChoice {
    /// By predicted work, with escalation.
    #[default]
    Auto,
    /// A dense factor, and nothing else.
    Dense(DenseOptions),
    /// The sparse factor, and nothing else.
    Direct(DirectOptions),
    /// The sparse factor that chooses its pivots, and nothing else.
    Pivoted(PivotedOptions),
    /// A Krylov method, and nothing else.
    Krylov(KktKrylovOptions),
}

/// Options of the [`LinearAuto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearOptions {
    /// Largest relative residual (componentwise backward error) that counts as converged; that of a
    /// pinned method is in its own options.
    pub tolerance: f64,
    /// Which method.
    pub choice: LinearChoice,
    /// Solves to be expected for every `prepare`, at least one: a factor pays the sooner the more
    /// there are.
    pub right_hand_sides: usize,
    /// Whether the automatic choice also solves systems whose `W` is indefinite on the null space
    /// of `J`, by a pivoted factor: the answer is then a stationary point of the energy, no
    /// minimum, as [`FactorSummary::inertia`] tells. Otherwise they are
    /// [`SolveError::NotPositiveDefinite`].
    pub indefinite: bool,
    /// Whether to keep the size of the residual of every Krylov iteration.
    pub history: bool,
}

impl Default for LinearOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            choice: LinearChoice::Auto,
            right_hand_sides: 1,
            indefinite: false,
            history: false,
        }
    }
}

/// Solves bilateral systems by whatever method takes least work, and reports what it did.
///
/// The work of a factor is predicted from the block graph, exactly but for the block sizes, in the
/// order of minimum degree; that of an iteration from the numbers of entries. Both are weighted by
/// what such operations cost on a common processor; no clock is read for a decision, so that the
/// same calls give the same bits.
///
/// - Small and full systems: a dense factor.
/// - If half the work of the sparse factor buys enough iterations to be worth a try: conjugate
///   gradients with an incomplete Cholesky factor on `W` (no rows, or compliant ones to condense),
///   else projected conjugate gradients, from the solution given. They get that half, no more. If
///   they fail, the solver turns to the factor, and stays with it until the pattern changes.
/// - Otherwise, and after any failure: the sparse factor, then a pivoted one, up to two thousand
///   unknowns a dense one, beyond and for systems that may be indefinite a sparse one.
///
/// Every answer is judged by [`KktResidual::relative`](pliant_solvers::KktResidual::relative), and
/// the best is returned. A pinned method ([`LinearChoice`]) does not escalate. Rows redundant in
/// theory are answered by the direct solver with the multiplier of minimum norm, by the iterative
/// methods with one near the start.
///
/// ```
/// use pliant_krylov::LinearAuto;
/// use pliant_solvers::{KktSystem, Solution, Status};
/// let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0])?;
/// system.b[0] = -1.0;
/// let (mut solver, mut solution) = (LinearAuto::default(), Solution::default());
/// solver.prepare(&system)?;
/// let report = solver.solve(&system, &mut solution)?;
/// assert_eq!(report.status, Status::Converged);
/// assert!((solution.x[0] - 0.5).abs() < 1e-15);
/// for attempt in solver.attempts() {
///     println!("{attempt}");
/// }
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
#[derive(Debug, Default)]
pub struct LinearAuto {
    /// Options; `choice`, `right_hand_sides` and `indefinite` count from the next `prepare` on.
    pub options: LinearOptions,
    plan: Option<Plan>,
    shape: Shape,
    chain: Vec<(LinearMethod, Reason)>,
    /// The methods of the chain before this one have failed since `prepare`, or are demoted.
    stage: usize,
    /// Whether iterations failed on this pattern.
    demoted: bool,
    /// Whether the method at hand has its factors.
    ready: bool,
    preparation: Duration,
    dense: DenseSolver,
    direct: DirectSolver,
    pivoted: PivotedSolver,
    krylov: KktKrylov,
    attempts: Vec<Attempt>,
    /// Number of attempts of `prepare`, which the next solve keeps.
    failed: usize,
    best: Solution,
}

impl LinearAuto {
    /// A solver with given options.
    pub fn new(options: LinearOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Picks a method if the pattern, the choice or the right-hand sides changed, then prepares it;
    /// if that fails, the next.
    ///
    /// # Errors
    /// Errors of the last method: see [`DirectSolver::prepare`], [`DenseSolver::prepare`],
    /// [`KktKrylov::prepare`]. [`SolveError::Parameter`] if an option makes no sense.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        self.attempts.clear();
        self.failed = 0;
        system.check()?;
        system.check_bilateral()?;
        let tolerance = self.options.tolerance;
        if !(0.0..f64::INFINITY).contains(&tolerance) {
            return Err(SolveError::Parameter {
                what: "tolerance",
                value: tolerance,
            });
        }
        let known = (self.plan.as_ref()).is_some_and(|p| p.fits(&self.options) && self.shape.fits(system));
        if !known {
            let plan = Plan::new(system, &self.options)?;
            self.chain.clear();
            plan.chain(&self.options, &mut self.chain);
            self.shape.take(system);
            self.plan = Some(plan);
            self.demoted = false;
        }
        self.stage = usize::from(self.demoted);
        loop {
            match self.prepare_stage(system) {
                Ok(()) => break,
                Err(error) => self.escalate(error)?,
            }
        }
        self.failed = self.attempts.len();
        Ok(())
    }

    /// The prediction for the last pattern; none for a pinned method.
    pub fn prediction(&self) -> Option<Prediction> {
        self.plan.as_ref().and_then(|p| p.prediction)
    }

    /// Every method that was tried since the last `prepare` began, in that order, with why and to
    /// what end.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// `|r|` of the equilibrated system after every iteration of the last Krylov solve; empty
    /// unless [`LinearOptions::history`] asks for it.
    pub fn history(&self) -> &[f64] {
        self.krylov.history()
    }

    /// The method that comes next, and why.
    fn current(&self) -> Result<(LinearMethod, Reason), SolveError> {
        self.chain.get(self.stage).copied().ok_or(SolveError::NotPrepared)
    }

    /// Notes a failure and goes on to the next method; the error if there is none.
    fn escalate(&mut self, error: SolveError) -> Result<(), SolveError> {
        let (method, reason) = self.current()?;
        self.attempts.push(Attempt {
            method,
            reason,
            outcome: Outcome::Failed(error.clone()),
            iterations: 0,
            residual: f64::INFINITY,
            preparation: std::mem::take(&mut self.preparation),
            solve: Duration::ZERO,
        });
        self.ready = false;
        // Another method cannot mend what is wrong with the system.
        let hopeless = matches!(
            error,
            SolveError::NotFinite { .. }
                | SolveError::NegativeCompliance { .. }
                | SolveError::Parameter { .. }
        );
        if hopeless {
            return Err(error);
        }
        if self.stage + 1 >= self.chain.len() {
            // The sparse factor knows best where it failed.
            let by_factor = |a: &&Attempt| a.method == LinearMethod::Direct;
            return Err(match self.attempts.iter().find(by_factor).map(|a| &a.outcome) {
                Some(Outcome::Failed(first)) => first.clone(),
                _ => error,
            });
        }
        self.advance(method);
        Ok(())
    }

    /// Goes on to the next method.
    fn advance(&mut self, from: LinearMethod) {
        self.demoted |= matches!(from, LinearMethod::Krylov(_));
        self.stage += 1;
        self.ready = false;
    }

    /// Result when no method is left: the best answer, unless the system is not one that has an
    /// answer.
    fn give_up(
        &self,
        error: SolveError,
        best: Option<LinearReport>,
        solution: &mut Solution,
    ) -> Result<LinearReport, SolveError> {
        match best {
            Some(report) if !matches!(error, SolveError::NotPositiveDefinite { .. }) => {
                solution.clone_from(&self.best);
                Ok(report)
            }
            _ => Err(error),
        }
    }

    /// Prepares the method at hand.
    fn prepare_stage(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let start = Instant::now();
        let tolerance = self.options.tolerance;
        let result = match self.current()?.0 {
            LinearMethod::Dense(method) => {
                self.dense.options = match self.options.choice {
                    LinearChoice::Dense(options) => options,
                    _ => DenseOptions {
                        method,
                        tolerance,
                        ..DenseOptions::default()
                    },
                };
                self.dense.prepare(system)
            }
            LinearMethod::Direct => {
                self.direct.options = match self.options.choice {
                    LinearChoice::Direct(options) => options,
                    _ => DirectOptions {
                        tolerance,
                        ..DirectOptions::default()
                    },
                };
                self.direct.prepare(system)
            }
            LinearMethod::Pivoted => {
                self.pivoted.options = match self.options.choice {
                    LinearChoice::Pivoted(options) => options,
                    _ => PivotedOptions {
                        tolerance,
                        indefinite: self.options.indefinite,
                        ..PivotedOptions::default()
                    },
                };
                self.pivoted.prepare(system)
            }
            LinearMethod::Krylov(method) => {
                self.krylov.options = match self.options.choice {
                    LinearChoice::Krylov(options) => options,
                    _ => KktKrylovOptions {
                        method,
                        ..KktKrylovOptions::default()
                    },
                };
                self.krylov.prepare(system)
            }
        };
        self.preparation += start.elapsed();
        self.ready = result.is_ok();
        result
    }

    /// Solves for the right-hand sides `system.c` and `system.b`. Iterative methods start from
    /// `solution` if it has the right lengths.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if a
    /// right-hand side is not finite; [`SolveError::Bounded`]; else what the last method says. A
    /// large residual is a [`Status`], not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<LinearReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        system.check_right_hand_sides()?;
        if !self.ready || !self.shape.fits(system) {
            return Err(SolveError::NotPrepared);
        }
        self.attempts.truncate(self.failed);
        let mut best: Option<LinearReport> = None;
        let mut iterations = 0;
        loop {
            if !self.ready
                && let Err(error) = self.prepare_stage(system)
            {
                match self.escalate(error) {
                    Ok(()) => continue,
                    Err(error) => return self.give_up(error, best, solution),
                }
            }
            let (method, reason) = self.current()?;
            let start = Instant::now();
            let found = self.solve_stage(system, solution);
            let solve = start.elapsed();
            let mut report = match found {
                Ok(found) => found,
                Err(error) => match self.escalate(error) {
                    Ok(()) => continue,
                    Err(error) => return self.give_up(error, best, solution),
                },
            };
            let own = report.iterations;
            iterations += own;
            report.iterations = iterations;
            self.attempts.push(Attempt {
                method,
                reason,
                outcome: Outcome::Solved(report.status),
                iterations: own,
                residual: report.residual.relative,
                preparation: std::mem::take(&mut self.preparation),
                solve,
            });
            let done = matches!(report.status, Status::Converged | Status::Incompatible { .. });
            let better = best.is_none_or(|b| report.residual.relative <= b.residual.relative);
            if done || better {
                best = Some(report);
            }
            if done || self.stage + 1 >= self.chain.len() {
                let Some(best) = best.filter(|_| !done && !better) else {
                    return Ok(report);
                };
                // The factors at hand may belong to a method that failed.
                solution.clone_from(&self.best);
                return Ok(best);
            }
            if better {
                self.best.clone_from(solution);
            }
            self.advance(method);
        }
    }

    /// Solves by the method at hand.
    fn solve_stage(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<LinearReport, SolveError> {
        let method = self.current()?.0;
        match method {
            LinearMethod::Dense(_) => {
                let report = self.dense.solve(system, solution)?;
                Ok(LinearReport::of_factor(method, &report))
            }
            LinearMethod::Direct => {
                let report = self.direct.solve(system, solution)?;
                Ok(LinearReport::of_factor(method, &report))
            }
            LinearMethod::Pivoted => {
                let report = self.pivoted.solve(system, solution)?;
                Ok(LinearReport::of_factor(method, &report))
            }
            LinearMethod::Krylov(_) => {
                if !matches!(self.options.choice, LinearChoice::Krylov(_)) {
                    let budget = self.plan.as_ref().map_or(0, |p| p.budget);
                    self.krylov.options.krylov = KrylovOptions {
                        tolerance: self.options.tolerance,
                        max_iterations: budget,
                        ..KrylovOptions::default()
                    };
                }
                self.krylov.options.krylov.history |= self.options.history;
                let report = self.krylov.solve(system, solution)?;
                let status = match report.status {
                    KrylovStatus::Converged => Status::Converged,
                    KrylovStatus::MaxIterations => Status::MaxIterations,
                    _ => Status::Stagnated,
                };
                Ok(LinearReport {
                    status,
                    residual: report.residual,
                    method,
                    iterations: report.iterations,
                    refinements: report.rounds,
                    factor: None,
                })
            }
        }
    }
}
