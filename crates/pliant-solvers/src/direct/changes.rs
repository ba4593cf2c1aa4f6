//! Factorisation after few changes: only the block columns above them in the elimination tree.

use super::kernel::Kernel;
use super::plan::{ABSENT, Plan};
use super::scale::{HELD, Rules};
use crate::KktSystem;
use crate::bounds::{BoundState, is_held};
use pliant_sparse::{FactorReport, SparseError};

/// The matrix as it was factored, entry by entry in the order W, J, R.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Whether it is of the pattern of the plan.
    is_planned: bool,
    /// Scaled entries of the last factorisation, if it is one to build on.
    entries: Vec<f64>,
    known: bool,
    /// Scaled entries of the next factorisation.
    next: Vec<f64>,
    /// Block column of each; `ABSENT` for fixed variables.
    columns: Vec<u32>,
    /// Whether a block column changed, and those that did.
    marks: Vec<bool>,
    changed: Vec<usize>,
    /// Block of each unknown: scratch.
    vertex: Vec<u32>,
}

/// A system as it was factored last by fronts, with the judgements on its rows, to
/// notice that nothing changed.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Entries of W, J and R.
    values: Vec<f64>,
    rank_threshold: f64,
    trusted: Vec<bool>,
    suspected: Vec<bool>,
    states: Vec<BoundState>,
    /// The report of the factorisation, if there is one to keep.
    report: Option<FactorReport>,
}

impl Kept {
    /// Declares the contents of the factor unknown.
    pub(super) fn forget(&mut self) {
        self.report = None;
    }

    /// The report of the last factorisation, if it was of the same numbers to the bit.
    pub(super) fn find(&self, system: &KktSystem, rules: Rules<'_>) -> Option<FactorReport> {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let is_same = entries(system).count() == self.values.len()
            && self.rank_threshold.to_bits() == rules.rank_threshold.to_bits()
            && self.trusted == rules.trusted
            && self.suspected == rules.suspected
            && self.states == rules.states
            && entries(system).zip(&self.values).all(same);
        self.report.filter(|_| is_same)
    }

    /// Keeps a system that was factored.
    pub(super) fn take(&mut self, system: &KktSystem, rules: Rules<'_>, report: FactorReport) {
        self.values.clear();
        self.values.extend(entries(system));
        self.rank_threshold = rules.rank_threshold;
        for (own, given) in [
            (&mut self.trusted, rules.trusted),
            (&mut self.suspected, rules.suspected),
        ] {
            own.clear();
            own.extend_from_slice(given);
        }
        self.states.clear();
        self.states.extend_from_slice(rules.states);
        self.report = Some(report);
    }
}

/// Entries of W, J and R, one after the other.
fn entries(system: &KktSystem) -> impl Iterator<Item = &f64> {
    let [w, j, r] = [&system.w, &system.j, &system.r].map(|part| part.values().iter());
    w.chain(j).chain(r)
}

/// Share of the block columns from which the rest is not worth the trouble.
const MANY: usize = 2;

impl Changes {
    /// Declares the contents of the factor unknown.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// The plan has another pattern.
    pub(super) fn renew(&mut self) {
        self.is_planned = false;
        self.known = false;
    }
}

impl Plan {
    /// After [`rescale`](Self::rescale), with a factor by blocks: as [`fill`](Self::fill) and a
    /// factorisation, to the same bits, but where few blocks changed, only these and their
    /// ancestors are eliminated. Also the number of block columns that were. Cost: a pass over the
    /// entries, and the changed part.
    pub(super) fn factor_changes(
        &mut self,
        system: &KktSystem,
        states: &[BoundState],
    ) -> Result<(FactorReport, usize), SparseError> {
        let Some((symbolic, _)) = self.kernel.by_blocks() else {
            return Err(SparseError::NotFactored);
        };
        let blocks = symbolic.pattern().len();
        if !std::mem::replace(&mut self.changes.is_planned, true) {
            let pattern = symbolic.pattern();
            let mut changes = std::mem::take(&mut self.changes);
            changes.vertex.clear();
            for k in 0..blocks {
                let own = std::iter::repeat_n(k as u32, pattern.block_size(k));
                changes.vertex.extend(own);
            }
            self.list_columns(system, &changes.vertex, &mut changes.columns);
            changes.marks.clear();
            changes.marks.resize(blocks, false);
            // Here, not at the first change, which may come many steps late.
            let count = changes.columns.len();
            for list in [&mut changes.entries, &mut changes.next] {
                list.clear();
                list.reserve(count);
            }
            changes.changed.clear();
            changes.changed.reserve(blocks);
            self.changes = changes;
        }
        let mut changes = std::mem::take(&mut self.changes);
        self.entries_into(system, states, &mut changes.next);
        let found = self.factor_from(&mut changes, blocks);
        std::mem::swap(&mut changes.entries, &mut changes.next);
        changes.known = found.is_ok();
        self.changes = changes;
        found
    }

    /// Factors the next entries of `changes`.
    fn factor_from(
        &mut self,
        changes: &mut Changes,
        blocks: usize,
    ) -> Result<(FactorReport, usize), SparseError> {
        let rule = Kernel::RULE;
        let Some((symbolic, factor)) = self.kernel.by_blocks_mut() else {
            return Err(SparseError::NotFactored);
        };
        let slots = [&self.w_slots, &self.j_slots, &self.r_slots];
        let slots = || slots.iter().flat_map(|s| s.iter());
        let mut is_small = changes.known && changes.entries.len() == changes.next.len();
        if is_small {
            changes.marks.fill(false);
            changes.changed.clear();
            let pairs = changes.entries.iter().zip(&changes.next).zip(&changes.columns);
            for ((before, now), column) in pairs {
                if before.to_bits() != now.to_bits()
                    && let Some(mark) = changes.marks.get_mut(*column as usize)
                    && !std::mem::replace(mark, true)
                {
                    changes.changed.push(*column as usize);
                }
            }
            is_small = MANY * changes.changed.len() <= blocks;
        }
        if is_small {
            let open = factor.reopen(symbolic, &changes.changed)?;
            is_small = MANY * open.len() <= blocks;
            // From here on: columns to be written.
            changes.marks.fill(false);
            open.iter().for_each(|j| changes.marks[*j as usize] = true);
        }
        if is_small {
            let values = factor.values_mut();
            for ((slot, value), column) in slots().zip(&changes.next).zip(&changes.columns) {
                if let Some(to) = values.get_mut(*slot as usize)
                    && changes.marks[*column as usize]
                {
                    *to = *value;
                }
            }
            let done = factor.refactor(symbolic, rule)?;
            return Ok((done.report, done.columns));
        }
        factor.clear();
        let values = factor.values_mut();
        for (slot, value) in slots().zip(&changes.next) {
            if let Some(to) = values.get_mut(*slot as usize) {
                *to = *value;
            }
        }
        let report = factor.factor(symbolic, rule)?;
        // Room for the changes to come; nothing is done the other times.
        factor.reopen(symbolic, &[])?;
        factor.refactor(symbolic, rule)?;
        Ok((report, blocks))
    }

    /// The block column of each entry: that of the unknown that goes first.
    fn list_columns(&self, system: &KktSystem, vertex: &[u32], out: &mut Vec<u32>) {
        let n = system.n();
        out.clear();
        for (part, row0, column0) in [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)] {
            for i in 0..part.pattern().rows() {
                let row = self.position[row0 + i];
                out.extend(part.pattern().row(i).iter().map(|k| {
                    // `ABSENT` is the largest number there is.
                    let column = self.position[column0 + *k as usize];
                    let is_there = row != ABSENT && column != ABSENT;
                    if is_there {
                        vertex[row.min(column) as usize]
                    } else {
                        ABSENT
                    }
                }));
            }
        }
    }

    /// The entries that [`fill`](Self::fill) writes, in the order W, J, R.
    fn entries_into(&self, system: &KktSystem, states: &[BoundState], out: &mut Vec<f64>) {
        let n = system.n();
        out.clear();
        let parts = [
            (&system.w, 0, 0, 1.0),
            (&system.j, n, 0, -1.0),
            (&system.r, n, n, -1.0),
        ];
        for (part, row0, column0, sign) in parts {
            let (columns, values) = (part.pattern().indices(), part.values());
            for i in 0..part.pattern().rows() {
                let own = part.pattern().row_slots(i);
                let si = sign * self.scale[row0 + i];
                let out_of_it = row0 == n && is_held(states, i);
                for (column, value) in columns[own.clone()].iter().zip(&values[own]) {
                    let column = *column as usize;
                    out.push(if out_of_it || column0 == n && is_held(states, column) {
                        if column0 == n && i == column {
                            -HELD * HELD
                        } else {
                            0.0
                        }
                    } else {
                        si * value * self.scale[column0 + column]
                    });
                }
            }
        }
    }
}
