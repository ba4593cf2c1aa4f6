//! KKT systems by dense Cholesky factors of `W` and of the Schur complement.

use super::factor::{DenseFactor, DenseMethod};
use super::solver::DenseOptions;
use crate::equilibrated::{Equilibrated, Refined, Refinement};
use crate::{KktMemory, KktSolver, KktSystem, Solution, SolveError, SolveReport};
use nalgebra::DMatrixView;
use pliant_dense::semidefinite::MinimumNorm;

/// Share of its diagonal below which a pivot of the Schur complement makes the rows redundant.
const REDUNDANT: f64 = 1e-12;

/// Solves by `W = L L^T` and `(J W^-1 J^T + R) mu = -(b + J W^-1 c)`, both factors dense and
/// without pivoting, of the system equilibrated by powers of two, with iterative refinement. All
/// rows are bilateral, with or without compliance.
///
/// `W` has to be positive definite, not only on the null space of `J`. Where hard rows are
/// redundant, the multipliers are those of minimum norm in the equilibrated system (where the
/// [`DirectSolver`](crate::DirectSolver) takes the units as given). Nothing is allocated for a
/// known pattern, except at the first redundant rows.
///
/// For systems of some hundreds of unknowns. Cost: `(n^3 + m^3) / 3 + 2 n^2 m + n m^2` per
/// `prepare`, `2 n^2 + 2 m^2 + 4 n m` per solve and refinement.
#[derive(Debug, Default)]
pub struct DenseCholesky {
    /// Tolerance and refinements; the [method](DenseOptions::method) does not count.
    pub options: DenseOptions,
    scaled: Option<Equilibrated>,
    factors: Option<Factors>,
    ready: bool,
    refinement: Refinement,
}

#[derive(Debug)]
struct Factors {
    w: DenseFactor,
    schur: DenseFactor,
    /// Dense matrices, row by row: `W`, then the Schur complement, to be factored.
    matrix: Vec<f64>,
    /// `J` without fixed variables, m x n.
    j: Vec<f64>,
    /// `W^-1 J^T`, a vector of n for each row.
    response: Vec<f64>,
    /// Whether the Schur complement is singular; `matrix` then holds both its triangles.
    singular: bool,
    least: MinimumNorm,
    /// Right-hand side of a singular Schur complement.
    rhs: Vec<f64>,
}

impl Factors {
    fn new(n: usize, m: usize) -> Self {
        Self {
            w: DenseFactor::new(DenseMethod::Cholesky, n),
            schur: DenseFactor::new(DenseMethod::Cholesky, m),
            matrix: Vec::new(),
            j: Vec::new(),
            response: Vec::new(),
            singular: false,
            least: MinimumNorm::default(),
            rhs: Vec::new(),
        }
    }

    fn factor(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let (n, m) = (system.n(), system.m());
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for i in 0..n {
            if system.fixed[i] {
                self.matrix[i * n + i] = 1.0;
                continue;
            }
            for (k, w) in system.w.row_entries(i).filter(|(k, _)| !system.fixed[*k]) {
                self.matrix[i * n + k] = w;
            }
        }
        self.w.factor(&self.matrix)?;
        self.j.clear();
        self.j.resize(m * n, 0.0);
        for i in 0..m {
            for (k, a) in system.j.row_entries(i).filter(|(k, _)| !system.fixed[*k]) {
                self.j[i * n + k] = a;
            }
        }
        self.response.clear();
        self.response.extend_from_slice(&self.j);
        if n > 0 {
            self.w.solve_in_place(&mut self.response)?;
        }
        self.matrix.clear();
        self.matrix.resize(m * m, 0.0);
        for i in 0..m {
            for k in 0..=i {
                let (a, b) = (&self.j[i * n..][..n], &self.response[k * n..][..n]);
                self.matrix[i * m + k] = a.iter().zip(b).map(|(a, b)| a * b).sum();
            }
            for (k, r) in system.r.row_entries(i) {
                self.matrix[i * m + k] += r;
            }
        }
        let largest = (0..m).fold(0.0f64, |a, i| a.max(self.matrix[i * m + i]));
        let regular = match self.schur.factor(&self.matrix) {
            Ok(()) => m == 0 || self.schur.smallest_pivot().1 > REDUNDANT * largest,
            Err(SolveError::NotPositiveDefinite { .. } | SolveError::Singular { .. }) => false,
            Err(other) => return Err(other),
        };
        self.singular = !regular;
        if self.singular {
            // The factor reads the lower triangle only.
            for i in 0..m {
                for k in 0..i {
                    self.matrix[k * m + i] = self.matrix[i * m + k];
                }
            }
        }
        Ok(())
    }

    /// `[W -J^T; -J -R] z = rhs` in place.
    fn solve_in_place(&mut self, rhs: &mut [f64], n: usize) -> Result<(), SolveError> {
        let (x, mu) = rhs.split_at_mut(n);
        if n > 0 {
            self.w.solve_in_place(x)?;
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (i, mu) in mu.iter_mut().enumerate() {
            *mu = -(*mu + dot(&self.j[i * n..][..n], x));
        }
        if self.singular {
            self.rhs.clear();
            self.rhs.extend_from_slice(mu);
            let schur = DMatrixView::from_slice(&self.matrix, mu.len(), mu.len());
            self.least.solve(schur, &self.rhs, REDUNDANT, mu);
        } else if !mu.is_empty() {
            self.schur.solve_in_place(mu)?;
        }
        for (i, mu) in mu.iter().enumerate() {
            for (x, a) in x.iter_mut().zip(&self.response[i * n..][..n]) {
                *x += a * mu;
            }
        }
        Ok(())
    }
}

impl DenseCholesky {
    /// A solver with given options.
    pub fn new(options: DenseOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

impl KktSolver for DenseCholesky {
    fn name(&self) -> &'static str {
        "dense L L^T"
    }

    /// Equilibrates and factors.
    ///
    /// # Errors
    /// [`SolveError::NotPositiveDefinite`] if `W` is not, [`SolveError::NegativeCompliance`],
    /// [`SolveError::NotFinite`], [`SolveError::Size`], [`SolveError::Bounds`],
    /// [`SolveError::Bounded`].
    fn prepare(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.ready = false;
        system.check()?;
        system.check_bilateral()?;
        match self.scaled.as_mut().filter(|s| s.fits(system)) {
            Some(scaled) => scaled.update(system)?,
            None => {
                self.scaled = Some(Equilibrated::new(system)?);
                self.factors = Some(Factors::new(system.n(), system.m()));
            }
        }
        let (Some(scaled), Some(factors)) = (&self.scaled, &mut self.factors) else {
            return Err(SolveError::NotPrepared);
        };
        factors.factor(&scaled.system).map_err(|e| match e {
            SolveError::NotPositiveDefinite { dof, .. } => SolveError::NotPositiveDefinite {
                dof,
                diagonal: system.w_diagonal(dof),
            },
            other => other,
        })?;
        self.ready = true;
        Ok(())
    }

    fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        system.check()?;
        system.check_bilateral()?;
        system.check_right_hand_sides()?;
        let (Some(scaled), Some(factors)) = (&self.scaled, &mut self.factors) else {
            return Err(SolveError::NotPrepared);
        };
        if !self.ready || !scaled.fits(system) || scaled.system.fixed != system.fixed {
            return Err(SolveError::NotPrepared);
        }
        let free = system.fixed.iter().filter(|f| !**f).count();
        let refined = Refined {
            system,
            scaled,
            max_refinements: self.options.max_refinements,
            tolerance: self.options.tolerance,
            inertia: (free, system.m()),
        };
        self.refinement
            .run(refined, solution, |rhs| factors.solve_in_place(rhs, system.n()))
    }

    /// Dense factors have no order to remember.
    fn impose(&mut self, _: &KktMemory) {}
}
