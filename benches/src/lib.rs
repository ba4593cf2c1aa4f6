//! Reference cases and timed scenes of Pliant.
//!
//! [`verify`] runs the reference cases; [`chain`] builds the scene that other engines were measured
//! on; [`families`] makes the systems that solvers are timed on, [`heaps`] the scenes of many
//! contacts. The program of this package prints them (`cargo xtask verify`,
//! `cargo xtask bench NAME`); the benchmarks in `benches/` time parts of them many times over
//! (`cargo bench`).

pub mod beams;
mod book;
pub mod candidates;
pub mod chain;
pub mod families;
pub mod heaps;
pub mod linkages;
pub mod multibody;
pub mod nets;
pub mod observations;
pub mod orders;
pub mod peers;
pub mod profile;
pub mod redundancy;
pub mod reference;
pub mod roofline;
#[cfg(feature = "peers")]
pub mod soft_peer;
pub mod solid_levels;
pub mod solid_memory;
pub mod solid_products;
pub mod solid_sizes;
pub mod stiff;
pub mod timing;
pub mod verify;
pub mod vibrations;
