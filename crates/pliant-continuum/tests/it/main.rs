//! Integration tests of the continuum: each against closed forms, other programs or independent
//! computation.

#![allow(missing_docs, clippy::unwrap_used)]

mod anisotropic;
mod closed_forms;
mod elements;
mod finite_plastic;
mod lanes;
mod materials;
mod meshes;
mod muscles;
mod ogden;
mod pieces;
mod plastic;
mod quadratic_cells;
mod quasi_linear;
mod relaxing;
mod sheets;
mod shells;
mod strains;
mod viscoelastic;
