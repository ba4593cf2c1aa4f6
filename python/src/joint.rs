//! `Joint`: the coordinates that a joint leaves free, and its forces.

use crate::arrays::{self, Numbers, Vector};
use crate::errors;
use crate::joint_space;
use crate::simulation::Simulation;
use pliant::model::{JointHandle, JointKind, NodeId};
use pliant::{Axes, On, Wrench};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Joint of a simulation.
///
/// Its coordinates are those that it leaves free and that have a name: ``angle`` (rad), ``travel``
/// (m) and the like.
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Joint {
    simulation: Py<Simulation>,
    index: usize,
}

impl Joint {
    pub(crate) fn new(simulation: &Bound<'_, Simulation>, index: usize) -> Self {
        Self {
            simulation: simulation.clone().unbind(),
            index,
        }
    }

    fn entry(&self) -> &(String, JointKind, JointHandle) {
        &self.simulation.get().model().outline().joints[self.index]
    }

    fn each(&self, py: Python<'_>, velocity: bool) -> PyResult<Vec<f64>> {
        self.simulation.get().read(py, |simulation| {
            let read = |node: &NodeId| match velocity {
                true => simulation.velocities(*node)[0],
                false => simulation.positions(*node)[0],
            };
            self.entry().2.coordinates.iter().map(read).collect()
        })
    }

    fn only(&self, py: Python<'_>, velocity: bool, plural: &str) -> PyResult<f64> {
        match self.each(py, velocity)?.as_slice() {
            [one] => Ok(*one),
            many => {
                let (name, count) = (&self.entry().0, many.len());
                let text = format!("`{name}` has {count} free coordinates with a name: `{plural}` has them");
                Err(errors::state_text(py, &text))
            }
        }
    }

    /// Gives the free coordinates values or velocities; those of other joints stay, but for those of
    /// loops that it is in.
    fn assign(&self, py: Python<'_>, velocity: bool, values: &Numbers<'_>) -> PyResult<()> {
        let (name, _, handle) = self.entry();
        let part = if velocity { "velocities" } else { "positions" };
        let what = format!("the {part} of `{name}`");
        let list = arrays::values(py, values, &what, &[handle.coordinates.len()])?;
        let handles = handle.coordinates.iter().copied();
        let pairs: Vec<(NodeId, f64)> = handles.zip(list).collect();
        let own = self.simulation.get();
        own.set(py, |simulation| {
            let mechanism = joint_space::mechanism(simulation, own.model());
            match velocity {
                true => mechanism.set_some_velocities(simulation, &pairs),
                false => mechanism.set_some_positions(simulation, &pairs),
            }
        })
    }

    fn wrench(&self, py: Python<'_>) -> PyResult<Wrench> {
        let simulation = self.simulation.get();
        simulation.read(py, |simulation| {
            simulation.joint_wrench(&self.entry().2, On::B, Axes::World)
        })
    }
}

#[pymethods]
impl Joint {
    /// Name of the joint.
    #[getter]
    fn name(&self) -> &str {
        &self.entry().0
    }

    /// Kind of the joint, such as ``"hinge"``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.entry().1.name()
    }

    /// Names of the free coordinates.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (_, kind, handle) = self.entry();
        let names = kind.free_axes().iter().map(|(_, name)| *name);
        let names: Vec<&str> = names.take(handle.coordinates.len()).collect();
        PyTuple::new(py, names)
    }

    /// Free coordinates (m, rad). Assigned, they move what hangs on the joint, and what else is in
    /// a loop with it.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(arrays::vector(py, &self.each(py, false)?))
    }

    #[setter]
    fn set_positions(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.assign(py, false, &values)
    }

    /// Velocities of the free coordinates (m/s, rad/s). They can be assigned.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(arrays::vector(py, &self.each(py, true)?))
    }

    #[setter]
    fn set_velocities(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.assign(py, true, &values)
    }

    /// Free coordinate of a joint that has one (m, rad).
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<f64> {
        self.only(py, false, "positions")
    }

    /// Velocity of the free coordinate of a joint that has one (m/s, rad/s).
    #[getter]
    fn velocity(&self, py: Python<'_>) -> PyResult<f64> {
        self.only(py, true, "velocities")
    }

    /// Force on the second side over the last step, of all that belongs to the joint, world axes
    /// (N).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(arrays::vector(py, &self.wrench(py)?.force))
    }

    /// Torque on the second side over the last step about the joint's origin there, world axes
    /// (N m).
    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(arrays::vector(py, &self.wrench(py)?.torque))
    }

    /// Push along the free coordinates until it is set again: an array of one number for each of
    /// :attr:`coordinates` (N along lengths, N m about angles), in place of those before.
    fn set_force(&self, py: Python<'_>, force: Numbers<'_>) -> PyResult<()> {
        let (name, _, handle) = self.entry();
        let what = format!("the forces on `{name}`");
        let list = arrays::values(py, &force, &what, &[handle.coordinates.len()])?;
        self.simulation.get().set(py, |simulation| {
            let mut pairs = handle.coordinates.iter().zip(&list);
            pairs.try_for_each(|(node, force)| simulation.set_force(*node, 0, &[*force]))
        })
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Joint {:?}: {}>", self.entry().0, self.entry().1.name())
    }
}
