//! Integration tests of the model.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod bad_input;
mod bad_laws;
mod components;
mod force_fields;
mod formulas;
mod masses;
mod rigid_point_reference;
mod springs;
