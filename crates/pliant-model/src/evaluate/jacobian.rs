//! Jacobian blocks of one mapped node, and products with them.

use super::gather::{Gather, certainly};
use super::lists::Lists;
use crate::blocks::PIECE;
use crate::{Blocks, Degenerate, Dependency, Mapping, MappingPieces, Parents};
use pliant_threads::Threads;
use std::ops::Range;
use std::sync::Arc;

/// Coordinates of the elements of a node, `size` of each, one element after the other.
pub(super) struct ElementValues<V> {
    pub(super) size: usize,
    pub(super) values: V,
}

/// The columns of one dependency in the block of an element.
#[derive(Clone, Copy)]
pub(super) struct DependencyBlock<'a> {
    pub(super) block: &'a [f64],
    pub(super) width: usize,
    pub(super) dependency: usize,
    pub(super) column: usize,
}

/// Coordinates of a parent `d`, numbers `m` that each is repeated with.
#[derive(Clone, Copy)]
struct RepeatShape {
    d: usize,
    m: usize,
}

/// The mapping that makes blocks where they are read, and the numbers that it keeps of all elements.
#[derive(Clone, Copy)]
pub(super) struct MadeOf<'a> {
    pub(super) mapping: &'a dyn Mapping,
    pub(super) kept: &'a [f64],
}

/// Numbers that are made at a time where blocks are not stored: they stay in the nearest cache.
const ROOM: usize = 1024;

/// Where the blocks of a Jacobian are.
#[derive(Debug)]
enum Source {
    Stored(Blocks),
    /// With the mapping: they never change.
    Constant(Arc<Blocks>),
    /// Nowhere: they are made where they are read. Every element depends on the element of its own
    /// number alone.
    Made {
        height: usize,
        width: usize,
    },
}

impl MadeOf<'_> {
    /// Makes the blocks of some elements.
    pub(super) fn write(self, elements: Range<usize>, out: &mut [f64]) {
        if let Some(pieces) = self.mapping.pieces() {
            let size = pieces.kept_size();
            let kept = &self.kept[elements.start * size..elements.end * size];
            pieces.jacobian_of_kept(kept, elements, out);
        }
    }
}

/// `J` of one mapped node over its parents.
#[derive(Debug)]
pub(super) struct LocalJacobian {
    source: Source,
    pub(super) repeated: Option<usize>,
    /// Elements of the only parent, if there is one.
    parent_count: Option<usize>,
    /// How forces come back to it, piece by piece, once there are threads.
    gather: Option<Gather>,
    /// Numbers that never change are there.
    settled: bool,
}

impl LocalJacobian {
    /// For the blocks of a mapping with these heights and widths and dependencies.
    pub(super) fn new(
        mapping: &dyn Mapping,
        shapes: impl Iterator<Item = (usize, usize)> + Clone,
        lists: &Lists,
        parent_count: Option<usize>,
    ) -> Self {
        let repeated = mapping.repeated();
        let is_made = mapping.pieces().is_some_and(MappingPieces::keeps_jacobian)
            && repeated.is_none()
            && lists.are_one_to_one();
        let first = shapes
            .clone()
            .next()
            .filter(|(height, width)| is_made && height * width <= ROOM);
        let source = match (mapping.constant_jacobian(), first) {
            (Some(blocks), _) if mapping.is_linear() => Source::Constant(Arc::clone(blocks)),
            (_, Some((height, width))) if parent_count.is_some() => Source::Made { height, width },
            _ => Source::Stored(Blocks::new(shapes)),
        };
        Self {
            settled: !matches!(source, Source::Stored(_)),
            source,
            repeated,
            parent_count,
            gather: None,
        }
    }

    /// The blocks, unless they are made where they are read.
    pub(super) fn blocks(&self) -> Option<&Blocks> {
        match &self.source {
            Source::Stored(blocks) => Some(blocks),
            Source::Constant(blocks) => Some(blocks),
            Source::Made { .. } => None,
        }
    }

    /// Visits the block of each element, with its width.
    #[inline(always)]
    pub(super) fn visit(
        &self,
        made_of: MadeOf<'_>,
        elements: Range<usize>,
        mut visit: impl FnMut(usize, &[f64], usize),
    ) {
        let (height, width) = match &self.source {
            Source::Stored(blocks) => {
                return elements.for_each(|e| visit(e, blocks.block(e), blocks.width(e)));
            }
            Source::Constant(blocks) => {
                return elements.for_each(|e| visit(e, blocks.block(e), blocks.width(e)));
            }
            Source::Made { height, width } => (*height, *width),
        };
        let mut room = [0.0; ROOM];
        let size = (height * width).max(1);
        for start in elements.clone().step_by(ROOM / size) {
            let few = start..elements.end.min(start + ROOM / size);
            let made = &mut room[..few.len() * size];
            made_of.write(few.clone(), made);
            few.zip(made.chunks_exact(size))
                .for_each(|(e, block)| visit(e, block, width));
        }
    }

    /// Sorts what depends on each element of the only parent, so that threads may share the forces
    /// that come back to it.
    pub(super) fn sort_for_threads(&mut self, lists: &Lists) {
        if let (Some(count), None, false) = (
            self.parent_count,
            &self.gather,
            matches!(self.source, Source::Made { .. }),
        ) {
            self.gather = Gather::new(lists, count);
        }
    }

    /// Has the mapping write its blocks, unless they can only be what they are.
    pub(super) fn refill(
        &mut self,
        mapping: &dyn Mapping,
        parents: Parents<'_>,
        threads: &Threads,
    ) -> Result<(), Degenerate> {
        if self.settled {
            return Ok(());
        }
        let Source::Stored(blocks) = &mut self.source else {
            return Ok(());
        };
        if let Some(pieces) = mapping.pieces() {
            blocks.write_pieces(threads, |elements, out| pieces.jacobian(parents, elements, out))?;
        } else {
            blocks.clear();
            mapping.jacobian(parents, blocks)?;
        }
        self.settled = mapping.is_linear() && (self.repeated.is_some() || mapping.pieces().is_some());
        Ok(())
    }

    /// `y = J x` of all elements of `size` coordinates, with `x(d)` of dependency `d`.
    pub(super) fn push<'a>(
        &self,
        threads: &Threads,
        lists: &Lists,
        made_of: MadeOf<'_>,
        x: impl Fn(Dependency) -> &'a [f64] + Sync,
        size: usize,
        y: &mut [f64],
    ) {
        let pieces = (0..lists.len(), PIECE);
        certainly(threads.for_each_piece(
            pieces,
            |e| e * size,
            y,
            |elements, y| {
                y.fill(0.0);
                let first = elements.start;
                self.visit(made_of, elements, |e, block, width| {
                    let y = &mut y[(e - first) * size..][..size];
                    self.add_product(block, width, lists.on(e).iter().map(|at| x(*at)), y);
                });
                Ok(())
            },
        ));
    }

    /// `x += J^T f` on the only parent, every element of it by one thread; false where the elements
    /// are too few to share, or there are several parents. The order of sums is that of the
    /// elements of the child.
    pub(super) fn pull(
        &self,
        threads: &Threads,
        made_of: MadeOf<'_>,
        add: impl Fn(&Self, DependencyBlock<'_>, &[f64], &mut [f64]) + Sync,
        child: ElementValues<&[f64]>,
        parent: ElementValues<&mut [f64]>,
    ) -> bool {
        let (size, f, n, x) = (child.size, child.values, parent.size, parent.values);
        if matches!(self.source, Source::Made { .. }) {
            let elements = (0..f.len() / size, PIECE);
            certainly(threads.for_each_piece(
                elements,
                |e| e * n,
                x,
                |elements, x| {
                    let first = elements.start;
                    self.visit(made_of, elements, |e, block, width| {
                        let at = DependencyBlock {
                            block,
                            width,
                            dependency: 0,
                            column: 0,
                        };
                        add(self, at, &f[e * size..][..size], &mut x[(e - first) * n..][..n]);
                    });
                    Ok(())
                },
            ));
            return true;
        }
        let (Some(gather), Some(blocks)) = (
            self.gather.as_ref().filter(|_| threads.count() > 1),
            self.blocks(),
        ) else {
            return false;
        };
        let pieces = (0..gather.len(), PIECE);
        certainly(threads.for_each_piece(
            pieces,
            |p| p * n,
            x,
            |parents, x| {
                for (p, x) in parents.zip(x.chunks_exact_mut(n)) {
                    for (e, a) in gather.on(p) {
                        let at = DependencyBlock {
                            block: blocks.block(e),
                            width: blocks.width(e),
                            dependency: a,
                            column: a * n,
                        };
                        add(self, at, &f[e * size..][..size], x);
                    }
                }
                Ok(())
            },
        ));
        true
    }

    /// `y += J x` of one element, with the `x` of its dependencies in their order.
    #[inline(always)]
    fn add_product<'a>(
        &self,
        block: &[f64],
        width: usize,
        x: impl Iterator<Item = &'a [f64]>,
        y: &mut [f64],
    ) {
        match self.repeated {
            Some(3) if y.len() == 9 => add_repeated(RepeatShape { d: 3, m: 3 }, width, block, x, y),
            Some(m) => add_repeated(RepeatShape { d: y.len() / m, m }, width, block, x, y),
            None => {
                let mut column = 0;
                for x in x {
                    let block = &block[column..];
                    match (y.len(), x.len()) {
                        (1, 3) => add_block::<1, 3>(width, block, x, y),
                        (3, 3) => add_block::<3, 3>(width, block, x, y),
                        (3, 6) => add_block::<3, 6>(width, block, x, y),
                        (6, 9) => add_block::<6, 9>(width, block, x, y),
                        _ => {
                            for (i, y) in y.iter_mut().enumerate() {
                                for (a, x) in block[i * width..].iter().zip(x) {
                                    *y += a * x;
                                }
                            }
                        }
                    }
                    column += x.len();
                }
            }
        }
    }

    /// `x += J^T f` of one dependency of one element.
    pub(super) fn add_transpose_product(&self, at: DependencyBlock<'_>, f: &[f64], x: &mut [f64]) {
        let DependencyBlock {
            block,
            width,
            dependency: a,
            column,
        } = at;
        match self.repeated {
            Some(3) if f.len() == 9 => add_gathered(RepeatShape { d: 3, m: 3 }, width, &block[a..], f, x),
            Some(m) => add_gathered(RepeatShape { d: x.len(), m }, width, &block[a..], f, x),
            None => {
                let block = &block[column..];
                match (f.len(), x.len()) {
                    (1, 3) => add_transposed::<1, 3>(width, block, f, x),
                    (3, 3) => add_transposed::<3, 3>(width, block, f, x),
                    (3, 6) => add_transposed::<3, 6>(width, block, f, x),
                    (6, 9) => add_transposed::<6, 9>(width, block, f, x),
                    _ => {
                        for (i, f) in f.iter().enumerate() {
                            for (x, a) in x.iter_mut().zip(&block[i * width..]) {
                                *x += a * f;
                            }
                        }
                    }
                }
            }
        }
    }

    /// `x += |J|^T f`, as [`add_transpose_product`](Self::add_transpose_product).
    pub(super) fn add_transpose_sizes(&self, at: DependencyBlock<'_>, f: &[f64], x: &mut [f64]) {
        let DependencyBlock {
            block,
            width,
            dependency: a,
            column,
        } = at;
        match self.repeated {
            Some(m) => {
                for j in 0..m {
                    let g = block[j * width + a].abs();
                    for (i, x) in x.iter_mut().enumerate() {
                        *x += g * f[m * i + j];
                    }
                }
            }
            None => {
                for (i, f) in f.iter().enumerate() {
                    for (x, a) in x.iter_mut().zip(&block[i * width + column..]) {
                        *x += a.abs() * f;
                    }
                }
            }
        }
    }
}

/// `y += B x` with a block of `R` rows and `C` columns, rows `width` apart: the sizes of most
/// mappings as constants, sums in the same order as for any other.
///
/// # Panics
/// If a slice has another size.
#[inline(always)]
fn add_block<const R: usize, const C: usize>(width: usize, block: &[f64], x: &[f64], y: &mut [f64]) {
    let (x, y) = (&x[..C], &mut y[..R]);
    for (i, y) in y.iter_mut().enumerate() {
        let row = &block[i * width..][..C];
        let mut sum = *y;
        for k in 0..C {
            sum += row[k] * x[k];
        }
        *y = sum;
    }
}

/// `x += B^T f`, as [`add_block`].
#[inline(always)]
fn add_transposed<const R: usize, const C: usize>(width: usize, block: &[f64], f: &[f64], x: &mut [f64]) {
    let (f, x) = (&f[..R], &mut x[..C]);
    let mut sums = [0.0; C];
    sums.copy_from_slice(x);
    for (i, f) in f.iter().enumerate() {
        let row = &block[i * width..][..C];
        for k in 0..C {
            sums[k] += row[k] * f;
        }
    }
    x.copy_from_slice(&sums);
}

/// `y[m i + j] += g_a[j] x_a[i]`, summed over the dependencies `a`. Inlined, so that sizes that are
/// constants are known inside.
#[inline(always)]
fn add_repeated<'a>(
    RepeatShape { d, m }: RepeatShape,
    width: usize,
    block: &[f64],
    x: impl Iterator<Item = &'a [f64]>,
    y: &mut [f64],
) {
    let y = &mut y[..d * m];
    for (a, x) in x.enumerate() {
        let x = &x[..d];
        for j in 0..m {
            let g = block[j * width + a];
            for i in 0..d {
                y[m * i + j] += g * x[i];
            }
        }
    }
}

/// `x[i] += g[j] f[m i + j]` with the `g` of one dependency, `width` apart. Inlined as
/// [`add_repeated`].
#[inline(always)]
fn add_gathered(shape: RepeatShape, width: usize, g: &[f64], f: &[f64], x: &mut [f64]) {
    let RepeatShape { d, m } = shape;
    let (f, x) = (&f[..d * m], &mut x[..d]);
    for j in 0..m {
        let g = g[j * width];
        for i in 0..d {
            x[i] += g * f[m * i + j];
        }
    }
}
