//! Anisotropic parts of strain energies: functions of the isochoric strain.

use super::isochoric::{Isochoric, Response};
use super::{FibreFamily, StrainEnergy};
use pliant_dense::{Mat3, Vec3};

/// The anisotropic part of an energy at a deformation gradient: a function of the isochoric strain.
pub(super) struct Anisotropic<'a> {
    energy: &'a StrainEnergy,
    at: Isochoric<'a>,
    strain: [f64; 6],
}

impl<'a> Anisotropic<'a> {
    /// None of an energy that is isotropic.
    pub(super) fn of(energy: &'a StrainEnergy, f: &'a Mat3) -> Option<Self> {
        let is_so = matches!(
            energy,
            StrainEnergy::FibreReinforced { .. } | StrainEnergy::Fung { .. }
        );
        is_so.then(|| {
            let at = Isochoric::of(f);
            let strain = at.strain();
            Self { energy, at, strain }
        })
    }

    /// Energy density (Pa).
    pub(super) fn density(&self) -> f64 {
        self.response().value
    }

    /// First Piola-Kirchhoff stress (Pa).
    pub(super) fn stress(&self) -> Mat3 {
        self.at.stress(&self.response().stress)
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, out: &mut [f64]) {
        self.at.add_tangent(&self.response(), out);
    }

    fn response(&self) -> Response {
        let mut out = Response::NONE;
        match self.energy {
            StrainEnergy::FibreReinforced { families, .. } => {
                families
                    .iter()
                    .for_each(|family| self.add_fibres(family, &mut out));
            }
            StrainEnergy::Fung {
                coefficient, moduli, ..
            } => self.add_fung(*coefficient, moduli, &mut out),
            _ => {}
        }
        out
    }

    /// One family of fibres: `e_f = 2 H : e` with `H = d I + (1 - 3 d) n n^T`, whose trace is one.
    fn add_fibres(&self, family: &FibreFamily, out: &mut Response) {
        let FibreFamily {
            k1,
            k2,
            dispersion,
            direction,
        } = *family;
        if k1 == 0.0 {
            return;
        }
        let n = Vec3::from(direction).normalize();
        let h = Mat3::identity() * dispersion + n * n.transpose() * (1.0 - 3.0 * dispersion);
        // The factors of the six strains: shears as angles count once.
        let row = [h[(0, 0)], h[(1, 1)], h[(2, 2)], h[(0, 1)], h[(1, 2)], h[(2, 0)]].map(|h| 2.0 * h);
        let stretch: f64 = row.iter().zip(self.strain).map(|(h, e)| h * e).sum();
        // What is not a number goes on, so that no inverted point passes for one at rest.
        if stretch <= 0.0 {
            return;
        }
        let exponent = k2 * stretch * stretch;
        // The limit of small k2 is k1 e^2/2.
        out.value += if k2 > 0.0 {
            0.5 * k1 / k2 * exponent.exp_m1()
        } else {
            0.5 * k1 * stretch * stretch
        };
        let first = k1 * stretch * exponent.exp();
        let second = k1 * exponent.exp() * (1.0 + 2.0 * exponent);
        for i in 0..6 {
            out.stress[i] += first * row[i];
            for j in 0..6 {
                out.moduli[i][j] += second * row[i] * row[j];
            }
        }
    }

    /// `c/2 (exp(Q) - 1)` with `c Q = e . D e`: stress `exp(Q) D e`, moduli
    /// `exp(Q) (D + 2 (D e)(D e)^T/c)`.
    fn add_fung(&self, c: f64, d: &[[f64; 6]; 6], out: &mut Response) {
        let e = &self.strain;
        let de = d.map(|row| row.iter().zip(e).map(|(d, e)| d * e).sum::<f64>());
        let q = de.iter().zip(e).map(|(s, e)| s * e).sum::<f64>() / c;
        let growth = q.exp();
        out.value += 0.5 * c * q.exp_m1();
        for i in 0..6 {
            out.stress[i] += growth * de[i];
            for j in 0..6 {
                out.moduli[i][j] += growth * (d[i][j] + 2.0 * de[i] * de[j] / c);
            }
        }
    }
}
