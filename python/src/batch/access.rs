//! How instances are read and changed, all of them one after the other.

use super::Batch;
use crate::arrays::{self, Vector};
use crate::errors;
use crate::joint_space::{self, Part};
use crate::live::{Mirror, copy_or_not_a_number};
use crate::node::{Node, Quantity};
use crate::simulation::Simulation;
use numpy::{PyArray, PyArray2, PyArray3, PyArrayMethods};
use pliant::Simulation as Motion;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::PoisonError;

impl Batch {
    pub(super) fn list(&self, py: Python<'_>) -> Vec<Py<Simulation>> {
        let list = self.instances.lock_py_attached(py);
        let list = list.unwrap_or_else(PoisonError::into_inner);
        list.iter().map(|s| s.clone_ref(py)).collect()
    }

    /// Brings live arrays up to date with instances that have changed: those of the batch, and
    /// those that the instances have of their own.
    pub(super) fn show<'a>(
        &self,
        py: Python<'_>,
        mirrors: impl Iterator<Item = &'a Mirror> + Clone,
    ) -> PyResult<()> {
        self.table.show(py, mirrors.clone())?;
        let mut mirrors = mirrors;
        mirrors.try_for_each(|mirror| mirror.own().show(py, [mirror]))
    }

    /// Does what changes instances without showing it, then brings live arrays up to date,
    /// whatever became of it.
    pub(super) fn changing<T>(
        &self,
        py: Python<'_>,
        list: &[Py<Simulation>],
        work: impl FnOnce() -> PyResult<T>,
    ) -> PyResult<T> {
        let done = work();
        self.show(py, list.iter().map(|s| s.get().mirror()))?;
        done
    }

    /// Changes all instances, or none if one refuses: each is asked first, with `true`, by its
    /// place.
    pub(super) fn changing_all(
        &self,
        py: Python<'_>,
        list: &[Py<Simulation>],
        work: impl Fn(bool, usize, &Simulation) -> PyResult<()>,
    ) -> PyResult<()> {
        self.changing(py, list, || {
            for asks in [true, false] {
                for (place, simulation) in list.iter().enumerate() {
                    let done = work(asks, place, simulation.get());
                    done.map_err(|error| errors::in_instance(py, error, place))?;
                }
            }
            Ok(())
        })
    }

    /// One number of each instance.
    pub(super) fn numbers<'py>(
        &self,
        py: Python<'py>,
        read: impl Fn(&Motion) -> f64,
    ) -> PyResult<Vector<'py>> {
        let list = self.list(py);
        let values = list.iter().map(|s| s.get().read(py, &read));
        Ok(arrays::vector(py, &values.collect::<PyResult<Vec<_>>>()?))
    }

    /// A row of numbers of each instance; not a number in the rows of those that have none of
    /// them, as of multipliers of force fields that are a stiffness there.
    pub(super) fn rows<'py>(
        &self,
        py: Python<'py>,
        read: impl Fn(&Motion) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.list(py);
        let rows = list.iter().map(|s| s.get().read(py, &read));
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        arrays::matrix(py, [rows.len(), width], |out| {
            for (values, out) in rows.iter().zip(out.chunks_exact_mut(width.max(1))) {
                copy_or_not_a_number(values, out);
            }
            Ok(())
        })
    }

    pub(super) fn joint_space<'py>(
        &self,
        py: Python<'py>,
        part: Part,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.model.get();
        self.rows(py, |simulation| joint_space::read(simulation, model, part))
    }

    /// A quantity of all elements of a node in each instance.
    pub(super) fn elements<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        quantity: Quantity,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let list = self.list(py);
        let node = self.node(py, &list, name)?;
        let (count, size) = (node.count(), node.size(py, quantity)?);
        let mut values = vec![0.0; list.len() * count * size];
        for (simulation, out) in list.iter().zip(values.chunks_exact_mut((count * size).max(1))) {
            simulation.get().read(py, |simulation| {
                node.read(simulation, quantity, 0..count, out);
            })?;
        }
        let array = PyArray::from_vec(py, values).reshape([list.len(), count, size])?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// A node as the first instance has it; all have the same.
    pub(super) fn node(&self, py: Python<'_>, list: &[Py<Simulation>], name: &str) -> PyResult<Node> {
        let first = list[0].bind(py);
        Node::new(first, first.get().node_id(py, name)?)
    }
}
