//! Sensors, controllers and actuators at the starts of steps.

use super::Runner;
use super::actuators::Actuators;
use super::controllers::Controllers;
use super::probes::Moment;
use super::sensors::Sensors;
use pliant_scene::BuiltScene;

/// All that measures and acts at the starts of steps.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) sensors: Sensors,
    pub(super) controllers: Controllers,
    pub(super) actuators: Actuators,
}

impl Control {
    /// That of a scene, which is left without.
    pub(super) fn new(scene: &mut BuiltScene) -> Self {
        Self {
            sensors: Sensors::new(std::mem::take(&mut scene.sensors)),
            controllers: Controllers::new(std::mem::take(&mut scene.controllers)),
            actuators: Actuators::new(std::mem::take(&mut scene.actuators)),
        }
    }
}

impl Runner {
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
        match command.filter(|command| !command.is_finite()) {
            Some(value) => Err(pliant::Error::OutOfRange {
                what: "the command of an actuator",
                value,
                bound: "finite",
            }),
            None => Ok(self.control.actuators.give(name, command)),
        }
    }

    /// Takes the first samples of all sensors, at the start of the run, into its results.
    pub(super) fn begin_control(&mut self) -> Result<(), pliant::Error> {
        if self.control.sensors.all().next().is_none() {
            return Ok(());
        }
        self.measure()?;
        let energies = self.simulation.problem().energies(self.simulation.state());
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
    /// follow their commands.
    pub(super) fn control(&mut self) -> Result<(), pliant::Error> {
        let steps = self.summary.steps;
        self.measure()?;
        if !self.control.controllers.is_empty() {
            self.set_controlled(steps)?;
        }
        if self.control.actuators.is_empty() {
            return Ok(());
        }
        self.refresh();
        let length = match self.scene.plan.adaptive {
            None => self.length(),
            // Nobody knows it yet.
            Some(_) => 0.0,
        };
        let outputs = self
            .control
            .actuators
            .follow(self.probes.values(), (steps, length))?;
        for to in outputs {
            self.set_variable(to, 1)?;
        }
        Ok(())
    }

    /// Lets sensors whose sample is due read.
    fn measure(&mut self) -> Result<(), pliant::Error> {
        let steps = self.summary.steps;
        if !self.control.sensors.are_due(steps) {
            return Ok(());
        }
        self.refresh();
        for (variable, reading, every) in self.control.sensors.sample(self.probes.values(), steps)? {
            self.set_variable((variable, reading), every)?;
        }
        Ok(())
    }

    /// Lets controllers whose sample is due set their variables.
    fn set_controlled(&mut self, steps: usize) -> Result<(), pliant::Error> {
        self.refresh();
        // All of them see the same moment.
        let mut outputs = Vec::new();
        for index in 0..self.control.controllers.count() {
            if self.control.controllers.is_due(index, steps) {
                outputs.push(
                    self.control
                        .controllers
                        .sample(index, self.probes.values(), steps)?,
                );
            }
        }
        for (variable, value, every) in outputs {
            self.set_variable((variable, value), every)?;
        }
        Ok(())
    }
}
