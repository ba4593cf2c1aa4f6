//! The primal active-set method: every step stays within the bounds and lowers the energy.

use super::{BoxSolver, Survey};
use crate::KktSystem;
use crate::bounds::BoundState;

impl BoxSolver {
    /// Starts the descent from the multipliers at hand, moved into their bounds.
    pub(super) fn enter(&mut self, system: &KktSystem, mu: &[f64]) {
        self.feasible.clear();
        let inside = mu.iter().zip(&system.bounds);
        self.feasible
            .extend(inside.map(|(mu, (lower, upper))| mu.max(*lower).min(*upper)));
    }

    /// One step, given the minimum `mu` over the free rows: to it and one row let go, or as far as
    /// the bounds allow and the rows that ended it held. If the free rows contradict each other
    /// there is no minimum: then along the contradiction. To be called only if a row violates its
    /// law: some row then changes. Cost `O(nnz(J))`.
    pub(super) fn descend(&mut self, system: &KktSystem, mu: &[f64], survey: Survey) {
        let ray = survey.contradiction;
        let mut longest = f64::INFINITY;
        for i in 0..self.states.len() {
            longest = longest.min(self.room(system, mu, ray, i));
        }
        if longest == f64::INFINITY {
            // The minimum lies within the bounds.
            self.feasible.copy_from_slice(mu);
            if let Some((row, _)) = survey.release {
                self.states[row] = BoundState::Free;
            }
            return;
        }
        for i in 0..self.states.len() {
            if self.states[i] != BoundState::Free {
                continue;
            }
            let (lower, upper) = system.bounds[i];
            let direction = self.direction(system, mu, ray, i);
            if self.room(system, mu, ray, i) <= longest {
                (self.states[i], self.feasible[i]) = if direction > 0.0 {
                    (BoundState::Upper, upper)
                } else {
                    (BoundState::Lower, lower)
                };
            } else {
                self.feasible[i] = (self.feasible[i] + longest * direction).max(lower).min(upper);
            }
        }
    }

    /// Where free row `i` goes: towards the minimum, or along the contradiction of redundant rows.
    fn direction(&self, system: &KktSystem, mu: &[f64], ray: bool, i: usize) -> f64 {
        if !ray {
            return mu[i] - self.feasible[i];
        }
        let row = self.direct.row(system, i);
        if row.contradicts() {
            -row.contradiction
        } else {
            0.0
        }
    }

    /// Share of its direction at which row `i` meets a bound; infinite if it does not, or not
    /// before the minimum.
    fn room(&self, system: &KktSystem, mu: &[f64], ray: bool, i: usize) -> f64 {
        let (lower, upper) = system.bounds[i];
        let stays = !ray && mu[i] >= lower && mu[i] <= upper;
        if self.states[i] != BoundState::Free || stays {
            return f64::INFINITY;
        }
        let direction = self.direction(system, mu, ray, i);
        if direction > 0.0 {
            (upper - self.feasible[i]) / direction
        } else if direction < 0.0 {
            (lower - self.feasible[i]) / direction
        } else {
            f64::INFINITY
        }
    }
}
