//! Patterns from entries in any order.

use super::{Lists, Pattern};
use crate::{SparseError, fill};
use std::sync::Arc;

/// Collects entries in any order, duplicates welcome, and sorts them into a [`Pattern`].
///
/// A builder that is kept gives the storage of its patterns out again once nobody holds them any
/// more: [`reset`](Self::reset), the entries, [`build`](Self::build) allocate only for more
/// patterns at a time, or larger ones, than ever before.
#[derive(Clone, Debug, Default)]
pub struct PatternBuilder {
    rows: usize,
    columns: usize,
    entries: Vec<(u32, u32)>,
    outside: Option<(usize, usize)>,
    /// Storage of the patterns that were built, in use or not, and the most rows and entries that
    /// one of them had.
    storage: Vec<Arc<Lists>>,
    most: (usize, usize),
    sorting: Sorting,
}

/// Scratch of a bucket sort.
#[derive(Clone, Debug, Default)]
struct Sorting {
    at: Vec<u32>,
    by_column: Vec<(u32, u32)>,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl PatternBuilder {
    /// An empty `rows x columns` pattern.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            ..Self::default()
        }
    }

    /// Begins another `rows x columns` pattern, empty.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.entries.clear();
        self.outside = None;
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
    pub fn finish(mut self) -> Result<Pattern, SparseError> {
        let mut pattern = self.build()?;
        self.storage.clear();
        if let Some(lists) = Arc::get_mut(&mut pattern.lists) {
            // Entries that came twice took room twice.
            lists.indices.shrink_to_fit();
        }
        Ok(pattern)
    }

    /// As [`finish`](Self::finish), of a builder that is kept; the entries stay until
    /// [`reset`](Self::reset).
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn build(&mut self) -> Result<Pattern, SparseError> {
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
        let mut lists = self.unused();
        self.most.0 = self.most.0.max(self.rows + 1);
        self.most.1 = self.most.1.max(self.entries.len());
        if let Some(lists) = Arc::get_mut(&mut lists) {
            lists.offsets.clear();
            lists.indices.clear();
            // What grows at all grows once for all patterns so far.
            if lists.offsets.capacity() <= self.rows {
                lists.offsets.reserve(self.most.0);
            }
            if lists.indices.capacity() < self.entries.len() {
                lists.indices.reserve(self.most.1);
            }
            by_rows(&self.entries, (self.rows, self.columns), &mut self.sorting, lists);
        }
        self.storage.push(lists.clone());
        Ok(Pattern {
            rows: self.rows,
            columns: self.columns,
            lists,
        })
    }

    /// Storage that no pattern uses: the least that is large enough, else the largest, else new.
    fn unused(&mut self) -> Arc<Lists> {
        let (rows, entries) = (self.rows + 1, self.entries.len());
        let key = |lists: &Arc<Lists>| {
            let (offsets, indices) = (lists.offsets.capacity(), lists.indices.capacity());
            let size = offsets + indices;
            let is_small = offsets < rows || indices < entries;
            (is_small, if is_small { usize::MAX - size } else { size })
        };
        let free = |(_, lists): &(usize, &Arc<Lists>)| Arc::strong_count(lists) == 1;
        let unused = self.storage.iter().enumerate().filter(free);
        match unused.min_by_key(|(_, lists)| key(lists)) {
            Some((k, _)) => self.storage.swap_remove(k),
            None => Arc::default(),
        }
    }
}

/// Offsets and ascending columns of the rows into empty lists, each entry once: a bucket sort by
/// columns, then one by rows, unless the entries are in order.
fn by_rows(entries: &[(u32, u32)], (rows, columns): (usize, usize), sorting: &mut Sorting, out: &mut Lists) {
    let Lists { offsets, indices } = out;
    if entries.is_sorted_by(|a, b| a < b) {
        offsets.resize(rows + 1, 0);
        entries.iter().for_each(|(i, _)| offsets[*i as usize + 1] += 1);
        (0..rows).for_each(|i| offsets[i + 1] += offsets[i]);
        indices.extend(entries.iter().map(|(_, j)| *j));
        return;
    }
    let Sorting {
        at,
        by_column,
        starts,
        ends,
    } = sorting;
    fill(at, columns + 1, 0);
    for (_, j) in entries {
        at[*j as usize + 1] += 1;
    }
    for j in 0..columns {
        at[j + 1] += at[j];
    }
    fill(by_column, entries.len(), (0, 0));
    for (i, j) in entries {
        let next = &mut at[*j as usize];
        by_column[*next as usize] = (*i, *j);
        *next += 1;
    }
    fill(starts, rows + 1, 0);
    for (i, _) in entries {
        starts[*i as usize + 1] += 1;
    }
    for i in 0..rows {
        starts[i + 1] += starts[i];
    }
    ends.clear();
    ends.extend_from_slice(&starts[..rows]);
    indices.resize(entries.len(), 0);
    for (i, j) in &*by_column {
        let (first, end) = (starts[*i as usize], &mut ends[*i as usize]);
        if *end == first || indices[*end as usize - 1] != *j {
            indices[*end as usize] = *j;
            *end += 1;
        }
    }
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
}
