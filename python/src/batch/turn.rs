//! Instances of a batch on their way, several at the same time.

use super::Batch;
use crate::end::End;
use crate::errors;
use crate::lock::Broken;
use crate::own::refuse_inside;
use crate::run::Stop;
use crate::simulation::{BETWEEN_SIGNALS, Simulation};
use pliant::{Error, StepReport};
use pliant_run::Runner;
use pyo3::prelude::*;
use std::time::Instant;

/// How far an instance goes.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    /// So many steps, of a length (s) if one is given.
    Steps(usize, Option<f64>),
    /// To the end of a run.
    End(End),
    /// A step towards the end of a run, if it is not there.
    StepTo(End),
    /// To the equilibria of a scene of statics.
    Rest,
}

/// Why an instance has stopped before its goal.
pub(super) enum Stopped {
    Error(Stop),
    /// A panic while it was used left it half changed.
    Broken,
}

/// An instance on the way to its goal.
pub(super) struct Turn<'a> {
    simulation: &'a Simulation,
    goal: Goal,
    pub(super) taken: usize,
    /// The report of its last step.
    pub(super) report: Option<StepReport>,
    pub(super) error: Option<Stopped>,
    is_done: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(simulation: &'a Simulation, goal: Goal) -> Self {
        Self {
            simulation,
            goal,
            taken: 0,
            report: None,
            error: None,
            is_done: false,
        }
    }

    /// Takes steps until the goal is reached, one fails, somebody else wants the simulation, or the
    /// time is up.
    fn go_on(&mut self, until: Instant) {
        if self.is_done || Instant::now() > until {
            return;
        }
        let mut runner = match self.simulation.wait() {
            Ok(runner) => runner,
            Err(Broken) => return self.stop(Stopped::Broken),
        };
        while !self.is_done {
            let taken = self.step(&mut runner);
            if let Err(stop) = runner.judge(taken) {
                self.stop(Stopped::Error(stop));
            }
            if runner.is_awaited() || Instant::now() > until {
                break;
            }
        }
        self.simulation.gather(&runner);
    }

    fn stop(&mut self, why: Stopped) {
        self.error = Some(why);
        self.is_done = true;
    }

    fn step(&mut self, runner: &mut Runner) -> Result<(), Error> {
        let report = match self.goal {
            Goal::Steps(count, _) if self.taken >= count => None,
            Goal::Steps(_, Some(h)) => Some(runner.step_of(h)?),
            Goal::Steps(_, None) => Some(runner.step()?),
            Goal::End(end) if end.is_reached(runner) => None,
            Goal::StepTo(end) if self.taken > 0 || end.is_reached(runner) => None,
            Goal::End(end) | Goal::StepTo(end) => Some(end.step(runner)?),
            Goal::Rest => {
                runner.find_equilibria()?;
                None
            }
        };
        self.is_done = report.is_none();
        self.taken += usize::from(report.is_some());
        self.report = report.or(self.report.take());
        Ok(())
    }
}

/// Takes all instances of a batch to their goals; signals of Python are asked for now and then.
pub(super) fn go<'a>(py: Python<'_>, batch: &Batch, mut turns: Vec<Turn<'a>>) -> PyResult<Vec<Turn<'a>>> {
    refuse_inside(py)?;
    let threads = batch.pool.threads(py)?;
    while turns.iter().any(|turn| !turn.is_done) {
        py.detach(|| {
            let until = Instant::now() + BETWEEN_SIGNALS;
            threads.for_each(&mut turns, |turn| turn.go_on(until));
        });
        batch.show(py, turns.iter().map(|turn| turn.simulation.mirror()))?;
        py.check_signals()?;
    }
    Ok(turns)
}

/// Exceptions of the instances that failed, by place.
pub(super) fn exceptions(py: Python<'_>, turns: &[Turn<'_>]) -> Vec<(usize, PyErr)> {
    let failed = turns.iter().enumerate();
    let failed = failed.filter_map(|(instance, turn)| Some((instance, turn.error.as_ref()?)));
    failed
        .map(|(instance, why)| match why {
            Stopped::Error(Stop::Error(error)) => (instance, errors::step_of_instance(py, error, instance)),
            Stopped::Error(Stop::Exception(exception)) => {
                let exception = exception.clone_ref(py);
                (instance, errors::in_instance(py, exception, instance))
            }
            Stopped::Broken => (instance, errors::broken(py)),
        })
        .collect()
}
