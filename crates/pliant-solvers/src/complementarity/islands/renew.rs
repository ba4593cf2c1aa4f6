//! The parts of a system of another pattern, in the storage of former ones.

use super::part::Part;
use super::{Cone, IslandSolver, NONE, Storage};
use crate::KktSystem;
use crate::complementarity::ProblemError;

/// The parts of the last partition, while those of the next are made.
#[derive(Debug, Default)]
pub(super) struct Older {
    parts: Vec<Option<Part>>,
    /// Their first variables, ascending, and their places in the list: parts are disjoint, so that
    /// it tells them apart.
    order: Vec<(Option<u32>, usize)>,
    /// First variables and places of remembered parts.
    memory_order: Vec<(Option<u32>, usize)>,
}

/// The place of what has this first variable.
fn find(order: &[(Option<u32>, usize)], first: Option<u32>) -> Option<usize> {
    let at = order.binary_search_by_key(&first, |entry| entry.0).ok()?;
    Some(order[at].1)
}

impl IslandSolver {
    /// Parts the system, whatever the last one was.
    pub(super) fn part(&mut self, system: &KktSystem, cones: &[Option<Cone>]) -> Result<(), ProblemError> {
        self.is_parted = false;
        let count = self
            .storage
            .partition
            .find(system, cones, &self.membership.idle.expected);
        self.storage.places.reset(system.n(), system.m());
        self.put_aside();
        self.membership.part_of.clear();
        self.membership.part_of.resize(system.m(), NONE);
        for k in 0..count {
            let Storage {
                partition,
                places,
                retired,
                ..
            } = &mut *self.storage;
            let blocks = partition.blocks(k);
            if k == 0 && count > 1 && blocks.primal.is_empty() && blocks.rows.is_empty() {
                continue;
            }
            let conic = k > 0 || blocks.rows.iter().any(|b| cones[*b as usize].is_some());
            let sizes = |blocks: &[u32], bounds: &[usize]| -> usize {
                let size = |b: &u32| bounds[*b as usize + 1] - bounds[*b as usize];
                blocks.iter().map(size).sum()
            };
            let size = sizes(blocks.primal, system.primal_blocks()) + sizes(blocks.rows, system.row_blocks());
            let mut part = retired.take(conic, size);
            part.refill(system, cones, blocks, conic, places)?;
            self.keep_plans(&mut part);
            for row in &part.rows {
                self.membership.part_of[*row as usize] = self.parts.len() as u32;
            }
            self.parts.push(part);
        }
        self.membership.idle.rows.clear();
        let parts = self.membership.part_of.iter().zip(0..);
        let left = parts.filter_map(|(part, row)| (*part == NONE).then_some(row));
        self.membership.idle.rows.extend(left);
        let Storage { retired, older, .. } = &mut *self.storage;
        let left = older.parts.drain(..).flatten();
        left.for_each(|part| retired.put(part));
        self.memory.clear();
        self.laws.clear();
        self.laws.extend_from_slice(cones);
        self.whole.take(system);
        self.is_parted = true;
        self.counts.partitions += 1;
        Ok(())
    }

    /// Puts all parts aside, to be compared with the next ones.
    fn put_aside(&mut self) {
        let Storage { retired, older, .. } = &mut *self.storage;
        let Older {
            parts,
            order,
            memory_order,
        } = older;
        // None are left but after an error.
        parts.drain(..).flatten().for_each(|part| retired.put(part));
        parts.extend(self.parts.drain(..).map(Some));
        let first = |dofs: &[u32]| dofs.first().copied();
        order.clear();
        let all = parts.iter().flatten().enumerate();
        order.extend(all.map(|(k, part)| (first(&part.dofs), k)));
        memory_order.clear();
        let all = self.memory.iter().enumerate();
        memory_order.extend(all.map(|(k, memory)| (first(&memory.dofs), k)));
        order.sort_unstable();
        memory_order.sort_unstable();
    }

    /// Lets a part go on with the plans of an older or remembered one, if it is like it.
    fn keep_plans(&mut self, part: &mut Part) {
        let first = part.dofs.first().copied();
        let Storage { retired, older, .. } = &mut *self.storage;
        let remembered = find(&older.memory_order, first);
        let older = find(&older.order, first).and_then(|k| older.parts[k].take());
        self.counts.comparisons += usize::from(older.is_some()) + usize::from(remembered.is_some());
        let mut is_kept = false;
        if let Some(mut older) = older {
            is_kept = part.is_like(&older);
            if is_kept {
                part.go_on(&mut older);
            }
            retired.put(older);
        }
        if !is_kept && let Some(memory) = remembered.map(|k| std::mem::take(&mut self.memory[k])) {
            is_kept = part.was(&memory);
            if is_kept {
                part.impose(memory);
            }
        }
        self.counts.kept += usize::from(is_kept);
    }
}
