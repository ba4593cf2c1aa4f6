//! The scale of every unknown: powers of two, so that no bit is lost, and a pivot of size 1 is at
//! its threshold.

use super::plan::Plan;
use crate::bounds::{BoundState, is_held};
use crate::{KktSystem, SolveError, Variable};
use pliant_sparse::{TakeRun, for_each_run};

/// Share of the Delassus diagonal below which a compliance counts as zero for the rank decision.
pub(super) const NEGLIGIBLE: f64 = 1e-12;
/// Relative pivot threshold of variables and compliant rows: a few roundings.
const ROUNDOFF: f64 = 1e-15;
/// Factor between the thresholds of suspected rows and of others: a power of four, so that scales
/// stay powers of two.
pub(super) const SUSPICION: f64 = 262_144.0;
/// Scale of a row held at a bound: its unit pivot becomes 4, above the threshold, so that it is
/// never called redundant.
pub(super) const HELD: f64 = 2.0;

/// Data that decide on the scale of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// See [`DirectOptions`](super::DirectOptions).
    pub(super) rank_threshold: f64,
    /// Rows known to be independent.
    pub(super) trusted: &'a [bool],
    /// Rows that are not believed to be.
    pub(super) suspected: &'a [bool],
    /// Rows held at a bound are out of the matrix.
    pub(super) states: &'a [BoundState],
}

impl Plan {
    /// The scales of all unknowns, without filling anything in.
    pub(super) fn rescale(&mut self, system: &KktSystem, rules: Rules<'_>) -> Result<(), SolveError> {
        let n = system.n();
        self.scale_variables(system)?;
        for i in 0..system.m() {
            let own = system.j.pattern().row_slots(i);
            let terms = (system.j.pattern().row(i), &system.j.values()[own]);
            self.scale[n + i] = of_row(i, terms, &self.inverse_diagonal, system.r_diagonal(i), rules)?;
        }
        Ok(())
    }

    /// The scales of the variables that are free, and the reciprocals of their diagonal entries.
    pub(super) fn scale_variables(&mut self, system: &KktSystem) -> Result<(), SolveError> {
        let (ends, values) = (&system.w.pattern().offsets()[1..], system.w.values());
        let scales = self.scale.iter_mut().zip(&mut self.inverse_diagonal);
        for (i, ((end, out), fixed)) in ends.iter().zip(scales).zip(&system.fixed).enumerate() {
            // The diagonal is the last entry of its row.
            if !fixed {
                (*out.0, *out.1) = of_variable(i, values[*end as usize - 1])?;
            }
        }
        Ok(())
    }
}

/// The scale of a variable that is free, and the reciprocal of its diagonal entry.
#[inline(always)]
pub(super) fn of_variable(i: usize, diagonal: f64) -> Result<(f64, f64), SolveError> {
    if !diagonal.is_finite() {
        return Err(SolveError::NotFinite {
            variable: Variable::Dof(i),
        });
    }
    if diagonal == 0.0 {
        return Err(SolveError::NotPositiveDefinite { dof: i, diagonal });
    }
    Ok((below_root(ROUNDOFF * diagonal.abs()), 1.0 / diagonal.abs()))
}

/// The scale of a row by its entries in `J`, columns and values, the reciprocals of the diagonal of
/// `W` and its own compliance.
#[inline(always)]
pub(super) fn of_row(
    i: usize,
    (columns, values): (&[u32], &[f64]),
    inverse_diagonal: &[f64],
    own: f64,
    rules: Rules<'_>,
) -> Result<f64, SolveError> {
    let mut terms = Squares {
        values,
        inverse_diagonal,
        sum: 0.0,
    };
    for_each_run(columns, &mut terms);
    let delassus = terms.sum;
    if !own.is_finite() || !delassus.is_finite() {
        return Err(SolveError::NotFinite {
            variable: Variable::Row(i),
        });
    }
    if own < 0.0 {
        return Err(SolveError::NegativeCompliance { row: i, value: own });
    }
    if is_held(rules.states, i) {
        return Ok(HELD);
    }
    // A compliance that rounding of the Delassus operator swallows cannot say how redundant rows
    // share.
    let soft = own > NEGLIGIBLE * delassus;
    let threshold = if soft || rules.trusted[i] {
        ROUNDOFF
    } else if rules.suspected[i] {
        SUSPICION * rules.rank_threshold
    } else {
        rules.rank_threshold
    };
    let size = own + delassus;
    // A row without free variables has size 0: any scale shows its zero pivot.
    let size = if size > 0.0 { size } else { 1.0 };
    Ok(below_root(threshold * size))
}

/// The sum of the squares of the entries of a row, times the reciprocals of the diagonal. Fixed
/// variables have the reciprocal zero.
struct Squares<'a> {
    values: &'a [f64],
    inverse_diagonal: &'a [f64],
    sum: f64,
}

impl TakeRun for Squares<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, column: usize) {
        let a = &self.values[at..at + N];
        let inverse = &self.inverse_diagonal[column..column + N];
        for k in 0..N {
            self.sum += a[k] * a[k] * inverse[k];
        }
    }
}

/// The power of two nearest below `1 / sqrt(a)` up to a factor of two, for positive `a`, without
/// the division.
fn below_root(a: f64) -> f64 {
    let exponent = ((a.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    // From -513 to 511: a normal number.
    f64::from_bits((((-1 - exponent).div_euclid(2) + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_powers_of_two_within_a_factor_of_two_below_the_root() {
        for a in [1e-300, 2.5e-7, 0.25, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7e12, 1e300] {
            let s = below_root(a);
            assert_eq!(s.to_bits() << 12, 0, "{s:e} is a power of two");
            let share = s * s * a;
            assert!(
                (0.25..=1.0).contains(&share),
                "{a:e}: {s:e} squared is {share} of 1/a"
            );
        }
        // The ends of the range are numbers to divide by.
        for a in [f64::MIN_POSITIVE / 8.0, f64::MAX, f64::INFINITY] {
            assert!(below_root(a).is_normal());
        }
    }
}
