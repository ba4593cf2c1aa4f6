//! `Live`: arrays that a simulation writes anew whenever its state changes.
//!
//! Numbers go two ways: whoever has changed the state copies them out of it into the [`Mirror`]
//! while the simulation is still locked, without Python; whoever holds Python then copies the
//! newest ones into the arrays. So arrays never go back in time, and nobody waits for Python with a
//! lock.

use crate::dynamics;
use crate::errors;
use crate::joint_space::{self, Part};
use crate::model::Model;
use crate::node::{self, Node, Quantity};
use crate::simulation::Simulation;
use numpy::{PyArray1, PyArrayMethods};
use pliant::Simulation as Motion;
use pliant::model::{ComponentId, NodeId};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kind of the numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
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
            Self::Forces(id) => out.copy_from_slice(motion.external_forces(id)),
            Self::Reaction(id) => out.copy_from_slice(motion.reaction(id)),
        }
    }
}

/// An array and its numbers.
#[derive(Debug)]
struct Entry {
    source: Source,
    numbers: Vec<f64>,
    /// The memory, which only this module writes.
    memory: Py<PyArray1<f64>>,
    /// A view of it that cannot be written: what users have.
    view: Py<PyAny>,
}

#[derive(Debug, Default)]
struct Entries {
    list: Vec<Entry>,
    /// Whether the numbers are newer than the arrays.
    are_newer: bool,
}

/// The live arrays of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// Whether there are any: else a step costs nothing more.
    is_used: AtomicBool,
    entries: Mutex<Entries>,
}

impl Mirror {
    /// Copies the numbers out of a simulation that has changed, which is locked.
    pub(crate) fn gather(&self, motion: &Motion, model: &Model) {
        if !self.is_used.load(Ordering::Acquire) {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in &mut entries.list {
            entry.source.read(motion, model, &mut entry.numbers);
        }
        entries.are_newer = true;
    }

    /// Copies the newest numbers into the arrays.
    pub(crate) fn show(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_used.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut entries = self.entries(py);
        if !std::mem::take(&mut entries.are_newer) {
            return Ok(());
        }
        entries.list.iter().try_for_each(|entry| entry.show(py))
    }

    fn entries(&self, py: Python<'_>) -> MutexGuard<'_, Entries> {
        let entries = self.entries.lock_py_attached(py);
        entries.unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, py: Python<'_>, source: Source) -> Option<Py<PyAny>> {
        let entries = self.entries(py);
        let found = entries.list.iter().find(|entry| entry.source == source);
        found.map(|entry| entry.view.clone_ref(py))
    }
}

impl Entry {
    fn new(py: Python<'_>, source: Source, shape: &[usize]) -> PyResult<Self> {
        let count = shape.iter().product();
        let memory = PyArray1::zeros(py, [count], false);
        let view = memory.reshape(shape.to_vec())?;
        view.readwrite().make_nonwriteable();
        Ok(Self {
            source,
            numbers: vec![0.0; count],
            memory: memory.unbind(),
            view: view.into_any().unbind(),
        })
    }

    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let memory = self.memory.bind(py);
        match memory.try_readwrite() {
            Ok(mut place) => place.as_slice_mut()?.copy_from_slice(&self.numbers),
            // Somebody reads it for a call that this is a part of, such as one that sets forces.
            Err(_) => PyArray1::from_slice(py, &self.numbers).copy_to(memory)?,
        }
        Ok(())
    }
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

    /// The array of a source, which is made when it is first asked for.
    fn array(
        &self,
        py: Python<'_>,
        source: Source,
        shape: impl FnOnce() -> PyResult<Vec<usize>>,
    ) -> PyResult<Py<PyAny>> {
        let simulation = self.simulation.get();
        let mirror = simulation.mirror();
        if let Some(found) = mirror.find(py, source) {
            return Ok(found);
        }
        let entry = Entry::new(py, source, &shape()?)?;
        mirror.is_used.store(true, Ordering::Release);
        simulation.read(py, |motion| {
            let mut entries = mirror.entries.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have been faster.
            if entries.list.iter().all(|other| other.source != source) {
                entries.list.push(entry);
            }
            drop(entries);
            mirror.gather(motion, simulation.model());
        })?;
        mirror.show(py)?;
        let found = mirror.find(py, source);
        found.ok_or_else(|| errors::state_text(py, "there is no such array"))
    }

    fn coordinates(&self, py: Python<'_>, part: Part) -> PyResult<Py<PyAny>> {
        self.array(py, Source::Coordinates(part), || {
            Ok(vec![
                self.simulation.get().model().outline().coordinates().count(),
            ])
        })
    }

    fn node(&self, py: Python<'_>, name: &str) -> PyResult<Node> {
        let simulation = self.simulation.bind(py);
        Node::new(simulation, simulation.get().node_id(py, name)?)
    }

    fn elements(&self, py: Python<'_>, name: &str, quantity: Quantity) -> PyResult<Py<PyAny>> {
        let node = self.node(py, name)?;
        self.array(py, Source::Elements(node.id, quantity), || {
            Ok(vec![node.count(), node.size(py, quantity)?])
        })
    }
}

#[pymethods]
impl Live {
    /// Free coordinates of all joints (m, rad), shape ``(coordinates,)``, as :attr:`Simulation.q`.
    #[getter]
    fn q(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.coordinates(py, Part::Position)
    }

    /// Velocities of the free coordinates of all joints (m/s, rad/s), shape ``(coordinates,)``.
    #[getter]
    fn qd(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.coordinates(py, Part::Velocity)
    }

    /// Forces from outside along the free coordinates of all joints (N, N m), shape
    /// ``(coordinates,)``.
    #[getter]
    fn tau(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.coordinates(py, Part::Force)
    }

    /// Velocities of all degrees of freedom, shape ``(dofs,)``, as :attr:`Simulation.velocities`.
    #[getter]
    fn dof_velocities(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let dofs = self.simulation.get().model().outline().dofs;
        self.array(py, Source::Velocities, || Ok(vec![dofs]))
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
        let node = self.node(py, node)?;
        let shape = vec![node.count(), node.velocity_size()];
        self.array(py, Source::Forces(node.id), || Ok(shape))
    }

    /// Multipliers of a constraint or of a compliant force field over the last step, shape
    /// ``(rows,)`` (N, N m), as :meth:`Simulation.reaction`.
    fn reaction(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let simulation = self.simulation.get();
        let id = simulation.component(py, name)?;
        let rows = simulation.read(py, |motion| motion.reaction(id).len())?;
        self.array(py, Source::Reaction(id), || Ok(vec![rows]))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let count = self.simulation.get().mirror().entries(py).list.len();
        format!("<pliant.Live: {count} arrays>")
    }
}
