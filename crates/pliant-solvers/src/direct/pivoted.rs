//! KKT systems by the sparse factor that chooses its pivots.

use crate::bounds::BoundsReport;
use crate::equilibrated::Scaled;
use crate::residual::{ResidualScratch, evaluate};
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};
use pliant_sparse::{CsrMatrix, PatternBuilder, PivotedFactor, SparseError};

/// Options of the [`PivotedSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotedOptions {
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Steps of iterative refinement at most.
    pub max_refinements: usize,
    /// Whether `W` may be indefinite on the null space of `J`. The answer is then a stationary point of the energy, no minimum:
    /// [`SolveReport::inertia`] tells.
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

/// Factors `[W -J^T; -J -R]` as a sparse matrix with pivots of one and two, chosen for stability in every front
/// ([`PivotedFactor`]), and solves with iterative refinement. All rows are bilateral and independent: redundant hard rows are
/// [`SolveError::Singular`], for which there is the [`DirectSolver`](crate::DirectSolver).
///
/// For systems on which factors without pivoting break down, and for those that are no minimum: slower than the direct solver by a factor of ten and
/// more. Everything is computed anew and allocated by every `prepare`.
#[derive(Debug, Default)]
pub struct PivotedSolver {
    /// Options; `indefinite` counts from the next `prepare` on.
    pub options: PivotedOptions,
    factor: Option<PivotedFactor>,
    scaled: Option<Scaled>,
    rhs: Vec<f64>,
    none: Vec<bool>,
    residual: ResidualScratch,
    best: Solution,
}

/// The lower triangle of the whole matrix, with unit rows for fixed variables.
fn assembled(system: &KktSystem) -> Result<CsrMatrix, SolveError> {
    let (n, size) = (system.n(), system.n() + system.m());
    let parts = [
        (&system.w, 0, 0, 1.0),
        (&system.j, n, 0, -1.0),
        (&system.r, n, n, -1.0),
    ];
    let fixed = |v: usize| system.fixed.get(v).copied().unwrap_or(false);
    let each = |visit: &mut dyn FnMut(usize, usize, f64)| {
        for (part, row0, column0, sign) in parts {
            for i in 0..part.pattern().rows() {
                for (slot, k) in part.pattern().row_slots(i).zip(part.pattern().row(i)) {
                    let (i, k) = (row0 + i, column0 + *k as usize);
                    if !fixed(i) && !fixed(k) {
                        visit(i, k, sign * part.values()[slot]);
                    }
                }
            }
        }
        for i in (0..n).filter(|i| fixed(*i)) {
            visit(i, i, 1.0);
        }
    };
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
    /// [`SolveError::NotPositiveDefinite`] if `W` has a zero on its diagonal or, unless the options allow it, is not positive definite on the
    /// null space of `J`; [`SolveError::Singular`] if rows are redundant; [`SolveError::NegativeCompliance`],
    /// [`SolveError::NotFinite`], [`SolveError::Size`], [`SolveError::Bounds`], [`SolveError::Bounded`].
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.factor = None;
        system.check()?;
        system.check_bilateral()?;
        let n = system.n();
        match self.scaled.as_mut().filter(|s| s.fits(system)) {
            Some(scaled) => scaled.update(system)?,
            None => self.scaled = Some(Scaled::new(system)?),
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
        if let Some(index) = factor.first_zero() {
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
    /// [`SolveError::NotPrepared`] without a matching `prepare`; [`SolveError::NotFinite`] if a right-hand side or
    /// the answer is not finite; [`SolveError::Bounded`]. A large residual is a [`Status`], not an error.
    pub fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        system.check_right_hand_sides()?;
        let (n, m) = (system.n(), system.m());
        let (Some(scaled), Some(factor)) = (&self.scaled, &self.factor) else {
            return Err(SolveError::NotPrepared);
        };
        if !scaled.fits(system) || scaled.system.fixed != system.fixed {
            return Err(SolveError::NotPrepared);
        }
        for (v, size) in [(&mut solution.x, n), (&mut solution.mu, m)] {
            v.clear();
            v.resize(size, 0.0);
        }
        self.none.clear();
        self.none.resize(m, false);
        self.residual.start(&system.c, &system.b);
        let mut measure = KktResidual::default();
        let mut best = f64::INFINITY;
        let mut refinements = 0;
        for pass in 0..=self.options.max_refinements {
            self.rhs.clear();
            let primal = self.residual.primal.iter().zip(&scaled.primal).zip(&system.fixed);
            let rows = self.residual.row.iter().zip(&scaled.row);
            self.rhs
                .extend(primal.map(|((r, s), fixed)| if *fixed { 0.0 } else { r * s }));
            self.rhs.extend(rows.map(|(r, s)| r * s));
            factor.solve_in_place(&mut self.rhs);
            let (x, mu) = self.rhs.split_at(n);
            for (target, d, scale) in [
                (&mut solution.x, x, &scaled.primal),
                (&mut solution.mu, mu, &scaled.row),
            ] {
                for ((t, d), s) in target.iter_mut().zip(d).zip(scale) {
                    *t += s * d;
                }
            }
            measure = evaluate(system, solution, &system.b, &self.none, &[], &mut self.residual);
            refinements = pass;
            if measure.relative >= best {
                std::mem::swap(solution, &mut self.best);
                measure = evaluate(system, solution, &system.b, &self.none, &[], &mut self.residual);
                break;
            }
            best = measure.relative;
            if best < 1e-14 {
                break;
            }
            self.best.clone_from(solution);
        }
        if !measure.is_finite() {
            let bad = |v: &[f64]| v.iter().position(|x| !x.is_finite());
            let row = || Variable::Row(bad(&solution.mu).unwrap_or(0));
            let variable = bad(&solution.x).map_or_else(row, Variable::Dof);
            return Err(SolveError::NotFinite { variable });
        }
        let fixed = system.fixed.iter().filter(|f| **f).count();
        let inertia = factor.inertia();
        Ok(SolveReport {
            status: if measure.relative <= self.options.tolerance {
                Status::Converged
            } else {
                Status::Stagnated
            },
            residual: measure,
            refinements,
            redundant_rows: 0,
            inertia: (inertia.positive - fixed, inertia.negative),
            bounds: BoundsReport {
                natural: measure.row,
                ..BoundsReport::default()
            },
        })
    }
}
