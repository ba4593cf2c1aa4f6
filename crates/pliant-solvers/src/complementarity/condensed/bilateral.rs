//! The bilateral part of a system with cones.

use crate::complementarity::ProblemError;
use crate::{
    KktResidual, KktSolver, KktSystem, ResidualWorkspace, Solution, SolveError, SolveReport, Status, Variable,
};

/// Steps of iterative refinement at most, each time.
const REFINEMENTS: usize = 2;

/// Work of the linear solver since a system was prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilateralWork {
    /// Solves, one by one.
    pub solves: usize,
    /// Iterations of all of them.
    pub iterations: usize,
    /// Solves that did not converge to the tolerance of the solver.
    pub unconverged: usize,
}

impl BilateralWork {
    pub(super) fn note(&mut self, found: &SolveReport) {
        self.solves += 1;
        self.iterations += found.iterations;
        self.unconverged += usize::from(found.status != Status::Converged);
    }
}

/// Unknowns of the bilateral part, and room to find them.
#[derive(Debug, Default)]
pub(super) struct Bilateral {
    pub(super) answer: Solution,
    /// The impulses that the answer is of.
    pub(super) applied: Vec<f64>,
    pub(super) step: Solution,
    workspace: ResidualWorkspace,
    /// The last right-hand sides, while others take their place.
    c: Vec<f64>,
    b: Vec<f64>,
}

impl Bilateral {
    pub(super) fn set_to_zero(solution: &mut Solution, system: &KktSystem) {
        for (list, length) in [(&mut solution.x, system.n()), (&mut solution.mu, system.m())] {
            list.clear();
            list.resize(length, 0.0);
        }
    }

    /// Solves from rest for the right-hand sides of the system, and adds what comes out to the
    /// answer.
    pub(super) fn add(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &KktSystem,
    ) -> Result<SolveReport, SolveError> {
        Self::set_to_zero(&mut self.step, system);
        let found = linear.solve(system, &mut self.step)?;
        let Self { answer, step, .. } = self;
        for (sum, term) in [(&mut answer.x, &step.x), (&mut answer.mu, &step.mu)] {
            sum.iter_mut().zip(term).for_each(|(s, t)| *s += t);
        }
        Ok(found)
    }

    /// The residual of the answer, refined until it is below the tolerance or no better for it.
    pub(super) fn refine(
        &mut self,
        linear: &mut dyn KktSolver,
        system: &mut KktSystem,
        tolerance: f64,
        iterations: &mut usize,
    ) -> Result<KktResidual, SolveError> {
        let mut residual = system.residual(&self.answer, &mut self.workspace);
        for _ in 0..REFINEMENTS {
            if residual.relative <= tolerance {
                break;
            }
            self.c.clone_from(&system.c);
            self.b.clone_from(&system.b);
            system.c.copy_from_slice(self.workspace.primal());
            system.b.copy_from_slice(self.workspace.row());
            let solved = self.add(linear, system);
            system.c.copy_from_slice(&self.c);
            system.b.copy_from_slice(&self.b);
            *iterations += solved?.iterations;
            residual = system.residual(&self.answer, &mut self.workspace);
        }
        Ok(residual)
    }
}

/// An error of the bilateral part, whose rows are `kept` of the whole, with the numbers of that.
pub(super) fn in_whole(mut error: SolveError, kept: &[usize]) -> ProblemError {
    match &mut error {
        SolveError::NotFinite {
            variable: Variable::Row(row),
        }
        | SolveError::NegativeCompliance { row, .. }
        | SolveError::Bounds { row, .. }
        | SolveError::HardRow { row } => *row = kept.get(*row).copied().unwrap_or(*row),
        _ => {}
    }
    error.into()
}

/// An error of the condensed system, whose rows are these of the whole, with the numbers of that.
pub(super) fn of_rows(error: ProblemError, rows: &[usize]) -> ProblemError {
    match error {
        ProblemError::Bilateral(inner) => in_whole(inner, rows),
        other => other,
    }
}
