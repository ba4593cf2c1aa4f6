//! Integration tests of the facade.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod energy;
mod equivalences;
mod errors;
mod geometry;
mod limits;
mod loops;
mod memory;
mod redundancy;
mod scenes;
