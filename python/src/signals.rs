//! Sensors and actuators of a scene.

use crate::errors;
use pliant_run::Runner;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The last readings of all sensors.
pub(crate) fn sensors<'py>(py: Python<'py>, run: &Runner) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, reading) in run.sensors() {
        all.set_item(name, reading)?;
    }
    Ok(all)
}

/// Commands and outputs of all actuators in the last step.
pub(crate) fn actuators<'py>(py: Python<'py>, run: &Runner) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (name, [command, output]) in run.actuators() {
        all.set_item(name, (command, output))?;
    }
    Ok(all)
}

/// Refuses names that no actuator has.
pub(crate) fn check(py: Python<'_>, run: &Runner, name: &str) -> PyResult<()> {
    let names: Vec<&str> = run.actuators().map(|(name, _)| name).collect();
    match names.contains(&name) {
        true => Ok(()),
        false => Err(errors::name(
            py,
            ["actuator", "actuators"],
            name,
            names.iter().copied(),
        )),
    }
}
