//! When something closes.

use super::Trials;
use crate::Error;
use crate::control::bracket::Bracket;
use pliant_stepper::guards::{EventKind, Nearest};

impl Trials<'_> {
    /// The longest step, to the tolerance of events, at whose end nothing has closed, and what
    /// closes next; the trial of length `h` went beyond. `None` where that is at once.
    ///
    /// The gap is the least one at the end of two halves, as a function of the length of the step.
    pub(super) fn locate(&mut self, h: f64, beyond: Nearest) -> Result<Option<(f64, EventKind)>, Error> {
        let events = self.how.events.unwrap_or_default();
        let resolution = events.resolution(self.start_time(), h);
        let at_start = self.simulation.system.guards.nearest_at_start();
        let mut bracket = Bracket::new(h, beyond, at_start);
        while let Some(trial) = bracket.trial(resolution) {
            self.back()?;
            let nearest = self.halves(trial)?.1;
            bracket.take(trial, nearest);
        }
        Ok(bracket.found())
    }
}
