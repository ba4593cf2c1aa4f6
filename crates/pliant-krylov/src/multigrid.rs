//! Smoothed aggregation.

mod aggregate;
mod coarsest;
mod galerkin;
mod hierarchy;
mod level;
mod modes;
mod spectrum;
#[cfg(test)]
mod tests;
mod transfer;

pub(crate) use modes::ScaledModes;
pub use modes::{NearNullSpace, RigidNode};

use crate::{LinearOperator, Preconditioner, check_size};
use hierarchy::{Cycle, Hierarchy};
use pliant_solvers::SolveError;
use pliant_sparse::{CsrMatrix, SymmetricBlockMatrix, Threads};

/// Options of [`SmoothedAggregation`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultigridOptions {
    /// Share of the strongest coupling of a node, `|A_ij| / (|A_ii| |A_jj|)^(1/2)` in Frobenius
    /// norms of blocks, from which on a coupling puts nodes in one aggregate; from zero to below
    /// one. The larger, the slower levels shrink.
    pub strength: f64,
    /// Whether all couplings count alike, whatever their values: aggregates are then those of the
    /// pattern, or of nodes that are near each other at the places that
    /// [`NearNullSpace::set_reference`] told; and an [`update`](SmoothedAggregation::update) finds
    /// the bits of a new plan.
    pub by_pattern: bool,
    /// Unknowns up to which a level is factored, as a dense matrix.
    pub coarsest: usize,
}

impl Default for MultigridOptions {
    fn default() -> Self {
        Self {
            strength: 0.1,
            by_pattern: false,
            coarsest: 360,
        }
    }
}

/// Options of the preconditioners of KKT systems: aggregates by the pattern alone, so that a solver
/// that goes on from a checkpoint, and plans with the values at hand, has the bits of one that
/// planned with others.
pub(crate) const BY_PATTERN: MultigridOptions = MultigridOptions {
    strength: 0.0,
    by_pattern: true,
    coarsest: 360,
};

/// One level of a hierarchy, the finest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultigridLevel {
    /// Number of unknowns.
    pub order: usize,
    /// Number of block rows: on the coarse levels, aggregates of the level before.
    pub nodes: usize,
    /// Numbers in the blocks of the whole matrix, both triangles.
    pub entries: usize,
}

/// Size of a hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultigridReport {
    /// The levels, the finest first.
    pub levels: Vec<MultigridLevel>,
    /// Whether the last level is factored; otherwise sweeps are all that is done there.
    pub factored: bool,
    /// Unknowns of the last level without energy within rounding, for which the factor says zero:
    /// the dependent vectors of small aggregates, and the rigid motions of what is held nowhere and
    /// has no mass.
    pub passed: usize,
    /// Bytes of matrices, prolongators and vectors, the finest matrix among them.
    pub bytes: usize,
}

impl MultigridReport {
    /// Entries of all levels per entry of the finest: what a cycle costs in units of a sweep.
    pub fn operator_complexity(&self) -> f64 {
        let all: usize = self.levels.iter().map(|l| l.entries).sum();
        all as f64 / self.levels.first().map_or(1, |l| l.entries).max(1) as f64
    }
}

/// A V-cycle of smoothed aggregation as the approximate inverse of a symmetric positive definite
/// matrix `A`: for [`ConjugateGradient`](crate::ConjugateGradient), whose iterations then hardly
/// depend on the number of unknowns.
///
/// Nodes that are coupled strongly are put together in aggregates. On each of them the given near
/// null space `B` is made orthonormal, `B = T B_c`; the prolongator is `T` after one step of Jacobi
/// by blocks, and the next level is the Galerkin product:
///
/// ```math
/// P = (I - 4/(3 rho) D^-1 A) T,   A_c = P^T A P,   rho >= largest eigenvalue of D^-1 A
/// ```
///
/// with `B_c` as its near null space, down to a level that a dense factor solves. On every level the
/// cycle makes one forward sweep of Gauss and Seidel by blocks before the correction and one
/// backward sweep after it, each in one pass over the lower triangle; from the second coarse level
/// on, where hardly anything is left to do, a correction is two cycles (those of slender beams,
/// which are beams themselves, lose their bending else). That is symmetric, and positive
/// definite for every positive definite `A` (Chebyshev iterations would ask for a bound of the
/// spectrum, and take twice the passes).
///
/// Aggregates and patterns are planned once, with the values at hand; [`Self::update`] takes new
/// values and finds the same bits as a plan with the same aggregates. Fixed variables are in no
/// aggregate.
///
/// Cost: an application reads the lower triangle of both finest levels twice and their prolongators
/// twice, and three times as much of each level as there are corrections on it;
/// an update makes eight products per level, and Galerkin products. Sources: Vaněk, Mandel and
/// Brezina 1996; with rigid motions of several bodies of unknowns: Vaněk, Brezina and Mandel 2001.
///
/// ```
/// use pliant_krylov::{ConjugateGradient, KrylovSolver, NearNullSpace, SmoothedAggregation};
/// use pliant_sparse::PatternBuilder;
/// // A string of 1,000 springs, held at both ends.
/// let n = 999;
/// let mut builder = PatternBuilder::new(n, n);
/// for i in 0..n {
///     builder.insert(i, i);
///     if i > 0 {
///         builder.insert(i, i - 1);
///     }
/// }
/// let mut a = builder.finish()?.into_matrix();
/// for i in 0..n {
///     for slot in a.pattern().row_slots(i) {
///         a.values_mut()[slot] = if a.pattern().indices()[slot] as usize == i { 2.0 } else { -1.0 };
///     }
/// }
/// let blocks: Vec<usize> = (0..=n).collect();
/// let modes = NearNullSpace::components(&blocks);
/// let m = SmoothedAggregation::new(&a, &[], &blocks, &modes, Default::default())?;
/// let mut x = vec![0.0; n];
/// let report = ConjugateGradient::default().solve_with(m.matrix(), &m, &vec![1.0; n], &mut x)?;
/// assert!(report.iterations < 15, "{report:?}");
/// # Ok::<(), pliant_solvers::SolveError>(())
/// ```
#[derive(Debug)]
pub struct SmoothedAggregation {
    cycle: Box<dyn Cycle>,
}

/// Numbers stored per entry above which blocks of a size do not pay any more.
const LARGEST_PADDING: f64 = 1.5;

impl SmoothedAggregation {
    /// Plans and fills a hierarchy for the lower triangle of `A`; `fixed`, empty if nothing is, as
    /// in [`SymmetricOperator`](crate::SymmetricOperator). `blocks` are the boundaries of the nodes,
    /// ascending from 0 to n: [`KktSystem::primal_blocks`](pliant_solvers::KktSystem::primal_blocks).
    ///
    /// # Errors
    /// [`SolveError::Size`] if `fixed`, the blocks or the near null space do not fit;
    /// [`SolveError::Parameter`] for an option outside its range; [`SolveError::NotPositiveDefinite`]
    /// at a block of a diagonal, of this or of a coarse level, that is not positive definite:
    /// neither is `A`; [`SolveError::NotFinite`]; or what the sparse kernels say.
    pub fn new(
        a: &CsrMatrix,
        fixed: &[bool],
        blocks: &[usize],
        modes: &NearNullSpace,
        options: MultigridOptions,
    ) -> Result<Self, SolveError> {
        let modes = ScaledModes { modes, scale: &[] };
        Self::scaled(a, fixed, blocks, modes, options)
    }

    /// As [`Self::new`], for `A` that was scaled by a diagonal.
    pub(crate) fn scaled(
        a: &CsrMatrix,
        fixed: &[bool],
        blocks: &[usize],
        modes: ScaledModes<'_>,
        options: MultigridOptions,
    ) -> Result<Self, SolveError> {
        crate::operator::check_lower(a, fixed)?;
        let n = a.pattern().rows();
        check_size("near null space", n, modes.modes.order())?;
        let ascends = blocks.windows(2).all(|w| w[0] < w[1]) && blocks.first() == Some(&0);
        let last = blocks.last().copied().filter(|_| ascends);
        check_size("blocks", n, last.unwrap_or(usize::MAX))?;
        if !(0.0..1.0).contains(&options.strength) {
            return Err(SolveError::Parameter {
                what: "strength of connection",
                value: options.strength,
            });
        }
        let source = Source {
            a,
            fixed,
            blocks,
            modes,
            options: &options,
        };
        let cycle = match (by_blocks::<3>(a, fixed)?, modes.modes.count()) {
            (Some(matrix), ..=3) => boxed::<3, 3>(matrix, source)?,
            (Some(matrix), _) => boxed::<3, 6>(matrix, source)?,
            (None, count) => match (by_blocks::<2>(a, fixed)?, count) {
                (Some(matrix), ..=3) => boxed::<2, 3>(matrix, source)?,
                (Some(matrix), _) => boxed::<2, 6>(matrix, source)?,
                (None, 1) => boxed::<1, 1>(SymmetricBlockMatrix::new(a, fixed)?, source)?,
                (None, ..=3) => boxed::<1, 3>(SymmetricBlockMatrix::new(a, fixed)?, source)?,
                (None, _) => boxed::<1, 6>(SymmetricBlockMatrix::new(a, fixed)?, source)?,
            },
        };
        Ok(Self { cycle })
    }

    /// Takes new values on the same pattern, and the near null space that goes with them. Allocates
    /// nothing.
    ///
    /// # Errors
    /// Those of [`Self::new`], and [`SolveError::Size`] if the pattern is another one.
    pub fn update(&mut self, a: &CsrMatrix, fixed: &[bool], modes: &NearNullSpace) -> Result<(), SolveError> {
        self.update_scaled(a, fixed, ScaledModes { modes, scale: &[] })
    }

    pub(crate) fn update_scaled(
        &mut self,
        a: &CsrMatrix,
        fixed: &[bool],
        modes: ScaledModes<'_>,
    ) -> Result<(), SolveError> {
        check_size("near null space", a.pattern().rows(), modes.modes.order())?;
        self.cycle.update(a, fixed, modes)
    }

    /// Lets these threads share the products of the coming updates. No bit depends on their number.
    pub fn share(&mut self, threads: &Threads) {
        self.cycle.share(threads);
    }

    /// Whether [`Self::update`] takes this matrix: it has the pattern that was planned for.
    pub fn fits(&self, a: &CsrMatrix) -> bool {
        self.cycle.fits(a)
    }

    /// `A`, decoupled from fixed variables: products by blocks.
    pub fn matrix(&self) -> &dyn LinearOperator {
        self.cycle.matrix()
    }

    /// Levels and sizes.
    pub fn report(&self) -> MultigridReport {
        self.cycle.report()
    }
}

impl Preconditioner for SmoothedAggregation {
    fn size(&self) -> usize {
        self.cycle.matrix().size()
    }

    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.cycle.apply(r, z);
    }
}

/// The matrix by blocks of `B` if it has some.
fn by_blocks<const B: usize>(
    a: &CsrMatrix,
    fixed: &[bool],
) -> Result<Option<SymmetricBlockMatrix<B>>, SolveError> {
    if !a.pattern().rows().is_multiple_of(B) {
        return Ok(None);
    }
    let matrix = SymmetricBlockMatrix::new(a, fixed)?;
    Ok((matrix.padding() <= LARGEST_PADDING).then_some(matrix))
}

/// The matrix that a hierarchy is planned for, and how.
#[derive(Clone, Copy)]
struct Source<'a> {
    /// The lower triangle.
    a: &'a CsrMatrix,
    fixed: &'a [bool],
    /// Boundaries of the nodes.
    blocks: &'a [usize],
    modes: ScaledModes<'a>,
    options: &'a MultigridOptions,
}

fn boxed<const B: usize, const K: usize>(
    matrix: SymmetricBlockMatrix<B>,
    source: Source<'_>,
) -> Result<Box<dyn Cycle>, SolveError> {
    Ok(Box::new(Hierarchy::<B, K>::new(matrix, source)?))
}
