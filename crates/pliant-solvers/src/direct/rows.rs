//! Knowledge of each row: which are redundant, and which are held at a bound.

use super::plan::Plan;
use super::scale::Rules;
use crate::Variable;
use crate::bounds::BoundState;

/// One entry per row of the system.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows that a small pivot wrongly called redundant: their multiplier does exert a force.
    pub(super) trusted: Vec<bool>,
    /// Rows whose pivot may be the rounding of a redundant one: they are dropped at a higher
    /// threshold, and must then prove to exert no force at all.
    pub(super) suspected: Vec<bool>,
    /// Rows dropped as redundant in the last factorisation.
    pub(super) dropped: Vec<bool>,
    /// Rows that a [`BoxSolver`](crate::BoxSolver) holds at a bound; empty if there are none.
    pub(super) states: Vec<BoundState>,
}

impl Rows {
    /// Trusts and suspects none of so many rows.
    pub(super) fn reset(&mut self, count: usize) {
        for marks in [&mut self.trusted, &mut self.suspected] {
            marks.clear();
            marks.resize(count, false);
        }
    }

    /// Takes the states of all rows; whether there are others than before.
    pub(super) fn hold(&mut self, states: &[BoundState]) -> bool {
        let changes = self.states != states;
        if changes {
            self.states.clear();
            self.states.extend_from_slice(states);
            // Rows that are independent of one set of rows may be redundant beside another.
            self.trusted.fill(false);
            self.suspected.fill(false);
        }
        changes
    }

    /// The data that decide on the scales of rows.
    pub(super) fn rules(&self, rank_threshold: f64) -> Rules<'_> {
        Rules {
            rank_threshold,
            trusted: &self.trusted,
            suspected: &self.suspected,
            states: &self.states,
        }
    }

    /// Takes from the factor of a plan which of `m` rows, behind `n` variables, it dropped, where
    /// it dropped so many pivots.
    pub(super) fn note_dropped(&mut self, plan: &Plan, count: usize, n: usize, m: usize) {
        self.dropped.clear();
        self.dropped.resize(m, false);
        if count == 0 {
            return;
        }
        for k in (0..plan.elimination.sequence.len()).filter(|k| plan.kernel.is_dropped(*k)) {
            if let Variable::Row(row) = plan.variable(k, n) {
                self.dropped[row] = true;
            }
        }
    }
}
