//! Sensors and actuators of a scene that is ready to run.

use pliant_expression::Program;

/// The name of the reading of a sensor: `$encoder.reading`.
pub(crate) const READING: &str = "reading";
/// The name of the command of an actuator.
pub(crate) const COMMAND: &str = "command";
/// The name of the output of an actuator.
pub(crate) const OUTPUT: &str = "output";

/// A quantity as an instrument reads it, anew at the starts of steps.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// The user's name.
    pub name: String,
    /// The variable that has its reading, by its place in
    /// [`Observables::variables`](crate::Observables::variables).
    pub variable: usize,
    /// The quantity that it measures, over the time, the variables and the quantities.
    pub of: Program,
    /// Steps per sample.
    pub every: usize,
    /// The time constant of its low-pass filter (s); 0 without one.
    pub lag: f64,
    /// The standard deviation of its noise.
    pub noise: f64,
    /// The beginning of its noise.
    pub seed: u64,
    /// Readings are multiples of this number; of anything with 0.
    pub resolution: f64,
    /// The smallest and the largest reading.
    pub limits: [f64; 2],
    /// Samples by which readings are late.
    pub delay: usize,
}

/// A drive that follows a command.
#[derive(Clone, Debug)]
pub struct Actuator {
    /// The user's name.
    pub name: String,
    /// The variables that have its command and its output, by their places in
    /// [`Observables::variables`](crate::Observables::variables).
    pub variables: [usize; 2],
    /// The command, over the time, the variables and the quantities.
    pub command: Program,
    /// The time constant of its answer (s); 0 without one.
    pub lag: f64,
    /// The largest rate of its output (1/s times its unit); infinite without one.
    pub rate: f64,
    /// The smallest and the largest output.
    pub limits: [f64; 2],
    /// Its output at the start.
    pub start: f64,
}
