//! Sensors: readings that are taken at the starts of steps.

use super::controllers::no_value;
use pliant::Error;
use pliant_scene::Sensor;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Everything about a sensor that changes in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SensorState {
    /// The time (s), the quantity and the output of the filter at the last sample.
    last: Option<[f64; 3]>,
    /// Readings that are to come, the next one first.
    late: VecDeque<f64>,
    /// How many samples there were.
    samples: u64,
    /// How many steps were taken at the last sample.
    steps: Option<usize>,
}

/// The sensors of a scene.
#[derive(Debug, Default)]
pub(super) struct Sensors {
    list: Vec<Sensor>,
    states: Vec<SensorState>,
}

impl Sensors {
    pub(super) fn new(list: Vec<Sensor>) -> Self {
        let states = vec![SensorState::default(); list.len()];
        Self { list, states }
    }

    /// Names of all, each with the variable that has its reading.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, usize)> {
        self.list
            .iter()
            .map(|sensor| (sensor.name.as_str(), sensor.variable))
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> Vec<SensorState> {
        self.states.clone()
    }

    /// Goes to the state of a checkpoint of the same scene.
    pub(super) fn go_to(&mut self, states: Vec<SensorState>) {
        if states.len() == self.list.len() {
            self.states = states;
        }
    }

    /// Whether any sensor has a sample after so many steps.
    pub(super) fn are_due(&self, steps: usize) -> bool {
        (0..self.list.len()).any(|index| self.is_due(index, steps))
    }

    fn is_due(&self, index: usize, steps: usize) -> bool {
        steps.is_multiple_of(self.list[index].every) && self.states[index].steps != Some(steps)
    }

    /// Takes the samples that are due after so many steps, and returns the variables that have them,
    /// with their values and the steps that they are for. `values` are the time, the variables and
    /// all quantities.
    pub(super) fn sample(&mut self, values: &[f64], steps: usize) -> Result<Vec<(usize, f64, usize)>, Error> {
        let due: Vec<usize> = (0..self.list.len())
            .filter(|index| self.is_due(*index, steps))
            .collect();
        let mut readings = Vec::with_capacity(due.len());
        for index in due {
            let (sensor, state) = (&self.list[index], &mut self.states[index]);
            let time = values.first().copied().unwrap_or(f64::NAN);
            let what = || format!("the sensor `{}`", sensor.name);
            let number = sensor
                .of
                .of(values)
                .map_err(|e| no_value(what(), time, e.message))?;
            let reading = state.read(sensor, time, number);
            if !reading.is_finite() {
                return Err(no_value(what(), time, format!("its reading is {reading}")));
            }
            state.steps = Some(steps);
            readings.push((sensor.variable, reading, sensor.every));
        }
        Ok(readings)
    }
}

impl SensorState {
    /// The reading at a time (s) at which the quantity is a number.
    fn read(&mut self, sensor: &Sensor, time: f64, number: f64) -> f64 {
        let filtered = match self.last {
            Some([before, from, filtered]) if sensor.lag > 0.0 => {
                follow_line(filtered, [from, number], time - before, sensor.lag)
            }
            _ => number,
        };
        self.last = Some([time, number, filtered]);
        let mut reading = filtered;
        if sensor.noise > 0.0 {
            reading += sensor.noise * normal(key(sensor.seed, &sensor.name), self.samples);
        }
        self.samples += 1;
        if sensor.resolution > 0.0 {
            reading = (reading / sensor.resolution).round() * sensor.resolution;
        }
        let [lower, upper] = sensor.limits;
        reading = reading.clamp(lower, upper);
        if self.samples == 1 {
            self.late = std::iter::repeat_n(reading, sensor.delay).collect();
        }
        self.late.push_back(reading);
        self.late.pop_front().unwrap_or(reading)
    }
}

/// `y(h)` of `lag dy/dt = x - y` from `y`, where `x` goes in a straight line within `h` (s).
fn follow_line(y: f64, [from, to]: [f64; 2], h: f64, lag: f64) -> f64 {
    if h <= 0.0 {
        return y;
    }
    let late = (to - from) / h * lag;
    to - late + (y - from + late) * (-h / lag).exp()
}

/// The state of a generator from which the noise of a sensor begins.
fn key(seed: u64, name: &str) -> u64 {
    // FNV-1a: sensors of one seed have noise of their own.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(hash ^ mix(seed))
}

/// The mixing function of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number of the standard normal distribution (Box and Muller), the same for the same count.
fn normal(key: u64, count: u64) -> f64 {
    let uniform = |k: u64| {
        let bits = mix(key.wrapping_add(count.wrapping_mul(2).wrapping_add(k)));
        // 53 bits, and never zero.
        ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    (-2.0 * uniform(0).ln()).sqrt() * (std::f64::consts::TAU * uniform(1)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sine of 1 rad/s through a filter, against its answer after all that began has decayed.
    #[test]
    fn the_filter_is_that_of_first_order() {
        let (lag, h) = (0.5f64, 0.001);
        let (mut y, mut last) = (0.0, 0.0);
        let mut worst = 0.0f64;
        for k in 1..=20_000 {
            let t = f64::from(k) * h;
            y = follow_line(y, [last, t.sin()], h, lag);
            last = t.sin();
            let exact =
                (t.sin() - lag * t.cos()) / (1.0 + lag * lag) + lag / (1.0 + lag * lag) * (-t / lag).exp();
            worst = worst.max((y - exact).abs());
        }
        // A sine is off from its chords by h^2/8.
        assert!(worst < h * h / 8.0 * 1.01, "{worst}");
        // A straight line is followed exactly, in a step of any length.
        let late = follow_line(-0.5, [0.0, 3.0], 3.0, 0.5);
        assert!((late - 2.5).abs() < 1e-15, "{late}");
    }

    #[test]
    fn noise_is_normal_and_its_own() {
        let count = 100_000;
        let series = |seed, name| (0..count).map(move |k| normal(key(seed, name), k));
        for (power, wanted, within) in [(1, 0.0, 0.01), (2, 1.0, 0.02), (3, 0.0, 0.04), (4, 3.0, 0.15)] {
            let mean = series(0, "a").map(|x| x.powi(power)).sum::<f64>() / count as f64;
            // Four standard deviations of such a mean, and some.
            assert!((mean - wanted).abs() < within, "{power}: {mean}");
        }
        let together = |a: (u64, &'static str), b: (u64, &'static str), shift: usize| {
            let both = series(a.0, a.1).zip(series(b.0, b.1).skip(shift));
            both.map(|(x, y)| x * y).sum::<f64>() / count as f64
        };
        for other in [(1, "a"), (0, "b"), (2, "a")] {
            assert!(together((0, "a"), other, 0).abs() < 0.015);
        }
        assert!(together((0, "a"), (0, "a"), 1).abs() < 0.015);
    }
}
