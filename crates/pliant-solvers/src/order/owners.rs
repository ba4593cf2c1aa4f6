//! The primal block that owns each hard row block.

use super::Blocks;
use crate::KktSystem;
use std::collections::VecDeque;

const NONE: usize = usize::MAX;

/// The owner of every hard row block that is not deferred, and scratch to find them.
#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) owner: Vec<Option<usize>>,
    /// Row block that each primal block owns by the first round.
    owned: Vec<Option<usize>>,
    /// Searches: the last that came to each primal block, and the row block from which it did.
    reached: Vec<usize>,
    from: Vec<usize>,
    queue: VecDeque<usize>,
    /// Row blocks of each primal block in the order in which it came to own them: the first, the
    /// last and their number, and the next one of each row block.
    first: Vec<usize>,
    last: Vec<usize>,
    count: Vec<usize>,
    next: Vec<usize>,
    basis: Vec<f64>,
}

/// Makes a list one of so many equal entries.
fn fill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}

impl Owners {
    /// First one each, by augmenting paths, then as many as are linearly independent on the owner's
    /// own variables.
    pub(super) fn find(&mut self, system: &KktSystem, blocks: &Blocks, deferred: &[bool]) {
        let wanted = |k: &usize| blocks.hard[*k] && !deferred[*k];
        let primal = blocks.free.len();
        fill(&mut self.owner, blocks.hard.len(), None);
        fill(&mut self.owned, primal, None);
        fill(&mut self.reached, primal, NONE);
        fill(&mut self.from, primal, 0);
        for start in (0..blocks.hard.len()).filter(wanted) {
            self.augment(system, blocks, start);
        }
        for list in [&mut self.first, &mut self.last] {
            fill(list, primal, NONE);
        }
        fill(&mut self.count, primal, 0);
        fill(&mut self.next, blocks.hard.len(), NONE);
        for p in 0..primal {
            if let Some(k) = self.owned[p] {
                self.add(p, k);
            }
        }
        for k in (0..blocks.hard.len()).filter(wanted) {
            if self.owner[k].is_some() {
                continue;
            }
            let mut best = None;
            for p in blocks.touched(k).iter().map(|p| *p as usize) {
                let is_better = best.is_none_or(|q: usize| self.count[p] < self.count[q]);
                if is_better && self.are_independent(system, p, k) {
                    best = Some(p);
                }
            }
            if let Some(p) = best {
                self.add(p, k);
                self.owner[k] = Some(p);
            }
        }
    }

    /// Finds an owner for a row block, breadth first over alternating paths: `from[p]` is the row
    /// block that reached primal block `p`.
    fn augment(&mut self, system: &KktSystem, blocks: &Blocks, start: usize) {
        let rows = |k: usize| system.row_blocks()[k + 1] - system.row_blocks()[k];
        self.queue.clear();
        self.queue.push_back(start);
        let mut end = None;
        'search: while let Some(k) = self.queue.pop_front() {
            let candidates = blocks.touched(k).iter().map(|p| *p as usize);
            for p in candidates.filter(|p| blocks.free[*p] >= rows(k)) {
                if self.reached[p] == start {
                    continue;
                }
                self.reached[p] = start;
                self.from[p] = k;
                match self.owned[p] {
                    None => {
                        end = Some(p);
                        break 'search;
                    }
                    Some(other) => self.queue.push_back(other),
                }
            }
        }
        let Some(mut p) = end else { return };
        loop {
            let k = self.from[p];
            self.owned[p] = Some(k);
            match self.owner[k].replace(p) {
                None => break,
                Some(q) => p = q,
            }
        }
    }

    /// Lists a row block with those that a primal block owns.
    fn add(&mut self, p: usize, k: usize) {
        match self.last[p] {
            NONE => self.first[p] = k,
            before => self.next[before] = k,
        }
        self.last[p] = k;
        self.count[p] += 1;
    }

    /// Whether the rows that primal block `p` owns and those of `k` are far from dependent on the
    /// free variables of `p` alone.
    fn are_independent(&mut self, system: &KktSystem, p: usize, k: usize) -> bool {
        let first = system.primal_blocks()[p];
        let size = system.primal_blocks()[p + 1] - first;
        let next = &self.next;
        let is_row = |k: &usize| *k != NONE;
        let first_row = Some(self.first[p]).filter(is_row);
        let owned = std::iter::successors(first_row, |k| Some(next[*k]).filter(is_row));
        let basis = &mut self.basis;
        basis.clear();
        for block in owned.chain([k]) {
            for row in system.row_blocks()[block]..system.row_blocks()[block + 1] {
                let start = basis.len();
                basis.extend((first..first + size).map(|i| {
                    if system.fixed[i] {
                        0.0
                    } else {
                        system.j.get(row, i) / system.w_diagonal(i).abs().sqrt()
                    }
                }));
                let (others, a) = basis.split_at_mut(start);
                let norm = |a: &[f64]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
                let before = norm(a);
                for q in others.chunks_exact(size) {
                    let dot: f64 = q.iter().zip(&*a).map(|(q, a)| q * a).sum();
                    a.iter_mut().zip(q).for_each(|(a, q)| *a -= dot * q);
                }
                let after = norm(a);
                // A sine of 0.1 costs two digits of a pivot, which refinement gives back.
                if after <= 0.1 * before {
                    return false;
                }
                a.iter_mut().for_each(|x| *x /= after);
            }
        }
        true
    }
}
