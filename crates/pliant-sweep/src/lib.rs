//! Sweeps: many runs of one scene over its parameters, with the results in one table.
//!
//! [`axis`] and [`list`] read what varies, [`plan`] makes the [`Manifest`](manifest::Manifest) of
//! jobs of it, [`execute`] runs those that are missing as processes of their own, and [`table`]
//! collects the results. A job is done if its directory holds a complete [`result`] of this
//! very job; nothing else is remembered, so that a sweep that was killed at any moment goes on by
//! the same command, and the table does not depend on who ran which job when.
//!
//! With the feature `parquet`, off by default, the table of results may be a Parquet file.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod axis;
#[cfg(feature = "parquet")]
mod columns;
pub mod error;
pub mod execute;
pub mod list;
pub mod manifest;
mod paths;
pub mod plan;
pub mod quantities;
pub mod result;
pub mod reuse;
pub mod table;
pub mod tables;

pub use error::SweepError;

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
