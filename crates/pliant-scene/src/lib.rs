//! Scene files, mesh readers and result writers for Pliant.
//!
//! What this crate is: everything of Pliant that touches files but the program itself. [`scene`] turns a text into a
//! model, [`runner`] runs it, [`recording`] is what a run leaves, [`export`] writes it down, [`import`] reads meshes,
//! [`problem`] keeps what a solver failed on. What
//! it is not: it computes no mechanics of its own, and it never prints.

pub mod export;
pub mod import;
pub mod problem;
pub mod recording;
pub mod runner;
pub mod scene;
