//! KKT systems by Krylov methods.

use crate::constraint::Approximation;
use crate::kkt_methods::{Methods, Prepared};
use crate::primal::PrimalPreconditioner;
use crate::{
    KrylovOptions, KrylovReport, KrylovStatus, MultigridReport, NearNullSpace, largest, power_of_two_below,
};
use pliant_solvers::ResidualWorkspace;
use pliant_solvers::{KktResidual, KktSystem, Solution, SolveError, Variable};
use pliant_sparse::Threads;
use std::cmp::Ordering::{Equal, Less};

/// How [`KktKrylov`] solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KktMethod {
    /// MINRES on the KKT matrix with `diag(D, S_D)`. For `W` that is indefinite too, as long as it
    /// is definite on the null space of `J`.
    #[default]
    Minres,
    /// Conjugate gradients on `(J W^-1 J^T + R) mu = -(b + J W^-1 c)`, preconditioned by `S_D`,
    /// with a factor of `W`, which has to be positive definite. Pays if `W` is cheap to factor and
    /// the constraints are not.
    SchurPcg,
    /// GMRES on the KKT matrix with the constraint preconditioner `[D -J^T; -J -R]`.
    ConstraintGmres,
    /// Conjugate gradients on the null space of the hard rows and the graph of the compliant ones,
    /// projected by the constraint preconditioner: every iterate obeys the rows, and two vectors
    /// replace the basis of GMRES. For `W` that is positive definite on the null space of `J`.
    /// Source: Gould, Hribar and Nocedal 2001; with `R`: Dollar, Gould, Schilders and Wathen 2006.
    ProjectedPcg,
    /// Conjugate gradients on `W + J^T R^-1 J`, formed and preconditioned as
    /// [`preconditioner`](KktKrylovOptions::preconditioner) says: for systems without rows, or all
    /// of whose rows are compliant.
    PrimalPcg,
}

impl KktMethod {
    /// Its name, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minres => "MINRES",
            Self::SchurPcg => "conjugate gradients on the Schur complement",
            Self::ConstraintGmres => "GMRES with the constraint preconditioner",
            Self::ProjectedPcg => "projected conjugate gradients",
            Self::PrimalPcg => "conjugate gradients on condensed rows",
        }
    }
}

/// Options of [`KktKrylov`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KktKrylovOptions {
    /// Which method.
    pub method: KktMethod,
    /// `D` of the preconditioner.
    pub approximation: Approximation,
    /// The preconditioner of [`KktMethod::PrimalPcg`].
    pub preconditioner: PrimalPreconditioner,
    /// The tolerance is for [`KktResidual::relative`], the iterations are those over all rounds.
    pub krylov: KrylovOptions,
}

/// Result of a solve, and its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KktKrylovReport {
    /// How it ended.
    pub status: KrylovStatus,
    /// The residual of the answer, against the matrices as given: the measure of every solver.
    pub residual: KktResidual,
    /// Krylov iterations over all rounds.
    pub iterations: usize,
    /// Corrections that were computed.
    pub rounds: usize,
}

/// Solves `[W -J^T; -J -R] [x; mu] = [c; b]` by a Krylov method, from the given solution on.
///
/// The system is equilibrated by powers of two, so that neither units nor scales matter. Every
/// round solves for a correction of the true residual, and the answer is judged by
/// [`KktResidual::relative`], as in the [`DirectSolver`](pliant_solvers::DirectSolver): that one
/// costs a factor of the whole matrix and is exact; this one costs products, the factor of `S_D`
/// (and of `W`, for the Schur complement), and pays for large systems with a good guess.
///
/// Redundant rows that agree are welcome; their multipliers are those of least change from the
/// start in the norm of the preconditioner, not of least norm as in the direct solver. Rows that
/// contradict each other end as [`KrylovStatus::Stagnated`]. All rows are bilateral. Nothing is
/// allocated once the solver is warm.
///
/// ```
/// use pliant_krylov::{KktKrylov, KrylovStatus};
/// use pliant_solvers::{KktSystem, Solution};
/// // min (x0^2 + x1^2)/2 subject to x0 + x1 = 1.
/// let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0])?;
/// system.b[0] = -1.0;
/// let (mut solver, mut solution) = (KktKrylov::default(), Solution::default());
/// solver.prepare(&system)?;
/// let report = solver.solve(&system, &mut solution)?;
/// assert!(report.status == KrylovStatus::Converged && report.iterations <= 3);
/// assert!((solution.x[0] - 0.5).abs() < 1e-15);
/// // The next system starts from this answer.
/// system.b[0] = -1.01;
/// solver.prepare(&system)?;
/// solver.solve(&system, &mut solution)?;
/// assert!((solution.x[0] - 0.505).abs() < 1e-15);
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
#[derive(Debug, Default)]
pub struct KktKrylov {
    /// Method and tolerances; a change of `method` or `approximation` counts from the next
    /// `prepare` on.
    pub options: KktKrylovOptions,
    modes: Option<NearNullSpace>,
    threads: Threads,
    prepared: Option<Prepared>,
    ready: bool,
    methods: Methods,
    residual: ResidualWorkspace,
    rhs: Vec<f64>,
    correction: Vec<f64>,
    best: Solution,
    history: Vec<f64>,
}

/// Best reduction of the equilibrated residual that one round is asked for.
const ROUND: f64 = 1e-12;
/// Best reduction that one round is asked for where a method loses little when it starts again: a
/// cycle of all levels leaves no part of the spectrum that the next round would have to find anew,
/// and for stiff systems the componentwise measure is met long before the norm is.
const SHORT_ROUND: f64 = 1e-3;

impl KktKrylov {
    /// A solver with given options.
    pub fn new(options: KktKrylovOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Tells the motions that cost next to no energy, for multilevel preconditioners: from the next
    /// `prepare` on, in the variables of the system. Places of an older step will do. Without any,
    /// [`NearNullSpace::components`] of the primal blocks. Allocates only for more of them.
    pub fn set_near_null_space(&mut self, modes: &NearNullSpace) {
        self.modes.get_or_insert_default().take(modes);
    }

    /// Lets these threads share the set-up of multilevel preconditioners on patterns that are known.
    /// No bit depends on their number.
    pub fn share(&mut self, threads: &Threads) {
        self.threads = threads.clone();
        if let Some(prepared) = &mut self.prepared {
            prepared.share(threads);
        }
    }

    /// Equilibrates, and factors the preconditioner. Allocates only for another pattern.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`], [`SolveError::NegativeCompliance`], [`SolveError::Size`],
    /// [`SolveError::Bounds`], [`SolveError::Bounded`]; [`SolveError::NotPositiveDefinite`] at a
    /// zero on the diagonal of `W`, for the Schur complement at any `W` that is not, for
    /// [`KktMethod::PrimalPcg`] at a diagonal that is not positive; [`SolveError::HardRow`] for the
    /// latter.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        system.check()?;
        system.check_bilateral()?;
        let modes = self.modes.as_ref();
        match &mut self.prepared {
            Some(p) if p.fits(system, &self.options) => p.update(system, modes)?,
            _ => {
                let mut prepared = Prepared::new(system, &self.options, modes)?;
                prepared.share(&self.threads);
                self.prepared = Some(prepared);
            }
        }
        self.ready = true;
        Ok(())
    }

    /// Solves for the right-hand sides `system.c` and `system.b`, from `solution` if it has the
    /// right lengths, else from zero.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`, [`SolveError::NotFinite`] if a
    /// right-hand side or the start is not finite, [`SolveError::Bounded`],
    /// [`SolveError::Parameter`]. A large residual is a [`KrylovStatus`], not an error.
    pub fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<KktKrylovReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        let fits = |p: &&Prepared| p.scaled.fits(system) && p.scaled.system.fixed == system.fixed;
        if !self.ready || self.prepared.as_ref().filter(fits).is_none() {
            return Err(SolveError::NotPrepared);
        }
        self.start(system, solution)?;
        let options = self.options.krylov;
        if options.tolerance.is_nan() || options.tolerance < 0.0 {
            return Err(SolveError::Parameter {
                what: "tolerance",
                value: options.tolerance,
            });
        }
        self.history.clear();
        let mut measure = system.residual(solution, &mut self.residual);
        let mut size = self.equilibrate();
        let (mut iterations, mut rounds) = (0, 0);
        // The componentwise measure is mostly below the norm; methods of one round on easy systems
        // need not be much stricter.
        let margin = match self.prepared.as_ref().map(Prepared::method) {
            Some(KktMethod::PrimalPcg | KktMethod::ProjectedPcg) => 0.5,
            _ => 0.1,
        };
        let round = match self.prepared.as_ref().map(Prepared::is_multilevel_primal) {
            Some(true) => SHORT_ROUND,
            _ => ROUND,
        };
        let status = loop {
            if !measure.is_finite() {
                return Err(SolveError::NotFinite {
                    variable: not_finite(solution),
                });
            }
            if measure.relative <= options.tolerance {
                break KrylovStatus::Converged;
            }
            if iterations >= options.max_iterations {
                break KrylovStatus::MaxIterations;
            }
            let inner = KrylovOptions {
                tolerance: (margin * options.tolerance / measure.relative).clamp(round, 0.1),
                max_iterations: options.max_iterations - iterations,
                ..options
            };
            self.best.clone_from(solution);
            let report = self.correct(inner, size, solution)?;
            iterations += report.iterations;
            rounds += 1;
            let before = measure;
            measure = system.residual(solution, &mut self.residual);
            if measure.relative <= options.tolerance {
                break KrylovStatus::Converged;
            }
            let rest = self.equilibrate();
            // The componentwise measure lags behind the norm where an answer decays over many
            // orders of magnitude.
            let progress = measure.relative <= 0.5 * before.relative || rest <= 0.5 * size;
            // NaN is no better.
            if !progress && !matches!(measure.relative.partial_cmp(&before.relative), Some(Less | Equal)) {
                std::mem::swap(solution, &mut self.best);
                measure = before;
            }
            size = rest;
            match report.status {
                KrylovStatus::Converged | KrylovStatus::Stagnated if progress => {}
                KrylovStatus::Converged | KrylovStatus::Stagnated => break KrylovStatus::Stagnated,
                other => break other,
            }
        };
        Ok(KktKrylovReport {
            status,
            residual: measure,
            iterations,
            rounds,
        })
    }

    /// `|r|` of the equilibrated system by the recurrence, at the start and after every iteration
    /// of each round of the last solve; empty unless [`KrylovOptions::history`] asks for it.
    pub fn history(&self) -> &[f64] {
        &self.history
    }

    /// Shift that the incomplete Cholesky factor of the last `prepare` added to the diagonal, as a
    /// share of it; zero for other preconditioners.
    pub fn shift(&self) -> f64 {
        self.prepared.as_ref().map_or(0.0, Prepared::shift)
    }

    /// The levels of the multilevel preconditioner of the last `prepare`, if it has one.
    pub fn levels(&self) -> Option<MultigridReport> {
        self.prepared.as_ref().and_then(Prepared::levels)
    }

    /// Checks the right-hand sides and makes the solution one to start from.
    fn start(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<(), SolveError> {
        let (n, m) = (system.n(), system.m());
        system.check_right_hand_sides()?;
        for (v, size) in [(&mut solution.x, n), (&mut solution.mu, m)] {
            if v.len() != size {
                v.clear();
                v.resize(size, 0.0);
            }
        }
        for (x, fixed) in solution.x.iter_mut().zip(&system.fixed) {
            if *fixed {
                *x = 0.0;
            }
        }
        if largest(&solution.x).max(largest(&solution.mu)).is_finite() {
            self.rhs.resize(n + m, 0.0);
            self.correction.resize(n + m, 0.0);
            Ok(())
        } else {
            Err(SolveError::NotFinite {
                variable: not_finite(solution),
            })
        }
    }

    /// The residual as evaluated last, in the units of the equilibrated system; its largest entry.
    fn equilibrate(&mut self) -> f64 {
        let Some(p) = &self.prepared else { return 0.0 };
        let (c, b) = self.rhs.split_at_mut(p.scaled.primal.len());
        for (target, source, scale) in [
            (&mut *c, self.residual.primal(), &p.scaled.primal),
            (&mut *b, self.residual.row(), &p.scaled.row),
        ] {
            for ((t, r), s) in target.iter_mut().zip(source).zip(scale) {
                *t = s * r;
            }
        }
        largest(&self.rhs)
    }

    /// One round: adds a correction for the equilibrated residual, whose largest entry is `size`.
    fn correct(
        &mut self,
        inner: KrylovOptions,
        size: f64,
        solution: &mut Solution,
    ) -> Result<KrylovReport, SolveError> {
        let Some(p) = &self.prepared else {
            return Err(SolveError::NotPrepared);
        };
        let n = p.scaled.primal.len();
        let unit = if size > 0.0 { power_of_two_below(size) } else { 1.0 };
        self.rhs.iter_mut().for_each(|v| *v /= unit);
        let report = self
            .methods
            .correct(p, inner, &mut self.rhs, &mut self.correction)?;
        if inner.history {
            let of_round = self.methods.history(p.method());
            self.history.extend(of_round.iter().map(|r| unit * r));
        }
        let (x, mu) = self.correction.split_at(n);
        for (target, source, scale) in [
            (&mut solution.x, x, &p.scaled.primal),
            (&mut solution.mu, mu, &p.scaled.row),
        ] {
            for ((t, d), s) in target.iter_mut().zip(source).zip(scale) {
                *t += unit * s * d;
            }
        }
        Ok(report)
    }
}

/// The first unknown that is not finite.
fn not_finite(solution: &Solution) -> Variable {
    let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
    let dof = bad(&solution.x).map(Variable::Dof);
    dof.or_else(|| bad(&solution.mu).map(Variable::Row))
        .unwrap_or(Variable::Dof(0))
}
