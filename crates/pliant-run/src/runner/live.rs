//! A run that is watched while it goes on: its present moment as a picture, and parameters that are
//! set from outside.

use super::{Runner, contacts, samples::sample};
use pliant::StepReport;
use pliant_output::recording::{Recording, Sample};

impl Runner {
    /// Replaces all that is recorded by the present moment: one picture with its contact forces,
    /// and one line of each table; `report` is that of the last step, if there was one. For runs
    /// that keep [no recording](Self::without_recording). Returns the recording.
    pub fn record_present(&mut self, report: Option<&StepReport>) -> &Recording {
        let now = self.simulation.time();
        let sample = match report {
            Some(report) => sample(report, &self.ledger),
            None => {
                let energies = self.simulation.problem().energies(self.simulation.state());
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

    /// Gives a parameter that may change while the scene runs another value from now on, as an event
    /// of the scene would: forces have it from the next step on, and targets of motions go to theirs
    /// within a step. Returns whether there is such a parameter.
    ///
    /// # Errors
    /// [`pliant::Error::OutOfRange`] if the value is not finite, and [`pliant::Error::Model`] where a
    /// motion has no value with it; the parameter keeps its value then.
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
}
