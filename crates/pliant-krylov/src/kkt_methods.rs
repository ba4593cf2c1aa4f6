//! Preparation of the methods of [`KktKrylov`](crate::KktKrylov), and the correction of each.

use crate::condensed::Condensed;
use crate::constraint::{ApproximateSchur, Approximation, ConstraintPreconditioner, DiagonalPreconditioner};
use crate::factor::SymmetricFactor;
use crate::kkt::{KktKrylovOptions, KktMethod};
use crate::operator::{add_free_product, add_free_transpose_product, schur_product};
use crate::primal::{Primal, PrimalMatrix, PrimalPreconditioner, primal};
use crate::projected::Projected;
use crate::saddle::Saddle;
use crate::{
    ConjugateGradient, FnOperator, GeneralMinimalResidual, KktOperator, KrylovOptions, KrylovReport,
    KrylovSolver, MinimalResidual, MultigridReport, NearNullSpace, Preconditioner, Scratch,
};
use pliant_solvers::Equilibrated;
use pliant_solvers::{KktSystem, SolveError};
use pliant_sparse::{CsrMatrix, Threads};

/// Data that a method needs of one equilibrated system.
#[derive(Debug)]
pub(crate) struct Prepared {
    options: KktKrylovOptions,
    pub(crate) scaled: Equilibrated,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    /// `S_D`, and a factor of `W` for the Schur complement.
    Schur {
        schur: Box<ApproximateSchur>,
        w: Option<Box<SymmetricFactor>>,
    },
    /// Levels of `W` beside a Schur complement.
    Saddle(Box<Saddle>),
    /// `W`, with compliant rows condensed into it if there are rows.
    Primal {
        condensed: Option<Box<Condensed>>,
        primal: Box<dyn Primal>,
    },
}

impl Prepared {
    pub(crate) fn new(
        system: &KktSystem,
        options: &KktKrylovOptions,
        modes: Option<&NearNullSpace>,
    ) -> Result<Self, SolveError> {
        let scaled = Equilibrated::new(system)?;
        let own = &scaled.system;
        let parts = match options.method {
            KktMethod::PrimalPcg => {
                let rows = own.m() > 0;
                let condensed = rows.then(|| Condensed::new(own).map(Box::new)).transpose()?;
                let w = condensed.as_ref().map_or(&own.w, |c| &c.matrix);
                let primal = primal(primal_matrix(w, &scaled, modes), options.preconditioner)?;
                Parts::Primal { condensed, primal }
            }
            method if options.approximation == Approximation::Multilevel => {
                if method != KktMethod::Minres {
                    return Err(SolveError::Unsupported {
                        what: "a multilevel approximation of W is for MINRES alone",
                    });
                }
                Parts::Saddle(Box::new(Saddle::new(&scaled, modes)?))
            }
            method => {
                let schur = Box::new(ApproximateSchur::new(own, options.approximation)?);
                let w = (method == KktMethod::SchurPcg)
                    .then(|| SymmetricFactor::new(&own.w, &own.fixed, f64::EPSILON).map(Box::new));
                Parts::Schur {
                    schur,
                    w: w.transpose()?,
                }
            }
        };
        let out = Self {
            options: *options,
            scaled,
            parts,
        };
        out.check_definite(system)?;
        Ok(out)
    }

    /// Lets threads share the work of the coming updates.
    pub(crate) fn share(&mut self, threads: &Threads) {
        match &mut self.parts {
            Parts::Schur { .. } => {}
            Parts::Saddle(saddle) => saddle.share(threads),
            Parts::Primal { primal, .. } => primal.share(threads),
        }
    }

    /// Whether [`Self::update`] will do for this system.
    pub(crate) fn fits(&self, system: &KktSystem, options: &KktKrylovOptions) -> bool {
        let same = self.options.method == options.method
            && self.options.approximation == options.approximation
            && self.options.preconditioner == options.preconditioner;
        same && self.scaled.fits(system)
    }

    pub(crate) fn method(&self) -> KktMethod {
        self.options.method
    }

    /// Takes new values on the same pattern.
    pub(crate) fn update(
        &mut self,
        system: &KktSystem,
        modes: Option<&NearNullSpace>,
    ) -> Result<(), SolveError> {
        self.scaled.update(system)?;
        let own = &self.scaled.system;
        match &mut self.parts {
            Parts::Schur { schur, w } => {
                schur.update(own)?;
                if let Some(w) = w {
                    w.update(&own.w, &own.fixed)?;
                }
            }
            Parts::Saddle(saddle) => saddle.update(&self.scaled, modes)?,
            Parts::Primal { condensed, primal } => {
                if let Some(condensed) = condensed {
                    condensed.update(own)?;
                }
                let w = condensed.as_ref().map_or(&own.w, |c| &c.matrix);
                primal.update(primal_matrix(w, &self.scaled, modes))?;
            }
        }
        self.check_definite(system)
    }

    /// An error if the factor of `W` is not that of a positive definite matrix.
    fn check_definite(&self, system: &KktSystem) -> Result<(), SolveError> {
        match &self.parts {
            Parts::Schur { w: Some(w), .. } => match w.first_odd() {
                Some(dof) => Err(SolveError::NotPositiveDefinite {
                    dof,
                    diagonal: system.w_diagonal(dof),
                }),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether conjugate gradients have a cycle of all levels as preconditioner.
    pub(crate) fn is_multilevel_primal(&self) -> bool {
        self.options.method == KktMethod::PrimalPcg
            && self.options.preconditioner == PrimalPreconditioner::Multilevel
    }

    /// The levels of a multilevel preconditioner.
    pub(crate) fn levels(&self) -> Option<MultigridReport> {
        match &self.parts {
            Parts::Primal { primal, .. } => primal.levels(),
            Parts::Saddle(saddle) => saddle.report(),
            Parts::Schur { .. } => None,
        }
    }

    /// Share of the diagonal that the incomplete factor had to add.
    pub(crate) fn shift(&self) -> f64 {
        match &self.parts {
            Parts::Primal { primal, .. } => primal.shift(),
            Parts::Schur { .. } | Parts::Saddle(_) => 0.0,
        }
    }
}

/// `W` of an equilibrated system, or what rows were condensed into.
fn primal_matrix<'a>(
    w: &'a CsrMatrix,
    scaled: &'a Equilibrated,
    modes: Option<&'a NearNullSpace>,
) -> PrimalMatrix<'a> {
    PrimalMatrix {
        w,
        fixed: &scaled.system.fixed,
        blocks: scaled.system.primal_blocks(),
        scale: &scaled.primal,
        modes,
    }
}

/// The iterations, and room for them.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    minres: MinimalResidual,
    cg: ConjugateGradient,
    gmres: GeneralMinimalResidual,
    scratch: Scratch,
    projected: Projected,
}

impl Methods {
    /// `|r|` of every iteration of the last correction.
    pub(crate) fn history(&self, method: KktMethod) -> &[f64] {
        match method {
            KktMethod::Minres => self.minres.history(),
            KktMethod::ConstraintGmres => self.gmres.history(),
            KktMethod::SchurPcg | KktMethod::PrimalPcg => self.cg.history(),
            KktMethod::ProjectedPcg => &self.projected.history,
        }
    }

    /// `K z = rhs` for the equilibrated system, from `z = 0`; `rhs` is overwritten.
    pub(crate) fn correct(
        &mut self,
        prepared: &Prepared,
        inner: KrylovOptions,
        rhs: &mut [f64],
        z: &mut [f64],
    ) -> Result<KrylovReport, SolveError> {
        z.fill(0.0);
        let system = &prepared.scaled.system;
        let n = system.n();
        match (&prepared.parts, prepared.options.method) {
            (Parts::Primal { condensed, primal }, _) => {
                let (c, b) = rhs.split_at_mut(n);
                let (x, mu) = z.split_at_mut(n);
                *self.cg.options_mut() = inner;
                if let Some(condensed) = condensed {
                    condensed.reduce(system, b, c);
                }
                let report = self
                    .cg
                    .solve_with(primal.operator(), primal.preconditioner(), c, x)?;
                if let Some(condensed) = condensed {
                    condensed.expand(system, x, b, mu);
                }
                Ok(report)
            }
            (Parts::Schur { schur, w: Some(w) }, _) => {
                let (c, b) = rhs.split_at_mut(n);
                let (x, mu) = z.split_at_mut(n);
                let a = FnOperator::new(b.len(), |v: &[f64], y: &mut [f64]| {
                    schur_product(system, w.as_ref(), &self.scratch, v, y);
                });
                let m = FnOperator::new(b.len(), |r: &[f64], z: &mut [f64]| schur.solve_definite(r, z));
                // (J W^-1 J^T + R) mu = -(b + J W^-1 c) with b the right-hand side of -J x - R mu =
                // b.
                w.apply(c, x);
                add_free_product(system, 1.0, x, b);
                b.iter_mut().for_each(|v| *v = -*v);
                *self.cg.options_mut() = inner;
                let report = self.cg.solve_with(&a, &m, b, mu)?;
                add_free_transpose_product(system, 1.0, mu, c);
                w.apply(c, x);
                Ok(report)
            }
            (Parts::Saddle(saddle), _) => {
                *self.minres.options_mut() = inner;
                self.minres
                    .solve_with(&KktOperator::new(system)?, saddle.as_ref(), rhs, z)
            }
            (Parts::Schur { schur, .. }, KktMethod::ConstraintGmres) => {
                *self.gmres.options_mut() = inner;
                let m = ConstraintPreconditioner::new(system, schur)?;
                self.gmres.solve_with(&KktOperator::new(system)?, &m, rhs, z)
            }
            (Parts::Schur { schur, .. }, KktMethod::ProjectedPcg) => {
                let m = ConstraintPreconditioner::new(system, schur)?;
                self.projected.solve(system, &m, &inner, rhs, z)
            }
            (Parts::Schur { schur, .. }, _) => {
                *self.minres.options_mut() = inner;
                let m = DiagonalPreconditioner::new(schur);
                self.minres.solve_with(&KktOperator::new(system)?, &m, rhs, z)
            }
        }
    }
}
