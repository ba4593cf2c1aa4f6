//! The permuted, scaled matrix: pattern and slots once, values every time, straight into the storage of the factor.

use super::DirectOptions;
use super::changes::Changes;
use super::kernel::Kernel;
use crate::bounds::{BoundState, is_held};
use crate::order::Elimination;
use crate::{KktSystem, Solution, SolveError, Variable};
use pliant_sparse::{CsrMatrix, Threads};

/// What depends on the pattern only, and the numeric storage.
#[derive(Debug)]
pub(super) struct Plan {
    /// Copies of what was analysed, to notice a change.
    shape: (CsrShape, CsrShape, CsrShape, Vec<bool>),
    pub(super) elimination: Elimination,
    /// Position of each unknown in the order, `ABSENT` for fixed variables.
    pub(super) position: Vec<u32>,
    /// Slot in the factor's storage of every slot of W, J, R; `ABSENT` for fixed variables.
    pub(super) w_slots: Vec<u32>,
    pub(super) j_slots: Vec<u32>,
    pub(super) r_slots: Vec<u32>,
    /// Entries of the lower triangle of the permuted matrix.
    pub(super) matrix_entries: usize,
    /// Scale of each unknown.
    pub(super) scale: Vec<f64>,
    /// `1/|W_ii|` as of the last scaling.
    inverse_diagonal: Vec<f64>,
    pub(super) kernel: Kernel,
    pub(super) changes: Changes,
}

type CsrShape = (Vec<u32>, Vec<u32>);

pub(super) const ABSENT: u32 = u32::MAX;
/// Share of the Delassus diagonal below which a compliance counts as zero for the rank decision.
pub(super) const NEGLIGIBLE: f64 = 1e-12;
/// Relative pivot threshold of variables and compliant rows: a few roundings.
const ROUNDOFF: f64 = 1e-15;
/// Factor between the thresholds of suspected rows and of others: a power of four, so that scales stay powers of two.
pub(super) const SUSPICION: f64 = 262_144.0;
/// Scale of a row held at a bound: its unit pivot becomes 4, above the threshold, so that it is never called redundant.
pub(super) const HELD: f64 = 2.0;

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

    pub(super) fn new(
        system: &KktSystem,
        elimination: Elimination,
        threads: &Threads,
    ) -> Result<Self, SolveError> {
        let (n, m) = (system.n(), system.m());
        let mut position = vec![ABSENT; n + m];
        for (k, v) in elimination.sequence.iter().enumerate() {
            position[*v] = k as u32;
        }
        let parts = [(&system.w, 0, 0), (&system.j, n, 0), (&system.r, n, n)];
        let mut entries = Vec::with_capacity(parts.iter().map(|p| p.0.pattern().len()).sum());
        let each = |(part, row0, column0): (&CsrMatrix, usize, usize), visit: &mut dyn FnMut(u32, u32)| {
            for i in 0..part.pattern().rows() {
                for k in part.pattern().row(i) {
                    let (a, b) = (position[row0 + i], position[column0 + *k as usize]);
                    visit(a.max(b), a.min(b));
                }
            }
        };
        for part in parts {
            each(part, &mut |a, b| {
                if a != ABSENT {
                    entries.push((a, b));
                }
            });
        }
        let kernel = Kernel::new(&elimination, &entries, threads)?;
        let [w_slots, j_slots, r_slots] = parts.map(|part| {
            let mut slots = Vec::with_capacity(part.0.pattern().len());
            each(part, &mut |a, b| {
                let slot = (a != ABSENT).then(|| kernel.slot(a as usize, b as usize));
                slots.push(slot.flatten().map_or(ABSENT, |s| s as u32));
            });
            slots
        });
        let shape = (
            shape(&system.w),
            shape(&system.j),
            shape(&system.r),
            system.fixed.clone(),
        );
        Ok(Self {
            shape,
            elimination,
            position,
            w_slots,
            j_slots,
            r_slots,
            matrix_entries: entries.len(),
            scale: vec![1.0; n + m],
            inverse_diagonal: vec![0.0; n],
            kernel,
            changes: Changes::default(),
        })
    }

    /// Scales so that a pivot of size 1 is at its threshold. Rows in `trusted` are known to be independent, those in `suspected` are not
    /// believed to be; rows held at a bound are out of the matrix.
    pub(super) fn rescale(
        &mut self,
        system: &KktSystem,
        options: &DirectOptions,
        trusted: &[bool],
        suspected: &[bool],
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
            self.scale[i] = power_of_two(1.0 / (ROUNDOFF * diagonal.abs()));
            self.inverse_diagonal[i] = 1.0 / diagonal.abs();
        }
        let (columns, values) = (system.j.pattern().indices(), system.j.values());
        let mut first = 0;
        for (i, last) in system.j.pattern().offsets()[1..].iter().enumerate() {
            let terms = first..*last as usize;
            first = terms.end;
            let terms = columns[terms.clone()].iter().zip(&values[terms]);
            // Fixed variables have the inverse zero.
            let delassus = terms.fold(0.0, |sum, (k, a)| {
                sum + a * a * self.inverse_diagonal[*k as usize]
            });
            let own = system.r_diagonal(i);
            if !own.is_finite() || !delassus.is_finite() {
                return Err(SolveError::NotFinite {
                    variable: Variable::Row(i),
                });
            }
            if own < 0.0 {
                return Err(SolveError::NegativeCompliance { row: i, value: own });
            }
            if is_held(states, i) {
                self.scale[n + i] = HELD;
                continue;
            }
            // A compliance that rounding of the Delassus operator swallows cannot say how redundant rows share.
            let soft = own > NEGLIGIBLE * delassus;
            let threshold = if soft || trusted[i] {
                ROUNDOFF
            } else if suspected[i] {
                SUSPICION * options.rank_threshold
            } else {
                options.rank_threshold
            };
            let size = own + delassus;
            // A row without free variables has size 0: any scale shows its zero pivot.
            let size = if size > 0.0 { size } else { 1.0 };
            self.scale[n + i] = power_of_two(1.0 / (threshold * size));
        }
        Ok(())
    }

    /// Scaled values. A row held at a bound keeps its place in the pattern with zeros and a unit pivot.
    pub(super) fn fill(&mut self, system: &KktSystem, states: &[BoundState]) {
        let n = system.n();
        let target = self.kernel.start();
        let parts = [
            (&system.w, &self.w_slots, 0, 0, 1.0),
            (&system.j, &self.j_slots, n, 0, -1.0),
            (&system.r, &self.r_slots, n, n, -1.0),
        ];
        for (part, slots, row0, column0, sign) in parts {
            let (columns, values) = (part.pattern().indices(), part.values());
            let column_scale = &self.scale[column0..];
            let mut first = 0;
            for (last, row_scale) in part.pattern().offsets()[1..].iter().zip(&self.scale[row0..]) {
                let own = first..*last as usize;
                first = own.end;
                let si = sign * row_scale;
                let entries = columns[own.clone()].iter().zip(&values[own.clone()]);
                for ((column, value), slot) in entries.zip(&slots[own]) {
                    // No storage reaches up to `ABSENT`.
                    if let Some(target) = target.get_mut(*slot as usize) {
                        *target = si * value * column_scale[*column as usize];
                    }
                }
            }
        }
        if !(0..states.len()).any(|i| is_held(states, i)) {
            return;
        }
        for (part, slots, is_r) in [
            (&system.j, &self.j_slots, false),
            (&system.r, &self.r_slots, true),
        ] {
            for i in 0..system.m() {
                let own = part.pattern().row_slots(i);
                for (column, slot) in part.pattern().row(i).iter().zip(&slots[own]) {
                    let column = *column as usize;
                    let out = is_held(states, i) || is_r && is_held(states, column);
                    if let (true, Some(target)) = (out, target.get_mut(*slot as usize)) {
                        *target = if is_r && i == column { -HELD * HELD } else { 0.0 };
                    }
                }
            }
        }
    }

    /// The right-hand side of the scaled, permuted matrix. Rows held at a bound do not move: theirs is zero.
    pub(super) fn gather(&self, primal: &[f64], rows: &[f64], states: &[BoundState], out: &mut Vec<f64>) {
        let n = primal.len();
        out.clear();
        out.resize(self.elimination.sequence.len(), 0.0);
        for (part, first) in [(primal, 0), (rows, n)] {
            for ((at, s), r) in self.position[first..].iter().zip(&self.scale[first..]).zip(part) {
                // Fixed variables have no position.
                if let Some(y) = out.get_mut(*at as usize) {
                    *y = s * r;
                }
            }
        }
        for i in (0..states.len()).filter(|i| is_held(states, *i)) {
            out[self.position[n + i] as usize] = 0.0;
        }
    }

    /// Adds a solution of the scaled, permuted matrix to one of the system.
    pub(super) fn add_scaled(&self, y: &[f64], solution: &mut Solution) {
        let n = solution.x.len();
        for (part, first) in [(&mut solution.x, 0), (&mut solution.mu, n)] {
            for ((at, s), x) in self.position[first..].iter().zip(&self.scale[first..]).zip(part) {
                if let Some(y) = y.get(*at as usize) {
                    *x += s * y;
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
    let exponent = ((a.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    // From -512 to 512: a normal number.
    f64::from_bits(((exponent.div_euclid(2) + 1023) as u64) << 52)
}
