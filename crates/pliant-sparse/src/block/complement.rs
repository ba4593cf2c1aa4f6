//! The Schur complement that a block factor leaves in rows that are not eliminated, row by row on
//! threads.

mod pattern;

pub use pattern::ComplementPattern;

use super::{BlockFactor, BlockPattern, BlockSymbolic, PatternWorkspace, kernels};
use crate::{SparseError, SymbolicWorkspace, Threads, fill, zeros};
use std::ops::Range;

/// Where every block and every update of a [`ComplementPattern`] goes.
///
/// Storage: block rows one after another, those of `L_N` and those of `S` apart; all blocks are
/// stored by columns.
#[derive(Clone, Debug, Default)]
pub struct ComplementSymbolic {
    pattern: ComplementPattern,
    /// Block of each row.
    vertex: Vec<u32>,
    /// Where each block of `L_N` starts, in the order of `columns`, and their end; the same in the
    /// order of `rows`.
    starts: Vec<u32>,
    by_column: Vec<u32>,
    /// Where each block of `S` starts, and their end.
    own_starts: Vec<u32>,
    /// For each block `(i, j)` of `L_N`: where its place in `rows` is.
    places: Vec<u32>,
    /// For each block `(i, j)` of `L_N`: where the targets of its updates in row `i` start, one per
    /// block below the diagonal of column `j` of `K`; and the targets, counted from the start of
    /// the block row.
    updates: Vec<u32>,
    targets: Vec<u32>,
    /// The same for its updates of row `i` of `S`, one per block row up to `i` of column `j`.
    own_updates: Vec<u32>,
    own_targets: Vec<u32>,
}

/// Values of `L_N` and `S`. Allocated once, refilled for every matrix of the same pattern.
///
/// Use: [`clear`](Self::clear), write the rows of the matrix to the slots of
/// [`parts_mut`](Self::parts_mut), [`compute`](Self::compute), read [`own`](Self::own).
#[derive(Clone, Debug, Default)]
pub struct Complement {
    /// The rows left of `S`, then `L_N` in their place, and `L_N D`.
    rows: Vec<f64>,
    products: Vec<f64>,
    /// The rows' own square, then `S` in its place: the lower triangle by blocks.
    own: Vec<f64>,
}

/// Values that are not worth another task.
const PIECE: usize = 1 << 12;

/// Where blocks start whose sizes are given, and their end.
fn starts(
    what: &'static str,
    sizes: impl Iterator<Item = usize>,
    out: &mut Vec<u32>,
) -> Result<(), SparseError> {
    out.clear();
    out.push(0);
    let mut at = 0;
    for size in sizes {
        at += size;
        out.push(u32::try_from(at).map_err(|_| SparseError::TooLarge { what, found: at })?);
    }
    Ok(())
}

impl ComplementSymbolic {
    /// Where everything goes. Cost and memory: [`ComplementPattern::updates`].
    ///
    /// # Errors
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(inner: &BlockPattern, mut pattern: ComplementPattern) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(inner, &mut pattern, &mut SymbolicWorkspace::default())?;
        Ok(out)
    }

    /// Makes it that of another pattern, as [`new`](Self::new) does, which is taken; the storage of
    /// the former one is left in its place. Allocates only for larger ones than ever before. After
    /// an error it is of no use.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn refill(
        &mut self,
        inner: &BlockPattern,
        pattern: &mut ComplementPattern,
        work: &mut SymbolicWorkspace,
    ) -> Result<(), SparseError> {
        if pattern.updates >= u32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "block updates",
                found: pattern.updates,
            });
        }
        std::mem::swap(&mut self.pattern, pattern);
        let p = &self.pattern;
        let blocks = p.len();
        let row = |i: usize| {
            p.columns[p.offsets[i]..p.offsets[i + 1]]
                .iter()
                .map(|j| *j as usize)
        };
        let of_rows = (0..blocks).flat_map(|i| row(i).map(move |j| p.height(i) * inner.block_size(j)));
        starts("values of rows", of_rows, &mut self.starts)?;
        let of_own =
            (0..blocks).flat_map(|i| p.own(i).iter().map(move |k| p.height(i) * p.height(*k as usize)));
        starts("values of a Schur complement", of_own, &mut self.own_starts)?;
        let vertex = (0..blocks).flat_map(|i| std::iter::repeat_n(i as u32, p.height(i)));
        self.vertex.clear();
        self.vertex.extend(vertex);
        fill(&mut self.by_column, p.rows.len(), 0);
        self.places.clear();
        let next = &mut work.blocks.offsets;
        next.clone_from(&p.row_offsets);
        for i in 0..blocks {
            for (at, j) in (p.offsets[i]..).zip(row(i)) {
                self.by_column[next[j]] = self.starts[at];
                self.places.push(next[j] as u32);
                next[j] += 1;
            }
        }
        self.find_targets(inner, &mut work.blocks);
        Ok(())
    }

    /// Where every update goes.
    fn find_targets(&mut self, inner: &BlockPattern, work: &mut PatternWorkspace) {
        let Self {
            pattern: p,
            starts,
            own_starts,
            places,
            updates,
            targets,
            own_updates,
            own_targets,
            ..
        } = self;
        let row = |i: usize| {
            p.columns[p.offsets[i]..p.offsets[i + 1]]
                .iter()
                .map(|j| *j as usize)
        };
        for (ends, list) in [
            (&mut *updates, &mut *targets),
            (&mut *own_updates, &mut *own_targets),
        ] {
            ends.clear();
            ends.push(0);
            list.clear();
        }
        let (place, own_place) = (&mut work.place, &mut work.own_place);
        fill(place, inner.len(), 0);
        fill(own_place, p.len(), 0);
        for i in 0..p.len() {
            for (at, j) in (p.offsets[i]..).zip(row(i)) {
                place[j] = starts[at] - starts[p.offsets[i]];
            }
            for (at, k) in (p.own_offsets[i]..).zip(p.own(i)) {
                own_place[*k as usize] = own_starts[at] - own_starts[p.own_offsets[i]];
            }
            for (at, j) in (p.offsets[i]..).zip(row(i)) {
                targets.extend(inner.column(j).iter().map(|k| place[*k as usize]));
                updates.push(targets.len() as u32);
                let others = &p.rows[p.row_offsets[j]..=places[at] as usize];
                own_targets.extend(others.iter().map(|k| own_place[*k as usize]));
                own_updates.push(own_targets.len() as u32);
            }
        }
    }

    /// The pattern it was made from.
    pub fn pattern(&self) -> &ComplementPattern {
        &self.pattern
    }

    /// Where the entry of row `i` in column `j` of `K` is stored, `inner` as it was.
    pub fn slot(&self, inner: &BlockSymbolic, i: usize, j: usize) -> Option<usize> {
        let (row, column) = (*self.vertex.get(i)? as usize, *inner.vertex.get(j)?);
        let p = &self.pattern;
        let own = p.offsets[row]..p.offsets[row + 1];
        let at = own.start + p.columns[own].binary_search(&column).ok()?;
        let inside = j - inner.pattern().bounds()[column as usize];
        Some(self.starts[at] as usize + inside * p.height(row) + i - p.bounds[row])
    }

    /// Where entry `(i, k)` of the rows' own square is stored, `i >= k` if both are of one block.
    pub fn own_slot(&self, i: usize, k: usize) -> Option<usize> {
        let (row, column) = (*self.vertex.get(i)?, *self.vertex.get(k)?);
        if row < column {
            return None;
        }
        let p = &self.pattern;
        let at = p.own_offsets[row as usize] + p.own(row as usize).binary_search(&column).ok()?;
        let inside = (i - p.bounds[row as usize], k - p.bounds[column as usize]);
        Some(self.own_starts[at] as usize + inside.1 * p.height(row as usize) + inside.0)
    }

    /// Allocates the values.
    pub fn allocate(&self) -> Complement {
        let mut out = Complement::default();
        out.refill(self);
        out
    }

    /// Values of the rows of `L_N`, of those of `S`, that come before block row `i`.
    fn before(&self, i: usize) -> (usize, usize) {
        let p = &self.pattern;
        (
            self.starts[p.offsets[i]] as usize,
            self.own_starts[p.own_offsets[i]] as usize,
        )
    }

    /// Where some block rows are best cut in two, by a count of what comes before each of them.
    fn middle(rows: &Range<usize>, before: impl Fn(usize) -> usize) -> Option<usize> {
        let (first, last) = (before(rows.start), before(rows.end));
        if rows.len() < 2 || last - first < 2 * PIECE {
            return None;
        }
        let (mut low, mut high) = (rows.start + 1, rows.end - 1);
        while low < high {
            let at = usize::midpoint(low, high);
            if before(at) - first < (last - first) / 2 {
                low = at + 1;
            } else {
                high = at;
            }
        }
        Some(low)
    }
}

impl Complement {
    /// Makes it one of another pattern, as [`ComplementSymbolic::allocate`] does. Allocates only
    /// for larger ones than ever before.
    pub fn refill(&mut self, symbolic: &ComplementSymbolic) {
        let last = |starts: &[u32]| starts.last().map_or(0, |s| *s as usize);
        zeros(&mut self.rows, last(&symbolic.starts));
        zeros(&mut self.products, last(&symbolic.starts));
        zeros(&mut self.own, last(&symbolic.own_starts));
    }

    /// Sets all values to zero, to be filled.
    pub fn clear(&mut self, threads: &Threads) {
        threads.zero(&mut self.rows);
        threads.zero(&mut self.own);
    }

    /// To be filled with the rows `N` left of their own square and with the lower triangle of that,
    /// see [`ComplementSymbolic::slot`] and [`ComplementSymbolic::own_slot`].
    pub fn parts_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.rows, &mut self.own)
    }

    /// After [`Self::compute`], `L_N`.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// The lower triangle of `S`, in the same slots.
    pub fn own(&self) -> &[f64] {
        &self.own
    }

    /// Computes `S` from the rows and the factor `K = L D L^T`. Per block row `i`, for its block
    /// columns `j` in ascending order,
    ///
    /// ```math
    /// Y_ij = N_ij L_jj^-T,   L_ij = Y_ij D_j^-1,   N_ik -= Y_ij L_kj^T for the blocks k below the diagonal of column j of L
    /// ```
    ///
    /// then `S_ik = N_ik - sum_j Y_ij L_kj^T`, `j` ascending. No row is written by two threads and
    /// no sum depends on their number. Allocates nothing with one thread. Cost:
    /// [`ComplementPattern::flops`].
    ///
    /// # Errors
    /// [`SparseError::NotFactored`] if `factor` holds no factorisation, [`SparseError::Size`] if
    /// the values are of another pattern.
    pub fn compute(
        &mut self,
        (inner, factor): (&BlockSymbolic, &BlockFactor),
        symbolic: &ComplementSymbolic,
        threads: &Threads,
    ) -> Result<(), SparseError> {
        factor.check(inner)?;
        factor.report.ok_or(SparseError::NotFactored)?;
        let blocks = symbolic.pattern.len();
        let (expected, own) = symbolic.before(blocks);
        if self.rows.len() != expected || self.own.len() != own {
            return Err(SparseError::Size {
                what: "values of rows",
                expected,
                found: self.rows.len(),
            });
        }
        let task = Task {
            inner,
            factor,
            symbolic,
            threads,
        };
        let Self { rows, products, own } = self;
        threads.run(|| {
            task.substitute(0..blocks, rows, products);
            task.multiply(0..blocks, rows, products, own);
        });
        Ok(())
    }
}

/// Data that the work on some block rows reads.
struct Task<'a> {
    inner: &'a BlockSymbolic,
    factor: &'a BlockFactor,
    symbolic: &'a ComplementSymbolic,
    threads: &'a Threads,
}

impl Task<'_> {
    /// `L_N` and `L_N D` of some block rows, whose values these are.
    fn substitute(&self, range: Range<usize>, rows: &mut [f64], products: &mut [f64]) {
        let symbolic = self.symbolic;
        let before = |i: usize| symbolic.before(i).0;
        if let Some(at) = ComplementSymbolic::middle(&range, before) {
            let cut = before(at) - before(range.start);
            let (left, right) = rows.split_at_mut(cut);
            let (first, second) = products.split_at_mut(cut);
            self.threads.join(
                || self.substitute(range.start..at, left, first),
                || self.substitute(at..range.end, right, second),
            );
            return;
        }
        let (mut rows, mut products) = (rows, products);
        for i in range {
            let (row, rest) = rows.split_at_mut(before(i + 1) - before(i));
            let (product, other) = products.split_at_mut(row.len());
            self.substitute_row(i, row, product);
            (rows, products) = (rest, other);
        }
    }

    fn substitute_row(&self, i: usize, row: &mut [f64], products: &mut [f64]) {
        let (symbolic, inner) = (self.symbolic, self.inner);
        let p = &symbolic.pattern;
        let height = p.height(i);
        let first = p.offsets[i];
        for at in first..p.offsets[i + 1] {
            let j = p.columns[at] as usize;
            let own = inner.pattern().unknowns(j);
            let start = (symbolic.starts[at] - symbolic.starts[first]) as usize;
            // Columns to come are behind.
            let (block, later) = row[start..].split_at_mut(height * own.len());
            let product = &mut products[start..start + block.len()];
            let below = inner.pattern().column_range(j);
            kernels::substitute(
                (own.len(), height),
                self.factor.column(inner, j),
                (&self.factor.pivots[own.clone()], &self.factor.inverses[own]),
                (block, product),
                &inner.heights[below],
                &symbolic.targets[symbolic.updates[at] as usize..symbolic.updates[at + 1] as usize],
                (later, start + height * inner.pattern().block_size(j)),
            );
        }
    }

    /// `S` of some block rows, whose values `own` are.
    fn multiply(&self, range: Range<usize>, rows: &[f64], products: &[f64], own: &mut [f64]) {
        let symbolic = self.symbolic;
        let before = |i: usize| symbolic.before(i).1;
        if let Some(at) = ComplementSymbolic::middle(&range, before) {
            let (left, right) = own.split_at_mut(before(at) - before(range.start));
            self.threads.join(
                || self.multiply(range.start..at, rows, products, left),
                || self.multiply(at..range.end, rows, products, right),
            );
            return;
        }
        let p = &symbolic.pattern;
        let base = before(range.start);
        for i in range {
            let out = &mut own[before(i) - base..before(i + 1) - base];
            for at in p.offsets[i]..p.offsets[i + 1] {
                let j = p.columns[at] as usize;
                let width = self.inner.pattern().block_size(j);
                let others = p.row_offsets[j]..symbolic.places[at] as usize + 1;
                let targets = &symbolic.own_targets[symbolic.own_updates[at] as usize..];
                let start = symbolic.starts[at] as usize;
                let heights = p.rows[others.clone()].iter().map(|k| p.height(*k as usize));
                let blocks = heights.zip(&symbolic.by_column[others]).zip(targets);
                kernels::multiply(
                    (width, p.height(i)),
                    &products[start..start + width * p.height(i)],
                    blocks.map(|((across, from), to)| (across, &rows[*from as usize..], *to as usize)),
                    out,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests;
