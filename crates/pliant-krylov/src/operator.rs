//! Operators: closures, symmetric sparse matrices, the KKT matrix and its Schur complement.

use crate::{LinearOperator, Preconditioner, Scratch, check_size};
use pliant_solvers::{KktSystem, SolveError};
use pliant_sparse::CsrMatrix;

/// A closure `f(x, y)` that overwrites `y` with `A x`, symmetric or not; also a [`Preconditioner`],
/// with `z = f(r)`.
#[derive(Clone, Copy, Debug)]
pub struct FnOperator<F> {
    size: usize,
    f: F,
}

impl<F: Fn(&[f64], &mut [f64])> FnOperator<F> {
    /// An operator of order `size`.
    pub fn new(size: usize, f: F) -> Self {
        Self { size, f }
    }
}

impl<F: Fn(&[f64], &mut [f64])> LinearOperator for FnOperator<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        (self.f)(x, y);
    }
}

impl<F: Fn(&[f64], &mut [f64])> Preconditioner for FnOperator<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        (self.f)(r, z);
    }
}

/// `P A P + I - P` for a symmetric sparse `A` given by its lower triangle, where `P` removes the
/// fixed variables.
///
/// Fixed variables are decoupled and keep what the right-hand side says: zero there holds them at
/// zero. Cost `4 nnz`.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricOperator<'a> {
    a: &'a CsrMatrix,
    fixed: &'a [bool],
}

impl<'a> SymmetricOperator<'a> {
    /// An operator on the lower triangle of `A`; `fixed` is empty if nothing is fixed.
    ///
    /// # Errors
    /// [`SolveError::Size`] if `A` is not square or has entries above the diagonal, or if `fixed`
    /// has another length.
    pub fn new(a: &'a CsrMatrix, fixed: &'a [bool]) -> Result<Self, SolveError> {
        check_lower(a, fixed)?;
        Ok(Self { a, fixed })
    }
}

impl LinearOperator for SymmetricOperator<'_> {
    fn size(&self) -> usize {
        self.a.pattern().rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        add_masked_product(self.a, self.fixed, x, y);
    }
}

/// An error unless `a` is square and lower triangular and `fixed` fits.
pub(crate) fn check_lower(a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
    let (pattern, n) = (a.pattern(), a.pattern().rows());
    check_size("columns of a symmetric matrix", n, pattern.columns())?;
    let above = |i: &usize| pattern.row(*i).last().is_some_and(|k| *k as usize > *i);
    check_size("entries above the diagonal", 0, (0..n).filter(above).count())?;
    if !fixed.is_empty() {
        check_size("fixed mask", n, fixed.len())?;
    }
    Ok(())
}

/// Whether variable `i` is fixed; an empty mask stands for none.
#[inline]
pub(crate) fn is_fixed(fixed: &[bool], i: usize) -> bool {
    fixed.get(i).copied().unwrap_or(false)
}

/// `y += (P A P + I - P) x`.
fn add_masked_product(a: &CsrMatrix, fixed: &[bool], x: &[f64], y: &mut [f64]) {
    for i in 0..a.pattern().rows() {
        if is_fixed(fixed, i) {
            y[i] += x[i];
            continue;
        }
        let (xi, mut sum) = (x[i], 0.0);
        for (k, a) in a.row_entries(i) {
            if !is_fixed(fixed, k) {
                sum += a * x[k];
                if k != i {
                    y[k] += a * xi;
                }
            }
        }
        y[i] += sum;
    }
}

/// `y += s J P x`.
pub(crate) fn add_free_product(system: &KktSystem, s: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..system.m() {
        let terms = system.j.row_entries(i).filter(|(k, _)| !system.fixed[*k]);
        y[i] += s * terms.map(|(k, a)| a * x[k]).sum::<f64>();
    }
}

/// `y += s P J^T x`.
pub(crate) fn add_free_transpose_product(system: &KktSystem, s: f64, x: &[f64], y: &mut [f64]) {
    for i in 0..system.m() {
        let xi = s * x[i];
        for (k, a) in system.j.row_entries(i) {
            if !system.fixed[k] {
                y[k] += a * xi;
            }
        }
    }
}

/// The KKT matrix `[W -J^T; -J -R]` of order n + m, the unknowns `(x, mu)` one after the other.
///
/// Symmetric and indefinite. Fixed variables are out of `W` and `J` and have a unit diagonal, as in
/// [`SymmetricOperator`]. Cost `4 nnz(W) + 4 nnz(J) + 4 nnz(R)`; with
/// [`with_response`](Self::with_response), a product of it instead of `4 nnz(W)`.
#[derive(Clone, Copy)]
pub struct KktOperator<'a> {
    system: &'a KktSystem,
    response: Option<&'a dyn LinearOperator>,
}

impl std::fmt::Debug for KktOperator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KktOperator")
            .field("system", &self.system)
            .field("matrix_free", &self.response.is_some())
            .finish()
    }
}

impl<'a> KktOperator<'a> {
    /// The operator of a system; bounds are not its business.
    ///
    /// # Errors
    /// [`SolveError::Size`] or [`SolveError::Bounds`] if the public vectors of the system do not
    /// fit.
    pub fn new(system: &'a KktSystem) -> Result<Self, SolveError> {
        system.check()?;
        Ok(Self {
            system,
            response: None,
        })
    }

    /// The whole matrix with products of another `W` than that of the system, as one that is not
    /// assembled: it has to be `P W P + I - P`, where `P` takes the fixed variables out, as
    /// [`SymmetricOperator`] is.
    ///
    /// # Errors
    /// [`SolveError::Size`] if it is not of order n; otherwise as [`Self::new`].
    pub fn with_response(
        system: &'a KktSystem,
        response: &'a dyn LinearOperator,
    ) -> Result<Self, SolveError> {
        check_size("products with W", system.n(), response.size())?;
        Ok(Self {
            response: Some(response),
            ..Self::new(system)?
        })
    }
}

impl LinearOperator for KktOperator<'_> {
    fn size(&self) -> usize {
        self.system.n() + self.system.m()
    }

    fn apply(&self, z: &[f64], y: &mut [f64]) {
        let system = self.system;
        y.fill(0.0);
        let (x, mu) = z.split_at(system.n());
        let (force, row) = y.split_at_mut(system.n());
        if let Some(w) = self.response {
            w.apply(x, force);
        }
        system.r.symmetric_add_product(-1.0, mu, row);
        add_free_product(system, -1.0, x, row);
        add_free_transpose_product(system, -1.0, mu, force);
        if self.response.is_none() {
            add_masked_product(&system.w, &system.fixed, x, force);
        }
    }
}

/// The Schur complement `S = J W^-1 J^T + R` of order m, with whatever applies `W^-1` (P W P + I -
/// P).
///
/// Positive semidefinite if `W^-1` is positive definite; singular if hard rows are redundant.
/// `W^-1` has to be linear and symmetric: a [`SymmetricFactor`](crate::SymmetricFactor) of `W`, or
/// [`BlockJacobi`](crate::BlockJacobi) or [`Jacobi`](crate::Jacobi) where `W` is block diagonal or
/// diagonal; otherwise it is the Schur complement of another matrix.
///
/// Cost: `4 nnz(J) + 4 nnz(R)` and one application of `W^-1`.
pub struct SchurOperator<'a> {
    system: &'a KktSystem,
    inverse: &'a dyn Preconditioner,
    scratch: Scratch,
}

impl std::fmt::Debug for SchurOperator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchurOperator")
            .field("size", &self.system.m())
            .finish_non_exhaustive()
    }
}

impl<'a> SchurOperator<'a> {
    /// The Schur complement of a system.
    ///
    /// # Errors
    /// [`SolveError::Size`] if `W^-1` is not of order n; otherwise as [`KktOperator::new`].
    pub fn new(system: &'a KktSystem, inverse: &'a dyn Preconditioner) -> Result<Self, SolveError> {
        system.check()?;
        check_size("inverse of W", system.n(), inverse.size())?;
        Ok(Self {
            system,
            inverse,
            scratch: Scratch::default(),
        })
    }
}

impl LinearOperator for SchurOperator<'_> {
    fn size(&self) -> usize {
        self.system.m()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        schur_product(self.system, self.inverse, &self.scratch, x, y);
    }
}

/// `y = (J W^-1 J^T + R) x`.
pub(crate) fn schur_product(
    system: &KktSystem,
    inverse: &dyn Preconditioner,
    scratch: &Scratch,
    x: &[f64],
    y: &mut [f64],
) {
    scratch.with(2 * system.n(), |both| {
        let (force, velocity) = both.split_at_mut(system.n());
        add_free_transpose_product(system, 1.0, x, force);
        inverse.apply(force, velocity);
        y.fill(0.0);
        add_free_product(system, 1.0, velocity, y);
        system.r.symmetric_add_product(1.0, x, y);
    });
}
