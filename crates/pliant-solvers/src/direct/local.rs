//! Combinations of rows that exert no force, from the factor: only where the rows are.

use super::plan::Plan;
use super::rank::FORCELESS;
use super::scale::NEGLIGIBLE as HARD;
use crate::{KktSystem, Variable};
use pliant_sparse::Dependence;

/// Share of the largest entry of a combination, in the units of the factor, below which another is
/// rounding.
const NEGLIGIBLE: f64 = 1e-14;
/// Terms of a force below this share of the largest do not count, as in the measure of combinations
/// that are solved for.
const SMALL: f64 = 1e-9;
/// Rows of a combination up to which it is refined among themselves.
const FEW: usize = 48;
/// Refinements at most: what the factor leaves is a few dozen roundings, each gains many digits.
const MOST_REFINEMENTS: usize = 2;

/// Scratch for combinations of few rows.
#[derive(Debug, Default)]
pub(super) struct Local {
    dependence: Dependence,
    /// Rows of the combination beside the dropped one, and their share; the dropped one is last.
    rows: Vec<(usize, f64)>,
    /// The force on each variable, and the size of its terms: zero between uses.
    force: Vec<(f64, f64)>,
    /// Variables that a row of the combination acts on, each as often as there are such rows.
    touched: Vec<u32>,
    /// A row of `J`, n: zero between uses.
    scattered: Vec<f64>,
    /// `J_s J_s^T` of the rows beside the dropped one, then its factor `L`, and a vector.
    gram: Vec<f64>,
    rhs: Vec<f64>,
    /// The combination, m.
    column: Vec<f64>,
}

impl Local {
    /// The combination `n` with `n_d = 1` and `J^T n = 0` of a dropped row `d`, if its force is
    /// rounding: `K z = p L e` for `z = L^-T e`, with the pivot `p` that was dropped, so that
    /// nothing is left to be solved for where `p` is as small as rounding. What the rounding of the
    /// factor leaves is the least there is among the same rows. Cost: a look at the elimination
    /// tree, the entries of the rows of `n` and, for `k` of them, up to `k^3/3`.
    /// None of a factor that chose its pivots.
    pub(super) fn find(&mut self, system: &KktSystem, plan: &Plan, d: usize) -> Option<&mut [f64]> {
        if plan.kernel.chooses_pivots() {
            return None;
        }
        self.collect(system, plan, d);
        // With compliance in it, the combination has a motion of its own to be solved for.
        let is_hard = |row: usize| system.r_diagonal(row) <= HARD * system.row_scale(row);
        if !self.rows.iter().all(|(row, _)| is_hard(*row)) {
            return None;
        }
        let mut share = self.measure(system);
        let is_few = self.rows.len() <= FEW;
        if share > FORCELESS && is_few && self.factor(system, plan) {
            for _ in 0..MOST_REFINEMENTS {
                self.refine(system, plan);
                self.clear_force();
                share = self.measure(system);
                if share <= FORCELESS {
                    break;
                }
            }
        }
        self.clear_force();
        // A NaN is no combination.
        if share.is_nan() || share > FORCELESS {
            return None;
        }
        self.column.clear();
        self.column.resize(system.m(), 0.0);
        for (i, share) in &self.rows {
            self.column[*i] = *share;
        }
        Some(&mut self.column)
    }

    /// Takes the rows that the factor names. Other dropped rows say nothing.
    fn collect(&mut self, system: &KktSystem, plan: &Plan, d: usize) {
        let (n, m) = (system.n(), system.m());
        let own = plan.position[n + d] as usize;
        plan.kernel.dependence(own, NEGLIGIBLE, &mut self.dependence);
        self.force.resize(n, (0.0, 0.0));
        self.scattered.resize(n, 0.0);
        self.touched.reserve(system.j.values().len());
        self.gram.reserve(FEW * FEW);
        self.rhs.reserve(FEW);
        self.rows.clear();
        self.rows.reserve(m);
        let unit = plan.scale[n + d];
        for (position, value) in self.dependence.entries() {
            if let Variable::Row(i) = plan.variable(position, n)
                && i != d
                && !plan.kernel.is_dropped(position)
            {
                self.rows.push((i, value * plan.scale[n + i] / unit));
            }
        }
        self.rows.push((d, 1.0));
    }

    /// The force and the sizes of its terms; the largest share of these that it is.
    fn measure(&mut self, system: &KktSystem) -> f64 {
        self.touched.clear();
        for (i, own) in &self.rows {
            for (k, a) in system.j.row_entries(*i).filter(|(k, _)| !system.fixed[*k]) {
                let term = a * own;
                let force = &mut self.force[k];
                force.0 += term;
                force.1 += term.abs();
                self.touched.push(k as u32);
            }
        }
        let all = || self.touched.iter().map(|k| self.force[*k as usize]);
        let largest = all().fold(0.0f64, |a, (_, size)| a.max(size));
        if !largest.is_finite() {
            return f64::NAN;
        }
        let terms = all().filter(|(_, size)| *size > SMALL * largest);
        terms.fold(0.0f64, |a, (sum, size)| a.max(sum.abs() / size))
    }

    fn clear_force(&mut self) {
        for k in &self.touched {
            self.force[*k as usize] = (0.0, 0.0);
        }
    }

    /// The Cholesky factor of `J_s J_s^T` for the rows beside the dropped one, in the units of the
    /// factor; false if they are dependent.
    fn factor(&mut self, system: &KktSystem, plan: &Plan) -> bool {
        let n = system.n();
        let count = self.rows.len() - 1;
        let entries = |i: usize| {
            let free = system.j.row_entries(i).filter(|(k, _)| !system.fixed[*k]);
            free.map(move |(k, a)| (k, plan.scale[n + i] * a * plan.scale[k]))
        };
        let gram = &mut self.gram;
        gram.clear();
        gram.resize(count * count, 0.0);
        for a in 0..count {
            entries(self.rows[a].0).for_each(|(k, value)| self.scattered[k] = value);
            for b in 0..=a {
                let products = entries(self.rows[b].0).map(|(k, value)| value * self.scattered[k]);
                gram[a * count + b] = products.sum();
            }
            entries(self.rows[a].0).for_each(|(k, _)| self.scattered[k] = 0.0);
        }
        for a in 0..count {
            for b in 0..=a {
                let known = (0..b).map(|c| gram[a * count + c] * gram[b * count + c]);
                let rest = gram[a * count + b] - known.sum::<f64>();
                if a == b {
                    // Rows that are dependent but for rounding tell nothing.
                    if rest.is_nan() || rest <= f64::EPSILON * gram[a * count + a] {
                        return false;
                    }
                    gram[a * count + a] = rest.sqrt();
                } else {
                    gram[a * count + b] = rest / gram[b * count + b];
                }
            }
        }
        true
    }

    /// Takes from the shares of the rows beside the dropped one what makes the force least.
    fn refine(&mut self, system: &KktSystem, plan: &Plan) {
        let n = system.n();
        let count = self.rows.len() - 1;
        let (gram, rhs) = (&self.gram, &mut self.rhs);
        rhs.clear();
        for (i, _) in &self.rows[..count] {
            let free = system.j.row_entries(*i).filter(|(k, _)| !system.fixed[*k]);
            let scale = |k: usize| plan.scale[k] * plan.scale[k];
            let sum: f64 = free.map(|(k, a)| a * scale(k) * self.force[k].0).sum();
            rhs.push(plan.scale[n + i] * sum);
        }
        for a in 0..count {
            let known: f64 = (0..a).map(|c| gram[a * count + c] * rhs[c]).sum();
            rhs[a] = (rhs[a] - known) / gram[a * count + a];
        }
        for a in (0..count).rev() {
            let known: f64 = (a + 1..count).map(|c| gram[c * count + a] * rhs[c]).sum();
            rhs[a] = (rhs[a] - known) / gram[a * count + a];
        }
        for ((i, share), y) in self.rows.iter_mut().zip(rhs) {
            *share -= plan.scale[n + *i] * *y;
        }
    }
}
