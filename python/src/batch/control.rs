//! Runs of a batch with a controller.

use super::Batch;
use super::turn::{Goal, Turn, exceptions, go};
use crate::control;
use crate::end::End;
use crate::simulation::Simulation;
use pyo3::prelude::*;

/// Takes steps in all instances to their ends, one by one, and calls a controller before each;
/// returns how many each took. Ends with the first step that fails in an instance.
pub(super) fn run(
    batch: &Bound<'_, Batch>,
    list: &[Py<Simulation>],
    ends: &[End],
    controller: &Bound<'_, PyAny>,
) -> PyResult<Vec<usize>> {
    let (py, threads) = (batch.py(), batch.get().pool.threads(batch.py())?);
    let mut taken = vec![0; list.len()];
    loop {
        let mut going = false;
        for (simulation, end) in list.iter().zip(ends) {
            let simulation = simulation.get();
            going |= !simulation.without_python(py, |runner| end.is_reached(runner))?;
        }
        if !going {
            return Ok(taken);
        }
        control::call(controller, batch.as_any())?;
        let turns = list.iter().zip(ends);
        let turns = turns.map(|(s, end)| Turn::new(s.get(), Goal::StepTo(*end)));
        let turns = go(py, &threads, turns.collect())?;
        for (sum, turn) in taken.iter_mut().zip(&turns) {
            *sum += turn.taken;
        }
        if let Some((_, exception)) = exceptions(py, &turns).into_iter().next() {
            return Err(exception);
        }
    }
}
