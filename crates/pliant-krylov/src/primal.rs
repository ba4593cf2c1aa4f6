//! `W` as an operator with its preconditioner, by blocks of the size that suits it.

use crate::blocks::BlockJacobi;
use crate::incomplete_blocks::BlockIncompleteCholesky;
use crate::multigrid::{BY_PATTERN, ScaledModes};
use crate::{LinearOperator, MultigridReport, NearNullSpace, Preconditioner, SmoothedAggregation};
use pliant_solvers::SolveError;
use pliant_sparse::{CsrMatrix, SymmetricBlockMatrix, Threads};

/// The preconditioner of conjugate gradients on `W`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrimalPreconditioner {
    /// The diagonal of `W`.
    Diagonal,
    /// The diagonal blocks of
    /// [`KktSystem::primal_blocks`](pliant_solvers::KktSystem::primal_blocks): nothing to factor,
    /// more iterations.
    BlockJacobi,
    /// An incomplete Cholesky factor, by blocks where `W` has some.
    #[default]
    IncompleteCholesky,
    /// [`SmoothedAggregation`]: as many iterations at any number of unknowns, for the motions that
    /// [`KktKrylov::set_near_null_space`](crate::KktKrylov::set_near_null_space) was told.
    Multilevel,
}

/// A matrix and what a preconditioner of it is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimalMatrix<'a> {
    /// Lower triangle of `W`.
    pub(crate) w: &'a CsrMatrix,
    pub(crate) fixed: &'a [bool],
    /// Boundaries of its blocks.
    pub(crate) blocks: &'a [usize],
    /// The diagonal by which the matrix given was scaled from both sides, and the near null space
    /// of that one.
    pub(crate) scale: &'a [f64],
    pub(crate) modes: Option<&'a NearNullSpace>,
}

/// A symmetric positive definite matrix, its products and its preconditioner.
pub(crate) trait Primal: std::fmt::Debug + Send {
    /// Takes new values on the same pattern.
    fn update(&mut self, values: PrimalMatrix<'_>) -> Result<(), SolveError>;
    /// `P W P + I - P`.
    fn operator(&self) -> &dyn LinearOperator;
    /// Its approximate inverse.
    fn preconditioner(&self) -> &dyn Preconditioner;
    /// See [`BlockIncompleteCholesky::shift`].
    fn shift(&self) -> f64 {
        0.0
    }
    /// Lets threads share the work of the coming updates.
    fn share(&mut self, _: &Threads) {}
    /// The levels, if there are any.
    fn levels(&self) -> Option<MultigridReport> {
        None
    }
}

#[derive(Debug)]
struct ByBlocks<const B: usize> {
    matrix: SymmetricBlockMatrix<B>,
    incomplete: Option<BlockIncompleteCholesky<B>>,
    jacobi: BlockJacobi,
    /// Boundaries of the blocks of one that the diagonal is; empty for other preconditioners.
    singles: Vec<usize>,
}

/// Numbers stored per entry above which blocks of a size do not pay any more.
const LARGEST_PADDING: f64 = 1.5;

/// For the lower triangle of `W`, decoupled from fixed variables.
pub(crate) fn primal(
    matrix: PrimalMatrix<'_>,
    preconditioner: PrimalPreconditioner,
) -> Result<Box<dyn Primal>, SolveError> {
    if preconditioner == PrimalPreconditioner::Multilevel {
        return Ok(Box::new(Levels::new(matrix)?));
    }
    let PrimalMatrix { w, fixed, blocks, .. } = matrix;
    // Blocks of six are also blocks of three, which cost less where they are not full.
    Ok(match try_blocks::<3>(w, fixed, blocks, preconditioner)? {
        Some(found) => Box::new(found),
        None => match try_blocks::<2>(w, fixed, blocks, preconditioner)? {
            Some(found) => Box::new(found),
            None => Box::new(ByBlocks::<1>::new(
                SymmetricBlockMatrix::new(w, fixed)?,
                w,
                fixed,
                blocks,
                preconditioner,
            )?),
        },
    })
}

/// A hierarchy, with the near null space by components where none is given.
#[derive(Debug)]
pub(crate) struct Levels {
    hierarchy: SmoothedAggregation,
    /// The number of vectors of the near null space that it was planned for.
    count: usize,
    components: Option<NearNullSpace>,
}

impl Levels {
    pub(crate) fn new(matrix: PrimalMatrix<'_>) -> Result<Self, SolveError> {
        let PrimalMatrix {
            w,
            fixed,
            blocks,
            scale,
            modes,
        } = matrix;
        let components = modes.is_none().then(|| NearNullSpace::components(blocks));
        let (hierarchy, count) = match modes.or(components.as_ref()) {
            Some(modes) => {
                let options = BY_PATTERN;
                let built =
                    SmoothedAggregation::scaled(w, fixed, blocks, ScaledModes { modes, scale }, options)?;
                (built, modes.count())
            }
            None => return Err(SolveError::NotPrepared),
        };
        Ok(Self {
            hierarchy,
            count,
            components,
        })
    }
}

impl Levels {
    /// The near null space, where none is given.
    pub(crate) fn components(&self) -> Option<&NearNullSpace> {
        self.components.as_ref()
    }
}

impl Primal for Levels {
    fn update(&mut self, values: PrimalMatrix<'_>) -> Result<(), SolveError> {
        let modes = match (values.modes, &self.components) {
            (Some(modes), _) if modes.count() == self.count => modes,
            (None, Some(components)) => components,
            // Other numbers of vectors make other levels.
            _ => {
                *self = Self::new(values)?;
                return Ok(());
            }
        };
        self.hierarchy.update_scaled(
            values.w,
            values.fixed,
            ScaledModes {
                modes,
                scale: values.scale,
            },
        )
    }

    fn operator(&self) -> &dyn LinearOperator {
        self.hierarchy.matrix()
    }

    fn preconditioner(&self) -> &dyn Preconditioner {
        &self.hierarchy
    }

    fn share(&mut self, threads: &Threads) {
        self.hierarchy.share(threads);
    }

    fn levels(&self) -> Option<MultigridReport> {
        Some(self.hierarchy.report())
    }
}

/// By blocks of `B` if `W` has some.
fn try_blocks<const B: usize>(
    w: &CsrMatrix,
    fixed: &[bool],
    blocks: &[usize],
    preconditioner: PrimalPreconditioner,
) -> Result<Option<ByBlocks<B>>, SolveError> {
    if !w.pattern().rows().is_multiple_of(B) {
        return Ok(None);
    }
    let matrix = SymmetricBlockMatrix::<B>::new(w, fixed)?;
    if matrix.padding() > LARGEST_PADDING {
        return Ok(None);
    }
    ByBlocks::new(matrix, w, fixed, blocks, preconditioner).map(Some)
}

impl<const B: usize> ByBlocks<B> {
    fn new(
        matrix: SymmetricBlockMatrix<B>,
        w: &CsrMatrix,
        fixed: &[bool],
        blocks: &[usize],
        preconditioner: PrimalPreconditioner,
    ) -> Result<Self, SolveError> {
        let mut out = Self {
            incomplete: None,
            jacobi: BlockJacobi::default(),
            singles: Vec::new(),
            matrix,
        };
        match preconditioner {
            PrimalPreconditioner::Diagonal => {
                out.singles = (0..=w.pattern().rows()).collect();
                out.jacobi.update(w, fixed, &out.singles)?;
            }
            PrimalPreconditioner::BlockJacobi => out.jacobi.update(w, fixed, blocks)?,
            PrimalPreconditioner::IncompleteCholesky | PrimalPreconditioner::Multilevel => {
                out.incomplete = Some(BlockIncompleteCholesky::new(&out.matrix)?);
            }
        }
        Ok(out)
    }
}

impl<const B: usize> Primal for ByBlocks<B> {
    fn update(&mut self, values: PrimalMatrix<'_>) -> Result<(), SolveError> {
        let PrimalMatrix { w, fixed, blocks, .. } = values;
        self.matrix.update(w, fixed)?;
        match &mut self.incomplete {
            Some(factor) => factor.update(&self.matrix),
            None if self.singles.is_empty() => self.jacobi.update(w, fixed, blocks),
            None => self.jacobi.update(w, fixed, &self.singles),
        }
    }

    fn operator(&self) -> &dyn LinearOperator {
        &self.matrix
    }

    fn preconditioner(&self) -> &dyn Preconditioner {
        match &self.incomplete {
            Some(factor) => factor,
            None => &self.jacobi,
        }
    }

    fn shift(&self) -> f64 {
        self.incomplete
            .as_ref()
            .map_or(0.0, BlockIncompleteCholesky::shift)
    }
}
