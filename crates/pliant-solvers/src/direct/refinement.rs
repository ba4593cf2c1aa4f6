//! The equations at hand while a solve is refined.

use super::rows::Rows;
use crate::redundant::NullSpace;
use crate::residual::{ResidualWorkspace, evaluate_for};
use crate::{KktResidual, KktSystem, Solution};

/// Right-hand side and residual of a solve.
#[derive(Debug, Default)]
pub(super) struct Refinement {
    /// The part of `b` that redundant rows agree on.
    pub(super) b: Vec<f64>,
    pub(super) residual: ResidualWorkspace,
    /// The residual of the scaled, permuted matrix, then the correction.
    pub(super) rhs: Vec<f64>,
    /// The best answer so far.
    pub(super) best: Solution,
}

impl Refinement {
    /// Takes the part of `b` that redundant rows agree on.
    pub(super) fn agree(&mut self, b: &[f64], null_space: &NullSpace) {
        self.b.clear();
        self.b.extend_from_slice(b);
        null_space.remove(&mut self.b);
    }

    /// The residual of an answer for `c` and the `b` agreed on.
    pub(super) fn measure(
        &mut self,
        system: &KktSystem,
        c: &[f64],
        rows: &Rows,
        solution: &Solution,
    ) -> KktResidual {
        evaluate_for(
            system,
            solution,
            c,
            &self.b,
            &rows.dropped,
            &rows.marks.held,
            &mut self.residual,
        )
    }
}
