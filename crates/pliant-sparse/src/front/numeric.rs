//! Values of the fronts, and their elimination task by task.

use super::dense::{self, Method};
use super::schedule::{Schedule, Task};
use super::{Front, FrontSymbolic, Run};
use crate::ldlt::DROPPED;
use crate::{FactorReport, PivotRule, SparseError, Threads, zeros};

/// Predicted nanoseconds below which one thread is enough.
const SMALL: f64 = 1e6;
/// Tasks per thread, so that the shares come out even.
const TASKS: f64 = 12.0;

/// Values of a multifrontal factor. Allocated once, refilled for every matrix of the same pattern.
///
/// Use: [`clear`](Self::clear), write `A` to the [slots](FrontSymbolic::slot) of
/// [`values_mut`](Self::values_mut), [`factor`](Self::factor) or
/// [`factor_positive`](Self::factor_positive), [`solve_in_place`](Self::solve_in_place). The answer
/// is the same to the last bit for any number of [`Threads`].
#[derive(Debug, Default)]
pub struct FrontFactor {
    pub(super) schedule: Schedule,
    /// More than one only if there is enough work.
    pub(super) threads: Threads,
    /// `A`, then `L` in its place.
    pub(super) values: Vec<f64>,
    /// In the order of the columns: `D` and its reciprocal, zero for a dropped pivot.
    diagonal: Vec<f64>,
    pub(super) inverses: Vec<f64>,
    /// In the order of the unknowns.
    pivots: Vec<f64>,
    stacks: [Vec<f64>; 2],
    scratch: Vec<f64>,
    /// Whether the factor is `L L^T`.
    pub(super) is_positive: bool,
    /// One vector, every front with the rows below it, for each right-hand side.
    pub(super) vectors: Vec<f64>,
}

/// Storage that one task may touch.
struct FrontWorkspace<'a> {
    values: &'a mut [f64],
    diagonal: &'a mut [f64],
    inverses: &'a mut [f64],
    out: &'a mut [f64],
    stacks: [&'a mut [f64]; 2],
    scratch: &'a mut [f64],
}

impl FrontSymbolic {
    /// Allocates the values for elimination by so many threads: the entries of `L`, and two stacks
    /// of update matrices.
    ///
    /// # Errors
    /// [`SparseError::Memory`] if the system does not grant it.
    pub fn allocate(&self, threads: &Threads) -> Result<FrontFactor, SparseError> {
        let mut out = FrontFactor::default();
        out.refill(self, threads)?;
        Ok(out)
    }

    /// As [`allocate`](Self::allocate), with tasks of at least about `grain` nanoseconds.
    #[cfg(test)]
    pub(super) fn allocate_in_tasks(
        &self,
        threads: &Threads,
        grain: f64,
    ) -> Result<FrontFactor, SparseError> {
        let mut out = FrontFactor::default();
        out.refill_in_tasks(self, threads, grain)?;
        Ok(out)
    }
}

impl FrontFactor {
    /// Makes it one of another pattern, as [`FrontSymbolic::allocate`] does. Allocates with one
    /// thread only for larger ones than ever before.
    ///
    /// # Errors
    /// As [`FrontSymbolic::allocate`].
    pub fn refill(&mut self, symbolic: &FrontSymbolic, threads: &Threads) -> Result<(), SparseError> {
        let cost = symbolic.cost();
        let shared = threads.count() > 1 && cost >= SMALL;
        let grain = if shared {
            cost / (TASKS * threads.count() as f64)
        } else {
            f64::INFINITY
        };
        let one = Threads::one();
        self.refill_in_tasks(symbolic, if shared { threads } else { &one }, grain)
    }

    fn refill_in_tasks(
        &mut self,
        symbolic: &FrontSymbolic,
        threads: &Threads,
        grain: f64,
    ) -> Result<(), SparseError> {
        self.schedule.refill(symbolic, grain);
        let top = &self.schedule.tasks[self.schedule.top];
        let size = symbolic.size();
        let [even, odd] = &mut self.stacks;
        let lists = [
            (&mut self.values, symbolic.values),
            (&mut self.vectors, symbolic.vectors),
            (even, top.stacks[0]),
            (odd, top.stacks[1]),
            (&mut self.scratch, top.scratch),
            (&mut self.diagonal, size),
            (&mut self.inverses, size),
            (&mut self.pivots, size),
        ];
        let new = lists.iter().filter(|(list, length)| list.capacity() < *length);
        let numbers = new.fold(0usize, |sum, (_, length)| sum.saturating_add(*length));
        // Asked for as a whole and given back: what is allocated below is then there.
        let granted = Vec::<f64>::new().try_reserve_exact(numbers);
        granted.map_err(|_| SparseError::Memory { numbers })?;
        for (list, length) in lists {
            zeros(list, length);
        }
        self.threads.clone_from(threads);
        self.is_positive = false;
        Ok(())
    }

    /// Sets all values to zero, to be filled with `A`.
    pub fn clear(&mut self) {
        self.threads.zero(&mut self.values);
    }

    /// Values to be filled with the lower triangle of `A`, see [`FrontSymbolic::slot`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors `A = L D L^T` in place, with scalar pivots in the order of the matrix. One thread
    /// allocates nothing. Cost: [`FrontSymbolic::flops`].
    ///
    /// # Errors
    /// [`SparseError::Size`] if the values are of another pattern, [`SparseError::Pivot`] at a
    /// pivot that is zero (unless dropped) or not finite.
    pub fn factor(&mut self, symbolic: &FrontSymbolic, rule: PivotRule) -> Result<FactorReport, SparseError> {
        self.eliminate(symbolic, Method::Ldlt(rule))
    }

    /// Factors `A = L L^T` in place. One thread allocates nothing. Cost: [`FrontSymbolic::flops`],
    /// with less traffic than [`Self::factor`].
    ///
    /// # Errors
    /// [`SparseError::Size`] if the values are of another pattern, [`SparseError::Pivot`] at a
    /// pivot that is not positive or not finite.
    pub fn factor_positive(&mut self, symbolic: &FrontSymbolic) -> Result<FactorReport, SparseError> {
        self.eliminate(symbolic, Method::Llt)
    }

    fn eliminate(&mut self, symbolic: &FrontSymbolic, method: Method) -> Result<FactorReport, SparseError> {
        let (expected, found) = (symbolic.values, self.values.len());
        let fits = self.schedule.place.len() == symbolic.fronts.len() && self.pivots.len() == symbolic.size();
        if expected != found || !fits {
            return Err(SparseError::Size {
                what: "values of fronts",
                expected,
                found,
            });
        }
        self.is_positive = method == Method::Llt;
        let [even, odd] = &mut self.stacks;
        let work = FrontWorkspace {
            values: &mut self.values,
            diagonal: &mut self.diagonal,
            inverses: &mut self.inverses,
            out: &mut [],
            stacks: [even, odd],
            scratch: &mut self.scratch,
        };
        let elimination = Elimination {
            symbolic,
            schedule: &self.schedule,
            threads: &self.threads,
            method,
        };
        let top = self.schedule.top;
        self.threads
            .run(|| elimination.task(top, work))
            .map_err(|column| SparseError::Pivot {
                index: symbolic.unknown[column] as usize,
            })?;
        let mut report = FactorReport::default();
        for (unknown, d) in symbolic.unknown.iter().zip(&self.diagonal) {
            self.pivots[*unknown as usize] = *d;
            report.dropped += usize::from(d.abs() == DROPPED);
            report.positive += usize::from(*d > 0.0 && *d != DROPPED);
            report.negative += usize::from(*d < 0.0 && *d != -DROPPED);
        }
        Ok(report)
    }

    /// The diagonal `D` of the last factorisation; `+-1e100` for a dropped pivot. For `L L^T`, the
    /// squares of the diagonal.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Whether variable `i` was dropped.
    pub fn is_dropped(&self, i: usize) -> bool {
        self.pivots[i].abs() == DROPPED
    }
}

/// Splits off the first part of a slice.
pub(super) fn take<'a>(slice: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    let (first, rest) = std::mem::take(slice).split_at_mut(len);
    *slice = rest;
    first
}

struct Elimination<'a> {
    symbolic: &'a FrontSymbolic,
    schedule: &'a Schedule,
    threads: &'a Threads,
    method: Method,
}

impl Elimination<'_> {
    /// A task after those it waits for; the column of a bad pivot as error.
    fn task(&self, index: usize, mut work: FrontWorkspace<'_>) -> Result<(), usize> {
        let task = &self.schedule.tasks[index];
        if !task.waits.is_empty() {
            let [even, odd] = &mut work.stacks;
            let (mut outs, mut stacks) = (0, [&mut even[..], &mut odd[..]]);
            // What they leave is at the bottom of one stack; their own pieces are above.
            let mut out: &mut [f64] = &mut [];
            for c in task.waits.iter().map(|c| &self.schedule.tasks[*c]) {
                outs += c.out;
            }
            if outs > 0 {
                let first = &self.schedule.tasks[task.waits[0]];
                out = take(
                    &mut stacks[self.schedule.stack_of_roots(self.symbolic, first)],
                    outs,
                );
            }
            let waits = FrontWorkspace {
                values: &mut *work.values,
                diagonal: &mut *work.diagonal,
                inverses: &mut *work.inverses,
                out,
                stacks,
                scratch: &mut *work.scratch,
            };
            self.fork(&task.waits, waits)?;
        }
        for f in task.own.clone() {
            self.front(f, task, &mut work)?;
        }
        Ok(())
    }

    /// Several tasks, at the same time if there are threads.
    fn fork(&self, tasks: &[usize], mut work: FrontWorkspace<'_>) -> Result<(), usize> {
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
        let range = |t: usize| self.schedule.tasks[t].fronts.clone();
        let (start, end) = (range(left[0]).start, range(right[0]).start);
        let fronts = &self.symbolic.fronts;
        let columns = fronts[end].first - fronts[start].first;
        let [even, odd] = &mut work.stacks;
        let first = FrontWorkspace {
            values: take(&mut work.values, fronts[end].values - fronts[start].values),
            diagonal: take(&mut work.diagonal, columns),
            inverses: take(&mut work.inverses, columns),
            out: take(&mut work.out, out),
            stacks: [take(even, stacks[0]), take(odd, stacks[1])],
            scratch: take(&mut work.scratch, scratch),
        };
        let (a, b) = self
            .threads
            .join(|| self.fork(left, first), || self.fork(right, work));
        a.and(b)
    }

    /// Assembles and eliminates one front.
    fn front(&self, f: usize, task: &Task, work: &mut FrontWorkspace<'_>) -> Result<(), usize> {
        let fronts = &self.symbolic.fronts;
        let (front, begin) = (&fronts[f], &fronts[task.fronts.start]);
        let (width, height, below) = (front.width, front.height(), front.below);
        let l = &mut work.values[front.values - begin.values..][..width * height];
        let [even, odd] = &mut work.stacks;
        let (own, other, base, other_base) = if front.odd {
            (odd, even, task.bases[1], task.bases[0])
        } else {
            (even, odd, task.bases[0], task.bases[1])
        };
        let place = self.schedule.place[f];
        let update = if below == 0 {
            &mut []
        } else if front.parent < task.fronts.end {
            &mut own[place - base..][..below * below]
        } else {
            &mut work.out[place - task.out_base..][..below * below]
        };
        let children = || {
            self.symbolic.children(f).iter().map(|c| {
                let child = &fronts[*c];
                let start = self.schedule.place[*c]
                    - if child.below == 0 {
                        self.schedule.place[*c]
                    } else {
                        other_base
                    };
                let runs = &self.symbolic.runs[child.runs.clone()];
                (child, runs, &other[start..][..child.below * child.below])
            })
        };
        for (child, runs, u) in children() {
            extend_add(child, runs, 0..child.split, u, l, 0, height);
        }
        let first = front.first - begin.first;
        dense::eliminate(
            (width, height),
            l,
            update,
            work.scratch,
            &mut work.diagonal[first..first + width],
            &mut work.inverses[first..first + width],
            self.method,
            self.threads,
        )
        .map_err(|bad| front.first + bad)?;
        for (child, runs, u) in children() {
            extend_add(child, runs, child.split..runs.len(), u, update, width, below);
        }
        Ok(())
    }
}

/// Adds the columns of some runs of a child's update matrix `u` to `target`, of `height` rows, of
/// which the first is local row `offset` of the parent.
fn extend_add(
    child: &Front,
    runs: &[Run],
    columns: std::ops::Range<usize>,
    u: &[f64],
    target: &mut [f64],
    offset: usize,
    height: usize,
) {
    for k in columns {
        let (from, to, len) = (
            runs[k].from as usize,
            runs[k].to as usize - offset,
            runs[k].len as usize,
        );
        for j in 0..len {
            let source = &u[(from + j) * child.below..][..child.below];
            let target = &mut target[(to + j) * height..][..height];
            add(&mut target[to + j..to + len], &source[from + j..from + len]);
            for run in &runs[k + 1..] {
                let (from, to, len) = (run.from as usize, run.to as usize - offset, run.len as usize);
                add(&mut target[to..to + len], &source[from..from + len]);
            }
        }
    }
}

#[inline]
fn add(target: &mut [f64], source: &[f64]) {
    for (a, b) in target.iter_mut().zip(source) {
        *a += b;
    }
}
