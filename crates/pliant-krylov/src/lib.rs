//! Krylov solvers for `A x = b`: matrix-free operators, preconditioners, and solvers whose answer
//! is checked before it is returned.
//!
//! [`KktKrylov`] solves a whole [`KktSystem`](pliant_solvers::KktSystem), [`IterativeSolver`] picks
//! the variant of it that suits the rows, for a step; [`LinearAuto`] chooses between it and the
//! factors.
//!
//! | solver | matrix `A` | preconditioner `M` | flops per iteration | vectors of length n |
//! |---|---|---|---|---|
//! | [`ConjugateGradient`] | positive (semi)definite | positive definite | 1 product, 1 `M`, `15 n` | 8 |
//! | [`MinimalResidual`] | symmetric | positive definite | 1 product, 1 `M`, `25 n` | 12 |
//! | [`ConjugateResidual`] | symmetric, best definite | positive definite | 1 product, 1 `M`, `21 n` | 10 |
//! | [`BiConjugateGradient`] | any | any | 2 products, 2 `M`, `29 n` | 11 |
//! | [`GeneralMinimalResidual`] | any | any | 1 product, 1 `M`, `4 k n` at step k | 7 + restart |
//! | [`FlexibleMinimalResidual`] | any | any, may change | 1 product, 1 `M`, `4 k n` at step k | 7 + 2 restart |
//!
//! **Stopping.** A solve is converged if, in the Euclidean norm and with the residual computed anew
//! from `b - A x`,
//!
//! ```math
//! |b - A x| <= tolerance (|A x| + |b|)
//! ```
//!
//! (with `|A x_0|` on the right if `b = 0`, whose answer would otherwise never be accepted before
//! it is exact). The recurrences of a solver only *propose* to stop. If they lied, the solver
//! starts again from the true residual; that is iterative refinement, and it ends when a pass fails
//! to halve the residual ([`KrylovStatus::Stagnated`]). The test does not change when `A` and `b`
//! are multiplied by numbers, but it does when rows are scaled differently: see [`KktKrylov`],
//! which equilibrates and measures componentwise.
//!
//! **Corrections.** Every pass solves `A d = r` for a correction `d` from zero, with `r` scaled to
//! unit size by a power of two. A correction that is worse than nothing is not applied: no solver
//! ever returns NaN.
//!
//! **Singular systems** whose `b` is in the range of a symmetric `A` are solved by the least change
//! of `x` from its start, measured in the norm of `M` (Euclidean without preconditioner), since all
//! corrections are in the range of `M^-1 A`.
//!
//! ```
//! use pliant_krylov::{ConjugateGradient, FnOperator, KrylovSolver, KrylovStatus};
//! let a = FnOperator::new(3, |x: &[f64], y: &mut [f64]| {
//!     for i in 0..3 {
//!         y[i] = 2.0 * x[i] - if i > 0 { x[i - 1] } else { 0.0 } - if i < 2 { x[i + 1] } else { 0.0 };
//!     }
//! });
//! let mut solver = ConjugateGradient::default();
//! let mut x = [0.0; 3];
//! let report = solver.solve(&a, &[1.0, 0.0, 1.0], &mut x)?;
//! assert_eq!(report.status, KrylovStatus::Converged);
//! assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
//! # Ok::<(), pliant_solvers::SolveError>(())
//! ```

mod bicgstab;
mod blocks;
mod cg;
mod condensed;
mod constraint;
mod cr;
mod drive;
mod factor;
mod gmres;
mod incomplete;
mod incomplete_blocks;
mod iterative;
mod kkt;
mod kkt_methods;
mod linear;
mod minres;
mod multigrid;
mod operator;
mod precondition;
mod primal;
mod projected;
mod provided;
mod saddle;
mod ssor;
mod stale;

pub use bicgstab::BiConjugateGradient;
pub use blocks::BlockJacobi;
pub use cg::ConjugateGradient;
pub use constraint::{ApproximateSchur, Approximation, ConstraintPreconditioner, DiagonalPreconditioner};
pub use cr::ConjugateResidual;
pub use factor::SymmetricFactor;
pub use gmres::{FlexibleMinimalResidual, GeneralMinimalResidual};
pub use incomplete::IncompleteCholesky;
pub use incomplete_blocks::BlockIncompleteCholesky;
pub use iterative::{IterativeMethod, IterativeOptions, IterativePreconditioner, IterativeSolver};
pub use kkt::{KktKrylov, KktKrylovOptions, KktKrylovReport, KktMethod};
pub use linear::{
    Attempt, FactorSummary, LinearAuto, LinearChoice, LinearMethod, LinearOptions, LinearReport, Outcome,
    Prediction, Reason,
};
pub use minres::MinimalResidual;
pub use multigrid::{
    MultigridLevel, MultigridOptions, MultigridReport, NearNullSpace, RigidNode, SmoothedAggregation,
};
pub use operator::{FnOperator, KktOperator, SchurOperator, SymmetricOperator};
pub use precondition::{Identity, Jacobi};
pub use primal::PrimalPreconditioner;
pub use provided::{ProvidedSolver, Provider, Purpose};
pub use ssor::Ssor;
pub use stale::StaleFactor;

use pliant_solvers::{SolveError, Variable, check_size, power_of_two_below};
pub use pliant_sparse::LinearOperator;

/// A cheap approximate inverse of a square matrix `A`.
pub trait Preconditioner {
    /// Order n of the matrix.
    fn size(&self) -> usize;

    /// `z = M^-1 r`, both of length n. Linear in `r`, but for [`FlexibleMinimalResidual`];
    /// overwrites `z`; allocates nothing once it is warm.
    fn apply(&self, r: &[f64], z: &mut [f64]);
}

/// When a Krylov solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KrylovOptions {
    /// Largest `|b - A x| / (|A x| + |b|)` that counts as converged; at least zero.
    pub tolerance: f64,
    /// Iterations at most, over all passes of a solve.
    pub max_iterations: usize,
    /// Length of the basis after which [`GeneralMinimalResidual`] and [`FlexibleMinimalResidual`]
    /// start again, at least one; the others ignore it.
    pub restart: usize,
    /// Whether to keep the size of the residual of every iteration.
    pub history: bool,
}

impl Default for KrylovOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_iterations: 1000,
            restart: 50,
            history: false,
        }
    }
}

/// How a Krylov solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum KrylovStatus {
    /// The true residual is below the tolerance.
    Converged,
    /// The iterations ran out.
    MaxIterations,
    /// A whole pass did not reduce the true residual any further: the tolerance is below what
    /// rounding allows, or a singular system has no solution.
    Stagnated,
    /// The method cannot go on.
    Breakdown {
        /// Why.
        kind: Breakdown,
    },
}

impl std::fmt::Display for KrylovStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Converged => f.write_str("converged"),
            Self::MaxIterations => f.write_str("iterations ran out"),
            Self::Stagnated => f.write_str("stagnated"),
            Self::Breakdown { kind } => write!(f, "breakdown: {kind}"),
        }
    }
}

/// Why a Krylov method cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Breakdown {
    /// A direction `p` of negative or zero curvature: `A` is not positive definite. (Zero: `A` is
    /// indefinite, or singular with a `b` outside its range.)
    Indefinite {
        /// `p^T A p / p^T p`, at most zero.
        curvature: f64,
    },
    /// `r^T M^-1 r < 0`, beyond rounding: the preconditioner is not positive definite.
    IndefinitePreconditioner {
        /// `r^T M^-1 r / r^T r`, negative.
        curvature: f64,
    },
    /// An inner product by which the method divides is zero, up to rounding (or underflow).
    ZeroInnerProduct,
    /// A product with the operator or the preconditioner is not finite.
    NotFinite,
}

impl std::fmt::Display for Breakdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Indefinite { curvature } => {
                write!(
                    f,
                    "the matrix is not positive definite (curvature {curvature:.1e})"
                )
            }
            Self::IndefinitePreconditioner { curvature } => {
                write!(
                    f,
                    "the preconditioner is not positive definite (curvature {curvature:.1e})"
                )
            }
            Self::ZeroInnerProduct => f.write_str("an inner product to divide by is zero"),
            Self::NotFinite => f.write_str("a product is not finite"),
        }
    }
}

/// Result of a Krylov solve, and its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KrylovReport {
    /// How it ended.
    pub status: KrylovStatus,
    /// Iterations over all passes.
    pub iterations: usize,
    /// Passes after the first: restarts, by design or because a recurrence lied.
    pub restarts: usize,
    /// `|b - A x|` of the answer, computed from the answer; infinite if that is not finite at the
    /// start already.
    pub residual: f64,
    /// `|b - A x| / (|A x| + |b|)`, what the tolerance is for.
    pub relative: f64,
}

/// Interface of all Krylov solvers. The workspace is kept: the second solve of a size allocates
/// nothing.
pub trait KrylovSolver {
    /// When to stop.
    fn options(&self) -> &KrylovOptions;

    /// When to stop, to be changed.
    fn options_mut(&mut self) -> &mut KrylovOptions;

    /// `|r|` by the recurrence at the start and after every iteration of the last solve, in the
    /// units of `b`; empty unless [`KrylovOptions::history`] asks for it.
    fn history(&self) -> &[f64];

    /// Solves `A x = b` from the given `x` with the preconditioner `M`. Afterwards `x` is the
    /// answer that the report speaks of.
    ///
    /// # Errors
    /// [`SolveError::Size`] if an operand is not as long as the operator, [`SolveError::NotFinite`]
    /// if `b` or `x` is not finite, [`SolveError::Parameter`] if an option makes no sense. How the
    /// solve ended is a [`KrylovStatus`], not an error.
    fn solve_with(
        &mut self,
        a: &dyn LinearOperator,
        m: &dyn Preconditioner,
        b: &[f64],
        x: &mut [f64],
    ) -> Result<KrylovReport, SolveError>;

    /// As [`Self::solve_with`], without preconditioner.
    ///
    /// # Errors
    /// As [`Self::solve_with`].
    fn solve(
        &mut self,
        a: &dyn LinearOperator,
        b: &[f64],
        x: &mut [f64],
    ) -> Result<KrylovReport, SolveError> {
        self.solve_with(a, &Identity::new(a.size()), b, x)
    }
}

/// A vector for intermediate results of operators that are shared. Allocates only while it is in
/// use twice, or grows.
#[derive(Default)]
struct Scratch(std::cell::Cell<Vec<f64>>);

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

impl Scratch {
    fn with(&self, length: usize, f: impl FnOnce(&mut [f64])) {
        let mut v = self.0.take();
        v.clear();
        v.resize(length, 0.0);
        f(&mut v);
        self.0.set(v);
    }
}

/// An error at the first entry that is not finite.
fn check_finite(v: &[f64]) -> Result<(), SolveError> {
    match v.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(SolveError::NotFinite {
            variable: Variable::Dof(i),
        }),
        None => Ok(()),
    }
}

/// `a^T b`, summed in eight interleaved parts, always the same.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut parts = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in parts.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    parts.iter().sum::<f64>() + rest
}

/// `y += s x`.
fn axpy(s: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += s * x;
    }
}

/// `y = x + s y`.
fn xpby(x: &[f64], s: f64, y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = x + s * *y;
    }
}

/// Largest magnitude; NaN if there is one.
fn largest(v: &[f64]) -> f64 {
    v.iter().fold(
        0.0,
        |a: f64, v| if v.is_nan() || v.abs() > a { v.abs() } else { a },
    )
}

/// Euclidean norm without overflow or underflow.
fn norm(v: &[f64]) -> f64 {
    let sum = dot(v, v);
    // Far from both ends of the exponents.
    if sum > 1e-200 && sum < 1e200 {
        return sum.sqrt();
    }
    let size = largest(v);
    if size == 0.0 || !size.is_finite() {
        return size;
    }
    let sum: f64 = v.iter().map(|v| (v / size) * (v / size)).sum();
    size * sum.sqrt()
}

/// `v^T w / v^T v` with `w = A v`, without overflow or underflow on the way; zero for `v = 0`.
fn curvature(v: &[f64], w: &[f64]) -> f64 {
    let (sv, sw) = (largest(v), largest(w));
    if sv == 0.0 || sw == 0.0 {
        return 0.0;
    }
    let (mut vw, mut vv) = (0.0, 0.0);
    for (v, w) in v.iter().zip(w) {
        vw += (v / sv) * (w / sw);
        vv += (v / sv) * (v / sv);
    }
    let quotient = vw / vv * (sw / sv);
    if quotient.is_nan() { 0.0 } else { quotient }
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
