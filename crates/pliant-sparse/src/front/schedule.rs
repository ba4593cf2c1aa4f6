//! Which fronts go together in a task, which tasks may run at the same time, and where each update
//! matrix waits for its parent.
//!
//! Two stacks: a front of even depth reads update matrices of its children from the odd one and
//! puts its own on the even one, and the other way round, so that nothing is ever moved. A task
//! owns a piece of each, and of everything else, that no other running task touches. Bits do not
//! depend on the division: it changes neither a front nor the order of its children.

use super::tree::NONE;
use super::{Front, FrontSymbolic};
use crate::fill;
use std::ops::Range;

/// Subtrees below this share of a task's least work are not worth a task.
const SHARE: f64 = 0.25;

/// The tasks of one factor.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub(super) tasks: Vec<Task>,
    /// The task that ends with the roots.
    pub(super) top: usize,
    /// Where the update matrix of each front starts in its stack.
    pub(super) place: Vec<usize>,
}

/// Fronts that one thread eliminates after the tasks that they wait for.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// All fronts, those of the tasks it waits for included.
    pub(super) fronts: Range<usize>,
    /// Columns of its own, the last ones.
    pub(super) own: Range<usize>,
    /// Tasks it waits for, in the order of their fronts.
    pub(super) waits: Vec<usize>,
    /// Update matrices that it leaves, all of them on one stack.
    pub(super) out: usize,
    /// Its piece of the two stacks.
    pub(super) stacks: [usize; 2],
    /// Where these three start.
    pub(super) out_base: usize,
    pub(super) bases: [usize; 2],
    /// Room for the scratch of a front at a time, and of those tasks.
    pub(super) scratch: usize,
}

impl Schedule {
    /// Makes tasks of at least about `grain` nanoseconds of predicted work, for a kernel that needs
    /// so much `scratch` for a front.
    pub(super) fn refill(&mut self, symbolic: &FrontSymbolic, grain: f64, scratch: impl Fn(&Front) -> usize) {
        let count = symbolic.fronts.len();
        self.tasks.clear();
        fill(&mut self.place, count, 0);
        self.top = self.divide(symbolic, grain, count, 0..count);
        for t in 0..self.tasks.len() {
            let waits = self.tasks[t].waits.iter().map(|c| self.tasks[*c].scratch);
            let own = symbolic.fronts[self.tasks[t].own.clone()].iter().map(&scratch);
            self.tasks[t].scratch = own.max().unwrap_or(0).max(waits.sum());
        }
        self.assign(symbolic, self.top, 0, [0, 0]);
    }

    /// The task of the fronts of a range that ends with the last descendants of `node`, and with it
    /// if it is a front. Recursion is no deeper than there are tasks.
    fn divide(
        &mut self,
        symbolic: &FrontSymbolic,
        grain: f64,
        mut node: usize,
        fronts: Range<usize>,
    ) -> usize {
        let work = |f: &usize| symbolic.fronts[*f].work;
        let mut waits = Vec::new();
        let mut first = fronts.start;
        loop {
            let children = symbolic.children(node);
            // Children by descending work; small ones together.
            let mut groups: Vec<&[usize]> = Vec::new();
            let (mut start, mut sum) = (0, 0.0);
            for (k, c) in children.iter().enumerate() {
                sum += work(c);
                if sum >= SHARE * grain {
                    groups.push(&children[start..=k]);
                    (start, sum) = (k + 1, 0.0);
                }
            }
            if groups.len() > 1 {
                for group in groups {
                    let end = group[group.len() - 1] + 1;
                    let task = if group.len() == 1 && work(&group[0]) > grain {
                        self.divide(symbolic, grain, group[0], first..end)
                    } else {
                        self.finish(symbolic, first..end, first..end, Vec::new())
                    };
                    waits.push(task);
                    first = end;
                }
                break;
            }
            // Nothing to share here: maybe further down.
            match children.first() {
                Some(child) if work(child) > grain => node = *child,
                _ => break,
            }
        }
        self.finish(symbolic, fronts.clone(), first..fronts.end, waits)
    }

    /// Adds a task and what it needs.
    fn finish(
        &mut self,
        symbolic: &FrontSymbolic,
        fronts: Range<usize>,
        own: Range<usize>,
        waits: Vec<usize>,
    ) -> usize {
        let mut task = Task {
            fronts,
            own,
            waits,
            out: 0,
            stacks: [0, 0],
            out_base: 0,
            bases: [0, 0],
            scratch: 0,
        };
        let mut heights = [0, 0];
        for c in task.waits.iter().map(|c| &self.tasks[*c]) {
            heights[self.stack_of_roots(symbolic, c)] += c.out;
            task.stacks[0] += c.stacks[0];
            task.stacks[1] += c.stacks[1];
        }
        task.stacks[0] += heights[0];
        task.stacks[1] += heights[1];
        for f in task.own.clone() {
            let front = &symbolic.fronts[f];
            let stack = usize::from(front.odd);
            let size = front.below * front.below;
            if front.parent < task.fronts.end {
                heights[stack] += size;
                task.stacks[stack] = task.stacks[stack].max(heights[stack]);
            } else if front.parent != NONE {
                task.out += size;
            }
            let children = symbolic.children(f).iter().map(|c| symbolic.fronts[*c].below);
            heights[1 - stack] -= children.map(|b| b * b).sum::<usize>();
        }
        self.tasks.push(task);
        self.tasks.len() - 1
    }

    /// The stack on which a task leaves its update matrices.
    pub(super) fn stack_of_roots(&self, symbolic: &FrontSymbolic, task: &Task) -> usize {
        usize::from(symbolic.fronts[task.fronts.end - 1].odd)
    }

    /// Gives a task, and those it waits for, their places.
    fn assign(&mut self, symbolic: &FrontSymbolic, task: usize, out_base: usize, bases: [usize; 2]) {
        self.tasks[task].out_base = out_base;
        self.tasks[task].bases = bases;
        let waits = self.tasks[task].waits.clone();
        let mut heights = [0, 0];
        let mut outs = Vec::with_capacity(waits.len());
        for c in &waits {
            let stack = self.stack_of_roots(symbolic, &self.tasks[*c]);
            outs.push(bases[stack] + heights[stack]);
            heights[stack] += self.tasks[*c].out;
        }
        let mut at = [bases[0] + heights[0], bases[1] + heights[1]];
        for (c, out) in waits.iter().zip(outs) {
            self.assign(symbolic, *c, out, at);
            at[0] += self.tasks[*c].stacks[0];
            at[1] += self.tasks[*c].stacks[1];
        }
        let task = &self.tasks[task];
        let mut out = out_base;
        for f in task.own.clone() {
            let front = &symbolic.fronts[f];
            let stack = usize::from(front.odd);
            let size = front.below * front.below;
            if front.parent < task.fronts.end {
                self.place[f] = bases[stack] + heights[stack];
                heights[stack] += size;
            } else {
                self.place[f] = out;
                out += size;
            }
            let children = symbolic.children(f).iter().map(|c| symbolic.fronts[*c].below);
            heights[1 - stack] -= children.map(|b| b * b).sum::<usize>();
        }
    }
}
