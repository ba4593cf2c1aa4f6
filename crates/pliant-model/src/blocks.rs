//! A list of small dense blocks, one per element, in one flat buffer of fixed layout.

use pliant_threads::Threads;
use std::ops::Range;

/// Elements that a thread does at a time: enough to be worth the hand-over, few enough to stay in
/// its cache.
pub(crate) const PIECE: usize = 512;

/// Blocks that are cleared at a time.
const CLEARED: usize = 32;

/// A block without storage: up to that size, blocks that were never written take no memory.
static NOTHING: [f64; 1024] = [0.0; 1024];

/// Where a mapping or a force field writes its blocks. Block `e` is row-major,
/// `height(e) x width(e)`; the buffer is cleared before every call, so that only non-zeros need
/// writing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks {
    values: Vec<f64>,
    shapes: Shapes,
}

/// Where the values of each block begin, and its width.
#[derive(Clone, Debug, PartialEq)]
enum Shapes {
    /// Blocks that are alike need no list.
    Alike {
        count: usize,
        size: usize,
        width: usize,
    },
    Listed {
        starts: Vec<usize>,
        widths: Vec<usize>,
    },
}

impl Default for Shapes {
    fn default() -> Self {
        Self::Alike {
            count: 0,
            size: 0,
            width: 0,
        }
    }
}

impl Shapes {
    /// Adds a block behind the others.
    fn push(&mut self, height: usize, width: usize) {
        let own = height * width;
        match self {
            Self::Alike { count: 0, .. } => {
                *self = Self::Alike {
                    count: 1,
                    size: own,
                    width,
                };
            }
            Self::Alike {
                count,
                size,
                width: w,
            } if *size == own && *w == width => *count += 1,
            Self::Alike {
                count,
                size,
                width: w,
            } => {
                let mut starts: Vec<usize> = (0..=*count).map(|e| e * *size).collect();
                let mut widths = vec![*w; *count];
                starts.push(*count * *size + own);
                widths.push(width);
                *self = Self::Listed { starts, widths };
            }
            Self::Listed { starts, widths } => {
                let end = starts.last().copied().unwrap_or(0);
                starts.push(end + own);
                widths.push(width);
            }
        }
    }

    /// Number of blocks.
    #[inline(always)]
    fn len(&self) -> usize {
        match self {
            Self::Alike { count, .. } => *count,
            Self::Listed { widths, .. } => widths.len(),
        }
    }

    #[inline(always)]
    fn width(&self, e: usize) -> usize {
        match self {
            Self::Alike { width, .. } => *width,
            Self::Listed { widths, .. } => widths[e],
        }
    }

    /// First value of block `e`, or the end of the last one.
    #[inline(always)]
    fn start(&self, e: usize) -> usize {
        match self {
            Self::Alike { size, .. } => e * size,
            Self::Listed { starts, .. } => starts[e],
        }
    }

    #[inline(always)]
    fn range(&self, elements: Range<usize>) -> Range<usize> {
        self.start(elements.start)..self.start(elements.end)
    }
}

impl Blocks {
    /// A buffer for blocks of the given heights and widths.
    pub fn new(shapes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut out = Self::without_storage(shapes);
        out.lay_out();
        out
    }

    /// Blocks of zeros that take memory only when one of them is written: a law has blocks of
    /// stiffness, damping and compliance, and most models ask for one kind of them.
    pub(crate) fn without_storage(shapes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut out = Self::default();
        let mut largest = 0;
        for (height, width) in shapes {
            largest = largest.max(height * width);
            out.shapes.push(height, width);
        }
        if let Shapes::Listed { starts, widths } = &mut out.shapes {
            starts.shrink_to_fit();
            widths.shrink_to_fit();
        }
        if largest > NOTHING.len() {
            out.lay_out();
        }
        out
    }

    /// Whether the blocks have their storage.
    pub(crate) fn is_laid_out(&self) -> bool {
        !self.values.is_empty()
    }

    /// Gives the blocks their storage, if they have none.
    #[cold]
    fn lay_out(&mut self) {
        self.values = vec![0.0; self.shapes.start(self.len())];
    }

    /// Gives back the storage of the blocks, unless they are large; nobody reads them from then on.
    pub(crate) fn forget(&mut self) {
        if (0..self.len()).all(|e| self.shapes.range(e..e + 1).len() <= NOTHING.len()) {
            self.values = Vec::new();
        }
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns of block `e`.
    pub fn width(&self, e: usize) -> usize {
        self.shapes.width(e)
    }

    /// Block `e`, row-major.
    #[inline]
    pub fn block(&self, e: usize) -> &[f64] {
        let range = self.shapes.range(e..e + 1);
        if self.values.is_empty() {
            return &NOTHING[..range.len()];
        }
        &self.values[range]
    }

    /// Consecutive blocks of those that have storage, one after the other.
    #[inline]
    pub fn run(&self, elements: Range<usize>) -> &[f64] {
        &self.values[self.shapes.range(elements)]
    }

    /// Block `e`, row-major, to be written.
    #[inline]
    pub fn block_mut(&mut self, e: usize) -> &mut [f64] {
        if self.values.is_empty() {
            self.lay_out();
        }
        &mut self.values[self.shapes.range(e..e + 1)]
    }

    /// Has every piece of a few blocks cleared and written, by several threads if there are.
    pub(crate) fn write_pieces<E: Send>(
        &mut self,
        threads: &Threads,
        what: impl Fn(Range<usize>, &mut [f64]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        if !self.is_laid_out() {
            self.lay_out();
        }
        let (count, shapes) = (self.len(), &self.shapes);
        let values = &mut self.values[..];
        threads.for_each_piece(
            (0..count, PIECE),
            |e| shapes.start(e),
            values,
            |elements, values| {
                // Cleared just ahead of being written, while it is in the nearest cache.
                let (mut rest, mut next) = (values, elements.start);
                while next < elements.end {
                    let end = elements.end.min(next + CLEARED);
                    let (own, after) = rest.split_at_mut(shapes.range(next..end).len());
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
        assert_eq!(self.shapes.start(self.len()), other.shapes.start(other.len()));
        if !other.is_laid_out() {
            return;
        }
        if !self.is_laid_out() {
            self.lay_out();
        }
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += s * b;
        }
    }

    /// Sets all blocks to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_alike_have_no_list() {
        let alike = Blocks::new([(2, 3); 5]);
        assert!(matches!(
            alike.shapes,
            Shapes::Alike {
                count: 5,
                size: 6,
                width: 3
            }
        ));
        // Of the same size, but of another shape, and the other way round.
        for last in [(3, 2), (2, 2), (4, 3)] {
            let mut blocks = Blocks::new([(2, 3), (2, 3), last, (2, 3)]);
            assert_eq!((blocks.len(), blocks.width(1), blocks.width(2)), (4, 3, last.1));
            blocks.block_mut(3).fill(1.0);
            assert_eq!(blocks.block(2), vec![0.0; last.0 * last.1]);
            assert_eq!(blocks.run(1..4).len(), 12 + last.0 * last.1);
            assert_eq!(blocks.run(3..4), [1.0; 6]);
        }
        let empty = Blocks::default();
        assert!(empty.is_empty() && empty.run(0..0).is_empty());
    }

    #[test]
    fn blocks_without_storage_are_zero_until_they_are_written() {
        let mut blocks = Blocks::without_storage([(2, 2), (1, 3)]);
        assert!(!blocks.is_laid_out());
        assert_eq!((blocks.block(0), blocks.block(1)), (&[0.0; 4][..], &[0.0; 3][..]));
        // What changes nothing takes no storage.
        blocks.clear();
        blocks.scale(2.0);
        let other = Blocks::without_storage([(2, 2), (1, 3)]);
        blocks.add(1.0, &other);
        assert!(!blocks.is_laid_out());
        let mut sum = Blocks::new([(2, 2), (1, 3)]);
        blocks.block_mut(1)[2] = 5.0;
        assert_eq!(
            (blocks.block(0), blocks.block(1)),
            (&[0.0; 4][..], &[0.0, 0.0, 5.0][..])
        );
        sum.add(2.0, &blocks);
        sum.add(1.0, &other);
        assert_eq!(sum.block(1), [0.0, 0.0, 10.0]);
        // Larger ones have their storage at once.
        let large = Blocks::without_storage([(40, 40)]);
        assert_eq!(large.block(0).len(), 1600);
    }
}
