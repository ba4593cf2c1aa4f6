//! The elimination of fronts task by task, whatever a factor stores: each task gets its own piece
//! of the storage, so that those which wait for nothing in common run at the same time.

use super::schedule::{Schedule, Task};
use super::{Front, FrontSymbolic, Run};
use crate::Threads;

/// Storage of consecutive fronts: lists with an entry for each of their values, and lists with one
/// for each of their columns.
pub(super) struct Pieces<'a, T, const V: usize, const C: usize> {
    pub(super) values: [&'a mut [f64]; V],
    pub(super) columns: [&'a mut [T]; C],
}

impl<'a, T, const V: usize, const C: usize> Pieces<'a, T, V, C> {
    /// Splits off the storage of the first fronts, which have so many values and columns.
    fn split(self, values: usize, columns: usize) -> (Self, Self) {
        let (first, rest) = split_each(self.values, values);
        let (first_columns, other_columns) = split_each(self.columns, columns);
        let of_first = Pieces {
            values: first,
            columns: first_columns,
        };
        let of_rest = Pieces {
            values: rest,
            columns: other_columns,
        };
        (of_first, of_rest)
    }
}

/// Splits every list at the same place.
fn split_each<T, const N: usize>(lists: [&mut [T]; N], at: usize) -> ([&mut [T]; N], [&mut [T]; N]) {
    let mut rest = lists.map(Some);
    let first = std::array::from_fn(|k| {
        let (first, other) = rest[k].take().unwrap_or_default().split_at_mut(at);
        rest[k] = Some(other);
        first
    });
    (first, rest.map(Option::unwrap_or_default))
}

/// Storage that one task may touch.
pub(super) struct Workspace<'a, T, const V: usize, const C: usize> {
    /// Storage of the fronts of the task, and of those that it waits for.
    pub(super) own: Pieces<'a, T, V, C>,
    /// Update matrices that the task leaves.
    pub(super) out: &'a mut [f64],
    pub(super) stacks: [&'a mut [f64]; 2],
    pub(super) scratch: &'a mut [f64],
}

/// A front with the pieces of the storage that its elimination reads and writes.
pub(super) struct Assembly<'a> {
    pub(super) front: &'a Front,
    /// Where its values and its columns start in the storage of the task.
    pub(super) values: usize,
    pub(super) column: usize,
    /// Its update matrix, `below x below`.
    pub(super) update: &'a mut [f64],
    pub(super) scratch: &'a mut [f64],
    pub(super) children: Children<'a>,
}

/// The children of a front, with what they left.
#[derive(Clone, Copy)]
pub(super) struct Children<'a> {
    symbolic: &'a FrontSymbolic,
    schedule: &'a Schedule,
    parent: usize,
    /// The stack on which their update matrices are, and where it starts.
    stack: &'a [f64],
    base: usize,
}

/// Tasks that eliminate the fronts of a factor by a kernel, which has the column of a bad pivot as
/// error.
pub(super) struct Tasks<'a, K> {
    pub(super) symbolic: &'a FrontSymbolic,
    pub(super) schedule: &'a Schedule,
    pub(super) threads: &'a Threads,
    pub(super) kernel: K,
}

/// Splits off the first part of a slice.
pub(super) fn take<'a>(slice: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    let (first, rest) = std::mem::take(slice).split_at_mut(len);
    *slice = rest;
    first
}

impl<'a> Children<'a> {
    /// The children in order, each with where its rows are in the front, and its update matrix.
    pub(super) fn each(self) -> impl Iterator<Item = (&'a Front, &'a [Run], &'a [f64])> {
        self.symbolic.children(self.parent).iter().map(move |c| {
            let child = &self.symbolic.fronts[*c];
            let size = child.below * child.below;
            let start = match size {
                0 => 0,
                _ => self.schedule.place[*c] - self.base,
            };
            let runs = &self.symbolic.runs[child.runs.clone()];
            (child, runs, &self.stack[start..][..size])
        })
    }
}

impl<K> Tasks<'_, K> {
    /// Eliminates all fronts; the column of a bad pivot as error.
    pub(super) fn run<T: Send, const V: usize, const C: usize>(
        &self,
        work: Workspace<'_, T, V, C>,
    ) -> Result<(), usize>
    where
        K: Fn(Assembly<'_>, &mut Pieces<'_, T, V, C>) -> Result<(), usize> + Sync,
    {
        self.threads.run(|| self.task(self.schedule.top, work))
    }

    /// A task after those it waits for.
    fn task<T: Send, const V: usize, const C: usize>(
        &self,
        index: usize,
        mut work: Workspace<'_, T, V, C>,
    ) -> Result<(), usize>
    where
        K: Fn(Assembly<'_>, &mut Pieces<'_, T, V, C>) -> Result<(), usize> + Sync,
    {
        let task = &self.schedule.tasks[index];
        let (before, mut own) = self.split(work.own, task.fronts.start, task.own.start);
        if !task.waits.is_empty() {
            let [even, odd] = &mut work.stacks;
            let mut stacks = [&mut even[..], &mut odd[..]];
            // What they leave is at the bottom of one stack; their own pieces are above.
            let outs = task.waits.iter().map(|c| self.schedule.tasks[*c].out).sum();
            let mut out: &mut [f64] = &mut [];
            if outs > 0 {
                let first = &self.schedule.tasks[task.waits[0]];
                let stack = self.schedule.stack_of_roots(self.symbolic, first);
                out = take(&mut stacks[stack], outs);
            }
            let waits = Workspace {
                own: before,
                out,
                stacks,
                scratch: &mut *work.scratch,
            };
            self.fork(&task.waits, waits)?;
        }
        for f in task.own.clone() {
            let assembly = self.assembly(f, task, work.out, &mut work.stacks, work.scratch);
            (self.kernel)(assembly, &mut own)?;
        }
        Ok(())
    }

    /// Splits the storage of fronts from `from` on at front `to`, which may be one past the last.
    fn split<'s, T, const V: usize, const C: usize>(
        &self,
        storage: Pieces<'s, T, V, C>,
        from: usize,
        to: usize,
    ) -> (Pieces<'s, T, V, C>, Pieces<'s, T, V, C>) {
        let start = |f: usize| match self.symbolic.fronts.get(f) {
            Some(front) => (front.values, front.first),
            None => (self.symbolic.values, self.symbolic.size()),
        };
        let (begin, end) = (start(from), start(to));
        storage.split(end.0 - begin.0, end.1 - begin.1)
    }

    /// Several tasks, at the same time if there are threads.
    fn fork<T: Send, const V: usize, const C: usize>(
        &self,
        tasks: &[usize],
        mut work: Workspace<'_, T, V, C>,
    ) -> Result<(), usize>
    where
        K: Fn(Assembly<'_>, &mut Pieces<'_, T, V, C>) -> Result<(), usize> + Sync,
    {
        if tasks.len() == 1 {
            return self.task(tasks[0], work);
        }
        let (left, right) = tasks.split_at(tasks.len() / 2);
        let (mut out, mut scratch, mut stacks) = (0, 0, [0, 0]);
        for t in left.iter().map(|t| &self.schedule.tasks[*t]) {
            out += t.out;
            scratch += t.scratch;
            stacks = [stacks[0] + t.stacks[0], stacks[1] + t.stacks[1]];
        }
        let start = |t: usize| self.schedule.tasks[t].fronts.start;
        let (own, others) = self.split(work.own, start(left[0]), start(right[0]));
        let [even, odd] = &mut work.stacks;
        let first = Workspace {
            own,
            out: take(&mut work.out, out),
            stacks: [take(even, stacks[0]), take(odd, stacks[1])],
            scratch: take(&mut work.scratch, scratch),
        };
        let second = Workspace {
            own: others,
            out: work.out,
            stacks: work.stacks,
            scratch: work.scratch,
        };
        let (a, b) = self
            .threads
            .join(|| self.fork(left, first), || self.fork(right, second));
        a.and(b)
    }

    /// A front of a task with its pieces of the storage.
    fn assembly<'a>(
        &'a self,
        f: usize,
        task: &Task,
        out: &'a mut [f64],
        stacks: &'a mut [&mut [f64]; 2],
        scratch: &'a mut [f64],
    ) -> Assembly<'a> {
        let fronts = &self.symbolic.fronts;
        let (front, begin) = (&fronts[f], &fronts[task.own.start]);
        let [even, odd] = stacks;
        let (own, other, base, other_base) = match front.odd {
            true => (odd, even, task.bases[1], task.bases[0]),
            false => (even, odd, task.bases[0], task.bases[1]),
        };
        let (size, place) = (front.below * front.below, self.schedule.place[f]);
        let update = if size == 0 {
            &mut []
        } else if front.parent < task.fronts.end {
            &mut own[place - base..][..size]
        } else {
            &mut out[place - task.out_base..][..size]
        };
        Assembly {
            front,
            values: front.values - begin.values,
            column: front.first - begin.first,
            update,
            scratch,
            children: Children {
                symbolic: self.symbolic,
                schedule: self.schedule,
                parent: f,
                stack: other,
                base: other_base,
            },
        }
    }
}
