//! Strain energies: their numbers, and those that are functions of invariants.

use super::axes::{MaterialAxes, check_semidefinite};
use super::{VolumeEnergy, shear_and_bulk};
use crate::ContinuumError;
use crate::checks::{check_number, check_range};
use pliant_dense::Vec3;
use pliant_model::validate::{check_finite, check_not_negative, check_positive};
use pliant_model::{Field, ModelError};

/// Energy density (Pa) of a hyperelastic material, as a function of `I1 = tr(F^T F)`,
/// `I2 = (I1^2 - tr((F^T F)^2))/2` and `J = det F`, or of principal stretches.
///
/// All are zero and without stress at rest. The shear modulus `mu` and the bulk modulus `k` are
/// those of small strains. In the place of a part `k (J - 1)^2/2` a material may have another
/// ([`VolumeEnergy`]).
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
    /// Mooney and Rivlin's of five terms, the polynomial of second order of Rivlin and Saunders
    /// (1951), with `a = J^(-2/3) I1 - 3`, `b = J^(-4/3) I2 - 3` and `mu = 2 (c10 + c01)`:
    ///
    /// ```math
    /// c10 a + c01 b + c20 a^2 + c11 a b + c02 b^2 + k (J - 1)^2/2
    /// ```
    ///
    /// An inverted point has no force (not a number); with `bulk` zero it leaves the volume to
    /// others.
    Polynomial {
        /// Coefficient of `a` (Pa), of any sign.
        c10: f64,
        /// Coefficient of `b` (Pa), of any sign.
        c01: f64,
        /// Coefficient of `a^2` (Pa), of any sign.
        c20: f64,
        /// Coefficient of `a b` (Pa), of any sign.
        c11: f64,
        /// Coefficient of `b^2` (Pa), of any sign.
        c02: f64,
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
    /// Hencky's (1928), of logarithms of principal stretches: `mu sum_i e_i^2 + k (ln J)^2/2` with
    /// `e_i = ln(J^(-1/3) s_i)`; infinite where the volume vanishes: an inverted point has no force
    /// (not a number). Metals: of moderate strains it is closer than energies of `F^T F` (Anand
    /// 1979), and it is the elasticity of [`HenckyPlastic`](crate::HenckyPlastic). Volume rows have
    /// `k (J - 1)^2/2` in the place of its last part.
    Hencky {
        /// Shear modulus (Pa).
        shear: f64,
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Yeoh's (1993), of three powers, or of five: `sum_i c_i (a - 3)^i + k (J - 1)^2/2` with
    /// `a = J^(-2/3) I1`, and `mu = 2 c1`. With `c2`, `c4` and `c5` zero it is the cubic
    /// hyperelastic energy. An inverted point has no force (not a number); with `bulk` zero it
    /// leaves the volume to others.
    Yeoh {
        /// Coefficients `c1` to `c5` (Pa), of any sign but the first.
        c: [f64; 5],
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Arruda and Boyce's (1993), the first five terms, with `a = J^(-2/3) I1`:
    ///
    /// ```math
    /// m sum_i C_i/L^(2 i - 2) (a^i - 3^i) + k (J - 1)^2/2,   C = 1/2, 1/20, 11/1050, 19/7000, 519/673750
    /// mu = m (1 + 3/(5 L^2) + 99/(175 L^4) + 513/(875 L^6) + 42039/(67375 L^8))
    /// ```
    ///
    /// An inverted point has no force (not a number); with `bulk` zero it leaves the volume to
    /// others.
    ArrudaBoyce {
        /// The modulus `m` (Pa).
        modulus: f64,
        /// Stretch `L` at which the chains are straight (none).
        limit: f64,
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Veronda and Westmann's (1970): `c1 (exp(c2 (a - 3)) - 1) - c1 c2 (b - 3)/2 + k (J - 1)^2/2`
    /// with `a = J^(-2/3) I1`, `b = J^(-4/3) I2`, and `mu = c1 c2`. An inverted point has no force
    /// (not a number); with `bulk` zero it leaves the volume to others.
    VerondaWestmann {
        /// Coefficient (Pa).
        c1: f64,
        /// Exponent (none).
        c2: f64,
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Fibres in a soft matrix, Holzapfel, Gasser and Ogden's (2000) with the dispersion of Gasser,
    /// Ogden and Holzapfel (2006), with `p = J^(-2/3)` and the unit direction `n` of each
    /// [`FibreFamily`] at rest:
    ///
    /// ```math
    /// mu (p I1 - 3)/2 + sum_f k1/(2 k2) (exp(k2 e_f^2) - 1) + k (J - 1)^2/2
    /// e_f = max(0, d (p I1 - 3) + (1 - 3 d) (p |F n|^2 - 1))
    /// ```
    ///
    /// Fibres bear no compression: stress is continuous where `e_f` is zero, its tangent jumps
    /// there. An inverted point has no force (not a number); with `bulk` zero it leaves the volume
    /// to others. [`fibre_reinforced`](StrainEnergy::fibre_reinforced) makes it of any list.
    FibreReinforced {
        /// Shear modulus of the matrix (Pa).
        shear: f64,
        /// The families; those with `k1` zero are none.
        families: [FibreFamily; 4],
        /// Bulk modulus (Pa).
        bulk: f64,
    },
    /// Fung's exponential energy `c/2 (exp(Q) - 1) + k (J - 1)^2/2` of isochoric strains, with
    /// `Q = e . D e/c` and the six numbers `e` of `(J^(-2/3) F^T F - I)/2`, shears as angles. `D`
    /// are the moduli of small strains, of which the change of shape counts. An inverted point has
    /// no force (not a number); with `bulk` zero it leaves the volume to others.
    /// [`fung_orthotropic`](StrainEnergy::fung_orthotropic) makes it of moduli along axes,
    /// [`costa`](StrainEnergy::costa) Costa's law of heart muscle.
    Fung {
        /// The coefficient `c` (Pa).
        coefficient: f64,
        /// `D` (Pa), symmetric, without negative eigenvalues.
        moduli: [[f64; 6]; 6],
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

/// Fibres of one direction in a matrix ([`StrainEnergy::FibreReinforced`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FibreFamily {
    /// Stiffness `k1` (Pa).
    pub k1: f64,
    /// Exponent `k2` (none); zero makes the energy `k1 e^2/2`.
    pub k2: f64,
    /// Dispersion `d` (none): 0 where all fibres have the direction, 1/3 where they have any.
    pub dispersion: f64,
    /// Direction at rest (none), of any length but zero.
    pub direction: [f64; 3],
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

    /// Hencky's energy of Young's modulus (Pa) and Poisson's ratio (none).
    pub fn hencky(young: f64, poisson: f64) -> Self {
        let (shear, bulk) = shear_and_bulk(young, poisson);
        Self::Hencky { shear, bulk }
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

    /// A matrix of this shear modulus (Pa) with up to four families of fibres, and the bulk modulus
    /// (Pa).
    ///
    /// # Errors
    /// [`ContinuumError::OutOfRange`] of no families or more than four. What is wrong with a number
    /// is said where the material goes into a model.
    pub fn fibre_reinforced(shear: f64, families: &[FibreFamily], bulk: f64) -> Result<Self, ContinuumError> {
        let mut all = [FibreFamily::default(); 4];
        let holds = (1..=all.len()).contains(&families.len());
        let count = families.len() as f64;
        check_number(Field::FibreFamilies, count, holds, "from 1 to 4")?;
        all[..families.len()].copy_from_slice(families);
        Ok(Self::FibreReinforced {
            shear,
            families: all,
            bulk,
        })
    }

    /// Fung's orthotropic energy along axes: the coefficient `c` (Pa), `mu` (Pa) of the three axes,
    /// `lambda` (Pa) of 11, 22, 33, 12, 23, 31, the directions (none) of axis 1 and, across it, of
    /// axis 2, and the bulk modulus (Pa):
    ///
    /// ```math
    /// c Q = sum_a (2 mu_a A_a : e^2 + sum_b lambda_ab (A_a : e) (A_b : e)),   A_a = n_a n_a^T
    /// ```
    ///
    /// # Errors
    /// [`ContinuumError::Axes`] of axes that are no two directions. What is wrong with a number is
    /// said where the material goes into a model.
    pub fn fung_orthotropic(
        c: f64,
        mu: [f64; 3],
        lambda: [f64; 6],
        axes: [[f64; 3]; 2],
        bulk: f64,
    ) -> Result<Self, ContinuumError> {
        let d = |i: usize, j: usize| match (i < 3, j < 3, i == j) {
            (true, true, true) => lambda[i] + 2.0 * mu[i],
            // The pairs 12, 23, 31 stand behind 11, 22, 33.
            (true, true, false) => lambda[if (i + 1) % 3 == j { 3 + i } else { 3 + j }],
            (false, false, true) => 0.5 * (mu[i - 3] + mu[(i - 2) % 3]),
            _ => 0.0,
        };
        let along = std::array::from_fn(|i| std::array::from_fn(|j| d(i, j)));
        let [first, second] = axes;
        let axes = MaterialAxes::of(axes).ok_or(ContinuumError::Axes { first, second })?;
        Ok(Self::Fung {
            coefficient: c,
            moduli: axes.moduli(&along),
            bulk,
        })
    }

    /// Costa's law of heart muscle (Costa, Holmes and McCulloch 2001) along fibres, sheets and the
    /// normals of sheets, axes 1, 2 and 3: the coefficient `C` (Pa), `b` (none) of stretch along
    /// `ff, ss, nn` and of shear `fs, sn, fn`, the directions (none) of fibres and, across them, of
    /// sheets, and the bulk modulus (Pa). Its strains `E` are isochoric, as all of [`Fung`](Self::Fung)
    /// are, so that the stress of what keeps its volume is that of the paper but for a pressure:
    ///
    /// ```math
    /// C/2 (exp(Q) - 1) + k (J - 1)^2/2
    /// Q = b_ff E_ff^2 + b_ss E_ss^2 + b_nn E_nn^2 + 2 b_fs E_fs^2 + 2 b_sn E_sn^2 + 2 b_fn E_fn^2
    /// ```
    ///
    /// With `b_ss = b_nn = b_sn` and `b_fs = b_fn` it is Guccione's, with all six equal isotropic.
    ///
    /// # Errors
    /// [`ContinuumError::Axes`] of axes that are no two directions. What is wrong with a number is
    /// said where the material goes into a model.
    pub fn costa(
        c: f64,
        stretch: [f64; 3],
        shear: [f64; 3],
        axes: [[f64; 3]; 2],
        bulk: f64,
    ) -> Result<Self, ContinuumError> {
        // Shears as angles are twice those of the tensor, whose planes fs, sn, fn are 12, 23, 31.
        let diagonal = [stretch.map(|b| c * b), shear.map(|b| 0.5 * c * b)].concat();
        let along = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { diagonal[i] } else { 0.0 }));
        let [first, second] = axes;
        let axes = MaterialAxes::of(axes).ok_or(ContinuumError::Axes { first, second })?;
        Ok(Self::Fung {
            coefficient: c,
            moduli: axes.moduli(&along),
            bulk,
        })
    }

    /// The bulk modulus (Pa) of a part that is of the volume alone, if there is such a part.
    pub(crate) fn volume_part(&self) -> Option<f64> {
        let mut energy = *self;
        energy.bulk_mut().copied()
    }

    /// The bulk modulus of a part that is of the volume alone.
    fn bulk_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::MooneyRivlin { bulk, .. }
            | Self::Polynomial { bulk, .. }
            | Self::Ogden { bulk, .. }
            | Self::Hencky { bulk, .. }
            | Self::Yeoh { bulk, .. }
            | Self::ArrudaBoyce { bulk, .. }
            | Self::VerondaWestmann { bulk, .. }
            | Self::FibreReinforced { bulk, .. }
            | Self::Fung { bulk, .. } => Some(bulk),
            Self::NeoHookean { .. } | Self::StableNeoHookean { .. } | Self::Corotational { .. } => None,
        }
    }

    /// With another bulk modulus (Pa) of the part that is of the volume alone, if there is one.
    pub(crate) fn with_volume_part(mut self, modulus: f64) -> Self {
        if let Some(bulk) = self.bulk_mut() {
            *bulk = modulus;
        }
        self
    }

    /// Shear modulus (Pa) of small strains; of fibres that of the matrix, of Fung's the mean over
    /// the five changes of shape.
    pub(crate) fn small_shear(&self) -> f64 {
        match *self {
            Self::NeoHookean { shear, .. }
            | Self::StableNeoHookean { shear, .. }
            | Self::Corotational { shear, .. }
            | Self::Hencky { shear, .. }
            | Self::FibreReinforced { shear, .. } => shear,
            Self::MooneyRivlin { c1, c2, .. } | Self::Polynomial { c10: c1, c01: c2, .. } => 2.0 * (c1 + c2),
            Self::Ogden { terms, .. } => terms.iter().map(|[mu, alpha]| 0.5 * mu * alpha).sum(),
            Self::Yeoh { c: [c1, ..], .. } => 2.0 * c1,
            Self::ArrudaBoyce { modulus, limit, .. } => 2.0 * chains(modulus, limit, 3.0).first[0],
            Self::VerondaWestmann { c1, c2, .. } => c1 * c2,
            Self::Fung { moduli: d, .. } => {
                // `D` in an orthonormal basis of deviators has the trace `sum 2 mu_k`.
                let trace: f64 = (0..3).map(|i| d[i][i] + 2.0 * d[3 + i][3 + i]).sum();
                let of_volume: f64 = d[..3].iter().flat_map(|row| &row[..3]).sum();
                (trace - of_volume / 3.0) / 10.0
            }
        }
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), ModelError> {
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
            Self::Polynomial {
                c10,
                c01,
                c20,
                c11,
                c02,
                bulk,
            } => {
                check_finite(name, Field::FirstCoefficient, c10)?;
                check_finite(name, Field::SecondCoefficient, c01)?;
                check_finite(name, Field::CoefficientOfFirstSquare, c20)?;
                check_finite(name, Field::CoefficientOfProduct, c11)?;
                check_finite(name, Field::CoefficientOfSecondSquare, c02)?;
                check_positive(name, Field::ShearModulus, 2.0 * (c10 + c01))?;
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
            Self::Hencky { shear, bulk } => {
                check_positive(name, Field::ShearModulus, shear)?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::Yeoh {
                c: [c1, c2, c3, c4, c5],
                bulk,
            } => {
                check_positive(name, Field::FirstCoefficient, c1)?;
                check_finite(name, Field::SecondCoefficient, c2)?;
                check_finite(name, Field::ThirdCoefficient, c3)?;
                check_finite(name, Field::FourthCoefficient, c4)?;
                check_finite(name, Field::FifthCoefficient, c5)?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::ArrudaBoyce { modulus, limit, bulk } => {
                check_positive(name, Field::ShearModulus, modulus)?;
                check_range(name, Field::LimitStretch, limit, limit > 1.0, "above 1")?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::VerondaWestmann { c1, c2, bulk } => {
                check_positive(name, Field::FirstCoefficient, c1)?;
                check_positive(name, Field::SecondCoefficient, c2)?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::FibreReinforced {
                shear,
                families,
                bulk,
            } => {
                check_positive(name, Field::ShearModulus, shear)?;
                for family in families {
                    family.check(name)?;
                }
                check_not_negative(name, Field::BulkModulus, bulk)
            }
            Self::Fung {
                coefficient,
                moduli,
                bulk,
            } => {
                check_positive(name, Field::Coefficient, coefficient)?;
                check_semidefinite(name, &moduli)?;
                check_not_negative(name, Field::BulkModulus, bulk)
            }
        }
    }

    /// Value and derivatives with respect to the invariants: of Ogden's, Hencky's and Fung's
    /// energy the volume part, of fibres the matrix; not a number for the corotational energy, which is no
    /// function of them. What is of the volume alone is the energy `volume` of it.
    pub(super) fn at(&self, [i1, i2, j]: [f64; 3], volume: VolumeEnergy) -> Derivatives {
        let isochoric = |bulk: f64, phi: &dyn Fn(f64, f64) -> OfIsochoric| {
            isochoric([i1, i2, j], volume.at(bulk, j), phi)
        };
        match *self {
            Self::Corotational { .. } => Derivatives {
                value: f64::NAN,
                first: [f64::NAN; 3],
                second: [f64::NAN; 6],
            },
            Self::Ogden { bulk, .. } | Self::Fung { bulk, .. } => of_volume(volume.at(bulk, j)),
            Self::Hencky { bulk, .. } => of_volume(VolumeEnergy::Logarithmic.at(bulk, j)),
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
            Self::MooneyRivlin { c1, c2, bulk } => isochoric(bulk, &|a, b| OfIsochoric {
                value: c1 * (a - 3.0) + c2 * (b - 3.0),
                first: [c1, c2],
                second: [0.0; 3],
            }),
            Self::Polynomial {
                c10,
                c01,
                c20,
                c11,
                c02,
                bulk,
            } => isochoric(bulk, &|a, b| {
                let (a, b) = (a - 3.0, b - 3.0);
                OfIsochoric {
                    value: a * (c10 + c20 * a + c11 * b) + b * (c01 + c02 * b),
                    first: [c10 + 2.0 * c20 * a + c11 * b, c01 + c11 * a + 2.0 * c02 * b],
                    second: [2.0 * c20, c11, 2.0 * c02],
                }
            }),
            Self::FibreReinforced { shear, bulk, .. } => isochoric(bulk, &|a, _| OfIsochoric {
                value: 0.5 * shear * (a - 3.0),
                first: [0.5 * shear, 0.0],
                second: [0.0; 3],
            }),
            Self::Yeoh {
                c: [c1, c2, c3, c4, c5],
                bulk,
            } => isochoric(bulk, &|a, _| {
                let a = a - 3.0;
                let slope = a * a * (4.0 * c4 + a * 5.0 * c5);
                let curvature = a * a * (12.0 * c4 + a * 20.0 * c5);
                OfIsochoric {
                    value: a * (c1 + a * (c2 + a * (c3 + a * (c4 + a * c5)))),
                    first: [c1 + a * (2.0 * c2 + a * 3.0 * c3 + slope), 0.0],
                    second: [2.0 * c2 + a * 6.0 * c3 + curvature, 0.0, 0.0],
                }
            }),
            Self::ArrudaBoyce { modulus, limit, bulk } => isochoric(bulk, &|a, _| chains(modulus, limit, a)),
            Self::VerondaWestmann { c1, c2, bulk } => isochoric(bulk, &|a, b| {
                let growth = c2 * (a - 3.0);
                OfIsochoric {
                    value: c1 * growth.exp_m1() - 0.5 * c1 * c2 * (b - 3.0),
                    first: [c1 * c2 * growth.exp(), -0.5 * c1 * c2],
                    second: [c1 * c2 * c2 * growth.exp(), 0.0, 0.0],
                }
            }),
        }
    }
}

impl FibreFamily {
    fn check(&self, name: &str) -> Result<(), ModelError> {
        check_not_negative(name, Field::FibreStiffness, self.k1)?;
        if self.k1 == 0.0 {
            return Ok(());
        }
        check_not_negative(name, Field::FibreExponent, self.k2)?;
        let (d, bound) = (self.dispersion, "from 0 to 1/3");
        // The third of a user is that of the machine, or one digit less.
        let holds = (0.0..=1.0 / 3.0 + 1e-12).contains(&d);
        check_range(name, Field::FibreDispersion, d, holds, bound)?;
        for x in self.direction {
            check_finite(name, Field::Directions, x)?;
        }
        check_positive(name, Field::DirectionLength, Vec3::from(self.direction).norm())
    }
}

/// An energy of `a = J^(-2/3) I1` and `b = J^(-4/3) I2`: value, gradient, and the second derivatives
/// over `a a`, `a b`, `b b`.
struct OfIsochoric {
    value: f64,
    first: [f64; 2],
    second: [f64; 3],
}

/// An energy of the volume alone and its derivatives over `J`, as a function of `I1, I2, J`.
fn of_volume([value, first, second]: [f64; 3]) -> Derivatives {
    Derivatives {
        value,
        first: [0.0, 0.0, first],
        second: [0.0, 0.0, 0.0, 0.0, 0.0, second],
    }
}

/// `phi(a, b) + U(J)` as a function of `I1, I2, J`, with `U` and its derivatives.
fn isochoric([i1, i2, j]: [f64; 3], volume: [f64; 3], phi: impl Fn(f64, f64) -> OfIsochoric) -> Derivatives {
    let cube = if j > 0.0 { j.cbrt() } else { f64::NAN };
    let (p, q) = (1.0 / (cube * cube), 1.0 / (cube * cube).powi(2));
    // d/dJ of J^-2/3 and J^-4/3.
    let (p1, q1) = (-2.0 / 3.0 * p / j, -4.0 / 3.0 * q / j);
    let (p2, q2) = (-5.0 / 3.0 * p1 / j, -7.0 / 3.0 * q1 / j);
    let OfIsochoric {
        value,
        first: [fa, fb],
        second: [faa, fab, fbb],
    } = phi(p * i1, q * i2);
    // da/dJ, db/dJ.
    let (a1, b1) = (p1 * i1, q1 * i2);
    Derivatives {
        value: value + volume[0],
        first: [fa * p, fb * q, fa * p1 * i1 + fb * q1 * i2 + volume[1]],
        second: [
            faa * p * p,
            fab * p * q,
            fa * p1 + faa * p * p1 * i1 + fab * p * b1,
            fbb * q * q,
            fb * q1 + fab * q * a1 + fbb * q * b1,
            fa * p2 * i1 + fb * q2 * i2 + faa * a1.powi(2) + (2.0 * fab * a1 + fbb * b1) * b1 + volume[2],
        ],
    }
}

/// The five terms of Arruda and Boyce.
fn chains(modulus: f64, limit: f64, a: f64) -> OfIsochoric {
    const TERMS: [f64; 5] = [
        1.0 / 2.0,
        1.0 / 20.0,
        11.0 / 1050.0,
        19.0 / 7000.0,
        519.0 / 673_750.0,
    ];
    let mut out = OfIsochoric {
        value: 0.0,
        first: [0.0; 2],
        second: [0.0; 3],
    };
    // Term i is `w a^i` with `w` the weight over `limit^(2 i - 2)`.
    let (mut scale, mut i) = (modulus, 1);
    for term in TERMS {
        let (w, n) = (scale * term, f64::from(i));
        out.value += w * (a.powi(i) - 3f64.powi(i));
        out.first[0] += w * n * a.powi(i - 1);
        if i > 1 {
            out.second[0] += w * n * (n - 1.0) * a.powi(i - 2);
        }
        scale /= limit * limit;
        i += 1;
    }
    out
}

/// Shear modulus and Lamé's first parameter.
fn lame(young: f64, poisson: f64) -> (f64, f64) {
    (
        young / (2.0 * (1.0 + poisson)),
        young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
    )
}
