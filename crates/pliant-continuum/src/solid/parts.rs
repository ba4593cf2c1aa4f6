//! Nodes and components of a solid: gradients, strains, material, rows of volume.

use super::{Incompressibility, Law, Solid, SolidParts, StrainMeasure};
use crate::patches::dilatation;
use crate::{
    ContinuumError, CorotationalStrain, DeformationGradient, ElasticPlastic, Elasticity, GreenLagrange,
    HenckyPlastic, Hyperelastic, LinearElastic, Mesh, NodalRecovery, Patches, SmallStrain, StrainEnergy,
    Viscoelastic, VolumeRatio,
};
use pliant_model::{DiagonalCompliance, Field, ForceField, Model, NodeId, Treatment};

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
    let mapping = DeformationGradient::of_checked(mesh, solid.enhancement);
    let volumes = mapping.volumes().to_vec();
    let patches = match solid.incompressibility {
        Incompressibility::None => None,
        Incompressibility::PerElement => Some(Patches::per_element(&mapping)),
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
            let law = law_of_strains(solid, laws, &volumes)?;
            let label = format!("{name}.material");
            let material = model.add_boxed_force_field(&label, strains, law, solid.treatment)?;
            (Some(strains), material)
        }
        Law::Hyperelastic(_) => {
            let law = law_of_gradients(solid, laws, &volumes)?;
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
        add_volume_rows(solid, laws, model, name, &patches, &mut parts)?;
    }
    Ok(parts)
}

/// The energy of a hyperelastic law, without the part of the volume where this is rows.
fn energy(law: &Law, rows: bool) -> Option<StrainEnergy> {
    match *law {
        Law::Hyperelastic(energy) if rows => Some(energy.without_volume_part()),
        Law::Hyperelastic(energy) => Some(energy),
        Law::OfStrains { .. } => None,
    }
}

/// The material on deformation gradients; with volume rows of the change of shape alone.
fn law_of_gradients(
    solid: &Solid,
    laws: &[Law],
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let rows = solid.has_volume_rows();
    let energies: Vec<StrainEnergy> = laws.iter().filter_map(|law| energy(law, rows)).collect();
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

/// The material on strains; with volume rows of the change of shape alone.
fn law_of_strains(
    solid: &Solid,
    laws: &[Law],
    volumes: &[f64],
) -> Result<Box<dyn ForceField>, ContinuumError> {
    let elasticities = laws.iter().filter_map(|law| match *law {
        Law::OfStrains { elasticity, .. } => Some(elasticity),
        Law::Hyperelastic(_) => None,
    });
    let elasticities: Vec<Elasticity> = elasticities.collect();
    let rows = solid.has_volume_rows();
    let uniform = || match elasticities[..] {
        [Elasticity::Isotropic { young, poisson }] => Ok((young, poisson, young / (2.0 * (1.0 + poisson)))),
        _ => Err(ContinuumError::Conflict {
            field: Field::MaterialField,
            with: "a material with a past",
            reason: "its moduli are isotropic and the same everywhere",
        }),
    };
    if let Some(series) = solid.series {
        let (young, poisson, shear) = uniform()?;
        return Ok(Box::new(if rows {
            Viscoelastic::deviatoric(shear, series, volumes)
        } else {
            Viscoelastic::isotropic(young, poisson, series, volumes)
        }));
    }
    if let Some(plasticity) = solid.plasticity {
        let (young, poisson, shear) = uniform()?;
        return Ok(Box::new(if rows {
            ElasticPlastic::deviatoric(shear, plasticity, volumes)
        } else {
            ElasticPlastic::isotropic(young, poisson, plasticity, volumes)
        }));
    }
    let law = if rows {
        let shear = elasticities.iter().filter_map(Elasticity::shear);
        LinearElastic::deviatoric_varying(&shear.collect::<Vec<_>>(), volumes)
    } else {
        LinearElastic::varying(&elasticities, volumes)
    };
    Ok(Box::new(law.with_relaxation_time(solid.relaxation_time)))
}

/// Inverse of the bulk modulus (1/Pa) of a law whose volume is rows.
fn inverse_bulk(law: &Law) -> f64 {
    match law {
        Law::OfStrains { elasticity, .. } => elasticity.inverse_bulk().unwrap_or(0.0),
        Law::Hyperelastic(energy) => energy.volume_part().map_or(0.0, f64::recip),
    }
}

/// One row per patch: mean dilatation, with the compliance `1/(k V)` of the bulk modulus `k`. Where
/// it varies, `1/k` is the mean over the patch: the dilatation of one pressure is.
fn add_volume_rows(
    solid: &Solid,
    laws: &[Law],
    model: &mut Model,
    name: &str,
    patches: &Patches,
    parts: &mut SolidParts,
) -> Result<(), ContinuumError> {
    let count = parts.volumes.len();
    let label = format!("{name}.dilatations");
    let means = match (solid.law, parts.strains) {
        (
            Law::OfStrains {
                measure: StrainMeasure::Small,
                ..
            },
            Some(strains),
        ) => model.add_mapped(&label, &[strains], dilatation(patches, 3))?,
        _ => {
            let ratios = model.add_mapped(
                &format!("{name}.volume_ratios"),
                &[parts.gradients],
                VolumeRatio::new(count),
            )?;
            model.add_mapped(&label, &[ratios], dilatation(patches, 1))?
        }
    };
    let compliances: Vec<f64> = match laws {
        [law] => patches.volumes().iter().map(|v| inverse_bulk(law) / v).collect(),
        laws => {
            let values: Vec<f64> = laws.iter().map(inverse_bulk).collect();
            let volumes = patches.volumes().iter();
            patches
                .means(&values)
                .iter()
                .zip(volumes)
                .map(|(mean, v)| mean / v)
                .collect()
        }
    };
    let law = DiagonalCompliance::new(&compliances).with_relaxation_time(solid.relaxation_time);
    let rows = model.add_force_field(&format!("{name}.volume"), means, law, Treatment::Compliance)?;
    parts.dilatations = Some(means);
    parts.volume = Some(rows);
    parts.patch_volumes = patches.volumes().to_vec();
    Ok(())
}
