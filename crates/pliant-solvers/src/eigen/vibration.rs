//! Vibration: the pencil of stiffness and mass, by a shift below all its eigenvalues.

use super::pencil::{check_pattern, is_hard};
use super::{DefinitePencil, EigenError, EigenOptions, Side, dot};
use crate::{KktSystem, SolveError, StationarySolver};
use pliant_sparse::CsrMatrix;

/// The first shift as a share of the largest ratio of stiffness to mass.
const FIRST: f64 = 1e-6;
/// A shift below this share of that ratio is rounding beside the stiffness: pivots of no more are
/// zero.
const LEAST: f64 = 1e-11;
/// An eigenvalue of this share of another, or of the shift, may be zero.
const NOUGHT: f64 = 1e-8;
/// The factor by which the shift may miss the eigenvalues wanted; beyond it is chosen again.
const OFF: f64 = 30.0;
/// Choices of the shift at most.
const SHIFTS: usize = 6;
/// Factor by which the shift is lowered while eigenvalues lie below it, and how often.
const LOWER: f64 = 30.0;
const LOWERINGS: usize = 30;
/// Eigenvalues within so many roundings of the sum of magnitudes that they are made of, or one of
/// the largest eigenvalue, are zero.
const ROUNDINGS: f64 = 100.0;

/// An eigenvalue of `K x = lambda M x` with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Vibration {
    /// `lambda`, the square of an angular frequency (rad^2/s^2), by Rayleigh's quotient; negative
    /// where the stiffness is.
    pub value: f64,
    /// Whether `lambda` is zero but for rounding: nothing resists.
    pub is_free: bool,
    /// The vector, with `x^T M x = 1`.
    pub x: Vec<f64>,
    /// Multipliers of the rows: `K x - J^T l = lambda M x`, `J x + R l = 0`.
    pub l: Vec<f64>,
    /// Estimated error of `lambda` as a share of `lambda - shift`.
    pub error: f64,
    /// As [`EigenPair::residual`](super::EigenPair::residual).
    pub residual: f64,
}

/// The lowest eigenvalues of a vibrating system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vibrations {
    /// The lowest ones, in order.
    pub modes: Vec<Vibration>,
    /// Eigenvalues that there are in all: directions with a mass that the hard rows leave.
    pub finite: usize,
    /// Directions without a mass that the hard rows leave: their eigenvalues are infinite, and left
    /// out.
    pub massless: usize,
    /// Hard rows that depend on others.
    pub redundant_rows: usize,
    /// The shift (rad^2/s^2), below all eigenvalues.
    pub shift: f64,
    /// Solves with a factor.
    pub solves: usize,
    /// Factorisations.
    pub factorisations: usize,
}

/// Finds the lowest eigenvalues of `K x - J^T l = lambda M x`, `J x + R l = 0`, as many as asked
/// for or all if there are fewer. `K`, `J` and `R` are those of `stiffness`; `mass` is a lower
/// triangle on the pattern of `K`, positive semidefinite, and may be singular where the stiffness
/// is not.
///
/// The shift `sigma < 0` of `K - sigma M` is chosen below all eigenvalues, about as far from zero
/// as those that are wanted: zero ones, of bodies that are free, are then as good as others.
/// An inertia count beyond the last one certifies that none was missed.
///
/// **Cost.** Some five factorisations ([`StationarySolver`]), two to three solves for each
/// eigenvalue, twice.
///
/// # Errors
/// Those of [`DefinitePencil`]: [`EigenError::Indefinite`] if a direction without mass has a
/// negative stiffness, [`EigenError::Free`] if one has neither mass nor stiffness.
pub fn vibration(
    stiffness: &KktSystem,
    mass: &CsrMatrix,
    count: usize,
    options: EigenOptions,
) -> Result<Vibrations, EigenError> {
    check_pattern("entries of the mass matrix", stiffness, mass)?;
    let mut out = Vibrations::default();
    count_masses(stiffness, mass, options.threads, &mut out)?;
    if out.finite == 0 || count == 0 {
        return Ok(out);
    }
    let count = count.min(out.finite);
    let ratio = largest_ratio(stiffness, mass);
    let mut shift = -FIRST * ratio;
    let mut pencil = below_all(stiffness, mass, options.threads, &mut shift, &mut out)?;
    for _ in 0..SHIFTS {
        let (values, solves) = pencil.estimate(Side::Positive, count, options)?;
        out.solves += solves;
        let wanted = suitable_shift(&values, shift).min(-LEAST * ratio);
        if (wanted / shift).max(shift / wanted) <= OFF {
            break;
        }
        shift = wanted;
        pencil = below_all(stiffness, mass, options.threads, &mut shift, &mut out)?;
    }
    let found = pencil.find(Side::Positive, count, options)?;
    out.solves += found.solves;
    out.factorisations += found.factorisations;
    out.redundant_rows = pencil.redundant_rows();
    out.shift = shift;
    for pair in found.pairs {
        let (mut x, mut l) = (pair.x, pair.l);
        let terms = Terms::of(stiffness, mass, &x, &l);
        let size = terms.mass.sqrt();
        x.iter_mut().chain(&mut l).for_each(|x| *x /= size);
        let value = terms.stiffness / terms.mass;
        // Of what it is the sum of, and of the largest eigenvalue.
        let rounding = (ROUNDINGS * terms.magnitudes / terms.mass).max(ratio) * f64::EPSILON;
        out.modes.push(Vibration {
            value,
            is_free: value.abs() <= rounding,
            x,
            l,
            error: pair.error,
            residual: pair.residual,
        });
    }
    out.modes.sort_by(|a, b| a.value.total_cmp(&b.value));
    Ok(out)
}

/// Factors `K - sigma M` with a shift that is lowered until no eigenvalue is below it.
fn below_all(
    stiffness: &KktSystem,
    mass: &CsrMatrix,
    threads: usize,
    shift: &mut f64,
    out: &mut Vibrations,
) -> Result<DefinitePencil, EigenError> {
    let mut lowered = 0;
    loop {
        let mut shifted = stiffness.clone();
        for (k, m) in shifted.w.values_mut().iter_mut().zip(mass.values()) {
            *k -= *shift * m;
        }
        out.factorisations += 1;
        match DefinitePencil::with_threads(shifted, mass.clone(), threads) {
            Err(EigenError::Indefinite { .. }) if lowered < LOWERINGS => {
                lowered += 1;
                *shift *= LOWER;
            }
            other => return other,
        }
    }
}

/// A shift about as far from zero as the eigenvalues `1/nu + shift`: the geometric mean of the
/// largest, and of the smallest one that is not rounding beside it. The same one if all may be
/// zero.
fn suitable_shift(values: &[f64], shift: f64) -> f64 {
    let values: Vec<f64> = values.iter().map(|v| (v + shift).abs()).collect();
    let largest = values.iter().fold(0.0f64, |a, v| a.max(*v));
    if largest <= NOUGHT * shift.abs() {
        return shift;
    }
    let some = values.iter().filter(|v| **v > NOUGHT * largest);
    let least = some.fold(largest, |a, v| a.min(*v));
    -(largest * least).sqrt()
}

/// The largest ratio of a diagonal entry of `K + J^T R^-1 J` to that of `M`, of soft rows: about
/// the largest eigenvalue. 1 if there is none.
fn largest_ratio(stiffness: &KktSystem, mass: &CsrMatrix) -> f64 {
    let n = stiffness.n();
    let mut diagonal: Vec<f64> = (0..n).map(|i| stiffness.w_diagonal(i).abs()).collect();
    for row in 0..stiffness.m() {
        let own = stiffness.r_diagonal(row);
        if own > 0.0 {
            for (k, j) in stiffness.j.row_entries(row) {
                diagonal[k] += j * j / own;
            }
        }
    }
    let mut largest = 0.0f64;
    for i in (0..n).filter(|i| !stiffness.fixed[*i]) {
        let m = mass.get(i, i);
        if m > 0.0 && (diagonal[i] / m).is_finite() {
            largest = largest.max(diagonal[i] / m);
        }
    }
    if largest > 0.0 { largest } else { 1.0 }
}

/// Counts the directions that the hard rows leave, with a mass and without.
fn count_masses(
    stiffness: &KktSystem,
    mass: &CsrMatrix,
    threads: usize,
    out: &mut Vibrations,
) -> Result<(), SolveError> {
    let mut system = stiffness.clone();
    system.w.values_mut().copy_from_slice(mass.values());
    let mut hard = 0;
    for row in 0..system.m() {
        // Compliant rows hold no direction.
        if is_hard(&system, row) {
            hard += 1;
            continue;
        }
        let slots = system.j.pattern().row_slots(row);
        system.j.values_mut()[slots].fill(0.0);
        let slots = system.r.pattern().row_slots(row);
        let diagonal = slots.end - 1;
        system.r.values_mut()[slots].fill(0.0);
        system.r.values_mut()[diagonal] = 1.0;
    }
    let mut solver = StationarySolver::with_threads(threads);
    let kind = solver.prepare(&system)?;
    out.factorisations += 1;
    let free = system.fixed.iter().filter(|fixed| !**fixed).count();
    let independent = hard - kind.redundant.min(hard);
    out.massless = kind.zero;
    out.finite = free.saturating_sub(independent + kind.zero);
    out.redundant_rows = kind.redundant;
    Ok(())
}

/// The sums of Rayleigh's quotient.
struct Terms {
    /// `x^T K x + l^T R l`: with `J x = -R l`, the elastic energy, twice.
    stiffness: f64,
    /// `x^T M x`.
    mass: f64,
    /// The sum of magnitudes of the terms of the first.
    magnitudes: f64,
}

impl Terms {
    fn of(system: &KktSystem, mass: &CsrMatrix, x: &[f64], l: &[f64]) -> Self {
        let mut product = vec![0.0; x.len()];
        mass.symmetric_add_product(1.0, x, &mut product);
        let mass = dot(x, &product);
        let (mut stiffness, mut magnitudes) = (0.0, 0.0);
        let forms = [(&system.w, x), (&system.r, l)];
        for (matrix, v) in forms {
            for i in 0..v.len() {
                for (k, a) in matrix.row_entries(i) {
                    let term = if i == k { 1.0 } else { 2.0 } * a * v[i] * v[k];
                    stiffness += term;
                    magnitudes += term.abs();
                }
            }
        }
        // The strain of the rows is known to the rounding of what it is the difference of.
        for (row, l) in l.iter().enumerate() {
            let parts = system.j.row_entries(row).map(|(k, j)| (j * x[k]).abs());
            magnitudes += l.abs() * parts.sum::<f64>();
        }
        Self {
            stiffness,
            mass,
            magnitudes,
        }
    }
}
