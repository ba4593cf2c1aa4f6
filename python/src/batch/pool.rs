//! Threads of a batch.

use crate::arrays;
use crate::errors;
use pliant_threads::Threads;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::{Mutex, PoisonError};

/// The most threads.
const MOST_THREADS: usize = 1024;

/// Threads of a process. One that was forked has none of those of the process before it.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) count: usize,
    started: Mutex<(u32, Threads)>,
}

impl Pool {
    /// As many as a user wants, or as there are cores.
    pub(super) fn new(py: Python<'_>, count: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = match count {
            Some(count) => arrays::count(py, count, "threads of a batch", (1, MOST_THREADS))?,
            None => cores().min(MOST_THREADS),
        };
        Self::of(py, count)
    }

    pub(super) fn of(py: Python<'_>, count: usize) -> PyResult<Self> {
        let threads = Threads::new(count).map_err(|error| errors::state_text(py, &error.to_string()))?;
        Ok(Self {
            count,
            started: Mutex::new((std::process::id(), threads)),
        })
    }

    /// The threads of this process.
    pub(super) fn threads(&self, py: Python<'_>) -> PyResult<Threads> {
        let started = self.started.lock_py_attached(py);
        let mut started = started.unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if started.0 != process {
            let new = Threads::new(self.count);
            let new = new.map_err(|error| errors::state_text(py, &error.to_string()))?;
            let old = std::mem::replace(&mut *started, (process, new));
            // Its threads are not there to be told that they are no longer wanted.
            std::mem::forget(old);
        }
        Ok(started.1.clone())
    }
}
