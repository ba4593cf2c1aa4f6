//! Hencky's energy, on logarithms of principal stretches.

use super::principal::{Isotropic, Principal};
use pliant_dense::Mat3;

/// Hencky's change of shape at one deformation gradient, `mu sum_i e_i^2` (Pa) with
/// `e_i = ln(J^(-1/3) s_i)` of the principal stretches `s_i`.
pub(super) struct Hencky {
    shear: f64,
    principal: Principal,
}

impl Hencky {
    /// Takes a deformation gradient apart, for a shear modulus (Pa). None where the volume is not
    /// positive.
    pub(super) fn of(f: &Mat3, shear: f64) -> Option<Self> {
        let principal = Principal::of(f)?;
        Some(Self { shear, principal })
    }

    /// Energy density (Pa).
    pub(super) fn density(&self) -> f64 {
        self.shear * self.principal.deviator().iter().map(|e| e * e).sum::<f64>()
    }

    /// First Piola-Kirchhoff stress (Pa).
    pub(super) fn stress(&self) -> Mat3 {
        let tau = self.principal.deviator().map(|e| 2.0 * self.shear * e);
        self.principal.stress(&tau)
    }

    /// Adds the derivative of the stress, 9 x 9 over the entries of `F`, rows first.
    pub(super) fn add_tangent(&self, out: &mut [f64]) {
        let law = Isotropic {
            stress: self.principal.deviator().map(|e| 2.0 * self.shear * e),
            slopes: slopes(self.shear, 0.0),
            turns: self.principal.quotients().map(|q| 2.0 * self.shear * q),
        };
        self.principal.add_tangent(&law, out);
    }
}

/// Moduli over three logarithmic strains of a shear and a bulk modulus (Pa):
/// `tau = k tr(e) + 2 mu dev(e)`.
pub(super) fn slopes(shear: f64, bulk: f64) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| bulk + 2.0 * shear * if i == j { 2.0 / 3.0 } else { -1.0 / 3.0 })
    })
}
