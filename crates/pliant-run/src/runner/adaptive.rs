//! Counts of steps that choose their length, as they stand in `result.json`.

use pliant::{AdaptiveReport, JumpReport};
use serde::{Deserialize, Serialize};

/// Counts of steps that choose their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveRun {
    /// Trials that missed the tolerance.
    pub rejected: usize,
    /// Trials whose equations could not be solved.
    pub failed: usize,
    /// The smallest step (s).
    pub smallest: f64,
    /// The largest step (s).
    pub largest: f64,
    /// Events at which steps ended.
    pub events: usize,
    /// Steps in which no events were looked for, because there had been too many.
    pub passed: usize,
    /// Steps with errors beyond the tolerance of smooth motion that jumps of velocities and forces
    /// account for.
    pub jumps: usize,
    /// The largest of these of a position (m, rad), and of a velocity (m/s, rad/s).
    pub jump_position: f64,
    /// See [`jump_position`](Self::jump_position).
    pub jump_velocity: f64,
    /// The largest error of a step, as a share of what is allowed.
    pub worst_error: f64,
    /// Whether the run ended with everything at rest.
    pub at_rest: bool,
}

impl AdaptiveRun {
    pub(super) fn add(&mut self, report: &AdaptiveReport) {
        let h = report.step.h;
        self.smallest = if self.largest == 0.0 {
            h
        } else {
            self.smallest.min(h)
        };
        self.largest = self.largest.max(h);
        self.rejected += report.rejected;
        self.failed += report.failed;
        self.events += usize::from(report.event.is_some());
        self.passed += usize::from(report.passed);
        self.jumps += usize::from(report.jump.is_some());
        let JumpReport { position, velocity } = report.jump.unwrap_or_default();
        self.jump_position = self.jump_position.max(position);
        self.jump_velocity = self.jump_velocity.max(velocity);
        self.worst_error = self.worst_error.max(report.error);
        self.at_rest = report.at_rest;
    }
}
