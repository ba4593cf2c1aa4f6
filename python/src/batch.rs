//! `Batch`: simulations of one scene side by side, stepped on several threads.

mod access;
mod begin;
mod control;
mod live;
mod places;
mod pool;
mod set;
mod turn;

use crate::arrays::{self, Numbers, Vector};
use crate::end::End;
use crate::joint_space::Part;
use crate::live::Table;
use crate::lock::Broken;
use crate::model::Model;
use crate::node::Quantity;
use crate::report::StepReport;
use crate::simulation::Simulation;
use crate::{dynamics, errors, signals};
use begin::{Values, begin};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use places::{for_each, named, places};
use pliant::Simulation as Motion;
use pliant_run::{Runner, Target};
use pool::Pool;
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyIterator, PyList, PyMapping, PyTuple, PyType};
use std::sync::{Arc, Mutex, PoisonError};
use turn::{Goal, Turn, exceptions, go};

pub(crate) use live::BatchLive;

/// The most instances.
const MOST: usize = 1_000_000;

/// Batch of simulations of one scene, its instances, with parameters of their own, stepped side by
/// side on several threads.
///
/// ``n`` instances begin where the scene begins. ``parameters`` have a number (or an expression)
/// for all, or an array with one number for each; they may change sizes and numbers of the scene,
/// not which nodes and components there are. ``threads`` is a number of threads, by default that of
/// the cores. No bit depends on it: every instance is a :class:`Simulation` like any other, which
/// ``batch[i]`` gives.
///
/// >>> import numpy, pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     parameters: {"gravity": 10},
/// ...     gravity: (0, "-$gravity", 0),
/// ...     run: (duration: 1, step: 0.01),
/// ...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
/// ... )''')
/// >>> batch = pliant.Batch(model, 3, parameters={"gravity": [1.6, 3.7, 9.8]})
/// >>> batch.run()
/// array([100, 100, 100])
/// >>> batch.positions("stone")[:, 0, 1].round(9)
/// array([-0.8 , -1.85, -4.9 ])
/// >>> batch.reset([1], parameters={"gravity": 24.8})
/// >>> batch.time.round(9), batch.parameters["gravity"]
/// (array([1., 0., 1.]), array([ 1.6, 24.8,  9.8]))
#[pyclass(frozen, weakref, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Batch {
    model: Py<Model>,
    pool: Pool,
    instances: Mutex<Vec<Py<Simulation>>>,
    /// Arrays that follow the instances.
    table: Arc<Table>,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (model, n, *, parameters=None, threads=None))]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        n: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyMapping>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let n = arrays::count(py, n, "instances of a batch", (1, MOST))?;
        let pool = Pool::new(py, threads)?;
        let values = Values::read(py, parameters, n)?;
        let models: Vec<_> = (0..n).map(|_| model.clone_ref(py)).collect();
        let places: Vec<_> = (0..n).collect();
        let instances = begin(py, &pool.threads(py)?, &models, &places, &values)?;
        Ok(Self {
            model,
            pool,
            instances: Mutex::new(instances),
            table: Arc::default(),
        })
    }

    /// Model that the instances have in common, with its own parameters.
    #[getter(model)]
    fn model_of(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Arrays that follow the states of the instances: each is the same array every time, with the
    /// numbers after the last step or whatever changed them.
    #[getter]
    fn live(slf: &Bound<'_, Self>) -> BatchLive {
        BatchLive::new(slf.clone().unbind())
    }

    /// Number of threads.
    #[getter(threads)]
    fn thread_count(&self) -> usize {
        self.pool.count
    }

    /// Parameters of the instances: name to one number for each, shape ``(n,)``.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let list = self.list(py);
        let out = PyDict::new(py);
        for (place, (name, _)) in self.model.get().outline().parameters.iter().enumerate() {
            let value = |s: &Py<Simulation>| s.get().model().outline().parameters[place].1;
            let values: Vec<f64> = list.iter().map(value).collect();
            out.set_item(name, arrays::vector(py, &values))?;
        }
        Ok(out)
    }

    /// Take a step in every instance, of the scene's length or of ``h`` (s), or so many ``steps``;
    /// return the reports of their last ones. ``which`` takes them in some instances alone: places,
    /// or a truth value for each instance; ``None`` stands in the places of the others.
    ///
    /// If an instance fails, its state is that before the step that failed, and the others have
    /// taken all of theirs; then :class:`NotConverged` or :class:`StepError` of the first is
    /// raised, whose ``instance`` says which it is. With ``return_exceptions`` the exceptions stand
    /// in the places of the reports instead. ``KeyboardInterrupt`` may leave some with fewer steps.
    #[pyo3(
        signature = (h=None, *, steps=None, which=None, return_exceptions=false),
        text_signature = "($self, h=None, *, steps=1, which=None, return_exceptions=False)"
    )]
    fn step<'py>(
        &self,
        py: Python<'py>,
        h: Option<f64>,
        steps: Option<&Bound<'py, PyAny>>,
        which: Option<&Bound<'py, PyAny>>,
        return_exceptions: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if h.is_none() && self.model.get().outline().is_static {
            let text = "this scene asks for equilibria, which `run()` finds; `step(h)` takes a step in time";
            return Err(errors::step_text(py, text));
        }
        let steps = steps.map_or(Ok(1), |steps| {
            arrays::count(py, steps, "steps of a batch", (1, usize::MAX))
        })?;
        let list = self.list(py);
        let mut goals = vec![Goal::Steps(if which.is_some() { 0 } else { steps }, h); list.len()];
        for place in which.map_or_else(|| Ok(Vec::new()), |which| places(which, list.len()))? {
            goals[place] = Goal::Steps(steps, h);
        }
        let turns = list.iter().zip(goals).map(|(s, goal)| Turn::new(s.get(), goal));
        let turns = go(py, self, turns.collect())?;
        let mut exceptions = exceptions(py, &turns);
        if !return_exceptions && !exceptions.is_empty() {
            return Err(exceptions.swap_remove(0).1);
        }
        let mut exceptions = exceptions.into_iter();
        let report = |turn: &Turn<'_>| match (&turn.error, turn.report) {
            (None, None) => Ok(py.None()),
            (None, Some(report)) => Ok(Py::new(py, StepReport::from(&report))?.into_any()),
            (Some(_), _) => Ok(exceptions
                .next()
                .map_or_else(|| py.None(), |(_, e)| e.into_value(py).into_any())),
        };
        let reports = turns.iter().map(report).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, reports)
    }

    /// Take steps to the end of the scene, for a ``duration`` (s), or ``until`` a time (s), in
    /// every instance; return how many each took, shape ``(n,)``.
    ///
    /// Steps are those of :meth:`Simulation.run`; in a scene of statics, find equilibria. An
    /// instance that fails keeps the state of its last step, and the others go to their ends; then
    /// the exception of the first is raised, as :meth:`step` does.
    ///
    /// A ``controller`` is called with the batch before each step of all instances that are not at
    /// their ends, as that of :meth:`Simulation.run`; with it, the run ends with the first step
    /// that fails in an instance.
    #[pyo3(signature = (duration=None, *, until=None, controller=None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        duration: Option<f64>,
        until: Option<f64>,
        controller: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (py, this) = (slf.py(), slf.get());
        let list = this.list(py);
        let is_static = this.model.get().outline().is_static;
        if is_static && (duration.is_some() || until.is_some() || controller.is_some()) {
            let text = "this scene asks for equilibria, which have no duration and no controller: `run()` finds them";
            return Err(errors::state_text(py, text));
        }
        let end = |s: &Py<Simulation>| End::new(py, duration, until, s.get().read(py, Motion::time)?);
        let ends = list.iter().map(end).collect::<PyResult<Vec<_>>>()?;
        let taken = match controller {
            Some(controller) => control::run(slf, &list, &ends, controller)?,
            None => {
                let turns = list.iter().zip(&ends).map(|(s, end)| {
                    let goal = if is_static { Goal::Rest } else { Goal::End(*end) };
                    Turn::new(s.get(), goal)
                });
                let turns = go(py, this, turns.collect())?;
                if let Some((_, exception)) = exceptions(py, &turns).into_iter().next() {
                    return Err(exception);
                }
                turns.iter().map(|turn| turn.taken).collect()
            }
        };
        let array = PyArray1::from_vec(py, taken.into_iter().map(|count| count as i64).collect());
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// Go back to the start, in all instances or in those that ``which`` names: places, or a truth
    /// value for each instance.
    ///
    /// ``parameters`` that are given replace theirs: one number for all that are reset, or an array
    /// with one for each of them. New simulations take the places of the old ones: ask for
    /// ``batch[i]`` anew. Raises :class:`SceneError`; then nothing has changed.
    #[pyo3(signature = (which=None, *, parameters=None))]
    fn reset(
        &self,
        py: Python<'_>,
        which: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<()> {
        let list = self.list(py);
        let places = named(which, list.len())?;
        let values = Values::read(py, parameters, places.len())?;
        let model = |place: &usize| list[*place].get().model_handle(py);
        let models: Vec<_> = places.iter().map(model).collect();
        let fresh = begin(py, &self.pool.threads(py)?, &models, &places, &values)?;
        let fresh = places.into_iter().zip(fresh).collect();
        // Finalisers of those before may look at the batch: nothing is locked when they go.
        let old = self.table.replace(py, fresh, |fresh| {
            let guard = self.instances.lock_py_attached(py);
            let mut guard = guard.unwrap_or_else(PoisonError::into_inner);
            let put = |(place, new)| std::mem::replace(&mut guard[place], new);
            fresh.into_iter().map(put).collect()
        });
        old.map(drop)
    }

    /// Times of the instances (s), shape ``(n,)``.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.numbers(py, Motion::time)
    }

    /// Whether the duration of the scene has passed, a truth value for each instance.
    #[getter]
    fn is_done<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        crate::own::refuse_inside(py)?;
        let list = self.list(py);
        let done = |s: &Py<Simulation>| Ok(s.get().wait()?.is_done());
        let values = py.detach(|| list.iter().map(done).collect::<Result<_, _>>());
        let values = values.map_err(|_: Broken| errors::broken(py))?;
        let array = PyArray1::from_vec(py, values);
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// Free coordinates of all joints (m, rad), shape ``(n, coordinates)``, in the order of
    /// :attr:`Model.coordinates`; assigned as :attr:`Simulation.q`.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.joint_space(py, Part::Position)
    }

    /// Velocities of the free coordinates of all joints (m/s, rad/s), shape ``(n, coordinates)``.
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.joint_space(py, Part::Velocity)
    }

    /// Forces from outside along the free coordinates of all joints (N, N m), shape
    /// ``(n, coordinates)``. They act until they are assigned again.
    #[getter]
    fn tau<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.joint_space(py, Part::Force)
    }

    #[setter]
    fn set_q(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        set::coordinates(py, self, Part::Position, &values, None)
    }

    #[setter]
    fn set_qd(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        set::coordinates(py, self, Part::Velocity, &values, None)
    }

    #[setter]
    fn set_tau(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        set::coordinates(py, self, Part::Force, &values, None)
    }

    /// Move all joints of the instances that ``which`` names (all by default) to coordinates of the
    /// shape ``(instances, coordinates)`` or ``(coordinates,)``, as :attr:`Simulation.q` does when it
    /// is assigned. What is refused for one is done in none.
    #[pyo3(name = "set_q", signature = (values, which=None))]
    fn set_q_of(
        &self,
        py: Python<'_>,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::coordinates(py, self, Part::Position, &values, which)
    }

    /// Give all joints velocities, as :meth:`set_q` does positions.
    #[pyo3(name = "set_qd", signature = (values, which=None))]
    fn set_qd_of(
        &self,
        py: Python<'_>,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::coordinates(py, self, Part::Velocity, &values, which)
    }

    /// Velocities of all degrees of freedom, shape ``(n, dofs)``, as :attr:`Simulation.velocities`.
    #[getter]
    fn dof_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, dynamics::velocities)
    }

    /// Positions of the elements of a node, shape ``(n, elements, coordinates)`` (m); of bodies
    /// those of their centres of mass.
    fn positions<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.elements(py, node, Quantity::Positions)
    }

    /// Unit quaternions ``(w, x, y, z)`` of the bodies of a node, shape ``(n, elements, 4)``.
    fn orientations<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.elements(py, node, Quantity::Orientations)
    }

    /// Velocities of the elements of a node, shape ``(n, elements, coordinates)`` (m/s); of bodies
    /// those of their centres of mass.
    fn velocities<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.elements(py, node, Quantity::Velocities)
    }

    /// Angular velocities of the bodies of a node in world axes, shape ``(n, elements, 3)``
    /// (rad/s).
    fn angular_velocities<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.elements(py, node, Quantity::AngularVelocities)
    }

    /// Set the force from outside on one element of a node until it is set again, shape
    /// ``(n, coordinates)`` (N); of bodies a force in world axes, then a torque in body axes (N m).
    #[pyo3(signature = (node, force, element=0))]
    fn set_force(&self, py: Python<'_>, node: &str, force: Numbers<'_>, element: i64) -> PyResult<()> {
        let list = self.list(py);
        let node = self.node(py, &list, node)?;
        let element = node.place(py, element)?;
        let width = node.velocity_size();
        let what = format!("the forces on `{}`", node.name);
        let values = arrays::values(py, &force, &what, &[list.len(), width])?;
        let mut pairs = list.iter().zip(values.chunks_exact(width));
        self.changing(py, &list, || {
            pairs.try_for_each(|(simulation, force)| {
                let simulation = simulation.get();
                simulation.set_unseen(py, |s| s.set_force(node.id, element, force))
            })
        })
    }

    /// Set the positions of the elements of an independent node (m), of bodies those of their
    /// centres of mass, in all instances or in those that ``which`` names, as assigning
    /// :attr:`Node.positions` does: of the shape ``(elements, coordinates)`` for all of them, or of
    /// ``(instances, elements, coordinates)``. What is refused for one is done in none.
    #[pyo3(signature = (node, values, which=None))]
    fn set_positions(
        &self,
        py: Python<'_>,
        node: &str,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::elements(py, self, node, Quantity::Positions, &values, which)
    }

    /// Set the unit quaternions ``(w, x, y, z)`` of the bodies of a node, as :meth:`set_positions`
    /// does positions; their angular velocities in world axes stay.
    #[pyo3(signature = (node, values, which=None))]
    fn set_orientations(
        &self,
        py: Python<'_>,
        node: &str,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::elements(py, self, node, Quantity::Orientations, &values, which)
    }

    /// Set the velocities of the elements of an independent node (m/s), as :meth:`set_positions`
    /// does positions.
    #[pyo3(signature = (node, values, which=None))]
    fn set_velocities(
        &self,
        py: Python<'_>,
        node: &str,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::elements(py, self, node, Quantity::Velocities, &values, which)
    }

    /// Set the angular velocities of the bodies of a node in world axes (rad/s), as
    /// :meth:`set_positions` does positions.
    #[pyo3(signature = (node, values, which=None))]
    fn set_angular_velocities(
        &self,
        py: Python<'_>,
        node: &str,
        values: Numbers<'_>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::elements(py, self, node, Quantity::AngularVelocities, &values, which)
    }

    /// Fix chosen coordinates of one element of an independent node from now on, as
    /// :meth:`Node.hold` does, in all instances or in those that ``which`` names. Velocities are
    /// zero by default; they have the shape ``(coordinates,)`` for all of these instances, or
    /// ``(instances, coordinates)``.
    #[pyo3(signature = (node, coordinates, velocity=None, *, element=0, which=None))]
    fn hold(
        &self,
        py: Python<'_>,
        node: &str,
        coordinates: Vec<bool>,
        velocity: Option<Numbers<'_>>,
        element: i64,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::hold(py, self, (node, element), &coordinates, velocity.as_ref(), which)
    }

    /// Free chosen coordinates of one element, in all instances or in those that ``which`` names;
    /// they keep their velocities.
    #[pyo3(signature = (node, coordinates, *, element=0, which=None))]
    fn release(
        &self,
        py: Python<'_>,
        node: &str,
        coordinates: Vec<bool>,
        element: i64,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::release(py, self, (node, element), &coordinates, which)
    }

    /// Multipliers of a constraint or of a compliant force field over the last step, shape ``(n,
    /// rows)`` (N, N m), as :meth:`Simulation.reaction`; NaN in the rows of instances in which a
    /// force field has none, where it has some in others.
    fn reaction<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.list(py);
        let id = list[0].get().component(py, name)?;
        self.rows(py, |simulation| simulation.reaction(id).to_vec())
    }

    /// Forces of a constraint or force field on the coordinates of its node, shape ``(n, numbers)``
    /// (N, N m), as :meth:`Simulation.force`.
    fn force<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.list(py);
        let id = list[0].get().component(py, name)?;
        self.rows(py, |simulation| simulation.force(id))
    }

    /// Sums of the contacts of the bodies of a node over the last step, shape ``(n, elements, 6)``:
    /// mean force (N), then torque about the centre of mass (N m), in world axes.
    fn contact_forces<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        set::contact_forces(py, self, node)
    }

    /// Return the present moments of the instances, a tuple of :meth:`Simulation.checkpoint`.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let list = self.list(py);
        let moments = list.iter().map(|s| s.get().checkpoint(py));
        PyTuple::new(py, moments.collect::<PyResult<Vec<_>>>()?)
    }

    /// Go to the moments of checkpoints, in all instances or in those that ``which`` names: one
    /// checkpoint for each of these. Raises :class:`CheckpointError`; then nothing has changed.
    #[pyo3(signature = (checkpoints, which=None))]
    fn restore(
        &self,
        py: Python<'_>,
        checkpoints: Vec<Bound<'_, PyAny>>,
        which: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        set::restore(py, self, &checkpoints, which)
    }

    /// Drive the coordinates of a constraint or compliance, such as a motor, as
    /// :meth:`Simulation.drive` does. Positions and velocities are one number for all, one for each
    /// instance, or have the shape ``(n, rows)``.
    #[pyo3(signature = (name, position=None, velocity=None, *, within=None))]
    fn drive(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<Numbers<'_>>,
        velocity: Option<Numbers<'_>>,
        within: Option<f64>,
    ) -> PyResult<()> {
        let list = self.list(py);
        let id = list[0].get().component(py, name)?;
        if position.is_none() && velocity.is_none() {
            crate::control::check_without_target(py, name, within)?;
            let mut all = list.iter().map(Py::get);
            return self.changing(py, &list, || {
                all.try_for_each(|s| s.change_unseen(py, |runner| runner.end_drive(id)))
            });
        }
        let rows = list[0].get().rows_of(py, id)?;
        let shape = [list.len(), rows];
        let read = |numbers: Option<Numbers<'_>>, what: &str| {
            let what = format!("the {what} of `{name}`");
            let list = numbers.map(|numbers| for_each(py, &numbers, &what, shape));
            list.transpose()
        };
        let positions = read(position, "positions")?;
        let velocities = read(velocity, "velocities")?.unwrap_or_else(|| vec![0.0; list.len() * rows]);
        self.changing_all(py, &list, |asks, place, simulation| {
            let own = place * rows..(place + 1) * rows;
            simulation.change_unseen(py, |runner| {
                let to = Target {
                    positions: positions.as_ref().map(|all| &all[own.clone()]),
                    velocities: &velocities[own],
                    within: within.unwrap_or(runner.plan().step),
                };
                match asks {
                    true => runner.check_drive(id, to),
                    false => runner.drive(id, to),
                }
            })
        })
    }

    /// Last readings of the sensors of the scene, by their names: arrays of shape ``(n,)``.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let list = self.list(py);
        let read = |s: &Py<Simulation>| -> PyResult<Vec<(String, f64)>> {
            let run = s.get().lock(py)?;
            Ok(run
                .sensors()
                .map(|(name, value)| (name.to_owned(), value))
                .collect())
        };
        let readings = list.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let all = PyDict::new(py);
        for (k, (name, _)) in readings.first().into_iter().flatten().enumerate() {
            let values: Vec<f64> = readings.iter().map(|of| of[k].1).collect();
            all.set_item(name, arrays::vector(py, &values))?;
        }
        Ok(all)
    }

    /// Command an actuator from the next step on, in place of the scene: one number for all
    /// instances or one for each. With nothing but the name, it has the scene's command again.
    #[pyo3(signature = (name, value=None))]
    fn command(&self, py: Python<'_>, name: &str, value: Option<Numbers<'_>>) -> PyResult<()> {
        let list = self.list(py);
        signals::check(py, &*list[0].get().lock(py)?, name)?;
        let what = format!("the commands of `{name}`");
        let values = value.map(|value| arrays::one_or_each(py, &value, &what, list.len()));
        let values = values.transpose()?;
        self.changing_all(py, &list, |asks, place, simulation| {
            let command = values.as_ref().map(|values| values[place]);
            simulation.change_unseen(py, |runner| match asks {
                true => Runner::check_command(command),
                false => runner.command(name, command).map(drop),
            })
        })
    }

    /// Set an input of a force field, such as the activation of a muscle, until it is set again:
    /// one number for all instances or one for each. An input that the scene drives by a function
    /// of time is set by it before every step.
    #[pyo3(signature = (name, value, *, input=None), text_signature = "($self, name, value, *, input=0)")]
    fn set_input(
        &self,
        py: Python<'_>,
        name: &str,
        value: Numbers<'_>,
        input: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let list = self.list(py);
        let id = list[0].get().component(py, name)?;
        let what = format!("inputs of `{name}`, counted from 0");
        let input = input.map_or(Ok(0), |input| arrays::count(py, input, &what, (0, usize::MAX)))?;
        let values = arrays::one_or_each(py, &value, &format!("the inputs of `{name}`"), list.len())?;
        self.changing_all(py, &list, |asks, place, simulation| {
            simulation.set_unseen(py, |s| match asks {
                true => Ok(s.problem().check_input(id, input, values[place])?),
                false => s.set_input(id, input, values[place]),
            })
        })
    }

    #[classmethod]
    fn _restored(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        model: Py<Model>,
        instances: Vec<Py<Simulation>>,
        threads: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let outline = model.get().outline();
        let is_like = |s: &Py<Simulation>| s.get().model().outline().is_like(outline);
        if instances.is_empty() || !instances.iter().all(is_like) {
            let text = "the pickle of a batch has no instances, or such of other scenes";
            return Err(errors::state_text(py, text));
        }
        Ok(Self {
            pool: Pool::new(py, Some(threads))?,
            model,
            instances: Mutex::new(instances),
            table: Arc::default(),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.get();
        let rebuild = slf.get_type().getattr("_restored")?;
        let instances = PyList::new(py, this.list(py))?;
        let arguments = (this.model.clone_ref(py), instances, this.pool.count);
        Ok((rebuild, arguments.into_pyobject(py)?.into_any()))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        let twin = |s: &Py<Simulation>| Py::new(py, s.get().twin(py)?);
        let instances = self.list(py).iter().map(twin).collect::<PyResult<_>>()?;
        Ok(Self {
            model: self.model.clone_ref(py),
            pool: Pool::of(py, self.pool.count)?,
            instances: Mutex::new(instances),
            table: Arc::default(),
        })
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.list(py).len()
    }

    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<Py<Simulation>> {
        let list = self.list(py);
        let place = match index.extract::<isize>() {
            Err(error) if !error.is_instance_of::<PyOverflowError>(py) => return Err(error),
            Ok(place) if place < 0 => place.checked_add_unsigned(list.len()),
            place => place.ok(),
        };
        let found = place.and_then(|place| list.get(usize::try_from(place).ok()?));
        found.map(|s| s.clone_ref(py)).ok_or_else(|| {
            let text = format!("a batch of {} has no instance {index}", list.len());
            PyIndexError::new_err(text)
        })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, self.list(py))?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (title, count) = (&self.model.get().outline().title, self.list(py).len());
        format!(
            "<pliant.Batch of {title:?}: {count} on {} threads>",
            self.pool.count
        )
    }
}
