//! The linear solver of a step, by choice.

use super::automatic::{Automatic, Choice};
use super::iterations::{BoundedIterations, Motions, krylov_options};
use super::rigid_nodes::Configuration;
use crate::motion::SolverMemory;
use crate::options::{BoundedRows, KrylovMethod, LinearSolver, Preconditioner};
use crate::{Error, Options};
use pliant_krylov::{IterativeSolver, ProvidedSolver, Provider, Purpose};
use pliant_solvers::complementarity::ConicMemory;
use pliant_solvers::{
    BoundState, BoxSolver, DenseCholesky, KktSolver, KktSystem, ProjectedGaussSeidel, Solution, SolveError,
    SolveReport, SolverCounters, Status,
};
use pliant_sparse::Threads;

/// Relative residual of iterations whose caller goes on from their answer by Newton's method
/// anyway.
const INEXACT: f64 = 1e-2;

/// The solvers that the options can choose from, each with its plans. Only the chosen one is ever
/// asked.
#[derive(Debug, Default)]
pub(crate) struct StepSolver {
    wanted: LinearSolver,
    bounded: BoundedRows,
    tolerance: f64,
    automatic: Automatic,
    direct: BoxSolver,
    sweeps: ProjectedGaussSeidel,
    dense: DenseCholesky,
    iterative: IterativeSolver,
    motions: Motions,
    /// Rows of bounded force by iterations.
    bounded_by_iterations: BoundedIterations,
    /// The solver from outside, once one was asked for, with its provider.
    provided: Option<(Provider, Box<dyn ProvidedSolver>)>,
    /// Whether a solver from outside is wanted and the last system was prepared by a factor: for
    /// rows of bounded force (which corrections behind a step take without their bounds), or since it
    /// was handed back.
    is_own: bool,
}

/// The solver of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    Direct,
    Sweeps,
    Dense,
    Iterative,
    /// Iterations for the bilateral rows of a system with rows of bounded force.
    BoundedIterative,
    Provided(Provider),
}

impl StepSolver {
    /// Takes the choice and the tolerances of the options of a step.
    pub(crate) fn configure(&mut self, options: &Options) {
        self.wanted = options.linear;
        self.bounded = options.bounded_rows;
        self.tolerance = options.tuning.solver.tolerance;
        self.direct.options = options.tuning.bounds;
        self.direct.options.direct = options.step_solver();
        self.sweeps.options = self.direct.options;
        self.dense.options.tolerance = self.tolerance;
        self.bounded_by_iterations.configure(options);
        if let Some(krylov) = krylov_options(options.linear, self.tolerance) {
            self.iterative.options = krylov;
        }
    }

    /// Lets threads share what is not the direct solver's, which has its own.
    pub(crate) fn share(&mut self, threads: &Threads) {
        self.iterative.share(threads);
        self.bounded_by_iterations.rows.linear.share(threads);
    }

    /// The solver of a system, by the last choice where it is automatic.
    fn chosen(&self, system: &KktSystem) -> Chosen {
        let by_sweeps = self.bounded == BoundedRows::GaussSeidel && is_bounded(system);
        match self.wanted {
            LinearSolver::Auto | LinearSolver::Direct | LinearSolver::Provided(_) if by_sweeps => {
                Chosen::Sweeps
            }
            LinearSolver::Auto if self.automatic.choice() != Choice::Factor => Chosen::Iterative,
            LinearSolver::Auto | LinearSolver::Direct => Chosen::Direct,
            LinearSolver::DenseCholesky => Chosen::Dense,
            LinearSolver::Krylov { .. } if is_bounded(system) => Chosen::BoundedIterative,
            LinearSolver::Krylov { .. } => Chosen::Iterative,
            LinearSolver::Provided(_) if self.is_own || is_bounded(system) => Chosen::Direct,
            LinearSolver::Provided(provider) => Chosen::Provided(provider),
        }
    }

    fn solver(&mut self, chosen: Chosen) -> &mut dyn KktSolver {
        match chosen {
            Chosen::Direct => &mut self.direct,
            Chosen::Sweeps => &mut self.sweeps,
            Chosen::Dense => &mut self.dense,
            Chosen::Iterative => &mut self.iterative,
            Chosen::BoundedIterative => &mut self.bounded_by_iterations.rows,
            Chosen::Provided(provider) => self.provided(provider),
        }
    }

    /// The solver of a provider.
    fn provided(&mut self, provider: Provider) -> &mut dyn ProvidedSolver {
        let kept = self.provided.take_if(|(of, _)| *of == provider);
        let (_, solver) = self
            .provided
            .insert(kept.unwrap_or_else(|| (provider, (provider.make)())));
        solver.as_mut()
    }

    /// The name of the solver of a system, for reports. With contacts a solver from outside is not
    /// asked, and what is chosen for contacts is not chosen here.
    pub(crate) fn name(&mut self, system: &KktSystem, in_contact: bool) -> &'static str {
        let chosen = match self.chosen(system) {
            Chosen::Provided(_) if in_contact => Chosen::Direct,
            Chosen::Iterative if in_contact && self.wanted == LinearSolver::Auto => Chosen::Direct,
            chosen => chosen,
        };
        match self.automatic.name() {
            Some(name) if self.wanted == LinearSolver::Auto && chosen == Chosen::Iterative => name,
            _ => self.solver(chosen).name(),
        }
    }

    /// Takes the matrices of a system, those of a model in a configuration, and chooses the solver
    /// for them where that is automatic.
    ///
    /// # Errors
    /// Those of the solver; [`SolveError::Bounded`] for rows of bounded force that it does not
    /// solve.
    pub(crate) fn prepare(&mut self, system: &KktSystem, at: Configuration<'_>) -> Result<(), SolveError> {
        if self.wanted == LinearSolver::Auto
            && let Choice::Iterations(_) = self.automatic.choose(system, is_bounded(system))?
        {
            self.automatic.configure(&mut self.iterative, self.tolerance, 1);
            match self.prepare_iterations(system, at) {
                Ok(()) => return Ok(()),
                // Where there is no preconditioner, a factor tells why, or does without.
                Err(_) => self.automatic.give_up(0, true),
            }
        }
        self.is_own = false;
        let chosen = self.chosen(system);
        self.is_own = matches!(self.wanted, LinearSolver::Provided(_)) && chosen == Chosen::Direct;
        match chosen {
            Chosen::Iterative => self.prepare_iterations(system, at),
            Chosen::BoundedIterative => self.bounded_by_iterations.prepare(system, at),
            Chosen::Provided(provider) => {
                let tolerance = self.tolerance;
                let mut motions = std::mem::take(&mut self.motions);
                let solver = self.provided(provider);
                solver.set_tolerance(tolerance);
                solver.set_purpose(Purpose::Minimum);
                let prepared = motions.at(at).and_then(|motions| {
                    solver.set_near_null_space(motions);
                    solver.prepare(system)
                });
                self.is_own = prepared.is_ok() && solver.hands_back();
                self.motions = motions;
                match self.is_own {
                    true => self.direct.prepare(system),
                    false => prepared,
                }
            }
            chosen => self.solver(chosen).prepare(system),
        }
    }

    /// Makes the preconditioner of the iterations.
    ///
    /// # Errors
    /// Those of [`IterativeSolver::prepare`](KktSolver::prepare).
    fn prepare_iterations(&mut self, system: &KktSystem, at: Configuration<'_>) -> Result<(), SolveError> {
        self.motions.tell(&mut self.iterative, at)?;
        self.iterative.prepare(system)
    }

    /// Prepares a factor of the system in the place of iterations that were chosen and failed.
    ///
    /// # Errors
    /// Those of the direct solver.
    fn prepare_factor(&mut self, system: &KktSystem, failed: &SolveReport) -> Result<(), SolveError> {
        let took_long = failed.status == Status::MaxIterations;
        self.automatic.give_up(failed.iterations, !took_long);
        self.direct.prepare(system)
    }

    /// Solves the prepared system. Iterative methods start from rest, so that an answer does not
    /// depend on the one before.
    ///
    /// # Errors
    /// Those of the solver.
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        self.solve_to(self.tolerance, system, solution)
    }

    /// Solves the prepared system to a relative residual, or better.
    fn solve_to(
        &mut self,
        tolerance: f64,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let chosen = self.chosen(system);
        if chosen != Chosen::Direct || self.bounded != BoundedRows::ActiveSet {
            solution.x.fill(0.0);
            solution.mu.fill(0.0);
        }
        let is_automatic = self.wanted == LinearSolver::Auto;
        if chosen == Chosen::Iterative {
            self.iterative.options.tolerance = tolerance;
        }
        let found = self.solver(chosen).solve(system, solution)?;
        if !is_automatic {
            return Ok(found);
        }
        if chosen != Chosen::Iterative || found.status == Status::Converged {
            self.automatic.note(found.iterations);
            return Ok(found);
        }
        self.prepare_factor(system, &found)?;
        let mut report = self.direct.solve(system, solution)?;
        report.iterations += found.iterations;
        self.automatic.note(0);
        Ok(report)
    }

    /// Solves the prepared system where the caller measures the residual of the equations that the
    /// system is for, and goes on from there: by one substitution with a factor, and to a hundredth
    /// by iterations.
    ///
    /// # Errors
    /// Those of the solver.
    pub(crate) fn solve_unmeasured(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        match (self.chosen(system), self.bounded) {
            (Chosen::Direct, BoundedRows::ActiveSet) => {
                if self.wanted == LinearSolver::Auto {
                    self.automatic.note(0);
                }
                self.direct.solve_unmeasured(system, solution)
            }
            (Chosen::Iterative, _) => self.solve_to(INEXACT.max(self.tolerance), system, solution),
            _ => self.solve(system, solution),
        }
    }

    /// Forgets the plan of the direct solver: the next one is of the values at hand.
    pub(crate) fn forget(&mut self) {
        self.direct.forget(None);
        self.automatic.forget();
        self.motions.forget();
        self.bounded_by_iterations.forget();
    }

    /// As [`BoxSolver::memory_changes`].
    pub(crate) fn memory_changes(&self) -> u64 {
        self.direct.memory_changes()
    }

    /// Whether a solve hands nothing to the next but the order of elimination.
    pub(crate) fn is_still(&self) -> bool {
        self.bounded == BoundedRows::ActiveSet && self.direct.active_set().is_empty()
    }

    /// Writes what one automatic choice hands to the next.
    pub(crate) fn record_choice(&self, out: &mut SolverMemory) {
        out.automatic.clone_from(self.automatic.memory());
    }

    /// Goes on with the automatic choices of a memory.
    pub(crate) fn impose_choice(&mut self, memory: &SolverMemory) {
        self.automatic.impose(&memory.automatic);
    }

    /// Writes what a solve hands to the next. Iterative and dense solvers begin anew.
    pub(crate) fn record(&self, out: &mut SolverMemory) {
        self.record_choice(out);
        self.direct.record(&mut out.elimination, &mut out.active_set);
        match self.bounded {
            BoundedRows::GaussSeidel => self.sweeps.record(out.sweeps.get_or_insert_default()),
            BoundedRows::ActiveSet => out.sweeps = None,
        }
    }

    /// Goes on as the solver whose memory it was.
    pub(crate) fn impose(&mut self, memory: &SolverMemory) {
        self.direct.forget(memory.elimination.clone());
        self.direct.impose_active_set(&memory.active_set);
        if let Some(sweeps) = &memory.sweeps {
            self.sweeps.go_on(ConicMemory::clone(sweeps));
        }
    }

    /// Which rows of bounded force are at a bound.
    pub(crate) fn active_set(&self) -> &[BoundState] {
        self.direct.active_set()
    }

    /// Goes on with an active set.
    pub(crate) fn impose_active_set(&mut self, set: &[BoundState]) {
        self.direct.impose_active_set(set);
    }

    /// Work done by the factors so far.
    pub(crate) fn counters(&self) -> SolverCounters {
        match (self.wanted, self.bounded) {
            (
                LinearSolver::Auto | LinearSolver::Direct | LinearSolver::Provided(_),
                BoundedRows::GaussSeidel,
            ) => self.sweeps.counters(),
            _ => self.direct.counters(),
        }
    }
}

fn is_bounded(system: &KktSystem) -> bool {
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    system.bounds.iter().any(|b| *b != free)
}

/// Features of a model that not every linear solver takes.
pub(crate) struct Demands<'a> {
    pub(crate) contacts: bool,
    /// The first component with rows of bounded force.
    pub(crate) bounded: Option<&'a str>,
    /// The first component with hard rows.
    pub(crate) hard: Option<&'a str>,
}

/// Refuses what the linear solver of the options does not solve.
///
/// # Errors
/// [`Error::LinearSolver`].
pub(crate) fn check(options: &Options, demands: &Demands<'_>) -> Result<(), Error> {
    if options.linear.takes_everything() {
        return Ok(());
    }
    let cg = KrylovMethod::Cg;
    let incomplete = options.linear == LinearSolver::krylov(cg, Preconditioner::IncompleteCholesky);
    let iterates = matches!(options.linear, LinearSolver::Krylov { .. });
    let (what, suffix) = match *demands {
        Demands { contacts: true, .. } if !iterates => ("contacts".to_owned(), ""),
        Demands {
            bounded: Some(name), ..
        } if !iterates => (format!("the bounded forces of `{name}`"), ""),
        Demands { hard: Some(name), .. } if incomplete => (
            format!("the hard rows of `{name}`"),
            " with an incomplete Cholesky factor",
        ),
        _ => return Ok(()),
    };
    let solver = format!("{}{suffix}", options.linear.name());
    Err(Error::LinearSolver { solver, what })
}
