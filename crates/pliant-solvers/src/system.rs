//! The problem: matrices, blocks, fixed variables, right-hand sides.

use crate::{SolveError, Variable, check_size};
use pliant_sparse::{CsrMatrix, Pattern, PatternBuilder};

/// `[W -J^T; -J -R] [x; mu] = [c; b]` with block structure and fixed variables.
///
/// The patterns are made once; values are written in place through the public matrices.
#[derive(Debug, Default)]
pub struct KktSystem {
    /// `W`, n x n, symmetric: lower triangle by rows, diagonal present.
    pub w: CsrMatrix,
    /// `J`, m x n.
    pub j: CsrMatrix,
    /// `R`, m x m, symmetric, block diagonal on the row blocks: lower triangle by rows, diagonal
    /// present.
    pub r: CsrMatrix,
    /// Variables held at `x = 0`.
    pub fixed: Vec<bool>,
    /// Right-hand side of the primal rows, n.
    pub c: Vec<f64>,
    /// Right-hand side of the constraint rows, m: `J x + R mu + b = 0`.
    pub b: Vec<f64>,
    /// Rounding that each `b_i` is known to carry, m: redundant rows do not contradict each other
    /// by less.
    pub b_rounding: Vec<f64>,
    /// Least and largest multiplier of each row, m pairs in the units of `mu` (N s in the velocity
    /// form); infinite for a bilateral row, which is what a new system has. With
    /// `w = J x + R mu + b` a row holds `w_i = 0` inside its bounds, `w_i >= 0` at the lower one
    /// and `w_i <= 0` at the upper one. A [`KktSolver`](crate::KktSolver) says whether it takes finite ones.
    pub bounds: Vec<(f64, f64)>,
    primal_blocks: Vec<usize>,
    row_blocks: Vec<usize>,
}

/// The unknowns of a [`KktSystem`].
#[derive(Debug, Default, PartialEq)]
pub struct Solution {
    /// Primal unknowns, n.
    pub x: Vec<f64>,
    /// Multipliers, m: `W x - J^T mu = c`.
    pub mu: Vec<f64>,
}

// By hand, because the derived `clone_from` allocates anew instead of reusing the buffers.
impl Clone for KktSystem {
    fn clone(&self) -> Self {
        let mut out = Self::default();
        out.clone_from(self);
        out
    }

    fn clone_from(&mut self, source: &Self) {
        let Self {
            w,
            j,
            r,
            fixed,
            c,
            b,
            b_rounding,
            bounds,
            primal_blocks,
            row_blocks,
        } = self;
        w.clone_from(&source.w);
        j.clone_from(&source.j);
        r.clone_from(&source.r);
        fixed.clone_from(&source.fixed);
        c.clone_from(&source.c);
        b.clone_from(&source.b);
        b_rounding.clone_from(&source.b_rounding);
        bounds.clone_from(&source.bounds);
        primal_blocks.clone_from(&source.primal_blocks);
        row_blocks.clone_from(&source.row_blocks);
    }
}

// By hand, because the derived `clone_from` allocates anew instead of reusing the buffers.
impl Clone for Solution {
    fn clone(&self) -> Self {
        Self {
            x: self.x.clone(),
            mu: self.mu.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.x.clone_from(&source.x);
        self.mu.clone_from(&source.mu);
    }
}

impl KktSystem {
    /// A system of zeros on given patterns. `primal_blocks` and `row_blocks` are the block
    /// boundaries: ascending, from 0 to n and to m.
    ///
    /// # Errors
    /// [`SolveError::Size`] if sizes do not fit or a diagonal is missing.
    pub fn new(
        w: Pattern,
        j: Pattern,
        r: Pattern,
        primal_blocks: Vec<usize>,
        row_blocks: Vec<usize>,
    ) -> Result<Self, SolveError> {
        let mut out = Self {
            primal_blocks,
            row_blocks,
            ..Self::default()
        };
        out.refill_matrices([w, j, r])?;
        Ok(out)
    }

    /// Makes it a system of zeros on other patterns, of `W`, `J` and `R`, as [`new`](Self::new)
    /// does. Allocates only for larger ones than ever before. After an error it is of no use.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn refill(
        &mut self,
        patterns: [Pattern; 3],
        primal_blocks: &[usize],
        row_blocks: &[usize],
    ) -> Result<(), SolveError> {
        for (own, blocks) in [
            (&mut self.primal_blocks, primal_blocks),
            (&mut self.row_blocks, row_blocks),
        ] {
            own.clear();
            own.extend_from_slice(blocks);
        }
        self.refill_matrices(patterns)
    }

    fn refill_matrices(&mut self, [w, j, r]: [Pattern; 3]) -> Result<(), SolveError> {
        check_shape(&w, &j, &r, &self.primal_blocks, &self.row_blocks)?;
        let (n, m) = (w.rows(), j.rows());
        self.w.refill(w);
        self.j.refill(j);
        self.r.refill(r);
        self.fixed.clear();
        self.fixed.resize(n, false);
        for (list, length) in [(&mut self.c, n), (&mut self.b, m), (&mut self.b_rounding, m)] {
            list.clear();
            list.resize(length, 0.0);
        }
        self.bounds.clear();
        self.bounds.resize(m, (f64::NEG_INFINITY, f64::INFINITY));
        Ok(())
    }

    /// A small system from dense row-major matrices: `w` is n x n (its lower triangle counts), `j`
    /// is m x n, `r` is the diagonal of `R`. Every variable and row is its own block.
    ///
    /// # Errors
    /// [`SolveError::Size`] if the lengths do not fit.
    pub fn dense(w: &[f64], j: &[f64], r: &[f64]) -> Result<Self, SolveError> {
        let n = w.len().isqrt();
        let m = r.len();
        check_size("W", n * n, w.len())?;
        check_size("J", m * n, j.len())?;
        let mut wp = PatternBuilder::new(n, n);
        wp.insert_block((0, 0), (n, n), true);
        let mut jp = PatternBuilder::new(m, n);
        jp.insert_block((0, 0), (m, n), false);
        let mut rp = PatternBuilder::new(m, m);
        for i in 0..m {
            rp.insert(i, i);
        }
        let mut system = Self::new(
            wp.finish()?,
            jp.finish()?,
            rp.finish()?,
            (0..=n).collect(),
            (0..=m).collect(),
        )?;
        let lower = (0..n).flat_map(|i| (0..=i).map(move |k| w[i * n + k]));
        for (slot, value) in system.w.values_mut().iter_mut().zip(lower) {
            *slot = value;
        }
        system.j.values_mut().copy_from_slice(j);
        system.r.values_mut().copy_from_slice(r);
        Ok(system)
    }

    /// A system from the lower triangle of `W` (n x n, diagonal present), `J` (m x n) and the diagonal
    /// of `R`. Every variable and row is its own block; [`new`](Self::new) takes larger ones.
    ///
    /// ```
    /// use pliant_solvers::KktSystem;
    /// use pliant_sparse::CsrMatrix;
    /// // Two masses of 2 kg and 3 kg that move as one.
    /// let w = CsrMatrix::from_entries(2, 2, &[(0, 0, 2.0), (1, 1, 3.0)])?;
    /// let j = CsrMatrix::from_entries(1, 2, &[(0, 0, -1.0), (0, 1, 1.0)])?;
    /// let system = KktSystem::from_matrices(w, j, &[0.0])?;
    /// assert_eq!((system.n(), system.m(), system.w_diagonal(1)), (2, 1, 3.0));
    /// # Ok::<(), pliant_solvers::SolveError>(())
    /// ```
    ///
    /// # Errors
    /// [`SolveError::Size`] if sizes do not fit or a diagonal is missing.
    pub fn from_matrices(w: CsrMatrix, j: CsrMatrix, r: &[f64]) -> Result<Self, SolveError> {
        let (n, m) = (w.pattern().rows(), r.len());
        let diagonal: Vec<_> = r.iter().enumerate().map(|(i, r)| (i, i, *r)).collect();
        let r = CsrMatrix::from_entries(m, m, &diagonal)?;
        let patterns = [&w, &j, &r].map(|a| a.pattern().clone());
        let mut out = Self::default();
        let (primal, rows): (Vec<_>, Vec<_>) = ((0..=n).collect(), (0..=m).collect());
        out.refill(patterns, &primal, &rows)?;
        (out.w, out.j, out.r) = (w, j, r);
        Ok(out)
    }

    /// Checks the lengths of the public vectors, and that every row has a multiplier it may take.
    ///
    /// # Errors
    /// [`SolveError::Size`], [`SolveError::Bounds`].
    pub fn check(&self) -> Result<(), SolveError> {
        check_size("fixed mask", self.n(), self.fixed.len())?;
        check_size("c", self.n(), self.c.len())?;
        check_size("b", self.m(), self.b.len())?;
        check_size("b_rounding", self.m(), self.b_rounding.len())?;
        check_size("bounds", self.m(), self.bounds.len())?;
        // NaN fails every comparison.
        let fine = |(lower, upper): &(f64, f64)| {
            lower <= upper && *lower < f64::INFINITY && *upper > f64::NEG_INFINITY
        };
        match self.bounds.iter().position(|b| !fine(b)) {
            Some(row) => Err(SolveError::Bounds {
                row,
                lower: self.bounds[row].0,
                upper: self.bounds[row].1,
            }),
            None => Ok(()),
        }
    }

    /// Refuses bounded rows, for solvers that do not take them.
    ///
    /// # Errors
    /// [`SolveError::Bounded`] at the first row with a finite bound.
    pub fn check_bilateral(&self) -> Result<(), SolveError> {
        match self.first_bounded_row() {
            Some(row) => Err(SolveError::Bounded { row }),
            None => Ok(()),
        }
    }

    /// Checks that the right-hand sides are finite, but for the entries of fixed variables, which
    /// do not matter.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] at the first one that is not.
    pub fn check_right_hand_sides(&self) -> Result<(), SolveError> {
        self.check_right_hand_side(&self.c, &self.b)
    }

    /// As [`Self::check_right_hand_sides`], for others.
    pub(crate) fn check_right_hand_side(&self, c: &[f64], b: &[f64]) -> Result<(), SolveError> {
        let mut c = c.iter().zip(&self.fixed);
        if let Some(i) = c.position(|(c, fixed)| !c.is_finite() && !fixed) {
            return Err(SolveError::NotFinite {
                variable: Variable::Dof(i),
            });
        }
        match b.iter().position(|b| !b.is_finite()) {
            Some(i) => Err(SolveError::NotFinite {
                variable: Variable::Row(i),
            }),
            None => Ok(()),
        }
    }

    /// The first row with a finite bound. Cost `O(m)`.
    pub fn first_bounded_row(&self) -> Option<usize> {
        let finite = |(lower, upper): &(f64, f64)| lower.is_finite() || upper.is_finite();
        self.bounds.iter().position(finite)
    }

    /// Number of primal unknowns.
    pub fn n(&self) -> usize {
        self.w.pattern().rows()
    }

    /// Number of constraint rows.
    pub fn m(&self) -> usize {
        self.j.pattern().rows()
    }

    /// Boundaries of the primal blocks, from 0 to n.
    pub fn primal_blocks(&self) -> &[usize] {
        &self.primal_blocks
    }

    /// Boundaries of the row blocks, from 0 to m.
    pub fn row_blocks(&self) -> &[usize] {
        &self.row_blocks
    }

    /// Support of the fixed variables: `W x - J^T mu - c` there, zero elsewhere. Cost `6 nnz`, or `n`
    /// where none is fixed.
    ///
    /// # Panics
    /// If `out` or the solution is not as long as the system.
    pub fn support_into(&self, solution: &Solution, out: &mut [f64]) {
        if !self.fixed.contains(&true) {
            out[..self.n()].fill(0.0);
            return;
        }
        for (o, c) in out.iter_mut().zip(&self.c) {
            *o = -c;
        }
        self.w.symmetric_add_product(1.0, &solution.x, out);
        self.j.add_transpose_product(-1.0, &solution.mu, out);
        for (o, fixed) in out.iter_mut().zip(&self.fixed) {
            if !fixed {
                *o = 0.0;
            }
        }
    }

    /// Diagonal entry `W_ii`.
    pub fn w_diagonal(&self, i: usize) -> f64 {
        // The diagonal is the last entry of a row of a lower triangle.
        self.w.values()[self.w.pattern().row_slots(i).end - 1]
    }

    /// Adds to every `W_ii` of a free variable this share of `sum_k |W_ik|`; with a share above
    /// one `W` is positive definite whatever it was (Gershgorin). Cost: a pass over the entries.
    pub fn shift_diagonal(&mut self, share: f64, sums: &mut Vec<f64>) {
        sums.clear();
        sums.resize(self.n(), 0.0);
        for i in 0..self.n() {
            let values = &self.w.values()[self.w.pattern().row_slots(i)];
            for (k, w) in self.w.pattern().row(i).iter().zip(values) {
                let k = *k as usize;
                if self.fixed[i] || self.fixed[k] {
                    continue;
                }
                sums[i] += w.abs();
                if k != i {
                    sums[k] += w.abs();
                }
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            let diagonal = self.w.pattern().row_slots(i).end - 1;
            self.w.values_mut()[diagonal] += share * sum;
        }
    }

    /// Diagonal entry `R_ii`.
    pub fn r_diagonal(&self, i: usize) -> f64 {
        self.r.values()[self.r.pattern().row_slots(i).end - 1]
    }

    /// `(J |diag(W)|^-1 J^T)_ii` over the free variables: the scale of row `i` of the Delassus
    /// operator.
    pub fn row_scale(&self, i: usize) -> f64 {
        self.row_scale_terms(i).fold(0.0, |sum, term| sum + term)
    }

    /// Whether the compliance `R_ii` of a row is at least `share` of its [scale](Self::row_scale).
    /// Cost: its entries up to where it is known that it is less, of a hard row the first one.
    #[inline]
    pub fn is_soft_row(&self, i: usize, share: f64) -> bool {
        let own = self.r_diagonal(i);
        let mut sum = 0.0;
        for term in self.row_scale_terms(i) {
            sum += term;
            // Sums of what is not negative do not decrease.
            if own < share * sum {
                return false;
            }
        }
        own >= share * sum
    }

    /// The terms of the scale of a row, none of them negative.
    #[inline]
    fn row_scale_terms(&self, i: usize) -> impl Iterator<Item = f64> {
        let free = self.j.row_entries(i).filter(|(k, _)| !self.fixed[*k]);
        free.map(|(k, a)| a * a / self.w_diagonal(k).abs())
    }
}

/// Checks that patterns and boundaries of blocks are those of a system.
fn check_shape(
    w: &Pattern,
    j: &Pattern,
    r: &Pattern,
    primal_blocks: &[usize],
    row_blocks: &[usize],
) -> Result<(), SolveError> {
    let (n, m) = (w.rows(), j.rows());
    check_size("columns of W", n, w.columns())?;
    check_size("columns of J", n, j.columns())?;
    check_size("rows of R", m, r.rows())?;
    check_size("columns of R", m, r.columns())?;
    let diagonal = |a: &Pattern| (0..a.rows()).filter(|i| a.slot(*i, *i).is_some()).count();
    check_size("diagonal of W", n, diagonal(w))?;
    check_size("diagonal of R", m, diagonal(r))?;
    for (what, pattern) in [
        ("entries of W above the diagonal", w),
        ("entries of R above the diagonal", r),
    ] {
        let above = |i: &usize| pattern.row(*i).last().is_some_and(|k| *k as usize > *i);
        check_size(what, 0, (0..pattern.rows()).filter(above).count())?;
    }
    for (what, blocks, size) in [("primal blocks", primal_blocks, n), ("row blocks", row_blocks, m)] {
        let ascending = blocks.windows(2).all(|w| w[0] < w[1]);
        if blocks.first() != Some(&0) || !ascending {
            return Err(SolveError::Size {
                what,
                expected: size,
                found: 0,
            });
        }
        check_size(what, size, blocks[blocks.len() - 1])?;
    }
    let first_of = |i: usize| row_blocks[row_blocks.partition_point(|first| *first <= i) - 1];
    let outside = |i: &usize| r.row(*i).first().is_some_and(|k| (*k as usize) < first_of(*i));
    check_size(
        "entries of R outside its blocks",
        0,
        (0..m).filter(outside).count(),
    )
}

/// The shape of a [`KktSystem`]: everything but its numbers. What is planned for a system holds for
/// all of its shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KktShape {
    w: Pattern,
    j: Pattern,
    r: Pattern,
    fixed: Vec<bool>,
    primal_blocks: Vec<usize>,
    row_blocks: Vec<usize>,
}

impl KktShape {
    /// The shape of a system. Patterns are shared with it.
    pub fn of(system: &KktSystem) -> Self {
        let mut out = Self::default();
        out.take(system);
        out
    }

    /// Makes it the shape of a system. Allocates only for larger ones than ever before.
    pub fn take(&mut self, system: &KktSystem) {
        self.w.clone_from(system.w.pattern());
        self.j.clone_from(system.j.pattern());
        self.r.clone_from(system.r.pattern());
        self.fixed.clone_from(&system.fixed);
        self.primal_blocks.clone_from(&system.primal_blocks);
        self.row_blocks.clone_from(&system.row_blocks);
    }

    /// Whether a system has this shape.
    pub fn fits(&self, system: &KktSystem) -> bool {
        self.fixed == system.fixed
            && self.row_blocks == system.row_blocks
            && self.primal_blocks == system.primal_blocks
            && self.w == *system.w.pattern()
            && self.j == *system.j.pattern()
            && self.r == *system.r.pattern()
    }

    /// Number of primal unknowns.
    pub fn n(&self) -> usize {
        self.w.rows()
    }

    /// Number of constraint rows.
    pub fn m(&self) -> usize {
        self.j.rows()
    }
}
