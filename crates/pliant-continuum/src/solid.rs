//! A solid in a model: nodes, mass, gradients, strains and material, put together.

use crate::checks::check_number;
use crate::patches::dilatation;
use crate::{
    ContinuumError, CorotationalStrain, DeformationGradient, ElasticPlastic, GreenLagrange, Hyperelastic,
    LinearElastic, Mesh, NodalRecovery, Patches, Plasticity, PronySeries, SmallStrain, SolidFields,
    StrainEnergy, Tangent, Viscoelastic, VolumeRatio,
};
use pliant_model::{ComponentId, DiagonalCompliance, Field, ForceField, Model, NodeId, Treatment};

/// How the mass of a solid is given to its nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "mass_matrix")
)]
pub enum MassMatrix {
    /// [`Mesh::lumped_mass`].
    #[default]
    Lumped,
    /// [`Mesh::consistent_mass`].
    Consistent,
}

/// Whether the resistance to change of volume is part of the material, or rows of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "incompressibility")
)]
pub enum Incompressibility {
    /// Part of the material.
    #[default]
    None,
    /// A compliant row per finite element; see [`Patches::per_element`].
    PerElement,
    /// A compliant row per corner of the mesh; see [`Patches::per_node`].
    PerNode,
}

/// The strains of a linear law.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    Small,
    Corotational,
    GreenLagrange,
}

/// The law of the material.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    OfStrains {
        measure: Measure,
        young: f64,
        poisson: f64,
    },
    Hyperelastic(StrainEnergy),
}

/// The material and the elements of a solid; [`add_to`](Self::add_to) puts it into a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    law: Law,
    /// None if the nodes have masses of their own.
    density: Option<f64>,
    mass: MassMatrix,
    treatment: Treatment,
    incompressibility: Incompressibility,
    relaxation_time: f64,
    tangent: Tangent,
    series: Option<PronySeries>,
    plasticity: Option<Plasticity>,
}

/// The nodes and components of a solid in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidParts {
    /// The nodes of the mesh: points of space.
    pub nodes: NodeId,
    /// Deformation gradients, one element per quadrature point.
    pub gradients: NodeId,
    /// Strains, where the material is a law of strains.
    pub strains: Option<NodeId>,
    /// Mean changes of volume, where these are rows.
    pub dilatations: Option<NodeId>,
    /// The material.
    pub material: ComponentId,
    /// The rows of volume.
    pub volume: Option<ComponentId>,
    /// The mass, unless the nodes have masses of their own.
    pub mass: Option<ComponentId>,
    /// Volume (m^3) of each quadrature point at rest.
    pub volumes: Vec<f64>,
    /// Volume (m^3) at rest of each patch of volume rows.
    pub patch_volumes: Vec<f64>,
    /// Its elements, and the way from quadrature points to nodes.
    pub recovery: NodalRecovery,
    /// Whether strains and rotations are taken for small ones.
    pub small_strains: bool,
    /// Whether the material yields.
    pub yields: bool,
}

impl SolidParts {
    /// Stresses and strains at the quadrature points, from the deformation gradients (rows first)
    /// and the forces on them (J), nine numbers each: `P = -f/V`, `sigma = P F^T/det F`. Of small
    /// strains, `sigma = P`. The internal variables of the material are for the plastic strain, if
    /// it yields.
    pub fn fields(&self, gradients: &[f64], forces: &[f64], internal: &[f64]) -> SolidFields {
        let mut fields = SolidFields::new(gradients, forces, &self.volumes, self.small_strains);
        if self.yields {
            fields.plastic_strain = ElasticPlastic::passed(internal).collect();
        }
        fields
    }
}

impl Solid {
    /// Small strains and rotations: Young's modulus (Pa), Poisson's ratio.
    pub fn linear(young: f64, poisson: f64) -> Self {
        Self::of_strains(Measure::Small, young, poisson)
    }

    /// Small strains, any rotation: Young's modulus (Pa), Poisson's ratio.
    pub fn corotational(young: f64, poisson: f64) -> Self {
        Self::of_strains(Measure::Corotational, young, poisson)
    }

    /// St Venant and Kirchhoff's material: Young's modulus (Pa), Poisson's ratio.
    pub fn st_venant_kirchhoff(young: f64, poisson: f64) -> Self {
        Self::of_strains(Measure::GreenLagrange, young, poisson)
    }

    /// A hyperelastic material.
    pub fn hyperelastic(energy: StrainEnergy) -> Self {
        Self::of(Law::Hyperelastic(energy))
    }

    fn of_strains(measure: Measure, young: f64, poisson: f64) -> Self {
        Self::of(Law::OfStrains {
            measure,
            young,
            poisson,
        })
    }

    fn of(law: Law) -> Self {
        Self {
            law,
            density: Some(1000.0),
            mass: MassMatrix::Lumped,
            treatment: Treatment::Stiffness,
            incompressibility: Incompressibility::None,
            relaxation_time: 0.0,
            tangent: Tangent::Exact,
            series: None,
            plasticity: None,
        }
    }

    /// Sets the density (kg/m^3); 1000 if not set.
    #[must_use]
    pub fn with_density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// Gives the nodes no mass: those of [`add_on`](Self::add_on) have masses of their own.
    #[must_use]
    pub fn without_mass(mut self) -> Self {
        self.density = None;
        self
    }

    /// Sets how the mass is given to the nodes; lumped if not set.
    #[must_use]
    pub fn with_mass(mut self, mass: MassMatrix) -> Self {
        self.mass = mass;
        self
    }

    /// Sets the treatment of a law of strains; a stiffness if not set.
    #[must_use]
    pub fn with_treatment(mut self, treatment: Treatment) -> Self {
        self.treatment = treatment;
        self
    }

    /// Makes the resistance to change of volume compliant rows; of a Poisson's ratio of 1/2 hard
    /// ones. What is left of the material is a stiffness on the change of shape.
    #[must_use]
    pub fn with_incompressibility(mut self, rows: Incompressibility) -> Self {
        self.incompressibility = rows;
        self
    }

    /// Adds damping through the relaxation time (s) of a law of strains.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Makes the moduli those of fast strains, which relax by a Prony series: [`Viscoelastic`] of a
    /// law of strains, quasi-linear viscoelasticity ([`Hyperelastic::with_relaxation`]) of a
    /// hyperelastic material. Volume rows do not relax: shares of bulk must be zero then.
    #[must_use]
    pub fn with_viscoelasticity(mut self, series: PronySeries) -> Self {
        self.series = Some(series);
        self
    }

    /// Makes a law of strains yield ([`ElasticPlastic`]); strains are to be small.
    #[must_use]
    pub fn with_plasticity(mut self, plasticity: Plasticity) -> Self {
        self.plasticity = Some(plasticity);
        self
    }

    /// Sets what is made of an indefinite tangent of a hyperelastic material.
    #[must_use]
    pub fn with_tangent(mut self, tangent: Tangent) -> Self {
        self.tangent = tangent;
        self
    }

    /// Adds the nodes of the mesh at rest under `name`, and all that belongs to them as
    /// `name.mass`, `name.gradients`, `name.strains`, `name.material`, `name.volume_ratios`,
    /// `name.dilatations`, `name.volume`.
    ///
    /// # Errors
    /// [`ContinuumError`]: what is wrong with the mesh or a number, or what the model says.
    pub fn add_to(&self, model: &mut Model, name: &str, mesh: &Mesh) -> Result<SolidParts, ContinuumError> {
        mesh.check()?;
        self.check()?;
        let nodes = model.add_particles(name, &mesh.nodes)?;
        self.add_on(model, name, nodes, mesh)
    }

    /// Adds the solid on a node that is there: points of space, mapped ones too, one for each node
    /// of the mesh, which is at rest where the mesh is.
    ///
    /// # Errors
    /// As [`add_to`](Self::add_to).
    pub fn add_on(
        &self,
        model: &mut Model,
        name: &str,
        nodes: NodeId,
        mesh: &Mesh,
    ) -> Result<SolidParts, ContinuumError> {
        self.check()?;
        let mass = match (self.density, self.mass) {
            (None, _) => None,
            (Some(density), MassMatrix::Lumped) => Some(mesh.lumped_mass(density)?),
            (Some(density), MassMatrix::Consistent) => Some(mesh.consistent_mass(density)?),
        };
        let mapping = DeformationGradient::new(mesh)?;
        let volumes = mapping.volumes().to_vec();
        let patches = match self.incompressibility {
            Incompressibility::None => None,
            Incompressibility::PerElement => Some(Patches::per_element(&mapping)),
            Incompressibility::PerNode => Some(Patches::per_node(mesh, &mapping)),
        };
        let count = volumes.len();
        let mass = match mass {
            Some(mass) => Some(model.add_mass(&format!("{name}.mass"), nodes, mass)?),
            None => None,
        };
        let gradients = model.add_mapped(&format!("{name}.gradients"), &[nodes], mapping)?;
        let (strains, material) = match self.law {
            Law::OfStrains {
                measure,
                young,
                poisson,
            } => {
                let label = format!("{name}.strains");
                let strains = match measure {
                    Measure::Small => model.add_mapped(&label, &[gradients], SmallStrain::new(count)),
                    Measure::Corotational => {
                        model.add_mapped(&label, &[gradients], CorotationalStrain::new(count))
                    }
                    Measure::GreenLagrange => {
                        model.add_mapped(&label, &[gradients], GreenLagrange::new(count))
                    }
                }?;
                let law = self.of_strains_law(young, poisson, patches.is_some(), &volumes);
                let label = format!("{name}.material");
                let material = model.add_boxed_force_field(&label, strains, law, self.treatment)?;
                (Some(strains), material)
            }
            Law::Hyperelastic(energy) => {
                let energy = if patches.is_some() {
                    energy.without_volume_part()
                } else {
                    energy
                };
                let mut law = Hyperelastic::new(energy, &volumes).with_tangent(self.tangent);
                if let Some(series) = self.series {
                    law = law.with_relaxation(series);
                }
                let label = format!("{name}.material");
                let material = model.add_force_field(&label, gradients, law, Treatment::Stiffness)?;
                (None, material)
            }
        };
        let mut parts = SolidParts {
            nodes,
            gradients,
            strains,
            dilatations: None,
            material,
            volume: None,
            mass,
            volumes,
            patch_volumes: Vec::new(),
            recovery: NodalRecovery::new(mesh),
            small_strains: matches!(
                self.law,
                Law::OfStrains {
                    measure: Measure::Small,
                    ..
                }
            ),
            yields: self.plasticity.is_some(),
        };
        if let Some(patches) = patches {
            self.add_volume_rows(model, name, &patches, &mut parts)?;
        }
        Ok(parts)
    }

    /// The material on strains; with volume rows of the change of shape alone.
    fn of_strains_law(&self, young: f64, poisson: f64, rows: bool, volumes: &[f64]) -> Box<dyn ForceField> {
        let shear = young / (2.0 * (1.0 + poisson));
        if let Some(series) = self.series {
            return Box::new(if rows {
                Viscoelastic::deviatoric(shear, series, volumes)
            } else {
                Viscoelastic::isotropic(young, poisson, series, volumes)
            });
        }
        if let Some(plasticity) = self.plasticity {
            return Box::new(if rows {
                ElasticPlastic::deviatoric(shear, plasticity, volumes)
            } else {
                ElasticPlastic::isotropic(young, poisson, plasticity, volumes)
            });
        }
        let law = if rows {
            LinearElastic::deviatoric(shear, volumes)
        } else {
            LinearElastic::isotropic(young, poisson, volumes)
        };
        Box::new(law.with_relaxation_time(self.relaxation_time))
    }

    /// One row per patch: mean dilatation, with the compliance `1/(k V)` of the bulk modulus `k`.
    fn add_volume_rows(
        &self,
        model: &mut Model,
        name: &str,
        patches: &Patches,
        parts: &mut SolidParts,
    ) -> Result<(), ContinuumError> {
        let inverse_bulk = match self.law {
            Law::OfStrains { young, poisson, .. } => 3.0 * (1.0 - 2.0 * poisson) / young,
            Law::Hyperelastic(energy) => energy.volume_part().map_or(0.0, f64::recip),
        };
        let count = parts.volumes.len();
        let label = format!("{name}.dilatations");
        let means = match (self.law, parts.strains) {
            (
                Law::OfStrains {
                    measure: Measure::Small,
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
        let compliances: Vec<f64> = patches.volumes().iter().map(|v| inverse_bulk / v).collect();
        let law = DiagonalCompliance::new(&compliances).with_relaxation_time(self.relaxation_time);
        let rows = model.add_force_field(&format!("{name}.volume"), means, law, Treatment::Compliance)?;
        parts.dilatations = Some(means);
        parts.volume = Some(rows);
        parts.patch_volumes = patches.volumes().to_vec();
        Ok(())
    }

    /// Whether the choices go together; the numbers are checked by the components.
    fn check(&self) -> Result<(), ContinuumError> {
        let conflict = |field, with, reason| Err(ContinuumError::Conflict { field, with, reason });
        let rows = self.incompressibility != Incompressibility::None;
        if self.series.is_some() && self.plasticity.is_some() {
            return conflict(Field::Plasticity, "viscoelasticity", "there is no such law");
        }
        if self.series.is_some() || self.plasticity.is_some() {
            let with = "a material with a past";
            if self.treatment == Treatment::Compliance {
                return conflict(
                    Field::ComplianceTreatment,
                    with,
                    "its force is not a function of the strain alone",
                );
            }
            if self.relaxation_time != 0.0 {
                return conflict(
                    Field::RelaxationTimes,
                    with,
                    "add a viscosity on strains beside it",
                );
            }
        }
        match self.law {
            Law::Hyperelastic(energy) => {
                let with = "a hyperelastic material";
                if self.treatment == Treatment::Compliance {
                    return conflict(Field::ComplianceTreatment, with, "its law is not one of strains");
                }
                if self.relaxation_time != 0.0 {
                    return conflict(
                        Field::RelaxationTimes,
                        with,
                        "add a viscosity on strains beside it",
                    );
                }
                if self.plasticity.is_some() {
                    return conflict(Field::Plasticity, with, "its law is not one of strains");
                }
                match energy.volume_part() {
                    Some(bulk) if rows && (bulk.is_nan() || bulk <= 0.0) => Err(ContinuumError::OutOfRange {
                        field: Field::BulkModulus,
                        value: bulk,
                        bound: "positive, if the volume is to be rows",
                    }),
                    None if rows => conflict(
                        Field::Incompressibility,
                        "this energy",
                        "it has no part that is of the volume alone; take Mooney and Rivlin's or Ogden's",
                    ),
                    _ => Ok(()),
                }
            }
            Law::OfStrains { young, poisson, .. } => {
                if self.tangent != Tangent::Exact {
                    return conflict(Field::Tangent, "a law of strains", "its tangent is semidefinite");
                }
                if rows && self.treatment == Treatment::Compliance {
                    let reason = "what is left of the material has no stiffness against change of volume";
                    return conflict(Field::ComplianceTreatment, "volume rows", reason);
                }
                check_number(Field::Young, young, young > 0.0, "positive")?;
                let holds = poisson > -1.0 && poisson <= 0.5;
                check_number(Field::Poisson, poisson, holds, "above -1 and at most 1/2")?;
                // More hard rows than a mesh has coordinates contradict each other once it bends.
                let bound = "below 1/2 without volume rows (`incompressibility`), for a volume that is hard at every point locks the mesh";
                check_number(Field::Poisson, poisson, rows || poisson < 0.5, bound)
            }
        }
    }
}
