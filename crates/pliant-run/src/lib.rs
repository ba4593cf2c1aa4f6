//! Runs of scenes: steps, checkpoints, result files, summaries.
//!
//! [`Runner`] runs what `pliant-scene` made of a text, and leaves a
//! [`Recording`](pliant_output::recording::Recording) and a summary; [`problem`] keeps the problem
//! on which a solver failed. Results are written by `pliant-output`. The crate computes no
//! mechanics of its own, and it never prints.
//!
//! With the feature `parquet`, off by default, tables are written as Parquet files, too.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod inverse_kinematics;
pub mod problem;
pub mod pull;
pub mod render;
pub mod rollout;
mod runner;
mod spectrum;

pub use runner::*;
pub use spectrum::{StepSpectrum, step_spectrum};

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
