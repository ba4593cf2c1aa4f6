//! The force fields that come with the library.

mod compliance;
mod constant;
mod damping;

pub use compliance::{DiagonalCompliance, UniformCompliance};
pub use constant::ConstantForce;
pub use damping::Damping;
