//! Steps of a scene: holds and inputs are those of its time, and the length is its own or one that
//! is asked for.

use super::events;
use super::probes::Moment;
use super::samples::sample;
use super::summary::Energy;
use super::{Runner, contacts};
use pliant::model::Energies;
use pliant::model::dual::Dual;
use pliant::{Adaptive, AdaptiveReport, Checkpoint, Simulation, StepReport};
use pliant_output::recording::{Recording, Sample};
use pliant_scene::StaticsPlan;

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

/// A value that changes at a rate, at a time; without its second derivative, which no motion needs.
pub(super) fn at_rate(value: f64, rate: f64, t: Dual) -> Dual {
    Dual::new(value, rate * t.eps1, rate * t.eps2, rate * t.eps1eps2)
}

/// The length of a step.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// Given (s).
    Fixed(f64),
    /// Chosen by the step, which ends at this time (s) at the latest.
    Chosen { last: f64 },
}

impl Length {
    /// The length of one from a time to another one (s).
    fn until(self, end: f64, from: f64) -> Self {
        match self {
            Self::Fixed(_) => Self::Fixed(end - from),
            Self::Chosen { .. } => Self::Chosen { last: end },
        }
    }
}

/// A step that was taken.
struct Taken {
    report: Report,
    /// Whether it is the one of the plan.
    is_planned: bool,
}

/// The report of a step of given length, or of one that chose it, with the time (s) of the next
/// picture.
enum Report {
    Given(Box<StepReport>),
    Chosen(Box<AdaptiveReport>, f64),
}

impl Report {
    fn step(&self) -> &StepReport {
        match self {
            Self::Given(report) => report,
            Self::Chosen(report, _) => &report.step,
        }
    }
}

impl Runner {
    /// Says over how many processes its linear systems are spread, for the summary, which then
    /// lists what each of them solves alone.
    pub fn set_processes(&mut self, processes: usize) {
        let problem = self.simulation.problem();
        let bounded = problem.row_groups().iter().any(|g| problem.bounds(g).is_some());
        let (statics, touches) = (&self.scene.statics, self.summary.contacts.is_some());
        let parts = [
            (touches && statics.is_none(), "steps with contacts"),
            (touches && statics.is_some(), "the flow to rest with contacts"),
            (bounded && statics.is_none(), "steps with rows of bounded force"),
            (
                matches!(statics, Some(StaticsPlan::Path(_))),
                "paths of equilibria",
            ),
        ];
        let alone = parts.into_iter().filter(|(is_there, _)| *is_there);
        self.summary.solved_alone = alone.map(|(_, what)| what.to_owned()).collect();
        self.summary.processes = processes;
        let shared = self.simulation.model().shared_elements();
        self.summary.shared_elements = shared.map_or(0, |[_, all]| all);
    }

    /// Takes one step; after the last one further steps have the same length (where they choose it,
    /// go on as before).
    ///
    /// # Errors
    /// The errors of [`Simulation::step`] or [`Simulation::step_adaptively`] for a step that cannot
    /// be taken; the state stays as before it.
    pub fn step(&mut self) -> Result<StepReport, pliant::Error> {
        let length = match &self.scene.plan.adaptive {
            Some(_) => Length::Chosen { last: f64::INFINITY },
            None => Length::Fixed(self.length()),
        };
        self.attempt(length)
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
        let length = match &plan.adaptive {
            Some(_) => Length::Chosen { last: end },
            None => {
                // Rounding of `end` must not make a last step of another length.
                let h = self.length();
                Length::Fixed(if left < h * (1.0 - ROUNDING) { left } else { h })
            }
        };
        self.attempt(length)
    }

    /// Whether the run is at its end: after the steps of its plan, at its duration if a step was
    /// not the one of the plan, or where everything is at rest, if it ends there. A scene of
    /// statics is when its equilibria are found, by [`find_equilibria`](Self::find_equilibria): steps
    /// never end it.
    pub fn is_done(&self) -> bool {
        let plan = &self.scene.plan;
        match &self.summary.adaptive {
            _ if self.is_static() => self.is_found(),
            _ if self.events.is_stopped() => true,
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
    pub(super) fn length(&self) -> f64 {
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
        self.attempt(Length::Fixed(h))
    }

    /// Takes a step, or the part of it that is ahead of an event, with the events that are due at
    /// both ends.
    fn attempt(&mut self, length: Length) -> Result<StepReport, pliant::Error> {
        events::pass(self)?;
        self.control()?;
        let report = self.hold_and_step(length)?;
        let broken = self.events.broken(&self.simulation);
        events::pass_with(self, broken)?;
        Ok(report)
    }

    /// Takes a step, with the holds that are due at its start. If it fails, these and the inputs
    /// are as before, with all else.
    fn hold_and_step(&mut self, step: Length) -> Result<StepReport, pliant::Error> {
        let length = self.scene.plan.step;
        let is_due = self.schedule.is_due(&self.simulation, length);
        if !is_due && self.scene.inputs.is_empty() {
            return self.step_to_event(step);
        }
        let mut before = std::mem::take(&mut self.before);
        self.simulation.record_checkpoint(&mut before);
        let phases = is_due.then(|| self.schedule.phases());
        let begun = self.schedule.apply(&mut self.simulation, length);
        let taken = begun.and_then(|()| self.step_to_event(step));
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

    /// Replaces all that is recorded by the present moment: one picture with its contact forces,
    /// and one line of each table; `report` is that of the last step, if there was one. For runs
    /// that keep [no recording](Self::without_recording). Returns the recording.
    pub fn record_present(&mut self, report: Option<&StepReport>) -> &Recording {
        let now = self.simulation.time();
        let sample = match report {
            Some(report) => sample(report, &self.ledger),
            None => {
                let energies = self.simulation.present_energies();
                Sample {
                    time: now,
                    kinetic: energies.kinetic,
                    potential: energies.potential,
                    ..Sample::default()
                }
            }
        };
        let mut frame = self.scene.frame(&self.simulation, sample);
        frame.time = now;
        let recording = &mut self.recording;
        recording.frames.clear();
        recording.frames.push(frame);
        recording.samples.clear();
        recording.samples.push(sample);
        recording.contacts.lines.clear();
        contacts::record(&mut recording.contacts, true, &self.simulation, now);
        recording.joints.lines.clear();
        if !self.scene.joints.is_empty() {
            recording
                .joints
                .lines
                .push(self.scene.joints.line(&self.simulation));
        }
        recording.probes.lines.clear();
        if !self.probes.is_empty() {
            recording.probes.lines.push(self.probes.line());
        }
        recording
    }

    /// The parameters that may change while the scene runs, with their present values.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, f64)> {
        let values = self.variables.values().iter().copied();
        self.probes.variable_names().zip(values)
    }

    /// Gives a parameter that may change while the scene runs another value from now on, as an
    /// event of the scene would: forces have it from the next step on, and targets of motions go to
    /// theirs within a step. Returns whether there is such a parameter.
    ///
    /// # Errors
    /// [`pliant::Error::OutOfRange`] if the value is not finite, and [`pliant::Error::Model`] where
    /// a motion has no value with it; the parameter keeps its value then.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<bool, pliant::Error> {
        if !value.is_finite() {
            return Err(pliant::Error::OutOfRange {
                what: "the value of a parameter",
                value,
                bound: "finite",
            });
        }
        let Some(index) = self.probes.variable_names().position(|one| one == name) else {
            return Ok(false);
        };
        let before = self.variables.values()[index];
        let set = self.set_variable((index, value), 1);
        if set.is_err() {
            self.set_variable((index, before), 1)?;
        }
        set.map(|()| true)
    }

    /// Takes a step, and leaves it to be [noted](Self::note).
    fn take(&mut self, length: Length) -> Result<Taken, pliant::Error> {
        let h = match (length, self.scene.plan.adaptive) {
            (Length::Chosen { last }, Some(how)) => return self.take_adaptively(&how, last),
            (Length::Chosen { last }, None) => last - self.simulation.time(),
            (Length::Fixed(h), _) => h,
        };
        // Forces act with the weights of the step: so do the inputs that they depend on.
        let time = self.simulation.time() + self.simulation.options.when_inputs_act() * h;
        for input in &self.scene.inputs {
            let value = input.program.jet(time).value;
            self.simulation.set_input(input.component, input.input, value)?;
        }
        let is_planned = !self.is_off_plan() && self.scene.plan.adaptive.is_none() && h == self.length();
        Ok(Taken {
            report: Report::Given(Box::new(self.simulation.step(h)?)),
            is_planned,
        })
    }

    /// Takes a step that was taken into the results; a picture of it, if one is due or it ends
    /// `at_event`.
    fn note(&mut self, taken: Taken, at_event: bool) -> StepReport {
        let plan = self.scene.plan;
        self.follow(taken.is_planned);
        match taken.report {
            Report::Given(report) => {
                let steps = self.summary.steps + 1;
                let is_last = match taken.is_planned {
                    true => steps >= plan.steps,
                    false => self.time_left() <= 0.0,
                };
                let picture = is_last || steps.is_multiple_of(plan.record_every);
                self.record(&report, picture, at_event);
                *report
            }
            Report::Chosen(report, next_picture) => {
                let at_picture = self.simulation.time() >= next_picture;
                self.course.pictures += usize::from(at_picture);
                if let Some(adaptive) = &mut self.summary.adaptive {
                    adaptive.add(&report);
                }
                self.record(&report.step, at_picture || report.at_rest, at_event);
                report.step
            }
        }
    }

    /// Takes a step, or the part of it up to the first event that is not due at its start.
    fn step_to_event(&mut self, length: Length) -> Result<StepReport, pliant::Error> {
        if self.events.is_empty() {
            let taken = self.take(length)?;
            return Ok(self.note(taken, false));
        }
        let before = self.probes.state();
        let mut start = std::mem::take(&mut self.events.start);
        self.simulation.record_checkpoint(&mut start);
        let taken = self.locate(length, &start);
        let back = match &taken {
            Ok(_) => Ok(()),
            Err(_) => {
                self.probes.go_to(before);
                self.simulation.undo(&start)
            }
        };
        self.events.start = start;
        back?;
        let (taken, at_event) = taken?;
        Ok(self.note(taken, at_event))
    }

    /// Takes a step; if an event is due at its end, one that ends within the tolerance behind the
    /// moment at which the first of them begins to hold. Says whether it does.
    fn locate(&mut self, length: Length, start: &Checkpoint) -> Result<(Taken, bool), pliant::Error> {
        let from = start.time;
        let tolerance = self.events.tolerance(from);
        let (mut low, mut below) = (from, self.events.margin(self.probes.values())?);
        let mut taken = self.take(length)?;
        let (mut is_due, mut above) = self.look(&taken)?;
        if !is_due {
            return Ok((taken, false));
        }
        let mut high = self.simulation.time();
        let mut turn = 0;
        while high - low > tolerance {
            // The secant, a little on the side of the end that lags behind; each fourth time the
            // middle, which does not depend on how the margin bends.
            let secant = low + (high - low) * (-below / (above - below));
            let guess = match (turn % 4, is_due) {
                (3, _) => f64::NAN,
                (_, true) => secant - 0.4 * tolerance,
                (_, false) => secant + 0.4 * tolerance,
            };
            let middle = 0.5 * (low + high);
            let guess = if guess.is_finite() { guess } else { middle };
            let guess = guess.clamp(low + 0.5 * tolerance, high - 0.5 * tolerance);
            turn += 1;
            self.simulation.restore(start)?;
            let trial = self.take(length.until(guess, from))?;
            let now = self.simulation.time();
            let (due, margin) = self.look(&trial)?;
            is_due = due;
            if due {
                (high, above, taken) = (now, margin, trial);
            } else if now < guess - 0.25 * tolerance {
                // One that chose to be shorter: the event is in a later step.
                return Ok((trial, false));
            } else {
                (low, below) = (now, margin);
            }
        }
        if !is_due {
            self.simulation.restore(start)?;
            taken = self.take(length.until(high, from))?;
            self.look(&taken)?;
        }
        Ok((taken, true))
    }

    /// Whether an event is due at the end of a step that was taken, and by how much its condition
    /// holds.
    fn look(&mut self, taken: &Taken) -> Result<(bool, f64), pliant::Error> {
        self.probes.read(Moment {
            simulation: &self.simulation,
            joints: &self.scene.joints,
            fields: &self.scene.fields,
            energies: taken.report.step().energies,
        });
        let values = self.probes.values();
        Ok((!self.events.due(values)?.is_empty(), self.events.margin(values)?))
    }

    /// Reads all quantities between two steps.
    pub(super) fn refresh(&mut self) {
        let Energy {
            kinetic, potential, ..
        } = self.summary.energy_end;
        self.probes.refresh(Moment {
            simulation: &self.simulation,
            joints: &self.scene.joints,
            fields: &self.scene.fields,
            energies: Energies { kinetic, potential },
        });
    }

    /// The sensors with their last readings.
    pub fn sensors(&self) -> impl Iterator<Item = (&str, f64)> {
        let values = self.variables.values();
        self.control
            .sensors
            .all()
            .map(|(name, variable)| (name, values[variable]))
    }

    /// The actuators with the commands and the outputs of the last step.
    pub fn actuators(&self) -> impl Iterator<Item = (&str, [f64; 2])> {
        let values = self.variables.values();
        let all = self.control.actuators.all();
        all.map(|(name, variables)| (name, variables.map(|variable| values[variable])))
    }

    /// Gives an actuator a command from the next step on, in place of that of the scene; with none,
    /// it has the scene's again. Returns whether there is such an actuator.
    ///
    /// # Errors
    /// [`pliant::Error::OutOfRange`] if the command is not finite.
    pub fn command(&mut self, name: &str, command: Option<f64>) -> Result<bool, pliant::Error> {
        Self::check_command(command)?;
        Ok(self.control.actuators.give(name, command))
    }

    /// Refuses what is no command of any actuator.
    ///
    /// # Errors
    /// [`pliant::Error::OutOfRange`] if the command is not finite.
    pub fn check_command(command: Option<f64>) -> Result<(), pliant::Error> {
        match command.filter(|command| !command.is_finite()) {
            Some(value) => Err(pliant::Error::OutOfRange {
                what: "the command of an actuator",
                value,
                bound: "finite",
            }),
            None => Ok(()),
        }
    }

    /// Takes the first samples of all sensors, at the start of the run, into its results.
    pub(super) fn begin_control(&mut self) -> Result<(), pliant::Error> {
        if self.control.sensors.all().next().is_none() {
            return Ok(());
        }
        self.measure(0)?;
        let energies = self.simulation.present_energies();
        self.probes.begin(Moment {
            simulation: &self.simulation,
            joints: &self.scene.joints,
            fields: &self.scene.fields,
            energies,
        });
        for line in &mut self.recording.probes.lines {
            *line = self.probes.line();
        }
        Ok(())
    }

    /// Lets sensors whose sample is due read, then controllers set their variables, then actuators
    /// follow their commands: all at one moment, and each with what those before it have set.
    fn control(&mut self) -> Result<(), pliant::Error> {
        let steps = self.summary.steps;
        if !self.control.is_due(steps) {
            return Ok(());
        }
        self.refresh();
        self.measure(steps)?;
        let controllers = &mut self.control.controllers;
        let due = (0..controllers.count()).filter(|index| controllers.is_due(*index, steps));
        let mut outputs = Vec::new();
        for index in due.collect::<Vec<_>>() {
            outputs.push(controllers.sample(index, self.probes.values(), steps)?);
        }
        self.set_variables(outputs)?;
        let length = match self.scene.plan.adaptive {
            None => self.length(),
            // Nobody knows it yet.
            Some(_) => 0.0,
        };
        let actuators = &mut self.control.actuators;
        let outputs = actuators.follow(self.probes.values(), (steps, length))?;
        outputs.into_iter().try_for_each(|to| self.set_variable(to, 1))
    }

    /// Lets sensors whose sample is due read.
    fn measure(&mut self, steps: usize) -> Result<(), pliant::Error> {
        let readings = self.control.sensors.sample(self.probes.values(), steps)?;
        self.set_variables(readings)
    }

    /// Gives variables other values, each for so many steps, and all quantities that are made of
    /// them.
    fn set_variables(&mut self, list: Vec<(usize, f64, usize)>) -> Result<(), pliant::Error> {
        for (variable, value, every) in &list {
            self.set_variable((*variable, *value), *every)?;
        }
        if !list.is_empty() {
            self.probes.renew();
        }
        Ok(())
    }

    /// Gives a variable another value, which targets reach after so many steps of the scene's
    /// length.
    pub(super) fn set_variable(&mut self, to: (usize, f64), steps: usize) -> Result<(), pliant::Error> {
        let within = self.scene.plan.step * steps as f64;
        let inputs = &mut self.scene.inputs;
        self.variables.set(&mut self.simulation, inputs, to, within)?;
        self.probes.set_variables(self.variables.values());
        Ok(())
    }

    /// Notes a step that was taken, by the plan or not.
    fn follow(&mut self, is_planned: bool) {
        self.course.off_plan = !is_planned;
        self.course.time = self.simulation.time();
    }

    /// Takes a step that chooses its length, at most to the time `last` (s).
    fn take_adaptively(&mut self, how: &Adaptive, last: f64) -> Result<Taken, pliant::Error> {
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
        Ok(Taken {
            report: Report::Chosen(Box::new(report), next_picture),
            is_planned,
        })
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

    /// Keeps the lines of the contacts at a time (s).
    pub(super) fn record_contacts(&mut self, time: f64) {
        contacts::record(&mut self.recording.contacts, self.records, &self.simulation, time);
    }
}
