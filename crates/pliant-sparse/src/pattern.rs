//! Compressed rows: a pattern built once, values written in place.

mod builder;
mod runs;

pub use builder::PatternBuilder;
pub use runs::{TakeRun, for_each_run};

use crate::{SparseError, check_size};
use std::sync::Arc;

/// Where the entries of a sparse matrix are: compressed rows, sorted columns, no duplicates.
///
/// It never changes, and clones share it: they cost nothing, and neither does the comparison of two
/// of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "CompressedRows", into = "CompressedRows")
)]
pub struct Pattern {
    rows: usize,
    columns: usize,
    lists: Arc<Lists>,
}

/// The entries of a pattern.
#[derive(Debug, PartialEq, Eq)]
struct Lists {
    /// Where each row starts in `indices`; one more than there are rows.
    offsets: Vec<u32>,
    /// Columns of all entries, row by row.
    indices: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            indices: Vec::new(),
        }
    }
}

/// A [`Pattern`] as it is written and read.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Pattern")]
struct CompressedRows {
    rows: usize,
    columns: usize,
    offsets: Vec<u32>,
    indices: Vec<u32>,
}

#[cfg(feature = "serde")]
impl From<Pattern> for CompressedRows {
    fn from(pattern: Pattern) -> Self {
        Self {
            rows: pattern.rows,
            columns: pattern.columns,
            offsets: pattern.lists.offsets.clone(),
            indices: pattern.lists.indices.clone(),
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<CompressedRows> for Pattern {
    type Error = &'static str;

    fn try_from(read: CompressedRows) -> Result<Self, Self::Error> {
        let (offsets, indices) = (&read.offsets, &read.indices);
        let is_whole = offsets.len().checked_sub(1) == Some(read.rows)
            && offsets.first() == Some(&0)
            && offsets.last().map(|end| *end as usize) == Some(indices.len())
            && offsets.is_sorted();
        let row = |w: &[u32]| &indices[w[0] as usize..w[1] as usize];
        let ascends = |row: &[u32]| row.is_sorted_by(|a, b| a < b);
        let fits = |row: &[u32]| row.last().is_none_or(|j| (*j as usize) < read.columns);
        if !is_whole || !offsets.windows(2).map(row).all(|row| ascends(row) && fits(row)) {
            return Err("the pattern of a sparse matrix has rows that are not in order");
        }
        Ok(Self {
            rows: read.rows,
            columns: read.columns,
            lists: Arc::new(Lists {
                offsets: read.offsets,
                indices: read.indices,
            }),
        })
    }
}

impl Pattern {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.lists.indices.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.lists.indices.is_empty()
    }

    /// Where each row starts in [`indices`](Self::indices); one more than there are rows.
    pub fn offsets(&self) -> &[u32] {
        &self.lists.offsets
    }

    /// Columns of all entries, row by row.
    pub fn indices(&self) -> &[u32] {
        &self.lists.indices
    }

    /// The slots (positions in the value array) of row `i`.
    #[inline]
    pub fn row_slots(&self, i: usize) -> std::ops::Range<usize> {
        let offsets = &self.lists.offsets;
        offsets[i] as usize..offsets[i + 1] as usize
    }

    /// The columns of row `i`, ascending.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.lists.indices[self.row_slots(i)]
    }

    /// The slot of entry `(i, j)`, if the pattern has it. Cost: a binary search in the row.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let found = self.row(i).binary_search(&(j as u32)).ok()?;
        Some(self.lists.offsets[i] as usize + found)
    }

    /// A matrix of zeros on this pattern.
    pub fn into_matrix(self) -> CsrMatrix {
        let values = vec![0.0; self.len()];
        CsrMatrix {
            pattern: self,
            values,
        }
    }
}

/// A sparse matrix by compressed rows.
///
/// A *symmetric* matrix stores its lower triangle with the diagonal; the methods named
/// `symmetric_*` read it so.
#[derive(Debug, Default, PartialEq)]
pub struct CsrMatrix {
    pattern: Pattern,
    values: Vec<f64>,
}

// By hand, because the derived `clone_from` allocates anew instead of reusing the buffers.
impl Clone for CsrMatrix {
    fn clone(&self) -> Self {
        Self {
            pattern: self.pattern.clone(),
            values: self.values.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.pattern.clone_from(&source.pattern);
        self.values.clone_from(&source.values);
    }
}

impl CsrMatrix {
    /// A `rows x columns` matrix from its entries `(row, column, value)` in any order; values of one
    /// place are added up in the order given. To write new values on the same pattern, keep the
    /// [slots](Pattern::slot). Cost: linear in entries, rows and columns, and a search per entry.
    ///
    /// ```
    /// use pliant_sparse::CsrMatrix;
    /// let a = CsrMatrix::from_entries(2, 2, &[(1, 1, 3.0), (0, 0, 1.0), (1, 1, 0.5)])?;
    /// assert_eq!(a.values(), [1.0, 3.5]);
    /// # Ok::<(), pliant_sparse::SparseError>(())
    /// ```
    ///
    /// # Errors
    /// [`SparseError::OutOfRange`] for the first entry outside the matrix,
    /// [`SparseError::TooLarge`] beyond 32 bits.
    pub fn from_entries(
        rows: usize,
        columns: usize,
        entries: &[(usize, usize, f64)],
    ) -> Result<Self, SparseError> {
        let mut builder = PatternBuilder::new(rows, columns);
        for (i, j, _) in entries {
            builder.insert(*i, *j);
        }
        let mut out = builder.finish()?.into_matrix();
        for (i, j, value) in entries {
            if let Some(slot) = out.pattern.slot(*i, *j) {
                out.values[slot] += value;
            }
        }
        Ok(out)
    }

    /// `P A P^T` of a symmetric matrix given by its lower triangle, as one: row and column `k` are
    /// those of `sequence[k]`, as in an [order of elimination](crate::Graph::best_order). Cost: as
    /// [`from_entries`](Self::from_entries).
    ///
    /// # Errors
    /// [`SparseError::Size`] if the matrix is not square or `sequence` does not hold each row once,
    /// [`SparseError::OutOfRange`] at an entry above the diagonal.
    pub fn symmetric_permuted(&self, sequence: &[usize]) -> Result<Self, SparseError> {
        let n = self.pattern.rows;
        check_size("columns of a symmetric matrix", n, self.pattern.columns)?;
        check_size("order of all rows", n, sequence.len())?;
        let mut rank = vec![usize::MAX; n];
        for (k, i) in sequence.iter().enumerate() {
            if let Some(rank) = rank.get_mut(*i) {
                *rank = k;
            }
        }
        let found = rank.iter().filter(|k| **k < n).count();
        check_size("order of all rows", n, found)?;
        let mut entries = Vec::with_capacity(self.values.len());
        for i in 0..n {
            for (j, value) in self.row_entries(i) {
                if j > i {
                    return Err(SparseError::OutOfRange {
                        row: i,
                        column: j,
                        rows: n,
                        columns: i + 1,
                    });
                }
                let (a, b) = (rank[i], rank[j]);
                entries.push((a.max(b), a.min(b), value));
            }
        }
        Self::from_entries(n, n, &entries)
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Makes it a matrix of zeros on another pattern. Allocates only for more entries than ever
    /// before.
    pub fn refill(&mut self, pattern: Pattern) {
        self.values.clear();
        self.values.resize(pattern.len(), 0.0);
        self.pattern = pattern;
    }

    /// Values in slot order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values in slot order, to be written.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Entry `(i, j)`, zero where the pattern has none.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.pattern.slot(i, j).map_or(0.0, |s| self.values[s])
    }

    /// Columns and values of row `i`, in the order of the columns.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row_entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let slots = self.pattern.row_slots(i);
        self.pattern.indices()[slots.clone()]
            .iter()
            .zip(&self.values[slots])
            .map(|(k, v)| (*k as usize, *v))
    }

    /// `y += s A x`. Cost `2 nnz`.
    ///
    /// # Panics
    /// If `x` or `y` is shorter than the matrix.
    pub fn add_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.pattern.rows {
            let (columns, values) = self.row(i);
            let mut sum = Along { values, x, sum: 0.0 };
            for_each_run(columns, &mut sum);
            y[i] += s * sum.sum;
        }
    }

    /// `y += s A^T x`. Cost `2 nnz`.
    ///
    /// # Panics
    /// If `x` or `y` is shorter than the matrix.
    pub fn add_transpose_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.pattern.rows {
            let (columns, values) = self.row(i);
            let factor = s * x[i];
            for_each_run(columns, &mut Across { values, factor, y });
        }
    }

    /// `y += s A x` for a symmetric matrix given by its lower triangle. Cost `4 nnz`.
    ///
    /// # Panics
    /// If `x` or `y` is shorter than the matrix.
    pub fn symmetric_add_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.pattern.rows {
            let (columns, values) = self.row(i);
            let has_diagonal = columns.last().is_some_and(|last| *last as usize == i);
            let below = columns.len() - usize::from(has_diagonal);
            let (columns, own) = (&columns[..below], &values[below..]);
            let values = &values[..below];
            let mut both = Both {
                along: Along { values, x, sum: 0.0 },
                across: Across {
                    values,
                    factor: s * x[i],
                    y,
                },
            };
            for_each_run(columns, &mut both);
            let sum = own.iter().fold(both.along.sum, |sum, a| sum + a * x[i]);
            y[i] += s * sum;
        }
    }

    /// Columns and values of a row.
    #[inline(always)]
    fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let slots = self.pattern.row_slots(i);
        (&self.pattern.indices()[slots.clone()], &self.values[slots])
    }
}

/// The product of a row with a vector.
struct Along<'a> {
    values: &'a [f64],
    x: &'a [f64],
    sum: f64,
}

impl TakeRun for Along<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, column: usize) {
        let (a, x) = (&self.values[at..at + N], &self.x[column..column + N]);
        for k in 0..N {
            self.sum += a[k] * x[k];
        }
    }
}

/// A row times a number, added to a vector.
struct Across<'a> {
    values: &'a [f64],
    factor: f64,
    y: &'a mut [f64],
}

impl TakeRun for Across<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, column: usize) {
        let (a, y) = (&self.values[at..at + N], &mut self.y[column..column + N]);
        for k in 0..N {
            y[k] += a[k] * self.factor;
        }
    }
}

/// Both.
struct Both<'a> {
    along: Along<'a>,
    across: Across<'a>,
}

impl TakeRun for Both<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, column: usize) {
        self.along.take::<N>(at, column);
        self.across.take::<N>(at, column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparseError;

    fn example() -> CsrMatrix {
        let mut b = PatternBuilder::new(2, 3);
        for (i, j) in [(1, 2), (0, 0), (1, 0), (1, 2)] {
            b.insert(i, j);
        }
        let mut a = b.finish().unwrap().into_matrix();
        a.values_mut().copy_from_slice(&[2.0, 3.0, 4.0]); // [2 0 0; 3 0 4]
        a
    }

    #[test]
    fn products_against_hand_computation() {
        let a = example();
        let mut y = [1.0, 1.0];
        a.add_product(2.0, &[1.0, 5.0, -1.0], &mut y);
        assert_eq!(y, [5.0, -1.0]);
        let mut x = [0.0; 3];
        a.add_transpose_product(-1.0, &[1.0, 2.0], &mut x);
        assert_eq!(x, [-8.0, 0.0, -8.0]);
        assert_eq!((a.get(1, 2), a.get(0, 1)), (4.0, 0.0));
    }

    #[test]
    fn entries_are_summed_and_permuted_by_hand() {
        let lower = [(2, 0, 5.0), (0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0), (2, 0, -1.0)];
        let a = CsrMatrix::from_entries(3, 3, &lower).unwrap();
        assert_eq!(a.pattern().indices(), [0, 1, 0, 2]);
        assert_eq!(a.values(), [1.0, 2.0, 4.0, 3.0]);
        // Row 0 is the old row 2, row 1 the old row 0: [3 4 0; 4 1 0; 0 0 2].
        let b = a.symmetric_permuted(&[2, 0, 1]).unwrap();
        assert_eq!(b.pattern().indices(), [0, 0, 1, 2]);
        assert_eq!(b.values(), [3.0, 4.0, 1.0, 2.0]);
        for wrong in [&[0, 1][..], &[0, 0, 1], &[0, 1, 3]] {
            let error = a.symmetric_permuted(wrong).unwrap_err();
            assert!(matches!(error, SparseError::Size { expected: 3, .. }), "{error}");
        }
        let upper = CsrMatrix::from_entries(2, 2, &[(0, 1, 1.0)]).unwrap();
        let error = upper.symmetric_permuted(&[0, 1]).unwrap_err();
        assert!(
            matches!(
                error,
                SparseError::OutOfRange {
                    row: 0,
                    column: 1,
                    ..
                }
            ),
            "{error}"
        );
        let error = CsrMatrix::from_entries(2, 2, &[(0, 2, 1.0)]).unwrap_err();
        assert!(
            matches!(
                error,
                SparseError::OutOfRange {
                    row: 0,
                    column: 2,
                    ..
                }
            ),
            "{error}"
        );
    }

    /// Runs of all lengths, and products with a dense matrix.
    #[test]
    fn products_are_those_of_the_entries() {
        let n = 23;
        let mut b = PatternBuilder::new(n, n);
        for (i, first, count) in [(3, 0, 2), (7, 0, 6), (12, 2, 8), (15, 1, 13), (20, 4, 11)] {
            b.insert_block((i, first), (1, count), false);
        }
        // Of the last rows some have no diagonal.
        (0..n - 3).for_each(|i| b.insert(i, i));
        let mut a = b.finish().unwrap().into_matrix();
        let values = a.values_mut().iter_mut().enumerate();
        values.for_each(|(k, v)| *v = (1.0 + k as f64).sin());
        let x: Vec<f64> = (0..n).map(|k| (2.0 + 3.0 * k as f64).cos()).collect();
        type Product = fn(&CsrMatrix, f64, &[f64], &mut [f64]);
        type Entry = fn(&CsrMatrix, usize, usize) -> f64;
        let products: [(Product, Entry); 3] = [
            (CsrMatrix::add_product, |a, i, k| a.get(i, k)),
            (CsrMatrix::add_transpose_product, |a, i, k| a.get(k, i)),
            (CsrMatrix::symmetric_add_product, |a, i, k| {
                a.get(i.max(k), i.min(k))
            }),
        ];
        for (product, entry) in products {
            let mut y = vec![0.5; n];
            product(&a, -2.0, &x, &mut y);
            for (i, y) in y.iter().enumerate() {
                let sum: f64 = (0..n).map(|k| entry(&a, i, k) * x[k]).sum();
                assert!((y - (0.5 - 2.0 * sum)).abs() < 1e-14, "{i}");
            }
        }
    }

    #[test]
    fn the_order_of_insertion_does_not_matter() {
        let entries = [(0, 0), (0, 2), (2, 1), (2, 2)];
        let built = |order: &[usize]| {
            let mut b = PatternBuilder::new(4, 3);
            order.iter().for_each(|k| b.insert(entries[*k].0, entries[*k].1));
            b.finish().unwrap()
        };
        let sorted = built(&[0, 1, 2, 3]);
        assert_eq!(sorted.offsets(), [0, 2, 2, 4, 4]);
        assert_eq!(sorted.indices(), [0, 2, 1, 2]);
        assert_eq!(built(&[3, 0, 2, 0, 1]), sorted);
        assert_eq!(built(&[0, 1, 1, 2, 3]), sorted);
    }

    #[test]
    fn symmetric_product_reads_both_triangles() {
        let mut b = PatternBuilder::new(2, 2);
        b.insert_block((0, 0), (2, 2), true);
        let mut a = b.finish().unwrap().into_matrix();
        a.values_mut().copy_from_slice(&[2.0, 1.0, -3.0]);
        let mut y = [0.0; 2];
        a.symmetric_add_product(1.0, &[1.0, 2.0], &mut y);
        assert_eq!(y, [4.0, -5.0]);
    }

    #[test]
    fn storage_that_nobody_holds_is_used_again() {
        let mut b = PatternBuilder::new(3, 3);
        let mut build = |entries: &[(usize, usize)]| {
            b.reset(3, 3);
            entries.iter().for_each(|(i, j)| b.insert(*i, *j));
            b.build().unwrap()
        };
        let first = build(&[(2, 1), (0, 0), (1, 2)]);
        let shared = first.clone();
        let place = first.indices().as_ptr();
        drop(first);
        let second = build(&[(0, 1)]);
        assert_ne!(second.indices().as_ptr(), place);
        assert_eq!(shared.indices(), [0, 2, 1]);
        drop(shared);
        let third = build(&[(1, 1), (0, 2), (1, 0)]);
        assert_eq!(third.indices().as_ptr(), place);
        assert_eq!(
            (third.offsets(), third.indices()),
            (&[0, 1, 3, 3][..], &[2, 0, 1][..])
        );
        assert_eq!(second.indices(), [1]);
    }

    #[test]
    fn an_entry_outside_is_an_error() {
        let mut b = PatternBuilder::new(2, 2);
        b.insert(0, 2);
        assert!(matches!(
            b.finish(),
            Err(SparseError::OutOfRange {
                row: 0,
                column: 2,
                ..
            })
        ));
    }
}
