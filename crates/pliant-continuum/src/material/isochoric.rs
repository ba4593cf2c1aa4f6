//! Functions of the isochoric strain, whatever they are: from stress and moduli over it to those
//! over the deformation gradient.

use crate::strain::{
    add_determinant_hessian, cofactors, strain_numbers, strain_rows, stress_matrix, write_matrix,
};
use pliant_dense::Mat3;

/// The isochoric strain `e = (p C - I)/2` at a deformation gradient, with `C = F^T F` and
/// `p = J^(-2/3)`. A function `phi(e)` with the stress `S = dphi/de` and the moduli
/// `D = d2phi/de2` has
///
/// ```math
/// P = p F S + p'/2 (S : C) cof F,   p' = dp/dJ
/// ```
///
/// All is not a number where `J` is not positive.
pub(super) struct Isochoric<'a> {
    f: &'a Mat3,
    c: Mat3,
    /// `p` and its derivatives over `J`.
    scales: [f64; 3],
}

/// Energy density (Pa), stress (Pa) and moduli (Pa) over the six isochoric strains.
pub(super) struct Response {
    pub(super) value: f64,
    pub(super) stress: [f64; 6],
    pub(super) moduli: [[f64; 6]; 6],
}

impl Response {
    /// The response of a law without energy.
    pub(super) const NONE: Self = Self {
        value: 0.0,
        stress: [0.0; 6],
        moduli: [[0.0; 6]; 6],
    };
}

impl<'a> Isochoric<'a> {
    pub(super) fn of(f: &'a Mat3) -> Self {
        let j = f.determinant();
        let cube = if j > 0.0 { j.cbrt() } else { f64::NAN };
        let p = 1.0 / (cube * cube);
        let p1 = -2.0 / 3.0 * p / j;
        Self {
            f,
            c: f.transpose() * f,
            scales: [p, p1, -5.0 / 3.0 * p1 / j],
        }
    }

    /// The six strains, shears as angles.
    pub(super) fn strain(&self) -> [f64; 6] {
        strain_numbers(&(0.5 * (self.stretch() - Mat3::identity())))
    }

    /// The isochoric right Cauchy-Green tensor `p C`.
    pub(super) fn stretch(&self) -> Mat3 {
        self.c * self.scales[0]
    }

    /// First Piola-Kirchhoff stress (Pa) of the stress over isochoric strains (Pa).
    pub(super) fn stress(&self, stress: &[f64; 6]) -> Mat3 {
        let s = stress_matrix(stress);
        let [p, p1, _] = self.scales;
        self.f * s * p + cofactors(self.f) * (0.5 * p1 * s.dot(&self.c))
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, Response { stress, moduli, .. }: &Response, out: &mut [f64]) {
        let s = stress_matrix(stress);
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
}
