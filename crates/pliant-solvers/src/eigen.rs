//! Eigenvalues of symmetric pencils on the null space of the hard rows: vibration and buckling.
//!
//! A [`DefinitePencil`] finds the eigenvalues `mu` next to zero of
//!
//! ```math
//! A x - J^T l = mu B x,    J x + R l = 0
//! ```
//!
//! with `A` positive definite on the null space of the hard rows, together with the compliant ones
//! (a compliance is never inverted: rows of any `R` stay rows), and any symmetric `B`. It applies
//! Lanczos's method to `A^-1 B` in the inner product of `A`, in which that is symmetric, whatever
//! `B` is; where `B` is singular, `mu` is infinite and does not come up. Eigenvalues are counted by
//! Sylvester's law of inertia, so that none is missed.
//!
//! [`spectrum`] has the ends of the spectrum of a whole KKT matrix, and its condition number.
//!
//! [`vibration`] shifts `K x = lambda M x` to such a pencil and back. Buckling,
//! `(K + mu G) x = 0` over a stiffness that holds everything, is one with `B = -G`.

mod lanczos;
mod pencil;
mod spectrum;
mod vibration;

pub use lanczos::pseudo_random;
pub use pencil::DefinitePencil;
pub use spectrum::{Extreme, Spectrum, spectrum};
pub use vibration::{Vibration, Vibrations, vibration};

use crate::{SolveError, Variable};

/// The side of zero on which eigenvalues are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Positive ones, the smallest first.
    Positive,
    /// Negative ones, the smallest magnitude first.
    Negative,
}

impl Side {
    /// 1 or -1.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Positive => 1.0,
            Self::Negative => -1.0,
        }
    }
}

/// How eigenvalues are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenOptions {
    /// Largest estimated error of an eigenvalue as a share of its distance from the shift (of a
    /// [`DefinitePencil`], of itself); in `(0, 1)`.
    pub tolerance: f64,
    /// Solves with a factor at most.
    pub max_solves: usize,
    /// Threads that share a factor; 0 counts as 1. No bit depends on them.
    pub threads: usize,
}

impl Default for EigenOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            max_solves: 20_000,
            threads: 1,
        }
    }
}

/// An eigenvalue and its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct EigenPair {
    /// The eigenvalue `mu`.
    pub value: f64,
    /// The vector `x`, of size 1 in the inner product of `A`.
    pub x: Vec<f64>,
    /// The multipliers `l` of the rows.
    pub l: Vec<f64>,
    /// Estimated error of the eigenvalue as a share of it: `|A^-1 B x - x / mu|` in the norm of
    /// `A`, times `|mu|`.
    pub error: f64,
    /// The residual of its equations as a share of the sizes of their terms
    /// ([`DefinitePencil`]).
    pub residual: f64,
}

/// The eigenvalues that were found on one side of zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Eigenvalues {
    /// The pairs, next to zero first.
    pub pairs: Vec<EigenPair>,
    /// Whether these are all on this side.
    pub complete: bool,
    /// Solves with the factor.
    pub solves: usize,
    /// Factorisations, with those that counted.
    pub factorisations: usize,
}

/// Why eigenvalues could not be found.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EigenError {
    /// The factor.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// `A` is not positive definite where hard rows let things move.
    #[error(
        "the matrix has {negative} negative eigenvalues on the null space of the rows, where none may be"
    )]
    Indefinite {
        /// Negative eigenvalues.
        negative: usize,
    },
    /// Some direction has no entry in `A`, nor in a row.
    #[error("{variable} is in a direction that nothing holds")]
    Free {
        /// An unknown in such a direction.
        variable: Variable,
    },
    /// The solves allowed did not do.
    #[error("{found} of {wanted} eigenvalues after {solves} solves")]
    NotConverged {
        /// Found so far.
        found: usize,
        /// Asked for.
        wanted: usize,
        /// Solves taken.
        solves: usize,
    },
    /// The inertia counts others than were found.
    #[error("{found} eigenvalues were found where the inertia counts {counted}")]
    Miscounted {
        /// Found.
        found: usize,
        /// Counted.
        counted: usize,
    },
}

/// The sentence: a `main` that returns the error prints it.
impl std::fmt::Debug for EigenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The inner product, summed in order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `y += s x`.
fn add(s: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}
