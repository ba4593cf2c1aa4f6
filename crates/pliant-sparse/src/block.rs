//! The `L D L^T` of a symmetric quasi-definite *block* matrix: dense blocks on a sparse block
//! pattern.
//!
//! Where the unknowns come in blocks (six of a body, three of a particle, up to six rows of a
//! joint), the factor has one index per block instead of one per entry, and its work is done by
//! small dense kernels whose sizes the compiler knows. The arithmetic is that of the scalar factor
//! in another order of summation.

mod any;
mod complement;
mod dependence;
mod kernels;
mod link;
mod partial;
mod pattern;
mod reach;
mod single;

pub use complement::{Complement, ComplementPattern, ComplementSymbolic};
pub use partial::Refactored;
pub use pattern::BlockPattern;
pub use reach::Reach;

use crate::ldlt::DROPPED;
use crate::{Dependence, FactorReport, PivotRule, SparseError, zeros};
use partial::Partial;
use std::ops::Range;

/// The block pattern of `L` and where every block and every update goes: what one pattern of `A`
/// needs once.
///
/// Storage: block columns one after another. Each starts with its square diagonal block, of which
/// only the lower triangle is used, followed by the blocks below it; all blocks are stored by
/// columns.
#[derive(Clone, Debug, Default)]
pub struct BlockSymbolic {
    pattern: BlockPattern,
    /// Vertex of each unknown.
    vertex: Vec<u32>,
    /// Where the values of each block column start; one more than there are columns.
    starts: Vec<u32>,
    /// Where the values of each block below the diagonal start.
    block_starts: Vec<u32>,
    /// Rows of each block below the diagonal.
    heights: Vec<u32>,
    /// First unknown of each block row below the diagonal.
    places: Vec<u32>,
    /// Where the updates of each block column start in `targets`.
    updates: Vec<u32>,
    /// For the blocks `i >= k` below the diagonal of a column, k by k: where the block `(i, k)`
    /// starts.
    targets: Vec<u32>,
    /// Most values below the diagonal block of one column.
    widest: usize,
}

/// Values of a block factor; a factor by entries is one with blocks of one, and has loops of its
/// own. Allocated once, refilled for every matrix of the same pattern.
///
/// Use: [`clear`](Self::clear), write `A` to the [slots](BlockSymbolic::slot) of
/// [`values_mut`](Self::values_mut), [`factor`](Self::factor),
/// [`solve_in_place`](Self::solve_in_place).
#[derive(Clone, Debug, Default)]
pub struct BlockFactor {
    /// `A`, then `L` in its place.
    values: Vec<f64>,
    pivots: Vec<f64>,
    /// Their reciprocals; zero for a dropped one.
    inverses: Vec<f64>,
    /// `L D` of the column at hand.
    products: Vec<f64>,
    /// Of the factorisation that `values` holds, if they hold one.
    report: Option<FactorReport>,
    /// Storage of partial refactorisations, from the first one on.
    partial: Option<Box<Partial>>,
}

impl BlockSymbolic {
    /// Where everything goes. Cost `O(b^2)` per block column of `b` blocks, in time and memory:
    /// look at [`BlockPattern::updates`] before.
    ///
    /// # Errors
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(mut pattern: BlockPattern) -> Result<Self, SparseError> {
        let mut out = Self::default();
        out.refill(&mut pattern)?;
        Ok(out)
    }

    /// Makes it that of another pattern, as [`new`](Self::new) does, which is taken; the storage of
    /// the former one is left in its place. Allocates only for larger ones than ever before. After
    /// an error it is of no use.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn refill(&mut self, pattern: &mut BlockPattern) -> Result<(), SparseError> {
        for (what, found) in [
            ("block values", pattern.values()),
            ("block updates", pattern.updates()),
        ] {
            if found >= u32::MAX as usize {
                return Err(SparseError::TooLarge { what, found });
            }
        }
        std::mem::swap(&mut self.pattern, pattern);
        let Self {
            pattern,
            vertex,
            starts,
            block_starts,
            heights,
            places,
            updates,
            targets,
            widest,
        } = self;
        for list in [&mut *vertex, block_starts, heights, places, targets] {
            list.clear();
        }
        for list in [&mut *starts, updates] {
            list.clear();
            list.push(0);
        }
        let mut at = 0;
        *widest = 0;
        for j in 0..pattern.len() {
            let width = pattern.block_size(j);
            vertex.extend(std::iter::repeat_n(j as u32, width));
            at += width * width;
            let below = at;
            for i in pattern.column(j) {
                let height = pattern.block_size(*i as usize);
                block_starts.push(at as u32);
                heights.push(height as u32);
                places.push(pattern.bounds()[*i as usize] as u32);
                at += height * width;
            }
            *widest = (*widest).max(at - below);
            starts.push(at as u32);
            let count = pattern.column(j).len();
            updates.push(updates[j] + (count * (count + 1) / 2) as u32);
        }
        targets.reserve(pattern.updates());
        for j in 0..pattern.len() {
            let rows = pattern.column(j);
            for (a, k) in rows.iter().enumerate() {
                let k = *k as usize;
                targets.push(starts[k]);
                // The rows after k of column j are rows of column k: walk both, ascending.
                let own = pattern.column_range(k);
                let mut at = own.start;
                for i in &rows[a + 1..] {
                    while at < own.end && pattern.rows()[at] < *i {
                        at += 1;
                    }
                    targets.push(block_starts[at]);
                }
            }
        }
        Ok(())
    }

    /// The pattern it was made from.
    pub fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.vertex.len()
    }

    /// Where the values of block column `j` are.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column_values(&self, j: usize) -> Range<usize> {
        self.starts[j] as usize..self.starts[j + 1] as usize
    }

    /// Whether every block is one unknown.
    fn is_single(&self) -> bool {
        self.size() == self.pattern.len()
    }

    /// Where entry `(i, j)` of the lower triangle is stored; `None` above the diagonal, outside the
    /// pattern of `L` or outside the matrix. Cost: a binary search in the block column.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        if i < j {
            return None;
        }
        let (row, column) = (*self.vertex.get(i)?, *self.vertex.get(j)? as usize);
        let width = self.pattern.block_size(column);
        let (start, height) = if row as usize == column {
            (self.starts[column], width)
        } else {
            let found = self.pattern.column(column).binary_search(&row).ok()?;
            let block = self.pattern.column_range(column).start + found;
            (self.block_starts[block], self.heights[block] as usize)
        };
        let inside = |k: usize, vertex: usize| k - self.pattern.bounds()[vertex];
        Some(start as usize + inside(j, column) * height + inside(i, row as usize))
    }

    /// Allocates the values.
    pub fn allocate(&self) -> BlockFactor {
        let mut out = BlockFactor::default();
        out.refill(self);
        out
    }
}

/// Scratch of patterns. No result depends on what is in it.
#[derive(Debug, Default)]
pub(crate) struct PatternWorkspace {
    seen: Vec<usize>,
    child: Vec<usize>,
    next: Vec<usize>,
    /// Pairs that are sorted into lists, and the lists.
    pairs: Vec<(u32, u32)>,
    offsets: Vec<usize>,
    list: Vec<u32>,
    /// Pairs of a block row and a block column that it reaches.
    reached: Vec<(u32, u32)>,
    /// Where blocks of one block row start in it, by block column.
    place: Vec<u32>,
    own_place: Vec<u32>,
}

/// Right-hand sides that are solved for together.
const TOGETHER: usize = 8;

/// Data that the elimination of one block column reads and writes.
struct Column<'a> {
    /// The column's values: diagonal block, blocks below.
    values: &'a mut [f64],
    /// Rows of each block below.
    heights: &'a [u32],
    /// Values of all later columns.
    later: &'a mut [f64],
    /// Where the updates go, in the storage as a whole.
    targets: &'a [u32],
    /// Where `later` starts in it.
    offset: usize,
    pivots: &'a mut [f64],
    inverses: &'a mut [f64],
    products: &'a mut [f64],
}

impl BlockFactor {
    /// `z = L^-T e` for the unit vector of an unknown, without entries of less than a share
    /// `negligible` of the largest. As `A z = L D e`, that of an unknown whose pivot vanishes is a
    /// vector of the null space of `A`; of others that were dropped it has no part, as their
    /// columns of `L` are zero.
    ///
    /// Only unknowns that go before have entries, of the same subtree of the elimination tree, and
    /// most of these vanish where a part of the matrix is singular by itself. So blocks are
    /// visited only next to those with entries. Cost: `2 nnz` of the block columns that are, and a
    /// look at the pattern of those before.
    ///
    /// # Panics
    /// If there is no such unknown.
    pub fn dependence(
        &self,
        symbolic: &BlockSymbolic,
        unknown: usize,
        negligible: f64,
        out: &mut Dependence,
    ) {
        dependence::find(self, symbolic, unknown, negligible, out);
    }

    /// Makes it one of another pattern, as [`BlockSymbolic::allocate`] does. Allocates only for
    /// larger ones than ever before.
    pub fn refill(&mut self, symbolic: &BlockSymbolic) {
        let size = symbolic.size();
        zeros(&mut self.values, symbolic.pattern.values());
        zeros(&mut self.pivots, size);
        zeros(&mut self.inverses, size);
        zeros(&mut self.products, symbolic.widest);
        self.report = None;
        if let Some(partial) = &mut self.partial {
            partial.forget();
        }
    }

    /// Sets all values to zero, to be filled with `A`.
    pub fn clear(&mut self) {
        self.report = None;
        self.values.fill(0.0);
    }

    /// Values to be filled with the lower triangle of `A`, see [`BlockSymbolic::slot`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors `A = L D L^T` in place, with scalar pivots in the order of the matrix. Allocates
    /// nothing.
    ///
    /// For each block column `j` with diagonal block `A_jj = L_jj D_j L_jj^T`:
    ///
    /// ```math
    /// Y_i = A_ij L_jj^-T,   L_ij = Y_i D_j^-1,   A_ik -= L_ij Y_k^T   for all blocks i >= k below the diagonal
    /// ```
    ///
    /// (right-looking; Golub and Van Loan, Matrix Computations, section 4.1). A dropped pivot
    /// counts as infinite: its column of `L` is zero. Cost: [`BlockPattern::flops`].
    ///
    /// # Errors
    /// [`SparseError::Size`] if the values are of another pattern, [`SparseError::Pivot`] at a
    /// pivot that is zero (unless dropped) or not finite.
    pub fn factor(&mut self, symbolic: &BlockSymbolic, rule: PivotRule) -> Result<FactorReport, SparseError> {
        self.factor_as_filled(symbolic, rule, |_, _| Ok(()))
    }

    /// As [`factor`](Self::factor), with the values cleared and filled on the way, while they are
    /// in the cache: before block column `k` is eliminated, `fill(k, values)` is called, and must
    /// by then have cleared and written all [values](BlockSymbolic::column_values) of column `k`
    /// and of the columns that it updates: those of the vertices [below](BlockPattern::column) its
    /// diagonal.
    ///
    /// # Errors
    /// As [`factor`](Self::factor), and the first of `fill`.
    pub fn factor_as_filled<E: From<SparseError>>(
        &mut self,
        symbolic: &BlockSymbolic,
        rule: PivotRule,
        mut fill: impl FnMut(usize, &mut [f64]) -> Result<(), E>,
    ) -> Result<FactorReport, E> {
        self.check(symbolic)?;
        self.report = None;
        let threshold = rule.threshold();
        let report = if symbolic.is_single() {
            // Little is done for a column: to go back and forth would take longer.
            (0..symbolic.pattern.len()).try_for_each(|j| fill(j, &mut self.values))?;
            self.factor_single(symbolic, threshold)?
        } else {
            let mut report = FactorReport::default();
            for j in 0..symbolic.pattern.len() {
                fill(j, &mut self.values)?;
                let first = symbolic.pattern.bounds()[j];
                let (width, column) = self.split(symbolic, j);
                let bad = kernels::eliminate(width, column, threshold, &mut report);
                bad.map_err(|k| SparseError::Pivot { index: first + k })?;
            }
            report
        };
        self.report = Some(report);
        Ok(report)
    }

    fn check(&self, symbolic: &BlockSymbolic) -> Result<(), SparseError> {
        let (expected, found) = (symbolic.pattern.values(), self.values.len());
        if expected == found && self.pivots.len() == symbolic.size() {
            return Ok(());
        }
        Err(SparseError::Size {
            what: "block values",
            expected,
            found,
        })
    }

    /// The width of block column `j` and what its elimination works on.
    fn split<'a>(&'a mut self, symbolic: &'a BlockSymbolic, j: usize) -> (usize, Column<'a>) {
        let (start, end) = (symbolic.starts[j] as usize, symbolic.starts[j + 1] as usize);
        let own = symbolic.pattern.unknowns(j);
        let (done, later) = self.values.split_at_mut(end);
        let (from, to) = (symbolic.updates[j] as usize, symbolic.updates[j + 1] as usize);
        let column = Column {
            values: &mut done[start..],
            heights: &symbolic.heights[symbolic.pattern.column_range(j)],
            later,
            targets: &symbolic.targets[from..to],
            offset: end,
            pivots: &mut self.pivots[own.clone()],
            inverses: &mut self.inverses[own.clone()],
            products: &mut self.products,
        };
        (own.len(), column)
    }

    /// The diagonal `D` of the last factorisation; `1e100` for a dropped pivot.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Whether variable `i` was dropped.
    pub fn is_dropped(&self, i: usize) -> bool {
        self.pivots[i] == DROPPED
    }

    /// Solves `L D L^T x = b` in place, for as many right-hand sides as `x` holds one after
    /// another. Dropped variables come out as zero. Cost `4 nnz(L)` each; `L` is read once for up
    /// to eight of them, or for each where all blocks are of one. Allocates nothing.
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of the order of the matrix.
    pub fn solve_in_place(&self, symbolic: &BlockSymbolic, x: &mut [f64]) {
        let n = symbolic.size();
        if n == 0 {
            assert!(x.is_empty(), "right-hand side of an empty factor");
            return;
        }
        assert_eq!(x.len() % n, 0, "right-hand sides of a factor of order {n}");
        if symbolic.is_single() {
            x.chunks_exact_mut(n).for_each(|x| self.solve_single(symbolic, x));
            return;
        }
        if x.len() == n {
            self.solve_one(symbolic, x);
            return;
        }
        for together in x.chunks_mut(n * TOGETHER) {
            let count = together.len() / n;
            for j in 0..symbolic.pattern.len() {
                let below = symbolic.pattern.column_range(j);
                let own = symbolic.pattern.unknowns(j);
                for k in 0..count {
                    let (before, rest) = together[k * n..(k + 1) * n].split_at_mut(own.end);
                    kernels::forward(
                        &mut before[own.start..],
                        rest,
                        own.end,
                        self.column(symbolic, j),
                        &symbolic.heights[below.clone()],
                        &symbolic.places[below.clone()],
                    );
                }
            }
            for j in (0..symbolic.pattern.len()).rev() {
                let below = symbolic.pattern.column_range(j);
                let own = symbolic.pattern.unknowns(j);
                let inverses = &self.inverses[own.clone()];
                for k in 0..count {
                    let (before, rest) = together[k * n..(k + 1) * n].split_at_mut(own.end);
                    kernels::backward(
                        &mut before[own.start..],
                        inverses,
                        rest,
                        own.end,
                        self.column(symbolic, j),
                        &symbolic.heights[below.clone()],
                        &symbolic.places[below.clone()],
                    );
                }
            }
        }
    }

    /// See [`solve_in_place`](Self::solve_in_place), for one right-hand side: the blocks in the order
    /// in which they are stored, without a look at where they are.
    fn solve_one(&self, symbolic: &BlockSymbolic, x: &mut [f64]) {
        let starts = &symbolic.starts;
        let bounds = &symbolic.pattern.bounds()[..starts.len()];
        let counts = symbolic.pattern.counts();
        let (mut heights, mut places) = (&symbolic.heights[..], &symbolic.places[..]);
        let columns = bounds.windows(2).zip(starts.windows(2)).zip(counts);
        for ((own, values), count) in columns.clone() {
            let (below, later) = heights.split_at(count);
            let (at, others) = places.split_at(count);
            (heights, places) = (later, others);
            let (before, rest) = x.split_at_mut(own[1]);
            let column = &self.values[values[0] as usize..values[1] as usize];
            kernels::forward(&mut before[own[0]..], rest, own[1], column, below, at);
        }
        let (mut heights, mut places) = (&symbolic.heights[..], &symbolic.places[..]);
        for ((own, values), count) in columns.rev() {
            let (earlier, below) = heights.split_at(heights.len() - count);
            let (others, at) = places.split_at(places.len() - count);
            (heights, places) = (earlier, others);
            let (before, rest) = x.split_at_mut(own[1]);
            let column = &self.values[values[0] as usize..values[1] as usize];
            let inverses = &self.inverses[own[0]..own[1]];
            kernels::backward(&mut before[own[0]..], inverses, rest, own[1], column, below, at);
        }
    }

    fn column(&self, symbolic: &BlockSymbolic, j: usize) -> &[f64] {
        &self.values[symbolic.column_values(j)]
    }
}

#[cfg(test)]
pub(crate) mod tests;
