//! The generalised minimal residual method with restarts.

use crate::drive::{Correction, End, Frame, Pace, Pass, krylov_solver, resize_all};
use crate::{LinearOperator, Preconditioner, axpy, dot, norm};

/// GMRES(k) for any `A`, preconditioned from the right by any `M`.
///
/// Arnoldi's orthonormal basis `V` of the Krylov space of `A M^-1`, the Hessenberg matrix reduced
/// by Givens rotations as it grows:
///
/// ```math
/// A M^-1 V_k = V_(k+1) H_k,   x = x_0 + M^-1 V_k y,   y = argmin | |r_0| e_1 - H_k y |
/// ```
///
/// The Euclidean residual decreases and is the least possible in the Krylov space, until after
/// [`restart`](crate::KrylovOptions::restart) iterations the space is dropped: GMRES(k) may
/// stagnate where full GMRES would not. Preconditioning from the right keeps the residual that of
/// `A x = b`.
///
/// Cost per iteration: one product, one application of `M`, `4 k n` at step k of a basis (`8 k n`
/// where the modified Gram-Schmidt process has to be repeated); memory `(restart + 7) n`. Source:
/// Saad and Schultz 1986.
#[derive(Clone, Debug, Default)]
pub struct GeneralMinimalResidual {
    pub(crate) frame: Frame,
    work: GmresWorkspace,
}

#[derive(Clone, Debug, Default)]
struct GmresWorkspace {
    n: usize,
    restart: usize,
    /// Basis vectors, one after the other.
    basis: Vec<f64>,
    /// Column j of the triangular factor, of stride `restart + 1`.
    h: Vec<f64>,
    rotations: Vec<(f64, f64)>,
    g: Vec<f64>,
    z: Vec<f64>,
}

krylov_solver!(GeneralMinimalResidual);

/// Flexible GMRES(k): the preconditioner may change from one application to the next, as an
/// iterative solver inside does.
///
/// ```math
/// z_j = M_j^-1 v_j,   A Z_k = V_(k+1) H_k,   x = x_0 + Z_k y,   y = argmin | |r_0| e_1 - H_k y |
/// ```
///
/// The vectors `z_j` are kept, since no one `M` leads back from `V_k y`. With a constant `M` the
/// iterates are those of [`GeneralMinimalResidual`], for `restart` vectors more. Other than there a
/// vanishing `h_(j+1,j)` need not mean that the answer is found: a preconditioner that changes may
/// return the same direction twice.
///
/// Cost per iteration as there; memory `(2 restart + 7) n`. Source: Saad 1993.
#[derive(Clone, Debug, Default)]
pub struct FlexibleMinimalResidual {
    pub(crate) frame: Frame,
    work: FlexibleWork,
}

#[derive(Clone, Debug, Default)]
struct FlexibleWork {
    work: GmresWorkspace,
    /// The vectors `z_j`, one after the other.
    directions: Vec<f64>,
}

krylov_solver!(FlexibleMinimalResidual);

impl Pass for FlexibleWork {
    fn resize(&mut self, n: usize, restart: usize) {
        self.work.resize(n, restart);
        // Written before it is read.
        self.directions.resize(restart * n, 0.0);
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let (columns, end) = self.work.arnoldi(a, m, r, pace, Some(&mut self.directions));
        self.work.coefficients(columns);
        let n = self.work.n.max(1);
        for (z, y) in self.directions.chunks_exact(n).zip(&self.work.g).take(columns) {
            axpy(*y, z, d);
        }
        end
    }
}

impl Pass for GmresWorkspace {
    fn resize(&mut self, n: usize, restart: usize) {
        self.n = n;
        self.restart = restart;
        // Written before it is read.
        self.basis.resize((restart + 1) * n, 0.0);
        resize_all([&mut self.h], (restart + 1) * restart);
        resize_all([&mut self.g], restart + 1);
        resize_all([&mut self.z], n);
        self.rotations.clear();
        self.rotations.resize(restart, (1.0, 0.0));
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let (columns, end) = self.arnoldi(a, m, r, pace, None);
        self.coefficients(columns);
        r.fill(0.0);
        for (v, y) in self.basis.chunks_exact(self.n.max(1)).zip(&self.g).take(columns) {
            axpy(*y, v, r);
        }
        m.apply(r, d);
        end
    }
}

impl GmresWorkspace {
    /// The basis and the triangular factor from `r` on; `directions` takes `M^-1` of every basis
    /// vector. Returns the number of columns.
    fn arnoldi(
        &mut self,
        a: &dyn LinearOperator,
        m: &dyn Preconditioner,
        r: &[f64],
        pace: &mut Pace<'_>,
        mut directions: Option<&mut Vec<f64>>,
    ) -> (usize, End) {
        let (n, stride) = (self.n, self.restart + 1);
        let size = norm(r);
        self.g.fill(0.0);
        self.g[0] = size;
        for (v, r) in self.basis.iter_mut().zip(r.iter()) {
            *v = r / size;
        }
        let mut end = End::Full;
        let mut columns = 0;
        for j in 0..self.restart {
            let (known, rest) = self.basis.split_at_mut((j + 1) * n);
            let next = &mut rest[..n];
            m.apply(&known[j * n..], &mut self.z);
            a.apply(&self.z, next);
            if let Some(directions) = &mut directions {
                directions[j * n..(j + 1) * n].copy_from_slice(&self.z);
            }
            let h = &mut self.h[j * stride..(j + 1) * stride];
            let before = norm(next);
            if !before.is_finite() {
                end = End::not_finite();
                break;
            }
            let after = orthogonalise(known, next, &mut h[..j + 1], before);
            let invariant = after <= f64::EPSILON * before;
            h[j + 1] = if invariant { 0.0 } else { after };
            for i in 0..j {
                let (c, s) = self.rotations[i];
                (h[i], h[i + 1]) = (c * h[i] + s * h[i + 1], c * h[i + 1] - s * h[i]);
            }
            let length = h[j].hypot(h[j + 1]);
            if length <= f64::EPSILON * before || length == 0.0 {
                // The column depends on those before: A M^-1 is singular on the space.
                end = End::zero_product();
                break;
            }
            let (c, s) = (h[j] / length, h[j + 1] / length);
            self.rotations[j] = (c, s);
            h[j] = length;
            (self.g[j], self.g[j + 1]) = (c * self.g[j], -s * self.g[j]);
            columns = j + 1;
            // An invariant space leaves nothing, which ends it too.
            if let Some(stop) = pace.step(self.g[j + 1].abs()) {
                end = stop;
                break;
            }
            next.iter_mut().for_each(|v| *v /= after);
        }
        (columns, end)
    }

    /// `y` from the triangular system, in the place of `g`.
    fn coefficients(&mut self, columns: usize) {
        let stride = self.restart + 1;
        for j in (0..columns).rev() {
            self.g[j] /= self.h[j * stride + j];
            let y = self.g[j];
            for i in 0..j {
                self.g[i] -= self.h[j * stride + i] * y;
            }
        }
    }
}

/// Modified Gram-Schmidt, repeated if it cancelled most of `next` (Kahan's "twice is enough").
/// Returns the remaining length.
fn orthogonalise(known: &[f64], next: &mut [f64], h: &mut [f64], before: f64) -> f64 {
    h.fill(0.0);
    let mut old = before;
    for _ in 0..2 {
        for (v, h) in known.chunks_exact(next.len().max(1)).zip(h.iter_mut()) {
            let c = dot(v, next);
            *h += c;
            axpy(-c, v, next);
        }
        let new = norm(next);
        if new > 0.7 * old {
            return new;
        }
        old = new;
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector in the span of two others up to 1e-10 leaves a remainder that is right to 1e-6
    /// after one pass; its angle to them would be off by as much.
    #[test]
    fn what_cancels_is_orthogonal_all_the_same() {
        let n = 40;
        let noise = |k: usize| ((k * k) as f64 * 12.9898).sin();
        let mut known = Vec::new();
        for k in 0..3 {
            let mut v: Vec<f64> = (0..n).map(|i| noise(n * k + i + 1)).collect();
            orthogonalise(
                &known,
                &mut v,
                &mut [0.0; 3][..k],
                norm(&(0..n).map(|i| noise(n * k + i + 1)).collect::<Vec<_>>()),
            );
            let size = norm(&v);
            known.extend(v.iter().map(|v| v / size));
        }
        let (basis, rest) = known.split_at(2 * n);
        let mut next: Vec<f64> = (0..n)
            .map(|i| basis[i] - 2.0 * basis[n + i] + 1e-10 * rest[i])
            .collect();
        let (mut h, before) = ([0.0; 2], norm(&next));
        let after = orthogonalise(basis, &mut next, &mut h, before);
        assert!((after - 1e-10).abs() < 1e-15 && (h[0] - 1.0).abs() < 1e-14 && (h[1] + 2.0).abs() < 1e-14);
        for v in basis.chunks_exact(n) {
            assert!(dot(v, &next).abs() < 1e-14 * after);
        }
    }
}
