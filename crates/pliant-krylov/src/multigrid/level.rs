//! Kernels on the lower triangle of blocks of a symmetric matrix: sweeps of Gauss and Seidel.

use pliant_sparse::Pattern;

pub(super) type Block<const R: usize, const C: usize> = [[f64; C]; R];

/// A symmetric matrix of blocks: lower triangle by rows, the diagonal block last in each row and in
/// full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lower<'a, const B: usize> {
    pub(super) pattern: &'a Pattern,
    pub(super) values: &'a [Block<B, B>],
}

impl<'a, const B: usize> Lower<'a, B> {
    /// Columns and blocks left of the diagonal of one row, and the diagonal block.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> (&'a [u32], &'a [Block<B, B>], &'a Block<B, B>) {
        let own = self.pattern.row_slots(i);
        let last = own.end - 1;
        let columns = &self.pattern.indices()[own.start..last];
        (columns, &self.values[own.start..last], &self.values[last])
    }

    pub(super) fn rows(&self) -> usize {
        self.pattern.rows()
    }
}

#[inline(always)]
fn product<const B: usize>(a: &Block<B, B>, x: &[f64; B]) -> [f64; B] {
    let mut y = [0.0; B];
    for r in 0..B {
        for c in 0..B {
            y[r] += a[r][c] * x[c];
        }
    }
    y
}

/// `y -= sum_j a_j x_j` over the blocks of a row, one partial sum per column.
#[inline(always)]
fn subtract_row<const B: usize>(columns: &[u32], blocks: &[Block<B, B>], x: &[[f64; B]], y: &mut [f64; B]) {
    let mut sums = [[0.0; B]; B];
    for (j, a) in columns.iter().zip(blocks) {
        let xj = x[*j as usize];
        for r in 0..B {
            for c in 0..B {
                sums[r][c] += a[r][c] * xj[c];
            }
        }
    }
    for r in 0..B {
        y[r] -= sums[r].iter().sum::<f64>();
    }
}

/// `y_j -= a_j^T x` for the blocks of a row.
#[inline(always)]
fn subtract_column<const B: usize>(
    columns: &[u32],
    blocks: &[Block<B, B>],
    x: &[f64; B],
    y: &mut [[f64; B]],
) {
    for (j, a) in columns.iter().zip(blocks) {
        let mut yj = y[*j as usize];
        for r in 0..B {
            for c in 0..B {
                yj[c] -= a[r][c] * x[r];
            }
        }
        y[*j as usize] = yj;
    }
}

/// One forward sweep from zero: `(L + D) z = r`, and the residual `t = r - A z = -L^T z`, in one
/// pass over the matrix.
#[inline(always)]
pub(super) fn forward<const B: usize>(
    a: Lower<'_, B>,
    inverses: &[Block<B, B>],
    r: &[f64],
    z: &mut [f64],
    t: &mut [f64],
) {
    let (r, z, t) = (
        r.as_chunks::<B>().0,
        z.as_chunks_mut::<B>().0,
        t.as_chunks_mut::<B>().0,
    );
    for i in 0..a.rows() {
        let (columns, blocks, _) = a.row(i);
        let mut own = r[i];
        subtract_row(columns, blocks, z, &mut own);
        z[i] = product(&inverses[i], &own);
        t[i] = [0.0; B];
        subtract_column(columns, blocks, &z[i], t);
    }
}

/// One backward sweep from `z`: `(D + L^T) (z_new - z) = r - A z`, in one pass over the matrix; `t`
/// is scratch.
#[inline(always)]
pub(super) fn backward<const B: usize>(
    a: Lower<'_, B>,
    inverses: &[Block<B, B>],
    r: &[f64],
    z: &mut [f64],
    t: &mut [f64],
) {
    t.copy_from_slice(r);
    let (z, t) = (z.as_chunks_mut::<B>().0, t.as_chunks_mut::<B>().0);
    for i in (0..a.rows()).rev() {
        let (columns, blocks, _) = a.row(i);
        let mut own = t[i];
        subtract_row(columns, blocks, z, &mut own);
        z[i] = product(&inverses[i], &own);
        subtract_column(columns, blocks, &z[i], t);
    }
}

/// `y = A x`.
#[inline(always)]
pub(super) fn multiply<const B: usize>(a: Lower<'_, B>, x: &[f64], y: &mut [f64]) {
    let (x, y) = (x.as_chunks::<B>().0, y.as_chunks_mut::<B>().0);
    for i in 0..a.rows() {
        let (columns, blocks, diagonal) = a.row(i);
        let negative = x[i].map(|v| -v);
        let mut own = product(diagonal, &negative);
        subtract_row(columns, blocks, x, &mut own);
        y[i] = own.map(|v| -v);
        subtract_column(columns, blocks, &negative, y);
    }
}

/// `z = D^-1 r` with the inverses of the diagonal blocks.
#[inline(always)]
pub(super) fn apply_inverses<const B: usize>(inverses: &[Block<B, B>], r: &[f64], z: &mut [f64]) {
    let (r, z) = (r.as_chunks::<B>().0, z.as_chunks_mut::<B>().0);
    for ((z, r), inverse) in z.iter_mut().zip(r).zip(inverses) {
        *z = product(inverse, r);
    }
}

/// Which pivots of a diagonal block mean what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    /// Share of the size of an unknown within which its pivot counts as zero.
    pub(super) share: f64,
    /// Whether unknowns with a pivot of zero are passed over: their rows and columns of the inverse
    /// are zero.
    pub(super) passes: bool,
}

/// Inverts the diagonal blocks; the first unknown with a pivot that is not positive and not passed
/// over, if there is one. NaN counts as such.
#[inline(always)]
pub(super) fn invert_diagonal<const B: usize>(
    a: Lower<'_, B>,
    sizes: &[[f64; B]],
    floor: Floor,
    inverses: &mut [Block<B, B>],
) -> Option<usize> {
    for i in 0..a.rows() {
        let (_, _, diagonal) = a.row(i);
        match invert(diagonal, &sizes[i], floor) {
            Ok(inverse) => inverses[i] = inverse,
            Err(r) => return Some(i * B + r),
        }
    }
    None
}

/// `a^-1` by its Cholesky factor, as in [`invert_diagonal`].
#[inline(always)]
fn invert<const B: usize>(a: &Block<B, B>, size: &[f64; B], floor: Floor) -> Result<Block<B, B>, usize> {
    let mut l = [[0.0; B]; B];
    let mut reciprocals = [0.0; B];
    for i in 0..B {
        for k in 0..=i {
            let mut value = a[i][k];
            for p in 0..k {
                value -= l[i][p] * l[k][p];
            }
            if k < i {
                l[i][k] = value * reciprocals[k];
            } else if value > floor.share * size[i] {
                l[i][i] = value.sqrt();
                reciprocals[i] = 1.0 / l[i][i];
            } else if floor.passes && value >= -floor.share * size[i] {
                // Nothing couples to an unknown without energy.
                l[i] = [0.0; B];
            } else {
                return Err(i);
            }
        }
    }
    // The inverse of the factor, column by column, then its product with its transpose.
    let mut inverse = [[0.0; B]; B];
    for k in 0..B {
        inverse[k][k] = reciprocals[k];
        for i in k + 1..B {
            let mut sum = 0.0;
            for p in k..i {
                sum += l[i][p] * inverse[p][k];
            }
            inverse[i][k] = -sum * reciprocals[i];
        }
    }
    let mut out = [[0.0; B]; B];
    for r in 0..B {
        for c in 0..=r {
            let mut sum = 0.0;
            for p in r..B {
                sum += inverse[p][r] * inverse[p][c];
            }
            out[r][c] = sum;
            out[c][r] = sum;
        }
    }
    Ok(out)
}
