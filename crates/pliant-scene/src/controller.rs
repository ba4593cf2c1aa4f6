//! Controllers of a scene that is ready to run.

use pliant_expression::Program;

/// A variable that is set anew while the scene runs.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The user's name.
    pub name: String,
    /// The variable, by its place in [`Observables::variables`](crate::Observables::variables).
    pub variable: usize,
    /// Its law.
    pub law: ControlLaw,
    /// Steps per sample.
    pub every: usize,
    /// The smallest and the largest value.
    pub limits: [f64; 2],
}

/// The law of a controller. Programs are over the time, the variables and the quantities.
#[derive(Clone, Debug)]
pub enum ControlLaw {
    /// In proportion to an error, its integral and its rate.
    Pid {
        /// The error.
        error: Program,
        /// Its rate, if it is measured.
        rate: Option<Program>,
        /// The gains of the error, its integral (1/s) and its rate (s).
        gains: [f64; 3],
    },
    /// An expression.
    Feedback(Program),
}

impl ControlLaw {
    /// All expressions in it.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        let (first, second) = match self {
            Self::Pid { error, rate, .. } => (error, rate.as_ref()),
            Self::Feedback(program) => (program, None),
        };
        std::iter::once(first).chain(second)
    }
}
