//! `Simulation`: a scene in motion, behind a lock.

mod access;

use crate::arrays::{self, Matrix, Numbers, Vector};
use crate::body::Body;
use crate::end::End;
use crate::joint::Joint;
use crate::joint_space::{self, Dynamics, Part};
use crate::live::{Live, Mirror};
use crate::lock::FairLock;
use crate::model::Model;
use crate::modes::{self, Buckling, Modes};
use crate::node::Node;
use crate::path::{self, Path, Wanted, Wishes};
use crate::report::{Energies, EquilibriumReport, Ledger, Momentum, SettleReport, StepReport, summary};
use crate::run::Run;
use crate::{contacts, control, dynamics, errors, measured, own, picture, signals};
use numpy::{PyArray2, PyArray3};
use pliant::{Settle, Simulation as Motion};
use pliant_run::{Runner, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::time::Duration;

/// How long steps go on before Python is asked whether somebody wants to interrupt.
pub(crate) const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// Simulation of a model: its state, and what its steps find.
///
/// Steps are those of the program: timed holds, motors, inputs, events and steps that choose their
/// length are as the scene says, and the results have the same bits. With ``record=True`` pictures
/// are kept, which :meth:`show` plays; memory then grows with the steps. Other threads of Python go
/// on during a step; threads that use one simulation have it in turns, in the order in which they
/// come, and between the steps of :meth:`run`. ``copy.copy`` and ``pickle`` make another simulation
/// that goes on to the same bits.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     gravity: (0, -10, 0),
/// ...     run: (duration: 1, step: 0.01),
/// ...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
/// ... )''')
/// >>> simulation = pliant.Simulation(model)
/// >>> simulation.run()
/// 100
/// >>> round(simulation.time, 12), simulation.node("stone").positions.round(6)
/// (1.0, array([[ 0., -5.,  0.]]))
#[pyclass(frozen, weakref, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Simulation {
    model: Py<Model>,
    runner: FairLock<Run>,
    /// Whether it keeps pictures.
    record: bool,
    /// Arrays that follow its state.
    mirror: Mirror,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (model, *, record=false))]
    fn new(py: Python<'_>, model: Py<Model>, record: bool) -> PyResult<Self> {
        let runner = FairLock::new(model.get().runner(py, record)?);
        Ok(Self {
            model,
            runner,
            record,
            mirror: Mirror::default(),
        })
    }

    /// Arrays that follow the state: each is the same array every time, with the numbers after the
    /// last step or whatever changed them.
    #[getter]
    fn live(slf: &Bound<'_, Self>) -> Live {
        Live::new(slf.clone().unbind())
    }

    /// Show the pictures kept so far, and the present moment, as the program's player.
    ///
    /// Pictures are kept by ``Simulation(model, record=True)``, as often as the scene says
    /// (``record_every``); a simulation without them shows the present moment alone. In a notebook
    /// the player appears below the cell; ``simulation.show().save("play.html")`` writes the page.
    fn show<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let page = self.without_python(py, Runner::player)?;
        let page = page.map_err(|error| errors::picture(py, &error))?;
        py.import("pliant.player")?.getattr("Player")?.call1((page,))
    }

    /// Draw the present moment by the processor alone: an array of 8-bit numbers of shape
    /// ``(height, width, 3)``, red, green and blue, not to be written.
    ///
    /// ``eye`` and ``target`` (m) are where the camera is and what is in the middle of the picture,
    /// whose angle of view is 34 degrees from top to bottom; without them all bodies and points fit
    /// (:meth:`camera`), so that the picture goes along with what moves. It has the bodies, lines,
    /// surfaces and points of the player, without its floor, shadows and forces. Raises
    /// :class:`StateError` for cameras that look nowhere, and beyond four million pixels.
    #[pyo3(signature = (width=640, height=480, *, eye=None, target=None))]
    fn picture<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
        eye: Option<Numbers<'_>>,
        target: Option<Numbers<'_>>,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let size = [width, height];
        let view = picture::view(py, eye.as_ref(), target.as_ref())?;
        let pixels = self.without_python(py, |runner| picture::pixels(runner, view, size))?;
        picture::array(py, &pixels.map_err(|error| errors::pixels(py, &error))?, size)
    }

    /// Return ``eye`` and ``target`` (m) of a camera that sees the present moment whole in a
    /// picture of this size: two arrays of shape ``(3,)``, for :meth:`picture` from one place while
    /// things move.
    #[pyo3(signature = (width=640, height=480))]
    fn camera<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
    ) -> PyResult<(Vector<'py>, Vector<'py>)> {
        let camera = self.without_python(py, |runner| picture::fitted(runner, [width, height]))?;
        let camera = camera.map_err(|error| errors::pixels(py, &error))?;
        Ok((
            arrays::vector(py, &camera.eye),
            arrays::vector(py, &camera.target),
        ))
    }

    /// Model that is simulated.
    #[getter(model)]
    fn model_of(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Take one step: of the scene's length (or of one that it chooses, if the scene says so), or
    /// of the length ``h`` (s).
    ///
    /// Raises :class:`NotConverged` or :class:`StepError`; the state is then as before the step.
    #[pyo3(signature = (h=None))]
    fn step(&self, py: Python<'_>, h: Option<f64>) -> PyResult<StepReport> {
        if h.is_none() && self.model().outline().is_static {
            let text = "this scene asks for equilibria, which `run()` finds; `step(h)` takes a step in time";
            return Err(errors::step_text(py, text));
        }
        let taken = self.without_python(py, |runner| match h {
            None => runner.step(),
            Some(h) => runner.step_of(h),
        })?;
        taken
            .map(|report| StepReport::from(&report))
            .map_err(|error| errors::step(py, &error))
    }

    /// Take steps to the end of the scene, for a ``duration`` (s), or ``until`` a time (s); return
    /// how many.
    ///
    /// Steps are those of :meth:`step`; the last one is shorter if need be. At the end of the scene
    /// there are none left. In a scene of statics, find its equilibria, once; then there are
    /// neither a duration nor steps. ``KeyboardInterrupt`` ends a run after the step that it falls
    /// in. Raises :class:`NotConverged` or :class:`StepError`, with the state of the last step that
    /// was taken; a path of equilibria that is stuck leaves that of its last point, where another
    /// ``run`` begins.
    ///
    /// A ``controller`` is called with the simulation before each step, to set what acts in it:
    /// :attr:`tau`, :meth:`drive`, :meth:`set_input`, forces. Forces along coordinates that it
    /// returns are assigned to :attr:`tau`. Halves of a step have what was set before the whole;
    /// what it raises ends the run.
    #[pyo3(signature = (duration=None, *, until=None, controller=None))]
    fn run(
        slf: &Bound<'_, Self>,
        duration: Option<f64>,
        until: Option<f64>,
        controller: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (py, this) = (slf.py(), slf.get());
        let end = End::new(py, duration, until, this.time(py)?)?;
        match controller {
            Some(_) if this.model().outline().is_static => {
                let text = "this scene asks for equilibria, before which no controller acts";
                Err(errors::state_text(py, text))
            }
            Some(controller) => control::run(slf, end, controller),
            None => control::run_alone(py, this, end),
        }
    }
    /// Go back to the initial state; what was set, held and driven is forgotten.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        own::refuse_inside(py)?;
        let fresh = self.model().runner(py, self.record)?;
        self.runner.replace(fresh, |wait| py.detach(wait));
        let run = self.lock(py)?;
        self.gather(&run);
        drop(run);
        self.mirror.show(py)
    }

    /// Come to rest near the present state by pseudo-static steps of length ``h`` (s), each of
    /// which keeps a share of the velocities.
    ///
    /// Rest is where no coordinate moves by more than ``tolerance`` (m, rad) in a step. Time
    /// advances by the steps taken, towards the end of the scene; :attr:`steps` and :attr:`ledger`
    /// do not count them. It is not interrupted. Raises :class:`NotConverged` or
    /// :class:`StepError`; the state is then as before.
    #[pyo3(
        signature = (h=0.1, *, kept_velocity=0.0, tolerance=1e-12, max_steps=None),
        text_signature = "($self, h=0.1, *, kept_velocity=0.0, tolerance=1e-12, max_steps=10000)"
    )]
    fn settle(
        &self,
        py: Python<'_>,
        h: f64,
        kept_velocity: f64,
        tolerance: f64,
        max_steps: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SettleReport> {
        let max_steps = max_steps.map_or(Ok(10_000), |most| {
            arrays::count(py, most, "steps of a search for rest", (0, usize::MAX))
        })?;
        let how = Settle {
            h,
            kept_velocity,
            tolerance,
            max_steps,
        };
        let found = self.without_python(py, |runner| runner.simulation_mut().settle(how))?;
        found
            .map(SettleReport::from)
            .map_err(|error| errors::step(py, &error))
    }

    /// Find an equilibrium under the present loads near the present positions; velocities end as
    /// zero, and time stands still.
    ///
    /// ``tolerance`` is the largest force that may be missing, as a share of the size of the terms
    /// of its equation; ``method`` is ``"Newton"``, ``"PseudoStatic"``,
    /// ``"DynamicRelaxation"`` or ``"ConjugateGradients"``.
    /// It is not interrupted. Raises :class:`NotConverged`; the state is then as before.
    #[pyo3(signature = (*, tolerance=1e-10, max_iterations=None, method="Newton"))]
    fn equilibrium(
        &self,
        py: Python<'_>,
        tolerance: f64,
        max_iterations: Option<&Bound<'_, PyAny>>,
        method: &str,
    ) -> PyResult<EquilibriumReport> {
        let how = path::equilibrium(py, tolerance, max_iterations, method)?;
        let found = self.without_python(py, |runner| runner.simulation_mut().find_equilibrium(&how))?;
        found
            .map(EquilibriumReport::from)
            .map_err(|error| errors::step(py, &error))
    }

    /// Follow a path of equilibria over a load factor, from the equilibrium near the present
    /// positions at the factor ``start`` to the factor ``end``; return its points as a
    /// :class:`Path`. The state is then that of the last one, velocities are zero, and time stands
    /// still.
    ///
    /// The factor scales ``loads``, names of force fields (their forces) and of driven constraints
    /// (their motion), ``gravity``, and the ``forces`` that were set from outside; all other loads
    /// stay whole. What is not given is that of the scene's ``statics``, if they are a path, which
    /// is then the one of :meth:`run`; loads are given together or not at all. Else a path goes
    /// from 0 to 1, with a first ``step`` of the factor of 0.05, a ``largest_step`` of 0.1,
    /// ``"ArcLength"`` as ``control`` (``"Load"`` ends at limit points), at most 1000 points, a
    /// ``tolerance`` of 1e-10 as of :meth:`equilibrium`, and critical points that ``locate`` finds
    /// by bisection.
    ///
    /// It is not interrupted, and neither :meth:`summary` nor :attr:`is_done` knows of it. Raises
    /// :class:`NotConverged` where no step is short enough to go on: the state is that of the last
    /// point, and ``path`` of the exception has the points. Of the first point, the state is then
    /// as before. Raises :class:`StateError` and :class:`StepError` for what has no meaning at
    /// rest.
    #[pyo3(
        signature = (
            loads=None, *, gravity=None, forces=None, start=None, end=None, step=None,
            largest_step=None, control=None, max_points=None, tolerance=None, locate=None
        )
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn follow(
        &self,
        py: Python<'_>,
        loads: Option<Vec<String>>,
        gravity: Option<bool>,
        forces: Option<bool>,
        start: Option<f64>,
        end: Option<f64>,
        step: Option<f64>,
        largest_step: Option<f64>,
        control: Option<String>,
        max_points: Option<Bound<'_, PyAny>>,
        tolerance: Option<f64>,
        locate: Option<bool>,
    ) -> PyResult<Path> {
        let wishes = Wishes {
            loads: Wanted::new(loads, gravity, forces),
            start,
            end,
            step,
            largest_step,
            control,
            max_points,
            tolerance,
            locate,
        };
        Path::follow(py, self, wishes)
    }

    /// Lowest ``count`` modes of vibration, 10 by default, as :class:`Modes`: small free vibrations
    /// about the equilibrium near the present positions, or about these with the multipliers of the
    /// last step (``about="present"``), without damping. Nothing moves, and none is missed: they
    /// are counted. Raises :class:`StepError` where something touches, or something without mass
    /// moves freely, and :class:`NotConverged` where there is no equilibrium.
    #[pyo3(signature = (count=None, *, about="equilibrium", tolerance=1e-6))]
    fn modes(
        &self,
        py: Python<'_>,
        count: Option<&Bound<'_, PyAny>>,
        about: &str,
        tolerance: f64,
    ) -> PyResult<Modes> {
        modes::modes(py, self, count, about, tolerance)
    }

    /// Load factors at which the equilibrium at the factor ``at`` buckles, and their shapes, as
    /// :class:`Buckling`: ``count`` next to it, 5 by default, of ``sign`` ``"positive"``,
    /// ``"negative"`` or ``"both"``. The loads are those of :meth:`follow`. Nothing moves. Raises
    /// :class:`StepError` where it is not stable or not held there, or something touches, and
    /// :class:`NotConverged` where there is no equilibrium.
    #[pyo3(
        signature = (
            loads=None, *, gravity=None, forces=None, at=0.0, count=None, sign="positive", tolerance=1e-6
        )
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn buckling(
        &self,
        py: Python<'_>,
        loads: Option<Vec<String>>,
        gravity: Option<bool>,
        forces: Option<bool>,
        at: f64,
        count: Option<&Bound<'_, PyAny>>,
        sign: &str,
        tolerance: f64,
    ) -> PyResult<Buckling> {
        let loads = Wanted::new(loads, gravity, forces);
        modes::buckling(py, self, &loads, (at, count, sign, tolerance))
    }

    /// Time (s).
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, Motion::time)
    }

    /// Number of steps that :meth:`step` and :meth:`run` took since the start, as the summary
    /// counts them.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.lock(py)?.steps_taken())
    }

    /// Whether the duration of the scene has passed, whatever lengths the steps had, or everything
    /// is at rest where it ends then; of statics, whether the equilibria are found.
    #[getter]
    fn is_done(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.is_done())
    }

    /// Last readings of the sensors of the scene, by their names.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        signals::sensors(py, &*self.lock(py)?)
    }

    /// Commands and outputs of the actuators of the scene in the last step, pairs by their names.
    #[getter]
    fn actuators<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        signals::actuators(py, &*self.lock(py)?)
    }

    /// Command an actuator from the next step on, in place of the scene; with nothing but the name,
    /// it has the scene's command again.
    #[pyo3(signature = (name, value=None))]
    fn command(&self, py: Python<'_>, name: &str, value: Option<f64>) -> PyResult<()> {
        signals::check(py, &*self.lock(py)?, name)?;
        self.change(py, |runner| runner.command(name, value).map(drop))
    }

    /// Quantities that `record` of the scene measures, by the names of the columns of `probes.csv`,
    /// ``time_s`` first: arrays of the values so far, at the start and every ``probe_every`` steps,
    /// of statics at each equilibrium. A data frame is ``pandas.DataFrame(simulation.probes)``.
    /// Raises :class:`pliant.StateError` for a simulation without ``record``.
    #[getter]
    fn probes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        measured::probes(py, &*self.lock(py)?)
    }

    /// Cauchy stress (Pa) of a solid or sheet at the present state, tension positive: of a solid
    /// shape ``(points, 6)``, xx, yy, zz, xy, yz, zx in the axes of the world; of a sheet
    /// ``(elements, 3)``, along the warp, the weft, and shear, in axes that turn with the element.
    ///
    /// ``at="elements"`` has the means over the elements of a solid, shape ``(elements, 6)``. The
    /// numbers are those of the files for ParaView.
    #[pyo3(signature = (name, at=None))]
    fn stress<'py>(&self, py: Python<'py>, name: &str, at: Option<&str>) -> PyResult<Matrix<'py>> {
        let read = |place| self.without_python(py, |runner| Tensor::Stress.read(runner, name, place));
        measured::tensor(py, at, read)
    }

    /// Strain of a solid or sheet at the present state, of the shapes of :meth:`stress`:
    /// logarithmic, small with the material ``Linear``, of sheets Green and Lagrange's; shears are
    /// half of the angle. NaN where an element is inside out.
    #[pyo3(signature = (name, at=None))]
    fn strain<'py>(&self, py: Python<'py>, name: &str, at: Option<&str>) -> PyResult<Matrix<'py>> {
        let read = |place| self.without_python(py, |runner| Tensor::Strain.read(runner, name, place));
        measured::tensor(py, at, read)
    }

    /// Energies of the present state (J), without that of compliant contacts, which the report of a
    /// step has.
    #[getter]
    fn energies(&self, py: Python<'_>) -> PyResult<Energies> {
        let found = self.read(py, |simulation| simulation.problem().energies(simulation.state()));
        found.map(Energies::from)
    }

    /// Momentum of the present state.
    #[getter]
    fn momentum(&self, py: Python<'_>) -> PyResult<Momentum> {
        let found = self.read(py, |simulation| simulation.model().momentum(simulation.state()));
        found.map(Momentum::from)
    }

    /// Balance of energy, by cause: the sum of those of the steps that :attr:`steps` counts.
    /// Energies that change between them, where a state is set or found at rest, are in none.
    #[getter]
    fn ledger(&self, py: Python<'_>) -> PyResult<Ledger> {
        Ok(Ledger(*self.lock(py)?.ledger()))
    }

    /// Velocities of all degrees of freedom, shape ``(dofs,)``: node by node as the model lists its
    /// independent ones; of bodies the linear velocity in world axes (m/s), then the angular one in
    /// body axes (rad/s).
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        Ok(arrays::vector(py, &self.read(py, dynamics::velocities)?))
    }

    /// Free coordinates of all joints (m, rad), shape ``(coordinates,)``, in the order of
    /// :attr:`Model.coordinates`. Assigned, they move what hangs on each joint; ``qd`` stays, and
    /// limits are not asked.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.coordinates(py, Part::Position)
    }

    /// Velocities of the free coordinates of all joints (m/s, rad/s), shape ``(coordinates,)``.
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.coordinates(py, Part::Velocity)
    }

    /// Forces from outside along the free coordinates of all joints (N, N m), shape
    /// ``(coordinates,)``. They act until they are assigned again.
    #[getter]
    fn tau<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        self.coordinates(py, Part::Force)
    }

    #[setter]
    fn set_q(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        joint_space::assign(py, self, Part::Position, &values)
    }

    #[setter]
    fn set_qd(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        joint_space::assign(py, self, Part::Velocity, &values)
    }

    #[setter]
    fn set_tau(&self, py: Python<'_>, values: Numbers<'_>) -> PyResult<()> {
        joint_space::assign(py, self, Part::Force, &values)
    }

    /// Node of a name.
    fn node(slf: &Bound<'_, Self>, name: &str) -> PyResult<Node> {
        let id = slf.get().node_id(slf.py(), name)?;
        Node::new(slf, id)
    }

    /// Rigid body: an element of a node of bodies.
    #[pyo3(signature = (name, element=0))]
    fn body(slf: &Bound<'_, Self>, name: &str, element: i64) -> PyResult<Body> {
        let py = slf.py();
        let names = &slf.get().model().outline().bodies;
        if !names.iter().any(|n| n == name) {
            let all = names.iter().map(String::as_str);
            return Err(errors::name(py, ["node of bodies", "nodes of bodies"], name, all));
        }
        Body::new(py, Node::new(slf, slf.get().node_id(py, name)?)?, element)
    }

    /// Joint of a name.
    fn joint(slf: &Bound<'_, Self>, name: &str) -> PyResult<Joint> {
        let list = &slf.get().model().outline().joints;
        match list.iter().position(|(n, ..)| n == name) {
            Some(index) => Ok(Joint::new(slf, index)),
            None => {
                let all = list.iter().map(|(n, ..)| n.as_str());
                Err(errors::name(slf.py(), ["joint", "joints"], name, all))
            }
        }
    }

    /// Names of the colliders; contacts name their sides by their places here.
    #[getter]
    fn colliders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.model().outline().colliders)
    }

    /// Contacts of the last step, a structured array of the type :data:`CONTACT`, not to be
    /// written.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::array(py, &self.read(py, contacts::records)?)
    }

    /// Multipliers of a constraint or of a compliant force field over the last step, one for each
    /// of its rows (N, N m); empty for other components.
    fn reaction<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vector<'py>> {
        let id = self.component(py, name)?;
        let list = self.read(py, |simulation| simulation.reaction(id).to_vec())?;
        Ok(arrays::vector(py, &list))
    }

    /// Force of a constraint or force field on the coordinates of its node (N, N m; on bodies,
    /// force in world axes and torque in body axes); empty for masses.
    fn force<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vector<'py>> {
        let id = self.component(py, name)?;
        let list = self.read(py, |simulation| simulation.force(id))?;
        Ok(arrays::vector(py, &list))
    }

    /// Potential energy of a mass or force field as of the last step (J).
    fn potential(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let id = self.component(py, name)?;
        self.read(py, |simulation| simulation.potential(id))
    }

    /// Set an input of a force field, such as the activation of a muscle, until it is set again. An
    /// input that the scene drives by a function of time is set by it before every step.
    #[pyo3(signature = (name, value, *, input=None), text_signature = "($self, name, value, *, input=0)")]
    fn set_input(
        &self,
        py: Python<'_>,
        name: &str,
        value: f64,
        input: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let id = self.component(py, name)?;
        let what = format!("inputs of `{name}`, counted from 0");
        let input = input.map_or(Ok(0), |input| arrays::count(py, input, &what, (0, usize::MAX)))?;
        self.set(py, |simulation| simulation.set_input(id, input, value))
    }

    /// Drive the coordinates of a constraint or compliance, such as a motor, from now on, in place
    /// of the motion that the scene gives them: in a straight line to ``position`` (m, rad), then
    /// on at ``velocity`` (m/s, rad/s; zero by default). Each is one number for all or one for
    /// each.
    ///
    /// It goes there ``within`` a time (s), by default a step of the scene. With a velocity alone
    /// it goes on from where the motion is. With nothing but the name, the scene's motion is back.
    #[pyo3(signature = (name, position=None, velocity=None, *, within=None))]
    fn drive(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<Numbers<'_>>,
        velocity: Option<Numbers<'_>>,
        within: Option<f64>,
    ) -> PyResult<()> {
        control::drive(self, py, name, [position, velocity], within)
    }

    /// Mass matrix over all degrees of freedom in the order of :attr:`velocities`, shape
    /// ``(dofs, dofs)`` (kg, kg m^2): the kinetic energy is ``v @ M @ v / 2``. Of at most 5,000
    /// degrees of freedom.
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.without_python(py, |runner| dynamics::mass_matrix(runner.simulation()))?;
        found.map_err(|refusal| refusal.raise(py))?.into_matrix(py)
    }

    /// Mass matrix over free coordinates of joints, all or those named by ``coordinates``, shape
    /// ``(coordinates, coordinates)`` (kg, kg m^2); coordinates that are not named are free.
    ///
    /// Hard rows hold; motors of joints, limits, dry friction and other rows with bounds take no
    /// part, nor do contacts; what is fixed or sleeps is held. Raises :class:`StateError` where
    /// coordinates depend on each other, as in a closed loop.
    #[pyo3(signature = (coordinates=None))]
    fn joint_mass_matrix<'py>(
        &self,
        py: Python<'py>,
        coordinates: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Dynamics::find(py, self, coordinates)?.mass_matrix(py)
    }

    /// Accelerations of free coordinates of joints by the forces as they are (m/s^2, rad/s^2),
    /// shape ``(coordinates,)``; what takes no part is as in :meth:`joint_mass_matrix`.
    #[pyo3(signature = (coordinates=None))]
    fn joint_accelerations<'py>(
        &self,
        py: Python<'py>,
        coordinates: Option<Vec<String>>,
    ) -> PyResult<Vector<'py>> {
        let found = Dynamics::find(py, self, coordinates)?;
        Ok(arrays::vector(py, found.accelerations()))
    }

    /// Forces along free coordinates of joints, in place of :attr:`tau`, that make their
    /// accelerations those that are given (N, N m), shape ``(coordinates,)``; what takes no part is
    /// as in :meth:`joint_mass_matrix`.
    #[pyo3(signature = (accelerations, coordinates=None))]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        accelerations: Numbers<'py>,
        coordinates: Option<Vec<String>>,
    ) -> PyResult<Vector<'py>> {
        let found = Dynamics::find(py, self, coordinates)?;
        Ok(arrays::vector(py, &found.forces_for(py, self, &accelerations)?))
    }

    /// Accelerations along the rows of a ``jacobian`` of shape ``(rows, dofs)`` by unit forces
    /// along them, ``J @ inv(M) @ J.T`` of the motions that hard rows allow, shape ``(rows, rows)``
    /// (1/kg, 1/(kg m^2)). Its inverse is the inertia that a tool shows.
    fn mobility<'py>(&self, py: Python<'py>, jacobian: Numbers<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        joint_space::mobility(py, self, &jacobian)
    }

    /// Numbers of the run so far, as ``result.json`` of the program has them.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.without_python(py, |runner| runner.summary(None))?;
        summary(py, &found)
    }

    /// Return the present moment as bytes: state, memories of the solvers, what is held and pushed,
    /// and the sums so far.
    pub(crate) fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    /// Go to the moment of a :meth:`checkpoint` of the same scene with the same settings; steps
    /// from there on have the same bits.
    ///
    /// ``checkpoint`` is ``bytes`` or anything that holds them, such as a ``bytearray`` or a
    /// ``memoryview``. Raises :class:`CheckpointError`; then nothing has changed.
    pub(crate) fn restore(&self, py: Python<'_>, checkpoint: &Bound<'_, PyAny>) -> PyResult<()> {
        self.take_any(py, checkpoint)
    }

    #[classmethod]
    fn _restored(
        _class: &Bound<'_, pyo3::types::PyType>,
        py: Python<'_>,
        model: Py<Model>,
        checkpoint: &[u8],
        record: bool,
    ) -> PyResult<Self> {
        let simulation = Self::new(py, model, record)?;
        simulation.take(py, checkpoint)?;
        Ok(simulation)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.get();
        let rebuild = slf.get_type().getattr("_restored")?;
        let arguments = (this.model.clone_ref(py), this.checkpoint(py)?, this.record);
        Ok((rebuild, arguments.into_pyobject(py)?.into_any()))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.twin(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.twin(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (time, title) = (self.time(py)?, &self.model().outline().title);
        Ok(format!("<pliant.Simulation of {title:?} at t = {time} s>"))
    }
}
