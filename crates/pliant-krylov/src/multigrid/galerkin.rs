//! Galerkin products.

use super::aggregate::NONE;
use super::level::{Block, Lower};
use super::transfer::{Transfer, add_product, add_transposed};
use pliant_sparse::{Pattern, PatternBuilder, SparseError};

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
#[derive(Debug)]
pub(super) struct Galerkin<const B: usize, const K: usize> {
    pub(super) pattern: Pattern,
    pub(super) values: Vec<Block<K, K>>,
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
        let widest = (0..rows)
            .map(|i| {
                fine.row(i)
                    .iter()
                    .map(|j| p.row(*j as usize).len())
                    .sum::<usize>()
            })
            .max()
            .unwrap_or(0);
        let widest = widest.min(coarse);
        Ok(Self {
            values: vec![[[0.0; K]; K]; pattern.len()],
            pattern,
            columns: Vec::with_capacity(widest),
            row: Vec::with_capacity(widest),
            place: vec![NONE; coarse],
        })
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        let indices = self.pattern.len() + self.pattern.offsets().len() + self.place.len();
        4 * indices + size_of_val(&self.values[..]) + size_of_val(&self.row[..])
    }

    /// Takes new values. Allocates nothing.
    #[inline(always)]
    pub(super) fn fill(&mut self, a: Lower<'_, B>, transfer: &Transfer<B, K>) {
        let Self {
            pattern,
            values,
            columns,
            row,
            place,
        } = self;
        values.fill([[0.0; K]; K]);
        let p = &transfer.pattern;
        for i in 0..a.rows() {
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
                    let target = &mut values[target];
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
        symmetrise(pattern, values);
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
