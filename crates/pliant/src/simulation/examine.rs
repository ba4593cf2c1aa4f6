//! Examination of the present moment, without a step.

use super::Simulation;
use crate::Error;
use pliant_stepper::method::{Examination, examine};

impl Simulation {
    /// Examines the present moment: hard rows that follow from others, or contradict them, and
    /// directions in which nothing has mass and no hard row holds what moves. `h` is the length of
    /// the step (s) that would come, by which treatments are chosen. No step is taken. Cost: an
    /// evaluation and a factor.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined, those of the options, and those of the
    /// linear solver.
    pub fn examine(&mut self, h: f64) -> Result<Examination, Error> {
        let started = self.start_step(h, self.options.weights(), false);
        let found = started.and_then(|()| examine(&mut self.system, &self.motion));
        self.go_back()?;
        found
    }
}
