//! Preconditioners of KKT matrices, by the Schur complement of an approximation of `W`.

use crate::blocks::BlockJacobi;
use crate::factor::SymmetricFactor;
use crate::operator::{add_free_product, add_free_transpose_product};
use crate::{Preconditioner, Scratch, check_size};
use pliant_solvers::{KktSystem, SolveError, Variable};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder};

/// Which part of `W` stands for `W`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approximation {
    /// Its diagonal.
    Diagonal,
    /// Its diagonal blocks on [`KktSystem::primal_blocks`].
    #[default]
    Blocks,
    /// For [`KktMethod::Minres`](crate::KktMethod::Minres) alone: all of it, by
    /// [`SmoothedAggregation`](crate::SmoothedAggregation), with an approximation of the Schur
    /// complement that suits masses and stiffness alike. For `W` that is positive definite.
    Multilevel,
}

/// `D`, the (block) diagonal of `W`, and the factor of `S_D = J D^-1 J^T + R`.
///
/// `D` is positive definite: blocks that are not are replaced by the magnitudes of their diagonal.
/// Rows with a pivot below `1e-10` of their diagonal are redundant and are dropped from the factor.
///
/// Cost: per `update` the blocks, `nnz(J_i) nnz(S_i)` for every row i, and the factorisation of
/// `S_D`, whose rows are coupled if they share a block.
#[derive(Debug)]
pub struct ApproximateSchur {
    approximation: Approximation,
    /// The shape of the system that the patterns were made for.
    shape: (Pattern, Pattern, Vec<usize>),
    d: BlockJacobi,
    s: SchurMatrix,
    factor: SymmetricFactor,
    scratch: Scratch,
}

/// Share of its diagonal below which the pivot of a row means that the row is redundant.
const REDUNDANT: f64 = 1e-10;

impl ApproximateSchur {
    /// Analyses and factors.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`], [`SolveError::NotPositiveDefinite`] at a zero on the diagonal of
    /// `W`, [`SolveError::NegativeCompliance`], [`SolveError::Size`], [`SolveError::Bounds`], or
    /// what the sparse kernels say.
    pub fn new(system: &KktSystem, approximation: Approximation) -> Result<Self, SolveError> {
        system.check()?;
        let boundaries = match approximation {
            Approximation::Diagonal => (0..=system.n()).collect(),
            Approximation::Blocks | Approximation::Multilevel => system.primal_blocks().to_vec(),
        };
        let mut d = BlockJacobi::default();
        d.update_absolute(&system.w, &system.fixed, &boundaries)?;
        let mut s = SchurMatrix::new(system, boundaries)?;
        s.fill(system, &d, &[])?;
        let factor = SymmetricFactor::new(&s.matrix, &[], REDUNDANT)?;
        Ok(Self {
            approximation,
            shape: (
                system.j.pattern().clone(),
                system.r.pattern().clone(),
                system.primal_blocks().to_vec(),
            ),
            d,
            s,
            factor,
            scratch: Scratch::default(),
        })
    }

    /// Takes new values; analyses anew, and allocates, only for another pattern.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn update(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        system.check()?;
        let (j, r, blocks) = &self.shape;
        if j != system.j.pattern() || r != system.r.pattern() || blocks != system.primal_blocks() {
            *self = Self::new(system, self.approximation)?;
            return Ok(());
        }
        self.d
            .update_absolute(&system.w, &system.fixed, &self.s.boundaries)?;
        self.s.fill(system, &self.d, &[])?;
        self.factor.update(&self.s.matrix, &[])
    }

    /// The rows that were dropped as redundant.
    pub fn dropped(&self) -> &[usize] {
        self.factor.dropped()
    }

    /// Blocks of `W` that were not positive definite.
    pub fn replaced_blocks(&self) -> usize {
        self.d.replaced()
    }

    /// `S_D^-1 r`, with the diagonal of `S_D` for the dropped rows: positive definite.
    pub(crate) fn solve_definite(&self, r: &[f64], z: &mut [f64]) {
        self.factor.apply(r, z);
        for i in self.dropped() {
            let diagonal = self.s.matrix.values()[self.s.matrix.pattern().row_slots(*i).end - 1];
            z[*i] = if diagonal > 0.0 { r[*i] / diagonal } else { r[*i] };
        }
    }

    fn check(&self, system: &KktSystem) -> Result<(), SolveError> {
        check_size("variables of the preconditioner", system.n(), self.d.size())?;
        check_size("rows of the preconditioner", system.m(), self.factor.size())
    }
}

/// `J D^-1 J^T + R` on a pattern made once, for a block diagonal `D`.
#[derive(Debug)]
pub(crate) struct SchurMatrix {
    /// Boundaries of the blocks of `D`, and the block of every variable.
    pub(crate) boundaries: Vec<usize>,
    block_of: Vec<u32>,
    /// Lower triangle.
    pub(crate) matrix: CsrMatrix,
    /// `D^-1 J_i^T`, zero between rows; the blocks where it is not.
    column: Vec<f64>,
    touched: Vec<u32>,
}

impl SchurMatrix {
    /// The pattern for a system: rows are coupled if they share a block.
    pub(crate) fn new(system: &KktSystem, boundaries: Vec<usize>) -> Result<Self, SolveError> {
        let (n, m) = (system.n(), system.m());
        let mut block_of = vec![0; n];
        for (block, range) in boundaries.windows(2).enumerate() {
            block_of[range[0]..range[1]].fill(block as u32);
        }
        let mut rows_of = vec![Vec::new(); boundaries.len() - 1];
        for i in 0..m {
            for k in system.j.pattern().row(i) {
                let rows = &mut rows_of[block_of[*k as usize] as usize];
                if rows.last() != Some(&i) {
                    rows.push(i);
                }
            }
        }
        let mut builder = PatternBuilder::new(m, m);
        for rows in &rows_of {
            for (at, i) in rows.iter().enumerate() {
                rows[..=at].iter().for_each(|k| builder.insert(*i, *k));
            }
        }
        for i in 0..m {
            let own = system.r.pattern().row(i).iter();
            own.for_each(|k| builder.insert(i, *k as usize));
        }
        Ok(Self {
            boundaries,
            block_of,
            matrix: builder.finish()?.into_matrix(),
            column: vec![0.0; n],
            touched: Vec::new(),
        })
    }

    /// The block of a variable.
    pub(crate) fn block_of(&self, dof: usize) -> usize {
        self.block_of[dof] as usize
    }

    /// `J (w D)^-1 J^T + R` with a weight for every block of `D`; none for one.
    pub(crate) fn fill(
        &mut self,
        system: &KktSystem,
        d: &BlockJacobi,
        weights: &[f64],
    ) -> Result<(), SolveError> {
        let Self {
            block_of,
            matrix,
            column,
            touched,
            ..
        } = self;
        for i in 0..system.m() {
            touched.clear();
            for (k, a) in system.j.row_entries(i).filter(|(k, _)| !system.fixed[*k]) {
                column[k] = a;
                if touched.last() != Some(&block_of[k]) {
                    touched.push(block_of[k]);
                }
            }
            for block in touched.iter() {
                let block = *block as usize;
                let own = &mut column[d.range(block)];
                d.solve_block(block, own);
                if let Some(weight) = weights.get(block) {
                    own.iter_mut().for_each(|v| *v /= weight);
                }
            }
            for slot in matrix.pattern().row_slots(i) {
                let k = matrix.pattern().indices()[slot] as usize;
                let free = system.j.row_entries(k).filter(|(k, _)| !system.fixed[*k]);
                let value = free.map(|(k, a)| a * column[k]).sum::<f64>() + system.r.get(i, k);
                if !value.is_finite() {
                    return Err(SolveError::NotFinite {
                        variable: Variable::Row(i),
                    });
                }
                matrix.values_mut()[slot] = value;
            }
            for block in touched.iter() {
                column[d.range(*block as usize)].fill(0.0);
            }
            let compliance = system.r_diagonal(i);
            if compliance < 0.0 {
                return Err(SolveError::NegativeCompliance {
                    row: i,
                    value: compliance,
                });
            }
        }
        Ok(())
    }
}

/// The constraint preconditioner `M = [D -J^T; -J -R]`: the KKT matrix with `D` in the place of
/// `W`, applied through `S_D`.
///
/// ```math
/// z_2 = -S_D^-1 (r_2 + J D^-1 r_1),   z_1 = D^-1 (r_1 + J^T z_2)
/// ```
///
/// `M^-1 K` has the eigenvalue 1 at least `2 m` times if `R = 0`, the others are those of `W`
/// against `D` on the null space of `J`; every iterate obeys the constraints. `M` is indefinite:
/// use [`GeneralMinimalResidual`](crate::GeneralMinimalResidual) or
/// [`BiConjugateGradient`](crate::BiConjugateGradient). Exact, thus one iteration, if `W = D` and
/// no row is redundant.
///
/// Cost of an application: `4 nnz(J)`, two of `D^-1`, one of `S_D^-1`. Source: Keller, Gould and
/// Wathen 2000.
#[derive(Debug)]
pub struct ConstraintPreconditioner<'a> {
    system: &'a KktSystem,
    schur: &'a ApproximateSchur,
}

impl<'a> ConstraintPreconditioner<'a> {
    /// Of a system, with the parts that were prepared for it (or for an older one of the same
    /// pattern).
    ///
    /// # Errors
    /// [`SolveError::Size`] if they do not fit.
    pub fn new(system: &'a KktSystem, schur: &'a ApproximateSchur) -> Result<Self, SolveError> {
        schur.check(system)?;
        Ok(Self { system, schur })
    }
}

impl Preconditioner for ConstraintPreconditioner<'_> {
    fn size(&self) -> usize {
        self.system.n() + self.system.m()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let (system, n) = (self.system, self.system.n());
        let (r1, r2) = r.split_at(n);
        let (z1, z2) = z.split_at_mut(n);
        self.schur.scratch.with(r.len(), |scratch| {
            let (force, row) = scratch.split_at_mut(n);
            self.schur.d.apply(r1, z1);
            row.copy_from_slice(r2);
            add_free_product(system, 1.0, z1, row);
            row.iter_mut().for_each(|v| *v = -*v);
            self.schur.factor.apply(row, z2);
            force.copy_from_slice(r1);
            add_free_transpose_product(system, 1.0, z2, force);
            self.schur.d.apply(force, z1);
        });
    }
}

/// `M = diag(D, S_D)`, symmetric positive definite: for [`MinimalResidual`](crate::MinimalResidual)
/// on KKT systems.
///
/// If `W = D` and `R = 0`, `M^-1 K` has the three eigenvalues `1` and `(1 +- sqrt(5))/2`: three
/// iterations. Differs from [`ConstraintPreconditioner`] in being definite, and in costing half.
///
/// Cost of an application: one of `D^-1`, one of `S_D^-1`. Source: Murphy, Golub and Wathen 2000.
#[derive(Debug)]
pub struct DiagonalPreconditioner<'a> {
    schur: &'a ApproximateSchur,
}

impl<'a> DiagonalPreconditioner<'a> {
    /// Of the parts that were prepared.
    pub fn new(schur: &'a ApproximateSchur) -> Self {
        Self { schur }
    }
}

impl Preconditioner for DiagonalPreconditioner<'_> {
    fn size(&self) -> usize {
        self.schur.d.size() + self.schur.factor.size()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let (r1, r2) = r.split_at(self.schur.d.size());
        let (z1, z2) = z.split_at_mut(self.schur.d.size());
        self.schur.d.apply(r1, z1);
        self.schur.solve_definite(r2, z2);
    }
}
