//! Integration tests of the model.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod bad_input;
mod bad_laws;
mod body_mappings;
mod components;
mod embedded_points;
mod force_fields;
mod formulas;
mod masses;
mod point_mappings;
mod rigid_point_reference;
mod springs;
