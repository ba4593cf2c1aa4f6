//! Solids, sheets and rods: finite elements, deformation gradients and strains as mappings,
//! materials as force fields.
//!
//! Mechanics of continua in the terms of `pliant-model`. A [`Mesh`] gives a
//! [`DeformationGradient`], a mapping from its nodes to one element of nine coordinates per
//! quadrature point; [`SmallStrain`], [`CorotationalStrain`], [`GreenLagrange`] and [`VolumeRatio`]
//! are mappings of that, and a material is a force field on the strains ([`LinearElastic`], as a
//! stiffness or as a compliance) or on the gradients ([`Hyperelastic`]). [`Solid`] puts these
//! together, [`Sheet`] does so for membranes, cloth and shells of triangles, [`Shell`] for shells of
//! quadrangles whose nodes are frames, [`Rod`] for beams and cables along curves. The crate reads
//! no files, and has no time step and no linear system.
//!
//! ```
//! use pliant_continuum::{Mesh, Solid};
//! use pliant_model::Model;
//! // A block of rubber, 1 m x 0.1 m x 0.1 m, of 10 x 1 x 1 hexahedra.
//! let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [10, 1, 1])?;
//! let mut model = Model::new();
//! model.set_gravity([0.0, 0.0, -9.81])?;
//! let parts = Solid::corotational(1e6, 0.3).with_density(1000.0).add_to(&mut model, "block", &mesh)?;
//! assert_eq!(model.node(parts.nodes).count, 44);
//! assert!((mesh.volume()? - 0.01).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the feature `serde`, off by default, options that are a choice of words are read and written.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod breaking;
mod checks;
mod element;
mod error;
mod gradient;
mod material;
mod mesh;
mod patches;
mod recovery;
mod rod;
mod sheet;
mod shell;
mod solid;
mod strain;
mod stress;
mod symmetry;

pub use breaking::BreakingMeasure;
pub use element::{ElementKind, Quadrature, ShapeFunctions, ShapeValues};
pub use error::ContinuumError;
pub use gradient::{DeformationGradient, Enhancement};
pub use material::{
    ElasticPlastic, Elasticity, FibreFamily, Fibres, Fung, HenckyPlastic, Hyperelastic, LinearElastic,
    MuscleFibres, MuscleLaw, Orthotropic, PlaneElastic, Plasticity, PronySeries, PronyTerm, Relaxing,
    StrainEnergy, Tangent, Viscoelastic, Viscosity, VolumeEnergy,
};
pub use mesh::{Defect, Element, FaceTriangles, Mesh, Repair};
pub use patches::{Patches, dilatation};
pub use recovery::{NodalRecovery, PointValues};
pub use rod::{Rod, RodCurve, RodForces, RodParts, Section};
pub use sheet::{Bending, MembraneStrain, Sheet, SheetCells, SheetForces, SheetMesh, SheetParts};
pub use shell::{Shell, ShellElastic, ShellParts, ShellStrain};
pub use solid::{
    Incompressibility, MassMatrix, MuscleFibre, Solid, SolidMuscle, SolidParts, SolidRegion, SolidTerm,
    StrainMeasure,
};
pub use strain::{CorotationalStrain, GreenLagrange, SmallStrain, VolumeRatio};
pub use stress::{SheetFields, SolidFields, pressure, von_mises};
pub use symmetry::SymmetryPlane;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
