//! The force fields that come with the library.

mod body_force;
mod compliance;
mod constant;
mod damping;
mod drag;
mod force_length;
mod full_compliance;
mod gas;
mod ligament;
mod muscle;
mod muscle_tendon;
mod potential;
mod pull;
mod spring;
mod toe;

pub use body_force::BodyForce;
pub use compliance::{DiagonalCompliance, UniformCompliance};
pub use constant::{ConstantForce, Torque};
pub use damping::Damping;
pub use drag::Drag;
pub use force_length::ForceLengthMuscle;
pub use full_compliance::FullCompliance;
pub use gas::Gas;
pub use ligament::Ligament;
pub use muscle::AxialMuscle;
pub use muscle_tendon::{ActivationDynamics, MuscleTendon};
pub use potential::Potential;
pub use pull::Pull;
pub use spring::Spring;
