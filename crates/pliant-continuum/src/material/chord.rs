//! The mean stress of an energy of the deformation gradient along a displacement.

use crate::strain::matrix;
use pliant_dense::Mat3;

/// An energy of the deformation gradient that no rotation changes.
pub(super) trait OfGradient {
    /// Whether the moduli jump somewhere, so that points of Gauss may miss some of the energy of any
    /// change.
    const HAS_KINKS: bool = false;

    /// The energy density (Pa).
    fn density(&self, f: &Mat3) -> f64;

    /// The first Piola-Kirchhoff stress (Pa), the derivative of the density.
    fn stress(&self, f: &Mat3) -> Mat3;
}

/// Places and weights of the formula of Gauss with three points on `[0, 1]`.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 4.0 / 9.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// The change of `C` up to which three points miss less than rounding of the moduli.
const STRAIGHT: f64 = 0.03;

/// The share of a work, of a law with kinks, up to which what the points miss of it is none.
const KINK: f64 = 1e-10;

/// Roundings of an energy density, and of the work of its stress over the whole gradient, that the
/// work of a mean stress may miss it by.
const ROUNDINGS: f64 = 64.0;

/// The mean of the first Piola-Kirchhoff stress along a displacement from `F` to `F+` (Pa),
/// `P : (F+ - F) = w+ - w`, that keeps angular momentum (Simo and Tarnow 1992, Gonzalez 2000):
///
/// ```math
/// P = (F + F+)/2 S,   S = integral of S(C + s (C+ - C)) over s from 0 to 1,   C = F^T F
/// ```
///
/// by three points of Gauss, with what that misses of the energy, for larger changes of `C` and
/// across kinks of a law, along `C+ - C`. Between gradients of opposite determinants, where stress
/// is no function of `C`, the middle of the way is that of `F`, and angular momentum is kept to
/// second order.
pub(super) fn chord_stress<L: OfGradient>(law: &L, [start, end]: [Mat3; 2]) -> Mat3 {
    let mean = (start + end) * 0.5;
    let c = start.transpose() * start;
    // Without the cancellation of F+^T F+ - F^T F.
    let half = mean.transpose() * (end - start);
    let change = half + half.transpose();
    let sides = [start, end].map(|f| f.determinant().signum());
    let energies = [law.density(&start), law.density(&end)];
    let gained = energies[1] - energies[0];
    // An energy that vanishes at a place where its stress does not is as uncertain as its place.
    let noise = |terms: f64| ROUNDINGS * f64::EPSILON * (energies[0].abs() + energies[1].abs() + terms);
    if sides[0] == sides[1]
        && let Some(mut s) = mean_stress(law, &c, &change, sides[0])
    {
        let missed = gained - 0.5 * s.dot(&change);
        let square = change.norm_squared();
        let is_large = square > STRAIGHT * STRAIGHT;
        let is_kinked = L::HAS_KINKS && missed.abs() > KINK * s.norm() * square.sqrt();
        if missed.abs() > noise(s.norm() * c.norm()) && (is_large || is_kinked) {
            s += change * (2.0 * missed / square);
        }
        return mean * s;
    }
    let mut p = Mat3::zeros();
    for (place, weight) in GAUSS {
        p += law.stress(&(start + (end - start) * place)) * weight;
    }
    let way = end - start;
    let missed = gained - p.dot(&way);
    if missed.abs() > noise(p.norm() * start.norm()) && way.norm_squared() > 0.0 {
        p += way * (missed / way.norm_squared());
    }
    p
}

/// Adds the force of a mean stress along a displacement of a point, `-V P`, to its nine numbers, row
/// by row.
pub(super) fn add_chord_force<L: OfGradient>(law: &L, volume: f64, ends: [&[f64; 9]; 2], out: &mut [f64; 9]) {
    let stress = chord_stress(law, ends.map(|f| matrix(f)));
    for i in 0..3 {
        for j in 0..3 {
            out[3 * i + j] -= volume * stress[(i, j)];
        }
    }
}

/// The mean of the second Piola-Kirchhoff stress along `C + s dC` (Pa), for gradients whose
/// determinants have this sign; `None` where one of them vanishes.
fn mean_stress(law: &impl OfGradient, c: &Mat3, change: &Mat3, sign: f64) -> Option<Mat3> {
    let mut out = Mat3::zeros();
    for (place, weight) in GAUSS {
        // Any F with F^T F = C gives S: that of Cholesky.
        let f = (c + change * place).cholesky()?.l().transpose() * sign;
        out += f.try_inverse()? * law.stress(&f) * weight;
    }
    Some((out + out.transpose()) * 0.5)
}
