//! The factor alone, as a preconditioner for other systems of the same pattern.

use super::DirectSolver;
use super::plan::ABSENT;

impl DirectSolver {
    /// Order `n + m` of the system that the factors belong to, if there are any.
    pub(crate) fn factored_size(&self) -> Option<usize> {
        let plan = self.plan.as_ref().filter(|_| self.ready)?;
        Some(plan.position.len())
    }

    /// `z = K^-1 r` by the factors as they are, without refinement; `z = r` at fixed variables. The multipliers of
    /// redundant rows come out with minimum norm. Nothing happens before a `prepare`. Cost `4 nnz(L)`.
    pub(crate) fn apply_factors(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let Some(plan) = self.plan.as_mut().filter(|_| self.ready) else {
            return;
        };
        let n = z.len() - self.dropped.len();
        self.null_space.remove(&mut z[n..]);
        let order = &plan.elimination.sequence;
        self.rhs.clear();
        self.rhs.extend(order.iter().map(|v| plan.scale[*v] * z[*v]));
        plan.kernel.solve_in_place(&mut self.rhs);
        for ((v, position), scale) in z.iter_mut().zip(&plan.position).zip(&plan.scale) {
            if *position != ABSENT {
                *v = scale * self.rhs[*position as usize];
            }
        }
        self.null_space.remove(&mut z[n..]);
    }
}
