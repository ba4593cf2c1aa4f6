//! The multifrontal `L U` of a matrix with symmetric pattern and other values on both sides of the
//! diagonal.

use super::schedule::Schedule;
use super::solve::{Sweep, dot};
use super::tasks::{Assembly, Share, Tasks, Workspace};
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

/// Columns and rows of consecutive fronts.
struct Sides<'a> {
    columns: &'a mut [f64],
    rows: &'a mut [f64],
    exchanges: &'a mut [u32],
}

impl Share for Sides<'_> {
    fn split(self, values: usize, columns: usize) -> (Self, Self) {
        let (first, rest) = self.columns.split_at_mut(values);
        let (rows, later_rows) = self.rows.split_at_mut(values);
        let (exchanges, later_exchanges) = self.exchanges.split_at_mut(columns);
        let of_first = Self {
            columns: first,
            rows,
            exchanges,
        };
        let of_rest = Self {
            columns: rest,
            rows: later_rows,
            exchanges: later_exchanges,
        };
        (of_first, of_rest)
    }
}

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
                columns,
                rows,
                exchanges: &mut self.exchanges,
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
        let (columns, rows) = (&mut self.own.columns[span.clone()], &mut self.own.rows[span]);
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
        let exchanges = &mut self.own.exchanges[column..column + width];
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
mod tests {
    use super::*;
    use crate::Graph;
    use proptest::prelude::*;

    /// Blocks of one to four unknowns on a random graph, dominant diagonal blocks in which rows are
    /// out of order.
    fn matrix(sizes: &[usize], edges: &[(usize, usize)], seed: u64) -> (Vec<usize>, Graph, Vec<Vec<f64>>) {
        let mut bounds = vec![0];
        sizes
            .iter()
            .for_each(|s| bounds.push(bounds[bounds.len() - 1] + s));
        let n = bounds[sizes.len()];
        let mut graph = Graph::new(sizes.len());
        let mut state = seed;
        let mut noise = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut a = vec![vec![0.0; n]; n];
        for (k, s) in sizes.iter().enumerate() {
            for i in 0..*s {
                for j in 0..*s {
                    let turned = (i + 1) % s == j;
                    a[bounds[k] + i][bounds[k] + j] = noise() + if turned { 40.0 } else { 0.0 };
                }
            }
        }
        for (p, q) in edges.iter().map(|(p, q)| (p % sizes.len(), q % sizes.len())) {
            if p == q {
                continue;
            }
            graph.connect(p, q);
            for (k, l) in [(p, q), (q, p)] {
                for i in bounds[k]..bounds[k + 1] {
                    for j in bounds[l]..bounds[l + 1] {
                        a[i][j] = noise();
                    }
                }
            }
        }
        (bounds, graph, a)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// The residual of the solution, with the entries as given.
        #[test]
        fn solutions_solve(
            sizes in proptest::collection::vec(1usize..5, 1..40),
            edges in proptest::collection::vec((0usize..40, 0usize..40), 0..90),
            seed in any::<u64>(),
        ) {
            let (bounds, graph, a) = matrix(&sizes, &edges, seed);
            let n = a.len();
            let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
            let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
            for turn in 0..2 {
                let scale = 1.0 + f64::from(turn);
                factor.clear();
                for i in 0..n {
                    for j in 0..n {
                        if a[i][j] != 0.0 {
                            let slot = symbolic.unsymmetric_slot(i, j).unwrap();
                            factor.values_mut()[slot] += scale * a[i][j];
                        }
                    }
                }
                factor.factor(&symbolic).unwrap();
                let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
                let mut x = b.clone();
                factor.solve_in_place(&symbolic, &mut x);
                for i in 0..n {
                    let sum: f64 = (0..n).map(|j| scale * a[i][j] * x[j]).sum();
                    // Pivots of 40 against rows of at most a few hundred entries of 1/2: a few
                    // hundred roundings.
                    prop_assert!((sum - b[i]).abs() < 1e-12, "row {}: {}", i, sum - b[i]);
                }
            }
        }
    }

    /// A binary tree of blocks that stay fronts of their own, with rows below them that are larger
    /// than their pivots: these may not become pivots, and what fronts of one branch leave must not
    /// be taken by another.
    #[test]
    fn fronts_of_a_tree_with_larger_rows_below() {
        let (blocks, width) = (31, 24);
        let edges: Vec<(usize, usize)> = (0..blocks - 1)
            .map(|k| (k, blocks - 1 - (blocks - 2 - k) / 2))
            .collect();
        let (bounds, graph, mut a) = matrix(&vec![width; blocks], &edges, 3);
        let n = bounds[blocks];
        for (p, q) in edges {
            for i in bounds[p]..bounds[p + 1] {
                for j in bounds[q]..bounds[q + 1] {
                    a[i][j] *= 0.01;
                    a[j][i] *= 200.0;
                }
            }
        }
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        assert!(symbolic.fronts.len() > blocks / 2);
        let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
        for (i, row) in a.iter().enumerate() {
            for (j, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = *a;
            }
        }
        factor.factor(&symbolic).unwrap();
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut x = b.clone();
        factor.solve_in_place(&symbolic, &mut x);
        for (row, b) in a.iter().zip(&b) {
            let (sum, size) = row.iter().zip(&x).fold((-b, b.abs()), |(sum, size), (a, x)| {
                (sum + a * x, size + (a * x).abs())
            });
            // Multipliers up to 2.5 a level, five levels: a hundred times the roundings of a
            // product of up to 96 entries.
            assert!(sum.abs() < 1e-12 * size, "{sum:e} of {size}");
        }
    }

    /// As many tasks as there can be, on one thread and on three, and two right-hand sides at once:
    /// the same bits as one task and one right-hand side after the other.
    #[test]
    fn tasks_and_threads_do_not_show() {
        let (blocks, width) = (63, 12);
        let edges: Vec<(usize, usize)> = (0..blocks - 1)
            .map(|k| (k, blocks - 1 - (blocks - 2 - k) / 2))
            .collect();
        let (bounds, graph, a) = matrix(&vec![width; blocks], &edges, 11);
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        let n = a.len();
        let b: Vec<f64> = (0..2 * n).map(|i| (i as f64).sin()).collect();
        let solve = |threads: &Threads, grain: f64, together: usize| {
            let mut factor = UnsymmetricFactor::default();
            factor.refill_in_tasks(&symbolic, threads, grain);
            for (i, row) in a.iter().enumerate() {
                for (j, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                    factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = *a;
                }
            }
            factor.factor(&symbolic).unwrap();
            let mut x = b.clone();
            x.chunks_exact_mut(together * n)
                .for_each(|x| factor.solve_in_place(&symbolic, x));
            (factor.schedule.tasks.len(), x)
        };
        let (one, expected) = solve(&Threads::one(), f64::INFINITY, 1);
        assert_eq!(one, 1);
        for threads in [Threads::one(), Threads::new(3).unwrap()] {
            let (tasks, found) = solve(&threads, 0.0, 2);
            assert!(tasks > 3, "{tasks} tasks");
            assert!(found == expected);
        }
    }

    #[test]
    fn one_front_of_several_panels() {
        let n = 3 * PANEL - 5;
        let (bounds, graph, mut a) = matrix(&[n], &[], 7);
        // Off the diagonal everything is small: exchanges put 40 on it.
        a[0][0] += 1.0;
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
        for i in 0..n {
            for j in 0..n {
                factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = a[i][j];
            }
        }
        factor.factor(&symbolic).unwrap();
        let mut x: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        factor.solve_in_place(&symbolic, &mut x);
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_singular_matrix_and_a_wrong_pattern_are_errors() {
        let mut graph = Graph::new(2);
        graph.connect(0, 1);
        let symbolic = FrontSymbolic::new(&[0, 1, 2], &graph).unwrap();
        let mut factor = symbolic.allocate_unsymmetric(&Threads::one());
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = 1.0;
        }
        assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
        factor.values_mut().fill(f64::NAN);
        assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
        let other = FrontSymbolic::new(&[0, 2, 3], &graph).unwrap();
        assert!(matches!(factor.factor(&other), Err(SparseError::Size { .. })));
        let empty = FrontSymbolic::new(&[0], &Graph::new(0)).unwrap();
        let mut factor = empty.allocate_unsymmetric(&Threads::one());
        factor.factor(&empty).unwrap();
        factor.solve_in_place(&empty, &mut []);
    }
}
