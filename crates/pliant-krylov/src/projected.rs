//! Projected conjugate gradients.

use crate::cg::preconditioned;
use crate::constraint::ConstraintPreconditioner;
use crate::drive::{End, resize_all};
use crate::operator::add_free_transpose_product;
use crate::{
    Breakdown, KktOperator, KrylovOptions, KrylovReport, KrylovStatus, LinearOperator, Preconditioner, axpy,
    curvature, dot, norm, xpby,
};
use pliant_solvers::{KktSystem, SolveError};

/// Conjugate gradients on the solution set of the rows of `K z = rhs`.
///
/// One application of the constraint preconditioner `M` finds a point that obeys the rows. From
/// there all residuals have the form `(r, 0)` and all directions obey `J p_1 + R p_2 = 0`, where
///
/// ```math
/// p^T K p = p_1^T W p_1 + p_2^T R p_2
/// ```
///
/// is positive although `K` is not definite. The multipliers of hard rows have no curvature: what
/// `M` proposes for them is taken in full (the residual update of Gould, Hribar and Nocedal 2001,
/// section 5), or `r` would not become small. With compliant rows: Dollar, Gould, Schilders and
/// Wathen 2006. What rounding leaves in the rows is cut off here and comes back with the next true
/// residual.
#[derive(Debug, Default)]
pub(crate) struct Projected {
    pub(crate) history: Vec<f64>,
    m_z: Vec<f64>,
    p: Vec<f64>,
    kp: Vec<f64>,
    hard: Vec<f64>,
    force: Vec<f64>,
}

impl Projected {
    /// Adds to `z` what solves for `rhs`, which is overwritten. The residual is to be reduced by
    /// the tolerance.
    pub(crate) fn solve(
        &mut self,
        system: &KktSystem,
        m: &ConstraintPreconditioner<'_>,
        options: &KrylovOptions,
        rhs: &mut [f64],
        z: &mut [f64],
    ) -> Result<KrylovReport, SolveError> {
        let (n, size) = (system.n(), rhs.len());
        let k = KktOperator::new(system)?;
        let Self {
            history,
            m_z,
            p,
            kp,
            hard,
            force,
        } = self;
        resize_all([m_z, p, kp], size);
        resize_all([hard], size - n);
        resize_all([force], n);
        history.clear();
        let start = norm(rhs);
        m.apply(rhs, m_z);
        k.apply(m_z, kp);
        axpy(1.0, m_z, z);
        for (r, s) in rhs[..n].iter_mut().zip(&*kp) {
            *r -= s;
        }
        let (r, rows) = rhs.split_at_mut(n);
        rows.fill(0.0);
        let mut iterations = 0;
        let mut last = None;
        let status = loop {
            // M^-1 (r, 0), of which hard rows take their part at once.
            kp[..n].copy_from_slice(r);
            kp[n..].fill(0.0);
            m.apply(kp, m_z);
            for i in 0..system.m() {
                let is_hard = system.r_diagonal(i) == 0.0;
                hard[i] = if is_hard {
                    std::mem::take(&mut m_z[n + i])
                } else {
                    0.0
                };
            }
            axpy(1.0, hard, &mut z[n..]);
            force.fill(0.0);
            add_free_transpose_product(system, 1.0, hard, force);
            axpy(1.0, force, r);
            let size = norm(r);
            if options.history {
                history.push(size);
            }
            if !size.is_finite() {
                break KrylovStatus::Breakdown {
                    kind: Breakdown::NotFinite,
                };
            }
            if size <= options.tolerance * start {
                break KrylovStatus::Converged;
            }
            if iterations >= options.max_iterations {
                break KrylovStatus::MaxIterations;
            }
            let rz = match preconditioned(r, &m_z[..n]) {
                Ok(rz) => rz,
                Err(End::Broken { rounding: true, .. }) => break KrylovStatus::Stagnated,
                Err(End::Broken { kind, .. }) => break KrylovStatus::Breakdown { kind },
                Err(_) => break KrylovStatus::Stagnated,
            };
            match last {
                None => p.copy_from_slice(m_z),
                Some(old) => xpby(m_z, rz / old, p),
            }
            last = Some(rz);
            k.apply(p, kp);
            // The rows of K p are zero but for rounding.
            let pkp = dot(&p[..n], &kp[..n]);
            if !pkp.is_finite() {
                break KrylovStatus::Breakdown {
                    kind: Breakdown::NotFinite,
                };
            }
            if pkp <= 0.0 {
                let curvature = curvature(&p[..n], &kp[..n]).min(0.0);
                break KrylovStatus::Breakdown {
                    kind: Breakdown::Indefinite { curvature },
                };
            }
            let alpha = rz / pkp;
            axpy(alpha, p, z);
            axpy(-alpha, &kp[..n], r);
            iterations += 1;
        };
        Ok(KrylovReport {
            status,
            iterations,
            restarts: 0,
            residual: norm(r),
            relative: norm(r) / start,
        })
    }
}
