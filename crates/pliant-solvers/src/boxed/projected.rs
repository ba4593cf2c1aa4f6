//! Rows with a bounded multiplier by projected Gauss-Seidel.

use super::BoxOptions;
use crate::bounds::natural;
use crate::complementarity::{
    Cone, ConicMemory, ConicSolver, GaussSeidel, GaussSeidelOptions, Limits, Outcome, ProblemError,
};
use crate::{
    KktMemory, KktSolver, KktSystem, Solution, SolveError, SolveReport, SolverCounters, Status, Variable,
};

/// Solves what [`BoxSolver`](crate::BoxSolver) solves, with projected Gauss-Seidel sweeps over the
/// bounded rows: the bilateral rows are eliminated by a factor, the [Delassus
/// operator](crate::complementarity::SaddleDelassus) of the others is swept until every row keeps
/// its law, and the factor gives the variables.
///
/// No active set is looked for, so that a round costs a product instead of a factorisation; the
/// number of sweeps grows with the number of rows that push each other. The multipliers of the
/// start count. Sweeps at most: [`max_changes`](BoxOptions::max_changes); a row keeps its law if it
/// misses it by at most [`tolerance`](BoxOptions::tolerance) of the largest velocity
/// ([`Residual::measure`](crate::complementarity::Residual::measure)). Rows that miss it end as
/// [`Status::Unsettled`].
#[derive(Debug, Default)]
pub struct ProjectedGaussSeidel {
    /// Tolerances and limits; may be changed at any time.
    pub options: BoxOptions,
    conic: ConicSolver,
    sweeps: GaussSeidel,
    /// No row has a cone: one entry per row block.
    cones: Vec<Option<Cone>>,
}

impl ProjectedGaussSeidel {
    /// A solver with given options.
    pub fn new(options: BoxOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

impl ProjectedGaussSeidel {
    /// Writes what one solve hands to the next into buffers that are there.
    pub fn record(&self, out: &mut ConicMemory) {
        self.conic.record(out);
    }

    /// Forgets all plans and goes on as the solver whose memory it was.
    pub fn go_on(&mut self, memory: ConicMemory) {
        self.conic.impose(memory);
    }
}

/// Enters how far the rows with bounds, of which these are the velocities, are from their laws into
/// the report of the others. `converged` says whether the solver of these rows ended with an answer.
pub(super) fn judge_bounds(
    system: &KktSystem,
    solution: &Solution,
    velocities: impl Iterator<Item = (usize, f64)>,
    converged: bool,
    report: &mut SolveReport,
) {
    let mut worst = (0, 0.0);
    for (row, w) in velocities {
        let (lower, upper) = system.bounds[row];
        let mu = solution.mu[row];
        let scale = system.row_scale(row) + system.r_diagonal(row);
        let missed = natural(mu, w, (lower, upper), scale);
        report.bounds.rows_at_bounds += usize::from(mu <= lower || mu >= upper);
        if missed > worst.1 || missed.is_nan() {
            worst = (row, missed);
        }
    }
    if worst.1 > report.bounds.natural || worst.1.is_nan() {
        report.bounds.natural = worst.1;
    }
    if report.status == Status::Converged && !converged {
        let (row, residual) = worst;
        report.status = Status::Unsettled { row, residual };
    }
}

/// The error of the linear part, or that of the statement in the words of linear systems.
pub(super) fn in_words(error: ProblemError) -> SolveError {
    match error {
        ProblemError::Bilateral(error) => error,
        ProblemError::Sparse(error) => SolveError::Sparse(error),
        ProblemError::Size {
            what,
            expected,
            found,
        } => SolveError::Size {
            what,
            expected,
            found,
        },
        ProblemError::NotFinite { row, .. } => SolveError::NotFinite {
            variable: Variable::Row(row),
        },
        ProblemError::Option { what, value } => SolveError::Parameter { what, value },
        // Of cones with friction: there are none.
        _ => SolveError::NotPrepared,
    }
}

impl KktSolver for ProjectedGaussSeidel {
    fn name(&self) -> &'static str {
        "projected Gauss-Seidel"
    }

    fn takes_bounds(&self) -> bool {
        true
    }

    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.cones.clear();
        self.cones.resize(system.row_blocks().len() - 1, None);
        self.conic.options.limits = Limits {
            tolerance: self.options.tolerance,
            max_iterations: self.options.max_changes,
            patience: self.options.max_changes,
            ..Limits::default()
        };
        self.conic.set_direct_options(self.options.direct);
        self.conic.prepare(system, &self.cones).map_err(in_words)
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.sweeps.options = GaussSeidelOptions {
            limits: self.conic.options.limits,
            ..GaussSeidelOptions::default()
        };
        let found = self.conic.solve_with(&mut self.sweeps, system, solution);
        let found = found.map_err(in_words)?;
        let mut report = found.linear;
        report.iterations = found.cones.iterations;
        let converged = found.outcome == Outcome::Converged;
        judge_bounds(system, solution, self.conic.velocities(), converged, &mut report);
        Ok(report)
    }

    fn counters(&self) -> SolverCounters {
        self.conic.counters()
    }

    fn memory(&self) -> KktMemory {
        let memory = self.conic.memory();
        KktMemory {
            order: memory.direct.into_order(),
            operator: memory.operator.into_order(),
            active_set: Vec::new(),
        }
    }

    fn impose(&mut self, memory: &KktMemory) {
        self.conic.impose(ConicMemory {
            direct: memory.order.clone().into(),
            operator: memory.operator.clone().into(),
            ..ConicMemory::default()
        });
    }
}
