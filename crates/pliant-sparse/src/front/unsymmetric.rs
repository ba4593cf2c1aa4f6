//! The multifrontal `L U` of a matrix with symmetric pattern and other values on both sides of the
//! diagonal.

use super::schedule::Schedule;
use super::solve::{Sweep, dot};
use super::tasks::{Assembly, Pieces, Tasks, Workspace};
use super::{Front, FrontSymbolic, Run};
use crate::{SparseError, Threads, fill, zeros};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns that are eliminated before the rest is updated.
const PANEL: usize = 32;
/// Share of the largest entry of its column from which the diagonal stays the pivot: exchanges
/// spoil the grading of matrices whose rows differ by many orders.
const DIAGONAL: f64 = 0.01;

/// Predicted nanoseconds of a symmetric factor below which one thread is enough for this one.
const SMALL: f64 = 3e5;
/// Tasks per thread, so that the shares come out even.
const TASKS: f64 = 8.0;
/// Entries of `L` below which one thread solves.
const SMALL_SOLVE: usize = 100_000;

/// Values of a multifrontal `P A = L U`. Allocated once, refilled for every matrix of the same
/// pattern.
///
/// Rows are exchanged inside a front only, where the diagonal is below a hundredth of the largest
/// entry of its column. Between fronts the order is that of the [`FrontSymbolic`]: it is for
/// matrices whose diagonal blocks are regular in that order, such as a saddle-point system with an
/// unsymmetric law in its rows. Twice the operations and twice the memory of the symmetric factor.
/// One thread allocates nothing; the answer is the same to the last bit for any number of
/// [`Threads`].
///
/// Use: [`clear`](Self::clear), write `A` to the [slots](FrontSymbolic::unsymmetric_slot) of
/// [`values_mut`](Self::values_mut), [`factor`](Self::factor),
/// [`solve_in_place`](Self::solve_in_place).
#[derive(Clone, Debug, Default)]
pub struct UnsymmetricFactor {
    schedule: Schedule,
    /// More than one only if there is enough work.
    threads: Threads,
    /// Columns of `A`, then `L` without its unit diagonal and, in the rows of the front, `U`; after
    /// them, in the same layout, the rows of `A` to the right of each front as columns, then those
    /// of `U`.
    values: Vec<f64>,
    /// Local row that each column's pivot came from.
    exchanges: Vec<u32>,
    stacks: [Vec<f64>; 2],
    /// One front in full for each task that may run at the same time.
    scratch: Vec<f64>,
    /// One vector, every front with the rows below it.
    vectors: Vec<f64>,
}

/// Values of the columns and of the rows, and the exchanges of the columns.
type Sides<'a> = Pieces<'a, u32, 2, 1>;

impl FrontSymbolic {
    /// Where entry `(i, j)` of an unsymmetric matrix is stored, see
    /// [`UnsymmetricFactor::values_mut`]; `None` outside the pattern of `L + L^T` or outside the
    /// matrix.
    pub fn unsymmetric_slot(&self, i: usize, j: usize) -> Option<usize> {
        let (row, column) = (*self.position.get(i)? as usize, *self.position.get(j)? as usize);
        let front = &self.fronts[self.front[self.vertex[column] as usize] as usize];
        let own = front.first..front.first + front.width;
        if own.contains(&row) {
            return Some(front.values + (column - front.first) * front.height() + row - front.first);
        }
        let slot = self.slot(i, j)?;
        Some(if row > column { slot } else { self.values + slot })
    }

    /// Allocates the values of an unsymmetric factor for elimination by so many threads.
    pub fn allocate_unsymmetric(&self, threads: &Threads) -> UnsymmetricFactor {
        let mut out = UnsymmetricFactor::default();
        out.refill(self, threads);
        out
    }
}

impl UnsymmetricFactor {
    /// Makes it one of another pattern, as [`FrontSymbolic::allocate_unsymmetric`] does. Allocates
    /// with one thread only for larger ones than ever before.
    pub fn refill(&mut self, symbolic: &FrontSymbolic, threads: &Threads) {
        let cost = symbolic.cost();
        let one = Threads::one();
        let (threads, grain) = if threads.count() > 1 && cost >= SMALL {
            (threads, cost / (TASKS * threads.count() as f64))
        } else {
            (&one, f64::INFINITY)
        };
        self.refill_in_tasks(symbolic, threads, grain);
    }

    /// As [`refill`](Self::refill), with tasks of at least about `grain` nanoseconds.
    fn refill_in_tasks(&mut self, symbolic: &FrontSymbolic, threads: &Threads, grain: f64) {
        self.schedule.refill(symbolic, grain, |f| f.height() * f.height());
        let top = &self.schedule.tasks[self.schedule.top];
        zeros(&mut self.values, 2 * symbolic.values);
        fill(&mut self.exchanges, symbolic.size(), 0);
        zeros(&mut self.scratch, top.scratch);
        zeros(&mut self.vectors, symbolic.vectors);
        for (stack, size) in self.stacks.iter_mut().zip(top.stacks) {
            zeros(stack, size);
        }
        self.threads.clone_from(threads);
    }

    /// Sets all values to zero, to be filled with `A`.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Values to be filled with `A`, see [`FrontSymbolic::unsymmetric_slot`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Factors in place. Cost: twice [`FrontSymbolic::flops`].
    ///
    /// # Errors
    /// [`SparseError::Size`] if the values are of another pattern, [`SparseError::Pivot`] if a
    /// front leaves only zeros, or a number that is not finite, for a pivot.
    pub fn factor(&mut self, symbolic: &FrontSymbolic) -> Result<(), SparseError> {
        let size = symbolic.values;
        if self.values.len() != 2 * size || self.exchanges.len() != symbolic.size() {
            return Err(SparseError::Size {
                what: "values of fronts",
                expected: 2 * size,
                found: self.values.len(),
            });
        }
        let (columns, rows) = self.values.split_at_mut(size);
        let [even, odd] = &mut self.stacks;
        let work = Workspace {
            own: Sides {
                values: [columns, rows],
                columns: [&mut self.exchanges],
            },
            out: &mut [],
            stacks: [even, odd],
            scratch: &mut self.scratch,
        };
        let arch = pulp::Arch::new();
        let tasks = Tasks {
            symbolic,
            schedule: &self.schedule,
            threads: &self.threads,
            kernel: |assembly: Assembly<'_>, own: &mut Sides<'_>| {
                arch.dispatch(Elimination { assembly, own })
            },
        };
        tasks.run(work).map_err(|column| SparseError::Pivot {
            index: symbolic.unknown[column] as usize,
        })
    }

    /// The sign of the determinant of the matrix that was factored last: whether its pivots are
    /// below zero in an odd number, rows exchanged back.
    ///
    /// # Panics
    /// If the factor is of another pattern.
    pub fn has_negative_determinant(&self, symbolic: &FrontSymbolic) -> bool {
        let mut negative = false;
        for front in &symbolic.fronts {
            for k in 0..front.width {
                let pivot = self.values[front.values + k * (front.height() + 1)];
                let exchanged = self.exchanges[front.first + k] as usize != k;
                negative ^= (pivot < 0.0) ^ exchanged;
            }
        }
        negative
    }

    /// Solves `A x = b` in place, for as many right-hand sides as `x` holds one after another.
    /// Cost: four operations for each entry of `L` and each of them, twice; the factor is read once
    /// for all. One thread allocates nothing, except room for several right-hand sides the first
    /// time.
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of the order of the matrix, or the factor is of
    /// another pattern.
    pub fn solve_in_place(&mut self, symbolic: &FrontSymbolic, x: &mut [f64]) {
        if symbolic.is_empty() {
            assert!(x.is_empty(), "right-hand side of an empty factor");
            return;
        }
        let count = x.len() / symbolic.size();
        assert_eq!(x.len(), count * symbolic.size(), "right-hand sides of a factor");
        let size = count * symbolic.vectors;
        if self.vectors.len() < size {
            self.vectors.resize(size, 0.0);
        }
        let one = Threads::one();
        let sweep = Sweep {
            symbolic,
            schedule: &self.schedule,
            threads: match symbolic.values < SMALL_SOLVE {
                true => &one,
                false => &self.threads,
            },
            count,
        };
        let (columns, rows) = self.values.split_at(symbolic.values);
        let exchanges = &self.exchanges;
        let arch = pulp::Arch::new();
        let substitute = |front: &Front, x: &mut [f64], is_forward: bool| {
            let span = front.values..front.values + front.width * front.height();
            arch.dispatch(Substitution {
                shape: (front.width, front.height()),
                columns: &columns[span.clone()],
                rows: &rows[span],
                exchanges: &exchanges[front.first..front.first + front.width],
                is_forward,
                x,
            });
        };
        let vectors = &mut self.vectors[..size];
        sweep.gather(x, vectors);
        sweep.run(
            vectors,
            |front, x| substitute(front, x, true),
            |front, x| substitute(front, x, false),
        );
        sweep.scatter(vectors, x);
    }
}

/// Assembles and eliminates one front, compiled for the registers of the machine; products and sums
/// are rounded one by one whatever these are.
struct Elimination<'a, 'b, 'c> {
    assembly: Assembly<'a>,
    own: &'b mut Sides<'c>,
}

impl pulp::NullaryFnOnce for Elimination<'_, '_, '_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn call(self) -> Result<(), usize> {
        let Assembly {
            front,
            values,
            column,
            update,
            scratch,
            children,
        } = self.assembly;
        let (width, height, below) = (front.width, front.height(), front.below);
        let span = values..values + width * height;
        let Pieces {
            values: [columns, rows],
            columns: [exchanges],
        } = self.own;
        let (columns, rows) = (&mut columns[span.clone()], &mut rows[span]);
        let a = &mut scratch[..height * height];
        a[..width * height].copy_from_slice(columns);
        for (j, a) in a[width * height..].chunks_exact_mut(height).enumerate() {
            for (k, a) in a[..width].iter_mut().enumerate() {
                *a = rows[k * height + width + j];
            }
            a[width..].fill(0.0);
        }
        for (child, runs, update) in children.each() {
            extend_add(runs, child.below, update, a, height);
        }
        let exchanges = &mut exchanges[column..column + width];
        eliminate(a, (width, height), exchanges).map_err(|bad| front.first + bad)?;
        columns.copy_from_slice(&a[..width * height]);
        for (j, a) in a[width * height..].chunks_exact(height).enumerate() {
            for (k, a) in a[..width].iter().enumerate() {
                rows[k * height + width + j] = *a;
            }
            // A root has nothing below it.
            update[j * below..(j + 1) * below].copy_from_slice(&a[width..]);
        }
        Ok(())
    }
}

/// The substitutions of one front in its vectors, compiled for the registers of the machine.
struct Substitution<'a> {
    shape: (usize, usize),
    columns: &'a [f64],
    rows: &'a [f64],
    exchanges: &'a [u32],
    is_forward: bool,
    x: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Substitution<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let (width, height) = self.shape;
        for x in self.x.chunks_exact_mut(height) {
            let (own, below) = x.split_at_mut(width);
            if self.is_forward {
                for (k, other) in self.exchanges.iter().enumerate() {
                    own.swap(k, *other as usize);
                }
                for (k, l) in self.columns.chunks_exact(height).enumerate() {
                    let known = own[k];
                    for (x, l) in own[k + 1..].iter_mut().zip(&l[k + 1..width]) {
                        *x -= l * known;
                    }
                    for (x, l) in below.iter_mut().zip(&l[width..]) {
                        *x -= l * known;
                    }
                }
                continue;
            }
            for (y, u) in own.iter_mut().zip(self.rows.chunks_exact(height)) {
                *y -= dot(&u[width..], below);
            }
            for (k, u) in self.columns.chunks_exact(height).enumerate().rev() {
                own[k] /= u[k];
                let known = own[k];
                for (y, u) in own[..k].iter_mut().zip(u) {
                    *y -= u * known;
                }
            }
        }
    }
}

/// Adds a child's update to its parent's front.
#[inline(always)]
fn extend_add(runs: &[Run], below: usize, update: &[f64], a: &mut [f64], height: usize) {
    for across in runs {
        for j in 0..across.len as usize {
            let source = &update[(across.from as usize + j) * below..][..below];
            let target = &mut a[(across.to as usize + j) * height..][..height];
            for run in runs {
                let (from, to, len) = (run.from as usize, run.to as usize, run.len as usize);
                for (a, b) in target[to..to + len].iter_mut().zip(&source[from..from + len]) {
                    *a += b;
                }
            }
        }
    }
}

/// Eliminates the first `width` columns and rows of a matrix of order `height`, by columns: panels
/// of columns, then everything to the right of them at once. The index of a column without pivot as
/// error.
#[inline(always)]
fn eliminate(a: &mut [f64], (width, height): (usize, usize), exchanges: &mut [u32]) -> Result<(), usize> {
    let mut first = 0;
    while first < width {
        let end = width.min(first + PANEL);
        for k in first..end {
            let column = &a[k * height..][k..width];
            let size = |i: &usize| column[*i].abs();
            let pivot = (0..column.len())
                .max_by(|i, j| size(i).total_cmp(&size(j)))
                .unwrap_or(0);
            let pivot = if size(&0) >= DIAGONAL * size(&pivot) {
                0
            } else {
                pivot
            };
            if column[pivot] == 0.0 || !column[pivot].is_finite() {
                return Err(k);
            }
            exchanges[k] = (k + pivot) as u32;
            if pivot > 0 {
                a.chunks_exact_mut(height)
                    .for_each(|line| line.swap(k, k + pivot));
            }
            let (done, later) = a.split_at_mut((k + 1) * height);
            let column = &mut done[k * height..];
            let inverse = 1.0 / column[k];
            column[k + 1..].iter_mut().for_each(|x| *x *= inverse);
            for line in later.chunks_exact_mut(height).take(end - k - 1) {
                let factor = line[k];
                for (x, l) in line[k + 1..].iter_mut().zip(&column[k + 1..]) {
                    *x -= factor * l;
                }
            }
        }
        let (panel, right) = (end - first, height - end);
        if right > 0 {
            let (done, later) = a.split_at_mut(end * height);
            let done = MatRef::from_column_major_slice(&done[first * height..], height, panel);
            let later = MatMut::from_column_major_slice_mut(later, height, right);
            let (diagonal, below) = done.split_at_row(first).1.split_at_row(panel);
            let (mut beside, rest) = later.split_at_row_mut(first).1.split_at_row_mut(panel);
            solve_unit_lower_triangular_in_place(diagonal, beside.as_mut(), Par::Seq);
            matmul(rest, Accum::Add, below, beside.as_ref(), -1.0, Par::Seq);
        }
        first = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
