//! Integration tests of the model.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod bad_input;
mod body_mappings;
mod components;
mod embedded_points;
mod point_mappings;
mod rigid_point_reference;
