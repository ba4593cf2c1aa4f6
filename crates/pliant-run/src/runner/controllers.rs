//! Controllers: variables that are set anew at the starts of steps.

use pliant::Error;
use pliant_expression::{ExpressionError, Program};
use pliant_scene::{ControlLaw, Controller};
use serde::{Deserialize, Serialize};

/// Everything about a controller that changes in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ControllerState {
    /// The integral of the error (s times its unit).
    integral: f64,
    /// The error and the time (s) of the last sample.
    last: Option<(f64, f64)>,
    /// The rate of the error at the last sample.
    rate: f64,
    /// How many steps were taken at the last sample.
    steps: Option<usize>,
}

/// The controllers of a scene.
#[derive(Debug, Default)]
pub(super) struct Controllers {
    list: Vec<Controller>,
    states: Vec<ControllerState>,
}

impl Controllers {
    pub(super) fn new(list: Vec<Controller>) -> Self {
        let states = vec![ControllerState::default(); list.len()];
        Self { list, states }
    }

    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> Vec<ControllerState> {
        self.states.clone()
    }

    /// Goes to the state of a checkpoint of the same scene.
    pub(super) fn go_to(&mut self, states: Vec<ControllerState>) {
        if states.len() == self.list.len() {
            self.states = states;
        }
    }

    /// Whether a controller has a sample ahead of the next step, after so many.
    pub(super) fn is_due(&self, index: usize, steps: usize) -> bool {
        steps.is_multiple_of(self.list[index].every) && self.states[index].steps != Some(steps)
    }

    /// Takes a sample of a controller, and returns the variable, its value, and for how many steps
    /// it is. `values` are the time, the variables and all quantities.
    pub(super) fn sample(
        &mut self,
        index: usize,
        values: &[f64],
        steps: usize,
    ) -> Result<(usize, f64, usize), Error> {
        let Controller {
            name,
            variable,
            law,
            every,
            limits: [lower, upper],
        } = &self.list[index];
        let time = values.first().copied().unwrap_or(f64::NAN);
        let what = || format!("the controller `{name}`");
        let no_number = |error: ExpressionError| no_value(what(), time, error.message);
        let state = &mut self.states[index];
        let output = match law {
            ControlLaw::Feedback(program) => program.of(values).map_err(no_number)?.clamp(*lower, *upper),
            ControlLaw::Pid { error, rate, gains } => {
                let error = error.of(values).map_err(no_number)?;
                let measured = rate.as_ref().map(|rate: &Program| rate.of(values));
                let measured = measured.transpose().map_err(no_number)?;
                state.pid(error, measured, time, *gains, [*lower, *upper])
            }
        };
        if !output.is_finite() {
            return Err(no_value(what(), time, format!("its output is {output}")));
        }
        state.steps = Some(steps);
        Ok((*variable, output, *every))
    }
}

/// The error of an expression without a value at a time (s).
pub(super) fn no_value(what: String, time: f64, why: String) -> Error {
    Error::NoValue { what, time, why }
}

impl ControllerState {
    /// The output of a PID controller with an error at a time (s).
    fn pid(&mut self, error: f64, rate: Option<f64>, time: f64, gains: [f64; 3], limits: [f64; 2]) -> f64 {
        let [p, i, d] = gains;
        let [lower, upper] = limits;
        let (before, since) = self.last.map_or((error, 0.0), |(error, at)| (error, time - at));
        self.rate = match rate {
            Some(rate) => rate,
            None if since > 0.0 => (error - before) / since,
            None => self.rate,
        };
        let more = 0.5 * (error + before) * since;
        let whole = |integral: f64| p * error + i * integral + d * self.rate;
        let output = whole(self.integral + more);
        // The integral does not drive the output further beyond a limit that it is at.
        let winds_up = (output > upper && i * more > 0.0) || (output < lower && i * more < 0.0);
        let integral = if winds_up {
            self.integral
        } else {
            self.integral + more
        };
        let output = whole(integral).clamp(lower, upper);
        (self.integral, self.last) = (integral, Some((error, time)));
        output
    }
}
