//! Contacts against closed forms, brute force, and themselves.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod analytic;
mod boxes;
mod brute;
mod corners;
mod crossed;
mod fields;
mod foundation;
mod garbage;
mod identity;
mod meshes;
mod missed;
mod rig;
mod sheets;
mod sweeps;
mod work;
