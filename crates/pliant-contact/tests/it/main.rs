//! Contacts against closed forms, brute force, and themselves.

mod analytic;
mod boxes;
mod brute;
mod garbage;
mod identity;
mod meshes;
mod rig;
mod sheets;
mod sweeps;
mod work;
