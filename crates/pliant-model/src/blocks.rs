//! A list of small dense blocks, one per element, in one flat buffer of fixed layout.

use pliant_threads::Threads;
use std::ops::Range;

/// Elements that a thread does at a time: enough to be worth the hand-over, few enough to stay in
/// its cache.
pub(crate) const PIECE: usize = 512;

/// Blocks that are cleared at a time.
const CLEARED: usize = 32;

/// Where a mapping or a force field writes its blocks. Block `e` is row-major,
/// `height(e) x width(e)`; the buffer is cleared before every call, so that only non-zeros need
/// writing.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    values: Vec<f64>,
    starts: Vec<usize>,
    widths: Vec<usize>,
}

impl Blocks {
    /// A buffer for blocks of the given heights and widths.
    pub fn new(shapes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut starts = vec![0];
        let mut widths = Vec::new();
        let mut end = 0;
        for (height, width) in shapes {
            end += height * width;
            starts.push(end);
            widths.push(width);
        }
        Self {
            values: vec![0.0; end],
            starts,
            widths,
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.widths.len()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.widths.is_empty()
    }

    /// Columns of block `e`.
    pub fn width(&self, e: usize) -> usize {
        self.widths[e]
    }

    /// Block `e`, row-major.
    #[inline]
    pub fn block(&self, e: usize) -> &[f64] {
        &self.values[self.starts[e]..self.starts[e + 1]]
    }

    /// Consecutive blocks, one after the other.
    #[inline]
    pub fn run(&self, elements: Range<usize>) -> &[f64] {
        &self.values[self.starts[elements.start]..self.starts[elements.end]]
    }

    /// Block `e`, row-major, to be written.
    #[inline]
    pub fn block_mut(&mut self, e: usize) -> &mut [f64] {
        &mut self.values[self.starts[e]..self.starts[e + 1]]
    }

    /// Has every piece of a few blocks cleared and written, by several threads if there are.
    pub(crate) fn write_pieces<E: Send>(
        &mut self,
        threads: &Threads,
        what: impl Fn(Range<usize>, &mut [f64]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let (count, starts) = (self.len(), &self.starts);
        let values = &mut self.values[..];
        threads.for_each_piece(
            (0..count, PIECE),
            |e| starts[e],
            values,
            |elements, values| {
                // Cleared just ahead of being written, while it is in the nearest cache.
                let (mut rest, mut next) = (values, elements.start);
                while next < elements.end {
                    let end = elements.end.min(next + CLEARED);
                    let (own, after) = rest.split_at_mut(starts[end] - starts[next]);
                    own.fill(0.0);
                    what(next..end, own)?;
                    (rest, next) = (after, end);
                }
                Ok(())
            },
        )
    }

    /// Writes the diagonals of square blocks of equal width, one per element; `value` gets the
    /// number of the coordinate.
    pub(crate) fn set_diagonal(&mut self, value: impl Fn(usize) -> f64) {
        for e in 0..self.len() {
            let size = self.width(e);
            let block = self.block_mut(e);
            for i in 0..size {
                block[i * size + i] = value(e * size + i);
            }
        }
    }

    /// Multiplies all blocks by `s`.
    pub(crate) fn scale(&mut self, s: f64) {
        self.values.iter_mut().for_each(|v| *v *= s);
    }

    /// Adds `s` times the blocks of the same layout.
    ///
    /// # Panics
    /// If the layouts differ in length.
    pub fn add(&mut self, s: f64, other: &Self) {
        assert_eq!(self.values.len(), other.values.len());
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += s * b;
        }
    }

    /// Sets all blocks to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }
}
