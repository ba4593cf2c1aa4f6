//! Nodes and components of a solid: gradients, strains, material, rows of volume.

use super::volume::{PointLaws, Pointwise};
use super::{Incompressibility, Law, Solid, SolidParts, StrainMeasure, volume};
use crate::{
    ContinuumError, CorotationalStrain, DeformationGradient, ElasticPlastic, Elasticity, GreenLagrange,
    HenckyPlastic, Hyperelastic, LinearElastic, Mesh, NodalRecovery, Patches, SmallStrain, StrainEnergy,
    Viscoelastic,
};
use pliant_model::{Field, ForceField, Model, NodeId, Treatment};

/// Adds the gradients and what acts on them of a solid with these laws, one for all quadrature
/// points or one for each; it has no mass yet.
pub(super) fn add(
    solid: &Solid,
    laws: &[Law],
    model: &mut Model,
    name: &str,
    nodes: NodeId,
    mesh: &Mesh,
) -> Result<SolidParts, ContinuumError> {
    volume::check_yielding(solid, mesh)?;
    let at_points = PointLaws {
        laws,
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
    let (strains, material) = match solid.law {
        Law::OfStrains { measure, .. } => {
            let label = format!("{name}.strains");
            let strains = match measure {
                StrainMeasure::Small => model.add_mapped(&label, &[gradients], SmallStrain::new(count)),
                StrainMeasure::Corotational => {
                    model.add_mapped(&label, &[gradients], CorotationalStrain::new(count))
                }
                StrainMeasure::GreenLagrange => {
                    model.add_mapped(&label, &[gradients], GreenLagrange::new(count))
                }
            }?;
            let law = law_of_strains(solid, at_points, &volumes)?;
            let label = format!("{name}.material");
            let material = model.add_boxed_force_field(&label, strains, law, solid.treatment)?;
            (Some(strains), material)
        }
        Law::Hyperelastic(_) => {
            let law = law_of_gradients(solid, at_points, &volumes)?;
            let label = format!("{name}.material");
            let material = model.add_boxed_force_field(&label, gradients, law, Treatment::Stiffness)?;
            (None, material)
        }
    };
    let mut parts = SolidParts {
        nodes,
        modes,
        gradients,
        strains,
        dilatations: None,
        material,
        volume: None,
        muscles: Vec::new(),
        mass: None,
        volumes,
        patch_volumes: Vec::new(),
        recovery: NodalRecovery::new(mesh),
        small_strains: matches!(
            solid.law,
            Law::OfStrains {
                measure: StrainMeasure::Small,
                ..
            }
        ),
        yields: solid.plasticity.is_some(),
    };
    if let Some(patches) = patches {
        volume::add_rows(solid, at_points, model, name, &patches, &mut parts)?;
    }
    Ok(parts)
}

/// The energy of a hyperelastic law; of the part of the volume, where this is rows, what stays at
/// the points.
fn energy(solid: &Solid, law: &Law, pointwise: Pointwise) -> Option<StrainEnergy> {
    match *law {
        Law::Hyperelastic(energy) if volume::is_apart(solid) && solid.has_volume_rows() => {
            Some(energy.with_volume_part(0.0))
        }
        Law::Hyperelastic(energy) if solid.has_volume_rows() => {
            Some(energy.with_volume_part(pointwise.split(law)[0]))
        }
        Law::Hyperelastic(energy) => Some(energy),
        Law::OfStrains { .. } => None,
    }
}

/// The material on deformation gradients; beside volume rows of the change of shape and a little of
/// that of volume.
fn law_of_gradients(
    solid: &Solid,
    at_points: PointLaws<'_>,
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let PointLaws { laws, pointwise } = at_points;
    let energies: Vec<StrainEnergy> = laws
        .iter()
        .filter_map(|law| energy(solid, law, pointwise))
        .collect();
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
    let mut law = Hyperelastic::varying(&energies, volumes).with_tangent(solid.tangent);
    if let Some(series) = solid.series {
        law = law.with_relaxation(series);
    }
    Ok(Box::new(law))
}

/// The material on strains; beside volume rows of the change of shape and a little of that of
/// volume.
fn law_of_strains(
    solid: &Solid,
    at_points: PointLaws<'_>,
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let PointLaws { laws, pointwise } = at_points;
    let elasticities = laws.iter().filter_map(|law| match *law {
        Law::OfStrains { elasticity, .. } => Some(elasticity),
        Law::Hyperelastic(_) => None,
    });
    let elasticities: Vec<Elasticity> = elasticities.collect();
    let rows = solid.has_volume_rows();
    let uniform = || match elasticities[..] {
        [law @ Elasticity::Isotropic { young, poisson }] => Ok((young, poisson, pointwise.moduli(law))),
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
        let moduli = elasticities.iter().map(|law| pointwise.moduli(*law));
        LinearElastic::beside_rows(moduli, volumes)
    } else {
        LinearElastic::varying(&elasticities, volumes)
    };
    Ok(Box::new(law.with_relaxation_time(solid.relaxation_time)))
}
