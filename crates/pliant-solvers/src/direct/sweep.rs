//! Filling and factoring by blocks in one sweep over the memory: what a block column needs is
//! cleared and filled just before the first update of it.

use super::kernel::Kernel;
use super::plan::{ABSENT, Plan};
use super::scale::Rules;
use super::tiles::{Places, Tiles};
use crate::{KktSystem, SolveError};
use pliant_sparse::{BlockSymbolic, CsrMatrix, FactorReport};

/// Block columns to clear and rows to fill before each block column is eliminated.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Block columns in the order in which they are cleared, and how many of them are before each
    /// elimination.
    columns: Vec<u32>,
    column_ends: Vec<u32>,
    /// Runs of consecutive rows of the system, each with its end: `i < n` is a row of
    /// `W`, `n + i` one of `J` and `R`.
    runs: Vec<(u32, u32)>,
    run_ends: Vec<u32>,
    /// The blocks that each of these runs is written by.
    tiles: Tiles,
}

/// Scratch of a [`Sweep`]. No result depends on what is in it.
#[derive(Debug, Default)]
pub(super) struct SweepWorkspace {
    /// Block of each position, and of each unknown; `ABSENT` for fixed variables.
    vertex: Vec<u32>,
    block_of: Vec<u32>,
    /// When each block column is first written, and when each row is filled.
    touched: Vec<u32>,
    times: Vec<u32>,
    rows: Vec<u32>,
    row_ends: Vec<u32>,
}

/// Items by ascending time, items of one time as they were, and how many have come by the end of
/// each time.
fn by_time(times: &[u32], count: usize, order: &mut Vec<u32>, ends: &mut Vec<u32>) {
    order.clear();
    order.extend(0..times.len() as u32);
    order.sort_unstable_by_key(|item| (times[*item as usize], *item));
    ends.clear();
    ends.resize(count, 0);
    times.iter().for_each(|t| ends[*t as usize] += 1);
    let mut sum = 0;
    for end in ends {
        sum += *end;
        *end = sum;
    }
}

impl Sweep {
    /// Nothing to sweep.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.tiles.clear();
        for list in [&mut self.columns, &mut self.column_ends, &mut self.run_ends] {
            list.clear();
        }
    }

    /// Makes it that of a factor by blocks of unknowns at the given positions, with a slot for every
    /// entry of `W`, `J` and `R`. Cost: a pass over the entries and the blocks of `L`, and a sort.
    pub(super) fn refill(
        &mut self,
        symbolic: &BlockSymbolic,
        system: &KktSystem,
        position: &[u32],
        slots: [&[u32]; 3],
        work: &mut SweepWorkspace,
    ) {
        let [w, j, r] = [&system.w, &system.j, &system.r].map(CsrMatrix::pattern);
        let SweepWorkspace {
            vertex,
            block_of,
            touched,
            times,
            rows,
            row_ends,
        } = work;
        let pattern = symbolic.pattern();
        let blocks = pattern.len();
        vertex.clear();
        for k in 0..blocks {
            vertex.extend(std::iter::repeat_n(k as u32, pattern.block_size(k)));
        }
        block_of.clear();
        block_of.extend(
            position
                .iter()
                .map(|at| vertex.get(*at as usize).copied().unwrap_or(ABSENT)),
        );
        // When each block column is first written by the elimination: a later entry would overwrite
        // an update.
        touched.clear();
        touched.extend(0..blocks as u32);
        for k in 0..blocks {
            for i in pattern.column(k) {
                let first = &mut touched[*i as usize];
                *first = (*first).min(k as u32);
            }
        }
        let n = w.rows();
        let vertex = vertex.as_slice();
        let columns = |row: usize| {
            let (of_variables, of_rows) = match row.checked_sub(n) {
                None => (w.row(row), &[][..]),
                Some(i) => (j.row(i), r.row(i)),
            };
            let of_rows = of_rows.iter().map(move |k| n + *k as usize);
            let entries = of_variables.iter().map(|k| *k as usize).chain(of_rows);
            entries.filter_map(move |column| {
                let (a, b) = (position[row], position[column]);
                (a != ABSENT && b != ABSENT).then(|| vertex[a.min(b) as usize] as usize)
            })
        };
        times.clear();
        times.resize(position.len(), 0);
        for (row, time) in times.iter_mut().enumerate() {
            *time = columns(row).map(|k| touched[k]).min().unwrap_or(0);
        }
        // The scale of a row must be known where later rows meet it in `R`.
        for i in (0..r.rows()).rev() {
            for k in r.row(i) {
                times[n + *k as usize] = times[n + *k as usize].min(times[n + i]);
            }
        }
        for (row, time) in times.iter().enumerate() {
            columns(row).for_each(|k| touched[k] = touched[k].min(*time));
        }
        by_time(touched, blocks, &mut self.columns, &mut self.column_ends);
        by_time(times, blocks, rows, row_ends);
        self.runs.clear();
        self.run_ends.clear();
        let mut first = 0;
        for end in &*row_ends {
            let now = &rows[first..*end as usize];
            first = *end as usize;
            let is_run = |a: &u32, b: &u32| *b == *a + 1 && *b as usize != n;
            let runs = now.chunk_by(is_run);
            self.runs.extend(runs.map(|run| (run[0], run[run.len() - 1] + 1)));
            self.run_ends.push(self.runs.len() as u32);
        }
        self.tiles.clear();
        let places = Places {
            system,
            block_of,
            slots,
        };
        for (first, last) in &self.runs {
            self.tiles.push(places, *first as usize, *last as usize);
        }
    }
}

impl Plan {
    /// As [`fill`](Self::fill) and a factorisation, to the same bits, for a factor by blocks.
    pub(super) fn factor_in_one_sweep(
        &mut self,
        system: &KktSystem,
        rules: Rules<'_>,
    ) -> Result<FactorReport, SolveError> {
        self.scale_variables(system)?;
        let (kernel, sweep, mut writer) = self.writer(system, rules);
        let Some((symbolic, factor)) = kernel.by_blocks_mut() else {
            return Err(SolveError::NotPrepared);
        };
        let (n, rule) = (system.n(), Kernel::RULE);
        let (mut cleared, mut filled) = (0, 0);
        factor.factor_as_filled(symbolic, rule, |k, values| {
            let end = sweep.column_ends[k] as usize;
            for column in &sweep.columns[cleared..end] {
                values[symbolic.column_values(*column as usize)].fill(0.0);
            }
            cleared = end;
            let end = sweep.run_ends[k] as usize;
            for run in filled..end {
                let (first, last) = (sweep.runs[run].0 as usize, sweep.runs[run].1 as usize);
                if first >= n {
                    writer.scale_rows(first - n..last - n)?;
                }
                sweep.tiles.write(run, writer.places, writer.scales(), values);
            }
            filled = end;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
