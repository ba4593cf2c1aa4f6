//! Where the time of problems with cones goes.

use super::{Method, Outcome, Stages};
use std::iter::Sum;
use std::ops::AddAssign;
use std::time::Duration;

/// Time of one stage of [`Auto`](super::Auto).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageProfile {
    /// The method, once it was begun.
    pub method: Option<Method>,
    /// How often it was begun.
    pub begun: usize,
    /// How often its answer was one.
    pub answers: usize,
    /// Its iterations.
    pub iterations: usize,
    /// Its time.
    pub time: Duration,
}

impl StageProfile {
    /// Adds a solve by the method.
    pub(super) fn add(&mut self, method: Method, outcome: Outcome, iterations: usize, time: Duration) {
        self.method = Some(method);
        self.begun += 1;
        self.answers += usize::from(outcome == Outcome::Converged);
        self.iterations += iterations;
        self.time += time;
    }
}

/// Time of solves with cones since a solver was made, by what it was spent on. For reading only: no
/// decision and no result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConeProfile {
    /// Problems that were solved.
    pub problems: usize,
    /// Problems whose start was an answer.
    pub settled: usize,
    /// The parts of systems, where their patterns changed.
    pub parting: Duration,
    /// Copies of values from the whole into its parts, and of those without the rows with cones.
    pub copies: Duration,
    /// Factors of the bilateral part.
    pub factor: Duration,
    /// The Delassus operator.
    pub operator: Duration,
    /// Solves with the bilateral part before the cones and after them, and the judgement.
    pub linear: Duration,
    /// The stages of [`Auto`](super::Auto), by their place.
    pub stages: [StageProfile; Stages::MOST],
}

impl ConeProfile {
    /// All of the time.
    pub fn total(&self) -> Duration {
        let stages = self.stages.iter().map(|stage| stage.time).sum::<Duration>();
        self.parting + self.copies + self.factor + self.operator + self.linear + stages
    }
}

impl AddAssign for ConeProfile {
    fn add_assign(&mut self, other: Self) {
        self.problems += other.problems;
        self.settled += other.settled;
        self.parting += other.parting;
        self.copies += other.copies;
        self.factor += other.factor;
        self.operator += other.operator;
        self.linear += other.linear;
        for (sum, one) in self.stages.iter_mut().zip(&other.stages) {
            sum.method = one.method.or(sum.method);
            sum.begun += one.begun;
            sum.answers += one.answers;
            sum.iterations += one.iterations;
            sum.time += one.time;
        }
    }
}

impl Sum for ConeProfile {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut out = Self::default();
        all.for_each(|one| out += one);
        out
    }
}
