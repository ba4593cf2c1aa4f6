//! Sparse patterns, products and symmetric factorisations with a symbolic/numeric split.
//!
//! Holds compressed row storage with a pattern that is built once and values that are written in
//! place, orders of elimination of a (block) graph by minimum degree and nested dissection, the
//! `L D L^T` of a symmetric quasi-definite matrix by entries, by dense blocks or by dense fronts on
//! several threads, one with pivoting for any symmetric matrix, and the `L U` of any. It knows no
//! mechanics, no time and no constraint.
//!
//! ```
//! use pliant_sparse::{PatternBuilder, Symbolic};
//! // [2 1; 1 -3], lower triangle by rows.
//! let mut builder = PatternBuilder::new(2, 2);
//! for (i, j) in [(0, 0), (1, 0), (1, 1)] {
//!     builder.insert(i, j);
//! }
//! let mut a = builder.finish()?.into_matrix();
//! a.values_mut().copy_from_slice(&[2.0, 1.0, -3.0]);
//! let symbolic = Symbolic::new(a.pattern())?;
//! let mut factor = symbolic.allocate();
//! factor.factor(&symbolic, &a, Default::default())?;
//! let mut x = [3.0, -2.0];
//! factor.solve_in_place(&symbolic, &mut x);
//! assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
//! # Ok::<(), pliant_sparse::SparseError>(())
//! ```
//!
//! With the feature `serde`, off by default, what solvers remember is read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block;
mod dependence;
mod front;
mod graph;
mod ldlt;
mod lu;
mod operator;
mod pattern;
mod sets;
mod symmetric_block;
mod workspace;

pub use block::{
    BlockFactor, BlockPattern, BlockSymbolic, Complement, ComplementPattern, ComplementSymbolic, Reach,
    Refactored,
};
pub use dependence::Dependence;
pub use front::{FrontFactor, FrontSymbolic, Inertia, PivotedFactor, UnsymmetricFactor};
pub use graph::{BestOrder, EliminationCost, Graph, OrderMethod, OrderReport};
pub use ldlt::{Factor, FactorReport, PivotRule, Symbolic};
pub use lu::LuFactor;
pub use operator::LinearOperator;
pub use pattern::{CsrMatrix, Pattern, PatternBuilder, TakeRun, for_each_run};
pub use pliant_threads::{Threads, ThreadsError};
pub use sets::DisjointSets;
pub use symmetric_block::SymmetricBlockMatrix;
pub use workspace::SymbolicWorkspace;
use workspace::{fill, zeros};

/// Errors in building or factoring a sparse matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SparseError {
    /// A size or a number of entries does not fit 32-bit indices.
    #[error("the matrix has {found} {what}, more than 32-bit indices can count")]
    TooLarge {
        /// The things that were counted.
        what: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An index outside the matrix.
    #[error("entry ({row}, {column}) is outside a {rows} x {columns} matrix")]
    OutOfRange {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// Two operands whose sizes do not fit.
    #[error("expected {what} of length {expected}, found {found}")]
    Size {
        /// Which operand.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A pivot that is zero or not finite, with no rule to replace it.
    #[error("pivot {index} of the factorisation is zero or not finite")]
    Pivot {
        /// Variable, in the order of the factored matrix.
        index: usize,
    },
    /// A pivot threshold outside its range.
    #[error("the pivot threshold must be above 0 and at most 1/2, found {value}")]
    Threshold {
        /// Given.
        value: f64,
    },
    /// A partial refactorisation without a factorisation to start from.
    #[error("there is no factorisation of which a part could be renewed")]
    NotFactored,
    /// A block column that the factor does not have.
    #[error("block column {column} of a factor of {columns} block columns")]
    NoColumn {
        /// Which.
        column: usize,
        /// How many there are.
        columns: usize,
    },
    /// Memory that the system does not grant.
    #[error("the factor of the matrix takes {:.1} GB, which the system does not grant", 8e-9 * *.numbers as f64)]
    Memory {
        /// Numbers of eight bytes.
        numbers: usize,
    },
    /// Threads that the system did not start.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// The symbolic analysis ran out of memory or index range.
    #[error("the symbolic factorisation failed: {reason}")]
    Symbolic {
        /// In the words of the numeric library.
        reason: String,
    },
}

/// Compares the size of an operand with the one that it is to have.
fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), SparseError> {
    if expected == found {
        return Ok(());
    }
    Err(SparseError::Size {
        what,
        expected,
        found,
    })
}

/// Checks the first unknowns of so many vertices and the number of all, which 32-bit indices are to
/// hold.
fn check_bounds(bounds: &[usize], vertices: usize) -> Result<(), SparseError> {
    if bounds.len() != vertices + 1 || bounds[0] != 0 || bounds.windows(2).any(|w| w[0] >= w[1]) {
        return Err(SparseError::Size {
            what: "ascending block bounds",
            expected: vertices + 1,
            found: bounds.len(),
        });
    }
    let (what, found) = ("rows", bounds[vertices]);
    if found >= i32::MAX as usize {
        return Err(SparseError::TooLarge { what, found });
    }
    Ok(())
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
