//! Why something over several processes failed.

/// Why a system over several processes was not solved, or no session begins.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The crate was compiled without its feature `petsc`.
    #[error(
        "this program was built without PETSc: install it (Debian: `apt-get install petsc-dev libopenmpi-dev \
         openmpi-bin pkg-config`) and build with `--features petsc`"
    )]
    NotBuilt,
    /// A function of PETSc or MPI failed.
    #[error("{call} failed with code {code}: {message}")]
    Call {
        /// The function.
        call: &'static str,
        /// The code that it returned.
        code: i32,
        /// The words of PETSc for the code.
        message: String,
    },
    /// A call from another thread than the one that began the session.
    #[error("PETSc is called from the thread that began its session, and from no other")]
    OtherThread,
    /// PETSc cannot begin again once it has ended in a process.
    #[error("PETSc has ended in this process, and cannot begin again")]
    Ended,
    /// A number does not fit PETSc's indices of 32 bits.
    #[error("{count} {what} are more than the indices of PETSc reach, {}", i32::MAX)]
    TooLarge {
        /// The things that are counted.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A vector or list of another length than the matrix has.
    #[error("expected {what} of length {expected}, found {found}")]
    Size {
        /// Which operand.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A mapping or a force field of this process's part is not defined where it came to.
    #[error(transparent)]
    Model(#[from] pliant_model::ModelError),
    /// The system of this process's part could not be planned.
    #[error(transparent)]
    Plan(#[from] pliant_kkt::KktError),
    /// Something in a model that is not solved in parts.
    #[error("models in parts do not take {what}")]
    NotInParts {
        /// The feature, with its name in the model.
        what: String,
    },
    /// There is no factor, or no solution that is good enough.
    #[error("the linear system of all parts is not solved: its residual is {residual:.1e} of its terms")]
    NotSolved {
        /// Euclidean norm, over that of the right-hand side and of the terms on the diagonal.
        residual: f64,
    },
    /// Newton's method ended beyond the tolerance.
    #[error("no equilibrium after {iterations} iterations: forces miss {residual:.1e} of their terms")]
    NoRest {
        /// Iterations made.
        iterations: usize,
        /// Euclidean norm of what is missing, over that of the terms.
        residual: f64,
    },
    /// The equations of a step are missed by more than the tolerance.
    #[error(
        "the step of {h} s is not solved after {iterations} iterations: forces miss {residual:.1e} of their \
         terms, rows {rows:.1e} of the velocities"
    )]
    NoStep {
        /// Length of the step (s).
        h: f64,
        /// Iterations made.
        iterations: usize,
        /// Euclidean norm of the forces that are missing, over that of their terms.
        residual: f64,
        /// Largest miss of a row, as a velocity over the largest one.
        rows: f64,
    },
    /// A length of a step that is none.
    #[error("a step takes a positive number of seconds, not {h}")]
    Step {
        /// The length (s).
        h: f64,
    },
    /// The part of another process has an error, which that process names.
    #[error("the part of another process has an error")]
    OtherPart,
    /// Processes that must hold the same numbers do not.
    #[error(
        "{what} are not the same on all processes: they must run the same program on the same kind of processor"
    )]
    Differ {
        /// Which numbers.
        what: &'static str,
    },
}
