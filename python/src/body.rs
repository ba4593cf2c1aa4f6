//! `Body`: a rigid body, as an element of a node.

use crate::arrays::{self, Numbers, Vector};
use crate::dynamics;
use crate::joint_space;
use crate::node::{Node, Quantity, hold};
use Quantity::{AngularVelocities, Orientations, Positions, Velocities};
use numpy::PyArray2;
use pyo3::prelude::*;

/// Rigid body of a simulation: an element of a node of bodies.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     run: (duration: 1, step: 0.1),
/// ...     nodes: [Bodies(name: "box", bodies: [(shape: Box(1, 1, 1), mass: 3)])],
/// ... )''')
/// >>> simulation = pliant.Simulation(model)
/// >>> box = simulation.body("box")
/// >>> box.set_force((6, 0, 0))
/// >>> simulation.run()
/// 10
/// >>> box.velocity.round(9), box.orientation
/// (array([2., 0., 0.]), array([1., 0., 0., 0.]))
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Body {
    node: Node,
    element: usize,
}

impl Body {
    pub(crate) fn new(py: Python<'_>, node: Node, element: i64) -> PyResult<Self> {
        let element = node.place(py, element)?;
        Ok(Self { node, element })
    }

    fn vector<'py>(&self, py: Python<'py>, quantity: Quantity) -> PyResult<Vector<'py>> {
        let mut values = [0.0; 4];
        let out = &mut values[..quantity.of_bodies()];
        let elements = self.element..self.element + 1;
        let simulation = self.node.simulation.get();
        simulation.read(py, |simulation| {
            self.node.read(simulation, quantity, elements, out);
        })?;
        Ok(arrays::vector(py, out))
    }

    fn set(&self, py: Python<'_>, quantity: Quantity, numbers: &Numbers<'_>) -> PyResult<()> {
        let what = format!("the {} of `{}`", quantity.name(), self.node.name);
        let values = arrays::values(py, numbers, &what, &[quantity.of_bodies()])?;
        self.node
            .assign(py, quantity, self.element..self.element + 1, &values)
    }
}

#[pymethods]
impl Body {
    /// Name of its node.
    #[getter]
    fn name(&self) -> &str {
        &self.node.name
    }

    /// Place among the elements of its node.
    #[getter]
    fn element(&self) -> usize {
        self.element
    }

    /// Position of the centre of mass (m).
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.vector(py, Positions)
    }

    #[setter]
    fn set_position(&self, py: Python<'_>, value: Numbers<'_>) -> PyResult<()> {
        self.set(py, Positions, &value)
    }

    /// Unit quaternion ``(w, x, y, z)``, body axes to world axes.
    #[getter]
    fn orientation<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.vector(py, Orientations)
    }

    #[setter]
    fn set_orientation(&self, py: Python<'_>, value: Numbers<'_>) -> PyResult<()> {
        self.set(py, Orientations, &value)
    }

    /// Velocity of the centre of mass (m/s).
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.vector(py, Velocities)
    }

    #[setter]
    fn set_velocity(&self, py: Python<'_>, value: Numbers<'_>) -> PyResult<()> {
        self.set(py, Velocities, &value)
    }

    /// Angular velocity in world axes (rad/s).
    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.vector(py, AngularVelocities)
    }

    #[setter]
    fn set_angular_velocity(&self, py: Python<'_>, value: Numbers<'_>) -> PyResult<()> {
        self.set(py, AngularVelocities, &value)
    }

    /// Set the force from outside, in place of the one before, until it is set again: a force at
    /// the centre of mass in world axes (N), and a torque in body axes (N m), which turns with the
    /// body; without one it is zero.
    #[pyo3(signature = (force, torque=None))]
    fn set_force(&self, py: Python<'_>, force: Numbers<'_>, torque: Option<Numbers<'_>>) -> PyResult<()> {
        let name = &self.node.name;
        let [x, y, z] = arrays::triple(py, &force, &format!("the force on `{name}`"))?;
        let torque = torque.map(|torque| arrays::triple(py, &torque, &format!("the torque on `{name}`")));
        let [a, b, c] = torque.transpose()?.unwrap_or_default();
        let simulation = self.node.simulation.get();
        simulation.set(py, |simulation| {
            simulation.set_force(self.node.id, self.element, &[x, y, z, a, b, c])
        })
    }

    /// Fix chosen coordinates from now on, and give them velocities, reached at the end of the next
    /// step: three of the position, three of the angular velocity in body axes.
    #[pyo3(signature = (coordinates=None, velocity=None))]
    fn hold(
        &self,
        py: Python<'_>,
        coordinates: Option<Vec<bool>>,
        velocity: Option<Numbers<'_>>,
    ) -> PyResult<()> {
        let coordinates = coordinates.unwrap_or_else(|| vec![true; 6]);
        let simulation = self.node.simulation.get();
        let (id, element) = (self.node.id, self.element);
        hold(py, simulation, id, element, &coordinates, velocity.as_ref())
    }

    /// Free chosen coordinates, all of them by default; they keep their velocities.
    #[pyo3(signature = (coordinates=None))]
    fn release(&self, py: Python<'_>, coordinates: Option<Vec<bool>>) -> PyResult<()> {
        let coordinates = coordinates.unwrap_or_else(|| vec![true; 6]);
        let simulation = self.node.simulation.get();
        simulation.set(py, |simulation| {
            simulation.release(self.node.id, self.element, &coordinates)
        })
    }

    /// Sum of its contacts over the last step: mean force (N), and torque about the centre of mass
    /// (N m), both in world axes.
    #[getter]
    fn contact_force<'py>(&self, py: Python<'py>) -> PyResult<(Vector<'py>, Vector<'py>)> {
        let simulation = self.node.simulation.get();
        let (force, torque) = simulation.read(py, |simulation| {
            simulation.contact_force(self.node.id, self.element)
        })?;
        Ok((arrays::vector(py, &force), arrays::vector(py, &torque)))
    }

    /// Whether it sleeps.
    #[getter]
    fn is_asleep(&self, py: Python<'_>) -> PyResult<bool> {
        let simulation = self.node.simulation.get();
        simulation.read(py, |simulation| simulation.is_asleep(self.node.id, self.element))
    }

    /// Jacobian of a point that moves with the body, shape ``(6, dofs)``: its velocity, then the
    /// angular velocity, both in world axes.
    ///
    /// ``point`` is where it is now in the world (m); the centre of mass by default.
    #[pyo3(signature = (point=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        point: Option<Numbers<'_>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let point = point.map(|point| arrays::triple(py, &point, "the point"));
        let point = point.transpose()?;
        let (id, element) = (self.node.id, self.element);
        let simulation = self.node.simulation.get();
        let found = simulation.without_python(py, |runner| {
            dynamics::point_jacobian(runner.simulation(), id, element, point)
        })?;
        found.map_err(|refusal| refusal.raise(py))?.into_matrix(py)
    }

    /// Jacobian of a point that moves with the body by joint coordinates, all or those that are
    /// named, shape ``(6, coordinates)``: its velocity, then the angular velocity, both in world
    /// axes, by a unit velocity of each while the others stand still; coordinates of loops that are
    /// not named follow. The base of a mechanism that hangs on nothing rests.
    ///
    /// ``point`` is where it is now in the world (m); the centre of mass by default.
    #[pyo3(signature = (point=None, coordinates=None))]
    fn joint_jacobian<'py>(
        &self,
        py: Python<'py>,
        point: Option<Numbers<'_>>,
        coordinates: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let point = point.map(|point| arrays::triple(py, &point, "the point"));
        let body = (self.node.id, self.element);
        let simulation = self.node.simulation.get();
        joint_space::jacobian(py, simulation, body, point.transpose()?, coordinates)
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Body {:?}, element {}>", self.node.name, self.element)
    }
}
