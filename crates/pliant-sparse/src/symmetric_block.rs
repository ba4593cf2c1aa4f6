//! Symmetric matrices of small dense blocks: fast products with one or several vectors.

use crate::{CsrMatrix, Pattern, PatternBuilder, SparseError, check_size};

/// A symmetric matrix by dense blocks of `B x B` entries: lower triangle of blocks by rows,
/// diagonal blocks in full.
///
/// Every block below the diagonal is read once and serves both triangles, with one index per `B^2`
/// numbers: for a stiffness matrix in three dimensions (`B = 3`) half the memory traffic of a
/// matrix with all its entries, a third of that of compressed rows. Where blocks of three and of
/// six meet, `B = 3` serves both. Blocks are filled up with zeros: see [`Self::padding`].
///
/// ```
/// use pliant_sparse::{PatternBuilder, SymmetricBlockMatrix};
/// // [2 1; 1 -3], lower triangle by rows.
/// let mut builder = PatternBuilder::new(2, 2);
/// builder.insert_block((0, 0), (2, 2), true);
/// let mut a = builder.finish()?.into_matrix();
/// a.values_mut().copy_from_slice(&[2.0, 1.0, -3.0]);
/// let blocks = SymmetricBlockMatrix::<2>::new(&a, &[])?;
/// let mut y = [0.0; 2];
/// blocks.product_into(&[1.0, 2.0], &mut y);
/// assert_eq!(y, [4.0, -5.0]);
/// # Ok::<(), pliant_sparse::SparseError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricBlockMatrix<const B: usize> {
    /// Pattern of the matrix that it was made from.
    source: Pattern,
    /// Blocks at or below the diagonal; the diagonal block is the last of each row.
    blocks: Pattern,
    /// Rows of each block one after the other.
    values: Vec<[[f64; B]; B]>,
    /// Where each entry of the source goes, in the values as one slice.
    slots: Vec<u32>,
}

impl<const B: usize> SymmetricBlockMatrix<B> {
    /// From the lower triangle of a symmetric matrix. `fixed` is empty, or tells the variables that
    /// are decoupled: their rows and columns become those of the identity.
    ///
    /// # Errors
    /// [`SparseError::Size`] if `B` is zero, the matrix is not square, has entries above the
    /// diagonal or an order that is not a multiple of `B`, or if `fixed` has another length;
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn new(a: &CsrMatrix, fixed: &[bool]) -> Result<Self, SparseError> {
        let (pattern, n) = (a.pattern(), a.pattern().rows());
        check_size("columns of a symmetric matrix", n, pattern.columns())?;
        let above = |i: &usize| pattern.row(*i).last().is_some_and(|k| *k as usize > *i);
        check_size("entries above the diagonal", 0, (0..n).filter(above).count())?;
        let order = n.checked_div(B).unwrap_or(0);
        check_size("rows, whole blocks of them,", order * B, n)?;
        let mut builder = PatternBuilder::new(order, order);
        let mut last = None;
        for i in 0..n {
            builder.insert(i / B, i / B);
            for k in pattern.row(i) {
                let block = (i / B, *k as usize / B);
                if last != Some(block) {
                    builder.insert(block.0, block.1);
                    last = Some(block);
                }
            }
        }
        let blocks = builder.finish()?;
        let found = blocks.len() * B * B;
        if found >= u32::MAX as usize {
            return Err(SparseError::TooLarge {
                what: "block values",
                found,
            });
        }
        let mut slots = Vec::with_capacity(pattern.len());
        for i in 0..n {
            // Both rows ascend: walk them together.
            let mut at = blocks.row_slots(i / B).start;
            for k in pattern.row(i) {
                let k = *k as usize;
                while (blocks.indices()[at] as usize) < k / B {
                    at += 1;
                }
                slots.push(((at * B + i % B) * B + k % B) as u32);
            }
        }
        let mut out = Self {
            source: pattern.clone(),
            values: vec![[[0.0; B]; B]; blocks.len()],
            blocks,
            slots,
        };
        out.update(a, fixed)?;
        Ok(out)
    }

    /// Takes new values on the pattern it was made for, with `fixed` as in [`Self::new`]. Allocates
    /// nothing. Cost `nnz`.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the pattern is another one, or if `fixed` has another length.
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SparseError> {
        let n = self.order();
        if !self.fits(a) {
            return Err(SparseError::Size {
                what: "entries on the pattern analysed",
                expected: self.source.len(),
                found: a.pattern().len(),
            });
        }
        if !fixed.is_empty() {
            check_size("fixed mask", n, fixed.len())?;
        }
        let is_fixed = |i: usize| fixed.get(i).copied().unwrap_or(false);
        let values = self.values.as_flattened_mut().as_flattened_mut();
        for i in 0..n {
            let own = self.source.row_slots(i);
            let entries = self.slots[own.clone()].iter().zip(&a.values()[own.clone()]);
            if fixed.is_empty() {
                for (slot, value) in entries {
                    values[*slot as usize] = *value;
                }
            } else {
                for ((slot, value), k) in entries.zip(&self.source.indices()[own]) {
                    let free = !is_fixed(i) && !is_fixed(*k as usize);
                    values[*slot as usize] = if free { *value } else { 0.0 };
                }
            }
            if is_fixed(i) || self.source.row(i).last() != Some(&(i as u32)) {
                let diagonal = self.blocks.row_slots(i / B).end - 1;
                values[(diagonal * B + i % B) * B + i % B] = f64::from(u8::from(is_fixed(i)));
            }
        }
        for i in 0..self.blocks.rows() {
            let block = &mut self.values[self.blocks.row_slots(i).end - 1];
            for r in 0..B {
                for c in 0..r {
                    block[c][r] = block[r][c];
                }
            }
        }
        Ok(())
    }

    /// Whether the matrix has the pattern that this one was made for.
    pub fn fits(&self, a: &CsrMatrix) -> bool {
        self.source == *a.pattern()
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.blocks.rows() * B
    }

    /// The pattern of the blocks at or below the diagonal; the diagonal block is the last of each
    /// row.
    pub fn blocks(&self) -> &Pattern {
        &self.blocks
    }

    /// The blocks in the order of [`Self::blocks`], row by row each.
    pub fn values(&self) -> &[[[f64; B]; B]] {
        &self.values
    }

    /// Numbers that are stored per entry of the lower triangle: about 1 where blocks are full,
    /// `B^2` at worst.
    pub fn padding(&self) -> f64 {
        let stored = self.blocks.len() * B * B - self.blocks.rows() * B * B.saturating_sub(1) / 2;
        stored as f64 / self.source.len().max(1) as f64
    }

    /// `y = A x`. Cost: `2 B^2` operations per block of either triangle. Allocates nothing.
    ///
    /// # Panics
    /// If `x` or `y` is not as long as the matrix.
    pub fn product_into(&self, x: &[f64], y: &mut [f64]) {
        let n = self.order();
        assert!(x.len() == n && y.len() == n, "vectors of a matrix of order {n}");
        let (x, y) = (x.as_chunks::<B>().0, y.as_chunks_mut::<B>().0);
        let offsets = self.blocks.offsets();
        for (i, bounds) in offsets.windows(2).enumerate() {
            let own = bounds[0] as usize..bounds[1] as usize;
            let (columns, blocks) = (&self.blocks.indices()[own.clone()], &self.values[own]);
            let (Some((_, columns)), Some((diagonal, blocks))) = (columns.split_last(), blocks.split_last())
            else {
                continue;
            };
            let xi = x[i];
            // One sum per column: shorter chains of additions.
            let mut sums = [[0.0; B]; B];
            for r in 0..B {
                for c in 0..B {
                    sums[r][c] = diagonal[r][c] * xi[c];
                }
            }
            for (j, a) in columns.iter().zip(blocks) {
                let (xj, yj) = (x[*j as usize], &mut y[*j as usize]);
                let mut other = *yj;
                for r in 0..B {
                    for c in 0..B {
                        sums[r][c] += a[r][c] * xj[c];
                        other[c] += a[r][c] * xi[r];
                    }
                }
                *yj = other;
            }
            // Rows after this one add to it, those before do not.
            y[i] = sums.map(|s| s.iter().sum());
        }
    }

    /// `Y = A X` for `K` vectors at once, of which entry `i` is `x[i]`: every block is read once
    /// for all of them. Cost: `K` times that of [`Self::product_into`], in a fraction of the time.
    /// Allocates nothing.
    ///
    /// # Panics
    /// If `x` or `y` is not as long as the matrix.
    pub fn products_into<const K: usize>(&self, x: &[[f64; K]], y: &mut [[f64; K]]) {
        let n = self.order();
        assert!(x.len() == n && y.len() == n, "vectors of a matrix of order {n}");
        let (x, y) = (x.as_chunks::<B>().0, y.as_chunks_mut::<B>().0);
        let offsets = self.blocks.offsets();
        for (i, bounds) in offsets.windows(2).enumerate() {
            let own = bounds[0] as usize..bounds[1] as usize;
            let (columns, blocks) = (&self.blocks.indices()[own.clone()], &self.values[own]);
            let (Some((_, columns)), Some((diagonal, blocks))) = (columns.split_last(), blocks.split_last())
            else {
                continue;
            };
            let xi = x[i];
            let mut sum = [[0.0; K]; B];
            for r in 0..B {
                for c in 0..B {
                    for k in 0..K {
                        sum[r][k] += diagonal[r][c] * xi[c][k];
                    }
                }
            }
            for (j, a) in columns.iter().zip(blocks) {
                let (xj, yj) = (&x[*j as usize], &mut y[*j as usize]);
                for r in 0..B {
                    for c in 0..B {
                        for k in 0..K {
                            sum[r][k] += a[r][c] * xj[c][k];
                        }
                    }
                }
                for c in 0..B {
                    for r in 0..B {
                        for k in 0..K {
                            yj[c][k] += a[r][c] * xi[r][k];
                        }
                    }
                }
            }
            y[i] = sum;
        }
    }
}

#[cfg(test)]
mod tests;
