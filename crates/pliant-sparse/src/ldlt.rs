//! The `L D L^T` of a symmetric quasi-definite matrix: symbolic once, numeric every step.

use crate::{CsrMatrix, Pattern, SparseError, check_size};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// The elimination tree and the pattern of `L`, for one pattern of `A` in the order given.
///
/// The order is the caller's: permute first (see
/// [`Graph::minimum_degree`](crate::Graph::minimum_degree)).
#[derive(Debug)]
pub struct Symbolic {
    raw: SymbolicCholesky<u32>,
    size: usize,
    entries: usize,
}

/// Numeric factors and the scratch to compute them. Allocated once, refilled for every matrix of
/// the same pattern.
pub struct Factor {
    values: Vec<f64>,
    pivots: Vec<f64>,
    scratch: MemBuffer,
    /// Right-hand sides that the scratch is for.
    columns: usize,
}

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Factor")
            .field("size", &self.pivots.len())
            .field("entries", &self.values.len())
            .finish()
    }
}

/// Treatment of a pivot whose size is at most `threshold`.
///
/// `Drop` gives it the value `+-1e100`, so that the variable comes out as zero and the others do
/// not see it. Signs are kept as they come: their numbers are the inertia of the matrix
/// (Sylvester), which the caller checks.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum PivotRule {
    /// Keep every pivot; a zero is an error.
    #[default]
    Keep,
    /// Drop the variable of a pivot at or below this size.
    Drop {
        /// Absolute threshold: scale the matrix so that it means something.
        threshold: f64,
    },
}

impl PivotRule {
    /// The size up to which pivots are dropped; no pivot is at or below a negative one.
    pub(crate) fn threshold(self) -> f64 {
        match self {
            Self::Keep => -1.0,
            Self::Drop { threshold } => threshold,
        }
    }
}

/// The value that takes the place of a dropped pivot. Its square root must not overflow when
/// multiplied by itself.
pub(crate) const DROPPED: f64 = 1e100;

/// Counts of the pivots of a numeric factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FactorReport {
    /// Positive pivots that were kept.
    pub positive: usize,
    /// Negative pivots that were kept.
    pub negative: usize,
    /// Variables dropped by [`PivotRule::Drop`].
    pub dropped: usize,
}

impl Symbolic {
    /// Analyses a symmetric pattern given by its lower triangle (rows ascending, diagonal present).
    /// Cost `O(nnz(L))`.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the pattern is not square, [`SparseError::Symbolic`] if memory or
    /// indices run out.
    pub fn new(lower: &Pattern) -> Result<Self, SparseError> {
        let n = lower.rows();
        check_size("columns", n, lower.columns())?;
        // Rows of the lower triangle are columns of the upper one.
        let upper = SymbolicSparseColMatRef::new_checked(n, n, lower.offsets(), None, lower.indices());
        let raw = factorize_symbolic_cholesky(
            upper,
            Side::Upper,
            SymmetricOrdering::Identity,
            CholeskySymbolicParams::default(),
        )
        .map_err(|e| SparseError::Symbolic {
            reason: format!("{e:?}"),
        })?;
        Ok(Self {
            raw,
            size: n,
            entries: lower.len(),
        })
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Stored entries of `L` with its diagonal; supernodal factors store some explicit zeros.
    pub fn factor_entries(&self) -> usize {
        self.raw.len_val()
    }

    /// Whether dense blocks of columns (supernodes) are used.
    pub fn is_supernodal(&self) -> bool {
        matches!(self.raw.raw(), SymbolicCholeskyRaw::Supernodal(_))
    }

    /// Allocates the numeric factors.
    pub fn allocate(&self) -> Factor {
        let factor = self.factor_scratch();
        let solve = self.raw.solve_in_place_scratch::<f64>(1, Par::Seq);
        Factor {
            values: vec![0.0; self.raw.len_val()],
            pivots: vec![0.0; self.size],
            scratch: MemBuffer::new(factor.or(solve)),
            columns: 1,
        }
    }

    fn factor_scratch(&self) -> StackReq {
        self.raw
            .factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default())
    }
}

impl Factor {
    /// Factors `A = L D L^T` (lower triangle by rows, the pattern analysed). Allocates nothing.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the matrix is not the one analysed, [`SparseError::Pivot`] at a
    /// zero or non-finite pivot.
    pub fn factor(
        &mut self,
        symbolic: &Symbolic,
        a: &CsrMatrix,
        rule: PivotRule,
    ) -> Result<FactorReport, SparseError> {
        let n = symbolic.size;
        if a.pattern().rows() != n || a.pattern().len() != symbolic.entries {
            return Err(SparseError::Size {
                what: "entries",
                expected: symbolic.entries,
                found: a.pattern().len(),
            });
        }
        let pattern =
            SymbolicSparseColMatRef::new_checked(n, n, a.pattern().offsets(), None, a.pattern().indices());
        let upper = SparseColMatRef::new(pattern, a.values());
        let regularization = match rule {
            PivotRule::Keep => LdltRegularization::default(),
            PivotRule::Drop { threshold } => LdltRegularization {
                dynamic_regularization_signs: None,
                dynamic_regularization_delta: DROPPED,
                dynamic_regularization_epsilon: threshold,
            },
        };
        symbolic
            .raw
            .factorize_numeric_ldlt(
                &mut self.values,
                upper,
                Side::Upper,
                regularization,
                Par::Seq,
                MemStack::new(&mut self.scratch),
                Default::default(),
            )
            .map_err(
                |faer::linalg::cholesky::ldlt::factor::LdltError::ZeroPivot { index }| SparseError::Pivot {
                    index: index.saturating_sub(1),
                },
            )?;
        self.read_pivots(symbolic);
        let mut report = FactorReport::default();
        for (index, d) in self.pivots.iter().enumerate() {
            if d.abs() == DROPPED {
                report.dropped += 1;
            } else if *d > 0.0 {
                report.positive += 1;
            } else if *d < 0.0 {
                report.negative += 1;
            } else {
                return Err(SparseError::Pivot { index });
            }
        }
        Ok(report)
    }

    fn read_pivots(&mut self, symbolic: &Symbolic) {
        match symbolic.raw.raw() {
            SymbolicCholeskyRaw::Simplicial(s) => {
                for (d, start) in self.pivots.iter_mut().zip(s.col_ptr()) {
                    *d = self.values[*start as usize];
                }
            }
            SymbolicCholeskyRaw::Supernodal(s) => {
                let factor =
                    faer::sparse::linalg::cholesky::supernodal::SupernodalLdltRef::new(s, &self.values);
                for k in 0..s.n_supernodes() {
                    let node = factor.supernode(k);
                    for i in 0..node.val().ncols() {
                        self.pivots[node.start() + i] = node.val()[(i, i)];
                    }
                }
            }
        }
    }

    /// The diagonal `D` of the last factorisation.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Whether variable `i` was dropped.
    pub fn is_dropped(&self, i: usize) -> bool {
        self.pivots[i].abs() == DROPPED
    }

    /// Solves `L D L^T x = b` in place, for as many right-hand sides as `x` holds one after
    /// another. Cost `4 nnz(L)` each; several cost less each, as `L` is read once for all of them.
    /// Allocates only for more of them than ever before.
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of the order of the matrix.
    pub fn solve_in_place(&mut self, symbolic: &Symbolic, x: &mut [f64]) {
        let n = symbolic.size;
        if n == 0 {
            assert!(x.is_empty(), "right-hand side of an empty factor");
            return;
        }
        assert_eq!(x.len() % n, 0, "right-hand sides of a factor of order {n}");
        let columns = x.len() / n;
        if columns > self.columns {
            let solve = symbolic.raw.solve_in_place_scratch::<f64>(columns, Par::Seq);
            self.scratch = MemBuffer::new(symbolic.factor_scratch().or(solve));
            self.columns = columns;
        }
        let rhs = MatMut::from_column_major_slice_mut(x, n, columns);
        LdltRef::<u32, f64>::new(&symbolic.raw, &self.values).solve_in_place_with_conj(
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PatternBuilder;
    use proptest::prelude::*;

    /// A random quasi-definite matrix: diagonally dominant blocks of both signs, sparse coupling.
    fn system(n: usize, density: f64, seed: &[f64]) -> (CsrMatrix, Vec<i8>) {
        let mut b = PatternBuilder::new(n, n);
        let mut kept = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                if i == j || seed[(i * 31 + j * 7) % seed.len()].abs() < density {
                    b.insert(i, j);
                    kept.push((i, j));
                }
            }
        }
        let signs: Vec<i8> = (0..n).map(|i| if i % 3 == 2 { -1 } else { 1 }).collect();
        let mut a = b.finish().unwrap().into_matrix();
        for (i, j) in kept {
            let slot = a.pattern().slot(i, j).unwrap();
            a.values_mut()[slot] = if i == j {
                f64::from(signs[i]) * (2.0 + n as f64)
            } else {
                seed[(i * 5 + j) % seed.len()]
            };
        }
        (a, signs)
    }

    proptest! {
        #[test]
        fn simplicial_and_supernodal_solve_what_they_factor(
            n in 1usize..40, density in 0.05..1.0f64, seed in prop::collection::vec(-1.0..1.0f64, 97)
        ) {
            let (a, signs) = system(n, density, &seed);
            let symbolic = Symbolic::new(a.pattern()).unwrap();
            let mut factor = symbolic.allocate();
            let report = factor.factor(&symbolic, &a, PivotRule::Keep).unwrap();
            let minus = signs.iter().filter(|s| **s < 0).count();
            prop_assert_eq!((report.positive, report.negative, report.dropped), (n - minus, minus, 0));
            let exact: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
            let mut x = vec![0.0; n];
            a.symmetric_add_product(1.0, &exact, &mut x);
            factor.solve_in_place(&symbolic, &mut x);
            for (x, e) in x.iter().zip(&exact) {
                prop_assert!((x - e).abs() < 1e-11 * n as f64);
            }
        }
    }

    #[test]
    fn a_dense_matrix_goes_supernodal_and_drops_a_dependent_row() {
        let n = 200;
        let mut b = PatternBuilder::new(n, n);
        b.insert_block((0, 0), (n, n), true);
        let mut a = b.finish().unwrap().into_matrix();
        // The identity, and the last two rows are the same constraint [1 .. 1], C = 0.
        for i in 0..n {
            for j in 0..=i {
                let slot = a.pattern().slot(i, j).unwrap();
                a.values_mut()[slot] = match (i >= n - 2, j >= n - 2) {
                    (false, false) => f64::from(u8::from(i == j)),
                    (true, false) => -1.0,
                    _ => 0.0,
                };
            }
        }
        let symbolic = Symbolic::new(a.pattern()).unwrap();
        assert!(symbolic.is_supernodal());
        let mut factor = symbolic.allocate();
        assert!(
            factor.factor(&symbolic, &a, PivotRule::Keep).is_err() || factor.pivots()[n - 1].abs() < 1e-12
        );
        let report = factor
            .factor(&symbolic, &a, PivotRule::Drop { threshold: 1e-8 })
            .unwrap();
        assert_eq!(
            report,
            FactorReport {
                positive: n - 2,
                negative: 1,
                dropped: 1
            }
        );
        assert!(factor.is_dropped(n - 1));
        // min |x|^2/2 with sum x = 1: x = 1/(n - 2).
        let mut x = vec![0.0; n];
        x[n - 2] = -1.0;
        x[n - 1] = -1.0;
        factor.solve_in_place(&symbolic, &mut x);
        assert!(x[..n - 2].iter().all(|x| (x - 1.0 / 198.0).abs() < 1e-15) && x[n - 1].abs() < 1e-90);
    }
}
