//! Linear solvers of a whole KKT system behind one interface.

use crate::{
    BoundState, BoxSolver, DenseSolver, DirectSolver, Elimination, KktSystem, PivotedSolver, Solution,
    SolveError, SolveReport, SolverCounters,
};

/// A solver of [`KktSystem`]s as a step calls it: rows with and without compliance, and, where
/// [`takes_bounds`](Self::takes_bounds) says so, with bounds.
///
/// A step calls [`prepare`](Self::prepare) whenever a matrix, the mask of fixed variables or a
/// bound changed, then [`solve`](Self::solve) for every right-hand side. Whatever the method is,
/// the answer is judged by the same residual ([`KktSystem::residual`]) against the matrices as
/// given, and [`Status::Converged`](crate::Status::Converged) means that its
/// [`relative`](crate::KktResidual::relative) part is below the tolerance of the solver. A caller
/// who asks for convergence compares the status; no other field of the report tells it.
///
/// - **Start.** Iterative methods start from `solution` if it has the right lengths, so that the
///   answer of the step before is a good guess; factors do not look at it. Who wants answers that
///   do not depend on the start clears the solution.
/// - **Memory.** [`memory`](Self::memory) is all that one solve hands to the next beside the start.
///   Imposed on another solver of the same options, both give the same bits.
/// - **Allocation.** Nothing is allocated for a pattern that is known, but where a solver says so.
///
/// ```
/// use pliant_solvers::{BoxSolver, DenseCholesky, DirectSolver, KktSolver, KktSystem, Solution, Status};
/// // min (x0^2 + x1^2)/2 subject to x0 + x1 = 1, one row of which may be compliant.
/// let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.5])?;
/// system.b[0] = -1.0;
/// let solvers: [Box<dyn KktSolver>; 3] =
///     [Box::<DirectSolver>::default(), Box::<BoxSolver>::default(), Box::<DenseCholesky>::default()];
/// for mut solver in solvers {
///     let mut solution = Solution::default();
///     solver.prepare(&system)?;
///     let report = solver.solve(&system, &mut solution)?;
///     assert_eq!(report.status, Status::Converged, "{}", solver.name());
///     assert!((solution.mu[0] - 0.4).abs() < 1e-15);
/// }
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
pub trait KktSolver: std::fmt::Debug + Send {
    /// The name of the method, for reports.
    fn name(&self) -> &'static str;

    /// Whether rows with finite [`bounds`](KktSystem::bounds) are solved for; others refuse them
    /// with [`SolveError::Bounded`].
    fn takes_bounds(&self) -> bool {
        false
    }

    /// Analyses the pattern if it is another one, and takes the values of the matrices.
    ///
    /// # Errors
    /// Fails for systems that the method does not take; see the solver's own `prepare`.
    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError>;

    /// Solves for the right-hand sides `system.c` and `system.b`.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching [`prepare`](Self::prepare),
    /// [`SolveError::NotFinite`]. That the residual is too large is a [`Status`](crate::Status),
    /// not an error.
    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError>;

    /// Applies the inverse of the prepared system to right-hand sides `[c; b]`, one after another in
    /// `rhs`, into as many `[x; mu]`, without refinement; whether it does, as methods do that take
    /// several faster than one after another.
    fn apply_many(&mut self, _rhs: &[f64], _solutions: &mut Vec<f64>) -> bool {
        false
    }

    /// Work done so far; zero for methods that do not count factorisations.
    fn counters(&self) -> SolverCounters {
        SolverCounters::default()
    }

    /// The memory that one solve hands to the next, as plain values.
    fn memory(&self) -> KktMemory {
        KktMemory::default()
    }

    /// Forgets all plans and goes on as the solver whose memory it was.
    fn impose(&mut self, memory: &KktMemory);
}

/// Memory of a [`KktSolver`], as plain values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KktMemory {
    /// The order of elimination of a sparse factor.
    pub order: Option<Elimination>,
    /// The order of elimination of the operator of the bounded rows, for
    /// [`ProjectedGaussSeidel`](crate::ProjectedGaussSeidel).
    pub operator: Option<Elimination>,
    /// The state of each bounded row; empty without such.
    pub active_set: Vec<BoundState>,
}

/// The methods of a solver that are those of the type itself.
macro_rules! own_methods {
    () => {
        fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
            self.prepare(system)
        }

        fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
            self.solve(system, solution)
        }
    };
}

impl KktSolver for DirectSolver {
    fn name(&self) -> &'static str {
        "sparse L D L^T"
    }

    own_methods!();

    fn apply_many(&mut self, rhs: &[f64], solutions: &mut Vec<f64>) -> bool {
        self.apply_factors_to(rhs, solutions);
        true
    }

    fn counters(&self) -> SolverCounters {
        self.counters()
    }

    fn memory(&self) -> KktMemory {
        KktMemory {
            order: self.elimination(),
            ..KktMemory::default()
        }
    }

    fn impose(&mut self, memory: &KktMemory) {
        self.forget(memory.order.clone());
    }
}

impl KktSolver for BoxSolver {
    fn name(&self) -> &'static str {
        "sparse L D L^T, active set"
    }

    fn takes_bounds(&self) -> bool {
        true
    }

    own_methods!();

    fn counters(&self) -> SolverCounters {
        self.counters()
    }

    fn memory(&self) -> KktMemory {
        KktMemory {
            order: self.elimination(),
            active_set: self.active_set().to_vec(),
            ..KktMemory::default()
        }
    }

    fn impose(&mut self, memory: &KktMemory) {
        self.forget(memory.order.clone());
        self.impose_active_set(&memory.active_set);
    }
}

impl KktSolver for DenseSolver {
    fn name(&self) -> &'static str {
        self.options.method.name()
    }

    own_methods!();

    /// A dense factor has no order to remember.
    fn impose(&mut self, _: &KktMemory) {}
}

impl KktSolver for PivotedSolver {
    fn name(&self) -> &'static str {
        "sparse L B L^T with pivoting"
    }

    own_methods!();

    /// Everything is computed anew by every `prepare`.
    fn impose(&mut self, _: &KktMemory) {}
}
