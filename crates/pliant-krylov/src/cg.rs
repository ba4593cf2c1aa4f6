//! Conjugate gradients.

use crate::drive::{Correction, End, Frame, Pace, Pass, krylov_solver, positive_product, resize_all};
use crate::{Breakdown, axpy, curvature, dot, norm, xpby};

/// Conjugate gradients for symmetric positive (semi)definite `A`, with a symmetric positive
/// definite preconditioner `M`.
///
/// ```math
/// alpha = r^T z / p^T A p,  x += alpha p,  r -= alpha A p,  z = M^-1 r,  beta = r^T z / (r^T z)_old,  p = z + beta p
/// ```
///
/// The error decreases in the energy norm `(e^T A e)^(1/2)`, to zero in exact arithmetic after as
/// many iterations as `M^-1 A` has distinct eigenvalues; in general by
/// `2 ((sqrt(k) - 1)/(sqrt(k) + 1))^i` after i, `k` the condition number of `M^-1 A`. The residual
/// may grow meanwhile. Where `p^T A p <= 0` it stops with [`Breakdown::Indefinite`]; `x` then
/// minimises the energy over the directions before, and [`Self::direction`] is `p`.
///
/// Cost per iteration: one product, one application of `M`, `15 n`. Source: Hestenes and Stiefel
/// 1952; preconditioned: Concus, Golub and O'Leary 1976. Differs from
/// [`ConjugateResidual`](crate::ConjugateResidual) in what is minimised.
#[derive(Clone, Debug, Default)]
pub struct ConjugateGradient {
    pub(crate) frame: Frame,
    work: CgWorkspace,
}

#[derive(Clone, Debug, Default)]
struct CgWorkspace {
    z: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
}

krylov_solver!(ConjugateGradient);

impl ConjugateGradient {
    /// The last direction of search, scaled arbitrarily: one of negative or zero curvature after
    /// [`Breakdown::Indefinite`].
    pub fn direction(&self) -> &[f64] {
        &self.work.p
    }
}

impl Pass for CgWorkspace {
    const ENERGY: bool = true;

    fn resize(&mut self, n: usize, _: usize) {
        resize_all([&mut self.z, &mut self.p, &mut self.ap], n);
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let Self { z, p, ap } = self;
        m.apply(r, z);
        p.copy_from_slice(z);
        let mut rz = match preconditioned(r, z) {
            Ok(rz) => rz,
            Err(end) => return end,
        };
        loop {
            a.apply(p, ap);
            let pap = dot(p, ap);
            if !pap.is_finite() {
                return End::not_finite();
            }
            if pap <= 0.0 {
                let curvature = curvature(p, ap);
                if curvature > 0.0 {
                    return End::zero_product(); // The product underflowed.
                }
                return End::Broken {
                    kind: Breakdown::Indefinite { curvature },
                    rounding: positive_product(p, ap).is_some(),
                };
            }
            let alpha = rz / pap;
            if !alpha.is_finite() {
                return End::not_finite();
            }
            axpy(alpha, p, d);
            axpy(-alpha, ap, r);
            if let Some(end) = pace.step(norm(r)) {
                return end;
            }
            m.apply(r, z);
            let old = rz;
            rz = match preconditioned(r, z) {
                Ok(rz) => rz,
                Err(end) => return end,
            };
            xpby(z, rz / old, p);
        }
    }
}

/// `r^T z`, or why there is no going on.
pub(crate) fn preconditioned(r: &[f64], z: &[f64]) -> Result<f64, End> {
    match positive_product(r, z) {
        Some(rz) if rz > 0.0 && rz.is_finite() => Ok(rz),
        Some(rz) if rz > 0.0 => Err(End::not_finite()),
        Some(_) => Err(End::zero_product()),
        None => Err(indefinite(r, z)),
    }
}

/// Why `r^T M^-1 r` is not positive.
pub(crate) fn indefinite(r: &[f64], z: &[f64]) -> End {
    if !dot(r, z).is_finite() {
        return End::not_finite();
    }
    End::Broken {
        kind: Breakdown::IndefinitePreconditioner {
            curvature: curvature(r, z).min(0.0),
        },
        rounding: false,
    }
}
