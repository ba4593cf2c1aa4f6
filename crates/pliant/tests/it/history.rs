//! Materials with a past in every method, and in what keeps and goes back to a state.

mod finite_plastic;
mod muscle;
mod plastic;
mod relaxing;
mod rubber;
mod viscoelastic;
