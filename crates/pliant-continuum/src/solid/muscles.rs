//! Muscles of a solid: fibres in some of its elements, which one activation contracts.

use super::regions::{Piece, at};
use super::{SolidParts, StrainMeasure};
use crate::mesh::RestPoint;
use crate::solid::Law;
use crate::{ContinuumError, ElementKind, Mesh, MuscleFibres, MuscleLaw};
use pliant_model::{ComponentId, Field, Model, Treatment};
use std::fmt;

/// The fibres at a place of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleFibre {
    /// Their law.
    pub law: MuscleLaw,
    /// Their direction at rest (none), of any length but zero.
    pub direction: [f64; 3],
    /// Their share (none) in the activation of the muscle, between 0 and 1.
    pub share: f64,
}

impl MuscleFibre {
    /// Fibres of a law and a direction at rest (none), with all of the activation.
    pub fn new(law: MuscleLaw, direction: [f64; 3]) -> Self {
        Self {
            law,
            direction,
            share: 1.0,
        }
    }
}

/// Fibres in some elements of a solid beside its material ([`MuscleFibres`]), with one activation.
/// An element may have fibres of several muscles.
#[derive(Clone, Copy)]
pub struct SolidMuscle<'a> {
    /// Its name, behind that of the solid and of the region of its elements.
    pub name: &'a str,
    /// The elements, by number; all if there are none.
    pub elements: Option<&'a [usize]>,
    /// The fibres.
    pub fibre: MuscleFibre,
    /// The fibres at a place of an element, if they differ: the number of the element in the mesh,
    /// and a place (m) at rest.
    pub varies: Option<&'a dyn Fn(usize, [f64; 3]) -> MuscleFibre>,
    /// The activation (none), between 0 and 1.
    pub activation: f64,
}

impl fmt::Debug for SolidMuscle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolidMuscle")
            .field("name", &self.name)
            .field("elements", &self.elements)
            .field("fibre", &self.fibre)
            .field("activation", &self.activation)
            .finish_non_exhaustive()
    }
}

impl SolidMuscle<'_> {
    /// Which elements of the mesh it has.
    pub(super) fn members(&self, mesh: &Mesh) -> Result<Vec<bool>, ContinuumError> {
        let Some(list) = self.elements else {
            return Ok(vec![true; mesh.elements.len()]);
        };
        let mut has = vec![false; mesh.elements.len()];
        for element in list {
            let Some(member) = has.get_mut(*element) else {
                return Err(ContinuumError::Regions {
                    element: *element,
                    reason: format!("is in `{}`, but the mesh has no such element", self.name),
                });
            };
            *member = true;
        }
        if list.is_empty() {
            return Err(self.blame(ContinuumError::Empty));
        }
        Ok(has)
    }

    /// Adds what it has of a piece of the solid, if that is anything.
    pub(super) fn add(
        &self,
        model: &mut Model,
        label: &str,
        members: &[bool],
        piece: &Piece<'_>,
        parts: &SolidParts,
    ) -> Result<Option<ComponentId>, ContinuumError> {
        let label = format!("{label}.{}", self.name);
        let mut volumes = vec![0.0; parts.volumes.len()];
        let (mut laws, mut directions, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        let mut point = 0;
        piece
            .mesh
            .try_each_point(ElementKind::stiffness_degree, |rest: &RestPoint| {
                let element = piece.elements[rest.element];
                let mut fibre = self.fibre;
                if members[element] {
                    volumes[point] = parts.volumes[point];
                    if let Some(varies) = self.varies {
                        let place = piece.mesh.place_of(rest);
                        fibre = varies(element, place);
                        let checked = MuscleFibres::check_fibre(&label, &fibre.law, fibre.direction.into());
                        let checked = checked.and(MuscleFibres::check_share(&label, fibre.share));
                        checked.map_err(|error| self.blame(at(place, error.into())))?;
                    }
                }
                if self.varies.is_some() {
                    laws.push(fibre.law);
                    directions.push(fibre.direction);
                    shares.push(fibre.share);
                }
                point += 1;
                Ok::<(), ContinuumError>(())
            })?;
        if volumes.iter().all(|v| *v == 0.0) {
            return Ok(None);
        }
        if let Law::OfStrains {
            measure: StrainMeasure::Small,
            ..
        } = piece.region.solid.law
        {
            return Err(self.blame(ContinuumError::Conflict {
                field: Field::Muscles,
                with: "small strains",
                reason: "fibres turn with the solid; take corotational strains or another material",
            }));
        }
        if self.varies.is_none() {
            (laws, directions) = (vec![self.fibre.law], vec![self.fibre.direction]);
            shares = vec![self.fibre.share];
        }
        let law = MuscleFibres::varying(&laws, &directions, &volumes)
            .with_shares(&shares)
            .with_activation(self.activation)
            .with_tangent(piece.region.solid.tangent);
        let id = model.add_force_field(&label, parts.gradients, law, Treatment::Stiffness);
        let id = id.map_err(|error| self.blame(error.into()))?;
        Ok(Some(id))
    }

    /// An error of this muscle.
    fn blame(&self, error: ContinuumError) -> ContinuumError {
        ContinuumError::Muscle {
            name: self.name.into(),
            error: Box::new(error),
        }
    }
}
