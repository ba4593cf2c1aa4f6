//! `BatchLive`: arrays of a batch that are written anew whenever an instance changes.

use super::Batch;
use crate::joint_space::Part;
use crate::live::{self, Wish};
use crate::model::Model;
use crate::node::Quantity;
use pyo3::prelude::*;

/// Live arrays of a batch: each is the same array every time it is asked for, with the instances
/// first, and has the numbers of the present states after every step, run, reset and whatever else
/// changes one of them, by the batch or by an instance alone.
///
/// They cannot be written: what is set is set by the methods of the batch and by
/// :attr:`Batch.tau`. Whoever wants to keep numbers copies them.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     parameters: {"gravity": 10},
/// ...     gravity: (0, "-$gravity", 0),
/// ...     run: (duration: 1, step: 0.01),
/// ...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
/// ... )''')
/// >>> batch = pliant.Batch(model, 2, parameters={"gravity": [10, 1.6]})
/// >>> x = batch.live.positions("stone")
/// >>> batch.run(0.5)
/// array([50, 50])
/// >>> x[:, 0, 1].round(6), x is batch.live.positions("stone")
/// (array([-1.25, -0.2 ]), True)
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct BatchLive {
    batch: Py<Batch>,
}

impl BatchLive {
    pub(super) fn new(batch: Py<Batch>) -> Self {
        Self { batch }
    }

    fn model(&self) -> &Model {
        self.batch.get().model.get()
    }

    fn array(&self, py: Python<'_>, (source, shape): Wish) -> PyResult<Py<PyAny>> {
        let batch = self.batch.get();
        let count = batch.list(py).len();
        let shape = [vec![count], shape].concat();
        batch.table.array(py, source, (count, &shape), || batch.list(py))
    }

    fn elements(&self, py: Python<'_>, name: &str, quantity: Quantity) -> PyResult<Py<PyAny>> {
        let first = &self.batch.get().list(py)[0];
        self.array(py, live::elements(py, first, name, quantity)?)
    }
}

#[pymethods]
impl BatchLive {
    /// Free coordinates of all joints (m, rad), shape ``(n, coordinates)``, as :attr:`Batch.q`.
    #[getter]
    fn q(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, live::coordinates(self.model(), Part::Position))
    }

    /// Velocities of the free coordinates of all joints (m/s, rad/s), shape ``(n, coordinates)``.
    #[getter]
    fn qd(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, live::coordinates(self.model(), Part::Velocity))
    }

    /// Forces from outside along the free coordinates of all joints (N, N m), shape
    /// ``(n, coordinates)``.
    #[getter]
    fn tau(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, live::coordinates(self.model(), Part::Force))
    }

    /// Velocities of all degrees of freedom, shape ``(n, dofs)``, as :attr:`Simulation.velocities`.
    #[getter]
    fn dof_velocities(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, live::dof_velocities(self.model()))
    }

    /// Positions of the elements of a node, shape ``(n, elements, coordinates)`` (m); of bodies
    /// those of their centres of mass.
    fn positions(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Positions)
    }

    /// Unit quaternions ``(w, x, y, z)`` of the bodies of a node, shape ``(n, elements, 4)``.
    fn orientations(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Orientations)
    }

    /// Velocities of the elements of a node, shape ``(n, elements, coordinates)`` (m/s); of bodies
    /// those of their centres of mass.
    fn velocities(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Velocities)
    }

    /// Angular velocities of the bodies of a node in world axes, shape ``(n, elements, 3)``
    /// (rad/s).
    fn angular_velocities(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::AngularVelocities)
    }

    /// Forces from outside on the elements of a node, shape ``(n, elements, numbers)`` (N), as
    /// :meth:`Batch.set_force` sets them; of bodies a force in world axes, then a torque in body
    /// axes (N m).
    fn forces(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        let first = &self.batch.get().list(py)[0];
        self.array(py, live::forces(py, first, node)?)
    }

    /// Multipliers of a constraint or of a compliant force field over the last step, shape
    /// ``(n, rows)`` (N, N m), as :meth:`Batch.reaction`. NaN of an instance while the force field
    /// has none in it.
    fn reaction(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let wish = live::reaction(py, &self.batch.get().list(py), name)?;
        self.array(py, wish)
    }

    fn __repr__(&self) -> String {
        format!("<pliant.BatchLive: {} arrays>", self.batch.get().table.count())
    }
}
