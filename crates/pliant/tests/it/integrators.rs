//! Integrators: order, energy, memory, what they refuse.

mod contacts;
mod energy;
mod failure;
mod memory;
mod models;
mod orders;
mod refusals;
mod rows;
mod statics;
