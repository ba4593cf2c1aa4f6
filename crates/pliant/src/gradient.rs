//! Gradients of steps and trajectories.

mod schedule;
mod trajectory;

use crate::{Error, Simulation};
pub use pliant_gradient::{
    Family, GradientError, MakeModel, RestDerivative, RestState, SolveReport, StateVector, StepDerivative, TakenStep,
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

    /// The last step, as [`StepDerivative::place`] takes it; `None` before the first. It has to have
    /// been taken by [`Integrator::Nonlinear`](crate::Integrator::Nonlinear) with all weights at its
    /// end, at once and without contacts: `place` finds out.
    pub fn last_step(&self) -> Option<TakenStep<'_>> {
        let h = self.motion.time - self.start.time;
        (h > 0.0 && !self.start.state.positions.is_empty()).then(|| TakenStep {
            h,
            time: self.start.time,
            start: &self.start.state,
            end: &self.motion.state,
            multipliers: &self.motion.multipliers,
            external: &self.motion.controls.external,
            fixed: &self.motion.controls.fixed,
        })
    }
}

/// The step that a simulation has just taken, of length `h` from `time`.
///
/// # Errors
/// [`GradientError::NotBuilt`] if it was taken in parts, or with contacts.
pub(crate) fn whole_step(simulation: &Simulation, time: f64) -> Result<TakenStep<'_>, GradientError> {
    let what = || format!("the step from t = {time} s");
    if simulation.start.time != time {
        let why = "it was taken in halves: choose a shorter step";
        return Err(GradientError::NotBuilt { what: what(), why });
    }
    let presses = |c: &crate::contact::ContactReading| c.impulse.iter().any(|f| *f != 0.0);
    if simulation.contacts().iter().any(presses) {
        let why = "contacts press in it, whose derivative is not built";
        return Err(GradientError::NotBuilt { what: what(), why });
    }
    simulation.last_step().ok_or_else(|| GradientError::NotBuilt {
        what: what(),
        why: "it has no length",
    })
}
