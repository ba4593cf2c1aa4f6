//! Biot's strain and its derivatives, several points side by side.
//!
//! The polar decomposition of a point is made once per evaluation and kept
//! ([`MappingPieces::prepare`]); the value, the Jacobian, the acceleration and the geometric
//! stiffness read it. Where nothing is kept it is made on the spot, by the same operations.

use super::measures::PAIRS;
use super::wide::{
    Matrix, Wide, axial, cofactors, cross, difference, dot, doubled_symmetric_part, flat, load, product,
    rows_of, store, sum, symmetric, times, times_skew, transposed_product,
};
use super::{CorotationalStrain, matrix, write_matrix};
use pliant_dense::polar;
use pliant_model::{Degenerate, Dependency, MappingPieces, Parents};
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;

const DEGENERATE: &str = "two of its principal stretches add up to zero, so that it has no rotation";

/// Numbers that are kept of a point: the rotation, rows first, then the stretch,
/// `(xx, yy, zz, xy, yz, zx)`. What else there is of a decomposition is made of these.
const KEPT: usize = 15;

/// Most points that any machine has side by side.
const MOST: usize = 8;

/// The polar decompositions of the points in the lanes.
#[derive(Clone, Copy)]
struct Decomposition<S: Simd> {
    r: Matrix<S>,
    u: Matrix<S>,
    turn: Matrix<S>,
}

/// `tr(U) I - U`, the sums of two stretches, and its inverse, the `turn` of
/// [`Polar`](polar::Polar).
struct Turning<S: Simd> {
    sums: Matrix<S>,
    inverse: Matrix<S>,
}

impl<S: Simd> Turning<S> {
    #[inline(always)]
    fn of(simd: S, u: &Matrix<S>) -> Self {
        let trace = u[0][0] + u[1][1] + u[2][2];
        let mut sums = *u;
        for i in 0..3 {
            for j in 0..3 {
                sums[i][j] = -u[i][j];
            }
            sums[i][i] = trace - u[i][i];
        }
        let c = cofactors(&sums);
        let reciprocal = Wide::splat(simd, 1.0) / determinant(&c, &sums);
        let mut inverse = c;
        for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)] {
            inverse[i][j] = c[i][j] * reciprocal;
            inverse[j][i] = inverse[i][j];
        }
        Self { sums, inverse }
    }
}

/// The determinant of a matrix by its cofactors.
#[inline(always)]
fn determinant<S: Simd>(cofactors: &Matrix<S>, m: &Matrix<S>) -> Wide<S> {
    cofactors[0][0] * m[0][0] + cofactors[0][1] * m[0][1] + cofactors[0][2] * m[0][2]
}

impl<S: Simd> Decomposition<S> {
    #[inline(always)]
    fn from_kept(simd: S, kept: &[Wide<S>; KEPT]) -> Self {
        let u = symmetric(&kept[9..]);
        Self {
            r: rows_of(&kept[..9]),
            u,
            turn: Turning::of(simd, &u).inverse,
        }
    }

    #[inline(always)]
    fn to_kept(self) -> [Wide<S>; KEPT] {
        let mut out = [self.r[0][0]; KEPT];
        out[..9].copy_from_slice(&flat(self.r));
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            out[9 + k] = self.u[i][j];
        }
        out
    }

    /// Decomposes `F`; with the decompositions a flag for each lane, zero where there is none. As
    /// [`Polar::of`](polar::Polar::of), whose comments say why.
    #[inline(always)]
    fn of(simd: S, f: &Matrix<S>) -> (Self, Wide<S>) {
        let number = |x: f64| Wide::splat(simd, x);
        let (half, least) = (number(0.5), number(polar::LEAST_CHANGE * polar::LEAST_CHANGE));
        let square = dot(f, f);
        let bound = number(polar::NEAR) * (square * square.sqrt());
        let mut going = bound.is_less(determinant(&cofactors(f), f));
        let mut r = *f;
        let mut found = number(0.0);
        for _ in 0..polar::MOST_ITERATIONS {
            let c = cofactors(&r);
            let inverse = number(1.0) / determinant(&c, &r);
            let mut change = number(0.0);
            for i in 0..3 {
                for j in 0..3 {
                    let next = half * (r[i][j] + c[i][j] * inverse);
                    let step = next - r[i][j];
                    change = change + step * step;
                    // A lane that is done stays as it is, whatever the others need.
                    r[i][j] = r[i][j].or_where(going, next);
                }
            }
            let done = going * change.is_less(least);
            found = found + done;
            going = going - done;
            if going.lanes().iter().all(|g| *g == 0.0) {
                break;
            }
        }
        if found.lanes().contains(&0.0) {
            by_quaternion(f, &mut r, &mut found);
        }
        let mut u = doubled_symmetric_part(&transposed_product(&r, f));
        for i in 0..3 {
            for j in 0..3 {
                u[i][j] = half * u[i][j];
            }
        }
        let Turning { sums, inverse } = Turning::of(simd, &u);
        let condition = number(polar::LEAST_SUM) * (dot(&sums, &sums) * dot(&inverse, &inverse)).sqrt();
        let known = found * condition.is_less(number(1.0));
        (Self { r, u, turn: inverse }, known)
    }

    /// How the rotation turns: `w = sum_m e_m (V_m : dF)` with `dR = R [w]`; `V_m` is `R [T e_m]`.
    #[inline(always)]
    fn turns(&self) -> [Matrix<S>; 3] {
        [
            times_skew(&self.r, &self.turn[0]),
            times_skew(&self.r, &self.turn[1]),
            times_skew(&self.r, &self.turn[2]),
        ]
    }
}

/// The rotations of the lanes that have none yet, each by itself: gradients that are far from a
/// rotation, or inverted.
#[inline(never)]
fn by_quaternion<S: Simd>(f: &Matrix<S>, r: &mut Matrix<S>, found: &mut Wide<S>) {
    for lane in 0..S::F64_LANES {
        if found.lanes()[lane] != 0.0 {
            continue;
        }
        let mut numbers = [0.0; 9];
        for (k, x) in numbers.iter_mut().enumerate() {
            *x = f[k / 3][k % 3].lanes()[lane];
        }
        let Some(rotation) = polar::by_quaternion(&matrix(&numbers)) else {
            continue;
        };
        write_matrix(&rotation, &mut numbers);
        for (k, x) in numbers.iter().enumerate() {
            r[k / 3][k % 3].lanes_mut()[lane] = *x;
        }
        found.lanes_mut()[lane] = 1.0;
    }
}

/// The gradients of some points, and what is kept of them if it is.
#[derive(Clone, Copy)]
struct Points<'a> {
    parents: Parents<'a>,
    /// The points at hand: as many as there are lanes, or fewer.
    first: usize,
    count: usize,
}

impl<'a> Points<'a> {
    /// Cuts elements into as many as there are lanes.
    #[inline(always)]
    fn cut<S: Simd>(parents: Parents<'a>, elements: Range<usize>) -> impl Iterator<Item = Self> {
        let end = elements.end;
        elements.step_by(S::F64_LANES).map(move |first| Self {
            parents,
            first,
            count: (end - first).min(S::F64_LANES),
        })
    }

    #[inline(always)]
    fn read<S: Simd>(&self, simd: S, of: impl Fn(Dependency) -> &'a [f64]) -> Matrix<S> {
        let mut rows = [[0.0; 9]; MOST];
        for (k, row) in rows[..self.count].iter_mut().enumerate() {
            row.copy_from_slice(of(Dependency::new(0, self.first + k)));
        }
        rows_of(&load(simd, self.count, &rows))
    }

    #[inline(always)]
    fn gradients<S: Simd>(&self, simd: S) -> Matrix<S> {
        self.read(simd, |at| self.parents.position(at))
    }

    #[inline(always)]
    fn rates<S: Simd>(&self, simd: S) -> Matrix<S> {
        self.read(simd, |at| self.parents.velocity(at))
    }

    /// Reads what is kept, or else makes it now.
    #[inline(always)]
    fn decomposition<S: Simd>(&self, simd: S) -> Result<Decomposition<S>, Degenerate> {
        let kept = self.parents.kept().as_chunks::<KEPT>().0;
        match kept.get(self.first..self.first + self.count) {
            Some(kept) => Ok(Decomposition::from_kept(simd, &load(simd, self.count, kept))),
            None => self.decompose(simd),
        }
    }

    #[inline(always)]
    fn decompose<S: Simd>(&self, simd: S) -> Result<Decomposition<S>, Degenerate> {
        let (out, known) = Decomposition::of(simd, &self.gradients(simd));
        match known.lanes()[..self.count].iter().position(|k| *k == 0.0) {
            Some(lane) => Err(Degenerate {
                element: self.first + lane,
                reason: DEGENERATE,
            }),
            None => Ok(out),
        }
    }
}

/// The six numbers of the symmetric part of a matrix, shears doubled.
#[inline(always)]
fn strain_numbers<S: Simd>(e: &Matrix<S>) -> [Wide<S>; 6] {
    [
        e[0][0],
        e[1][1],
        e[2][2],
        e[0][1] + e[1][0],
        e[1][2] + e[2][1],
        e[2][0] + e[0][2],
    ]
}

/// The elements of a piece, and where their numbers are written.
struct Piece<'a, 'b> {
    parents: Parents<'a>,
    elements: Range<usize>,
    out: &'b mut [f64],
}

/// Decompositions, to be kept.
struct Prepare<'a, 'b>(Piece<'a, 'b>);

impl WithSimd for Prepare<'_, '_> {
    type Output = Result<(), Degenerate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Piece {
            parents,
            elements,
            out,
        } = self.0;
        let groups = out.as_chunks_mut::<KEPT>().0.chunks_mut(S::F64_LANES);
        for (points, out) in Points::cut::<S>(parents, elements).zip(groups) {
            store(&points.decompose(simd)?.to_kept(), out);
        }
        Ok(())
    }
}

/// `U - I = R^T (F - R)`, which keeps the digits of small strains.
struct Value<'a, 'b>(Piece<'a, 'b>);

impl WithSimd for Value<'_, '_> {
    type Output = Result<(), Degenerate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Piece {
            parents,
            elements,
            out,
        } = self.0;
        let groups = out.as_chunks_mut::<6>().0.chunks_mut(S::F64_LANES);
        for (points, out) in Points::cut::<S>(parents, elements).zip(groups) {
            let r = points.decomposition(simd)?.r;
            let rest = difference(&points.gradients(simd), &r);
            store(&strain_numbers(&transposed_product(&r, &rest)), out);
        }
        Ok(())
    }
}

/// `d(S : U) = R (S + [y]) : dF` with `y = T axl(U S)`, for each `S` that picks a number.
#[inline(always)]
fn derivative<S: Simd>(simd: S, of: &Decomposition<S>) -> [Wide<S>; 54] {
    let Decomposition { r, u, turn } = of;
    let zero = Wide::splat(simd, 0.0);
    let mut rows = [zero; 54];
    for (k, [i, j]) in PAIRS.into_iter().enumerate() {
        // U S and R S: their columns i and j are the columns j and i of U and R.
        let (mut us, mut rs) = ([[zero; 3]; 3], [[zero; 3]; 3]);
        for a in 0..3 {
            (us[a][i], us[a][j]) = (u[a][j], u[a][i]);
            (rs[a][i], rs[a][j]) = (r[a][j], r[a][i]);
        }
        let y = times(turn, &axial(&us));
        let row = flat(sum(&rs, &times_skew(r, &y)));
        rows[9 * k..9 * k + 9].copy_from_slice(&row);
    }
    rows
}

/// The [`derivative`] of points whose decompositions are given.
struct JacobianOfKept<'a, 'b> {
    kept: &'a [f64],
    out: &'b mut [f64],
}

impl WithSimd for JacobianOfKept<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let kept = self.kept.as_chunks::<KEPT>().0.chunks(S::F64_LANES);
        let groups = self.out.as_chunks_mut::<54>().0.chunks_mut(S::F64_LANES);
        for (kept, out) in kept.zip(groups) {
            let of = Decomposition::from_kept(simd, &load(simd, kept.len(), kept));
            store(&derivative(simd, &of), out);
        }
    }
}

/// The [`derivative`] of points.
struct Jacobian<'a, 'b>(Piece<'a, 'b>);

impl WithSimd for Jacobian<'_, '_> {
    type Output = Result<(), Degenerate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Piece {
            parents,
            elements,
            out,
        } = self.0;
        let groups = out.as_chunks_mut::<54>().0.chunks_mut(S::F64_LANES);
        for (points, out) in Points::cut::<S>(parents, elements).zip(groups) {
            store(&derivative(simd, &points.decomposition(simd)?), out);
        }
        Ok(())
    }
}

/// From `0 = F'' = R'' U + 2 R' U' + R U''` with `R' = R [w]`:
/// `U'' = -([w]^2 + [w']) U - 2 [w] U'`, `w'` such that it is symmetric.
struct Acceleration<'a, 'b>(Piece<'a, 'b>);

impl WithSimd for Acceleration<'_, '_> {
    type Output = Result<(), Degenerate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Piece {
            parents,
            elements,
            out,
        } = self.0;
        let groups = out.as_chunks_mut::<6>().0.chunks_mut(S::F64_LANES);
        for (points, out) in Points::cut::<S>(parents, elements).zip(groups) {
            let Decomposition { r, u, turn } = points.decomposition(simd)?;
            let h = transposed_product(&r, &points.rates(simd));
            let w = times(&turn, &axial(&h));
            let wu = cross(&w, &u);
            let du = doubled_symmetric_part(&difference(&h, &wu));
            let rest = sum(&cross(&w, &wu), &cross(&w, &du));
            let dw = times(&turn, &axial(&rest));
            let second = difference(&cross(&dw, &u), &rest);
            let mut numbers = [[0.0; 6]; MOST];
            store(&strain_numbers(&second), &mut numbers[..out.len()]);
            for (out, second) in out.iter_mut().zip(numbers) {
                out.iter_mut().zip(second).for_each(|(o, s)| *o += s);
            }
        }
        Ok(())
    }
}

/// `dP` of `P = R (S + [y])`, with `w` from `dR = R [w]`: `R [w] (S + [y]) + R [dy]`,
/// `dy = T (axl(dU S) - (tr(dU) y - dU y))`, `dU = sym(R^T dF - [w] U)`. With `V_m` of
/// [`Decomposition::turns`] that is `sum_m (V_m (x) P_m + P_m (x) V_m)/2`, where
/// `P_m = R ([e_m] (S + [y]) + Q_m) - sum_n c_mn V_n`, `Q_m = sym([e_m] S + e_m y^T) - y_m I`,
/// `c_mn = sym([e_n] : Q_m U)`.
struct Hessian<'a, 'b> {
    piece: Piece<'a, 'b>,
    force: &'a [f64],
}

impl WithSimd for Hessian<'_, '_> {
    type Output = Result<(), Degenerate>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Piece {
            parents,
            elements,
            out,
        } = self.piece;
        let (zero, half) = (Wide::splat(simd, 0.0), Wide::splat(simd, 0.5));
        let groups = out.as_chunks_mut::<81>().0.chunks_mut(S::F64_LANES);
        let forces = self.force.as_chunks::<6>().0.chunks(S::F64_LANES);
        for ((points, out), force) in Points::cut::<S>(parents, elements).zip(groups).zip(forces) {
            let p = points.decomposition(simd)?;
            let s = symmetric(&load(simd, points.count, force));
            let y = times(&p.turn, &axial(&product(&p.u, &s)));
            let v = p.turns();
            let [mut q, mut own] = [[[[zero; 3]; 3]; 3]; 2];
            let mut c = [[zero; 3]; 3];
            for m in 0..3 {
                // [e_m] moves rows: its row m is zero.
                let (next, last) = ((m + 1) % 3, (m + 2) % 3);
                let mut turned = [[zero; 3]; 3];
                turned[next] = [-s[last][0], -s[last][1], -s[last][2]];
                turned[last] = s[next];
                let mut mixed = turned;
                mixed[m] = y;
                q[m] = doubled_symmetric_part(&mixed);
                for i in 0..3 {
                    for j in 0..3 {
                        q[m][i][j] = half * q[m][i][j];
                    }
                    q[m][i][i] = q[m][i][i] - y[m];
                }
                c[m] = axial(&product(&q[m], &p.u));
                // [e_m] [y] = y e_m^T - y_m I.
                for i in 0..3 {
                    turned[i][m] = turned[i][m] + y[i];
                    turned[i][i] = turned[i][i] - y[m];
                }
                own[m] = product(&p.r, &sum(&turned, &q[m]));
            }
            let mut w = own;
            for m in 0..3 {
                for n in 0..3 {
                    let shared = half * (c[m][n] + c[n][m]);
                    for i in 0..3 {
                        for j in 0..3 {
                            w[m][i][j] = w[m][i][j] - shared * v[n][i][j];
                        }
                    }
                }
                for i in 0..3 {
                    for j in 0..3 {
                        w[m][i][j] = half * w[m][i][j];
                    }
                }
            }
            let (v, w) = (v.map(flat), w.map(flat));
            let mut lower = [zero; 45];
            let mut at = 0;
            for a in 0..9 {
                for b in 0..=a {
                    let terms = |m: usize| v[m][a] * w[m][b] + w[m][a] * v[m][b];
                    lower[at] = terms(0) + terms(1) + terms(2);
                    at += 1;
                }
            }
            // The upper triangle is the lower one: symmetric to the bit.
            for (lane, out) in out.iter_mut().enumerate() {
                let mut at = 0;
                for a in 0..9 {
                    for b in 0..=a {
                        let entry = lower[at].lanes()[lane];
                        (out[9 * a + b], out[9 * b + a]) = (entry, entry);
                        at += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

impl MappingPieces for CorotationalStrain {
    fn kept_size(&self) -> usize {
        KEPT
    }

    fn prepare(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        kept: &mut [f64],
    ) -> Result<(), Degenerate> {
        Arch::new().dispatch(Prepare(Piece {
            parents,
            elements,
            out: kept,
        }))
    }

    fn apply(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        child: &mut [f64],
    ) -> Result<(), Degenerate> {
        Arch::new().dispatch(Value(Piece {
            parents,
            elements,
            out: child,
        }))
    }

    fn jacobian(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), Degenerate> {
        Arch::new().dispatch(Jacobian(Piece {
            parents,
            elements,
            out,
        }))
    }

    fn keeps_jacobian(&self) -> bool {
        true
    }

    fn jacobian_of_kept(&self, kept: &[f64], _elements: Range<usize>, out: &mut [f64]) {
        Arch::new().dispatch(JacobianOfKept { kept, out });
    }

    fn add_bias(&self, parents: Parents<'_>, elements: Range<usize>, child: &mut [f64]) {
        let piece = Piece {
            parents,
            elements,
            out: child,
        };
        // Where there is no decomposition the Jacobian said so before; nothing is added.
        let _ = Arch::new().dispatch(Acceleration(piece));
    }

    fn geometric_stiffness(
        &self,
        parents: Parents<'_>,
        elements: Range<usize>,
        force: &[f64],
        out: &mut [f64],
    ) {
        let piece = Piece {
            parents,
            elements,
            out,
        };
        // As for the acceleration.
        let _ = Arch::new().dispatch(Hessian { piece, force });
    }
}
