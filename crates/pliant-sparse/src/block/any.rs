//! The kernels for blocks of more than six unknowns: plain loops over sizes known at run time.

use super::Column;
use super::kernels::{for_updates, pivot};
use crate::FactorReport;

/// Eliminates one block column of the given width, see
/// [`BlockFactor::factor`](super::BlockFactor::factor).
pub(super) fn eliminate_any(
    width: usize,
    column: Column<'_>,
    threshold: f64,
    report: &mut FactorReport,
) -> Result<(), usize> {
    let (square, mut below) = column.values.split_at_mut(width * width);
    for k in 0..width {
        let Some((d, inverse)) = pivot(square[k * width + k], threshold, report) else {
            return Err(k);
        };
        column.pivots[k] = d;
        column.inverses[k] = inverse;
        let (done, later) = square.split_at_mut((k + 1) * width);
        let y = &mut done[k * width..];
        for (c, a) in later.chunks_exact_mut(width).enumerate() {
            let c = k + 1 + c;
            let l = y[c] * inverse;
            for (a, y) in a[c..].iter_mut().zip(&y[c..]) {
                *a -= l * y;
            }
            y[c] = l;
        }
    }
    let products = column.products;
    let mut at = 0;
    for height in column.heights {
        let height = *height as usize;
        let len = width * height;
        let (block, rest) = below.split_at_mut(len);
        let product = &mut products[at..at + len];
        let diagonal = (&*column.pivots, &*column.inverses);
        couple_any(width, height, square, diagonal, block, product);
        below = rest;
        at += len;
    }
    update_later(
        width,
        column.values,
        products,
        column.heights,
        column.targets,
        (column.later, column.offset),
        |_| true,
    );
    Ok(())
}

/// See [`contribute`](super::kernels::contribute).
pub(super) fn contribute_any(width: usize, column: Column<'_>, wanted: impl Fn(usize) -> bool) {
    let factors = &column.values[width * width..];
    let mut at = 0;
    for height in column.heights {
        for d in column.pivots.iter() {
            for r in at..at + *height as usize {
                column.products[r] = factors[r] * d;
            }
            at += *height as usize;
        }
    }
    update_later(
        width,
        column.values,
        column.products,
        column.heights,
        column.targets,
        (column.later, column.offset),
        wanted,
    );
}

fn update_later(
    width: usize,
    values: &[f64],
    products: &[f64],
    heights: &[u32],
    targets: &[u32],
    (later, offset): (&mut [f64], usize),
    wanted: impl Fn(usize) -> bool,
) {
    for_updates(
        width,
        &values[width * width..],
        products,
        heights,
        targets,
        wanted,
        |(height, _), l, y, across, at| {
            let target = &mut later[at - offset..][..across * height];
            update_any(width, height, l, y, across, target);
        },
    );
}

/// `L_ij = A L_jj^-T D^-1` in the place of `A` (`height x width`), `L_ij D` into `product`.
pub(super) fn couple_any(
    width: usize,
    height: usize,
    l: &[f64],
    (pivots, inverses): (&[f64], &[f64]),
    block: &mut [f64],
    product: &mut [f64],
) {
    for k in 0..width {
        let (before, own) = product.split_at_mut(k * height);
        let own = &mut own[..height];
        let block = &mut block[k * height..(k + 1) * height];
        own.copy_from_slice(block);
        for (c, y) in before.chunks_exact(height).enumerate() {
            let f = l[c * width + k];
            for (own, y) in own.iter_mut().zip(y) {
                *own -= f * y;
            }
        }
        for (l, y) in block.iter_mut().zip(own) {
            *l = *y * inverses[k];
        }
    }
    let columns = product.chunks_exact_mut(height).zip(block.chunks_exact(height));
    for ((product, l), d) in columns.zip(pivots) {
        product.iter_mut().zip(l).for_each(|(y, l)| *y = l * d);
    }
}

/// `A -= L Y^T` for a target of `height` rows and `across` columns.
pub(super) fn update_any(
    width: usize,
    height: usize,
    l: &[f64],
    y: &[f64],
    across: usize,
    target: &mut [f64],
) {
    for (c, target) in target.chunks_exact_mut(height).enumerate() {
        for k in 0..width {
            let f = y[k * across + c];
            for (a, l) in target.iter_mut().zip(&l[k * height..(k + 1) * height]) {
                *a -= f * l;
            }
        }
    }
}

/// See [`forward`](super::kernels::forward).
pub(super) fn forward_any(
    width: usize,
    own: &mut [f64],
    rest: &mut [f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    let (square, mut below) = column.split_at(width * width);
    for k in 0..width {
        for r in k + 1..width {
            own[r] -= square[k * width + r] * own[k];
        }
    }
    for (height, place) in heights.iter().zip(places) {
        let height = *height as usize;
        let (block, after) = below.split_at(width * height);
        below = after;
        let x = &mut rest[*place as usize - offset..][..height];
        subtract_any(width, height, block, own, x);
    }
}

/// `x -= L z`.
pub(super) fn subtract_any(width: usize, height: usize, l: &[f64], z: &[f64], x: &mut [f64]) {
    for k in 0..width {
        for (x, l) in x.iter_mut().zip(&l[k * height..(k + 1) * height]) {
            *x -= l * z[k];
        }
    }
}

/// See [`backward`](super::kernels::backward).
pub(super) fn backward_any(
    width: usize,
    own: &mut [f64],
    inverses: &[f64],
    rest: &[f64],
    offset: usize,
    column: &[f64],
    heights: &[u32],
    places: &[u32],
) {
    let (square, mut below) = column.split_at(width * width);
    for (z, inverse) in own.iter_mut().zip(inverses) {
        *z *= inverse;
    }
    for (height, place) in heights.iter().zip(places) {
        let height = *height as usize;
        let (block, after) = below.split_at(width * height);
        below = after;
        let x = &rest[*place as usize - offset..][..height];
        subtract_transposed_any(width, height, block, x, own);
    }
    for k in (0..width).rev() {
        for r in k + 1..width {
            own[k] -= square[k * width + r] * own[r];
        }
    }
}

/// `z -= L^T x`.
pub(super) fn subtract_transposed_any(width: usize, height: usize, l: &[f64], x: &[f64], z: &mut [f64]) {
    for k in 0..width {
        let l = &l[k * height..(k + 1) * height];
        z[k] -= l.iter().zip(x).map(|(l, x)| l * x).sum::<f64>();
    }
}

/// See [`substitute`](super::kernels::substitute).
pub(super) fn substitute_any(
    width: usize,
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
    let (square, mut below) = column.split_at(width * width);
    couple_any(width, height, square, diagonal, block, product);
    for (across, at) in heights.iter().zip(targets) {
        let across = *across as usize;
        let (l, rest) = below.split_at(width * across);
        below = rest;
        let target = &mut later[*at as usize - offset..][..across * height];
        update_any(width, height, product, l, across, target);
    }
}

/// See [`multiply`](super::kernels::multiply).
pub(super) fn multiply_any<'a>(
    width: usize,
    height: usize,
    y: &[f64],
    blocks: impl Iterator<Item = (usize, &'a [f64], usize)>,
    out: &mut [f64],
) {
    for (across, l, at) in blocks {
        update_any(width, height, y, l, across, &mut out[at..at + across * height]);
    }
}
