//! Methods that take a step: each a function of the motion at its start, with its own scratch.

pub mod capabilities;
mod driven;
mod effective_mass;
mod examine;
mod explicit;
pub(crate) mod gyroscopic;
pub(crate) mod implicit;
mod locked;
mod project;
pub(crate) mod rattle;
mod reach;
pub(crate) mod sizes;
pub(crate) mod stabilise;
pub mod stability;
pub(crate) mod theta;
mod turning;

pub use driven::find_driven;
pub use effective_mass::effective_masses;
pub use examine::{DependentRows, Examination, Massless, examine};
pub(crate) use explicit::{Explicit, ExplicitMethod};
pub(crate) use implicit::{EnergyMomentum, Implicit, Sdirk2, take_part};
pub use locked::find_locked;
pub use project::{Projected, project_velocities};
pub(crate) use rattle::Rattle;
pub use reach::{Wanted, reach_positions, reach_velocities};
pub(crate) use theta::Theta;
pub use theta::try_rows;
pub use turning::find_turning;

pub use capabilities::{Capabilities, ContactCapability, HardRowCapability, OwnWeightCapability};

use crate::motion::Motion;
use crate::observe::Trace;
use crate::system::System;
use crate::{Error, Integrator};
use std::sync::Arc;

/// A method that takes a step. Nothing changes but its arguments that are `&mut`: `end` becomes the
/// motion at the end of the step, `trace` says how that was found, and the system holds evaluations
/// and factors that any other step overwrites. A step that returns an error is forgotten.
///
/// # Examples
/// The explicit midpoint rule, in `crates/pliant/examples/own_method.rs`.
pub trait Method: std::fmt::Debug + Send + Sync {
    /// The name by which errors and reports call it; that of its type, if it has none of its own.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Returns the features that it supports: a step is refused before it begins where a model or
    /// the options ask for more. Unless it says so, no more than any explicit method.
    fn capabilities(&self) -> Capabilities {
        Capabilities::EXPLICIT
    }

    /// Takes a step of length `h` (s) from `start`, to which `end` is equal when this is called. It
    /// has to set in `end` positions and velocities of all nodes, multipliers of the rows (average
    /// forces over the step), forces of supports, and the memory of the method; time, ledger and
    /// counters are the caller's.
    ///
    /// # Errors
    /// Any reason why it has no converged step.
    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error>;
}

/// The methods of this crate, each with its own scratch.
#[derive(Debug, Default)]
pub struct Methods {
    theta: Theta,
    implicit: Implicit,
    sdirk2: Sdirk2,
    energy_momentum: EnergyMomentum,
    rattle: Rattle,
    explicit: Explicit,
}

impl Methods {
    /// The method that the options choose.
    pub fn chosen(&mut self, integrator: &Integrator) -> &mut dyn Method {
        match integrator {
            Integrator::Theta => &mut self.theta,
            Integrator::Nonlinear => {
                self.implicit.method = None;
                &mut self.implicit
            }
            Integrator::Implicit(method) => {
                self.implicit.method = Some(Arc::clone(method));
                &mut self.implicit
            }
            Integrator::Sdirk2 => &mut self.sdirk2,
            Integrator::EnergyMomentum => &mut self.energy_momentum,
            Integrator::Rattle | Integrator::Rattle4 | Integrator::Rattle6 => {
                self.rattle.parts = integrator.rattle_parts().unwrap_or_default();
                &mut self.rattle
            }
            Integrator::SymplecticEuler => {
                self.explicit.method = ExplicitMethod::SymplecticEuler;
                &mut self.explicit
            }
            Integrator::ForwardEuler => {
                self.explicit.method = ExplicitMethod::ForwardEuler;
                &mut self.explicit
            }
            Integrator::RungeKutta2 => {
                self.explicit.method = ExplicitMethod::RungeKutta2;
                &mut self.explicit
            }
            Integrator::RungeKutta4 => {
                self.explicit.method = ExplicitMethod::RungeKutta4;
                &mut self.explicit
            }
        }
    }
}
