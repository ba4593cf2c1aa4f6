//! Integration tests of the model.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod axial_laws;
mod bad_input;
mod bad_laws;
mod body_tools;
mod chords;
mod components;
mod curves;
mod embedded_points;
mod expressions;
mod first_mappings_exactly;
mod fitted_frames;
mod force_fields;
mod formulas;
mod held_rows;
mod joint_coordinates;
mod joints;
mod masses;
mod memory;
mod modal;
mod muscle_tendon;
mod point_mappings;
mod relative_poses;
mod removal;
mod riders;
mod rigid_point_reference;
mod springs;
mod wrapped_ropes;
