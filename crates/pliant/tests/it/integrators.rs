//! Integrators: order, energy, memory, what they refuse.

mod compositions;
mod contacts;
mod energy;
mod energy_momentum;
mod failure;
mod halves;
mod impacts;
mod memory;
pub(crate) mod models;
mod orders;
mod refusals;
mod regression;
mod rows;
mod stages;
mod statics;
