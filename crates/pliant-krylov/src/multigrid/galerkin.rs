//! Galerkin products.

use super::aggregate::NONE;
use super::level::{Block, Lower};
use super::transfer::{Transfer, add_product, add_transposed};
use pliant_sparse::{Pattern, PatternBuilder, SparseError, Threads};
use std::ops::Range;

/// Rows of a piece at least, and pieces at most.
const LEAST_ROWS: usize = 256;
const MOST_PIECES: usize = 16;
/// Numbers of all pieces at most, in those of the product.
const MOST_NUMBERS: usize = 2;

/// `A_c = P^T A P` on a pattern made once.
///
/// Only the lower triangle of `A = L + D + L^T` is stored and only that of `A_c` is wanted, thus
///
/// ```math
/// A_c = G + G^T,   G = P^T (L + D/2) P
/// ```
///
/// which is half the work of both products with `A`. Cost: `2 B^2 K` per block of `L` and of the
/// rows of `P` that it meets, `2 B K^2` per pair of blocks of a row of `P` and of `(L + D/2) P`.
///
/// Rows come in pieces, which threads take side by side: each piece has its own sums over the rows
/// of `A_c` that it reaches, few beside all where nodes near each other have numbers near each
/// other. The pieces are the same for any number of threads, and so are the bits.
#[derive(Debug)]
pub(super) struct Galerkin<const B: usize, const K: usize> {
    pub(super) pattern: Pattern,
    pub(super) values: Vec<Block<K, K>>,
    pieces: Vec<Piece<B, K>>,
}

/// The share of some rows of `A` in the product.
#[derive(Debug)]
struct Piece<const B: usize, const K: usize> {
    rows: Range<usize>,
    /// Numbers of the product that it adds to, of which these are its sums.
    slots: Range<usize>,
    values: Vec<Block<K, K>>,
    /// One row of `(L + D/2) P`: columns, blocks, and the place of every column.
    columns: Vec<u32>,
    row: Vec<Block<B, K>>,
    place: Vec<u32>,
}

impl<const B: usize, const K: usize> Galerkin<B, K> {
    /// Where the product of a matrix of this pattern has blocks.
    pub(super) fn new(fine: &Pattern, transfer: &Transfer<B, K>) -> Result<Self, SparseError> {
        let (rows, coarse) = (fine.rows(), transfer.coarse());
        let p = &transfer.pattern;
        let (upper_offsets, upper) = transposed(fine);
        let (column_offsets, column_rows) = transposed(p);
        let mut builder = PatternBuilder::new(coarse, coarse);
        let mut seen = vec![NONE; coarse];
        let mut own: Vec<u32> = Vec::new();
        for i in 0..coarse {
            own.clear();
            seen[i] = i as u32;
            own.push(i as u32);
            for k in &column_rows[column_offsets[i] as usize..column_offsets[i + 1] as usize] {
                let k = *k as usize;
                let above = &upper[upper_offsets[k] as usize..upper_offsets[k + 1] as usize];
                for j in fine.row(k).iter().chain(above) {
                    for c in p.row(*j as usize).iter().take_while(|c| **c as usize <= i) {
                        if seen[*c as usize] != i as u32 {
                            seen[*c as usize] = i as u32;
                            own.push(*c);
                        }
                    }
                }
            }
            own.sort_unstable();
            own.iter().for_each(|c| builder.insert(i, *c as usize));
        }
        let pattern = builder.finish()?;
        let mut pieces = MOST_PIECES.min(rows / LEAST_ROWS).max(1);
        let reached = loop {
            let bounds = |k: usize| k * rows / pieces;
            let reached = (0..pieces).map(|k| {
                let own = bounds(k)..bounds(k + 1);
                let slots = slots_of(own.clone(), fine, p, &pattern);
                (own, slots)
            });
            let reached: Vec<_> = reached.collect();
            let numbers: usize = reached.iter().map(|(_, slots)| slots.len()).sum();
            if pieces == 1 || numbers <= MOST_NUMBERS * pattern.len() {
                break reached;
            }
            pieces /= 2;
        };
        let one = reached.len() == 1;
        let pieces = reached.into_iter().map(|(rows, slots)| {
            let wide = |i: usize| {
                fine.row(i)
                    .iter()
                    .map(|j| p.row(*j as usize).len())
                    .sum::<usize>()
            };
            let widest = rows.clone().map(wide).max().unwrap_or(0).min(coarse);
            Piece {
                rows,
                // A single piece adds to the product itself.
                values: vec![[[0.0; K]; K]; if one { 0 } else { slots.len() }],
                slots,
                columns: Vec::with_capacity(widest),
                row: Vec::with_capacity(widest),
                place: vec![NONE; coarse],
            }
        });
        let pieces = pieces.collect();
        Ok(Self {
            values: vec![[[0.0; K]; K]; pattern.len()],
            pattern,
            pieces,
        })
    }

    /// Number of pieces.
    #[cfg(test)]
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        let indices = self.pattern.len() + self.pattern.offsets().len();
        let pieces = self.pieces.iter().map(|piece| {
            4 * piece.place.len() + size_of_val(&piece.values[..]) + size_of_val(&piece.row[..])
        });
        4 * indices + size_of_val(&self.values[..]) + pieces.sum::<usize>()
    }

    /// Takes new values. Allocates nothing.
    pub(super) fn fill(&mut self, threads: &Threads, a: Lower<'_, B>, transfer: &Transfer<B, K>) {
        let Self {
            pattern,
            values,
            pieces,
        } = self;
        let one = pieces.len() == 1;
        if let (true, Some(piece)) = (one, pieces.first_mut()) {
            std::mem::swap(values, &mut piece.values);
        }
        let pattern = &*pattern;
        threads.for_each(pieces, |piece| {
            pulp::Arch::new().dispatch(|| piece.fill(pattern, a, transfer));
        });
        if let (true, Some(piece)) = (one, pieces.first_mut()) {
            std::mem::swap(values, &mut piece.values);
        } else {
            values.fill([[0.0; K]; K]);
            for piece in pieces {
                for (sum, own) in values[piece.slots.clone()].iter_mut().zip(&piece.values) {
                    for (sum, own) in sum.as_flattened_mut().iter_mut().zip(own.as_flattened()) {
                        *sum += own;
                    }
                }
            }
        }
        symmetrise(pattern, values);
    }
}

/// The numbers of the product that some rows of `A` add to, from the first to the last.
fn slots_of(rows: Range<usize>, fine: &Pattern, p: &Pattern, product: &Pattern) -> Range<usize> {
    let (mut first, mut end) = (usize::MAX, 0);
    for i in rows {
        let own = p.row(i);
        let Some(least) = own.first() else { continue };
        let reached = fine.row(i).iter().flat_map(|j| p.row(*j as usize).last());
        // A pair of aggregates adds to the row of the one with the larger number.
        first = first.min(*least as usize);
        end = own
            .iter()
            .chain(reached)
            .fold(end, |end, c| end.max(*c as usize + 1));
    }
    let start = |row: usize| product.offsets()[row] as usize;
    if end == 0 { 0..0 } else { start(first)..start(end) }
}

impl<const B: usize, const K: usize> Piece<B, K> {
    #[inline(always)]
    fn fill(&mut self, pattern: &Pattern, a: Lower<'_, B>, transfer: &Transfer<B, K>) {
        let Self {
            rows,
            slots,
            values,
            columns,
            row,
            place,
        } = self;
        values.fill([[0.0; K]; K]);
        let p = &transfer.pattern;
        for i in rows.clone() {
            let mine = p.row_slots(i);
            if mine.is_empty() {
                continue;
            }
            columns.clear();
            row.clear();
            let (below, blocks, diagonal) = a.row(i);
            let half = diagonal.map(|r| r.map(|v| 0.5 * v));
            let index = i as u32;
            let on_it = (&index, &half);
            for (j, block) in below.iter().zip(blocks).chain([on_it]) {
                for slot in p.row_slots(*j as usize) {
                    let c = p.indices()[slot];
                    let at = &mut place[c as usize];
                    if *at == NONE {
                        *at = columns.len() as u32;
                        columns.push(c);
                        row.push([[0.0; K]; B]);
                    }
                    add_product(block, &transfer.values[slot], &mut row[*at as usize]);
                }
            }
            columns.iter().for_each(|c| place[*c as usize] = NONE);
            for slot in mine {
                let big = p.indices()[slot];
                for (c, x) in columns.iter().zip(row.iter()) {
                    let block = &transfer.values[slot];
                    let Some(target) = pattern.slot(big.max(*c) as usize, big.min(*c) as usize) else {
                        continue;
                    };
                    let target = &mut values[target - slots.start];
                    if big > *c {
                        add_transposed(block, x, target);
                    } else {
                        // On the diagonal it is both.
                        add_transposed(x, block, target);
                        if big == *c {
                            add_transposed(block, x, target);
                        }
                    }
                }
            }
        }
    }
}

/// Makes the diagonal blocks symmetric to the bit: their triangles were summed in another order.
#[inline(always)]
fn symmetrise<const K: usize>(pattern: &Pattern, values: &mut [Block<K, K>]) {
    for i in 0..pattern.rows() {
        let block = &mut values[pattern.row_slots(i).end - 1];
        for r in 0..K {
            for c in 0..r {
                block[c][r] = block[r][c];
            }
        }
    }
}

/// The rows of every column: offsets and list, ascending.
fn transposed(pattern: &Pattern) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; pattern.columns() + 1];
    for j in pattern.indices() {
        offsets[*j as usize + 1] += 1;
    }
    for j in 0..pattern.columns() {
        offsets[j + 1] += offsets[j];
    }
    let mut next = offsets.clone();
    let mut rows = vec![0; pattern.len()];
    for i in 0..pattern.rows() {
        for j in pattern.row(i) {
            let at = &mut next[*j as usize];
            rows[*at as usize] = i as u32;
            *at += 1;
        }
    }
    (offsets, rows)
}
