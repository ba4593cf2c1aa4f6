//! A scene in motion in some program, and the loop that steps, times and judges it.

use super::{Case, Contender, Judge, Program};
use crate::heaps::Moment;
use crate::timing::clock;
use std::fmt;

/// A state in world coordinates: of rigid bodies, or of points with positions (m) and velocities
/// (m/s).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Rigid bodies.
    pub bodies: Moment,
    /// Points.
    pub points: Vec<([f64; 3], [f64; 3])>,
}

impl Frame {
    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let all = |x: &[f64]| x.iter().all(|x| x.is_finite());
        self.points.iter().all(|(x, v)| all(x) && all(v))
            && (self.bodies.iter()).all(|(x, q, v, w)| all(x) && all(q) && all(v) && all(w))
    }
}

/// Steps that were taken, and the seconds on a processor that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advance {
    /// Steps.
    pub steps: usize,
    /// Seconds.
    pub seconds: f64,
}

/// A scene in motion in some program.
pub trait Engine {
    /// Takes steps, fewer where they take more than a budget (s).
    ///
    /// # Errors
    /// The words of the program about a step that it does not take.
    fn advance(&mut self, steps: usize, budget: f64) -> Result<Advance, String>;

    /// The state.
    fn frame(&self) -> Frame;
}

/// Takes steps by a function, fewer where they take more than a budget (s), and times them in
/// groups that grow while they are a small share of the budget.
pub(super) fn timed(
    steps: usize,
    budget: f64,
    mut step: impl FnMut() -> Result<(), String>,
) -> Result<Advance, String> {
    let (mut out, mut group) = (Advance::default(), 1);
    while out.steps < steps && out.seconds < budget {
        group = group.min(steps - out.steps);
        let (seconds, taken) = clock(|| (0..group).try_for_each(|_| step()));
        taken?;
        out.steps += group;
        out.seconds += seconds;
        group = if seconds < 0.05 * budget { 2 * group } else { 1 };
    }
    Ok(out)
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All steps were taken.
    Finished,
    /// The budget was spent.
    Capped,
    /// A number was not finite, or the energy beyond 1e12 J.
    Diverged,
    /// A step was refused.
    Failed(String),
    /// The scene did not start.
    NotRun(String),
}

/// Measures of a case in a program with a setting.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case.
    pub case: Case,
    /// The program.
    pub program: Program,
    /// How it was set.
    pub setting: &'static str,
    /// Steps taken.
    pub steps: usize,
    /// Seconds on a processor of all steps but the first, which some programs plan in.
    pub seconds: f64,
    /// Seconds of the first step.
    pub first: f64,
    /// The measures, by [`Scene::columns`](super::Scene::columns); NaN for what is not known.
    pub measures: Vec<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Row {
    /// Seconds per step behind the first.
    pub fn per_step(&self) -> f64 {
        match self.steps {
            0 => f64::NAN,
            1 => self.first,
            steps => self.seconds / (steps - 1) as f64,
        }
    }

    /// The measure of [`Case::error_column`].
    pub fn error(&self) -> f64 {
        self.measures
            .get(self.case.error_column())
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// Whether that measure says how good the run was: all steps were taken, or those up to its
    /// time.
    pub fn is_told(&self) -> bool {
        match self.outcome {
            Outcome::Finished => true,
            Outcome::Capped => self.case.error_is_at_a_time(),
            _ => false,
        }
    }
}

impl fmt::Display for Row {
    /// How it ended, where that is worth a note.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.steps as f64 * self.case.step;
        match &self.outcome {
            Outcome::Finished => Ok(()),
            Outcome::Capped => write!(f, "cap, {} steps", self.steps),
            Outcome::Diverged => write!(f, "diverges by {at:.3} s"),
            Outcome::Failed(why) => write!(f, "stops at {at:.3} s: {why}"),
            Outcome::NotRun(why) => write!(f, "not run: {why}"),
        }
    }
}

/// Runs are repeated up to this many times, and the least time taken,
const RUNS: usize = 3;
/// where they take less than this (s): short ones tell most of what else the machine does.
const SHORT: f64 = 0.5;
/// Energy beyond which a run has diverged (J).
const MOST_ENERGY: f64 = 1e12;

/// Runs a case within a budget (s on a processor).
pub fn run(case: &Case, contender: &Contender, budget: f64) -> Row {
    let mut best = once(case, contender, budget);
    for _ in 1..RUNS {
        if best.outcome != Outcome::Finished || best.seconds > SHORT {
            break;
        }
        let again = once(case, contender, budget);
        if again.outcome == Outcome::Finished {
            best.seconds = best.seconds.min(again.seconds);
            best.first = best.first.min(again.first);
        }
    }
    best
}

fn once(case: &Case, contender: &Contender, budget: f64) -> Row {
    let mut row = Row {
        case: *case,
        program: contender.program,
        setting: contender.setting,
        steps: 0,
        seconds: 0.0,
        first: 0.0,
        measures: vec![f64::NAN; case.scene().columns().len()],
        outcome: Outcome::Finished,
    };
    let started = Judge::new(case, contender.material).and_then(|judge| Ok((judge, (contender.start)()?)));
    let (mut judge, mut engine) = match started {
        Ok(started) => started,
        Err(why) => {
            row.outcome = Outcome::NotRun(why);
            return row;
        }
    };
    row.outcome = drive(&mut row, &mut judge, engine.as_mut(), budget);
    if row.steps > 0 {
        row.measures = judge.measures();
    }
    row
}

fn drive(row: &mut Row, judge: &mut Judge, engine: &mut dyn Engine, budget: f64) -> Outcome {
    let case = row.case;
    while row.steps < case.steps {
        // The first step alone: it is timed apart.
        let until = if row.steps == 0 {
            1
        } else {
            (row.steps / case.every + 1) * case.every
        };
        let wanted = until.min(case.steps) - row.steps;
        let left = budget - row.seconds - row.first;
        match engine.advance(wanted, left) {
            Ok(advance) => {
                if row.steps == 0 {
                    row.first = advance.seconds;
                } else {
                    row.seconds += advance.seconds;
                }
                row.steps += advance.steps;
                if row.steps == 1 && case.every > 1 {
                    continue;
                }
                let frame = engine.frame();
                if !frame.is_finite() {
                    return Outcome::Diverged;
                }
                judge.observe(row.steps as f64 * case.step, &frame);
                if judge.energy(&frame).abs() > MOST_ENERGY {
                    return Outcome::Diverged;
                }
                if advance.steps < wanted || row.seconds + row.first >= budget {
                    return match row.steps < case.steps {
                        true => Outcome::Capped,
                        false => Outcome::Finished,
                    };
                }
            }
            Err(why) => return Outcome::Failed(why),
        }
    }
    Outcome::Finished
}
