//! Dense kernels on small blocks, by columns. Sizes up to six are known to the compiler, others go
//! through plain loops.

use super::Column;
use super::any::{
    backward_any, contribute_any, couple_any, eliminate_any, forward_any, multiply_any, substitute_any,
    subtract_any, subtract_transposed_any, update_any,
};
use super::link::{each, eliminate_link, pivots_of};
use crate::FactorReport;
use crate::ldlt::DROPPED;

/// Calls a kernel with its size as a constant, or the one for any size.
macro_rules! by_size {
    ($size:expr, $kernel:ident, $any:ident, ($($argument:expr),*)) => {
        match $size {
            1 => $kernel::<1>($($argument),*),
            2 => $kernel::<2>($($argument),*),
            3 => $kernel::<3>($($argument),*),
            4 => $kernel::<4>($($argument),*),
            5 => $kernel::<5>($($argument),*),
            6 => $kernel::<6>($($argument),*),
            size => $any(size, $($argument),*),
        }
    };
    ($size:expr, $kernel:ident, $width:ident, $any:ident, ($($argument:expr),*)) => {
        match $size {
            1 => $kernel::<$width, 1>($($argument),*),
            2 => $kernel::<$width, 2>($($argument),*),
            3 => $kernel::<$width, 3>($($argument),*),
            4 => $kernel::<$width, 4>($($argument),*),
            5 => $kernel::<$width, 5>($($argument),*),
            6 => $kernel::<$width, 6>($($argument),*),
            size => $any($width, size, $($argument),*),
        }
    };
}

/// The first `P` columns of `Q` entries.
#[inline(always)]
fn columns<const P: usize, const Q: usize>(block: &[f64]) -> &[[f64; Q]] {
    &block[..P * Q].as_chunks().0[..P]
}

/// As [`columns`].
#[inline(always)]
pub(super) fn columns_mut<const P: usize, const Q: usize>(block: &mut [f64]) -> &mut [[f64; Q]] {
    &mut block[..P * Q].as_chunks_mut().0[..P]
}

/// Decides on a pivot: its value and reciprocal, or an error.
#[inline(always)]
pub(super) fn pivot(d: f64, threshold: f64, report: &mut FactorReport) -> Option<(f64, f64)> {
    if d.abs() <= threshold {
        report.dropped += 1;
        return Some((DROPPED, 0.0));
    }
    if d == 0.0 || !d.is_finite() {
        return None;
    }
    report.positive += usize::from(d > 0.0);
    report.negative += usize::from(d < 0.0);
    Some((d, 1.0 / d))
}

/// Eliminates one block column of the given width; the index of a bad pivot as error.
pub(super) fn eliminate(
    width: usize,
    column: Column<'_>,
    threshold: f64,
    report: &mut FactorReport,
) -> Result<(), usize> {
    by_size!(width, eliminate_fixed, eliminate_any, (column, threshold, report))
}

/// See [`BlockFactor::factor`](super::BlockFactor::factor).
fn eliminate_fixed<const P: usize>(
    column: Column<'_>,
    threshold: f64,
    report: &mut FactorReport,
) -> Result<(), usize> {
    if let [height @ 1..=6] = column.heights {
        return eliminate_link::<P>(*height as usize, column, threshold, report);
    }
    let (square, mut below) = column.values.split_at_mut(P * P);
    let mut a = [[0.0; P]; P];
    a.copy_from_slice(columns::<P, P>(square));
    let (pivots, inverses) = pivots_of(&mut a, threshold, report)?;
    columns_mut::<P, P>(square).copy_from_slice(&a);
    column.pivots[..P].copy_from_slice(&pivots);
    column.inverses[..P].copy_from_slice(&inverses);
    let products = column.products;
    let mut at = 0;
    for height in column.heights {
        let height = *height as usize;
        let len = P * height;
        let (block, rest) = below.split_at_mut(len);
        by_size!(
            height,
            couple,
            P,
            couple_any,
            (
                a.as_flattened(),
                (&pivots, &inverses),
                block,
                &mut products[at..at + len]
            )
        );
        below = rest;
        at += len;
    }
    let factors = &column.values[P * P..];
    for_updates(
        P,
        factors,
        products,
        column.heights,
        column.targets,
        |_| true,
        |(height, is_diagonal), l, y, width, at| {
            let target = &mut column.later[at - column.offset..][..width * height];
            if is_diagonal {
                by_size!(height, update_lower, P, update_any, (l, y, width, target));
            } else {
                by_size!(height, update, P, update_any, (l, y, width, target));
            }
        },
    );
    Ok(())
}

/// The updates of a block column that is factored already, with the operations of [`eliminate`] in
/// their order, for the block columns `k` that are `wanted`, by their place below the diagonal.
pub(super) fn contribute(width: usize, column: Column<'_>, wanted: impl Fn(usize) -> bool) {
    by_size!(width, contribute_fixed, contribute_any, (column, wanted));
}

fn contribute_fixed<const P: usize>(column: Column<'_>, wanted: impl Fn(usize) -> bool) {
    let factors = &column.values[P * P..];
    let pivots = &column.pivots[..P];
    let mut at = 0;
    for height in column.heights {
        let height = *height as usize;
        for k in 0..P {
            for r in at + k * height..at + (k + 1) * height {
                column.products[r] = factors[r] * pivots[k];
            }
        }
        at += P * height;
    }
    for_updates(
        P,
        factors,
        column.products,
        column.heights,
        column.targets,
        wanted,
        |(height, is_diagonal), l, y, width, at| {
            let target = &mut column.later[at - column.offset..][..width * height];
            if is_diagonal {
                by_size!(height, update_lower, P, update_any, (l, y, width, target));
            } else {
                by_size!(height, update, P, update_any, (l, y, width, target));
            }
        },
    );
}

/// For the blocks `i >= k` below the diagonal, for each `k` that is wanted: the height of `L_i` and
/// whether `i = k`, `L_i`, `L_k D`, its height, and where `(i, k)` is.
#[inline(always)]
pub(super) fn for_updates(
    width: usize,
    factors: &[f64],
    products: &[f64],
    heights: &[u32],
    targets: &[u32],
    wanted: impl Fn(usize) -> bool,
    mut update: impl FnMut((usize, bool), &[f64], &[f64], usize, usize),
) {
    let (mut start, mut first) = (0, 0);
    for (k, across) in heights.iter().enumerate() {
        let across = *across as usize;
        let below = &heights[k..];
        if wanted(k) {
            let y = &products[start..start + width * across];
            let mut at = start;
            for (i, (height, target)) in below.iter().zip(&targets[first..]).enumerate() {
                let height = *height as usize;
                let l = &factors[at..at + width * height];
                at += width * height;
                update((height, i == 0), l, y, across, *target as usize);
            }
        }
        start += width * across;
        first += below.len();
    }
}

/// `L_ij = A L_jj^-T D^-1` in the place of `A` (`Q x P`), `L_ij D` into `product`: from `L` as
/// stored, so that a later refactorisation of other columns finds the same bits.
#[inline(always)]
fn couple<const P: usize, const Q: usize>(
    l: &[f64],
    (pivots, inverses): (&[f64], &[f64]),
    block: &mut [f64],
    product: &mut [f64],
) {
    let l = columns::<P, P>(l);
    let (pivots, inverses) = (&pivots[..P], &inverses[..P]);
    let (block, product) = (columns_mut::<P, Q>(block), columns_mut::<P, Q>(product));
    let mut y = [[0.0; Q]; P];
    each!(k < P, {
        let mut own = block[k];
        each!(c < P, {
            if c < k {
                let f = l[c][k];
                for r in 0..Q {
                    own[r] -= f * y[c][r];
                }
            }
        });
        y[k] = own;
        for r in 0..Q {
            block[k][r] = y[k][r] * inverses[k];
            product[k][r] = block[k][r] * pivots[k];
        }
    });
}

/// `A -= L Y^T` for a target of `Q` rows and as many columns as `Y` (`width x P`) has rows.
#[inline(always)]
fn update<const P: usize, const Q: usize>(l: &[f64], y: &[f64], width: usize, target: &mut [f64]) {
    let l = columns::<P, Q>(l);
    let y = &y[..P * width];
    for (c, target) in target.as_chunks_mut::<Q>().0[..width].iter_mut().enumerate() {
        let mut sum = *target;
        each!(k < P, {
            let f = y[k * width + c];
            for r in 0..Q {
                sum[r] -= f * l[k][r];
            }
        });
        *target = sum;
    }
}

/// As [`update`] for a diagonal block: its lower triangle, in each column from an even row on, as
/// two rows make a register.
#[inline(always)]
pub(super) fn update_lower<const P: usize, const Q: usize>(
    l: &[f64],
    y: &[f64],
    _: usize,
    target: &mut [f64],
) {
    let (l, y) = (columns::<P, Q>(l), columns::<P, Q>(y));
    let target = columns_mut::<Q, Q>(target);
    each!(c < Q, {
        let mut sum = target[c];
        each!(k < P, {
            for r in c & !1..Q {
                sum[r] -= y[k][c] * l[k][r];
            }
        });
        target[c] = sum;
    });
}

/// Forward substitution with one block column: `x_j <- L_jj^-1 x_j`, then `x_i -= L_ij x_j` for the
/// blocks below, which start at `places` of the vector whose part from `offset` on is `rest`.
pub(super) fn forward(
    own: &mut [f64],
    rest: &mut [f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    by_size!(
        own.len(),
        forward_fixed,
        forward_any,
        (own, rest, offset, column, heights, places)
    );
}

fn forward_fixed<const P: usize>(
    own: &mut [f64],
    rest: &mut [f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    let (square, mut below) = column.split_at(P * P);
    let l = columns::<P, P>(square);
    let mut z = [0.0; P];
    z.copy_from_slice(&own[..P]);
    for k in 0..P {
        for r in k + 1..P {
            z[r] -= l[k][r] * z[k];
        }
    }
    own[..P].copy_from_slice(&z);
    for (height, place) in heights.iter().zip(places) {
        let height = *height as usize;
        let (block, after) = below.split_at(P * height);
        below = after;
        let x = &mut rest[*place as usize - offset..][..height];
        by_size!(height, subtract, P, subtract_any, (block, &z, x));
    }
}

/// `x -= L z`.
#[inline(always)]
fn subtract<const P: usize, const Q: usize>(l: &[f64], z: &[f64], x: &mut [f64]) {
    let l = columns::<P, Q>(l);
    let mut sum = [0.0; Q];
    sum.copy_from_slice(&x[..Q]);
    for k in 0..P {
        for r in 0..Q {
            sum[r] -= l[k][r] * z[k];
        }
    }
    x[..Q].copy_from_slice(&sum);
}

/// Backward substitution with one block column: `x_j <- L_jj^-T (D_j^-1 x_j - sum_i L_ij^T x_i)`;
/// arguments as in [`forward`].
pub(super) fn backward(
    own: &mut [f64],
    inverses: &[f64],
    rest: &[f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    by_size!(
        own.len(),
        backward_fixed,
        backward_any,
        (own, inverses, rest, offset, column, heights, places)
    );
}

fn backward_fixed<const P: usize>(
    own: &mut [f64],
    inverses: &[f64],
    rest: &[f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    let (square, mut below) = column.split_at(P * P);
    let l = columns::<P, P>(square);
    let (own, inverses) = (&mut own[..P], &inverses[..P]);
    let mut z = [0.0; P];
    for k in 0..P {
        z[k] = own[k] * inverses[k];
    }
    for (height, place) in heights.iter().zip(places) {
        let height = *height as usize;
        let (block, after) = below.split_at(P * height);
        below = after;
        let x = &rest[*place as usize - offset..][..height];
        by_size!(
            height,
            subtract_transposed,
            P,
            subtract_transposed_any,
            (block, x, &mut z)
        );
    }
    for k in (0..P).rev() {
        for r in k + 1..P {
            z[k] -= l[k][r] * z[r];
        }
    }
    own.copy_from_slice(&z);
}

/// `z -= L^T x`.
#[inline(always)]
fn subtract_transposed<const P: usize, const Q: usize>(l: &[f64], x: &[f64], z: &mut [f64]) {
    let (l, x, z) = (columns::<P, Q>(l), &x[..Q], &mut z[..P]);
    for k in 0..P {
        let mut sum = 0.0;
        for r in 0..Q {
            sum += l[k][r] * x[r];
        }
        z[k] -= sum;
    }
}

/// One block of a row below a factor: `L_ij` in the place of the block (`height x width`), `L_ij D`
/// into `product`, and the updates of the later blocks of the row at `targets`, counted from
/// `offset`; `column` is that of the factor, with blocks of the given heights below its diagonal.
pub(super) fn substitute(
    (width, height): (usize, usize),
    column: &[f64],
    diagonal: (&[f64], &[f64]),
    (block, product): (&mut [f64], &mut [f64]),
    heights: &[u32],
    targets: &[u32],
    (later, offset): (&mut [f64], usize),
) {
    by_size!(
        width,
        substitute_fixed,
        substitute_any,
        (
            height, column, diagonal, block, product, heights, targets, later, offset
        )
    );
}

fn substitute_fixed<const P: usize>(
    height: usize,
    column: &[f64],
    diagonal: (&[f64], &[f64]),
    block: &mut [f64],
    product: &mut [f64],
    heights: &[u32],
    targets: &[u32],
    later: &mut [f64],
    offset: usize,
) {
    let (square, mut below) = column.split_at(P * P);
    by_size!(height, couple, P, couple_any, (square, diagonal, block, product));
    for (across, at) in heights.iter().zip(targets) {
        let across = *across as usize;
        let (l, rest) = below.split_at(P * across);
        below = rest;
        let target = &mut later[*at as usize - offset..][..across * height];
        by_size!(height, update, P, update_any, (product, l, across, target));
    }
}

/// `S_ik -= Y_i L_k^T` for blocks `(rows of L_k, L_k, where S_ik is)`, all of them of one block
/// column of the given width.
pub(super) fn multiply<'a>(
    (width, height): (usize, usize),
    y: &[f64],
    blocks: impl Iterator<Item = (usize, &'a [f64], usize)>,
    out: &mut [f64],
) {
    by_size!(width, multiply_fixed, multiply_any, (height, y, blocks, out));
}

fn multiply_fixed<'a, const P: usize>(
    height: usize,
    y: &[f64],
    blocks: impl Iterator<Item = (usize, &'a [f64], usize)>,
    out: &mut [f64],
) {
    for (across, l, at) in blocks {
        let target = &mut out[at..at + across * height];
        by_size!(height, update, P, update_any, (y, l, across, target));
    }
}
