//! Pickles of reports: the name of a class, and its values as an archive, to the bit.

use crate::errors;
use crate::modes::{Buckling, Modes};
use crate::path::{CriticalPoint, Path};
use crate::report::{
    Certificate, ContactsReport, Energies, EquilibriumReport, Ledger, Momentum, SettleReport, StepReport,
};
use pliant::archive;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::{IntoPyObjectExt, PyClass};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The kind of the bytes, and the version of the structures.
const KIND: &str = "pickled report";
const VERSION: u32 = 1;

/// The result of `__reduce__`: the function that makes it again, and its arguments.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyBytes>));

/// The pickle of a report.
pub(crate) fn pickled<'py, T>(report: &Bound<'py, T>) -> PyResult<Pickled<'py>>
where
    T: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Serialize + Sync,
{
    let py = report.py();
    let bytes = archive::to_bytes(KIND, VERSION, report.get());
    let bytes = bytes.map_err(|error| errors::archive(py, &error))?;
    let make = py.import("pliant._pliant")?.getattr("_unpickled")?;
    let name = report.as_any().get_type().name()?.to_string();
    Ok((make, (name, PyBytes::new(py, &bytes))))
}

/// Report of the class of a name from its pickle.
#[pyfunction]
pub(crate) fn _unpickled<'py>(py: Python<'py>, name: &str, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match name {
        "Energies" => made::<Energies>(py, bytes),
        "Momentum" => made::<Momentum>(py, bytes),
        "Ledger" => made::<Ledger>(py, bytes),
        "Certificate" => made::<Certificate>(py, bytes),
        "ContactsReport" => made::<ContactsReport>(py, bytes),
        "StepReport" => made::<StepReport>(py, bytes),
        "SettleReport" => made::<SettleReport>(py, bytes),
        "EquilibriumReport" => made::<EquilibriumReport>(py, bytes),
        "CriticalPoint" => made::<CriticalPoint>(py, bytes),
        "Path" => sound(py, bytes, Path::is_sound),
        "Modes" => sound(py, bytes, Modes::is_sound),
        "Buckling" => sound(py, bytes, Buckling::is_sound),
        other => Err(PyValueError::new_err(format!("no report is called `{other}`"))),
    }
}

/// A report of which the numbers must go together.
fn sound<'py, T>(py: Python<'py>, bytes: &[u8], is_sound: impl Fn(&T) -> bool) -> PyResult<Bound<'py, PyAny>>
where
    T: DeserializeOwned + IntoPyObjectExt<'py>,
{
    let report: T = archive::from_bytes(KIND, VERSION, bytes).map_err(|error| errors::archive(py, &error))?;
    if is_sound(&report) {
        return report.into_bound_py_any(py);
    }
    let text = "the numbers of a pickled report do not go together";
    Err(errors::checkpoint_text(py, text))
}

fn made<'py, T>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>>
where
    T: DeserializeOwned + IntoPyObjectExt<'py>,
{
    let report: T = archive::from_bytes(KIND, VERSION, bytes).map_err(|error| errors::archive(py, &error))?;
    report.into_bound_py_any(py)
}
