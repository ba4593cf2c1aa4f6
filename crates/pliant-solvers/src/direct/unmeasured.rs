//! One substitution, for iterations that measure the residual of their own equations.

use super::DirectSolver;
use super::times::Laps;
use crate::bounds::BoundsReport;
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};

impl DirectSolver {
    /// Solves for the right-hand sides by one substitution, where no row is redundant: without
    /// refinement, which the next iterate of a nonlinear iteration is anyway, and without a search
    /// for rows that contradict each other. The status and the residual of the report are for the
    /// caller to find. Where rows are redundant it is [`solve`](Self::solve).
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if the
    /// answer is not finite.
    pub fn solve_unmeasured(
        &mut self,
        system: &KktSystem,
        solution: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let (n, m) = (system.n(), system.m());
        if self.inertia.1 != m || !self.rows.marks.held.is_empty() {
            return self.solve_held(system, solution);
        }
        let prepared = self.plan.as_mut().filter(|p| self.ready && p.fits(system));
        let plan = prepared.ok_or(SolveError::NotPrepared)?;
        let mut laps = Laps::start();
        for (list, size) in [(&mut solution.x, n), (&mut solution.mu, m)] {
            list.clear();
            list.resize(size, 0.0);
        }
        let rhs = &mut self.refinement.rhs;
        plan.gather(&system.c, &system.b, &[], rhs);
        plan.kernel.solve_in_place(rhs);
        self.counters.solves += 1;
        plan.add_scaled(rhs, solution);
        laps.add_to(&mut self.times.solve);
        let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
        let of_row = || bad(&solution.mu).map(Variable::Row);
        if let Some(variable) = bad(&solution.x).map(Variable::Dof).or_else(of_row) {
            return Err(SolveError::NotFinite { variable });
        }
        Ok(SolveReport {
            status: Status::Converged,
            residual: KktResidual::default(),
            iterations: 0,
            refinements: 0,
            redundant_rows: 0,
            inertia: self.inertia,
            bounds: BoundsReport::default(),
        })
    }
}
