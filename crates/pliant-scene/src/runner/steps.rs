//! Steps of a scene: holds and inputs are those of its time, and the length is its own or one that
//! is asked for.

use super::Runner;
use pliant::{Adaptive, Simulation, StepReport};

/// Most steps of a run whose steps choose their length.
const MOST_STEPS: usize = 10_000_000;

impl Runner {
    /// Takes one step; after the last one further steps have the same length (where they choose it,
    /// go on as before).
    ///
    /// # Errors
    /// Those of [`Simulation::step`] or [`Simulation::step_adaptively`]; the state stays as before
    /// the step.
    pub fn step(&mut self) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        self.schedule.apply(&mut self.simulation, plan.step)?;
        if let Some(how) = &plan.adaptive {
            return self.step_adaptively(how, f64::INFINITY);
        }
        self.take_step(self.length())
    }

    /// Takes a step as [`step`](Self::step) does, but one that would pass the time `end` (s) is
    /// shorter, and ends there.
    ///
    /// # Errors
    /// Those of [`step`](Self::step), and [`pliant::Error::OutOfRange`] if `end` is not after the
    /// present time.
    pub fn step_until(&mut self, end: f64) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        let left = end - self.simulation.time();
        if left.is_nan() || left <= 0.0 {
            return Err(pliant::Error::OutOfRange {
                what: "the time up to which steps are taken",
                value: end,
                bound: "after the present time",
            });
        }
        self.schedule.apply(&mut self.simulation, plan.step)?;
        if let Some(how) = &plan.adaptive {
            return self.step_adaptively(how, end);
        }
        // Rounding of `end` must not make a last step of another length.
        let h = self.length();
        self.take_step(if left < h * (1.0 - 1e-6) { left } else { h })
    }

    /// The length of the next step, of those that do not choose it.
    fn length(&self) -> f64 {
        let plan = &self.scene.plan;
        let left = plan.duration - plan.step * (plan.steps - 1) as f64;
        // Rounding of `duration / step` must not make a last step of another length.
        let is_short = self.summary.steps + 1 == plan.steps && left > 0.0 && left < plan.step * (1.0 - 1e-6);
        if is_short { left } else { plan.step }
    }

    /// Takes one step of length `h` (s), whatever the scene says of the length of steps. Timed
    /// holds and inputs go on as in [`step`](Self::step).
    ///
    /// # Errors
    /// Those of [`Simulation::step`]; the state stays as before the step.
    pub fn step_of(&mut self, h: f64) -> Result<StepReport, pliant::Error> {
        if !(h > 0.0 && h.is_finite()) {
            // Its own complaint, ahead of that of an input at a time that is no number.
            return self.simulation.step(h);
        }
        self.schedule.apply(&mut self.simulation, self.scene.plan.step)?;
        self.take_step(h)
    }

    fn take_step(&mut self, h: f64) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        // Forces act with the weights of the step: so do the inputs that they depend on.
        let time = self.simulation.time() + self.simulation.options.when_inputs_act() * h;
        for input in &self.scene.inputs {
            let value = input.program.jet(time).value;
            self.simulation.set_input(input.component, input.input, value)?;
        }
        let report = self.simulation.step(h)?;
        let taken = self.summary.steps + 1;
        let picture = taken >= plan.steps || taken.is_multiple_of(plan.record_every);
        self.record(&report, picture);
        Ok(report)
    }

    /// Takes a step that chooses its length, at most to the time `last` (s).
    fn step_adaptively(&mut self, how: &Adaptive, last: f64) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        let next_picture = (self.pictures + 1) as f64 * plan.step * plan.record_every as f64;
        let now = self.simulation.time();
        let duration = if now < plan.duration {
            plan.duration
        } else {
            f64::INFINITY
        };
        // A hair before the end is the end.
        let next_picture = if next_picture < duration * (1.0 - 1e-9) {
            next_picture
        } else {
            duration
        };
        let change = self.schedule.next(&self.simulation, plan.step);
        let end = next_picture.min(change).min(last);
        let inputs = &self.scene.inputs;
        let mut drive = |simulation: &mut Simulation, time: f64| {
            inputs
                .iter()
                .try_for_each(|i| simulation.set_input(i.component, i.input, i.program.jet(time).value))
        };
        if self.summary.steps >= MOST_STEPS {
            return Err(pliant::Error::OutOfRange {
                what: "the number of steps that have chosen their length",
                value: self.summary.steps as f64 + 1.0,
                bound: "at most 10,000,000 in a run: each leaves a line in the energy table",
            });
        }
        let report = self.simulation.step_adaptively_with(how, end, &mut drive)?;
        let at_picture = self.simulation.time() >= next_picture;
        self.pictures += usize::from(at_picture);
        if let Some(adaptive) = &mut self.summary.adaptive {
            adaptive.add(&report);
        }
        self.record(&report.step, at_picture || report.at_rest);
        Ok(report.step)
    }
}
