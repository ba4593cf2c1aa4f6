//! Stabilised bi-conjugate gradients.

use crate::drive::{Correction, End, Frame, Pace, Pass, krylov_solver, resize_all};
use crate::{axpy, dot, norm};

/// BiCGSTAB for any `A`, preconditioned from the right by any `M`.
///
/// With a fixed shadow `q = r_0`, `p' = M^-1 p`, `s' = M^-1 s`:
///
/// ```math
/// alpha = q^T r / q^T A p',  s = r - alpha A p',  omega = s^T A s' / |A s'|^2,
/// x += alpha p' + omega s',  r = s - omega A s',  beta = (q^T r / (q^T r)_old)(alpha/omega),  p = r + beta (p - omega A p')
/// ```
///
/// Nothing is minimised but over one direction at a time: the residual is erratic, and it breaks
/// down where `q^T r`, `q^T A p'` or `omega` vanishes (matrices with a spectrum near the imaginary
/// axis). A breakdown after progress starts again with a new shadow, `r`, or
/// `r + A M^-1 r |r|/|A M^-1 r|` where `r` is orthogonal to its product. Memory does not grow,
/// which is how it differs from [`GeneralMinimalResidual`](crate::GeneralMinimalResidual).
///
/// Cost per iteration: two products, two applications of `M`, `29 n`. Source: van der Vorst 1992.
#[derive(Clone, Debug, Default)]
pub struct BiConjugateGradient {
    pub(crate) frame: Frame,
    work: BicgstabWorkspace,
}

#[derive(Clone, Debug, Default)]
struct BicgstabWorkspace {
    shadow: Vec<f64>,
    p: Vec<f64>,
    mp: Vec<f64>,
    v: Vec<f64>,
    ms: Vec<f64>,
    t: Vec<f64>,
}

krylov_solver!(BiConjugateGradient);

/// Cosine of an angle below which two vectors count as orthogonal.
const ORTHOGONAL: f64 = 1e-15;

impl Pass for BicgstabWorkspace {
    fn resize(&mut self, n: usize, _: usize) {
        resize_all(
            [
                &mut self.shadow,
                &mut self.p,
                &mut self.mp,
                &mut self.v,
                &mut self.ms,
                &mut self.t,
            ],
            n,
        );
    }

    fn run(&mut self, Correction { a, m, r, d }: Correction<'_>, pace: &mut Pace<'_>) -> End {
        let Self {
            shadow,
            p,
            mp,
            v,
            ms,
            t,
        } = self;
        shadow.copy_from_slice(r);
        p.copy_from_slice(r);
        let mut shadow_norm = norm(shadow);
        let mut rho = dot(shadow, r);
        let mut fresh = true;
        loop {
            m.apply(p, mp);
            a.apply(mp, v);
            let mut qv = dot(shadow, v);
            if !qv.is_finite() {
                return End::not_finite();
            }
            let size = norm(v);
            let orthogonal = |qv: f64, of: f64| qv.abs() <= ORTHOGONAL * of * size;
            if fresh && size > 0.0 && orthogonal(qv, shadow_norm) {
                // So it is wherever `omega` vanished before. With as much of the product in the
                // shadow neither of its two products vanishes.
                axpy(shadow_norm / size, v, shadow);
                shadow_norm = norm(shadow);
                (rho, qv) = (dot(shadow, r), dot(shadow, v));
            }
            fresh = false;
            if orthogonal(qv, shadow_norm) {
                return End::zero_product();
            }
            let alpha = rho / qv;
            if !alpha.is_finite() {
                return End::not_finite();
            }
            axpy(alpha, mp, d);
            axpy(-alpha, v, r);
            let half = norm(r);
            if half == 0.0 || pace.met(half) {
                return pace.step(half).unwrap_or(End::Exhausted);
            }
            m.apply(r, ms);
            a.apply(ms, t);
            let (ts, tt) = (dot(t, r), dot(t, t));
            if !ts.is_finite() || !tt.is_finite() {
                return End::not_finite();
            }
            let omega = if tt > 0.0 { ts / tt } else { 0.0 };
            axpy(omega, ms, d);
            axpy(-omega, t, r);
            let size = norm(r);
            if let Some(end) = pace.step(size) {
                return end;
            }
            let new = dot(shadow, r);
            // So it is where `omega` vanishes: `s` is orthogonal to the shadow.
            if new.abs() <= ORTHOGONAL * shadow_norm * size {
                return End::zero_product();
            }
            let beta = new / rho * (alpha / omega);
            if !beta.is_finite() {
                return End::not_finite();
            }
            rho = new;
            for i in 0..p.len() {
                p[i] = r[i] + beta * (p[i] - omega * v[i]);
            }
        }
    }
}
