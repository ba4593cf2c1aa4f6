//! Incomplete Cholesky factors.

use crate::Preconditioner;
use crate::precondition::{backward, copy_masked, forward, positive};
use pliant_solvers::SolveError;
use pliant_sparse::CsrMatrix;

/// IC(0): `M = L L^T` with `L` on the pattern of the lower triangle of `A`, so that
///
/// ```math
/// (L L^T)_ij = (A + shift diag(A))_ij   wherever A has an entry
/// ```
///
/// Exact if elimination makes no fill (tridiagonal, trees ordered from the leaves). For M-matrices
/// it exists with `shift = 0` (Meijerink and van der Vorst 1977); for others a pivot may come out
/// too small, and `shift` grows from `1e-3` by factors of two until none does (Manteuffel 1980; the
/// start after Lin and Moré 1999). [`Self::shift`] says what it took: a large one means little more
/// than Jacobi.
///
/// Cost: `O(nnz * row length)` per factorisation and attempt, `4 nnz` per application.
#[derive(Clone, Debug, Default)]
pub struct IncompleteCholesky {
    /// `A` with unit rows at fixed variables.
    matrix: Option<CsrMatrix>,
    factor: Option<CsrMatrix>,
    shift: f64,
}

/// The first shift that is tried, and how often it is doubled: far beyond diagonal dominance.
const FIRST_SHIFT: f64 = 1e-3;
const ATTEMPTS: usize = 60;
/// Share of the diagonal below which a pivot is not trusted.
const SMALL_PIVOT: f64 = 1e-10;

impl IncompleteCholesky {
    /// From the lower triangle of a symmetric `A` with positive diagonal; `fixed`, empty if nothing
    /// is, as in [`SymmetricOperator`](crate::SymmetricOperator).
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] at a diagonal that is not positive, or if no shift
    /// helped; [`SolveError::NotFinite`], [`SolveError::Size`].
    pub fn new(a: &CsrMatrix, fixed: &[bool]) -> Result<Self, SolveError> {
        let mut out = Self::default();
        out.update(a, fixed)?;
        Ok(out)
    }

    /// Factors new values. Allocates only for another pattern.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool]) -> Result<(), SolveError> {
        copy_masked(a, fixed, &mut self.matrix)?;
        let Some(matrix) = &self.matrix else {
            return Err(SolveError::NotPrepared);
        };
        for i in 0..matrix.pattern().rows() {
            positive(i, matrix.get(i, i))?;
        }
        if self
            .factor
            .as_ref()
            .is_none_or(|f| f.pattern() != matrix.pattern())
        {
            self.factor = Some(matrix.clone());
        }
        let Some(factor) = &mut self.factor else {
            return Err(SolveError::NotPrepared);
        };
        self.shift = 0.0;
        let mut failed = 0;
        for _ in 0..ATTEMPTS {
            match attempt(matrix, self.shift, factor) {
                None => return Ok(()),
                Some(row) => failed = row,
            }
            self.shift = (2.0 * self.shift).max(FIRST_SHIFT);
        }
        Err(SolveError::NotPositiveDefinite {
            dof: failed,
            diagonal: matrix.get(failed, failed),
        })
    }

    /// The diagonal was multiplied by one plus this.
    pub fn shift(&self) -> f64 {
        self.shift
    }
}

/// Factors `A + shift diag(A)`; returns the first row whose pivot is too small.
fn attempt(a: &CsrMatrix, shift: f64, l: &mut CsrMatrix) -> Option<usize> {
    l.values_mut().copy_from_slice(a.values());
    for i in 0..a.pattern().rows() {
        let slots = a.pattern().row_slots(i);
        let last = slots.end - 1;
        for slot in slots.start..last {
            let k = a.pattern().indices()[slot] as usize;
            let row = a.pattern().row_slots(k);
            let sum = sparse_dot(l, slots.start..slot, row.start..row.end - 1);
            let value = (l.values()[slot] - sum) / l.values()[row.end - 1];
            l.values_mut()[slot] = value;
        }
        let square: f64 = l.values()[slots.start..last].iter().map(|v| v * v).sum();
        let diagonal = a.values()[last] * (1.0 + shift);
        let pivot = diagonal - square;
        // NaN fails too.
        if pivot > SMALL_PIVOT * diagonal {
            l.values_mut()[last] = pivot.sqrt();
        } else {
            return Some(i);
        }
    }
    None
}

/// The dot product of two sorted runs of entries.
fn sparse_dot(l: &CsrMatrix, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> f64 {
    let indices = l.pattern().indices();
    let (mut i, mut j, mut sum) = (a.start, b.start, 0.0);
    while i < a.end && j < b.end {
        match indices[i].cmp(&indices[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += l.values()[i] * l.values()[j];
                i += 1;
                j += 1;
            }
        }
    }
    sum
}

impl Preconditioner for IncompleteCholesky {
    fn size(&self) -> usize {
        self.factor.as_ref().map_or(0, |f| f.pattern().rows())
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        if let Some(l) = &self.factor {
            forward(l, 1.0, z);
            backward(l, 1.0, z);
        }
    }
}
