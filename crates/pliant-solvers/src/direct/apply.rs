//! The factor alone, as a preconditioner for other systems of the same pattern.

use super::DirectSolver;
use super::kernel::Kernel;
use super::plan::ABSENT;
use pliant_sparse::Reach;

/// Scratch of quadratic forms.
#[derive(Debug, Default)]
pub(super) struct Gram {
    reach: Reach,
    /// Entries of the scaled vectors.
    scaled: Vec<(usize, usize, f64)>,
}

impl DirectSolver {
    /// Order `n + m` of the system that the factors belong to, if there are any.
    pub fn factored_size(&self) -> Option<usize> {
        let plan = self.plan.as_ref().filter(|_| self.ready)?;
        Some(plan.position.len())
    }

    /// `z = K^-1 r` by the factors as they are, without refinement; `z = r` at fixed variables. The
    /// multipliers of redundant rows come out with minimum norm. Nothing happens before a
    /// `prepare`. Cost `4 nnz(L)`.
    pub fn apply_factors(&mut self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        let Some(plan) = self.plan.as_mut().filter(|_| self.ready) else {
            return;
        };
        let n = z.len() - self.rows.dropped.len();
        self.redundancy.null_space.remove(&mut z[n..]);
        let order = &plan.elimination.sequence;
        let rhs = &mut self.refinement.rhs;
        rhs.clear();
        rhs.extend(order.iter().map(|v| plan.scale[*v] * z[*v]));
        plan.kernel.solve_in_place(rhs);
        for ((v, position), scale) in z.iter_mut().zip(&plan.position).zip(&plan.scale) {
            if *position != ABSENT {
                *v = scale * rhs[*position as usize];
            }
        }
        self.redundancy.null_space.remove(&mut z[n..]);
    }

    /// As [`Self::apply_factors`] for as many right-hand sides as `r` holds one after another;
    /// several read the factor once.
    pub fn apply_factors_to(&mut self, r: &[f64], z: &mut Vec<f64>) {
        z.clear();
        z.extend_from_slice(r);
        let Some(plan) = self.plan.as_mut().filter(|_| self.ready) else {
            return;
        };
        let size = plan.position.len();
        let n = size - self.rows.dropped.len();
        let order = &plan.elimination.sequence;
        if order.is_empty() {
            return;
        }
        self.many.rhs.clear();
        for z in z.chunks_exact_mut(size) {
            self.redundancy.null_space.remove(&mut z[n..]);
            self.many.rhs.extend(order.iter().map(|v| plan.scale[*v] * z[*v]));
        }
        plan.kernel.solve_in_place(&mut self.many.rhs);
        for (z, y) in z
            .chunks_exact_mut(size)
            .zip(self.many.rhs.chunks_exact(order.len()))
        {
            for (v, x) in order.iter().zip(y) {
                z[*v] = plan.scale[*v] * x;
            }
            self.redundancy.null_space.remove(&mut z[n..]);
        }
    }

    /// `out += B^T K^-1 B` for `count` vectors on the free variables, by their entries
    /// `(vector, variable, value)`, where the factor is by blocks: the block columns that it took.
    /// `None` for other factors, and before a `prepare`.
    pub(crate) fn add_gram(
        &mut self,
        count: usize,
        entries: &[(usize, usize, f64)],
        out: &mut [f64],
    ) -> Option<usize> {
        let plan = self.plan.as_ref().filter(|_| self.ready)?;
        let Kernel::Blocks { symbolic, factor } = &plan.kernel else {
            return None;
        };
        let Gram { reach, scaled: list } = &mut self.gram;
        list.clear();
        let scaled = entries.iter().map(|(vector, i, value)| {
            let position = plan.position[*i] as usize;
            (*vector, position, plan.scale[*i] * value)
        });
        list.extend(scaled);
        factor.add_gram(symbolic, count, list, reach, out);
        Some(reach.visited())
    }
}
