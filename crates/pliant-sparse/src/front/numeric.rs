//! Values of the fronts, and their elimination task by task.

use super::dense::{self, Method};
use super::schedule::Schedule;
use super::tasks::{Assembly, Pieces, Tasks, Workspace};
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

/// Values of `L`, and of the columns the diagonal and its reciprocal.
type Columns<'a> = Pieces<'a, f64, 1, 2>;

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
        self.schedule
            .refill(symbolic, grain, |f| dense::scratch(f.width, f.height()));
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
        let work = Workspace {
            own: Columns {
                values: [&mut self.values],
                columns: [&mut self.diagonal, &mut self.inverses],
            },
            out: &mut [],
            stacks: [even, odd],
            scratch: &mut self.scratch,
        };
        let threads = &self.threads;
        let tasks = Tasks {
            symbolic,
            schedule: &self.schedule,
            threads,
            kernel: |assembly: Assembly<'_>, own: &mut Columns<'_>| front(assembly, own, method, threads),
        };
        tasks.run(work).map_err(|column| SparseError::Pivot {
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

/// Assembles and eliminates one front.
fn front(
    assembly: Assembly<'_>,
    store: &mut Columns<'_>,
    method: Method,
    threads: &Threads,
) -> Result<(), usize> {
    let Assembly {
        front,
        values,
        column,
        update,
        scratch,
        children,
    } = assembly;
    let (width, height, below) = (front.width, front.height(), front.below);
    let Pieces {
        values: [l],
        columns: [diagonal, inverses],
    } = store;
    let l = &mut l[values..][..width * height];
    for (child, runs, u) in children.each() {
        extend_add(child, runs, 0..child.split, u, l, 0, height);
    }
    let own = column..column + width;
    dense::eliminate(
        (width, height),
        l,
        update,
        scratch,
        &mut diagonal[own.clone()],
        &mut inverses[own],
        method,
        threads,
    )
    .map_err(|bad| front.first + bad)?;
    for (child, runs, u) in children.each() {
        extend_add(child, runs, child.split..runs.len(), u, update, width, below);
    }
    Ok(())
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
