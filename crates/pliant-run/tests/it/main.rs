//! The public faces of the crate, in one binary: linking is the slow part.

#![allow(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in tests, but not in their helpers"
)]

mod ball_joints;
mod bounds;
mod breaking;
mod controllers;
mod defects;
mod drawn;
mod drives;
mod errors;
mod events;
mod fields;
mod formulas;
mod garbage;
mod includes;
mod inspect;
mod marker_files;
mod matrix;
mod pictures;
mod probes;
mod random;
mod replays;
mod rollouts;
mod runs;
mod scenes;
mod shared_elements;
mod signals;
mod states;
mod steps;
mod warnings;
mod words;
mod work;
