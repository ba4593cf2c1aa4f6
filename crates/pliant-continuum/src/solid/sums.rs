//! Materials that add up in the same elements.

use super::volume::Pointwise;
use super::{Law, Solid, StrainMeasure, volume};
use crate::{ContinuumError, Elasticity, StrainEnergy, VolumeEnergy};
use pliant_model::Field;
use std::fmt;

/// A further material in the elements of a region: its energy and its stress add to those of the
/// first, as of a matrix and what is laid into it.
#[derive(Clone, Copy)]
pub struct SolidTerm<'a> {
    /// The material: its law counts, and the energy of its change of volume. All else is that of
    /// the first one.
    pub solid: Solid,
    /// The material at a place of an element, as that of a region.
    pub varies: Option<&'a dyn Fn(usize, [f64; 3]) -> Solid>,
}

impl fmt::Debug for SolidTerm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolidTerm")
            .field("solid", &self.solid)
            .finish_non_exhaustive()
    }
}

/// One of the materials of some elements, with its laws: one for all points of integration, or one
/// for each.
pub(super) struct Term {
    pub(super) solid: Solid,
    pub(super) laws: Vec<Law>,
}

/// The materials of some elements, most often one, and the part of their bulk modulus that stays at
/// the points of integration beside volume rows.
#[derive(Clone, Copy)]
pub(super) struct Sum<'a> {
    pub(super) terms: &'a [Term],
    pub(super) pointwise: Pointwise,
}

impl Term {
    fn law(&self, point: usize) -> &Law {
        &self.laws[if self.laws.len() == 1 { 0 } else { point }]
    }
}

impl Sum<'_> {
    /// The bulk modulus (Pa) that stays at the points, and the inverse (1/Pa) of that of the rows: one
    /// pair for all points, or one for each.
    pub(super) fn splits(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let count = self.terms.iter().map(|term| term.laws.len()).max();
        let laws = |q: usize| self.terms.iter().map(move |term| term.law(q));
        (0..count.unwrap_or(0)).map(move |q| self.pointwise.split(laws(q)))
    }

    /// The bulk modulus (Pa) of a term at its points beside volume rows: the first one has what stays
    /// there of all.
    fn bulk_at_points(&self, term: usize) -> Vec<f64> {
        if term > 0 || volume::is_apart(&self.terms[term].solid) {
            return vec![0.0];
        }
        self.splits().map(|[at_points, _]| at_points).collect()
    }

    /// The energies of a hyperelastic term; of the part of the volume, where this is rows, what stays
    /// at the points.
    pub(super) fn energies(&self, term: usize) -> Vec<StrainEnergy> {
        let own = &self.terms[term];
        let energy = |law: &Law| match *law {
            Law::Hyperelastic(energy) => Some(energy),
            Law::OfStrains { .. } => None,
        };
        if !own.solid.has_volume_rows() {
            return own.laws.iter().filter_map(energy).collect();
        }
        let bulk = self.bulk_at_points(term);
        let count = own.laws.len().max(bulk.len());
        let with_bulk = |q: usize| {
            let bulk = bulk[if bulk.len() == 1 { 0 } else { q }];
            energy(own.law(q)).map(|energy| energy.with_volume_part(bulk))
        };
        (0..count).filter_map(with_bulk).collect()
    }

    /// The laws of strains of a term.
    pub(super) fn elasticities(&self, term: usize) -> Vec<Elasticity> {
        let elasticity = |law: &Law| match *law {
            Law::OfStrains { elasticity, .. } => Some(elasticity),
            Law::Hyperelastic(_) => None,
        };
        self.terms[term].laws.iter().filter_map(elasticity).collect()
    }

    /// Shear modulus and bulk modulus (Pa) at the points of a term that is a law of strains, beside
    /// volume rows.
    pub(super) fn moduli(&self, term: usize) -> Vec<[f64; 2]> {
        let (laws, bulk) = (self.elasticities(term), self.bulk_at_points(term));
        let of = |q: usize| {
            let shear = laws[if laws.len() == 1 { 0 } else { q }].shear();
            [shear.unwrap_or(0.0), bulk[if bulk.len() == 1 { 0 } else { q }]]
        };
        (0..laws.len().max(bulk.len())).map(of).collect()
    }

    /// The strains of the laws of strains, if there is one.
    pub(super) fn measure(&self) -> Option<StrainMeasure> {
        self.terms.iter().find_map(|term| measure(&term.solid))
    }

    /// The energy of the volume whose rows these materials have.
    pub(super) fn volume_energy(&self) -> VolumeEnergy {
        let with_bulk = self.terms.iter().find_map(|term| volume_energy(&term.solid));
        with_bulk.unwrap_or_default()
    }
}

fn measure(solid: &Solid) -> Option<StrainMeasure> {
    match solid.law {
        Law::OfStrains { measure, .. } => Some(measure),
        Law::Hyperelastic(_) => None,
    }
}

/// The energy of the volume of a material, unless it leaves the volume to others.
fn volume_energy(solid: &Solid) -> Option<VolumeEnergy> {
    match solid.law {
        Law::Hyperelastic(energy) => (energy.volume_part() != Some(0.0)).then_some(solid.volume_energy),
        Law::OfStrains { .. } => Some(VolumeEnergy::Quadratic),
    }
}

/// Checks materials, which add up if they are several.
pub(super) fn check(solids: &[Solid]) -> Result<(), ContinuumError> {
    let [first, others @ ..] = solids else {
        return Ok(());
    };
    if others.is_empty() {
        return first.check();
    }
    let conflict = |field, with, reason| Err(ContinuumError::Conflict { field, with, reason });
    if first.plasticity.is_some() {
        return conflict(Field::Plasticity, "a sum of materials", "what yields has one law");
    }
    solids.iter().try_for_each(Solid::check_choices)?;
    let small = |solid: &Solid| measure(solid) == Some(StrainMeasure::Small);
    if solids.iter().any(small) && !solids.iter().all(small) {
        let reason = "others turn with the solid; take corotational strains";
        return conflict(Field::MaterialSum, "small strains in one of them", reason);
    }
    let mut measures = solids.iter().filter_map(measure);
    let one = measures.next();
    if measures.any(|other| Some(other) != one) {
        let reason = "laws of strains that add up have the same strains";
        return conflict(Field::MaterialSum, "two measures of strains", reason);
    }
    if !first.has_volume_rows() {
        return Ok(());
    }
    let mut energies = solids.iter().filter_map(volume_energy);
    let Some(one) = energies.next() else {
        return Err(ContinuumError::OutOfRange {
            field: Field::BulkModulus,
            value: 0.0,
            bound: "positive in one of the materials that add up, if the volume is to be rows",
        });
    };
    if energies.any(|other| other != one) {
        let reason =
            "the volume rows of a sum are of one energy; materials with `bulk` zero leave it to others";
        return conflict(
            Field::VolumeEnergy,
            "volume rows of materials that have not the same",
            reason,
        );
    }
    Ok(())
}
