//! The Delassus operator through the factor of the bilateral part, never formed.

use super::{ABSENT, take_values, terms, without};
use crate::complementarity::ProblemError;
use crate::{DirectOptions, DirectSolver, Elimination, KktSystem};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Columns that share a solve.
const TOGETHER: usize = 8;

/// `A r` by one solve with the factor of `K`; the diagonal blocks are computed once per update.
#[derive(Debug)]
pub(super) struct Free {
    /// The system without the rows.
    sub: KktSystem,
    /// Row of the whole system of each row of it.
    kept: Vec<usize>,
    /// Boundaries of the blocks of rows, and their blocks of `A`, row by row.
    blocks: Vec<usize>,
    diagonal: Vec<f64>,
    /// Block of each row, and where its values start.
    block_of: Vec<usize>,
    starts: Vec<usize>,
    /// Entries of `R` that belong to the operator: both its rows, and the slot.
    own: Vec<(usize, usize, usize)>,
    /// Entries of `R` between a row of the operator and one of `sub`.
    mixed: Vec<(usize, usize, usize)>,
    work: Mutex<ProductWorkspace>,
    /// Block columns of the factor that the diagonal took in all; 0 if it took whole solves.
    pub(super) visited: usize,
}

/// The factor and scratch of a product. Behind a lock, as products have `&self`; who comes second
/// waits.
#[derive(Debug)]
struct ProductWorkspace {
    direct: DirectSolver,
    rhs: Vec<f64>,
    z: Vec<f64>,
    entries: Vec<(usize, usize, f64)>,
}

impl Free {
    /// Operations of a product: a solve with the factor.
    pub(super) fn cost(&self) -> u64 {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        4 * work.direct.counters().factor_entries as u64
    }

    pub(super) fn new(
        system: &KktSystem,
        rows: &[usize],
        blocks: &[usize],
        threads: usize,
        order: Option<Elimination>,
    ) -> Result<Self, ProblemError> {
        let mut place = vec![ABSENT as usize; system.m()];
        rows.iter().enumerate().for_each(|(k, row)| place[*row] = k);
        let out: Vec<bool> = place.iter().map(|k| *k != ABSENT as usize).collect();
        let (sub, kept) = without(system, &out)?;
        let mut kept_place = vec![0; system.m()];
        kept.iter().enumerate().for_each(|(k, row)| kept_place[*row] = k);
        let (mut own, mut mixed) = (Vec::new(), Vec::new());
        for i in 0..system.m() {
            for (slot, k) in system.r.pattern().row_slots(i).zip(system.r.pattern().row(i)) {
                let k = *k as usize;
                match (out[i], out[k]) {
                    (true, true) => own.push((place[i], place[k], slot)),
                    (true, false) => mixed.push((place[i], kept_place[k], slot)),
                    (false, true) => mixed.push((place[k], kept_place[i], slot)),
                    (false, false) => {}
                }
            }
        }
        let (mut block_of, mut starts) = (Vec::with_capacity(rows.len()), vec![0]);
        for (k, w) in blocks.windows(2).enumerate() {
            let width = w[1] - w[0];
            block_of.extend(std::iter::repeat_n(k, width));
            starts.push(starts[k] + width * width);
        }
        let mut direct = DirectSolver::new(DirectOptions {
            threads,
            ..DirectOptions::default()
        });
        direct.forget(order);
        let mut made = Self {
            sub,
            kept,
            diagonal: vec![0.0; starts[starts.len() - 1]],
            blocks: blocks.to_vec(),
            block_of,
            starts,
            own,
            mixed,
            work: Mutex::new(ProductWorkspace {
                direct,
                rhs: Vec::new(),
                z: Vec::new(),
                entries: Vec::new(),
            }),
            visited: 0,
        };
        made.compute(system, rows)?;
        Ok(made)
    }

    /// Writes the order of the bilateral part.
    pub(super) fn record(&self, out: &mut crate::order::OrderMemory) {
        self.lock().direct.record_order(out);
    }

    /// New values of a system of the same patterns.
    pub(super) fn update(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        take_values(&mut self.sub, system, &self.kept);
        self.compute(system, rows)
    }

    /// Factors, and computes the diagonal blocks: by half solves along the paths of the elimination
    /// tree where the factor is by blocks, else by whole ones, several at a time.
    fn compute(&mut self, system: &KktSystem, rows: &[usize]) -> Result<(), ProblemError> {
        let mut diagonal = std::mem::take(&mut self.diagonal);
        diagonal.fill(0.0);
        self.visited = 0;
        let prepared = self.lock().direct.prepare(&self.sub);
        let mut by_paths = self.mixed.is_empty();
        if prepared.is_ok() && by_paths {
            let mut visited = 0;
            let mut guard = self.lock();
            let work = &mut *guard;
            for (k, w) in self.blocks.windows(2).enumerate() {
                work.entries.clear();
                for (vector, row) in rows[w[0]..w[1]].iter().enumerate() {
                    let free = terms(system, *row);
                    work.entries.extend(free.map(|(i, a)| (vector, i, a)));
                }
                let out = &mut diagonal[self.starts[k]..self.starts[k + 1]];
                match work.direct.add_gram(w[1] - w[0], &work.entries, out) {
                    Some(columns) => visited += columns,
                    None => {
                        by_paths = false;
                        break;
                    }
                }
            }
            drop(guard);
            self.visited = visited;
        }
        if prepared.is_ok() && !by_paths {
            // Whole blocks at a time, so that each block is of one solve.
            let mut first = 0;
            while first + 1 < self.blocks.len() {
                let mut last = first + 1;
                while last + 1 < self.blocks.len() && self.blocks[last + 1] - self.blocks[first] <= TOGETHER {
                    last += 1;
                }
                let columns = self.blocks[first]..self.blocks[last];
                self.solve(system, rows, columns.clone());
                let guard = self.lock();
                for c in columns.clone() {
                    let block = self.block_of[c];
                    let (from, width) = (self.blocks[block], self.blocks[block + 1] - self.blocks[block]);
                    for i in 0..width {
                        diagonal[self.starts[block] + i * width + c - from] =
                            self.response(system, rows, &guard, c - columns.start, from + i);
                    }
                }
                drop(guard);
                first = last;
            }
        }
        for (i, k, slot) in &self.own {
            let block = self.block_of[*i];
            if block == self.block_of[*k] {
                let from = self.blocks[block];
                let width = self.blocks[block + 1] - from;
                let (a, b) = (i - from, k - from);
                diagonal[self.starts[block] + a * width + b] += system.r.values()[*slot];
                if a != b {
                    diagonal[self.starts[block] + b * width + a] += system.r.values()[*slot];
                }
            }
        }
        self.diagonal = diagonal;
        Ok(prepared?)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProductWorkspace> {
        // Scratch has no meaning between calls.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Solves for the responses to unit impulses on some rows, one after another.
    fn solve(&self, system: &KktSystem, rows: &[usize], columns: Range<usize>) {
        let size = self.sub.n() + self.sub.m();
        let mut guard = self.lock();
        let work = &mut *guard;
        work.rhs.clear();
        work.rhs.resize(size * columns.len(), 0.0);
        for (rhs, c) in work.rhs.chunks_exact_mut(size.max(1)).zip(columns) {
            terms(system, rows[c]).for_each(|(k, a)| rhs[k] = a);
            for (_, k, slot) in self.mixed.iter().filter(|(row, ..)| *row == c) {
                rhs[self.sub.n() + k] = system.r.values()[*slot];
            }
        }
        work.direct.apply_factors_to(&work.rhs, &mut work.z);
    }

    /// Velocity of row `i` in the `which`-th response, that to a unit impulse on some row.
    fn response(
        &self,
        system: &KktSystem,
        rows: &[usize],
        work: &ProductWorkspace,
        which: usize,
        i: usize,
    ) -> f64 {
        let size = self.sub.n() + self.sub.m();
        let z = &work.z[which * size..(which + 1) * size];
        let own = terms(system, rows[i]).map(|(k, a)| a * z[k]).sum::<f64>();
        let others = self.mixed.iter().filter(|(row, ..)| *row == i);
        let others = others.map(|(_, k, slot)| system.r.values()[*slot] * z[self.sub.n() + k]);
        own + others.sum::<f64>()
    }

    /// `(A r)` on some rows.
    pub(super) fn rows_times(
        &self,
        system: &KktSystem,
        rows: &[usize],
        wanted: Range<usize>,
        r: &[f64],
        out: &mut [f64],
    ) {
        let mut guard = self.lock();
        let work = &mut *guard;
        let n = self.sub.n();
        work.rhs.clear();
        work.rhs.resize(n + self.sub.m(), 0.0);
        for (row, r) in rows.iter().zip(r).filter(|(_, r)| **r != 0.0) {
            terms(system, *row).for_each(|(k, a)| work.rhs[k] += a * r);
        }
        for (row, k, slot) in &self.mixed {
            work.rhs[n + k] += system.r.values()[*slot] * r[*row];
        }
        work.direct.apply_factors_to(&work.rhs, &mut work.z);
        let first = wanted.start;
        for (out, i) in out.iter_mut().zip(wanted.clone()) {
            *out = terms(system, rows[i]).map(|(k, a)| a * work.z[k]).sum();
        }
        for (row, k, slot) in self.mixed.iter().filter(|(row, ..)| wanted.contains(row)) {
            out[row - first] += system.r.values()[*slot] * work.z[n + k];
        }
        for (i, k, slot) in &self.own {
            let value = system.r.values()[*slot];
            if wanted.contains(i) {
                out[i - first] += value * r[*k];
            }
            if i != k && wanted.contains(k) {
                out[k - first] += value * r[*i];
            }
        }
    }

    /// Entries of some rows and columns: as they were stored for a diagonal block, else by a solve
    /// per column.
    pub(super) fn block(
        &self,
        system: &KktSystem,
        rows: &[usize],
        wanted: Range<usize>,
        columns: Range<usize>,
        out: &mut [f64],
    ) {
        let width = columns.len();
        let block = self.block_of.get(wanted.start).filter(|_| wanted == columns);
        if let Some(block) =
            block.filter(|b| self.blocks[**b] == wanted.start && self.blocks[**b + 1] == wanted.end)
        {
            out[..width * width]
                .copy_from_slice(&self.diagonal[self.starts[*block]..self.starts[*block + 1]]);
            return;
        }
        let mut start = columns.start;
        while start < columns.end {
            let some = start..columns.end.min(start + TOGETHER);
            self.solve(system, rows, some.clone());
            let guard = self.lock();
            for c in some.clone() {
                for (l, i) in wanted.clone().enumerate() {
                    out[l * width + c - columns.start] =
                        self.response(system, rows, &guard, c - some.start, i);
                }
            }
            start = some.end;
        }
        for (i, k, slot) in &self.own {
            for (a, b) in [(*i, *k), (*k, *i)] {
                if wanted.contains(&a) && columns.contains(&b) && (i != k || a == *i) {
                    out[(a - wanted.start) * width + b - columns.start] += system.r.values()[*slot];
                }
                if i == k {
                    break;
                }
            }
        }
    }
}
