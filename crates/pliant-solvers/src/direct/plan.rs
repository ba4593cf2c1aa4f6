//! The permuted, scaled matrix: pattern and slots once, values every time.

use super::DirectOptions;
use crate::bounds::{BoundState, is_held};
use crate::order::Elimination;
use crate::{KktSystem, SolveError, Variable};
use pliant_sparse::{CsrMatrix, Factor, PatternBuilder, Symbolic};

/// What depends on the pattern only, and the numeric storage.
#[derive(Debug)]
pub(super) struct Plan {
    /// Copies of what was analysed, to notice a change.
    shape: (CsrShape, CsrShape, CsrShape, Vec<bool>),
    pub(super) elimination: Elimination,
    /// Position of each unknown in the order, `ABSENT` for fixed variables.
    pub(super) position: Vec<u32>,
    pub(super) matrix: CsrMatrix,
    /// Slot in `matrix` of every slot of W, J, R; `ABSENT` for fixed variables.
    w_slots: Vec<u32>,
    j_slots: Vec<u32>,
    r_slots: Vec<u32>,
    pub(super) scale: Vec<f64>,
    pub(super) symbolic: Symbolic,
    pub(super) factor: Factor,
}

type CsrShape = (Vec<u32>, Vec<u32>);

pub(super) const ABSENT: u32 = u32::MAX;
/// Share of the Delassus diagonal below which a compliance counts as zero for the rank decision.
const NEGLIGIBLE: f64 = 1e-12;
/// Relative pivot threshold of variables and compliant rows: a few roundings.
const ROUNDOFF: f64 = 1e-15;
/// Scale of a row held at a bound: its unit pivot becomes 4, above the threshold, so that it is never called redundant.
const HELD: f64 = 2.0;

fn shape(a: &CsrMatrix) -> CsrShape {
    (a.pattern().offsets().to_vec(), a.pattern().indices().to_vec())
}

fn same(shape: &CsrShape, a: &CsrMatrix) -> bool {
    shape.0 == a.pattern().offsets() && shape.1 == a.pattern().indices()
}

impl Plan {
    pub(super) fn fits(&self, system: &KktSystem) -> bool {
        same(&self.shape.0, &system.w)
            && same(&self.shape.1, &system.j)
            && same(&self.shape.2, &system.r)
            && self.shape.3 == system.fixed
    }

    pub(super) fn new(system: &KktSystem, elimination: Elimination) -> Result<Self, SolveError> {
        let (n, m) = (system.n(), system.m());
        let order = &elimination.sequence;
        let mut position = vec![ABSENT; n + m];
        for (k, v) in order.iter().enumerate() {
            position[*v] = k as u32;
        }
        let entry = |i: usize, j: usize| -> Option<(usize, usize)> {
            let (a, b) = (position[i], position[j]);
            (a != ABSENT && b != ABSENT).then(|| (a.max(b) as usize, a.min(b) as usize))
        };
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let mut builder = PatternBuilder::new(order.len(), order.len());
        for (matrix, row0, column0) in parts {
            for i in 0..matrix.pattern().rows() {
                for k in matrix.pattern().row(i) {
                    if let Some((a, b)) = entry(row0 + i, column0 + *k as usize) {
                        builder.insert(a, b);
                    }
                }
            }
        }
        let matrix = builder.finish()?.into_matrix();
        let [w_slots, j_slots, r_slots] = parts.map(|(part, row0, column0)| {
            let mut slots = Vec::with_capacity(part.pattern().len());
            for i in 0..part.pattern().rows() {
                for k in part.pattern().row(i) {
                    let slot =
                        entry(row0 + i, column0 + *k as usize).and_then(|(a, b)| matrix.pattern().slot(a, b));
                    slots.push(slot.map_or(ABSENT, |s| s as u32));
                }
            }
            slots
        });
        let symbolic = Symbolic::new(matrix.pattern())?;
        let factor = symbolic.allocate();
        let shape = (
            shape(&system.w),
            shape(&system.j),
            shape(&system.r),
            system.fixed.clone(),
        );
        let scale = vec![1.0; order.len()];
        Ok(Self {
            shape,
            elimination,
            position,
            matrix,
            w_slots,
            j_slots,
            r_slots,
            scale,
            symbolic,
            factor,
        })
    }

    /// Scales so that a pivot of size 1 is at its threshold. Rows in `trusted` are known to be independent, rows held at a bound
    /// are out of the matrix.
    pub(super) fn rescale(
        &mut self,
        system: &KktSystem,
        options: &DirectOptions,
        trusted: &[bool],
        states: &[BoundState],
    ) -> Result<(), SolveError> {
        let n = system.n();
        for i in 0..n {
            let diagonal = system.w_diagonal(i);
            if system.fixed[i] {
                continue;
            }
            if !diagonal.is_finite() {
                return Err(SolveError::NotFinite {
                    variable: Variable::Dof(i),
                });
            }
            if diagonal == 0.0 {
                return Err(SolveError::NotPositiveDefinite { dof: i, diagonal });
            }
            self.scale[self.position[i] as usize] = power_of_two(1.0 / (ROUNDOFF * diagonal.abs()));
        }
        for i in 0..system.m() {
            let (own, delassus) = (system.r_diagonal(i), system.row_scale(i));
            if !own.is_finite() || !delassus.is_finite() {
                return Err(SolveError::NotFinite {
                    variable: Variable::Row(i),
                });
            }
            if own < 0.0 {
                return Err(SolveError::NegativeCompliance { row: i, value: own });
            }
            if is_held(states, i) {
                self.scale[self.position[n + i] as usize] = HELD;
                continue;
            }
            // A compliance that rounding of the Delassus operator swallows cannot say how redundant rows share.
            let soft = own > NEGLIGIBLE * delassus;
            let threshold = if soft || trusted[i] {
                ROUNDOFF
            } else {
                options.rank_threshold
            };
            let size = own + delassus;
            // A row without free variables has size 0: any scale shows its zero pivot.
            let size = if size > 0.0 { size } else { 1.0 };
            self.scale[self.position[n + i] as usize] = power_of_two(1.0 / (threshold * size));
        }
        Ok(())
    }

    /// Scaled values. A row held at a bound keeps its place in the pattern with zeros and a unit pivot.
    pub(super) fn fill(&mut self, system: &KktSystem, states: &[BoundState]) {
        self.matrix.clear();
        let n = system.n();
        let values = self.matrix.values_mut();
        let parts = [
            (&system.w, &self.w_slots, 0, 0, 1.0),
            (&system.j, &self.j_slots, n, 0, -1.0),
            (&system.r, &self.r_slots, n, n, -1.0),
        ];
        for (part, slots, row0, column0, sign) in parts {
            for i in 0..part.pattern().rows() {
                let position = self.position[row0 + i];
                if position == ABSENT {
                    continue;
                }
                let si = sign * self.scale[position as usize];
                if row0 == n && is_held(states, i) {
                    if column0 == n {
                        // The diagonal is the last entry of a row of a lower triangle.
                        values[slots[part.pattern().row_slots(i).end - 1] as usize] = si * HELD;
                    }
                    continue;
                }
                for (k, slot) in part.pattern().row_slots(i).zip(part.pattern().row(i)) {
                    let target = slots[k];
                    let held = column0 == n && is_held(states, *slot as usize);
                    if target != ABSENT && !held {
                        let sj = self.scale[self.position[column0 + *slot as usize] as usize];
                        values[target as usize] = si * part.values()[k] * sj;
                    }
                }
            }
        }
    }

    pub(super) fn variable(&self, position: usize, n: usize) -> Variable {
        let v = self.elimination.sequence[position];
        if v < n {
            Variable::Dof(v)
        } else {
            Variable::Row(v - n)
        }
    }
}

/// The power of two nearest below `sqrt(a)` up to a factor of two, for finite positive `a`.
fn power_of_two(a: f64) -> f64 {
    let exponent = ((a.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi(exponent.div_euclid(2))
}
