//! The linear solver of a step, by choice.

use crate::motion::SolverMemory;
use crate::options::{BoundedRows, LinearSolver, Preconditioner};
use crate::{Error, Options};
use pliant_krylov::{IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver};
use pliant_solvers::complementarity::ConicMemory;
use pliant_solvers::{
    BoundState, BoxSolver, DenseCholesky, KktSolver, KktSystem, ProjectedGaussSeidel, Solution, SolveError,
    SolveReport, SolverCounters,
};

/// The solvers that the options can choose from, each with its plans. Only the chosen one is ever
/// asked.
#[derive(Debug, Default)]
pub(crate) struct StepSolver {
    choice: LinearSolver,
    bounded: BoundedRows,
    direct: BoxSolver,
    sweeps: ProjectedGaussSeidel,
    dense: DenseCholesky,
    iterative: IterativeSolver,
}

impl StepSolver {
    /// Takes the choice and the tolerances of the options of a step.
    pub(crate) fn configure(&mut self, options: &Options) {
        self.choice = options.linear;
        self.bounded = options.bounded_rows;
        self.direct.options = options.tuning.bounds;
        self.direct.options.direct = options.step_solver();
        self.sweeps.options = self.direct.options;
        self.dense.options.tolerance = options.tuning.solver.tolerance;
        let (method, preconditioner) = match options.linear {
            LinearSolver::Direct | LinearSolver::DenseCholesky => return,
            LinearSolver::Cg(preconditioner) => (IterativeMethod::Cg, preconditioner),
            LinearSolver::Minres(preconditioner) => (IterativeMethod::Minres, preconditioner),
            LinearSolver::Gmres(preconditioner) => (IterativeMethod::Gmres, preconditioner),
        };
        self.iterative.options = IterativeOptions {
            method,
            preconditioner: match preconditioner {
                Preconditioner::Diagonal => IterativePreconditioner::Diagonal,
                Preconditioner::Blocks => IterativePreconditioner::Blocks,
                Preconditioner::IncompleteCholesky => IterativePreconditioner::IncompleteCholesky,
            },
            tolerance: options.tuning.solver.tolerance,
            ..self.iterative.options
        };
    }

    /// The solver of a system by the choice.
    fn chosen(&mut self, system: &KktSystem) -> &mut dyn KktSolver {
        match self.choice {
            LinearSolver::Direct => match self.bounded {
                BoundedRows::GaussSeidel if is_bounded(system) => &mut self.sweeps,
                _ => &mut self.direct,
            },
            LinearSolver::DenseCholesky => &mut self.dense,
            LinearSolver::Cg(_) | LinearSolver::Minres(_) | LinearSolver::Gmres(_) => &mut self.iterative,
        }
    }

    /// The name of the solver of a system, for reports.
    pub(crate) fn name(&mut self, system: &KktSystem) -> &'static str {
        self.chosen(system).name()
    }

    /// Takes the matrices of a system.
    ///
    /// # Errors
    /// Those of the solver; [`SolveError::Bounded`] for rows of bounded force that it does not
    /// solve.
    pub(crate) fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.chosen(system).prepare(system)
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
        if self.choice != LinearSolver::Direct || self.bounded != BoundedRows::ActiveSet {
            solution.x.fill(0.0);
            solution.mu.fill(0.0);
        }
        self.chosen(system).solve(system, solution)
    }

    /// Solves the prepared system by one substitution, where that is all that a solver needs: its
    /// caller measures the residual of the equations that the system is for.
    ///
    /// # Errors
    /// Those of the solver.
    pub(crate) fn solve_unmeasured(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        match (self.choice, self.bounded) {
            (LinearSolver::Direct, BoundedRows::ActiveSet) => self.direct.solve_unmeasured(system, solution),
            _ => self.solve(system, solution),
        }
    }

    /// Forgets the plan of the direct solver: the next one is of the values at hand.
    pub(crate) fn forget(&mut self) {
        self.direct.forget(None);
    }

    /// As [`BoxSolver::memory_changes`].
    pub(crate) fn memory_changes(&self) -> u64 {
        self.direct.memory_changes()
    }

    /// Whether a solve hands nothing to the next but the order of elimination.
    pub(crate) fn is_still(&self) -> bool {
        self.bounded == BoundedRows::ActiveSet && self.direct.active_set().is_empty()
    }

    /// Writes what a solve hands to the next. Iterative and dense solvers begin anew.
    pub(crate) fn record(&self, out: &mut SolverMemory) {
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
        match self.choice {
            LinearSolver::Direct if self.bounded == BoundedRows::GaussSeidel => self.sweeps.counters(),
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
    if options.linear == LinearSolver::Direct {
        return Ok(());
    }
    let incomplete = options.linear == LinearSolver::Cg(Preconditioner::IncompleteCholesky);
    let (what, suffix) = match *demands {
        Demands { contacts: true, .. } => ("contacts".to_owned(), ""),
        Demands {
            bounded: Some(name), ..
        } => (format!("the bounded forces of `{name}`"), ""),
        Demands { hard: Some(name), .. } if incomplete => (
            format!("the hard rows of `{name}`"),
            " with an incomplete Cholesky factor",
        ),
        _ => return Ok(()),
    };
    let solver = format!("{}{suffix}", options.linear.name());
    Err(Error::LinearSolver { solver, what })
}
