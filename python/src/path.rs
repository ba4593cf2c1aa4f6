//! `Path`: equilibria over a load factor, as arrays.

use crate::arrays::{self, Vector};
use crate::errors;
use crate::model::Model;
use crate::pickle::{Pickled, pickled};
use crate::simulation::Simulation;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pliant::model::{ComponentId, NodeId, Space};
use pliant::{
    Continuation, Control, CriticalKind, Equilibrium, Loads, PathEnd, PathPoint, Simulation as Motion,
    StaticMethod,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde::{Deserialize, Serialize};

/// Loads of a load factor that were given.
pub(crate) struct Wanted {
    loads: Option<Vec<String>>,
    gravity: Option<bool>,
    forces: Option<bool>,
}

/// Arguments of :meth:`Simulation.follow` that were given.
pub(crate) struct Wishes<'py> {
    pub(crate) loads: Wanted,
    pub(crate) start: Option<f64>,
    pub(crate) end: Option<f64>,
    pub(crate) step: Option<f64>,
    pub(crate) largest_step: Option<f64>,
    pub(crate) control: Option<String>,
    pub(crate) max_points: Option<Bound<'py, PyAny>>,
    pub(crate) tolerance: Option<f64>,
    pub(crate) locate: Option<bool>,
}

impl Wishes<'_> {
    /// How a path is followed: as was asked, else as the scene says, else as by default.
    fn plan(self, py: Python<'_>, handle: &Simulation) -> PyResult<Continuation> {
        let given = handle.model().outline().path.clone();
        let default = given.unwrap_or_default();
        let loads = self.loads.loads(py, handle, &default.loads)?;
        let max_points = match &self.max_points {
            None => default.max_points,
            Some(most) => arrays::count(py, most, "points of a path", (1, usize::MAX))?,
        };
        let control = match self.control.as_deref() {
            None => default.control,
            Some("ArcLength") => Control::ArcLength,
            Some("Load") => Control::Load,
            Some(other) => {
                let all = ["ArcLength", "Load"];
                return Err(errors::name(py, ["control", "controls"], other, all));
            }
        };
        Ok(Continuation {
            loads,
            control,
            max_points,
            start: self.start.unwrap_or(default.start),
            end: self.end.unwrap_or(default.end),
            step: self.step.unwrap_or(default.step),
            largest_step: self.largest_step.unwrap_or(default.largest_step),
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            locate: self.locate.unwrap_or(default.locate),
            ..default
        })
    }
}

impl Wanted {
    pub(crate) fn new(loads: Option<Vec<String>>, gravity: Option<bool>, forces: Option<bool>) -> Self {
        Self {
            loads,
            gravity,
            forces,
        }
    }

    /// The loads that are asked for, which must be some.
    pub(crate) fn loads(&self, py: Python<'_>, handle: &Simulation, default: &Loads) -> PyResult<Loads> {
        let loads = if self.loads.is_none() && self.gravity.is_none() && self.forces.is_none() {
            default.clone()
        } else {
            let names = self.loads.iter().flatten();
            let components = names.map(|name| handle.component(py, name));
            Loads {
                gravity: self.gravity.unwrap_or(false),
                forces: self.forces.unwrap_or(false),
                components: components.collect::<PyResult<_>>()?,
            }
        };
        if loads == Loads::default() {
            let text = "a load factor is asked for, and there is nothing that it scales: name `loads`, or take \
                        `gravity=True` or `forces=True`";
            return Err(errors::state_text(py, text));
        }
        let has_gravity = handle.read(py, |s| s.problem().gravity() != [0.0; 3])?;
        if loads.gravity && !has_gravity {
            let text = "the load factor is to scale `gravity`, and the scene has none";
            return Err(errors::state_text(py, text));
        }
        Ok(loads)
    }
}

/// Point of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Point {
    load: f64,
    residual: f64,
    violation: f64,
    negative_modes: usize,
    free_modes: usize,
    redundant_rows: usize,
    iterations: usize,
    positions: Vec<f64>,
    multipliers: Vec<f64>,
}

impl From<PathPoint> for Point {
    fn from(of: PathPoint) -> Self {
        Self {
            load: of.load,
            residual: of.residual,
            violation: of.violation,
            negative_modes: of.negative_modes,
            free_modes: of.free_modes,
            redundant_rows: of.redundant_rows,
            iterations: of.iterations,
            positions: of.state.positions,
            multipliers: of.multipliers,
        }
    }
}

/// How an equilibrium is looked for, by the name of the method.
pub(crate) fn equilibrium(
    py: Python<'_>,
    tolerance: f64,
    max_iterations: Option<&Bound<'_, PyAny>>,
    method: &str,
) -> PyResult<Equilibrium> {
    let mut how = match method {
        "Newton" => Equilibrium::default(),
        "DynamicRelaxation" => Equilibrium::relaxation(),
        "ConjugateGradients" => Equilibrium::conjugate_gradients(),
        "PseudoStatic" => Equilibrium {
            method: StaticMethod::PseudoStatic,
            ..Equilibrium::default()
        },
        other => {
            let all = [
                "Newton",
                "PseudoStatic",
                "DynamicRelaxation",
                "ConjugateGradients",
            ];
            return Err(errors::name(py, ["method", "methods"], other, all));
        }
    };
    how.tolerance = tolerance;
    if let Some(most) = max_iterations {
        how.max_iterations = arrays::count(py, most, "iterations of a search for rest", (0, usize::MAX))?;
    }
    Ok(how)
}

/// Numbers of something with a name, among those of a point or of a shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) first: usize,
    /// Elements, and numbers of each.
    pub(crate) shape: [usize; 2],
    is_bodies: bool,
}

impl Place {
    /// Velocities of a node.
    pub(crate) fn of_velocities(motion: &Motion, id: NodeId) -> Self {
        let node = motion.model().node(id);
        Self {
            first: node.velocity_range().start,
            shape: [node.count, node.space.velocity_size()],
            ..Self::of_node(motion, id)
        }
    }

    /// Positions of a node.
    pub(crate) fn of_node(motion: &Motion, id: NodeId) -> Self {
        let node = motion.model().node(id);
        Self {
            name: node.name.clone(),
            first: node.position_range().start,
            shape: [node.count, node.space.position_size()],
            is_bodies: node.space == Space::Rigid3,
        }
    }

    /// Rows of a component; of one that has none, no numbers.
    fn of_rows(motion: &Motion, id: ComponentId) -> Self {
        let mut groups = motion.problem().row_groups().iter();
        let group = groups.find(|group| group.component == id);
        Self {
            name: motion.model().component_name(id).to_owned(),
            first: group.map_or(0, |group| group.first_row),
            shape: group.map_or([0, 1], |group| [group.count, group.size]),
            is_bodies: false,
        }
    }
}

/// Point of a path at which the number of negative modes changes.
#[pyclass(frozen, module = "pliant", get_all)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CriticalPoint {
    /// Kind: ``"limit"``, where the load factor turns round, or ``"bifurcation"``, where another
    /// branch crosses, or a row comes to or leaves its bound.
    kind: String,
    /// Load factor there: as located, or in the middle of the two points.
    load: f64,
    /// Point of the path before it, counted from 0; the next one is behind it.
    after: usize,
    /// Negative modes before and behind, a pair.
    negative_modes: (usize, usize),
}

#[pymethods]
impl CriticalPoint {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        let (before, behind) = self.negative_modes;
        format!(
            "CriticalPoint(kind={:?}, load={:?}, after={}, negative_modes=({before}, {behind}))",
            self.kind, self.load, self.after
        )
    }
}

/// Path of equilibria over a load factor, of :meth:`Simulation.follow`: a row of points, in order.
///
/// Arrays have the points first and cannot be written.
#[pyclass(frozen, module = "pliant")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    points: Vec<Point>,
    critical: Vec<CriticalPoint>,
    end: String,
    factorisations: usize,
    nodes: Vec<Place>,
    rows: Vec<Place>,
    /// Places of the free coordinates of all joints among the positions of a point.
    coordinates: Vec<usize>,
}

impl Path {
    /// Follows a path, and raises what it is stuck at.
    pub(crate) fn follow(py: Python<'_>, handle: &Simulation, wishes: Wishes<'_>) -> PyResult<Self> {
        let how = wishes.plan(py, handle)?;
        let found = handle.without_python(py, |runner| {
            let motion = runner.simulation_mut();
            let path = motion.follow(&how, |_, _| true)?;
            Ok(Self::of(motion, handle.model(), path))
        })?;
        match found.map_err(|error: pliant::Error| errors::step(py, &error))? {
            (path, None) => Ok(path),
            (path, Some(error)) => Err(errors::stuck(py, &error, Py::new(py, path)?)),
        }
    }

    /// A path as the library has it, and what it is stuck at.
    fn of(motion: &Motion, model: &Model, path: pliant::Path) -> (Self, Option<pliant::Error>) {
        let outline = model.outline();
        let nodes = outline.nodes.iter().filter_map(|n| motion.model().node_named(n));
        let parts = outline.components();
        let parts = parts.filter_map(|name| motion.model().component_named(name));
        let coordinates = outline.coordinates();
        let (end, error) = match path.end {
            PathEnd::Reached => ("reached", None),
            PathEnd::Points | PathEnd::Stopped => ("points", None),
            PathEnd::Stuck(error) => ("stuck", Some(*error)),
        };
        let critical = path.critical.into_iter().map(|c| CriticalPoint {
            kind: match c.kind {
                CriticalKind::Limit => "limit".to_owned(),
                CriticalKind::Bifurcation => "bifurcation".to_owned(),
            },
            load: c.load,
            after: c.after,
            negative_modes: c.negative_modes,
        });
        let this = Self {
            critical: critical.collect(),
            end: end.to_owned(),
            factorisations: path.factorisations,
            nodes: nodes.map(|id| Place::of_node(motion, id)).collect(),
            rows: parts.map(|id| Place::of_rows(motion, id)).collect(),
            coordinates: coordinates
                .map(|id| motion.model().node(id).position_range().start)
                .collect(),
            points: path.points.into_iter().map(Point::from).collect(),
        };
        (this, error)
    }

    /// Whether every point has the numbers that the others and the names ask for.
    pub(crate) fn is_sound(&self) -> bool {
        let positions = self.points.first().map_or(0, |point| point.positions.len());
        let multipliers = self.points.first().map_or(0, |point| point.multipliers.len());
        let fit = |places: &[Place], count: usize| {
            places.iter().all(|place| {
                let [elements, size] = place.shape;
                let own = elements.checked_mul(size);
                let last = own.and_then(|own| own.checked_add(place.first));
                last.is_some_and(|last| last <= count) && (!place.is_bodies || size == 7)
            })
        };
        self.points.is_empty()
            || (self
                .points
                .iter()
                .all(|point| point.positions.len() == positions && point.multipliers.len() == multipliers)
                && fit(&self.nodes, positions)
                && fit(&self.rows, multipliers)
                && self.coordinates.iter().all(|place| *place < positions))
    }

    fn numbers<'py>(&self, py: Python<'py>, one: impl Fn(&Point) -> f64) -> Vector<'py> {
        let values: Vec<f64> = self.points.iter().map(one).collect();
        arrays::vector(py, &values)
    }

    fn counts<'py>(&self, py: Python<'py>, one: impl Fn(&Point) -> usize) -> Bound<'py, PyArray1<i64>> {
        let values = self.points.iter().map(|point| one(point) as i64);
        let array = PyArray1::from_vec(py, values.collect());
        array.readwrite().make_nonwriteable();
        array
    }

    fn node(&self, py: Python<'_>, name: &str) -> PyResult<&Place> {
        let found = self.nodes.iter().find(|place| place.name == name);
        found.ok_or_else(|| {
            let all = self.nodes.iter().map(|place| place.name.as_str());
            errors::name(py, ["node", "nodes"], name, all)
        })
    }

    /// Numbers of each element of a node, at every point.
    fn elements<'py>(
        &self,
        py: Python<'py>,
        place: &Place,
        part: std::ops::Range<usize>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let [count, size] = place.shape;
        let points = self.points.iter();
        let all =
            points.flat_map(|point| point.positions[place.first..][..count * size].chunks_exact(size.max(1)));
        let values: Vec<f64> = all.flat_map(|element| &element[part.clone()]).copied().collect();
        let shape = [self.points.len(), count, part.len()];
        let array = PyArray1::from_vec(py, values).reshape(shape)?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }
}

#[pymethods]
impl Path {
    /// Load factor of each point, shape ``(points,)``.
    #[getter]
    fn load<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |point| point.load)
    }

    /// Largest force that is missing at each point, as a share of the size of the terms of its
    /// equation, shape ``(points,)``.
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |point| point.residual)
    }

    /// Largest violation of a hard row (m, rad) at each point, shape ``(points,)``.
    #[getter]
    fn violation<'py>(&self, py: Python<'py>) -> Vector<'py> {
        self.numbers(py, |point| point.violation)
    }

    /// Negative eigenvalues of the tangent on the constraints at each point, shape ``(points,)``: 0
    /// where the equilibrium is stable.
    #[getter]
    fn negative_modes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.counts(py, |point| point.negative_modes)
    }

    /// Directions in which nothing resists at each point, shape ``(points,)``.
    #[getter]
    fn free_modes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.counts(py, |point| point.free_modes)
    }

    /// Hard rows that depend on others at each point, shape ``(points,)``.
    #[getter]
    fn redundant_rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.counts(py, |point| point.redundant_rows)
    }

    /// Iterations from the point before, shape ``(points,)``.
    #[getter]
    fn iterations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.counts(py, |point| point.iterations)
    }

    /// Points at which stability changes, in order, a tuple of :class:`CriticalPoint`.
    #[getter]
    fn critical<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.critical.iter().cloned())
    }

    /// End of the path: ``"reached"``, where the load factor came to its end, ``"points"``, where
    /// all that were allowed are taken, or ``"stuck"``, in the ``path`` of an exception.
    #[getter]
    fn end(&self) -> &str {
        &self.end
    }

    /// Number of tangents that were factored.
    #[getter]
    fn factorisations(&self) -> usize {
        self.factorisations
    }

    /// Free coordinates of all joints at each point (m, rad), shape ``(points, coordinates)``, in
    /// the order of :attr:`Model.coordinates`.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = self.coordinates.len();
        arrays::matrix(py, [self.points.len(), width], |out| {
            for (row, point) in out.chunks_exact_mut(width.max(1)).zip(&self.points) {
                for (number, place) in row.iter_mut().zip(&self.coordinates) {
                    *number = point.positions[*place];
                }
            }
            Ok(())
        })
    }

    /// Positions of the elements of a node at each point, shape ``(points, elements, coordinates)``
    /// (m; of other scalars in their own units); of bodies those of their centres of mass.
    fn positions<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let place = self.node(py, node)?;
        let size = if place.is_bodies { 3 } else { place.shape[1] };
        self.elements(py, place, 0..size)
    }

    /// Unit quaternions ``(w, x, y, z)`` of the bodies of a node at each point, shape ``(points,
    /// elements, 4)``.
    fn orientations<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let place = self.node(py, node)?;
        if !place.is_bodies {
            let text = format!("`{node}` has no orientations: it holds no rigid bodies");
            return Err(errors::state_text(py, &text));
        }
        self.elements(py, place, 3..7)
    }

    /// Multipliers of a constraint or of a compliant force field at each point, shape ``(points,
    /// rows)`` (N, N m), as :meth:`Simulation.reaction`; no rows of other components.
    fn reaction<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.rows.iter().find(|place| place.name == name);
        let place = found.ok_or_else(|| {
            let all = self.rows.iter().map(|place| place.name.as_str());
            errors::name(py, ["component", "components"], name, all)
        })?;
        let width = place.shape[0] * place.shape[1];
        arrays::matrix(py, [self.points.len(), width], |out| {
            for (row, point) in out.chunks_exact_mut(width.max(1)).zip(&self.points) {
                row.copy_from_slice(&point.multipliers[place.first..][..width]);
            }
            Ok(())
        })
    }

    fn __len__(&self) -> usize {
        self.points.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf)
    }

    fn __repr__(&self) -> String {
        let loads = match (self.points.first(), self.points.last()) {
            (Some(first), Some(last)) => format!("{:?} to {:?}", first.load, last.load),
            _ => "none".to_owned(),
        };
        format!(
            "<pliant.Path of {} points, load {loads}: {}>",
            self.points.len(),
            self.end
        )
    }
}
