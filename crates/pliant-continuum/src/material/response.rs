//! Energy density, stress and tangent of strain energies at a deformation gradient.

use super::StrainEnergy;
use super::anisotropic::Anisotropic;
use super::energies::Derivatives;
use super::hencky::Hencky;
use super::ogden::Ogden;
use super::volumetric::PointEnergy;
use crate::strain::{Polar, add_determinant_hessian, cofactors, write_matrix};
use pliant_dense::{Mat3, Vec3, skew};

impl PointEnergy<'_> {
    /// The part that is a function of invariants, and its derivatives.
    fn derivatives(&self, at: &Invariants) -> Derivatives {
        self.law.at([at.i1, at.i2, at.j], self.volume)
    }

    /// The energy density (Pa).
    pub(super) fn density(&self, f: &Mat3) -> f64 {
        if let StrainEnergy::Corotational { shear, lame } = *self.law {
            return corotational(f).map_or(f64::NAN, |(_, d, trace)| {
                shear * d.norm_squared() + 0.5 * lame * trace * trace
            });
        }
        let at = Invariants::of(f);
        let of_others = match self.law {
            StrainEnergy::Ogden { terms, .. } => Ogden::of(f, terms).map_or(f64::NAN, |p| p.density()),
            StrainEnergy::Hencky { shear, .. } => Hencky::of(f, *shear).map_or(f64::NAN, |p| p.density()),
            energy => Anisotropic::of(energy, f).map_or(0.0, |part| part.density()),
        };
        self.derivatives(&at).value + of_others
    }

    /// The first Piola-Kirchhoff stress (Pa).
    pub(super) fn stress(&self, f: &Mat3) -> Mat3 {
        if let StrainEnergy::Corotational { shear, lame } = *self.law {
            return corotational(f).map_or_else(
                || Mat3::repeat(f64::NAN),
                |(p, d, trace)| d * (2.0 * shear) + p.r * (lame * trace),
            );
        }
        let at = Invariants::of(f);
        let w = self.derivatives(&at).first;
        let of_invariants = at.gradients[0] * w[0] + at.gradients[1] * w[1] + at.gradients[2] * w[2];
        match self.law {
            StrainEnergy::Ogden { terms, .. } => {
                of_invariants + Ogden::of(f, terms).map_or(Mat3::repeat(f64::NAN), |p| p.stress())
            }
            StrainEnergy::Hencky { shear, .. } => {
                of_invariants + Hencky::of(f, *shear).map_or(Mat3::repeat(f64::NAN), |p| p.stress())
            }
            energy => match Anisotropic::of(energy, f) {
                Some(part) => of_invariants + part.stress(),
                None => of_invariants,
            },
        }
    }

    /// Adds the exact tangent, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, f: &Mat3, out: &mut [f64]) {
        if let StrainEnergy::Corotational { shear, lame } = *self.law {
            match corotational(f) {
                Some((p, _, trace)) => add_corotational_tangent(&p, trace, shear, lame, out),
                None => out.fill(f64::NAN),
            }
            return;
        }
        let at = Invariants::of(f);
        let Derivatives { first, second, .. } = self.derivatives(&at);
        let [g1, g2, gj] = at.gradients.map(|g| {
            let mut list = [0.0; 9];
            write_matrix(&g, &mut list);
            list
        });
        let [w11, w12, w1j, w22, w2j, wjj] = second;
        for a in 0..9 {
            let (h1, h2, hj) = (
                w11 * g1[a] + w12 * g2[a] + w1j * gj[a],
                w12 * g1[a] + w22 * g2[a] + w2j * gj[a],
                w1j * g1[a] + w2j * g2[a] + wjj * gj[a],
            );
            for b in 0..9 {
                out[9 * a + b] += h1 * g1[b] + h2 * g2[b] + hj * gj[b];
            }
            out[10 * a] += 2.0 * first[0];
        }
        add_determinant_hessian(f, first[2], out);
        if first[1] != 0.0 {
            add_second_invariant_hessian(f, at.i1, first[1], out);
        }
        match self.law {
            StrainEnergy::Ogden { terms, .. } => match Ogden::of(f, terms) {
                Some(p) => p.add_tangent(out),
                None => out.fill(f64::NAN),
            },
            StrainEnergy::Hencky { shear, .. } => match Hencky::of(f, *shear) {
                Some(p) => p.add_tangent(out),
                None => out.fill(f64::NAN),
            },
            _ => {}
        }
        if let Some(part) = Anisotropic::of(self.law, f) {
            part.add_tangent(out);
        }
    }
}

/// The polar decomposition, `F - R` and `tr(U - I)`.
fn corotational(f: &Mat3) -> Option<(Polar, Mat3, f64)> {
    let p = Polar::of(f)?;
    let d = f - p.r;
    // R : (F - R) keeps the digits of small strains.
    Some((p, d, p.r.dot(&d)))
}

/// Adds the derivative of `2 mu (F - R) + l tr(U - I) R`:
/// `2 mu dF + l R (R : dF) + (l tr(U - I) - 2 mu) dR`, where `dR = sum_kl R E_k T_kl (R E_l : dF)`
/// with the generators `E_k` of rotations and `T` the inverse of `tr(U) I - U`.
fn add_corotational_tangent(p: &Polar, trace: f64, shear: f64, lame: f64, out: &mut [f64]) {
    let list = |m: &Mat3| {
        let mut list = [0.0; 9];
        write_matrix(m, &mut list);
        list
    };
    let r = list(&p.r);
    let turned = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| list(&(p.r * skew(axis))));
    let turn = p.turn * (lame * trace - 2.0 * shear);
    for a in 0..9 {
        let row: [f64; 3] = std::array::from_fn(|l| (0..3).map(|k| turned[k][a] * turn[(k, l)]).sum());
        for b in 0..9 {
            out[9 * a + b] += lame * r[a] * r[b] + (0..3).map(|l| row[l] * turned[l][b]).sum::<f64>();
        }
        out[10 * a] += 2.0 * shear;
    }
}

/// Invariants of `F` and their gradients.
struct Invariants {
    i1: f64,
    i2: f64,
    j: f64,
    gradients: [Mat3; 3],
}

impl Invariants {
    fn of(f: &Mat3) -> Self {
        let c = f.transpose() * f;
        let i1 = c.trace();
        Self {
            i1,
            i2: 0.5 * (i1 * i1 - c.norm_squared()),
            j: f.determinant(),
            gradients: [f * 2.0, (f * i1 - f * c) * 2.0, cofactors(f)],
        }
    }
}

/// Adds `s` times the second derivative of `I2`:
/// `dF -> 2 (2 (F : dF) F + I1 dF - dF C - F dF^T F - F F^T dF)`.
fn add_second_invariant_hessian(f: &Mat3, i1: f64, s: f64, out: &mut [f64]) {
    let (b, c) = (f * f.transpose(), f.transpose() * f);
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                for l in 0..3 {
                    let mut sum = 2.0 * f[(i, j)] * f[(k, l)] - f[(i, l)] * f[(k, j)];
                    if i == k {
                        sum -= c[(l, j)];
                    }
                    if j == l {
                        sum -= b[(i, k)];
                    }
                    if i == k && j == l {
                        sum += i1;
                    }
                    out[(3 * i + j) * 9 + 3 * k + l] += 2.0 * s * sum;
                }
            }
        }
    }
}
