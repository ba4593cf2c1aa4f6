//! Laws of materials of solids from their numbers.

use super::Result;
use crate::schema::{FibreFamilySpec, SolidMaterial, Triple, YoungSpec};
use crate::{Amount, Units};
use pliant::continuum::{ContinuumError, Elasticity, FibreFamily, Orthotropic, Solid, StrainEnergy};
use pliant::model::Field;

/// A law, or what is wrong with its numbers.
pub(super) type Law = std::result::Result<Solid, ContinuumError>;

/// Reads the numbers of materials, and turns directions to their place.
pub(super) struct Reader<'r, 'a> {
    pub(super) number: &'r dyn Fn(&'a Amount, &'static str) -> Result<f64>,
    pub(super) turn: &'r dyn Fn([f64; 3]) -> [f64; 3],
}

impl<'a> Reader<'_, 'a> {
    pub(super) fn number(&self, number: &'a Amount, key: &'static str) -> Result<f64> {
        (self.number)(number, key)
    }

    fn moduli(&self, y: &'a YoungSpec) -> Result<(f64, f64)> {
        Ok((
            self.number(&y.young, "young")?,
            self.number(&y.poisson, "poisson")?,
        ))
    }

    pub(super) fn triple(&self, numbers: &'a Triple<impl Units>, key: &'static str) -> Result<[f64; 3]> {
        let [x, y, z] = numbers;
        Ok([self.number(x, key)?, self.number(y, key)?, self.number(z, key)?])
    }

    /// The two directions of axes, x and y by default.
    fn axes(&self, axes: Option<&'a (Triple<impl Units>, Triple<impl Units>)>) -> Result<[[f64; 3]; 2]> {
        let found = match axes {
            Some((first, second)) => [self.triple(first, "axes")?, self.triple(second, "axes")?],
            None => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        };
        Ok(found.map(self.turn))
    }

    /// The laws of a material, more than one of a sum. It asks for the same numbers in the same order
    /// whatever they are.
    pub(super) fn laws(&self, material: &'a SolidMaterial) -> Result<Vec<Law>> {
        let mut all = Vec::new();
        self.add_laws(material, &mut all)?;
        Ok(all)
    }

    fn add_laws(&self, material: &'a SolidMaterial, all: &mut Vec<Law>) -> Result<()> {
        let of = |make: fn(f64, f64) -> Solid, y: &'a YoungSpec| {
            let (young, poisson) = self.moduli(y)?;
            // The moduli that energies are made of would be blamed.
            if poisson > -1.0 && poisson <= 0.5 {
                return Ok(Ok(make(young, poisson)));
            }
            Ok(Err(ContinuumError::OutOfRange {
                field: Field::Poisson,
                value: poisson,
                bound: "above -1 and at most 1/2",
            }))
        };
        let number = |number: &'a Amount, key| self.number(number, key);
        let rubber = |energy: std::result::Result<_, _>, volume| {
            Ok(energy.map(|energy| Solid::hyperelastic(energy).with_volume_energy(volume)))
        };
        let law = match material {
            SolidMaterial::Sum(terms) => return terms.iter().try_for_each(|term| self.add_laws(term, all)),
            SolidMaterial::Linear(y) => of(Solid::linear, y),
            SolidMaterial::Corotational(y) => of(Solid::corotational, y),
            SolidMaterial::StVenantKirchhoff(y) => of(Solid::st_venant_kirchhoff, y),
            SolidMaterial::Hencky(y) => of(Solid::hencky, y),
            SolidMaterial::NeoHookean(y) => {
                of(|e, n| Solid::hyperelastic(StrainEnergy::neo_hookean(e, n)), y)
            }
            SolidMaterial::StableNeoHookean(y) => of(
                |e, n| Solid::hyperelastic(StrainEnergy::stable_neo_hookean(e, n)),
                y,
            ),
            SolidMaterial::MooneyRivlin(m) => {
                let [c10, c01] = [number(&m.c1, "c1")?, number(&m.c2, "c2")?];
                let [c11, c20, c02] = [
                    number(&m.c11, "c11")?,
                    number(&m.c20, "c20")?,
                    number(&m.c02, "c02")?,
                ];
                let bulk = number(&m.bulk, "bulk")?;
                let energy = match [c11, c20, c02] {
                    [0.0, 0.0, 0.0] => StrainEnergy::MooneyRivlin {
                        c1: c10,
                        c2: c01,
                        bulk,
                    },
                    _ => StrainEnergy::Polynomial {
                        c10,
                        c01,
                        c20,
                        c11,
                        c02,
                        bulk,
                    },
                };
                rubber(Ok(energy), m.volume_energy)
            }
            SolidMaterial::Ogden(o) => {
                let terms = o.terms.iter();
                let terms = terms.map(|t| Ok([number(&t.mu, "mu")?, number(&t.alpha, "alpha")?]));
                let terms = terms.collect::<Result<Vec<_>>>()?;
                let energy = StrainEnergy::ogden(&terms, number(&o.bulk, "bulk")?);
                rubber(energy, o.volume_energy)
            }
            SolidMaterial::Yeoh(y) => {
                let c = [
                    number(&y.c1, "c1")?,
                    number(&y.c2, "c2")?,
                    number(&y.c3, "c3")?,
                    number(&y.c4, "c4")?,
                    number(&y.c5, "c5")?,
                ];
                let bulk = number(&y.bulk, "bulk")?;
                rubber(Ok(StrainEnergy::Yeoh { c, bulk }), y.volume_energy)
            }
            SolidMaterial::ArrudaBoyce(a) => {
                let energy = StrainEnergy::ArrudaBoyce {
                    modulus: number(&a.modulus, "modulus")?,
                    limit: number(&a.limit, "limit")?,
                    bulk: number(&a.bulk, "bulk")?,
                };
                rubber(Ok(energy), a.volume_energy)
            }
            SolidMaterial::VerondaWestmann(v) => {
                let energy = StrainEnergy::VerondaWestmann {
                    c1: number(&v.c1, "c1")?,
                    c2: number(&v.c2, "c2")?,
                    bulk: number(&v.bulk, "bulk")?,
                };
                rubber(Ok(energy), v.volume_energy)
            }
            SolidMaterial::FibreReinforced(f) => {
                let shear = number(&f.shear, "shear")?;
                let family = |family: &'a FibreFamilySpec| {
                    Ok(FibreFamily {
                        k1: number(&family.k1, "k1")?,
                        k2: number(&family.k2, "k2")?,
                        dispersion: number(&family.dispersion, "dispersion")?,
                        direction: (self.turn)(self.triple(&family.direction, "direction")?),
                    })
                };
                let families = f.families.iter().map(family).collect::<Result<Vec<_>>>()?;
                let energy = StrainEnergy::fibre_reinforced(shear, &families, number(&f.bulk, "bulk")?);
                rubber(energy, f.volume_energy)
            }
            SolidMaterial::FungOrthotropic(f) => {
                let coefficient = number(&f.coefficient, "coefficient")?;
                let mu = self.triple(&f.mu, "mu")?;
                let [l11, l22, l33] = self.triple(&f.lambda, "lambda")?;
                let [l12, l23, l31] = self.triple(&f.coupling, "coupling")?;
                let axes = self.axes(f.axes.as_ref())?;
                let bulk = number(&f.bulk, "bulk")?;
                let lambda = [l11, l22, l33, l12, l23, l31];
                let energy = StrainEnergy::fung_orthotropic(coefficient, mu, lambda, axes, bulk);
                rubber(energy, f.volume_energy)
            }
            SolidMaterial::Costa(c) => {
                let coefficient = number(&c.coefficient, "coefficient")?;
                let stretch = self.triple(&c.stretch, "stretch")?;
                let shear = self.triple(&c.shear, "shear")?;
                let axes = self.axes(c.axes.as_ref())?;
                let bulk = number(&c.bulk, "bulk")?;
                let energy = StrainEnergy::costa(coefficient, stretch, shear, axes, bulk);
                rubber(energy, c.volume_energy)
            }
            SolidMaterial::Orthotropic(o) => {
                let law = Orthotropic {
                    young: self.triple(&o.young, "young")?,
                    poisson: self.triple(&o.poisson, "poisson")?,
                    shear: self.triple(&o.shear, "shear")?,
                    axes: self.axes(o.axes.as_ref())?,
                };
                Ok(Ok(Solid::of_strains(o.strains, Elasticity::Orthotropic(law))))
            }
        };
        all.push(law?);
        Ok(())
    }
}

/// Hands every number of a material to `ask`.
pub(super) fn each_number<'a>(
    material: &'a SolidMaterial,
    ask: &dyn Fn(&'a Amount, &'static str) -> Result<f64>,
) -> Result<()> {
    let reader = Reader {
        number: ask,
        turn: &|direction| direction,
    };
    // Numbers that mean nothing make no law, which is not wanted yet.
    reader.laws(material).map(|_| ())
}

/// Whether a material has directions, which are turned with the solid.
pub(super) fn has_directions(material: &SolidMaterial) -> bool {
    match material {
        SolidMaterial::FibreReinforced(_)
        | SolidMaterial::FungOrthotropic(_)
        | SolidMaterial::Costa(_)
        | SolidMaterial::Orthotropic(_) => true,
        SolidMaterial::Sum(terms) => terms.iter().any(has_directions),
        _ => false,
    }
}
