//! The Schur complement that a block factor leaves in rows that are not eliminated, row by row on
//! threads.

use super::{BlockFactor, BlockPattern, BlockSymbolic, kernels};
use crate::{SparseError, Threads};
use std::ops::Range;

/// The block pattern of `[L_N; S]` for rows `N` below a factored matrix `K`, and what it costs.
///
/// A row of `L_N` is a forward substitution whose right-hand side has few blocks: it is felt on the
/// paths from these to the root of the elimination tree of `K` and nowhere else (Gilbert,
/// Predicting structure in sparse matrix computations, SIAM J. Matrix Anal. Appl. 15 (1994)).
#[derive(Clone, Debug, Default)]
pub struct ComplementPattern {
    /// First of each block of rows, and their number.
    bounds: Vec<usize>,
    /// Block columns of each block row of `L_N`, ascending.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    /// Block rows of each block column of `L_N`, ascending.
    row_offsets: Vec<usize>,
    rows: Vec<u32>,
    /// Block columns of each block row of the lower triangle of `S`, ascending, with the diagonal.
    own_offsets: Vec<usize>,
    own: Vec<u32>,
    updates: usize,
    flops: usize,
}

/// Where every block and every update of a [`ComplementPattern`] goes.
///
/// Storage: block rows one after another, those of `L_N` and those of `S` apart; all blocks are
/// stored by columns.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct Complement {
    /// The rows left of `S`, then `L_N` in their place, and `L_N D`.
    rows: Vec<f64>,
    products: Vec<f64>,
    /// The rows' own square, then `S` in its place: the lower triangle by blocks.
    own: Vec<f64>,
}

/// Values that are not worth another task.
const PIECE: usize = 1 << 12;

/// Offsets and lists from pairs `(list, entry)`, each list ascending without repetition.
fn lists(count: usize, mut pairs: Vec<(u32, u32)>) -> (Vec<usize>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let mut offsets = vec![0; count + 1];
    pairs
        .iter()
        .for_each(|(list, _)| offsets[*list as usize + 1] += 1);
    for k in 0..count {
        offsets[k + 1] += offsets[k];
    }
    (offsets, pairs.into_iter().map(|(_, entry)| entry).collect())
}

impl ComplementPattern {
    /// The pattern for the row blocks `bounds[k]..bounds[k + 1]` below a matrix `K` of the given
    /// pattern: `couplings` are pairs of a row block and a vertex of `K`, `own` pairs of row
    /// blocks. Cost: the number of updates, times a logarithm.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the bounds do not ascend from 0, or a pair is outside.
    pub fn new(
        bounds: Vec<usize>,
        inner: &BlockPattern,
        couplings: &[(u32, u32)],
        own: &[(u32, u32)],
    ) -> Result<Self, SparseError> {
        let size = |what, expected, found| SparseError::Size {
            what,
            expected,
            found,
        };
        if bounds.first() != Some(&0) || bounds.windows(2).any(|w| w[0] >= w[1]) {
            return Err(size("ascending block bounds", 1, bounds.len()));
        }
        let blocks = bounds.len() - 1;
        for (i, j) in couplings {
            if *i as usize >= blocks || *j as usize >= inner.len() {
                return Err(size("couplings of rows and vertices", blocks, *i as usize));
            }
        }
        if let Some((i, k)) = own.iter().find(|(i, k)| (*i).max(*k) as usize >= blocks) {
            return Err(size("couplings of rows", blocks, (*i).max(*k) as usize));
        }
        let (offsets, direct) = lists(blocks, couplings.to_vec());
        let mut reached = Vec::new();
        let mut seen = vec![u32::MAX; inner.len()];
        for i in 0..blocks {
            for j in &direct[offsets[i]..offsets[i + 1]] {
                // The parent is the first block below the diagonal.
                let mut up = Some(*j);
                while let Some(j) = up.filter(|j| seen[*j as usize] != i as u32) {
                    seen[j as usize] = i as u32;
                    reached.push((i as u32, j));
                    up = inner.column(j as usize).first().copied();
                }
            }
        }
        let (row_offsets, rows) = lists(inner.len(), reached.iter().map(|(i, j)| (*j, *i)).collect());
        let (offsets, columns) = lists(blocks, reached);
        let lower = own.iter().map(|(i, k)| (*i.max(k), *i.min(k)));
        let diagonal = (0..blocks as u32).map(|i| (i, i));
        let (direct_offsets, direct) = lists(blocks, lower.chain(diagonal).collect());
        let mut out = Self {
            own_offsets: vec![0],
            ..Self::default()
        };
        let size = |i: usize| bounds[i + 1] - bounds[i];
        let mut seen = vec![u32::MAX; blocks];
        for i in 0..blocks {
            let start = out.own.len();
            let mut see = |k: u32, own: &mut Vec<u32>| {
                if std::mem::replace(&mut seen[k as usize], i as u32) != i as u32 {
                    own.push(k);
                }
            };
            direct[direct_offsets[i]..direct_offsets[i + 1]]
                .iter()
                .for_each(|k| see(*k, &mut out.own));
            for j in columns[offsets[i]..offsets[i + 1]].iter().map(|j| *j as usize) {
                let (width, mut across) = (inner.block_size(j), 0);
                for k in inner.column(j) {
                    across += inner.block_size(*k as usize);
                    out.updates += 1;
                }
                for k in rows[row_offsets[j]..row_offsets[j + 1]]
                    .iter()
                    .take_while(|k| **k as usize <= i)
                {
                    across += size(*k as usize);
                    out.updates += 1;
                    see(*k, &mut out.own);
                }
                out.flops += size(i) * width * (width + 1 + 2 * across);
            }
            out.own[start..].sort_unstable();
            out.own_offsets.push(out.own.len());
        }
        Ok(Self {
            bounds,
            offsets,
            columns,
            row_offsets,
            rows,
            ..out
        })
    }

    /// Number of row blocks.
    fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    fn height(&self, i: usize) -> usize {
        self.bounds[i + 1] - self.bounds[i]
    }

    /// Block updates of one computation.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Floating-point operations of one computation.
    pub fn flops(&self) -> usize {
        self.flops
    }

    /// Row blocks that row block `i` is coupled with in `S`, up to itself, ascending.
    pub fn own(&self, i: usize) -> &[u32] {
        &self.own[self.own_offsets[i]..self.own_offsets[i + 1]]
    }
}

/// Where blocks start whose sizes are given, and their end.
fn starts(what: &'static str, sizes: impl Iterator<Item = usize>) -> Result<Vec<u32>, SparseError> {
    let mut out = vec![0];
    let mut at = 0;
    for size in sizes {
        at += size;
        out.push(u32::try_from(at).map_err(|_| SparseError::TooLarge { what, found: at })?);
    }
    Ok(out)
}

impl ComplementSymbolic {
    /// Where everything goes. Cost and memory: [`ComplementPattern::updates`].
    ///
    /// # Errors
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(inner: &BlockPattern, pattern: ComplementPattern) -> Result<Self, SparseError> {
        let p = &pattern;
        let blocks = p.len();
        let row = |i: usize| {
            p.columns[p.offsets[i]..p.offsets[i + 1]]
                .iter()
                .map(|j| *j as usize)
        };
        let of_rows = (0..blocks).flat_map(|i| row(i).map(move |j| p.height(i) * inner.block_size(j)));
        let block_starts = starts("values of rows", of_rows)?;
        let of_own =
            (0..blocks).flat_map(|i| p.own(i).iter().map(move |k| p.height(i) * p.height(*k as usize)));
        let own_starts = starts("values of a Schur complement", of_own)?;
        if p.updates >= u32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "block updates",
                found: p.updates,
            });
        }
        let mut by_column = vec![0; p.rows.len()];
        let mut places = Vec::with_capacity(p.columns.len());
        let mut next = p.row_offsets.clone();
        for i in 0..blocks {
            for (at, j) in (p.offsets[i]..).zip(row(i)) {
                by_column[next[j]] = block_starts[at];
                places.push(next[j] as u32);
                next[j] += 1;
            }
        }
        let (mut updates, mut targets) = (vec![0], Vec::new());
        let (mut own_updates, mut own_targets) = (vec![0], Vec::new());
        let (mut place, mut own_place) = (vec![0; inner.len()], vec![0; blocks]);
        for i in 0..blocks {
            for (at, j) in (p.offsets[i]..).zip(row(i)) {
                place[j] = block_starts[at] - block_starts[p.offsets[i]];
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
        let vertex = (0..blocks).flat_map(|i| std::iter::repeat_n(i as u32, p.height(i)));
        Ok(Self {
            vertex: vertex.collect(),
            starts: block_starts,
            by_column,
            own_starts,
            places,
            updates,
            targets,
            own_updates,
            own_targets,
            pattern,
        })
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
        let last = |starts: &[u32]| starts.last().map_or(0, |s| *s as usize);
        Complement {
            rows: vec![0.0; last(&self.starts)],
            products: vec![0.0; last(&self.starts)],
            own: vec![0.0; last(&self.own_starts)],
        }
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
