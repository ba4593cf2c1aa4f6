//! The elimination of a block column with one block below its diagonal, as along chains: every size
//! is known to the compiler, which keeps the blocks in registers, and every loop is written out.
//! The operations and their order are those of the general kernel.

use super::Column;
use super::kernels::{columns_mut, update_lower};
use crate::FactorReport;
use crate::ldlt::DROPPED;

/// Repeats a block for every number below a constant of at most six, as a constant: left to itself,
/// the compiler keeps loops of loops.
macro_rules! each {
    ($k:ident < $count:expr, $body:block) => {
        each!(@ 0, $k, $count, $body);
        each!(@ 1, $k, $count, $body);
        each!(@ 2, $k, $count, $body);
        each!(@ 3, $k, $count, $body);
        each!(@ 4, $k, $count, $body);
        each!(@ 5, $k, $count, $body);
    };
    (@ $n:literal, $k:ident, $count:expr, $body:block) => {
        if $n < $count {
            let $k: usize = $n;
            $body
        }
    };
}
pub(super) use each;

/// Factors a diagonal block: `L` below the diagonal, and the pivots with their reciprocals as
/// [`pivot`](super::kernels::pivot) decides on them, or the index of a bad one.
#[inline(always)]
pub(super) fn pivots_of<const P: usize>(
    a: &mut [[f64; P]; P],
    threshold: f64,
    report: &mut FactorReport,
) -> Result<([f64; P], [f64; P]), usize> {
    let (mut pivots, mut inverses) = ([0.0; P], [0.0; P]);
    let mut dropped = 0;
    each!(k < P, {
        let (mut d, mut inverse) = (a[k][k], 1.0 / a[k][k]);
        if d.abs() <= threshold {
            dropped += 1;
            (d, inverse) = (DROPPED, 0.0);
        }
        (pivots[k], inverses[k]) = (d, inverse);
        let y = a[k];
        let l = y.map(|y| y * inverse);
        each!(c < P, {
            if c > k {
                // The lower triangle, from an even row on: two rows make a register.
                for r in c & !1..P {
                    a[c][r] -= l[c] * y[r];
                }
            }
        });
        a[k][k + 1..].copy_from_slice(&l[k + 1..]);
    });
    // Afterwards, so that no pivot waits for it: those that follow a bad one mean nothing.
    let mut positive = 0;
    for (k, d) in pivots.iter().enumerate() {
        if *d == 0.0 || !d.is_finite() {
            return Err(k);
        }
        positive += usize::from(*d > 0.0);
    }
    report.dropped += dropped;
    report.positive += positive - dropped;
    report.negative += P - positive;
    Ok((pivots, inverses))
}

/// Eliminates a column of width `P` whose block below has the given height, at most six; the index
/// of a bad pivot as error.
pub(super) fn eliminate_link<const P: usize>(
    height: usize,
    column: Column<'_>,
    threshold: f64,
    report: &mut FactorReport,
) -> Result<(), usize> {
    match height {
        1 => eliminate::<P, 1>(column, threshold, report),
        2 => eliminate::<P, 2>(column, threshold, report),
        3 => eliminate::<P, 3>(column, threshold, report),
        4 => eliminate::<P, 4>(column, threshold, report),
        5 => eliminate::<P, 5>(column, threshold, report),
        _ => eliminate::<P, 6>(column, threshold, report),
    }
}

/// Not inlined: six of them in one function would share its registers.
#[inline(never)]
fn eliminate<const P: usize, const Q: usize>(
    column: Column<'_>,
    threshold: f64,
    report: &mut FactorReport,
) -> Result<(), usize> {
    let (square, below) = column.values.split_at_mut(P * P);
    let (square, below) = (columns_mut::<P, P>(square), columns_mut::<P, Q>(below));
    let mut a = [[0.0; P]; P];
    a.copy_from_slice(square);
    let (pivots, inverses) = pivots_of(&mut a, threshold, report)?;
    square.copy_from_slice(&a);
    column.pivots[..P].copy_from_slice(&pivots);
    column.inverses[..P].copy_from_slice(&inverses);
    // `L D` before and after the rounding of `L`.
    let (mut y, mut l, mut product) = ([[0.0; Q]; P], [[0.0; Q]; P], [[0.0; Q]; P]);
    each!(k < P, {
        let mut own = below[k];
        each!(c < P, {
            if c < k {
                let f = a[c][k];
                for r in 0..Q {
                    own[r] -= f * y[c][r];
                }
            }
        });
        y[k] = own;
        for r in 0..Q {
            l[k][r] = y[k][r] * inverses[k];
        }
        below[k] = l[k];
    });
    for k in 0..P {
        for r in 0..Q {
            product[k][r] = l[k][r] * pivots[k];
        }
    }
    let start = column.targets[0] as usize - column.offset;
    let target = &mut column.later[start..];
    update_lower::<P, Q>(l.as_flattened(), product.as_flattened(), Q, target);
    Ok(())
}

#[cfg(test)]
mod tests;
