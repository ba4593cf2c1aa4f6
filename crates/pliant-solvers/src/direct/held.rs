//! Support of the direct solver for bounded rows: rows held out of the matrix, and rows as seen
//! after a solve.

use super::DirectSolver;
use crate::KktSystem;
use crate::bounds::{BoundState, is_held};
use crate::residual::roundoff;

/// One row after a solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// `w = J x + R mu + b` (velocity), for a row in the matrix less what it contradicts others by.
    pub(crate) w: f64,
    /// Velocity by which a row in the matrix contradicts others: `w` in full is the sum of the two.
    pub(crate) contradiction: f64,
    /// `(Q Q^T)_ii` with the null space `Q` of the redundant rows: if the row alone were taken out,
    /// its contradiction divided by this would be its `w`.
    pub(crate) share: f64,
    /// Largest velocity that enters the row.
    pub(crate) size: f64,
    /// Velocity that is rounding, of `b` too as far as it is known.
    pub(crate) noise: f64,
    /// Velocity that is rounding of the largest one.
    pub(crate) roundoff: f64,
    /// Whether the row was dropped as redundant.
    pub(crate) dropped: bool,
}

impl Row {
    /// Whether the row takes part in a contradiction of redundant rows, if there is one.
    pub(crate) fn contradicts(&self) -> bool {
        self.contradiction.abs() > self.roundoff
    }
}

impl DirectSolver {
    /// Takes the rows out of the matrix that are not [`BoundState::Free`], at the next
    /// `prepare_held`. An empty list brings them all back. Allocates only if the number of rows
    /// grew.
    pub(crate) fn hold(&mut self, states: &[BoundState]) {
        if self.rows.hold(states) {
            self.changes += 1;
            self.ready = false;
        }
    }

    /// Whether the factors are those of the last call of `hold`.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether any row is out of the matrix.
    pub(crate) fn is_holding(&self) -> bool {
        (0..self.rows.marks.held.len()).any(|i| is_held(&self.rows.marks.held, i))
    }

    /// The factors do not count any more: the next thing must be a `prepare`.
    pub(crate) fn withdraw(&mut self) {
        self.ready = false;
    }

    /// Whether the last factorisation dropped rows.
    pub(crate) fn has_redundant_rows(&self) -> bool {
        !self.redundancy.null_space.is_empty()
    }

    /// The rows that the last factorisation dropped.
    pub(crate) fn dropped(&self) -> &[bool] {
        &self.rows.dropped
    }

    /// Row `i` as of the last solve. Cost: the non-zeros of the row, and the number of redundant
    /// rows.
    pub(crate) fn row(&self, system: &KktSystem, i: usize) -> Row {
        let (residual, agreed) = (&self.refinement.residual, self.refinement.b[i]);
        let held = is_held(&self.rows.marks.held, i);
        let terms = residual.row_scale[i].max(system.b[i].abs());
        let size = terms.max(residual.row_floor(system, i));
        let roundoff = roundoff(system) * size;
        let (share, contradiction) = if held {
            (0.0, 0.0)
        } else {
            (self.redundancy.null_space.diagonal(i), system.b[i] - agreed)
        };
        Row {
            w: residual.row[i],
            share,
            contradiction,
            size,
            noise: system.b_rounding[i] + roundoff,
            roundoff,
            dropped: self.rows.dropped.get(i).copied().unwrap_or(false),
        }
    }
}
