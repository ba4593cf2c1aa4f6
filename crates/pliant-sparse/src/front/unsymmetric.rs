//! The multifrontal `L U` of a matrix with symmetric pattern and other values on both sides of the
//! diagonal.

use super::tree::NONE;
use super::{Front, FrontSymbolic};
use crate::{SparseError, fill, zeros};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns that are eliminated before the rest is updated.
const PANEL: usize = 32;
/// Share of the largest entry of its column from which the diagonal stays the pivot: exchanges
/// spoil the grading of matrices whose rows differ by many orders.
const DIAGONAL: f64 = 0.01;

/// Values of a multifrontal `P A = L U`. Allocated once, refilled for every matrix of the same
/// pattern.
///
/// Rows are exchanged inside a front only, where the diagonal is below a hundredth of the largest
/// entry of its column. Between fronts the order is that of the [`FrontSymbolic`]: it is for
/// matrices whose diagonal blocks are regular in that order, such as a saddle-point system with an
/// unsymmetric law in its rows. One thread, nothing is allocated; twice the operations and twice
/// the memory of the symmetric factor.
///
/// Use: [`clear`](Self::clear), write `A` to the [slots](FrontSymbolic::unsymmetric_slot) of
/// [`values_mut`](Self::values_mut), [`factor`](Self::factor),
/// [`solve_in_place`](Self::solve_in_place).
#[derive(Clone, Debug, Default)]
pub struct UnsymmetricFactor {
    /// Columns of `A`, then `L` without its unit diagonal and, in the rows of the front, `U`; after
    /// them, in the same layout, the rows of `A` to the right of each front as columns, then those
    /// of `U`.
    values: Vec<f64>,
    /// Local row that each column's pivot came from.
    exchanges: Vec<u32>,
    /// One front in full.
    front: Vec<f64>,
    /// Updates of fronts whose parent is still to come.
    stack: Vec<f64>,
    /// Right-hand side in the order of the columns, and the rows of one front.
    x: Vec<f64>,
    local: Vec<f64>,
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

    /// Allocates the values of an unsymmetric factor.
    pub fn allocate_unsymmetric(&self) -> UnsymmetricFactor {
        let mut out = UnsymmetricFactor::default();
        out.refill(self);
        out
    }

    /// Columns of the rows below a front, in pieces, each with its first local row.
    fn below(&self, front: &Front) -> impl Iterator<Item = (std::ops::Range<usize>, usize)> {
        let rows = front.rows.clone();
        self.rows[rows.clone()]
            .iter()
            .zip(&self.places[rows])
            .map(|(v, place)| {
                (
                    self.bounds[*v as usize]..self.bounds[*v as usize + 1],
                    *place as usize,
                )
            })
    }
}

impl UnsymmetricFactor {
    /// Makes it one of another pattern, as [`FrontSymbolic::allocate_unsymmetric`] does. Allocates
    /// only for larger ones than ever before.
    pub fn refill(&mut self, symbolic: &FrontSymbolic) {
        let fronts = &symbolic.fronts;
        let height = fronts.iter().map(Front::height).max().unwrap_or(0);
        let (mut depth, mut deepest) = (0, 0);
        for (f, front) in fronts.iter().enumerate() {
            // The updates of the children are still there when that of the front is made.
            for c in symbolic.children(f) {
                depth -= fronts[*c].below * fronts[*c].below;
            }
            if front.parent != NONE {
                depth += front.below * front.below;
            }
            deepest = deepest.max(depth);
        }
        let size = symbolic.size();
        zeros(&mut self.values, 2 * symbolic.values);
        fill(&mut self.exchanges, size, 0);
        zeros(&mut self.front, height * height);
        self.stack.clear();
        self.stack.reserve(deepest);
        zeros(&mut self.x, size);
        zeros(&mut self.local, height);
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
        self.stack.clear();
        let (columns, rows) = self.values.split_at_mut(size);
        for (f, front) in symbolic.fronts.iter().enumerate() {
            let (width, height, below) = (front.width, front.height(), front.below);
            let own = front.values..front.values + width * height;
            let (columns, rows) = (&mut columns[own.clone()], &mut rows[own]);
            let a = &mut self.front[..height * height];
            a[..width * height].copy_from_slice(columns);
            for (j, a) in a[width * height..].chunks_exact_mut(height).enumerate() {
                for (k, a) in a[..width].iter_mut().enumerate() {
                    *a = rows[k * height + width + j];
                }
                a[width..].fill(0.0);
            }
            let children = symbolic.children(f);
            let given = children
                .iter()
                .map(|c| symbolic.fronts[*c].below.pow(2))
                .sum::<usize>();
            let mut at = self.stack.len() - given;
            let from = at;
            for c in children {
                let child = &symbolic.fronts[*c];
                let len = child.below * child.below;
                extend_add(symbolic, child, &self.stack[at..at + len], a, height);
                at += len;
            }
            self.stack.truncate(from);
            let exchanges = &mut self.exchanges[front.first..front.first + width];
            eliminate(a, (width, height), exchanges).map_err(|bad| SparseError::Pivot {
                index: symbolic.unknown[front.first + bad] as usize,
            })?;
            columns.copy_from_slice(&a[..width * height]);
            for (j, a) in a[width * height..].chunks_exact(height).enumerate() {
                for (k, a) in a[..width].iter().enumerate() {
                    rows[k * height + width + j] = *a;
                }
                if front.parent != NONE {
                    self.stack.extend_from_slice(&a[width..]);
                }
            }
            debug_assert!(below == 0 || front.parent != NONE);
        }
        Ok(())
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

    /// Solves `A x = b` in place. Cost: four operations for each entry of `L`, twice.
    ///
    /// # Panics
    /// If `x` is not as long as the matrix, or the factor is of another pattern.
    pub fn solve_in_place(&mut self, symbolic: &FrontSymbolic, x: &mut [f64]) {
        let (columns, rows) = self.values.split_at(symbolic.values);
        let y = &mut self.x;
        for (i, x) in symbolic.position.iter().zip(x.iter()) {
            y[*i as usize] = *x;
        }
        for front in &symbolic.fronts {
            let (width, height) = (front.width, front.height());
            let own = &mut y[front.first..front.first + width];
            for (k, other) in self.exchanges[front.first..].iter().take(width).enumerate() {
                own.swap(k, *other as usize);
            }
            let l = &columns[front.values..front.values + width * height];
            let local = &mut self.local[..height];
            local[..width].copy_from_slice(own);
            local[width..].fill(0.0);
            for (k, l) in l.chunks_exact(height).enumerate() {
                let known = local[k];
                for (x, l) in local[k + 1..].iter_mut().zip(&l[k + 1..]) {
                    *x -= l * known;
                }
            }
            own.copy_from_slice(&local[..width]);
            for (range, place) in symbolic.below(front) {
                for (y, x) in y[range].iter_mut().zip(&local[place..]) {
                    *y += x;
                }
            }
        }
        for front in symbolic.fronts.iter().rev() {
            let (width, height) = (front.width, front.height());
            let local = &mut self.local[..height];
            for (range, place) in symbolic.below(front) {
                local[place..place + range.len()].copy_from_slice(&y[range]);
            }
            let own = &mut y[front.first..front.first + width];
            let span = front.values..front.values + width * height;
            for (y, u) in own.iter_mut().zip(rows[span.clone()].chunks_exact(height)) {
                *y -= u[width..]
                    .iter()
                    .zip(&local[width..])
                    .map(|(u, x)| u * x)
                    .sum::<f64>();
            }
            for (k, u) in columns[span].chunks_exact(height).enumerate().rev() {
                own[k] /= u[k];
                let known = own[k];
                for (y, u) in own[..k].iter_mut().zip(u) {
                    *y -= u * known;
                }
            }
        }
        for (i, x) in symbolic.position.iter().zip(x) {
            *x = y[*i as usize];
        }
    }
}

/// Adds a child's update to its parent's front.
fn extend_add(symbolic: &FrontSymbolic, child: &Front, update: &[f64], a: &mut [f64], height: usize) {
    let runs = &symbolic.runs[child.runs.clone()];
    for across in runs {
        for j in 0..across.len as usize {
            let source = &update[(across.from as usize + j) * child.below..][..child.below];
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
            let mut factor = symbolic.allocate_unsymmetric();
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
        let mut factor = symbolic.allocate_unsymmetric();
        for (i, row) in a.iter().enumerate() {
            for (j, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = *a;
            }
        }
        let held = factor.stack.capacity();
        factor.factor(&symbolic).unwrap();
        assert_eq!(factor.stack.capacity(), held, "the stack has to be large enough");
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

    #[test]
    fn one_front_of_several_panels() {
        let n = 3 * PANEL - 5;
        let (bounds, graph, mut a) = matrix(&[n], &[], 7);
        // Off the diagonal everything is small: exchanges put 40 on it.
        a[0][0] += 1.0;
        let symbolic = FrontSymbolic::new(&bounds, &graph).unwrap();
        let mut factor = symbolic.allocate_unsymmetric();
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
        let mut factor = symbolic.allocate_unsymmetric();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            factor.values_mut()[symbolic.unsymmetric_slot(i, j).unwrap()] = 1.0;
        }
        assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
        factor.values_mut().fill(f64::NAN);
        assert!(matches!(factor.factor(&symbolic), Err(SparseError::Pivot { .. })));
        let other = FrontSymbolic::new(&[0, 2, 3], &graph).unwrap();
        assert!(matches!(factor.factor(&other), Err(SparseError::Size { .. })));
        let empty = FrontSymbolic::new(&[0], &Graph::new(0)).unwrap();
        let mut factor = empty.allocate_unsymmetric();
        factor.factor(&empty).unwrap();
        factor.solve_in_place(&empty, &mut []);
    }
}
