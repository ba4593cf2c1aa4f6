//! How fast a run goes, and how fast it is to go.

use std::time::{Duration, Instant};

/// How far a run may lag behind the clock before it gives up to catch up.
const MOST_LAG: f64 = 0.1;
/// Over which time its rate is measured.
const WINDOW: Duration = Duration::from_millis(500);

/// The time of the clock and the simulated time (s) at a moment.
type Mark = (Instant, f64);

/// Simulated time over time of the clock.
#[derive(Debug)]
pub(super) struct Clock {
    speed: Option<f64>,
    /// From where the run follows the clock.
    anchor: Option<Mark>,
    /// From where its rate is measured.
    since: Option<Mark>,
    rate: Option<f64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            speed: Some(1.0),
            anchor: None,
            since: None,
            rate: None,
        }
    }
}

impl Clock {
    /// The rate that is asked for; none is as fast as it goes.
    pub(super) fn speed(&self) -> Option<f64> {
        self.speed
    }

    pub(super) fn set_speed(&mut self, speed: Option<f64>) {
        self.speed = speed;
        self.forget();
    }

    /// Begins anew with the next step.
    pub(super) fn forget(&mut self) {
        (self.anchor, self.since, self.rate) = (None, None, None);
    }

    /// The rate of late, once it is measured.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// The time until a step that begins at a simulated time (s) is due.
    pub(super) fn until_step(&mut self, time: f64) -> Duration {
        let Some(speed) = self.speed else {
            return Duration::ZERO;
        };
        let now = Instant::now();
        let (then, from) = *self.anchor.get_or_insert((now, time));
        let early = (time - from) / speed - now.duration_since(then).as_secs_f64();
        if early < -MOST_LAG {
            // It does not catch up with a leap.
            self.anchor = Some((now, time));
        }
        Duration::try_from_secs_f64(early).unwrap_or(Duration::ZERO)
    }

    /// Notes the simulated time (s) after a step.
    pub(super) fn note(&mut self, time: f64) {
        let now = Instant::now();
        let (then, from) = *self.since.get_or_insert((now, time));
        let passed = now.duration_since(then);
        if passed >= WINDOW {
            self.rate = Some((time - from) / passed.as_secs_f64());
            self.since = Some((now, time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_due_when_the_clock_has_come_to_its_start() {
        let mut clock = Clock::default();
        assert!(clock.until_step(2.0).is_zero());
        let wait = clock.until_step(2.05);
        assert!(
            wait > Duration::from_millis(30) && wait <= Duration::from_millis(50),
            "{wait:?}"
        );
        clock.set_speed(Some(0.5));
        clock.until_step(2.0);
        let wait = clock.until_step(2.05);
        assert!(
            wait > Duration::from_millis(80) && wait <= Duration::from_millis(100),
            "{wait:?}"
        );
        clock.set_speed(None);
        assert!(clock.until_step(9.0).is_zero());
    }
}
