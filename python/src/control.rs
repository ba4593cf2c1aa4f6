//! Runs to an end, alone or with a controller: a callable that sets what acts in a step before it
//! is taken; and courses on which motors are driven.

use crate::arrays::{self, Numbers};
use crate::end::End;
use crate::errors;
use crate::lock::{Broken, FairGuard};
use crate::own::refuse_inside;
use crate::run::{Run, Stop};
use crate::simulation::{BETWEEN_SIGNALS, Simulation};
use pliant_run::{Runner, Target};
use pyo3::prelude::*;
use std::time::Instant;

/// Takes steps to an end, or finds the equilibria of a scene of statics; returns how many steps.
pub(crate) fn run_alone(py: Python<'_>, simulation: &Simulation, end: End) -> PyResult<usize> {
    refuse_inside(py)?;
    if simulation.model().outline().is_static {
        if let End::At(_) = end {
            let text = "this scene asks for equilibria, which have no duration: `run()` finds them";
            return Err(errors::state_text(py, text));
        }
        let found = simulation.without_python(py, Runner::find_equilibria)?;
        return found.map(|()| 0).map_err(|error| errors::step(py, &error));
    }
    let mut steps = 0;
    loop {
        // The lock is free while Python asks for signals: a handler may look at the simulation.
        let ended = py.detach(|| run_for_a_while(simulation, end, &mut steps));
        simulation.mirror().show(py)?;
        let ended = ended.map_err(|_| errors::broken(py))?;
        if ended.map_err(|stop| errors::stop(py, stop))? {
            return Ok(steps);
        }
        py.check_signals()?;
    }
}

/// Takes steps for a slice of the time of the clock, between which other threads that wait for the
/// simulation have it; says whether the run has ended.
fn run_for_a_while(
    simulation: &Simulation,
    end: End,
    steps: &mut usize,
) -> Result<Result<bool, Stop>, Broken> {
    let started = Instant::now();
    loop {
        let mut runner = simulation.wait()?;
        let ended = run_in_a_turn(&mut runner, end, steps, started);
        simulation.gather(&runner);
        if let Some(ended) = ended {
            return Ok(ended);
        }
    }
}

/// Takes steps until the end, the time is up, or somebody waits, for whom there is no answer.
fn run_in_a_turn(
    runner: &mut FairGuard<'_, Run>,
    end: End,
    steps: &mut usize,
    started: Instant,
) -> Option<Result<bool, Stop>> {
    loop {
        if end.is_reached(runner) {
            return Some(Ok(true));
        }
        let taken = end.step(runner);
        if let Err(stop) = runner.judge(taken) {
            return Some(Err(stop));
        }
        *steps += 1;
        if started.elapsed() >= BETWEEN_SIGNALS {
            return Some(Ok(end.is_reached(runner)));
        }
        if runner.is_awaited() {
            return None;
        }
    }
}

/// Takes steps to an end, and calls a controller before each; returns how many.
///
/// Nothing is locked while it is called, so that it may use the simulation. A step that is taken in
/// halves, or again with another length, has what was set before it.
pub(crate) fn run(
    simulation: &Bound<'_, Simulation>,
    end: End,
    controller: &Bound<'_, PyAny>,
) -> PyResult<usize> {
    let (py, this) = (simulation.py(), simulation.get());
    let mut steps = 0;
    while !this.without_python(py, |runner| end.is_reached(runner))? {
        call(controller, simulation.as_any())?;
        // A controller may have gone to another time.
        let taken = this.without_python(py, |runner| match end.is_reached(runner) {
            true => Ok(false),
            false => end.step(runner).map(|_| true),
        })?;
        steps += usize::from(taken.map_err(|error| errors::step(py, &error))?);
        py.check_signals()?;
    }
    Ok(steps)
}

/// Calls a controller with a simulation or a batch; forces along coordinates that it returns are
/// assigned.
pub(crate) fn call(controller: &Bound<'_, PyAny>, whom: &Bound<'_, PyAny>) -> PyResult<()> {
    let forces = controller.call1((whom,))?;
    match forces.is_none() {
        true => Ok(()),
        false => whom.setattr("tau", forces),
    }
}

/// Drives the coordinates of a component to positions, at velocities.
pub(crate) fn drive(
    simulation: &Simulation,
    py: Python<'_>,
    name: &str,
    [position, velocity]: [Option<Numbers<'_>>; 2],
    within: Option<f64>,
) -> PyResult<()> {
    let id = simulation.component(py, name)?;
    if position.is_none() && velocity.is_none() {
        check_without_target(py, name, within)?;
        return simulation.change(py, |runner| runner.end_drive(id));
    }
    let rows = simulation.rows_of(py, id)?;
    let list = |numbers: Option<Numbers<'_>>, what: &str| {
        let what = format!("the {what} of `{name}`");
        let list = numbers.map(|numbers| arrays::one_or_each(py, &numbers, &what, rows));
        list.transpose()
    };
    let positions = list(position, "positions")?;
    let velocities = list(velocity, "velocities")?.unwrap_or_else(|| vec![0.0; rows]);
    simulation.change(py, |runner| {
        let to = Target {
            positions: positions.as_deref(),
            velocities: &velocities,
            within: within.unwrap_or(runner.plan().step),
        };
        runner.drive(id, to)
    })
}

/// Refuses a time in which something is to go nowhere.
pub(crate) fn check_without_target(py: Python<'_>, name: &str, within: Option<f64>) -> PyResult<()> {
    match within {
        None => Ok(()),
        Some(_) => {
            let text =
                format!("`{name}` is to go somewhere `within` a time, but there is no position or velocity");
            Err(errors::state_text(py, &text))
        }
    }
}
