//! Reports of steps and of searches for rest, as plain values, which can be pickled.

use crate::pickle::{Pickled, pickled};
use pliant::{SettleReport as Settled, StepReport as Step};
use pliant_run::Summary;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Energies (J).
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Energies {
    /// Kinetic energy (J).
    kinetic: f64,
    /// Potential energy of gravity, springs and materials (J).
    potential: f64,
}

#[pymethods]
impl Energies {
    /// Sum of both (J).
    #[getter]
    fn total(&self) -> f64 {
        self.kinetic + self.potential
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "Energies(kinetic={:?}, potential={:?})",
            self.kinetic, self.potential
        )
    }
}

impl From<pliant::model::Energies> for Energies {
    fn from(of: pliant::model::Energies) -> Self {
        Self {
            kinetic: of.kinetic,
            potential: of.potential,
        }
    }
}

/// Momentum of everything.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Momentum {
    /// Linear momentum (kg m/s), a triple.
    linear: (f64, f64, f64),
    /// Angular momentum about the origin (kg m^2/s), a triple.
    angular: (f64, f64, f64),
}

#[pymethods]
impl Momentum {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!("Momentum(linear={:?}, angular={:?})", self.linear, self.angular)
    }
}

impl From<pliant::model::Momentum> for Momentum {
    fn from(of: pliant::model::Momentum) -> Self {
        Self {
            linear: of.linear.into(),
            angular: of.angular.into(),
        }
    }
}

/// Balance of energy by cause (J): ``kinetic + potential`` is the sum of all the other entries.
///
/// Negative numbers take energy out. ``numerical`` is what is left, so that the sum closes.
#[pyclass(frozen, module = "pliant")]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ledger(pub(crate) pliant::Ledger);

#[pymethods]
impl Ledger {
    /// Change of the kinetic energy (J).
    #[getter]
    fn kinetic(&self) -> f64 {
        self.0.kinetic
    }

    /// Change of the potential energy (J).
    #[getter]
    fn potential(&self) -> f64 {
        self.0.potential
    }

    /// Energy that forces from outside brought in (J).
    #[getter]
    fn forces(&self) -> f64 {
        self.0.forces
    }

    /// Energy that prescribed motion brought in (J).
    #[getter]
    fn motion(&self) -> f64 {
        self.0.motion
    }

    /// Energy that motors of bounded force brought in (J).
    #[getter]
    fn motors(&self) -> f64 {
        self.0.motors
    }

    /// Energy that inputs which were set brought in (J).
    #[getter]
    fn inputs(&self) -> f64 {
        self.0.inputs
    }

    /// Energy that damping brought in (J).
    #[getter]
    fn damping(&self) -> f64 {
        self.0.damping
    }

    /// Energy that friction brought in (J).
    #[getter]
    fn friction(&self) -> f64 {
        self.0.friction
    }

    /// Energy that impacts, limits and ropes brought in (J).
    #[getter]
    fn impacts(&self) -> f64 {
        self.0.impacts
    }

    /// Energy that corrections of positions brought in (J).
    #[getter]
    fn corrections(&self) -> f64 {
        self.0.corrections
    }

    /// Energy that elements which were taken out of the model had stored, negative (J).
    #[getter]
    fn removed(&self) -> f64 {
        self.0.removed
    }

    /// Remainder: what the method itself made or lost (J).
    #[getter]
    fn numerical(&self) -> f64 {
        self.0.numerical
    }

    /// Parts of ``numerical`` (J), by name.
    #[getter]
    fn numerical_parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, joules) in self.0.parts.entries() {
            out.set_item(name, joules)?;
        }
        Ok(out)
    }

    /// Entries by name (J).
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, joules) in self.0.entries() {
            out.set_item(name, joules)?;
        }
        Ok(out)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        let moved = self.0.entries().into_iter().filter(|entry| entry.1 != 0.0);
        let list: Vec<String> = moved.map(|(name, joules)| format!("{name}={joules:?}")).collect();
        format!("Ledger({})", list.join(", "))
    }
}

/// Misses of the end of a step, part by part.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Certificate {
    /// Residual of the equations of motion as the method solves them, as a share of their terms.
    equations: f64,
    /// Error in the velocities because the nonlinear equations are not solved further, as a share
    /// of the velocities; ``None`` where it was not measured.
    linearisation: Option<f64>,
    /// Largest violation of a hard constraint (m, rad).
    rows: f64,
    /// Largest residual of a contact or of a bounded force, as a velocity (m/s, rad/s).
    cones: f64,
    /// Energy that the step made of nothing, as a share of what it turned over.
    gain: f64,
    /// Energy that the method lost, as a share of what the step turned over.
    loss: f64,
    /// Energy that dampers, friction and impacts brought in, as a share of what the step turned
    /// over.
    passive_gain: f64,
    /// Energy that came from nowhere since the start, as a share of all that could turn over.
    since_start: f64,
    /// Whether the forces of constraints and contacts are determined by the motion; ``None`` where
    /// that was not examined.
    unique_forces: Option<bool>,
    /// Estimate of the largest error that the step adds to a position of a smooth motion (m, rad);
    /// ``None`` of methods without one and across impacts.
    position_error: Option<f64>,
    /// Estimate of the largest error that the step adds to a velocity (m/s, rad/s).
    velocity_error: Option<f64>,
}

impl From<&pliant::Certificate> for Certificate {
    fn from(of: &pliant::Certificate) -> Self {
        Self {
            equations: of.equations,
            linearisation: of.linearisation,
            rows: of.rows,
            cones: of.cones,
            gain: of.energy.gain(),
            loss: of.energy.loss(),
            passive_gain: of.energy.passive_gain(),
            since_start: of.energy.since_start.share(),
            unique_forces: of.multipliers.are_unique(),
            position_error: of.local_error.map(|error| error.position),
            velocity_error: of.local_error.map(|error| error.velocity),
        }
    }
}

#[pymethods]
impl Certificate {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "Certificate(equations={:.1e}, rows={:.1e}, cones={:.1e}, gain={:.1e}, since_start={:.1e})",
            self.equations, self.rows, self.cones, self.gain, self.since_start
        )
    }
}

/// Contacts of a step in numbers.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ContactsReport {
    /// Possible contacts, those that are only near included.
    count: usize,
    /// Contacts with a force.
    active: usize,
    /// Contacts with a force that slip.
    slipping: usize,
    /// Residual of the law that was solved, relative.
    residual: f64,
    /// Residual of Coulomb's law, relative.
    de_saxce: f64,
    /// Largest overlap at the end of the step (m).
    overlap: f64,
    /// Work of all contact forces over the step (J); negative where friction and impacts take
    /// energy.
    work: f64,
    /// Energy in compliant contacts at the end of the step (J).
    stored: f64,
    /// Iterations of all methods that were tried.
    iterations: usize,
    /// Groups of elements that contacts and constraints connect.
    islands: usize,
    /// Contacts that the search missed, with which the step was taken again.
    missed: usize,
    /// Impacts that ended parts of the step (``locate_impacts``).
    located: usize,
    /// Rests of such steps that were taken with the impacts in them: behind sixteen located ones, or
    /// where a part had no solution.
    passed: usize,
    /// Steps that took ``friction_fallback``.
    fallbacks: usize,
    /// Elements that sleep at the end of the step.
    asleep: usize,
}

impl From<&pliant::contact::ContactsReport> for ContactsReport {
    fn from(of: &pliant::contact::ContactsReport) -> Self {
        Self {
            count: of.count,
            active: of.active,
            slipping: of.slipping,
            residual: of.residual,
            de_saxce: of.de_saxce,
            overlap: of.overlap,
            work: of.work,
            stored: of.stored,
            iterations: of.solve.iterations,
            islands: of.solve.islands,
            missed: of.missed,
            located: of.solve.located,
            passed: of.solve.passed,
            fallbacks: of.solve.fallbacks,
            asleep: of.sleep.asleep,
        }
    }
}

#[pymethods]
impl ContactsReport {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "ContactsReport(count={}, active={}, slipping={}, residual={:.1e}, overlap={:.1e})",
            self.count, self.active, self.slipping, self.residual, self.overlap
        )
    }
}

/// Report of one step.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     gravity: (0, -10, 0),
/// ...     run: (duration: 1, step: 0.01),
/// ...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
/// ... )''')
/// >>> report = pliant.Simulation(model).step()
/// >>> report.time, report.h, report.contacts.count
/// (0.01, 0.01, 0)
/// >>> round(report.energies.kinetic, 9), round(report.ledger.potential, 9)
/// (0.01, -0.01)
#[pyclass(frozen, module = "pliant")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepReport {
    /// Time at the end of the step (s).
    #[pyo3(get)]
    time: f64,
    /// Length of the step (s).
    #[pyo3(get)]
    h: f64,
    /// Residual of the equations, as a share of their terms.
    #[pyo3(get)]
    residual: f64,
    /// Largest violation of a hard constraint at the end of the step (m, rad).
    #[pyo3(get)]
    violation: f64,
    solve: Solve,
    /// Misses of the end of the step, part by part.
    #[pyo3(get)]
    certificate: Certificate,
    /// Contacts in numbers.
    #[pyo3(get)]
    contacts: ContactsReport,
    /// Energies at the end of the step, that of compliant contacts included.
    #[pyo3(get)]
    energies: Energies,
    /// Balance of energy of the step, by cause.
    #[pyo3(get)]
    ledger: Ledger,
    /// Energy that damping took out since the start (J).
    #[pyo3(get)]
    dissipated: f64,
    /// Momentum at the end of the step.
    #[pyo3(get)]
    momentum: Momentum,
    /// Seconds of the clock by phase, in the order of [`PHASES`].
    seconds: [f64; PHASES.len()],
}

/// The solver of a step and its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Solve {
    solver: Cow<'static, str>,
    iterations: usize,
    step_halvings: usize,
    redundant_rows: usize,
    stages: usize,
}

/// The phases of a step.
const PHASES: [&str; 7] = [
    "fill",
    "factor",
    "solve",
    "stabilise",
    "contacts",
    "update",
    "rejected",
];

impl From<&Step> for StepReport {
    fn from(of: &Step) -> Self {
        let t = &of.timings;
        let laps = [
            t.fill,
            t.factor,
            t.solve,
            t.stabilise,
            t.contacts,
            t.update,
            t.rejected,
        ];
        Self {
            time: of.time,
            h: of.h,
            residual: of.residual.relative,
            violation: of.violation,
            solve: Solve {
                solver: of.solve.solver.into(),
                iterations: of.solve.newton.iterations,
                step_halvings: of.solve.newton.step_halvings,
                redundant_rows: of.solve.redundant_rows,
                stages: of.solve.stages,
            },
            certificate: (&of.certificate).into(),
            contacts: (&of.contacts).into(),
            energies: of.energies.into(),
            ledger: Ledger(of.ledger),
            dissipated: of.dissipated,
            momentum: of.momentum.into(),
            seconds: laps.map(|lap| lap.as_secs_f64()),
        }
    }
}

#[pymethods]
impl StepReport {
    /// Name of the linear solver.
    #[getter]
    fn solver(&self) -> &str {
        &self.solve.solver
    }

    /// Iterations of Newton's method, over all stages; zero for the theta method.
    #[getter]
    fn iterations(&self) -> usize {
        self.solve.iterations
    }

    /// Halvings of the step, where it had no solution at its length.
    #[getter]
    fn step_halvings(&self) -> usize {
        self.solve.step_halvings
    }

    /// Redundant hard rows: equations that follow from others.
    #[getter]
    fn redundant_rows(&self) -> usize {
        self.solve.redundant_rows
    }

    /// Stages of SDIRK2: two, or one across an impact; zero for other methods.
    #[getter]
    fn stages(&self) -> usize {
        self.solve.stages
    }

    /// Time of the clock that the step took (s), by phase.
    #[getter]
    fn seconds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (phase, seconds) in PHASES.into_iter().zip(self.seconds) {
            out.set_item(phase, seconds)?;
        }
        Ok(out)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "StepReport(time={:?}, h={:?}, residual={:.1e}, violation={:.1e}, contacts={})",
            self.time, self.h, self.residual, self.violation, self.contacts.count
        )
    }
}

/// Report of :meth:`Simulation.settle`.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SettleReport {
    /// Steps taken.
    steps: usize,
    /// Largest change of a coordinate in the last one (m, rad).
    motion: f64,
}

impl From<Settled> for SettleReport {
    fn from(of: Settled) -> Self {
        Self {
            steps: of.steps,
            motion: of.motion,
        }
    }
}

#[pymethods]
impl SettleReport {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!("SettleReport(steps={}, motion={:.1e})", self.steps, self.motion)
    }
}

/// Report of :meth:`Simulation.equilibrium`.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EquilibriumReport {
    /// Iterations of all kinds.
    iterations: usize,
    /// Largest force that is missing, as a share of the size of the terms of its equation.
    residual: f64,
    /// Largest violation of a hard row (m, rad), or gap or overlap of a contact.
    violation: f64,
    /// Negative eigenvalues of the tangent on the constraints: 0 where the equilibrium is stable,
    /// ``None`` where that is not known.
    negative_modes: Option<usize>,
    /// Directions in which nothing resists and nothing pushes.
    free_modes: usize,
    /// Contacts that carry a force.
    contacts: usize,
}

impl From<pliant::EquilibriumReport> for EquilibriumReport {
    fn from(of: pliant::EquilibriumReport) -> Self {
        Self {
            iterations: of.iterations,
            residual: of.residual,
            violation: of.violation,
            negative_modes: of.negative_modes,
            free_modes: of.free_modes,
            contacts: of.contacts,
        }
    }
}

#[pymethods]
impl EquilibriumReport {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "EquilibriumReport(iterations={}, residual={:.1e}, negative_modes={:?})",
            self.iterations, self.residual, self.negative_modes
        )
    }
}

/// The numbers of a run as `result.json` has them.
pub(crate) fn summary<'py>(py: Python<'py>, of: &Summary) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(of);
    let text = text.map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?;
    py.import("json")?.getattr("loads")?.call1((text,))
}
