//! A solid in a model: nodes, mass, gradients, strains and material, put together.

mod muscles;
mod parts;
mod regions;
mod sums;
mod volume;

pub use muscles::{MuscleFibre, SolidMuscle};
pub use regions::SolidRegion;
pub use sums::SolidTerm;

use crate::checks::check_number;
use crate::{
    ContinuumError, ElasticPlastic, Elasticity, Enhancement, Mesh, NodalRecovery, Plasticity, PronySeries,
    SolidFields, StrainEnergy, Tangent, VolumeEnergy,
};
#[cfg(doc)]
use crate::{
    CorotationalStrain, DeformationGradient, GreenLagrange, HenckyPlastic, Hyperelastic, Patches,
    SmallStrain, Viscoelastic,
};
use pliant_model::{ComponentId, Field, Model, NodeId, Treatment};

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
    /// A compliant row per finite element, four per quadratic hexahedron; see
    /// [`Patches::per_element`].
    PerElement,
    /// A compliant row per corner of the mesh; see [`Patches::per_node`].
    PerNode,
}

/// The strains of a linear law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "strains")
)]
pub enum StrainMeasure {
    /// Small strains and rotations: [`SmallStrain`].
    Small,
    /// Small strains, any rotation: [`CorotationalStrain`].
    #[default]
    Corotational,
    /// Strains of St Venant and Kirchhoff's material: [`GreenLagrange`].
    GreenLagrange,
}

/// The law of the material.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    OfStrains {
        measure: StrainMeasure,
        elasticity: Elasticity,
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
    volume_energy: VolumeEnergy,
    relaxation_time: f64,
    tangent: Tangent,
    series: Option<PronySeries>,
    plasticity: Option<Plasticity>,
    enhancement: Option<Enhancement>,
}

/// The nodes and components of a solid in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidParts {
    /// The nodes of the mesh: points of space.
    pub nodes: NodeId,
    /// The modes of enhanced elements: vectors, three for each.
    pub modes: Option<NodeId>,
    /// Deformation gradients, one element per quadrature point.
    pub gradients: NodeId,
    /// Strains, where the material is a law of strains.
    pub strains: Option<NodeId>,
    /// Mean changes of volume, where these are rows, or of a logarithmic energy of the volume the
    /// logarithms of mean ratios.
    pub dilatations: Option<NodeId>,
    /// The material; of several that add up the first.
    pub material: ComponentId,
    /// The others that add up with it.
    pub beside: Vec<ComponentId>,
    /// The rows of volume.
    pub volume: Option<ComponentId>,
    /// The fibres of muscles in its elements: the place of each in the list of muscles, and its
    /// component.
    pub muscles: Vec<(usize, ComponentId)>,
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
        Self::isotropic(StrainMeasure::Small, young, poisson)
    }

    /// Small strains, any rotation: Young's modulus (Pa), Poisson's ratio.
    pub fn corotational(young: f64, poisson: f64) -> Self {
        Self::isotropic(StrainMeasure::Corotational, young, poisson)
    }

    /// St Venant and Kirchhoff's material: Young's modulus (Pa), Poisson's ratio.
    pub fn st_venant_kirchhoff(young: f64, poisson: f64) -> Self {
        Self::isotropic(StrainMeasure::GreenLagrange, young, poisson)
    }

    /// Hencky's material ([`StrainEnergy::Hencky`]), of logarithmic strains: Young's modulus (Pa),
    /// Poisson's ratio.
    pub fn hencky(young: f64, poisson: f64) -> Self {
        Self::hyperelastic(StrainEnergy::hencky(young, poisson))
    }

    /// A hyperelastic material.
    pub fn hyperelastic(energy: StrainEnergy) -> Self {
        Self::of(Law::Hyperelastic(energy))
    }

    fn isotropic(measure: StrainMeasure, young: f64, poisson: f64) -> Self {
        Self::of_strains(measure, Elasticity::Isotropic { young, poisson })
    }

    /// A linear law of these strains, such as an orthotropic one.
    pub fn of_strains(measure: StrainMeasure, elasticity: Elasticity) -> Self {
        Self::of(Law::OfStrains { measure, elasticity })
    }

    fn of(law: Law) -> Self {
        Self {
            law,
            density: Some(1000.0),
            mass: MassMatrix::Lumped,
            treatment: Treatment::Stiffness,
            incompressibility: Incompressibility::None,
            volume_energy: VolumeEnergy::Quadratic,
            relaxation_time: 0.0,
            tangent: Tangent::Exact,
            series: None,
            plasticity: None,
            enhancement: None,
        }
    }

    /// Takes the law of another solid, with its numbers and the energy of its change of volume, and
    /// its density.
    #[must_use]
    pub fn with_law_of(mut self, other: &Self) -> Self {
        self.law = other.law;
        self.volume_energy = other.volume_energy;
        self.density = other.density;
        self
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
    /// ones. A stiffness on the change of shape is left of the material, and at the points a part
    /// of the bulk modulus `k` of the size of the shear modulus `mu`, without which elements would
    /// have motions that cost nothing:
    ///
    /// ```math
    /// W = mu |dev e|^2 + k_p t^2/2 + (k - k_p) <t>^2/2,   t = tr e
    /// ```
    ///
    /// `k_p` is at most `0.9 k`, and `2 mu/3` up to that, so that rows have Lamé's first parameter
    /// (selective integration, Malkus and Hughes 1978); `3 mu` where all elements are quadratic and
    /// not all of them hexahedra; none in linear tetrahedra, and in what yields, which would lock.
    /// At finite strains `mu` is the shear modulus of small ones, and the rows have `J - 1` in place of
    /// `t`; of a logarithmic energy of the volume ([`with_volume_energy`](Self::with_volume_energy))
    /// they have `ln <J>`, with the same compliance: `k_p (ln J)^2/2 + (k - k_p) (ln <J>)^2/2`.
    #[must_use]
    pub fn with_incompressibility(mut self, rows: Incompressibility) -> Self {
        self.incompressibility = rows;
        self
    }

    /// Sets the energy of the change of volume, of a hyperelastic material with a bulk modulus;
    /// `k (J - 1)^2/2` if not set, but for Hencky's.
    #[must_use]
    pub fn with_volume_energy(mut self, volume: VolumeEnergy) -> Self {
        self.volume_energy = volume;
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

    /// Makes it yield: a law of strains at small strains ([`ElasticPlastic`]), Hencky's material
    /// ([`hencky`](Self::hencky)) at finite ones ([`HenckyPlastic`], with isotropic hardening).
    /// Other materials do not.
    #[must_use]
    pub fn with_plasticity(mut self, plasticity: Plasticity) -> Self {
        self.plasticity = Some(plasticity);
        self
    }

    /// Gives each hexahedron of eight nodes modes beside its nodes
    /// ([`DeformationGradient::enhanced`]), with which it bends as a beam, where it is far too stiff
    /// without: 9 or 18 coordinates without mass for each element, `name.modes`, which follow the
    /// nodes. Where an element is compressed to less than half, its modes may become unstable
    /// (Wriggers and Reese 1996). Not with volume rows, which see nothing of the modes.
    #[must_use]
    pub fn with_enhanced_strains(mut self, modes: Enhancement) -> Self {
        self.enhancement = Some(modes);
        self
    }

    /// Sets what is made of an indefinite tangent of a hyperelastic material.
    #[must_use]
    pub fn with_tangent(mut self, tangent: Tangent) -> Self {
        self.tangent = tangent;
        self
    }

    /// Adds the nodes of the mesh at rest under `name`, and all that belongs to them as
    /// `name.mass`, `name.modes`, `name.gradients`, `name.strains`, `name.material`, `name.volume_ratios`,
    /// `name.dilatations`, `name.volume`; `name.log_ratios` and `name.log_dilatations` of a
    /// logarithmic energy of the volume.
    ///
    /// # Errors
    /// [`ContinuumError`]: what is wrong with the mesh or a number, or what the model says.
    pub fn add_to(&self, model: &mut Model, name: &str, mesh: &Mesh) -> Result<SolidParts, ContinuumError> {
        mesh.check()?;
        self.check()?;
        let nodes = model.add_particles(name, &mesh.nodes)?;
        self.add_on(model, name, nodes, mesh)
    }

    /// Adds a solid whose numbers differ from place to place, as [`add_to`](Self::add_to) does:
    /// `at` gives the material at a place (m) at rest, which has the numbers of its own law and
    /// density there, and all else of `self`. It is asked at the quadrature points of the elements.
    ///
    /// # Errors
    /// [`ContinuumError::Point`], which names the place where a number is wrong, and the errors of
    /// [`add_to`](Self::add_to).
    pub fn add_varying_to(
        &self,
        model: &mut Model,
        name: &str,
        mesh: &Mesh,
        at: &dyn Fn([f64; 3]) -> Self,
    ) -> Result<SolidParts, ContinuumError> {
        self.check()?;
        mesh.check()?;
        let nodes = model.add_particles(name, &mesh.nodes)?;
        let varies = |_: usize, place: [f64; 3]| at(place);
        let region = SolidRegion {
            varies: Some(&varies),
            ..SolidRegion::whole(*self)
        };
        let mut parts = regions::add(model, name, nodes, mesh, &[region], &[])?;
        parts.pop().ok_or(ContinuumError::Empty)
    }

    /// Adds a solid of several materials that add up in every element, as
    /// [`add_to`](Self::add_to) does: of the others `beside` this one the laws count. They are the
    /// components `name.material`, `name.material_2` and so on. Their energies of the change of
    /// volume add up too; of those that leave it to one of them `bulk` is zero.
    ///
    /// # Errors
    /// [`ContinuumError::Conflict`] of materials that do not add up: small strains beside large
    /// ones, two measures of strains, plasticity, volume rows of different energies of the volume;
    /// and the errors of [`add_to`](Self::add_to).
    pub fn add_sum_to(
        &self,
        model: &mut Model,
        name: &str,
        mesh: &Mesh,
        beside: &[Self],
    ) -> Result<SolidParts, ContinuumError> {
        let terms: Vec<_> = beside
            .iter()
            .map(|solid| SolidTerm {
                solid: *solid,
                varies: None,
            })
            .collect();
        let region = SolidRegion {
            beside: &terms,
            ..SolidRegion::whole(*self)
        };
        region.check()?;
        mesh.check()?;
        let nodes = model.add_particles(name, &mesh.nodes)?;
        let mut parts = regions::add(model, name, nodes, mesh, &[region], &[])?;
        parts.pop().ok_or(ContinuumError::Empty)
    }

    /// Adds a solid of several materials on a node of points, one for each node of the mesh: a part
    /// of each region, whose components are `name.region.gradients`, `name.region.material` and so
    /// on, and one mass `name.mass`.
    ///
    /// # Errors
    /// [`ContinuumError::Regions`], which names an element that is in no region, or in two, and the
    /// errors of [`add_to`](Self::add_to).
    pub fn add_regions_on(
        model: &mut Model,
        name: &str,
        nodes: NodeId,
        mesh: &Mesh,
        regions: &[SolidRegion<'_>],
    ) -> Result<Vec<SolidParts>, ContinuumError> {
        regions::add(model, name, nodes, mesh, regions, &[])
    }

    /// Adds a solid of one material or several, as [`add_regions_on`](Self::add_regions_on) does,
    /// and muscles in its elements: their components are `name.muscle`, or `name.region.muscle` of
    /// the elements of each region.
    ///
    /// # Errors
    /// [`ContinuumError::Regions`], which names an element of a muscle that the mesh does not have,
    /// [`ContinuumError::Muscle`] of what is wrong with one, among that a region of small strains,
    /// and the errors of [`add_regions_on`](Self::add_regions_on).
    pub fn add_muscles_on(
        model: &mut Model,
        name: &str,
        nodes: NodeId,
        mesh: &Mesh,
        regions: &[SolidRegion<'_>],
        muscles: &[SolidMuscle<'_>],
    ) -> Result<Vec<SolidParts>, ContinuumError> {
        regions::add(model, name, nodes, mesh, regions, muscles)
    }

    /// Adds the solid on a node that is there: points of space, mapped ones too, one for each node
    /// of the mesh, which is at rest where the mesh is.
    ///
    /// # Errors
    /// The errors of [`add_to`](Self::add_to).
    pub fn add_on(
        &self,
        model: &mut Model,
        name: &str,
        nodes: NodeId,
        mesh: &Mesh,
    ) -> Result<SolidParts, ContinuumError> {
        let mut parts = regions::add(model, name, nodes, mesh, &[SolidRegion::whole(*self)], &[])?;
        // One region has one part.
        parts.pop().ok_or(ContinuumError::Empty)
    }

    /// Whether the choices go together, and the numbers of a law of strains.
    fn check(&self) -> Result<(), ContinuumError> {
        self.check_choices()?;
        match self.law {
            Law::Hyperelastic(energy) if self.has_volume_rows() => match energy.volume_part() {
                // Infinite is hard.
                Some(bulk) if bulk.is_nan() || bulk <= 0.0 => Err(ContinuumError::OutOfRange {
                    field: Field::BulkModulus,
                    value: bulk,
                    bound: "positive, if the volume is to be rows",
                }),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether the choices go together, whoever has the volume.
    fn check_choices(&self) -> Result<(), ContinuumError> {
        let conflict = |field, with, reason| Err(ContinuumError::Conflict { field, with, reason });
        let rows = self.has_volume_rows();
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
        if self.enhancement.is_some() && rows {
            let reason = "mean volumes leave the modes of elements without stiffness";
            return conflict(Field::EnhancedStrains, "volume rows", reason);
        }
        if self.volume_energy != VolumeEnergy::Quadratic {
            let has_bulk = matches!(self.law, Law::Hyperelastic(energy) if energy.volume_part().is_some());
            if !has_bulk {
                let reason = "it has no part that is of the volume alone; take Mooney and Rivlin's, Ogden's or another with a bulk modulus";
                return conflict(Field::VolumeEnergy, "this material", reason);
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
                if let Some(plasticity) = self.plasticity {
                    self.check_plastic(energy, plasticity)?;
                }
                match energy.volume_part() {
                    None if rows => conflict(
                        Field::Incompressibility,
                        "this energy",
                        "it has no part that is of the volume alone; take Mooney and Rivlin's, Ogden's or another with a bulk modulus",
                    ),
                    _ => Ok(()),
                }
            }
            Law::OfStrains { elasticity, .. } => {
                if self.tangent != Tangent::Exact {
                    return conflict(Field::Tangent, "a law of strains", "its tangent is semidefinite");
                }
                if rows && self.treatment == Treatment::Compliance {
                    let reason = "what is left of the material has no stiffness against change of volume";
                    return conflict(Field::ComplianceTreatment, "volume rows", reason);
                }
                elasticity.check()?;
                let Elasticity::Isotropic { poisson, .. } = elasticity else {
                    return self.check_orthotropic(rows);
                };
                // More hard rows than a mesh has coordinates contradict each other once it bends.
                let bound = "below 1/2 without volume rows (`incompressibility`), for a volume that is hard at every point locks the mesh";
                check_number(Field::Poisson, poisson, rows || poisson < 0.5, bound)
            }
        }
    }

    /// Whether the choices go with plasticity at finite strains.
    fn check_plastic(&self, energy: StrainEnergy, plasticity: Plasticity) -> Result<(), ContinuumError> {
        let conflict = |field, with, reason| Err(ContinuumError::Conflict { field, with, reason });
        if !matches!(energy, StrainEnergy::Hencky { .. }) {
            let reason = "its law is neither one of strains nor Hencky's";
            return conflict(Field::Plasticity, "a hyperelastic material", reason);
        }
        if plasticity.kinematic_hardening() != 0.0 {
            let reason = "at finite strains hardening is isotropic";
            return conflict(Field::KinematicHardening, "Hencky's material", reason);
        }
        if self.tangent != Tangent::Exact {
            return conflict(
                Field::Tangent,
                "plasticity",
                "the tangent of what yields is exact",
            );
        }
        Ok(())
    }

    /// Whether the choices go with an orthotropic law.
    fn check_orthotropic(&self, rows: bool) -> Result<(), ContinuumError> {
        let conflict = |field, reason| {
            let with = "an orthotropic material";
            Err(ContinuumError::Conflict { field, with, reason })
        };
        if rows {
            let reason = "it has no part that is of the volume alone";
            return conflict(Field::Incompressibility, reason);
        }
        if self.series.is_some() {
            return conflict(Field::Series, "moduli that relax are isotropic");
        }
        if self.plasticity.is_some() {
            return conflict(Field::Plasticity, "what yields is isotropic");
        }
        Ok(())
    }
}
