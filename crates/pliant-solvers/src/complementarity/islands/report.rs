//! The report of a solve of all parts.

use crate::bounds::BoundsReport;
use crate::complementarity::{Method, Outcome, Residual};
use crate::{KktResidual, SolveReport, Status};

/// Report of an [`IslandSolver`](crate::complementarity::IslandSolver): the worst of all parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IslandReport {
    /// [`Outcome::Converged`] only if every part with cones converged.
    pub outcome: Outcome,
    /// The linear parts together: worst status and residuals, sums of counts. Rows are those of the
    /// whole system.
    pub linear: SolveReport,
    /// The cones of the part with the largest measure.
    pub residual: Residual,
    /// [`Residual::measure`] by the [exact](crate::complementarity::Cone::exact) laws of contacts
    /// whose shift is known, the largest of all parts.
    pub exact: f64,
    /// Row block of the whole system that misses its cone most, in that part.
    pub worst: usize,
    /// Iterations of all parts.
    pub iterations: usize,
    /// Operations of the solvers of all parts with cones, by count.
    pub work: u64,
    /// Who solved the part that took most iterations.
    pub method: Option<Method>,
    /// Parts with cones.
    pub islands: usize,
    /// Number of islands whose start was an answer already.
    pub settled: usize,
}

impl IslandReport {
    /// The report of a part without cones.
    pub(super) fn linear(linear: SolveReport) -> Self {
        Self {
            outcome: Outcome::Converged,
            linear,
            residual: Residual::default(),
            exact: 0.0,
            worst: 0,
            iterations: 0,
            work: 0,
            method: None,
            islands: 0,
            settled: 0,
        }
    }

    /// The report of a solve that takes the place of another one, with the work of both.
    pub(in crate::complementarity) fn after(mut self, before: &Self) -> Self {
        self.iterations += before.iterations;
        self.work = self.work.saturating_add(before.work);
        self
    }

    /// Joins two reports; `most` is the number of iterations of the part whose method is named.
    pub(super) fn with(mut self, other: &Self, most: &mut usize) -> Self {
        if self.outcome == Outcome::Converged || other.outcome == Outcome::TooMuchWork {
            self.outcome = other.outcome;
        }
        let larger = other.residual.measure() > self.residual.measure();
        if larger || other.residual.measure().is_nan() {
            self.residual = other.residual;
            self.worst = other.worst;
        }
        self.exact = crate::complementarity::residual::larger(self.exact, other.exact);
        if self.method.is_none() || other.iterations > *most {
            *most = other.iterations;
            self.method = other.method.or(self.method);
        }
        self.iterations += other.iterations;
        self.work = self.work.saturating_add(other.work);
        self.islands += other.islands;
        self.settled += other.settled;
        self.linear = together(&self.linear, &other.linear);
        self
    }
}

/// The worst of two linear solves of parts of one system.
fn together(a: &SolveReport, b: &SolveReport) -> SolveReport {
    // `max` of IEEE drops NaN.
    let max = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
    SolveReport {
        status: if a.status == Status::Converged {
            b.status
        } else {
            a.status
        },
        residual: KktResidual {
            primal: max(a.residual.primal, b.residual.primal),
            row: max(a.residual.row, b.residual.row),
            relative: max(a.residual.relative, b.residual.relative),
        },
        iterations: a.iterations + b.iterations,
        refinements: a.refinements.max(b.refinements),
        redundant_rows: a.redundant_rows + b.redundant_rows,
        inertia: (a.inertia.0 + b.inertia.0, a.inertia.1 + b.inertia.1),
        bounds: BoundsReport {
            natural: max(a.bounds.natural, b.bounds.natural),
            changes: a.bounds.changes + b.bounds.changes,
            factorisations: a.bounds.factorisations + b.bounds.factorisations,
            rows_at_bounds: a.bounds.rows_at_bounds + b.bounds.rows_at_bounds,
        },
    }
}
