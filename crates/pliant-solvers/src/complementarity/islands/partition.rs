//! The independent parts of a system, found by its pattern.

use super::{Cone, NONE};
use crate::KktSystem;
use pliant_sparse::DisjointSets;

/// Blocks of every part. Part 0 has no cones but those of rows on nothing; the others follow in the
/// order of their first block. Kept, so that only larger systems than ever before allocate.
#[derive(Debug, Default)]
pub(super) struct Partition {
    primal: Lists,
    rows: Lists,
    sets: DisjointSets,
    /// Block of every variable.
    of_dof: Vec<u32>,
    /// The first free variable's block of each row block, which stands for it.
    leader: Vec<u32>,
    has_cone: Vec<bool>,
    /// Part of each set of blocks, by its root.
    number: Vec<u32>,
    /// Part of each block at hand.
    part: Vec<u32>,
}

/// Blocks of a part, ascending.
#[derive(Clone, Copy)]
pub(super) struct PartBlocks<'a> {
    pub(super) primal: &'a [u32],
    pub(super) rows: &'a [u32],
}

/// Ascending lists of blocks, one for each part.
#[derive(Debug, Default)]
struct Lists {
    offsets: Vec<usize>,
    list: Vec<u32>,
}

impl Lists {
    /// Blocks by their part, of so many; those of [`NONE`] are in no list.
    fn refill(&mut self, part: &[u32], count: usize) {
        let Self { offsets, list } = self;
        // One more entry in front, so that the starts of the lists move to their ends, which are
        // the starts of the next.
        offsets.clear();
        offsets.resize(count + 2, 0);
        let listed = || part.iter().enumerate().filter(|(_, k)| **k != NONE);
        listed().for_each(|(_, k)| offsets[*k as usize + 2] += 1);
        (0..=count).for_each(|k| offsets[k + 1] += offsets[k]);
        list.clear();
        list.resize(offsets[count + 1], 0);
        for (b, k) in listed() {
            let at = &mut offsets[*k as usize + 1];
            list[*at] = b as u32;
            *at += 1;
        }
        offsets.pop();
    }

    fn of(&self, k: usize) -> &[u32] {
        &self.list[self.offsets[k]..self.offsets[k + 1]]
    }
}

impl Partition {
    /// Finds the parts of a system with one entry of `cones` per row block; returns their number.
    /// Blocks of rows that are `idle` belong to no part with cones. Cost: `O(nnz)`.
    pub(super) fn find(&mut self, system: &KktSystem, cones: &[Option<Cone>], idle: &[bool]) -> usize {
        self.join(system);
        let Self {
            primal,
            rows,
            sets,
            leader,
            has_cone,
            number,
            part,
            ..
        } = self;
        let blocks = system.primal_blocks().len() - 1;
        has_cone.clear();
        has_cone.resize(blocks, false);
        for (leader, cone) in leader.iter().zip(cones) {
            if cone.is_some() && *leader != NONE {
                has_cone[sets.root(*leader as usize)] = true;
            }
        }
        number.clear();
        number.resize(blocks, NONE);
        part.clear();
        let mut count = 1;
        for b in 0..blocks {
            let root = sets.root(b);
            if !has_cone[root] {
                number[root] = 0;
            } else if number[root] == NONE {
                number[root] = count as u32;
                count += 1;
            }
            part.push(number[root]);
        }
        primal.refill(part, count);
        part.clear();
        part.extend(leader.iter().zip(idle).map(|(leader, idle)| match *leader {
            NONE => 0,
            block => match number[sets.root(block as usize)] {
                0 => 0,
                _ if *idle => NONE,
                number => number,
            },
        }));
        rows.refill(part, count);
        count
    }

    /// Joins the blocks that an entry connects, other than through fixed variables.
    fn join(&mut self, system: &KktSystem) {
        let Self {
            sets, of_dof, leader, ..
        } = self;
        sets.reset(system.primal_blocks().len() - 1);
        of_dof.clear();
        for (k, w) in system.primal_blocks().windows(2).enumerate() {
            of_dof.resize(w[1], k as u32);
        }
        let free = |d: usize| !system.fixed[d];
        for i in (0..system.n()).filter(|i| free(*i)) {
            for k in system.w.pattern().row(i).iter().filter(|k| free(**k as usize)) {
                sets.join(of_dof[i] as usize, of_dof[*k as usize] as usize);
            }
        }
        leader.clear();
        leader.resize(system.row_blocks().len() - 1, NONE);
        for (leader, w) in leader.iter_mut().zip(system.row_blocks().windows(2)) {
            for k in (w[0]..w[1]).flat_map(|i| system.j.pattern().row(i)) {
                if free(*k as usize) {
                    let block = of_dof[*k as usize];
                    if *leader == NONE {
                        *leader = block;
                    }
                    sets.join(*leader as usize, block as usize);
                }
            }
        }
    }

    /// Blocks of a part.
    pub(super) fn blocks(&self, k: usize) -> PartBlocks<'_> {
        PartBlocks {
            primal: self.primal.of(k),
            rows: self.rows.of(k),
        }
    }
}
