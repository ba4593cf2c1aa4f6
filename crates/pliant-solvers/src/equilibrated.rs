//! A KKT system equilibrated by powers of two: unit diagonals, the same units everywhere.

use crate::krylov::power_of_two_below;
use crate::residual::row_of;
use crate::{KktSystem, SolveError, Variable};

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
