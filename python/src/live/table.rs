//! Live arrays of numpy with a row for each simulation that they show.

use super::mirror::{Mirror, Source, copy_or_not_a_number};
use crate::own;
use crate::simulation::Simulation;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An array.
#[derive(Debug)]
struct Sheet {
    source: Source,
    /// Numbers in a row.
    width: usize,
    /// The memory, which only this module writes: a row for each simulation.
    memory: Py<PyArray2<f64>>,
    /// A view of it that cannot be written: what users have.
    view: Py<PyAny>,
}

impl Sheet {
    fn new(py: Python<'_>, source: Source, rows: usize, shape: &[usize]) -> PyResult<Self> {
        let width = shape.iter().product::<usize>() / rows;
        let memory = PyArray2::zeros(py, [rows, width], false);
        let view = memory.reshape(shape.to_vec())?;
        view.readwrite().make_nonwriteable();
        Ok(Self {
            source,
            width,
            memory: memory.unbind(),
            view: view.into_any().unbind(),
        })
    }

    /// Copies the numbers of one row where somebody reads the array for a call that this is a part
    /// of, such as one that sets forces.
    fn write_beside_readers(&self, py: Python<'_>, row: usize, numbers: &[f64]) -> PyResult<()> {
        let mut fitting = vec![0.0; self.width];
        copy_or_not_a_number(numbers, &mut fitting);
        let place = self.memory.bind(py).get_item(row)?;
        PyArray1::from_vec(py, fitting).copy_to(place.cast::<PyArray1<f64>>()?)
    }
}

/// Live arrays of a simulation or of a batch.
#[derive(Debug, Default)]
pub(crate) struct Table {
    sheets: Mutex<Vec<Sheet>>,
    /// Number of arrays, to look at without a lock.
    count: AtomicUsize,
    /// Held by whoever adds an array or changes which simulations are shown; whoever waits for a
    /// simulation meanwhile holds nothing that its steps or components may ask for.
    changing: Mutex<()>,
}

impl Table {
    /// Number of arrays.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The array of a source, which is made when it is first asked for: of a shape that has the
    /// rows of `count` simulations, which are then asked for.
    pub(crate) fn array(
        self: &Arc<Self>,
        py: Python<'_>,
        source: Source,
        (count, shape): (usize, &[usize]),
        simulations: impl FnOnce() -> Vec<Py<Simulation>>,
    ) -> PyResult<Py<PyAny>> {
        if let Some(found) = self.find(py, source) {
            return Ok(found);
        }
        own::refuse_inside(py)?;
        let sheet = Sheet::new(py, source, count, shape)?;
        let changing = self.change(py);
        // Another thread may have been faster.
        if let Some(found) = self.find(py, source) {
            return Ok(found);
        }
        let view = sheet.view.clone_ref(py);
        let simulations = simulations();
        for (row, simulation) in simulations.iter().enumerate() {
            self.begin(py, simulation.get(), row, &[(source, sheet.width)])?;
        }
        self.sheets(py).push(sheet);
        self.count.fetch_add(1, Ordering::Release);
        drop(changing);
        self.show(py, simulations.iter().map(|s| s.get().mirror()))?;
        Ok(view)
    }

    /// Shows other simulations in some rows, which `put` puts in the places of those before, and
    /// returns these.
    pub(crate) fn replace(
        self: &Arc<Self>,
        py: Python<'_>,
        fresh: Vec<(usize, Py<Simulation>)>,
        put: impl FnOnce(Vec<(usize, Py<Simulation>)>) -> Vec<Py<Simulation>>,
    ) -> PyResult<Vec<Py<Simulation>>> {
        let changing = self.change(py);
        let sources: Vec<_> = self.sheets(py).iter().map(|s| (s.source, s.width)).collect();
        if sources.is_empty() {
            return Ok(put(fresh));
        }
        for (row, simulation) in &fresh {
            self.begin(py, simulation.get(), *row, &sources)?;
        }
        let new: Vec<_> = fresh.iter().map(|(_, s)| s.clone_ref(py)).collect();
        let old = put(fresh);
        for simulation in &old {
            simulation.get().mirror().leave(self);
        }
        drop(changing);
        self.show(py, new.iter().map(|s| s.get().mirror()))?;
        Ok(old)
    }

    /// Copies the newest numbers of simulations into the arrays that show them.
    ///
    /// The numbers of a simulation are locked while they are copied, and arrays while this goes on,
    /// so that arrays do not go back in time.
    pub(crate) fn show<'a>(
        &self,
        py: Python<'_>,
        mirrors: impl IntoIterator<Item = &'a Mirror>,
    ) -> PyResult<()> {
        if self.count() == 0 {
            return Ok(());
        }
        let sheets = self.sheets(py);
        let memories = sheets.iter().map(|sheet| sheet.memory.bind(py));
        let mut places: Vec<Option<PyReadwriteArray2<'_, f64>>> =
            memories.map(|memory| memory.try_readwrite().ok()).collect();
        // What numpy is to write, which may let other threads go on: then nothing is locked but the
        // arrays.
        let mut late: Vec<(&Sheet, usize, Vec<f64>)> = Vec::new();
        for mirror in mirrors {
            let numbers = mirror.numbers();
            let Some(row) = numbers.row_in(self) else {
                continue;
            };
            for (sheet, place) in sheets.iter().zip(&mut places) {
                let Some(found) = numbers.of(sheet.source) else {
                    continue;
                };
                let all = place.as_mut().and_then(|array| array.as_slice_mut().ok());
                match all {
                    Some(all) => copy_or_not_a_number(found, &mut all[row * sheet.width..][..sheet.width]),
                    None => late.push((sheet, row, found.to_vec())),
                }
            }
        }
        drop(places);
        let mut late = late.iter();
        late.try_for_each(|(sheet, row, numbers)| sheet.write_beside_readers(py, *row, numbers))
    }

    /// Has a simulation keep numbers for a row.
    fn begin(
        self: &Arc<Self>,
        py: Python<'_>,
        simulation: &Simulation,
        row: usize,
        sources: &[(Source, usize)],
    ) -> PyResult<()> {
        simulation.read(py, |motion| {
            let now = (motion, simulation.model());
            simulation.mirror().follow((self, row), sources, now);
        })
    }

    fn find(&self, py: Python<'_>, source: Source) -> Option<Py<PyAny>> {
        let sheets = self.sheets(py);
        let found = sheets.iter().find(|sheet| sheet.source == source);
        found.map(|sheet| sheet.view.clone_ref(py))
    }

    fn sheets(&self, py: Python<'_>) -> MutexGuard<'_, Vec<Sheet>> {
        let sheets = self.sheets.lock_py_attached(py);
        sheets.unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, py: Python<'_>) -> MutexGuard<'_, ()> {
        let changing = self.changing.lock_py_attached(py);
        changing.unwrap_or_else(PoisonError::into_inner)
    }
}
