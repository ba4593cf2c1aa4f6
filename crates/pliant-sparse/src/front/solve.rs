//! Solves with the fronts: up the tree with `L`, down with its transpose.
//!
//! Every front has its own piece of the vector, its unknowns and the rows below them. On the way up
//! it adds what its children have for its rows, on the way down it copies what its parent knows of
//! them: subtrees share nothing, as in the factorisation.

use super::schedule::Schedule;
use super::tasks::take;
use super::{Front, FrontFactor, FrontSymbolic, Run};
use crate::Threads;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par};

/// Right-hand sides that are solved for together.
const TOGETHER: usize = 32;
/// Entries of `L` below which one thread solves.
const SMALL: usize = 200_000;

impl FrontFactor {
    /// Solves `A x = b` in place, for as many right-hand sides as `x` holds one after another.
    /// Dropped variables come out as zero. Cost `4 nnz(L)` each; several cost less each, as `L` is
    /// read once for up to 32 of them. One thread allocates nothing, except room for several
    /// right-hand sides the first time.
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of the order of the matrix, or the factor is of
    /// another pattern.
    pub fn solve_in_place(&mut self, symbolic: &FrontSymbolic, x: &mut [f64]) {
        let n = symbolic.size();
        if n == 0 {
            assert!(x.is_empty(), "right-hand side of an empty factor");
            return;
        }
        assert_eq!(x.len() % n, 0, "right-hand sides of a factor of order {n}");
        assert_eq!(
            self.values.len(),
            symbolic.values,
            "values of the fronts analysed"
        );
        let one = Threads::one();
        for x in x.chunks_mut(n * TOGETHER) {
            let count = x.len() / n;
            let size = symbolic.vectors * count;
            if self.vectors.len() < size {
                self.vectors.resize(size, 0.0);
            }
            let vectors = &mut self.vectors[..size];
            let sweep = Sweep {
                symbolic,
                schedule: &self.schedule,
                threads: if symbolic.values < SMALL {
                    &one
                } else {
                    &self.threads
                },
                count,
            };
            let solve = Solve {
                values: &self.values,
                inverses: &self.inverses,
                is_positive: self.is_positive,
                count,
            };
            sweep.gather(x, vectors);
            sweep.run(vectors, |f, x| solve.forward(f, x), |f, x| solve.backward(f, x));
            sweep.scatter(vectors, x);
        }
    }
}

/// Passes over the vectors of all fronts, of which every one holds its unknowns and the rows below
/// them, for each right-hand side.
pub(super) struct Sweep<'a> {
    pub(super) symbolic: &'a FrontSymbolic,
    pub(super) schedule: &'a Schedule,
    pub(super) threads: &'a Threads,
    /// Right-hand sides.
    pub(super) count: usize,
}

impl Sweep<'_> {
    /// Writes the right-hand sides, one after another, into the fronts.
    pub(super) fn gather(&self, x: &[f64], vectors: &mut [f64]) {
        let n = self.symbolic.size();
        for front in &self.symbolic.fronts {
            let unknowns = &self.symbolic.unknown[front.first..front.first + front.width];
            let own = &mut vectors[front.vector * self.count..][..front.height() * self.count];
            for (x, own) in x.chunks_exact(n).zip(own.chunks_exact_mut(front.height())) {
                let (own, rows) = own.split_at_mut(front.width);
                for (own, i) in own.iter_mut().zip(unknowns) {
                    *own = x[*i as usize];
                }
                rows.fill(0.0);
            }
        }
    }

    /// Reads the solutions out of the fronts.
    pub(super) fn scatter(&self, vectors: &[f64], x: &mut [f64]) {
        let n = self.symbolic.size();
        for front in &self.symbolic.fronts {
            let unknowns = &self.symbolic.unknown[front.first..front.first + front.width];
            let own = &vectors[front.vector * self.count..][..front.height() * self.count];
            for (x, own) in x.chunks_exact_mut(n).zip(own.chunks_exact(front.height())) {
                for (own, i) in own.iter().zip(unknowns) {
                    x[*i as usize] = *own;
                }
            }
        }
    }

    /// Entries of a vector between the starts of two fronts; the second may be one past the last.
    fn span(&self, from: usize, to: usize) -> usize {
        let start = |f: usize| {
            self.symbolic
                .fronts
                .get(f)
                .map_or(self.symbolic.vectors, |f| f.vector)
        };
        (start(to) - start(from)) * self.count
    }

    fn both(&self, tasks: &[usize], x: &mut [f64], each: &(impl Fn(usize, &mut [f64]) + Sync)) {
        match tasks {
            [] => {}
            [task] => each(*task, x),
            _ => {
                let (left, right) = tasks.split_at(tasks.len() / 2);
                let start = |t: usize| self.schedule.tasks[t].fronts.start;
                let mut rest = x;
                let first = take(&mut rest, self.span(start(left[0]), start(right[0])));
                self.threads
                    .join(|| self.both(left, first, each), || self.both(right, rest, each));
            }
        }
    }

    /// Up the tree and down again, from the top task: `forward` gets the vector of every front
    /// after its children have added what they have for it, `backward` after its rows below were
    /// copied from its parent.
    pub(super) fn run(
        &self,
        vectors: &mut [f64],
        forward: impl Fn(&Front, &mut [f64]) + Sync,
        backward: impl Fn(&Front, &mut [f64]) + Sync,
    ) {
        let top = self.schedule.top;
        self.threads.run(|| {
            self.up(top, vectors, &forward);
            self.down(top, vectors, &[], &backward);
        });
    }

    /// The way up for a task after those it waits for.
    fn up(&self, task: usize, x: &mut [f64], forward: &(impl Fn(&Front, &mut [f64]) + Sync)) {
        let task = &self.schedule.tasks[task];
        self.both(&task.waits, x, &|t, x| self.up(t, x, forward));
        for f in task.own.clone() {
            let front = &self.symbolic.fronts[f];
            let (before, own) = x.split_at_mut(self.span(task.fronts.start, f));
            let own = &mut own[..front.height() * self.count];
            for c in self.symbolic.children(f) {
                let child = &self.symbolic.fronts[*c];
                let given = &before[self.span(task.fronts.start, *c)..][..child.height() * self.count];
                let both = given
                    .chunks_exact(child.height())
                    .zip(own.chunks_exact_mut(front.height()));
                for (given, own) in both {
                    for run in &self.symbolic.runs[child.runs.clone()] {
                        let (given, own) = sides(child, run, given, own);
                        for (a, b) in own.iter_mut().zip(given) {
                            *a += b;
                        }
                    }
                }
            }
            forward(front, own);
        }
    }

    /// The way down for a task before those that it waits for; `parent` is the vector of the front
    /// above.
    fn down(
        &self,
        task: usize,
        x: &mut [f64],
        parent: &[f64],
        backward: &(impl Fn(&Front, &mut [f64]) + Sync),
    ) {
        let task = &self.schedule.tasks[task];
        for f in task.own.clone().rev() {
            let front = &self.symbolic.fronts[f];
            let at = self.span(task.fronts.start, f);
            let (own, after) = x[at..].split_at_mut(front.height() * self.count);
            if let Some(up) = self.symbolic.fronts.get(front.parent) {
                let known = if front.parent < task.fronts.end {
                    &after[self.span(f + 1, front.parent)..][..up.height() * self.count]
                } else {
                    parent
                };
                let both = own
                    .chunks_exact_mut(front.height())
                    .zip(known.chunks_exact(up.height()));
                for (own, known) in both {
                    for run in &self.symbolic.runs[front.runs.clone()] {
                        let (from, to, len) = (run.from as usize, run.to as usize, run.len as usize);
                        let own = &mut own[front.width + from..][..len];
                        own.copy_from_slice(&known[to..to + len]);
                    }
                }
            }
            backward(front, own);
        }
        let Some(first) = task.waits.first().map(|t| &self.schedule.tasks[*t]) else {
            return;
        };
        let (waits, own) = x.split_at_mut(self.span(task.fronts.start, task.own.start));
        // All tasks waited for end below the same front.
        let above = self.symbolic.fronts[first.fronts.end - 1].parent;
        let known: &[f64] = match self.symbolic.fronts.get(above) {
            Some(front) => &own[self.span(task.own.start, above)..][..front.height() * self.count],
            None => &[],
        };
        self.both(&task.waits, waits, &|t, x| self.down(t, x, known, backward));
    }
}

struct Solve<'a> {
    values: &'a [f64],
    inverses: &'a [f64],
    is_positive: bool,
    /// Right-hand sides.
    count: usize,
}

impl Solve<'_> {
    fn matrix(&self, front: &Front) -> &[f64] {
        &self.values[front.values..front.values + front.width * front.height()]
    }

    /// `L z = b`, then `D^-1 z`.
    fn forward(&self, front: &Front, x: &mut [f64]) {
        let (width, height) = (front.width, front.height());
        let l = self.matrix(front);
        let inverses = &self.inverses[front.first..front.first + width];
        if self.count == 1 {
            forward_one(width, height, l, self.is_positive, x);
            if !self.is_positive {
                for (x, inverse) in x.iter_mut().zip(inverses) {
                    *x *= inverse;
                }
            }
            return;
        }
        let l = MatRef::from_column_major_slice(l, height, width);
        let (square, lower) = l.split_at_row(width);
        let x = MatMut::from_column_major_slice_mut(x, height, self.count);
        let (mut own, rows) = x.split_at_row_mut(width);
        if self.is_positive {
            solve_lower_triangular_in_place(square, own.as_mut(), Par::Seq);
        } else {
            solve_unit_lower_triangular_in_place(square, own.as_mut(), Par::Seq);
        }
        matmul(rows, Accum::Add, lower, own.as_ref(), -1.0, Par::Seq);
        if !self.is_positive {
            for j in 0..self.count {
                for (k, inverse) in inverses.iter().enumerate() {
                    own[(k, j)] *= inverse;
                }
            }
        }
    }

    /// `L^T x = z`.
    fn backward(&self, front: &Front, x: &mut [f64]) {
        let (width, height) = (front.width, front.height());
        let l = self.matrix(front);
        if self.count == 1 {
            backward_one(width, height, l, self.is_positive, x);
            return;
        }
        let l = MatRef::from_column_major_slice(l, height, width);
        let (square, lower) = l.split_at_row(width);
        let x = MatMut::from_column_major_slice_mut(x, height, self.count);
        let (mut own, rows) = x.split_at_row_mut(width);
        matmul(
            own.as_mut(),
            Accum::Add,
            lower.transpose(),
            rows.as_ref(),
            -1.0,
            Par::Seq,
        );
        if self.is_positive {
            solve_upper_triangular_in_place(square.transpose(), own, Par::Seq);
        } else {
            solve_unit_upper_triangular_in_place(square.transpose(), own, Par::Seq);
        }
    }
}

fn sides<'a>(child: &Front, run: &Run, given: &'a [f64], own: &'a mut [f64]) -> (&'a [f64], &'a mut [f64]) {
    let (from, to, len) = (run.from as usize, run.to as usize, run.len as usize);
    (&given[child.width + from..][..len], &mut own[to..to + len])
}

/// Columns of `L` that one pass over the vector takes.
const COLUMNS: usize = 4;

/// `L x = b` for the square part, and `b -= L x` for the rows below, by columns.
fn forward_one(width: usize, height: usize, l: &[f64], is_positive: bool, x: &mut [f64]) {
    let mut k = 0;
    while k < width {
        let end = (k + COLUMNS).min(width);
        for c in k..end {
            let column = &l[c * height..(c + 1) * height];
            if is_positive {
                x[c] /= column[c];
            }
            for r in c + 1..end {
                x[r] -= column[r] * x[c];
            }
        }
        let (known, rest) = x.split_at_mut(end);
        if let [a, b, c, d] = known[k..] {
            let columns: [&[f64]; COLUMNS] =
                std::array::from_fn(|i| &l[(k + i) * height + end..(k + i + 1) * height]);
            let [la, lb, lc, ld] = columns.map(|l| &l[..rest.len()]);
            for (i, x) in rest.iter_mut().enumerate() {
                *x -= (la[i] * a + lb[i] * b) + (lc[i] * c + ld[i] * d);
            }
        } else {
            for (c, a) in (k..end).zip(&known[k..]) {
                for (x, l) in rest.iter_mut().zip(&l[c * height + end..(c + 1) * height]) {
                    *x -= l * a;
                }
            }
        }
        k = end;
    }
}

/// `L^T x = b - L_below^T x_below`, by columns.
fn backward_one(width: usize, height: usize, l: &[f64], is_positive: bool, x: &mut [f64]) {
    let mut end = width;
    while end > 0 {
        let k = (end - 1) / COLUMNS * COLUMNS;
        let (own, rest) = x.split_at_mut(end);
        let mut sums = [0.0; COLUMNS];
        for (c, sum) in (k..end).zip(&mut sums) {
            *sum = dot(&l[c * height + end..(c + 1) * height], rest);
        }
        for c in (k..end).rev() {
            let column = &l[c * height..(c + 1) * height];
            let mut value = own[c] - sums[c - k];
            for r in c + 1..end {
                value -= column[r] * own[r];
            }
            own[c] = if is_positive { value / column[c] } else { value };
        }
        end = k;
    }
}

/// A product in eight partial sums.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}
