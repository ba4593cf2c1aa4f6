//! The `L U` of any sparse matrix, with rows exchanged for stability.

use crate::{CsrMatrix, Pattern, SparseError};
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

/// `P A Q = L U` of a square sparse matrix: the largest entry of every column is its pivot (partial pivoting), and the order of the columns is one of small fill
/// whatever rows are taken (COLAMD).
///
/// The robust one for matrices that are unsymmetric, by entries, one thread; where the diagonal blocks are known to be pivots, [`UnsymmetricFactor`](crate::UnsymmetricFactor) knows the
/// fill before. Matrices are given by columns: row `j` of the [`CsrMatrix`] is column `j` of `A`. The fill depends on the values, so that memory may grow
/// from one matrix to the next of the same pattern; it is never given back.
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
    /// [`SparseError::Size`] if they are not square, [`SparseError::Symbolic`] if the order is not found.
    pub fn new(pattern: &Pattern) -> Result<Self, SparseError> {
        let n = pattern.rows();
        if pattern.columns() != n {
            return Err(SparseError::Size {
                what: "columns of a square matrix",
                expected: n,
                found: pattern.columns(),
            });
        }
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
        })
    }

    /// Factors a matrix of the pattern, given by columns.
    ///
    /// # Errors
    /// [`SparseError::Size`] if it is of another size, [`SparseError::Pivot`] names a column that leaves only zeros, or a number that is not finite, for a pivot.
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
        let bad = self.pivots().position(|p| p == 0.0 || !p.is_finite());
        bad.map_or(Ok(()), |k| Err(pivot(k)))
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
        let mut seen = Vec::new();
        let exchanged = is_odd(&self.rows.0, &mut seen) ^ is_odd(&self.columns.0, &mut seen);
        self.pivots().fold(exchanged, |negative, p| negative ^ (p < 0.0))
    }

    /// Solves `A x = b` in place with the last factorisation. Cost: two operations for each entry of the factors.
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
mod tests {
    use super::*;
    use crate::PatternBuilder;
    use faer::Mat;
    use proptest::prelude::*;

    fn by_columns(n: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
        let mut builder = PatternBuilder::new(n, n);
        entries.iter().for_each(|(i, j, _)| builder.insert(*j, *i));
        let mut a = builder.finish().unwrap().into_matrix();
        for (i, j, x) in entries {
            let slot = a.pattern().slot(*j, *i).unwrap();
            a.values_mut()[slot] = *x;
        }
        a
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// Any matrix with a hidden permutation as its skeleton, rows of very different sizes: the answer solves, and the determinant has the sign that a dense factorisation finds.
        #[test]
        fn solutions_and_signs_are_those_of_a_dense_factor(
            n in 1usize..30,
            turn in 0usize..30,
            edges in proptest::collection::vec((0usize..30, 0usize..30, -1.0..1.0f64), 0..120),
        ) {
            let mut entries: Vec<_> = edges.iter().map(|(i, j, x)| (i % n, j % n, *x)).collect();
            entries.extend((0..n).map(|k| ((k + turn) % n, k, if k % 3 == 0 { -3.0 } else { 2.5 })));
            let scale = |i: usize| 10f64.powi((i % 5) as i32 - 2);
            entries.iter_mut().for_each(|(i, _, x)| *x *= scale(*i));
            let a = by_columns(n, &entries);
            let dense = Mat::from_fn(n, n, |i, j| a.get(j, i) / scale(i));
            // Nearly singular matrices have no sign.
            let sizes = dense.singular_values().unwrap();
            prop_assume!(sizes[n - 1] > 1e-6 * sizes[0]);
            let negative = dense.determinant() < 0.0;
            let mut factor = LuFactor::new(a.pattern()).unwrap();
            for _ in 0..2 {
                factor.factor(&a).unwrap();
                prop_assert_eq!(factor.has_negative_determinant(), negative);
                let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
                let mut x = b.clone();
                factor.solve_in_place(&mut x);
                for i in 0..n {
                    let (sum, size) = (0..n).fold((-b[i], b[i].abs()), |(sum, size), j| {
                        let term = a.get(j, i) * x[j];
                        (sum + term, size + term.abs())
                    });
                    // Rows are of sizes 1e-2 to 1e2, which partial pivoting does not see: 1e4 roundings, times the growth.
                    prop_assert!(sum.abs() < 1e-10 * (size + 1.0), "row {}: {:e} of {}", i, sum, size);
                }
            }
        }
    }

    #[test]
    fn singular_matrices_and_other_patterns_are_errors() {
        let a = by_columns(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]);
        let mut factor = LuFactor::new(a.pattern()).unwrap();
        assert!(matches!(factor.factor(&a), Err(SparseError::Pivot { .. })));
        let mut bad = a.clone();
        bad.values_mut().fill(f64::NAN);
        assert!(matches!(factor.factor(&bad), Err(SparseError::Pivot { .. })));
        // An empty column.
        let a = by_columns(2, &[(0, 0, 1.0), (1, 0, 1.0)]);
        let mut factor = LuFactor::new(a.pattern()).unwrap();
        assert!(matches!(factor.factor(&a), Err(SparseError::Pivot { index: 1 })));
        let other = by_columns(2, &[(0, 0, 1.0)]);
        assert!(matches!(factor.factor(&other), Err(SparseError::Size { .. })));
        let wide = PatternBuilder::new(2, 3).finish().unwrap();
        assert!(matches!(LuFactor::new(&wide), Err(SparseError::Size { .. })));
        let empty = by_columns(0, &[]);
        let mut factor = LuFactor::new(empty.pattern()).unwrap();
        factor.factor(&empty).unwrap();
        assert!(!factor.has_negative_determinant());
        factor.solve_in_place(&mut []);
    }

    #[test]
    fn cycles_of_even_length_are_odd() {
        let mut seen = Vec::new();
        assert!(!is_odd(&[], &mut seen));
        assert!(!is_odd(&[0, 1, 2], &mut seen));
        assert!(is_odd(&[1, 0, 2], &mut seen));
        assert!(!is_odd(&[1, 2, 0], &mut seen));
        assert!(is_odd(&[1, 2, 3, 0], &mut seen));
        assert!(!is_odd(&[1, 0, 3, 2], &mut seen));
    }
}
