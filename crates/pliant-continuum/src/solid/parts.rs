//! Nodes and components of a solid: gradients, strains, material, rows of volume.

use super::sums::{Sum, Term};
use super::volume::Pointwise;
use super::{Incompressibility, Law, SolidParts, StrainMeasure, volume};
use crate::{
    ContinuumError, CorotationalStrain, DeformationGradient, ElasticPlastic, Elasticity, GreenLagrange,
    HenckyPlastic, Hyperelastic, LinearElastic, Mesh, NodalRecovery, Patches, SmallStrain, StrainEnergy,
    Viscoelastic,
};
use pliant_model::{ComponentId, Field, ForceField, Model, NodeId, Treatment};

/// Adds the gradients and what acts on them of a solid of these materials; it has no mass yet.
pub(super) fn add(
    terms: &[Term],
    model: &mut Model,
    name: &str,
    nodes: NodeId,
    mesh: &Mesh,
) -> Result<SolidParts, ContinuumError> {
    let Some(Term { solid, .. }) = terms.first() else {
        return Err(ContinuumError::Empty);
    };
    volume::check_yielding(solid, mesh)?;
    let sum = Sum {
        terms,
        pointwise: Pointwise::of(solid, mesh),
    };
    let mapping = DeformationGradient::of_checked(mesh, solid.enhancement);
    let volumes = mapping.volumes().to_vec();
    let patches = match solid.incompressibility {
        Incompressibility::None => None,
        Incompressibility::PerElement => Some(Patches::per_element(mesh, &mapping)),
        Incompressibility::PerNode => Some(Patches::per_node(mesh, &mapping)),
    };
    let count = volumes.len();
    let modes = match mapping.mode_count() {
        0 => None,
        count => Some(model.add_amplitudes(&format!("{name}.modes"), count)?),
    };
    let parents: Vec<NodeId> = [nodes].into_iter().chain(modes).collect();
    let gradients = model.add_mapped(&format!("{name}.gradients"), &parents, mapping)?;
    let strains = match sum.measure() {
        None => None,
        Some(measure) => Some(add_strains(measure, model, name, gradients, count)?),
    };
    let mut materials: Vec<ComponentId> = Vec::with_capacity(terms.len());
    for (index, term) in terms.iter().enumerate() {
        let label = match index {
            0 => format!("{name}.material"),
            _ => format!("{name}.material_{}", index + 1),
        };
        materials.push(match (term.solid.law, strains) {
            (Law::OfStrains { .. }, Some(strains)) => {
                let law = law_of_strains(sum, index, &volumes)?;
                model.add_boxed_force_field(&label, strains, law, solid.treatment)?
            }
            _ => {
                let law = law_of_gradients(sum, index, &volumes)?;
                model.add_boxed_force_field(&label, gradients, law, Treatment::Stiffness)?
            }
        });
    }
    let mut parts = SolidParts {
        nodes,
        modes,
        gradients,
        strains,
        dilatations: None,
        material: materials.remove(0),
        beside: materials,
        volume: None,
        muscles: Vec::new(),
        mass: None,
        volumes,
        patch_volumes: Vec::new(),
        recovery: NodalRecovery::new(mesh),
        small_strains: sum.measure() == Some(StrainMeasure::Small),
        yields: solid.plasticity.is_some(),
    };
    if let Some(patches) = patches {
        volume::add_rows(sum, model, name, &patches, &mut parts)?;
    }
    Ok(parts)
}

fn add_strains(
    measure: StrainMeasure,
    model: &mut Model,
    name: &str,
    gradients: NodeId,
    count: usize,
) -> Result<NodeId, ContinuumError> {
    let label = format!("{name}.strains");
    Ok(match measure {
        StrainMeasure::Small => model.add_mapped(&label, &[gradients], SmallStrain::new(count))?,
        StrainMeasure::Corotational => {
            model.add_mapped(&label, &[gradients], CorotationalStrain::new(count))?
        }
        StrainMeasure::GreenLagrange => model.add_mapped(&label, &[gradients], GreenLagrange::new(count))?,
    })
}

/// A material on deformation gradients; beside volume rows of the change of shape and a little of
/// that of volume.
fn law_of_gradients(
    sum: Sum<'_>,
    index: usize,
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let solid = &sum.terms[index].solid;
    let energies = sum.energies(index);
    if let Some(plasticity) = solid.plasticity {
        let [StrainEnergy::Hencky { shear, bulk }] = energies[..] else {
            return Err(ContinuumError::Conflict {
                field: Field::MaterialField,
                with: "a material with a past",
                reason: "its moduli are the same everywhere",
            });
        };
        return Ok(Box::new(HenckyPlastic::new(shear, bulk, plasticity, volumes)));
    }
    // What stays at the points is that of all.
    let volume = match index {
        0 if solid.has_volume_rows() => sum.volume_energy(),
        _ => solid.volume_energy,
    };
    let mut law = Hyperelastic::varying(&energies, volumes)
        .with_volume_energy(volume)
        .with_tangent(solid.tangent);
    if let Some(series) = solid.series {
        // A term that leaves the volume to others has no bulk modulus that could relax.
        let leaves_volume = energies.iter().all(|energy| energy.volume_part() == Some(0.0));
        let is_beside = sum.terms.len() > 1 && !solid.has_volume_rows();
        law = law.with_relaxation(match leaves_volume && is_beside {
            true => series.of_shape(),
            false => series,
        });
    }
    Ok(Box::new(law))
}

/// A material on strains; beside volume rows of the change of shape and a little of that of volume.
fn law_of_strains(
    sum: Sum<'_>,
    index: usize,
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let solid = &sum.terms[index].solid;
    let elasticities = sum.elasticities(index);
    let rows = solid.has_volume_rows();
    let uniform = || match (&elasticities[..], &sum.moduli(index)[..]) {
        ([Elasticity::Isotropic { young, poisson }], [moduli]) => Ok((*young, *poisson, *moduli)),
        _ => Err(ContinuumError::Conflict {
            field: Field::MaterialField,
            with: "a material with a past",
            reason: "its moduli are isotropic and the same everywhere",
        }),
    };
    if let Some(series) = solid.series {
        let (young, poisson, [shear, bulk]) = uniform()?;
        return Ok(Box::new(if rows {
            Viscoelastic::deviatoric(shear, series, volumes).with_pointwise_bulk(bulk)
        } else {
            Viscoelastic::isotropic(young, poisson, series, volumes)
        }));
    }
    if let Some(plasticity) = solid.plasticity {
        let (young, poisson, [shear, bulk]) = uniform()?;
        return Ok(Box::new(if rows {
            ElasticPlastic::deviatoric(shear, plasticity, volumes).with_pointwise_bulk(bulk)
        } else {
            ElasticPlastic::isotropic(young, poisson, plasticity, volumes)
        }));
    }
    let law = if rows {
        LinearElastic::beside_rows(sum.moduli(index).into_iter(), volumes)
    } else {
        LinearElastic::varying(&elasticities, volumes)
    };
    Ok(Box::new(law.with_relaxation_time(solid.relaxation_time)))
}
