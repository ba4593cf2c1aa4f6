//! The end of a run.

use crate::errors;
use pliant::{Error, StepReport};
use pliant_run::Runner;
use pyo3::prelude::*;

/// How far a run goes.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// To the duration of the scene.
    OfScene,
    /// To a time (s).
    At(f64),
}

impl End {
    /// The end that the arguments of `run` ask for at the time `now` (s).
    pub(crate) fn new(py: Python<'_>, duration: Option<f64>, until: Option<f64>, now: f64) -> PyResult<Self> {
        let text = match (duration, until) {
            (None, None) => return Ok(Self::OfScene),
            (Some(d), None) if d >= 0.0 && d.is_finite() => return Ok(Self::At(now + d)),
            (None, Some(t)) if t.is_finite() => return Ok(Self::At(t)),
            (Some(_), Some(_)) => "`run` takes a duration or a time, not both",
            _ => "a run takes a finite duration that is not negative, or a finite time",
        };
        Err(errors::state_text(py, text))
    }

    /// Whether the run is there: sums of steps miss round times by rounding.
    pub(crate) fn is_reached(self, runner: &Runner) -> bool {
        match self {
            Self::OfScene => runner.is_done(),
            Self::At(end) => end - runner.simulation().time() <= 1e-6 * runner.plan().step.min(end.abs()),
        }
    }

    /// One step towards it.
    pub(crate) fn step(self, runner: &mut Runner) -> Result<StepReport, Error> {
        match self {
            Self::OfScene => runner.step(),
            Self::At(time) => runner.step_until(time),
        }
    }
}
