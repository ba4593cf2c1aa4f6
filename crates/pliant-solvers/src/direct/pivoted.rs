//! KKT systems by the sparse factor that chooses its pivots.

use crate::equilibrated::{Equilibrated, Refined, Refinement};
use crate::{KktSystem, Solution, SolveError, SolveReport, Variable};
use pliant_sparse::{CsrMatrix, PatternBuilder, PivotedFactor, SparseError};

/// Options of the [`PivotedSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotedOptions {
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Steps of iterative refinement at most.
    pub max_refinements: usize,
    /// Whether `W` may be indefinite on the null space of `J`. The answer is then a stationary
    /// point of the energy, no minimum: [`SolveReport::inertia`] tells.
    pub indefinite: bool,
}

impl Default for PivotedOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            max_refinements: 2,
            indefinite: false,
        }
    }
}

/// Factors `[W -J^T; -J -R]` as a sparse matrix with pivots of one and two, chosen for stability in
/// every front ([`PivotedFactor`]), and solves with iterative refinement. All rows are bilateral
/// and independent: redundant hard rows are [`SolveError::Singular`], for which there is the
/// [`DirectSolver`](crate::DirectSolver).
///
/// For systems on which factors without pivoting break down, and for those that are no minimum:
/// slower than the direct solver by a factor of ten and more. Everything is computed anew and
/// allocated by every `prepare`.
#[derive(Debug, Default)]
pub struct PivotedSolver {
    /// Options; `indefinite` counts from the next `prepare` on.
    pub options: PivotedOptions,
    factor: Option<PivotedFactor>,
    scaled: Option<Equilibrated>,
    refinement: Refinement,
}

/// The lower triangle of the whole matrix, with unit rows for fixed variables.
pub(super) fn assembled(system: &KktSystem) -> Result<CsrMatrix, SolveError> {
    let fixed = |v: usize| system.fixed.get(v).copied().unwrap_or(false);
    let each = |visit: &mut dyn FnMut(usize, usize, f64)| {
        for_each_entry(system, |i, k, value| {
            if !fixed(i) && !fixed(k) {
                visit(i, k, value);
            }
        });
        for i in (0..system.n()).filter(|i| fixed(*i)) {
            visit(i, i, 1.0);
        }
    };
    Ok(lower_triangle(system.n() + system.m(), each)?)
}

/// Calls with row, column and value of every entry of the lower triangle of `[W -J^T; -J -R]`,
/// those of fixed variables too.
pub(super) fn for_each_entry(system: &KktSystem, mut visit: impl FnMut(usize, usize, f64)) {
    let n = system.n();
    let parts = [
        (&system.w, 0, 0, 1.0),
        (&system.j, n, 0, -1.0),
        (&system.r, n, n, -1.0),
    ];
    for (part, row0, column0, sign) in parts {
        for i in 0..part.pattern().rows() {
            let values = &part.values()[part.pattern().row_slots(i)];
            for (k, value) in part.pattern().row(i).iter().zip(values) {
                visit(row0 + i, column0 + *k as usize, sign * value);
            }
        }
    }
}

/// A lower triangle of so many rows, of entries `(i, k, value)`, `i >= k`, each once.
pub(super) fn lower_triangle(
    size: usize,
    each: impl Fn(&mut dyn FnMut(usize, usize, f64)),
) -> Result<CsrMatrix, SparseError> {
    let mut pattern = PatternBuilder::new(size, size);
    each(&mut |i, k, _| pattern.insert(i, k));
    let mut out = pattern.finish()?.into_matrix();
    each(&mut |i, k, value| {
        if let Some(slot) = out.pattern().slot(i, k) {
            out.values_mut()[slot] = value;
        }
    });
    Ok(out)
}

impl PivotedSolver {
    /// A solver with given options.
    pub fn new(options: PivotedOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Analyses and factors.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] if `W` has a zero on its diagonal or, unless the options
    /// allow it, is not positive definite on the null space of `J`; [`SolveError::Singular`] if
    /// rows are redundant; [`SolveError::NegativeCompliance`], [`SolveError::NotFinite`],
    /// [`SolveError::Size`], [`SolveError::Bounds`], [`SolveError::Bounded`].
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.factor = None;
        system.check()?;
        system.check_bilateral()?;
        let n = system.n();
        match self.scaled.as_mut().filter(|s| s.fits(system)) {
            Some(scaled) => scaled.update(system)?,
            None => self.scaled = Some(Equilibrated::new(system)?),
        }
        let scaled = self.scaled.as_ref().ok_or(SolveError::NotPrepared)?;
        let variable = |index: usize| match index.checked_sub(n) {
            Some(row) => Variable::Row(row),
            None => Variable::Dof(index),
        };
        let factor = PivotedFactor::new(&assembled(&scaled.system)?, PivotedFactor::THRESHOLD);
        let factor = factor.map_err(|e| match e {
            SparseError::Pivot { index } => SolveError::NotFinite {
                variable: variable(index),
            },
            other => other.into(),
        })?;
        let inertia = factor.inertia();
        if let Some(index) = factor.zeros().next() {
            return Err(SolveError::Singular { index, pivot: 0.0 });
        }
        if inertia.positive != n && !self.options.indefinite {
            let free = (0..n).filter(|i| !system.fixed[*i]);
            let least = free.min_by(|a, b| system.w_diagonal(*a).total_cmp(&system.w_diagonal(*b)));
            let dof = least.unwrap_or(0);
            let diagonal = least.map_or(0.0, |dof| system.w_diagonal(dof));
            return Err(SolveError::NotPositiveDefinite { dof, diagonal });
        }
        self.factor = Some(factor);
        Ok(())
    }

    /// Solves for the right-hand sides `system.c` and `system.b`.
    ///
    /// # Errors
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if a
    /// right-hand side or the answer is not finite; [`SolveError::Bounded`]. A large residual is a
    /// [`Status`](crate::Status), not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        system.check_right_hand_sides()?;
        let (Some(scaled), Some(factor)) = (&self.scaled, &self.factor) else {
            return Err(SolveError::NotPrepared);
        };
        if !scaled.fits(system) || scaled.system.fixed != system.fixed {
            return Err(SolveError::NotPrepared);
        }
        let fixed = system.fixed.iter().filter(|f| **f).count();
        let inertia = (factor.inertia().positive - fixed, factor.inertia().negative);
        let refined = Refined {
            system,
            scaled,
            max_refinements: self.options.max_refinements,
            tolerance: self.options.tolerance,
            inertia,
        };
        self.refinement.run(refined, solution, |rhs| {
            factor.solve_in_place(rhs);
            Ok(())
        })
    }
}
