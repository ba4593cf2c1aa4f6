//! When something closes.

use super::Trials;
use crate::Error;
use pliant_stepper::guards::{EventKind, Nearest};

/// Every so many steps the bracket is halved, however well the secants do.
const BISECT: usize = 4;

impl Trials<'_> {
    /// The longest step, to the tolerance of events, at whose end nothing has closed, and what
    /// closes next; the trial of length `h` went beyond. `None` where that is at once.
    ///
    /// The Illinois method on the least gap at the end of two halves, as a function of the length
    /// of the step, within a bracket that it never leaves.
    pub(super) fn locate(&mut self, h: f64, beyond: Nearest) -> Result<Option<(f64, EventKind)>, Error> {
        let events = self.how.events.unwrap_or_default();
        let resolution = events.resolution(self.start_time(), h);
        let mut low = (0.0, self.simulation.system.guards.nearest_at_start());
        let mut high = (h, beyond.gap);
        let mut kind = beyond.kind;
        let mut last_was_low = None;
        for round in 1.. {
            let width = high.0 - low.0;
            if width <= resolution {
                break;
            }
            let middle = low.0 + 0.5 * width;
            let trial = match low.1 {
                Some(gap) if round % BISECT != 0 => {
                    let secant = low.0 + width * gap / (gap - high.1);
                    // The bracket closes from both sides.
                    secant.clamp(low.0 + 0.5 * resolution, high.0 - 0.5 * resolution)
                }
                _ => middle,
            };
            self.back()?;
            let nearest = self.halves(trial)?.1;
            let is_low = nearest.is_none_or(|n| n.gap >= 0.0);
            if is_low {
                low = (trial, nearest.map(|n| n.gap));
                if last_was_low == Some(true) {
                    high.1 *= 0.5;
                }
            } else if let Some(nearest) = nearest {
                (high, kind) = ((trial, nearest.gap), nearest.kind);
                if last_was_low == Some(false) {
                    low.1 = low.1.map(|gap| 0.5 * gap);
                }
            }
            last_was_low = Some(is_low);
        }
        Ok((low.0 > 0.0).then_some((low.0, kind)))
    }
}
