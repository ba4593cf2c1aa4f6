//! Scene files, mesh readers and result writers for Pliant.

pub mod export;
pub mod import;
pub mod recording;
