//! A KKT system equilibrated by powers of two: unit diagonals, the same units everywhere.

use crate::bounds::BoundsReport;
use crate::krylov::power_of_two_below;
use crate::residual::{ResidualScratch, evaluate, row_of};
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};

/// `W' = S W S`, `J' = T J S`, `R' = T R T` with diagonal `S`, `T`, without rounding.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// With unit diagonal of `W`, up to a factor of two in either direction; right-hand sides are zero.
    pub(crate) system: KktSystem,
    pub(crate) primal: Vec<f64>,
    pub(crate) row: Vec<f64>,
}

impl Scaled {
    pub(crate) fn new(system: &KktSystem) -> Result<Self, SolveError> {
        let mut out = Self {
            system: system.clone(),
            primal: vec![1.0; system.n()],
            row: vec![1.0; system.m()],
        };
        out.system.c.fill(0.0);
        out.system.b.fill(0.0);
        out.update(system)?;
        Ok(out)
    }

    pub(crate) fn fits(&self, system: &KktSystem) -> bool {
        let own = &self.system;
        own.w.pattern() == system.w.pattern()
            && own.j.pattern() == system.j.pattern()
            && own.r.pattern() == system.r.pattern()
            && own.primal_blocks() == system.primal_blocks()
    }

    /// Takes new values on the same pattern.
    pub(crate) fn update(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.system.fixed.copy_from_slice(&system.fixed);
        for i in 0..system.n() {
            let finite = row_of(&system.w, i).all(|(_, v)| v.is_finite());
            if !finite && !system.fixed[i] {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i),
                });
            }
            let diagonal = system.w_diagonal(i);
            if diagonal == 0.0 && !system.fixed[i] {
                return Err(SolveError::NotPositiveDefinite { dof: i, diagonal });
            }
            self.primal[i] = if system.fixed[i] {
                1.0
            } else {
                power_of_two_below(1.0 / diagonal.abs().sqrt())
            };
        }
        for i in 0..system.m() {
            let mut terms = row_of(&system.j, i).chain(row_of(&system.r, i));
            if !terms.all(|(_, v)| v.is_finite()) {
                return Err(SolveError::NotFinite {
                    variable: Variable::Row(i),
                });
            }
            let value = system.r_diagonal(i);
            if value < 0.0 {
                return Err(SolveError::NegativeCompliance { row: i, value });
            }
            let size = value + system.row_scale(i);
            self.row[i] = if size > 0.0 && size.is_finite() {
                power_of_two_below(1.0 / size.sqrt())
            } else {
                1.0
            };
        }
        let scaled = &mut self.system;
        for (target, source, left, right) in [
            (&mut scaled.w, &system.w, &self.primal, &self.primal),
            (&mut scaled.j, &system.j, &self.row, &self.primal),
            (&mut scaled.r, &system.r, &self.row, &self.row),
        ] {
            for i in 0..source.pattern().rows() {
                for (slot, k) in source.pattern().row_slots(i).zip(source.pattern().row(i)) {
                    target.values_mut()[slot] = left[i] * source.values()[slot] * right[*k as usize];
                }
            }
        }
        Ok(())
    }
}

/// Iterative refinement with a factor of the whole scaled matrix, and its scratch.
#[derive(Debug, Default)]
pub(crate) struct Refinement {
    rhs: Vec<f64>,
    none: Vec<bool>,
    residual: ResidualScratch,
    best: Solution,
}

impl Refinement {
    /// Solves from zero for the right-hand sides of the system, with at most so many refinements; `apply` solves with the factor of
    /// the scaled matrix in place, `inertia` counts its pivots (those of variables, fixed ones not counted, and of rows). Keeps the best answer.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] if the answer is not finite, and those of `apply`.
    pub(crate) fn run(
        &mut self,
        (system, scaled): (&KktSystem, &Scaled),
        (max_refinements, tolerance): (usize, f64),
        inertia: (usize, usize),
        solution: &mut Solution,
        mut apply: impl FnMut(&mut [f64]) -> Result<(), SolveError>,
    ) -> Result<SolveReport, SolveError> {
        let (n, m) = (system.n(), system.m());
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
        for pass in 0..=max_refinements {
            self.rhs.clear();
            let primal = self.residual.primal.iter().zip(&scaled.primal).zip(&system.fixed);
            let rows = self.residual.row.iter().zip(&scaled.row);
            self.rhs
                .extend(primal.map(|((r, s), fixed)| if *fixed { 0.0 } else { r * s }));
            self.rhs.extend(rows.map(|(r, s)| r * s));
            apply(&mut self.rhs)?;
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
        Ok(SolveReport {
            status: if measure.relative <= tolerance {
                Status::Converged
            } else {
                Status::Stagnated
            },
            residual: measure,
            refinements,
            redundant_rows: 0,
            inertia,
            bounds: BoundsReport {
                natural: measure.row,
                ..BoundsReport::default()
            },
        })
    }
}
