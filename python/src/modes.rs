//! `Modes` and `Buckling`: eigenvalues and shapes, as arrays.

use crate::arrays::{self, Matrix, Vector};
use crate::errors;
use crate::path::{Place, Wanted};
use crate::pickle::{Pickled, pickled};
use crate::simulation::Simulation;
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pliant::{About, BucklingOptions, Error, LoadSign, Mode, ModeKind, ModeOptions, Simulation as Motion};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::{Deserialize, Serialize};

/// Shapes of modes, and the positions that they are about.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shapes {
    /// Velocities of all nodes, by mode.
    shapes: Vec<Vec<f64>>,
    positions: Vec<f64>,
    velocities_of: Vec<Place>,
    positions_of: Vec<Place>,
}

impl Shapes {
    fn of(motion: &Motion, handle: &Simulation, positions: Vec<f64>, shapes: Vec<Vec<f64>>) -> Self {
        let outline = handle.model().outline();
        let nodes = outline.nodes.iter().filter_map(|n| motion.model().node_named(n));
        let (velocities_of, positions_of) = nodes
            .map(|id| (Place::of_velocities(motion, id), Place::of_node(motion, id)))
            .unzip();
        Self {
            shapes,
            positions,
            velocities_of,
            positions_of,
        }
    }

    fn is_sound(&self, count: usize) -> bool {
        let numbers = self.shapes.first().map_or(0, Vec::len);
        let fit = |places: &[Place], count: usize| {
            places.iter().all(|place| {
                let own = place.shape[0].checked_mul(place.shape[1]);
                let last = own.and_then(|own| own.checked_add(place.first));
                last.is_some_and(|last| last <= count)
            })
        };
        self.shapes.len() == count
            && self.shapes.iter().all(|shape| shape.len() == numbers)
            && (count == 0 || fit(&self.velocities_of, numbers))
            && fit(&self.positions_of, self.positions.len())
    }

    fn place<'a>(py: Python<'_>, places: &'a [Place], name: &str) -> PyResult<&'a Place> {
        let found = places.iter().find(|place| place.name == name);
        found.ok_or_else(|| {
            let all = places.iter().map(|place| place.name.as_str());
            errors::name(py, ["node", "nodes"], name, all)
        })
    }

    fn shape<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let place = Self::place(py, &self.velocities_of, node)?;
        let [count, size] = place.shape;
        let shapes = self.shapes.iter();
        let values = shapes.flat_map(|shape| &shape[place.first..][..count * size]);
        let array =
            PyArray1::from_vec(py, values.copied().collect()).reshape([self.shapes.len(), count, size])?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    fn positions<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Matrix<'py>> {
        let place = Self::place(py, &self.positions_of, node)?;
        let [count, size] = place.shape;
        let own = &self.positions[place.first..][..count * size];
        arrays::matrix(py, [count, size], |out| {
            out.copy_from_slice(own);
            Ok(())
        })
    }
}

/// Mode of vibration.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct One {
    eigenvalue: f64,
    frequency: f64,
    kind: String,
    participation: [f64; 3],
    effective_masses: [f64; 3],
    error: f64,
    residual: f64,
}

impl One {
    fn of(mode: &Mode) -> Self {
        Self {
            eigenvalue: mode.eigenvalue,
            frequency: mode.frequency(),
            kind: match mode.kind {
                ModeKind::Vibration => "vibration",
                ModeKind::Free => "free",
                ModeKind::Growth => "growth",
            }
            .to_owned(),
            participation: mode.participation,
            effective_masses: mode.effective_masses(),
            error: mode.error,
            residual: mode.residual,
        }
    }
}

/// Modes of vibration of :meth:`Simulation.modes`, the lowest first.
///
/// Arrays have the modes first and cannot be written.
#[pyclass(frozen, module = "pliant")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Modes {
    modes: Vec<One>,
    shapes: Shapes,
    /// Number of modes that there are in all.
    #[pyo3(get)]
    all: usize,
    /// Directions without mass that hard rows leave free, which have no frequency.
    #[pyo3(get)]
    massless: usize,
    /// Hard rows that depend on others.
    #[pyo3(get)]
    redundant_rows: usize,
    /// Mass of all points and bodies (kg).
    #[pyo3(get)]
    mass: f64,
    /// Largest force that is missing where things should be at rest, as a share of the size of its
    /// terms.
    #[pyo3(get)]
    unbalanced: f64,
}

/// Finds modes of vibration.
pub(crate) fn modes(
    py: Python<'_>,
    handle: &Simulation,
    count: Option<&Bound<'_, PyAny>>,
    about: &str,
    tolerance: f64,
) -> PyResult<Modes> {
    let mut how = ModeOptions {
        tolerance,
        about: match about {
            "equilibrium" => About::default(),
            "present" => About::Present,
            other => {
                return Err(errors::name(
                    py,
                    ["state", "states"],
                    other,
                    ["equilibrium", "present"],
                ));
            }
        },
        ..ModeOptions::default()
    };
    if let Some(count) = count {
        how.count = arrays::count(py, count, "modes", (1, usize::MAX))?;
    }
    let found = handle.without_python(py, |runner| {
        let motion = runner.simulation_mut();
        let found = motion.modes(&how)?;
        let one = found.modes.iter().map(One::of).collect();
        let shapes = found.modes.into_iter().map(|mode| mode.velocities).collect();
        Ok(Modes {
            modes: one,
            shapes: Shapes::of(motion, handle, found.state.positions, shapes),
            all: found.all,
            massless: found.massless,
            redundant_rows: found.redundant_rows,
            mass: found.mass,
            unbalanced: found.unbalanced,
        })
    })?;
    found.map_err(|error: Error| errors::step(py, &error))
}

impl Modes {
    /// Whether every shape has the numbers that the names ask for.
    pub(crate) fn is_sound(&self) -> bool {
        self.shapes.is_sound(self.modes.len())
    }

    fn numbers<'py>(&self, py: Python<'py>, one: impl Fn(&One) -> f64) -> Vector<'py> {
        let values: Vec<f64> = self.modes.iter().map(one).collect();
        arrays::vector(py, &values)
    }

    fn triples<'py>(&self, py: Python<'py>, one: impl Fn(&One) -> [f64; 3]) -> PyResult<Matrix<'py>> {
        arrays::matrix(py, [self.modes.len(), 3], |out| {
            for (row, mode) in out.chunks_exact_mut(3).zip(&self.modes) {
                row.copy_from_slice(&one(mode));
            }
            Ok(())
        })
    }
}

#[pymethods]
impl Modes {
    /// Frequencies (Hz), shape ``(modes,)``: zero of what does not vibrate.
    #[getter]
    fn frequencies<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |mode| mode.frequency)
    }

    /// Squares of the angular frequencies (rad^2/s^2), shape ``(modes,)``: zero but for rounding of
    /// what is free, negative of what grows, as ``exp(sqrt(-eigenvalue) t)``.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |mode| mode.eigenvalue)
    }

    /// Kind of each mode: ``"vibration"``, ``"free"``, where nothing resists, or ``"growth"``,
    /// where the equilibrium is not stable.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.modes.iter().map(|mode| mode.kind.as_str()))
    }

    /// Linear momentum of each shape (kg m/s), shape ``(modes, 3)``: its participation in a shaking
    /// of the ground.
    #[getter]
    fn participation<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        self.triples(py, |mode| mode.participation)
    }

    /// Effective masses along the axes (kg), shape ``(modes, 3)``: over all modes they sum to the
    /// mass that moves.
    #[getter]
    fn effective_masses<'py>(&self, py: Python<'py>) -> PyResult<Matrix<'py>> {
        self.triples(py, |mode| mode.effective_masses)
    }

    /// Estimated errors of the eigenvalues, as shares, shape ``(modes,)``.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |mode| mode.error)
    }

    /// Residuals of the equations as shares of the sizes of their terms, shape ``(modes,)``.
    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |mode| mode.residual)
    }

    /// Shapes of a node: velocities of its elements (m/s, rad/s; bodies: linear in world axes, then
    /// angular in body axes), shape ``(modes, elements, coordinates)``. Each has a kinetic energy
    /// of 1/2 J.
    fn shape<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.shapes.shape(py, node)
    }

    /// Positions of a node that the modes are about, shape ``(elements, coordinates)``; bodies:
    /// places, then quaternions ``(x, y, z, w)``.
    fn positions<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Matrix<'py>> {
        self.shapes.positions(py, node)
    }

    fn __len__(&self) -> usize {
        self.modes.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        let first = self.modes.first().map_or(0.0, |mode| mode.frequency);
        format!(
            "<pliant.Modes: {} of {}, from {first:?} Hz>",
            self.modes.len(),
            self.all
        )
    }
}

/// Critical load factors of :meth:`Simulation.buckling`, that next to the load factor of the
/// equilibrium first.
///
/// Arrays have the modes first and cannot be written.
#[pyclass(frozen, module = "pliant")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Buckling {
    factors: Vec<f64>,
    errors: Vec<f64>,
    residuals: Vec<f64>,
    shapes: Shapes,
    /// Whether there are no others of the signs asked for.
    #[pyo3(get)]
    complete: bool,
}

/// Finds buckling loads, by the load factor of the equilibrium, the number, the sign and the
/// tolerance.
pub(crate) fn buckling(
    py: Python<'_>,
    handle: &Simulation,
    loads: &Wanted,
    (at, count, sign, tolerance): (f64, Option<&Bound<'_, PyAny>>, &str, f64),
) -> PyResult<Buckling> {
    let default = handle.model().outline().path.clone().unwrap_or_default();
    let mut how = BucklingOptions {
        loads: loads.loads(py, handle, &default.loads)?,
        at,
        sign: match sign {
            "positive" => LoadSign::Positive,
            "negative" => LoadSign::Negative,
            "both" => LoadSign::Both,
            other => {
                let all = ["positive", "negative", "both"];
                return Err(errors::name(py, ["sign", "signs"], other, all));
            }
        },
        tolerance,
        ..BucklingOptions::default()
    };
    if let Some(count) = count {
        how.count = arrays::count(py, count, "buckling modes", (1, usize::MAX))?;
    }
    let found = handle.without_python(py, |runner| {
        let motion = runner.simulation_mut();
        let found = motion.buckling(&how)?;
        let modes = || found.modes.iter();
        let shapes = modes().map(|mode| mode.displacements.clone()).collect();
        Ok(Buckling {
            factors: modes().map(|mode| mode.factor).collect(),
            errors: modes().map(|mode| mode.error).collect(),
            residuals: modes().map(|mode| mode.residual).collect(),
            shapes: Shapes::of(motion, handle, found.state.positions.clone(), shapes),
            complete: found.complete,
        })
    })?;
    found.map_err(|error: Error| errors::step(py, &error))
}

impl Buckling {
    /// Whether every shape has the numbers that the names ask for.
    pub(crate) fn is_sound(&self) -> bool {
        let count = self.factors.len();
        self.errors.len() == count && self.residuals.len() == count && self.shapes.is_sound(count)
    }
}

#[pymethods]
impl Buckling {
    /// Critical load factors, shape ``(modes,)``.
    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> Vector<'py> {
        arrays::vector(py, &self.factors)
    }

    /// Estimated errors of the factors, as shares, shape ``(modes,)``.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> Vector<'py> {
        arrays::vector(py, &self.errors)
    }

    /// Residuals of the equations as shares of the sizes of their terms, shape ``(modes,)``.
    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> Vector<'py> {
        arrays::vector(py, &self.residuals)
    }

    /// Shapes of a node: displacements of its elements (m, rad; bodies: linear in world axes, then
    /// angular in body axes), shape ``(modes, elements, coordinates)``. The largest of the
    /// independent coordinates is 1.
    fn shape<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.shapes.shape(py, node)
    }

    /// Positions of a node in the equilibrium, shape ``(elements, coordinates)``; bodies: places,
    /// then quaternions ``(x, y, z, w)``.
    fn positions<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Matrix<'py>> {
        self.shapes.positions(py, node)
    }

    fn __len__(&self) -> usize {
        self.factors.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        format!("<pliant.Buckling: load factors {:?}>", self.factors)
    }
}
