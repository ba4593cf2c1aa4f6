//! Rows with a bounded multiplier beside any solver of bilateral rows.

use super::BoxOptions;
use super::projected::{in_words, judge_bounds};
use crate::complementarity::{AutoOptions, CondensedIslands, Cone, Limits, Method, Outcome};
use crate::{KktMemory, KktSolver, KktSystem, Solution, SolveError, SolveReport, SolverCounters};

/// Solves what [`BoxSolver`](crate::BoxSolver) solves by a solver `L` of bilateral rows, such as
/// conjugate gradients: rows with bounds are [condensed](CondensedIslands), which takes a solve for
/// each of them, and the laws are solved in what is left. Without rows with bounds it is `L`.
///
/// Rows that miss their laws by more than the [`tolerance`](BoxOptions::tolerance), as a share of
/// the largest velocity that there is without their forces, end as
/// [`Status::Unsettled`](crate::Status::Unsettled). One preparation hands nothing to the next.
///
/// ```
/// use pliant_solvers::{CondensedBounds, DenseCholesky, KktSolver, KktSystem, Solution, Status};
/// // A motor of at most 1 N s is to stop 2 kg m/s.
/// let mut system = KktSystem::dense(&[1.0], &[1.0], &[0.0])?;
/// (system.c[0], system.bounds[0]) = (2.0, (-1.0, 1.0));
/// let mut solver = CondensedBounds::new(DenseCholesky::default());
/// let mut solution = Solution::default();
/// solver.prepare(&system)?;
/// let report = solver.solve(&system, &mut solution)?;
/// assert_eq!(report.status, Status::Converged);
/// assert!((solution.x[0] - 1.0).abs() < 1e-12 && (solution.mu[0] + 1.0).abs() < 1e-12);
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
#[derive(Debug, Default)]
pub struct CondensedBounds<L> {
    /// The solver of the bilateral rows.
    pub linear: L,
    /// Tolerances and limits; may be changed at any time.
    pub options: BoxOptions,
    /// The one method that is to solve for the rows with bounds; none chooses.
    pub only: Option<Method>,
    rows: CondensedIslands,
    /// No row has a cone: one entry per row block.
    cones: Vec<Option<Cone>>,
}

impl<L: KktSolver> CondensedBounds<L> {
    /// Beside a solver of bilateral rows.
    pub fn new(linear: L) -> Self {
        Self {
            linear,
            options: BoxOptions::default(),
            only: None,
            rows: CondensedIslands::default(),
            cones: Vec::new(),
        }
    }
}

impl<L: KktSolver> KktSolver for CondensedBounds<L> {
    fn name(&self) -> &'static str {
        self.linear.name()
    }

    fn takes_bounds(&self) -> bool {
        true
    }

    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.cones.clear();
        self.cones.resize(system.row_blocks().len() - 1, None);
        let islands = &mut self.rows.islands;
        islands.options = AutoOptions {
            limits: Limits {
                tolerance: self.options.tolerance,
                max_iterations: self.options.max_changes,
                ..Limits::default()
            },
            ..AutoOptions::default()
        };
        islands.only = self.only;
        islands.bounds = self.options;
        self.rows.bounds_are_cones = self.only.is_some();
        let prepared = self.rows.prepare(&mut self.linear, system, &self.cones);
        prepared.map_err(in_words)
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        self.rows.islands.begin();
        let found = self.rows.solve(&mut self.linear, system, solution);
        let found = found.map_err(in_words)?;
        let mut report = found.linear;
        // Counted and measured in the whole.
        (report.bounds.rows_at_bounds, report.bounds.natural) = (0, 0.0);
        let converged = found.outcome == Outcome::Converged;
        judge_bounds(system, solution, self.rows.velocities(), converged, &mut report);
        Ok(report)
    }

    fn counters(&self) -> SolverCounters {
        self.linear.counters()
    }

    /// One preparation hands nothing to the next.
    fn impose(&mut self, _: &KktMemory) {}
}
