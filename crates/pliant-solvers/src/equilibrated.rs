//! A KKT system equilibrated by powers of two: unit diagonals, the same units everywhere.

use crate::bounds::BoundsReport;
use crate::residual::{ResidualWorkspace, evaluate};
use crate::{KktResidual, KktSystem, Solution, SolveError, SolveReport, Status, Variable};

/// The equilibrated system `W' = S W S`, `J' = T J S`, `R' = T R T` with diagonal `S` and `T` of
/// powers of two, so that nothing is rounded. Its solution `z'` gives that of the system given:
/// `x = S x'`, `mu = T mu'`, for right-hand sides `S c` and `T b`.
#[derive(Clone, Debug)]
pub struct Equilibrated {
    /// The scaled matrices. The diagonal of `W'` is one up to a factor of two in either direction;
    /// right-hand sides are zero.
    pub system: KktSystem,
    /// Diagonal of `S`, n.
    pub primal: Vec<f64>,
    /// Diagonal of `T`, m.
    pub row: Vec<f64>,
}

impl Equilibrated {
    /// Scales a copy of the system.
    ///
    /// # Errors
    /// Those of [`Self::update`].
    pub fn new(system: &KktSystem) -> Result<Self, SolveError> {
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

    /// Whether [`Self::update`] takes this system: its patterns and primal blocks are those of the
    /// copy.
    pub fn fits(&self, system: &KktSystem) -> bool {
        let own = &self.system;
        own.w.pattern() == system.w.pattern()
            && own.j.pattern() == system.j.pattern()
            && own.r.pattern() == system.r.pattern()
            && own.primal_blocks() == system.primal_blocks()
    }

    /// Takes new values on the same pattern. Allocates nothing.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`], [`SolveError::NotPositiveDefinite`] at a zero on the diagonal of
    /// `W`, [`SolveError::NegativeCompliance`].
    pub fn update(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        self.system.fixed.copy_from_slice(&system.fixed);
        for i in 0..system.n() {
            let finite = system.w.row_entries(i).all(|(_, v)| v.is_finite());
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
            let mut terms = system.j.row_entries(i).chain(system.r.row_entries(i));
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

/// The system that a [`Refinement`] solves, and its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refined<'a> {
    pub(crate) system: &'a KktSystem,
    /// The equilibrated matrix: the factor is one of this matrix.
    pub(crate) scaled: &'a Equilibrated,
    pub(crate) max_refinements: usize,
    /// Largest [`KktResidual::relative`] that counts as converged.
    pub(crate) tolerance: f64,
    /// Positive and negative pivots of the factor, those of fixed variables not counted.
    pub(crate) inertia: (usize, usize),
}

/// Iterative refinement with a factor of the whole scaled matrix, and its scratch.
#[derive(Debug, Default)]
pub(crate) struct Refinement {
    rhs: Vec<f64>,
    none: Vec<bool>,
    residual: ResidualWorkspace,
    best: Solution,
}

impl Refinement {
    /// Solves from zero for the right-hand sides of the system and keeps the best answer; `apply`
    /// solves with the factor of the scaled matrix in place.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`] if the answer is not finite, and those of `apply`.
    pub(crate) fn run(
        &mut self,
        refined: Refined<'_>,
        solution: &mut Solution,
        mut apply: impl FnMut(&mut [f64]) -> Result<(), SolveError>,
    ) -> Result<SolveReport, SolveError> {
        let Refined {
            system,
            scaled,
            max_refinements,
            tolerance,
            inertia,
        } = refined;
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
            iterations: 0,
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

/// The power of two at or below `a`, for finite positive `a`, kept where its inverse is finite too.
pub fn power_of_two_below(a: f64) -> f64 {
    let exponent = ((a.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.clamp(-1000, 1000))
}
