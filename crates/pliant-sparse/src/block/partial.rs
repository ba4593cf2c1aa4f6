//! Refactorisation after few changes: the changed block columns and their ancestors in the
//! elimination tree, the rest as it is.

use super::{BlockFactor, BlockSymbolic, kernels};
use crate::ldlt::DROPPED;
use crate::{FactorReport, PivotRule, SparseError, fill};

/// Result of a partial refactorisation, and its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refactored {
    /// Pivots of the whole factor.
    pub report: FactorReport,
    /// Block columns that were eliminated again.
    pub columns: usize,
    /// Block columns that were only read: their updates act on the former.
    pub read: usize,
}

/// Rows of `L` and marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Partial {
    /// Whether it is of the pattern that the factor has now.
    is_planned: bool,
    /// Where the columns of each block row of `L` start, and the columns, ascending, without the
    /// diagonal.
    offsets: Vec<u32>,
    columns: Vec<u32>,
    /// Whether a column is among the `affected`.
    open: Vec<bool>,
    /// Block columns to be eliminated again, ascending.
    affected: Vec<u32>,
    /// Whether a column is in `work`.
    queued: Vec<bool>,
    /// The affected ones and those that are read.
    work: Vec<u32>,
    /// Pivots of the columns that are kept.
    kept: Option<FactorReport>,
}

impl Partial {
    /// The factor has another pattern.
    pub(super) fn forget(&mut self) {
        self.is_planned = false;
        self.kept = None;
    }

    /// Lists the rows of a pattern, if they are not listed yet.
    fn plan(&mut self, symbolic: &BlockSymbolic) {
        if std::mem::replace(&mut self.is_planned, true) {
            return;
        }
        let pattern = &symbolic.pattern;
        let blocks = pattern.len();
        let Self { offsets, columns, .. } = self;
        // In two passes, with the ends of the rows in place of their starts in between.
        fill(offsets, blocks + 1, 0);
        for i in pattern.rows() {
            offsets[*i as usize] += 1;
        }
        let mut end = 0;
        for offset in offsets.iter_mut() {
            end += *offset;
            *offset = end;
        }
        fill(columns, pattern.rows().len(), 0);
        for j in (0..blocks).rev() {
            for i in pattern.column(j) {
                let at = &mut offsets[*i as usize];
                *at -= 1;
                columns[*at as usize] = j as u32;
            }
        }
        fill(&mut self.open, blocks, false);
        fill(&mut self.queued, blocks, false);
        for list in [&mut self.affected, &mut self.work] {
            list.clear();
            list.reserve(blocks);
        }
    }
}

impl BlockFactor {
    /// Begins a partial refactorisation: finds the block columns of `L` that change if the entries
    /// of `A` in the block columns `changed` do (these and their ancestors in the elimination
    /// tree), sets their values to zero and returns them, ascending. Then write the entries of `A`
    /// in all of these columns and call [`refactor`](Self::refactor). An entry `(i, j)`, `i >= j`,
    /// is in the block column of `j`. Allocates only the first time. Cost: the values of these
    /// columns.
    ///
    /// Rows that come and go have their place in the pattern from the start: without entries and
    /// with a unit pivot while they are away.
    ///
    /// # Errors
    /// [`SparseError::NotFactored`] if the last factorisation failed, was cleared or there was
    /// none, [`SparseError::Size`] if the values are of another pattern, [`SparseError::NoColumn`].
    pub fn reopen(&mut self, symbolic: &BlockSymbolic, changed: &[usize]) -> Result<&[u32], SparseError> {
        self.check(symbolic)?;
        let report = self.report.ok_or(SparseError::NotFactored)?;
        let pattern = &symbolic.pattern;
        if let Some(column) = changed.iter().copied().find(|j| *j >= pattern.len()) {
            let columns = pattern.len();
            return Err(SparseError::NoColumn { column, columns });
        }
        self.report = None;
        let partial = self.partial.get_or_insert_default();
        partial.plan(symbolic);
        for j in partial.affected.drain(..) {
            partial.open[j as usize] = false;
        }
        for j in changed {
            // The parent is the first block below the diagonal.
            let mut up = Some(*j as u32);
            while let Some(j) = up.filter(|j| !partial.open[*j as usize]) {
                partial.open[j as usize] = true;
                partial.affected.push(j);
                up = pattern.column(j as usize).first().copied();
            }
        }
        partial.affected.sort_unstable();
        let mut kept = report;
        for j in &partial.affected {
            let j = *j as usize;
            self.values[symbolic.starts[j] as usize..symbolic.starts[j + 1] as usize].fill(0.0);
            for d in &self.pivots[pattern.unknowns(j)] {
                let count = if *d == DROPPED {
                    &mut kept.dropped
                } else if *d > 0.0 {
                    &mut kept.positive
                } else {
                    &mut kept.negative
                };
                *count -= 1;
            }
        }
        partial.kept = Some(kept);
        Ok(&partial.affected)
    }

    /// Factors the columns that [`reopen`](Self::reopen) returned, with the operations of
    /// [`factor`](Self::factor) on them in the same order: the same bits as if the whole had been
    /// factored. Allocates nothing. Cost: that of these columns, and the updates of them by others.
    ///
    /// # Errors
    /// [`SparseError::NotFactored`] without `reopen`, else as [`factor`](Self::factor).
    pub fn refactor(&mut self, symbolic: &BlockSymbolic, rule: PivotRule) -> Result<Refactored, SparseError> {
        self.check(symbolic)?;
        // Out of the way of the borrow checker for the time being.
        let mut partial = self.partial.take().ok_or(SparseError::NotFactored)?;
        let Some(kept) = partial.kept.take() else {
            self.partial = Some(partial);
            return Err(SparseError::NotFactored);
        };
        let done = self.refactor_columns(symbolic, rule, &mut partial, kept);
        self.partial = Some(partial);
        self.report = done.as_ref().ok().map(|d| d.report);
        done
    }

    fn refactor_columns(
        &mut self,
        symbolic: &BlockSymbolic,
        rule: PivotRule,
        partial: &mut Partial,
        mut report: FactorReport,
    ) -> Result<Refactored, SparseError> {
        for k in &partial.affected {
            let row = partial.offsets[*k as usize] as usize..partial.offsets[*k as usize + 1] as usize;
            for j in partial.columns[row].iter().chain([k]) {
                if !std::mem::replace(&mut partial.queued[*j as usize], true) {
                    partial.work.push(*j);
                }
            }
        }
        // As in the whole factorisation: updates of one block come in the order of the columns that
        // they are from.
        partial.work.sort_unstable();
        let threshold = rule.threshold();
        let mut outcome = Ok(());
        let count = partial.work.len();
        for j in partial.work.drain(..) {
            let j = j as usize;
            partial.queued[j] = false;
            if outcome.is_err() {
                continue;
            }
            let rows = symbolic.pattern.column(j);
            let (width, column) = self.split(symbolic, j);
            if partial.open[j] {
                let bad = kernels::eliminate(width, column, threshold, &mut report);
                outcome = bad.map_err(|k| symbolic.pattern.bounds()[j] + k);
            } else {
                kernels::contribute(width, column, |k| partial.open[rows[k] as usize]);
            }
        }
        let columns = partial.affected.len();
        outcome.map_err(|index| SparseError::Pivot { index })?;
        Ok(Refactored {
            report,
            columns,
            read: count - columns,
        })
    }
}
