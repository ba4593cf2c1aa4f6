//! Actuators: outputs that follow commands.

use super::controllers::no_value;
use pliant::Error;
use pliant_scene::Actuator;
use serde::{Deserialize, Serialize};

/// Everything about an actuator that changes in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ActuatorState {
    /// The time (s) of the last command, the output there, and what it goes to.
    last: Option<[f64; 3]>,
    /// A command from outside, in place of the scene's.
    given: Option<f64>,
    /// How many steps were taken at the last command.
    steps: Option<usize>,
}

/// The actuators of a scene.
#[derive(Debug, Default)]
pub(super) struct Actuators {
    list: Vec<Actuator>,
    states: Vec<ActuatorState>,
}

impl Actuators {
    pub(super) fn new(list: Vec<Actuator>) -> Self {
        let states = vec![ActuatorState::default(); list.len()];
        Self { list, states }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Names of all, each with the variables that have its command and its output.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, [usize; 2])> {
        self.list.iter().map(|one| (one.name.as_str(), one.variables))
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> Vec<ActuatorState> {
        self.states.clone()
    }

    /// Goes to the state of a checkpoint of the same scene.
    pub(super) fn go_to(&mut self, states: Vec<ActuatorState>) {
        if states.len() == self.list.len() {
            self.states = states;
        }
    }

    /// Gives an actuator a command from outside, or lets it have that of the scene again; from the
    /// next step on. Returns whether there is such an actuator.
    pub(super) fn give(&mut self, name: &str, command: Option<f64>) -> bool {
        let Some(index) = self.list.iter().position(|one| one.name == name) else {
            return false;
        };
        let state = &mut self.states[index];
        (state.given, state.steps) = (command, None);
        true
    }

    /// Lets all actuators follow their commands through a step that is so long (s), after so many:
    /// the variables and their values. `values` are the time, the variables and all quantities.
    pub(super) fn follow(
        &mut self,
        values: &[f64],
        (steps, length): (usize, f64),
    ) -> Result<Vec<(usize, f64)>, Error> {
        let mut outputs = Vec::with_capacity(2 * self.list.len());
        for (actuator, state) in self.list.iter().zip(&mut self.states) {
            if state.steps == Some(steps) {
                continue;
            }
            let time = values.first().copied().unwrap_or(f64::NAN);
            let what = || format!("the actuator `{}`", actuator.name);
            let command = match state.given {
                Some(command) => command,
                None => actuator
                    .command
                    .of(values)
                    .map_err(|error| no_value(what(), time, error.message))?,
            };
            if !command.is_finite() {
                return Err(no_value(what(), time, format!("its command is {command}")));
            }
            let [lower, upper] = actuator.limits;
            let goal = command.clamp(lower, upper);
            let follow = |output, goal, h| answer(output, goal, h, actuator.lag, actuator.rate);
            let now = match state.last {
                Some([since, output, goal]) => follow(output, goal, time - since),
                None => actuator.start,
            };
            state.last = Some([time, now, goal]);
            state.steps = Some(steps);
            // The step has the output of its middle.
            let output = follow(now, goal, 0.5 * length);
            let [of_command, of_output] = actuator.variables;
            outputs.extend([(of_command, command), (of_output, output)]);
        }
        Ok(outputs)
    }
}

/// The output `y(h)` of `dy/dt = (u - y)/lag`, of a size of `rate` at most, from `y` to a goal `u`
/// that stays: at the largest rate while it is further from `u` than `rate lag`, then exponential.
fn answer(y: f64, u: f64, h: f64, lag: f64, rate: f64) -> f64 {
    let away = u - y;
    // Where the rate is infinite, nothing is far.
    let far = away.abs() - rate * lag;
    let at_rate = if far > 0.0 { far / rate } else { 0.0 };
    if at_rate > 0.0 && at_rate >= h {
        return y + away.signum() * rate * h;
    }
    if lag == 0.0 {
        return u;
    }
    let left = if at_rate > 0.0 {
        away.signum() * rate * lag
    } else {
        away
    };
    u - left * (-(h - at_rate) / lag).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against many small steps of the equation.
    #[test]
    fn answers_are_those_of_the_equation() {
        for (lag, rate) in [(0.3, f64::INFINITY), (0.3, 2.0), (0.3, 50.0), (0.02, 1.0)] {
            let (start, goal) = (-1.0, 2.0);
            let (mut y, h) = (start, 1e-5);
            for k in 1..=100_000 {
                // The rule of the midpoint.
                let slope = |y: f64| ((goal - y) / lag).clamp(-rate, rate);
                y += h * slope(y + 0.5 * h * slope(y));
                if k % 10_000 == 0 {
                    let t = h * f64::from(k);
                    let exact = answer(start, goal, t, lag, rate);
                    assert!((y - exact).abs() < 1e-6, "{lag} {rate} {t}: {y} {exact}");
                    // In two parts.
                    let part = answer(start, goal, 0.3 * t, lag, rate);
                    let whole = answer(part, goal, 0.7 * t, lag, rate);
                    assert!((whole - exact).abs() < 1e-14);
                }
            }
        }
        assert_eq!(answer(0.0, 3.0, 0.0, 0.0, f64::INFINITY), 3.0);
        assert_eq!(answer(0.0, 3.0, 0.5, 0.0, 4.0), 2.0);
        assert_eq!(answer(0.0, -3.0, 0.5, 0.0, 4.0), -2.0);
        assert_eq!(answer(0.0, 3.0, 1.0, 0.0, 4.0), 3.0);
        assert_eq!(answer(1.0, 1.0, 1.0, 0.5, 4.0), 1.0);
    }
}
