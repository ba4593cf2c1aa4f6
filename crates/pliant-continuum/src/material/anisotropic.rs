//! Anisotropic parts of strain energies: functions of the isochoric strain.

use super::{FibreFamily, StrainEnergy};
use crate::strain::{
    add_determinant_hessian, cofactors, strain_numbers, strain_rows, stress_matrix, write_matrix,
};
use pliant_dense::{Mat3, Vec3};

/// The anisotropic part of an energy at a deformation gradient.
///
/// A function `phi(e)` of the isochoric strain `e = (p C - I)/2`, with `C = F^T F` and
/// `p = J^(-2/3)`: with its stress `S = dphi/de` and moduli `D = d2phi/de2`,
///
/// ```math
/// P = p F S + p'/2 (S : C) cof F,   p' = dp/dJ
/// ```
pub(super) struct Anisotropic<'a> {
    energy: &'a StrainEnergy,
    f: &'a Mat3,
    c: Mat3,
    strain: [f64; 6],
    /// `p` and its derivatives over `J`.
    scales: [f64; 3],
}

/// Energy density (Pa), stress (Pa) and moduli (Pa) over the six isochoric strains.
struct Response {
    value: f64,
    stress: [f64; 6],
    moduli: [[f64; 6]; 6],
}

impl<'a> Anisotropic<'a> {
    /// None of an energy that is isotropic.
    pub(super) fn of(energy: &'a StrainEnergy, f: &'a Mat3) -> Option<Self> {
        let is_so = matches!(
            energy,
            StrainEnergy::FibreReinforced { .. } | StrainEnergy::Fung { .. }
        );
        if !is_so {
            return None;
        }
        let j = f.determinant();
        let cube = if j > 0.0 { j.cbrt() } else { f64::NAN };
        let p = 1.0 / (cube * cube);
        let p1 = -2.0 / 3.0 * p / j;
        let c = f.transpose() * f;
        Some(Self {
            energy,
            f,
            c,
            strain: strain_numbers(&(0.5 * (c * p - Mat3::identity()))),
            scales: [p, p1, -5.0 / 3.0 * p1 / j],
        })
    }

    /// Energy density (Pa).
    pub(super) fn density(&self) -> f64 {
        self.response().value
    }

    /// First Piola-Kirchhoff stress (Pa).
    pub(super) fn stress(&self) -> Mat3 {
        let s = stress_matrix(&self.response().stress);
        let [p, p1, _] = self.scales;
        self.f * s * p + cofactors(self.f) * (0.5 * p1 * s.dot(&self.c))
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, out: &mut [f64]) {
        let Response { stress, moduli, .. } = self.response();
        let s = stress_matrix(&stress);
        let [p, p1, p2] = self.scales;
        let (mut cof, mut fs) = ([0.0; 9], [0.0; 9]);
        write_matrix(&cofactors(self.f), &mut cof);
        write_matrix(&(self.f * s), &mut fs);
        // de/dF: six rows of nine.
        let mut rows = strain_rows(self.f);
        let of_volume = strain_numbers(&self.c);
        for (row, c) in rows.chunks_exact_mut(9).zip(of_volume) {
            for (entry, cof) in row.iter_mut().zip(cof) {
                *entry = p * *entry + 0.5 * p1 * c * cof;
            }
        }
        let of_c = s.dot(&self.c);
        for a in 0..9 {
            let left: [f64; 6] =
                std::array::from_fn(|j| (0..6).map(|i| rows[9 * i + a] * moduli[i][j]).sum::<f64>());
            for b in 0..9 {
                let material: f64 = (0..6).map(|j| left[j] * rows[9 * j + b]).sum();
                let volume = p1 * (fs[a] * cof[b] + cof[a] * fs[b]) + 0.5 * p2 * of_c * cof[a] * cof[b];
                out[9 * a + b] += material + volume;
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                for l in 0..3 {
                    out[(3 * i + j) * 9 + 3 * i + l] += p * s[(j, l)];
                }
            }
        }
        add_determinant_hessian(self.f, 0.5 * p1 * of_c, out);
    }

    fn response(&self) -> Response {
        let mut out = Response {
            value: 0.0,
            stress: [0.0; 6],
            moduli: [[0.0; 6]; 6],
        };
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
