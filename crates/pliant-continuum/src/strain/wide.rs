//! Numbers of several points side by side in a register of the machine.
//!
//! A lane is a point. Every operation is that of each lane by itself, rounded once, and nothing is
//! summed over lanes: the bits of a point depend neither on how many lanes the machine has, nor on
//! the lane it is in, nor on its neighbours.

use pulp::{Simd, bytemuck};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// One number of each of as many points as there are lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide<S: Simd> {
    simd: S,
    lanes: S::f64s,
}

impl<S: Simd> Wide<S> {
    /// Makes a value that is the same number in all lanes.
    #[inline(always)]
    pub(super) fn splat(simd: S, value: f64) -> Self {
        Self {
            simd,
            lanes: simd.splat_f64s(value),
        }
    }

    /// `1.0` where this is less than the other, zero elsewhere.
    #[inline(always)]
    pub(super) fn is_less(self, other: Self) -> Self {
        let mask = self.simd.less_than_f64s(self.lanes, other.lanes);
        Self {
            lanes: self
                .simd
                .select_f64s(mask, self.simd.splat_f64s(1.0), self.simd.splat_f64s(0.0)),
            ..self
        }
    }

    /// The other where `flag` is not zero, this elsewhere.
    #[inline(always)]
    pub(super) fn or_where(self, flag: Self, other: Self) -> Self {
        let mask = self.simd.less_than_f64s(self.simd.splat_f64s(0.0), flag.lanes);
        Self {
            lanes: self.simd.select_f64s(mask, other.lanes, self.lanes),
            ..self
        }
    }

    /// The square root.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        Self {
            lanes: self.simd.sqrt_f64s(self.lanes),
            ..self
        }
    }

    /// The numbers of all lanes.
    #[inline(always)]
    pub(super) fn lanes(&self) -> &[f64] {
        bytemuck::cast_slice(std::slice::from_ref(&self.lanes))
    }

    /// The numbers of all lanes, to be written.
    #[inline(always)]
    pub(super) fn lanes_mut(&mut self) -> &mut [f64] {
        bytemuck::cast_slice_mut(std::slice::from_mut(&mut self.lanes))
    }
}

impl<S: Simd> Add for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            lanes: self.simd.add_f64s(self.lanes, other.lanes),
            ..self
        }
    }
}

impl<S: Simd> Sub for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            lanes: self.simd.sub_f64s(self.lanes, other.lanes),
            ..self
        }
    }
}

impl<S: Simd> Mul for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self {
            lanes: self.simd.mul_f64s(self.lanes, other.lanes),
            ..self
        }
    }
}

impl<S: Simd> Div for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self {
            lanes: self.simd.div_f64s(self.lanes, other.lanes),
            ..self
        }
    }
}

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self {
            lanes: self.simd.neg_f64s(self.lanes),
            ..self
        }
    }
}

/// Reads `N` numbers of each of `count` points, those of one after those of the other; lanes without
/// a point have the last one's.
#[inline(always)]
pub(super) fn load<S: Simd, const N: usize>(simd: S, count: usize, rows: &[[f64; N]]) -> [Wide<S>; N] {
    let mut out = [Wide::splat(simd, 0.0); N];
    for lane in 0..S::F64_LANES {
        let row = &rows[lane.min(count - 1)];
        for k in 0..N {
            out[k].lanes_mut()[lane] = row[k];
        }
    }
    out
}

/// Writes the numbers of as many points as there is room for.
#[inline(always)]
pub(super) fn store<S: Simd, const N: usize>(values: &[Wide<S>; N], rows: &mut [[f64; N]]) {
    for (lane, row) in rows.iter_mut().enumerate() {
        for k in 0..N {
            row[k] = values[k].lanes()[lane];
        }
    }
}

/// A vector of each point.
pub(super) type Vector<S> = [Wide<S>; 3];

/// A matrix of each point, by rows.
pub(super) type Matrix<S> = [[Wide<S>; 3]; 3];

/// The matrix of nine numbers, rows first.
#[inline(always)]
pub(super) fn rows_of<S: Simd>(x: &[Wide<S>]) -> Matrix<S> {
    [[x[0], x[1], x[2]], [x[3], x[4], x[5]], [x[6], x[7], x[8]]]
}

/// The nine numbers of a matrix, rows first.
#[inline(always)]
pub(super) fn flat<S: Simd>(a: Matrix<S>) -> [Wide<S>; 9] {
    let [[a, b, c], [d, e, f], [g, h, i]] = a;
    [a, b, c, d, e, f, g, h, i]
}

/// The symmetric matrix of the six numbers `(xx, yy, zz, xy, yz, zx)`.
#[inline(always)]
pub(super) fn symmetric<S: Simd>(x: &[Wide<S>]) -> Matrix<S> {
    [[x[0], x[3], x[5]], [x[3], x[1], x[4]], [x[5], x[4], x[2]]]
}

/// `A B`.
#[inline(always)]
pub(super) fn product<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    out
}

/// `A^T B`.
#[inline(always)]
pub(super) fn transposed_product<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
        }
    }
    out
}

/// `A v`.
#[inline(always)]
pub(super) fn times<S: Simd>(a: &Matrix<S>, v: &Vector<S>) -> Vector<S> {
    let mut out = *v;
    for i in 0..3 {
        out[i] = a[i][0] * v[0] + a[i][1] * v[1] + a[i][2] * v[2];
    }
    out
}

/// `A + B`.
#[inline(always)]
pub(super) fn sum<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = a[i][j] + b[i][j];
        }
    }
    out
}

/// `A - B`.
#[inline(always)]
pub(super) fn difference<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = a[i][j] - b[i][j];
        }
    }
    out
}

/// `A + A^T`.
#[inline(always)]
pub(super) fn doubled_symmetric_part<S: Simd>(a: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[i][j] = a[i][j] + a[j][i];
        }
    }
    out
}

/// `[v] A`, the cross products of `v` with the columns of `A`.
#[inline(always)]
pub(super) fn cross<S: Simd>(v: &Vector<S>, a: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for j in 0..3 {
        out[0][j] = v[1] * a[2][j] - v[2] * a[1][j];
        out[1][j] = v[2] * a[0][j] - v[0] * a[2][j];
        out[2][j] = v[0] * a[1][j] - v[1] * a[0][j];
    }
    out
}

/// `A [v]`.
#[inline(always)]
pub(super) fn times_skew<S: Simd>(a: &Matrix<S>, v: &Vector<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        out[i][0] = a[i][1] * v[2] - a[i][2] * v[1];
        out[i][1] = a[i][2] * v[0] - a[i][0] * v[2];
        out[i][2] = a[i][0] * v[1] - a[i][1] * v[0];
    }
    out
}

/// The vector `v` with `[v] = A - A^T`.
#[inline(always)]
pub(super) fn axial<S: Simd>(a: &Matrix<S>) -> Vector<S> {
    [a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]]
}

/// The cofactors of a matrix: its determinant times its inverse, transposed.
#[inline(always)]
pub(super) fn cofactors<S: Simd>(a: &Matrix<S>) -> Matrix<S> {
    let mut out = *a;
    for i in 0..3 {
        let (p, q) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (k, l) = ((j + 1) % 3, (j + 2) % 3);
            out[i][j] = a[p][k] * a[q][l] - a[p][l] * a[q][k];
        }
    }
    out
}

/// `A : B`.
#[inline(always)]
pub(super) fn dot<S: Simd>(a: &Matrix<S>, b: &Matrix<S>) -> Wide<S> {
    let mut rows = a[0];
    for i in 0..3 {
        rows[i] = a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2];
    }
    rows[0] + rows[1] + rows[2]
}
