//! Parameters that change while a scene runs, and the forces and motions that follow them.

use super::steps::at_rate;
use pliant::model::PrescribedMotion;
use pliant::{Error, Simulation};
use pliant_expression::Program;
use pliant_scene::{InputCourse, Varying};
use serde::{Deserialize, Serialize};

/// The way of a motion from where it was when a variable changed to where it is to be. Where a hard
/// row jumped, its velocity would be the jump over a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Ramp {
    /// By how much each coordinate is off at the start of it (m, rad).
    offsets: Vec<f64>,
    since: f64,
    until: f64,
}

/// Everything about variables that changes in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct VariablesState {
    values: Vec<f64>,
    ramps: Vec<Ramp>,
}

/// The variables of a scene.
#[derive(Debug, Default)]
pub(super) struct Variables {
    motions: Vec<Varying>,
    state: VariablesState,
}

impl Variables {
    pub(super) fn new(start: &[(String, f64)], motions: Vec<Varying>) -> Self {
        let one = |motion: &Varying| Ramp {
            offsets: vec![0.0; motion.programs.len()],
            ..Ramp::default()
        };
        Self {
            state: VariablesState {
                values: start.iter().map(|(_, value)| *value).collect(),
                ramps: motions.iter().map(one).collect(),
            },
            motions,
        }
    }

    /// The present values.
    pub(super) fn values(&self) -> &[f64] {
        &self.state.values
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> VariablesState {
        self.state.clone()
    }

    /// Goes to another state of the same scene.
    pub(super) fn go_to(
        &mut self,
        simulation: &mut Simulation,
        inputs: &mut [InputCourse],
        state: VariablesState,
    ) -> Result<(), Error> {
        if state == self.state || state.values.len() != self.state.values.len() {
            return Ok(());
        }
        self.state = state;
        self.follow(inputs);
        for motion in 0..self.motions.len() {
            self.drive(simulation, motion)?;
        }
        Ok(())
    }

    /// Gives a variable another value. Forces have theirs from the next step on; targets go there
    /// in a straight line `within` a time (s), on top of their own course.
    pub(super) fn set(
        &mut self,
        simulation: &mut Simulation,
        inputs: &mut [InputCourse],
        (index, value): (usize, f64),
        within: f64,
    ) -> Result<(), Error> {
        if self.state.values[index].to_bits() == value.to_bits() {
            return Ok(());
        }
        let now = simulation.time();
        let before: Vec<Vec<f64>> = (0..self.motions.len()).map(|k| self.positions(k, now)).collect();
        self.state.values[index] = value;
        self.follow(inputs);
        for (k, before) in before.iter().enumerate() {
            if !self.motions[k].programs.iter().any(|p| p.depends_on(index + 1)) {
                continue;
            }
            self.state.ramps[k] = Ramp::default();
            let after = self.positions(k, now);
            let offsets = before.iter().zip(&after).map(|(before, after)| before - after);
            self.state.ramps[k] = Ramp {
                offsets: offsets.collect(),
                since: now,
                until: now + within,
            };
            self.drive(simulation, k)?;
        }
        Ok(())
    }

    /// Gives the inputs of forces the present values.
    fn follow(&self, inputs: &mut [InputCourse]) {
        for input in inputs {
            if let Some(varying) = &input.varying {
                input.program = varying.fixing(1, &self.state.values);
            }
        }
    }

    /// The functions of time of the coordinates of a motion: the course and the ramp.
    fn courses(&self, motion: usize) -> Vec<(Program, [f64; 3])> {
        let ramp = &self.state.ramps[motion];
        let programs = self.motions[motion].programs.iter().enumerate();
        let one = |(k, program): (usize, &Program)| {
            let offset = ramp.offsets.get(k).copied().unwrap_or(0.0);
            let program = program.fixing(1, &self.state.values);
            (program, [offset, ramp.since, ramp.until])
        };
        programs.map(one).collect()
    }

    /// Where a motion has its coordinates at a time; of one at a speed, nothing counts.
    fn positions(&self, motion: usize, time: f64) -> Vec<f64> {
        if self.motions[motion].is_speed {
            return vec![0.0; self.motions[motion].programs.len()];
        }
        let courses = self.courses(motion).into_iter();
        courses
            .map(|(program, ramp)| value(&program, ramp, time).0)
            .collect()
    }

    /// Sets a motion of the simulation.
    fn drive(&self, simulation: &mut Simulation, motion: usize) -> Result<(), Error> {
        let Varying {
            component, is_speed, ..
        } = self.motions[motion];
        let one = |(program, ramp): (Program, [f64; 3])| {
            PrescribedMotion::function(move |t| {
                let (value, rate) = match is_speed {
                    true => (0.0, program.jet(t.re).value),
                    false => value(&program, ramp, t.re),
                };
                at_rate(value, rate, t)
            })
        };
        let mut motions: Vec<PrescribedMotion> = self.courses(motion).into_iter().map(one).collect();
        let whole = match motions.len() {
            1 => motions.remove(0),
            _ => PrescribedMotion::each(&motions),
        };
        simulation.set_motion(component, Some(whole))
    }
}

/// Value and rate of a course with its ramp.
fn value(program: &Program, [offset, since, until]: [f64; 3], time: f64) -> (f64, f64) {
    let jet = program.jet(time);
    if offset == 0.0 || time >= until {
        return (jet.value, jet.rate);
    }
    let slope = offset / (until - since);
    (jet.value + slope * (until - time.max(since)), jet.rate - slope)
}
