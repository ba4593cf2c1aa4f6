//! Steps of a scene: holds and inputs are those of its time, and the length is its own or one that
//! is asked for.

use super::Runner;
use pliant::{Adaptive, Simulation, StepReport};

/// Most steps of a run whose steps choose their length.
const MOST_STEPS: usize = 10_000_000;

/// Rounding of times, as a share of the scene's step: sums of steps miss round times by it, and
/// none is a step of its own.
const ROUNDING: f64 = 1e-6;

/// How far a run has come on its plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// Pictures at their times so far, where steps choose their length.
    pub(super) pictures: usize,
    /// Whether a step was not the one of the plan: the end of the run is then a time, and no number
    /// of steps.
    pub(super) off_plan: bool,
    /// The time after the last step (s): another one has passed by other means.
    pub(super) time: f64,
}

impl Runner {
    /// Takes one step; after the last one further steps have the same length (where they choose it,
    /// go on as before).
    ///
    /// # Errors
    /// The errors of [`Simulation::step`] or [`Simulation::step_adaptively`] for a step that cannot
    /// be taken; the state stays as before it.
    pub fn step(&mut self) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        self.attempt(|run| match &plan.adaptive {
            Some(how) => run.step_adaptively(how, f64::INFINITY),
            None => run.take_step(run.length()),
        })
    }

    /// Takes a step as [`step`](Self::step) does, but one that would pass the time `end` (s) is
    /// shorter, and ends there.
    ///
    /// # Errors
    /// [`pliant::Error::OutOfRange`] if `end` is not after the present time, and what
    /// [`step`](Self::step) says of a step that cannot be taken.
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
        self.attempt(|run| match &plan.adaptive {
            Some(how) => run.step_adaptively(how, end),
            None => {
                // Rounding of `end` must not make a last step of another length.
                let h = run.length();
                run.take_step(if left < h * (1.0 - ROUNDING) { left } else { h })
            }
        })
    }

    /// Whether the run is at its end: after the steps of its plan, at its duration if a step was
    /// not the one of the plan, or where everything is at rest, if it ends there. A scene of
    /// statics is when its equilibria are found.
    pub fn is_done(&self) -> bool {
        let plan = &self.scene.plan;
        match &self.summary.adaptive {
            _ if self.is_static() => self.is_found(),
            Some(adaptive) if adaptive.at_rest => true,
            _ if self.is_off_plan() => self.time_left() <= 0.0,
            Some(_) => self.simulation.time() >= plan.duration,
            None => self.summary.steps >= plan.steps,
        }
    }

    /// Whether a step was not the one of the plan, or time has passed without steps of the run.
    pub(super) fn is_off_plan(&self) -> bool {
        self.course.off_plan || self.simulation.time() != self.course.time
    }

    /// The time to the end of a run that left its plan (s); zero within rounding of it, and behind.
    fn time_left(&self) -> f64 {
        let plan = &self.scene.plan;
        let left = plan.duration - self.simulation.time();
        if left > ROUNDING * plan.step { left } else { 0.0 }
    }

    /// The length of the next step, of those that do not choose it.
    fn length(&self) -> f64 {
        let plan = &self.scene.plan;
        let left = if self.is_off_plan() {
            self.time_left()
        } else if self.summary.steps + 1 == plan.steps {
            plan.duration - plan.step * (plan.steps - 1) as f64
        } else {
            plan.step
        };
        // Rounding of `duration / step` must not make a last step of another length.
        let is_short = left > 0.0 && left < plan.step * (1.0 - ROUNDING);
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
        self.attempt(|run| run.take_step(h))
    }

    /// Takes a step, with the holds that are due at its start. If it fails, these and the inputs
    /// are as before, with all else.
    fn attempt(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<StepReport, pliant::Error>,
    ) -> Result<StepReport, pliant::Error> {
        let length = self.scene.plan.step;
        let is_due = self.schedule.is_due(&self.simulation, length);
        if !is_due && self.scene.inputs.is_empty() {
            return step(self);
        }
        let mut before = std::mem::take(&mut self.before);
        self.simulation.record_checkpoint(&mut before);
        let phases = is_due.then(|| self.schedule.phases());
        let begun = self.schedule.apply(&mut self.simulation, length);
        let taken = begun.and_then(|()| step(self));
        let back = match &taken {
            Ok(_) => Ok(()),
            Err(_) => self.simulation.undo(&before),
        };
        if let (Err(_), Some(phases)) = (&taken, phases) {
            self.schedule.set_phases(&phases);
        }
        self.before = before;
        back.and(taken)
    }

    /// Looks at the present moment with the inputs that the scene has at its time, not those of the
    /// last step, which act in its middle; all is as before afterwards.
    ///
    /// # Errors
    /// Those of the inputs and of `look`.
    pub fn at_present<T>(
        &mut self,
        look: impl FnOnce(&mut Simulation) -> Result<T, pliant::Error>,
    ) -> Result<T, pliant::Error> {
        if self.scene.inputs.is_empty() {
            return look(&mut self.simulation);
        }
        let mut before = std::mem::take(&mut self.before);
        self.simulation.record_checkpoint(&mut before);
        let time = self.simulation.time();
        let mut inputs = self.scene.inputs.iter();
        let set = inputs.try_for_each(|input| {
            let value = input.program.jet(time).value;
            self.simulation.set_input(input.component, input.input, value)
        });
        let seen = set.and_then(|()| look(&mut self.simulation));
        let back = self.simulation.undo(&before);
        self.before = before;
        back.and(seen)
    }

    fn take_step(&mut self, h: f64) -> Result<StepReport, pliant::Error> {
        let plan = self.scene.plan;
        // Forces act with the weights of the step: so do the inputs that they depend on.
        let time = self.simulation.time() + self.simulation.options.when_inputs_act() * h;
        for input in &self.scene.inputs {
            let value = input.program.jet(time).value;
            self.simulation.set_input(input.component, input.input, value)?;
        }
        let is_planned = !self.is_off_plan() && plan.adaptive.is_none() && h == self.length();
        let report = self.simulation.step(h)?;
        self.follow(is_planned);
        let taken = self.summary.steps + 1;
        let is_last = match is_planned {
            true => taken >= plan.steps,
            false => self.time_left() <= 0.0,
        };
        self.record(&report, is_last || taken.is_multiple_of(plan.record_every));
        Ok(report)
    }

    /// Notes a step that was taken, by the plan or not.
    fn follow(&mut self, is_planned: bool) {
        self.course.off_plan = !is_planned;
        self.course.time = self.simulation.time();
    }

    /// Takes a step that chooses its length, at most to the time `last` (s).
    fn step_adaptively(&mut self, how: &Adaptive, last: f64) -> Result<StepReport, pliant::Error> {
        if self.summary.steps >= MOST_STEPS {
            return Err(pliant::Error::OutOfRange {
                what: "the number of steps that have chosen their length",
                value: self.summary.steps as f64 + 1.0,
                bound: "at most 10,000,000 in a run: each leaves a line in the energy table",
            });
        }
        let plan = self.scene.plan;
        let next_picture = self.next_picture();
        let now = self.simulation.time();
        let is_before_end = match self.is_off_plan() {
            true => self.time_left() > 0.0,
            false => now < plan.duration,
        };
        let duration = if is_before_end {
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
        let is_planned = !self.is_off_plan() && end < last;
        let report = self.simulation.step_adaptively_with(how, end, &mut drive)?;
        self.follow(is_planned);
        let at_picture = self.simulation.time() >= next_picture;
        self.course.pictures += usize::from(at_picture);
        if let Some(adaptive) = &mut self.summary.adaptive {
            adaptive.add(&report);
        }
        self.record(&report.step, at_picture || report.at_rest);
        Ok(report.step)
    }
    /// The time of the next picture (s), where steps choose their length. Pictures that other steps
    /// went past are left out.
    fn next_picture(&mut self) -> f64 {
        let plan = self.scene.plan;
        let after =
            |pictures: usize| pictures.saturating_add(1) as f64 * plan.step * plan.record_every as f64;
        if !self.is_off_plan() {
            return after(self.course.pictures);
        }
        let now = self.simulation.time() + ROUNDING * plan.step;
        let passed = (now / after(0)) as usize;
        // Rounding of the quotient is less than one picture.
        let first = self.course.pictures.max(passed.saturating_sub(1));
        let next = (first..=first.saturating_add(2)).find(|pictures| after(*pictures) > now);
        self.course.pictures = next.unwrap_or(first);
        // None is told apart from a time beyond all counts.
        next.map_or(f64::INFINITY, after)
    }
}
