//! Integration tests of the model.

mod bad_input;
mod components;
mod rigid_point_reference;
