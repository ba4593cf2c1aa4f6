//! The minimal residual method for symmetric matrices.

use crate::cg::indefinite;
use crate::drive::{Correction, End, Frame, Pace, Pass, krylov_solver, positive_product, resize_all};
use crate::{axpy, dot, norm};

/// MINRES for symmetric `A`, definite or not, singular or not, with a symmetric positive definite
/// preconditioner `M`.
///
/// Lanczos vectors `v` of `A` in the inner product of `M^-1`, the tridiagonal `T` reduced by Givens
/// rotations as it grows:
///
/// ```math
/// beta_(k+1) v_(k+1) = A M^-1 v_k - alpha_k v_k - beta_k v_(k-1),   r_k = s_k^2 r_(k-1) - phi_k c_k v_(k+1)
/// ```
///
/// The residual decreases in the norm `(r^T M^-1 r)^(1/2)` and is the least possible in the Krylov
/// space. Both signs of the spectrum count: `[-b, -a] u [c, d]` takes as many iterations as
/// definite matrices of condition `b d / (a c)`. The vector of the residual is carried along, so
/// that the test is Euclidean whatever `M` is. A singular system with a right-hand side outside the
/// range of `A` ends at the least residual, as [`Stagnated`](crate::KrylovStatus::Stagnated).
///
/// Cost per iteration: one product, one application of `M`, `25 n`. Source: Paige and Saunders
/// 1975; the recurrence of the residual: Choi, Paige and Saunders 2011.
#[derive(Clone, Debug, Default)]
pub struct MinimalResidual {
    pub(crate) frame: Frame,
    work: MinresWorkspace,
}

#[derive(Clone, Debug, Default)]
struct MinresWorkspace {
    /// Lanczos vectors without their length, old and new.
    r1: Vec<f64>,
    r2: Vec<f64>,
    v: Vec<f64>,
    y: Vec<f64>,
    w: [Vec<f64>; 3],
}

krylov_solver!(MinimalResidual);

impl Pass for MinresWorkspace {
    fn resize(&mut self, n: usize, _: usize) {
        let [w0, w1, w2] = &mut self.w;
        resize_all(
            [&mut self.r1, &mut self.r2, &mut self.v, &mut self.y, w0, w1, w2],
            n,
        );
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let Self { r1, r2, v, y, w } = self;
        w.iter_mut().for_each(|w| w.fill(0.0));
        r1.copy_from_slice(r);
        r2.copy_from_slice(r);
        m.apply(r2, y);
        let mut beta = match length(r2, y) {
            Ok(beta) if beta > 0.0 => beta,
            Ok(_) => return End::zero_product(),
            Err(end) => return end,
        };
        let (mut old_beta, mut dbar, mut epsilon, mut phibar) = (0.0, 0.0, 0.0, beta);
        let (mut cs, mut sn) = (-1.0, 0.0);
        let mut largest = 0.0f64;
        loop {
            for (v, y) in v.iter_mut().zip(y.iter()) {
                *v = y / beta;
            }
            a.apply(v, y);
            if old_beta > 0.0 {
                axpy(-beta / old_beta, r1, y);
            }
            let alpha = dot(v, y);
            axpy(-alpha / beta, r2, y);
            std::mem::swap(r1, r2);
            r2.copy_from_slice(y);
            m.apply(r2, y);
            old_beta = beta;
            beta = match length(r2, y) {
                Ok(beta) => beta,
                Err(end) => return end,
            };
            // An alpha that is not finite is in the length.
            largest = largest.max(alpha.hypot(beta));
            let invariant = beta <= f64::EPSILON * largest;

            // The old rotation, then the new one.
            let old_epsilon = epsilon;
            let delta = cs * dbar + sn * alpha;
            let gbar = sn * dbar - cs * alpha;
            epsilon = sn * beta;
            dbar = -cs * beta;
            // |A r| / |r| of the residual so far: zero at a least-squares solution.
            if gbar.hypot(dbar) <= 4.0 * f64::EPSILON * largest {
                return End::Exhausted;
            }
            // Not zero: |dbar| <= beta.
            let gamma = gbar.hypot(beta);
            cs = gbar / gamma;
            sn = beta / gamma;
            let phi = cs * phibar;
            phibar *= sn;

            w.rotate_left(1);
            let [w1, w2, new] = w;
            for i in 0..new.len() {
                new[i] = (v[i] - old_epsilon * w1[i] - delta * w2[i]) / gamma;
                d[i] += phi * new[i];
            }
            let (keep, add) = if beta > 0.0 {
                (sn * sn, -phibar * cs / beta)
            } else {
                (0.0, 0.0)
            };
            for (r, v) in r.iter_mut().zip(r2.iter()) {
                *r = keep * *r + add * v;
            }
            if let Some(end) = pace.step(norm(r)) {
                return end;
            }
            if invariant {
                return End::Exhausted;
            }
        }
    }
}

/// `(r^T M^-1 r)^(1/2)`.
fn length(r: &[f64], y: &[f64]) -> Result<f64, End> {
    match positive_product(r, y) {
        Some(square) if square.is_finite() => Ok(square.sqrt()),
        Some(_) => Err(End::not_finite()),
        None => Err(indefinite(r, y)),
    }
}
