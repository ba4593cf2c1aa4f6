//! Knowledge of each row: which are redundant, and which are held at a bound.

use super::plan::Plan;
use super::scale::Rules;
use crate::Variable;
use crate::bounds::BoundState;
use crate::order::RowMarks;

/// One entry per row of the system.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) marks: RowMarks,
    /// Rows dropped as redundant in the last factorisation.
    pub(super) dropped: Vec<bool>,
}

impl Rows {
    /// Begins with the marks of so many rows that were made while the same rows were held, else
    /// with none.
    pub(super) fn recall(&mut self, marks: &RowMarks, count: usize) {
        let RowMarks {
            trusted,
            suspected,
            held,
        } = &mut self.marks;
        if marks.trusted.len() == count && marks.suspected.len() == count && marks.held == *held {
            trusted.clone_from(&marks.trusted);
            suspected.clone_from(&marks.suspected);
            return;
        }
        for marks in [trusted, suspected] {
            marks.clear();
            marks.resize(count, false);
        }
    }

    /// Takes the states of all rows; whether there are others than before.
    pub(super) fn hold(&mut self, states: &[BoundState]) -> bool {
        let marks = &mut self.marks;
        let changes = marks.held != states;
        if changes {
            marks.held.clear();
            marks.held.extend_from_slice(states);
            // Rows that are independent of one set of rows may be redundant beside another.
            marks.trusted.fill(false);
            marks.suspected.fill(false);
        }
        changes
    }

    /// The data that decide on the scales of rows.
    pub(super) fn rules(&self, rank_threshold: f64) -> Rules<'_> {
        Rules {
            rank_threshold,
            trusted: &self.marks.trusted,
            suspected: &self.marks.suspected,
            states: &self.marks.held,
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
