//! Strain energies: their numbers, and those that are functions of invariants.

use crate::ContinuumError;
use crate::checks::{check_number, check_range};
use pliant_model::validate::{check_finite, check_not_negative, check_positive};
use pliant_model::{Field, ModelError};

/// Energy density (Pa) of a hyperelastic material, as a function of `I1 = tr(F^T F)`,
/// `I2 = (I1^2 - tr((F^T F)^2))/2` and `J = det F`, or of principal stretches.
///
/// All are zero and without stress at rest. The shear modulus `mu` and the bulk modulus `k` are
/// those of small strains.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StrainEnergy {
    /// Neo-Hookean with a logarithm: `mu (I1 - 3)/2 - mu ln J + l (ln J)^2/2`, infinite where the
    /// volume vanishes: an inverted point has no force (not a number). `shear` is `mu` (Pa), `lame`
    /// is `l = k - 2 mu/3` (Pa).
    NeoHookean {
        /// Shear modulus (Pa).
        shear: f64,
        /// Lamé's first parameter (Pa).
        lame: f64,
    },
    /// The stable neo-Hookean energy of Smith, De Goes and Kim (2018): `m (I1 - 3)/2 - m ln((I1 +
    /// 1)/4)/2 + l ((J - a)^2 - (1 - a)^2)/2` with `m = 4 mu/3`, `l = lame + 5 mu/6`,
    /// `a = 1 + 3 m/(4 l)`; also inverted points have a force, which turns them back.
    StableNeoHookean {
        /// Shear modulus (Pa).
        shear: f64,
        /// Lamé's first parameter (Pa).
        lame: f64,
    },
    /// Mooney and Rivlin's: `c1 (J^(-2/3) I1 - 3) + c2 (J^(-4/3) I2 - 3) + k (J - 1)^2/2`, with
    /// `mu = 2 (c1 + c2)`. With `c2 = 0` it is the isochoric neo-Hookean energy; with `bulk` zero
    /// it leaves the volume to others.
    MooneyRivlin {
        /// Coefficient of the first invariant (Pa).
        c1: f64,
        /// Coefficient of the second invariant (Pa).
        c2: f64,
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Ogden's (1972): `sum_p mu_p/alpha_p (l_1^alpha_p + l_2^alpha_p + l_3^alpha_p - 3) + k (J -
    /// 1)^2/2` with `l_i = J^(-1/3) s_i` of the principal stretches `s_i`, and
    /// `mu = sum_p mu_p alpha_p/2`. The exponents `2` and `-2` are Mooney and Rivlin's with
    /// `mu_p = 2 c1, -2 c2`. An inverted point has no force (not a number); with `bulk` zero it
    /// leaves the volume to others. [`ogden`](StrainEnergy::ogden) makes it of any list.
    Ogden {
        /// `mu_p` (Pa) and `alpha_p` (none, not zero), both of any sign; terms with `mu_p` zero are
        /// none.
        terms: [[f64; 2]; 6],
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// The corotational energy `mu |F - R|^2 + l tr(U - I)^2/2` with `F = R U`, which is no
    /// function of these invariants: the same law as [`LinearElastic`](crate::LinearElastic) on
    /// [`CorotationalStrain`](crate::CorotationalStrain), cheaper as a stiffness. Where two
    /// principal stretches add up to zero it has no force (not a number).
    Corotational {
        /// Shear modulus (Pa).
        shear: f64,
        /// Lamé's first parameter (Pa).
        lame: f64,
    },
}

/// Value, gradient and Hessian (upper triangle: 11, 12, 1J, 22, 2J, JJ) over `(I1, I2, J)`.
pub(super) struct Derivatives {
    pub(super) value: f64,
    pub(super) first: [f64; 3],
    pub(super) second: [f64; 6],
}

impl StrainEnergy {
    /// The neo-Hookean energy of Young's modulus (Pa) and Poisson's ratio (none).
    pub fn neo_hookean(young: f64, poisson: f64) -> Self {
        let (shear, lame) = lame(young, poisson);
        Self::NeoHookean { shear, lame }
    }

    /// The stable neo-Hookean energy of Young's modulus (Pa) and Poisson's ratio (none).
    pub fn stable_neo_hookean(young: f64, poisson: f64) -> Self {
        let (shear, lame) = lame(young, poisson);
        Self::StableNeoHookean { shear, lame }
    }

    /// The corotational energy of Young's modulus (Pa) and Poisson's ratio (none).
    pub fn corotational(young: f64, poisson: f64) -> Self {
        let (shear, lame) = lame(young, poisson);
        Self::Corotational { shear, lame }
    }

    /// Ogden's energy of up to six terms `[mu_p, alpha_p]` (Pa, none), and the bulk modulus (Pa).
    ///
    /// # Errors
    /// [`ContinuumError::OutOfRange`] of no terms or more than six. What is wrong with a number is
    /// said where the material goes into a model.
    pub fn ogden(terms: &[[f64; 2]], bulk: f64) -> Result<Self, ContinuumError> {
        let mut all = [[0.0; 2]; 6];
        let holds = (1..=all.len()).contains(&terms.len());
        check_number(Field::OgdenTerms, terms.len() as f64, holds, "from 1 to 6")?;
        all[..terms.len()].copy_from_slice(terms);
        Ok(Self::Ogden { terms: all, bulk })
    }

    /// The bulk modulus (Pa) of a part that is of the volume alone, if there is such a part.
    pub(crate) fn volume_part(&self) -> Option<f64> {
        match *self {
            Self::MooneyRivlin { bulk, .. } | Self::Ogden { bulk, .. } => Some(bulk),
            _ => None,
        }
    }

    /// Without the part that is of the volume alone.
    pub(crate) fn without_volume_part(mut self) -> Self {
        if let Self::MooneyRivlin { bulk, .. } | Self::Ogden { bulk, .. } = &mut self {
            *bulk = 0.0;
        }
        self
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ModelError> {
        match *self {
            Self::NeoHookean { shear, lame }
            | Self::StableNeoHookean { shear, lame }
            | Self::Corotational { shear, lame } => {
                check_positive(name, Field::ShearModulus, shear)?;
                let bulk = lame + 2.0 / 3.0 * shear;
                check_range(name, Field::BulkModulus, bulk, bulk > 0.0, "positive")
            }
            Self::MooneyRivlin { c1, c2, bulk } => {
                check_not_negative(name, Field::FirstCoefficient, c1)?;
                check_not_negative(name, Field::SecondCoefficient, c2)?;
                check_positive(name, Field::ShearModulus, 2.0 * (c1 + c2))?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::Ogden { terms, bulk } => {
                for [mu, alpha] in terms {
                    check_finite(name, Field::OgdenModuli, mu)?;
                    let there = mu == 0.0 || alpha != 0.0;
                    check_range(name, Field::OgdenExponents, alpha, there, "not zero")?;
                }
                let shear = terms.iter().map(|[mu, alpha]| 0.5 * mu * alpha).sum();
                check_positive(name, Field::SmallStrainModulus, shear)?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
        }
    }

    /// Value and derivatives with respect to the invariants: of Ogden's energy its volume part, not
    /// a number for the corotational energy, which is no function of them.
    pub(super) fn at(&self, i1: f64, i2: f64, j: f64) -> Derivatives {
        match *self {
            Self::Corotational { .. } => Derivatives {
                value: f64::NAN,
                first: [f64::NAN; 3],
                second: [f64::NAN; 6],
            },
            Self::Ogden { bulk, .. } => Derivatives {
                value: 0.5 * bulk * (j - 1.0) * (j - 1.0),
                first: [0.0, 0.0, bulk * (j - 1.0)],
                second: [0.0, 0.0, 0.0, 0.0, 0.0, bulk],
            },
            Self::NeoHookean { shear, lame } => {
                let log = if j > 0.0 { j.ln() } else { f64::NAN };
                Derivatives {
                    value: 0.5 * shear * (i1 - 3.0) - shear * log + 0.5 * lame * log * log,
                    first: [0.5 * shear, 0.0, (lame * log - shear) / j],
                    second: [0.0, 0.0, 0.0, 0.0, 0.0, (lame * (1.0 - log) + shear) / (j * j)],
                }
            }
            Self::StableNeoHookean { shear, lame } => {
                let m = 4.0 / 3.0 * shear;
                let l = lame + 5.0 / 6.0 * shear;
                let a = 1.0 + 0.75 * m / l;
                let at_rest = 0.5 * l * (1.0 - a) * (1.0 - a);
                Derivatives {
                    value: 0.5 * m * (i1 - 3.0) - 0.5 * m * (0.25 * (i1 + 1.0)).ln()
                        + 0.5 * l * (j - a) * (j - a)
                        - at_rest,
                    first: [0.5 * m * (1.0 - 1.0 / (i1 + 1.0)), 0.0, l * (j - a)],
                    second: [0.5 * m / (i1 + 1.0).powi(2), 0.0, 0.0, 0.0, 0.0, l],
                }
            }
            Self::MooneyRivlin { c1, c2, bulk } => {
                let cube = if j > 0.0 { j.cbrt() } else { f64::NAN };
                let (p, q) = (1.0 / (cube * cube), 1.0 / (cube * cube).powi(2));
                // d/dJ of J^-2/3 and J^-4/3.
                let (p1, q1) = (-2.0 / 3.0 * p / j, -4.0 / 3.0 * q / j);
                let (p2, q2) = (-5.0 / 3.0 * p1 / j, -7.0 / 3.0 * q1 / j);
                Derivatives {
                    value: c1 * (p * i1 - 3.0) + c2 * (q * i2 - 3.0) + 0.5 * bulk * (j - 1.0) * (j - 1.0),
                    first: [c1 * p, c2 * q, c1 * p1 * i1 + c2 * q1 * i2 + bulk * (j - 1.0)],
                    second: [
                        0.0,
                        0.0,
                        c1 * p1,
                        0.0,
                        c2 * q1,
                        c1 * p2 * i1 + c2 * q2 * i2 + bulk,
                    ],
                }
            }
        }
    }
}

/// Shear modulus and Lamé's first parameter.
fn lame(young: f64, poisson: f64) -> (f64, f64) {
    (
        young / (2.0 * (1.0 + poisson)),
        young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
    )
}
