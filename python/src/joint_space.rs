//! Free coordinates of joints one after the other: `q`, `qd`, `tau`, what sets them, and the dynamics
//! and Jacobians along them.

use crate::arrays::{self, Numbers};
use crate::errors;
use crate::model::Model;
use crate::simulation::Simulation as Handle;
use numpy::{PyArray2, PyUntypedArrayMethods};
use pliant::dense::{Vec3, rotation};
use pliant::model::{ComponentId, NodeId};
use pliant::{CoordinateDynamics, Error, Mechanism, Simulation};
use pyo3::prelude::*;

/// A quantity of every coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// m, rad.
    Position,
    /// m/s, rad/s.
    Velocity,
    /// From outside (N, N m).
    Force,
}

impl Part {
    /// The numbers of all coordinates, in words.
    pub(crate) fn of_coordinates(self) -> &'static str {
        match self {
            Self::Position => "the values of coordinates",
            Self::Velocity => "the velocities of coordinates",
            Self::Force => "the forces along coordinates",
        }
    }
}

/// One number for each coordinate.
pub(crate) fn read(simulation: &Simulation, model: &Model, part: Part) -> Vec<f64> {
    let nodes = model.outline().coordinates();
    nodes.map(|node| one(simulation, node, part)).collect()
}

/// Copies one number for each coordinate.
pub(crate) fn read_into(simulation: &Simulation, model: &Model, part: Part, out: &mut [f64]) {
    let nodes = model.outline().coordinates();
    for (number, node) in out.iter_mut().zip(nodes) {
        *number = one(simulation, node, part);
    }
}

fn one(simulation: &Simulation, node: NodeId, part: Part) -> f64 {
    match part {
        Part::Position => simulation.positions(node)[0],
        Part::Velocity => simulation.velocities(node)[0],
        Part::Force => simulation.external_forces(node)[0],
    }
}

/// The joints of a model as a mechanism.
pub(crate) fn mechanism(simulation: &Simulation, model: &Model) -> Mechanism {
    let handles = model.outline().joints.iter().map(|(_, _, handle)| handle.clone());
    Mechanism::new(simulation, &handles.collect::<Vec<_>>())
}

/// Assigns one number to each coordinate.
pub(crate) fn assign(py: Python<'_>, handle: &Handle, part: Part, values: &Numbers<'_>) -> PyResult<()> {
    let model = handle.model();
    let count = model.outline().coordinates().count();
    let values = arrays::values(py, values, part.of_coordinates(), &[count])?;
    handle.set(py, |simulation| set(simulation, model, part, &values))
}

/// Sets one number for each coordinate.
pub(crate) fn set(
    simulation: &mut Simulation,
    model: &Model,
    part: Part,
    values: &[f64],
) -> Result<(), Error> {
    match part {
        Part::Position => mechanism(simulation, model).set_positions(simulation, values),
        Part::Velocity => mechanism(simulation, model).set_velocities(simulation, values),
        Part::Force => push(simulation, model, values),
    }
}

/// Sets the forces from outside, one number for each coordinate.
fn push(simulation: &mut Simulation, model: &Model, forces: &[f64]) -> Result<(), Error> {
    let mut pairs = model.outline().coordinates().zip(forces);
    pairs.try_for_each(|(node, force)| simulation.set_force(node, 0, &[*force]))
}

/// Coordinates that are asked for, and their dynamics at the present moment.
pub(crate) struct Dynamics {
    names: Vec<String>,
    nodes: Vec<NodeId>,
    found: CoordinateDynamics,
}

impl Dynamics {
    /// Finds those of the named coordinates, or of all.
    pub(crate) fn find(py: Python<'_>, handle: &Handle, names: Option<Vec<String>>) -> PyResult<Self> {
        let outline = handle.model().outline();
        let (names, nodes) = named(py, handle, names)?;
        let motors: Vec<ComponentId> = outline.motors().collect();
        let found = handle.without_python(py, |runner| {
            runner.at_present(|simulation| simulation.coordinate_dynamics(&nodes, &motors))
        })?;
        let found = found.map_err(|error| errors::step(py, &error))?;
        Ok(Self { names, nodes, found })
    }

    /// Accelerations by the forces as they are (m/s^2, rad/s^2).
    pub(crate) fn accelerations(&self) -> &[f64] {
        &self.found.accelerations
    }

    /// Mass matrix over the coordinates.
    pub(crate) fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let found = self.found.mass_matrix();
        self.square(py, &found.map_err(|place| self.depends(py, place))?)
    }

    /// Forces along the coordinates, in place of those that are set, that make these accelerations.
    pub(crate) fn forces_for(
        &self,
        py: Python<'_>,
        handle: &Handle,
        wanted: &Numbers<'_>,
    ) -> PyResult<Vec<f64>> {
        let wanted = arrays::values(py, wanted, "the accelerations", &[self.names.len()])?;
        let further = self.found.forces_for(&wanted);
        let further = further.map_err(|place| self.depends(py, place))?;
        handle.read(py, |simulation| {
            let set = self.nodes.iter().map(|node| simulation.external_forces(*node)[0]);
            set.zip(&further).map(|(set, further)| set + further).collect()
        })
    }

    fn square<'py>(&self, py: Python<'py>, numbers: &[f64]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        arrays::matrix(py, [self.names.len(); 2], |out| {
            out.copy_from_slice(numbers);
            Ok(())
        })
    }

    fn depends(&self, py: Python<'_>, place: usize) -> PyErr {
        let name = &self.names[place];
        let text = match &self.names[..place] {
            [] => format!("`{name}` cannot move: it is held, or sleeps"),
            before => format!(
                "`{name}` depends on the coordinates before it, or cannot move: name coordinates that are \
                 independent, such as `coordinates={before:?}`"
            ),
        };
        errors::state_text(py, &text)
    }
}

/// Coordinates by their names, all of them if there are none, with their nodes.
fn named(
    py: Python<'_>,
    handle: &Handle,
    names: Option<Vec<String>>,
) -> PyResult<(Vec<String>, Vec<NodeId>)> {
    let outline = handle.model().outline();
    let all = outline.coordinate_names();
    let nodes: Vec<NodeId> = outline.coordinates().collect();
    let place = |name: &String| {
        let found = all.iter().position(|own| own == name);
        let others = all.iter().map(String::as_str);
        found.ok_or_else(|| errors::name(py, ["coordinate", "coordinates"], name, others))
    };
    let names = names.unwrap_or_else(|| all.clone());
    let places = names.iter().map(place).collect::<PyResult<Vec<_>>>()?;
    let nodes = places.into_iter().map(|place| nodes[place]).collect();
    Ok((names, nodes))
}

/// The Jacobian of a point of a body, given in the world, by the named coordinates.
pub(crate) fn jacobian<'py>(
    py: Python<'py>,
    handle: &Handle,
    body: (NodeId, usize),
    point: Option<[f64; 3]>,
    names: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (names, nodes) = named(py, handle, names)?;
    let found = handle.without_python(py, |runner| {
        let simulation = runner.simulation_mut();
        let pose = simulation.pose(body.0, body.1).unwrap_or_default();
        let arm = point.map_or_else(Vec3::zeros, |point| {
            let away = Vec3::from(point) - Vec3::from(pose.position);
            rotation::rotate(rotation::conjugate(pose.rotation), away)
        });
        let mechanism = mechanism(simulation, handle.model());
        mechanism.jacobian(simulation, &nodes, body, arm.into())
    })?;
    let rows = found.map_err(|error| errors::state(py, &error))?;
    arrays::matrix(py, [6, names.len()], |out| {
        for (out, row) in out.chunks_exact_mut(names.len().max(1)).zip(&rows) {
            out.copy_from_slice(row);
        }
        Ok(())
    })
}

/// `J M^-1 J^T` of a Jacobian over all degrees of freedom.
pub(crate) fn mobility<'py>(
    py: Python<'py>,
    handle: &Handle,
    jacobian: &Numbers<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let outline = handle.model().outline();
    let rows = jacobian.shape().first().copied().unwrap_or(1);
    let numbers = arrays::values(py, jacobian, "the entries of a Jacobian", &[rows, outline.dofs])?;
    let motors: Vec<ComponentId> = outline.motors().collect();
    let found = handle.without_python(py, |runner| {
        runner.simulation_mut().mobility(&motors, rows, &numbers)
    })?;
    let found = found.map_err(|error| errors::step(py, &error))?;
    arrays::matrix(py, [rows; 2], |out| {
        out.copy_from_slice(&found);
        Ok(())
    })
}
