//! Sweeps whose jobs are run by another engine: `pliant/ray.py` is made of these.

use crate::errors;
use pliant_cli::{OpenSweep, SweepOptions};
use pliant_sweep::SweepError;
use pliant_sweep::execute::{Ending, Event, Failure, FailureKind};
use pliant_sweep::manifest::Job;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sweep of a manifest whose directory belongs to this process, by the code of `pliant sweep`.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct _Sweep {
    open: Mutex<OpenSweep>,
}

impl _Sweep {
    fn open(&self) -> MutexGuard<'_, OpenSweep> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl _Sweep {
    #[new]
    fn new(py: Python<'_>, manifest: PathBuf, tables: Vec<PathBuf>, quiet: bool) -> PyResult<Self> {
        let options = SweepOptions {
            manifest,
            tables,
            quiet,
        };
        let open = py.detach(|| OpenSweep::begin(&options));
        let open = Mutex::new(open.map_err(|error| raise(py, &error))?);
        Ok(Self { open })
    }

    /// Manifest as JSON.
    #[getter]
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.open().manifest().to_text();
        text.map_err(|error| raise(py, &error))
    }

    /// Places in the manifest of the jobs that had no result at the start.
    #[getter]
    fn missing(&self) -> Vec<usize> {
        self.open().missing().to_vec()
    }

    /// Remove the tables of an earlier sweep. Raises :class:`pliant.SweepError`.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let cleared = py.detach(|| self.open().clear());
        cleared.map_err(|error| raise(py, &error))
    }

    /// Check that the missing jobs can be run from copies of the inputs, which the current
    /// directory has at their places. Raises :class:`pliant.SweepError`.
    fn check_copies(&self, py: Python<'_>) -> PyResult<()> {
        let checked = py.detach(|| self.open().check_copies());
        checked.map_err(|error| raise(py, &error))
    }

    /// Whether the result of a job is there.
    fn has_result(&self, py: Python<'_>, place: usize) -> bool {
        py.detach(|| self.open().has_result(place))
    }

    /// Show that a job begins, or with ``None`` that time passes.
    fn see(&self, place: Option<usize>) {
        let event = place.map_or(Event::Idle, Event::Started);
        self.open().see(&event);
    }

    /// Write the files of a job that was run elsewhere into its directory. Raises
    /// :class:`pliant.SweepError`.
    fn receive(&self, py: Python<'_>, place: usize, files: BTreeMap<String, PyBackedBytes>) -> PyResult<()> {
        let files = files
            .into_iter()
            .map(|(name, bytes)| (name, bytes.to_vec()))
            .collect();
        let Some(directory) = self.open().directory_of(place) else {
            return Ok(());
        };
        // Without the sweep, so that several threads write at the same time.
        let received = py.detach(|| OpenSweep::receive(&directory, &files));
        received.map_err(|error| raise(py, &error))
    }

    /// End a job with the result that is there, or with none: the kind and the sentence of its
    /// failure. Return whether its run went through.
    fn end(&self, py: Python<'_>, place: usize, failure: Option<(String, String)>) -> PyResult<bool> {
        let failure = failure.map(|(kind, message)| {
            let kind = FailureKind::from_word(&kind)
                .ok_or_else(|| PyValueError::new_err(format!("no job fails as `{kind}`")))?;
            PyResult::Ok(Failure::new(kind, message))
        });
        let failure = failure.transpose()?;
        Ok(py.detach(|| self.open().end(place, failure)))
    }

    /// Write the tables and report; return the exit code of the program. Raises
    /// :class:`pliant.SweepError`.
    fn finish(&self, py: Python<'_>, interrupted: bool) -> PyResult<u8> {
        let finished = py.detach(|| self.open().finish(interrupted));
        finished.map_err(|error| raise(py, &error))
    }
}

/// Flag that a job which runs looks at between its steps.
#[pyclass(frozen, module = "pliant._pliant")]
#[derive(Default)]
pub(crate) struct _Stop {
    flag: AtomicBool,
}

#[pymethods]
impl _Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Let the job end after its present step, with a checkpoint.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// Run the job of this JSON text in the current directory, that of its manifest. Return ``None`` if
/// it has a result there, and else the kind and the sentence of its failure.
#[pyfunction]
pub(crate) fn _run_job(
    py: Python<'_>,
    job: &str,
    stop: &Bound<'_, _Stop>,
) -> PyResult<Option<(String, String)>> {
    let job: Job = serde_json::from_str(job).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let stop = stop.get();
    let ended = py.detach(|| {
        let run = AssertUnwindSafe(|| pliant_cli::run_job(&job, &stop.flag));
        catch_unwind(run).unwrap_or_else(|panic| Err(Failure::new(FailureKind::Crashed, words(&*panic))))
    });
    Ok(match ended {
        Ok(Ending::Through | Ending::Failed(_)) => None,
        Err(Failure { kind, message }) => Some((kind.word().to_owned(), message)),
    })
}

/// The words of a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without words"))
}

fn raise(py: Python<'_>, error: &SweepError) -> PyErr {
    errors::sweep(py, &error.to_string(), OpenSweep::code_of(error))
}
