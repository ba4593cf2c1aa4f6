//! Numbers of a simulation that live arrays show, copied out of it while it is locked.

use super::table::Table;
use crate::dynamics;
use crate::joint_space::{self, Part};
use crate::model::Model;
use crate::node::{self, Quantity};
use pliant::Simulation as Motion;
use pliant::model::{ComponentId, NodeId};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Kind of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    Coordinates(Part),
    Velocities,
    Elements(NodeId, Quantity),
    /// Forces from outside on all elements of a node.
    Forces(NodeId),
    Reaction(ComponentId),
}

impl Source {
    fn read(self, motion: &Motion, model: &Model, out: &mut [f64]) {
        match self {
            Self::Coordinates(part) => joint_space::read_into(motion, model, part, out),
            Self::Velocities => dynamics::read_velocities(motion, out),
            Self::Elements(id, quantity) => {
                let count = motion.model().node(id).count;
                node::read(motion, id, quantity, 0..count, out);
            }
            Self::Forces(id) => out.copy_from_slice(&motion.external_forces(id)),
            Self::Reaction(id) => copy_or_not_a_number(motion.reaction(id), out),
        }
    }
}

/// Copies numbers into a place for as many. If they are others, there are none for this place: a
/// force field has multipliers in some simulations and steps alone.
pub(crate) fn copy_or_not_a_number(numbers: &[f64], out: &mut [f64]) {
    if numbers.len() == out.len() {
        out.copy_from_slice(numbers);
    } else {
        out.fill(f64::NAN);
    }
}

/// Numbers of all arrays that show a simulation.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    list: Vec<(Source, Vec<f64>)>,
    /// Tables that show them, and the row of the simulation in each.
    rows: Vec<(Arc<Table>, usize)>,
}

impl Numbers {
    /// The numbers of a source, if they are kept.
    pub(super) fn of(&self, source: Source) -> Option<&[f64]> {
        let found = self.list.iter().find(|(other, _)| *other == source);
        found.map(|(_, numbers)| numbers.as_slice())
    }

    /// The row of the simulation in a table that shows it.
    pub(super) fn row_in(&self, table: &Table) -> Option<usize> {
        let mut rows = self.rows.iter();
        let found = rows.find(|(other, _)| std::ptr::eq(Arc::as_ptr(other), table));
        found.map(|(_, row)| *row)
    }

    fn gather(&mut self, motion: &Motion, model: &Model) {
        for (source, numbers) in &mut self.list {
            source.read(motion, model, numbers);
        }
    }
}

/// Numbers of a simulation that live arrays show, and the arrays of it alone.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// Whether there are any: else a step costs nothing more.
    is_used: AtomicBool,
    numbers: Mutex<Numbers>,
    /// The arrays of the simulation alone.
    own: Arc<Table>,
}

impl Mirror {
    /// Copies the numbers out of a simulation that has changed, which is locked.
    pub(crate) fn gather(&self, motion: &Motion, model: &Model) {
        if self.is_used.load(Ordering::Acquire) {
            self.numbers().gather(motion, model);
        }
    }

    /// Copies the newest numbers into all arrays that show them.
    pub(crate) fn show(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_used.load(Ordering::Acquire) {
            return Ok(());
        }
        // From the last one on, so that none is left out if another one ends to show this
        // meanwhile.
        let mut left = self.numbers().rows.len();
        while left > 0 {
            left -= 1;
            let table = self.numbers().rows.get(left).map(|(table, _)| table.clone());
            table.map_or(Ok(()), |table| table.show(py, [self]))?;
        }
        Ok(())
    }

    /// The arrays of the simulation alone.
    pub(crate) fn own(&self) -> &Arc<Table> {
        &self.own
    }

    /// Has a table show sources, of so many numbers each, in a row of its arrays from now on; the
    /// simulation is locked.
    pub(super) fn follow(
        &self,
        (table, row): (&Arc<Table>, usize),
        sources: &[(Source, usize)],
        (motion, model): (&Motion, &Model),
    ) {
        self.is_used.store(true, Ordering::Release);
        let mut numbers = self.numbers();
        for (source, width) in sources {
            if numbers.of(*source).is_none() {
                numbers.list.push((*source, vec![0.0; *width]));
            }
        }
        if numbers.row_in(table).is_none() {
            numbers.rows.push((table.clone(), row));
        }
        numbers.gather(motion, model);
    }

    /// Ends that a table shows this.
    pub(super) fn leave(&self, table: &Table) {
        let mut numbers = self.numbers();
        numbers
            .rows
            .retain(|(other, _)| !std::ptr::eq(Arc::as_ptr(other), table));
    }

    /// The numbers, for a short time: nobody waits for Python while they are locked.
    pub(super) fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
