//! Runs of a batch with a controller.

use super::Batch;
use super::turn::{Goal, Turn, exceptions, go};
use crate::end::End;
use crate::lock::Broken;
use crate::own::refuse_inside;
use crate::simulation::Simulation;
use crate::{control, errors};
use pyo3::prelude::*;

/// Takes steps in all instances to their ends, one by one, and calls a controller before each;
/// returns how many each took. Ends with the first step that fails in an instance.
pub(super) fn run(
    batch: &Bound<'_, Batch>,
    list: &[Py<Simulation>],
    ends: &[End],
    controller: &Bound<'_, PyAny>,
) -> PyResult<Vec<usize>> {
    let py = batch.py();
    let mut taken = vec![0; list.len()];
    while is_going(py, list, ends)? {
        control::call(controller, batch.as_any())?;
        let turns = list.iter().zip(ends);
        let turns = turns.map(|(s, end)| Turn::new(s.get(), Goal::StepTo(*end)));
        let turns = go(py, batch.get(), turns.collect())?;
        for (sum, turn) in taken.iter_mut().zip(&turns) {
            *sum += turn.taken;
        }
        if let Some((_, exception)) = exceptions(py, &turns).into_iter().next() {
            return Err(exception);
        }
    }
    Ok(taken)
}

/// Whether an instance is not at its end.
fn is_going(py: Python<'_>, list: &[Py<Simulation>], ends: &[End]) -> PyResult<bool> {
    refuse_inside(py)?;
    let found = py.detach(|| {
        for (simulation, end) in list.iter().zip(ends) {
            if !end.is_reached(&*simulation.get().wait()?) {
                return Ok(true);
            }
        }
        Ok(false)
    });
    found.map_err(|_: Broken| errors::broken(py))
}
