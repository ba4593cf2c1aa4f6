//! Quantities that are measured in a simulation: probes, stresses and strains as arrays.

use crate::errors;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pliant_run::{Runner, TensorError, TensorField, TensorPlace};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns of the table of probes, if lines of it are kept.
pub(crate) fn probes<'py>(py: Python<'py>, run: &Runner) -> PyResult<Bound<'py, PyDict>> {
    if !run.is_recording() {
        let text = "this simulation keeps no lines of probes: make it with `record=True`";
        return Err(errors::state_text(py, text));
    }
    let table = &run.recording().probes;
    let columns = PyDict::new(py);
    if table.columns.is_empty() {
        return Ok(columns);
    }
    let names = ["time_s"]
        .into_iter()
        .chain(table.columns.iter().map(String::as_str));
    for (k, name) in names.enumerate() {
        let values = table
            .lines
            .iter()
            .map(|line| line.get(k).copied().unwrap_or(f64::NAN));
        columns.set_item(name, PyArray1::from_iter(py, values))?;
    }
    Ok(columns)
}

/// Reads a tensor of a solid or sheet at the places that `at` names.
pub(crate) fn tensor<'py>(
    py: Python<'py>,
    at: Option<&str>,
    read: impl FnOnce(Option<TensorPlace>) -> PyResult<Result<TensorField, TensorError>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let place = match at {
        None => None,
        Some("points") => Some(TensorPlace::Points),
        Some("elements") => Some(TensorPlace::Elements),
        Some(other) => {
            let text = format!("`at` is \"points\" or \"elements\", not \"{other}\"");
            return Err(errors::state_text(py, &text));
        }
    };
    let array = match read(place)?.map_err(|error| errors::tensor(py, &error))? {
        TensorField::Solid(values) => rows(py, &values),
        TensorField::Sheet(values) => rows(py, &values),
    }?;
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// An array of shape `(n, N)`.
fn rows<'py, const N: usize>(py: Python<'py>, values: &[[f64; N]]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, values.as_flattened()).reshape([values.len(), N])
}
