//! Partial elimination of one dense front.

use crate::ldlt::DROPPED;
use crate::{PivotRule, Threads};
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::{ldlt, llt};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use std::mem::MaybeUninit;

/// Columns that are eliminated before the rest is updated.
const PANEL: usize = 128;
/// Columns of a piece of the update.
const TILE: usize = 64;
/// Rows of a piece of the triangular solve.
const ROWS: usize = 256;
/// Operations from which a panel is worth sharing.
const SHARED: usize = 2_000_000;
/// Bytes of scratch for the diagonal block of a panel: one column, aligned.
const STACK: usize = 8 * PANEL + 256;

/// Which factorisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Method {
    /// `L D L^T`.
    Ldlt(PivotRule),
    /// `L L^T`.
    Llt,
}

/// Numbers of scratch that a front of so many columns and rows needs.
pub(super) fn scratch(width: usize, height: usize) -> usize {
    // The first panel has most rows below it.
    let panel = width.min(PANEL);
    panel * (height - panel)
}

/// Eliminates the first columns of a front of which the lower trapezoid is in `l`
/// (`height x width`): afterwards `L` is there, the diagonal `D` in `pivots`, its reciprocal in
/// `inverses`, and the lower triangle of `-L D L^T` of the rows below in `update`. (`D` and
/// `inverses` of `L L^T`: the square of the diagonal, and its reciprocal.)
///
/// Panel by panel, right-looking: `A_11 = L_11 D L_11^T`, `Y = A_21 L_11^-T`, `L_21 = Y D^-1`,
/// `A_22 -= L_21 Y^T`, in pieces of a fixed size, so that the number of threads does not show. A
/// dropped pivot counts as infinite.
///
/// The index of a bad pivot as error.
pub(super) fn eliminate(
    (width, height): (usize, usize),
    l: &mut [f64],
    update: &mut [f64],
    scratch: &mut [f64],
    pivots: &mut [f64],
    inverses: &mut [f64],
    method: Method,
    threads: &Threads,
) -> Result<(), usize> {
    let below = height - width;
    let one = Threads::one();
    let mut k = 0;
    while k < width {
        let panel = PANEL.min(width - k);
        let rows = height - k - panel;
        let threads = if rows * rows * panel < SHARED {
            &one
        } else {
            threads
        };
        let (done, later) = l.split_at_mut((k + panel) * height);
        let own = MatMut::from_column_major_slice_mut(&mut done[k * height..], height, panel);
        let (mut diagonal, mut lower) = own.split_at_row_mut(k).1.split_at_row_mut(panel);
        let (pivots, inverses) = (&mut pivots[k..k + panel], &mut inverses[k..k + panel]);
        eliminate_diagonal(diagonal.as_mut(), pivots, inverses, method).map_err(|bad| k + bad)?;
        triangular(diagonal.as_ref(), lower.as_mut(), method, threads);
        let mut y = MatMut::from_column_major_slice_mut(&mut scratch[..rows * panel], rows, panel);
        if let Method::Ldlt(_) = method {
            for (c, inverse) in inverses.iter().enumerate() {
                scale(lower.as_mut(), y.as_mut(), c, *inverse);
            }
        }
        let lower = lower.as_ref();
        let scaled = if method == Method::Llt { lower } else { y.as_ref() };
        let left = width - k - panel;
        if left > 0 {
            let target = MatMut::from_column_major_slice_mut(later, height, left);
            let target = target.split_at_row_mut(k + panel).1;
            multiply(target, Accum::Add, lower, scaled, threads);
        }
        if below > 0 {
            let target = MatMut::from_column_major_slice_mut(update, below, below);
            let accumulate = if k == 0 { Accum::Replace } else { Accum::Add };
            let (lower, scaled) = (lower.split_at_row(left).1, scaled.split_at_row(left).1);
            multiply(target, accumulate, lower, scaled, threads);
        }
        k += panel;
    }
    Ok(())
}

/// Column `c` into `y`, and divided by its pivot in its place.
fn scale(factors: MatMut<'_, f64>, y: MatMut<'_, f64>, c: usize, inverse: f64) {
    let columns = (
        factors.col_mut(c).try_as_col_major_mut(),
        y.col_mut(c).try_as_col_major_mut(),
    );
    if let (Some(l), Some(y)) = columns {
        for (l, y) in l.as_slice_mut().iter_mut().zip(y.as_slice_mut()) {
            *y = *l;
            *l *= inverse;
        }
    }
}

fn eliminate_diagonal(
    mut a: MatMut<'_, f64>,
    pivots: &mut [f64],
    inverses: &mut [f64],
    method: Method,
) -> Result<(), usize> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); STACK];
    let stack = MemStack::new(&mut buffer);
    match method {
        Method::Llt => {
            llt::factor::cholesky_in_place(
                a.as_mut(),
                Default::default(),
                Par::Seq,
                stack,
                Default::default(),
            )
            .map_err(|llt::factor::LltError::NonPositivePivot { index }| index)?;
        }
        Method::Ldlt(rule) => {
            let mut regularization = ldlt::factor::LdltRegularization::default();
            if let PivotRule::Drop { threshold } = rule {
                regularization.dynamic_regularization_delta = DROPPED;
                regularization.dynamic_regularization_epsilon = threshold;
            }
            ldlt::factor::cholesky_in_place(a.as_mut(), regularization, Par::Seq, stack, Default::default())
                .map_err(|ldlt::factor::LdltError::ZeroPivot { index }| index)?;
        }
    }
    for (k, (d, inverse)) in pivots.iter_mut().zip(inverses).enumerate() {
        *d = a[(k, k)];
        if method == Method::Llt {
            *d *= *d;
        }
        *inverse = if d.abs() == DROPPED { 0.0 } else { 1.0 / *d };
    }
    Ok(())
}

/// `Y = A L^-T`, rows in pieces.
fn triangular(l: MatRef<'_, f64>, a: MatMut<'_, f64>, method: Method, threads: &Threads) {
    let rows = a.nrows();
    if rows > ROWS {
        let (top, bottom) = a.split_at_row_mut(rows.div_ceil(2 * ROWS) * ROWS);
        threads.join(
            || triangular(l, top, method, threads),
            || triangular(l, bottom, method, threads),
        );
    } else if method == Method::Llt {
        solve_lower_triangular_in_place(l, a.transpose_mut(), Par::Seq);
    } else {
        solve_unit_lower_triangular_in_place(l, a.transpose_mut(), Par::Seq);
    }
}

/// `A -= L Y^T` on and below the diagonal of the leading columns of `A`, columns in pieces. Entries
/// above it may change.
fn multiply(
    a: MatMut<'_, f64>,
    accumulate: Accum,
    l: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    threads: &Threads,
) {
    let columns = a.ncols();
    if columns > TILE {
        let left = columns.div_ceil(2 * TILE) * TILE;
        let (first, second) = a.split_at_col_mut(left);
        let second = second.split_at_row_mut(left).1;
        let (below, across) = (l.split_at_row(left).1, y.split_at_row(left).1);
        threads.join(
            || multiply(first, accumulate, l, y, threads),
            || multiply(second, accumulate, below, across, threads),
        );
    } else {
        let across = y.split_at_row(columns).0;
        matmul(a, accumulate, l, across.transpose(), -1.0, Par::Seq);
    }
}
