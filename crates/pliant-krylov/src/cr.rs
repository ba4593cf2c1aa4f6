//! Conjugate residuals.

use crate::cg::preconditioned;
use crate::drive::{Correction, End, Frame, Pace, Pass, krylov_solver, resize_all};
use crate::{axpy, dot, norm, xpby};

/// Conjugate residuals for symmetric `A`, with a symmetric positive definite preconditioner `M`.
///
/// ```math
/// alpha = z^T A z / (A p)^T M^-1 A p,  x += alpha p,  r -= alpha A p,  z -= alpha M^-1 A p,
/// beta = z^T A z / (z^T A z)_old,  p = z + beta p,  A p = A z + beta A p
/// ```
///
/// The residual decreases in the norm `(r^T M^-1 r)^(1/2)` and is the least possible in the Krylov
/// space: the iterates of [`MinimalResidual`](crate::MinimalResidual) with fewer vectors, but it
/// ends with [`ZeroInnerProduct`](crate::Breakdown::ZeroInnerProduct) at `z^T A z = 0`, which an
/// indefinite `A` allows.
///
/// Cost per iteration: one product, one application of `M`, `21 n`. Source: Stiefel 1955; Saad
/// 2003, algorithm 6.20.
#[derive(Clone, Debug, Default)]
pub struct ConjugateResidual {
    pub(crate) frame: Frame,
    work: CrWorkspace,
}

#[derive(Clone, Debug, Default)]
struct CrWorkspace {
    z: Vec<f64>,
    az: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
    map: Vec<f64>,
}

krylov_solver!(ConjugateResidual);

impl Pass for CrWorkspace {
    fn resize(&mut self, n: usize, _: usize) {
        resize_all(
            [
                &mut self.z,
                &mut self.az,
                &mut self.p,
                &mut self.ap,
                &mut self.map,
            ],
            n,
        );
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let Self { z, az, p, ap, map } = self;
        m.apply(r, z);
        if let Err(end) = preconditioned(r, z) {
            return end;
        }
        a.apply(z, az);
        p.copy_from_slice(z);
        ap.copy_from_slice(az);
        let mut zaz = dot(z, az);
        loop {
            m.apply(ap, map);
            // Zero where A p is: p is in the null space, nothing more can be gained.
            let length = match preconditioned(ap, map) {
                Ok(length) => length,
                Err(end) => return end,
            };
            let alpha = zaz / length;
            if !alpha.is_finite() {
                return End::not_finite();
            }
            // By Cauchy-Schwarz |z^T A z| <= |r|_M |A p|_M: smaller by all digits means that the
            // method stands still.
            if alpha == 0.0 || zaz * zaz <= (f64::EPSILON * f64::EPSILON) * length * dot(r, z).abs() {
                return End::zero_product();
            }
            axpy(alpha, p, d);
            axpy(-alpha, ap, r);
            axpy(-alpha, map, z);
            if let Some(end) = pace.step(norm(r)) {
                return end;
            }
            a.apply(z, az);
            let old = zaz;
            zaz = dot(z, az);
            let beta = zaz / old;
            if !beta.is_finite() {
                return End::not_finite();
            }
            xpby(z, beta, p);
            xpby(az, beta, ap);
        }
    }
}
