//! Krylov methods for the systems of a model, with what their preconditioners know of it.

use super::rigid_nodes::Configuration;
use crate::Options;
use crate::options::{BoundedRows, KrylovMethod, LinearSolver, Preconditioner};
use pliant_krylov::{
    IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver, NearNullSpace,
};
use pliant_solvers::complementarity::Method;
use pliant_solvers::{CondensedBounds, KktSolver, KktSystem, SolveError};

/// Share of the tolerance of linear systems to which iterations solve for the responses of contacts
/// and of rows of bounded force, and for what the impulses of these change: what they miss comes
/// back in another round.
pub(crate) const FINER: f64 = 0.01;

impl From<KrylovMethod> for IterativeMethod {
    fn from(method: KrylovMethod) -> Self {
        match method {
            KrylovMethod::Cg => Self::Cg,
            KrylovMethod::Minres => Self::Minres,
            KrylovMethod::Gmres => Self::Gmres,
        }
    }
}

impl From<Preconditioner> for IterativePreconditioner {
    fn from(preconditioner: Preconditioner) -> Self {
        match preconditioner {
            Preconditioner::Diagonal => Self::Diagonal,
            Preconditioner::Blocks => Self::Blocks,
            Preconditioner::IncompleteCholesky => Self::IncompleteCholesky,
            Preconditioner::Multilevel => Self::Multilevel,
        }
    }
}

/// The options of the Krylov method that a linear solver names, if it is one.
pub(crate) fn krylov_options(wanted: LinearSolver, tolerance: f64) -> Option<IterativeOptions> {
    let LinearSolver::Krylov {
        method,
        preconditioner,
    } = wanted
    else {
        return None;
    };
    Some(IterativeOptions {
        method: method.into(),
        preconditioner: preconditioner.into(),
        tolerance,
        ..IterativeOptions::default()
    })
}

/// The motions of a model as a rigid body, for multilevel preconditioners.
#[derive(Debug, Default)]
pub(crate) struct Motions {
    space: NearNullSpace,
    /// Whether they have the reference places of the model.
    has_reference: bool,
}

impl Motions {
    /// Forgets the places of the model.
    pub(crate) fn forget(&mut self) {
        self.has_reference = false;
    }

    /// The motions in a configuration.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a place that is not finite.
    pub(crate) fn at(&mut self, at: Configuration<'_>) -> Result<&NearNullSpace, SolveError> {
        self.space.set_rigid_nodes(at.rigid_nodes())?;
        Ok(&self.space)
    }

    /// Tells a solver those in a configuration, if its preconditioner asks for them.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at a place that is not finite.
    pub(crate) fn tell(
        &mut self,
        solver: &mut IterativeSolver,
        at: Configuration<'_>,
    ) -> Result<(), SolveError> {
        if solver.options.preconditioner == IterativePreconditioner::Multilevel {
            if !self.has_reference {
                at.tell_reference(&mut self.space)?;
                self.has_reference = true;
            }
            self.space.set_rigid_nodes(at.rigid_nodes())?;
            solver.set_near_null_space(&self.space);
        }
        Ok(())
    }
}

/// A Krylov method for systems with rows of bounded force.
#[derive(Debug, Default)]
pub(crate) struct BoundedIterations {
    pub(crate) rows: CondensedBounds<IterativeSolver>,
    motions: Motions,
}

impl BoundedIterations {
    /// Takes the Krylov method of the options, if they name one, and the solver of bounded rows.
    pub(crate) fn configure(&mut self, options: &Options) {
        let tolerance = options.tuning.solver.tolerance;
        if let Some(krylov) = krylov_options(options.linear, FINER * tolerance) {
            self.rows.linear.options = krylov;
        }
        self.rows.options = options.tuning.bounds;
        self.rows.options.direct = options.step_solver();
        self.rows.only = match options.bounded_rows {
            BoundedRows::GaussSeidel => Some(Method::GaussSeidel),
            BoundedRows::ActiveSet => None,
        };
    }

    /// Makes the preconditioner and solves for the responses of bounded rows, of a model in a
    /// configuration.
    ///
    /// # Errors
    /// Errors of [`CondensedBounds::prepare`](KktSolver::prepare), and [`SolveError::NotFinite`] at a
    /// place that is not finite.
    pub(crate) fn prepare(&mut self, system: &KktSystem, at: Configuration<'_>) -> Result<(), SolveError> {
        self.motions.tell(&mut self.rows.linear, at)?;
        self.rows.prepare(system)
    }

    /// Forgets the places of the model.
    pub(crate) fn forget(&mut self) {
        self.motions.forget();
    }
}
