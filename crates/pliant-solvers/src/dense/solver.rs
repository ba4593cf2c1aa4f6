//! KKT systems by a dense factor of the whole matrix.

use super::factor::{DenseFactor, DenseMethod, Inertia};
use crate::equilibrated::{Equilibrated, Refined, Refinement};
use crate::{KktSystem, Solution, SolveError, SolveReport};

/// Options of the [`DenseSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseOptions {
    /// The factor; by default the pivoted one. [`DenseMethod::Cholesky`] is for systems without
    /// rows.
    pub method: DenseMethod,
    /// Largest relative residual (componentwise backward error) that counts as converged.
    pub tolerance: f64,
    /// Steps of iterative refinement at most.
    pub max_refinements: usize,
}

impl Default for DenseOptions {
    fn default() -> Self {
        Self {
            method: DenseMethod::default(),
            tolerance: 1e-9,
            max_refinements: 2,
        }
    }
}

/// Factors `[W -J^T; -J -R]` as a dense matrix, equilibrated by powers of two, and solves with
/// iterative refinement. All rows are bilateral and independent: redundant hard rows are
/// [`SolveError::Singular`], for which there is the [`DirectSolver`](crate::DirectSolver).
///
/// For small systems, where it is faster than anything sparse, and for matrices on which factors
/// without pivoting lose digits. Cost: `(n + m)^3 / 3` per `prepare`, `2 (n + m)^2` per solve and
/// refinement.
#[derive(Debug, Default)]
pub struct DenseSolver {
    /// Options; a change of the method counts from the next `prepare` on.
    pub options: DenseOptions,
    scaled: Option<Equilibrated>,
    factor: Option<DenseFactor>,
    ready: bool,
    matrix: Vec<f64>,
    refinement: Refinement,
}

impl DenseSolver {
    /// A solver with given options.
    pub fn new(options: DenseOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Fills and factors. Allocates only if the pattern changed.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] if `W` is not, on the null space of `J`;
    /// [`SolveError::Singular`] if rows are redundant, or at a zero pivot;
    /// [`SolveError::NegativeCompliance`], [`SolveError::NotFinite`], [`SolveError::Size`],
    /// [`SolveError::Bounds`], [`SolveError::Bounded`]; [`SolveError::Parameter`] for a
    /// [`DenseMethod::Cholesky`] with rows.
    pub fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        system.check()?;
        system.check_bilateral()?;
        if self.options.method == DenseMethod::Cholesky && system.m() > 0 {
            return Err(SolveError::Parameter {
                what: "rows of a system for a Cholesky factor",
                value: system.m() as f64,
            });
        }
        match self.scaled.as_mut().filter(|s| s.fits(system)) {
            Some(scaled) => scaled.update(system)?,
            None => self.scaled = Some(Equilibrated::new(system)?),
        }
        let Some(scaled) = &self.scaled else {
            return Err(SolveError::NotPrepared);
        };
        let (n, size) = (system.n(), system.n() + system.m());
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        let own = &scaled.system;
        for (part, row, column, sign) in [(&own.w, 0, 0, 1.0), (&own.j, n, 0, -1.0), (&own.r, n, n, -1.0)] {
            for i in 0..part.pattern().rows() {
                for (slot, k) in part.pattern().row_slots(i).zip(part.pattern().row(i)) {
                    let (i, k) = (row + i, column + *k as usize);
                    let fixed = |v: usize| v < n && own.fixed[v];
                    if !fixed(i) && !fixed(k) {
                        self.matrix[i * size + k] = sign * part.values()[slot];
                    }
                }
            }
        }
        for i in (0..n).filter(|i| own.fixed[*i]) {
            self.matrix[i * size + i] = 1.0;
        }
        let method = self.options.method;
        let known = self.factor.take();
        let known = known.filter(|f| f.order() == size && f.method() == method);
        let factor = self
            .factor
            .insert(known.unwrap_or_else(|| DenseFactor::new(method, size)));
        factor.factor(&self.matrix).map_err(|e| match e {
            SolveError::NotPositiveDefinite { dof, .. } => SolveError::NotPositiveDefinite {
                dof,
                diagonal: system.w_diagonal(dof),
            },
            other => other,
        })?;
        let (index, pivot) = factor.smallest_pivot();
        if factor.inertia().zero > 0 {
            return Err(SolveError::Singular { index, pivot });
        }
        if factor.inertia().positive != n {
            let dof = (0..n)
                .min_by(|a, b| system.w_diagonal(*a).total_cmp(&system.w_diagonal(*b)))
                .unwrap_or(0);
            let diagonal = if n > 0 { system.w_diagonal(dof) } else { 0.0 };
            return Err(SolveError::NotPositiveDefinite { dof, diagonal });
        }
        self.ready = true;
        Ok(())
    }

    /// Inertia of the last matrix: n and m, fixed variables with the former.
    pub fn inertia(&self) -> Inertia {
        self.factor.as_ref().map(DenseFactor::inertia).unwrap_or_default()
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
        let (Some(scaled), Some(factor)) = (&self.scaled, &mut self.factor) else {
            return Err(SolveError::NotPrepared);
        };
        if !self.ready || !scaled.fits(system) || scaled.system.fixed != system.fixed {
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
        self.refinement
            .run(refined, solution, |rhs| factor.solve_in_place(rhs))
    }
}
