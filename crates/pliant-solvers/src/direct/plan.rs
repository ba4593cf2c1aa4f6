//! The permuted, scaled matrix: pattern and slots once, values every time, straight into the
//! storage of the factor.

use super::changes::{Changes, Kept};
use super::kernel::{Kernel, KernelWorkspace};
use super::pivoted::{for_each_entry, lower_triangle};
use super::scale::{HELD, Rules, of_row};
use super::sweep::{Sweep, SweepWorkspace};
use super::tiles::{Places, Scales};
use crate::bounds::{BoundState, is_held};
use crate::order::Elimination;
use crate::{KktSystem, Solution, SolveError, Variable};
use pliant_sparse::{CsrMatrix, Pattern, SparseError, SymbolicWorkspace, Threads};
use std::ops::Range;

/// Data that depend on the pattern only, and the numeric storage.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The patterns of W, J and R that were analysed, to notice a change.
    patterns: [Pattern; 3],
    fixed: Vec<bool>,
    pub(super) elimination: Elimination,
    /// Position of each unknown in the order, `ABSENT` for fixed variables.
    pub(super) position: Vec<u32>,
    /// Slot in the factor's storage of every slot of W, J, R; `ABSENT` for fixed variables.
    pub(super) w_slots: Vec<u32>,
    pub(super) j_slots: Vec<u32>,
    pub(super) r_slots: Vec<u32>,
    /// Entries of the lower triangle of the permuted matrix.
    pub(super) matrix_entries: usize,
    /// Scale of each unknown.
    pub(super) scale: Vec<f64>,
    /// `1/|W_ii|` as of the last scaling.
    pub(super) inverse_diagonal: Vec<f64>,
    pub(super) kernel: Kernel,
    /// When what is filled, of a factor by blocks.
    sweep: Sweep,
    pub(super) changes: Changes,
    pub(super) kept: Kept,
}

pub(super) const ABSENT: u32 = u32::MAX;

/// Scratch of a plan. No result depends on what is in it.
#[derive(Debug, Default)]
pub(super) struct PlanWorkspace {
    entries: Vec<(u32, u32)>,
    kernel: KernelWorkspace,
    sweep: SweepWorkspace,
}

impl Plan {
    pub(super) fn fits(&self, system: &KktSystem) -> bool {
        let [w, j, r] = &self.patterns;
        w == system.w.pattern()
            && j == system.j.pattern()
            && r == system.r.pattern()
            && self.fixed == system.fixed
    }

    /// Makes it that of another system, in an order that is taken; the former one is left in its
    /// place. After an error it is of no use.
    pub(super) fn refill(
        &mut self,
        system: &KktSystem,
        elimination: &mut Elimination,
        threads: &Threads,
        work: &mut PlanWorkspace,
        symbolic: &mut SymbolicWorkspace,
    ) -> Result<(), SolveError> {
        let (n, m) = (system.n(), system.m());
        std::mem::swap(&mut self.elimination, elimination);
        let position = &mut self.position;
        position.clear();
        position.resize(n + m, ABSENT);
        for (k, v) in self.elimination.sequence.iter().enumerate() {
            position[*v] = k as u32;
        }
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let entries = &mut work.entries;
        entries.clear();
        entries.reserve(parts.iter().map(|p| p.0.pattern().len()).sum());
        let each = |(part, row0, column0): (&CsrMatrix, usize, usize), visit: &mut dyn FnMut(u32, u32)| {
            for i in 0..part.pattern().rows() {
                for k in part.pattern().row(i) {
                    let (a, b) = (position[row0 + i], position[column0 + *k as usize]);
                    visit(a.max(b), a.min(b));
                }
            }
        };
        for part in parts {
            each(part, &mut |a, b| {
                if a != ABSENT {
                    entries.push((a, b));
                }
            });
        }
        self.matrix_entries = entries.len();
        let kernel = &mut self.kernel;
        kernel.refill(&self.elimination, entries, threads, &mut work.kernel, symbolic)?;
        let all_slots = [&mut self.w_slots, &mut self.j_slots, &mut self.r_slots];
        for (part, slots) in parts.into_iter().zip(all_slots) {
            slots.clear();
            slots.reserve(part.0.pattern().len());
            each(part, &mut |a, b| {
                let slot = (a != ABSENT).then(|| kernel.slot(a as usize, b as usize));
                slots.push(slot.flatten().map_or(ABSENT, |s| s as u32));
            });
        }
        let patterns = parts.map(|part| part.0.pattern());
        match kernel.swept() {
            Some(symbolic) => {
                let slots = [&self.w_slots[..], &self.j_slots, &self.r_slots];
                self.sweep
                    .refill(symbolic, system, position, slots, &mut work.sweep);
            }
            None => self.sweep.clear(),
        }
        self.patterns = patterns.map(Pattern::clone);
        self.fixed.clone_from(&system.fixed);
        self.scale.clear();
        self.scale.resize(n + m, 1.0);
        self.inverse_diagonal.clear();
        self.inverse_diagonal.resize(n, 0.0);
        self.changes.renew();
        self.kept.forget();
        Ok(())
    }

    /// Scales as [`rescale`](Self::rescale) does and fills in the scaled values, in one pass over
    /// the entries of rows. A row held at a bound keeps its place in the pattern with zeros and a
    /// unit pivot.
    pub(super) fn fill(&mut self, system: &KktSystem, rules: Rules<'_>) -> Result<(), SolveError> {
        self.scale_variables(system)?;
        let mut writer = Writer {
            system,
            rules,
            slots: [&self.w_slots, &self.j_slots, &self.r_slots],
            scale: &mut self.scale,
            inverse_diagonal: &self.inverse_diagonal,
        };
        let target = self.kernel.start();
        writer.write_variables(target, 0..system.n());
        writer.write_rows(target, 0..system.m())?;
        self.empty_held(system, rules.states);
        Ok(())
    }

    /// The storage to fill, the order in which to fill it, and the writer that does, of a factor by
    /// blocks.
    pub(super) fn writer<'a>(
        &'a mut self,
        system: &'a KktSystem,
        rules: Rules<'a>,
    ) -> (&'a mut Kernel, &'a Sweep, BlockWriter<'a>) {
        let writer = BlockWriter {
            places: Places {
                system,
                block_of: &[],
                slots: [&self.w_slots, &self.j_slots, &self.r_slots],
            },
            rules,
            scale: &mut self.scale,
            inverse_diagonal: &self.inverse_diagonal,
        };
        (&mut self.kernel, &self.sweep, writer)
    }

    /// Takes the rows held at a bound out of the values.
    fn empty_held(&mut self, system: &KktSystem, states: &[BoundState]) {
        if !(0..states.len()).any(|i| is_held(states, i)) {
            return;
        }
        let target = self.kernel.values_mut();
        for (part, slots, is_r) in [
            (&system.j, &self.j_slots, false),
            (&system.r, &self.r_slots, true),
        ] {
            for i in 0..system.m() {
                let own = part.pattern().row_slots(i);
                for (column, slot) in part.pattern().row(i).iter().zip(&slots[own]) {
                    let column = *column as usize;
                    let out = is_held(states, i) || is_r && is_held(states, column);
                    if let (true, Some(target)) = (out, target.get_mut(*slot as usize)) {
                        *target = if is_r && i == column { -HELD * HELD } else { 0.0 };
                    }
                }
            }
        }
    }

    /// The lower triangle of the scaled, permuted matrix, with the scales of the last fill and the
    /// rows held at a bound as [`fill`](Self::fill) has them. Allocates.
    pub(super) fn assembled(
        &self,
        system: &KktSystem,
        states: &[BoundState],
    ) -> Result<CsrMatrix, SparseError> {
        let n = system.n();
        let held = |v: usize| v >= n && is_held(states, v - n);
        lower_triangle(self.elimination.sequence.len(), |visit| {
            for_each_entry(system, |i, k, value| {
                let (a, b) = (self.position[i], self.position[k]);
                if a == ABSENT || b == ABSENT {
                    return;
                }
                let value = match held(i) || held(k) {
                    true if i == k => -HELD * HELD,
                    true => 0.0,
                    false => self.scale[i] * value * self.scale[k],
                };
                visit(a.max(b) as usize, a.min(b) as usize, value);
            });
        })
    }

    /// The right-hand side of the scaled, permuted matrix. Rows held at a bound do not move: theirs
    /// is zero.
    pub(super) fn gather(&self, primal: &[f64], rows: &[f64], states: &[BoundState], out: &mut Vec<f64>) {
        let n = primal.len();
        out.clear();
        out.resize(self.elimination.sequence.len(), 0.0);
        for (part, first) in [(primal, 0), (rows, n)] {
            for ((at, s), r) in self.position[first..].iter().zip(&self.scale[first..]).zip(part) {
                // Fixed variables have no position.
                if let Some(y) = out.get_mut(*at as usize) {
                    *y = s * r;
                }
            }
        }
        for i in (0..states.len()).filter(|i| is_held(states, *i)) {
            out[self.position[n + i] as usize] = 0.0;
        }
    }

    /// Adds a solution of the scaled, permuted matrix to one of the system.
    pub(super) fn add_scaled(&self, y: &[f64], solution: &mut Solution) {
        let n = solution.x.len();
        for (part, first) in [(&mut solution.x, 0), (&mut solution.mu, n)] {
            for ((at, s), x) in self.position[first..].iter().zip(&self.scale[first..]).zip(part) {
                if let Some(y) = y.get(*at as usize) {
                    *x += s * y;
                }
            }
        }
    }

    pub(super) fn variable(&self, position: usize, n: usize) -> Variable {
        let v = self.elimination.sequence[position];
        if v < n {
            Variable::Dof(v)
        } else {
            Variable::Row(v - n)
        }
    }
}

/// Writes the scaled entries of a system to their slots, row by row.
struct Writer<'a> {
    system: &'a KktSystem,
    rules: Rules<'a>,
    /// Of W, J and R.
    slots: [&'a [u32]; 3],
    /// Of the variables from the start, of the rows as they are written.
    scale: &'a mut [f64],
    inverse_diagonal: &'a [f64],
}

impl Writer<'_> {
    /// Some rows of `W`.
    fn write_variables(&mut self, target: &mut [f64], rows: Range<usize>) {
        let w = &self.system.w;
        let offsets = &w.pattern().offsets()[rows.start..=rows.end];
        for (ends, scale) in offsets.windows(2).zip(&self.scale[rows]) {
            let own = ends[0] as usize..ends[1] as usize;
            let columns = &w.pattern().indices()[own.clone()];
            let entries = columns
                .iter()
                .zip(&w.values()[own.clone()])
                .zip(&self.slots[0][own]);
            scatter(target, entries, *scale, self.scale);
        }
    }

    /// Some rows of `J` and of `R`, and their scales: those of the columns are known, of a row's
    /// own block they are those before it.
    fn write_rows(&mut self, target: &mut [f64], rows: Range<usize>) -> Result<(), SolveError> {
        let (n, j, r) = (self.system.n(), &self.system.j, &self.system.r);
        let offsets_j = &j.pattern().offsets()[rows.start..=rows.end];
        let offsets_r = &r.pattern().offsets()[rows.start..=rows.end];
        let ends = offsets_j.windows(2).zip(offsets_r.windows(2));
        for (i, (ends_j, ends_r)) in rows.zip(ends) {
            let own_j = ends_j[0] as usize..ends_j[1] as usize;
            let own_r = ends_r[0] as usize..ends_r[1] as usize;
            let (columns, values) = (&j.pattern().indices()[own_j.clone()], &j.values()[own_j.clone()]);
            let of_r = &r.values()[own_r.clone()];
            let compliance = of_r[of_r.len() - 1];
            let scale = of_row(
                i,
                (columns, values),
                self.inverse_diagonal,
                compliance,
                self.rules,
            )?;
            self.scale[n + i] = scale;
            let entries = columns.iter().zip(values).zip(&self.slots[1][own_j]);
            scatter(target, entries, -scale, self.scale);
            let columns = &r.pattern().indices()[own_r.clone()];
            let entries = columns.iter().zip(of_r).zip(&self.slots[2][own_r]);
            scatter(target, entries, -scale, &self.scale[n..]);
        }
        Ok(())
    }
}

/// Writes the scaled entries of a system to the storage of a factor by blocks, block by block;
/// scales and values are those of [`Writer`].
pub(super) struct BlockWriter<'a> {
    pub(super) places: Places<'a>,
    rules: Rules<'a>,
    /// Of the variables from the start, of the rows as they are written.
    scale: &'a mut [f64],
    inverse_diagonal: &'a [f64],
}

impl BlockWriter<'_> {
    /// Finds the scales of some rows: those of the columns are known.
    #[inline(always)]
    pub(super) fn scale_rows(&mut self, rows: Range<usize>) -> Result<(), SolveError> {
        let system = self.places.system;
        let (n, j) = (system.n(), &system.j);
        for i in rows {
            let slots = j.pattern().row_slots(i);
            let terms = (&j.pattern().indices()[slots.clone()], &j.values()[slots]);
            let compliance = system.r_diagonal(i);
            self.scale[n + i] = of_row(i, terms, self.inverse_diagonal, compliance, self.rules)?;
        }
        Ok(())
    }

    /// The scales as far as they are known.
    pub(super) fn scales(&self) -> Scales<'_> {
        Scales {
            all: self.scale,
            variables: self.places.system.n(),
        }
    }
}

/// Scaled entries, as `((column, value), slot)`, to their places.
#[inline(always)]
fn scatter<'a>(
    target: &mut [f64],
    entries: impl Iterator<Item = ((&'a u32, &'a f64), &'a u32)>,
    row_scale: f64,
    column_scale: &[f64],
) {
    for ((column, value), slot) in entries {
        // No storage reaches up to `ABSENT`.
        if let Some(target) = target.get_mut(*slot as usize) {
            *target = row_scale * value * column_scale[*column as usize];
        }
    }
}
