//! Solvers of PETSc. Safety is argued at the head of the module above.

use super::*;

/// A solver of PETSc.
#[derive(Debug)]
pub(crate) struct Solver(Owner);

/// Pivots of a factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pivots {
    pub(crate) negative: usize,
    pub(crate) zero: usize,
}

impl Solver {
    fn new(matrix: &Matrix, method: &CStr, preconditioner: &CStr) -> Result<(Self, Handle), Error> {
        let library = &matrix.owner.library;
        let comm = library.communicator()?;
        let mut handle = null_mut();
        // SAFETY: PETSc writes the handle.
        check("KSPCreate", unsafe { KSPCreate(comm, &mut handle) })?;
        let own = Self(Owner {
            handle,
            destroy: KSPDestroy,
            library: Arc::clone(library),
        });
        let mut pc = null_mut();
        // SAFETY: handles that are alive, constant texts that end with zero; the preconditioner is
        // the solver's, which destroys it.
        unsafe {
            check("KSPSetType", KSPSetType(handle, method.as_ptr()))?;
            check("KSPGetPC", KSPGetPC(handle, &mut pc))?;
            check("PCSetType", PCSetType(pc, preconditioner.as_ptr()))?;
        }
        own.set_operator(matrix)?;
        Ok((own, pc))
    }

    fn set_operator(&self, matrix: &Matrix) -> Result<(), Error> {
        let (ksp, a) = (self.0.get()?, matrix.owner.get()?);
        // SAFETY: handles that are alive; the solver holds the matrix itself.
        check("KSPSetOperators", unsafe { KSPSetOperators(ksp, a, a) })
    }

    /// A factor `L D L^T` by MUMPS, which counts its pivots. Collective.
    pub(crate) fn factor(matrix: &Matrix) -> Result<Self, Error> {
        let (own, pc) = Self::new(matrix, c"preonly", c"cholesky")?;
        let mut factor = null_mut();
        // SAFETY: handles that are alive; PETSc writes that of the factor, which is the
        // preconditioner's.
        unsafe {
            check(
                "PCFactorSetMatSolverType",
                PCFactorSetMatSolverType(pc, c"mumps".as_ptr()),
            )?;
            check("PCFactorSetUpMatSolverType", PCFactorSetUpMatSolverType(pc))?;
            check("PCFactorGetMatrix", PCFactorGetMatrix(pc, &mut factor))?;
            // The last front is not given to ScaLAPACK, whose negative pivots MUMPS does not count;
            // zero pivots are found and left out; room for delayed pivots.
            for (control, value) in [(13, 1), (24, 1), (14, 100)] {
                check("MatMumpsSetIcntl", MatMumpsSetIcntl(factor, control, value))?;
            }
            check("KSPSetFromOptions", KSPSetFromOptions(own.0.get()?))?;
        }
        Ok(own)
    }

    /// Lets a factor by MUMPS, which has no values yet, take the matrix with the scales that it
    /// comes with, and call a pivot zero if nothing in its row is larger than this.
    pub(crate) fn set_zero_pivot(&mut self, largest: f64) -> Result<(), Error> {
        let (mut pc, mut factor) = (null_mut(), null_mut());
        // SAFETY: PETSc writes handles; only factors by MUMPS are asked.
        unsafe {
            check("KSPGetPC", KSPGetPC(self.0.get()?, &mut pc))?;
            check("PCFactorGetMatrix", PCFactorGetMatrix(pc, &mut factor))?;
            check("MatMumpsSetIcntl", MatMumpsSetIcntl(factor, 8, 0))?;
            // A negative number is the size itself, and no share of the norm.
            check("MatMumpsSetCntl", MatMumpsSetCntl(factor, 3, -largest))
        }
    }

    /// Conjugate gradients with smoothed aggregation. Collective.
    pub(crate) fn multigrid(matrix: &Matrix) -> Result<Self, Error> {
        let (own, _) = Self::new(matrix, c"cg", c"gamg")?;
        let ksp = own.0.get()?;
        // SAFETY: a handle that is alive.
        unsafe {
            check("KSPSetNormType", KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED))?;
            check("KSPSetFromOptions", KSPSetFromOptions(ksp))?;
        }
        Ok(own)
    }

    /// Takes new values of the matrix. Collective.
    pub(crate) fn prepare(&mut self, matrix: &Matrix) -> Result<(), Error> {
        self.set_operator(matrix)?;
        // SAFETY: a handle that is alive.
        check("KSPSetUp", unsafe { KSPSetUp(self.0.get()?) })
    }

    /// Whether the factor was not made, after `prepare`.
    pub(crate) fn has_failed(&self) -> Result<bool, Error> {
        let (mut pc, mut reason) = (null_mut(), 0);
        // SAFETY: PETSc writes a handle and a number.
        unsafe {
            check("KSPGetPC", KSPGetPC(self.0.get()?, &mut pc))?;
            check("PCGetFailedReason", PCGetFailedReason(pc, &mut reason))?;
        }
        Ok(reason != 0)
    }

    /// Pivots of the factor, after `prepare`.
    pub(crate) fn pivots(&self) -> Result<Pivots, Error> {
        let (mut pc, mut factor) = (null_mut(), null_mut());
        let (mut negative, mut zero) = (0, 0);
        // SAFETY: PETSc writes handles and numbers; only factors by MUMPS are asked.
        unsafe {
            check("KSPGetPC", KSPGetPC(self.0.get()?, &mut pc))?;
            check("PCFactorGetMatrix", PCFactorGetMatrix(pc, &mut factor))?;
            check("MatMumpsGetInfog", MatMumpsGetInfog(factor, 12, &mut negative))?;
            check("MatMumpsGetInfog", MatMumpsGetInfog(factor, 28, &mut zero))?;
        }
        let count = |n: Int| usize::try_from(n).unwrap_or(0);
        Ok(Pivots {
            negative: count(negative),
            zero: count(zero),
        })
    }

    /// Solves from zero until the residual is this share of the right-hand side; returns the number
    /// of iterations and whether the method could go on to its end. Collective.
    pub(crate) fn solve(
        &mut self,
        share: f64,
        most: usize,
        b: &Vector,
        x: &mut Vector,
    ) -> Result<(usize, bool), Error> {
        let (ksp, most) = (self.0.get()?, index("iterations", most)?);
        let (mut reason, mut iterations) = (0, 0);
        const DIVERGED: f64 = 1e30;
        const DIVERGED_ITS: c_int = -3;
        // SAFETY: handles that are alive; PETSc compares the sizes, and `x` is not `b`.
        unsafe {
            check(
                "KSPSetTolerances",
                KSPSetTolerances(ksp, share, 0.0, DIVERGED, most),
            )?;
            check("KSPSolve", KSPSolve(ksp, b.0.get()?, x.0.get()?))?;
            check("KSPGetConvergedReason", KSPGetConvergedReason(ksp, &mut reason))?;
            check(
                "KSPGetIterationNumber",
                KSPGetIterationNumber(ksp, &mut iterations),
            )?;
        }
        Ok((
            usize::try_from(iterations).unwrap_or(0),
            reason > 0 || reason == DIVERGED_ITS,
        ))
    }
}
