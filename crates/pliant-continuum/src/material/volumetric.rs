//! Energies of the change of volume beside isochoric laws.

use super::StrainEnergy;

/// The energy of the change of volume of a law that has a bulk modulus `k` (Pa), with `J = det F`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "volume_energy")
)]
#[non_exhaustive]
pub enum VolumeEnergy {
    /// `k (J - 1)^2/2`, whose pressure `k (J - 1)` is linear in the volume: finite where the volume
    /// vanishes. Hencky's energy has its own, which is `Logarithmic`.
    #[default]
    Quadratic,
    /// `k (ln J)^2/2`, infinite where the volume vanishes: what is pressed together becomes stiffer
    /// without limit, and the pressure `k ln J/J` of what is pulled apart falls again beyond `J = e`.
    Logarithmic,
}

impl VolumeEnergy {
    /// The energy density (Pa) of a bulk modulus (Pa) and its two derivatives over `J`.
    pub(super) fn at(self, bulk: f64, j: f64) -> [f64; 3] {
        match self {
            Self::Quadratic => [0.5 * bulk * (j - 1.0) * (j - 1.0), bulk * (j - 1.0), bulk],
            Self::Logarithmic => {
                let log = if j > 0.0 { j.ln() } else { f64::NAN };
                [
                    0.5 * bulk * log * log,
                    bulk * log / j,
                    bulk * (1.0 - log) / (j * j),
                ]
            }
        }
    }
}

/// The energy of a point: a law, and the energy of its change of volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointEnergy<'a> {
    pub(super) law: &'a StrainEnergy,
    pub(super) volume: VolumeEnergy,
}
