//! Counts of steps that choose their length, as they stand in `result.json`.

use pliant::AdaptiveReport;
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
        self.worst_error = self.worst_error.max(report.error);
        self.at_rest = report.at_rest;
    }
}
