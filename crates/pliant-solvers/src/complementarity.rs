//! Complementarity problems with cones: contact with dry friction, unilateral rows, bounded rows,
//! bilateral rows.
//!
//! The problem, with the impulse `r` (N s, length m) and the velocity `u` (m/s):
//!
//! ```math
//! u = A r + b,      one law per block of rows ([`Cone`])
//! ```
//!
//! `A` (m x m, m/s per N s) is the Delassus operator, symmetric positive semidefinite in mechanics;
//! the pivoting methods take any `A`. Coulomb's law in the form of De Saxcé (1992): with
//! `u~ = u + mu |u_t| n` it is `u~ in K*`, `r in K`, `r . u~ = 0` for the cone
//! `K = {|r_t| <= mu r_n}` and its dual `K*`.
//!
//! Every [`Solver`] here starts from what `r` holds, leaves its best answer there, and calls it
//! [`Outcome::Converged`] only if the [`Residual`], computed anew from `A`, `b` and `r`, is below
//! the tolerance.
//!
//! | solver | problem | cost of an iteration |
//! |---|---|---|
//! | [`GaussSeidel`], [`NonlinearCg`], [`ModulusSplitting`] | all cones | one product with `A` |
//! | [`Jacobi`], [`AcceleratedGradient`], [`BarzilaiBorwein`] | all cones, `A` symmetric semidefinite | one product with `A` |
//! | [`Admm`] | all cones, `A` symmetric semidefinite | sparse triangular solves |
//! | [`InteriorPoint`] | all cones, `A` symmetric semidefinite | one sparse factorisation |
//! | [`Newton`] | all cones | one dense factorisation |
//! | [`BlockPivoting`] | no friction | one dense factorisation |
//! | [`Lemke`] | all, friction as a pyramid | one dense pivot |
//! | [`Auto`] | all | what it takes |
//!
//! Friction is bounded by a circle unless one says otherwise: a [`Cone::Pyramid`] has a polygon
//! instead ([`Jacobi`], [`AcceleratedGradient`], [`BarzilaiBorwein`], [`Admm`],
//! [`ModulusSplitting`], [`Lemke`] and [`Auto`] take it), an ellipse becomes a circle by
//! [`Elliptic`]. A [`Cone::Shifted`] has a shift of De Saxcé that is known beforehand, so that the
//! problem is a convex program: all but the pivoting methods take it.
//!
//! Methods that are there to compare with are in the crate `pliant-lab`. A solver of one's own
//! implements [`Solver`] with a [`Tracker`].
//!
//! A saddle-point system with cones on some of its rows goes to [`ConicSolver`], which reports on
//! the whole, or to [`IslandSolver`], which solves independent parts one by one.
//!
//! ```
//! use pliant_solvers::complementarity::{Auto, Cone, Outcome, Problem, Solver};
//! let a = [2.0, 1.0, 1.0, 2.0];
//! let problem = Problem::dense(&a, &[-5.0, -6.0], &[Cone::NonNegative; 2])?;
//! let mut r = [0.0; 2];
//! let report = Auto::default().solve(&problem, &mut r)?;
//! assert_eq!(report.outcome, Outcome::Converged);
//! assert!((r[0] - 4.0 / 3.0).abs() < 1e-12 && (r[1] - 7.0 / 3.0).abs() < 1e-12);
//! # Ok::<(), pliant_solvers::complementarity::ProblemError>(())
//! ```

mod accelerated;
mod admm;
mod anderson;
mod auto;
mod barzilai_borwein;
mod central;
mod compensated;
mod condensed;
mod cone;
mod conic;
mod delassus;
mod determinacy;
mod elliptic;
mod gauss_seidel;
mod interior;
mod islands;
mod jacobi;
mod jacobian;
mod lcp;
mod lemke;
mod local;
mod modulus;
mod newton;
mod nonlinear_cg;
mod principal;
mod problem;
mod profile;
mod report;
mod residual;
mod saddle;
mod shifted;
mod spectrum;

pub use accelerated::AcceleratedGradient;
pub use admm::{Admm, AdmmOptions};
pub use auto::{Auto, AutoOptions};
pub use barzilai_borwein::BarzilaiBorwein;
pub use central::CentralPath;
pub use compensated::Compensated;
pub use condensed::{BilateralWork, CondensedIslands};
pub use cone::{Cone, project_dual, project_friction};
pub use conic::{ConicMemory, ConicReport, ConicSolver};
pub use delassus::{BlockSparse, Delassus, DenseDelassus, Form};
pub use determinacy::Determinacy;
pub use elliptic::Elliptic;
pub use gauss_seidel::{GaussSeidel, GaussSeidelOptions};
pub use interior::InteriorPoint;
pub use islands::{IslandMemory, IslandReport, IslandSolver};
pub use jacobi::Jacobi;
pub use lcp::Lcp;
pub use lemke::{Lemke, LemkeOptions};
pub use local::solve_block;
pub use modulus::{ModulusSplitting, ModulusSplittingOptions};
pub use newton::{ContactFunction, Newton, NewtonOptions, ProximalNewton, RowFunction};
pub use nonlinear_cg::NonlinearCg;
pub use principal::{BlockPivoting, BlockPivotingOptions, RowState, check_rows, solve_on};
pub use problem::{Problem, ProblemError};
pub use profile::{ConeProfile, StageProfile};
pub use report::{Limits, Method, Outcome, Report, Solver, Stage, Stages, Tracker};
pub use residual::{Residual, de_saxce, natural_map};
pub use saddle::{DelassusChoice, DelassusReason, DelassusReport, SaddleDelassus, without};
