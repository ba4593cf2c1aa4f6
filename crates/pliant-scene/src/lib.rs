//! Scene files and their runs.
//!
//! [`scene`] turns a text into a model, [`runner`] runs it and leaves a
//! [`Recording`](pliant_output::recording::Recording) and a summary, [`problem`] keeps the problem
//! on which a solver failed. Meshes are read by `pliant-mesh-io`, results are written by
//! `pliant-output`. The crate computes no mechanics of its own, and it never prints.

pub mod problem;
pub mod runner;
pub mod scene;
