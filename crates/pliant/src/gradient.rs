//! Gradients of steps and trajectories.

mod contacts;
mod schedule;
mod trajectory;

use crate::{Error, Simulation};
pub use pliant_gradient::{
    ContactBranch, ContactMove, ContactPlace, Family, GradientError, MakeModel, RestDerivative, RestState,
    SolveReport, StateVector, StepDerivative, TakenContact, TakenStep,
};
pub use trajectory::{
    Control, NodeGradient, Objective, Trajectory, TrajectoryGradient, TrajectoryReport, TrajectoryTangent,
};

/// Why a trajectory has no gradient: a step failed, or has no derivative.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// From a step.
    #[error(transparent)]
    Step(#[from] Error),
    /// From its derivative.
    #[error(transparent)]
    Gradient(#[from] GradientError),
}

impl From<pliant_model::ModelError> for TrajectoryError {
    fn from(error: pliant_model::ModelError) -> Self {
        Self::Step(error.into())
    }
}

impl Simulation {
    /// The present motion as a state of rest, as [`RestDerivative::place`] takes it: after
    /// [`find_equilibrium`](Self::find_equilibrium).
    pub fn rest_state(&self) -> RestState<'_> {
        RestState {
            time: self.motion.time,
            state: &self.motion.state,
            multipliers: &self.motion.multipliers,
            external: &self.motion.controls.external,
            fixed: &self.motion.controls.fixed,
        }
    }

    /// The last step, as [`StepDerivative::place`] takes it, with its contacts, which
    /// [`last_contacts`](Self::last_contacts) finds; `None` before the first. It has to have been
    /// taken by [`Integrator::Nonlinear`](crate::Integrator::Nonlinear) with all weights at its end,
    /// at once: `place` finds out.
    pub fn last_step<'a>(&'a self, contacts: &'a [TakenContact]) -> Option<TakenStep<'a>> {
        let h = self.motion.time - self.start.time;
        (h > 0.0 && !self.start.state.positions.is_empty()).then(|| TakenStep {
            h,
            time: self.start.time,
            start: &self.start.state,
            end: &self.motion.state,
            multipliers: &self.motion.multipliers,
            external: &self.motion.controls.external,
            fixed: &self.motion.controls.fixed,
            contacts,
        })
    }

    /// Fills `out` with the contacts that carried an impulse in the last step, and with how they
    /// move with its start. Cost: four searches for contacts for each coordinate that one of them
    /// hangs on.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for laws whose derivative is not built (elliptic and polygonal
    /// friction, resistance to rolling, viscous friction, Hunt and Crossley's damping), and where
    /// contacts come and go close to the start of the step.
    pub fn last_contacts(&mut self, out: &mut Vec<TakenContact>) -> Result<(), GradientError> {
        contacts::taken_contacts(self, self.motion.time - self.start.time, out)
    }

    /// A derivative of the steps of this simulation, not placed yet.
    ///
    /// # Errors
    /// As [`StepDerivative::new`].
    pub fn step_derivative(&self) -> Result<StepDerivative, GradientError> {
        let touching = self
            .system
            .contacts
            .as_ref()
            .map_or(&[][..], |c| c.detection.nodes());
        StepDerivative::with_contacts(&self.system.model, touching)
    }
}

/// Refuses a step that a simulation has just taken from `time` in parts.
///
/// # Errors
/// [`GradientError::NotBuilt`].
pub(crate) fn check_whole(simulation: &Simulation, time: f64) -> Result<(), GradientError> {
    match simulation.start.time == time {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: format!("the step from t = {time} s"),
            why: "it was taken in halves: choose a shorter step",
        }),
    }
}
