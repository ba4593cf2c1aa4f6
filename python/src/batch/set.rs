//! Setting the states of instances: in all that are named, or in none.

use super::Batch;
use super::places::{blocks, named};
use crate::arrays::{self, Numbers};
use crate::errors;
use crate::joint_space::{self, Part};
use crate::node::{Node, Quantity};
use crate::simulation::Simulation;
use numpy::{PyArray, PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pliant::{Error, Simulation as Motion};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Instances of a batch that are named, with their places.
struct Named<'a> {
    batch: &'a Batch,
    list: Vec<(usize, Py<Simulation>)>,
}

impl<'a> Named<'a> {
    fn of(py: Python<'_>, batch: &'a Batch, which: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let all = batch.list(py);
        let places = named(which, all.len())?;
        let list = places.into_iter().map(|place| (place, all[place].clone_ref(py)));
        let list = list.collect();
        Ok(Self { batch, list })
    }

    /// Does something in each, which gets its place in the list; where one refuses, those before it
    /// go back.
    fn set(&self, py: Python<'_>, work: impl Fn(usize, &mut Motion) -> Result<(), Error>) -> PyResult<()> {
        let done = self.set_unseen(py, work);
        let mirrors = self.list.iter().map(|(_, s)| s.get().mirror());
        self.batch.show(py, mirrors)?;
        done
    }

    fn set_unseen(
        &self,
        py: Python<'_>,
        work: impl Fn(usize, &mut Motion) -> Result<(), Error>,
    ) -> PyResult<()> {
        let mut before = Vec::with_capacity(self.list.len());
        for (index, (place, simulation)) in self.list.iter().enumerate() {
            let done = simulation.get().set_unseen(py, |motion| {
                let start = motion.checkpoint();
                work(index, motion)?;
                Ok(start)
            });
            match done {
                Ok(start) => before.push(start),
                Err(error) => {
                    for ((_, simulation), start) in self.list.iter().zip(&before) {
                        simulation.get().set_unseen(py, |motion| motion.restore(start))?;
                    }
                    return Err(errors::in_instance(py, error, *place));
                }
            }
        }
        Ok(())
    }
}

/// Sets a quantity of all elements of a node.
pub(super) fn elements(
    py: Python<'_>,
    batch: &Batch,
    name: &str,
    quantity: Quantity,
    values: &Numbers<'_>,
    which: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let node = batch.node(py, &batch.list(py), name)?;
    let named = Named::of(py, batch, which)?;
    let (count, size) = (node.count(), node.size(py, quantity)?);
    node.check_independent(py)?;
    let what = format!("the {} of `{name}`", quantity.name());
    let values = blocks(py, values, &what, [named.list.len(), count, size])?;
    named.set(py, |index, motion| {
        let own = &values[index * count * size..][..count * size];
        node.set(motion, quantity, 0..count, own)
    })
}

/// Sets positions, velocities or forces of all joint coordinates.
pub(super) fn coordinates(
    py: Python<'_>,
    batch: &Batch,
    part: Part,
    values: &Numbers<'_>,
    which: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let named = Named::of(py, batch, which)?;
    let model = batch.model.get();
    let (count, width) = (named.list.len(), model.outline().coordinates().count());
    let values = match values.ndim() {
        1 if part != Part::Force => {
            arrays::values(py, values, part.of_coordinates(), &[width])?.repeat(count)
        }
        _ => arrays::values(py, values, part.of_coordinates(), &[count, width])?,
    };
    named.set(py, |index, motion| {
        joint_space::set(motion, model, part, &values[index * width..][..width])
    })
}

/// The place of an element of a node that all instances have.
fn element(py: Python<'_>, batch: &Batch, (name, element): (&str, i64)) -> PyResult<(Node, usize)> {
    let node = batch.node(py, &batch.list(py), name)?;
    let element = node.place(py, element)?;
    Ok((node, element))
}

/// Fixes coordinates of one element.
pub(super) fn hold(
    py: Python<'_>,
    batch: &Batch,
    place: (&str, i64),
    coordinates: &[bool],
    velocity: Option<&Numbers<'_>>,
    which: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (node, element) = element(py, batch, place)?;
    let named = Named::of(py, batch, which)?;
    let (count, width) = (named.list.len(), coordinates.len());
    let velocities = match velocity {
        None => vec![0.0; count * width],
        Some(numbers) if numbers.ndim() == 1 => {
            arrays::values(py, numbers, "the velocities", &[width])?.repeat(count)
        }
        Some(numbers) => arrays::values(py, numbers, "the velocities", &[count, width])?,
    };
    named.set(py, |index, motion| {
        motion.hold(
            node.id,
            element,
            coordinates,
            &velocities[index * width..][..width],
        )
    })
}

/// Frees coordinates of one element.
pub(super) fn release(
    py: Python<'_>,
    batch: &Batch,
    place: (&str, i64),
    coordinates: &[bool],
    which: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (node, element) = element(py, batch, place)?;
    let named = Named::of(py, batch, which)?;
    named.set(py, |_, motion| motion.release(node.id, element, coordinates))
}

/// Sums of the contacts of the bodies of a node.
pub(super) fn contact_forces<'py>(
    py: Python<'py>,
    batch: &Batch,
    name: &str,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let list = batch.list(py);
    let node = batch.node(py, &list, name)?;
    // Refused for what has no orientations.
    node.size(py, Quantity::Orientations)?;
    let mut values = Vec::with_capacity(list.len() * node.count() * 6);
    for simulation in &list {
        simulation.get().read(py, |motion| {
            for element in 0..node.count() {
                let (force, torque) = motion.contact_force(node.id, element);
                values.extend(force);
                values.extend(torque);
            }
        })?;
    }
    let array = PyArray::from_vec(py, values).reshape([list.len(), node.count(), 6])?;
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// Goes to the moments of checkpoints.
pub(super) fn restore(
    py: Python<'_>,
    batch: &Batch,
    checkpoints: &[Bound<'_, PyAny>],
    which: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let named = Named::of(py, batch, which)?;
    if checkpoints.len() != named.list.len() {
        let text = format!(
            "there are {} checkpoints for {} instances",
            checkpoints.len(),
            named.list.len()
        );
        return Err(errors::state_text(py, &text));
    }
    let mut before: Vec<Bound<'_, PyBytes>> = Vec::with_capacity(checkpoints.len());
    for ((place, simulation), checkpoint) in named.list.iter().zip(checkpoints) {
        let start = simulation.get().checkpoint(py)?;
        match simulation.get().restore(py, checkpoint) {
            Ok(()) => before.push(start),
            Err(error) => {
                for ((_, simulation), start) in named.list.iter().zip(&before) {
                    simulation.get().restore(py, start)?;
                }
                return Err(errors::in_instance(py, error, *place));
            }
        }
    }
    Ok(())
}
