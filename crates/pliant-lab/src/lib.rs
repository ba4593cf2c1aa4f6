//! Everything about solvers that a step does not need: methods to compare with, all solvers by
//! name, problems as texts.
//!
//! - [`registry`]: every solver of KKT systems and of complementarity problems with its name: what
//!   `pliant solve`, the corpus and the performance profiles run. A new solver is one line there.
//! - [`exchange`]: problems as JSON and Matrix Market, to send a failing solve and to keep a
//!   corpus.
//! - Methods for comparison: [`Murty`], [`Dantzig`] and [`ActiveSetQp`] for rows without friction;
//!   with the feature `clarabel` `ClarabelOracle`, the interior points of another program.
//! - [`Condensed`]: a saddle-point system with cones as a complementarity problem.
//!
//! The corpus, in `tests/corpus`, is solved by every solver of the registry and judged by a program
//! of its own.
//!
//! ```
//! use pliant_lab::registry::COMPLEMENTARITY;
//! use pliant_solvers::complementarity::{Cone, Limits, Outcome, Problem};
//! let problem = Problem::dense(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0], &[Cone::NonNegative; 2])?;
//! for entry in COMPLEMENTARITY {
//!     let mut r = [0.0; 2];
//!     let report = (entry.make)(Limits::default()).solve(&problem, &mut r)?;
//!     assert_eq!(report.outcome, Outcome::Converged, "{}", entry.name);
//! }
//! # Ok::<(), pliant_solvers::complementarity::ProblemError>(())
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod active_set;
#[cfg(feature = "clarabel")]
mod clarabel;
mod condense;
mod dantzig;
pub mod exchange;
mod murty;
pub mod registry;

pub use active_set::ActiveSetQp;
#[cfg(feature = "clarabel")]
pub use clarabel::ClarabelOracle;
pub use condense::Condensed;
pub use dantzig::Dantzig;
pub use murty::Murty;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
