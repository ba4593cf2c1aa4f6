//! Materials of solids.

use super::{Elements, PlasticSpec, PronyTermSpec, Quantity, Triple, zero};
use crate::quantity::{Density, Pressure, Pure};
use crate::texts;
use pliant::continuum::{Incompressibility, StrainMeasure, VolumeEnergy};
use serde::Deserialize;

/// The material of some elements of a solid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "materials of Solid", deny_unknown_fields)]
pub struct SolidRegionSpec {
    /// Its name, behind that of the solid.
    #[serde(deserialize_with = "texts::plain")]
    pub name: String,
    /// The elements, as the shape has them, by number or by their centres in its axes.
    pub elements: Elements,
    /// The material.
    pub material: SolidMaterial,
    /// Density in kg/m^3; that of the solid by default.
    #[serde(default)]
    pub density: Option<Quantity<Density>>,
    /// Rows for the volume; as the solid says by default.
    #[serde(default)]
    pub incompressibility: Option<Incompressibility>,
    /// Relaxation of moduli; as the solid says by default.
    #[serde(default)]
    pub viscoelastic: Option<Vec<PronyTermSpec>>,
    /// When it yields; as the solid says by default.
    #[serde(default)]
    pub plastic: Option<PlasticSpec>,
}

/// The material of a solid.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "material")]
pub enum SolidMaterial {
    /// Linear elasticity: small strains, small rotations.
    Linear(YoungSpec),
    /// Linear elasticity at any rotation of the elements.
    Corotational(YoungSpec),
    /// St Venant and Kirchhoff's.
    StVenantKirchhoff(YoungSpec),
    /// Hencky's, of logarithmic strains: metals, which yield at finite strains with `plastic`.
    Hencky(YoungSpec),
    /// Neo-Hookean, infinite where the volume vanishes.
    NeoHookean(YoungSpec),
    /// Neo-Hookean with a force also where it is inside out.
    StableNeoHookean(YoungSpec),
    /// Mooney and Rivlin's.
    MooneyRivlin(MooneyRivlinSpec),
    /// Ogden's, of principal stretches.
    Ogden(OgdenSpec),
    /// Yeoh's, of powers of the first invariant.
    Yeoh(YeohSpec),
    /// Arruda and Boyce's, of chains with a limit.
    ArrudaBoyce(ArrudaBoyceSpec),
    /// Veronda and Westmann's, exponential in the first invariant.
    VerondaWestmann(VerondaWestmannSpec),
    /// Holzapfel, Gasser and Ogden's: families of fibres in a soft matrix.
    FibreReinforced(FibreReinforcedSpec),
    /// Fung's orthotropic exponential.
    FungOrthotropic(Box<FungSpec>),
    /// Costa's, of heart muscle: exponential along fibres, sheets and their normals.
    Costa(Box<CostaSpec>),
    /// Orthotropic linear elasticity.
    Orthotropic(Box<OrthotropicSpec>),
    /// Materials whose energies add up in every element.
    Sum(Vec<SolidMaterial>),
}

/// Moduli of small strains.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "material", deny_unknown_fields)]
pub struct YoungSpec {
    /// Young's modulus in Pa.
    pub young: Quantity<Pressure>,
    /// Poisson's ratio, above -1 and up to 1/2.
    pub poisson: Quantity<Pure>,
}

/// Coefficients of Mooney and Rivlin's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "MooneyRivlin", deny_unknown_fields)]
pub struct MooneyRivlinSpec {
    /// Coefficient of the first invariant, in Pa.
    pub c1: Quantity<Pressure>,
    /// Coefficient of the second invariant, in Pa; zero by default.
    #[serde(default = "zero")]
    pub c2: Quantity<Pressure>,
    /// Coefficient of the product of both, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c11: Quantity<Pressure>,
    /// Coefficient of the square of the first one, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c20: Quantity<Pressure>,
    /// Coefficient of the square of the second one, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c02: Quantity<Pressure>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Terms of Ogden's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Ogden", deny_unknown_fields)]
pub struct OgdenSpec {
    /// The terms, from one to six.
    pub terms: Vec<OgdenTermSpec>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// `mu/alpha (l_1^alpha + l_2^alpha + l_3^alpha - 3)` of isochoric principal stretches.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "terms", deny_unknown_fields)]
pub struct OgdenTermSpec {
    /// Modulus in Pa, of any sign.
    pub mu: Quantity<Pressure>,
    /// Exponent, not zero.
    pub alpha: Quantity<Pure>,
}

/// Coefficients of Yeoh's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Yeoh", deny_unknown_fields)]
pub struct YeohSpec {
    /// Coefficient of the first power, in Pa.
    pub c1: Quantity<Pressure>,
    /// Coefficient of the second power, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c2: Quantity<Pressure>,
    /// Coefficient of the third power, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c3: Quantity<Pressure>,
    /// Coefficient of the fourth power, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c4: Quantity<Pressure>,
    /// Coefficient of the fifth power, in Pa, of any sign; zero by default.
    #[serde(default = "zero")]
    pub c5: Quantity<Pressure>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Numbers of Arruda and Boyce's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "ArrudaBoyce", deny_unknown_fields)]
pub struct ArrudaBoyceSpec {
    /// Modulus in Pa; the shear modulus of small strains is a little larger.
    pub modulus: Quantity<Pressure>,
    /// Stretch at which the chains are straight, above 1.
    pub limit: Quantity<Pure>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Coefficients of Veronda and Westmann's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "VerondaWestmann", deny_unknown_fields)]
pub struct VerondaWestmannSpec {
    /// Coefficient in Pa.
    pub c1: Quantity<Pressure>,
    /// Exponent; the shear modulus is the product of both.
    pub c2: Quantity<Pure>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Families of fibres in a soft matrix.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "FibreReinforced", deny_unknown_fields)]
pub struct FibreReinforcedSpec {
    /// Shear modulus of the matrix in Pa.
    pub shear: Quantity<Pressure>,
    /// The families, from one to four.
    pub families: Vec<FibreFamilySpec>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Fibres of one direction, which bear no compression.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "families", deny_unknown_fields)]
pub struct FibreFamilySpec {
    /// Stiffness in Pa.
    pub k1: Quantity<Pressure>,
    /// Exponent, zero or more.
    pub k2: Quantity<Pure>,
    /// Dispersion from 0, all fibres in the direction, to 1/3, in any; 0 by default.
    #[serde(default = "zero")]
    pub dispersion: Quantity<Pure>,
    /// Direction in the axes of the shape, of any length but zero.
    pub direction: Triple<Pure>,
}

/// Moduli of Fung's orthotropic material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "FungOrthotropic", deny_unknown_fields)]
pub struct FungSpec {
    /// Coefficient of the exponential in Pa.
    pub coefficient: Quantity<Pressure>,
    /// Shear moduli of the axes 1, 2, 3 in Pa.
    pub mu: Triple<Pressure>,
    /// Moduli of 11, 22, 33 in Pa; zero by default.
    #[serde(default = "none")]
    pub lambda: Triple<Pressure>,
    /// Moduli of 12, 23, 31 in Pa; zero by default.
    #[serde(default = "none")]
    pub coupling: Triple<Pressure>,
    /// Directions of axis 1 and, across it, of axis 2 in the axes of the shape; x and y by default.
    #[serde(default)]
    pub axes: Option<(Triple<Pure>, Triple<Pure>)>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Exponents of Costa's material.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Costa", deny_unknown_fields)]
pub struct CostaSpec {
    /// Coefficient of the exponential in Pa.
    pub coefficient: Quantity<Pressure>,
    /// Exponents of stretch along fibres, sheets and normals: ff, ss, nn.
    pub stretch: Triple<Pure>,
    /// Exponents of shear of fs, sn, fn.
    pub shear: Triple<Pure>,
    /// Directions of fibres and, across them, of sheets in the axes of the shape; x and y by default.
    #[serde(default)]
    pub axes: Option<(Triple<Pure>, Triple<Pure>)>,
    /// Bulk modulus in Pa.
    pub bulk: Quantity<Pressure>,
    /// Energy of the change of volume.
    #[serde(default)]
    pub volume_energy: VolumeEnergy,
}

/// Moduli along three axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Orthotropic", deny_unknown_fields)]
pub struct OrthotropicSpec {
    /// Young's moduli along axes 1, 2, 3 in Pa.
    pub young: Triple<Pressure>,
    /// Poisson's ratios 12, 23, 31: how much the second axis shrinks as the first is stretched.
    pub poisson: Triple<Pure>,
    /// Shear moduli of 12, 23, 31 in Pa.
    pub shear: Triple<Pressure>,
    /// Directions of axis 1 and, across it, of axis 2 in the axes of the shape; x and y by default.
    #[serde(default)]
    pub axes: Option<(Triple<Pure>, Triple<Pure>)>,
    /// The strains; corotational by default.
    #[serde(default)]
    pub strains: StrainMeasure,
}

fn none() -> Triple<Pressure> {
    [zero(), zero(), zero()]
}
