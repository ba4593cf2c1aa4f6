//! The operator `A` in three forms.

use super::{Compensated, ProblemError};
use crate::KktSystem;
use pliant_sparse::{CsrMatrix, PatternBuilder, Threads};
use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::Range;

/// Entries from which the rows of a product are worth sharing, and pieces that they are cut into.
const SHARED: usize = 30_000;
const PIECES: usize = 8;

/// A square operator `A` (velocity per impulse) with access to its blocks.
pub trait Delassus: Debug + Send + Sync {
    /// Number of rows m.
    fn size(&self) -> usize;

    /// `out = (A r)` on the given rows.
    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]);

    /// Operations of a product with all rows: `2 m^2` unless it says otherwise.
    fn cost(&self) -> u64 {
        let m = self.size() as u64;
        m.saturating_mul(m).saturating_mul(2)
    }

    /// Operations of products with the rows of one of so many blocks after the other, together.
    fn cost_of_sweep(&self, _blocks: usize) -> u64 {
        self.cost()
    }

    /// `y += A r` in sums of twice the precision, where the entries are known; else as
    /// [`rows_times`](Self::rows_times) rounds it. `scratch` has m entries.
    fn add_times(&self, r: &[f64], y: &mut [Compensated], scratch: &mut [f64]) {
        add_rounded(self, r, y, scratch);
    }

    /// The entries of the given rows and columns into `out`, row by row.
    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]);

    /// Structure of `A`, for solvers that factor it. Must be consistent with the products.
    fn form(&self) -> Form<'_> {
        Form::Opaque
    }

    /// The entries by compressed rows, both triangles, where they are kept like that.
    fn matrix(&self) -> Option<&CsrMatrix> {
        None
    }

    /// Threads that solvers may share for factors of it: one unless it says otherwise. No result
    /// depends on them.
    fn threads(&self) -> Threads {
        Threads::one()
    }
}

/// `y += A r`, as [`Delassus::rows_times`] rounds it.
pub(super) fn add_rounded(
    a: &(impl Delassus + ?Sized),
    r: &[f64],
    y: &mut [Compensated],
    scratch: &mut [f64],
) {
    a.rows_times(0..a.size(), r, scratch);
    y.iter_mut().zip(scratch).for_each(|(y, x)| *y += *x);
}

/// Structure of an operator, as it is shown to solvers that factor it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Form<'a> {
    /// Its entries: it is factored as a dense matrix.
    Opaque,
    /// A symmetric matrix by compressed rows, both triangles stored.
    Sparse(&'a CsrMatrix),
    /// The Schur complement on some rows of a saddle-point system, whose other rows are bilateral:
    /// with `N` these rows of `J` and `K` the system without them, `A = N K^-1 N^T + R_N`.
    Saddle {
        /// The whole system. Its right-hand sides and bounds do not count.
        system: &'a KktSystem,
        /// Row of the system for each row of `A`.
        rows: &'a [usize],
    },
}

/// Row-major dense matrix. Products cost `2 m^2`.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseDelassus {
    n: usize,
    values: Vec<f64>,
}

impl DenseDelassus {
    /// From `n^2` numbers, row by row.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if the length is not a square.
    pub fn new(values: &[f64]) -> Result<Self, ProblemError> {
        let n = values.len().isqrt();
        if n * n != values.len() {
            return Err(ProblemError::Size {
                what: "A",
                expected: n * n,
                found: values.len(),
            });
        }
        Ok(Self {
            n,
            values: values.to_vec(),
        })
    }
}

impl Delassus for DenseDelassus {
    fn size(&self) -> usize {
        self.n
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        for (o, i) in out.iter_mut().zip(rows) {
            let row = &self.values[i * self.n..(i + 1) * self.n];
            *o = row.iter().zip(r).map(|(a, r)| a * r).sum();
        }
    }

    fn add_times(&self, r: &[f64], y: &mut [Compensated], _: &mut [f64]) {
        for (y, row) in y.iter_mut().zip(self.values.chunks_exact(self.n)) {
            row.iter().zip(r).for_each(|(a, r)| y.add_product(*a, *r));
        }
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        let width = columns.len();
        for (k, i) in rows.enumerate() {
            let from = i * self.n;
            out[k * width..(k + 1) * width]
                .copy_from_slice(&self.values[from + columns.start..from + columns.end]);
        }
    }
}

/// Sparse operator made of dense blocks: only contacts of a common body are coupled. Products cost
/// twice the stored entries.
#[derive(Clone, Debug, Default)]
pub struct BlockSparse {
    matrix: CsrMatrix,
}

impl BlockSparse {
    /// From the sizes of the blocks and their values
    /// `(block row, block column, entries row by row)`. Both triangles are to be given. A block
    /// that is given twice counts with its sum.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if a block is outside or has the wrong number of entries, or what the
    /// sparse kernels say.
    pub fn new(sizes: &[usize], blocks: &[(usize, usize, Vec<f64>)]) -> Result<Self, ProblemError> {
        let mut first = vec![0];
        for size in sizes {
            first.push(first[first.len() - 1] + size);
        }
        let m = first[sizes.len()];
        let mut pattern = PatternBuilder::new(m, m);
        for (i, k, values) in blocks {
            let outside = *i.max(k) >= sizes.len();
            let expected = if outside { 0 } else { sizes[*i] * sizes[*k] };
            if outside || expected != values.len() {
                return Err(ProblemError::Size {
                    what: "a block of A",
                    expected,
                    found: values.len(),
                });
            }
            pattern.insert_block((first[*i], first[*k]), (sizes[*i], sizes[*k]), false);
        }
        let mut matrix = pattern.finish()?.into_matrix();
        for (i, k, values) in blocks {
            for (l, value) in values.iter().enumerate() {
                let (row, column) = (first[*i] + l / sizes[*k], first[*k] + l % sizes[*k]);
                if let Some(slot) = matrix.pattern().slot(row, column) {
                    matrix.values_mut()[slot] += value;
                }
            }
        }
        Ok(Self { matrix })
    }
}

impl BlockSparse {
    pub(crate) fn from_matrix(matrix: CsrMatrix) -> Self {
        Self { matrix }
    }

    pub(crate) fn matrix_mut(&mut self) -> &mut CsrMatrix {
        &mut self.matrix
    }

    /// As [`Delassus::add_times`], pieces of the rows at the same time where there are threads.
    pub(super) fn add_times_on(&self, threads: &Threads, r: &[f64], y: &mut [Compensated]) {
        let pattern = self.matrix.pattern();
        let rows = pattern.rows();
        let most = match pattern.len() {
            ..SHARED => rows,
            _ => rows.div_ceil(PIECES),
        };
        let add = |rows: Range<usize>, y: &mut [Compensated]| {
            for (i, y) in rows.zip(y) {
                let values = &self.matrix.values()[pattern.row_slots(i)];
                let terms = pattern.row(i).iter().zip(values);
                terms.for_each(|(k, a)| y.add_product(*a, r[*k as usize]));
            }
            Ok::<(), Infallible>(())
        };
        let Ok(()) = threads.for_each_piece((0..rows, most), |i| i, y, add);
    }
}

impl Delassus for BlockSparse {
    fn size(&self) -> usize {
        self.matrix.pattern().rows()
    }

    fn cost(&self) -> u64 {
        2 * self.matrix.pattern().len() as u64
    }

    fn matrix(&self) -> Option<&CsrMatrix> {
        Some(&self.matrix)
    }

    fn rows_times(&self, rows: Range<usize>, r: &[f64], out: &mut [f64]) {
        let pattern = self.matrix.pattern();
        for (o, i) in out.iter_mut().zip(rows) {
            let values = &self.matrix.values()[pattern.row_slots(i)];
            let terms = pattern.row(i).iter().zip(values);
            *o = terms.map(|(k, a)| a * r[*k as usize]).sum();
        }
    }

    fn add_times(&self, r: &[f64], y: &mut [Compensated], _: &mut [f64]) {
        self.add_times_on(&Threads::one(), r, y);
    }

    fn block(&self, rows: Range<usize>, columns: Range<usize>, out: &mut [f64]) {
        let width = columns.len();
        out[..rows.len() * width].fill(0.0);
        let pattern = self.matrix.pattern();
        for (l, i) in rows.enumerate() {
            let indices = pattern.row(i);
            let values = &self.matrix.values()[pattern.row_slots(i)];
            let first = indices.partition_point(|k| (*k as usize) < columns.start);
            for (k, a) in indices[first..].iter().zip(&values[first..]) {
                let k = *k as usize;
                if k >= columns.end {
                    break;
                }
                out[l * width + k - columns.start] = *a;
            }
        }
    }

    fn form(&self) -> Form<'_> {
        Form::Sparse(&self.matrix)
    }
}
