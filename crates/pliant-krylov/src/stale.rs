//! The factor of an older system.

use crate::Preconditioner;
use pliant_solvers::{DirectSolver, SolveError};
use std::cell::RefCell;

/// `M = K_0`, the KKT matrix that a [`DirectSolver`] factored last: for systems of the same pattern
/// that have changed little since, and for a Krylov solver of the
/// [`KktOperator`](crate::KktOperator).
///
/// The matrix is indefinite as soon as there are rows: it suits
/// [`GeneralMinimalResidual`](crate::GeneralMinimalResidual) and
/// [`BiConjugateGradient`](crate::BiConjugateGradient); without rows also
/// [`ConjugateGradient`](crate::ConjugateGradient) and the others. If the matrix changed by rank k,
/// GMRES takes `k + 1` iterations. Redundant rows are answered with the minimum norm of `mu`.
///
/// Cost of an application: `4 nnz(L)`.
#[derive(Debug)]
pub struct StaleFactor<'a> {
    solver: RefCell<&'a mut DirectSolver>,
    size: usize,
}

impl<'a> StaleFactor<'a> {
    /// The factors of the last `prepare`.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] if there are none.
    pub fn new(solver: &'a mut DirectSolver) -> Result<Self, SolveError> {
        let size = solver.factored_size().ok_or(SolveError::NotPrepared)?;
        Ok(Self {
            solver: RefCell::new(solver),
            size,
        })
    }
}

impl Preconditioner for StaleFactor<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.solver.borrow_mut().apply_factors(r, z);
    }
}
