//! Where the time goes.

use std::time::{Duration, Instant};

/// Time spent since a solver was made, by what it was spent on. For reading only: no decision and
/// no result depends on it.
///
/// The time of one step is the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSplit {
    /// The order of elimination, once per pattern.
    pub order: Duration,
    /// The pattern of the factor and where every entry goes, once per pattern.
    pub analyse: Duration,
    /// The scale of every unknown, and scaled entries into the storage of the factor, where that is
    /// a pass of its own.
    pub fill: Duration,
    /// Factorisations; by blocks, and with the [small update](crate::DirectOptions::small_update)
    /// that are looked for, with scales and fill.
    pub factor: Duration,
    /// Which rows are redundant, and the combinations of them.
    pub rank: Duration,
    /// First solves.
    pub solve: Duration,
    /// Solves of refinements.
    pub refine: Duration,
    /// Residuals and what they are measured by.
    pub judge: Duration,
}

impl TimeSplit {
    /// All of it.
    pub fn total(&self) -> Duration {
        let symbolic = self.order + self.analyse;
        let numeric = self.fill + self.factor + self.rank;
        symbolic + numeric + self.solve + self.refine + self.judge
    }
}

impl std::ops::Sub for TimeSplit {
    type Output = Self;

    /// Time spent since `earlier`; zero where that is the larger.
    fn sub(self, earlier: Self) -> Self {
        Self {
            order: self.order.saturating_sub(earlier.order),
            analyse: self.analyse.saturating_sub(earlier.analyse),
            fill: self.fill.saturating_sub(earlier.fill),
            factor: self.factor.saturating_sub(earlier.factor),
            rank: self.rank.saturating_sub(earlier.rank),
            solve: self.solve.saturating_sub(earlier.solve),
            refine: self.refine.saturating_sub(earlier.refine),
            judge: self.judge.saturating_sub(earlier.judge),
        }
    }
}

impl std::fmt::Display for TimeSplit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            ("order", self.order),
            ("analyse", self.analyse),
            ("fill", self.fill),
            ("factor", self.factor),
            ("rank", self.rank),
            ("solve", self.solve),
            ("refine", self.refine),
            ("judge", self.judge),
        ];
        for (k, (what, time)) in parts.into_iter().enumerate() {
            let separator = if k > 0 { ", " } else { "" };
            write!(f, "{separator}{what} {:.3} ms", 1e3 * time.as_secs_f64())?;
        }
        Ok(())
    }
}

/// Laps of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps(Instant);

impl Laps {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last lap.
    pub(crate) fn add_to(&mut self, part: &mut Duration) {
        let now = Instant::now();
        *part += now - self.0;
        self.0 = now;
    }
}
