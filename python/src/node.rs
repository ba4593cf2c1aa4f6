//! `Node`: positions and velocities as arrays.

use crate::arrays::{self, Numbers};
use crate::simulation::Simulation;
use crate::{dynamics, errors};
use numpy::{PyArray2, PyArray3, PyArrayDyn};
use pliant::dense::{Vec3, rotation};
use pliant::model::{NodeId, Space, State};
use pliant::{Error, Simulation as Motion};
use pyo3::prelude::*;

/// Quantity of the elements of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    Positions,
    Orientations,
    Velocities,
    AngularVelocities,
}

use Quantity::{AngularVelocities, Orientations, Positions, Velocities};

impl Quantity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Positions => "positions",
            Orientations => "orientations",
            Velocities => "velocities",
            AngularVelocities => "angular velocities",
        }
    }

    /// Numbers of it for each body.
    pub(crate) fn of_bodies(self) -> usize {
        match self {
            Orientations => 4,
            Positions | Velocities | AngularVelocities => 3,
        }
    }
}

/// Node of a simulation: a row of particles, bodies or scalars, or what is mapped from others.
///
/// Arrays are copies of the present state, which cannot be written; assigning a property sets the
/// state of an independent node, and forgets the forces of the last step.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     run: (duration: 1),
/// ...     nodes: [Particles(name: "pair", positions: [(0, 0, 0), (1, 0, 0)], mass: 1)],
/// ... )''')
/// >>> pair = pliant.Simulation(model).node("pair")
/// >>> pair.velocities = [(0, 1, 0), (0, 0, 0)]
/// >>> pair.velocities
/// array([[0., 1., 0.],
///        [0., 0., 0.]])
/// >>> pair.positions[0, 0] = 1.0
/// Traceback (most recent call last):
///     ...
/// ValueError: assignment destination is read-only
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) simulation: Py<Simulation>,
    pub(crate) id: NodeId,
    pub(crate) name: String,
    space: Space,
    count: usize,
    is_independent: bool,
}

impl Node {
    pub(crate) fn new(simulation: &Bound<'_, Simulation>, id: NodeId) -> PyResult<Self> {
        let handle = simulation.clone().unbind();
        simulation.get().read(simulation.py(), |simulation| {
            let node = simulation.model().node(id);
            Self {
                simulation: handle,
                id,
                name: node.name.clone(),
                space: node.space,
                count: node.count,
                is_independent: node.first_dof().is_some(),
            }
        })
    }

    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Numbers of a force on one element.
    pub(crate) fn velocity_size(&self) -> usize {
        self.space.velocity_size()
    }

    fn holds_bodies(&self) -> bool {
        self.space == Space::Rigid3
    }

    /// Numbers of a quantity for each element; those of bodies alone are refused for others.
    pub(crate) fn size(&self, py: Python<'_>, quantity: Quantity) -> PyResult<usize> {
        match (quantity, self.space) {
            (quantity, Space::Rigid3) => Ok(quantity.of_bodies()),
            (Positions | Velocities, space) => Ok(space.position_size()),
            (_, space) => {
                let text = format!("`{}` has no {}: it holds {space}", self.name, quantity.name());
                Err(errors::state_text(py, &text))
            }
        }
    }

    /// Copies a quantity of some elements.
    pub(crate) fn read(
        &self,
        simulation: &Motion,
        quantity: Quantity,
        elements: std::ops::Range<usize>,
        out: &mut [f64],
    ) {
        read(simulation, self.id, quantity, elements, out);
    }

    /// Writes a quantity of some elements into a state.
    fn write(
        &self,
        simulation: &Motion,
        state: &mut State,
        quantity: Quantity,
        elements: std::ops::Range<usize>,
        values: &[f64],
    ) {
        let node = simulation.model().node(self.id);
        let size = self.space.position_size();
        let State {
            positions,
            velocities,
            ..
        } = state;
        let positions = &mut positions[node.position_range()];
        let velocities = &mut velocities[node.velocity_range()];
        if !self.holds_bodies() {
            let target = if quantity == Positions {
                positions
            } else {
                velocities
            };
            target[elements.start * size..elements.end * size].copy_from_slice(values);
            return;
        }
        for (element, value) in elements.zip(values.chunks_exact(quantity.of_bodies())) {
            let x = &mut positions[element * 7..][..7];
            let v = &mut velocities[element * 6..][..6];
            match quantity {
                Positions => x[..3].copy_from_slice(value),
                Orientations => {
                    // The angular velocity in the world stays; the state has that in body axes.
                    let old = [x[3], x[4], x[5], x[6]];
                    let turning = rotation::rotate(old, Vec3::new(v[3], v[4], v[5]));
                    x[3..].copy_from_slice(value);
                    if let Some(new) = rotation::normalize([value[0], value[1], value[2], value[3]]) {
                        let back = rotation::rotate(rotation::conjugate(new), turning);
                        v[3..].copy_from_slice(back.as_slice());
                    }
                }
                Velocities => v[..3].copy_from_slice(value),
                AngularVelocities => {
                    let back = rotation::conjugate([x[3], x[4], x[5], x[6]]);
                    let turned = rotation::rotate(back, Vec3::new(value[0], value[1], value[2]));
                    v[3..].copy_from_slice(turned.as_slice());
                }
            }
        }
    }

    fn matrix<'py>(&self, py: Python<'py>, quantity: Quantity) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let shape = [self.count, self.size(py, quantity)?];
        let simulation = self.simulation.get();
        arrays::matrix(py, shape, |out| {
            simulation.read(py, |simulation| {
                self.read(simulation, quantity, 0..self.count, out);
            })
        })
    }

    fn read_into(&self, out: &Bound<'_, PyArrayDyn<f64>>, quantity: Quantity) -> PyResult<()> {
        let py = out.py();
        let shape = [self.count, self.size(py, quantity)?];
        let mut values = vec![0.0; shape[0] * shape[1]];
        let simulation = self.simulation.get();
        simulation.read(py, |simulation| {
            self.read(simulation, quantity, 0..self.count, &mut values);
        })?;
        arrays::write_into(out, shape, &values)
    }

    pub(crate) fn assign(
        &self,
        py: Python<'_>,
        quantity: Quantity,
        elements: std::ops::Range<usize>,
        values: &[f64],
    ) -> PyResult<()> {
        self.check_independent(py)?;
        let simulation = self.simulation.get();
        simulation.set(py, |simulation| self.set(simulation, quantity, elements, values))
    }

    /// Sets a quantity of some elements in a simulation of this scene.
    pub(crate) fn set(
        &self,
        simulation: &mut Motion,
        quantity: Quantity,
        elements: std::ops::Range<usize>,
        values: &[f64],
    ) -> Result<(), Error> {
        let mut state = simulation.state().clone();
        self.write(simulation, &mut state, quantity, elements, values);
        simulation.set_state(&state)
    }

    /// Refuses to set what follows from other nodes.
    pub(crate) fn check_independent(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_independent {
            return Ok(());
        }
        let text = format!(
            "`{}` is mapped: it follows from other nodes, set these",
            self.name
        );
        Err(errors::state_text(py, &text))
    }

    fn set_all(&self, py: Python<'_>, quantity: Quantity, numbers: &Numbers<'_>) -> PyResult<()> {
        let shape = [self.count, self.size(py, quantity)?];
        let what = format!("the {} of `{}`", quantity.name(), self.name);
        let values = arrays::values(py, numbers, &what, &shape)?;
        self.assign(py, quantity, 0..self.count, &values)
    }

    /// The place of an element, which must be there.
    pub(crate) fn place(&self, py: Python<'_>, element: i64) -> PyResult<usize> {
        if let Some(place) = usize::try_from(element).ok().filter(|place| *place < self.count) {
            return Ok(place);
        }
        let text = format!(
            "`{}` has no element {element}: it has {}, counted from 0",
            self.name, self.count
        );
        Err(errors::state_text(py, &text))
    }
}

#[pymethods]
impl Node {
    /// Name of the node.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Kind of its elements, such as ``"rigid bodies"`` or ``"points of space"``.
    #[getter]
    fn space(&self) -> String {
        self.space.to_string()
    }

    /// Whether it has coordinates of its own; others are mapped from these.
    #[getter]
    fn is_independent(&self) -> bool {
        self.is_independent
    }

    /// Positions, shape ``(elements, coordinates)`` (m; of other scalars in their own units); of
    /// bodies those of their centres of mass.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.matrix(py, Positions)
    }

    #[setter]
    fn set_positions(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.set_all(py, Positions, &values)
    }

    /// Unit quaternions ``(w, x, y, z)`` of bodies, body axes to world axes, shape ``(elements,
    /// 4)``.
    #[getter]
    fn orientations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.matrix(py, Orientations)
    }

    #[setter]
    fn set_orientations(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.set_all(py, Orientations, &values)
    }

    /// Velocities, shape ``(elements, coordinates)`` (m/s); of bodies those of their centres of
    /// mass.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.matrix(py, Velocities)
    }

    #[setter]
    fn set_velocities(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.set_all(py, Velocities, &values)
    }

    /// Angular velocities of bodies in world axes, shape ``(elements, 3)`` (rad/s).
    #[getter]
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.matrix(py, AngularVelocities)
    }

    #[setter]
    fn set_angular_velocities(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        self.set_all(py, AngularVelocities, &values)
    }

    /// Copy the positions into an array of their shape.
    fn read_positions(&self, out: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<()> {
        self.read_into(out, Positions)
    }

    /// Copy the orientations into an array of their shape.
    fn read_orientations(&self, out: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<()> {
        self.read_into(out, Orientations)
    }

    /// Copy the velocities into an array of their shape.
    fn read_velocities(&self, out: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<()> {
        self.read_into(out, Velocities)
    }

    /// Copy the angular velocities into an array of their shape.
    fn read_angular_velocities(&self, out: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<()> {
        self.read_into(out, AngularVelocities)
    }

    /// Set the force from outside on one element, in place of the one before, until it is set
    /// again: one number for each coordinate (N); of bodies six, a force in world axes, then a
    /// torque in body axes (N m). Mapped nodes take forces, too.
    #[pyo3(signature = (force, element=0))]
    fn set_force(&self, py: Python<'_>, force: Numbers<'_>, element: i64) -> PyResult<()> {
        let element = self.place(py, element)?;
        let what = format!("the force on `{}`", self.name);
        let force = arrays::values(py, &force, &what, &[self.space.velocity_size()])?;
        let simulation = self.simulation.get();
        simulation.set(py, |simulation| simulation.set_force(self.id, element, &force))
    }

    /// Fix chosen coordinates of one element of an independent node from now on, and give them
    /// velocities, reached at the end of the next step; zero by default.
    ///
    /// ``coordinates`` has a truth value for each coordinate; of bodies three of the position, then
    /// three of the angular velocity in body axes.
    #[pyo3(signature = (coordinates, velocity=None, *, element=0))]
    fn hold(
        &self,
        py: Python<'_>,
        coordinates: Vec<bool>,
        velocity: Option<Numbers<'_>>,
        element: i64,
    ) -> PyResult<()> {
        let simulation = self.simulation.get();
        let element = self.place(py, element)?;
        hold(py, simulation, self.id, element, &coordinates, velocity.as_ref())
    }

    /// Free chosen coordinates of one element; they keep their velocities.
    #[pyo3(signature = (coordinates, *, element=0))]
    fn release(&self, py: Python<'_>, coordinates: Vec<bool>, element: i64) -> PyResult<()> {
        let element = self.place(py, element)?;
        let simulation = self.simulation.get();
        simulation.set(py, |simulation| {
            simulation.release(self.id, element, &coordinates)
        })
    }

    /// Jacobian of all elements, shape ``(elements, coordinates, dofs)``: ``J @ velocities`` of the
    /// simulation are the velocities of the node, of bodies the linear, then the angular ones in
    /// world axes. Of at most 25 million numbers.
    fn jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let simulation = self.simulation.get();
        let found =
            simulation.without_python(py, |runner| dynamics::jacobian(runner.simulation(), self.id))?;
        found.map_err(|refusal| refusal.raise(py))?.into_blocks(py)
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Node {:?}: {} {}>", self.name, self.count, self.space)
    }
}

/// Copies a quantity of some elements of a node, which must have it.
pub(crate) fn read(
    simulation: &Motion,
    id: NodeId,
    quantity: Quantity,
    elements: std::ops::Range<usize>,
    out: &mut [f64],
) {
    let (positions, velocities) = (simulation.positions(id), simulation.velocities(id));
    let space = simulation.model().node(id).space;
    if space != Space::Rigid3 {
        let source = if quantity == Positions {
            positions
        } else {
            velocities
        };
        let size = space.position_size();
        out.copy_from_slice(&source[elements.start * size..elements.end * size]);
        return;
    }
    for (element, out) in elements.zip(out.chunks_exact_mut(quantity.of_bodies())) {
        let (x, v) = (&positions[element * 7..][..7], &velocities[element * 6..][..6]);
        match quantity {
            Positions => out.copy_from_slice(&x[..3]),
            Orientations => out.copy_from_slice(&x[3..]),
            Velocities => out.copy_from_slice(&v[..3]),
            AngularVelocities => {
                let turned = rotation::rotate([x[3], x[4], x[5], x[6]], Vec3::new(v[3], v[4], v[5]));
                out.copy_from_slice(turned.as_slice());
            }
        }
    }
}

/// Coordinates by truth values, and their velocities.
pub(crate) fn hold(
    py: Python<'_>,
    simulation: &Simulation,
    id: NodeId,
    element: usize,
    coordinates: &[bool],
    velocity: Option<&Numbers<'_>>,
) -> PyResult<()> {
    let velocity = match velocity {
        Some(numbers) => arrays::values(py, numbers, "the velocities", &[coordinates.len()])?,
        None => vec![0.0; coordinates.len()],
    };
    simulation.set(py, |s| s.hold(id, element, coordinates, &velocity))
}
