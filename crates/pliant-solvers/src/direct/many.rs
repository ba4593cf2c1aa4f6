//! The factor for several right-hand sides at once, and alone, as a preconditioner for other
//! systems of the same pattern.

use super::DirectSolver;
use super::plan::ABSENT;
use super::times::Laps;
use crate::bounds::BoundsReport;
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};
use pliant_sparse::Reach;

/// The right-hand side of one of several solves with the same matrices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RightHandSide {
    /// Of the primal rows, n; what stands at fixed variables does not matter.
    pub c: Vec<f64>,
    /// Of the constraint rows, m.
    pub b: Vec<f64>,
}

/// Scratch of quadratic forms.
#[derive(Debug, Default)]
pub(super) struct Gram {
    reach: Reach,
    /// Entries of the scaled vectors.
    scaled: Vec<(usize, usize, f64)>,
}

/// Room for several right-hand sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Right-hand sides of the scaled, permuted matrix, one after the other.
    pub(super) rhs: Vec<f64>,
    /// The one that is being gathered.
    pub(super) one: Vec<f64>,
    pub(super) best: Vec<Solution>,
    done: Vec<bool>,
}

impl DirectSolver {
    /// Solves for several right-hand sides in the place of `system.c` and `system.b`, reading the
    /// factor once for many of them. Every answer is refined, checked and reported as one of
    /// [`Self::solve`], and equal to it up to rounding. Allocates only for more of them than ever
    /// before.
    ///
    /// # Errors
    /// As [`Self::solve`], and [`SolveError::Size`] if a right-hand side has the wrong lengths. The
    /// first that fails ends them all.
    pub fn solve_many(
        &mut self,
        system: &KktSystem,
        right_hand_sides: &[RightHandSide],
        solutions: &mut Vec<Solution>,
        reports: &mut Vec<SolveReport>,
    ) -> Result<(), SolveError> {
        reports.clear();
        system.check()?;
        system.check_bilateral()?;
        let (n, m, count) = (system.n(), system.m(), right_hand_sides.len());
        if !self.ready || self.is_holding() || !self.plan.as_ref().is_some_and(|p| p.fits(system)) {
            return Err(SolveError::NotPrepared);
        }
        for side in right_hand_sides {
            crate::check_size("c", n, side.c.len())?;
            crate::check_size("b", m, side.b.len())?;
            system.check_right_hand_side(&side.c, &side.b)?;
        }
        solutions.resize_with(count, Solution::default);
        let scratch = &mut self.many;
        scratch
            .best
            .resize_with(count.max(scratch.best.len()), Solution::default);
        scratch.done.clear();
        scratch.done.resize(count, false);
        for solution in solutions.iter_mut() {
            for (v, size) in [(&mut solution.x, n), (&mut solution.mu, m)] {
                v.clear();
                v.resize(size, 0.0);
            }
        }
        reports.resize(
            count,
            SolveReport {
                status: Status::Stagnated,
                residual: KktResidual {
                    relative: f64::INFINITY,
                    ..KktResidual::default()
                },
                iterations: 0,
                refinements: 0,
                redundant_rows: m - self.inertia.1,
                inertia: self.inertia,
                bounds: BoundsReport::default(),
            },
        );
        let mut laps = Laps::start();
        for pass in 0..=self.options.max_refinements {
            let plan = self.plan.as_mut().ok_or(SolveError::NotPrepared)?;
            self.many.rhs.clear();
            for k in 0..count {
                if !self.many.done[k] {
                    let side = &right_hand_sides[k];
                    let refinement = &mut self.refinement;
                    refinement.agree(&side.b, &self.redundancy.null_space);
                    if pass == 0 {
                        refinement.residual.start(&side.c, &refinement.b);
                    } else {
                        // The answer before the last correction is in `best`, its residual is gone.
                        refinement.measure(system, &side.c, &self.rows, &solutions[k]);
                    }
                    let residual = &refinement.residual;
                    plan.gather(&residual.primal, &residual.row, &[], &mut self.many.one);
                    self.many.rhs.extend_from_slice(&self.many.one);
                }
            }
            if self.many.rhs.is_empty() {
                break;
            }
            laps.add_to(&mut self.times.judge);
            plan.kernel.solve_in_place(&mut self.many.rhs);
            laps.add_to(if pass == 0 {
                &mut self.times.solve
            } else {
                &mut self.times.refine
            });
            let size = plan.elimination.sequence.len();
            let mut at = 0;
            for (k, solution) in solutions.iter_mut().enumerate() {
                if self.many.done[k] {
                    continue;
                }
                self.counters.solves += 1;
                if pass > 0 {
                    self.many.best[k].clone_from(solution);
                }
                plan.add_scaled(&self.many.rhs[at..at + size], solution);
                at += size;
                let null_space = &self.redundancy.null_space;
                null_space.remove(&mut solution.mu);
                let (side, refinement) = (&right_hand_sides[k], &mut self.refinement);
                refinement.agree(&side.b, null_space);
                let mut measure = refinement.measure(system, &side.c, &self.rows, solution);
                let report = &mut reports[k];
                report.refinements = pass;
                let better = measure.relative < report.residual.relative;
                if !better && pass > 0 {
                    std::mem::swap(solution, &mut self.many.best[k]);
                    measure = refinement.measure(system, &side.c, &self.rows, solution);
                }
                report.residual = measure;
                let last = pass == self.options.max_refinements;
                if last || !better || measure.relative < 1e-14 {
                    self.many.done[k] = true;
                    if !measure.is_finite() {
                        return Err(SolveError::NotFinite {
                            variable: first_not_finite(solution),
                        });
                    }
                    report.bounds.natural = measure.row;
                    if measure.relative <= self.options.tolerance {
                        report.status = Status::Converged;
                    }
                    let tolerance = self.options.incompatibility;
                    let found =
                        self.redundancy
                            .contradiction(system, &side.b, &solution.x, refinement, tolerance);
                    if let Some((row, violation)) = found {
                        reports[k].status = Status::Incompatible { row, violation };
                    }
                }
            }
            laps.add_to(&mut self.times.judge);
        }
        Ok(())
    }

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
        let (symbolic, factor) = plan.kernel.by_blocks()?;
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

fn first_not_finite(solution: &Solution) -> Variable {
    let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
    let dof = bad(&solution.x).map(Variable::Dof);
    dof.or_else(|| bad(&solution.mu).map(Variable::Row))
        .unwrap_or(Variable::Dof(0))
}
