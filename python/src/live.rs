//! `Live`: arrays that a simulation writes anew whenever its state changes, and `BatchLive`, those
//! of a batch.
//!
//! Numbers go two ways: whoever has changed the state copies them out of it into the [`Mirror`]
//! while the simulation is still locked, without Python; whoever holds Python then copies the
//! newest ones into the arrays of all [`Table`]s that show the simulation. So arrays never go back
//! in time, and nobody waits for Python with a lock of a simulation.

mod mirror;
mod table;

use crate::joint_space::Part;
use crate::model::Model;
use crate::node::{Node, Quantity};
use crate::simulation::Simulation;
use pliant::Simulation as Motion;
use pliant::model::ComponentId;
use pyo3::prelude::*;

pub(crate) use mirror::{Mirror, Source, copy_or_not_a_number};
pub(crate) use table::Table;

/// Kind of the numbers that an array shows of a simulation, and its shape there.
pub(crate) type Wish = (Source, Vec<usize>);

/// A quantity of all free coordinates.
pub(crate) fn coordinates(model: &Model, part: Part) -> Wish {
    let count = model.outline().coordinates().count();
    (Source::Coordinates(part), vec![count])
}

/// Velocities of all degrees of freedom.
pub(crate) fn dof_velocities(model: &Model) -> Wish {
    (Source::Velocities, vec![model.outline().dofs])
}

/// A quantity of the elements of a node.
pub(crate) fn elements(
    py: Python<'_>,
    simulation: &Py<Simulation>,
    name: &str,
    quantity: Quantity,
) -> PyResult<Wish> {
    let node = node(py, simulation, name)?;
    let shape = vec![node.count(), node.size(py, quantity)?];
    Ok((Source::Elements(node.id, quantity), shape))
}

fn node(py: Python<'_>, simulation: &Py<Simulation>, name: &str) -> PyResult<Node> {
    let simulation = simulation.bind(py);
    Node::new(simulation, simulation.get().node_id(py, name)?)
}

/// Forces from outside on the elements of a node.
pub(crate) fn forces(py: Python<'_>, simulation: &Py<Simulation>, name: &str) -> PyResult<Wish> {
    let node = node(py, simulation, name)?;
    Ok((Source::Forces(node.id), vec![node.count(), node.velocity_size()]))
}

/// Multipliers of a component, as many as any of the simulations may have of it.
pub(crate) fn reaction(py: Python<'_>, simulations: &[Py<Simulation>], name: &str) -> PyResult<Wish> {
    let id = simulations[0].get().component(py, name)?;
    let mut most = 0;
    for simulation in simulations {
        most = most.max(simulation.get().read(py, |motion| rows(motion, id))?);
    }
    Ok((Source::Reaction(id), vec![most]))
}

/// Number of multipliers of a component; of a force field that has some in some steps, those.
fn rows(motion: &Motion, id: ComponentId) -> usize {
    if let ComponentId::ForceField(place) = id {
        let model = motion.model();
        let field = &model.force_fields()[place];
        if field.component.automatic {
            return model.node(field.node).velocity_range().len();
        }
    }
    motion.reaction(id).len()
}

/// Live arrays of a simulation: each is the same array every time it is asked for, and has the
/// numbers of the present state after every step, run, reset and whatever else changes that.
///
/// They cannot be written: what is set is set by assigning to nodes, bodies and
/// :attr:`Simulation.tau`. Whoever wants to keep numbers copies them.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     gravity: (0, -10, 0),
/// ...     run: (duration: 1, step: 0.01),
/// ...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
/// ... )''')
/// >>> simulation = pliant.Simulation(model)
/// >>> x = simulation.live.positions("stone")
/// >>> simulation.run(0.5)
/// 50
/// >>> x.round(6), x is simulation.live.positions("stone")
/// (array([[ 0.  , -1.25,  0.  ]]), True)
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Live {
    simulation: Py<Simulation>,
}

impl Live {
    pub(crate) fn new(simulation: Py<Simulation>) -> Self {
        Self { simulation }
    }

    fn model(&self) -> &Model {
        self.simulation.get().model()
    }

    fn array(&self, py: Python<'_>, (source, shape): Wish) -> PyResult<Py<PyAny>> {
        let table = self.simulation.get().mirror().own();
        table.array(py, source, (1, &shape), || vec![self.simulation.clone_ref(py)])
    }

    fn elements(&self, py: Python<'_>, name: &str, quantity: Quantity) -> PyResult<Py<PyAny>> {
        self.array(py, elements(py, &self.simulation, name, quantity)?)
    }
}

#[pymethods]
impl Live {
    /// Free coordinates of all joints (m, rad), shape ``(coordinates,)``, as :attr:`Simulation.q`.
    #[getter]
    fn q(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, coordinates(self.model(), Part::Position))
    }

    /// Velocities of the free coordinates of all joints (m/s, rad/s), shape ``(coordinates,)``.
    #[getter]
    fn qd(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, coordinates(self.model(), Part::Velocity))
    }

    /// Forces from outside along the free coordinates of all joints (N, N m), shape
    /// ``(coordinates,)``.
    #[getter]
    fn tau(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, coordinates(self.model(), Part::Force))
    }

    /// Velocities of all degrees of freedom, shape ``(dofs,)``, as :attr:`Simulation.velocities`.
    #[getter]
    fn dof_velocities(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.array(py, dof_velocities(self.model()))
    }

    /// Positions of the elements of a node, shape ``(elements, coordinates)`` (m); of bodies those
    /// of their centres of mass.
    fn positions(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Positions)
    }

    /// Unit quaternions ``(w, x, y, z)`` of the bodies of a node, shape ``(elements, 4)``.
    fn orientations(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Orientations)
    }

    /// Velocities of the elements of a node, shape ``(elements, coordinates)`` (m/s); of bodies
    /// those of their centres of mass.
    fn velocities(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::Velocities)
    }

    /// Angular velocities of the bodies of a node in world axes, shape ``(elements, 3)`` (rad/s).
    fn angular_velocities(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.elements(py, node, Quantity::AngularVelocities)
    }

    /// Forces from outside on the elements of a node, shape ``(elements, numbers)`` (N), as
    /// :meth:`Node.set_force` sets them; of bodies a force in world axes, then a torque in body
    /// axes (N m).
    fn forces(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyAny>> {
        self.array(py, forces(py, &self.simulation, node)?)
    }

    /// Multipliers of a constraint or of a compliant force field over the last step, shape
    /// ``(rows,)`` (N, N m), as :meth:`Simulation.reaction`. NaN of a force field of treatment
    /// ``Auto`` while it has none.
    fn reaction(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let simulation = std::slice::from_ref(&self.simulation);
        self.array(py, reaction(py, simulation, name)?)
    }

    fn __repr__(&self) -> String {
        let count = self.simulation.get().mirror().own().count();
        format!("<pliant.Live: {count} arrays>")
    }
}
