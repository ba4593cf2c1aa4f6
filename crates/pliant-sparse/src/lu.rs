//! The `L U` of any sparse matrix, with rows exchanged for stability.

use crate::{CsrMatrix, Pattern, SparseError, check_size};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::colamd;
use faer::sparse::linalg::lu::simplicial::{
    SimplicialLu, factorize_simplicial_numeric_lu, factorize_simplicial_numeric_lu_scratch,
    solve_in_place_scratch,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};
use std::fmt;

/// `P A Q = L U` of a square sparse matrix: the largest entry of every column is its pivot (partial
/// pivoting), and the order of the columns is one of small fill whatever rows are taken (COLAMD).
///
/// The robust one for matrices that are unsymmetric, by entries, one thread; where the diagonal
/// blocks are known to be pivots, [`UnsymmetricFactor`](crate::UnsymmetricFactor) knows the fill
/// before. Matrices are given by columns: row `j` of the [`CsrMatrix`] is column `j` of `A`. The
/// fill depends on the values, so that memory may grow from one matrix to the next of the same
/// pattern; it is never given back.
///
/// ```
/// use pliant_sparse::{LuFactor, PatternBuilder};
/// // [0 2; 3 1], by columns.
/// let mut builder = PatternBuilder::new(2, 2);
/// for (j, i) in [(0, 1), (1, 0), (1, 1)] {
///     builder.insert(j, i);
/// }
/// let mut a = builder.finish()?.into_matrix();
/// a.values_mut().copy_from_slice(&[3.0, 2.0, 1.0]);
/// let mut factor = LuFactor::new(a.pattern())?;
/// factor.factor(&a)?;
/// let mut x = [4.0, 5.0];
/// factor.solve_in_place(&mut x);
/// assert_eq!((x, factor.has_negative_determinant()), ([1.0, 2.0], true));
/// # Ok::<(), pliant_sparse::SparseError>(())
/// ```
pub struct LuFactor {
    /// The columns in order, and the place of each.
    columns: (Vec<u32>, Vec<u32>),
    /// The rows in the order of their pivots, and the place of each.
    rows: (Vec<u32>, Vec<u32>),
    lu: SimplicialLu<u32, f64>,
    scratch: MemBuffer,
    entries: usize,
    /// Of the last factorisation: whether the determinant is negative; and scratch.
    negative: bool,
    seen: Vec<bool>,
}

fn symbolic(pattern: &Pattern) -> SymbolicSparseColMatRef<'_, u32> {
    let (m, n) = (pattern.columns(), pattern.rows());
    SymbolicSparseColMatRef::new_checked(m, n, pattern.offsets(), None, pattern.indices())
}

fn symbolic_error(error: faer::sparse::FaerError) -> SparseError {
    SparseError::Symbolic {
        reason: error.to_string(),
    }
}

impl fmt::Debug for LuFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LuFactor")
            .field("size", &self.columns.0.len())
            .finish_non_exhaustive()
    }
}

/// Whether a permutation is one of an odd number of exchanges. `seen` is scratch.
fn is_odd(permutation: &[u32], seen: &mut Vec<bool>) -> bool {
    seen.clear();
    seen.resize(permutation.len(), false);
    let mut odd = false;
    for first in 0..permutation.len() {
        let mut at = first;
        let mut length = 0usize;
        while !std::mem::replace(&mut seen[at], true) {
            at = permutation[at] as usize;
            length += 1;
        }
        odd ^= length > 0 && length.is_multiple_of(2);
    }
    odd
}

impl LuFactor {
    /// The order of the columns of matrices of this pattern (by columns).
    ///
    /// # Errors
    /// [`SparseError::Size`] if they are not square, [`SparseError::Symbolic`] if the order is not
    /// found.
    pub fn new(pattern: &Pattern) -> Result<Self, SparseError> {
        let n = pattern.rows();
        check_size("columns of a square matrix", n, pattern.columns())?;
        let mut columns = (vec![0; n], vec![0; n]);
        let mut memory = MemBuffer::new(colamd::order_scratch::<u32>(n, n, pattern.len()));
        colamd::order(
            &mut columns.0,
            &mut columns.1,
            symbolic(pattern),
            colamd::Control::default(),
            MemStack::new(&mut memory),
        )
        .map_err(symbolic_error)?;
        let factor = factorize_simplicial_numeric_lu_scratch::<u32, f64>(n, n);
        let solve = solve_in_place_scratch::<u32, f64>(n, 1, Par::Seq);
        Ok(Self {
            columns,
            rows: (vec![0; n], vec![0; n]),
            lu: SimplicialLu::new(),
            scratch: MemBuffer::new(factor.or(solve)),
            entries: pattern.len(),
            negative: false,
            seen: Vec::with_capacity(n),
        })
    }

    /// Factors a matrix of the pattern, given by columns.
    ///
    /// # Errors
    /// [`SparseError::Size`] if it is of another size, [`SparseError::Pivot`] names a column that
    /// leaves only zeros, or a number that is not finite, for a pivot.
    pub fn factor(&mut self, a: &CsrMatrix) -> Result<(), SparseError> {
        let n = self.columns.0.len();
        if a.pattern().rows() != n || a.pattern().columns() != n || a.pattern().len() != self.entries {
            return Err(SparseError::Size {
                what: "entries",
                expected: self.entries,
                found: a.pattern().len(),
            });
        }
        let columns = PermRef::new_checked(&self.columns.0, &self.columns.1, n);
        let pivot = |k: usize| SparseError::Pivot {
            index: self.columns.0[k] as usize,
        };
        factorize_simplicial_numeric_lu(
            &mut self.rows.0,
            &mut self.rows.1,
            &mut self.lu,
            SparseColMatRef::new(symbolic(a.pattern()), a.values()),
            columns,
            MemStack::new(&mut self.scratch),
        )
        .map_err(|error| match error {
            faer::sparse::linalg::LuError::SymbolicSingular { index } => pivot(index),
            faer::sparse::linalg::LuError::Generic(error) => symbolic_error(error),
        })?;
        if let Some(k) = self.pivots().position(|p| p == 0.0 || !p.is_finite()) {
            return Err(pivot(k));
        }
        let exchanged = is_odd(&self.rows.0, &mut self.seen) ^ is_odd(&self.columns.0, &mut self.seen);
        self.negative = self.pivots().fold(exchanged, |negative, p| negative ^ (p < 0.0));
        Ok(())
    }

    /// The diagonal of `U`: the last entries of its columns, as they are made.
    fn pivots(&self) -> impl Iterator<Item = f64> {
        let u = self.lu.u_factor_unsorted();
        (0..u.ncols()).map(move |k| u.val_of_col(k).last().copied().unwrap_or(0.0))
    }

    /// Entries of `L` and `U` of the last factorisation.
    pub fn entries(&self) -> usize {
        self.lu.l_factor_unsorted().compute_nnz() + self.lu.u_factor_unsorted().compute_nnz()
    }

    /// Whether the determinant of the matrix that was factored last is negative.
    pub fn has_negative_determinant(&self) -> bool {
        self.negative
    }

    /// Solves `A x = b` in place with the last factorisation. Cost: two operations for each entry
    /// of the factors.
    ///
    /// # Panics
    /// If `x` is not as long as the matrix, or nothing was factored.
    pub fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = self.columns.0.len();
        self.lu.solve_in_place_with_conj(
            PermRef::new_checked(&self.rows.0, &self.rows.1, n),
            PermRef::new_checked(&self.columns.0, &self.columns.1, n),
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }
}

#[cfg(test)]
mod tests;
