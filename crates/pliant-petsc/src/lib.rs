//! Linear systems over several processes: PETSc's solvers and MUMPS, called through MPI.
//!
//! A [`Session`] begins PETSc and MPI in a process that `mpirun` has started, and `PROVIDER` is a
//! solver that a step and a search for rest take in the place of their own
//! (`LinearSolver::Provided` of `pliant-stepper`). Every process runs the same program on the same
//! model, so that all of them hold the same system
//!
//! ```math
//! [  W  -J^T ] [ x  ]   [ c ]
//! [ -J  -R   ] [ mu ] = [ b ]
//! ```
//!
//! and each gives PETSc the rows that are its own, a range of the unknowns. What is spread is the
//! work and the memory of the solve, which is most of both for large models: factors, levels,
//! products and vectors. Evaluation, assembly and the state are repeated on every process; that all
//! processes hold the same numbers is compared before every solve.
//!
//! Two methods, by the rows of the system:
//!
//! | system | method |
//! |---|---|
//! | no rows, from `MULTIGRID_FROM` unknowns on, for a minimum | conjugate gradients with smoothed aggregation (GAMG), told the motions as a rigid body |
//! | all others | a factor `L D L^T` by MUMPS, which counts negative and zero pivots |
//!
//! Either is refined until [`KktSystem::residual`](pliant_solvers::KktSystem::residual) is within
//! the tolerance, against the matrices as given. PETSc's own options (the variable `PETSC_OPTIONS`)
//! may change the inner solver, and never that test.
//!
//! The crate calls PETSc with its feature `petsc` alone; without, [`Session::begin`] is an error.

#[cfg(feature = "petsc")]
mod entries;
mod error;
// The lint is denied in all other files of the workspace.
#[cfg(feature = "petsc")]
#[expect(
    unsafe_code,
    reason = "calls of C libraries; the head of the module says why they are sound"
)]
mod ffi;
#[cfg(feature = "petsc")]
mod kkt;
mod partition;
#[cfg(feature = "petsc")]
mod parts;
mod session;
#[cfg(feature = "petsc")]
mod spread;

pub use error::Error;
#[cfg(feature = "petsc")]
pub use kkt::{MULTIGRID_FROM, PROVIDER, PetscSolver};
pub use partition::{NodesOfPart, bisect};
#[cfg(feature = "petsc")]
pub use parts::{SpreadModel, SpreadReport};
pub use session::{Session, Share};

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
