//! From a mechanical model to a KKT system: planned once, filled every step.
//!
//! This crate has the *plan* (composed Jacobian patterns, slots of every block in `W`, `J` and `R`)
//! and the *fill* (the numbers of one step, in the notation of theory/step.md of the book):
//!
//! ```math
//! W = M + h alpha B + h^2 alpha beta (K - G),   c = h f - h^2 alpha (K - G) v
//! ```
//!
//! with one row `J dv + R mu + b = 0` per coordinate of every compliant force field and hard
//! constraint, and behind them the transient rows of a [`Tail`] (contacts), which come and go
//! without a new plan. It never evaluates a force (`pliant-model` does) and never solves
//! (`pliant-solvers` does).
//!
//! With the feature `serde`, off by default, options that are a choice of words are read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod fill;
mod jacobian;
mod plan;
mod scheme;
mod tail;

pub use fill::{Assembler, Metric, NewtonResiduals, ResponseOperator, RowMotion, StepInput, StiffnessRatio};
pub use scheme::{GeometricStiffness, GeometricTerms, Scheme};
pub use tail::{Extended, Quantity, Support, Tail};

/// Why a system could not be planned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KktError {
    /// From the sparse kernels.
    #[error(transparent)]
    Sparse(#[from] pliant_sparse::SparseError),
    /// From the problem statement.
    #[error(transparent)]
    System(#[from] pliant_solvers::SolveError),
    /// A transient row acts on an element for which no Jacobian was planned.
    #[error("a transient row acts on element {element} of `{node}`, for which none were planned")]
    NotPlanned {
        /// Name of the node.
        node: String,
        /// The element.
        element: usize,
    },
    /// A transient row acts on something that has no place in space.
    #[error("a transient row cannot act on `{node}`, which is made of {space}")]
    Space {
        /// Name of the node.
        node: String,
        /// Its space.
        space: pliant_model::Space,
    },
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
