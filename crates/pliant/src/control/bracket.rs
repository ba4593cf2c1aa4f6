//! The bracket of the time at which a gap closes.

use pliant_stepper::guards::{EventKind, Nearest};

/// Every so many rounds the bracket is halved, however well the secants do.
const BISECT: usize = 4;

/// The lengths of a step between which the least gap of all that is left out closes: the Illinois
/// method on that gap, within a bracket that it never leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    /// A length at whose end nothing has closed, with the least gap there, if it is known.
    low: (f64, Option<f64>),
    /// A length at whose end something has, with its gap.
    high: (f64, f64),
    kind: EventKind,
    last_was_low: Option<bool>,
    round: usize,
}

impl Bracket {
    /// The bracket of a step of length `h` (s), which went beyond, from the least gap at its start.
    pub(super) fn new(h: f64, beyond: Nearest, at_start: Option<f64>) -> Self {
        Self {
            low: (0.0, at_start),
            high: (h, beyond.gap),
            kind: beyond.kind,
            last_was_low: None,
            round: 0,
        }
    }

    /// The length to try next; none once the bracket is as narrow as `resolution` (s).
    pub(super) fn trial(&mut self, resolution: f64) -> Option<f64> {
        let (low, high) = (self.low, self.high);
        let width = high.0 - low.0;
        if width <= resolution {
            return None;
        }
        self.round += 1;
        Some(match low.1 {
            Some(gap) if !self.round.is_multiple_of(BISECT) => {
                let secant = low.0 + width * gap / (gap - high.1);
                // The bracket closes from both sides.
                secant.clamp(low.0 + 0.5 * resolution, high.0 - 0.5 * resolution)
            }
            _ => low.0 + 0.5 * width,
        })
    }

    /// Takes the gap that was nearest to closing at the end of a trial.
    pub(super) fn take(&mut self, trial: f64, nearest: Option<Nearest>) {
        let is_low = nearest.is_none_or(|n| n.gap >= 0.0);
        if is_low {
            self.low = (trial, nearest.map(|n| n.gap));
            if self.last_was_low == Some(true) {
                self.high.1 *= 0.5;
            }
        } else if let Some(nearest) = nearest {
            (self.high, self.kind) = ((trial, nearest.gap), nearest.kind);
            if self.last_was_low == Some(false) {
                self.low.1 = self.low.1.map(|gap| 0.5 * gap);
            }
        }
        self.last_was_low = Some(is_low);
    }

    /// The longest length at whose end nothing has closed, and what closes next; none if that is at
    /// once.
    pub(super) fn found(&self) -> Option<(f64, EventKind)> {
        (self.low.0 > 0.0).then_some((self.low.0, self.kind))
    }
}
