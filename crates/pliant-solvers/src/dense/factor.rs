//! Factors of dense symmetric matrices.

use crate::SolveError;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::{lblt, ldlt, llt};
use faer::perm::PermRef;
use faer::{Conj, Mat, MatMut, Par};

/// How a dense symmetric matrix is factored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenseMethod {
    /// `A = L L^T`, for positive definite matrices. `n^3 / 3` operations.
    Cholesky,
    /// `A = L D L^T` without pivoting, for quasi-definite matrices. `n^3 / 3` operations.
    Ldlt,
    /// `P A P^T = L B L^T` with blocks of one and two in `B`, pivoted for stability: for any
    /// symmetric matrix. `n^3 / 3` operations and `n^2` comparisons. Source: Bunch and
    /// Kaufman 1977.
    #[default]
    BunchKaufman,
}

impl DenseMethod {
    /// Its name, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cholesky => "dense L L^T",
            Self::Ldlt => "dense L D L^T",
            Self::BunchKaufman => "dense L B L^T with pivoting",
        }
    }
}

/// The numbers of positive, negative and vanishing eigenvalues of a symmetric matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Positive ones.
    pub positive: usize,
    /// Negative ones.
    pub negative: usize,
    /// Number of eigenvalues that are zero up to rounding.
    pub zero: usize,
}

/// The factor of a dense symmetric matrix; the numeric kernels are those of `faer`.
///
/// ```
/// use pliant_solvers::{DenseFactor, DenseMethod, Inertia};
/// // [0 1; 1 0] has no L D L^T without pivoting.
/// let mut factor = DenseFactor::new(DenseMethod::BunchKaufman, 2);
/// factor.factor(&[0.0, 1.0, 1.0, 0.0])?;
/// assert_eq!(factor.inertia(), Inertia { positive: 1, negative: 1, zero: 0 });
/// let mut x = [3.0, 4.0];
/// factor.solve_in_place(&mut x)?;
/// assert_eq!(x, [4.0, 3.0]);
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
pub struct DenseFactor {
    method: DenseMethod,
    matrix: Mat<f64>,
    /// Of `B`.
    subdiagonal: Diag<f64>,
    forward: Vec<usize>,
    inverse: Vec<usize>,
    scratch: MemBuffer,
    columns: usize,
    inertia: Inertia,
    smallest: (usize, f64),
    ready: bool,
}

impl std::fmt::Debug for DenseFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DenseFactor")
            .field("method", &self.method)
            .field("order", &self.order())
            .field("inertia", &self.inertia)
            .finish_non_exhaustive()
    }
}

impl DenseFactor {
    /// Room for a matrix of order `n`.
    pub fn new(method: DenseMethod, n: usize) -> Self {
        Self {
            method,
            matrix: Mat::zeros(n, n),
            subdiagonal: Diag::zeros(n),
            forward: vec![0; n],
            inverse: vec![0; n],
            scratch: MemBuffer::new(scratch(method, n, 1)),
            columns: 1,
            inertia: Inertia::default(),
            smallest: (0, 0.0),
            ready: false,
        }
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.matrix.nrows()
    }

    /// The method.
    pub fn method(&self) -> DenseMethod {
        self.method
    }

    /// Factors `A`, given row by row; its lower triangle counts. A singular matrix has a factor,
    /// but no solutions: see [`Self::inertia`]. Allocates nothing.
    ///
    /// # Errors
    /// [`SolveError::Size`]; [`SolveError::NotFinite`]; [`SolveError::NotPositiveDefinite`] for
    /// [`DenseMethod::Cholesky`], [`SolveError::Singular`] at a zero pivot of
    /// [`DenseMethod::Ldlt`].
    pub fn factor(&mut self, a: &[f64]) -> Result<(), SolveError> {
        let n = self.order();
        self.ready = false;
        crate::check_size("entries of a dense matrix", n * n, a.len())?;
        let mut size = 0.0f64;
        for i in 0..n {
            for k in 0..=i {
                let value = a[i * n + k];
                if !value.is_finite() {
                    let variable = crate::Variable::Dof(i);
                    return Err(SolveError::NotFinite { variable });
                }
                size = size.max(value.abs());
                self.matrix[(i, k)] = value;
                self.matrix[(k, i)] = value;
            }
        }
        let stack = MemStack::new(&mut self.scratch);
        let singular = |index: usize| SolveError::Singular { index, pivot: 0.0 };
        match self.method {
            DenseMethod::Cholesky => {
                let done = llt::factor::cholesky_in_place(
                    self.matrix.as_mut(),
                    Default::default(),
                    Par::Seq,
                    stack,
                    Default::default(),
                );
                done.map_err(|llt::factor::LltError::NonPositivePivot { index }| {
                    let dof = index.min(n - 1);
                    SolveError::NotPositiveDefinite {
                        dof,
                        diagonal: a[dof * n + dof],
                    }
                })?;
            }
            DenseMethod::Ldlt => {
                let done = ldlt::factor::cholesky_in_place(
                    self.matrix.as_mut(),
                    Default::default(),
                    Par::Seq,
                    stack,
                    Default::default(),
                );
                done.map_err(|ldlt::factor::LdltError::ZeroPivot { index }| singular(index.min(n - 1)))?;
            }
            DenseMethod::BunchKaufman => {
                lblt::factor::cholesky_in_place(
                    self.matrix.as_mut(),
                    self.subdiagonal.as_mut(),
                    &mut self.forward,
                    &mut self.inverse,
                    Par::Seq,
                    stack,
                    Default::default(),
                );
            }
        }
        self.count(size);
        self.ready = true;
        Ok(())
    }

    /// Reads the inertia off the pivots: those below `n` roundings of the largest entry count as
    /// zero.
    fn count(&mut self, size: f64) {
        let n = self.order();
        let zero = n as f64 * f64::EPSILON * size;
        self.inertia = Inertia::default();
        self.smallest = (0, f64::INFINITY);
        let mut note = |index: usize, value: f64| {
            if value.abs() < self.smallest.1.abs() || value.is_nan() {
                self.smallest = (index, value);
            }
            if value > zero {
                self.inertia.positive += 1;
            } else if value < -zero {
                self.inertia.negative += 1;
            } else {
                self.inertia.zero += 1;
            }
        };
        let pivoted = self.method == DenseMethod::BunchKaufman;
        let mut i = 0;
        while i < n {
            let d = self.matrix[(i, i)];
            let place = if pivoted { self.forward[i] } else { i };
            let below = if pivoted && i + 1 < n {
                self.subdiagonal.as_ref().column_vector()[i]
            } else {
                0.0
            };
            if below == 0.0 {
                note(
                    place,
                    if self.method == DenseMethod::Cholesky {
                        d * d
                    } else {
                        d
                    },
                );
                i += 1;
                continue;
            }
            // The eigenvalues of [d, below; below, e], without cancellation.
            let e = self.matrix[(i + 1, i + 1)];
            let (mean, half) = (0.5 * (d + e), 0.5 * (d - e));
            let large = mean + half.hypot(below).copysign(mean);
            let small = if large == 0.0 {
                0.0
            } else {
                d / large * e - below / large * below
            };
            note(place, large);
            note(self.forward[i + 1], small);
            i += 2;
        }
    }

    /// Inertia of the last matrix, by Sylvester's law that of the pivots. Pivots count as zero
    /// below `n` roundings of the largest entry.
    pub fn inertia(&self) -> Inertia {
        self.inertia
    }

    /// The smallest pivot, and the variable where it came up.
    pub fn smallest_pivot(&self) -> (usize, f64) {
        self.smallest
    }

    /// Solves `A x = b` in place, for as many right-hand sides as `x` holds one after another. Cost
    /// `2 n^2` each. Allocates only for more of them than ever before.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a factor, [`SolveError::Singular`] if a pivot vanishes,
    /// [`SolveError::Size`] if `x` does not hold whole vectors.
    pub fn solve_in_place(&mut self, x: &mut [f64]) -> Result<(), SolveError> {
        let n = self.order();
        if !self.ready {
            return Err(SolveError::NotPrepared);
        }
        let columns = x.len().checked_div(n).unwrap_or(0);
        crate::check_size("right-hand sides of a dense matrix", columns * n, x.len())?;
        if columns == 0 {
            return Ok(());
        }
        let (index, pivot) = self.smallest;
        if self.inertia.zero > 0 {
            return Err(SolveError::Singular { index, pivot });
        }
        if columns > self.columns {
            self.scratch = MemBuffer::new(scratch(self.method, n, columns));
            self.columns = columns;
        }
        let stack = MemStack::new(&mut self.scratch);
        let rhs = MatMut::from_column_major_slice_mut(x, n, columns);
        let l = self.matrix.as_ref();
        match self.method {
            DenseMethod::Cholesky => {
                llt::solve::solve_in_place_with_conj(l, Conj::No, rhs, Par::Seq, stack);
            }
            DenseMethod::Ldlt => {
                ldlt::solve::solve_in_place_with_conj(l, l.diagonal(), Conj::No, rhs, Par::Seq, stack);
            }
            DenseMethod::BunchKaufman => lblt::solve::solve_in_place_with_conj(
                l,
                l.diagonal(),
                self.subdiagonal.as_ref(),
                Conj::No,
                PermRef::new_checked(&self.forward, &self.inverse, n),
                rhs,
                Par::Seq,
                stack,
            ),
        }
        Ok(())
    }
}

/// Scratch of the factorisation and of solves with some columns.
fn scratch(method: DenseMethod, n: usize, columns: usize) -> StackReq {
    match method {
        DenseMethod::Cholesky => {
            llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default())
                .or(llt::solve::solve_in_place_scratch::<f64>(n, columns, Par::Seq))
        }
        DenseMethod::Ldlt => ldlt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default())
            .or(ldlt::solve::solve_in_place_scratch::<f64>(n, columns, Par::Seq)),
        DenseMethod::BunchKaufman => {
            lblt::factor::cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default()).or(
                lblt::solve::solve_in_place_scratch::<usize, f64>(n, columns, Par::Seq),
            )
        }
    }
}
