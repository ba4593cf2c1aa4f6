//! Blocks of the elements of one run, through coefficients that are the same for every coordinate.
//!
//! With `J_a = I_d (x) g_a` and the block `A_ik` (`m x m`) of the coordinates `i` and `k` of an
//! element `q`,
//!
//! ```math
//! W_{ai,bk} = sum_q g_a^T A_ik g_b = sum_{q,j} g_aj (A_ik g_b)_j
//! ```
//!
//! in two products: `A_ik g_b` of each element, then one with the coefficients of all of them.
//! `A_ki` is `A_ik^T`, so that `k <= i` is enough.
//!
//! All is inlined into a caller that knows the registers of the machine (`pulp`). Products and sums
//! are rounded one by one, so that bits do not depend on these.

/// Coordinates of a parent `d`, numbers `m` each is repeated with, dependencies `n`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) d: usize,
    pub(super) m: usize,
    pub(super) n: usize,
}

/// The rows of one element among those of all elements of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowWindow {
    /// First row of the element.
    pub(super) row: usize,
    /// Rows of all elements.
    pub(super) rows: usize,
}

/// Rows and columns of the Jacobian block `J` of one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockShape {
    pub(super) size: usize,
    pub(super) width: usize,
}

/// `A_ik g_b` of one element: for each pair `k <= i`, `rows` rows of `n` of which this element has
/// `m` from `row` on.
#[inline(always)]
pub(super) fn expand(s: Shape, a: &[f64], g: &[f64], window: RowWindow, out: &mut [f64]) {
    match (s.n, s.m) {
        (8, 3) => expand_known::<8, 3>(s.d, a, g, window, out),
        (4, 3) => expand_known::<4, 3>(s.d, a, g, window, out),
        _ => expand_any(s, a, g, window, out),
    }
}

#[inline(always)]
fn expand_known<const N: usize, const M: usize>(
    d: usize,
    a: &[f64],
    g: &[f64],
    RowWindow { row, rows }: RowWindow,
    out: &mut [f64],
) {
    let g = &g.as_chunks::<N>().0[..M];
    let out = &mut out.as_chunks_mut::<N>().0[..d * (d + 1) / 2 * rows];
    let (size, mut pair) = (d * M, 0);
    let a = &a[..size * size];
    for i in 0..d {
        for k in 0..=i {
            let out = &mut out[pair * rows + row..][..M];
            for (j, out) in out.iter_mut().enumerate() {
                let a = &a[(i * M + j) * size + k * M..][..M];
                let mut sum = [0.0; N];
                for l in 0..M {
                    for b in 0..N {
                        sum[b] += a[l] * g[l][b];
                    }
                }
                *out = sum;
            }
            pair += 1;
        }
    }
}

#[inline(always)]
fn expand_any(s: Shape, a: &[f64], g: &[f64], window: RowWindow, out: &mut [f64]) {
    let (Shape { d, m, n }, RowWindow { row, rows }) = (s, window);
    let (size, mut pair) = (d * m, 0);
    for i in 0..d {
        for k in 0..=i {
            for j in 0..m {
                let out = &mut out[(pair * rows + row + j) * n..][..n];
                out.fill(0.0);
                for l in 0..m {
                    let a = a[(i * m + j) * size + k * m + l];
                    for (o, g) in out.iter_mut().zip(&g[l * n..]) {
                        *o += a * g;
                    }
                }
            }
            pair += 1;
        }
    }
}

/// The block of a run: for each pair `k <= i` the sums of all pairs of dependencies, of the
/// coefficients `g` (`rows x n`) and what [`expand`] made of them.
#[inline(always)]
pub(super) fn contract(s: Shape, g: &[f64], half: &[f64], sums: &mut [f64]) {
    let Shape { d, n, .. } = s;
    let pairs = d * (d + 1) / 2;
    let halves = half.chunks_exact(g.len()).take(pairs);
    for (half, sums) in halves.zip(sums.chunks_exact_mut(n * n)) {
        match n {
            4 => contract_known::<4, 4>(g, half, sums),
            8 => contract_known::<8, 4>(g, half, sums),
            10 => contract_known::<10, 2>(g, half, sums),
            20 => contract_known::<20, 2>(g, half, sums),
            _ => contract_any(n, g, half, sums),
        }
    }
}

/// `R` rows of sums at a time, in registers; `N` is a multiple of `R`.
#[inline(always)]
fn contract_known<const N: usize, const R: usize>(g: &[f64], half: &[f64], sums: &mut [f64]) {
    let (g, half) = (g.as_chunks::<N>().0, half.as_chunks::<N>().0);
    let sums = sums.as_chunks_mut::<N>().0;
    for (group, sums) in sums.as_chunks_mut::<R>().0.iter_mut().enumerate() {
        let mut rows = [[0.0; N]; R];
        for (g, h) in g.iter().zip(half) {
            let g = &g[R * group..][..R];
            for r in 0..R {
                for b in 0..N {
                    rows[r][b] += g[r] * h[b];
                }
            }
        }
        *sums = rows;
    }
}

fn contract_any(n: usize, g: &[f64], half: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    for (g, h) in g.chunks_exact(n).zip(half.chunks_exact(n)) {
        for (g, sums) in g.iter().zip(sums.chunks_exact_mut(n)) {
            sums.iter_mut().zip(h).for_each(|(s, h)| *s += g * h);
        }
    }
}

/// `out += J^T A J` for a symmetric `size x size` block `A` and a `size x width` block `J`; of the
/// result nothing is wanted right of the blocks on the diagonal, and some of that is left out.
#[inline(always)]
pub(super) fn pull(a: &[f64], j: &[f64], shape: BlockShape, product: &mut [f64], out: &mut [f64]) {
    match (shape.size, shape.width) {
        (6, 9) => pull_known::<6>(a, j, out),
        (1, 9) => pull_known::<1>(a, j, out),
        _ => pull_any(a, j, shape, product, out),
    }
}

/// Numbers of a row of nine with room for whole registers.
const ROOM: usize = 12;

/// To the nine coordinates of a gradient, whose three rows are blocks.
#[inline(always)]
fn pull_known<const S: usize>(a: &[f64], j: &[f64], out: &mut [f64]) {
    let (a, j) = (&a.as_chunks::<S>().0[..S], &j.as_chunks::<9>().0[..S]);
    let out = &mut out.as_chunks_mut::<9>().0[..9];
    let mut rows = [[0.0; ROOM]; S];
    for (row, j) in rows.iter_mut().zip(j) {
        row[..9].copy_from_slice(j);
    }
    let mut product = [[0.0; ROOM]; S];
    for (p, a) in product.iter_mut().zip(a) {
        let mut sum = [0.0; ROOM];
        for k in 0..S {
            for w in 0..ROOM {
                sum[w] += a[k] * rows[k][w];
            }
        }
        *p = sum;
    }
    pull_rows::<S, 4>(0, j, &product, out);
    pull_rows::<S, 8>(3, j, &product, out);
    pull_rows::<S, ROOM>(6, j, &product, out);
}

/// The first `W` columns of three rows of the result.
#[inline(always)]
fn pull_rows<const S: usize, const W: usize>(
    first: usize,
    j: &[[f64; 9]],
    product: &[[f64; ROOM]; S],
    out: &mut [[f64; 9]],
) {
    for r in first..first + 3 {
        let mut sum = [0.0; W];
        for k in 0..S {
            for w in 0..W {
                sum[w] += j[k][r] * product[k][w];
            }
        }
        for (out, sum) in out[r].iter_mut().zip(sum) {
            *out += sum;
        }
    }
}

/// `y += s A x` for a symmetric square block `A`, column by column, so that its rows are read once
/// and `y` stays in registers.
#[inline(always)]
pub(super) fn add_symmetric(a: &[f64], s: f64, x: &[f64], y: &mut [f64]) {
    match x.len() {
        9 => add_symmetric_known::<9>(a, s, x, y),
        6 => add_symmetric_known::<6>(a, s, x, y),
        _ => add_product(a, s, x, y),
    }
}

#[inline(always)]
fn add_symmetric_known<const N: usize>(a: &[f64], s: f64, x: &[f64], y: &mut [f64]) {
    let mut sum = [0.0; N];
    for (row, x) in a.as_chunks::<N>().0[..N].iter().zip(&x[..N]) {
        for (sum, a) in sum.iter_mut().zip(row) {
            *sum += a * x;
        }
    }
    y[..N].iter_mut().zip(sum).for_each(|(y, sum)| *y += s * sum);
}

/// `y += s A x` for a square block `A`.
#[inline(always)]
pub(super) fn add_product(a: &[f64], s: f64, x: &[f64], y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(a.chunks_exact(x.len())) {
        let sum: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
        *y += s * sum;
    }
}

#[inline(always)]
fn pull_any(a: &[f64], j: &[f64], shape: BlockShape, product: &mut [f64], out: &mut [f64]) {
    let BlockShape { size, width } = shape;
    let product = &mut product[..size * width];
    product.fill(0.0);
    for (p, a) in product.chunks_exact_mut(width).zip(a.chunks_exact(size)) {
        for (a, j) in a.iter().zip(j.chunks_exact(width)) {
            p.iter_mut().zip(j).for_each(|(p, j)| *p += a * j);
        }
    }
    for (p, j) in product.chunks_exact(width).zip(j.chunks_exact(width)) {
        for (out, j) in out.chunks_exact_mut(width).zip(j) {
            out.iter_mut().zip(p).for_each(|(o, p)| *o += j * p);
        }
    }
}
