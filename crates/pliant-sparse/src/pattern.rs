//! Compressed rows: a pattern built once, values written in place.

use crate::SparseError;
use std::sync::Arc;

/// Where the entries of a sparse matrix are: compressed rows, sorted columns, no duplicates.
///
/// It never changes, and clones share it: they cost nothing, and neither does the comparison of two
/// of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "CompressedRows", into = "CompressedRows")
)]
pub struct Pattern {
    rows: usize,
    columns: usize,
    offsets: Arc<[u32]>,
    indices: Arc<[u32]>,
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
            offsets: pattern.offsets.to_vec(),
            indices: pattern.indices.to_vec(),
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
            offsets: read.offsets.into(),
            indices: read.indices.into(),
        })
    }
}

/// Collects entries in any order, duplicates welcome, and sorts them into a [`Pattern`].
#[derive(Clone, Debug)]
pub struct PatternBuilder {
    rows: usize,
    columns: usize,
    entries: Vec<(u32, u32)>,
    outside: Option<(usize, usize)>,
}

impl PatternBuilder {
    /// An empty `rows x columns` pattern.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            entries: Vec::new(),
            outside: None,
        }
    }

    /// Adds one entry. An entry outside the matrix is reported by [`finish`](Self::finish).
    pub fn insert(&mut self, row: usize, column: usize) {
        if row < self.rows && column < self.columns {
            self.entries.push((row as u32, column as u32));
        } else if self.outside.is_none() {
            self.outside = Some((row, column));
        }
    }

    /// Adds a dense block whose corner is `(row, column)`; with `lower_only`, just its entries at
    /// or below the diagonal.
    pub fn insert_block(
        &mut self,
        (row, column): (usize, usize),
        (height, width): (usize, usize),
        lower_only: bool,
    ) {
        for i in row..row + height {
            for j in column..column + width {
                if !lower_only || j <= i {
                    self.insert(i, j);
                }
            }
        }
    }

    /// Sorts and merges the entries. Cost: linear in insertions, rows and columns.
    ///
    /// # Errors
    /// [`SparseError::OutOfRange`] for the first entry outside the matrix,
    /// [`SparseError::TooLarge`] beyond 32 bits.
    pub fn finish(self) -> Result<Pattern, SparseError> {
        if let Some((row, column)) = self.outside {
            return Err(SparseError::OutOfRange {
                row,
                column,
                rows: self.rows,
                columns: self.columns,
            });
        }
        for (what, found) in [
            ("rows", self.rows),
            ("columns", self.columns),
            ("entries", self.entries.len()),
        ] {
            if found >= i32::MAX as usize {
                return Err(SparseError::TooLarge { what, found });
            }
        }
        let (offsets, indices) = by_rows(&self.entries, self.rows, self.columns);
        Ok(Pattern {
            rows: self.rows,
            columns: self.columns,
            offsets: offsets.into(),
            indices: indices.into(),
        })
    }
}

/// Offsets and ascending columns of the rows, each entry once: a bucket sort by columns, then one
/// by rows, unless the entries are in order.
fn by_rows(entries: &[(u32, u32)], rows: usize, columns: usize) -> (Vec<u32>, Vec<u32>) {
    if entries.is_sorted_by(|a, b| a < b) {
        let mut offsets = vec![0u32; rows + 1];
        entries.iter().for_each(|(i, _)| offsets[*i as usize + 1] += 1);
        (0..rows).for_each(|i| offsets[i + 1] += offsets[i]);
        return (offsets, entries.iter().map(|(_, j)| *j).collect());
    }
    let mut at = vec![0u32; columns + 1];
    for (_, j) in entries {
        at[*j as usize + 1] += 1;
    }
    for j in 0..columns {
        at[j + 1] += at[j];
    }
    let mut by_column = vec![(0, 0); entries.len()];
    for (i, j) in entries {
        let next = &mut at[*j as usize];
        by_column[*next as usize] = (*i, *j);
        *next += 1;
    }
    let mut starts = vec![0u32; rows + 1];
    for (i, _) in entries {
        starts[*i as usize + 1] += 1;
    }
    for i in 0..rows {
        starts[i + 1] += starts[i];
    }
    let mut ends = starts[..rows].to_vec();
    let mut indices = vec![0; entries.len()];
    for (i, j) in by_column {
        let (first, end) = (starts[i as usize], &mut ends[i as usize]);
        if *end == first || indices[*end as usize - 1] != j {
            indices[*end as usize] = j;
            *end += 1;
        }
    }
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let mut kept = 0;
    for i in 0..rows {
        let row = starts[i] as usize..ends[i] as usize;
        let length = row.len();
        indices.copy_within(row, kept);
        kept += length;
        offsets.push(kept as u32);
    }
    indices.truncate(kept);
    (offsets, indices)
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
        self.indices.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Where each row starts in [`indices`](Self::indices); one more than there are rows.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Columns of all entries, row by row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The slots (positions in the value array) of row `i`.
    #[inline]
    pub fn row_slots(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i] as usize..self.offsets[i + 1] as usize
    }

    /// The columns of row `i`, ascending.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        &self.indices[self.row_slots(i)]
    }

    /// The slot of entry `(i, j)`, if the pattern has it. Cost: a binary search in the row.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let found = self.row(i).binary_search(&(j as u32)).ok()?;
        Some(self.offsets[i] as usize + found)
    }

    /// A matrix of zeros on this pattern.
    pub fn into_matrix(self) -> CsrMatrix {
        let values = vec![0.0; self.indices.len()];
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
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix {
    pattern: Pattern,
    values: Vec<f64>,
}

impl CsrMatrix {
    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
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
            let slots = self.pattern.row_slots(i);
            let mut sum = 0.0;
            for (j, a) in self.pattern.indices[slots.clone()]
                .iter()
                .zip(&self.values[slots])
            {
                sum += a * x[*j as usize];
            }
            y[i] += s * sum;
        }
    }

    /// `y += s A^T x`. Cost `2 nnz`.
    ///
    /// # Panics
    /// If `x` or `y` is shorter than the matrix.
    pub fn add_transpose_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.pattern.rows {
            let slots = self.pattern.row_slots(i);
            let xi = s * x[i];
            for (j, a) in self.pattern.indices[slots.clone()]
                .iter()
                .zip(&self.values[slots])
            {
                y[*j as usize] += a * xi;
            }
        }
    }

    /// `y += s A x` for a symmetric matrix given by its lower triangle. Cost `4 nnz`.
    ///
    /// # Panics
    /// If `x` or `y` is shorter than the matrix.
    pub fn symmetric_add_product(&self, s: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..self.pattern.rows {
            let slots = self.pattern.row_slots(i);
            let xi = s * x[i];
            let mut sum = 0.0;
            for (j, a) in self.pattern.indices[slots.clone()]
                .iter()
                .zip(&self.values[slots])
            {
                let j = *j as usize;
                sum += a * x[j];
                if j != i {
                    y[j] += a * xi;
                }
            }
            y[i] += s * sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
