//! The statement of the problem.

use super::saddle::Bodies;
use super::{Cone, Delassus, DenseDelassus, Method, SaddleDelassus};
use crate::KktSystem;
use nalgebra::DMatrix;
use std::ops::Range;

/// Why a problem cannot be stated, or not be given to a solver. (A solve that fails is an
/// [`Outcome`](super::Outcome).)
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Sizes do not fit.
    #[error("expected {what} of length {expected}, found {found}")]
    Size {
        /// Which operand.
        what: &'static str,
        /// Wanted.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// NaN or infinity.
    #[error("{what} is not finite at row {row}")]
    NotFinite {
        /// Which operand.
        what: &'static str,
        /// Which row.
        row: usize,
    },
    /// A coefficient of friction that is negative or not finite.
    #[error("block {block} has the coefficient of friction {mu:e}")]
    Friction {
        /// Which block.
        block: usize,
        /// Its coefficient.
        mu: f64,
    },
    /// No impulse lies between the bounds.
    #[error("block {block} has no impulse between its bounds {lower:e} and {upper:e}")]
    Bounds {
        /// Which block.
        block: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The solver is not made for this problem.
    #[error("block {block}: {why}")]
    Unsuitable {
        /// Which block.
        block: usize,
        /// The property that the solver does not take.
        why: &'static str,
    },
    /// The solver does not take the friction of a [`Cone::Pyramid`].
    #[error("{solver:?} does not take the friction pyramid of block {block}")]
    Pyramid {
        /// Which solver.
        solver: Method,
        /// Which block.
        block: usize,
    },
    /// An option out of its range.
    #[error("{what} is {value:e}")]
    Option {
        /// Which option.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// From the solver of bilateral rows.
    #[error(transparent)]
    Bilateral(#[from] crate::SolveError),
    /// From the sparse kernels.
    #[error(transparent)]
    Sparse(#[from] pliant_sparse::SparseError),
}

/// The operator: any, or one whose values may change.
#[derive(Debug)]
enum Operator {
    Any(Box<dyn Delassus>),
    Saddle(Box<SaddleDelassus>),
}

/// `u = A r + b` with one [`Cone`] per block of rows.
///
/// The diagonal blocks of `A` are copied and checked when the problem is made, `O(m)` memory beside
/// `A`.
#[derive(Debug)]
pub struct Problem {
    delassus: Operator,
    b: Vec<f64>,
    cones: Vec<Cone>,
    offsets: Vec<usize>,
    /// The diagonal blocks, one after another, row by row, and where they start.
    diagonal: Vec<f64>,
    squares: Vec<usize>,
    scale: Vec<f64>,
    ones: Vec<f64>,
    sums: Vec<f64>,
}

impl Problem {
    /// A problem with any operator.
    ///
    /// # Errors
    /// [`ProblemError::Size`], [`ProblemError::NotFinite`], [`ProblemError::Friction`],
    /// [`ProblemError::Bounds`].
    pub fn new(
        delassus: impl Delassus + 'static,
        b: Vec<f64>,
        cones: Vec<Cone>,
    ) -> Result<Self, ProblemError> {
        Self::of(Operator::Any(Box::new(delassus)), b, cones)
    }

    /// A problem whose operator can be [updated](Self::update).
    pub(crate) fn saddle(
        delassus: SaddleDelassus,
        b: Vec<f64>,
        cones: Vec<Cone>,
    ) -> Result<Self, ProblemError> {
        Self::of(Operator::Saddle(Box::new(delassus)), b, cones)
    }

    /// Storage for the problem of an operator that can be [updated](Self::update); it has no rows.
    pub(crate) fn empty() -> Self {
        let delassus = Box::new(SaddleDelassus::empty());
        Self::unchecked(Operator::Saddle(delassus), Vec::new(), Vec::new())
    }

    /// States it for other cones, with `b = 0`, once `refill` has made the operator another one. As
    /// [`saddle`](Self::saddle), but allocates only for larger ones than ever before, unless the
    /// operator allocates. After an error it is of no use.
    pub(crate) fn refill(
        &mut self,
        cones: &[Cone],
        refill: impl FnOnce(&mut SaddleDelassus) -> Result<(), ProblemError>,
    ) -> Result<(), ProblemError> {
        if let Operator::Any(_) = self.delassus {
            self.delassus = Operator::Saddle(Box::new(SaddleDelassus::empty()));
        }
        if let Operator::Saddle(saddle) = &mut self.delassus {
            refill(saddle)?;
        }
        self.cones.clear();
        self.cones.extend_from_slice(cones);
        self.b.clear();
        self.b.resize(self.delassus().size(), 0.0);
        self.plan()
    }

    fn unchecked(delassus: Operator, b: Vec<f64>, cones: Vec<Cone>) -> Self {
        Self {
            delassus,
            b,
            cones,
            offsets: Vec::new(),
            diagonal: Vec::new(),
            squares: Vec::new(),
            scale: Vec::new(),
            ones: Vec::new(),
            sums: Vec::new(),
        }
    }

    fn of(delassus: Operator, b: Vec<f64>, cones: Vec<Cone>) -> Result<Self, ProblemError> {
        let mut out = Self::unchecked(delassus, b, cones);
        out.plan()?;
        Ok(out)
    }

    /// Finds all that follows from operator, `b` and cones, and checks them.
    fn plan(&mut self) -> Result<(), ProblemError> {
        for list in [&mut self.offsets, &mut self.squares] {
            list.clear();
            list.push(0);
        }
        for (block, cone) in self.cones.iter().enumerate() {
            cone.check(block)?;
            let rows = cone.rows();
            self.offsets.push(self.offsets[block] + rows);
            self.squares.push(self.squares[block] + rows * rows);
        }
        let m = self.delassus().size();
        let blocks = self.cones.len();
        for (list, length, value) in [
            (&mut self.diagonal, self.squares[blocks], 0.0),
            (&mut self.scale, blocks, 0.0),
            (&mut self.ones, m, 1.0),
            (&mut self.sums, m, 0.0),
        ] {
            list.clear();
            list.resize(length, value);
        }
        for (what, found) in [
            ("b", self.b.len()),
            ("the rows of the cones", self.offsets[blocks]),
        ] {
            if found != m {
                return Err(ProblemError::Size {
                    what,
                    expected: m,
                    found,
                });
            }
        }
        self.survey()?;
        match self.b.iter().position(|x| !x.is_finite()) {
            Some(row) => Err(ProblemError::NotFinite { what: "b", row }),
            None => Ok(()),
        }
    }

    /// Takes the values of a system of the same pattern, if the operator is made of one; false if
    /// it is not. Allocates nothing.
    pub(crate) fn update(&mut self, system: &KktSystem) -> Result<bool, ProblemError> {
        match &mut self.delassus {
            Operator::Saddle(saddle) if saddle.fits(system) => saddle.update(system)?,
            _ => return Ok(false),
        }
        self.survey()?;
        Ok(true)
    }

    /// Writes the order of elimination of the operator's bilateral part.
    pub(crate) fn record(&self, out: &mut crate::order::OrderMemory) {
        match &self.delassus {
            Operator::Saddle(saddle) => saddle.record(out),
            Operator::Any(_) => out.clear(),
        }
    }

    /// Checks the operator, and copies what solvers want of its diagonal.
    fn survey(&mut self) -> Result<(), ProblemError> {
        let delassus: &dyn Delassus = match &self.delassus {
            Operator::Any(any) => any.as_ref(),
            Operator::Saddle(saddle) => saddle.as_ref(),
        };
        // NaN and infinity survive every sum.
        delassus.rows_times(0..self.b.len(), &self.ones, &mut self.sums);
        if let Some(row) = self.sums.iter().position(|x| !x.is_finite()) {
            return Err(ProblemError::NotFinite { what: "A", row });
        }
        for (k, own) in self.offsets.windows(2).enumerate() {
            let d = own[1] - own[0];
            let block = &mut self.diagonal[self.squares[k]..self.squares[k + 1]];
            delassus.block(own[0]..own[1], own[0]..own[1], block);
            self.scale[k] = (0..d).map(|i| block[i * d + i].abs()).sum::<f64>() / d as f64;
        }
        let largest = self.scale.iter().fold(0.0f64, |a, s| a.max(*s));
        let floor = if largest > 0.0 { largest } else { 1.0 };
        for s in &mut self.scale {
            // A block without inertia has no scale of its own.
            if *s <= 1e-14 * floor {
                *s = floor;
            }
        }
        Ok(())
    }

    /// A problem with a dense row-major `A`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn dense(a: &[f64], b: &[f64], cones: &[Cone]) -> Result<Self, ProblemError> {
        Self::new(DenseDelassus::new(a)?, b.to_vec(), cones.to_vec())
    }

    /// Replaces `b`, m numbers in m/s.
    ///
    /// # Errors
    /// [`ProblemError::Size`], [`ProblemError::NotFinite`].
    pub fn set_b(&mut self, b: &[f64]) -> Result<(), ProblemError> {
        if b.len() != self.size() {
            return Err(ProblemError::Size {
                what: "b",
                expected: self.size(),
                found: b.len(),
            });
        }
        if let Some(row) = b.iter().position(|x| !x.is_finite()) {
            return Err(ProblemError::NotFinite { what: "b", row });
        }
        self.b.copy_from_slice(b);
        Ok(())
    }

    /// Replaces the laws by others of as many rows each.
    ///
    /// # Errors
    /// [`ProblemError::Size`], [`ProblemError::Friction`], [`ProblemError::Bounds`]; then nothing
    /// changes.
    pub fn set_cones(&mut self, cones: &[Cone]) -> Result<(), ProblemError> {
        let size = |what, expected, found| ProblemError::Size {
            what,
            expected,
            found,
        };
        if cones.len() != self.blocks() {
            return Err(size("cones", self.blocks(), cones.len()));
        }
        for (k, cone) in cones.iter().enumerate() {
            cone.check(k)?;
            let rows = self.rows(k).len();
            if cone.rows() != rows {
                return Err(size("the rows of a cone", rows, cone.rows()));
            }
        }
        self.cones.copy_from_slice(cones);
        Ok(())
    }

    /// Number of rows m.
    pub fn size(&self) -> usize {
        self.b.len()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.cones.len()
    }

    /// The operator.
    pub fn delassus(&self) -> &dyn Delassus {
        match &self.delassus {
            Operator::Any(any) => any.as_ref(),
            Operator::Saddle(saddle) => saddle.as_ref(),
        }
    }

    /// The operator through bodies, if it is kept so.
    pub(super) fn bodies(&self) -> Option<&Bodies> {
        match &self.delassus {
            Operator::Saddle(saddle) => saddle.bodies(),
            Operator::Any(_) => None,
        }
    }

    /// Velocity without impulses, m/s.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The law of each block.
    pub fn cones(&self) -> &[Cone] {
        &self.cones
    }

    /// Boundaries of the blocks, from 0 to m.
    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Rows of a block.
    pub fn rows(&self, block: usize) -> Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// Places of the numbers of a block in lists of one square matrix per block, row by row.
    pub(crate) fn square(&self, block: usize) -> Range<usize> {
        self.squares[block]..self.squares[block + 1]
    }

    /// Length of such lists.
    pub(crate) fn squares(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal block of `A`, row by row.
    pub fn diagonal_block(&self, block: usize) -> &[f64] {
        &self.diagonal[self.square(block)]
    }

    /// Mean of the diagonal of a block of `A`, in size; the largest one of the problem (1 if there
    /// is none) for a block of zeros.
    pub fn scale(&self, block: usize) -> f64 {
        self.scale[block]
    }

    /// Whether a block has friction.
    pub fn has_friction(&self) -> bool {
        self.cones.iter().any(|c| c.bounds().is_none())
    }

    /// Whether every law is [convex](Cone::is_convex).
    pub fn is_convex(&self) -> bool {
        self.cones.iter().all(Cone::is_convex)
    }

    /// The first block with a [`Cone::Pyramid`].
    pub fn first_pyramid(&self) -> Option<usize> {
        let pyramid = |c: &Cone| matches!(c, Cone::Pyramid { .. });
        self.cones.iter().position(pyramid)
    }

    /// The first block with a [`Cone::Rolling`].
    pub fn first_rolling(&self) -> Option<usize> {
        let rolling = |c: &Cone| matches!(c, Cone::Rolling { .. });
        self.cones.iter().position(rolling)
    }

    /// Refuses pyramids, for solvers that know friction as a circle only.
    ///
    /// # Errors
    /// [`ProblemError::Pyramid`] at the first block that has one.
    pub fn refuse_pyramids(&self, solver: Method) -> Result<(), ProblemError> {
        match self.first_pyramid() {
            Some(block) => Err(ProblemError::Pyramid { solver, block }),
            None => Ok(()),
        }
    }

    /// `u = A r + b`. Cost: one product.
    pub fn velocity_into(&self, r: &[f64], u: &mut [f64]) {
        self.delassus().rows_times(0..self.size(), r, u);
        for (u, b) in u.iter_mut().zip(&self.b) {
            *u += b;
        }
    }

    /// `A` as a dense matrix, m x m.
    pub fn to_dense(&self) -> DMatrix<f64> {
        let m = self.size();
        let mut values = vec![0.0; m * m];
        self.delassus().block(0..m, 0..m, &mut values);
        DMatrix::from_row_slice(m, m, &values)
    }

    /// Checks an impulse to start from.
    ///
    /// # Errors
    /// [`ProblemError::Size`] if it is not as long as the problem, [`ProblemError::NotFinite`].
    pub fn check_start(&self, r: &[f64]) -> Result<(), ProblemError> {
        if r.len() != self.size() {
            return Err(ProblemError::Size {
                what: "r",
                expected: self.size(),
                found: r.len(),
            });
        }
        match r.iter().position(|x| !x.is_finite()) {
            Some(row) => Err(ProblemError::NotFinite { what: "r", row }),
            None => Ok(()),
        }
    }

    /// Projects every block of an impulse to its cone.
    pub fn project(&self, r: &mut [f64]) {
        for (k, cone) in self.cones.iter().enumerate() {
            cone.project(&mut r[self.rows(k)]);
        }
    }
}
